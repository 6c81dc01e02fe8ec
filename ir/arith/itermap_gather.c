/* ir/arith/itermap_gather.c - digits of parts of a number as digits of the number.
 *
 * Simplified texts name one thing in several ways: with x < 22, y < 9 and the number n = x*9 + y,
 *
 *     x // 11              is  n // 99
 *     (x*9 + y) // 11 % 9  is  n // 11 % 9
 *     x*3 + y // 3         is  n // 3
 *
 * The checks compare digits of one source only, so that such a map fails them until all are told as
 * digits of the largest number.
 */
#include "ir/arith/itermap_impl.h"

/* Fused numbers within fused numbers: deeper ones are left as they are. */
enum { MAX_DEPTH = 8 };

/* A plain mixed-radix number of whole loops. */
static bool is_number_of_loops(const hone_iter_source *number) {
    if (number->sum.count < 2 || !hone_expr_is_int_value(number->sum.base, 0)) return false;
    for (uint32_t i = 0; i < number->sum.count; i++) {
        const hone_iter_split *part = &number->sum.splits[i];
        if (part->source->is_fused || !imap_is_one(part->lower)) return false;
        if (!hone_expr_same(part->extent, part->source->extent)) return false;
    }
    return true;
}

/* part // lower % extent, where the part is a digit of the number already. */
static bool digit_of_digit(imap *m, hone_iter_split part, const hone_iter_split *split,
                           hone_iter_split *out) {
    const hone_expr *ignored = NULL, *end = imap_end_of(m, split);
    const hone_expr *lower = imap_mul(m, part.lower, split->lower), *extent = split->extent;
    if (!end || !lower) return false;
    if (imap_reaches_top(m, &part)) {
        if (imap_reaches_top(m, split)) extent = imap_ceildiv(m, part.source->extent, lower);
    } else if (!imap_divide(m, part.extent, end, &ignored)) {
        return false;
    }
    *out = (hone_iter_split){part.source, lower, extent, split->scale};
    return extent != NULL;
}

static bool as_digit(imap *m, const hone_iter_source *number, const hone_iter_split *split,
                     uint32_t depth, hone_iter_split *out);

/* A loop, or a number made of neighbouring digits, as one digit of the number. */
static bool source_as_digit(imap *m, const hone_iter_source *number, const hone_iter_source *source,
                            uint32_t depth, hone_iter_split *out) {
    if (!source->is_fused) {
        for (uint32_t i = 0; i < number->sum.count; i++) {
            const hone_iter_split *part = &number->sum.splits[i];
            if (part->source != source) continue;
            const hone_expr *extent =
                i == 0 ? imap_ceildiv(m, number->extent, part->scale) : part->extent;
            *out = (hone_iter_split){number, part->scale, extent, NULL};
            return extent != NULL;
        }
        return false;
    }
    if (!hone_expr_is_int_value(source->sum.base, 0) || source->sum.count < 2) return false;
    hone_iter_split last = {0}, part;
    for (uint32_t i = source->sum.count; i-- > 0; last = part) { /* smallest scale first */
        const hone_iter_split *s = &source->sum.splits[i];
        if (!as_digit(m, number, s, depth + 1, &part)) return false;
        if (!last.source) {
            if (!imap_is_one(s->scale)) return false;
            *out = part;
            continue;
        }
        if (!imap_equal(m, part.lower, imap_end_of(m, &last)) ||
            !imap_equal(m, s->scale, out->extent)) {
            return false;
        }
        out->extent = imap_mul(m, out->extent, part.extent);
        if (!out->extent) return false;
    }
    return true;
}

static bool as_digit(imap *m, const hone_iter_source *number, const hone_iter_split *split,
                     uint32_t depth, hone_iter_split *out) {
    hone_iter_split part;
    *out = *split;
    if (split->source == number) return true;
    return depth < MAX_DEPTH && source_as_digit(m, number, split->source, depth, &part) &&
           digit_of_digit(m, part, split, out);
}

bool imap_gather_digits(imap *m, uint32_t count, hone_iter_sum *sums) {
    const hone_iter_source *number = NULL;
    bool changed = false;
    for (uint32_t k = 0; k < m->fused_count; k++) {
        if (number && m->fused[k]->sum.count <= number->sum.count) continue;
        if (is_number_of_loops(m->fused[k])) number = m->fused[k];
    }
    for (uint32_t i = 0; number && i < count; i++) {
        for (uint32_t j = 0; j < sums[i].count; j++) {
            hone_iter_split digit;
            if (!as_digit(m, number, &sums[i].splits[j], 0, &digit)) continue;
            changed |= digit.source != sums[i].splits[j].source;
            sums[i].splits[j] = digit;
        }
    }
    return changed;
}
