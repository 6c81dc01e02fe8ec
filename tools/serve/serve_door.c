/* tools/serve/serve_door.c - see serve_door.h. */
#include "tools/serve/serve_door.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

/* ---- tokens ---- */

hone_status hone_serve_check_token(const char *token) {
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t length = strlen(token);
    if (length < HONE_SERVE_LEAST_TOKEN || length > HONE_SERVE_MOST_TOKEN) {
        return HONE_ERROR(HONE_CODE_INVALID, "a token has %d to %d characters, this one %zu",
                          HONE_SERVE_LEAST_TOKEN, HONE_SERVE_MOST_TOKEN, length);
    }
    if (strspn(token, allowed) == length) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "a token has letters, digits, '-' and '_' only, this one something else");
}

hone_status hone_serve_make_token(char out_token[HONE_SERVE_MOST_TOKEN + 1]) {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return HONE_ERROR(HONE_CODE_IO, "no random numbers: %s", strerror(errno));
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out_token + 2 * i, 3, "%02x", bytes[i]);
    return HONE_OK;
}

/* Looks at as many characters whatever they are. */
static bool is_token(const char *given, const char *token) {
    size_t given_length = given ? strlen(given) : 0, length = strlen(token);
    unsigned difference = given_length != length;
    for (size_t i = 0; i < HONE_SERVE_MOST_TOKEN; i++) {
        unsigned char a = i < given_length ? (unsigned char)given[i] : 0;
        unsigned char b = i < length ? (unsigned char)token[i] : 0;
        difference |= (unsigned)(a ^ b);
    }
    return difference == 0;
}

/* ---- the door ---- */

void hone_serve_door_init(hone_serve_door *door, const char *place, const char *token) {
    const char *port = strrchr(place, ':');
    *door = (hone_serve_door){.is_loopback = hone_http_is_loopback(place), .token = token};
    snprintf(door->cookie, sizeof door->cookie, "hone_token_%s", port ? port + 1 : "");
}

/* Whether a Host header names this machine by loopback; the port may be another, of a tunnel. */
static bool is_local_name(const char *host) {
    char name[HONE_HTTP_PLACE_BYTES];
    if (!host || strlen(host) >= sizeof name) return false;
    snprintf(name, sizeof name, "%s", host);
    char *colon = strrchr(name, ':'), *bracket = strrchr(name, ']');
    if (colon && colon > bracket) *colon = 0;
    if (strcasecmp(name, "localhost") == 0) return true;
    char address[HONE_HTTP_PLACE_BYTES + 8];
    snprintf(address, sizeof address, "%s:0", name);
    return hone_http_is_loopback(address);
}

static void refuse(hone_http_answer *answer, unsigned code, const char *reason) {
    answer->code = code;
    hone_str_printf(&answer->text, "%s\n", reason);
}

static bool brings_token(const hone_serve_door *door, const hone_http_request *request) {
    static const char bearer[] = "Bearer ";
    const char *header = hone_http_header(request, "Authorization");
    bool is_bearer = header && strncasecmp(header, bearer, strlen(bearer)) == 0;
    return is_token(hone_http_cookie(request, door->cookie), door->token) ||
           (is_bearer && is_token(header + strlen(bearer), door->token));
}

/* Out of the address and into a cookie: addresses are kept, sent on and looked at. */
static void give_cookie(const hone_serve_door *door, hone_http_answer *answer) {
    answer->code = 303;
    answer->location = "/";
    hone_str_printf(&answer->cookie, "%s=%s; HttpOnly; SameSite=Strict; Path=/", door->cookie,
                    door->token);
    hone_str_append(&answer->text, "go on at /\n");
}

bool hone_serve_door_opens(const hone_serve_door *door, const hone_http_request *request,
                           hone_http_answer *answer) {
    if (door->is_loopback && !is_local_name(hone_http_header(request, "Host"))) {
        refuse(answer, 403, "this page is for this machine: ask for it as localhost or 127.0.0.1");
        return false;
    }
    if (!door->token || brings_token(door, request)) return true;
    if (is_token(hone_http_query(request, "token"), door->token)) {
        give_cookie(door, answer);
    } else {
        refuse(answer, 401,
               "a token is needed: open the address that hone serve printed, or send "
               "'Authorization: Bearer TOKEN'");
    }
    return false;
}
