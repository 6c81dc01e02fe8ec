/* farm/tracker_bench.c - results are judged at the door, and slots that err are benched.
 *
 *     result ─► can it be read, can it be true, was it asked for, is it the candidate's?
 *                  │ no: the trial goes to somebody else, the slot has erred
 *                  ▼
 *     slot     errs ─► nothing for a heartbeat ─► errs again … ─third time─► benched, with a reason
 *                                                                               │ after a pause
 *               works ◄──────────── one trial: a result that may be true ◄── probed ─► errs: a
 * longer pause
 *
 * Beside that a runner that has tested itself says which of its slots cannot work (HELLO, PING).
 * The device lists of tuners say of a benched slot that it gets nothing new.
 */
#include <stdio.h>

#include "farm/tracker_impl.h"
#include "measure/wire.h"

#define FIRST_PAUSE_HEARTBEATS 5
#define MAX_PAUSE_DOUBLINGS 5

/* ---- the door ---- */

static const char *problem_of(const tracker_trial *trial, const hone_run_result *result,
                              char *room) {
    if (hone_failure_fault(result->failure) == HONE_FAULT_MACHINE) {
        snprintf(room, HONE_FARM_NOTE_BYTES, "%s",
                 result->message[0] ? result->message : hone_failure_meaning(result->failure));
        return room;
    }
    if (result->failure == HONE_FAILURE_CANCELLED && !trial->is_cancelled) {
        return "a trial that nobody cancelled is cancelled";
    }
    return hone_run_result_problem(result, trial->is_submitted && trial->wants_time);
}

hone_status tracker_judge(const tracker_trial *trial, hone_farm_bytes bytes, char *room,
                          const char **out_problem, hone_failure *out_failure) {
    hone_run_result result;
    hone_status st = hone_run_result_decode(bytes.data, bytes.count, &result);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    *out_failure = result.failure;
    if (st) {
        snprintf(room, HONE_FARM_NOTE_BYTES, "a result that cannot be read: %s",
                 hone_status_message(st));
        *out_problem = room;
        hone_status_free(st);
    } else {
        *out_problem = problem_of(trial, &result, room);
    }
    hone_run_result_deinit(&result);
    return HONE_OK;
}

/* ---- the bench ---- */

bool tracker_is_benched(const tracker_slot *slot) {
    return slot->is_benched || slot->bench_ns;
}

static int64_t pause_ns(const hone_tracker *t, uint32_t errors) {
    uint32_t doublings = errors - TRACKER_BENCH_ERRORS;
    if (doublings > MAX_PAUSE_DOUBLINGS) doublings = MAX_PAUSE_DOUBLINGS;
    return (FIRST_PAUSE_HEARTBEATS << doublings) * t->o.heartbeat_ns;
}

static void set_trouble(hone_tracker *t, tracker_slot *slot, const char *why) {
    hone_farm_set_text(slot->trouble, sizeof slot->trouble, why);
    t->devices++;
}

void tracker_slot_erred(hone_tracker *t, tracker_slot *slot, const char *why) {
    slot->errors++;
    slot->erred++;
    t->stats.errors++;
    tracker_log_odd(t, "runner '%s', slot %u: %s", slot->runner->name, slot->info.slot, why);
    slot->hold_ns = t->now_ns + t->o.heartbeat_ns;
    tracker_wake_at(t, slot->hold_ns);
    if (slot->errors < TRACKER_BENCH_ERRORS) return;
    int64_t pause = pause_ns(t, slot->errors);
    slot->bench_ns = t->now_ns + pause;
    set_trouble(t, slot, why);
    tracker_wake_at(t, slot->bench_ns);
    HONE_LOG(t->o.log, HONE_LOG_WARNING,
             "runner '%s', slot %u is benched for %.3g s after %u errors: %s", slot->runner->name,
             slot->info.slot, (double)pause / 1e9, slot->errors, slot->trouble);
}

void tracker_slot_works(hone_tracker *t, tracker_slot *slot) {
    if (slot->errors >= TRACKER_BENCH_ERRORS) {
        HONE_LOG(t->o.log, HONE_LOG_INFO, "runner '%s', slot %u works again", slot->runner->name,
                 slot->info.slot);
    }
    slot->errors = 0;
}

static const hone_farm_bench *find_bench(const hone_farm_benches *list, uint32_t slot) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].slot == slot) return &list->items[i];
    }
    return NULL;
}

static void note_one(hone_tracker *t, tracker_slot *slot, const hone_farm_bench *bench) {
    if (!bench == !slot->is_benched) return;
    slot->is_benched = bench != NULL;
    set_trouble(t, slot, bench ? bench->text : "");
    HONE_LOG(t->o.log, bench ? HONE_LOG_WARNING : HONE_LOG_INFO, "runner '%s', slot %u %s%s",
             slot->runner->name, slot->info.slot, bench ? "cannot work: " : "has mended itself",
             slot->trouble);
}

void tracker_note_benched(hone_tracker *t, tracker_runner *runner, const hone_farm_benches *list) {
    for (size_t i = 0; i < runner->slot_count; i++) {
        note_one(t, &runner->slots[i], find_bench(list, runner->slots[i].info.slot));
    }
}

static void probe(hone_tracker *t, tracker_slot *slot) {
    if (!slot->bench_ns) return;
    if (slot->bench_ns > t->now_ns) {
        tracker_wake_at(t, slot->bench_ns);
        return;
    }
    slot->bench_ns = 0;
    if (!slot->is_benched) set_trouble(t, slot, "");
    HONE_LOG(t->o.log, HONE_LOG_INFO, "runner '%s', slot %u is probed", slot->runner->name,
             slot->info.slot);
}

void tracker_bench_timers(hone_tracker *t) {
    for (size_t i = 0; i < t->classes.count; i++) {
        for (size_t k = 0; k < t->classes.data[i]->slots.count; k++)
            probe(t, t->classes.data[i]->slots.data[k]);
    }
}
