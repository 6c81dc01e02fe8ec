/* ir/region/points.c - tries iterations of the loops around a statement. */
#include "ir/region/points.h"

/* What a search may cost: every point of small loops, else their ends and middles. */
enum { MAX_LOOPS = 32, MAX_POINTS = 1 << 14, FUEL = 1 << 22, MAX_CHOICES = 5 };

bool hone_points_init(hone_points *points, hone_arena *arena, const hone_func *func) {
    *points = (hone_points){.func = func, .fuel = FUEL, .stamp = 1};
    points->vars = hone_arena_zalloc(arena, (func->var_count + 1) * sizeof *points->vars);
    return points->vars != NULL;
}

bool hone_points_push(hone_points *points, hone_arena *arena, hone_guard guard) {
    if (points->guard_count == points->guard_capacity) {
        uint32_t capacity = points->guard_capacity ? points->guard_capacity * 2 : 16;
        hone_guard *guards = hone_arena_alloc(arena, capacity * sizeof *guards);
        if (!guards) return false;
        for (uint32_t i = 0; i < points->guard_count; i++)
            guards[i] = points->guards[i];
        points->guards = guards;
        points->guard_capacity = capacity;
    }
    points->guards[points->guard_count++] = guard;
    return true;
}

/* ---- which loops run ---- */

typedef struct search {
    hone_points *points;
    const hone_expr *e;
    int64_t begin, end;
    hone_node_id loops[MAX_LOOPS]; /* that move something; innermost first */
    uint32_t count, choices;       /* values tried per loop; 0 = all */
    bool is_complete;              /* no point was left out, none was unknown */
    bool has_unguarded;
    int64_t found;
} search;

static bool need_var(void *ctx, const hone_expr *e) {
    hone_points *points = ctx;
    if (e->kind != HONE_EXPR_VAR || e->u.var >= points->func->var_count) return true;
    hone_point_var *var = &points->vars[e->u.var];
    if (var->is_needed) return true;
    var->is_needed = true;
    if (var->source) hone_expr_walk(var->source, need_var, points);
    return true;
}

/* A loop whose body may not run at all: whether it does counts, though nothing uses its variable.
 */
static bool may_not_run(const hone_func *func, const hone_node *loop) {
    const hone_expr *extent = loop->u.loop.range.extent;
    bool is_size = extent->kind == HONE_EXPR_VAR && func->vars[extent->u.var].is_size;
    return !is_size && hone_expr_const(extent) < 1;
}

/* The loops around node that the expression or a guard depends on, and how finely they are
 * searched. False: too many. */
static bool collect_loops(search *s, hone_node_id node) {
    hone_points *points = s->points;
    for (uint32_t i = 0; i < points->func->var_count; i++)
        points->vars[i].is_needed = false;
    hone_expr_walk(s->e, need_var, points);
    for (uint32_t i = 0; i < points->guard_count; i++)
        hone_expr_walk(points->guards[i].condition, need_var, points);
    uint64_t all = 1, some = 1;
    for (hone_node_id n = node; n != HONE_NO_ID; n = hone_func_node(points->func, n)->parent) {
        const hone_node *loop = hone_func_node(points->func, n);
        if (loop->kind != HONE_NODE_FOR) continue;
        bool is_needed = points->vars[loop->u.loop.var].is_needed;
        if (!is_needed && !may_not_run(points->func, loop)) continue;
        if (s->count == MAX_LOOPS) return false;
        s->loops[s->count++] = n;
        hone_expr_walk(loop->u.loop.range.min, need_var, points);
        hone_expr_walk(loop->u.loop.range.extent, need_var, points);
        int64_t extent = is_needed ? hone_expr_const(loop->u.loop.range.extent) : 1;
        if (extent <= 0 || extent > MAX_POINTS) extent = MAX_POINTS + 1;
        if (all <= MAX_POINTS) all *= (uint64_t)extent;
        if (some <= MAX_POINTS) some *= extent < MAX_CHOICES ? (uint64_t)extent : MAX_CHOICES;
    }
    s->choices = all <= MAX_POINTS ? 0 : some <= MAX_POINTS ? MAX_CHOICES : 2;
    return s->choices != 2 || s->count <= 14;
}

/* ---- the points ---- */

/* Whether the conditions on the way hold at this point; out_is_soft: but for soft ones. */
static bool guards_hold(search *s, bool *out_is_soft) {
    hone_points *points = s->points;
    *out_is_soft = false;
    for (uint32_t i = points->guard_count; i-- > 0;) {
        const hone_guard *guard = &points->guards[i];
        int64_t value = 0;
        bool is_known = hone_value_at(points, guard->condition, &value);
        if (is_known && !value == guard->is_negated) continue;
        if (!is_known) s->is_complete = false;
        if (!guard->is_soft) return false;
        *out_is_soft = true;
    }
    return true;
}

static bool leaves_here(search *s) {
    hone_points *points = s->points;
    uint32_t lanes = s->e->dtype.lanes > 1 ? s->e->dtype.lanes : 1;
    if (hone_dtype_is_scalable(s->e->dtype)) lanes = 1; /* how many only the machine knows */
    for (uint32_t k = 0; k < lanes && k < 2; k++) {
        bool is_soft;
        int64_t value = 0;
        points->lane = k == 0 ? 0 : lanes - 1;
        points->stamp++;
        if (!hone_value_at(points, s->e, &value)) {
            s->is_complete = false;
            continue;
        }
        if ((value >= s->begin && value < s->end) || !guards_hold(s, &is_soft)) continue;
        if (is_soft && s->has_unguarded) continue;
        s->found = value;
        s->has_unguarded = true;
        if (!is_soft) return true;
    }
    return false;
}

/* The k-th of the values that a loop is tried with: its ends first. */
static int64_t choice(const search *s, int64_t k, int64_t extent) {
    if (s->choices == 0 || extent <= s->choices) return k;
    const int64_t at[MAX_CHOICES] = {0, extent - 1, 1, extent / 2, extent - 2};
    return at[k];
}

/* Runs the loops from number at down to the innermost. */
static bool run_loops(search *s, uint32_t at) {
    hone_points *points = s->points;
    if (at == 0) {
        if (points->fuel == 0) {
            s->is_complete = false;
            return false;
        }
        points->fuel--;
        return leaves_here(s);
    }
    const hone_node *loop = hone_func_node(points->func, s->loops[at - 1]);
    hone_point_var *var = &points->vars[loop->u.loop.var];
    int64_t min, extent;
    points->stamp++;
    if (!hone_value_at(points, loop->u.loop.range.min, &min) ||
        !hone_value_at(points, loop->u.loop.range.extent, &extent) || extent > INT64_MAX / 2 ||
        min > INT64_MAX / 2) {
        s->is_complete = false;
        return false;
    }
    int64_t tried = extent;
    if (s->choices && extent > s->choices) tried = s->choices;
    if (tried > MAX_POINTS) tried = MAX_POINTS;
    if (tried < extent) s->is_complete = false;
    if (tried > 1 && !var->is_needed) tried = 1;
    var->is_known = true;
    for (int64_t k = 0; k < tried; k++) {
        var->value = min + choice(s, k, extent);
        if (run_loops(s, at - 1)) return true;
    }
    var->is_known = false;
    return false;
}

/* A loop that may end early has iterations that do not run. */
static bool ends_early(const hone_func *func, hone_node_id node) {
    for (hone_node_id n = node; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        uint8_t kind = hone_func_node(func, n)->kind;
        if (kind != HONE_NODE_FOR && kind != HONE_NODE_WHILE) continue;
        if (hone_tree_first_of(func, n, HONE_NODE_BREAK) != HONE_NO_ID) return true;
    }
    return false;
}

hone_outside hone_find_outside(hone_points *points, hone_node_id node, const hone_expr *e,
                               int64_t begin, int64_t end, int64_t *out_value) {
    search s = {.points = points, .e = e, .begin = begin, .end = end, .is_complete = true};
    if (!collect_loops(&s, node)) return HONE_OUTSIDE_UNKNOWN;
    bool is_outside = run_loops(&s, s.count);
    *out_value = s.found;
    if (is_outside || s.has_unguarded) {
        if (node != HONE_NO_ID && ends_early(points->func, node)) return HONE_OUTSIDE_UNKNOWN;
        return is_outside ? HONE_OUTSIDE_FOUND : HONE_OUTSIDE_UNGUARDED;
    }
    return s.is_complete ? HONE_OUTSIDE_NEVER : HONE_OUTSIDE_UNKNOWN;
}
