/* ir/values/input_values.c - looks for spans of inputs for which no demand of the program is left
 * open.
 *
 *   default ─► single numbers where demands are open ─► defaults again where that is no worse
 *           ─► whole numbers widened as far as the demands let them
 *
 * A demand that holds for a span holds for each part of it, so that widening is a search for the
 * last number that is still right. */
#include "ir/values/input_values.h"

#include <math.h>

#include "ir/values/demands.h"
#include "ir/values/origins.h"
#include "support/core/strbuf.h"

enum { MAX_POINTS = 64, MAX_DEPTH = 12 };
#define FARTHEST 67108864.0 /* beyond it what holds a number is that it wraps: none is tried */

typedef struct search {
    const hone_func *func;
    hone_arena *arena;
    hone_input_values *values; /* by parameter */
    hone_span *plain;          /* by parameter: what it began with */
    hone_span *inputs;         /* by buffer */
    hone_demand_check *check;
    double points[MAX_POINTS];
    uint32_t point_count;
    const char *problem;
    hone_status st;
} search;

/* Demands that are open; an error counts for more than any number of odd floats. */
static double score(search *s) {
    hone_demand_counts counts = {0};
    if (!s->st) s->st = hone_demands_check(s->check, s->inputs, NULL, NULL, &counts);
    return counts.errors * 1e6 + counts.numbers;
}

static hone_buffer buffer_of(const search *s, uint32_t p) {
    return s->func->params[p].buffer;
}

static hone_dtype type_of(const search *s, uint32_t p) {
    return hone_func_buffer(s->func, buffer_of(s, p))->dtype;
}

static bool is_free(const search *s, uint32_t p) {
    return buffer_of(s, p) != HONE_NO_ID && s->values[p].is_input && !s->values[p].is_given &&
           !hone_dtype_is_bool(type_of(s, p));
}

static bool is_whole(const search *s, uint32_t p) {
    return hone_dtype_is_integer(type_of(s, p));
}

static void put(search *s, uint32_t p, hone_span span) {
    s->inputs[buffer_of(s, p)] = span;
}

static hone_span get(const search *s, uint32_t p) {
    return s->inputs[buffer_of(s, p)];
}

static double try(search *s, uint32_t p, hone_span span) {
    hone_span old = get(s, p);
    put(s, p, span);
    double result = score(s);
    put(s, p, old);
    return result;
}

/* ---- numbers worth trying ---- */

static void add_point(search *s, double point) {
    if (!isfinite(point) || fabs(point) > FARTHEST || s->point_count == MAX_POINTS) return;
    for (uint32_t i = 0; i < s->point_count; i++) {
        if (s->points[i] == point) return;
    }
    s->points[s->point_count++] = point;
}

static void solve(search *s, const hone_expr *e, double target, int depth);

/* What was stored there is what is loaded. */
static void solve_stores(search *s, hone_buffer buffer, double target, int depth) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(s->func, 0, n)) {
        const hone_node *node = hone_func_node(s->func, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != buffer) continue;
        solve(s, node->u.store.value, target, depth);
    }
}

/* The side beside a constant; without one, each side as if the other were 0. */
static void solve_binary(search *s, const hone_expr *e, double target, int depth) {
    const hone_expr *a = e->args[0], *b = e->args[1];
    double x = hone_expr_is_int(a) ? (double)a->u.i : 0;
    double y = hone_expr_is_int(b) ? (double)b->u.i : 0;
    switch ((hone_op)e->op) {
    case HONE_OP_ADD:
        solve(s, a, target - y, depth);
        solve(s, b, target - x, depth);
        break;
    case HONE_OP_SUB:
        solve(s, a, target + y, depth);
        solve(s, b, x - target, depth);
        break;
    case HONE_OP_MUL:
        solve(s, a, ceil(target / (y != 0 ? y : 1)), depth);
        solve(s, b, ceil(target / (x != 0 ? x : 1)), depth);
        break;
    case HONE_OP_FLOORDIV:
    case HONE_OP_TRUNCDIV:
        solve(s, a, target * (y != 0 ? y : 1), depth);
        break;
    default:
        solve(s, a, target, depth);
        solve(s, b, target, depth);
        break;
    }
}

/* Notes for which numbers in buffers e would be about the target. */
static void solve(search *s, const hone_expr *e, double target, int depth) {
    if (depth == 0 || s->point_count == MAX_POINTS) return;
    if (e->kind == HONE_EXPR_LOAD) {
        add_point(s, target);
        solve_stores(s, e->u.buffer, target, depth - 1);
    } else if (e->kind == HONE_EXPR_BINARY) {
        solve_binary(s, e, target, depth - 1);
    } else {
        for (uint32_t i = 0; i < e->count; i++)
            solve(s, e->args[i], target, depth - 1);
    }
}

static bool constant_of(const hone_expr *e, double *out) {
    if (e->kind == HONE_EXPR_CAST) e = e->args[0];
    *out = e->kind == HONE_EXPR_FLOAT ? e->u.f : (double)hone_expr_const(e);
    return e->kind == HONE_EXPR_FLOAT || e->kind == HONE_EXPR_INT;
}

/* Each comparison with a number in it, however they are joined. */
static void solve_assertion(search *s, const hone_expr *e, int depth) {
    bool is_compared = e->kind == HONE_EXPR_BINARY && hone_op_is_compare((hone_op)e->op);
    for (uint32_t i = 0; !is_compared && depth > 0 && i < e->count; i++)
        solve_assertion(s, e->args[i], depth - 1);
    for (int side = 0; is_compared && side < 2; side++) {
        double number;
        if (!constant_of(e->args[side], &number)) continue;
        for (int off = -1; off <= 1; off++)
            solve(s, e->args[1 - side], floor(number) + off, MAX_DEPTH);
    }
}

static void note_points(void *ctx, const hone_demand *demand) {
    search *s = ctx;
    if (demand->kind == HONE_DEMAND_NUMBER) return;
    if (demand->kind == HONE_DEMAND_ASSERTION) {
        solve_assertion(s, demand->value, MAX_DEPTH);
        return;
    }
    solve(s, demand->value, demand->want.low, MAX_DEPTH);
    if (!isinf(demand->want.high)) {
        solve(s, demand->value, floor((demand->want.low + demand->want.high) / 2), MAX_DEPTH);
    }
}

static void find_points(search *s) {
    static const double always[] = {1, 0, 2, 4, -1, 8, 16, 64, 256, 1024};
    hone_demand_counts counts;
    for (size_t i = 0; i < HONE_COUNT(always); i++)
        add_point(s, always[i]);
    if (!s->st) s->st = hone_demands_check(s->check, s->inputs, note_points, s, &counts);
}

/* ---- closing demands ---- */

static const hone_span float_spans[] = {
    {0.5,  1.5 },
    {0,    1   },
    {0.25, 0.75},
    {1,    2   },
    {0.01, 0.1 }
};

static uint32_t choice_count(const search *s, uint32_t p) {
    return is_whole(s, p) ? s->point_count : (uint32_t)HONE_COUNT(float_spans);
}

static hone_span choice(const search *s, uint32_t p, uint32_t i) {
    if (!is_whole(s, p)) return float_spans[i];
    hone_span whole = hone_span_of_type(type_of(s, p));
    return hone_span_at(fmin(fmax(s->points[i], whole.low), whole.high));
}

/* One choice for all inputs of a kind, where that is better than what there is. */
static void choose_for_all(search *s, bool whole, double *best) {
    uint32_t best_at = UINT32_MAX, params = s->func->param_count;
    for (uint32_t i = 0, more = 1; more; i++) {
        more = 0;
        for (uint32_t p = 0; p < params; p++) {
            if (!is_free(s, p) || is_whole(s, p) != whole || i >= choice_count(s, p)) continue;
            put(s, p, choice(s, p, i));
            more = 1;
        }
        double now = more ? score(s) : INFINITY;
        if (now < *best) *best = now, best_at = i;
    }
    for (uint32_t p = 0; p < params; p++) {
        if (!is_free(s, p) || is_whole(s, p) != whole) continue;
        put(s, p, best_at == UINT32_MAX ? s->plain[p] : choice(s, p, best_at));
    }
}

static void choose_for_each(search *s, double *best) {
    for (uint32_t p = 0; p < s->func->param_count; p++) {
        if (!is_free(s, p)) continue;
        for (uint32_t i = 0; i < choice_count(s, p) && *best > 0; i++) {
            double now = try(s, p, choice(s, p, i));
            if (now >= *best) continue;
            *best = now;
            put(s, p, choice(s, p, i));
        }
    }
}

/* What changed without need goes back. */
static void restore(search *s, double best) {
    for (uint32_t p = 0; p < s->func->param_count; p++) {
        if (is_free(s, p) && try(s, p, s->plain[p]) <= best) put(s, p, s->plain[p]);
    }
}

static double close_demands(search *s) {
    double best = score(s);
    if (best == 0) return best;
    find_points(s);
    choose_for_all(s, true, &best);
    choose_for_all(s, false, &best);
    choose_for_each(s, &best);
    choose_for_each(s, &best);
    restore(s, best);
    return best;
}

/* ---- widening ---- */

static hone_span moved(hone_span span, double by) {
    return by < 0 ? (hone_span){span.low + by, span.high} : (hone_span){span.low, span.high + by};
}

/* How far an end can go in a direction (1 or -1); INFINITY where nothing holds it. */
static double reach(search *s, uint32_t p, hone_span span, double direction, double best) {
    hone_span type = hone_span_of_type(type_of(s, p));
    hone_span in = hone_span_meet(type, (hone_span){-FARTHEST, FARTHEST});
    double far = 0, step = 1;
    bool grows = true;
    while (step >= 1) {
        hone_span next = moved(span, direction * (far + step));
        bool is_right = hone_span_within(next, in) && try(s, p, next) <= best;
        if (is_right) far += step;
        grows = grows && is_right;
        step = grows ? step * 2 : floor(step / 2);
    }
    hone_span beyond = moved(span, direction * (far + 1));
    return hone_span_within(beyond, in) ? far : INFINITY;
}

/* An end that nothing holds stays where it was, or about as far from the other one. Floats go on
 * only where something holds them. */
static void widen(search *s, uint32_t p, double best) {
    hone_span span = get(s, p), plain = s->plain[p];
    hone_span type = hone_span_of_type(type_of(s, p));
    double width = is_whole(s, p) ? plain.high - plain.low : 0;
    bool is_plain = span.low == plain.low && span.high == plain.high;
    if (is_plain && (!is_whole(s, p) || try(s, p, type) <= best)) return;
    double down = reach(s, p, span, -1, best);
    if (!isinf(down)) span.low -= down;
    double up = reach(s, p, span, 1, best);
    if (!isinf(up)) span.high += up;
    if (isinf(up)) span.high = fmin(fmax(span.high, span.low + width), type.high);
    if (isinf(down) && is_whole(s, p)) {
        double usual = plain.low < span.high ? plain.low : span.high - width;
        span.low = fmax(fmin(span.low, usual), type.low);
    }
    if (try(s, p, span) <= best) put(s, p, span);
}

/* ---- offsets and places ---- */

static void out_of_memory(search *s) {
    if (!s->st) s->st = HONE_ERROR(HONE_CODE_NO_MEMORY, "inputs of a program");
}

/* By buffer; NULL when memory is short. */
static const bool *origins_of(search *s, const hone_expr *e) {
    bool *from = hone_arena_zalloc(s->arena, (size_t)s->func->buffer_count + 1);
    if (from && hone_origins_of(s->func, s->arena, e, from)) return from;
    out_of_memory(s);
    return NULL;
}

/* The only whole input that e comes from, or HONE_NO_ID: its parameter. */
static uint32_t origin_of(search *s, const hone_expr *e) {
    const bool *from = origins_of(s, e);
    uint32_t only = HONE_NO_ID;
    for (uint32_t p = 0; from && p < s->func->param_count; p++) {
        hone_buffer b = buffer_of(s, p);
        if (b == HONE_NO_ID || !from[b] || !s->values[p].is_input) continue;
        if (only != HONE_NO_ID || !is_free(s, p) || !is_whole(s, p)) return HONE_NO_ID;
        only = p;
    }
    return only;
}

/* for k in range(I[i], I[i + 1]), whatever stands between */
static void find_offsets(search *s, const hone_expr *extent) {
    if (!hone_expr_is_op(extent, HONE_OP_SUB)) return;
    uint32_t p = origin_of(s, extent->args[0]);
    if (p != HONE_NO_ID && p == origin_of(s, extent->args[1])) s->values[p].is_sorted = true;
}

static bool find_place(void *ctx, const hone_expr *e) {
    search *s = ctx;
    for (uint32_t p = 0; e->kind == HONE_EXPR_LOAD && p < s->func->param_count; p++) {
        bool is_it = buffer_of(s, p) == e->u.buffer && is_free(s, p) && is_whole(s, p);
        s->values[p].is_distinct |= is_it;
    }
    return true;
}

/* O[I[i]] = … : where I has a number twice the order decides, which no schedule has to keep. */
static void find_places(search *s, const hone_node *node) {
    if (hone_expr_loads(node->u.store.value, node->u.store.buffer)) return; /* it adds to them */
    for (uint32_t d = 0; d < node->u.store.rank; d++)
        hone_expr_walk(node->u.store.indices[d], find_place, s);
}

static void find_kinds(search *s) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(s->func, 0, n)) {
        const hone_node *node = hone_func_node(s->func, n);
        if (node->kind == HONE_NODE_FOR) find_offsets(s, node->u.loop.range.extent);
        if (node->kind == HONE_NODE_STORE) find_places(s, node);
    }
}

/* ---- what is left ---- */

static void print_what(const search *s, const hone_demand *demand, hone_str *out) {
    switch (demand->kind) {
    case HONE_DEMAND_INDEX:
        hone_str_printf(out, "an index of dimension %u of '%s'", demand->dim,
                        hone_func_buffer(s->func, demand->buffer)->name);
        break;
    case HONE_DEMAND_DIVISOR:
        hone_str_append(out, "a divisor");
        break;
    case HONE_DEMAND_SHIFT:
        hone_str_append(out, "what is shifted by");
        break;
    default:
        hone_str_append(out, "what an assertion asks for");
    }
}

static void note_problem(void *ctx, const hone_demand *demand) {
    search *s = ctx;
    hone_str text = {0};
    if (s->problem || demand->kind == HONE_DEMAND_NUMBER) return;
    const bool *from = origins_of(s, demand->value);
    if (!from) return;
    print_what(s, demand, &text);
    uint32_t count = 0;
    for (uint32_t p = 0; p < s->func->param_count; p++) {
        hone_buffer b = buffer_of(s, p);
        if (b == HONE_NO_ID || !from[b] || !s->values[p].is_input) continue;
        hone_str_printf(&text, "%s'%s'", count++ ? ", " : " comes from ",
                        hone_func_buffer(s->func, b)->name);
    }
    if (!text.failed) s->problem = hone_arena_strdup(s->arena, hone_str_text(&text));
    if (!s->problem) out_of_memory(s);
    hone_str_deinit(&text);
}

/* ---- the whole ---- */

static bool begin(search *s) {
    uint32_t buffers = s->func->buffer_count, params = s->func->param_count;
    s->inputs = hone_arena_alloc(s->arena, ((size_t)buffers + 1) * sizeof *s->inputs);
    s->plain = hone_arena_alloc(s->arena, ((size_t)params + 1) * sizeof *s->plain);
    s->check = hone_demand_check_create(s->func, s->arena);
    if (!s->inputs || !s->plain || !s->check) return false;
    for (hone_buffer b = 0; b < buffers; b++)
        s->inputs[b] = hone_span_none();
    for (uint32_t p = 0; p < params; p++) {
        s->plain[p] = s->values[p].span;
        if (buffer_of(s, p) != HONE_NO_ID && s->values[p].is_input) put(s, p, s->plain[p]);
    }
    return true;
}

hone_status hone_func_suit_inputs(const hone_func *func, hone_arena *arena,
                                  hone_input_values *values, const char **out_problem) {
    search s = {.func = func, .arena = arena, .values = values};
    hone_demand_counts counts;
    *out_problem = NULL;
    if (!begin(&s)) return HONE_ERROR(HONE_CODE_NO_MEMORY, "inputs of a program");
    double best = close_demands(&s);
    for (uint32_t p = 0; p < func->param_count; p++) {
        if (!is_free(&s, p)) continue;
        widen(&s, p, best);
        values[p].span = get(&s, p);
    }
    find_kinds(&s);
    if (!s.st) {
        hone_status st = hone_demands_check(s.check, s.inputs, note_problem, &s, &counts);
        s.st = hone_status_join(s.st, st);
    }
    *out_problem = s.problem;
    return s.st;
}
