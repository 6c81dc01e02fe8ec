/* measure/wire_fields.h - structs as CBOR maps with integer keys, by tables of fields.
 *
 * One row per member: its key (never reused), what it is, where it lies. Encoder and decoder walk
 * the same table, so they cannot disagree. For files of measure/ only.
 */
#ifndef HONE_MEASURE_WIRE_FIELDS_H
#define HONE_MEASURE_WIRE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/cborio.h"
#include "support/core/arena.h"

typedef enum wire_kind {
    WIRE_BOOL,
    WIRE_INT32,
    WIRE_UINT32,
    WIRE_INT64,
    WIRE_UINT64,
    WIRE_DOUBLE,
    WIRE_ENUM,   /* unsigned int; limit: how many values there are */
    WIRE_TEXT,   /* const char *, in the arena; limit: bytes */
    WIRE_STRUCT, /* a member struct; sub: its table */
    WIRE_NAME,   /* char[limit], printable ASCII, ends with NUL */
    WIRE_NOTE,   /* the same, but only explains: cut when too long, odd characters become '?' */
    WIRE_FIXED,  /* uint8_t[limit]: exactly so many bytes */
    WIRE_HASH,   /* hone_hash128: 16 bytes, lo first, each little-endian */
    WIRE_BYTES,  /* wire_bytes, into the input; limit: bytes */
    WIRE_LIST,   /* wire_list, in the arena; sub: table of an element, stride: its size; limit */
    WIRE_CUSTOM, /* put and get, which see the whole struct */
} wire_kind;

typedef struct wire_table wire_table;
typedef struct wire_reader {
    hone_cbor_reader *cbor;
    hone_arena *arena; /* NULL when nothing needs it */
} wire_reader;

typedef struct wire_field {
    uint16_t key;
    uint8_t kind;
    uint32_t offset;
    uint32_t limit;
    uint32_t stride;
    const wire_table *sub;
    void (*put)(hone_str *out, const void *record);
    void (*get)(wire_reader *reader, void *record);
} wire_field;

/* How members of these kinds are laid out (whatever the struct with them is called). */
typedef struct wire_bytes {
    const uint8_t *data;
    size_t count;
} wire_bytes;
typedef struct wire_list {
    size_t count;
    void *items;
} wire_list;

struct wire_table {
    size_t count;
    const wire_field *fields;
};

/* Rows: a plain member, one with a limit, a member struct, a list, a pair of functions. */
#define WIRE_MEMBER(number, what, type, member)                                                    \
    { .key = (number), .kind = (what), .offset = offsetof(type, member) }
#define WIRE_LIMITED(number, what, type, member, most)                                             \
    { .key = (number), .kind = (what), .offset = offsetof(type, member), .limit = (most) }
#define WIRE_SUB(number, type, member, table)                                                      \
    { .key = (number), .kind = WIRE_STRUCT, .offset = offsetof(type, member), .sub = (table) }
#define WIRE_ITEMS(number, type, member, table, most)                                              \
    {                                                                                              \
        .key = (number), .kind = WIRE_LIST, .offset = offsetof(type, member), .sub = (table),      \
        .limit = (most), .stride = sizeof *((type *)0)->member.items                               \
    }
#define WIRE_HOOK(number, put_function, get_function)                                              \
    { .key = (number), .kind = WIRE_CUSTOM, .put = (put_function), .get = (get_function) }

#define WIRE_TABLE(name, rows) static const wire_table name = {sizeof(rows) / sizeof *(rows), rows}

void hone_wire_put(hone_str *out, const wire_table *table, const void *record);
/* The pairs alone, for a map whose head is written already. */
void hone_wire_put_pairs(hone_str *out, const wire_table *table, const void *record);
/* Members whose keys are absent stay as they are. */
void hone_wire_get(wire_reader *reader, const wire_table *table, void *record);
/* hone_wire_get of all these bytes; arena: for what the table's fields allocate. INVALID: they are
 * no such record, or there are more of them ("run request: …", by `what`). */
HONE_NODISCARD hone_status hone_wire_read(const void *bytes, size_t count, hone_arena *arena,
                                          const wire_table *table, const char *what, void *record);

/* A copy of text in the arena, NULL for null; fails the reader beyond `limit` bytes. */
const char *hone_wire_get_text(wire_reader *reader, size_t limit);
/* Zeroed memory from the arena; NULL (and a failed reader) when there is none. */
void *hone_wire_alloc(wire_reader *reader, size_t count, size_t bytes);
/* Length of a list, at most `limit`. */
size_t hone_wire_get_array(wire_reader *reader, size_t limit);

#endif
