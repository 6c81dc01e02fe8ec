/* tests/conformance/test_builder_conformance.c - what every builder must do; each case runs on each
 * backend. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/builder.h"
#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

static const char program[] =
    "from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
    "    for i in range(64):\n"
    "        with T.block(\"B\"):\n"
    "            vi = T.axis.spatial(64, i)\n"
    "            B[vi] = A[vi] * T.float32(2)\n";

static char dir[64];

static hone_status make_null(hone_builder **out) {
    return hone_builder_create_null(HONE_FAILURE_NONE, out);
}

static hone_status make_local(hone_builder **out) {
    hone_builder_local_options options = {
        .worker_path = hone_test_build_path("hone-worker"), .workers = 2, .queue_depth = 6};
    return hone_builder_create_local(&options, out);
}

static const struct backend {
    const char *name;
    hone_status (*make)(hone_builder **out);
} backends[] = {
    {"null",  make_null },
    {"local", make_local},
};

enum { MANY = 256 };

typedef struct world {
    hone_builder *builder;
    hone_arena *arena;
    hone_ticket tickets[MANY];
    uint32_t count, answered;
} world;

static void open_world(world *w, const struct backend *backend) {
    *w = (world){.arena = hone_arena_create(4096)};
    HONE_ASSERT_OK(backend->make(&w->builder));
}

static void close_world(world *w) {
    hone_builder_release(w->builder);
    hone_arena_destroy(w->arena);
}

/* What the request points to is gone when this returns. */
static hone_status submit(world *w) {
    char path[128], *text = strdup(program);
    snprintf(path, sizeof path, "%s/kernel-%u.so", dir, w->count);
    hone_build_request request = {
        .program = text, .target = "host", .entry = "kernel", .output_path = path};
    hone_status st = hone_builder_submit(w->builder, &request, &w->tickets[w->count]);
    if (!st) w->count++;
    memset(text, '?', strlen(text));
    memset(path, '?', sizeof path);
    free(text);
    return st;
}

static hone_build_result next(world *w) {
    hone_ticket ticket = 0;
    hone_build_result result = {.failure = HONE_FAILURE_COUNT};
    HONE_ASSERT_OK(
        hone_builder_next_result(w->builder, HONE_DEADLINE_NEVER, w->arena, &ticket, &result));
    uint32_t at = 0;
    while (at < w->count && w->tickets[at] != ticket)
        at++;
    assert_true(at < w->count); /* one of ours, and not answered before */
    w->tickets[at] = 0;
    w->answered++;
    assert_int_equal(hone_builder_in_flight(w->builder), w->count - w->answered);
    return result;
}

static void expect_nothing(world *w) {
    hone_ticket ticket = 7;
    hone_build_result result;
    HONE_ASSERT_CODE(hone_builder_next_result(w->builder, 0, w->arena, &ticket, &result),
                     HONE_CODE_INVALID);
    assert_int_equal(ticket, 0);
}

/* ---- cases ---- */

static void answers_each_ticket_once(world *w) {
    assert_in_range(hone_builder_slots(w->builder), 1, 1024);
    for (int i = 0; i < 3; i++)
        HONE_ASSERT_OK(submit(w));
    assert_int_equal(hone_builder_in_flight(w->builder), 3);
    for (int i = 0; i < 3; i++) {
        hone_build_result result = next(w);
        assert_string_equal(result.message ? result.message : "", "");
        assert_int_equal(result.failure, HONE_FAILURE_NONE);
        assert_memory_equal(result.artifact_path, dir, strlen(dir));
        assert_string_equal(result.manifest.entry, "kernel");
    }
    expect_nothing(w);
}

static void refuses_bad_requests(world *w) {
    static const struct {
        hone_build_request request;
        const char *why;
    } bad[] = {
        {{.program = "", .target = "host"},                                               "no program"},
        {{.target = "host"},                                                              "no program"},
        {{.program = "x"},                                                                "no target" },
        {{.program = "x", .target = "host", .timeout_ns = -1},                            "timeout_ns"},
        {{.program = "x", .target = "host", .intrin_count = HONE_BUILD_MAX_INTRINS + 1u},
         "intrinsics in"                                                                              },
    };
    for (size_t i = 0; i < HONE_COUNT(bad); i++) {
        hone_ticket ticket = 7;
        HONE_ASSERT_ERROR(hone_builder_submit(w->builder, &bad[i].request, &ticket),
                          HONE_CODE_INVALID, bad[i].why);
        assert_int_equal(ticket, 0);
    }
    expect_nothing(w);
}

static void takes_no_more_than_it_can_hold(world *w) {
    hone_status st = HONE_OK;
    while (!st && w->count + 1 < MANY)
        st = submit(w);
    assert_int_equal(hone_status_consume(st), HONE_CODE_UNAVAILABLE);
    assert_in_range(w->count, hone_builder_slots(w->builder), MANY - 2);
    assert_int_equal(hone_builder_in_flight(w->builder), w->count);
    hone_builder_cancel_all(w->builder);
    next(w);
    HONE_ASSERT_OK(submit(w)); /* there is room again */
    while (w->answered < w->count)
        next(w);
    expect_nothing(w);
}

static void cancelled_builds_are_answered(world *w) {
    for (int i = 0; i < 5; i++)
        HONE_ASSERT_OK(submit(w));
    hone_builder_cancel_all(w->builder);
    hone_builder_cancel_all(w->builder);
    while (w->answered < w->count) {
        hone_failure failure = next(w).failure;
        assert_true(failure == HONE_FAILURE_NONE || failure == HONE_FAILURE_CANCELLED);
    }
    HONE_ASSERT_OK(submit(w)); /* the next one is not */
    assert_int_equal(next(w).failure, HONE_FAILURE_NONE);
}

static void goes_on_after_a_pause(world *w) {
    hone_builder_pause(w->builder);
    HONE_ASSERT_OK(submit(w));
    hone_builder_resume(w->builder);
    assert_int_equal(next(w).failure, HONE_FAILURE_NONE);
}

/* The descriptor, where there is one, says when to look; looking does not wait. */
static void tells_when_to_look(world *w) {
    HONE_ASSERT_OK(submit(w));
    hone_code code = HONE_CODE_TIMEOUT;
    while (code == HONE_CODE_TIMEOUT) {
        struct pollfd p = {.fd = hone_builder_fd(w->builder), .events = POLLIN};
        hone_ticket ticket;
        hone_build_result result;
        if (p.fd >= 0) assert_int_equal(poll(&p, 1, 120000), 1);
        code = hone_status_consume(
            hone_builder_next_result(w->builder, 0, w->arena, &ticket, &result));
    }
    assert_int_equal(code, HONE_CODE_OK);
}

static void can_be_dropped_with_builds_in_flight(world *w) {
    assert_ptr_equal(hone_builder_retain(w->builder), w->builder);
    hone_builder_release(w->builder);
    HONE_ASSERT_OK(submit(w));
}

/* A request that there is no memory for was never made. */
static void survives_lack_of_memory(world *w) {
    bool has_failed = true;
    for (uint64_t nth = 1; has_failed; nth++) {
        hone_alloc_fail_nth(nth, false);
        hone_status st = submit(w);
        has_failed = hone_alloc_has_failed();
        hone_alloc_fail_nth(0, false);
        hone_code code = hone_status_consume(st);
        assert_true(code == HONE_CODE_OK || (has_failed && code == HONE_CODE_NO_MEMORY));
        assert_int_equal(hone_builder_in_flight(w->builder), w->count - w->answered);
        while (w->answered < w->count)
            next(w);
    }
    assert_true(w->answered > 0);
}

/* ---- each case on each backend ---- */

#define CASE(function)                                                                             \
    { #function, function }
static const struct {
    const char *name;
    void (*run)(world *w);
} cases[] = {
    CASE(answers_each_ticket_once),
    CASE(refuses_bad_requests),
    CASE(takes_no_more_than_it_can_hold),
    CASE(cancelled_builds_are_answered),
    CASE(goes_on_after_a_pause),
    CASE(tells_when_to_look),
    CASE(can_be_dropped_with_builds_in_flight),
    CASE(survives_lack_of_memory),
};

enum { BACKENDS = HONE_COUNT(backends), CASES = HONE_COUNT(cases) };

typedef struct row {
    char name[96];
    int backend, which;
} row;

static void run_case(void **state) {
    const row *r = *state;
    world w;
    open_world(&w, &backends[r->backend]);
    cases[r->which].run(&w);
    close_world(&w);
}

static int make_dir(void **state) {
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/hone-builders-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state) {
    (void)state;
    hone_status_free(hone_fs_remove_tree(dir));
    return 0;
}

int main(void) {
    static row rows[BACKENDS * CASES];
    struct CMUnitTest tests[BACKENDS * CASES] = {0};
    for (int i = 0; i < BACKENDS * CASES; i++) {
        rows[i] = (row){.backend = i / CASES, .which = i % CASES};
        snprintf(rows[i].name, sizeof rows[i].name, "%s: %s", backends[i / CASES].name,
                 cases[i % CASES].name);
        tests[i] = (struct CMUnitTest){
            .name = rows[i].name, .test_func = run_case, .initial_state = &rows[i]};
    }
    return cmocka_run_group_tests_name("builder conformance", tests, make_dir, remove_dir);
}
