/* tests/schedule/replay/test_bench_schedules.c - every trace of bench/schedules/SET/NAME[.what].py
 * applies to bench/programs/SET/NAME.py, or where there is none to bench/programs/NAME.py, and
 * makes a well-formed program: the benches are no part of the checks, so this is where a primitive
 * that became stricter is noticed. (That results are right, each run of bench_ops checks.) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/core/module.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "support/core/arena.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

enum { MOST = 400 };

typedef struct names {
    size_t count;
    char items[MOST][96];
} names;

static bool keep(void *context, const char *name) {
    names *n = context;
    size_t length = strlen(name);
    bool is_trace = length > 3 && strcmp(name + length - 3, ".py") == 0;
    if (!is_trace || n->count == MOST || length >= sizeof n->items[0]) return n->count < MOST;
    snprintf(n->items[n->count++], sizeof n->items[0], "%s", name);
    return true;
}

static hone_status apply(const char *set, const char *name) {
    char path[300];
    hone_module *module;
    const hone_member *member;
    hone_schedule *sch;
    hone_trace trace;
    hone_arena *arena = hone_arena_create(1 << 16);
    int length = (int)strcspn(name, "."); /* NAME.runtime.2threads.py */
    snprintf(path, sizeof path, "bench/programs/%s/%.*s.py", set, length, name);
    if (!hone_fs_exists(hone_test_source_path(path)))
        snprintf(path, sizeof path, "bench/programs/%.*s.py", length, name);
    HONE_TRY(hone_script_load(hone_test_source_path(path), &module));
    hone_module_freeze(module);
    HONE_TRY(hone_module_pick(module, NULL, &member));
    HONE_TRY(hone_schedule_create(member->func, &sch));
    snprintf(path, sizeof path, "bench/schedules/%s/%s", set, name);
    hone_status st = hone_trace_load(arena, hone_test_source_path(path),
                                     &(hone_trace_context){.func = member->func}, NULL, &trace);
    if (!st) st = hone_trace_apply(&trace, sch, &(hone_apply_options){0});
    if (!st) st = hone_check_func(sch->func);
    hone_schedule_destroy(sch);
    hone_module_release(module);
    hone_arena_destroy(arena);
    return st;
}

static void check_set(void **state) {
    const char *set = *state;
    char path[64];
    static names found;
    found.count = 0;
    snprintf(path, sizeof path, "bench/schedules/%s", set);
    HONE_ASSERT_OK(hone_fs_list(hone_test_source_path(path), keep, &found));
    assert_true(found.count > 10);
    for (size_t i = 0; i < found.count; i++) {
        hone_status st = apply(set, found.items[i]);
        HONE_ASSERT_OK(st ? hone_status_annotate(st, "%s/%s", set, found.items[i]) : st);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(check_set, (void *)(uintptr_t) "avx512"),
        cmocka_unit_test_prestate(check_set, (void *)(uintptr_t) "avx2"),
    };
    return cmocka_run_group_tests_name("schedule/bench_schedules", tests, NULL, NULL);
}
