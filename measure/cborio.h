/* measure/cborio.h - CBOR (RFC 8949) items, one at a time: the base of every wire form and file
 * head. The subset that Hone writes: definite lengths, no tags.
 *
 * Writing appends to an hone_str (check that once at the end). A reader is a value over bytes that
 * the caller keeps alive; its first failure sticks, later reads return zeros, and
 * hone_cbor_reader_check says what was wrong and where. Lengths are checked against the bytes that
 * are there, so a reader never allocates or loops beyond its input.
 */
#ifndef HONE_MEASURE_CBORIO_H
#define HONE_MEASURE_CBORIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/status.h"
#include "support/core/strbuf.h"

void hone_cbor_put_uint(hone_str *out, uint64_t value);
void hone_cbor_put_int(hone_str *out, int64_t value);
void hone_cbor_put_double(hone_str *out, double value);
void hone_cbor_put_bool(hone_str *out, bool value);
void hone_cbor_put_text(hone_str *out, const char *text); /* NULL becomes null */
void hone_cbor_put_bytes(hone_str *out, const void *bytes, size_t count);
void hone_cbor_put_array(hone_str *out, size_t count); /* count items follow */
void hone_cbor_put_map(hone_str *out, size_t count);   /* count pairs of key and value follow */

typedef struct hone_cbor_reader {
    const uint8_t *bytes;
    size_t count, at;
    const char *problem; /* NULL = fine so far */
    bool is_out_of_memory;
} hone_cbor_reader;

void hone_cbor_reader_init(hone_cbor_reader *reader, const void *bytes, size_t count);

uint64_t hone_cbor_get_uint(hone_cbor_reader *reader);
int64_t hone_cbor_get_int(hone_cbor_reader *reader);
double hone_cbor_get_double(hone_cbor_reader *reader); /* integers are taken as well */
bool hone_cbor_get_bool(hone_cbor_reader *reader);
/* Text or null: *out_text points into the input, is not terminated, has no NUL inside; NULL and 0
 * for null. */
void hone_cbor_get_text(hone_cbor_reader *reader, const char **out_text, size_t *out_count);
void hone_cbor_get_bytes(hone_cbor_reader *reader, const uint8_t **out_bytes, size_t *out_count);
/* Number of items (pairs) that follow, at most as many as there are bytes left. */
size_t hone_cbor_get_array(hone_cbor_reader *reader);
size_t hone_cbor_get_map(hone_cbor_reader *reader);
/* Passes over one item with all that is in it. */
void hone_cbor_skip(hone_cbor_reader *reader);

bool hone_cbor_reader_ok(const hone_cbor_reader *reader);
/* Makes the reader fail; `problem` must outlive it. The first one stays. */
void hone_cbor_reader_fail(hone_cbor_reader *reader, const char *problem);
/* hone_cbor_reader_fail for an allocation that failed on behalf of the reader: the check says
 * NO_MEMORY. */
void hone_cbor_reader_fail_memory(hone_cbor_reader *reader);
/* INVALID ("<what>: <problem> at byte N") when the reader failed, or when bytes are left over and
 * `at_end`. */
HONE_NODISCARD hone_status hone_cbor_reader_check(const hone_cbor_reader *reader, const char *what,
                                                  bool at_end);

#endif
