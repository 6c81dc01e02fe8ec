/* ir/text/script_fold.h - arithmetic as TVM's operators do it, for the parser, and for the printer,
 * which writes an operator as such only where reading it makes the same node again.
 */
#ifndef HONE_IR_TEXT_SCRIPT_FOLD_H
#define HONE_IR_TEXT_SCRIPT_FOLD_H

#include "ir/core/expr.h"

enum { SCRIPT_MAX_GRID = 64 }; /* loops that one 'for' stands for */

/* Applies the folds that TVM's `+` and friends apply (x + 0, 2 * 3, ...); NULL after an error. */
const hone_expr *script_fold_binary(hone_ir *ir, hone_op op, const hone_expr *a,
                                    const hone_expr *b);
/* The result when the operator would not make a node over a and b themselves, else NULL. */
const hone_expr *script_fold_try(hone_ir *ir, hone_op op, const hone_expr *a, const hone_expr *b);
/* Brings operands to one dtype as TVM does. False when there is no common one. */
bool script_unify(hone_ir *ir, const hone_expr **a, const hone_expr **b);
const hone_expr *script_fold_cast(hone_ir *ir, hone_dtype dtype, const hone_expr *e);
/* stop - start, with equal terms cancelled. */
const hone_expr *script_extent_between(hone_ir *ir, const hone_expr *start, const hone_expr *stop);

#endif
