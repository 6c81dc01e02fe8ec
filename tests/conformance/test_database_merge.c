/* tests/conformance/test_database_merge.c - merging is a join: for random databases of either kind
 * that know more or less of the same rows, it is idempotent, commutative and associative, but for
 * record numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/data/rng.h"
#include "support/data/vec.h"
#include "tests/conformance/db_world.h"

enum { ROUNDS = 40, PROPOSALS = 6 };

/* ---- random databases ---- */

/* One of a few contents that a row may have: conflicts are rare, but there. */
static int variant(hone_rng *rng) {
    return hone_rng_below(rng, 8) == 0 ? 1 + (int)hone_rng_below(rng, 2) : 0;
}

static void put_some_workloads(hone_db *db, hone_rng *rng) {
    for (int i = 1; i <= 2; i++) {
        static const char *const names[] = {"one", "two", "three"};
        hone_db_workload workload = sample_workload(i);
        hone_db_target target = sample_target(i);
        workload.name = names[variant(rng)];
        if (variant(rng)) workload.args_json = NULL;
        HONE_ASSERT_OK(hone_db_put_workload(db, &workload));
        HONE_ASSERT_OK(hone_db_put_target(db, &target));
    }
}

static void begin_some_sessions(hone_db *db, hone_rng *rng) {
    static const char *const ids[] = {"s1", "s2", "s3"};
    static const char *const states[] = {"done", "stopped", "killed"};
    for (int i = 0; i < 3; i++) {
        hone_db_session session = sample_session(ids[i]);
        session.look_ahead += variant(rng);
        HONE_ASSERT_OK(hone_db_begin_session(db, &session));
        if (hone_rng_below(rng, 2)) continue;
        int64_t at = SAMPLE_WALL_NS + (int64_t)hone_rng_below(rng, 3);
        HONE_ASSERT_OK(hone_db_end_session(db, ids[i], states[hone_rng_below(rng, 3)], at));
    }
}

static void commit_one(hone_db *db, hone_rng *rng, const char *session, int64_t proposal) {
    double samples[] = {5, 6, 7};
    float features[] = {1, 2, 3, 4};
    int kind = variant(rng);
    hone_db_trial trial = sample_trial(proposal, proposal == 5 ? (double)NAN : 10.0 + kind);
    trial.session = session;
    trial.wall_ns += variant(rng);
    trial.samples_ns = samples;
    trial.sample_count = hone_rng_below(rng, 2) ? 3 : 0;
    samples[0] += variant(rng);
    if (hone_rng_below(rng, 2)) {
        trial.features = features;
        trial.feature_version = 1 + variant(rng);
        trial.feature_rows = trial.feature_columns = 2;
    }
    if (proposal != 5 && hone_rng_below(rng, 2)) {
        trial.confirmed_ns = 20 + (double)hone_rng_below(rng, 3);
        trial.confirmed_at_ns = (int64_t)hone_rng_below(rng, 3);
    }
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
}

/* A seed makes one database, of either kind. */
static hone_db *make(uint64_t seed) {
    hone_rng rng = hone_rng_from_seed(seed);
    hone_db *db = hone_rng_below(&rng, 4) ? db_world_memory() : db_world_sqlite();
    put_some_workloads(db, &rng);
    begin_some_sessions(db, &rng);
    for (int i = 0; i < 2 * PROPOSALS; i++) {
        if (hone_rng_below(&rng, 3)) commit_one(db, &rng, i % 2 ? "s1" : "s3", i / 2);
    }
    return db;
}

/* ---- what a database knows, as text ---- */

typedef struct lines {
    HONE_VEC(char *) all;
} lines;

static void add_line(lines *l, hone_str *line) {
    char *copy = hone_strdup(hone_str_text(line));
    assert_true(copy && hone_vec_push(&l->all, copy));
    hone_str_deinit(line);
}

static bool add_workload(void *ctx, const hone_db_workload *w) {
    hone_str line = {0};
    hone_str_printf(&line, "workload %llu %d %s %s %s %g", (unsigned long long)w->hash.lo,
                    w->hash_version, w->name, w->program, w->args_json ? w->args_json : "-",
                    w->flops);
    add_line(ctx, &line);
    return true;
}

static bool add_session(void *ctx, const hone_db_session *s) {
    hone_str line = {0};
    hone_str_printf(&line, "session %s %s %lld %lld %d", s->id, s->state, (long long)s->started_ns,
                    (long long)s->ended_ns, s->look_ahead);
    add_line(ctx, &line);
    return true;
}

static bool add_task(void *ctx, const hone_db_task *t) {
    hone_str line = {0};
    hone_str_printf(&line, "task %s %lld %lld %lld %lld %g %lld", t->name, (long long)t->trials,
                    (long long)t->ok, (long long)t->failed, (long long)t->confirmed, t->best_ns,
                    (long long)t->last_wall_ns);
    add_line(ctx, &line);
    return true;
}

static bool add_trial(void *ctx, const hone_db_trial *t) {
    hone_str line = {0};
    char uid[HONE_HASH_HEX_BYTES];
    hone_str_printf(&line, "trial %s %s %lld %g %g %lld %s %lld", hone_hash128_print(t->uid, uid),
                    t->session, (long long)t->proposal, t->median_ns, t->confirmed_ns,
                    (long long)t->confirmed_at_ns, t->outcome, (long long)t->wall_ns);
    for (size_t i = 0; i < t->sample_count; i++)
        hone_str_printf(&line, " %g", t->samples_ns[i]);
    hone_str_printf(&line, " v%d", t->feature_version);
    for (uint32_t i = 0; i < t->feature_rows * t->feature_columns; i++)
        hone_str_printf(&line, " %g", (double)t->features[i]);
    add_line(ctx, &line);
    return true;
}

/* The records of a task from the best to the worst: in a line, as their order is part of it. */
static bool add_uid(void *ctx, const hone_db_trial *t) {
    char uid[HONE_HASH_HEX_BYTES];
    hone_str_printf(ctx, " %s", hone_hash128_print(t->uid, uid));
    return true;
}

static void add_orders(hone_db *db, lines *l) {
    static const hone_db_order orders[] = {HONE_DB_ORDER_BEST, HONE_DB_ORDER_FASTEST,
                                           HONE_DB_ORDER_PROPOSAL};
    hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    for (int i = 0; i < 3; i++) {
        hone_str line = {0};
        hone_db_filter filter = {.workload = &workload, .target = &target, .order = orders[i]};
        hone_str_printf(&line, "order %d", i);
        HONE_ASSERT_OK(hone_db_trials(db, &filter, add_uid, &line));
        add_line(l, &line);
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void report_nothing(void *ctx, const char *line) {
    (void)ctx;
    fail_msg("%s", line);
}

static void describe(hone_db *db, hone_str *out) {
    lines l = {0};
    hone_db_filter all = {
        .order = HONE_DB_ORDER_RECORD, .with_samples = true, .with_features = true};
    HONE_ASSERT_OK(hone_db_workloads(db, NULL, add_workload, &l));
    HONE_ASSERT_OK(hone_db_sessions(db, NULL, add_session, &l));
    HONE_ASSERT_OK(hone_db_tasks(db, add_task, &l));
    HONE_ASSERT_OK(hone_db_trials(db, &all, add_trial, &l));
    add_orders(db, &l);
    HONE_ASSERT_OK(hone_db_check(db, report_nothing, NULL));
    qsort(l.all.data, l.all.count, sizeof *l.all.data, by_text);
    for (size_t i = 0; i < l.all.count; i++) {
        hone_str_printf(out, "%s\n", l.all.data[i]);
        hone_free(l.all.data[i]);
    }
    hone_vec_deinit(&l.all);
}

/* ---- the laws ---- */

/* Merges `from` into `into`, ends `from`, returns `into`. */
static hone_db *join(hone_db *into, hone_db *from) {
    hone_db_merge_counts counts;
    HONE_ASSERT_OK(hone_db_merge(into, from, &counts));
    hone_db_close(from);
    return into;
}

/* Both know the same; ends both. */
static void assert_same(hone_db *a, hone_db *b) {
    hone_str of_a = {0}, of_b = {0};
    describe(a, &of_a);
    describe(b, &of_b);
    assert_string_equal(hone_str_text(&of_a), hone_str_text(&of_b));
    hone_str_deinit(&of_a);
    hone_str_deinit(&of_b);
    hone_db_close(a);
    hone_db_close(b);
}

static void merging_is_a_join(hone_db *filled) {
    (void)filled;
    hone_rng rng = hone_test_rng(7);
    for (uint64_t i = hone_test_count(ROUNDS); i > 0; i--) {
        uint64_t a = hone_rng_next(&rng), b = hone_rng_next(&rng), c = hone_rng_next(&rng);
        assert_same(join(make(a), make(a)), make(a));
        assert_same(join(make(a), make(b)), join(make(b), make(a)));
        assert_same(join(join(make(a), make(b)), make(b)), join(make(a), make(b)));
        assert_same(join(join(make(a), make(b)), make(c)), join(make(a), join(make(b), make(c))));
    }
}

/* The news of a database that has grown since the last merge. */
static void takes_the_news(hone_db *db) {
    hone_db *copy = db_world_memory();
    hone_db_merge_counts counts;
    float features[] = {1, 2};
    hone_db_trial trial = sample_trial(0, 10);
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    HONE_ASSERT_OK(hone_db_merge(copy, db, &counts));
    HONE_ASSERT_OK(hone_db_confirm(db, 1, 12, SAMPLE_WALL_NS));
    HONE_ASSERT_OK(hone_db_end_session(db, "s1", "done", SAMPLE_WALL_NS + 1));
    HONE_ASSERT_OK(hone_db_merge(copy, db, &counts));
    assert_int_equal(counts.trials, 0);
    assert_int_equal(counts.known, 1);
    assert_int_equal(counts.changed, 2);
    hone_arena *arena = hone_arena_create(4096);
    const hone_db_trial *got;
    HONE_ASSERT_OK(hone_db_get_trial(copy, "1", arena, &got));
    assert_true(got->confirmed_ns == 12 && got->confirmed_at_ns == SAMPLE_WALL_NS);
    HONE_ASSERT_OK(hone_db_confirm(db, 1, 15, SAMPLE_WALL_NS + 9)); /* later, though slower */
    HONE_ASSERT_OK(hone_db_merge(copy, db, &counts));
    HONE_ASSERT_OK(hone_db_get_trial(copy, "1", arena, &got));
    assert_true(got->confirmed_ns == 15);
    hone_db *third = db_world_memory();
    sample_fill(third);
    trial.features = features, trial.feature_version = 3;
    trial.feature_rows = 1, trial.feature_columns = 2;
    HONE_ASSERT_OK(hone_db_commit_trial(third, &trial, NULL));
    HONE_ASSERT_OK(hone_db_merge(copy, third, &counts));
    HONE_ASSERT_OK(hone_db_get_trial(copy, "1", arena, &got));
    assert_true(got->confirmed_ns == 15 && got->feature_rows == 1);
    HONE_ASSERT_OK(hone_db_merge(copy, db, &counts));
    assert_int_equal(counts.changed, 0);
    hone_arena_destroy(arena);
    hone_db_close(third);
    hone_db_close(copy);
}

int main(void) {
    static const db_case cases[] = {
        DB_CASE(merging_is_a_join),
        DB_CASE(takes_the_news),
    };
    return db_world_run("database merge", cases, HONE_COUNT(cases));
}
