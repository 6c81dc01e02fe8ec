/* ir/arith/prove_ranges.c - proofs about intervals and boxes: what lies in them, and apart. */
#include "ir/arith/arith.h"

bool hone_prove_index(hone_arith *arith, const hone_expr *index, const hone_expr *extent) {
    const hone_expr *zero = hone_expr_int(&arith->ir, index->dtype, 0);
    return hone_prove_less_equal(arith, zero, index) && hone_prove_less(arith, index, extent);
}

bool hone_prove_part(hone_arith *arith, hone_range part, const hone_expr *size) {
    const hone_expr *zero = hone_expr_int(&arith->ir, part.min->dtype, 0);
    const hone_expr *end = hone_expr_add(&arith->ir, part.min, part.extent);
    return hone_prove_less_equal(arith, zero, part.min) && hone_prove_less_equal(arith, end, size);
}

bool hone_prove_contains(hone_arith *arith, hone_interval outer, hone_interval inner) {
    return hone_prove_less_equal(arith, outer.min, inner.min) &&
           hone_prove_less_equal(arith, inner.max, outer.max);
}

bool hone_prove_disjoint(hone_arith *arith, hone_interval a, hone_interval b) {
    return hone_prove_less(arith, a.max, b.min) || hone_prove_less(arith, b.max, a.min);
}
