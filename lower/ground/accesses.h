/* lower/ground/accesses.h - where a buffer is touched below a node; inside lower/ only. */
#ifndef HONE_LOWER_GROUND_ACCESSES_H
#define HONE_LOWER_GROUND_ACCESSES_H

#include "lower/ground/passes.h"

typedef struct lower_access {
    hone_node_id node; /* the statement it stands in */
    const hone_expr *const *indices;
    bool is_store;
} lower_access;

typedef struct lower_accesses {
    uint32_t count, capacity;
    lower_access *items; /* in program order; loads of a statement before its store */
    bool is_opaque;      /* its address is taken, or a view of it exists */
} lower_accesses;

/* Finds all accesses of a buffer from root downwards. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status lower_find_accesses(const hone_func *func, hone_node_id root,
                                               hone_buffer buffer, lower_accesses *out);
/* lower_find_accesses of each buffer in the whole function, in one walk: an array by buffer, in the
 * function's arena. It stays right as long as no listed statement is moved or taken out. */
HONE_NODISCARD hone_status lower_find_all_accesses(const hone_func *func,
                                                   lower_accesses **out_by_buffer);
/* A call that has an effect, or gets a pointer, behind which anything may be read or written. Its
 * arguments are not looked at. */
bool lower_has_effects(const hone_expr *e);
/* A loop from 0 to a constant of at least 2, with exactly one child and no annotations. */
bool lower_is_plain_loop(const hone_func *func, hone_node_id id);
/* The load reads the element that the STORE stores to: same buffer, same indices. */
bool lower_is_stored_element(const hone_node *store, const hone_expr *load);
/* The number of an element in its buffer; NULL where that is not known, or memory is short. */
const hone_expr *lower_element_number(hone_lower *lower, hone_arith *arith, hone_buffer buffer,
                                      const hone_expr *const *indices);
/* New indices of an access, as many as the buffer has dimensions now, in the function's arena; NULL
 * when memory is short. */
typedef const hone_expr **(*lower_index_map)(void *ctx, const hone_expr *const *indices);
/* One more dimension in front of a buffer; its accesses are left to the caller. */
HONE_NODISCARD hone_status lower_grow_buffer(hone_lower *lower, hone_buffer buffer,
                                             const hone_expr *extent);
/* first, and count others behind it, in the arena; NULL when first is or when memory is short. */
const hone_expr **lower_with_first(hone_ir *ir, const hone_expr *first, uint32_t count,
                                   const hone_expr *const *others);
/* Maps the indices of every load and store of the buffer below root. */
HONE_NODISCARD hone_status lower_map_accesses(hone_func *func, hone_node_id root,
                                              hone_buffer buffer, lower_index_map map, void *ctx);
/* lower_map_accesses, where all accesses below root are known: only these statements are looked at.
 */
HONE_NODISCARD hone_status lower_map_listed(hone_func *func, hone_node_id root,
                                            const lower_accesses *all, hone_buffer buffer,
                                            lower_index_map map, void *ctx);

#endif
