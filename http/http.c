/* http/http.c - see http.h; libmicrohttpd driven from outside through its epoll descriptor. */
#include "http/http.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

#include "http/http_address.h"
#include "support/core/alloc.h"

enum {
    MAX_CONNECTIONS = 64,
    MAX_PER_ADDRESS = 48,
    CONNECTION_SECONDS = 10,
    CONNECTION_BYTES = 32 << 10,
    TOO_LONG = 414,
};

struct hone_http {
    struct MHD_Daemon *daemon;
    hone_http_handler handler;
    void *ctx;
    char place[HONE_HTTP_PLACE_BYTES];
};

/* ---- questions ---- */

static const char *look_up(const hone_http_request *request, enum MHD_ValueKind kind,
                           const char *name) {
    return MHD_lookup_connection_value(request->connection, kind, name);
}

const char *hone_http_query(const hone_http_request *request, const char *name) {
    return look_up(request, MHD_GET_ARGUMENT_KIND, name);
}

const char *hone_http_header(const hone_http_request *request, const char *name) {
    return look_up(request, MHD_HEADER_KIND, name);
}

const char *hone_http_cookie(const hone_http_request *request, const char *name) {
    return look_up(request, MHD_COOKIE_KIND, name);
}

/* ---- answers ---- */

static const char *const common_headers[][2] = {
    {"Cache-Control",          "no-store"   },
    {"X-Content-Type-Options", "nosniff"    },
    {"X-Frame-Options",        "DENY"       },
    {"Referrer-Policy",        "no-referrer"},
};

static bool add_headers(struct MHD_Response *response, const hone_http_answer *answer) {
    bool ok = MHD_add_response_header(response, "Content-Type", answer->type) == MHD_YES;
    for (size_t i = 0; i < HONE_COUNT(common_headers); i++) {
        ok &= MHD_add_response_header(response, common_headers[i][0], common_headers[i][1]) ==
              MHD_YES;
    }
    if (answer->location) {
        ok &= MHD_add_response_header(response, "Location", answer->location) == MHD_YES;
    }
    if (answer->cookie.length) {
        ok &= MHD_add_response_header(response, "Set-Cookie", answer->cookie.data) == MHD_YES;
    }
    return ok;
}

/* MHD_NO ends the connection: what an answer without memory comes to. */
static enum MHD_Result send_answer(struct MHD_Connection *connection,
                                   const hone_http_answer *answer) {
    if (answer->text.failed || answer->cookie.failed) return MHD_NO;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->text.length, (void *)answer->text.data, MHD_RESPMEM_MUST_COPY);
    if (!response) return MHD_NO;
    enum MHD_Result done = MHD_NO;
    if (add_headers(response, answer)) {
        done = MHD_queue_response(connection, answer->code, response);
    }
    MHD_destroy_response(response);
    return done;
}

static void refuse(hone_http_answer *answer, unsigned code, const char *reason) {
    answer->code = code;
    hone_str_printf(&answer->text, "%s\n", reason);
}

static enum MHD_Result answer_one(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_count, void **state) {
    hone_http *self = ctx;
    hone_http_answer answer = {.code = MHD_HTTP_OK, .type = "text/plain; charset=utf-8"};
    (void)version, (void)upload, (void)state;
    if (*upload_count) return MHD_NO;
    bool looks = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (!looks) {
        refuse(&answer, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered here");
    } else if (url[0] != '/') {
        refuse(&answer, MHD_HTTP_BAD_REQUEST, "a path begins with '/'");
    } else if (strlen(url) > HONE_HTTP_MAX_PATH) {
        refuse(&answer, TOO_LONG, "this path is longer than any here");
    } else {
        self->handler(self->ctx, &(hone_http_request){.path = url, .connection = connection},
                      &answer);
    }
    enum MHD_Result done = send_answer(connection, &answer);
    hone_str_deinit(&answer.text);
    hone_str_deinit(&answer.cookie);
    return done;
}

/* ---- life ---- */

/* The place as it was written, with the port that the system gave. */
static void note_place(hone_http *self, const char *address) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(self->daemon, MHD_DAEMON_INFO_BIND_PORT);
    int host = (int)(strrchr(address, ':') - address);
    snprintf(self->place, sizeof self->place, "%.*s:%u", host, address,
             info ? (unsigned)info->port : 0);
}

static struct MHD_Daemon *start(hone_http *self, const hone_http_address *to) {
    unsigned flags = MHD_USE_EPOLL | (to->base.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    return MHD_start_daemon(
        flags, 0, NULL, NULL, answer_one, self, MHD_OPTION_SOCK_ADDR, &to->base,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)MAX_PER_ADDRESS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONNECTION_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_END);
}

hone_status hone_http_open(const char *address, hone_http_handler handler, void *ctx,
                           hone_http **out_http) {
    hone_http_address to;
    assert(address && handler && out_http);
    *out_http = NULL;
    HONE_TRY(hone_http_parse_address(address, &to));
    hone_http *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "http");
    self->handler = handler;
    self->ctx = ctx;
    errno = 0;
    self->daemon = start(self, &to);
    if (!self->daemon) {
        int reason = errno;
        hone_free(self);
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "cannot listen on %s: %s", address,
                          reason ? strerror(reason) : "it is in use or not of this machine");
    }
    note_place(self, address);
    *out_http = self;
    return HONE_OK;
}

void hone_http_close(hone_http *http) {
    if (!http) return;
    MHD_stop_daemon(http->daemon);
    hone_free(http);
}

const char *hone_http_place(const hone_http *http) {
    return http->place;
}

int hone_http_fd(const hone_http *http) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

int hone_http_wait_ms(const hone_http *http) {
    MHD_UNSIGNED_LONG_LONG wait;
    if (MHD_get_timeout(http->daemon, &wait) != MHD_YES) return -1;
    return wait < INT_MAX ? (int)wait : INT_MAX;
}

void hone_http_run(hone_http *http) {
    MHD_run(http->daemon);
}
