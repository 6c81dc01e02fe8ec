/* tests/database/test_database_damage.c - files damaged at random: whatever is asked of one ends,
 * with an answer or with a status that says which file and why; what is saved of it was in it.
 *
 *   HONE_SEQUENCES=1 HONE_FIRST_SEED=SEED repeats a case.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "database/database.h"
#include "support/core/alloc.h"
#include "support/data/map.h"
#include "support/data/rng.h"
#include "support/os/fs.h"
#include "tests/database/db_samples.h"
#include "tests/support/hone_test.h"

enum { CASES = 400, PAGE = 4096, HEADER = 100, BASES = 4 };

static char *dir, *path, *log_path;
static uint64_t seed; /* of the case */

/* ---- sound files ---- */

typedef struct base {
    char *bytes, *log; /* log: left by a writer that was killed, if any */
    size_t count, log_count;
    hone_map128 trials; /* uid → sum of what it is */
} base;

static base bases[BASES];

static hone_status open_file(hone_db_mode mode, hone_db **out_db) {
    hone_db_options options = {.path = path, .mode = mode, .busy_timeout_ns = 1000000};
    return hone_db_open_sqlite(&options, out_db);
}

static void commit(hone_db *db, int64_t proposal, int trace_bytes) {
    double samples[] = {100.5, 101, 102};
    float features[64] = {1, 2, (float)proposal};
    char trace[8192];
    snprintf(trace, sizeof trace, "[\"%0*lld\"]", trace_bytes, (long long)proposal);
    hone_db_trial trial = sample_trial(proposal, proposal % 7 == 6 ? (double)NAN : 100.5);
    trial.session = proposal % 2 ? "s1" : "s2";
    trial.trace = trace;
    trial.samples_ns = samples;
    trial.sample_count = isnan(trial.median_ns) ? 0 : 3;
    trial.features = features, trial.feature_version = 1;
    trial.feature_rows = trial.feature_columns = 8;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
}

static void fill(hone_db *db, int64_t first, int64_t end, int trace_bytes) {
    for (int64_t i = first; i < end; i++)
        commit(db, i, trace_bytes);
    HONE_ASSERT_OK(hone_db_confirm(db, 1, 99, SAMPLE_WALL_NS));
}

static uint64_t sum_of(const hone_db_trial *t) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    hone_hasher_text(&hasher, t->session);
    hone_hasher_text(&hasher, t->outcome);
    hone_hasher_text(&hasher, t->trace);
    hone_hasher_f64(&hasher, isnan(t->median_ns) ? 0 : t->median_ns);
    hone_hasher_f64(&hasher, isnan(t->confirmed_ns) ? 0 : t->confirmed_ns);
    hone_hasher_i64(&hasher, t->wall_ns);
    return hone_hasher_finish(&hasher).lo;
}

static bool note_trial(void *ctx, const hone_db_trial *trial) {
    assert_true(hone_map128_put(ctx, trial->uid, sum_of(trial)));
    return true;
}

/* Reads the files as they lie, and what they hold. */
static void take_base(base *b, hone_db *open) {
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 26, &b->bytes, &b->count));
    if (hone_fs_exists(log_path)) {
        HONE_ASSERT_OK(hone_fs_read(log_path, 1 << 26, &b->log, &b->log_count));
    }
    HONE_ASSERT_OK(hone_db_trials(open, NULL, note_trial, &b->trials));
    hone_db_close(open);
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    HONE_ASSERT_OK(hone_fs_mkdirs(dir));
}

static hone_db *reopen(hone_db *db) {
    hone_db_close(db);
    HONE_ASSERT_OK(open_file(HONE_DB_WRITE, &db));
    return db;
}

/* Small; with long texts; with a log; of version 1. */
static int make_bases(void **state) {
    (void)state;
    static const int trials[] = {40, 150, 30}, bytes[] = {20, 5000, 300};
    hone_db *db;
    for (int i = 0; i < 3; i++) {
        HONE_ASSERT_OK(open_file(HONE_DB_CREATE, &db));
        sample_fill(db);
        fill(db, 0, trials[i], bytes[i]);
        db = reopen(db);
        if (i == 2) fill(db, trials[i], 2 * trials[i], bytes[i]);
        take_base(&bases[i], db);
    }
    char *old = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path("tests/database/fixtures/version1.db"),
                                1 << 24, &old, &count));
    HONE_ASSERT_OK(hone_fs_write_atomic(path, old, count));
    hone_free(old);
    HONE_ASSERT_OK(open_file(HONE_DB_READ, &db));
    take_base(&bases[3], db);
    return 0;
}

static int free_bases(void **state) {
    (void)state;
    for (int i = 0; i < BASES; i++) {
        hone_free(bases[i].bytes);
        hone_free(bases[i].log);
        hone_map128_deinit(&bases[i].trials);
    }
    return 0;
}

/* ---- damage ---- */

static void flip(char *bytes, size_t count, hone_rng *rng) {
    bytes[hone_rng_below(rng, count)] ^= (char)(1 << hone_rng_below(rng, 8));
}

static char *some_page(char *bytes, size_t count, hone_rng *rng) {
    return bytes + PAGE * hone_rng_below(rng, count / PAGE);
}

static void make_noise(char *bytes, size_t count, hone_rng *rng) {
    for (size_t i = 0; i < count; i++)
        bytes[i] = (char)hone_rng_next(rng);
}

/* Damages once; returns how long the file is then. */
static size_t damage(char *bytes, size_t count, hone_rng *rng) {
    char *page = some_page(bytes, count, rng);
    switch (hone_rng_below(rng, 9)) {
    case 0:
        flip(bytes, HEADER, rng);
        break;
    case 1:
        flip(page, 12, rng); /* its head */
        break;
    case 2:
        make_noise(page + hone_rng_below(rng, 64), 2, rng); /* where a cell is */
        break;
    case 3:
        memset(page, 0, PAGE);
        break;
    case 4:
        make_noise(page, PAGE, rng);
        break;
    case 5:
        memmove(page, some_page(bytes, count, rng), PAGE); /* a write that went astray */
        break;
    case 6:
        memset(page + hone_rng_below(rng, PAGE - 16), 0xff, 16);
        break;
    case 7:
        return PAGE + hone_rng_below(rng, count - PAGE + 1);
    default:
        flip(bytes, count, rng);
        break;
    }
    return count;
}

static void write_case(const base *b, hone_rng *rng) {
    char *bytes = malloc(b->count), *log = malloc(b->log_count + 1);
    size_t count = b->count, log_count = b->log_count;
    memcpy(bytes, b->bytes, count);
    if (b->log_count) memcpy(log, b->log, log_count);
    for (uint64_t k = 1 + hone_rng_below(rng, 3); k > 0; k--)
        count = damage(bytes, count, rng);
    if (b->log_count && hone_rng_below(rng, 2)) flip(log, log_count, rng);
    if (b->log_count && hone_rng_below(rng, 4) == 0) log_count = hone_rng_below(rng, log_count);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, bytes, count));
    if (b->log_count) HONE_ASSERT_OK(hone_fs_write_atomic(log_path, log, log_count));
    free(bytes);
    free(log);
}

/* ---- asking ---- */

/* An answer, or a status about the file. */
static bool is_answered(hone_status st, const char *what) {
    if (!st) return true;
    hone_code code = hone_status_code(st);
    bool is_clear =
        (code == HONE_CODE_INVALID || code == HONE_CODE_VERSION || code == HONE_CODE_IO) &&
        strstr(hone_status_message(st), path);
    if (!is_clear) {
        fail_msg("seed %llu, %s: code %d, '%s'", (unsigned long long)seed, what, (int)code,
                 hone_status_message(st));
    }
    hone_status_free(st);
    return false;
}

static bool see_trial(void *ctx, const hone_db_trial *trial) {
    (void)ctx;
    return trial->uid.lo || true;
}
static bool see_task(void *ctx, const hone_db_task *task) {
    return ctx || task;
}
static bool see_session(void *ctx, const hone_db_session *session) {
    return ctx || session;
}
static bool see_workload(void *ctx, const hone_db_workload *workload) {
    return ctx || workload;
}
static bool see_failure(void *ctx, const hone_db_failure_count *failure) {
    return ctx || failure;
}
static bool see_row(void *ctx, const hone_db_row *row) {
    return ctx || row;
}
static void see_line(void *ctx, const char *line) {
    *(int *)ctx += line[0] != 0;
}

static void read_all(hone_db *db) {
    hone_db_filter all = {
        .order = HONE_DB_ORDER_RECORD, .with_samples = true, .with_features = true};
    hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    hone_db_stats stats;
    int findings = 0;
    is_answered(sample_top_k(db, &workload, &target, 10, see_trial, NULL), "top");
    is_answered(hone_db_tasks(db, see_task, NULL), "tasks");
    is_answered(hone_db_trials(db, &all, see_trial, NULL), "trials");
    is_answered(hone_db_sessions(db, NULL, see_session, NULL), "sessions");
    is_answered(hone_db_workloads(db, NULL, see_workload, NULL), "workloads");
    is_answered(hone_db_failures(db, see_failure, NULL), "failures");
    is_answered(hone_db_get_stats(db, &stats), "stats");
    hone_status_free(
        hone_db_sql(db, "SELECT count(*), max(trace) FROM v_trials", 0, see_row, NULL));
    bool is_sound = is_answered(hone_db_check(db, see_line, &findings), "check");
    if (is_sound != !findings) fail_msg("seed %llu: check", (unsigned long long)seed);
}

static void write_some(hone_db *db) {
    hone_db_trial trial = sample_trial(1000, 5);
    hone_status st = hone_db_commit_trial(db, &trial, NULL);
    bool is_lost = st && strstr(hone_status_message(st), "is not in the database");
    if (is_lost) {
        hone_status_free(st);
    } else {
        is_answered(st, "commit");
    }
    st = hone_db_confirm(db, 2, 50, SAMPLE_WALL_NS);
    is_lost = hone_status_code(st) == HONE_CODE_NOT_FOUND;
    if (is_lost) {
        hone_status_free(st);
    } else {
        is_answered(st, "confirm");
    }
}

/* What came without its features had a checksum that nobody could try. */
static bool was_there(void *ctx, const hone_db_trial *trial) {
    const base *b = ctx;
    uint64_t sum = 0;
    if (!trial->features) return true;
    if (!hone_map128_find(&b->trials, trial->uid, &sum) || sum != sum_of(trial)) {
        fail_msg("seed %llu: record %lld was not in the file", (unsigned long long)seed,
                 (long long)trial->record);
    }
    return true;
}

static void ignore_line(void *ctx, const char *line) {
    (void)ctx;
    assert_true(strlen(line) < 160);
}

/* Rows of version 1 have no checksum: nobody can tell. */
static void save(base *b, bool has_sums) {
    hone_db *into = NULL;
    hone_db_recovery counts;
    HONE_ASSERT_OK(hone_db_create_memory(&into));
    const hone_db_recover_options options = {.report = ignore_line};
    is_answered(hone_db_recover(path, into, &options, &counts), "recover");
    hone_db_filter all = {.with_features = true};
    if (has_sums) HONE_ASSERT_OK(hone_db_trials(into, &all, was_there, b));
    hone_db_close(into);
}

static void run_case(void) {
    hone_rng rng = hone_rng_from_seed(seed);
    int which = (int)hone_rng_below(&rng, BASES);
    hone_db *db = NULL;
    write_case(&bases[which], &rng);
    save(&bases[which], which < 3);
    if (is_answered(open_file(HONE_DB_READ, &db), "open")) {
        read_all(db);
        hone_db_close(db);
    }
    if (is_answered(open_file(HONE_DB_WRITE, &db), "open to write")) {
        write_some(db);
        read_all(db);
        hone_db_close(db);
    }
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    HONE_ASSERT_OK(hone_fs_mkdirs(dir));
}

/* A size in the file that is taken at its word: there is no memory for it. */
static const uint64_t known_seeds[] = {777090};

static void answers_or_says_why(void **state) {
    (void)state;
    uint64_t first = hone_test_seed(1), count = hone_test_count(CASES);
    for (size_t i = 0; i < HONE_COUNT(known_seeds); i++) {
        seed = known_seeds[i];
        run_case();
    }
    for (seed = first; seed < first + count; seed++)
        run_case();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_or_says_why, make_bases, free_bases),
    };
    char *place = NULL;
    hone_status st = hone_fs_temp_dir("hone-damage", &place);
    if (st) return 1;
    dir = hone_path_join(place, "case");
    path = hone_path_join(dir, "damaged.db");
    log_path = hone_path_join(dir, "damaged.db-wal");
    hone_status_free(hone_fs_mkdirs(dir));
    int failed = cmocka_run_group_tests_name("database/damage", tests, NULL, NULL);
    hone_status_free(hone_fs_remove_tree(place));
    hone_free(log_path);
    hone_free(path);
    hone_free(dir);
    hone_free(place);
    return failed;
}
