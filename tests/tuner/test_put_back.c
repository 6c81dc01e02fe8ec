/* tests/tuner/test_put_back.c - records that do not help in place make way for what was used. */
#include "tests/support/hone_test.h"

#include <math.h>

#include "target/target.h"
#include "tuner/loop/put_back.h"

enum { PROGRAMS = 4 };

typedef struct world {
    hone_db *db;
    hone_hash128 workload, target;
} world;

static void open_world(world *w) {
    hone_target target;
    HONE_ASSERT_OK(hone_db_create_memory(&w->db));
    HONE_ASSERT_OK(hone_target_parse("llvm -mcpu=znver3 -num-cores=2", &target));
    w->workload = (hone_hash128){.lo = 1, .hi = 2};
    w->target = hone_target_hash(&target);
    const hone_db_workload workload = {
        .hash = w->workload, .hash_version = 1, .name = "dense", .program = "p"};
    const hone_db_target row = {.hash = w->target, .text = "llvm", .threads = 2};
    const hone_db_session session = {
        .id = "00000000000000000000000000000001", .state = "running", .look_ahead = 8};
    HONE_ASSERT_OK(hone_db_put_workload(w->db, &workload));
    HONE_ASSERT_OK(hone_db_put_target(w->db, &row));
    HONE_ASSERT_OK(hone_db_begin_session(w->db, &session));
}

/* Program number i with a time; confirmed NAN: it is not. */
static void add(const world *w, int i, double median_ns, double confirmed_ns) {
    const hone_db_trial row = {.session = "00000000000000000000000000000001",
                               .workload = w->workload,
                               .target = w->target,
                               .proposal = i,
                               .trace = "[[], []]",
                               .program = {.lo = (uint64_t)i},
                               .outcome = isnan(median_ns) ? "run_crash" : HONE_DB_OUTCOME_OK,
                               .median_ns = median_ns,
                               .spread = NAN,
                               .max_error = NAN,
                               .confirmed_ns = confirmed_ns,
                               .predicted_score = NAN};
    HONE_ASSERT_OK(hone_db_commit_trial(w->db, &row, NULL));
}

typedef struct order {
    uint64_t programs[PROGRAMS];
    double ns[PROGRAMS];
    size_t count;
} order;

static bool note(void *ctx, const hone_db_trial *trial) {
    order *o = ctx;
    o->programs[o->count] = trial->program.lo;
    o->ns[o->count++] = hone_db_trial_ns(trial);
    return true;
}

static order order_of(const world *w) {
    const hone_db_filter filter = {.order = HONE_DB_ORDER_BEST};
    order o = {0};
    HONE_ASSERT_OK(hone_db_trials(w->db, &filter, note, &o));
    return o;
}

static void put_back(const world *w, uint64_t program, double ratio) {
    const hone_hash128 hash = {.lo = program};
    HONE_ASSERT_OK(hone_put_back(w->db, &w->workload, &w->target, &hash, ratio));
}

static void what_was_used_is_best_again(void **state) {
    (void)state;
    world w;
    open_world(&w);
    add(&w, 0, 100, 100);
    add(&w, 1, 70, 80);
    add(&w, 2, 75, 90);
    add(&w, 3, 60, NAN); /* a lucky first look ranks behind what was confirmed */
    put_back(&w, 0, 1.25);
    order o = order_of(&w);
    assert_int_equal(o.programs[0], 0);
    assert_true(fabs(o.ns[0] - 100) < 1e-9);
    assert_true(fabs(o.ns[1] - 125) < 1e-9 && fabs(o.ns[2] - 125) < 1e-9);
    assert_int_equal(o.programs[3], 3);
    put_back(&w, 0, 1.25); /* twice is as good as once */
    assert_int_equal(order_of(&w).programs[0], 0);
    hone_db_close(w.db);
}

/* Not surely faster, but faster: it goes just behind. */
static void a_gain_that_is_not_sure_goes_behind(void **state) {
    (void)state;
    world w;
    open_world(&w);
    add(&w, 0, 100, NAN); /* never confirmed: it is now */
    add(&w, 1, 90, 95);
    put_back(&w, 0, 0.98);
    order o = order_of(&w);
    assert_int_equal(o.programs[0], 0);
    assert_true(o.ns[1] > 100 && o.ns[1] < 100.01);
    hone_db_close(w.db);
}

static void an_unknown_program_changes_nothing(void **state) {
    (void)state;
    world w;
    open_world(&w);
    add(&w, 0, NAN, NAN);
    add(&w, 1, 90, 95);
    put_back(&w, 7, 2);
    put_back(&w, 0, 2); /* it failed */
    order o = order_of(&w);
    assert_int_equal(o.count, 1);
    assert_true(fabs(o.ns[0] - 95) < 1e-9);
    hone_db_close(w.db);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_used_is_best_again),
        cmocka_unit_test(a_gain_that_is_not_sure_goes_behind),
        cmocka_unit_test(an_unknown_program_changes_nothing),
    };
    return cmocka_run_group_tests_name("tuner/put_back", tests, NULL, NULL);
}
