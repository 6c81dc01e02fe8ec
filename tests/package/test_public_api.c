/* tests/package/test_public_api.c - the public headers, used as an outside program would: what is
 * right, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hone/hone.h>

#include "database/database.h"
#include "tests/package/public_test.h"
#include "tests/support/hone_test.h"

static void prints_what_it_parsed(void **state) {
    (void)state;
    hone_program *a = public_parse(product);
    char *text = NULL, *difference = NULL, hash_a[33], hash_b[33];
    assert_null(hone_program_print(a, &text));
    hone_program *b = public_parse(text);
    assert_int_equal(hone_program_equal(a, b, &difference), 1);
    assert_null(difference);
    assert_null(hone_program_hash(a, "main", hash_a));
    assert_null(hone_program_hash(b, "main", hash_b));
    assert_string_equal(hash_a, hash_b);
    assert_int_equal(strlen(hash_a), 32);
    assert_int_equal(hone_program_function_count(a), 1);
    assert_string_equal(hone_program_function_name(a, 0), "main");
    assert_null(hone_program_function_name(a, 1));
    char *findings = NULL;
    assert_null(hone_program_verify(a, &findings));
    assert_null(findings);
    public_expect(hone_program_hash(a, "nobody", hash_a), "not_found", "nobody");
    assert_string_equal(hash_a, "");
    hone_text_free(text);
    hone_program_free(a);
    hone_program_free(b);
}

static void tells_programs_apart(void **state) {
    (void)state;
    char other[sizeof product];
    memcpy(other, product, sizeof product);
    memcpy(strstr(other, "float32(0)"), "float32(1)", 10);
    hone_program *a = public_parse(product), *b = public_parse(other);
    char *difference = NULL;
    int is_equal = hone_program_equal(a, b, &difference);
    bool has_words = difference && *difference;
    hone_text_free(difference);
    hone_program_free(a);
    hone_program_free(b);
    assert_int_equal(is_equal, 0);
    assert_true(has_words);
}

static void refuses_bad_text(void **state) {
    (void)state;
    hone_program *program = (hone_program *)state;
    public_expect(hone_program_parse("def main(:\n", "bad.py", &program), "invalid", "bad.py:1:");
    assert_null(program);
    public_expect(hone_program_load("/nowhere/a.py", &program), "not_found", "/nowhere/a.py");
    public_expect(hone_program_load("/nowhere/a.onnx", &program), "not_found", "/nowhere/a.onnx");
}

static void finds_ill_formed_programs(void **state) {
    (void)state;
    static const char bad[] = "from tvm.script import tir as T\n"
                              "@T.prim_func\n"
                              "def main(A: T.Buffer((64,), \"float32\")):\n"
                              "    for i in range(64):\n"
                              "        with T.block(\"A\"):\n"
                              "            vi = T.axis.spatial(32, i)\n"
                              "            A[vi] = T.float32(0)\n";
    hone_program *program = public_parse(bad);
    char *findings = NULL;
    hone_error *error = hone_program_verify(program, &findings);
    bool has_findings = findings && *findings;
    hone_text_free(findings);
    hone_program_free(program);
    assert_null(error);
    assert_true(has_findings);
}

static const char tile[] =
    "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
    "l1, l2, l3 = sch.get_loops(block=b0)\n"
    "v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=16, "
    "decision=[8, 8])\n"
    "l6, l7 = sch.split(loop=l1, factors=[v4, v5])\n"
    "sch.reorder(l6, l2, l7, l3)\n";

static char *replay(const hone_replay_options *options, const char *trace, char **out_trace) {
    hone_program *program = public_parse(product), *scheduled = NULL;
    char *text = NULL;
    assert_null(hone_program_replay(program, trace, options, &scheduled, out_trace));
    assert_null(hone_program_print(scheduled, &text));
    hone_program_free(program);
    hone_program_free(scheduled);
    return text;
}

static void replays_traces(void **state) {
    (void)state;
    char *made = NULL;
    char *text = replay(NULL, tile, &made);
    assert_non_null(strstr(text, "T.grid(8, 64, 8, 64)"));
    assert_true(made[0] == '[');
    char *again = replay(NULL, made, NULL); /* decisions included */
    assert_string_equal(again, text);
    bool differs = false;
    for (uint64_t seed = 0; seed < 8 && !differs; seed++) {
        hone_replay_options options = {.resample = 1, .seed = seed};
        char *one = replay(&options, tile, NULL), *two = replay(&options, tile, NULL);
        assert_string_equal(one, two); /* a seed names one program */
        differs = strcmp(one, text) != 0;
        hone_text_free(one);
        hone_text_free(two);
    }
    assert_true(differs);
    hone_text_free(text);
    hone_text_free(again);
    hone_text_free(made);
}

/* clang-format off */
static const struct refusal {
    const char *name, *trace, *function, *kind, *part;
} refusals[] = {
    {"not a trace", "what is this", NULL, "invalid", "trace:1:"},
    {"bad JSON", "[1,", NULL, "invalid", "trace"},
    {"no such block", "b0 = sch.get_block(name=\"X\", func_name=\"main\")\n", NULL, "illegal",
     "no block is named 'X'"},
    {"no such function", "pass\n", "nobody", "not_found", "nobody"},
    {"illegal step",
     "b0 = sch.get_block(name=\"C\", func_name=\"main\")\nl1, l2, l3 = sch.get_loops(block=b0)\n"
     "sch.parallel(loop=l3)\n",
     NULL, "illegal", "step 3"},
};
/* clang-format on */

static void refuses_traces(void **state) {
    const struct refusal *row = *state;
    hone_program *program = public_parse(product), *scheduled = NULL;
    char *made = NULL;
    hone_replay_options options = {.function = row->function};
    hone_error *error = hone_program_replay(program, row->trace, &options, &scheduled, &made);
    hone_program_free(program);
    assert_null(scheduled);
    assert_null(made);
    public_expect(error, row->kind, row->part);
}

/* ---- records ---- */

static char path[64];
static hone_hash128 workload_hash = {.lo = 7, .hi = 9};

static void fill(void) {
    hone_db *db;
    HONE_ASSERT_OK(
        hone_db_open_sqlite(&(hone_db_options){.path = path, .mode = HONE_DB_CREATE}, &db));
    hone_db_target target = {
        .hash = {.lo = 1, .hi = 2},
          .text = "llvm -mcpu=test", .threads = 1
    };
    hone_db_workload workload = {
        .hash = workload_hash, .hash_version = 1, .name = "product", .program = "…"};
    hone_db_session session = {.id = "0123", .model = "m", .state = "running"};
    HONE_ASSERT_OK(hone_db_put_target(db, &target));
    HONE_ASSERT_OK(hone_db_put_workload(db, &workload));
    HONE_ASSERT_OK(hone_db_begin_session(db, &session));
    for (int i = 0; i < 4; i++) {
        bool is_ok = i != 2;
        hone_db_trial trial = {.session = "0123",
                               .workload = workload.hash,
                               .target = target.hash,
                               .proposal = i,
                               .trace = "[[], []]",
                               .outcome = is_ok ? "ok" : "run_crash",
                               .median_ns = is_ok ? 1000.0 * (4 - i) : (double)NAN,
                               .spread = 0.01,
                               .max_error = (double)NAN,
                               .confirmed_ns = (double)NAN,
                               .predicted_score = (double)NAN};
        HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    }
    hone_db_close(db);
}

typedef struct seen {
    int count;
    double first_ns, last_ns;
    char name[32], target[32];
} seen;

static int see(void *ctx, const hone_record *r) {
    seen *s = ctx;
    if (s->count++ == 0) s->first_ns = r->median_ns;
    s->last_ns = r->median_ns;
    snprintf(s->name, sizeof s->name, "%s", r->workload_name);
    snprintf(s->target, sizeof s->target, "%s", r->target);
    return 0;
}

static int see_row(void *ctx, size_t count, const char *const *names, const char *const *cells) {
    char *out = ctx;
    assert_int_equal(count, 2);
    snprintf(out + strlen(out), 128 - strlen(out), "%s,%s;", cells ? cells[0] : names[0],
             cells ? (cells[1] ? cells[1] : "null") : names[1]);
    return 0;
}

enum { ROWS_BYTES = 256 };

static int see_value(void *ctx, int is_row, size_t count, const hone_sql_value *values) {
    char *out = ctx;
    for (size_t i = 0; i < count; i++) {
        const hone_sql_value *v = &values[i];
        assert_true(is_row || v->kind == HONE_SQL_NULL);
        snprintf(out + strlen(out), ROWS_BYTES - strlen(out), "%s:%d:%d:%g:%.*s;", v->name,
                 (int)v->kind, (int)v->integer, v->real, (int)v->length, v->text ? v->text : "");
    }
    return 0;
}

/* What is bound comes back as it was: its kind, too. */
static void binds_values(hone_records *records) {
    const hone_sql_value values[] = {
        {.kind = HONE_SQL_INTEGER, .integer = 7},
        {.kind = HONE_SQL_REAL,                        .real = 0.5},
        {.kind = HONE_SQL_TEXT,.text = "12", .length = 2},
        {.kind = HONE_SQL_BLOB,    .text = "xyz", .length = 2},
        {.kind = HONE_SQL_NULL            },
    };
    const hone_sql_value number = {.name = "n", .kind = HONE_SQL_INTEGER, .integer = 1};
    const hone_sql_value odd = {.kind = (hone_sql_kind)9}, empty = {.kind = HONE_SQL_TEXT};
    char rows[ROWS_BYTES] = "", named[ROWS_BYTES] = "";
    assert_null(hone_records_select(records, "SELECT ? a, ? b, ? c, ? d, ? e LIMIT 0", 5, values,
                                    see_value, rows));
    assert_string_equal(rows, "a:0:0:0:;b:0:0:0:;c:0:0:0:;d:0:0:0:;e:0:0:0:;");
    rows[0] = '\0';
    assert_null(hone_records_select(records, "VALUES (?, ?, ?, ?, ?)", 5, values, see_value, rows));
    assert_non_null(strstr(rows, "column1:1:7:0:;column2:2:0:0.5:;column3:3:0:0:12;"
                                 "column4:4:0:0:xy;column5:0:0:0:;"));
    assert_null(hone_records_select(records, "SELECT record FROM v_trials WHERE proposal = :n", 1,
                                    &number, see_value, named));
    assert_string_equal(named, "record:0:0:0:;record:1:2:0:;");
    public_expect(hone_records_select(records, "SELECT ?", 0, NULL, see_value, rows), "invalid",
                  "parameter 1 has no value");
    public_expect(hone_records_select(records, "SELECT ?", 1, &odd, see_value, rows), "invalid",
                  "parameters[0]: kind 9");
    public_expect(hone_records_select(records, "SELECT ?", 1, &empty, see_value, rows), "invalid",
                  "parameters[0].text is NULL");
    public_expect(hone_records_select(records, "SELECT ?", 1, NULL, see_value, rows), "invalid",
                  "parameters is NULL");
    public_expect(hone_records_select(records, "SELECT 1", 0, NULL, NULL, rows), "invalid",
                  "visit is NULL");
}

static void reads_records(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/hone-api-%d.db", (int)getpid());
    hone_records *records = NULL;
    public_expect(hone_records_open(path, &records), "not_found", path);
    fill();
    assert_null(hone_records_open(path, &records));
    seen all = {0}, two = {0}, none = {0};
    char hex[33];
    hone_hash128_print(workload_hash, hex);
    assert_null(hone_records_top(records, NULL, NULL, 0, see, &all));
    assert_null(hone_records_top(records, hex, NULL, 2, see, &two));
    assert_null(hone_records_top(records, "00000000000000000000000000000001", NULL, 0, see, &none));
    char rows[128] = "";
    assert_null(hone_records_query(
        records, "SELECT record, median_ns FROM v_trials WHERE proposal > 1 ORDER BY 1", see_row,
        rows));
    binds_values(records);
    public_expect(hone_records_top(records, "xyz", NULL, 0, see, &none), "invalid", "xyz");
    public_expect(hone_records_query(records, "DELETE FROM trial", see_row, rows), "invalid", "");
    public_expect(hone_records_best(records, hex, NULL, see, &none), "invalid", "target");
    public_expect(hone_records_best(records, hex, "what is this", see, &none), "invalid", "");
    public_expect(hone_records_top(records, NULL, NULL, 0, NULL, NULL), "invalid", "visit is NULL");
    public_expect(hone_records_query(records, NULL, see_row, rows), "invalid", "sql is NULL");
    public_expect(hone_records_query(records, "SELECT 1", NULL, NULL), "invalid", "visit is NULL");
    hone_records_close(records);
    unlink(path);
    assert_int_equal(all.count, 3); /* the crash is no record */
    assert_true(all.first_ns == 1000 && all.last_ns == 4000);
    assert_string_equal(all.name, "product");
    assert_string_equal(all.target, "llvm -mcpu=test");
    assert_int_equal(two.count, 2);
    assert_int_equal(none.count, 0);
    assert_string_equal(rows, "record,median_ns;3,null;4,1000;");
}

/* hone itself makes the model: the package test runs where it is built. */
static void loads_models(void **state) {
    (void)state;
    char command[1024], model_path[64];
    hone_model *model = NULL;
    public_expect(hone_model_open("/nowhere/model.so", &model), "not_found", "/nowhere/model.so");
    assert_null(model);
    if (access(hone_test_build_path("hone"), X_OK) != 0) return; /* only this program was built */
    snprintf(model_path, sizeof model_path, "/tmp/hone-api-%d", (int)getpid());
    FILE *file;
    char source[96];
    snprintf(source, sizeof source, "%s.py", model_path);
    file = fopen(source, "w");
    assert_non_null(file);
    fputs(product, file);
    fclose(file);
    snprintf(command, sizeof command, "%s compile %s --threads 1 -o %s -q >/dev/null",
             hone_test_build_path("hone"), source, model_path);
    assert_int_equal(system(command), 0);
    unlink(source);
    char library[96], header[96];
    snprintf(library, sizeof library, "%s.so", model_path);
    snprintf(header, sizeof header, "%s.h", model_path);
    hone_error *error = hone_model_open(library, &model);
    unlink(library);
    unlink(header);
    assert_null(error);
    const hone_model_entry *entry = hone_model_find(model, NULL);
    assert_null(hone_model_find(model, "nobody"));
    assert_non_null(entry);
    assert_int_equal(hone_model_describe(model)->threads, 1);
    assert_int_equal(entry->input_count, 2);
    assert_int_equal(entry->output_count, 1);
    static _Alignas(64) float a[64 * 64], b[64 * 64], c[64 * 64];
    for (int i = 0; i < 64 * 64; i++) {
        a[i] = (float)(i % 7);
        b[i] = i / 64 == i % 64; /* the identity */
        c[i] = -1;
    }
    int64_t shape[2] = {64, 64}, wrong[2] = {64, 63};
    DLTensor t[3] = {
        {.data = a, .device = {1, 0}, .ndim = 2, .dtype = {2, 32, 1}, .shape = shape},
        {.data = b, .device = {1, 0}, .ndim = 2, .dtype = {2, 32, 1}, .shape = shape},
        {.data = c, .device = {1, 0}, .ndim = 2, .dtype = {2, 32, 1}, .shape = shape},
    };
    DLTensor *inputs[] = {&t[0], &t[1]}, *outputs[] = {&t[2]};
    assert_null(hone_model_run(model, entry, inputs, outputs));
    public_expect(hone_model_run(model, NULL, inputs, outputs), "invalid", "entry is NULL");
    public_expect(hone_model_run(model, entry, NULL, outputs), "invalid", "inputs is NULL");
    public_expect(hone_model_run(model, entry, inputs, NULL), "invalid", "outputs is NULL");
    DLTensor *holes[] = {&t[0], NULL};
    public_expect(hone_model_run(model, entry, holes, outputs), "invalid", "");
    t[1].dtype.code = 0;
    public_expect(hone_model_run(model, entry, inputs, outputs), "invalid", "");
    t[1].dtype.code = 2;
    t[1].ndim = 1;
    public_expect(hone_model_run(model, entry, inputs, outputs), "invalid", "dimensions");
    t[1].ndim = 2;
    t[1].shape = wrong;
    hone_error *refused = hone_model_run(model, entry, inputs, outputs);
    bool is_same = memcmp(a, c, sizeof a) == 0;
    hone_model_close(model);
    assert_true(is_same);
    public_expect(refused, "invalid", "");
}

static void has_a_version(void **state) {
    (void)state;
    assert_string_equal(hone_version(), HONE_VERSION);
    assert_string_equal(hone_error_message(NULL), "");
    assert_string_equal(hone_error_kind(NULL), "ok");
    hone_error_free(NULL);
    hone_program_free(NULL);
    hone_records_close(NULL);
    hone_model_close(NULL);
}

static void steps_are_checked_one_by_one(void **state) {
    (void)state;
    hone_program *program = public_parse(product), *got = NULL, *want = NULL;
    char *script = NULL, *again = NULL;
    hone_steps *steps = NULL;
    char *trace = NULL;
    assert_null(hone_steps_create(program, "main", 1, &steps));
    assert_null(hone_steps_add(steps, "b = sch.get_sblock(\"C\")\ni, j, k = sch.get_loops(b)"));
    assert_null(hone_steps_add(steps, "f = sch.sample_perfect_tile(i, n=2)\n"
                                      "i0, i1 = sch.split(i, f)"));
    assert_null(hone_steps_trace(steps, &trace));
    public_ok(hone_steps_script(steps, &script));
    public_ok(hone_trace_script(trace, &again));
    assert_string_equal(script, again);
    assert_non_null(strstr(script, "sch.sample_perfect_tile(loop=l1, n=2"));
    hone_text_free(script);
    hone_text_free(again);
    public_expect(hone_steps_add(steps, "sch.parallel(k)"), "illegal", "refused here");
    public_expect(hone_steps_add(steps, "sch.parallel(nobody)"), "invalid", "nobody");
    assert_null(hone_steps_add(steps, "sch.parallel(i0)"));
    assert_null(hone_steps_program(steps, &got));
    hone_steps_free(steps);
    assert_null(hone_program_replay(program, trace, NULL, &want, NULL)); /* the same decision */
    char *text = NULL;
    assert_null(hone_program_print(got, &text));
    assert_non_null(strstr(text, "T.parallel("));
    assert_int_equal(hone_program_equal(got, want, NULL), 0);
    hone_text_free(text);
    hone_text_free(trace);
    hone_program_free(got);
    hone_program_free(want);
    hone_program_free(program);
}

/* Numbers become what the context says. */
static const hone_term *change_floats(void *context, hone_terms *terms, const hone_term *term) {
    return hone_term_get_kind(term) == HONE_TERM_FLOAT ? hone_term_float(terms, context, 3) : term;
}

static void passes_make_other_programs(void **state) {
    (void)state;
    char f32[] = "float32", i32[] = "int32";
    hone_program *program = public_parse(product), *other = NULL, *marked = NULL, *alone = NULL;
    char *value = NULL, *text = NULL;
    assert_null(hone_program_rewrite(program, NULL, change_floats, f32, &other));
    assert_int_equal(hone_program_equal(program, other, NULL), 0);
    public_expect(hone_program_rewrite(program, NULL, change_floats, i32, &marked), "type",
                  "int32");
    assert_null(marked);
    assert_null(hone_program_set_attribute(other, "main", "note", "three", &marked));
    hone_program_free(other); /* what was made of it lives on */
    assert_null(hone_program_get_attribute(marked, NULL, "note", &value));
    assert_string_equal(value, "three");
    hone_text_free(value);
    assert_null(hone_program_get_attribute(program, NULL, "note", &value));
    assert_null(value);
    assert_null(hone_program_get(marked, "main", &alone));
    assert_null(hone_program_update(program, alone, &other));
    assert_int_equal(hone_program_equal(other, marked, NULL), 1);
    assert_null(hone_program_print(other, &text));
    assert_non_null(strstr(text, "T.float32(3.0)"));
    hone_text_free(text);
    hone_program_free(alone);
    public_expect(hone_program_get(program, "nobody", &alone), "not_found", "nobody");
    assert_null(alone);
    hone_program_free(other);
    static const char *const lower[] = {"lower"};
    public_ok(hone_program_run_passes_for(program, "aarch64-linux-gnu", 1, lower, &other));
    hone_program_free(other);
    public_expect(hone_program_run_passes_for(program, "toaster", 1, lower, &other), "invalid",
                  "toaster");
    assert_null(other);
    hone_program_free(marked);
    hone_program_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_checked_one_by_one),
        cmocka_unit_test(passes_make_other_programs),
        cmocka_unit_test(has_a_version),
        cmocka_unit_test(prints_what_it_parsed),
        cmocka_unit_test(tells_programs_apart),
        cmocka_unit_test(refuses_bad_text),
        cmocka_unit_test(finds_ill_formed_programs),
        cmocka_unit_test(replays_traces),
        cmocka_unit_test(reads_records),
        cmocka_unit_test(loads_models),
    };
    int failed = cmocka_run_group_tests_name("package/api", tests, NULL, NULL);
    return failed + HONE_RUN_ROWS("package/refused", refusals, refuses_traces);
}
