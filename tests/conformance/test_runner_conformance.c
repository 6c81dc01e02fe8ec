/* tests/conformance/test_runner_conformance.c - what every runner must do; each case runs on each
 * row of runner/runners.def. */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "support/os/clock.h"
#include "tests/conformance/loopback_farm.h"
#include "tests/conformance/runner_fixture.h"
#include "tests/support/hone_test.h"

static runner_fixture fixture;
static loopback_farm *farm;

static hone_runner *make_local(void) {
    return runner_fixture_local(&fixture, 2);
}

static hone_runner *make_remote(void) {
    return loopback_farm_connect(farm);
}

static hone_runner *make_simulated(void) {
    hone_runner *runner = NULL;
    const hone_runner_simulated_options options = {.slots = 2, .queue_depth = 6};
    HONE_ASSERT_OK(hone_runner_create_simulated(&options, &runner));
    return runner;
}

static hone_runner *make_null(void) {
    hone_runner *runner = NULL;
    HONE_ASSERT_OK(hone_runner_create_null(HONE_FAILURE_NONE, &runner));
    return runner;
}

static const struct backend {
    const char *name;
    hone_runner *(*make)(void);
    uint32_t facts;
} backends[] = {
#define HONE_RUNNER(id, name, facts) {#name, make_##name, facts},
#include "runner/runners.def"
#undef HONE_RUNNER
};

static int64_t soon(void) {
    return hone_deadline_after(hone_clock_system(), 60 * HONE_NS_PER_S);
}

static void begins_idle(hone_runner *r, const struct backend *backend) {
    (void)backend;
    assert_true(hone_runner_slots(r) >= 1);
    assert_int_equal(hone_runner_in_flight(r), 0);
}

static void refuses_bad_requests(hone_runner *r, const struct backend *backend) {
    (void)backend;
    hone_ticket ticket = 9;
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    request.artifact_path = NULL;
    HONE_ASSERT_ERROR(hone_runner_submit(r, &request, &ticket), HONE_CODE_INVALID, "artifact");
    assert_int_equal(ticket, 0);
    request = runner_fixture_request(&fixture, "");
    HONE_ASSERT_CODE(hone_runner_submit(r, &request, &ticket), HONE_CODE_INVALID);
    request = runner_fixture_request(&fixture, "ok");
    request.threads = 5000;
    HONE_ASSERT_ERROR(hone_runner_submit(r, &request, &ticket), HONE_CODE_INVALID, "5000");
    assert_int_equal(hone_runner_in_flight(r), 0);
}

static void has_nothing_to_give_when_idle(hone_runner *r, const struct backend *backend) {
    (void)backend;
    hone_ticket ticket = 9;
    hone_run_result result;
    HONE_ASSERT_CODE(hone_runner_next_result(r, soon(), &ticket, &result), HONE_CODE_INVALID);
    assert_int_equal(ticket, 0);
    hone_run_result_deinit(&result); /* initialised all the same */
}

static void answers_each_ticket_once(hone_runner *r, const struct backend *backend) {
    enum { COUNT = 20 };
    bool seen[COUNT + 1] = {false};
    int submitted = 0, answered = 0;
    hone_ticket ticket;
    while (answered < COUNT) {
        while (submitted < COUNT && hone_runner_in_flight(r) < 4) {
            hone_run_request request = runner_fixture_request(&fixture, "ok");
            HONE_ASSERT_OK(hone_runner_submit(r, &request, &ticket));
            submitted++;
            assert_int_equal(ticket, submitted); /* tickets count from 1 */
        }
        hone_run_result result;
        HONE_ASSERT_OK(hone_runner_next_result(r, soon(), &ticket, &result));
        assert_in_range(ticket, 1, COUNT);
        assert_false(seen[ticket]);
        seen[ticket] = true;
        answered++;
        if (result.failure != HONE_FAILURE_NONE) fail_msg("%s", result.message);
        bool has_times = backend->facts & HONE_RUNNER_GIVES_TIMES;
        assert_int_equal(result.sample_count > 0, has_times);
        assert_int_equal(isnan(result.median_ns), !has_times);
        hone_run_result_deinit(&result);
    }
    assert_int_equal(hone_runner_in_flight(r), 0);
}

static void takes_no_more_than_its_queue(hone_runner *r, const struct backend *backend) {
    (void)backend;
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_ticket ticket;
    hone_status st = HONE_OK;
    int taken = 0;
    while (taken < 5000 && !(st = hone_runner_submit(r, &request, &ticket)))
        taken++;
    HONE_ASSERT_CODE(st, HONE_CODE_UNAVAILABLE);
    assert_int_equal(hone_runner_in_flight(r), taken);
    assert_true(taken >= hone_runner_slots(r));
    for (int i = 0; i < taken; i++) {
        hone_run_result result;
        HONE_ASSERT_OK(hone_runner_next_result(r, soon(), &ticket, &result));
        hone_run_result_deinit(&result);
    }
}

static void copies_what_it_is_given(hone_runner *r, const struct backend *backend) {
    (void)backend;
    char entry[] = "ok";
    hone_arg args[2] = {fixture.args[0], fixture.args[1]};
    hone_run_request request = runner_fixture_request(&fixture, entry);
    request.manifest.args = args;
    hone_ticket tickets[3], ticket;
    for (int i = 0; i < 3; i++)
        HONE_ASSERT_OK(hone_runner_submit(r, &request, &tickets[i]));
    memset(entry, 'x', 2);
    memset(args, 0x55, sizeof args);
    for (int i = 0; i < 3; i++) {
        hone_run_result result;
        HONE_ASSERT_OK(hone_runner_next_result(r, soon(), &ticket, &result));
        if (result.failure != HONE_FAILURE_NONE) fail_msg("%s", result.message);
        hone_run_result_deinit(&result);
    }
}

static void cancels(hone_runner *r, const struct backend *backend) {
    (void)backend;
    hone_ticket ticket;
    for (int i = 0; i < 4; i++) {
        hone_run_request request = runner_fixture_request(&fixture, "hang");
        request.simulated.latency_ns = HONE_NS_PER_S;
        HONE_ASSERT_OK(hone_runner_submit(r, &request, &ticket));
    }
    hone_runner_cancel_all(r);
    for (int i = 0; i < 4; i++) {
        hone_run_result result;
        HONE_ASSERT_OK(hone_runner_next_result(r, soon(), &ticket, &result));
        if (backend->facts & HONE_RUNNER_GIVES_TIMES) {
            assert_int_equal(result.failure, HONE_FAILURE_CANCELLED);
        }
        hone_run_result_deinit(&result);
    }
    assert_int_equal(hone_runner_in_flight(r), 0);
    hone_runner_cancel_all(r); /* nothing to do is fine */
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    runner_fixture_run(r, &request, &result);
    assert_int_equal(result.failure, HONE_FAILURE_NONE);
    hone_run_result_deinit(&result);
}

/* Whoever polls the descriptor and looks with a past deadline gets every result. */
static void can_be_polled(hone_runner *r, const struct backend *backend) {
    (void)backend;
    hone_ticket ticket;
    for (int i = 0; i < 3; i++) {
        hone_run_request request = runner_fixture_request(&fixture, i == 1 ? "hang" : "ok");
        request.timeout_ns = 200 * HONE_NS_PER_MS;
        HONE_ASSERT_OK(hone_runner_submit(r, &request, &ticket));
    }
    int64_t limit = soon();
    while (hone_runner_in_flight(r)) {
        struct pollfd p = {.fd = hone_runner_fd(r), .events = POLLIN};
        if (p.fd >= 0) {
            assert_true(poll(&p, 1, hone_deadline_poll_ms(hone_clock_system(), limit)) > 0);
        }
        hone_run_result result;
        hone_status st = hone_runner_next_result(r, HONE_DEADLINE_NOW, &ticket, &result);
        hone_run_result_deinit(&result);
        hone_code code = hone_status_consume(st);
        assert_true(code == HONE_CODE_OK || (code == HONE_CODE_TIMEOUT && p.fd >= 0));
    }
}

static void may_be_dropped_in_the_middle(hone_runner *r, const struct backend *backend) {
    (void)backend;
    hone_ticket ticket;
    for (int i = 0; i < 4; i++) {
        hone_run_request request = runner_fixture_request(&fixture, i % 2 ? "ok" : "hang");
        HONE_ASSERT_OK(hone_runner_submit(r, &request, &ticket));
    }
    /* the caller ends it with four in flight */
}

typedef struct trip {
    hone_runner *runner;
    hone_run_request request;
} trip;

static hone_status submit_and_wait(void *context) {
    trip *t = context;
    hone_ticket ticket;
    hone_run_result result;
    HONE_TRY(hone_runner_submit(t->runner, &t->request, &ticket));
    HONE_TRY(hone_runner_next_result(t->runner, soon(), &ticket, &result));
    hone_failure failure = result.failure;
    hone_run_result_deinit(&result);
    /* a lost device is the answer when there was no memory to start one */
    if (failure == HONE_FAILURE_DEVICE_LOST) return HONE_ERROR(HONE_CODE_NO_MEMORY, "lost");
    return HONE_OK;
}

/* A connection is of no more use after that: it fails as a whole. */
static void survives_want_of_memory(hone_runner *r, const struct backend *backend) {
    if (backend->facts & HONE_RUNNER_CONNECTS) return;
    trip t = {r, runner_fixture_request(&fixture, "ok")};
    t.request.skip_timing = true;
    hone_test_sweep_allocs(submit_and_wait, &t);
    assert_int_equal(hone_runner_in_flight(r), 0);
}

typedef void (*conformance_case)(hone_runner *r, const struct backend *backend);
static const struct row {
    const char *name;
    conformance_case run;
} cases[] = {
    {"knows its name",                begins_idle                  },
    {"refuses bad requests",          refuses_bad_requests         },
    {"has nothing to give when idle", has_nothing_to_give_when_idle},
    {"answers each ticket once",      answers_each_ticket_once     },
    {"takes no more than its queue",  takes_no_more_than_its_queue },
    {"copies what it is given",       copies_what_it_is_given      },
    {"cancels",                       cancels                      },
    {"can be polled",                 can_be_polled                },
    {"survives want of memory",       survives_want_of_memory      },
    {"may be dropped in the middle",  may_be_dropped_in_the_middle },
};

static const struct backend *backend;

static void check_case(void **state) {
    const struct row *row = *state;
    hone_runner *r = backend->make();
    row->run(r, backend);
    hone_runner_destroy(r);
}

int main(void) {
    int failed = 0;
    runner_fixture_init(&fixture);
    farm = loopback_farm_start(&fixture, 2);
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        backend = &backends[i];
        char group[64];
        snprintf(group, sizeof group, "runner/%s", backend->name);
        failed += HONE_RUN_ROWS(group, cases, check_case);
    }
    loopback_farm_stop(farm);
    runner_fixture_deinit(&fixture);
    return failed;
}
