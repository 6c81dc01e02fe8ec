/* farm/metrics.c - see metrics.h; libmicrohttpd driven from outside through its epoll descriptor.
 */
#include "farm/metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "support/core/alloc.h"

enum { MAX_CONNECTIONS = 16, CONNECTION_SECONDS = 10, CONNECTION_BYTES = 32 << 10 };

struct hone_metrics {
    struct MHD_Daemon *daemon;
    void (*print)(void *ctx, hone_str *out);
    void *ctx;
};

/* ---- the address ---- */

typedef union any_address {
    struct sockaddr base;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} any_address;

static hone_status bad_address(const char *address) {
    return HONE_ERROR(HONE_CODE_INVALID,
                      "'%s' is no address for metrics; expected something like 127.0.0.1:9191 or "
                      "[::1]:9191",
                      address);
}

static hone_status parse_address(const char *address, any_address *out) {
    char host[64], *end;
    const char *colon = strrchr(address, ':');
    size_t count = colon ? (size_t)(colon - address) : 0;
    if (!count || count >= sizeof host) return bad_address(address);
    memcpy(host, address, count);
    host[count] = 0;
    unsigned long port = strtoul(colon + 1, &end, 10);
    if (end == colon + 1 || *end || port > 65535) return bad_address(address);
    memset(out, 0, sizeof *out);
    if (host[0] == '[' && host[count - 1] == ']') {
        host[count - 1] = 0;
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = htons((uint16_t)port);
        if (inet_pton(AF_INET6, host + 1, &out->v6.sin6_addr) == 1) return HONE_OK;
    } else {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons((uint16_t)port);
        if (inet_pton(AF_INET, host, &out->v4.sin_addr) == 1) return HONE_OK;
    }
    return bad_address(address);
}

bool hone_metrics_is_loopback(const char *address) {
    any_address to;
    if (hone_status_consume(parse_address(address, &to)) != HONE_CODE_OK) return false;
    if (to.base.sa_family == AF_INET) return ntohl(to.v4.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&to.v6.sin6_addr);
}

/* ---- pages ---- */

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned code, const char *type,
                                 const hone_str *text) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(text->length, (void *)text->data, MHD_RESPMEM_MUST_COPY);
    if (!response) return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    enum MHD_Result done = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return done;
}

static enum MHD_Result answer(void *ctx, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_count, void **state) {
    static const char text_type[] = "text/plain; charset=utf-8";
    static const char metrics_type[] = "text/plain; version=0.0.4; charset=utf-8";
    hone_metrics *self = ctx;
    hone_str text = {0};
    unsigned code = MHD_HTTP_OK;
    const char *type = text_type;
    (void)version, (void)upload, (void)state;
    if (*upload_count) return MHD_NO;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        code = MHD_HTTP_METHOD_NOT_ALLOWED;
        hone_str_append(&text, "only GET\n");
    } else if (strcmp(url, "/metrics") == 0) {
        self->print(self->ctx, &text);
        type = metrics_type;
    } else {
        code = strcmp(url, "/") == 0 ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND;
        hone_str_append(&text, "a hone tracker; look at /metrics\n");
    }
    enum MHD_Result done = text.failed ? MHD_NO : send_text(connection, code, type, &text);
    hone_str_deinit(&text);
    return done;
}

/* ---- life ---- */

hone_status hone_metrics_open(const char *address, void (*print)(void *ctx, hone_str *out),
                              void *ctx, hone_metrics **out_metrics) {
    any_address to;
    *out_metrics = NULL;
    HONE_TRY(parse_address(address, &to));
    hone_metrics *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "metrics");
    self->print = print;
    self->ctx = ctx;
    unsigned flags = MHD_USE_EPOLL | (to.base.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    errno = 0;
    self->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, answer, self, MHD_OPTION_SOCK_ADDR, &to.base,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)CONNECTION_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_END);
    if (!self->daemon) {
        int reason = errno;
        hone_free(self);
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "cannot listen for metrics on %s: %s", address,
                          reason ? strerror(reason) : "it is in use or not of this machine");
    }
    *out_metrics = self;
    return HONE_OK;
}

void hone_metrics_close(hone_metrics *metrics) {
    if (!metrics) return;
    MHD_stop_daemon(metrics->daemon);
    hone_free(metrics);
}

int hone_metrics_fd(const hone_metrics *metrics) {
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(metrics->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

void hone_metrics_run(hone_metrics *metrics) {
    MHD_run(metrics->daemon);
}
