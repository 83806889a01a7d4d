# Flags that every target of this project is built with: gyre_options is linked privately.
add_library(gyre_options INTERFACE)
target_compile_options(gyre_options INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
# GCC 12 sees impossible overlaps in std::string at -O3 (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(gyre_options INTERFACE -Wno-restrict)
endif()
if(GYRE_SANITIZE)
  target_compile_options(gyre_options INTERFACE
    -fsanitize=${GYRE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g)
  target_link_options(gyre_options INTERFACE -fsanitize=${GYRE_SANITIZE})
endif()
