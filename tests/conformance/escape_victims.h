/* tests/conformance/escape_victims.h - things that a candidate must not reach: files, a process,
 * sockets; made for one test, watched for changes.
 *
 * Lifetime: init and deinit of one owner's value.
 */
#ifndef HONE_TESTS_CONFORMANCE_ESCAPE_VICTIMS_H
#define HONE_TESTS_CONFORMANCE_ESCAPE_VICTIMS_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support/core/strbuf.h"
#include "tests/conformance/candidates/escape_world.h"

enum { ESCAPE_VICTIM_PATHS = 6 };

typedef struct escape_victims {
    escape_world world; /* where they are */
    char paths[ESCAPE_VICTIM_PATHS][160];
    struct stat before[ESCAPE_VICTIM_PATHS];
    struct rlimit limit;
    int priority, affinity;
    int tcp_fd, unix_fd, fifo_fd;
    char *dir; /* everything is in it; others cannot read it */
} escape_victims;

void escape_victims_init(escape_victims *victims);
void escape_victims_deinit(escape_victims *victims);

/* Says what has changed since _init, one word each; "" when nothing has. */
void escape_victims_print_changes(escape_victims *victims, hone_str *out);

/* Copies the built library `from` to `to`, with this world in it. */
void escape_victims_write_library(const escape_victims *victims, const char *from, const char *to,
                                  escape_place place, bool only_shown);

#endif
