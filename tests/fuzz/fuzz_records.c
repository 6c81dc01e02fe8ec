/* tests/fuzz/fuzz_records.c - any bytes as a file of tuning records: picking one for a function and
 * reading its trace must not crash. */
#include <stdlib.h>

#include "ir/text/read/script.h"
#include "schedule/trace/trace_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char program[] = "from tvm.script import tir as T\n"
                              "@T.prim_func\n"
                              "def main(A: T.Buffer((8, 24)), B: T.Buffer((8, 24))):\n"
                              "    for i, j in T.grid(8, 24):\n"
                              "        with T.block(\"B\"):\n"
                              "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                              "            B[vi, vj] = A[vi, vj] * T.float32(2)\n";

static const hone_func *load(void) {
    static hone_module *module; /* kept for all inputs */
    const hone_member *member = NULL;
    if (hone_script_parse(program, sizeof program - 1, "p", &module)) abort();
    if (hone_module_pick(module, NULL, &member)) abort();
    return member->func;
}

static void read_trace(const hone_json *json) {
    hone_arena *arena = hone_arena_create(1 << 12);
    hone_trace trace;
    hone_str text = {0};
    if (!hone_status_consume(hone_trace_of_json(arena, json, &trace))) {
        if (hone_trace_print_json(&trace, &text) || hone_trace_print_python(&trace, &text)) abort();
    }
    hone_str_deinit(&text);
    hone_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static const hone_func *func;
    if (!func) func = load();
    const char *text = (const char *)bytes;
    for (int any = 0; any < 2; any++) {
        const hone_func *wanted = any ? NULL : func;
        hone_json *json = NULL;
        hone_status st;
        size_t line = 0;
        if (hone_records_are_lines(text, count)) {
            st = hone_records_pick(text, count, wanted, &line, &json);
        } else {
            st = hone_json_parse(text, count, &json);
            if (!st) st = hone_record_check_args(json, wanted);
        }
        if (!st) read_trace(json);
        hone_status_free(st);
        hone_json_destroy(json);
    }
    return 0;
}
