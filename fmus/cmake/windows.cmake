# Compiles for 64-bit Windows by MinGW-w64, with threads as POSIX has them, which the C++ library wants.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# The C++ library is linked in: a simulator has none of MinGW.
set(CMAKE_MODULE_LINKER_FLAGS_INIT -static)
