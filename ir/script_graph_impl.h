/* ir/script_graph_impl.h - what the files that read graph programs share. Inside the room only. */
#ifndef HONE_IR_SCRIPT_GRAPH_IMPL_H
#define HONE_IR_SCRIPT_GRAPH_IMPL_H

#include "ir/graph_op.h"
#include "ir/script_impl.h"

/* How a tuple of numbers is meant: R.reshape(x, (1, 4)) a shape, elsewhere a tuple of scalars. */
bool script_to_garg(script_parser *p, const script_value *v, bool numbers_are_shape,
                    hone_garg *out);
bool script_to_sinfo(script_parser *p, const script_value *v, const hone_sinfo **out);
/* R.Tensor(...), R.Shape(...), R.Prim, R.Tuple, R.Object, R.Callable: false in *out_known when it
 * is none of these. */
bool script_call_sinfo(script_parser *p, const script_call *call, script_value *out,
                       bool *out_known);
/* An int64 extent: a number, an expression, or a name or expression in quotes. */
bool script_to_extent(script_parser *p, const script_value *v, const hone_expr **out);
bool script_to_extents(script_parser *p, const script_value *v, int32_t *out_rank,
                       const hone_expr *const **out);
/* R.const and metadata constants. */
bool script_call_const(script_parser *p, const script_call *call, script_value *out);
bool script_call_metadata(script_parser *p, const script_call *call, script_value *out);
bool script_garg_value(script_parser *p, hone_garg garg, script_value *out);
/* Appends a binding whose new value is not named yet; *out refers to it. */
bool script_bind(script_parser *p, uint32_t at, const hone_gbind *bind, const hone_sinfo *info,
                 script_value *out);
/* call_tir, call_dps_packed and their kin: false in *out_known when it is none of these. */
bool script_call_through(script_parser *p, const script_call *call, script_value *out,
                         bool *out_known);

#endif
