/* support/text/duration.h - lengths of time as people write them.
 *
 * Layer: support.
 */
#ifndef HONE_SUPPORT_TEXT_DURATION_H
#define HONE_SUPPORT_TEXT_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* "250ms", "90s", "10m", "1h30m"; a bare number is seconds. false: no such thing, *out_ns is 0. */
bool hone_duration_parse(const char *text, int64_t *out_ns);

#endif
