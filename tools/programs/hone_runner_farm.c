/* tools/programs/hone_runner_farm.c - a daemon made of its parts: keys, cache, slots, connection.
 */
#include "tools/programs/hone_runner_farm.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "net/net_zmq.h"
#include "runner/farm/daemon.h"
#include "runner/self_test.h"
#include "runtime/cuda/device_cuda.h"
#include "support/core/alloc.h"
#include "support/data/hash.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "support/os/quiet.h"
#include "support/os/signals.h"
#include "target/target.h"
#include "tools/programs/hone_runner_status.h"

#define DEFAULT_CACHE_BYTES (INT64_C(4) << 30)
#define MAX_CACHES 64 /* of runners of one user on one machine, before one must be named */

typedef struct serving {
    const runner_farm_options *options;
    hone_log_printer printer;
    char program[HONE_FARM_NAME_BYTES + 16]; /* with the runner's name: several may share a log */
    hone_log log;
    hone_target target;
    hone_str quiet_path, target_text;
    char *cache_dir; /* owned */
    hone_blob_cache *cache;
    hone_self_test self_test;
    hone_daemon_slot slots[HONE_FARM_MAX_SLOTS];
    size_t slot_count;
    hone_net *net;
    hone_daemon *daemon;
    int signal_fd;
} serving;

/* ---- the cache ---- */

static char *default_cache_dir(int number) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char name[32];
    snprintf(name, sizeof name, number ? "hone/runner-%d" : "hone/runner", number);
    if (base && base[0] == '/') return hone_path_join(base, name);
    char *dir = hone_path_join(home && home[0] == '/' ? home : "/var/tmp", ".cache");
    char *path = dir ? hone_path_join(dir, name) : NULL;
    hone_free(dir);
    return path;
}

/* Several runners of one user take a directory each: the first that nobody uses. */
static hone_status open_default_cache(serving *s, int64_t bytes) {
    hone_status st = HONE_OK;
    for (int number = 0; number < MAX_CACHES; number++) {
        hone_status_free(st);
        hone_free(s->cache_dir);
        s->cache_dir = default_cache_dir(number);
        if (!s->cache_dir) return HONE_ERROR(HONE_CODE_NO_MEMORY, "cache directory");
        st = hone_blob_cache_open(s->cache_dir, bytes, &s->cache);
        if (hone_status_code(st) != HONE_CODE_UNAVAILABLE) break;
    }
    return st ? hone_status_annotate(st, "--cache DIR names another place") : HONE_OK;
}

static hone_status open_cache(serving *s) {
    const int64_t bytes =
        s->options->cache_bytes > 0 ? s->options->cache_bytes : DEFAULT_CACHE_BYTES;
    if (!s->options->cache_dir) return open_default_cache(s, bytes);
    s->cache_dir = hone_strdup(s->options->cache_dir);
    if (!s->cache_dir) return HONE_ERROR(HONE_CODE_NO_MEMORY, "cache directory");
    return hone_blob_cache_open(s->cache_dir, bytes, &s->cache);
}

/* ---- slots ---- */

/* "cuda:2" for the third slot of "cuda"; what has a number is for all slots. */
static const char *device_of(const serving *s, char out[HONE_FARM_NAME_BYTES]) {
    const char *device = s->options->device;
    if (!device || hone_device_name_is_host(device) || strchr(device, ':')) return device;
    snprintf(out, HONE_FARM_NAME_BYTES, "%s:%zu", device, s->slot_count);
    return out;
}

static hone_status make_slot(serving *s) {
    const runner_farm_options *o = s->options;
    char device[HONE_FARM_NAME_BYTES];
    const hone_runner_local_options local = {.device = device_of(s, device),
                                             .launcher = o->launcher[0] ? o->launcher : NULL,
                                             .quiet_path =
                                                 o->is_loud ? NULL : hone_str_text(&s->quiet_path),
                                             .memory_bytes = o->memory_bytes,
                                             .unsandboxed = o->is_unsandboxed,
                                             .without = o->without};
    hone_daemon_slot *slot = &s->slots[s->slot_count];
    HONE_TRY(hone_runner_create_local(&local, &slot->runner));
    s->slot_count++;
    hone_farm_set_text(slot->facts.device_key, sizeof slot->facts.device_key,
                       o->device_key ? o->device_key : s->target.cpu);
    hone_farm_set_text(slot->facts.target, sizeof slot->facts.target,
                       hone_str_text(&s->target_text));
    slot->facts.cores = s->target.num_cores;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    slot->facts.memory_bytes = pages > 0 && page > 0 ? (int64_t)pages * page : 0;
    return HONE_OK;
}

/* Of several the first: they are taken to be alike. */
static hone_status find_card(serving *s) {
    hone_cuda_facts cards[HONE_CUDA_MAX_CARDS];
    int32_t count;
    if (strncmp(s->options->device, "cuda", 4) != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "--device %s wants --target, which says what it is",
                          s->options->device);
    }
    HONE_TRY(hone_cuda_list(cards, &count));
    if (count == 0) return HONE_ERROR(HONE_CODE_UNAVAILABLE, "there is no NVIDIA card");
    return hone_cuda_target(&cards[0], &s->target);
}

/* What is given corrects what is detected; through a launcher another machine may run the code. */
static hone_status find_target(serving *s) {
    const runner_farm_options *o = s->options;
    bool is_apart = o->device && !hone_device_name_is_host(o->device);
    if (!o->target) return is_apart ? find_card(s) : hone_target_detect(&s->target);
    HONE_TRY(hone_status_annotate(hone_target_parse(o->target, &s->target), "--target"));
    return o->launcher[0] || is_apart
               ? HONE_OK
               : hone_status_annotate(hone_target_check_here(&s->target), "--target");
}

static hone_status make_slots(serving *s) {
    HONE_TRY(find_target(s));
    hone_target_print(&s->target, &s->target_text);
    HONE_TRY(hone_str_check(&s->target_text));
    if (s->options->quiet_path) {
        hone_str_append(&s->quiet_path, s->options->quiet_path);
    } else if (!s->options->is_loud) {
        HONE_TRY(hone_quiet_default_path(&s->quiet_path));
    }
    HONE_TRY(hone_str_check(&s->quiet_path));
    for (int32_t i = 0; i < (s->options->slots > 0 ? s->options->slots : 1); i++)
        HONE_TRY(make_slot(s));
    return HONE_OK;
}

/* Strangers' code is not run where nothing holds it; there are other reasons, too. */
static hone_status check_layers(serving *s) {
    char layers[HONE_RUNNER_LAYERS_BYTES];
    hone_status st = hone_runner_local_layers(s->slots[0].runner, layers);
    bool is_unheld = st && strstr(hone_status_message(st), "sandbox");
    HONE_TRY(
        hone_status_annotate(st, "candidates cannot be run here%s",
                             is_unheld ? " (--unsandboxed does without what holds them)" : ""));
    HONE_LOG(&s->log, s->options->is_unsandboxed ? HONE_LOG_WARNING : HONE_LOG_INFO,
             "candidates are held by %s", layers);
    return HONE_OK;
}

/* ---- connection ---- */

static hone_status connect_net(serving *s) {
    const runner_farm_options *o = s->options;
    hone_net_client_options net = {.address = o->tracker,
                                   .is_insecure = o->is_insecure,
                                   .max_frame_bytes = HONE_FARM_MAX_FRAME,
                                   .log = &s->log};
    hone_status st = HONE_OK;
    if (!o->is_insecure) {
        char text[HONE_KEY_TEXT_BYTES];
        HONE_TRY(hone_status_annotate(hone_key_read_public(o->tracker_key, &net.server_key),
                                      "--tracker-key"));
        HONE_TRY(hone_key_pair_load(o->key_path, &net.keys));
        HONE_LOG(&s->log, HONE_LOG_INFO, "this runner's public key is %s",
                 hone_key_print(&net.keys.public_key, text));
    }
    st = hone_net_zmq_connect(&net, &s->net);
    hone_key_pair_wipe(&net.keys);
    return st;
}

/* A name that stays after a restart, and differs for each runner of a machine. */
static void default_name(const serving *s, char *out, size_t capacity) {
    char host[HONE_FARM_NAME_BYTES] = "", hex[HONE_HASH_HEX_BYTES];
    if (gethostname(host, sizeof host - 1) != 0 || !host[0]) snprintf(host, sizeof host, "runner");
    host[strcspn(host, ".")] = 0;
    char *real = realpath(s->cache_dir, NULL);
    hone_hash128_print(hone_hash128_text(real ? real : s->cache_dir), hex);
    free(real);
    snprintf(out, capacity, "%.40s-%.4s", host, hex);
}

static hone_status make_instance(hone_farm_instance *out) {
    do {
        if (getrandom(out, sizeof *out, 0) != (ssize_t)sizeof *out) {
            return HONE_ERROR(HONE_CODE_IO, "no random numbers: %s", strerror(errno));
        }
    } while (hone_hash128_is_zero(*out));
    return HONE_OK;
}

static void note_status(void *ctx, const hone_daemon_stats *stats) {
    const serving *s = ctx;
    runner_status_note(s->options->status_path, stats);
}

/* Who cleans up may have taken the directory away, too. */
static hone_status make_self_test(void *ctx, hone_run_request *out_request) {
    serving *s = ctx;
    HONE_TRY(hone_blob_cache_mend(s->cache));
    return hone_self_test_make(&s->self_test, out_request);
}

static hone_status make_daemon(serving *s) {
    char name[HONE_FARM_NAME_BYTES];
    default_name(s, name, sizeof name);
    snprintf(s->program, sizeof s->program, "hone-runner %s",
             s->options->name ? s->options->name : name);
    s->printer.program = s->program;
    HONE_TRY(hone_self_test_init(s->cache_dir, hone_str_text(&s->target_text), &s->self_test));
    hone_daemon_options options = {
        .net = s->net,
        .cache = s->cache,
        .slots = s->slots,
        .slot_count = s->slot_count,
        .name = s->options->name ? s->options->name : name,
        .software = "hone-runner " HONE_RUNNER_VERSION,
        .self_test = {make_self_test,                               s},
        .watcher = {s->options->status_path ? note_status : NULL, s},
        .idle_ns = s->options->idle_exit_ns,
        .log = &s->log
    };
    HONE_TRY(make_instance(&options.instance));
    return hone_daemon_create(&options, &s->daemon);
}

/* Before any thread is there, so that all inherit it. */
static hone_status take_signals(serving *s) {
    const int signals[] = {SIGTERM, SIGINT, s->options->drain_signal};
    signal(SIGXFSZ, SIG_IGN); /* writing fails instead: a disk that is full is survived */
    return hone_signals_take(signals, s->options->drain_signal ? 3 : 2, &s->signal_fd);
}

static hone_status set_up(serving *s) {
    HONE_TRY(take_signals(s));
    HONE_TRY(open_cache(s));
    HONE_TRY(make_slots(s));
    HONE_TRY(check_layers(s));
    HONE_TRY(connect_net(s));
    return make_daemon(s);
}

hone_status runner_farm_serve(const runner_farm_options *options) {
    serving s = {
        .options = options,
        .printer = {.out = stderr, .program = "hone-runner", .has_time = true},
        .signal_fd = -1
    };
    s.log = hone_log_to_printer(&s.printer, options->is_verbose ? HONE_LOG_DEBUG : HONE_LOG_INFO);
    hone_status st = set_up(&s);
    if (!st) st = hone_daemon_run(s.daemon, s.signal_fd, options->drain_signal);
    hone_daemon_destroy(s.daemon);
    hone_net_destroy(s.net);
    for (size_t i = 0; i < s.slot_count; i++)
        hone_runner_destroy(s.slots[i].runner);
    hone_self_test_deinit(&s.self_test);
    hone_blob_cache_close(s.cache);
    hone_free(s.cache_dir);
    hone_str_deinit(&s.quiet_path);
    hone_str_deinit(&s.target_text);
    hone_fd_close(&s.signal_fd);
    return st;
}
