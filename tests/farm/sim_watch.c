/* tests/farm/sim_watch.c - see sim_watch.h. */
#include "tests/farm/sim_watch.h"

#include <inttypes.h>

#include "support/core/arena.h"

enum { MAX_TRIALS_OF_LEASE = 2 };

hone_status sim_watch_init(sim_watch *watch, const hone_log *log, const hone_clock *clock) {
    *watch = (sim_watch){.arena = hone_arena_create(1 << 14), .log = log, .clock = clock};
    return watch->arena ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "watch");
}

void sim_watch_deinit(sim_watch *watch) {
    hone_vec_deinit(&watch->leases);
    hone_vec_deinit(&watch->assigned);
    hone_str_deinit(&watch->broken);
    hone_arena_destroy(watch->arena);
}

#define BROKEN(watch, ...)                                                                         \
    do {                                                                                           \
        if (!(watch)->broken.length) hone_str_printf(&(watch)->broken, __VA_ARGS__);               \
    } while (0)

static bool decode(sim_watch *watch, const void *bytes, size_t count, hone_farm_message *out) {
    watch->frames++;
    hone_arena_reset(watch->arena);
    hone_status st = hone_farm_decode(bytes, count, watch->arena, out);
    if (st) BROKEN(watch, "a frame that cannot be read: %s", hone_status_message(st));
    bool ok = !st;
    hone_status_free(st);
    return ok;
}

/* ASSIGN and RESULT begin as a lease does: token, tuner, trial. */
static void log_frame(const sim_watch *watch, const char *arrow, uint32_t runner, uint32_t life,
                      const hone_farm_message *m) {
    hone_farm_lease lease = {0};
    hone_str held = {0};
    switch (m->kind) {
    case HONE_FARM_HELLO:
        for (size_t i = 0; i < m->u.hello.held.count; i++) {
            const hone_farm_held *h = &m->u.hello.held.items[i];
            hone_str_printf(&held, " [%" PRIu64 " trial %" PRIu64 " slot %u state %d]", h->token,
                            h->trial, h->slot, (int)h->state);
        }
        break;
    case HONE_FARM_ASSIGN:
        lease = (hone_farm_lease){m->u.assign.token, m->u.assign.tuner, m->u.assign.trial};
        break;
    case HONE_FARM_RESULT:
        lease = (hone_farm_lease){m->u.result.token, m->u.result.tuner, m->u.result.trial};
        break;
    case HONE_FARM_RETURNED:
        lease = (hone_farm_lease){m->u.returned.token, m->u.returned.tuner, m->u.returned.trial};
        hone_str_printf(&held, " (%s)", m->u.returned.text);
        break;
    case HONE_FARM_TAKEN:
    case HONE_FARM_RESULT_ACK:
    case HONE_FARM_ABORT:
        lease = m->u.lease;
        break;
    default:
        return;
    }
    HONE_LOG(watch->log, HONE_LOG_DEBUG,
             "%.3f s: %s runner %u.%u: %s token %" PRIu64 " trial %" PRIu64 " of %08x%s",
             (double)hone_clock_now(watch->clock) / 1e9, arrow, runner, life,
             hone_farm_kind_name(m->kind), lease.token, lease.trial, (unsigned)lease.tuner.lo,
             hone_str_text(&held));
    hone_str_deinit(&held);
}

static bool is_same_slot(const sim_lease *a, const sim_lease *b) {
    return a->runner == b->runner && a->life == b->life && a->slot == b->slot;
}

static void check_lease(sim_watch *watch, const sim_lease *lease) {
    uint64_t newest = 0;
    for (size_t i = watch->leases.count; i-- > 0;) {
        const sim_lease *other = &watch->leases.data[i];
        if (is_same_slot(other, lease) && other->token > newest) newest = other->token;
        if (other->token != lease->token) continue;
        if (other->runner != lease->runner || other->slot != lease->slot ||
            other->life != lease->life || !hone_hash128_equal(other->tuner, lease->tuner)) {
            BROKEN(watch,
                   "token %" PRIu64 " of runner %u.%u slot %u is used for runner %u.%u slot %u%s",
                   lease->token, other->runner, other->life, other->slot, lease->runner,
                   lease->life, lease->slot,
                   hone_hash128_equal(other->tuner, lease->tuner) ? "" : " and another tuner");
        }
        return;
    }
    if (lease->token <= newest) {
        BROKEN(watch, "runner %u.%u slot %u gets token %" PRIu64 " after %" PRIu64, lease->runner,
               lease->life, lease->slot, lease->token, newest);
    }
    if (!hone_vec_push(&watch->leases, *lease)) BROKEN(watch, "no memory");
}

static bool is_trial(const sim_assigned *a, hone_farm_instance tuner, uint64_t trial) {
    return a->trial == trial && hone_hash128_equal(a->lease.tuner, tuner);
}

static void on_assign(sim_watch *watch, uint32_t runner, uint32_t life, const hone_farm_assign *m) {
    const sim_lease lease = {m->token, runner, life, m->slot, m->tuner};
    sim_assigned *same = NULL;
    int trials = 0;
    watch->assigns++;
    check_lease(watch, &lease);
    for (size_t i = 0; i < watch->assigned.count; i++) {
        sim_assigned *a = &watch->assigned.data[i];
        if (!is_same_slot(&a->lease, &lease)) continue;
        bool is_same = a->lease.token == m->token && is_trial(a, m->tuner, m->trial);
        if (is_same) same = a;
        if (a->is_answered) continue;
        trials++;
        if (a->lease.token != m->token) {
            BROKEN(watch,
                   "runner %u.%u slot %u gets token %" PRIu64 " while trial %" PRIu64
                   " of token %" PRIu64 " is still on it",
                   runner, life, m->slot, m->token, a->trial, a->lease.token);
        }
    }
    if (same && (same->has_result || !same->is_answered || !same->is_acknowledged)) return;
    if (++trials > MAX_TRIALS_OF_LEASE) {
        BROKEN(watch, "runner %u.%u slot %u has %d trials under token %" PRIu64, runner, life,
               m->slot, trials, m->token);
    }
    if (same && same->is_over) {
        BROKEN(watch,
               "runner %u.%u gave trial %" PRIu64 " back and gets it again under token %" PRIu64,
               runner, life, m->trial, m->token);
    }
    if (same) {
        same->is_answered = same->is_acknowledged = same->is_older = false;
    } else if (!hone_vec_push(&watch->assigned,
                              (sim_assigned){.lease = lease, .trial = m->trial})) {
        BROKEN(watch, "no memory");
    }
}

static void on_ack(sim_watch *watch, uint32_t runner, const hone_farm_lease *lease) {
    for (size_t i = 0; i < watch->assigned.count; i++) {
        sim_assigned *a = &watch->assigned.data[i];
        if (a->lease.runner == runner && a->lease.token <= lease->token &&
            is_trial(a, lease->tuner, lease->trial)) {
            a->is_acknowledged = true;
            a->is_over = a->was_returned && !a->is_older;
        }
    }
}

void sim_watch_to_runner(sim_watch *watch, uint32_t runner, uint32_t life, const void *bytes,
                         size_t count) {
    hone_farm_message m;
    if (!decode(watch, bytes, count, &m)) return;
    log_frame(watch, "to", runner, life, &m);
    if (m.kind == HONE_FARM_ASSIGN) on_assign(watch, runner, life, &m.u.assign);
    if (m.kind == HONE_FARM_RESULT_ACK) on_ack(watch, runner, &m.u.lease);
}

/* The runner has no such trial under this or an older token any more. */
static void let_go(sim_watch *watch, uint32_t runner, const hone_farm_lease *lease,
                   bool by_result) {
    for (size_t i = 0; i < watch->assigned.count; i++) {
        sim_assigned *a = &watch->assigned.data[i];
        if (a->lease.runner == runner && a->lease.token <= lease->token &&
            is_trial(a, lease->tuner, lease->trial)) {
            a->is_answered = true;
            *(by_result ? &a->has_result : &a->was_returned) = true;
        }
    }
}

/* HELLO names all that a runner still has; the tracker knows of the rest when it reads that. */
static void on_hello(sim_watch *watch, uint32_t runner, const hone_farm_hello *hello) {
    for (size_t i = 0; i < watch->assigned.count; i++) {
        sim_assigned *a = &watch->assigned.data[i];
        bool is_held = false;
        if (a->lease.runner != runner) continue;
        for (size_t k = 0; k < hello->held.count && !is_held; k++) {
            const hone_farm_held *held = &hello->held.items[k];
            is_held = a->lease.token == held->token && is_trial(a, held->tuner, held->trial) &&
                      held->state != HONE_FARM_HELD_DONE;
        }
        if (!is_held) a->is_answered = a->is_acknowledged = true;
    }
}

void sim_watch_from_runner(sim_watch *watch, uint32_t runner, uint32_t life, const void *bytes,
                           size_t count) {
    hone_farm_message m;
    if (!decode(watch, bytes, count, &m)) return;
    log_frame(watch, "from", runner, life, &m);
    switch (m.kind) {
    case HONE_FARM_HELLO:
        on_hello(watch, runner, &m.u.hello);
        break;
    case HONE_FARM_RESULT:
        watch->results++;
        let_go(watch, runner,
               &(hone_farm_lease){m.u.result.token, m.u.result.tuner, m.u.result.trial}, true);
        break;
    case HONE_FARM_RETURNED:
        let_go(watch, runner,
               &(hone_farm_lease){m.u.returned.token, m.u.returned.tuner, m.u.returned.trial},
               false);
        break;
    default:
        break;
    }
}

void sim_watch_runner_died(sim_watch *watch, uint32_t runner) {
    for (size_t i = 0; i < watch->assigned.count; i++) {
        sim_assigned *a = &watch->assigned.data[i];
        if (a->lease.runner == runner) a->is_answered = a->is_acknowledged = true;
    }
}

void sim_watch_tracker_died(sim_watch *watch) {
    for (size_t i = 0; i < watch->assigned.count; i++) {
        sim_assigned *a = &watch->assigned.data[i];
        a->is_answered = a->is_acknowledged = a->is_older = true;
    }
}

size_t sim_watch_unanswered(const sim_watch *watch) {
    size_t count = 0;
    for (size_t i = 0; i < watch->assigned.count; i++) {
        count += !watch->assigned.data[i].is_answered;
    }
    return count;
}
