/* tests/runtime_model/test_model_rt.c - the thread pool, the workspaces and the error slot of
 * compiled models. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/model/model_rt.h"
#include "tests/support/hone_test.h"

enum { MOST = 5000 };

typedef struct counts {
    _Atomic int hits[MOST];
    int64_t fail_at; /* -1 = never */
} counts;

static int32_t count_body(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    (void)rt;
    counts *c = closure;
    for (int64_t i = begin; i < end; i++) {
        if (i == c->fail_at) return -7;
        atomic_fetch_add(&c->hits[i], 1);
    }
    return 0;
}

static const struct loop_row {
    const char *name;
    int32_t threads;
    int64_t spin_ns, begin, end;
} loops[] = {
    {"one thread",             1, 0,    0,  100 },
    {"two threads",            2, 0,    0,  100 },
    {"more threads than work", 4, 0,    0,  3   },
    {"empty",                  3, 0,    5,  5   },
    {"one iteration",          3, 0,    7,  8   },
    {"never spins",            3, -1,   0,  977 },
    {"odd share",              3, 1000, 11, 4999},
};

static void runs_each_iteration_once(void **state) {
    const struct loop_row *row = *state;
    hone_model_rt_options options = {.thread_count = row->threads, .spin_ns = row->spin_ns};
    hone_rt *rt;
    assert_int_equal(hone_model_rt_create(&options, &rt), 0);
    counts *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->fail_at = -1;
    int bad = 0;
    const int rounds = 200;
    for (int round = 0; round < rounds; round++) {
        bad += rt->parallel_for(rt, row->begin, row->end, count_body, c) != 0;
    }
    for (int64_t i = 0; i < MOST; i++) {
        int want = i >= row->begin && i < row->end ? rounds : 0;
        bad += atomic_load(&c->hits[i]) != want;
    }
    free(c);
    hone_model_rt_destroy(rt);
    assert_int_equal(bad, 0);
}

static void returns_the_failure(void **state) {
    (void)state;
    hone_model_rt_options options = {.thread_count = 3};
    hone_rt *rt;
    assert_int_equal(hone_model_rt_create(&options, &rt), 0);
    counts *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->fail_at = 321;
    int32_t code = rt->parallel_for(rt, 0, 1000, count_body, c);
    c->fail_at = -1;
    int32_t after = rt->parallel_for(rt, 0, 1000, count_body, c);
    free(c);
    hone_model_rt_destroy(rt);
    assert_int_equal(code, -7);
    assert_int_equal(after, 0);
}

static int32_t nested_body(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    counts *c = closure;
    for (int64_t i = begin; i < end; i++) {
        int32_t code = rt->parallel_for(rt, i * 10, i * 10 + 10, count_body, c);
        if (code) return code;
    }
    return 0;
}

typedef struct caller {
    const hone_rt *rt;
    counts *c;
    int32_t code;
} caller;

static void *call_many(void *argument) {
    caller *self = argument;
    for (int i = 0; i < 100 && self->code == 0; i++) {
        self->code = self->rt->parallel_for(self->rt, 0, 50, nested_body, self->c);
    }
    return NULL;
}

static void serves_several_callers_and_nesting(void **state) {
    (void)state;
    hone_model_rt_options options = {.thread_count = 3};
    hone_rt *rt;
    assert_int_equal(hone_model_rt_create(&options, &rt), 0);
    counts *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->fail_at = -1;
    pthread_t threads[3];
    caller callers[3];
    for (int i = 0; i < 3; i++) {
        callers[i] = (caller){.rt = rt, .c = c};
        assert_int_equal(pthread_create(&threads[i], NULL, call_many, &callers[i]), 0);
    }
    int bad = 0;
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        bad += callers[i].code != 0;
    }
    for (int i = 0; i < 500; i++)
        bad += atomic_load(&c->hits[i]) != 300;
    free(c);
    hone_model_rt_destroy(rt);
    assert_int_equal(bad, 0);
}

/* ---- fork ---- */

static int32_t add_all(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    (void)rt;
    atomic_fetch_add((_Atomic int64_t *)closure, end - begin);
    return 0;
}

/* In the child: nobody helps, nothing hangs. */
static int use_after_fork(const hone_rt *rt) {
    alarm(60);
    for (int i = 0; i < 3; i++) {
        _Atomic int64_t count = 0;
        if (rt->parallel_for(rt, 0, 100, add_all, &count) != 0 || count != 100) return 1;
    }
    void *memory = rt->workspace_alloc(rt, 1000);
    rt->workspace_free(rt, memory);
    hone_model_rt_destroy((hone_rt *)(uintptr_t)rt);
    return memory ? 0 : 2;
}

static void survives_a_fork(void **state) {
    (void)state;
    const hone_model_rt_options options = {.thread_count = 4};
    hone_rt *rt;
    assert_int_equal(hone_model_rt_create(&options, &rt), 0);
    for (int i = 0; i < 50; i++) {
        _Atomic int64_t count = 0;
        int status = -1;
        assert_int_equal(rt->parallel_for(rt, 0, 100, add_all, &count), 0);
        pid_t child = fork();
        if (child == 0) _exit(use_after_fork(rt));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    hone_model_rt_destroy(rt);
}

static void workspaces_are_aligned_and_apart(void **state) {
    (void)state;
    hone_rt *rt;
    hone_model_rt_options options = {.thread_count = 1};
    assert_int_equal(hone_model_rt_create(&options, &rt), 0);
    int bad = 0;
    void *first = NULL;
    for (int round = 0; round < 4; round++) {
        static const int64_t sizes[] = {1, 100000, 64, 0, 3000000, 7};
        unsigned char *pieces[6];
        for (int i = 0; i < 6; i++) {
            pieces[i] = rt->workspace_alloc(rt, sizes[i]);
            bad += !pieces[i] || (uintptr_t)pieces[i] % 64 != 0;
            memset(pieces[i], i + 1, (size_t)sizes[i]);
        }
        for (int i = 0; i < 6; i++) {
            for (int64_t j = 0; j < sizes[i]; j++)
                bad += pieces[i][j] != i + 1;
        }
        for (int i = 5; i >= 0; i--)
            rt->workspace_free(rt, pieces[i]);
        if (round == 2) first = pieces[0];
        if (round == 3) bad += first != pieces[0]; /* memory is reused */
    }
    bad += rt->workspace_alloc(rt, -1) != NULL;
    bad += rt->workspace_alloc(rt, INT64_MAX) != NULL;
    hone_model_rt_destroy(rt);
    assert_int_equal(bad, 0);
}

static void keeps_the_last_error(void **state) {
    (void)state;
    hone_rt *rt;
    assert_int_equal(hone_model_rt_create(NULL, &rt), 0);
    char message[64];
    rt->set_error(rt, -3, "no such function");
    int32_t code = hone_model_rt_take_error(rt, message, sizeof message);
    char again[64];
    int32_t none = hone_model_rt_take_error(rt, again, sizeof again);
    bool has_extern = rt->find_extern(rt, "f") != NULL;
    hone_model_rt_destroy(rt);
    assert_int_equal(code, -3);
    assert_string_equal(message, "no such function");
    assert_int_equal(none, 0);
    assert_string_equal(again, "");
    assert_false(has_extern);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_the_failure),
        cmocka_unit_test(serves_several_callers_and_nesting),
        cmocka_unit_test(survives_a_fork),
        cmocka_unit_test(workspaces_are_aligned_and_apart),
        cmocka_unit_test(keeps_the_last_error),
    };
    int failed = HONE_RUN_ROWS("runtime/model/parallel_for", loops, runs_each_iteration_once);
    return failed + cmocka_run_group_tests_name("runtime/model", tests, NULL, NULL);
}
