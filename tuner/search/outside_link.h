/* tuner/search/outside_link.h - a program of the user's at the other end of a line: texts without
 * newline go back and forth. For tuner/search only.
 *
 * Nothing here waits, but for hone_link_await: what the program does not read is kept for it, up to
 * a limit, and what it writes too fast stays in its pipe. Lifetime: open/close. Threads: one owner.
 */
#ifndef HONE_TUNER_OUTSIDE_LINK_H
#define HONE_TUNER_OUTSIDE_LINK_H

#include "support/os/proc.h"

typedef struct hone_link {
    hone_proc proc;
    int fd;                   /* -1: it has ended, or was given up */
    hone_str in, out, line;   /* line: taken last */
    size_t in_from, out_from; /* what was taken, and sent */
    char why[160];            /* why it is not there any more */
} hone_link;

/* Starts `sh -c command`; it reads from stdin and writes to stdout. */
HONE_NODISCARD hone_status hone_link_open(const char *command, hone_link *out_link);
/* {0} with fd -1 is allowed. The program sees the end of its input; if it does not end, it is
 * killed. */
void hone_link_close(hone_link *link);

/* Sends a line, or keeps it. A program that has left too much unread is given up. */
void hone_link_send(hone_link *link, const hone_str *line);
/* The next line that is there, valid until the next call; NULL: there is none. A program that
 * writes too long a line, or has ended, is given up. */
const char *hone_link_take(hone_link *link);
/* Waits until there is something to take or the link has ended; at most so long. */
void hone_link_await(hone_link *link, int milliseconds);

#endif
