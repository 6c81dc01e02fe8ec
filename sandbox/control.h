/* sandbox/control.h - what the outside and a warden say to each other, one packet each.
 *
 *     outside ─► SERVE (grants) · IDLE · PING
 *     warden  ─► PID (of the held process) · PONG · END (status)
 *
 * Grants are texts that end with NUL: a letter of hone_file_grant_kind, then the path.
 */
#ifndef HONE_SANDBOX_CONTROL_H
#define HONE_SANDBOX_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/file_policy.h"

#define HONE_CONTROL_BYTES 65536

enum {
    HONE_CONTROL_SERVE = 'S',
    HONE_CONTROL_IDLE = 'I',
    HONE_CONTROL_PING = 'G',
    HONE_CONTROL_PID = 'P',
    HONE_CONTROL_PONG = 'O',
    HONE_CONTROL_END = 'E',
};

/* The next of the grants in a packet; false behind the last, or when the rest is none. */
bool hone_control_next(const char **io_grants, size_t *io_bytes, hone_file_grant_kind *out_kind,
                       const char **out_path);

#endif
