/* tests/graph/onnx_write.c - onnx_write < TEXT > MODEL.onnx - a small model from text
 * (onnx_text.h), for tests of the tools. */
#include <stdio.h>

#include "tests/graph/onnx_text.h"

int main(void) {
    hone_str text = {0}, bytes = {0};
    for (int c; (c = getchar()) != EOF;)
        hone_str_append_char(&text, (char)c);
    onnx_text_encode(hone_str_text(&text), &bytes);
    bool is_written = fwrite(hone_str_text(&bytes), 1, bytes.length, stdout) == bytes.length;
    hone_str_deinit(&text);
    hone_str_deinit(&bytes);
    return is_written && fflush(stdout) == 0 ? 0 : 1;
}
