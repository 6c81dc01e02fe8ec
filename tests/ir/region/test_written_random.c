/* tests/ir/region/test_written_random.c - what is claimed of written elements
 * (ir/region/written.h, hone_func_stores), against running random programs over numbers:
 *
 *     for i: B[i] = …          is all of B written, and whatever is loaded of it before that,
 *         if …: B[…] = B[…]    in the whole program or in one iteration of a loop?
 */
#include <inttypes.h>
#include <string.h>

#include "ir/core/fold.h"
#include "ir/region/region.h"
#include "ir/region/written.h"
#include "support/data/rng.h"
#include "tests/support/hone_test.h"

enum { MOST_LOOPS = 12, MOST_AROUND = 4, MOST_ELEMENTS = 64, MOST_NODES = 60 };
enum { COVERS, READS, STRICT, STORES, SLICES, QUESTIONS };
static const char *const question_names[] = {"covers", "reads", "reads, indices unchecked",
                                             "box of stores is as small as can be",
                                             "covers by slices"};

typedef struct fixture {
    hone_arena *arena;
    hone_ir ir;
    hone_rng rng;
    hone_arith arith;
    hone_func *func;
    hone_buffer buffer;
    hone_node_id root;
    int64_t shape[2], values[MOST_LOOPS];
    uint32_t rank, around_count;
    hone_var around[MOST_AROUND]; /* loops around the statement that is made */
    bool is_written[MOST_ELEMENTS];
    bool is_inside; /* of the root */
    bool reads_unwritten, stores_outside;
    int64_t least[2], most[2]; /* that are stored to, by dimension; inside or not */
    bool leaves;               /* what is loaded lies outside of a buffer that is not whole yet */
    uint64_t said[QUESTIONS], really[QUESTIONS];
} fixture;

/* ---- programs ---- */

static uint32_t pick(fixture *f, uint32_t n) {
    return (uint32_t)hone_rng_below(&f->rng, n);
}

static const hone_expr *num(fixture *f, int64_t value) {
    return hone_expr_i32(&f->ir, value);
}

static const hone_expr *any_var(fixture *f) {
    if (f->around_count == 0) return num(f, pick(f, 3));
    return hone_expr_var(&f->ir, HONE_DTYPE_I32, f->around[pick(f, f->around_count)]);
}

static const hone_expr *make_index(fixture *f, uint32_t d) {
    hone_ir *ir = &f->ir;
    const hone_expr *v = any_var(f);
    int64_t factor = 1 + (int64_t)pick(f, 4);
    switch (pick(f, 10)) {
    case 0:
        return num(f, pick(f, (uint32_t)f->shape[d]));
    case 1:
        return hone_expr_sub(ir, num(f, f->shape[d] - 1), v);
    case 2:
        return hone_expr_add(ir, hone_expr_mul(ir, v, num(f, factor)), any_var(f));
    case 3:
        return hone_expr_add(ir, v, num(f, (int64_t)pick(f, 4) - 1));
    case 4:
        return pick(f, 2) ? hone_expr_floordiv(ir, v, num(f, factor))
                          : hone_expr_floormod(ir, v, num(f, factor));
    case 5:
        v = hone_expr_sub(ir, v, num(f, 1));
        return pick(f, 2) ? hone_expr_binary(ir, HONE_OP_MAX, v, num(f, 0)) : v;
    default:
        return v;
    }
}

static const hone_expr *make_condition(fixture *f) {
    static const hone_op ops[] = {HONE_OP_LT, HONE_OP_GE, HONE_OP_EQ};
    const hone_expr *a = any_var(f);
    if (pick(f, 2))
        a = hone_expr_add(&f->ir, hone_expr_mul(&f->ir, a, num(f, 1 + pick(f, 4))), any_var(f));
    const hone_expr *b = pick(f, 4) == 0 ? any_var(f) : num(f, pick(f, 6));
    return hone_expr_binary(&f->ir, ops[pick(f, 3)], a, b);
}

static const hone_expr *make_load(fixture *f, const hone_expr *const *stored) {
    const hone_expr *indices[2];
    for (uint32_t d = 0; d < f->rank; d++)
        indices[d] = stored && pick(f, 2) ? stored[d] : make_index(f, d);
    const hone_expr *load = hone_expr_load(&f->ir, HONE_DTYPE_I32, f->buffer, f->rank, indices);
    if (pick(f, 3)) return load;
    return hone_expr_select(&f->ir, make_condition(f), load, num(f, 0));
}

static void make_body(fixture *f, hone_node_id parent, uint32_t depth);

static void make_store(fixture *f, hone_node_id parent) {
    hone_node_id id = hone_func_add_node(f->func, HONE_NODE_STORE);
    const hone_expr **indices = hone_arena_alloc(f->arena, 2 * sizeof *indices);
    for (uint32_t d = 0; d < f->rank; d++)
        indices[d] = make_index(f, d);
    hone_node *node = hone_func_node(f->func, id);
    node->u.store.buffer = f->buffer;
    node->u.store.rank = (uint16_t)f->rank;
    node->u.store.indices = indices;
    node->u.store.value = pick(f, 3) ? num(f, 1) : make_load(f, indices);
    hone_tree_append(f->func, parent, id);
}

static void make_loop(fixture *f, hone_node_id parent, uint32_t depth) {
    hone_var var = hone_func_add_var(f->func, "i", HONE_DTYPE_I32);
    hone_range range = {num(f, pick(f, 4) == 0), num(f, 1 + pick(f, 5))};
    if (pick(f, 2)) range.extent = num(f, f->shape[pick(f, f->rank)]);
    if (f->around_count > 0 && pick(f, 6) == 0) range.extent = any_var(f); /* perhaps nothing */
    hone_loop_kind kind = pick(f, 6) == 0 ? HONE_LOOP_PARALLEL : HONE_LOOP_SERIAL;
    hone_node_id loop = hone_func_add_loop(f->func, var, kind, range);
    hone_tree_append(f->func, parent, loop);
    hone_arith_bind(&f->arith, var, range);
    f->around[f->around_count++] = var;
    make_body(f, loop, depth + 1);
    f->around_count--;
}

static void make_if(fixture *f, hone_node_id parent, uint32_t depth) {
    hone_node_id id = hone_func_add_node(f->func, HONE_NODE_IF);
    hone_func_node(f->func, id)->u.eval.value = make_condition(f);
    hone_tree_append(f->func, parent, id);
    make_body(f, id, depth + 1);
    if (pick(f, 2)) return;
    hone_node_id other = hone_func_add_node(f->func, HONE_NODE_ELSE);
    hone_tree_append(f->func, id, other);
    make_body(f, other, depth + 1);
}

static void make_body(fixture *f, hone_node_id parent, uint32_t depth) {
    uint32_t count = 1 + pick(f, depth == 0 ? 3 : 2);
    for (uint32_t i = 0; i < count; i++) {
        bool has_room = depth < MOST_AROUND && f->func->node_count < MOST_NODES;
        uint32_t kind = pick(f, 10);
        if (has_room && kind < (depth == 0 ? 9 : 4) && f->func->var_count < MOST_LOOPS)
            make_loop(f, parent, depth);
        else if (has_room && kind < 6 && depth > 0)
            make_if(f, parent, depth);
        else
            make_store(f, parent);
    }
}

/* ---- running them ---- */

static int64_t value_of(const fixture *f, const hone_expr *e) {
    int64_t value = 0;
    if (e->kind == HONE_EXPR_INT) return e->u.i;
    if (e->kind == HONE_EXPR_VAR) return f->values[e->u.var];
    assert_int_equal(e->kind, HONE_EXPR_BINARY);
    assert_true(
        hone_fold_ints((hone_op)e->op, value_of(f, e->args[0]), value_of(f, e->args[1]), &value));
    return value;
}

/* The number of an element; below 0: outside of the buffer. */
static int64_t element_of(const fixture *f, const hone_expr *const *indices) {
    int64_t at = 0;
    for (uint32_t d = 0; d < f->rank; d++) {
        int64_t index = value_of(f, indices[d]);
        if (index < 0 || index >= f->shape[d]) return -1;
        at = at * f->shape[d] + index;
    }
    return at;
}

static bool is_full(const fixture *f) {
    bool is_so = true;
    for (int64_t i = 0; i < f->shape[0] * (f->rank == 2 ? f->shape[1] : 1); i++)
        is_so = is_so && f->is_written[i];
    return is_so;
}

static void run_value(fixture *f, const hone_expr *e) {
    if (e->kind == HONE_EXPR_SELECT) {
        run_value(f, e->args[value_of(f, e->args[0]) ? 1 : 2]);
    } else if (e->kind == HONE_EXPR_LOAD && f->is_inside) {
        int64_t at = element_of(f, e->args);
        f->leaves |= at < 0 && !is_full(f);
        f->reads_unwritten |= at >= 0 && !f->is_written[at];
    }
}

static void note_store(fixture *f, const hone_expr *const *indices) {
    int64_t at = element_of(f, indices);
    if (at >= 0) f->is_written[at] = true;
    f->stores_outside |= at < 0;
    for (uint32_t d = 0; d < f->rank; d++) {
        int64_t index = value_of(f, indices[d]);
        if (index < f->least[d]) f->least[d] = index;
        if (index > f->most[d]) f->most[d] = index;
    }
}

static void run_children(fixture *f, hone_node_id parent);

/* Iterations that run at once see what was there before all of them. */
static void run_loop(fixture *f, hone_node_id id) {
    const hone_node node = *hone_func_node(f->func, id);
    int64_t first = value_of(f, node.u.loop.range.min), n = value_of(f, node.u.loop.range.extent);
    bool before[MOST_ELEMENTS], after[MOST_ELEMENTS], was_inside = f->is_inside;
    memcpy(before, f->is_written, sizeof before);
    memcpy(after, before, sizeof after);
    for (int64_t k = 0; k < n; k++) {
        if (node.loop_kind == HONE_LOOP_PARALLEL) memcpy(f->is_written, before, sizeof before);
        if (id == f->root) memset(f->is_written, 0, sizeof f->is_written);
        f->is_inside = was_inside || id == f->root;
        f->values[node.u.loop.var] = first + k;
        run_children(f, id);
        for (uint32_t i = 0; i < MOST_ELEMENTS; i++)
            after[i] |= f->is_written[i];
    }
    f->is_inside = was_inside;
    memcpy(f->is_written, after, sizeof after);
}

static void run_children(fixture *f, hone_node_id parent) {
    for (hone_node_id n = hone_func_node(f->func, parent)->first; n != HONE_NO_ID;
         n = hone_func_node(f->func, n)->next) {
        const hone_node *node = hone_func_node(f->func, n);
        hone_node_id last = node->last;
        if (node->kind == HONE_NODE_FOR) run_loop(f, n);
        if (node->kind == HONE_NODE_IF) {
            bool has_else = hone_func_node(f->func, last)->kind == HONE_NODE_ELSE;
            if (value_of(f, node->u.eval.value))
                run_children(f, n);
            else if (has_else)
                run_children(f, last);
        }
        if (node->kind != HONE_NODE_STORE) continue;
        run_value(f, node->u.store.value);
        note_store(f, node->u.store.indices);
    }
}

/* ---- questions ---- */

static int compare(fixture *f, uint64_t seed, int question, bool said, bool really) {
    f->said[question] += said;
    f->really[question] += really;
    if (!said || really) return 0;
    print_error("seed %" PRIu64 ": %s is wrong\n", seed, question_names[question]);
    return 1;
}

/* What is stored to lies in the box that is claimed. */
static int check_stores(fixture *f, uint64_t seed) {
    const hone_region *const *stores;
    HONE_ASSERT_OK(hone_func_stores(f->func, f->arena, &stores));
    const hone_region *box = stores[f->buffer];
    bool is_exact = box, is_outside = false;
    for (uint32_t d = 0; d < f->rank && f->least[d] <= f->most[d]; d++) {
        int64_t min = 1, end = 0;
        if (box) {
            assert_int_equal(box->ranges[d].min->kind, HONE_EXPR_INT);
            assert_int_equal(box->ranges[d].extent->kind, HONE_EXPR_INT);
            min = box->ranges[d].min->u.i;
            end = min + box->ranges[d].extent->u.i;
        }
        is_outside |= f->least[d] < min || f->most[d] >= end;
        is_exact &= f->least[d] == min && f->most[d] == end - 1;
    }
    return compare(f, seed, STORES, is_exact || is_outside, !is_outside);
}

static int check_one(fixture *f, uint64_t seed) {
    hone_arena_reset(f->arena);
    f->ir = (hone_ir){.arena = f->arena};
    f->rng = hone_rng_from_seed(seed);
    hone_arith_init(&f->arith, f->arena);
    f->func = hone_func_create(f->arena, "f");
    f->rank = 1 + pick(f, 2);
    for (uint32_t d = 0; d < f->rank; d++)
        f->shape[d] = 1 + pick(f, f->rank == 1 ? 12 : 5);
    f->buffer = hone_func_add_dense(f->func, "B", HONE_DTYPE_I32, f->rank, f->shape, "global");
    make_body(f, HONE_NODE_TOP, 0);
    f->root = pick(f, 2) ? HONE_NODE_TOP : pick(f, f->func->node_count);
    if (hone_func_node(f->func, f->root)->kind != HONE_NODE_FOR) f->root = HONE_NODE_TOP;
    memset(f->is_written, 0, sizeof f->is_written);
    for (uint32_t d = 0; d < f->rank; d++) {
        f->least[d] = INT64_MAX;
        f->most[d] = INT64_MIN;
    }
    f->reads_unwritten = f->leaves = f->stores_outside = false;
    f->is_inside = f->root == HONE_NODE_TOP;
    run_children(f, HONE_NODE_TOP);
    bool is_whole = is_full(f);
    hone_dataflow flow = {.arith = &f->arith, .func = f->func};
    hone_written all;
    hone_written_begin(&all, &flow, f->buffer, HONE_NODE_TOP);
    for (hone_node_id n = hone_func_node(f->func, HONE_NODE_TOP)->first; n != HONE_NO_ID;
         n = hone_func_node(f->func, n)->next) {
        hone_written_add(&all, n);
    }
    int failures = check_stores(f, seed);
    if (f->root == HONE_NODE_TOP)
        failures += compare(f, seed, COVERS, hone_covers_buffer(&all), is_whole);
    bool by_slices =
        f->root == HONE_NODE_TOP && hone_covers_by_slices(&flow, f->buffer, HONE_NO_ID);
    failures += compare(f, seed, SLICES, by_slices, is_whole);
    failures += compare(f, seed, READS, hone_reads_after_write(&flow, f->root, f->buffer, false),
                        !f->reads_unwritten);
    flow.may_leave = true;
    if (!f->stores_outside)
        failures +=
            compare(f, seed, STRICT, hone_reads_after_write(&flow, f->root, f->buffer, false),
                    !f->reads_unwritten && !f->leaves);
    HONE_ASSERT_OK(hone_ir_finish(&f->arith.ir));
    return failures;
}

static void random_programs(void **state) {
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
        print_message("%s: true %" PRIu64 ", shown %" PRIu64 "\n", question_names[q], f.really[q],
                      f.said[q]);
    }
    assert_int_equal(failures, 0);
    /* what never says yes is never wrong */
    for (int q = 0; q < QUESTIONS && count >= 1000; q++)
        assert_true(f.said[q] > f.really[q] / (q == SLICES ? 100 : 2)); /* which few have */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests_name("ir/written_random", tests, NULL, NULL);
}
