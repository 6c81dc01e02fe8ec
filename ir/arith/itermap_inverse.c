/* ir/arith/itermap_inverse.c - from index values back to loop variables.
 *
 * An index value is decoded into the values of its splits (largest scale first); digits of one
 * source add up to the source; a fused source is decoded in its turn, after all that use it.
 */
#include "ir/arith/itermap_impl.h"

enum { MAX_SOURCES = 64, MAX_DIGITS = 16 };

typedef struct decoded {
    const hone_iter_source *source;
    const hone_expr *value;                    /* sum of digit * lower so far */
    uint32_t uses, filled;                     /* splits that refer to it; of these, decoded */
    const hone_expr *covered;                  /* product of the extents of its digits */
    const hone_iter_split *digits[MAX_DIGITS]; /* where padding is allowed */
    const hone_expr *digit_values[MAX_DIGITS];
    bool is_open; /* its own sum was decoded */
} decoded;

typedef struct inverse {
    hone_arith *a;
    bool may_pad; /* digits may have room for more than their source has values */
    const hone_expr *padding;
    uint32_t count;
    decoded items[MAX_SOURCES];
} inverse;

static decoded *find(inverse *v, const hone_iter_source *source) {
    for (uint32_t i = 0; i < v->count; i++) {
        if (v->items[i].source == source) return &v->items[i];
    }
    return NULL;
}

static bool count_uses(inverse *v, const hone_iter_sum *sum) {
    for (uint32_t i = 0; i < sum->count; i++) {
        const hone_iter_source *source = sum->splits[i].source;
        decoded *item = find(v, source);
        if (item) {
            item->uses++;
            continue;
        }
        if (v->count == MAX_SOURCES) return false;
        v->items[v->count++] = (decoded){.source = source, .uses = 1};
        if (source->is_fused && !count_uses(v, &source->sum)) return false;
    }
    return true;
}

static const hone_expr *simp(inverse *v, const hone_expr *e) {
    return hone_simplify(v->a, e);
}

/* value = base + sum of scale * digit */
static bool decode(inverse *v, const hone_iter_sum *sum, const hone_expr *value) {
    hone_ir *ir = &v->a->ir;
    if (sum->base) value = simp(v, hone_expr_sub(ir, value, sum->base));
    for (uint32_t i = 0; i < sum->count && value; i++) {
        const hone_iter_split *split = &sum->splits[i];
        const hone_expr *digit = value;
        if (hone_expr_is_int_value(split->scale, -1)) { /* a mirrored number is all of its sum */
            digit = simp(v, hone_expr_sub(ir, hone_expr_int(ir, value->dtype, 0), value));
        } else if (!imap_is_one(split->scale)) {
            digit = hone_expr_floordiv(ir, digit, split->scale);
        }
        if (!digit) return false;
        if (i > 0) digit = hone_expr_floormod(ir, digit, split->extent);
        decoded *item = find(v, split->source);
        const hone_expr *part = simp(v, hone_expr_mul(ir, digit, split->lower));
        item->value = item->value ? simp(v, hone_expr_add(ir, item->value, part)) : part;
        item->covered = item->covered ? simp(v, hone_expr_mul(ir, item->covered, split->extent))
                                      : split->extent;
        item->filled++;
        if (!item->value || !item->covered) return false;
        if (!v->may_pad) continue;
        if (item->filled > MAX_DIGITS) return false;
        item->digits[item->filled - 1] = split;
        item->digit_values[item->filled - 1] = digit;
    }
    return value != NULL;
}

/* ---- padding ---- */

/* Every digit begins where the next smaller one ends, so that any digits are those of one value.
 * out_top: the one that ends last. */
static bool has_no_gaps(inverse *v, const decoded *item, uint32_t *out_top) {
    bool used[MAX_DIGITS] = {false};
    const hone_expr *end = hone_expr_int(&v->a->ir, item->covered->dtype, 1);
    for (uint32_t n = 0; n < item->filled; n++) {
        uint32_t i = 0;
        while (i < item->filled &&
               (used[i] || !hone_prove_equal(v->a, item->digits[i]->lower, end))) {
            i++;
        }
        if (i == item->filled) return false;
        used[i] = true;
        *out_top = i;
        end = simp(v, hone_expr_mul(&v->a->ir, end, item->digits[i]->extent));
        if (!end) return false;
    }
    return true;
}

/* value >= extent. Of a loop this is told by the largest digit as far as that can: digit == 3 and
 * rest >= 2. */
static const hone_expr *is_beyond(inverse *v, const decoded *item, uint32_t top) {
    hone_ir *ir = &v->a->ir;
    const hone_expr *extent = item->source->extent, *lower = item->digits[top]->lower;
    const hone_expr *top_value = item->digit_values[top];
    const hone_expr *generic = hone_expr_binary(ir, HONE_OP_LE, extent, item->value);
    int64_t n = hone_expr_const(extent), step = hone_expr_const(lower);
    bool is_whole = item->source->is_fused || n < 1 || step < 2 || n % step == 0;
    if (is_whole || hone_expr_const(item->digits[top]->extent) != n / step + 1)
        return simp(v, generic);
    const hone_expr *above = hone_expr_mul(ir, top_value, lower);
    const hone_expr *rest = simp(v, hone_expr_sub(ir, item->value, above));
    const hone_expr *first = hone_expr_int(ir, extent->dtype, n / step);
    const hone_expr *least = hone_expr_int(ir, extent->dtype, n % step);
    return simp(v, hone_expr_binary(ir, HONE_OP_AND,
                                    hone_expr_binary(ir, HONE_OP_EQ, top_value, first),
                                    hone_expr_binary(ir, HONE_OP_LE, least, rest)));
}

/* All values of a source are decoded from digits; which digits are of none? */
static bool note_padding(inverse *v, const decoded *item) {
    uint32_t top = 0;
    if (v->may_pad && !has_no_gaps(v, item, &top)) return false;
    if (hone_prove_equal(v->a, item->covered, item->source->extent)) return true;
    if (!v->may_pad) return false;
    if (!hone_prove_less_equal(v->a, item->source->extent, item->covered)) return false;
    const hone_expr *beyond = is_beyond(v, item, top);
    if (!beyond) return false;
    if (hone_expr_is_int_value(beyond, 0)) return true;
    v->padding = v->padding ? hone_expr_binary(&v->a->ir, HONE_OP_OR, v->padding, beyond) : beyond;
    return v->padding != NULL;
}

/* An index runs over one range without gaps. */
static bool is_compact(inverse *v, const hone_iter_sum *sum) {
    const hone_expr *end = hone_expr_int(&v->a->ir, HONE_DTYPE_I32, 1);
    for (uint32_t i = sum->count; i-- > 0 && end;) {
        if (!hone_prove_equal(v->a, end, sum->splits[i].scale)) return false;
        end = simp(v, hone_expr_mul(&v->a->ir, sum->splits[i].scale, sum->splits[i].extent));
    }
    return end != NULL;
}

/* Opens fused sources whose value is complete until none is left. */
static bool open_fused(inverse *v) {
    bool progress = true;
    while (progress) {
        progress = false;
        for (uint32_t i = 0; i < v->count; i++) {
            decoded *item = &v->items[i];
            if (!item->source->is_fused || item->is_open || item->filled < item->uses) continue;
            item->is_open = true;
            progress = true;
            if (!decode(v, &item->source->sum, item->value)) return false;
        }
    }
    for (uint32_t i = 0; i < v->count; i++) {
        const decoded *item = &v->items[i];
        if (item->filled < item->uses || (item->source->is_fused && !item->is_open)) return false;
        if (!note_padding(v, item)) return false;
    }
    return true;
}

static bool invert(inverse *v, const hone_itermap *map, const hone_expr *const *index_values,
                   uint32_t iter_count, const hone_iter *iters, const hone_expr **out) {
    for (uint32_t k = 0; k < iter_count; k++)
        out[k] = NULL;
    if (map->reason) return false;
    for (uint32_t i = 0; i < map->count; i++) {
        if (!count_uses(v, &map->sums[i])) return false;
        if (v->may_pad && !is_compact(v, &map->sums[i])) return false;
    }
    for (uint32_t i = 0; i < map->count; i++) {
        if (!decode(v, &map->sums[i], index_values[i])) return false;
    }
    if (!open_fused(v)) return false;
    for (uint32_t k = 0; k < iter_count; k++) {
        if (hone_expr_is_int_value(iters[k].range.extent, 1)) out[k] = iters[k].range.min;
        for (uint32_t i = 0; i < v->count; i++) {
            const hone_iter_source *source = v->items[i].source;
            if (source->is_fused || source->var != iters[k].var) continue;
            out[k] = simp(v, hone_expr_add(&v->a->ir, v->items[i].value, source->min));
        }
    }
    return true;
}

bool hone_itermap_inverse(hone_arith *arith, const hone_itermap *map,
                          const hone_expr *const *index_values, uint32_t iter_count,
                          const hone_iter *iters, const hone_expr **out) {
    inverse v = {.a = arith};
    return invert(&v, map, index_values, iter_count, iters, out);
}

bool hone_itermap_inverse_padded(hone_arith *arith, const hone_itermap *map,
                                 const hone_expr *const *index_values, uint32_t iter_count,
                                 const hone_iter *iters, const hone_expr **out,
                                 const hone_expr **out_padding) {
    inverse v = {.a = arith, .may_pad = true};
    bool ok = invert(&v, map, index_values, iter_count, iters, out);
    *out_padding = ok && v.padding ? simp(&v, v.padding) : NULL;
    return ok && (!v.padding || *out_padding);
}

/* ---- longer loops ---- */

/* Multiplies the extents of the digits of each loop, fused numbers opened where they are met first.
 */
static bool multiply_digits(inverse *v, const hone_iter_sum *sum) {
    for (uint32_t i = 0; i < sum->count; i++) {
        const hone_iter_split *split = &sum->splits[i];
        decoded *item = find(v, split->source);
        if (!item) {
            if (v->count == MAX_SOURCES) return false;
            item = &v->items[v->count++];
            *item = (decoded){.source = split->source};
            if (split->source->is_fused && !multiply_digits(v, &split->source->sum)) return false;
        }
        item->covered = item->covered
                            ? simp(v, hone_expr_mul(&v->a->ir, item->covered, split->extent))
                            : split->extent;
        if (!item->covered) return false;
    }
    return true;
}

static bool lengthen(hone_arith *arith, const hone_itermap *map, uint32_t iter_count,
                     const hone_iter *iters, hone_iter *out) {
    inverse v = {.a = arith};
    for (uint32_t i = 0; i < map->count; i++) {
        if (!multiply_digits(&v, &map->sums[i])) return false;
    }
    for (uint32_t k = 0; k < iter_count; k++) {
        out[k] = iters[k];
        for (uint32_t i = 0; i < v.count; i++) {
            const hone_iter_source *source = v.items[i].source;
            if (source->is_fused || source->var != iters[k].var) continue;
            if (!hone_prove_less_equal(arith, iters[k].range.extent, v.items[i].covered))
                return false;
            hone_dtype dtype = iters[k].range.extent->dtype;
            out[k].range.extent = hone_expr_cast(&arith->ir, dtype, v.items[i].covered);
        }
    }
    return true;
}

bool hone_itermap_detect_lengthened(hone_arith *arith, uint32_t count,
                                    const hone_expr *const *indices, uint32_t iter_count,
                                    const hone_iter *iters, const hone_iter **out_iters,
                                    hone_itermap *out) {
    *out_iters = iters;
    if (hone_itermap_detect(arith, count, indices, iter_count, iters, NULL, HONE_ITERMAP_BIJECTIVE,
                            true, out)) {
        return true;
    }
    hone_itermap map;
    hone_iter *longer = hone_arena_alloc(arith->ir.arena, (iter_count + 1) * sizeof *longer);
    *out_iters = longer;
    return longer &&
           hone_itermap_detect(arith, count, indices, iter_count, iters, NULL,
                               HONE_ITERMAP_INJECTIVE, true, &map) &&
           lengthen(arith, &map, iter_count, iters, longer) &&
           hone_itermap_detect(arith, count, indices, iter_count, longer, NULL,
                               HONE_ITERMAP_BIJECTIVE, true, out);
}
