/* tests/ir/region/test_relation_random.c - what access relations claim, against all pairs of
 * points.
 *
 *     for x0, …: (top may stand anywhere here)
 *         for y0, …: access A    (a block with bindings, or a store, perhaps below a let)
 *         for z0, …: access B
 */
#include <inttypes.h>
#include <string.h>

#include "ir/region/dependence.h"
#include "ir/region/relation.h"
#include "tests/ir/arith/arith_random.h"
#include "tests/support/hone_test.h"

enum { MAX_POINTS = 64, RANK = 2, MAX_BOXES = 4 };

enum { INJECTIVE_IN, CARRIES, INJECTIVE, DISJOINT, OVERLAP, DEPENDENCE, QUESTIONS };
static const char *const question_names[] = {"injective in", "carries", "injective",
                                             "disjoint",     "overlap", "dependence"};

typedef struct box_maker {
    bool is_second;             /* of B, else of A */
    hone_node_id at;            /* a block, or a store */
    const hone_expr **indices;  /* of a store */
    const hone_expr *min[RANK]; /* over loops; NULL: anything, as far as the relation knows */
    int64_t extent[RANK];
} box_maker;

typedef struct fixture {
    hone_arena *arena;
    world w;
    hone_arith arith;
    hone_func *func;
    hone_buffer buffer;
    hone_node_id loops[WORLD_MAX_VARS], top;
    uint32_t shared, first_of_b;    /* loops [0, shared) are of both */
    uint32_t fixed;                 /* loops [0, fixed) are top and those around it */
    uint32_t limit[WORLD_MAX_VARS]; /* a loop that the extent runs with, or WORLD_MAX_VARS */
    bool may_be_empty[WORLD_MAX_VARS];
    uint32_t box_count;
    box_maker boxes[MAX_BOXES];
    uint32_t point_count;
    int64_t points[MAX_POINTS][WORLD_MAX_VARS];
    int64_t mins[MAX_POINTS][MAX_BOXES][RANK];
    uint64_t asked[QUESTIONS], said[QUESTIONS], really[QUESTIONS];
} fixture;

static uint32_t pick(fixture *f, uint32_t n) {
    return (uint32_t)hone_rng_below(&f->w.rng, n);
}

static const hone_expr *num(fixture *f, int64_t value) {
    return hone_expr_i32(&f->w.ir, value);
}

/* ---- programs ---- */

/* Loop v below parent; sometimes a triangle with a loop outside. */
static hone_node_id make_loop(fixture *f, uint32_t v, uint32_t outer, hone_node_id parent) {
    hone_ir *ir = &f->w.ir;
    hone_range range = {num(f, f->w.min[v]), num(f, f->w.extent[v])};
    f->limit[v] = WORLD_MAX_VARS;
    if (outer > 0 && pick(f, 6) == 0) {
        uint32_t u = f->limit[v] = pick(f, outer);
        f->may_be_empty[v] = pick(f, 2) == 0;
        f->w.extent[v] = f->w.extent[u];
        range.extent = hone_expr_sub(ir, world_var(&f->w, u),
                                     num(f, f->w.min[u] - (f->may_be_empty[v] ? 0 : 1)));
    }
    static const hone_loop_kind kinds[] = {HONE_LOOP_SERIAL, HONE_LOOP_PARALLEL, HONE_LOOP_THREAD};
    hone_node_id loop = hone_func_add_loop(f->func, v, kinds[pick(f, 3)], range);
    hone_tree_append(f->func, parent, loop);
    hone_arith_bind(&f->arith, v, range);
    return f->loops[v] = loop;
}

static void make_loops(fixture *f) {
    uint32_t n = f->w.var_count;
    for (uint32_t v = 0; v < n; v++)
        hone_func_add_var(f->func, "i", HONE_DTYPE_I32);
    f->shared = 1 + pick(f, n);
    f->first_of_b = f->shared + pick(f, n - f->shared + 1);
    f->fixed = pick(f, 2) == 0 ? 0 : pick(f, f->shared);
    hone_node_id parent = HONE_NODE_TOP;
    for (uint32_t v = 0; v < f->shared; v++)
        parent = make_loop(f, v, v, parent);
    f->top = f->fixed == 0 ? (hone_node_id)HONE_NODE_TOP : f->loops[f->fixed - 1];
    for (uint32_t v = f->shared; v < n; v++) {
        bool is_first = v == f->shared || v == f->first_of_b;
        parent = make_loop(f, v, f->shared, is_first ? f->loops[f->shared - 1] : f->loops[v - 1]);
    }
}

/* Is loop v around the accesses of A (of B)? */
static bool is_around(const fixture *f, uint32_t v, bool is_second) {
    return v < f->shared || (is_second ? v >= f->first_of_b : v < f->first_of_b);
}

/* ---- indices ---- */

/* Loops as digits of one number, in any order, sometimes a digit or two of that. */
static const hone_expr *make_number(fixture *f, bool is_second) {
    hone_ir *ir = &f->w.ir;
    const hone_expr *sum = num(f, pick(f, 3) == 0 ? pick(f, 4) : 0);
    int64_t scale = 1 + (pick(f, 5) == 0);
    uint32_t first = pick(f, f->w.var_count);
    for (uint32_t k = 0; k < f->w.var_count; k++) {
        uint32_t v = (first + k) % f->w.var_count;
        if (!is_around(f, v, is_second) || pick(f, 3) == 0) continue;
        const hone_expr *digit = world_var(&f->w, v);
        if (pick(f, 4) == 0) digit = hone_expr_sub(ir, num(f, f->w.extent[v]), digit);
        sum = hone_expr_add(ir, sum, hone_expr_mul(ir, digit, num(f, scale)));
        scale *= f->w.extent[v] + (pick(f, 6) == 0) - (pick(f, 8) == 0);
    }
    if (pick(f, 5) == 0) sum = hone_expr_floordiv(ir, sum, num(f, 1 + pick(f, 4)));
    if (pick(f, 5) == 0) sum = hone_expr_floormod(ir, sum, num(f, 2 + pick(f, 6)));
    return sum;
}

/* What is made of an axis, or of its binding. */
static const hone_expr *derive(fixture *f, const hone_expr *x, int64_t factor, int64_t shift) {
    return hone_expr_add(&f->w.ir, hone_expr_mul(&f->w.ir, x, num(f, factor)), num(f, shift));
}

static const hone_expr *like_before(fixture *f, bool is_second, uint32_t d) {
    const box_maker *last = f->box_count ? &f->boxes[f->box_count - 1] : NULL;
    if (!last || last->is_second != is_second || !last->min[d] || pick(f, 5) == 0) return NULL;
    return derive(f, last->min[d], 1, pick(f, 2) == 0 ? 0 : (int64_t)pick(f, 6) - 2);
}

/* A block with an axis for each dimension, whose declared box is derived of it. */
static void add_block(fixture *f, bool is_second, hone_node_id parent) {
    hone_axis *axes = hone_arena_zalloc(f->arena, RANK * sizeof *axes);
    hone_range *ranges = hone_arena_zalloc(f->arena, RANK * sizeof *ranges);
    hone_region *region = hone_arena_zalloc(f->arena, sizeof *region);
    hone_block *block = hone_arena_zalloc(f->arena, sizeof *block);
    const hone_expr **bindings = hone_arena_zalloc(f->arena, RANK * sizeof(const hone_expr *));
    box_maker *box = &f->boxes[f->box_count];
    *box = (box_maker){.is_second = is_second};
    for (uint32_t d = 0; d < RANK; d++) {
        int64_t factor = 1 + (int64_t)pick(f, 3), shift = pick(f, 3);
        axes[d].var = hone_func_add_var(f->func, "v", HONE_DTYPE_I32);
        axes[d].dom = (hone_range){num(f, 0), num(f, 64)};
        bindings[d] = make_number(f, is_second);
        box->extent[d] = pick(f, 2) == 0 ? 1 : 1 + pick(f, 4);
        box->min[d] = derive(f, bindings[d], factor, shift);
        ranges[d].min =
            derive(f, hone_expr_var(&f->w.ir, HONE_DTYPE_I32, axes[d].var), factor, shift);
        ranges[d].extent = num(f, box->extent[d]);
    }
    *region = (hone_region){f->buffer, ranges};
    *block = (hone_block){.name = "B", .axis_count = RANK, .axes = axes};
    if (pick(f, 2) == 0) {
        block->read_count = 1;
        block->reads = region;
    } else {
        block->write_count = 1;
        block->writes = region;
    }
    hone_node_id id = hone_func_add_node(f->func, HONE_NODE_BLOCK);
    hone_func_node(f->func, id)->u.block.block = block;
    hone_func_node(f->func, id)->u.block.bindings = bindings;
    hone_tree_append(f->func, parent, id);
    box->at = id;
    f->box_count++;
}

/* A store, sometimes below a let that one of its indices uses. */
static void add_store(fixture *f, bool is_second, hone_node_id parent) {
    const hone_expr **indices = hone_arena_zalloc(f->arena, RANK * sizeof *indices);
    box_maker *box = &f->boxes[f->box_count];
    *box = (box_maker){.is_second = is_second};
    for (uint32_t d = 0; d < RANK; d++) {
        const hone_expr *min = like_before(f, is_second, d);
        indices[d] = box->min[d] = min ? min : make_number(f, is_second);
        box->extent[d] = 1;
    }
    if (pick(f, 6) == 0) {
        hone_node_id let = hone_func_add_node(f->func, HONE_NODE_LET);
        hone_var var = hone_func_add_var(f->func, "x", HONE_DTYPE_I32);
        uint32_t d = pick(f, RANK);
        hone_func_node(f->func, let)->u.let.var = var;
        hone_tree_append(f->func, parent, let);
        parent = let;
        hone_func_node(f->func, let)->u.let.value = indices[d];
        indices[d] = hone_expr_var(&f->w.ir, HONE_DTYPE_I32, var);
        if (pick(f, 2) == 0) {
            hone_func_node(f->func, let)->u.let.value = hone_func_load(
                &f->w.ir, f->func, f->buffer, (const hone_expr *const[]){num(f, 0), num(f, 0)});
            box->min[d] = NULL;
        }
    }
    hone_node_id id = hone_func_add_node(f->func, HONE_NODE_STORE);
    hone_tree_append(f->func, parent, id);
    hone_node *store = hone_func_node(f->func, id);
    store->u.store.buffer = f->buffer;
    store->u.store.rank = RANK;
    store->u.store.indices = indices;
    store->u.store.value = num(f, 0);
    box->at = id;
    box->indices = indices;
    f->box_count++;
}

static void add_accesses(fixture *f, bool is_second) {
    hone_node_id parent = f->loops[f->shared - 1];
    for (uint32_t v = f->shared; v < f->w.var_count; v++) {
        if (is_around(f, v, is_second)) parent = f->loops[v];
    }
    for (uint32_t k = pick(f, 3) == 0 ? 2 : 1; k > 0; k--) {
        if (pick(f, 2) == 0)
            add_block(f, is_second, parent);
        else
            add_store(f, is_second, parent);
    }
}

/* The relation of A, of B, or of both. */
static hone_relation relate(fixture *f, bool with_first, bool with_second) {
    hone_relation rel;
    hone_relation_begin(&rel, &f->arith, f->func, f->buffer, f->top);
    for (uint32_t b = 0; b < f->box_count; b++) {
        const box_maker *box = &f->boxes[b];
        if (box->is_second ? !with_second : !with_first) continue;
        if (box->indices)
            hone_relation_add_element(&rel, box->at, box->indices);
        else
            hone_relation_add_block(&rel, box->at);
    }
    return rel;
}

/* ---- points ---- */

static bool is_in_domain(const fixture *f) {
    for (uint32_t v = 0; v < f->w.var_count; v++) {
        uint32_t u = f->limit[v];
        if (u == WORLD_MAX_VARS) continue;
        int64_t extent = f->w.value[u] - f->w.min[u] + (f->may_be_empty[v] ? 0 : 1);
        if (f->w.value[v] - f->w.min[v] >= extent) return false;
    }
    return true;
}

static void note_point(fixture *f) {
    uint32_t at = f->point_count++;
    memcpy(f->points[at], f->w.value, sizeof f->points[at]);
    for (uint32_t b = 0; b < f->box_count; b++) {
        for (uint32_t d = 0; d < RANK; d++) {
            const hone_expr *min = f->boxes[b].min[d];
            f->mins[at][b][d] = 0;
            if (min) assert_true(world_eval(&f->w, min, &f->mins[at][b][d]));
        }
    }
}

static bool find_points(fixture *f) {
    f->point_count = 0;
    world_first(&f->w);
    do {
        if (!is_in_domain(f)) continue;
        if (f->point_count == MAX_POINTS) return false;
        note_point(f);
    } while (world_next(&f->w));
    return true;
}

/* Have box a at p and box b at q an element in common? */
static bool meet(const fixture *f, uint32_t p, uint32_t a, uint32_t q, uint32_t b) {
    for (uint32_t d = 0; d < RANK; d++) {
        if (!f->boxes[a].min[d] || !f->boxes[b].min[d]) continue; /* they may */
        int64_t one = f->mins[p][a][d], other = f->mins[q][b][d];
        if (one + f->boxes[a].extent[d] <= other || other + f->boxes[b].extent[d] <= one)
            return false;
    }
    return true;
}

/* Is the pair one that the question is about? subject: a loop, or a set of loops. */
static bool is_asked(const fixture *f, int question, uint32_t subject, uint32_t p, uint32_t q) {
    bool differ = question == DISJOINT;
    for (uint32_t v = 0; v < f->w.var_count; v++) {
        bool is_same = f->points[p][v] == f->points[q][v];
        if (v < f->fixed && !is_same) return false;
        if (question == CARRIES && v < subject && !is_same) return false;
        if (question == INJECTIVE && !is_same && !(subject >> v & 1)) return false;
        if (question == INJECTIVE ? !is_same : v == subject && !is_same) differ = true;
    }
    return differ;
}

/* Of a dependence, that there is one. */
static bool holds(const fixture *f, int question, uint32_t subject) {
    if (question == DEPENDENCE) return !holds(f, CARRIES, subject);
    for (uint32_t p = 0; p < f->point_count; p++) {
        for (uint32_t q = 0; q < f->point_count; q++) {
            if (!is_asked(f, question, subject, p, q)) continue;
            for (uint32_t a = 0; a < f->box_count; a++) {
                for (uint32_t b = 0; b < f->box_count; b++) {
                    bool is_pair =
                        question != DISJOINT || (!f->boxes[a].is_second && f->boxes[b].is_second);
                    if (is_pair && meet(f, p, a, q, b)) return false;
                }
            }
        }
    }
    return true;
}

/* ---- questions ---- */

static int compare(fixture *f, uint64_t seed, int question, uint32_t subject, bool said) {
    bool really = holds(f, question, subject);
    f->asked[question]++;
    f->said[question] += said;
    f->really[question] += really;
    if (!said || really) return 0;
    print_error("seed %" PRIu64 ": %s %u is not true\n", seed, question_names[question], subject);
    for (uint32_t b = 0; b < f->box_count; b++) {
        for (uint32_t d = 0; d < RANK; d++) {
            hone_str text = {0};
            if (f->boxes[b].min[d]) world_print(f->boxes[b].min[d], &text);
            print_error("  %c[%s, + %" PRId64 "]\n", f->boxes[b].is_second ? 'B' : 'A',
                        hone_str_text(&text), f->boxes[b].extent[d]);
            hone_str_deinit(&text);
        }
    }
    for (uint32_t v = 0; v < f->w.var_count; v++)
        print_error("  %c: %" PRId64 " + %" PRId64 " limit %u\n", 'a' + (int)v, f->w.min[v],
                    f->w.extent[v], f->limit[v]);
    return 1;
}

static bool is_any_buffer(void *ctx, hone_buffer buffer) {
    (void)ctx;
    (void)buffer;
    return true;
}

static bool take_dependence(void *ctx, const hone_dependence *found) {
    assert_true(found->first->iteration != found->later->iteration);
    return *(bool *)ctx = true;
}

static bool find_dependence(fixture *f, uint32_t v) {
    bool is_found = false;
    hone_points points;
    assert_true(hone_points_init(&points, f->arena, f->func));
    const hone_dependence_search search = {&points,         f->arena,  f->loops[v], is_any_buffer,
                                           take_dependence, &is_found, false};
    HONE_ASSERT_OK(hone_find_dependence(&search));
    return is_found;
}

/* Points here are of all loops at once: what stands outside of an empty one has none. */
static bool has_empty_loops(const fixture *f) {
    bool has_any = false;
    for (uint32_t v = 0; v < f->w.var_count; v++)
        has_any |= f->limit[v] != WORLD_MAX_VARS && f->may_be_empty[v];
    return has_any;
}

static int ask_loops(fixture *f, uint64_t seed, const hone_relation *both) {
    int failures = 0;
    for (uint32_t v = f->fixed; v < f->shared; v++) {
        if (f->w.extent[v] == 1) continue; /* no two points differ in it */
        failures += compare(f, seed, INJECTIVE_IN, v, hone_is_injective_in(both, f->loops[v]));
        failures += compare(f, seed, CARRIES, v, hone_carries_no_dependence(both, f->loops[v]));
        if (!has_empty_loops(f)) failures += compare(f, seed, DEPENDENCE, v, find_dependence(f, v));
    }
    return failures;
}

static int ask_injective(fixture *f, uint64_t seed, const hone_relation *both) {
    hone_iter iters[WORLD_MAX_VARS];
    uint32_t set = 0, count = 0;
    for (uint32_t v = f->fixed; v < f->w.var_count; v++) {
        if (f->limit[v] != WORLD_MAX_VARS || pick(f, 3) == 0) continue;
        iters[count++] = (hone_iter){v, hone_func_node(f->func, f->loops[v])->u.loop.range};
        set |= 1u << v;
    }
    return compare(f, seed, INJECTIVE, set, hone_is_injective(both, count, iters));
}

/* Do the first accesses of a and b touch one element wherever the loop has these values? */
static bool is_overlap(const fixture *f, uint32_t v, uint32_t b, int64_t at_a, int64_t at_b) {
    for (uint32_t d = 0; d < RANK; d++) {
        if (!f->boxes[0].min[d] || !f->boxes[b].min[d]) return false;
    }
    for (uint32_t p = 0; p < f->point_count; p++) {
        for (uint32_t q = 0; q < f->point_count; q++) {
            bool is_pair = f->points[p][v] == at_a && f->points[q][v] == at_b;
            for (uint32_t u = 0; u < f->w.var_count; u++)
                is_pair &= u == v || f->points[p][u] == f->points[q][u];
            if (is_pair && !meet(f, p, 0, q, b)) return false;
        }
    }
    return at_a != at_b;
}

static int ask_overlap(fixture *f, uint64_t seed, const hone_relation *a, const hone_relation *b) {
    uint32_t v = f->fixed, other = a->count;
    const hone_iter iter = {v, hone_func_node(f->func, f->loops[v])->u.loop.range};
    int64_t p = 0, q = 0;
    if (a->count != 1 || b->count > 1 || f->limit[v] != WORLD_MAX_VARS) return 0;
    if (b->count == 0) other = 0;
    if (!f->boxes[0].indices || !f->boxes[other].indices) return 0;
    f->asked[OVERLAP]++;
    if (!hone_find_overlap(a, other == 0 ? a : b, &iter, NULL, &p, &q)) return 0;
    f->said[OVERLAP]++;
    if (is_overlap(f, v, other, p, q)) return 0;
    print_error("seed %" PRIu64 ": no overlap at %" PRId64 ", %" PRId64 "\n", seed, p, q);
    return 1;
}

static int check_one(fixture *f, uint64_t seed) {
    int64_t shape[RANK] = {512, 512};
    hone_arena_reset(f->arena);
    f->w = (world){.ir = {.arena = f->arena}, .rng = hone_rng_from_seed(seed)};
    hone_arith_init(&f->arith, f->arena);
    f->func = hone_func_create(f->arena, "f");
    f->buffer = hone_func_add_dense(f->func, "X", HONE_DTYPE_I32, RANK, shape, "global");
    f->box_count = 0;
    world_roll(&f->w, WORLD_MAX_VARS, MAX_POINTS);
    make_loops(f);
    add_accesses(f, false);
    bool has_second = pick(f, 2) == 0;
    if (has_second) add_accesses(f, true);
    hone_relation both = relate(f, true, true);
    hone_relation first = relate(f, true, false), second = relate(f, false, true);
    if (!find_points(f)) return 0;
    int failures = ask_loops(f, seed, &both) + ask_injective(f, seed, &both);
    if (has_second) failures += compare(f, seed, DISJOINT, 0, hone_is_disjoint(&first, &second));
    failures += ask_overlap(f, seed, &first, &second);
    HONE_ASSERT_OK(hone_ir_finish(&f->arith.ir));
    return failures;
}

static void random_relations(void **state) {
    (void)state;
    static fixture f;
    f = (fixture){.arena = hone_arena_create(1 << 16)};
    assert_non_null(f.arena);
    uint64_t start = hone_test_seed(1), count = hone_test_count(20000);
    int failures = 0;
    for (uint64_t i = 0; i < count && failures < 5; i++)
        failures += check_one(&f, start + i);
    hone_arena_destroy(f.arena);
    for (int q = 0; q < QUESTIONS; q++) {
        print_message("%s: asked %" PRIu64 ", true %" PRIu64 ", shown %" PRIu64 "\n",
                      question_names[q], f.asked[q], f.really[q], f.said[q]);
    }
    assert_int_equal(failures, 0);
    /* what never says yes is never wrong */
    for (int q = 0; q < QUESTIONS && count >= 1000; q++)
        assert_true(f.said[q] > f.really[q] / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_relations)};
    return cmocka_run_group_tests_name("ir/relation_random", tests, NULL, NULL);
}
