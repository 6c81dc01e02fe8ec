/* tuner/space/space_packed.c - products whose right side is packed for the tile
 * (schedule/defaults/packed.h): the whole of it first, or for each panel of columns.
 *
 * Columns of a tile are as many vectors as the sketch says; rows are sampled, up to what registers
 * hold beside a vector of each column and one of a row.
 */
#include "schedule/defaults/packed.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

enum { MOST_VECTORS = 4, FEW_REGISTERS = 16, MAX_ROW_CHOICES = 12, MOST_GROUPED = 8 };

/* What a sketch is of; bits of the argument of a variant. */
enum {
    VECTORS = 7,    /* of a tile */
    PER_PANEL = 8,  /* packed within the loop over panels */
    IS_TURNED = 16, /* columns are not the contiguous axis of the output */
    IS_PACKED = 32,
    PREFETCHES = 64,  /* steps of the reduction ask for what later ones read */
    IS_SQUARE = 128,  /* rows of a tile are places of two axes */
    ROWS_FIRST = 256, /* all panels for each row of tiles, not all rows for each panel */
};

static hone_status illegal(const char *why) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "%s", why);
}

static bool is_product(hone_schedule *sch, hone_node_id node, const hone_target *target,
                       int32_t kind, hone_packed *out) {
    *out = (hone_packed){.vectors = kind & VECTORS};
    if (!hone_packed_find(sch, node, kind & IS_TURNED, kind & IS_PACKED, out)) return false;
    out->lanes = hone_target_lanes(target, out->f.element_bits);
    out->columns = out->vectors * out->lanes;
    return out->lanes > 1 && out->f.extents[out->column] >= out->columns - out->lanes + 1;
}

/* Whether there is a loop over rows that goes outside of panels or inside. */
static bool has_other_rows(const hone_packed *p) {
    const hone_region *operand = &hone_packed_block(p)->reads[p->read];
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        bool is_other = p->f.is_spatial[a] && a != p->row && a != p->column;
        if (is_other && p->f.extents[a] > 1 && hone_packed_place(p, operand, a) < 0) return true;
    }
    return false;
}

/* What else a sketch asks of a product; false: it is no product for such a one. */
static bool take_shape(hone_packed *p, int32_t kind) {
    if (!(kind & IS_TURNED)) return true;
    p->last_sum = hone_packed_longest_sum(p);
    if ((kind & ROWS_FIRST) && !has_other_rows(p)) return false;
    if (kind & IS_SQUARE) p->outer_row = hone_packed_find_outer_row(p);
    return !(kind & IS_SQUARE) || p->outer_row >= 0;
}

/* ---- decisions ---- */

/* Rows whose sums are in registers, up to `most`; more of them are likelier, since they share more,
 * but for the outer ones of a square. */
static hone_status sample_rows(const hone_packed *p, int64_t most, uint32_t axis, hone_rv *out) {
    int64_t rows[MAX_ROW_CHOICES];
    double probs[MAX_ROW_CHOICES];
    uint32_t count = 0;
    if (most > p->f.extents[axis]) most = p->f.extents[axis];
    int64_t step = (most + MAX_ROW_CHOICES - 1) / MAX_ROW_CHOICES;
    for (int64_t r = most; r >= 1 && count < MAX_ROW_CHOICES; r -= step) {
        rows[count] = r;
        probs[count++] = axis == p->row ? (double)r : 1.0 / (double)r;
    }
    if (count == 0) return illegal("registers hold no row");
    return hone_sch_sample_categorical(p->sch, count, rows, probs, NULL, out);
}

/* So many steps ahead. */
static hone_status sample_prefetch(const hone_packed *p, hone_rv loop) {
    static const int64_t steps[] = {16, 32, 64};
    static const double probs[] = {0.25, 0.5, 0.25};
    hone_rv ahead;
    HONE_TRY(hone_sch_sample_categorical(p->sch, HONE_COUNT(steps), steps, probs, NULL, &ahead));
    return hone_sch_annotate(p->sch, loop, "pragma_prefetch", HONE_VALUE_OF_INT(0), ahead);
}

/* How many tiles stand beside each other: none of them is left over. */
static hone_status sample_group(const hone_packed *p, hone_rv *out) {
    int64_t tiles = (p->f.extents[p->column] + p->columns - 1) / p->columns, groups[MOST_GROUPED];
    double probs[MOST_GROUPED];
    uint32_t count = 0;
    for (int64_t g = 1; g <= MOST_GROUPED; g *= 2) {
        if (tiles % g) break;
        groups[count] = g;
        probs[count++] = 1.0 / (double)g;
    }
    return hone_sch_sample_categorical(p->sch, count, groups, probs, NULL, out);
}

static hone_status decide(const hone_packed *p, const hone_target *target, bool rows_first,
                          hone_packed_tiling *out) {
    hone_rv rows, outer, group;
    int64_t registers = hone_target_vector_registers(target);
    int64_t most = (registers - p->vectors - 1) / p->vectors;
    bool is_square = p->outer_row >= 0;
    *out = (hone_packed_tiling){.rows_first = rows_first};
    HONE_TRY(sample_rows(p, is_square ? most / 2 : most, p->row, &rows));
    if (is_square) {
        HONE_TRY(sample_rows(p, most / 2, (uint32_t)p->outer_row, &outer));
        out->outer_rows = HONE_FACTOR_OF_RV(outer);
    }
    HONE_TRY(sample_group(p, &group));
    out->rows = HONE_FACTOR_OF_RV(rows);
    out->group = HONE_FACTOR_OF_RV(group);
    return HONE_OK;
}

/* ---- a sketch ---- */

static hone_status pack(hone_schedule *sch, const char *name, const hone_target *target,
                        int32_t kind) {
    hone_packed p;
    hone_packed_tiling tiling;
    hone_packed_places at;
    hone_packed_copy copy = {.block = HONE_NO_ID};
    hone_rv epilogue;
    hone_node_id node = hone_rule_find_block(sch, name);
    if (node == HONE_NO_ID || !is_product(sch, node, target, kind, &p) || !take_shape(&p, kind))
        return illegal("no product of this kind");
    HONE_TRY(hone_sch_get_block(sch, name, &p.block));
    HONE_TRY(hone_packed_widen_shared(&p));
    HONE_TRY(hone_packed_cache_tile(&p, &epilogue));
    if (kind & IS_PACKED) HONE_TRY(hone_packed_copy_operand(&p, &copy));
    HONE_TRY(hone_sch_annotate(sch, p.block, HONE_ANNOTATION_TILING, HONE_VALUE_OF_STRING("packed"),
                               HONE_NO_ID));
    HONE_TRY(hone_schedule_node(sch, p.block, &p.node));
    HONE_TRY(decide(&p, target, (kind & ROWS_FIRST) != 0, &tiling));
    HONE_TRY(hone_packed_nest(&p, &tiling, &at));
    HONE_TRY(hone_packed_take_tile(&p, epilogue, &at));
    if ((kind & IS_TURNED) && p.together == 1)
        HONE_TRY(hone_packed_take_padding(sch, p.block, &p.f));
    HONE_TRY(hone_sch_unroll(sch, at.row));
    if (at.outer_row != HONE_NO_ID) HONE_TRY(hone_sch_unroll(sch, at.outer_row));
    if (kind & PREFETCHES) HONE_TRY(sample_prefetch(&p, at.reduce));
    if (copy.block == HONE_NO_ID) return HONE_OK;
    return kind & PER_PANEL ? hone_packed_pack_panel(&p, &copy, &at)
                            : hone_packed_pack_all(&p, &copy);
}

/* ---- the rule ---- */

/* Vectors of a tile: more than two take registers from rows, where there are few. */
static int32_t most_vectors(const hone_target *target) {
    return hone_target_vector_registers(target) > FEW_REGISTERS ? MOST_VECTORS : MOST_VECTORS - 1;
}

hone_status hone_rule_packed_tiles(hone_schedule *sch, const char *block_name,
                                   const hone_target *target, hone_rule_results *out_results) {
    enum { TURNED = IS_PACKED | IS_TURNED };
    static const int32_t kinds[] = {
        IS_PACKED,           IS_PACKED | PREFETCHES, IS_PACKED | PER_PANEL,           TURNED,
        TURNED | ROWS_FIRST, TURNED | IS_SQUARE,     TURNED | IS_SQUARE | ROWS_FIRST, 0};
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    for (size_t k = 0; k < HONE_COUNT(kinds) && node != HONE_NO_ID; k++) {
        for (int32_t vectors = most_vectors(target); vectors >= 1 && !st; vectors--) {
            hone_packed p;
            int32_t kind = kinds[k] | vectors;
            if (!is_product(sch, node, target, kind, &p) || !take_shape(&p, kind)) continue;
            st = hone_rule_fork(sch, pack, block_name, target, kind, out_results);
        }
    }
    hone_status kept = hone_rule_keep(sch, out_results);
    return st ? hone_status_join(st, kept) : kept;
}
