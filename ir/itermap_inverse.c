/* ir/itermap_inverse.c - from index values back to loop variables.
 *
 * An index value is decoded into the values of its splits (largest scale first); digits of one
 * source add up to the source; a fused source is decoded in its turn, after all that use it.
 */
#include "ir/itermap_impl.h"

enum { MAX_SOURCES = 64 };

typedef struct decoded {
    const hone_iter_source *source;
    const hone_expr *value;   /* sum of digit * lower so far */
    uint32_t uses, filled;    /* splits that refer to it; of these, decoded */
    const hone_expr *covered; /* product of the extents of its digits */
    bool is_open;             /* its own sum was decoded */
} decoded;

typedef struct inverse {
    hone_arith *a;
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
        if (!imap_is_one(split->scale)) digit = hone_expr_floordiv(ir, digit, split->scale);
        if (i > 0) digit = hone_expr_floormod(ir, digit, split->extent);
        decoded *item = find(v, split->source);
        const hone_expr *part = simp(v, hone_expr_mul(ir, digit, split->lower));
        item->value = item->value ? simp(v, hone_expr_add(ir, item->value, part)) : part;
        item->covered = item->covered ? simp(v, hone_expr_mul(ir, item->covered, split->extent))
                                      : split->extent;
        item->filled++;
        if (!item->value || !item->covered) return false;
    }
    return value != NULL;
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
        if (!hone_prove_equal(v->a, item->covered, item->source->extent)) return false;
    }
    return true;
}

bool hone_itermap_inverse(hone_arith *arith, const hone_itermap *map,
                          const hone_expr *const *index_values, uint32_t iter_count,
                          const hone_iter *iters, const hone_expr **out) {
    for (uint32_t k = 0; k < iter_count; k++)
        out[k] = NULL;
    if (map->reason) return false;
    inverse v = {.a = arith};
    for (uint32_t i = 0; i < map->count; i++) {
        if (!count_uses(&v, &map->sums[i])) return false;
    }
    for (uint32_t i = 0; i < map->count; i++) {
        if (!decode(&v, &map->sums[i], index_values[i])) return false;
    }
    if (!open_fused(&v)) return false;
    for (uint32_t k = 0; k < iter_count; k++) {
        if (hone_expr_is_int_value(iters[k].range.extent, 1)) out[k] = iters[k].range.min;
        for (uint32_t i = 0; i < v.count; i++) {
            const hone_iter_source *source = v.items[i].source;
            if (source->is_fused || source->var != iters[k].var) continue;
            out[k] = simp(&v, hone_expr_add(&arith->ir, v.items[i].value, source->min));
        }
    }
    return true;
}
