/* tuner/task/tune_adopt.c - traces that somebody else wrote, as candidates: the steps become a
 * sketch beside those of the rules, unless it is one of them, and the decisions are the
 * candidate's. */
#include <inttypes.h>
#include <string.h>

#include "schedule/primitive/primitives.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/variant/variant.h"
#include "support/data/hash.h"
#include "tuner/task/tune_task.h"

/* The steps without decisions; where they are equal, so are sketches. */
static hone_status hash_steps(hone_arena *arena, const hone_trace *trace, hone_trace *out_open,
                              hone_hash128 *out) {
    hone_str text = {0};
    *out_open = *trace;
    out_open->decisions = hone_arena_zalloc(arena, (trace->count + 1) * sizeof *trace->decisions);
    if (!out_open->decisions) return HONE_NO_MEMORY("tuning task");
    hone_status st = hone_trace_print_json(out_open, &text);
    if (!st) *out = hone_hash128_bytes(hone_str_text(&text), text.length);
    hone_str_deinit(&text);
    return st;
}

static hone_status find_sketch(hone_tune_task *task, hone_hash128 steps, int32_t *out) {
    *out = -1;
    for (uint32_t i = 0; i < task->space.count && *out < 0; i++) {
        hone_trace open;
        hone_hash128 hash;
        HONE_TRY(hash_steps(task->scratch, &task->space.sketches[i], &open, &hash));
        if (hone_hash128_equal(hash, steps)) *out = (int32_t)i;
    }
    return HONE_OK;
}

static hone_status add_sketch(hone_tune_task *task, const hone_trace *open) {
    hone_space *space = &task->space;
    if (task->foreign_count == HONE_MAX_FOREIGN) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "these would be the steps of sketch %d of others, at most %d are kept; "
                          "vary the decisions of one of them",
                          HONE_MAX_FOREIGN + 1, HONE_MAX_FOREIGN);
    }
    hone_trace *sketches = hone_arena_alloc(space->arena, (space->count + 1) * sizeof *sketches);
    if (!sketches) return HONE_NO_MEMORY("tuning task");
    if (space->count) memcpy(sketches, space->sketches, space->count * sizeof *sketches);
    sketches[space->count++] = *open;
    space->sketches = sketches;
    task->foreign_count++;
    return HONE_OK;
}

/* With reasons, which a search does without. A new sketch's tiles may come from other extents. */
static hone_status replay(hone_tune_task *task, int32_t sketch, const hone_decision *decisions,
                          hone_rng rng, hone_candidate *out) {
    task->schedule->wants_reasons = task->schedule->fits_tiles = true;
    hone_status st = hone_tune_task_replay(task, sketch, decisions, rng, task->arena, out);
    task->schedule->wants_reasons = task->schedule->fits_tiles = false;
    return st;
}

static hone_status adopt(hone_tune_task *task, const hone_trace *trace, hone_rng rng,
                         hone_candidate *out, bool *out_new) {
    hone_trace steps, open;
    hone_hash128 hash;
    int32_t sketch;
    *out_new = false;
    HONE_TRY(hone_trace_simplify(task->space.arena, trace, true, &steps));
    HONE_TRY(hash_steps(task->space.arena, &steps, &open, &hash));
    HONE_TRY(find_sketch(task, hash, &sketch));
    *out_new = sketch < 0;
    if (*out_new) HONE_TRY(add_sketch(task, &open));
    if (*out_new) sketch = (int32_t)task->space.count - 1;
    return replay(task, sketch, steps.decisions, rng, out);
}

static hone_status refuse_unsafe(const hone_trace *trace) {
    uint32_t i = 0;
    hone_str text = {0};
    while (i + 1 < trace->count && !hone_inst_is_unsafe(&trace->insts[i]))
        i++;
    hone_status st = hone_inst_print_python(trace, i, &text);
    if (!st) {
        st = HONE_ERROR(HONE_CODE_ILLEGAL,
                        "step %" PRIu32 ": %s: it believes what it is told, and may be wrong",
                        i + 1, hone_str_text(&text));
    }
    hone_str_deinit(&text);
    return st;
}

/* Nothing stays of a trace that is refused, or whose steps are known. */
hone_status hone_tune_task_adopt(hone_tune_task *task, const hone_trace *trace, hone_rng rng,
                                 hone_candidate *out) {
    if (trace->is_unsafe) return refuse_unsafe(trace);
    hone_variant variant;
    if (hone_trace_variant(trace, &variant) && !hone_variant_is_allowed(&variant, &task->rules))
        return HONE_ERROR(HONE_CODE_ILLEGAL,
                          "variant '%s' declares an error of %g, more than --variants and "
                          "--max-error allow, or is not given with --variant",
                          variant.name, variant.error);
    const hone_arena_mark mark = hone_arena_get_mark(task->space.arena);
    const uint32_t count = task->space.count, foreign = task->foreign_count;
    hone_trace *const sketches = task->space.sketches;
    bool is_new;
    hone_status st = adopt(task, trace, rng, out, &is_new);
    if (!st && is_new) return HONE_OK;
    task->space.count = count;
    task->foreign_count = foreign;
    task->space.sketches = sketches;
    hone_arena_rewind(task->space.arena, mark);
    return st;
}
