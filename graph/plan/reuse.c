/* graph/plan/reuse.c - see reuse.h. */
#include "graph/plan/reuse.h"

/* Bytes of the workspace that are touched together at least, and how many such pieces it has at
 * most: what is noted of a large one takes no more memory. */
enum { PIECE = 4096, MOST_PIECES = 1 << 20 };

/* What was touched so far: memory of one tensor each, and pieces of workspaces. */
typedef struct touched {
    int64_t fixed, moving;
} touched;

typedef struct walk {
    const hone_plan *plan;
    touched now;
    touched *places[HONE_PLAN_WORKSPACE + 1]; /* by index: inputs, outputs, constants; of the */
    int64_t piece_count, room;                /* workspace of phase 0 pieces, and its bytes */
    int64_t piece;                            /* bytes of one */
} walk;

static int64_t bytes_of(const hone_expr *e) {
    int64_t bytes = hone_expr_const(e);
    return bytes > 0 ? bytes : 0;
}

/* Where it is noted when a tensor was touched; *out_count: 0 = nowhere. */
static touched *find_places(const walk *w, const hone_plan_tensor *t, int64_t *out_count) {
    int64_t begin = t->place == HONE_PLAN_WORKSPACE ? bytes_of(t->offset) : 0;
    int64_t bytes = bytes_of(t->bytes), first = begin / w->piece;
    int64_t end = bytes ? (begin + bytes - 1) / w->piece + 1 : first;
    *out_count = 1;
    if (t->place != HONE_PLAN_WORKSPACE) return &w->places[t->place][t->index];
    *out_count = t->index == 0 && end <= w->piece_count ? end - first : 0;
    return w->places[HONE_PLAN_WORKSPACE] + first;
}

static int64_t distance_from(const walk *w, touched then) {
    int64_t moving = w->now.moving - then.moving;
    return w->now.fixed - then.fixed + (moving < w->room ? moving : w->room);
}

static int64_t distance_of(const walk *w, const hone_plan_tensor *t) {
    int64_t count;
    double sum = 0;
    const touched *at = find_places(w, t, &count);
    for (int64_t i = 0; i < count; i++)
        sum += (double)distance_from(w, at[i]);
    return count ? (int64_t)(sum / (double)count) : 0;
}

static void count_touch(walk *w, const hone_plan_tensor *t) {
    *(t->place == HONE_PLAN_WORKSPACE ? &w->now.moving : &w->now.fixed) += bytes_of(t->bytes);
}

static void note_touch(walk *w, const hone_plan_tensor *t) {
    int64_t count;
    touched *at = find_places(w, t, &count);
    for (int64_t i = 0; i < count; i++)
        at[i] = w->now;
}

static void take_step(walk *w, const hone_plan_step *step, int64_t *distances) {
    const hone_plan_tensor *tensors = w->plan->tensors;
    for (uint32_t i = 0; distances && i < step->arg_count; i++)
        distances[i] = distance_of(w, &tensors[step->args[i]]);
    for (uint32_t i = 0; i < step->arg_count; i++)
        count_touch(w, &tensors[step->args[i]]);
    for (uint32_t i = 0; i < step->arg_count; i++)
        note_touch(w, &tensors[step->args[i]]);
}

static hone_status begin(walk *w, const hone_plan *plan, hone_arena *arena) {
    int64_t bytes = bytes_of(plan->workspace_bytes[0]);
    *w = (walk){.plan = plan, .room = bytes, .piece = PIECE};
    while (bytes / w->piece > MOST_PIECES)
        w->piece *= 2;
    w->piece_count = bytes / w->piece + 1;
    const size_t counts[] = {[HONE_PLAN_INPUT] = plan->input_count,
                             [HONE_PLAN_OUTPUT] = plan->output_count,
                             [HONE_PLAN_CONSTANT] = plan->module->constant_count,
                             [HONE_PLAN_WORKSPACE] = (size_t)w->piece_count};
    for (size_t i = 0; i < HONE_COUNT(counts); i++) {
        w->places[i] = hone_arena_zalloc(arena, (counts[i] + 1) * sizeof **w->places);
        if (!w->places[i]) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reuse");
    }
    return HONE_OK;
}

hone_status hone_plan_reuse(const hone_plan *plan, hone_arena *arena,
                            const int64_t *const **out_distances) {
    walk w;
    HONE_TRY(begin(&w, plan, arena));
    int64_t **all = hone_arena_zalloc(arena, (plan->step_count + 1) * sizeof *all);
    if (!all) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reuse");
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const hone_plan_step *step = &plan->steps[i];
        if (step->kind != HONE_PLAN_KERNEL) continue;
        all[i] = hone_arena_zalloc(arena, (step->arg_count + 1) * sizeof **all);
        if (!all[i]) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reuse");
    }
    for (int run = 0; run < 2; run++) { /* the second one follows another */
        for (uint32_t i = 0; i < plan->step_count; i++)
            take_step(&w, &plan->steps[i], run ? all[i] : NULL);
    }
    *out_distances = (const int64_t *const *)all;
    return HONE_OK;
}
