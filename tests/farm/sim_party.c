/* tests/farm/sim_party.c - see sim_party.h. */
#include "tests/farm/sim_party.h"

#include <stdarg.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"

/* ---- what all share ---- */

void sim_wrong(sim_world *w, const char *format, ...) {
    if (w->why.length) return;
    va_list args;
    va_start(args, format);
    hone_str_vprintf(&w->why, format, args);
    va_end(args);
}

void sim_check(sim_world *w, hone_status st, const char *what) {
    if (!st) return;
    sim_wrong(w, "%s: %s", what, hone_status_message(st));
    hone_status_free(st);
}

hone_farm_instance sim_instance(sim_world *w) {
    return (hone_farm_instance){.lo = ++w->instances, .hi = hone_rng_next(&w->rng) | 1};
}

int64_t sim_now(const sim_world *w) {
    return hone_clock_now(&w->clock.clock);
}

char *sim_path(const sim_world *w, const char *name, unsigned number) {
    hone_str path = {0};
    hone_str_printf(&path, "%s/%s%u", w->dir, name, number);
    return hone_str_take(&path);
}

static hone_status connect_to_tracker(sim_world *w, const hone_key_pair *keys, hone_net **out_net) {
    const hone_net_client_options options = {
        .address = SIM_ADDRESS, .server_key = w->tracker_key, .keys = *keys};
    return hone_simnet_connect(w->simnet, &options, out_net);
}

/* ---- the tracker ---- */

void sim_tracker_start(sim_tracker *t) {
    sim_world *w = t->w;
    const hone_net_server_options server = {
        .address = SIM_ADDRESS, .keys = t->keys, .max_frame_bytes = HONE_FARM_MAX_FRAME};
    t->life++;
    sim_check(w, hone_simnet_listen(w->simnet, &server, &t->net), "listen");
    if (t->has_store) {
        char *path = sim_path(w, "state", 0);
        sim_check(w, hone_farm_store_open(path, &t->store), "store");
        hone_free(path);
    }
    const hone_tracker_options options = {
        .net = t->net,
        .store = t->store,
        .log = w->log,
        .software = "simulated",
        .instance = sim_instance(w),
        .first_token = (uint64_t)(sim_now(w) / HONE_NS_PER_US) + 1,
        .heartbeat_ns = HONE_NS_PER_S,
        .chunk_bytes = SIM_CHUNK_BYTES,
    };
    sim_check(w, hone_tracker_create(&options, &t->tracker), "tracker");
}

/* Without a word to anybody: what it says at its end is cut off. */
void sim_tracker_kill(sim_tracker *t) {
    if (!t->net) return;
    hone_simnet_cut(t->w->simnet, t->net, true);
    hone_tracker_destroy(t->tracker);
    hone_farm_store_close(t->store);
    hone_net_destroy(t->net);
    t->tracker = NULL;
    t->store = NULL;
    t->net = NULL;
    sim_watch_tracker_died(&t->w->watch);
}

/* ---- a runner ---- */

void sim_runner_start(sim_runner *r) {
    sim_world *w = r->w;
    hone_daemon_slot slots[SIM_MAX_SLOTS] = {0};
    char name[HONE_FARM_NAME_BYTES];
    char *dir = sim_path(w, "cache", r->number);
    r->life++;
    sim_check(w, connect_to_tracker(w, &r->keys, &r->net), "connect");
    sim_check(w, hone_blob_cache_open(dir, 4 << 20, &r->cache), "cache");
    for (size_t i = 0; i < r->slot_count; i++) {
        sim_check(w, sim_device_create(&w->clock.clock, &w->counts, &r->devices[i]), "device");
        slots[i].runner = r->devices[i];
        slots[i].facts = (hone_farm_slot){.slot = (uint32_t)i, .cores = 1, .memory_bytes = 1 << 30};
        hone_farm_set_text(slots[i].facts.device_key, HONE_FARM_NAME_BYTES, r->device_key);
        hone_farm_set_text(slots[i].facts.target, HONE_FARM_TARGET_BYTES, "llvm");
    }
    snprintf(name, sizeof name, "runner%u", r->number);
    const hone_daemon_options options = {.net = r->net,
                                         .cache = r->cache,
                                         .slots = slots,
                                         .slot_count = r->slot_count,
                                         .name = name,
                                         .software = "simulated",
                                         .instance = sim_instance(w),
                                         .log = w->log};
    sim_check(w, hone_daemon_create(&options, &r->daemon), "daemon");
    hone_free(dir);
}

void sim_runner_kill(sim_runner *r) {
    if (!r->daemon) return;
    hone_simnet_cut(r->w->simnet, r->net, true);
    hone_daemon_destroy(r->daemon);
    for (size_t i = 0; i < r->slot_count; i++)
        hone_runner_destroy(r->devices[i]);
    hone_blob_cache_close(r->cache);
    hone_net_destroy(r->net);
    r->daemon = NULL;
    r->net = NULL;
    sim_watch_runner_died(&r->w->watch, r->number);
}

void sim_runner_step(sim_runner *r) {
    if (!r->daemon) return;
    sim_check(r->w, hone_daemon_step(r->daemon), "daemon");
    if (hone_daemon_is_over(r->daemon)) sim_runner_kill(r);
}

int64_t sim_runner_next_ns(const sim_runner *r) {
    int64_t next = HONE_DEADLINE_NEVER;
    if (!r->daemon) return next;
    next = hone_daemon_next_ns(r->daemon);
    for (size_t i = 0; i < r->slot_count; i++) {
        int64_t at = sim_device_next_ns(r->devices[i]);
        if (at < next) next = at;
    }
    return next;
}

/* ---- a tuner ---- */

void sim_tuner_start(sim_tuner *t) {
    sim_world *w = t->w;
    t->life++;
    char name[HONE_FARM_NAME_BYTES];
    snprintf(name, sizeof name, "tuner%u", t->number);
    sim_check(w, connect_to_tracker(w, &t->keys, &t->net), "connect");
    const hone_runner_remote_options options = {.net = t->net,
                                                .device_key = t->device_key,
                                                .name = name,
                                                .software = "simulated",
                                                .instance = sim_instance(w),
                                                .log = w->log};
    sim_check(w, hone_runner_create_remote(&options, &t->runner), "remote runner");
}

static void leave(sim_tuner *t) {
    hone_runner_destroy(t->runner); /* and its endpoint */
    t->runner = NULL;
    t->net = NULL;
}

void sim_tuner_kill(sim_tuner *t) {
    if (!t->runner) return;
    hone_simnet_cut(t->w->simnet, t->net, true);
    leave(t);
    t->abandoned += t->submitted - t->over;
    t->past += t->submitted;
    t->wanted -= t->submitted;
    hone_vec_clear(&t->trials);
    t->submitted = t->over = 0;
}

static sim_trial make_trial(sim_tuner *t) {
    sim_world *w = t->w;
    sim_trial trial = {.seed = hone_rng_next(&w->rng), .submit_ns = sim_now(w)};
    if (hone_rng_below(&w->rng, 10) == 0) trial.failure = HONE_FAILURE_RUN_CRASH;
    return trial;
}

static void submit(sim_tuner *t) {
    sim_world *w = t->w;
    sim_trial trial = make_trial(t);
    char *path = sim_path(w, "file", sim_file_of(trial.seed));
    hone_run_request request = {
        .artifact_path = path,
        .manifest = {.entry = "f"            },
        .seed = trial.seed,
        .timeout_ns = 10 * HONE_NS_PER_S,
        .simulated = { .latency_ns = (int64_t)hone_rng_below(&w->rng, 3000) * HONE_NS_PER_MS + 1,
                     .failure = trial.failure},
    };
    hone_status st = hone_runner_submit(t->runner, &request, &trial.ticket);
    hone_free(path);
    if (hone_status_code(st) == HONE_CODE_UNAVAILABLE) {
        hone_status_free(st);
        return;
    }
    sim_check(w, st, "submit");
    if (!hone_vec_push(&t->trials, trial)) sim_wrong(w, "no memory");
    t->submitted++;
}

static sim_trial *find_trial(sim_tuner *t, hone_ticket ticket) {
    for (size_t i = 0; i < t->trials.count; i++) {
        if (t->trials.data[i].ticket == ticket) return &t->trials.data[i];
    }
    return NULL;
}

static void judge(sim_tuner *t, hone_ticket ticket, const hone_run_result *result) {
    sim_world *w = t->w;
    sim_trial *trial = find_trial(t, ticket);
    if (!trial || trial->is_over) {
        sim_wrong(w, "tuner %u: trial %llu ended %s", t->number, (unsigned long long)ticket,
                  trial ? "twice" : "but was not submitted");
        return;
    }
    trial->is_over = true;
    t->over++;
    if (result->failure == trial->failure &&
        (trial->failure || result->median_ns == sim_time_of(trial->seed))) {
        t->good++;
    } else if (result->failure == HONE_FAILURE_CANCELLED && trial->was_cancelled) {
        t->cancelled++;
    } else if (result->failure == HONE_FAILURE_DEVICE_LOST && w->has_faults) {
        t->lost++;
    } else {
        sim_wrong(w, "tuner %u: trial %llu ended as '%s' (%s) with %g, should be '%s' with %g",
                  t->number, (unsigned long long)ticket, hone_failure_name(result->failure),
                  result->message, result->median_ns, hone_failure_name(trial->failure),
                  sim_time_of(trial->seed));
    }
}

static bool take_result(sim_tuner *t) {
    hone_ticket ticket;
    hone_run_result result;
    if (hone_runner_in_flight(t->runner) == 0) {
        sim_check(t->w, hone_runner_tend(t->runner), "tend");
        return false;
    }
    hone_status st = hone_runner_next_result(t->runner, HONE_DEADLINE_NOW, &ticket, &result);
    if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
        hone_status_free(st);
        return false;
    }
    sim_check(t->w, st, "next result");
    if (!st) judge(t, ticket, &result);
    hone_run_result_deinit(&result);
    return !st;
}

void sim_tuner_step(sim_tuner *t) {
    if (!t->runner) return;
    while (take_result(t)) {
    }
    size_t before;
    do {
        before = t->submitted;
        if (t->submitted < t->wanted &&
            hone_runner_in_flight(t->runner) < hone_runner_slots(t->runner)) {
            submit(t);
        }
    } while (t->submitted > before);
}

void sim_tuner_cancel(sim_tuner *t) {
    if (!t->runner) return;
    for (size_t i = 0; i < t->trials.count; i++)
        t->trials.data[i].was_cancelled = true;
    hone_runner_cancel_all(t->runner);
}

void sim_tuner_finish(sim_tuner *t) {
    if (t->runner) leave(t);
}

int64_t sim_tuner_next_ns(const sim_tuner *t) {
    return t->runner ? hone_runner_remote_next_ns(t->runner) : HONE_DEADLINE_NEVER;
}

bool sim_tuner_is_done(const sim_tuner *t) {
    return t->runner && t->submitted == t->wanted && t->over == t->submitted;
}
