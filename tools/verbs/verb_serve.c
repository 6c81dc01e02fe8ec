/* tools/verbs/verb_serve.c - `hone serve`: the page of `hone report`, live.
 *
 * One loop over two descriptors, signals and HTTP; it ends by SIGINT or SIGTERM.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/os/fs.h"
#include "support/os/signals.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/farm/farm_client.h"
#include "tools/serve/serve_pages.h"
#include "tools/verbs/verbs.h"

enum { MOST_DATABASES = 8, USUAL_PORT = 9192 };

typedef struct serve_options {
    hone_cli_list dbs;
    const char *listen, *token;
    int64_t port;
    hone_farm_access farm;
} serve_options;

typedef struct serving {
    hone_cli *cli;
    serve_options *options;
    hone_report_source sources[MOST_DATABASES];
    hone_serve_pages pages;
    hone_http *http;
    char token[HONE_SERVE_MOST_TOKEN + 1]; /* "" = none */
    int signal_fd, signal;
} serving;

/* ---- parts ---- */

static hone_status open_databases(serving *s) {
    const hone_cli_list *dbs = &s->options->dbs;
    if (!dbs->count) return HONE_ERROR(HONE_CODE_INVALID, "--db FILE is missing");
    if (dbs->count > MOST_DATABASES) {
        return HONE_ERROR(HONE_CODE_INVALID, "%zu databases are too many, at most %d fit a page",
                          dbs->count, MOST_DATABASES);
    }
    for (size_t i = 0; i < dbs->count; i++) {
        const char *path = dbs->items[i];
        s->sources[i].title = dbs->count > 1 ? path : hone_path_basename(path);
        HONE_TRY(hone_cli_open_db(path, HONE_DB_READ, &s->sources[i].db));
    }
    s->pages.sources = s->sources;
    s->pages.count = dbs->count;
    return HONE_OK;
}

/* The data of the page are made from the same databases, opened once more. */
static hone_status start_maker(serving *s) {
    hone_report_source again[MOST_DATABASES] = {{0}};
    hone_status st = HONE_OK;
    for (size_t i = 0; i < s->pages.count && !st; i++) {
        again[i].title = s->sources[i].title;
        st = hone_cli_open_db(s->options->dbs.items[i], HONE_DB_READ, &again[i].db);
    }
    if (!st) return hone_serve_maker_start(again, s->pages.count, &s->pages.maker);
    for (size_t i = 0; i < MOST_DATABASES; i++)
        hone_db_close(again[i].db);
    return st;
}

/* Others than this machine need a token, which is made up where there is none. */
static hone_status choose_token(serving *s, const char *place) {
    const char *given = s->options->token ? s->options->token : getenv("HONE_SERVE_TOKEN");
    if (given) {
        HONE_TRY(hone_serve_check_token(given));
        snprintf(s->token, sizeof s->token, "%s", given);
    } else if (!hone_http_is_loopback(place)) {
        HONE_TRY(hone_serve_make_token(s->token));
    }
    return HONE_OK;
}

/* HOST:PORT or [V6]:PORT; an address of IPv6 alone has several colons. */
static bool has_port(const char *host) {
    const char *last = strrchr(host, ':');
    return last && (host[0] == '[' ? last[-1] == ']' : last == strchr(host, ':'));
}

static hone_status listen_on(serving *s) {
    char place[HONE_HTTP_PLACE_BYTES];
    const char *host = s->options->listen;
    if (has_port(host))
        return HONE_ERROR(HONE_CODE_INVALID,
                          "--listen takes a host, '%s' has a port with it: that is --port's", host);
    bool is_v6 = strchr(host, ':') && host[0] != '[';
    int length =
        snprintf(place, sizeof place, is_v6 ? "[%s]:%d" : "%s:%d", host, (int)s->options->port);
    if (length >= (int)sizeof place) return HONE_ERROR(HONE_CODE_INVALID, "--listen is too long");
    HONE_TRY(hone_http_open(place, hone_serve_answer, &s->pages, &s->http));
    HONE_TRY(choose_token(s, place));
    hone_serve_door_init(&s->pages.door, hone_http_place(s->http), s->token[0] ? s->token : NULL);
    return HONE_OK;
}

static hone_status open_farm(serving *s) {
    hone_farm_access *access = &s->options->farm;
    hone_farm_access_from_environment(access);
    HONE_TRY(hone_farm_access_check(s->cli, access));
    return access->tracker ? hone_serve_farm_start(access, &s->pages.farm) : HONE_OK;
}

/* ---- saying where ---- */

static hone_status say_where(serving *s) {
    hone_cli *cli = s->cli;
    hone_str url = {0};
    const char *place = hone_http_place(s->http);
    hone_str_printf(&url, "http://%s/%s%s", place, s->token[0] ? "?token=" : "", s->token);
    hone_status st = hone_str_check(&url);
    if (!st && cli->json) {
        hone_json *json = hone_json_make_object();
        bool ok = hone_json_set_text(json, "url", url.data) &&
                  hone_json_set_text(json, "address", place) &&
                  hone_json_set_text(json, "token", s->token[0] ? s->token : NULL);
        if (!ok) {
            hone_json_destroy(json);
            json = NULL;
        }
        st = hone_cli_put_json(cli, json);
    } else if (!st) {
        hone_str_printf(&cli->out, "%s\n", url.data);
    }
    hone_str_deinit(&url);
    return st ? st : hone_cli_flush(cli);
}

/* ---- the loop ---- */

static hone_status loop(serving *s) {
    struct pollfd fds[] = {
        {.fd = s->signal_fd,          .events = POLLIN},
        {.fd = hone_http_fd(s->http), .events = POLLIN},
    };
    while (!s->signal) {
        int ready = poll(fds, HONE_COUNT(fds), hone_http_wait_ms(s->http));
        if (ready < 0 && errno != EINTR) {
            return HONE_ERROR(HONE_CODE_IO, "poll: %s", strerror(errno));
        }
        if (ready > 0 && fds[0].revents) s->signal = hone_signals_next(s->signal_fd);
        if (!s->signal) hone_http_run(s->http);
    }
    HONE_LOG(&s->cli->log, HONE_LOG_INFO, "stops");
    if (s->signal == SIGINT) s->cli->exit_code = HONE_EXIT_STOPPED;
    return HONE_OK;
}

static hone_status set_up(serving *s) {
    static const int signals[] = {SIGTERM, SIGINT};
    HONE_TRY(hone_signals_take(signals, HONE_COUNT(signals), &s->signal_fd));
    HONE_TRY(open_databases(s));
    HONE_TRY(open_farm(s));
    HONE_TRY(start_maker(s));
    HONE_TRY(listen_on(s));
    return say_where(s);
}

static hone_status serve(hone_cli *cli, serve_options *options) {
    serving s = {.cli = cli, .options = options, .signal_fd = -1};
    hone_status st = set_up(&s);
    if (!st) st = loop(&s);
    hone_http_close(s.http);
    hone_serve_farm_stop(s.pages.farm);
    hone_serve_maker_stop(s.pages.maker);
    for (size_t i = 0; i < MOST_DATABASES; i++)
        hone_db_close(s.sources[i].db);
    if (s.signal_fd >= 0) close(s.signal_fd);
    return st;
}

int hone_verb_serve(int argc, char **argv) {
    serve_options o = {.listen = "127.0.0.1", .port = USUAL_PORT};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("db", 0, "FILE", LIST, &o.dbs, "the database; more than one are compared"),
        HONE_CLI_OPTION("listen", 0, "HOST", TEXT, &o.listen,
                        "an address of this machine; default 127.0.0.1, for this machine only"),
        HONE_CLI_OPTION("port", 0, "N", NUMBER, &o.port, "default 9192; 0 takes a free one",
                        .min = 0, .max = 65535),
        HONE_CLI_OPTION(
            "token", 0, "WORD", TEXT, &o.token,
            "who looks must know it; or HONE_SERVE_TOKEN; made up for other addresses than "
            "this machine's own"),
        HONE_FARM_ACCESS_OPTIONS(o.farm),
        {0},
    };
    const hone_cli_command command = {
        .name = "serve",
        .usage = "--db FILE [--db OTHER] [--tracker URL] [--port N] [--listen HOST] [--token WORD]",
        .summary = "Shows databases to a browser, live beside a tune that writes to them: the page "
                   "of `hone report`, with every record, and the devices of a farm. Prints its "
                   "address; runs until Ctrl-C or SIGTERM.",
        .example = "hone serve --db /tmp/tuned.db",
        .notes = "Databases are only read. The page is not encrypted: to look from elsewhere, "
                 "'ssh -L 9192:127.0.0.1:9192 HOST'\nbrings it over; or --listen, with a token, in "
                 "a network that you trust.",
        .options = options,
        .max_args = 0,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, serve(&cli, &o));
}
