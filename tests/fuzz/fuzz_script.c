/* tests/fuzz/fuzz_script.c - any bytes as program text: reading and verifying must not crash, and
 * what was read prints, reads again and is the same program. */
#include <stdlib.h>
#include <string.h>

#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void go_round(const hone_module *module, hone_dialect dialect) {
    hone_module *copy = NULL;
    hone_str text = {0};
    hone_print_options options = {.dialect = dialect, .mark = HONE_NO_ID};
    if (hone_module_print(module, &options, &text)) abort();
    if (hone_script_parse(text.data, text.length, "again.py", &copy)) abort();
    /* the numbers of long constants stand in another file */
    bool is_whole = !strstr(hone_str_text(&text), "metadata[\"relax.expr.Constant\"]");
    if (is_whole && !hone_module_equal(module, copy, NULL)) abort();
    hone_str_deinit(&text);
    hone_module_release(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    hone_module *module = NULL;
    hone_status st = hone_script_parse((const char *)bytes, count, "fuzz.py", &module);
    if (st) {
        hone_status_free(st);
        return 0;
    }
    hone_findings findings = {.arena = hone_arena_create(4096)};
    if (!findings.arena || hone_verify_module(module, &findings)) abort();
    hone_arena_destroy(findings.arena);
    go_round(module, HONE_DIALECT_TVM_0_27);
    go_round(module, HONE_DIALECT_CLASSIC);
    hone_module_release(module);
    return 0;
}
