/* schedule/variant/variant_impl.h - for variants only: one nest of a program is replaced by stages
 * that compute the same buffer.
 *
 *   variant_begin ─► stages (ir/te/te.h), the last of them as large as the buffer ─► variant_end
 */
#ifndef HONE_SCHEDULE_VARIANT_VARIANT_IMPL_H
#define HONE_SCHEDULE_VARIANT_VARIANT_IMPL_H

#include "ir/te/te.h"
#include "schedule/variant/variant.h"

#define HONE_VARIANT(name, version, error, about)                                                  \
    HONE_NODISCARD hone_status hone_variant_rewrite_##name(hone_func *func);
#include "schedule/variant/variants.def"
#undef HONE_VARIANT

/* hone_variant_apply of a user's. */
HONE_NODISCARD hone_status variant_apply_given(const hone_variant *variant, const hone_func *func,
                                               hone_arena *arena, hone_func **out_func);

/* The refusal of a variant: ILLEGAL. */
#define VARIANT_REFUSE(...) HONE_ERROR(HONE_CODE_ILLEGAL, __VA_ARGS__)

/* Whether a block is out[…] = out[…] + a * b, begun with 0, of loads a and b or of what they are
 * cast from; the loads. */
bool variant_read_sum(const hone_func *func, hone_node_id block, const hone_node **out_store,
                      const hone_expr *out_loads[2]);
/* Whether a block is in one serial loop for each axis, over all of it, with nothing else below the
 * root block; the outermost of them. */
bool variant_read_nest(const hone_func *func, hone_node_id block, hone_node_id *out_nest);

typedef struct variant_edit {
    hone_te te; /* stages are made with this */
    hone_node_id nest;
    hone_buffer first; /* buffers from here on are new */
} variant_edit;

/* Begins to replace a nest, a child of the root block, in a function; index: the type of its
 * indices. */
void variant_begin(variant_edit *edit, hone_func *func, hone_node_id nest, hone_dtype index);
/* Puts the stages where the nest was. `made`, the buffer of the last one, becomes `out`, which the
 * nest computed. ILLEGAL: a block of the function has the name of a stage. */
HONE_NODISCARD hone_status variant_end(variant_edit *edit, hone_buffer made, hone_buffer out);

#endif
