/* tests/farm/farm_sim.c - see farm_sim.h. */
#include "tests/farm/farm_sim.h"

#include <inttypes.h>
#include <stdio.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/farm/sim_party.h"
#include "tests/support/hone_test.h"

#define S HONE_NS_PER_S
#define MS HONE_NS_PER_MS
#define FAULTS_NS (60 * S)
#define SETTLE_LIMIT_NS (600 * S) /* for all that was begun under faults */
#define WELL_LIMIT_NS (180 * S)   /* for a few trials of a farm that works */
#define FORGET_NS (150 * S)       /* then nobody holds anything any more */

enum {
    MAX_PARTIES = 1 + SIM_MAX_RUNNERS + SIM_MAX_TUNERS,
    MAX_IDLE_ROUNDS = 2000,
    MAX_PEAK_BYTES = 32 << 20
};

/* What may happen in the run of a seed. */
typedef struct sim_profile {
    bool messages, connections, deaths, cancels, bits;
} sim_profile;

typedef struct farm_sim {
    sim_world w;
    sim_profile profile;
    sim_tracker tracker;
    sim_runner runners[SIM_MAX_RUNNERS];
    sim_tuner tuners[SIM_MAX_TUNERS];
    unsigned runner_count, tuner_count;
    /* party 0 is the tracker, then runners, then tuners */
    int64_t heal_ns[MAX_PARTIES], start_ns[MAX_PARTIES];
    int64_t fault_ns; /* when the next thing happens */
    uint64_t restarts;
    hone_log log;
    hone_log_printer printer;
} farm_sim;

static hone_rng *rng_of(farm_sim *s) {
    return &s->w.rng;
}

static uint64_t below(farm_sim *s, uint64_t bound) {
    return hone_rng_below(rng_of(s), bound);
}

static bool chance(farm_sim *s, unsigned percent) {
    return below(s, 100) < percent;
}

/* ---- parties by number ---- */

static unsigned party_count(const farm_sim *s) {
    return 1 + s->runner_count + s->tuner_count;
}

static sim_runner *runner_at(farm_sim *s, unsigned party) {
    return party >= 1 && party <= s->runner_count ? &s->runners[party - 1] : NULL;
}

static sim_tuner *tuner_at(farm_sim *s, unsigned party) {
    return party > s->runner_count ? &s->tuners[party - 1 - s->runner_count] : NULL;
}

static hone_net *net_of(farm_sim *s, unsigned party) {
    return party == 0            ? s->tracker.net
           : runner_at(s, party) ? runner_at(s, party)->net
                                 : tuner_at(s, party)->net;
}

static void start(farm_sim *s, unsigned party) {
    s->start_ns[party] = HONE_DEADLINE_NEVER;
    if (party == 0) {
        sim_tracker_start(&s->tracker);
    } else if (runner_at(s, party)) {
        sim_runner_start(runner_at(s, party));
    } else {
        sim_tuner_start(tuner_at(s, party));
    }
}

static void kill(farm_sim *s, unsigned party) {
    s->restarts++;
    s->heal_ns[party] = HONE_DEADLINE_NEVER;
    if (party == 0) {
        sim_tracker_kill(&s->tracker);
    } else if (runner_at(s, party)) {
        sim_runner_kill(runner_at(s, party));
    } else {
        sim_tuner_kill(tuner_at(s, party));
    }
}

static void say(farm_sim *s, const char *what, unsigned party) {
    HONE_LOG(s->w.log, HONE_LOG_INFO, "---- %.3f s: %s party %u", (double)sim_now(&s->w) / 1e9,
             what, party);
}

/* ---- faults ---- */

static void change_weather(farm_sim *s) {
    hone_simnet_faults faults = {.delay_min_ns = 0, .delay_max_ns = (int64_t)below(s, 30) * MS};
    if (s->profile.messages) {
        if (chance(s, 20)) faults.delay_max_ns = (int64_t)below(s, 2000) * MS;
        faults.drop = (double)below(s, 20) / 100;
        faults.duplicate = (double)below(s, 20) / 100;
        faults.reorder = (double)below(s, 40) / 100;
    }
    if (s->profile.bits) faults.damage = (double)below(s, 30) / 100;
    if (s->profile.connections) faults.lose = (double)below(s, 3) / 200;
    hone_simnet_set_faults(s->w.simnet, &faults);
}

static void cut(farm_sim *s, unsigned party) {
    say(s, "cuts off", party);
    hone_simnet_cut(s->w.simnet, net_of(s, party), true);
    s->heal_ns[party] = sim_now(&s->w) + (int64_t)below(s, 15000) * MS;
}

static void heal(farm_sim *s, unsigned party) {
    s->heal_ns[party] = HONE_DEADLINE_NEVER;
    if (net_of(s, party)) hone_simnet_cut(s->w.simnet, net_of(s, party), false);
}

static void end_life(farm_sim *s, unsigned party) {
    sim_runner *runner = runner_at(s, party);
    s->start_ns[party] = sim_now(&s->w) + (100 + (int64_t)below(s, 10000)) * MS;
    if (runner && runner->daemon && chance(s, 30)) { /* in good order: it is over when it is over */
        say(s, "stops", party);
        hone_daemon_stop(runner->daemon, chance(s, 50) ? HONE_DAEMON_NOW : HONE_DAEMON_STOP);
        return;
    }
    say(s, "kills", party);
    kill(s, party);
}

static void make_fault(farm_sim *s) {
    unsigned party = (unsigned)below(s, party_count(s));
    bool is_up = net_of(s, party) != NULL;
    switch (below(s, 5)) {
    case 0:
        change_weather(s);
        break;
    case 1:
        if (s->profile.connections && is_up) cut(s, party);
        break;
    case 2:
        if (s->profile.connections && is_up) {
            say(s, "breaks connections of", party);
            hone_simnet_break(s->w.simnet, net_of(s, party));
        }
        break;
    case 3:
        if (s->profile.deaths && is_up && s->start_ns[party] == HONE_DEADLINE_NEVER) {
            end_life(s, party);
        }
        break;
    default:
        if (s->profile.cancels && chance(s, 25) && s->tuner_count) {
            sim_tuner_cancel(&s->tuners[below(s, s->tuner_count)]);
        }
        break;
    }
    s->fault_ns = sim_now(&s->w) + (int64_t)below(s, 3000) * MS;
}

/* ---- time ---- */

static void step_party(farm_sim *s, unsigned party) {
    if (party == 0) {
        if (s->tracker.tracker) {
            sim_check(&s->w, hone_tracker_step(s->tracker.tracker), "tracker");
        }
    } else if (runner_at(s, party)) {
        sim_runner_step(runner_at(s, party));
    } else {
        sim_tuner_step(tuner_at(s, party));
    }
}

static void step_all(farm_sim *s) {
    unsigned order[MAX_PARTIES], count = party_count(s);
    for (unsigned i = 0; i < count; i++) {
        order[i] = i;
        if (s->heal_ns[i] <= sim_now(&s->w)) heal(s, i);
        if (s->start_ns[i] <= sim_now(&s->w) && !net_of(s, i)) start(s, i);
    }
    hone_test_shuffle(rng_of(s), order, count, sizeof *order);
    for (unsigned i = 0; i < count; i++)
        step_party(s, order[i]);
}

static void sooner(int64_t *at_ns, int64_t other_ns) {
    if (other_ns < *at_ns) *at_ns = other_ns;
}

static int64_t next_of(const farm_sim *s) {
    int64_t next = hone_simnet_next_ns(s->w.simnet);
    if (s->tracker.tracker) sooner(&next, hone_tracker_next_ns(s->tracker.tracker));
    for (unsigned i = 0; i < s->runner_count; i++) {
        sooner(&next, sim_runner_next_ns(&s->runners[i]));
    }
    for (unsigned i = 0; i < s->tuner_count; i++)
        sooner(&next, sim_tuner_next_ns(&s->tuners[i]));
    for (unsigned i = 0; i < party_count(s); i++) {
        sooner(&next, s->heal_ns[i]);
        if (s->start_ns[i] > sim_now(&s->w)) sooner(&next, s->start_ns[i]);
    }
    return next;
}

/* Runs until `is_done` or the limit; false at the limit, or when something is wrong. */
static bool run_until(farm_sim *s, int64_t end_ns, bool (*is_done)(const farm_sim *s)) {
    int idle = 0;
    while (!s->w.why.length) {
        step_all(s);
        if (s->w.watch.broken.length) sim_wrong(&s->w, "%s", s->w.watch.broken.data);
        if (is_done && is_done(s)) return !s->w.why.length;
        int64_t now = sim_now(&s->w), next = next_of(s);
        sooner(&next, s->fault_ns);
        if (now >= end_ns) return false;
        if (next > end_ns) next = end_ns;
        if (next > now) {
            hone_virtual_clock_advance(&s->w.clock, next - now);
            idle = 0;
        } else if (++idle > MAX_IDLE_ROUNDS) {
            sim_wrong(&s->w, "somebody has something to do all the time and does not do it");
        }
        if (s->fault_ns <= sim_now(&s->w)) make_fault(s);
    }
    return false;
}

static bool are_done(const farm_sim *s) {
    for (unsigned i = 0; i < s->tuner_count; i++) {
        if (!sim_tuner_is_done(&s->tuners[i])) return false;
    }
    return true;
}

/* ---- phases ---- */

static void want_more(farm_sim *s, unsigned least, unsigned most) {
    for (unsigned i = 0; i < s->tuner_count; i++) {
        s->tuners[i].wanted += least + below(s, most - least + 1);
    }
}

static void end_faults(farm_sim *s) {
    const hone_simnet_faults calm = {.delay_min_ns = MS, .delay_max_ns = 3 * MS};
    hone_simnet_set_faults(s->w.simnet, &calm);
    s->fault_ns = HONE_DEADLINE_NEVER;
    for (unsigned i = 0; i < party_count(s); i++) {
        heal(s, i);
        if (s->start_ns[i] != HONE_DEADLINE_NEVER) s->start_ns[i] = sim_now(&s->w);
    }
    say(s, "the end of all faults for", 0);
}

static void tell_undone(farm_sim *s, const char *phase) {
    hone_str text = {0};
    for (unsigned i = 0; i < s->tuner_count; i++) {
        const sim_tuner *t = &s->tuners[i];
        hone_str_printf(&text,
                        "; tuner %u: %zu wanted, %zu submitted, %zu over, %d in flight, %d slots",
                        i, t->wanted, t->submitted, t->over, hone_runner_in_flight(t->runner),
                        hone_runner_slots(t->runner));
    }
    sim_wrong(&s->w, "%s: not done in time%s", phase, hone_str_text(&text));
    hone_str_deinit(&text);
}

static void check_forgotten(farm_sim *s) {
    hone_tracker_stats stats = hone_tracker_get_stats(s->tracker.tracker);
    if (stats.waiting || stats.running || stats.request_bytes || stats.tuners) {
        sim_wrong(&s->w,
                  "the tracker still has %" PRIu64 " waiting, %" PRIu64 " running, %" PRId64
                  " bytes of requests, %" PRIu64 " tuners",
                  stats.waiting, stats.running, stats.request_bytes, stats.tuners);
    }
    if (stats.runners != s->runner_count || stats.peers != s->runner_count) {
        sim_wrong(&s->w, "the tracker has %" PRIu64 " runners and %" PRIu64 " peers of %u",
                  stats.runners, stats.peers, s->runner_count);
    }
    for (unsigned i = 0; i < s->runner_count; i++) {
        size_t held = hone_daemon_get_stats(s->runners[i].daemon).held;
        if (held) sim_wrong(&s->w, "runner %u still holds %zu trials", i, held);
    }
    if (sim_watch_unanswered(&s->w.watch))
        sim_wrong(&s->w, "a trial was assigned and never answered");
    if (hone_simnet_peak_bytes(s->w.simnet) > MAX_PEAK_BYTES) {
        sim_wrong(&s->w, "%zu bytes were under way", hone_simnet_peak_bytes(s->w.simnet));
    }
    if (hone_simnet_frames(s->w.simnet) > 100) sim_wrong(&s->w, "the network is still busy");
}

/* Without faults a trial is run once. */
static void check_calm(farm_sim *s) {
    size_t trials = 0;
    for (unsigned i = 0; i < s->tuner_count; i++)
        trials += s->tuners[i].submitted;
    if (s->w.counts.started != trials || s->w.watch.results != trials) {
        sim_wrong(&s->w, "%zu trials were run %" PRIu64 " times, with %" PRIu64 " results sent",
                  trials, s->w.counts.started, s->w.watch.results);
    }
}

static void run_phases(farm_sim *s, bool is_calm) {
    sim_world *w = &s->w;
    for (unsigned i = 0; i < party_count(s); i++)
        start(s, i);
    want_more(s, 5, 40);
    if (!is_calm) {
        w->has_faults = true;
        s->fault_ns = sim_now(w);
        run_until(s, sim_now(w) + FAULTS_NS, NULL);
        if (w->why.length) return;
        end_faults(s);
    }
    if (!run_until(s, sim_now(w) + SETTLE_LIMIT_NS, are_done)) {
        tell_undone(s, "after the faults");
        return;
    }
    if (is_calm) check_calm(s);
    w->has_faults = false;
    want_more(s, 5, 10);
    if (!run_until(s, sim_now(w) + WELL_LIMIT_NS, are_done)) {
        tell_undone(s, "when all is well");
        return;
    }
    for (unsigned i = 0; i < s->tuner_count; i++)
        sim_tuner_finish(&s->tuners[i]);
    run_until(s, sim_now(w) + FORGET_NS, NULL);
    if (!w->why.length) check_forgotten(s);
}

/* ---- set up ---- */

static void tap(void *context, const hone_net *from, const hone_net *to, const void *bytes,
                size_t count) {
    farm_sim *s = context;
    for (unsigned i = 0; i < s->runner_count; i++) {
        sim_runner *r = &s->runners[i];
        if (to == r->net) sim_watch_to_runner(&s->w.watch, i, r->life, bytes, count);
        if (from == r->net) sim_watch_from_runner(&s->w.watch, i, r->life, bytes, count);
    }
}

static void make_keys(hone_key_pair *pair, uint8_t number) {
    const hone_key secret = {
        {8, 1, 2, number}
    };
    hone_status_free(hone_key_pair_from_secret(&secret, pair));
}

static void write_files(farm_sim *s) {
    for (unsigned i = 0; i < SIM_FILES; i++) {
        size_t count;
        const uint8_t *bytes = sim_content(i, &count);
        char *path = sim_path(&s->w, "file", i);
        sim_check(&s->w, hone_fs_write_atomic(path, bytes, count), "file");
        hone_free(path);
    }
}

static void init_parties(farm_sim *s) {
    static const char *const keys[] = {"board", "other"};
    unsigned key_count = chance(s, 30) ? 2 : 1;
    s->runner_count = 1 + (unsigned)below(s, SIM_MAX_RUNNERS);
    s->tuner_count = 1 + (unsigned)below(s, SIM_MAX_TUNERS);
    if (s->runner_count < key_count) key_count = 1;
    s->tracker = (sim_tracker){.w = &s->w, .has_store = chance(s, 50)};
    make_keys(&s->tracker.keys, 1);
    s->w.tracker_key = s->tracker.keys.public_key;
    for (unsigned i = 0; i < s->runner_count; i++) {
        s->runners[i] = (sim_runner){.w = &s->w,
                                     .number = i,
                                     .slot_count = 1 + below(s, SIM_MAX_SLOTS),
                                     .device_key = keys[i % key_count]};
        make_keys(&s->runners[i].keys, (uint8_t)(10 + i));
    }
    for (unsigned i = 0; i < s->tuner_count; i++) {
        s->tuners[i] =
            (sim_tuner){.w = &s->w, .number = i, .device_key = keys[below(s, key_count)]};
        make_keys(&s->tuners[i].keys, (uint8_t)(20 + i));
    }
    for (unsigned i = 0; i < MAX_PARTIES; i++) {
        s->heal_ns[i] = s->start_ns[i] = HONE_DEADLINE_NEVER;
    }
    s->fault_ns = HONE_DEADLINE_NEVER;
}

/* Seeds from FARM_SIM_BITS on have the farms of those below it, over a network that changes bits.
 */
static sim_profile profile_of(uint64_t seed) {
    static const sim_profile profiles[] = {
        {.messages = true, .connections = true, .deaths = true, .cancels = true},
        {.messages = true },
        {.deaths = true               },
        {.connections = true,               .cancels = true},
        {.messages = true, .connections = true, .deaths = true},
        {.bits = false}, /* calm */
    };
    sim_profile profile = profiles[seed % HONE_COUNT(profiles)];
    profile.bits = seed >= FARM_SIM_BITS;
    return profile;
}

static void collect(const farm_sim *s, farm_sim_stats *out) {
    *out = (farm_sim_stats){.frames = s->w.watch.frames,
                            .restarts = s->restarts,
                            .runs = s->w.counts.started,
                            .virtual_ns = sim_now(&s->w)};
    for (unsigned i = 0; i < s->tuner_count; i++) {
        const sim_tuner *t = &s->tuners[i];
        out->trials += t->submitted + t->past;
        out->good += t->good;
        out->lost += t->lost;
        out->cancelled += t->cancelled;
        out->abandoned += t->abandoned;
    }
}

static void deinit(farm_sim *s) {
    for (unsigned i = 0; i < s->tuner_count; i++) {
        sim_tuner_finish(&s->tuners[i]);
        hone_vec_deinit(&s->tuners[i].trials);
    }
    for (unsigned i = 0; i < s->runner_count; i++)
        sim_runner_kill(&s->runners[i]);
    sim_tracker_kill(&s->tracker);
    hone_simnet_destroy(s->w.simnet);
    sim_watch_deinit(&s->w.watch);
}

bool farm_sim_run(uint64_t seed, const char *dir, bool log, farm_sim_stats *out_stats,
                  hone_str *out_why) {
    farm_sim *s = hone_calloc(1, sizeof *s);
    if (!s) {
        hone_str_append(out_why, "no memory");
        return false;
    }
    s->w.rng = hone_rng_from_seed(seed);
    s->w.dir = dir;
    s->profile = profile_of(seed);
    s->printer = (hone_log_printer){.out = stderr, .program = "sim"};
    s->log = hone_log_to_printer(&s->printer, HONE_LOG_DEBUG);
    if (log) s->w.log = &s->log;
    hone_virtual_clock_init(&s->w.clock, 1000 * S);
    sim_check(&s->w, hone_simnet_create(&s->w.clock, hone_rng_next(&s->w.rng), &s->w.simnet),
              "network");
    sim_check(&s->w, sim_watch_init(&s->w.watch, s->w.log, &s->w.clock.clock), "watch");
    hone_simnet_set_tap(s->w.simnet, tap, s);
    write_files(s);
    init_parties(s);
    const sim_profile *p = &s->profile;
    bool is_calm = !p->messages && !p->connections && !p->deaths && !p->cancels && !p->bits;
    if (!s->w.why.length) run_phases(s, is_calm);
    collect(s, out_stats);
    deinit(s);
    bool ok = !s->w.why.length;
    hone_str_append(out_why, hone_str_text(&s->w.why));
    hone_str_deinit(&s->w.why);
    hone_free(s);
    return ok;
}
