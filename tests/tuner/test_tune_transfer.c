/* tests/tuner/test_tune_transfer.c - what a run learns from records that are not the task's own: of
 * programs that differ in sizes, of targets that are unlike, of steps that no sketch has. */
#include "tests/support/hone_test.h"

#include <math.h>
#include <string.h>

#include "schedule/primitive/choose/sample.h"
#include "support/core/alloc.h"
#include "tests/tuner/tune_world.h"

/* The names are others than those of tune_world.c, so that block C is found by its place. */
#define DENSE(m, n, k)                                                                             \
    "@T.prim_func\n"                                                                               \
    "def main(X: T.Buffer((" #m ", " #k ")), W: T.Buffer((" #k ", " #n ")), "                      \
    "Y: T.Buffer((" #m ", " #n "))):\n"                                                            \
    "    for i, j, k in T.grid(" #m ", " #n ", " #k "):\n"                                         \
    "        with T.block(\"product\"):\n"                                                         \
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                                  \
    "            with T.init():\n"                                                                 \
    "                Y[vi, vj] = T.float32(0)\n"                                                   \
    "            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]\n"

enum { EARLY = 6 }; /* proposals: the default schedule, and half of a batch of eight */

/* ---- traces ---- */

typedef struct traces {
    hone_arena *arena;
    const char *session; /* of others nothing is taken */
    hone_trace items[64];
    int32_t sketches[64];
    double times[64];
    uint32_t count;
} traces;

static bool note(void *ctx, const hone_db_trial *trial) {
    traces *all = ctx;
    if (trial->proposal >= 64 || all->count == 64) return true;
    HONE_ASSERT_OK(hone_trace_parse_json(all->arena, trial->trace, strlen(trial->trace), "trial",
                                         &all->items[all->count]));
    all->sketches[all->count] = trial->sketch;
    all->times[all->count++] = trial->median_ns;
    return true;
}

/* Of the task with this hash, in order of proposals; of one session. */
static void list(hone_db *db, const hone_hash128 *workload, const char *session, hone_arena *arena,
                 traces *out) {
    *out = (traces){.arena = arena};
    hone_db_filter filter = {.workload = workload, .session = session};
    HONE_ASSERT_OK(hone_db_trials(db, &filter, note, out));
}

/* Of sketches: a record of the default schedule has steps that a sketch of it does without. */
static const hone_trace *fastest(const traces *all) {
    uint32_t best = all->count;
    for (uint32_t i = 0; i < all->count; i++) {
        bool is_faster = best == all->count || all->times[i] < all->times[best];
        if (all->sketches[i] >= 0 && is_faster) best = i;
    }
    assert_true(best < all->count);
    return &all->items[best];
}

/* The steps up to postprocessing are the same, and so are decisions: of tiles the inner factors. */
static bool descends(const hone_trace *child, const hone_trace *parent) {
    uint32_t decisions = 0;
    for (uint32_t i = 0; i < parent->count; i++) {
        const hone_inst *inst = &parent->insts[i];
        if (inst->kind == HONE_INST_ENTER_POSTPROC) return decisions > 0;
        if (i >= child->count || child->insts[i].kind != inst->kind) return false;
        if (!hone_inst_is_sampling(inst->kind)) continue;
        const hone_decision *a = &child->decisions[i], *b = &parent->decisions[i];
        uint32_t from = inst->kind == HONE_INST_SAMPLE_PERFECT_TILE;
        if (a->count != b->count) return false;
        for (uint32_t k = from; k < a->count; k++) {
            if (a->values[k] != b->values[k]) return false;
        }
        decisions++;
    }
    return decisions > 0;
}

static bool has_child(const traces *all, uint32_t count, const hone_trace *parent) {
    for (uint32_t i = 0; i < all->count && i < count; i++) {
        if (descends(&all->items[i], parent)) return true;
    }
    return false;
}

/* ---- a run, and another one on its records ---- */

static void tune(tune_world *w, char out_session[HONE_HASH_HEX_BYTES]) {
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w->tasks, &w->options, &result));
    memcpy(out_session, result.session, HONE_HASH_HEX_BYTES);
    hone_tune_result_deinit(&result);
}

static const struct row {
    const char *name, *first, *second;
    const char *first_target, *second_target;
    const char *strategy;
    bool learns;
} rows[] = {
    {"twice the size",                 DENSE(24, 40, 36), DENSE(48, 80, 72), NULL, NULL, NULL,     true},
    {"other vectors",                  DENSE(24, 40, 36), DENSE(24, 40, 36), NULL,
     "llvm -mcpu=x86-64-v4 -num-cores=2",                                                NULL,     true},
    {"other vectors, twice the size",  DENSE(24, 40, 36), DENSE(48, 80, 72),
     "llvm -mcpu=x86-64-v2 -num-cores=2",                                          NULL, NULL,     true},
    {"a random search learns nothing", DENSE(24, 40, 36), DENSE(48, 80, 72), NULL, NULL, "random",
     false                                                                                             },
};

/* The fastest of the first run is tried by the second one at once, with its tiles. */
static void begins_where_others_ended(void **state) {
    const struct row *row = *state;
    tune_world first, second;
    char session[HONE_HASH_HEX_BYTES];
    traces known, tried;
    hone_arena *arena = hone_arena_create(1 << 16);
    tune_world_open_program(&first, row->first);
    if (row->first_target)
        HONE_ASSERT_OK(hone_target_parse(row->first_target, &first.options.target));
    tune(&first, session);
    list(first.db, &first.tasks.items[0].hash, NULL, arena, &known);
    tune_world_open_program(&second, row->second);
    second.options.db = first.db;
    second.options.strategy = row->strategy;
    second.options.trials = 8;
    if (row->second_target)
        HONE_ASSERT_OK(hone_target_parse(row->second_target, &second.options.target));
    tune(&second, session);
    list(first.db, &second.tasks.items[0].hash, session, arena, &tried);
    assert_int_equal(tried.count, 8);
    assert_int_equal(has_child(&tried, EARLY, fastest(&known)), row->learns);
    tune_world_close(&second);
    tune_world_close(&first);
    hone_arena_destroy(arena);
}

/* ---- steps that no sketch has ---- */

#define PROPOSAL                                                                                   \
    "{\\\"trace\\\": \\\"b0 = sch.get_block(name='C')\\\\nl1, l2, l3 = "                           \
    "sch.get_loops(block=b0)\\\\n"                                                                 \
    "v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=12, decision=[8, "        \
    "3])\\\\n"                                                                                     \
    "l6, l7 = sch.split(loop=l1, factors=[v4, v5])\\\\nsch.unroll(loop=l7)\\\"}"

static uint32_t count_descendants(const traces *all, const hone_trace *parent) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        bool is_alike = all->items[i].count >= 5;
        for (uint32_t k = 0; k < 5 && is_alike; k++)
            is_alike = all->items[i].insts[k].kind == parent->insts[k].kind;
        count += is_alike;
    }
    return count;
}

/* A proposal from outside is one of the sketches of a run that goes on without who made it. */
static void proposals_stay(void **state) {
    (void)state;
    tune_world w;
    traces first, then;
    char one[HONE_HASH_HEX_BYTES], two[HONE_HASH_HEX_BYTES];
    hone_arena *arena = hone_arena_create(1 << 16);
    tune_world_open(&w);
    w.options.only_task = "dense";
    w.options.trials = 8;
    w.options.propose = "read a; read b; printf '%s\\n' \"" PROPOSAL "\"; cat >/dev/null";
    tune(&w, one);
    list(w.db, &w.tasks.items[0].hash, one, arena, &first);
    int64_t at = -1;
    for (uint32_t i = 0; i < first.count; i++) {
        bool is_it = first.items[i].count >= 5 &&
                     first.items[i].insts[2].kind == HONE_INST_SAMPLE_PERFECT_TILE &&
                     first.items[i].insts[4].kind == HONE_INST_UNROLL;
        if (is_it) at = i;
    }
    assert_true(at >= 0);
    w.options.propose = NULL;
    w.options.trials = 48;
    w.options.strategy = "random"; /* a model would have to like it */
    tune(&w, two);
    list(w.db, &w.tasks.items[0].hash, two, arena, &then);
    assert_true(count_descendants(&then, &first.items[at]) > 0);
    tune_world_close(&w);
    hone_arena_destroy(arena);
}

int main(void) {
    int failed = HONE_RUN_ROWS("tuner/transfer", rows, begins_where_others_ended);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proposals_stay),
    };
    return failed + cmocka_run_group_tests_name("tuner/transfer", tests, NULL, NULL);
}
