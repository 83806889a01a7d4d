# Flags that every target of this project is built with: gyre_options is linked privately.
add_library(gyre_options INTERFACE)
target_compile_options(gyre_options INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
if(GYRE_SANITIZE)
  target_compile_options(gyre_options INTERFACE
    -fsanitize=${GYRE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g)
  target_link_options(gyre_options INTERFACE -fsanitize=${GYRE_SANITIZE})
endif()
