/* tuner/search/search_random.c - two plain strategies: random draws from the sketches; replay walks
 * through the records that the task knows and measures their programs again, fastest first, then
 * goes on at random. */
#include "tuner/search/search.h"

enum { MAX_TRIES = 64 };

static hone_status add_if_new(hone_tune_task *task, hone_candidate *c, bool again,
                              hone_candidate *out, uint32_t *io_count) {
    bool is_new;
    HONE_TRY(hone_tune_task_note_program(task, c->program, &is_new));
    if (!again && !is_new) return HONE_OK;
    HONE_TRY(hone_tune_task_trace(task, task->arena, &c->trace));
    out[(*io_count)++] = *c;
    return HONE_OK;
}

static bool is_refusal(hone_status st) {
    hone_code code = hone_status_code(st);
    return code == HONE_CODE_ILLEGAL || code == HONE_CODE_INVALID;
}

static hone_status draw(hone_tune_task *task, hone_rng rng, uint32_t count, hone_candidate *out,
                        uint32_t *io_count) {
    for (uint32_t i = 0; i < MAX_TRIES * count && *io_count < count && task->space.count; i++) {
        hone_candidate c;
        int32_t sketch = (int32_t)hone_rng_below(&rng, task->space.count);
        hone_status st =
            hone_tune_task_replay(task, sketch, NULL, hone_rng_split(&rng, i), task->arena, &c);
        if (!st) st = add_if_new(task, &c, false, out, io_count);
        if (st && !is_refusal(st)) return st;
        hone_status_free(st);
    }
    return HONE_OK;
}

static hone_status propose_random(hone_tune_task *task, hone_costmodel *model, hone_rng rng,
                                  uint32_t count, hone_candidate *out, uint32_t *out_count) {
    (void)model;
    *out_count = 0;
    return draw(task, rng, count, out, out_count);
}

static hone_status propose_replay(hone_tune_task *task, hone_costmodel *model, hone_rng rng,
                                  uint32_t count, hone_candidate *out, uint32_t *out_count) {
    (void)model;
    *out_count = 0;
    uint32_t from = (uint32_t)(task->proposals < HONE_ELITES ? task->proposals : HONE_ELITES);
    for (uint32_t i = from; i < task->elite_count && *out_count < count; i++) {
        hone_candidate c;
        const hone_elite *e = &task->elites[i];
        hone_status st = hone_tune_task_replay(task, e->sketch, e->decisions, rng, task->arena, &c);
        if (!st) st = add_if_new(task, &c, true, out, out_count);
        if (st && !is_refusal(st)) return st;
        hone_status_free(st);
    }
    return draw(task, rng, count, out, out_count);
}

const hone_strategy hone_strategy_random = {.propose = propose_random};
const hone_strategy hone_strategy_replay = {.propose = propose_replay};
