# cmake -P embed.cmake OUTPUT FILE: a C file with the bytes of a file, and a 0 behind them.
file(READ "${CMAKE_ARGV4}" hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR count "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE "${CMAKE_ARGV3}" "#include <stddef.h>\n
extern const unsigned char hone_shipped_model[];
extern const size_t hone_shipped_model_bytes;
const unsigned char hone_shipped_model[] = {\n${bytes}0};
const size_t hone_shipped_model_bytes = ${count};\n")
