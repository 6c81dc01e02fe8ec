/* sandbox/control.c - packets between the outside and a warden. */
#include "sandbox/control.h"

#include <string.h>

bool hone_control_next(const char **io_grants, size_t *io_bytes, hone_file_grant_kind *out_kind,
                       const char **out_path) {
    const char *text = *io_grants, *end = *io_bytes ? memchr(text, 0, *io_bytes) : NULL;
    if (!end || end - text < 2) return false;
    *out_kind = (hone_file_grant_kind)text[0];
    *out_path = text + 1;
    *io_bytes -= (size_t)(end - text) + 1;
    *io_grants = end + 1;
    return true;
}
