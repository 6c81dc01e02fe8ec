/* ir/identity/canon_impl.h - the canonical serialisation behind structural hash and equality.
 *
 * One walk turns a program into bytes in which names do not occur: variables and buffers are
 * numbered by first occurrence, kinds and operators are fixed letters, attributes are sorted by
 * key. Two programs are equal when their bytes are equal, and the hash is that of the bytes.
 * The bytes are part of what databases store (HONE_STRUCTURAL_VERSION): never change them.
 *
 * A canon either hashes on the way (no allocation for functions of ordinary size) or keeps the
 * bytes together with marks, which say what a byte belongs to.
 * For this folder only.
 */
#ifndef HONE_IR_IDENTITY_CANON_IMPL_H
#define HONE_IR_IDENTITY_CANON_IMPL_H

#include "ir/core/module.h"
#include "support/data/hash.h"

enum { CANON_CHUNK = 2048, CANON_SMALL = 512 };

typedef struct canon_mark {
    size_t offset;           /* where it begins */
    const char *what;        /* "loop extent", "index", ...: static */
    const hone_expr *expr;   /* the expression that is written there, or NULL */
    const char *text;        /* a word that is written there, or NULL */
    bool is_count, is_dtype; /* then count or dtype is written there */
    uint64_t count;
    hone_dtype dtype;
    const hone_value *value; /* what the attribute of that name is, or NULL */
    hone_node_id node;       /* the statement, HONE_NO_ID = the function itself */
    uint32_t bind;           /* the binding of a graph function, or HONE_NO_ID */
} canon_mark;

typedef struct canon {
    /* what is walked: tables of a tensor program or of a graph function */
    const hone_func *func;
    const hone_module *module;
    const hone_graph_func *graph;
    uint32_t depth; /* of nested callees */
    /* numbering: 0 = not seen yet */
    uint32_t *var_numbers, *buffer_numbers;
    uint32_t var_count, next_var, next_buffer;
    uint32_t small_vars[CANON_SMALL], small_buffers[CANON_SMALL];
    uint32_t *heap; /* when the small tables do not suffice */
    /* output */
    bool keeps_bytes, is_short_of_memory;
    bool leaves_numbers; /* whole numbers are written without their values */
    uint8_t *bytes;
    size_t length, capacity;
    uint8_t chunk[CANON_CHUNK];
    hone_hasher hasher;
    canon_mark *marks;
    size_t mark_count, mark_capacity;
    hone_node_id node;
    uint32_t bind;
} canon;

/* Begins a serialisation. keeps_bytes: all of it is kept for comparison, else only hashed. */
void canon_init(canon *c, bool keeps_bytes);
void canon_deinit(canon *c);
/* All zero when memory was short. */
hone_hash128 canon_digest(canon *c);

/* Appends a whole program: what counts for its identity, in a fixed order. */
void canon_write_func(canon *c, const hone_func *func);
void canon_write_graph(canon *c, const hone_module *module, const hone_graph_func *graph);

/* ---- for the writers: each appends to the bytes ---- */
/* Begins the numbering of this many variables and buffers; false when memory is short. */
bool canon_number_tables(canon *c, uint32_t var_count, uint32_t buffer_count);
void canon_byte(canon *c, uint8_t byte);
void canon_bytes(canon *c, const void *bytes, size_t count);
void canon_uint(canon *c, uint64_t value);
void canon_int(canon *c, int64_t value);
void canon_string(canon *c, const char *text); /* NULL differs from "" */
void canon_dtype(canon *c, hone_dtype dtype);
/* What is written next belongs to this; only where bytes are kept. */
void canon_mark_at(canon *c, const char *what, const hone_expr *expr, const char *text);
void canon_expr(canon *c, const char *what, const hone_expr *e);
/* A mark, and what is written there; of canon_mark_count the caller writes it. */
void canon_mark_count(canon *c, const char *what, uint64_t count);
void canon_count(canon *c, const char *what, uint64_t count);
void canon_marked_dtype(canon *c, const char *what, hone_dtype dtype);
/* Gives the variable the next number. */
void canon_var_definition(canon *c, hone_var var, hone_dtype dtype);
/* Attributes of a function, without those that do not count (structural.h). */
void canon_func_attrs(canon *c, const hone_attrs *attrs);
void canon_attrs(canon *c, const hone_attrs *attrs);

#endif
