/* tests/measure/wire_codec.h - what every wire form must do: come back as it was, refuse what is
 * cut or too long, survive random changes and failing allocations. One row per kind of message.
 */
#ifndef HONE_TESTS_MEASURE_WIRE_CODEC_H
#define HONE_TESTS_MEASURE_WIRE_CODEC_H

#include <stddef.h>

#include "support/core/status.h"
#include "support/core/strbuf.h"

typedef struct wire_codec {
    const char *name;
    void (*encode_sample)(int which, hone_str *out);
    /* Decodes whatever bytes and appends what encoding makes of it. */
    hone_status (*pass)(const void *bytes, size_t count, hone_str *out);
    int which; /* for encode_sample */
} wire_codec;

/* A cmocka test: *state is a wire_codec. */
void wire_codec_check(void **state);

#endif
