/* tests/schedule/primitive/test_prim_golden.c - primitives, case by case, from golden/NAME.txt:
 *
 *   ==== case what is shown
 *   program: NAME            one of golden/programs.txt
 *   b = sch.get_block("C")   the steps
 *   ==== expect
 *   the program that comes out, or "refused: " and the message
 *
 * What is accepted must mean the same (but for steps that are unsafe by name) and its trace must
 * survive; what is refused must leave the
 * program as the steps before made it. HONE_UPDATE=1 writes the expectations anew: review them.
 */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/verify/verify.h"
#include "schedule/intrin/tensor_intrin.h"
#include "schedule/primitive/primitives.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/schedule/steps/trace_round_trip.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

#define MARK "==== "

enum { MOST_FILES = 64 };

/* All files of golden/ but those whose programs and intrinsics cases name. */
static char names[MOST_FILES][64];
static struct row { const char *file; } rows[MOST_FILES];

static bool note_file(void *ctx, const char *name) {
    size_t *count = ctx;
    bool has_cases = strcmp(name, "programs.txt") != 0 && strcmp(name, "bases.txt") != 0 &&
                     strcmp(name, "intrins.txt") != 0;
    if (!has_cases) return true;
    assert_true(*count < MOST_FILES);
    snprintf(names[*count], sizeof names[0], "%s", name);
    rows[*count].file = names[*count];
    ++*count;
    return true;
}

typedef struct piece {
    const char *at;
    size_t length;
} piece;

static char *read_text(const char *name) {
    char path[128];
    char *text = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "tests/schedule/primitive/golden/%s", name);
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path(path), 1 << 22, &text, &length));
    return text;
}

/* The text behind a heading line up to the next heading; NULL when it is not there. */
static piece section(const char *text, const char *heading) {
    const char *at = strstr(text, heading);
    if (!at) return (piece){NULL, 0};
    at = strchr(at, '\n') + 1;
    const char *end = strstr(at, MARK);
    return (piece){at, end ? (size_t)(end - at) : strlen(at)};
}

static char *program_of(const char *programs, piece steps) {
    char name[64], heading[80];
    assert_int_equal(sscanf(steps.at, "program: %63[^\n]", name), 1);
    snprintf(heading, sizeof heading, MARK "program %s\n", name);
    piece found = section(programs, heading);
    if (!found.at) fail_msg("no program '%s'", name);
    return strndup(found.at, found.length);
}

static hone_status note_hash(void *ctx, hone_schedule *sch, uint32_t step) {
    (void)step;
    *(hone_hash128 *)ctx = hone_func_hash(sch->func);
    return HONE_OK;
}

static hone_status apply(piece steps, const hone_func *base, hone_schedule *sch, hone_arena *arena,
                         hone_hash128 *last) {
    hone_trace trace;
    const char *start = strchr(steps.at, '\n') + 1;
    size_t length = steps.length - (size_t)(start - steps.at);
    hone_trace_context context = {.func = base, .intrins = sch->intrins};
    HONE_TRY(hone_trace_parse_script(arena, &context, start, length, "case.py", &trace));
    *last = hone_func_hash(sch->func);
    hone_apply_options options = {.after_step = note_hash, .ctx = last};
    return hone_trace_apply(&trace, sch, &options);
}

/* The intrinsics that cases may name: sections of golden/intrins.txt. */
static hone_tensor_intrins *read_intrins(void) {
    hone_tensor_intrins *set = NULL;
    char *text = read_text("intrins.txt");
    HONE_ASSERT_OK(hone_tensor_intrins_create(&set));
    for (const char *at = strstr(text, MARK "intrin "); at; at = strstr(at + 1, MARK "intrin ")) {
        char name[64];
        piece part = section(at, MARK "intrin ");
        assert_int_equal(sscanf(at, MARK "intrin %63s", name), 1);
        HONE_ASSERT_OK(hone_tensor_intrins_add(set, name, part.at, part.length, "intrins.txt"));
    }
    hone_free(text);
    return set;
}

/* Parameters whose layout changed take other arguments: these have their golden text only. */
static bool has_same_params(const hone_func *base, const hone_func *func) {
    for (uint32_t i = 0; i < base->param_count; i++) {
        hone_buffer before = base->params[i].buffer, now = func->params[i].buffer;
        if (before == HONE_NO_ID) continue;
        const hone_buffer_info *a = hone_func_buffer(base, before),
                               *b = hone_func_buffer(func, now);
        if (a->rank != b->rank) return false;
        for (uint32_t d = 0; d < a->rank; d++) {
            if (hone_expr_const(a->shape[d]) != hone_expr_const(b->shape[d])) return false;
        }
    }
    return true;
}

/* Runs one case; what came out goes to got, what is wrong beyond that to why. */
static void run_case(const char *programs, piece steps, hone_str *got, hone_str *why) {
    hone_module *module = NULL;
    hone_schedule *sch = NULL;
    hone_hash128 last = {0};
    char *text = program_of(programs, steps);
    const hone_func *base = hone_test_parse(text, &module);
    free(text);
    HONE_ASSERT_OK(hone_schedule_create(base, &sch));
    hone_tensor_intrins *intrins = read_intrins();
    sch->intrins = intrins;
    hone_arena *arena = hone_arena_create(1 << 12);
    hone_status st = apply(steps, base, sch, arena, &last);
    hone_arena_destroy(arena);
    if (st) {
        hone_str_printf(got, "refused: %s\n", hone_status_message(st));
        bool same = hone_hash128_equal(last, hone_func_hash(sch->func));
        if (!same) hone_str_append(why, "the refused step changed the program");
        hone_status_free(st);
    } else {
        hone_print_options options = {.bare = true, .mark = HONE_NO_ID};
        HONE_ASSERT_OK(hone_func_print(sch->func, &options, got));
        bool calls_others = strstr(hone_str_text(got), "T.call_extern(") != NULL; /* not there */
        bool is_comparable =
            !sch->trace.is_unsafe && !calls_others && has_same_params(base, sch->func);
        if (is_comparable) hone_test_agrees(base, sch->func, 1, why);
        if (!why->length) hone_trace_survives(base, sch, why);
        if (!why->length) hone_test_reads_back(sch->func, why);
    }
    hone_schedule_destroy(sch);
    hone_tensor_intrins_destroy(intrins);
    hone_module_release(module);
}

static uint32_t check_case(const char *programs, const char *title, piece steps, piece want,
                           hone_str *out_file) {
    hone_str got = {0}, why = {0};
    run_case(programs, steps, &got, &why);
    bool same = want.at && got.length == want.length && !memcmp(got.data, want.at, want.length);
    if (why.length) print_error("%s: %s\n", title, hone_str_text(&why));
    if (!same && !getenv("HONE_UPDATE")) {
        print_error("%s: got\n%s---- want\n%.*s", title, got.data, (int)want.length, want.at);
    }
    hone_str_printf(out_file, "%s%s\n%.*s%sexpect\n%s", MARK "case ", title, (int)steps.length,
                    steps.at, MARK, got.data);
    uint32_t failed = why.length || (!same && !getenv("HONE_UPDATE"));
    hone_str_deinit(&got);
    hone_str_deinit(&why);
    return failed;
}

static void check_file(void **state) {
    const struct row *row = *state;
    char *programs = read_text("programs.txt"), *text = read_text(row->file);
    hone_str fresh = {0};
    uint32_t failed = 0, cases = 0;
    const char *at = strstr(text, MARK "case ");
    hone_str_printf(&fresh, "%.*s", (int)(at - text), text);
    for (; at; at = strstr(at + 1, MARK "case ")) {
        const char *line_end = strchr(at, '\n');
        char *title =
            strndup(at + strlen(MARK "case "), (size_t)(line_end - at) - strlen(MARK "case "));
        piece steps = section(at, MARK "case "), want = {"", 0};
        const char *next = steps.at + steps.length;
        if (strncmp(next, MARK "expect", strlen(MARK "expect")) == 0) {
            want = section(next, MARK "expect");
        }
        failed += check_case(programs, title, steps, want, &fresh);
        cases++;
        free(title);
    }
    if (getenv("HONE_UPDATE")) {
        char path[128];
        snprintf(path, sizeof path, "tests/schedule/primitive/golden/%s", row->file);
        HONE_ASSERT_OK(hone_fs_write_atomic(hone_test_source_path(path), fresh.data, fresh.length));
    }
    hone_str_deinit(&fresh);
    hone_free(programs);
    hone_free(text);
    assert_true(cases > 0);
    assert_int_equal(failed, 0);
}

/* A description is a program in which its own intrinsic finds its place. */
static void tensorize_description(const char *name, const hone_func *desc) {
    hone_schedule *sch = NULL;
    HONE_ASSERT_OK(hone_schedule_create(desc, &sch));
    hone_node_id root = hone_func_root_block(sch->func);
    hone_rv loop = hone_schedule_bind_node(sch, hone_func_node(sch->func, root)->first);
    HONE_ASSERT_OK(hone_sch_tensorize(sch, loop, name, true));
    HONE_ASSERT_OK(hone_check_func(sch->func));
    hone_schedule_destroy(sch);
}

static void built_in_intrinsics_fit_their_descriptions(void **state) {
    (void)state;
    for (size_t i = 0; hone_tensor_intrin_builtin(i); i++) {
        hone_module *module = NULL;
        const hone_func *desc, *impl;
        const char *name = hone_tensor_intrin_builtin(i);
        HONE_ASSERT_OK(hone_tensor_intrin_find(NULL, name, &module, &desc, &impl));
        tensorize_description(name, desc);
        hone_module_release(module);
    }
}

int main(void) {
    size_t count = 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_intrinsics_fit_their_descriptions)};
    HONE_ASSERT_OK(
        hone_fs_list(hone_test_source_path("tests/schedule/primitive/golden"), note_file, &count));
    return hone_test_run_rows("schedule/golden", rows, sizeof rows[0], count, check_file) +
           cmocka_run_group_tests_name("schedule/intrinsics", tests, NULL, NULL);
}
