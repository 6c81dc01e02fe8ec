/* bench/bench_database.c - what questions to a database cost at 10^4, 10^5 and 10^6 trials of 60
 * tasks, and of one.
 *
 *   top 10     of one task                           tasks    hone_db_tasks
 *   explain    choosing records of 60 kernels        lookups  the same, when none has a record
 *   start      what a tune of all tasks reads before it begins
 *   report     the page of `hone report`, and its size
 *
 * Traces are those of default schedules.
 * The first trials are committed, the rest are copies of them made by SQL (without samples; their
 * checksums are not right, nothing here looks at them).
 */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>

#include "bench/bench_util.h"
#include "compile/records/record_choice.h"
#include "database/database.h"
#include "ir/core/module.h"
#include "ir/identity/structural.h"
#include "ir/text/read/script.h"
#include "schedule/defaults/default_schedule.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/data/hash.h"
#include "support/os/fs.h"
#include "target/target.h"
#include "tools/report/report.h"

#define TARGET_TEXT "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -num-cores=1"

enum {
    KERNELS = 60,
    SEED_TRIALS = 6000,
    READ = 4096,
    LEAST_READ = 128,
    ELITES = 48,
    FEATURES = 12 * 164
};

typedef struct subject {
    char *path;
    hone_db *db;
    hone_target parsed;
    hone_hash128 target;              /* of it */
    char *traces[KERNELS];            /* as JSON */
    hone_module *modules[2][KERNELS]; /* those that were tuned; others under the same names */
    const hone_func *funcs[2][KERNELS];
    int tasks; /* of the first so many kernels there are trials */
    hone_arena *arena;
    int64_t seen;
    size_t page_bytes; /* of a report */
} subject;

/* ---- making ---- */

static void parse_kernel(int kind, int i, hone_str *text, subject *s) {
    const hone_member *member;
    hone_str_printf(text,
                    "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n"
                    "def kernel_%d(A: T.Buffer((%d, 64), \"float32\"), "
                    "B: T.Buffer((%d, 64), \"float32\")):\n"
                    "    for i, j in T.grid(%d, 64):\n        with T.sblock(\"B\"):\n"
                    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                    "            B[vi, vj] = A[vi, vj] * T.float32(%d)\n",
                    i, 16 + i, 16 + i, 16 + i, kind + 2);
    bench_must(hone_str_check(text));
    bench_must(hone_script_parse(text->data, text->length, "kernel", &s->modules[kind][i]));
    bench_must(hone_module_pick(s->modules[kind][i], NULL, &member));
    s->funcs[kind][i] = member->func;
}

/* The trace of the default schedule. */
static void make_trace(subject *s, int i) {
    const hone_default_limits limits = {.threads = 1,
                                        .vector_lanes = 8,
                                        .vector_registers = 16,
                                        .l1_bytes = 32 << 10,
                                        .l2_bytes = 1 << 20};
    hone_schedule *sch = NULL;
    hone_str text = {0};
    hone_module_freeze(s->modules[0][i]);
    bench_must(hone_schedule_create(s->funcs[0][i], &sch));
    bench_must(hone_default_schedule(sch, &limits));
    bench_must(hone_trace_print_json(&sch->trace, &text));
    bench_must(hone_str_check(&text));
    s->traces[i] = hone_str_take(&text);
    hone_schedule_destroy(sch);
}

static void put_kernels(subject *s) {
    for (int i = 0; i < KERNELS; i++) {
        hone_str text = {0}, other = {0};
        parse_kernel(0, i, &text, s);
        parse_kernel(1, i, &other, s);
        make_trace(s, i);
        hone_db_workload workload = {.hash = hone_func_hash(s->funcs[0][i]),
                                     .hash_version = HONE_STRUCTURAL_VERSION,
                                     .name = s->funcs[0][i]->name,
                                     .program = hone_str_text(&text),
                                     .flops = 1e6};
        bench_must(hone_db_put_workload(s->db, &workload));
        hone_str_deinit(&text);
        hone_str_deinit(&other);
    }
}

static void commit_seed(subject *s) {
    static float features[FEATURES];
    hone_db_trial batch[100];
    for (int at = 0; at < SEED_TRIALS; at += 100) {
        for (int i = 0; i < 100; i++) {
            const hone_func *func = s->funcs[0][(at + i) % s->tasks];
            batch[i] = (hone_db_trial){.session = "s",
                                       .workload = hone_func_hash(func),
                                       .target = s->target,
                                       .proposal = (at + i) / s->tasks,
                                       .trace = s->traces[(at + i) % s->tasks],
                                       .program = hone_func_hash(func),
                                       .outcome = HONE_DB_OUTCOME_OK,
                                       .median_ns = 1000 + (at + i) * 7919 % 10007,
                                       .spread = 0.01,
                                       .max_error = 0,
                                       .confirmed_ns = at ? (double)NAN : 1000.0,
                                       .predicted_score = 1,
                                       .wall_ns = at + i,
                                       .feature_version = 1,
                                       .feature_rows = 12,
                                       .feature_columns = 164,
                                       .features = features};
        }
        bench_must(hone_db_commit_trials(s->db, batch, 100));
    }
}

static void run_sql(sqlite3 *sql, const char *text) {
    if (sqlite3_exec(sql, text, NULL, NULL, NULL) == SQLITE_OK) return;
    bench_must(HONE_ERROR(HONE_CODE_INTERNAL, "%s: %s", text, sqlite3_errmsg(sql)));
}

/* Copies the seed until there are `count`. */
static void multiply(const subject *s, int64_t count) {
    sqlite3 *sql = NULL;
    char text[2048];
    if (sqlite3_open(s->path, &sql) != SQLITE_OK) run_sql(sql, "open");
    snprintf(text, sizeof text,
             "WITH RECURSIVE copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy LIMIT %lld)"
             " INSERT INTO trial(uid, session_id, workload_id, target_id, proposal, sketch,"
             " program, outcome, median_ns, spread, predicted_score, search_ns, queue_ns, build_ns,"
             " transfer_ns, load_ns, measure_ns, check_ns, wall_ns, trace)"
             " SELECT printf('%%032x', n * 100000 + id), session_id, workload_id, target_id,"
             " proposal + n * 10000, sketch, printf('%%032x', n * 100000 + id), outcome,"
             " median_ns + n, spread, 1, 0, 0, 0, 0, 0, 0, 0, wall_ns + n, trace"
             " FROM copy, trial WHERE id <= %d LIMIT %lld",
             (long long)(count / SEED_TRIALS + 1), SEED_TRIALS, (long long)(count - SEED_TRIALS));
    run_sql(sql, "PRAGMA synchronous = OFF");
    run_sql(sql, text);
    sqlite3_close(sql);
}

static void make(subject *s, const char *dir, int64_t count, int tasks) {
    char name[32];
    snprintf(name, sizeof name, "%lld-%d.db", (long long)count, tasks);
    *s = (subject){
        .path = hone_path_join(dir, name), .tasks = tasks, .arena = hone_arena_create(1 << 16)};
    hone_db_options options = {.path = s->path, .mode = HONE_DB_CREATE};
    hone_db_target target = {.text = TARGET_TEXT, .threads = 1};
    hone_db_session session = {.id = "s", .state = "done"};
    bench_must(hone_target_parse(TARGET_TEXT, &s->parsed));
    s->target = target.hash = hone_target_hash(&s->parsed);
    bench_must(hone_db_open_sqlite(&options, &s->db));
    bench_must(hone_db_put_target(s->db, &target));
    bench_must(hone_db_begin_session(s->db, &session));
    put_kernels(s);
    commit_seed(s);
    multiply(s, count);
}

static void end(subject *s) {
    for (int i = 0; i < KERNELS; i++)
        hone_free(s->traces[i]);
    for (int i = 0; i < 2 * KERNELS; i++)
        hone_module_release(s->modules[i / KERNELS][i % KERNELS]);
    hone_db_close(s->db);
    hone_arena_destroy(s->arena);
    hone_free(s->path);
}

/* ---- questions ---- */

static bool see_trial(void *ctx, const hone_db_trial *trial) {
    ((subject *)ctx)->seen += trial->record > 0;
    return true;
}
static bool see_task(void *ctx, const hone_db_task *task) {
    ((subject *)ctx)->seen += task->trials > 0;
    return true;
}

static void ask_top(subject *s) {
    hone_hash128 hash = hone_func_hash(s->funcs[0][7]);
    hone_db_filter top = {
        .workload = &hash, .target = &s->target, .limit = 10, .order = HONE_DB_ORDER_BEST};
    bench_must(hone_db_trials(s->db, &top, see_trial, s));
}

static void ask_tasks(subject *s) {
    bench_must(hone_db_tasks(s->db, see_task, s));
}

static void choose_all(subject *s, int kind) {
    hone_record_chooser *chooser = NULL;
    bench_must(hone_record_chooser_create(s->db, &s->parsed, NULL, &chooser));
    for (int i = 0; i < KERNELS; i++) {
        hone_record_choice choice;
        bench_must(hone_record_choose(chooser, s->funcs[kind][i], s->arena, &choice));
    }
    hone_record_chooser_destroy(chooser);
    hone_arena_reset(s->arena);
}

static void ask_explain(subject *s) {
    choose_all(s, 0);
}

static void ask_lookups(subject *s) {
    choose_all(s, 1);
}

static void read_trials(subject *s, const hone_hash128 *workload, const hone_hash128 *program,
                        hone_db_order order, int64_t limit) {
    hone_db_filter filter = {.workload = workload,
                             .target = &s->target,
                             .program = program,
                             .limit = limit,
                             .order = order,
                             .with_features = true};
    bench_must(hone_db_trials(s->db, &filter, see_trial, s));
}

/* As tuner/loop/tune_resume.c, for each task; the program that tuning has to beat is not there, nor
 * are those of a generation that the database is asked for. */
static void ask_start(subject *s) {
    int64_t share = READ / s->tasks > LEAST_READ ? READ / s->tasks : LEAST_READ;
    int64_t fast = share / 5 > ELITES ? share / 5 : ELITES;
    bench_must(hone_db_tasks(s->db, see_task, s));
    for (int i = 0; i < s->tasks; i++) {
        hone_hash128 hash = hone_func_hash(s->funcs[0][i]);
        read_trials(s, &hash, &s->target, HONE_DB_ORDER_FASTEST, 1);
        read_trials(s, &hash, NULL, HONE_DB_ORDER_FASTEST, fast);
        read_trials(s, &hash, NULL, HONE_DB_ORDER_LATEST, share - fast);
        for (uint64_t k = 0; k < 64; k++) {
            bool is_there;
            hone_hash128 program = {.hi = 5, .lo = k};
            bench_must(
                hone_db_has_program(s->db, &hash, &s->target, &program, INT64_MAX, &is_there));
        }
    }
}

static void ask_report(subject *s) {
    hone_str page = {0};
    const hone_report_source source = {s->db, "bench.db"};
    bench_must(hone_report_print(&source, 1, &page));
    s->page_bytes = page.length;
    hone_str_deinit(&page);
}

typedef struct question {
    const char *name;
    void (*ask)(subject *s);
    double limit_ms;
} question;

static const question questions[] = {
    {"top 10",  ask_top,     10  },
    {"tasks",   ask_tasks,   50  },
    {"explain", ask_explain, 100 },
    {"lookups", ask_lookups, 100 },
    {"report",  ask_report,  2000},
    {"start",   ask_start,   1000},
};

/* The fastest of some: the machine's other work only adds. */
static double milliseconds(const question *q, subject *s) {
    double best = INFINITY;
    for (int i = 0; i < 5; i++) {
        int64_t begin = bench_now_ns();
        q->ask(s);
        best = fmin(best, (double)(bench_now_ns() - begin) / 1e6);
    }
    return best;
}

static void measure(bench *b, subject *s, const question *q, int64_t count) {
    char work[64];
    snprintf(work, sizeof work, "%s of %lld%s, at most %.0f", q->name, (long long)count,
             s->tasks == 1 ? " of a task" : "", q->limit_ms);
    bench_add(b, &(bench_row){.work = work,
                              .metric = "time",
                              .unit = "ms",
                              .hone = milliseconds(q, s),
                              .spread = NAN});
}

static void add_size(bench *b, const subject *s, int64_t count) {
    char work[64];
    snprintf(work, sizeof work, "report of %lld, at most 5", (long long)count);
    bench_add(b, &(bench_row){.work = work,
                              .metric = "size",
                              .unit = "MB",
                              .hone = (double)s->page_bytes / 1e6,
                              .spread = NAN});
}

/* Of one task only the start costs more than of many. */
static void measure_all(bench *b, const char *dir, int64_t count) {
    subject s;
    size_t last = sizeof questions / sizeof questions[0] - 1;
    make(&s, dir, count, KERNELS);
    for (size_t i = 0; i <= last; i++)
        measure(b, &s, &questions[i], count);
    add_size(b, &s, count);
    end(&s);
    make(&s, dir, count, 1);
    measure(b, &s, &questions[last], count);
    end(&s);
}

int main(int argc, char **argv) {
    static const int64_t counts[] = {10000, 100000, 1000000};
    char *dir = NULL;
    bench b;
    bench_begin(&b, "database", argc, argv);
    bench_must(hone_fs_temp_dir("hone-bench", &dir));
    for (int i = 0; i < (b.is_quick ? 1 : 3); i++)
        measure_all(&b, dir, counts[i]);
    bench_must(hone_fs_remove_tree(dir));
    hone_free(dir);
    return bench_finish(&b);
}
