/* http/http_address.c - see http_address.h. */
#include "http/http_address.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "http/http.h"

static hone_status bad_address(const char *text) {
    return HONE_ERROR(HONE_CODE_INVALID,
                      "'%s' is no address; expected something like 127.0.0.1:9191 or [::1]:9191",
                      text);
}

/* Whether the text is a number of a port, and nothing else. */
static bool parse_port(const char *text, uint16_t *out_port) {
    char *end;
    if (*text < '0' || *text > '9') return false;
    unsigned long port = strtoul(text, &end, 10);
    if (*end || port > 65535) return false;
    *out_port = htons((uint16_t)port);
    return true;
}

hone_status hone_http_parse_address(const char *text, hone_http_address *out) {
    char host[HONE_HTTP_PLACE_BYTES];
    uint16_t port;
    const char *colon = strrchr(text, ':');
    size_t count = colon ? (size_t)(colon - text) : 0;
    memset(out, 0, sizeof *out);
    if (!count || count >= sizeof host || !parse_port(colon + 1, &port)) return bad_address(text);
    memcpy(host, text, count);
    host[count] = 0;
    if (host[0] == '[' && host[count - 1] == ']') {
        host[count - 1] = 0;
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = port;
        if (inet_pton(AF_INET6, host + 1, &out->v6.sin6_addr) == 1) return HONE_OK;
    } else {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = port;
        if (inet_pton(AF_INET, host, &out->v4.sin_addr) == 1) return HONE_OK;
    }
    return bad_address(text);
}

bool hone_http_is_loopback(const char *address) {
    hone_http_address to;
    if (hone_status_consume(hone_http_parse_address(address, &to)) != HONE_CODE_OK) return false;
    if (to.base.sa_family == AF_INET) return ntohl(to.v4.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&to.v6.sin6_addr);
}
