/* ir/core/touches.h - where a program touches which buffers, and how: a walk over all that it does
 * to them, and questions about one buffer below a node or about all those of a function.
 *
 * Only what is written down counts, whatever conditions stand around it. "Below" a node includes
 * the node. Pure; thread-compatible.
 */
#ifndef HONE_IR_CORE_TOUCHES_H
#define HONE_IR_CORE_TOUCHES_H

#include "ir/core/func.h"

typedef enum hone_reference_kind {
    HONE_REFERENCE_LOAD,    /* an element is read */
    HONE_REFERENCE_STORE,   /* an element is written */
    HONE_REFERENCE_POINTER, /* an element's address or the data handle stands there, for any use */
    HONE_REFERENCE_MATCH,   /* a block gives a part of it another name (T.match_buffer) */
} hone_reference_kind;

typedef struct hone_reference {
    hone_reference_kind kind;
    bool may_write;     /* STORE, and POINTER but to what tvm_access_ptr says is read only */
    hone_buffer buffer; /* as it is named: a view of another one, perhaps */
    hone_node_id at;    /* the statement or loop */
    const hone_expr *const *indices; /* LOAD, STORE, address of an element: of rank; else NULL */
    uint32_t rank;
} hone_reference;

typedef void (*hone_reference_visit)(void *ctx, const hone_reference *ref);

/* Calls visit for all that is done below top, statement by statement, what one reads before what it
 * stores. What blocks declare to read and write does not count. */
void hone_walk_references(const hone_func *func, hone_node_id top, hone_reference_visit visit,
                          void *ctx);
/* hone_walk_references of the node alone, without what is below it. */
void hone_node_walk_references(const hone_func *func, hone_node_id id, hone_reference_visit visit,
                               void *ctx);

/* An expression below top loads from the buffer; what blocks declare does not count. */
bool hone_loads_below(const hone_func *func, hone_node_id top, hone_buffer buffer);
/* A statement below top stores to the buffer. */
bool hone_stores_below(const hone_func *func, hone_node_id top, hone_buffer buffer);
/* The expression has the address of an element of the buffer, or its data handle: what is done with
 * that is not known. */
bool hone_expr_takes_address(const hone_func *func, const hone_expr *e, hone_buffer buffer);
/* hone_expr_takes_address of an expression below top. */
bool hone_takes_address_below(const hone_func *func, hone_node_id top, hone_buffer buffer);
/* hone_takes_address_below, or a block below top makes a view of the buffer (T.match_buffer): it
 * may be accessed under another name. */
bool hone_has_opaque_access(const hone_func *func, hone_node_id top, hone_buffer buffer);
/* Another buffer of the function is declared to be a view of the storage of this one. */
bool hone_has_alias(const hone_func *func, hone_buffer buffer);
/* What a whole function does to a buffer; to a view is to its source (hone_func_storage). */
typedef struct hone_usage {
    hone_node_id first_read, first_write; /* statements, in the order of the text; HONE_NO_ID */
    bool is_pointed_to;                   /* its handle or an element's address is about, */
    bool is_viewed; /* or a view in a block: it may be read and written in other ways, too */
    bool is_allocated;
} hone_usage;
/* By buffer, in the arena; NULL where memory is short. */
const hone_usage *hone_usage_of(const hone_func *func, hone_arena *arena);

#endif
