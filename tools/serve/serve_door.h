/* tools/serve/serve_door.h - who may see the pages of `hone serve`.
 *
 * On loopback all users of the machine may, but no web site that a browser has open: requests must
 * name this machine as their host, so a stranger's name that was made to point here is refused.
 * With a token, one must bring it: in the address once (?token=, which is answered with a cookie),
 * as that cookie, or as "Authorization: Bearer". It is compared in a time that says nothing of it.
 */
#ifndef HONE_TOOLS_SERVE_SERVE_DOOR_H
#define HONE_TOOLS_SERVE_SERVE_DOOR_H

#include "http/http.h"

enum { HONE_SERVE_LEAST_TOKEN = 8, HONE_SERVE_MOST_TOKEN = 128 };

typedef struct hone_serve_door {
    bool is_loopback;
    const char *token; /* NULL: none is asked for */
    char cookie[32];   /* its name; cookies do not tell ports apart */
} hone_serve_door;

/* INVALID: a token that is too short or long, or has other characters than letters, digits, '-' and
 * '_', which need no quoting anywhere. */
HONE_NODISCARD hone_status hone_serve_check_token(const char *token);
/* Makes up a token of 32 digits. */
HONE_NODISCARD hone_status hone_serve_make_token(char out_token[HONE_SERVE_MOST_TOKEN + 1]);
/* place: "127.0.0.1:9192". */
void hone_serve_door_init(hone_serve_door *door, const char *place, const char *token);

/* Whether the request may be answered; if not, or if it is one that brings the token in its
 * address, the answer is there already. */
bool hone_serve_door_opens(const hone_serve_door *door, const hone_http_request *request,
                           hone_http_answer *answer);

#endif
