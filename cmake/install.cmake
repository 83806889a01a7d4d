# Where everything goes on installation, and how other projects find it there: a CMake package
# (find_package(gyre CONFIG)) and a pkg-config file. Both work after the prefix has been moved.
include(CMakePackageConfigHelpers)

set(gyre_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gyre)

install(DIRECTORY include/gyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(TARGETS gyre EXPORT gyreTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
  NAMELINK_COMPONENT development)
install(EXPORT gyreTargets NAMESPACE gyre::
  DESTINATION ${gyre_package_dir} COMPONENT development)

# The static library and the MPI part have export sets of their own: what they need is looked for
# only where it is wanted.
if(TARGET gyre_static)
  install(TARGETS gyre_static EXPORT gyreStaticTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(EXPORT gyreStaticTargets NAMESPACE gyre::
    DESTINATION ${gyre_package_dir} COMPONENT development)
endif()
if(TARGET gyre_mpi)
  install(FILES plugins/mpi/include/gyre/gyre_mpi.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gyre COMPONENT development)
  install(TARGETS gyre_mpi EXPORT gyreMpiTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi
    NAMELINK_COMPONENT development)
  install(EXPORT gyreMpiTargets NAMESPACE gyre::
    DESTINATION ${gyre_package_dir} COMPONENT development)
endif()

configure_package_config_file(cmake/gyreConfig.cmake.in ${PROJECT_BINARY_DIR}/gyreConfig.cmake
  INSTALL_DESTINATION ${gyre_package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gyreConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gyreConfig.cmake ${PROJECT_BINARY_DIR}/gyreConfigVersion.cmake
  DESTINATION ${gyre_package_dir} COMPONENT development)

# pkg-config: the prefix is found from the place of the file, so that it may be moved.
file(RELATIVE_PATH gyre_pc_to_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/gyre.pc.in ${PROJECT_BINARY_DIR}/gyre.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gyre.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
