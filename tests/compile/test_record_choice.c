/* tests/compile/test_record_choice.c - which record a program gets when the database was made for
 * another one: other names, another identity, other statements, other sizes; and what is said of
 * the rest. */
#include <math.h>
#include <string.h>

#include "compile/records/record_choice.h"
#include "ir/identity/structural.h"
#include "ir/text/read/script.h"
#include "schedule/primitive/primitives.h"
#include "target/target.h"
#include "tests/support/hone_test.h"

#define PROGRAM(name, A, B, C, block, rows, init, statement)                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def " name "(" A ": T.Buffer((" rows ", 24), \"float32\"),\n"                                 \
    "         " B ": T.Buffer((24, 40), \"float32\"),\n"                                           \
    "         " C ": T.Buffer((" rows ", 40), \"float32\")):\n"                                    \
    "    for i, j, k in T.grid(" rows ", 40, 24):\n"                                               \
    "        with T.block(\"" block "\"):\n"                                                       \
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                                  \
    "            with T.init():\n"                                                                 \
    "                " C "[vi, vj] = T.float32(" init ")\n"                                        \
    "            " C "[vi, vj] = " C "[vi, vj] + " statement "\n"

static const char tuned[] = PROGRAM("main", "A", "B", "C", "C", "32", "0", "A[vi, vk] * B[vk, vj]");
static const char renamed[] =
    PROGRAM("product", "L", "R", "P", "mm", "32", "0", "L[vi, vk] * R[vk, vj]");
static const char renamed_main1[] =
    PROGRAM("main1", "L", "R", "P", "mm", "32", "0", "L[vi, vk] * R[vk, vj]");
static const char summing[] =
    PROGRAM("main", "L", "R", "P", "sum", "32", "0", "L[vi, vk] + R[vk, vj]");
static const char summing_alike[] =
    PROGRAM("main", "A", "B", "C", "C", "32", "0", "A[vi, vk] + B[vk, vj]");
static const char other_name[] =
    PROGRAM("tanh", "L", "R", "P", "sum", "32", "0", "L[vi, vk] + R[vk, vj]");
static const char larger[] =
    PROGRAM("main", "A", "B", "C", "C", "64", "0", "A[vi, vk] * B[vk, vj]");
static const char two_blocks[] =
    "from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((32, 24), \"float32\"), B: T.Buffer((24, 40), \"float32\"),\n"
    "         C: T.Buffer((32, 40), \"float32\")):\n"
    "    for i, j in T.grid(32, 40):\n"
    "        with T.block(\"zero\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            C[vi, vj] = T.float32(0)\n"
    "    for i, j, k in T.grid(32, 40, 24):\n"
    "        with T.block(\"C\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";

/* What is wrong with the records. */
typedef enum record_flaw {
    SOUND,
    OLD_IDENTITY,     /* the workload has a hash that nothing has today */
    UNREADABLE,       /* and its text is none */
    FASTEST_IS_STALE, /* of two records */
    ALL_ARE_STALE,
    NO_SUCH_BLOCK,
    FASTEST_REJECTED,
    IS_TODAYS, /* the tuned program is a kernel of the model as well */
    FOR_OTHER_TARGET,
    FOR_LIKE_TARGET,   /* another L3, and cores */
    LIKE_IS_FASTER,    /* one for such a target and, slower, one for the very target */
    LIKE_IS_CONFIRMED, /* the same, and that one is */
    BY_GIVEN,          /* by a variant of the user's, who gives it now, too */
} record_flaw;

/* clang-format off */
static const struct row {
    const char *name;
    const char *today; /* what is compiled now; `tuned` was tuned */
    record_flaw flaw;
    hone_record_match match;
    int64_t stale, earlier;
    const char *reason;
} rows[] = {
    {"the program that was tuned", tuned, SOUND, HONE_RECORD_EXACT, 0, 0,
     "fastest record, unconfirmed"},
    {"other names", renamed, SOUND, HONE_RECORD_TRANSLATED, 0, 0,
     "translated: it was tuned under other names"},
    {"another identity", tuned, OLD_IDENTITY, HONE_RECORD_TRANSLATED, 0, 2,
     "translated: its program has got another identity since; 2 records under its name belong to "
     "an earlier program, made by hone 0.0.1, the same but for its identity (00000000000000070000"},
    {"another identity and names", renamed_main1, OLD_IDENTITY, HONE_RECORD_TRANSLATED, 0, 2,
     "another identity since"},
    {"other statements", summing, SOUND, HONE_RECORD_TRANSLATED, 0, 2,
     "translated: its program had the same loops; its time is that program's; 2 records under its "
     "name belong to an earlier program, made by hone 0.0.1, at a store: stored value differs: "},
    {"other statements, another name", other_name, SOUND, HONE_RECORD_NONE, 0, 0,
     "no record of it"},
    {"other blocks", two_blocks, SOUND, HONE_RECORD_NONE, 0, 2,
     "no record of it; 2 records under its name belong to an earlier program, made by hone "
     "0.0.1, "},
    {"other blocks, another identity", two_blocks, OLD_IDENTITY, HONE_RECORD_NONE, 0, 2,
     "belong to an earlier program"},
    {"a text that is none", tuned, UNREADABLE, HONE_RECORD_NONE, 0, 2,
     "made by hone 0.0.1, which cannot be read: stored program:1:4: "},
    {"other sizes", larger, SOUND, HONE_RECORD_NONE, 0, 0,
     "2 records under its name are for other sizes (parameter 1 is float32[32, 24] there and "
     "float32[64, 24] here)"},
    {"another kernel of the model", summing, IS_TODAYS, HONE_RECORD_NONE, 0, 0, "no record of it"},
    {"the next one is taken", tuned, FASTEST_IS_STALE, HONE_RECORD_EXACT, 1, 0,
     "fastest record, unconfirmed; 1 better one is not used: stale, its trace makes another"},
    {"the next one, other names", renamed, FASTEST_IS_STALE, HONE_RECORD_TRANSLATED, 1, 0,
     "translated: it was tuned under other names of blocks; 1 better one is not used: "},
    {"none is left", tuned, ALL_ARE_STALE, HONE_RECORD_STALE, 2, 0,
     "record 2 is not used: stale, its trace makes another program now; nor 1 other"},
    {"no such block", tuned, NO_SUCH_BLOCK, HONE_RECORD_STALE, 2, 0,
     "record 2 is not used: step 1: b0 = sch.get_sblock(name=\"gone\""},
    {"no such block of an earlier one", summing, NO_SUCH_BLOCK, HONE_RECORD_NONE, 0, 2,
     "2 records under its name belong to an earlier program"},
    {"one that did not build", tuned, FASTEST_REJECTED, HONE_RECORD_EXACT, 1, 0,
     "1 better one is not used: the linker is gone"},
    {"another target", tuned, FOR_OTHER_TARGET, HONE_RECORD_OTHER_TARGET, 0, 0,
     "2 records, but for another target (num-threads is 1, here 2)"},
    {"a target like it", tuned, FOR_LIKE_TARGET, HONE_RECORD_EXACT, 0, 0,
     "fastest record, unconfirmed; it was made for a target that differs: num-cores is 9, here 1; "
     "l3-cache is 4096, here 8388608"},
    {"a target like it is faster", tuned, LIKE_IS_FASTER, HONE_RECORD_EXACT, 0, 0,
     "fastest record, unconfirmed"},
    {"a target like it was confirmed", tuned, LIKE_IS_CONFIRMED, HONE_RECORD_EXACT, 0, 0,
     "fastest confirmed record; it was made for a target that differs: num-cores is 9, here 1"},
    {"a target like it, other names", renamed, FOR_LIKE_TARGET, HONE_RECORD_TRANSLATED, 0, 0,
     "it was made for a target that differs: num-cores is 9"},
    {"a target like it, another program", summing, FOR_LIKE_TARGET, HONE_RECORD_TRANSLATED, 0, 2,
     "it was made for a target that differs: num-cores is 9"},
    {"a variant of the user's", tuned, BY_GIVEN, HONE_RECORD_EXACT, 0, 0,
     "fastest record, unconfirmed, by own"},
    {"a variant for other statements", summing_alike, BY_GIVEN, HONE_RECORD_NONE, 0, 2,
     "no record of it; 2 records under its name belong to an earlier program"},
};
/* clang-format on */

typedef struct setup {
    hone_arena *arena;
    hone_db *db;
    hone_module *tuned, *today;
    hone_record_chooser *chooser;
    hone_variant own; /* computes what the tuned program does */
    hone_variant_rules rules;
    hone_hash128 workload, target;
} setup;

static hone_status parse(const char *text, hone_module **out_module, const hone_func **out_func) {
    const hone_member *member;
    HONE_TRY(hone_script_parse(text, strlen(text), "test", out_module));
    HONE_TRY(hone_module_pick(*out_module, NULL, &member));
    *out_func = member->func;
    return HONE_OK;
}

/* Splits the first loop of block C, as a tuner records it. variant: NULL: of the program. */
static hone_status make_trace(const hone_func *func, const hone_variant *variant, int64_t factor,
                              hone_str *out_trace, hone_hash128 *out_program) {
    hone_schedule *sch;
    hone_rv block;
    uint32_t count;
    const hone_rv *loops, *parts;
    HONE_TRY(hone_schedule_create(func, &sch));
    hone_status st = variant ? hone_sch_use_variant(sch, variant) : HONE_OK;
    if (!st) st = hone_sch_get_block(sch, "C", &block);
    if (!st) st = hone_sch_get_loops(sch, block, &count, &loops);
    if (!st) {
        hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(factor)};
        st = hone_sch_split(sch, loops[0], 2, factors, true, false, &parts);
    }
    if (!st) st = hone_trace_print_json(&sch->trace, out_trace);
    if (!st) *out_program = hone_func_hash(sch->func);
    hone_schedule_destroy(sch);
    return st;
}

static hone_status put_trial(setup *s, const hone_func *func, record_flaw flaw, int64_t proposal) {
    hone_db_trial trial = {.session = "s",
                           .workload = s->workload,
                           .target = s->target,
                           .proposal = proposal,
                           .sketch = -1,
                           .outcome = HONE_DB_OUTCOME_OK,
                           .median_ns = 1000 - 100 * (double)proposal,
                           .spread = 0.01,
                           .max_error = 0,
                           .confirmed_ns =
                               flaw == LIKE_IS_CONFIRMED && proposal ? 2000 : (double)NAN,
                           .predicted_score = NAN,
                           .wall_ns = 1};
    hone_str trace = {0};
    bool is_stale = flaw == ALL_ARE_STALE || (flaw == FASTEST_IS_STALE && proposal == 1);
    hone_status st =
        make_trace(func, flaw == BY_GIVEN ? &s->own : NULL, 4 << proposal, &trace, &trial.program);
    if (!st) {
        trial.program.lo ^= is_stale;
        trial.trace = flaw == NO_SUCH_BLOCK
                          ? "[[[\"GetSBlock\", [], [\"gone\", \"main\"], [\"b0\"]]], []]"
                          : hone_str_text(&trace);
        st = hone_db_commit_trial(s->db, &trial, NULL);
    }
    hone_str_deinit(&trace);
    return st;
}

/* From here on records are for it. */
static hone_status put_target(setup *s, const char *text) {
    hone_target made_for;
    HONE_TRY(hone_target_parse(text, &made_for));
    s->target = hone_target_hash(&made_for);
    hone_db_target target = {.hash = s->target, .text = text, .threads = 1};
    return hone_db_put_target(s->db, &target);
}

static hone_status fill(setup *s, const hone_func *func, record_flaw flaw) {
    hone_db_session session = {
        .id = "s", .model = "m", .state = "done", .hone_version = "0.0.1", .command_line = ""};
    hone_db_workload workload = {.hash = s->workload,
                                 .hash_version = HONE_STRUCTURAL_VERSION,
                                 .name = "main",
                                 .program = flaw == UNREADABLE ? "def" : tuned};
    static const char like[] = "llvm -num-cores=9 -num-threads=1 -l3-cache=4096";
    HONE_TRY(hone_db_begin_session(s->db, &session));
    HONE_TRY(hone_db_put_workload(s->db, &workload));
    HONE_TRY(put_target(s, flaw == FOR_LIKE_TARGET ? like : "llvm -num-threads=1"));
    HONE_TRY(put_trial(s, func, flaw, 0));
    if (flaw == LIKE_IS_FASTER || flaw == LIKE_IS_CONFIRMED) HONE_TRY(put_target(s, like));
    return put_trial(s, func, flaw, 1);
}

static hone_status choose(setup *s, const struct row *row, hone_record_choice *out) {
    const hone_func *func, *today;
    s->arena = hone_arena_create(1 << 12);
    if (!s->arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "test");
    HONE_TRY(hone_db_create_memory(&s->db));
    HONE_TRY(parse(tuned, &s->tuned, &func));
    HONE_TRY(parse(row->today, &s->today, &today));
    HONE_TRY(hone_variant_read("own", tuned, "own.py", &s->own));
    s->rules = (hone_variant_rules){.given = &s->own, .given_count = row->flaw == BY_GIVEN};
    s->workload = hone_func_hash(func);
    if (row->flaw == OLD_IDENTITY || row->flaw == UNREADABLE) s->workload = (hone_hash128){7, 7};
    HONE_TRY(fill(s, func, row->flaw));
    hone_target here;
    HONE_TRY(hone_target_parse("llvm -num-threads=1", &here));
    if (row->flaw == FOR_OTHER_TARGET) here.num_threads = 2;
    HONE_TRY(hone_record_chooser_create(s->db, &here, NULL, &s->chooser));
    hone_record_chooser_allow(s->chooser, &s->rules);
    HONE_TRY(hone_record_chooser_note(s->chooser, hone_func_hash(today)));
    if (row->flaw == IS_TODAYS) HONE_TRY(hone_record_chooser_note(s->chooser, s->workload));
    if (row->flaw == FASTEST_REJECTED) {
        HONE_TRY(hone_record_chooser_reject(s->chooser, 2, "the linker is gone"));
    }
    return hone_record_choose(s->chooser, today, s->arena, out);
}

static void tear_down(setup *s) {
    hone_record_chooser_destroy(s->chooser);
    hone_module_release(s->tuned);
    hone_module_release(s->today);
    hone_db_close(s->db);
    hone_arena_destroy(s->arena);
}

/* The trace that was chosen makes the program that the choice says, on the program of today. */
static hone_status check_trace(const setup *s, const hone_record_choice *choice) {
    const hone_member *member;
    hone_schedule *sch;
    if (!choice->trace) return HONE_OK;
    HONE_TRY(hone_module_pick(s->today, NULL, &member));
    HONE_TRY(hone_record_replay(choice->trace, member->func, NULL, s->arena, &sch));
    bool is_same = hone_hash128_equal(hone_func_hash(sch->func), choice->program);
    hone_schedule_destroy(sch);
    return is_same ? HONE_OK : HONE_ERROR(HONE_CODE_INVALID, "it makes another program");
}

static hone_status check_record(const struct row *row, const hone_record_choice *choice) {
    int64_t want = row->flaw == LIKE_IS_FASTER ? 1 : row->flaw == LIKE_IS_CONFIRMED ? 2 : 0;
    if (!want || choice->trial->record == want) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "record %lld", (long long)choice->trial->record);
}

static hone_status check_facts(const struct row *row, const hone_record_choice *choice) {
    bool is_used = row->match >= HONE_RECORD_TRANSLATED;
    bool has_trial = is_used || row->match == HONE_RECORD_STALE;
    if (choice->match == row->match && choice->stale == row->stale &&
        choice->earlier == row->earlier && strstr(choice->reason, row->reason) &&
        (choice->trace != NULL) == is_used && (choice->trial != NULL) == has_trial &&
        (choice->earlier_reason != NULL) == (row->earlier > 0)) {
        return HONE_OK;
    }
    return HONE_ERROR(HONE_CODE_INVALID, "%s, %lld stale, %lld earlier: '%s'",
                      hone_record_match_name(choice->match), (long long)choice->stale,
                      (long long)choice->earlier, choice->reason);
}

static void check_row(void **state) {
    const struct row *row = *state;
    setup s = {0};
    hone_record_choice choice;
    hone_status st = choose(&s, row, &choice);
    if (!st) st = check_facts(row, &choice);
    if (!st) st = check_record(row, &choice);
    if (!st) st = check_trace(&s, &choice);
    tear_down(&s);
    HONE_ASSERT_OK(st);
}

/* Short of memory there is an error, never another choice; words may lack their details. */
static hone_status choose_again(void *context) {
    const struct row *row = context;
    setup s = {0};
    hone_record_choice choice;
    hone_status st = choose(&s, row, &choice);
    if (!st && (choice.match != row->match || choice.earlier != row->earlier)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", choice.reason);
    }
    tear_down(&s);
    return st;
}

static void check_memory(void **state) {
    hone_test_sweep_allocs(choose_again, *state);
}

int main(void) {
    enum { SWEPT = 8 }; /* the first rows come through all of the code that takes memory */
    return HONE_RUN_ROWS("compile/record_choice", rows, check_row) ||
           hone_test_run_rows("compile/record_choice_memory", rows, sizeof rows[0], SWEPT,
                              check_memory);
}
