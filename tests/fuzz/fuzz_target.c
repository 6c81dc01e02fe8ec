/* tests/fuzz/fuzz_target.c - any bytes as a target: reading must not crash, and what was read
 * prints in both forms, and reads again as the same target. */
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "target/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void read_again(const hone_target *target, const hone_str *text) {
    hone_target again;
    if (hone_target_parse(hone_str_text(text), &again)) abort();
    if (!hone_hash128_equal(hone_target_hash(target), hone_target_hash(&again))) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char *text = hone_malloc(count + 1);
    hone_target target;
    if (!text) abort();
    if (count) memcpy(text, bytes, count);
    text[count] = '\0';
    if (!hone_status_consume(hone_target_parse(text, &target))) {
        hone_str plain = {0}, json = {0};
        hone_target_print(&target, &plain);
        hone_target_print_json(&target, &json);
        read_again(&target, &plain);
        read_again(&target, &json);
        hone_str_deinit(&plain);
        hone_str_deinit(&json);
    }
    hone_free(text);
    return 0;
}
