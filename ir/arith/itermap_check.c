/* ir/arith/itermap_check.c - is a map of splits injective, surjective, bijective?
 *
 * All digits (lower, extent) that the map takes of one source are looked at together. The source
 * can be rebuilt from them (injective) when each starts where what is known ends; they are
 * independent (surjective) when none reaches into the next and all fit into the source.
 */
#include "ir/arith/itermap_impl.h"

typedef struct digits {
    imap *m;
    uint32_t count, capacity;
    hone_iter_split *items;
    uint32_t visited_count, visited_capacity;
    const hone_iter_source **visited; /* fused sources in the order they were met */
} digits;

static bool visit(digits *d, const hone_iter_split *split);

static bool visit_source(digits *d, const hone_iter_source *source) {
    for (uint32_t i = 0; i < d->visited_count; i++) {
        if (d->visited[i] == source) return true;
    }
    void *items = (void *)(uintptr_t)d->visited;
    if (!arith_grow(d->m->a, &items, d->visited_count, &d->visited_capacity, sizeof source)) {
        return false;
    }
    d->visited = items;
    d->visited[d->visited_count++] = source;
    for (uint32_t i = 0; i < source->sum.count; i++) {
        if (!visit(d, &source->sum.splits[i])) return false;
    }
    return true;
}

static bool visit(digits *d, const hone_iter_split *split) {
    void *items = d->items;
    if (!arith_grow(d->m->a, &items, d->count, &d->capacity, sizeof *split)) return false;
    d->items = items;
    d->items[d->count++] = *split;
    return !split->source->is_fused || visit_source(d, split->source);
}

static bool fail(imap *m, const char *reason) {
    m->reason = reason;
    return false;
}

/* The digits of one source, by lower. */
static bool digits_of(digits *d, const hone_iter_source *source, hone_iter_split *out,
                      uint32_t *out_count) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        if (d->items[i].source != source) continue;
        uint32_t j = n++;
        while (j > 0 && !imap_less_equal(d->m, out[j - 1].lower, d->items[i].lower)) {
            if (!imap_less_equal(d->m, d->items[i].lower, out[j - 1].lower)) return false;
            out[j] = out[j - 1];
            j--;
        }
        out[j] = d->items[i];
    }
    *out_count = n;
    return true;
}

static bool is_rebuilt(imap *m, const hone_iter_source *source, const hone_iter_split *sorted,
                       uint32_t count) {
    const hone_expr *known = imap_int(m, 1), *ignored = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!imap_equal(m, known, sorted[i].lower) &&
            !imap_divide(m, known, sorted[i].lower, &ignored)) {
            return false;
        }
        const hone_expr *end = imap_end_of(m, &sorted[i]);
        if (!end) return false;
        if (i == 0 || imap_less_equal(m, known, end)) /* the first one may have no values at all */
            known = end;
        else if (!imap_less_equal(m, end, known))
            return false;
    }
    return imap_less_equal(m, source->extent, known);
}

static bool is_independent(imap *m, const hone_iter_source *source, const hone_iter_split *sorted,
                           uint32_t count) {
    const hone_expr *end = NULL, *ignored = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (end && !imap_equal(m, end, sorted[i].lower) &&
            !imap_divide(m, sorted[i].lower, end, &ignored)) {
            return false;
        }
        end = imap_end_of(m, &sorted[i]);
    }
    return !end || imap_less_equal(m, end, source->extent);
}

static bool check_source(digits *d, const hone_iter_source *source, hone_iter_split *room,
                         bool injective, bool surjective) {
    uint32_t n = 0;
    if (!digits_of(d, source, room, &n)) return fail(d->m, "extents cannot be compared");
    if (injective && !imap_is_one(source->extent) && !is_rebuilt(d->m, source, room, n)) {
        return fail(d->m,
                    n ? "a loop is not covered by the parts that are used" : "a loop is not used");
    }
    if (surjective && !is_independent(d->m, source, room, n)) {
        return fail(d->m, "a loop is used more than once");
    }
    return true;
}

/* Each scale is larger than all that the smaller ones can add up to. */
static bool is_decodable(imap *m, const hone_iter_sum *sum) {
    hone_ir *ir = &m->a->ir;
    const hone_expr *reach = imap_int(m, 1); /* 1 + the most that later terms add */
    for (uint32_t i = sum->count; i-- > 0;) {
        const hone_iter_split *s = &sum->splits[i];
        if (imap_is_one(s->extent)) continue;
        if (!imap_less_equal(m, reach, s->scale)) return false;
        const hone_expr *top = hone_expr_sub(ir, s->extent, imap_int(m, 1));
        reach = arith_simp(m->a, hone_expr_add(ir, reach, hone_expr_mul(ir, top, s->scale)));
        if (!reach) return false;
    }
    return true;
}

static bool is_full_range(imap *m, const hone_iter_sum *sum) {
    return sum->count == 0 || (imap_is_one(sum->splits[sum->count - 1].scale) &&
                               imap_is_compact(m, sum->splits, sum->count));
}

static bool check_sums(imap *m, const hone_itermap *map, bool injective, bool surjective) {
    for (uint32_t i = 0; i < map->count; i++) {
        m->failed_index = i;
        if (surjective && !is_full_range(m, &map->sums[i])) {
            return fail(m, "an index leaves gaps in its range");
        }
        if (injective && !surjective && !is_decodable(m, &map->sums[i])) {
            return fail(m, "an index adds up overlapping loops");
        }
    }
    m->failed_index = 0;
    return true;
}

static bool constraints_are_used(const digits *d) {
    for (uint32_t c = 0; c < d->m->constraint_count; c++) {
        const hone_iter_source *source = d->m->constraints[c].source;
        bool used = false;
        for (uint32_t i = 0; source && i < d->visited_count; i++)
            used |= d->visited[i] == source;
        if (!used) return false;
    }
    return true;
}

static bool check_all(digits *d, const hone_itermap *map, bool injective, bool surjective) {
    imap *m = d->m;
    for (uint32_t i = 0; i < map->count; i++) {
        for (uint32_t j = 0; j < map->sums[i].count; j++) {
            if (!visit(d, &map->sums[i].splits[j])) return false;
        }
    }
    if (surjective && (m->predicate_is_lost || !constraints_are_used(d))) {
        return fail(m, "the predicate does not bound a sum that the indices use");
    }
    hone_iter_split *room = arith_alloc(m->a, (d->count + 1) * sizeof *room);
    if (!room) return false;
    for (uint32_t k = 0; k < m->iter_count; k++) {
        if (!m->loops[k].extent) continue;
        if (!check_source(d, &m->loops[k], room, injective, surjective)) return false;
    }
    for (uint32_t i = 0; i < d->visited_count; i++) {
        if (!check_source(d, d->visited[i], room, injective, surjective)) return false;
    }
    return true;
}

bool imap_check(imap *m, const hone_itermap *map, hone_itermap_level level) {
    if (level == HONE_ITERMAP_NONE) return true;
    bool injective = level != HONE_ITERMAP_SURJECTIVE;
    bool surjective = level != HONE_ITERMAP_INJECTIVE;
    digits d = {.m = m};
    if (m->is_empty) return fail(m, "a loop is empty");
    bool ok =
        check_sums(m, map, injective, surjective) && check_all(&d, map, injective, surjective);
    return ok;
}
