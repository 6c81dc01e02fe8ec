/* tests/fuzz/fuzz_trace.c - any bytes as a trace, in both text forms: reading must not crash, what
 * was read prints and reads again, and applying it ends with a status and a sound program. */
#include <stdlib.h>
#include <string.h>

#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

#define HEAD "from tvm.script import tir as T\n@T.prim_func\n"

static const char *const programs[] = {
    HEAD "def main(A: T.Buffer((12, 8)), D: T.Buffer((12,))):\n"
         "    C = T.alloc_buffer((12,))\n"
         "    for i, k in T.grid(12, 8):\n"
         "        with T.block(\"C\"):\n"
         "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
         "            with T.init():\n"
         "                C[vi] = T.float32(0)\n"
         "            C[vi] = C[vi] + A[vi, vk]\n"
         "    for i in range(12):\n"
         "        with T.block(\"D\"):\n"
         "            vi = T.axis.spatial(12, i)\n"
         "            D[vi] = T.max(C[vi], T.float32(0))\n",
    HEAD "def main(A: T.Buffer((16, 16)), D: T.Buffer((16, 16))):\n"
         "    B = T.alloc_buffer((16, 16))\n    C = T.alloc_buffer((16, 16))\n"
         "    for i, j in T.grid(16, 16):\n"
         "        with T.block(\"B\"):\n"
         "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "            B[vi, vj] = A[vi, vj] * T.float32(2)\n"
         "    for i, j in T.grid(14, 16):\n"
         "        with T.block(\"C\"):\n"
         "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "            C[vi, vj] = B[vi, vj] + B[vi + 1, vj] + B[vi + 2, vj]\n"
         "    for i, j in T.grid(14, 16):\n"
         "        with T.block(\"D\"):\n"
         "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "            D[vi, vj] = C[vi, 15 - vj] * T.float32(3)\n",
    HEAD "def main(A: T.Buffer((16, 16)), B: T.Buffer((16, 16)), D: T.Buffer((16, 16))):\n"
         "    C = T.alloc_buffer((16, 16))\n"
         "    for i, j, k in T.grid(16, 16, 16):\n"
         "        with T.block(\"C\"):\n"
         "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
         "            with T.init():\n                C[vi, vj] = T.float32(0)\n"
         "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
         "    for i, j in T.grid(16, 16):\n"
         "        with T.block(\"D\"):\n"
         "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "            D[vi, vj] = T.max(C[vi, vj], T.float32(0))\n",
};

enum { PROGRAM_COUNT = sizeof programs / sizeof programs[0] };

static hone_schedule *start(size_t number, hone_trace_context *out_context) {
    static hone_module *modules[PROGRAM_COUNT]; /* kept for all inputs, as the schedule */
    const char *program = programs[number];
    hone_module *module = NULL;
    const hone_member *member = NULL;
    hone_schedule *sch = NULL;
    if (hone_script_parse(program, strlen(program), "p", &module)) abort();
    if (hone_module_pick(module, NULL, &member)) abort();
    if (hone_schedule_create(member->func, &sch)) abort();
    modules[number] = module;
    out_context->func = member->func;
    return sch;
}

static void go_round(hone_arena *arena, const hone_trace *trace) {
    hone_str text = {0};
    hone_trace again;
    hone_status st = hone_trace_print_json(trace, &text);
    if (!st) { /* JSON has no lambdas with '*' */
        if (hone_trace_parse_json(arena, text.data, text.length, "again", &again)) abort();
        if (again.count != trace->count || again.rv_count != trace->rv_count) abort();
    }
    hone_status_free(st);
    hone_str_clear(&text);
    if (hone_trace_print_python(trace, &text)) abort();
    if (hone_trace_parse_python(arena, text.data, text.length, "again", &again)) abort();
    if (again.count != trace->count || again.rv_count != trace->rv_count) abort();
    hone_str_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static hone_schedule *schedules[PROGRAM_COUNT];
    static hone_trace_context contexts[PROGRAM_COUNT];
    size_t number = count % PROGRAM_COUNT; /* any number that the input tells */
    if (!schedules[number]) schedules[number] = start(number, &contexts[number]);
    hone_schedule *sch = schedules[number];
    const char *text = (const char *)bytes;
    hone_arena *arena = hone_arena_create(1 << 12);
    hone_trace trace;
    bool is_json = count && bytes[0] == '[';
    hone_status st =
        is_json ? hone_trace_parse_json(arena, text, count, "fuzz", &trace)
                : hone_trace_parse_script(arena, &contexts[number], text, count, "fuzz", &trace);
    if (!st) {
        go_round(arena, &trace);
        if (hone_schedule_reset(sch)) abort();
        st = hone_trace_apply(&trace, sch, NULL);
        if (!st && hone_check_func(sch->func)) abort();
    }
    hone_status_free(st);
    hone_arena_destroy(arena);
    return 0;
}
