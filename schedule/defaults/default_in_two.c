/* schedule/defaults/default_in_two.c - reductions over several axes with others between them, whose
 * rows in memory are short: what lies apart is reduced first, along all that lies between, then
 * each row.
 *
 *   for a, c, b, d: Y[a, c] += f(X[a, b, c, d])
 *     ⇒
 *   for a, c0:
 *     for b: for c1, d (one run): rows[c1, d] += f(X[a, b, c, d])         default_beside.c
 *     for c1: for d: Y[a, c] += rows[c1, d]
 *
 * So it is where what is written lies along the memory, and what is reduced beside it (d and the
 * axes around it, of which the innermost is one of Y).
 */
#include <math.h>

#include "schedule/defaults/default_impl.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"

enum { LEAST_APART = 4 };

static const double ROW_TIME = 1.5; /* of a row, in vectors, and of a vector of a run */
static const double RUN_TIME = 1.5;

/* Loops by how far they move what is read, the closest first. A row is the first ones, up to the
 * first that reduce; rows lie beside each other along the next one. */
typedef struct rows {
    hone_default_shape s;
    uint32_t by_stride[HONE_NEST_MAX_LOOPS], count; /* loops of some length */
    uint32_t first, last; /* those of a row that reduce, in by_stride; then comes `beside` */
    uint32_t beside;      /* loop */
    int64_t length;       /* of a row */
    int64_t together;     /* rows whose sums are in registers at a time */
} rows;

static bool reduces(const rows *r, uint32_t loop) {
    return !r->s.n->facts.is_spatial[loop];
}

/* All that is read moves alike, and by so many elements; 0: it does not. */
static int64_t stride_of(const hone_default_shape *s, uint32_t loop) {
    for (uint32_t a = 2; a < s->access_count; a++)
        if (s->strides[loop][a] != s->strides[loop][1]) return 0;
    return s->strides[loop][1];
}

static bool sort_loops(rows *r) {
    const hone_default_shape *s = &r->s;
    r->count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->extents[i] == 1) continue;
        if (stride_of(s, i) < 1) return false;
        uint32_t at = r->count++;
        for (; at > 0 && stride_of(s, r->by_stride[at - 1]) > stride_of(s, i); at--)
            r->by_stride[at] = r->by_stride[at - 1];
        r->by_stride[at] = i;
    }
    return true;
}

/* The loops of a row and the one beside it go over all elements; what is written lies in the same
 * order. */
static bool is_dense(const rows *r) {
    const hone_default_shape *s = &r->s;
    int64_t stride = 1, written = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t loop = r->by_stride[i];
        if (i <= r->last + 1 && stride_of(s, loop) != stride) return false;
        stride *= s->extents[loop];
        if (reduces(r, loop)) continue;
        if (s->strides[loop][0] <= written) return false;
        written = s->strides[loop][0];
    }
    return true;
}

/* Loops that reduce a row are neighbours in the nest, too. */
static bool are_neighbours(const rows *r) {
    for (uint32_t i = r->first; i < r->last; i++)
        if (r->by_stride[i] != r->by_stride[i + 1] + 1) return false;
    return true;
}

static bool find_row(rows *r) {
    const hone_default_shape *s = &r->s;
    uint32_t i = 0;
    r->length = 1;
    for (; i < r->count && !reduces(r, r->by_stride[i]); i++)
        r->length *= s->extents[r->by_stride[i]];
    r->first = i;
    for (; i < r->count && reduces(r, r->by_stride[i]); i++)
        r->length *= s->extents[r->by_stride[i]];
    if (i == r->first || i == r->count) return false;
    r->last = i - 1;
    r->beside = r->by_stride[i];
    return is_dense(r) && are_neighbours(r);
}

static int64_t apart(const rows *r) {
    int64_t product = 1;
    for (uint32_t i = r->last + 1; i < r->count; i++)
        if (reduces(r, r->by_stride[i])) product *= r->s.extents[r->by_stride[i]];
    return product;
}

/* Spatial iterations around the loop that is beside rows. */
static int64_t others(const rows *r) {
    int64_t product = 1;
    for (uint32_t i = r->last + 2; i < r->count; i++)
        if (!reduces(r, r->by_stride[i])) product *= r->s.extents[r->by_stride[i]];
    return product;
}

/* Beside sums of each row by itself, of whose vectors the last is not full, and which begin anew
 * for each row; in vectors. Where what is written lies along the memory, a row is what it has. */
static bool pays(const rows *r) {
    int64_t length = 1;
    for (uint32_t i = 0; i < r->first; i++)
        length *= r->s.extents[r->by_stride[i]];
    if (r->first == 0) length = r->length;
    double full = (double)length / r->s.n->lanes;
    return length < r->s.n->lanes || ceil(full) + ROW_TIME > RUN_TIME * full;
}

static void choose_rows(rows *r) {
    const hone_default_nest *n = r->s.n;
    int64_t all = r->s.extents[r->beside];
    int64_t chunk = hone_default_beside_chunk(n, all * r->length, others(r));
    r->together = (chunk + r->length - 1) / r->length;
}

static bool fits(rows *r) {
    const hone_default_nest *n = r->s.n;
    bool fits = n->lanes > 1 && !n->facts.has_reuse && !n->facts.keeps_order && sort_loops(r) &&
                find_row(r) && apart(r) >= LEAST_APART && pays(r);
    if (fits) choose_rows(r);
    return fits;
}

/* ---- steps ---- */

/* Behind which dimension of the output rows get theirs: the last one that moves further. */
static int64_t new_dimension(const rows *r) {
    hone_schedule *sch = r->s.n->sch;
    const hone_block *block = hone_func_node(sch->func, r->s.block)->u.block.block;
    const hone_region *written = &block->writes[0];
    int64_t row = stride_of(&r->s, r->by_stride[r->first]), stride;
    uint32_t d = hone_func_buffer(sch->func, written->buffer)->rank;
    for (; d > 0; d--) {
        const hone_expr *at = written->ranges[d - 1].min;
        for (uint32_t a = 0; a < block->axis_count && at->kind == HONE_EXPR_VAR; a++) {
            bool is_it = block->axes[a].var == at->u.var &&
                         sch_stride_in_axis(sch, &block->reads[0], at->u.var, &stride);
            if (is_it && stride > row) return d;
        }
    }
    return 0;
}

/* Spatial loops outside, those that lie apart, then one loop over rows that go together. */
static hone_status nest(const rows *r, const hone_rv *loops, hone_rv *out_place) {
    hone_schedule *sch = r->s.n->sch;
    hone_rv parts[2], order[HONE_NEST_MAX_LOOPS + 2];
    uint32_t at = 0, closest = 0;
    const hone_default_sizes sizes = {r->together, 2 * r->together, 1};
    HONE_TRY(hone_default_split(sch, loops[r->beside], &sizes, parts));
    for (uint32_t i = r->count; i-- > r->last + 2;)
        if (!reduces(r, r->by_stride[i])) order[at++] = loops[r->by_stride[i]];
    order[at++] = parts[0];
    *out_place = parts[0];
    for (uint32_t i = r->count; i-- > r->last + 2;) {
        if (!reduces(r, r->by_stride[i])) continue;
        closest = r->by_stride[i];
        order[at++] = loops[closest];
    }
    uint32_t inner = at;
    order[at++] = parts[1];
    order[at++] = loops[r->by_stride[r->last]];
    for (uint32_t i = r->first; i-- > 0;)
        order[at++] = loops[r->by_stride[i]];
    HONE_TRY(hone_sch_reorder(sch, at, order));
    HONE_TRY(hone_sch_fuse(sch, at - inner, order + inner, true, &order[inner]));
    const int64_t extents[] = {r->s.extents[closest], r->together * r->length};
    return hone_default_beside_nest(r->s.n, order + inner - 1, extents);
}

/* The loops below a place of a block that was moved there, the spatial ones first. */
static hone_status list_below(const rows *r, hone_rv block_rv, hone_rv place, hone_rv *out,
                              uint32_t *out_count, uint32_t *out_spatial) {
    hone_schedule *sch = r->s.n->sch;
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    hone_node_id top, node, block;
    *out_count = 0;
    HONE_TRY(hone_schedule_node(sch, block_rv, &block));
    HONE_TRY(hone_schedule_node(sch, place, &top));
    HONE_TRY(hone_sch_get_loops(sch, block_rv, &count, &loops));
    for (int pass = 0; pass < 2 && count <= HONE_NEST_MAX_LOOPS; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            HONE_TRY(hone_schedule_node(sch, loops[i], &node));
            bool is_below = node != top && hone_tree_is_ancestor(sch->func, top, node);
            bool is_reduce = hone_default_only_reduces(sch, block, node);
            if (is_below && is_reduce == (pass == 1)) out[(*out_count)++] = loops[i];
        }
        if (pass == 0) *out_spatial = *out_count;
    }
    return HONE_OK;
}

/* What reduces rows does it along them, or in vectors of what is written where it lies along them;
 * short rows go across. */
static hone_status order_rows(const rows *r, hone_rv place) {
    hone_schedule *sch = r->s.n->sch;
    hone_rv below[HONE_NEST_MAX_LOOPS], order[HONE_NEST_MAX_LOOPS];
    uint32_t count, spatial, at = 0;
    bool is_short = r->first == 0 && r->length < r->s.n->lanes;
    HONE_TRY(list_below(r, r->s.n->block, place, below, &count, &spatial));
    uint32_t outer = is_short ? 0 : spatial >= r->first ? spatial - r->first : 0;
    if (count == spatial || count < 2) return HONE_OK;
    for (uint32_t i = 0; i < outer; i++)
        order[at++] = below[i];
    for (uint32_t i = spatial; i < count; i++)
        order[at++] = below[i];
    for (uint32_t i = outer; i < spatial; i++)
        order[at++] = below[i];
    HONE_TRY(hone_sch_reorder(sch, at, order));
    if (!is_short) return HONE_OK;
    for (uint32_t i = spatial; i < count; i++)
        HONE_TRY(hone_sch_unroll(sch, below[i]));
    return hone_sch_vectorize(sch, below[spatial - 1]);
}

static hone_status take_rows(const rows *r, hone_rv place) {
    hone_default_nest *n = r->s.n;
    hone_rv epilogue;
    HONE_TRY(hone_default_epilogue(n->sch, n->block, &epilogue));
    HONE_TRY(hone_sch_reverse_compute_at(n->sch, n->block, place, true, -1));
    HONE_TRY(hone_default_optional(order_rows(r, place)));
    if (epilogue == HONE_NO_ID) return HONE_OK;
    return hone_default_optional(hone_sch_reverse_compute_at(n->sch, epilogue, place, true, -1));
}

static hone_status apply(rows *r) {
    hone_default_nest *n = r->s.n;
    uint32_t count = 0, at = 0, kept = r->by_stride[r->last];
    const hone_rv *loops = NULL;
    hone_rv whole = r->s.loops[kept], first, place, left[HONE_NEST_MAX_LOOPS];
    if (r->first < r->last)
        HONE_TRY(hone_sch_fuse(n->sch, r->last - r->first + 1, r->s.loops + kept, true, &whole));
    HONE_TRY(hone_sch_rfactor(n->sch, whole, new_dimension(r), &first));
    HONE_TRY(hone_sch_get_loops(n->sch, first, &count, &loops));
    for (uint32_t i = 0; i < r->s.count && at < count; i++) {
        bool is_gone = i > kept && i <= r->by_stride[r->first]; /* fused with the one kept */
        left[i] = is_gone ? HONE_NO_ID : loops[at++];
    }
    HONE_TRY(nest(r, left, &place));
    return take_rows(r, place);
}

/* On a copy first: a step that is refused in the middle would leave half of it. */
hone_status hone_default_in_two(hone_default_nest *n, bool *out_is_done) {
    rows r = {0};
    hone_schedule *copy = NULL;
    bool fits_in;
    *out_is_done = false;
    HONE_TRY(hone_default_read_shape(n, n->facts.block, &r.s, &fits_in));
    if (!fits_in || !fits(&r)) return HONE_OK;
    HONE_TRY(hone_schedule_copy(n->sch, &copy));
    copy->wants_reasons = false;
    hone_default_nest on_copy = *n;
    on_copy.sch = copy;
    rows tried = r;
    tried.s.n = &on_copy;
    hone_status st = apply(&tried);
    hone_schedule_destroy(copy);
    if (st) return hone_default_optional(st);
    *out_is_done = true;
    return apply(&r);
}
