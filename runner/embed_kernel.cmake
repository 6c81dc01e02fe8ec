# cmake -P embed_kernel.cmake OUTPUT FILE: a C file with the bytes of the self test's kernel.
file(READ "${CMAKE_ARGV4}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE "${CMAKE_ARGV3}" "#include \"runner/self_test.h\"\n
const unsigned char hone_self_test_kernel[] = {\n${bytes}};
const size_t hone_self_test_kernel_bytes = sizeof hone_self_test_kernel;\n")
