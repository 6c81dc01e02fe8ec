/* tests/support_room/fuzz_json.c - what parses prints, and parses again to the same value. */
#include <stdlib.h>

#include "support/text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hone_json *json = NULL, *again = NULL;
    if (hone_status_consume(hone_json_parse((const char *)data, size, &json))) return 0;
    hone_str text = {0};
    hone_json_print(json, NULL, &text);
    if (hone_status_consume(hone_json_parse(hone_str_text(&text), text.length, &again))) abort();
    if (!hone_json_equal(json, again)) abort();
    hone_str_deinit(&text);
    hone_json_destroy(json);
    hone_json_destroy(again);
    return 0;
}
