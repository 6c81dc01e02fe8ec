/* schedule/defaults/default_winograd.c - see winograd.h. */
#include <math.h>
#include <string.h>

#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/winograd.h"
#include "schedule/primitive/primitives.h"
#include "schedule/variant/variant.h"

enum { MAX_VECTORS = 4, MAX_ROW_CHOICES = 12, MAX_OUT_LOOPS = 4, F32_BITS = 32 };

typedef struct stages {
    hone_default_nest n; /* of the products; facts are about them */
    hone_rv image, rows, tiles, products, sums, output, filters;
    int64_t size, m; /* of a tile, in and out */
    int64_t tile_count, row_count, filter_count, channel_count;
    uint32_t f, y, x; /* axes of the output */
} stages;

static hone_status illegal(const char *why) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "%s", why);
}

/* ---- what the program is ---- */

static const hone_block *find_block(const hone_schedule *sch, const char *name, hone_node_id *out) {
    hone_node_id root = hone_func_root_block(sch->func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(sch->func, root, n)) {
        const hone_node *node = hone_func_node(sch->func, n);
        *out = n;
        if (node->kind == HONE_NODE_BLOCK && strcmp(node->u.block.block->name, name) == 0)
            return node->u.block.block;
    }
    return NULL;
}

static int64_t extent_of(const hone_block *block, uint32_t axis) {
    return hone_expr_const(block->axes[axis].dom.extent);
}

/* One of variants.def: a program of the user's may have blocks of these names, too. */
static bool is_winograd(const hone_schedule *sch) {
    hone_variant variant;
    return hone_trace_variant(&sch->trace, &variant) && !variant.program &&
           strncmp(variant.name, "winograd", strlen("winograd")) == 0;
}

static bool read_sizes(stages *s) {
    hone_node_id node;
    const hone_block *products = find_block(s->n.sch, "winograd_products", &node);
    const hone_block *rows = find_block(s->n.sch, "winograd_rows", &node);
    const hone_block *sums = find_block(s->n.sch, "winograd_sums", &node);
    if (!is_winograd(s->n.sch) || !products || !rows || !sums) return false;
    s->size = extent_of(products, 0);
    s->m = extent_of(sums, 1);
    s->tile_count = extent_of(products, 2);
    s->row_count = extent_of(rows, 1);
    s->filter_count = extent_of(products, 3);
    s->channel_count = extent_of(products, 4);
    s->n.lanes = s->n.limits->vector_lanes > 0 ? s->n.limits->vector_lanes : 1;
    s->n.facts = (hone_reduction_facts){.element_bits = F32_BITS, .reduce = s->channel_count};
    return true;
}

/* The output's axes by how it reads sums[u, x % m, tile, f], in the row y % m. */
typedef struct reading {
    const hone_block *block;
    uint32_t f, y, x;
    bool is_found;
} reading;

static uint32_t axis_of(const hone_block *block, const hone_expr *e) {
    uint32_t a = 0;
    while (a < block->axis_count && (e->kind != HONE_EXPR_VAR || block->axes[a].var != e->u.var))
        a++;
    return a;
}

static bool read_output(void *ctx, const hone_expr *e) {
    reading *r = ctx;
    if (hone_expr_is_op(e, HONE_OP_EQ) && hone_expr_is_op(e->args[0], HONE_OP_FLOORMOD))
        r->y = axis_of(r->block, e->args[0]->args[0]);
    if (e->kind != HONE_EXPR_LOAD || e->count != 4) return true;
    r->f = axis_of(r->block, e->args[3]);
    if (hone_expr_is_op(e->args[1], HONE_OP_FLOORMOD))
        r->x = axis_of(r->block, e->args[1]->args[0]);
    return true;
}

static bool read_axes(stages *s) {
    hone_node_id node, store;
    reading r = {.block = find_block(s->n.sch, "winograd_output", &node)};
    if (!r.block) return false;
    r.f = r.y = r.x = r.block->axis_count;
    store = hone_tree_first_of(s->n.sch->func, node, HONE_NODE_STORE);
    hone_expr_walk(hone_func_node(s->n.sch->func, store)->u.store.value, read_output, &r);
    s->f = r.f;
    s->y = r.y;
    s->x = r.x;
    return r.f < r.block->axis_count && r.y < r.block->axis_count && r.x < r.block->axis_count;
}

/* ---- what pays ---- */

static int64_t filter_bytes(const stages *s) {
    return s->size * s->size * s->channel_count * s->filter_count * F32_BITS / 8;
}

bool hone_winograd_is(hone_schedule *sch) {
    const hone_default_limits limits = {.vector_lanes = 1};
    stages s = {
        .n = {.sch = sch, .limits = &limits}
    };
    return read_sizes(&s);
}

bool hone_winograd_choose(hone_schedule *sch, const hone_default_limits *limits,
                          hone_winograd_way *out) {
    stages s = {
        .n = {.sch = sch, .limits = limits}
    };
    if (!read_sizes(&s)) return false;
    int64_t filters = filter_bytes(&s);
    int64_t others =
        (s.channel_count + s.filter_count) * s.tile_count * s.size * s.size * F32_BITS / 8;
    out->is_fused = filters <= limits->l2_bytes || filters * s.row_count < others;
    out->vectors = s.filter_count > s.n.lanes ? 2 : 1;
    return true;
}

/* ---- rows of a tile of products ---- */

static int64_t most_rows(const stages *s, int64_t vectors, int64_t extent) {
    int64_t most = 1;
    while (most < extent && hone_default_tile_fits(&s->n, most + 1, vectors * s->n.lanes))
        most++;
    return most;
}

static int64_t best_rows(const stages *s, int64_t vectors, int64_t extent) {
    int64_t best = 1, columns = vectors * s->n.lanes;
    double least = HUGE_VAL;
    for (int64_t r = 1; r <= most_rows(s, vectors, extent); r++) {
        double time = (double)(extent / r) * hone_default_step_time(&s->n, r, columns) +
                      hone_default_step_time(&s->n, extent % r, columns);
        if (time <= least) best = r;
        if (time <= least) least = time;
    }
    return best;
}

static hone_status sample_rows(stages *s, int64_t vectors, int64_t extent, hone_rv *out) {
    int64_t most = most_rows(s, vectors, extent), best = best_rows(s, vectors, extent);
    int64_t rows[MAX_ROW_CHOICES + 1], chosen = 0;
    double probs[MAX_ROW_CHOICES + 1];
    uint32_t count = 0;
    rows[count++] = best;
    for (int64_t r = most; r >= 1 && count <= MAX_ROW_CHOICES; r--) {
        if (r != best) rows[count++] = r;
    }
    for (uint32_t i = 0; i < count; i++)
        probs[i] = 1.0 / count;
    hone_decision decision = {1, &chosen};
    return hone_sch_sample_categorical(s->n.sch, count, rows, probs, &decision, out);
}

/* ---- steps ---- */

static hone_status split(stages *s, hone_rv loop, hone_factor inner, hone_rv out[2]) {
    const hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, inner};
    const hone_rv *parts;
    HONE_TRY(hone_sch_split(s->n.sch, loop, 2, factors, true, false, &parts));
    out[0] = parts[0];
    out[1] = parts[1];
    return HONE_OK;
}

static hone_status get_blocks(stages *s) {
    const struct {
        const char *name;
        hone_rv *out;
    } blocks[] = {
        {"winograd_image",    &s->image   },
        {"winograd_rows",     &s->rows    },
        {"winograd_tiles",    &s->tiles   },
        {"winograd_products", &s->products},
        {"winograd_sums",     &s->sums    },
        {"winograd_output",   &s->output  },
        {"winograd_filters",  &s->filters },
    };
    for (size_t i = 0; i < HONE_COUNT(blocks); i++)
        HONE_TRY(hone_sch_get_block(s->n.sch, blocks[i].name, blocks[i].out));
    return HONE_OK;
}

/* Padding, and what else is cheap, goes into the image; what follows the convolution into the
 * output. */
static hone_status inline_others(stages *s) {
    for (int i = 0; i < HONE_DEFAULT_MAX_BLOCKS; i++) {
        hone_rv consumer;
        HONE_TRY(hone_default_epilogue(s->n.sch, s->output, &consumer));
        if (consumer == HONE_NO_ID) break;
        hone_status st = hone_sch_reverse_compute_inline(s->n.sch, consumer);
        if (st) return hone_default_optional(st);
    }
    for (int i = 0; i < HONE_DEFAULT_MAX_BLOCKS; i++) {
        uint32_t count;
        const hone_rv *producers;
        hone_node_id node;
        HONE_TRY(hone_sch_get_producers(s->n.sch, s->image, &count, &producers));
        if (count == 0) break;
        HONE_TRY(hone_schedule_node(s->n.sch, producers[0], &node));
        if (hone_nest_has_reduce_axis(s->n.sch, node) || !hone_nest_is_light(s->n.sch, node)) break;
        hone_status st = hone_sch_compute_inline(s->n.sch, producers[0]);
        if (st) return hone_default_optional(st);
    }
    return HONE_OK;
}

/* Rows of tiles, filters, tiles; a tile of the output in registers. out_row: the loop over rows. */
static hone_status nest_output(stages *s, hone_rv *out_row) {
    hone_schedule *sch = s->n.sch;
    uint32_t count, at = 0;
    const hone_rv *loops;
    hone_rv y[2], x[2], f[2], order[MAX_OUT_LOOPS + 3];
    HONE_TRY(hone_sch_get_loops(sch, s->output, &count, &loops));
    if (count > MAX_OUT_LOOPS) return illegal("the output is no plain nest");
    HONE_TRY(split(s, loops[s->y], HONE_FACTOR_OF_INT(s->m), y));
    HONE_TRY(split(s, loops[s->x], HONE_FACTOR_OF_INT(s->m), x));
    HONE_TRY(split(s, loops[s->f], HONE_FACTOR_OF_INT(s->n.lanes), f));
    for (uint32_t i = 0; i < count; i++) {
        if (i != s->f && i != s->y && i != s->x) order[at++] = loops[i];
    }
    const hone_rv inner[] = {y[0], f[0], x[0], y[1], x[1], f[1]};
    for (size_t i = 0; i < HONE_COUNT(inner); i++)
        order[at++] = inner[i];
    HONE_TRY(hone_sch_reorder(sch, at, order));
    HONE_TRY(hone_sch_compute_at(sch, s->sums, x[0], true, -1));
    HONE_TRY(hone_sch_unroll(sch, y[1]));
    HONE_TRY(hone_sch_unroll(sch, x[1]));
    HONE_TRY(hone_sch_vectorize(sch, f[1]));
    *out_row = y[0];
    HONE_TRY(hone_sch_get_loops(sch, s->sums, &count, &loops));
    HONE_TRY(hone_sch_unroll(sch, loops[count - 4]));
    HONE_TRY(hone_sch_unroll(sch, loops[count - 3]));
    return hone_sch_vectorize(sch, loops[count - 1]);
}

/* A tile of the input in registers: channels in vectors. */
static hone_status nest_tiles(stages *s) {
    hone_schedule *sch = s->n.sch;
    uint32_t count;
    const hone_rv *loops;
    hone_rv c[2];
    HONE_TRY(hone_sch_get_loops(sch, s->tiles, &count, &loops));
    hone_rv u = loops[count - 4], v = loops[count - 3], p = loops[count - 2];
    HONE_TRY(split(s, loops[count - 1], HONE_FACTOR_OF_INT(s->n.lanes), c));
    HONE_TRY(hone_sch_reorder(sch, 5, (const hone_rv[]){c[0], p, u, v, c[1]}));
    HONE_TRY(hone_sch_compute_at(sch, s->rows, p, true, -1));
    HONE_TRY(hone_sch_unroll(sch, u));
    HONE_TRY(hone_sch_unroll(sch, v));
    HONE_TRY(hone_sch_vectorize(sch, c[1]));
    HONE_TRY(hone_sch_get_loops(sch, s->rows, &count, &loops));
    HONE_TRY(hone_sch_unroll(sch, loops[count - 2]));
    HONE_TRY(hone_sch_unroll(sch, loops[count - 4]));
    return hone_sch_vectorize(sch, loops[count - 1]);
}

/* filters[u, v, f / columns, c, f % columns] */
static hone_status pack_filters(stages *s, int64_t columns) {
    const hone_index_map *map;
    hone_str text = {0};
    if (s->filter_count <= columns || s->filter_count % columns) return HONE_OK;
    hone_str_printf(&text, "lambda u, v, c, f: (u, v, f // %lld, c, f %% %lld)", (long long)columns,
                    (long long)columns);
    HONE_TRY(hone_default_read_map(s->n.sch, &text, &map));
    return hone_sch_transform_layout(s->n.sch, s->filters, true, 0, map, NULL, false);
}

static hone_status nest_products(stages *s, const hone_winograd_way *way) {
    hone_schedule *sch = s->n.sch;
    int64_t extent = way->is_fused ? s->tile_count / s->row_count : s->tile_count;
    uint32_t count;
    const hone_rv *l, *f;
    hone_rv rows, p[2];
    HONE_TRY(sample_rows(s, way->vectors, extent, &rows));
    HONE_TRY(hone_sch_get_loops(sch, s->products, &count, &l));
    const hone_factor factors[] = {{.kind = HONE_FACTOR_NONE},
                                   HONE_FACTOR_OF_INT(way->vectors),
                                   HONE_FACTOR_OF_INT(s->n.lanes)};
    l += count - 5;
    HONE_TRY(hone_sch_split(sch, l[3], 3, factors, true, false, &f));
    HONE_TRY(split(s, l[2], HONE_FACTOR_OF_RV(rows), p));
    const hone_rv order[] = {l[0], l[1], f[0], p[0], l[4], p[1], f[1], f[2]};
    HONE_TRY(hone_sch_reorder(sch, HONE_COUNT(order), order));
    HONE_TRY(hone_sch_unroll(sch, p[1]));
    HONE_TRY(hone_sch_unroll(sch, f[1]));
    HONE_TRY(hone_sch_vectorize(sch, f[2]));
    return hone_sch_decompose_reduction(sch, s->products, l[4], NULL);
}

hone_status hone_winograd_schedule(hone_schedule *sch, const hone_default_limits *limits,
                                   const hone_winograd_way *way) {
    stages s = {
        .n = {.sch = sch, .limits = limits}
    };
    hone_rv row;
    if (!read_sizes(&s) || !read_axes(&s)) return illegal("no program of Winograd's");
    if (s.n.lanes < 2) return illegal("no vectors");
    HONE_TRY(get_blocks(&s));
    HONE_TRY(inline_others(&s));
    HONE_TRY(nest_output(&s, &row));
    HONE_TRY(pack_filters(&s, way->vectors * s.n.lanes));
    if (way->is_fused) HONE_TRY(hone_sch_compute_at(sch, s.products, row, true, -1));
    if (way->is_fused) HONE_TRY(hone_sch_compute_at(sch, s.tiles, row, true, -1));
    HONE_TRY(nest_tiles(&s));
    if (way->is_fused) HONE_TRY(hone_sch_compute_at(sch, s.image, row, true, -1));
    return nest_products(&s, way);
}
