/* tests/lower/pass_rows.c - runs a pass on the programs of a table. */
#include "tests/lower/pass_rows.h"

#include <string.h>

#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "lower/ground/lower.h"
#include "tests/support/hone_test.h"

typedef struct look {
    const char *pass;
    hone_str printed;
} look;

static hone_status look_after(void *ctx, const char *pass, const hone_func *func) {
    look *l = ctx;
    return strcmp(pass, l->pass) == 0 ? hone_func_print(func, NULL, &l->printed) : HONE_OK;
}

void hone_check_behind_pass(const struct row *row, const char *pass) {
    hone_module *module;
    const hone_member *member;
    hone_target target;
    hone_func *lowered = NULL;
    look l = {.pass = pass};
    HONE_ASSERT_OK(hone_script_parse(row->text, strlen(row->text), "program", &module));
    HONE_ASSERT_OK(hone_module_pick(module, NULL, &member));
    bool is_of_threads = strstr(row->text, "T.thread_binding(") != NULL;
    HONE_ASSERT_OK(hone_target_parse(is_of_threads ? "nvidia/nvidia-h100" : "x86-64-v3", &target));
    hone_arena *arena = hone_arena_create(1 << 12);
    hone_lower_options options = {.target = &target, .ctx = &l, .after = look_after};
    hone_status st = hone_lower_func(member->func, &options, arena, &lowered);
    if (!st && !strstr(hone_str_text(&l.printed), row->expected)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", hone_str_text(&l.printed));
    }
    hone_str_deinit(&l.printed);
    hone_arena_destroy(arena);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
}
