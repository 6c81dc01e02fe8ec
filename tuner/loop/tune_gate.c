/* tuner/loop/tune_gate.c - builds keep out of the way of whoever times on this machine.
 *
 * A runner of the same machine and user takes the quiet gate alone while it times
 * (support/os/quiet.h), also one of a farm. So builds hold it shared; as soon as somebody wants to
 * be alone they are stopped and let go, and go on when they have it again:
 *
 *     builds ──wanted──► stopped, let go ──ours again, or nobody let us in for a minute──► builds
 *
 * Where this process times itself the loop takes turns instead (tune_loop.c).
 */
#include "builder/builder.h"
#include "tuner/loop/tune_impl.h"

#define PAUSE_NS (5 * HONE_NS_PER_MS)
#define PATIENCE_NS (60 * HONE_NS_PER_S) /* who keeps the gate for longer does not time */

hone_status hone_tuning_gate_init(hone_tuning *t) {
    t->gate = (hone_quiet_gate){.fd = -1};
    if (!t->options->quiet_path || hone_runner_times_here(t->options->runner)) return HONE_OK;
    HONE_TRY(hone_quiet_open(t->options->quiet_path, &t->gate));
    t->has_gate = true;
    return HONE_OK;
}

void hone_tuning_gate_deinit(hone_tuning *t) {
    if (t->has_gate) hone_quiet_close(&t->gate);
}

static bool is_patient(hone_tuning *t) {
    int64_t now = hone_clock_now(t->clock);
    if (!t->gate_asked_ns) t->gate_asked_ns = now;
    return now - t->gate_asked_ns < PATIENCE_NS;
}

/* One try; true: builds may run, with the gate, or after so long without it. */
static bool take(hone_tuning *t) {
    if (t->gate.is_held) return true;
    hone_status st = hone_quiet_begin(&t->gate, HONE_QUIET_SHARED, t->clock, HONE_DEADLINE_NOW);
    bool may_build = hone_status_consume(st) == HONE_CODE_OK || !is_patient(t);
    if (t->gate.is_held) t->gate_asked_ns = 0;
    return may_build;
}

bool hone_tuning_may_build(hone_tuning *t) {
    return !t->has_gate || (!t->is_held_up && take(t));
}

void hone_tuning_await_gate(hone_tuning *t) {
    while (!hone_tuning_may_build(t) && hone_tuning_must_stop(t) != HONE_STOP_NOW)
        hone_clock_sleep_until(t->clock, hone_clock_now(t->clock) + PAUSE_NS);
}

static void hold_up(hone_tuning *t) {
    hone_builder_pause(t->options->builder);
    hone_quiet_end(&t->gate);
    t->is_held_up = true;
}

static void go_on(hone_tuning *t) {
    hone_builder_resume(t->options->builder);
    t->is_held_up = false;
}

void hone_tuning_tend_gate(hone_tuning *t) {
    if (!t->has_gate) return;
    bool has_builds = hone_builder_in_flight(t->options->builder) > 0;
    if (t->is_held_up) {
        if (!has_builds || take(t)) go_on(t);
    } else if (t->gate.is_held && has_builds && hone_quiet_is_wanted(&t->gate)) {
        hold_up(t);
    } else if (t->gate.is_held && !has_builds) {
        hone_quiet_end(&t->gate);
    }
}
