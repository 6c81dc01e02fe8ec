/* target/target_json.h - the JSON form of a target, inside target/ only. */
#ifndef HONE_TARGET_TARGET_JSON_H
#define HONE_TARGET_TARGET_JSON_H

#include <stddef.h>

#include "support/core/status.h"

/* Calls begin with the value of "kind" (or of "tag" when there is no kind) and then apply for each
 * other member; lists of strings arrive joined by commas. Stops at the first failure. */
HONE_NODISCARD hone_status target_json_read(
    const char *text, hone_status (*begin)(void *ctx, const char *kind),
    hone_status (*apply)(void *ctx, const char *name, size_t length, const char *value), void *ctx);

#endif
