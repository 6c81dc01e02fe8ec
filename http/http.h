/* http/http.h - a small HTTP server for pages to look at: GET and HEAD, an answer to each.
 *
 * No thread: whoever owns it polls the descriptor and calls run; handlers are called from there,
 * one after the other. Connections, their number from one address, their memory and the time that
 * they may be silent are bounded; a request that is none, too long, or of another method is
 * answered without the handler. Every answer tells browsers to keep nothing and to guess nothing of
 * it.
 *
 * Threads: one at a time.
 * Layer:   may include support/.
 */
#ifndef HONE_HTTP_HTTP_H
#define HONE_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "support/core/status.h"
#include "support/core/strbuf.h"

/* Longer paths are refused with 414. */
enum { HONE_HTTP_MAX_PATH = 1024, HONE_HTTP_PLACE_BYTES = 64 };

typedef struct hone_http hone_http;

/* What is asked for; borrowed, during the call. */
typedef struct hone_http_request {
    const char *path; /* "/record/12": decoded, without the query; begins with '/' */
    void *connection; /* for the functions below */
} hone_http_request;

/* The value of ?name=value, of a header, of a cookie; NULL: not there. */
const char *hone_http_query(const hone_http_request *request, const char *name);
const char *hone_http_header(const hone_http_request *request, const char *name);
const char *hone_http_cookie(const hone_http_request *request, const char *name);

/* What is said; the handler fills it in. At first: 200, text, nothing. */
typedef struct hone_http_answer {
    unsigned code;
    const char *type;     /* "application/json"; static */
    hone_str text;        /* freed by the server */
    const char *location; /* of a redirection; static, or NULL */
    hone_str cookie;      /* Set-Cookie, when not empty; freed by the server */
} hone_http_answer;

typedef void (*hone_http_handler)(void *ctx, const hone_http_request *request,
                                  hone_http_answer *answer);

/* `address` is "127.0.0.1:9191" or "[::1]:9191"; port 0 takes a free one. INVALID: no address;
 * UNAVAILABLE: it cannot listen there. */
HONE_NODISCARD hone_status hone_http_open(const char *address, hone_http_handler handler, void *ctx,
                                          hone_http **out_http);
void hone_http_close(hone_http *http); /* NULL is allowed */

/* Whether only this machine can reach an address that _open takes. */
bool hone_http_is_loopback(const char *address);
/* Where it listens: "127.0.0.1:9191", with the port that it got. */
const char *hone_http_place(const hone_http *http);

int hone_http_fd(const hone_http *http); /* readable: call run */
/* How long poll may wait for it until run must be called in any case; -1: for ever. */
int hone_http_wait_ms(const hone_http *http);
void hone_http_run(hone_http *http); /* never waits */

#endif
