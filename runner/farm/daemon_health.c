/* runner/farm/daemon_health.c - slots that test themselves, and say so when they cannot work.
 *
 *     start ─► tested ──fine──► works ──failures in a row, or a fault of the machine──► tested
 *                │ not                                                                    │
 *                ▼                                                                        │ not
 *              benched, with the reason: what it has is given back ◄──────────────────────┘
 *                └──after a pause that doubles──► tested
 *
 * The tracker hears of it in HELLO and in every PING (docs/protocol.md). Without a test to run
 * slots are taken for fine; then only faults of the machine bench them.
 */
#include <string.h>

#include "runner/farm/daemon_impl.h"

#define FIRST_PAUSE_NS (5 * HONE_NS_PER_S)
#define LAST_PAUSE_NS (60 * HONE_NS_PER_S)

enum { MOST_FAILURES = 8, MOST_FAULTS = 3 };

static daemon_health *health_of(hone_daemon *d, size_t slot) {
    return &d->health[slot];
}

static void tell(hone_daemon *d) {
    farm_link_ping(&d->link);
}

static void bench(hone_daemon *d, size_t slot, const char *why) {
    daemon_health *h = health_of(d, slot);
    h->pause_ns = h->pause_ns ? 2 * h->pause_ns : FIRST_PAUSE_NS;
    if (h->pause_ns > LAST_PAUSE_NS) h->pause_ns = LAST_PAUSE_NS;
    h->test_ns = daemon_now(d) + h->pause_ns;
    h->is_untested = false;
    if (!h->is_benched || strcmp(h->why, why) != 0) {
        HONE_LOG(d->log, HONE_LOG_ERROR, "slot %zu cannot work: %s; it is tested again", slot, why);
    }
    hone_farm_set_text(h->why, sizeof h->why, why);
    h->is_benched = true;
    daemon_give_back_slot(d, slot, h->why);
    tell(d);
}

static void unbench(hone_daemon *d, size_t slot) {
    daemon_health *h = health_of(d, slot);
    bool was_benched = h->is_benched;
    h->is_benched = h->is_untested = false;
    h->test_ns = HONE_DEADLINE_NEVER;
    h->failures = 0;
    if (!was_benched) return;
    HONE_LOG(d->log, HONE_LOG_INFO, "slot %zu works again", slot);
    tell(d);
}

bool daemon_is_benched(const hone_daemon *d, size_t slot) {
    return d->health[slot].is_benched;
}

bool daemon_is_tested(const hone_daemon *d) {
    for (size_t i = 0; i < d->slot_count; i++) {
        if (d->health[i].is_untested) return false;
    }
    return true;
}

/* ---- the test ---- */

static void end_test(hone_daemon *d, size_t slot, hone_status st) {
    health_of(d, slot)->ticket = 0;
    if (st) {
        bench(d, slot, hone_status_message(st));
        hone_status_free(st);
    } else {
        unbench(d, slot);
    }
}

static hone_status submit_test(hone_daemon *d, size_t slot, hone_ticket *out_ticket) {
    hone_run_request request = {0};
    HONE_TRY(d->self_test.make(d->self_test.ctx, &request));
    return hone_runner_submit(d->slots[slot].runner, &request, out_ticket);
}

static bool begin_test(hone_daemon *d, size_t slot) {
    daemon_health *h = health_of(d, slot);
    if (h->ticket || daemon_now(d) < h->test_ns || daemon_is_slot_running(d, slot)) return false;
    h->test_ns = HONE_DEADLINE_NEVER;
    if (!d->self_test.make) {
        unbench(d, slot);
        return true;
    }
    hone_status st = submit_test(d, slot, &h->ticket);
    if (st) end_test(d, slot, st);
    return true;
}

static hone_status judge_test(const hone_run_result *r) {
    const char *problem = r->failure ? r->message : hone_run_result_problem(r, true);
    if (problem) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the self test failed: %s%s%s",
                          r->failure ? hone_failure_name(r->failure) : "", r->failure ? ": " : "",
                          problem);
    }
    if (r->checked) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the self test failed: nothing was compared");
}

static bool take_test(hone_daemon *d, size_t slot) {
    daemon_health *h = health_of(d, slot);
    hone_ticket ticket;
    hone_run_result result;
    if (!h->ticket) return false;
    hone_status st =
        hone_runner_next_result(d->slots[slot].runner, HONE_DEADLINE_NOW, &ticket, &result);
    if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
        hone_status_free(st);
        return false;
    }
    if (!st && ticket != h->ticket) { /* of something that was given up before */
        hone_run_result_deinit(&result);
        return true;
    }
    end_test(d, slot, st ? st : judge_test(&result));
    hone_run_result_deinit(&result);
    return true;
}

bool daemon_health_work(hone_daemon *d) {
    bool has_changed = false;
    for (size_t i = 0; i < d->slot_count && !d->is_stopping; i++) {
        has_changed = begin_test(d, i) || has_changed;
        has_changed = take_test(d, i) || has_changed;
    }
    return has_changed;
}

bool daemon_is_testing(const hone_daemon *d, size_t slot) {
    return d->health[slot].ticket != 0 || d->health[slot].is_untested ||
           (d->self_test.make && d->health[slot].test_ns <= daemon_now(d));
}

int64_t daemon_health_next_ns(const hone_daemon *d) {
    int64_t at = HONE_DEADLINE_NEVER;
    for (size_t i = 0; i < d->slot_count; i++) {
        if (!d->health[i].ticket && !daemon_is_slot_running(d, i))
            farm_sooner(&at, d->health[i].test_ns);
    }
    return at;
}

/* ---- what trials tell ---- */

void daemon_note_fault(hone_daemon *d, size_t slot, const char *why) {
    daemon_health *h = health_of(d, slot);
    if (h->is_benched) return;
    if (++h->faults >= MOST_FAULTS) {
        bench(d, slot, why);
    } else {
        h->test_ns = daemon_now(d);
    }
}

void daemon_note_result(hone_daemon *d, size_t slot, hone_failure failure) {
    daemon_health *h = health_of(d, slot);
    if (hone_failure_fault(failure) == HONE_FAULT_NOBODY) {
        if (failure == HONE_FAILURE_NONE) h->failures = h->faults = 0, h->pause_ns = 0;
    } else if (++h->failures >= MOST_FAILURES) {
        h->failures = 0;
        if (d->self_test.make) h->test_ns = daemon_now(d);
    }
}

void daemon_health_init(hone_daemon *d, const hone_daemon_self_test *test) {
    d->self_test = *test;
    for (size_t i = 0; i < d->slot_count; i++) {
        d->health[i] = (daemon_health){.test_ns = HONE_DEADLINE_NEVER};
        if (!test->make) continue;
        d->health[i].is_untested = true;
        d->health[i].test_ns = daemon_now(d);
    }
}

void daemon_list_benched(const hone_daemon *d, hone_farm_benches *out, hone_farm_bench *room) {
    *out = (hone_farm_benches){.items = room};
    for (size_t i = 0; i < d->slot_count; i++) {
        if (!d->health[i].is_benched) continue;
        hone_farm_bench *b = &room[out->count++];
        b->slot = (uint32_t)i;
        memcpy(b->text, d->health[i].why, sizeof b->text);
    }
}
