# The headers that most files include, parsed once for each set of flags and not once for each file.
# Every file names what it includes all the same, and compiles without them: clang-tidy, which cannot
# read what GCC has parsed, goes through all files without (preset lint).

# ccache keeps nothing of a compilation with a precompiled header unless it is told to trust it:
#   ccache -o sloppiness=pch_defines,time_macros
# Without that, developers are better off with what ccache keeps.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} --get-config sloppiness
    OUTPUT_VARIABLE gyre_ccache_sloppiness ERROR_QUIET)
  if(NOT gyre_ccache_sloppiness MATCHES pch_defines)
    set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

# GCC 12 takes what it has precompiled for no system headers any more, and with a sanitizer warns of
# impossible copies in std::string there.
if(GYRE_SANITIZE)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

set(gyre_precompiled_headers
  <algorithm> <array> <atomic> <chrono> <cstddef> <cstdint> <cstring> <functional> <map> <memory>
  <optional> <span> <string> <string_view> <utility> <vector>)
set(gyre_precompiled_test_headers ${gyre_precompiled_headers}
  <random> <set> <sstream> <thread> <gmock/gmock.h> <gtest/gtest.h>)
