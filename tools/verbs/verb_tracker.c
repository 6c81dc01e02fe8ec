/* tools/verbs/verb_tracker.c - `hone tracker`: the broker of a farm.
 *
 * One loop over three descriptors: the network, the metrics page, signals. SIGHUP reads the list of
 * allowed keys again, SIGTERM and SIGINT end it; all that matters is in the state then.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "farm/metrics.h"
#include "farm/tracker.h"
#include "http/http.h"
#include "net/net_zmq.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/signals.h"
#include "tools/cli/cli.h"
#include "tools/verbs/verbs.h"

typedef struct tracker_options {
    const char *listen, *keys, *state, *metrics;
    bool is_insecure;
    int64_t heartbeat_ns, grace_ns, cache_mib;
} tracker_options;

typedef struct serving {
    const tracker_options *options;
    hone_cli *cli;
    hone_allow_list *allowed;
    hone_farm_store *store;
    hone_net *net;
    hone_tracker *tracker;
    hone_metrics *metrics;
    int signal_fd;
    int signal; /* that ended it; 0: none yet */
} serving;

/* ---- keys ---- */

/* The tracker's own pair, made when the directory has none. */
static hone_status load_keys(serving *s, hone_key_pair *out_pair) {
    char *path = hone_path_join(s->options->keys, HONE_KEY_SECRET_FILE);
    if (!path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "path");
    hone_status st = HONE_OK;
    if (!hone_fs_exists(path)) {
        st = hone_key_pair_create(out_pair);
        if (!st) st = hone_key_pair_save(out_pair, s->options->keys);
        if (!st) HONE_LOG(&s->cli->log, HONE_LOG_INFO, "made the tracker's key pair, %s", path);
    }
    if (!st) st = hone_key_pair_load(path, out_pair);
    hone_free(path);
    return st;
}

static void warn_of_empty_list(const serving *s) {
    if (hone_allow_list_count(s->allowed)) return;
    HONE_LOG(&s->cli->log, HONE_LOG_WARNING,
             "no key is allowed yet: 'hone farm allow PUB --role admin --keys %s' lets the first "
             "admin in",
             s->options->keys);
}

/* ---- parts ---- */

static hone_status listen_on(serving *s) {
    hone_net_server_options net = {.address = s->options->listen,
                                   .is_insecure = s->options->is_insecure,
                                   .max_frame_bytes = HONE_FARM_MAX_FRAME,
                                   .queue_frames = 256,
                                   .log = &s->cli->log};
    if (!s->options->is_insecure) {
        if (!s->options->keys) {
            return HONE_ERROR(HONE_CODE_INVALID, "--keys DIR is missing (or --insecure, on this "
                                                 "machine only)");
        }
        HONE_TRY(load_keys(s, &net.keys));
        hone_status st = hone_allow_list_open(s->options->keys, &s->allowed);
        if (st) {
            hone_key_pair_wipe(&net.keys);
            return st;
        }
        net.allow = hone_allow_list_allows;
        net.allow_context = s->allowed;
        warn_of_empty_list(s);
    }
    hone_status st = hone_net_zmq_listen(&net, &s->net);
    char key[HONE_KEY_TEXT_BYTES] = "";
    if (!s->options->is_insecure) hone_key_print(&net.keys.public_key, key);
    hone_key_pair_wipe(&net.keys);
    HONE_TRY(st);
    hone_str_printf(&s->cli->out, "%s%s%s\n", hone_net_address(s->net), key[0] ? " " : "", key);
    return hone_cli_flush(s->cli);
}

static hone_status make_tracker(serving *s) {
    hone_tracker_options o = {
        .net = s->net,
        .store = s->store,
        .allowed = s->allowed,
        .log = &s->cli->log,
        .software = "hone " HONE_VERSION,
        .first_token = (uint64_t)(hone_wall_time_ns() / 1000),
        .heartbeat_ns = s->options->heartbeat_ns,
        .grace_ns = s->options->grace_ns,
        .blob_cache_bytes = s->options->cache_mib << 20,
    };
    if (getrandom(&o.instance, sizeof o.instance, 0) != (ssize_t)sizeof o.instance) {
        return HONE_ERROR(HONE_CODE_IO, "no random numbers: %s", strerror(errno));
    }
    o.instance.lo |= 1; /* not zero */
    return hone_tracker_create(&o, &s->tracker);
}

static void print_metrics(void *ctx, hone_str *out) {
    const serving *s = ctx;
    hone_tracker_print_metrics(s->tracker, out);
}

/* The page has no password: who can reach it reads the names of runners and what they do. */
static hone_status open_metrics(serving *s) {
    const char *address = s->options->metrics;
    HONE_TRY(hone_metrics_open(address, print_metrics, s, &s->metrics));
    bool is_here = hone_http_is_loopback(address);
    HONE_LOG(&s->cli->log, is_here ? HONE_LOG_INFO : HONE_LOG_WARNING,
             "metrics at http://%s/metrics%s", address,
             is_here ? "" : ", without a password, for all who can reach this address");
    return HONE_OK;
}

static hone_status set_up(serving *s) {
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    if (s->options->is_insecure) HONE_TRY(hone_cli_refuse(s->cli, "keys", "--insecure"));
    HONE_TRY(hone_signals_take(signals, HONE_COUNT(signals), &s->signal_fd));
    if (s->options->state) HONE_TRY(hone_farm_store_open(s->options->state, &s->store));
    HONE_TRY(listen_on(s));
    HONE_TRY(make_tracker(s));
    return s->options->metrics ? open_metrics(s) : HONE_OK;
}

/* ---- the loop ---- */

static void reload_keys(serving *s) {
    if (!s->allowed) return;
    hone_status st = hone_allow_list_reload(s->allowed);
    if (st) {
        HONE_LOG(&s->cli->log, HONE_LOG_ERROR, "the list of keys stays as it was: %s",
                 hone_status_message(st));
        hone_status_free(st);
        return;
    }
    HONE_LOG(&s->cli->log, HONE_LOG_INFO, "%zu keys are allowed",
             hone_allow_list_count(s->allowed));
    hone_tracker_apply_allow_list(s->tracker);
}

static void take_signal(serving *s) {
    int signal = hone_signals_next(s->signal_fd);
    if (signal == SIGHUP) {
        reload_keys(s);
    } else {
        s->signal = signal;
    }
}

static hone_status serve(serving *s) {
    const hone_clock *clock = hone_net_clock(s->net);
    struct pollfd fds[] = {
        {.fd = hone_net_fd(s->net),                           .events = POLLIN},
        {.fd = s->signal_fd,                                  .events = POLLIN},
        {.fd = s->metrics ? hone_metrics_fd(s->metrics) : -1, .events = POLLIN},
    };
    s->cli->printer.has_time = true;
    while (!s->signal) {
        HONE_TRY(hone_tracker_step(s->tracker));
        int timeout = hone_deadline_poll_ms(clock, hone_tracker_next_ns(s->tracker));
        int ready = poll(fds, HONE_COUNT(fds), timeout);
        if (ready < 0 && errno != EINTR) {
            return HONE_ERROR(HONE_CODE_IO, "poll: %s", strerror(errno));
        }
        if (ready > 0 && fds[1].revents) take_signal(s);
        if (ready > 0 && fds[2].revents) hone_metrics_run(s->metrics);
    }
    HONE_LOG(&s->cli->log, HONE_LOG_INFO, "stops");
    if (s->signal == SIGINT) s->cli->exit_code = HONE_EXIT_STOPPED;
    return HONE_OK;
}

static hone_status run(hone_cli *cli, const tracker_options *options) {
    serving s = {.options = options, .cli = cli, .signal_fd = -1};
    hone_status st = set_up(&s);
    if (!st) st = serve(&s);
    cli->printer.has_time = false;
    hone_metrics_close(s.metrics);
    hone_tracker_destroy(s.tracker);
    hone_net_destroy(s.net);
    hone_farm_store_close(s.store);
    hone_allow_list_close(s.allowed);
    if (s.signal_fd >= 0) close(s.signal_fd);
    return st;
}

int hone_verb_tracker(int argc, char **argv) {
    tracker_options o = {.listen = "tcp://0.0.0.0:9190",
                         .heartbeat_ns = 2 * HONE_NS_PER_S,
                         .grace_ns = 60 * HONE_NS_PER_S,
                         .cache_mib = 512};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("listen", 0, "URL", TEXT, &o.listen,
                        "where; default tcp://0.0.0.0:9190; '*' as the port takes a free one"),
        HONE_CLI_OPTION("keys", 0, "DIR", TEXT, &o.keys,
                        "the tracker's key pair and the list of keys that may come in, 'allowed'"),
        HONE_CLI_OPTION("state", 0, "FILE", TEXT, &o.state,
                        "where queue, leases and results are kept over a restart"),
        HONE_CLI_OPTION("metrics", 0, "ADDRESS", TEXT, &o.metrics,
                        "a page of numbers for Prometheus, 127.0.0.1:9191"),
        HONE_CLI_OPTION("heartbeat", 0, "TIME", TIME, &o.heartbeat_ns,
                        "who is silent for three of them is gone; default 2s", .min = 1),
        HONE_CLI_OPTION("grace", 0, "TIME", TIME, &o.grace_ns,
                        "how long trials of a tuner that has gone are kept; default 60s"),
        HONE_CLI_OPTION("blob-cache", 0, "MIB", NUMBER, &o.cache_mib,
                        "memory for files on their way; default 512", .min = 1, .max = 1 << 20),
        HONE_CLI_OPTION("insecure", 0, NULL, SWITCH, &o.is_insecure,
                        "no keys, no encryption; on this machine only"),
        {0},
    };
    const hone_cli_command command = {
        .name = "tracker",
        .usage = "--keys DIR [--listen URL] [--state FILE] [--metrics ADDRESS]",
        .summary = "Brings together the tuners and runners of a farm. Runs until SIGTERM or "
                   "Ctrl-C; prints where it listens and its public key.",
        .example = "hone tracker --listen tcp://127.0.0.1:9190 --insecure",
        .notes = "DIR/hone.key is made when it is not there. DIR/allowed has a line for each key: "
                 "the key, runner, tuner or\nadmin, a name; 'hone farm allow' and 'revoke' change "
                 "it, SIGHUP makes the tracker read it again. docs/farm.md\nsets a farm up step by "
                 "step.",
        .options = options,
        .max_args = 0,
    };
    hone_cli cli;
    int code;
    if (!hone_cli_begin(&cli, &command, argc, argv, &code)) return code;
    /* Who comes and goes belongs to its work: told without -v, not with -q. */
    if (!cli.quiet && cli.log.level < HONE_LOG_INFO) cli.log.level = HONE_LOG_INFO;
    return hone_cli_end(&cli, run(&cli, &o));
}
