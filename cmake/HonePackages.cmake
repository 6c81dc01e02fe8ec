# Debian packages, one for each way in (packages/README.md): `cpack -G DEB` in a build folder, which
# scripts/packages calls. What is installed says to which package it belongs by its COMPONENT.
set(HONE_UNITS ${CMAKE_SOURCE_DIR}/packages/systemd)
set(CPACK_COMPONENTS_ALL hone runner lib dev python)

# ---- what only packages install ----
install(FILES ${HONE_UNITS}/hone-tracker.service DESTINATION lib/systemd/system COMPONENT hone EXCLUDE_FROM_ALL)
install(FILES ${HONE_UNITS}/tracker.conf DESTINATION /etc/hone COMPONENT hone EXCLUDE_FROM_ALL)
install(FILES ${HONE_UNITS}/hone-runner.service DESTINATION lib/systemd/system COMPONENT runner EXCLUDE_FROM_ALL)
install(FILES ${HONE_UNITS}/runner.conf DESTINATION /etc/hone COMPONENT runner EXCLUDE_FROM_ALL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/src/hone DESTINATION lib/python3/dist-packages
    COMPONENT python EXCLUDE_FROM_ALL PATTERN __pycache__ EXCLUDE PATTERN _native EXCLUDE)
set(CPACK_PACKAGE_CONTACT "Hone developers <hone@hone.invalid>")
string(TIMESTAMP HONE_PACKAGED "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH, where that is
configure_file(${CMAKE_SOURCE_DIR}/packages/debian/changelog.in ${CMAKE_BINARY_DIR}/packages/changelog @ONLY)
foreach(pair hone:hone runner:hone-runner lib:libhone0 dev:libhone-dev python:python3-hone)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 component)
    list(GET pair 1 package)
    install(FILES ${CMAKE_SOURCE_DIR}/packages/debian/copyright ${CMAKE_BINARY_DIR}/packages/changelog DESTINATION share/doc/${package}
        COMPONENT ${component} EXCLUDE_FROM_ALL)
    string(TOUPPER ${component} key)
    set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${package})
    set(CPACK_DEBIAN_${key}_FILE_NAME DEB-DEFAULT)
endforeach()

# ---- what the library exports, as dpkg-shlibdeps reads it ----
file(STRINGS ${CMAKE_SOURCE_DIR}/include/abi/libhone.symbols symbols)
list(TRANSFORM symbols REPLACE "^(hone_[a-z0-9_]+) (HONE_[0-9]+)$" " \\1@\\2 ${PROJECT_VERSION}")
list(JOIN symbols "\n" symbols)
file(WRITE ${CMAKE_BINARY_DIR}/packages/symbols "libhone.so.0 libhone0 #MINVER#\n* Build-Depends-Package: libhone-dev\n${symbols}\n")

# ---- the packages ----
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packages/debian/stage.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENT_HONE_DESCRIPTION "auto-tuning compiler for tensor programs and models
Takes a model (ONNX) or a program (TVMScript), searches for the fastest
schedule of every kernel by building and measuring candidates, keeps what it
learned in SQLite, and replays the best into one library that depends on
nothing but the C library. Also the tracker of a farm of devices.")
set(CPACK_COMPONENT_RUNNER_DESCRIPTION "runs candidates of hone on this machine
The daemon of a device in a farm: takes built kernels from a tracker, runs
each in a sandbox, checks and times it. Needs no compiler.")
set(CPACK_COMPONENT_LIB_DESCRIPTION "library of the auto-tuning compiler Hone
Loads, schedules, tunes, compiles and runs tensor programs, for programs in
C, C++ and Python. Compiled models do not need it.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "headers of the auto-tuning compiler Hone
The public interface of libhone in C11 and C++17, with files for pkg-config
and CMake. Compiled models bring a header of their own.")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "auto-tuning compiler Hone in Python
Models from ONNX, torch and TVMScript; schedules, tuning, databases of
records and compiled models; a backend of torch.compile.")
# hone finds hone-runner beside itself; the linker and assembler of binutils make its libraries
set(CPACK_DEBIAN_HONE_PACKAGE_DEPENDS "hone-runner (= ${PROJECT_VERSION}), binutils")
set(CPACK_DEBIAN_HONE_PACKAGE_RECOMMENDS "gcc, libc6-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libhone0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= 3.9), libhone0 (= ${PROJECT_VERSION}), hone (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS python3-numpy)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packages/debian/triggers
    ${CMAKE_BINARY_DIR}/packages/symbols)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_HONE_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packages/debian/hone/conffiles)
set(CPACK_DEBIAN_RUNNER_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packages/debian/runner/conffiles)
include(CPack)
