/* tests/schedule/python/test_trace_hostile.c - traces from strangers: cut off, with bytes changed,
 * with decisions that fit nothing, and with no memory left. A status is all that comes of it, and
 * the program still verifies. */
#include "tests/support/hone_test.h"

#include <stdlib.h>
#include <string.h>

#include "ir/verify/verify.h"
#include "schedule/primitive/primitives.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "tests/support/program_text.h"

static const char program[] =
    "from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((12, 8)), B: T.Buffer((8, 6)), D: T.Buffer((12, 6))):\n"
    "    E = T.alloc_buffer((12, 8))\n"
    "    C = T.alloc_buffer((12, 6))\n"
    "    for i, j in T.grid(12, 8):\n"
    "        with T.block(\"E\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            E[vi, vj] = A[vi, vj] + T.float32(1)\n"
    "    for i, j, k in T.grid(12, 6, 8):\n"
    "        with T.block(\"C\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + E[vi, vk] * B[vk, vj]\n"
    "    for i, j in T.grid(12, 6):\n"
    "        with T.block(\"D\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            D[vi, vj] = T.max(C[vi, vj], T.float32(0))\n";

static const char python[] =
    "def apply_trace(sch: tir.Schedule) -> None:\n"
    "  b0 = sch.get_sblock(name=\"C\", func_name=\"main\")\n"
    "  b1 = sch.get_sblock(name=\"E\", func_name=\"main\")\n"
    "  l2, l3, l4 = sch.get_loops(block=b0)\n"
    "  v5, v6, v7 = sch.sample_perfect_tile(loop=l2, n=3, max_innermost_factor=16, decision=[3, 2, "
    "2])\n"
    "  l8, l9, l10 = sch.split(loop=l2, factors=[v5, v6, v7])\n"
    "  l11, l12 = sch.split(loop=l4, factors=[None, 3])\n"
    "  sch.reorder(l8, l3, l11, l9, l10, l12)\n"
    "  b13, = sch.get_consumers(block=b0)\n"
    "  sch.reverse_compute_at(block=b13, loop=l3, preserve_unit_loops=True, index=-1)\n"
    "  l14 = sch.sample_compute_location(block=b1, decision=0)\n"
    "  sch.compute_at(block=b1, loop=l14, preserve_unit_loops=True, index=-1)\n"
    "  b15 = sch.cache_read(block=b0, read_buffer_index=1, storage_scope=\"local\", "
    "consumer_blocks=[b0])\n"
    "  b16 = sch.cache_write(block=b13, write_buffer_index=0, storage_scope=\"global\")\n"
    "  v17 = sch.sample_categorical(candidates=[0, 16, 64], probs=[0.25, 0.5, 0.25], decision=1)\n"
    "  sch.annotate(block_or_loop=l8, ann_key=\"unroll\", ann_val=v17)\n"
    "  sch.annotate(block_or_loop=b0, ann_key=\"k\", ann_val={\"a\": [1, 2.5, \"x\"], \"b\": "
    "True})\n"
    "  sch.unannotate(block_or_loop=l8, ann_key=\"unroll\")\n"
    "  l18 = sch.fuse(l9, l10, preserve_unit_iters=True)\n"
    "  sch.parallel(loop=l8)\n"
    "  l19 = sch.add_unit_loop(block_or_loop=b0)\n"
    "  b20 = sch.decompose_reduction(block=b0, loop=l11)\n"
    "  sch.vectorize(loop=l18)\n"
    "  sch.enter_postproc()\n";

typedef struct stage {
    hone_module *module;
    const hone_func *base;
    hone_schedule *sch;
    char *json;
} stage;

static hone_status parse(hone_arena *arena, const char *text, size_t length, bool is_json,
                         hone_trace *out) {
    return is_json ? hone_trace_parse_json(arena, text, length, "t", out)
                   : hone_trace_parse_python(arena, text, length, "t", out);
}

static int set_up(void **state) {
    stage *s = calloc(1, sizeof *s);
    s->base = hone_test_parse(program, &s->module);
    HONE_ASSERT_OK(hone_schedule_create(s->base, &s->sch));
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_trace trace;
    hone_str text = {0};
    HONE_ASSERT_OK(parse(arena, python, strlen(python), false, &trace));
    HONE_ASSERT_OK(hone_trace_apply(&trace, s->sch, NULL)); /* the whole of it is legal */
    HONE_ASSERT_OK(hone_trace_print_json(&s->sch->trace, &text));
    s->json = strdup(hone_str_text(&text));
    hone_str_deinit(&text);
    hone_arena_destroy(arena);
    *state = s;
    return 0;
}

static int tear_down(void **state) {
    stage *s = *state;
    hone_schedule_destroy(s->sch);
    hone_module_release(s->module);
    free(s->json);
    free(s);
    return 0;
}

/* Reads, prints and applies a text; whatever it is. Exact size, so that ASan sees each byte. */
static void swallow(stage *s, const char *text, size_t length, bool is_json) {
    char *copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    hone_arena *arena = hone_arena_create(1 << 12);
    hone_trace trace;
    hone_str out = {0};
    hone_status st = parse(arena, copy, length, is_json, &trace);
    free(copy);
    if (!st) {
        hone_status_free(hone_trace_print_json(&trace, &out));
        hone_status_free(hone_trace_print_python(&trace, &out));
        HONE_ASSERT_OK(hone_schedule_reset(s->sch));
        st = hone_trace_apply(&trace, s->sch, NULL);
        if (!hone_status_consume(st)) HONE_ASSERT_OK(hone_check_func(s->sch->func));
    } else {
        assert_true(hone_status_message(st)[0] != '\0');
        hone_status_free(st);
    }
    hone_str_deinit(&out);
    hone_arena_destroy(arena);
}

static void cut_anywhere(void **state) {
    stage *s = *state;
    for (size_t n = 0; n <= strlen(python); n++)
        swallow(s, python, n, false);
    for (size_t n = 0; n <= strlen(s->json); n++)
        swallow(s, s->json, n, true);
}

static void mutate(hone_rng *rng, char *text, size_t length) {
    static const char spice[] = "0123456789-[](),=\"'.bvl_ \n\\*#:{}Nx";
    uint64_t edits = 1 + hone_rng_below(rng, 3);
    while (edits-- > 0) {
        size_t at = hone_rng_below(rng, length), from = hone_rng_below(rng, length);
        switch (hone_rng_below(rng, 4)) {
        case 0:
            text[at] = (char)hone_rng_below(rng, 256);
            break;
        case 1:
            text[at] = spice[hone_rng_below(rng, sizeof spice - 1)];
            break;
        case 2: { /* a piece from elsewhere */
            size_t room = length - (at > from ? at : from);
            memmove(text + at, text + from, hone_rng_below(rng, room < 12 ? room + 1 : 12));
            break;
        }
        default: { /* another digit */
            size_t i = at;
            while (i < length && (text[i] < '0' || text[i] > '9'))
                i++;
            if (i < length) text[i] = (char)('0' + hone_rng_below(rng, 10));
        }
        }
    }
}

static void change_bytes(void **state) {
    stage *s = *state;
    hone_rng rng = hone_test_rng(5);
    for (int i = 0; i < 6000; i++) {
        const char *source = i % 2 ? python : s->json;
        size_t length = strlen(source);
        char *text = strdup(source);
        mutate(&rng, text, length);
        swallow(s, text, length, i % 2 == 0);
        free(text);
    }
}

static void hostile_decisions(void **state) {
    stage *s = *state;
    static const int64_t odd[] = {0,  -1,  1,         2,         3,       7,  -2,
                                  -3, 100, INT64_MAX, INT64_MIN, 1 << 30, 12, 4};
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_trace trace;
    HONE_ASSERT_OK(parse(arena, python, strlen(python), false, &trace));
    hone_rng rng = hone_test_rng(6);
    hone_decision *decisions = hone_arena_zalloc(arena, trace.count * sizeof *decisions);
    int64_t *values = hone_arena_alloc(arena, trace.count * 8 * sizeof *values);
    int done = 0;
    for (int round = 0; round < 4000; round++) {
        for (uint32_t i = 0; i < trace.count; i++) {
            uint32_t count = trace.decisions[i].count;
            if (hone_rng_below(&rng, 10) == 0) count = (uint32_t)hone_rng_below(&rng, 6);
            for (uint32_t k = 0; k < count; k++)
                values[i * 8 + k] = odd[hone_rng_below(&rng, HONE_COUNT(odd))];
            decisions[i] = (hone_decision){count, &values[i * 8]};
        }
        hone_apply_options options = {.decisions = decisions};
        HONE_ASSERT_OK(hone_schedule_reset(s->sch));
        if (hone_status_consume(hone_trace_apply(&trace, s->sch, &options))) continue;
        HONE_ASSERT_OK(hone_check_func(s->sch->func));
        done++;
    }
    hone_arena_destroy(arena);
    assert_true(done > 20); /* tiles and locations are repaired */
}

static hone_status create_apply_print(void *context) {
    const stage *s = context;
    hone_arena *arena = hone_arena_create(1 << 12);
    hone_schedule *sch = NULL;
    hone_trace trace;
    hone_str text = {0};
    hone_status st = arena ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "no arena");
    if (!st) st = hone_schedule_create(s->base, &sch);
    if (!st) st = parse(arena, python, strlen(python), false, &trace);
    if (!st) st = hone_trace_apply(&trace, sch, NULL);
    if (!st) st = hone_trace_print_json(&sch->trace, &text);
    if (!st) st = parse(arena, text.data, text.length, true, &trace);
    if (!st) st = hone_trace_print_python(&trace, &text);
    if (sch) hone_schedule_destroy(sch);
    if (arena) hone_arena_destroy(arena);
    hone_str_deinit(&text);
    return st;
}

static void without_memory(void **state) {
    hone_test_sweep_allocs(create_apply_print, *state);
}

/* Through the public functions: variables that are none, or of the wrong kind. */
static void wrong_variables(void **state) {
    stage *s = *state;
    hone_schedule *sch = s->sch;
    HONE_ASSERT_OK(hone_schedule_reset(sch));
    hone_rv block, none = 777, list[] = {HONE_NO_ID, 0};
    const hone_rv *loops = NULL;
    uint32_t count = 0;
    hone_node_id node;
    int64_t number;
    hone_rv out;
    HONE_ASSERT_OK(hone_sch_get_block(sch, "C", &block));
    HONE_ASSERT_OK(hone_sch_get_loops(sch, block, &count, &loops));
    hone_factor factors[] = {HONE_FACTOR_OF_RV(none), HONE_FACTOR_OF_RV(block)};
    uint32_t steps = sch->trace.count;
    HONE_ASSERT_CODE(hone_schedule_node(sch, none, &node), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_schedule_int(sch, block, &number), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_sch_get_loops(sch, none, &count, &loops), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_sch_split(sch, loops[0], 2, factors, true, false, NULL),
                     HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_sch_split(sch, loops[0], 0, NULL, true, false, NULL), HONE_CODE_ILLEGAL);
    HONE_ASSERT_CODE(hone_sch_fuse(sch, 2, list, true, NULL), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_sch_reorder(sch, 1, list), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_sch_compute_at(sch, none, loops[0], true, -1), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_sch_compute_at(sch, block, HONE_NO_ID, true, -1), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_sch_cache_read(sch, block, -1, "local", 0, NULL, &out),
                     HONE_CODE_ILLEGAL);
    HONE_ASSERT_CODE(hone_sch_cache_read(sch, block, 0, "local", 2, list, &out), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_sch_cache_write(sch, block, 1, "local", 0, NULL, &out),
                     HONE_CODE_ILLEGAL);
    HONE_ASSERT_CODE(hone_sch_cache_write(sch, block, 0, "moon", 0, NULL, &out), HONE_CODE_ILLEGAL);
    HONE_ASSERT_CODE(hone_sch_rfactor(sch, block, 0, &out), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_sch_bind(sch, loops[0], "threadIdx.w"), HONE_CODE_ILLEGAL);
    HONE_ASSERT_CODE(
        hone_sch_annotate(sch, block, "k", (hone_value){.kind = HONE_VALUE_NONE}, block),
        HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_sch_sample_perfect_tile(sch, loops[0], 17, 16, NULL, NULL),
                     HONE_CODE_ILLEGAL);
    HONE_ASSERT_CODE(hone_sch_sample_perfect_tile(sch, loops[0], 2, 0, NULL, NULL),
                     HONE_CODE_ILLEGAL);
    assert_int_equal(sch->trace.count, steps);
    hone_schedule *copy = NULL;
    HONE_ASSERT_OK(hone_schedule_copy(sch, &copy));
    HONE_ASSERT_OK(hone_sch_parallel(copy, loops[0]));
    hone_schedule_destroy(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_anywhere),      cmocka_unit_test(change_bytes),
        cmocka_unit_test(hostile_decisions), cmocka_unit_test(without_memory),
        cmocka_unit_test(wrong_variables),
    };
    return cmocka_run_group_tests_name("schedule/trace_hostile", tests, set_up, tear_down);
}
