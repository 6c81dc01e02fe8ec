/* tests/schedule/steps/random_steps.c - draws one step from all kinds. */
#include "tests/schedule/steps/random_steps.h"

#include "tests/schedule/steps/random_pick.h"

enum { TRIES = 3 };

/* A group with more shares is drawn from more often. */
static const struct {
    hone_random_group (*steps)(void);
    uint32_t shares;
} groups[] = {
    {hone_random_loop_steps,   6},
    {hone_random_block_steps,  6},
    {hone_random_buffer_steps, 4},
    {hone_random_nest_steps,   2},
    {hone_random_layout_steps, 3},
    {hone_random_recipe_steps, 3},
    {hone_random_unsafe_steps, 0},
};

static hone_random_kind draw_from(hone_rng *rng, uint32_t group) {
    uint32_t count = groups[group].steps().count;
    return (hone_random_kind){group, (uint32_t)hone_rng_below(rng, count)};
}

hone_random_kind hone_random_draw(hone_rng *rng) {
    uint32_t shares = 0, group = 0;
    for (uint32_t i = 0; i < HONE_COUNT(groups); i++)
        shares += groups[i].shares;
    uint32_t drawn = (uint32_t)hone_rng_below(rng, shares);
    while (drawn >= groups[group].shares)
        drawn -= groups[group++].shares;
    return draw_from(rng, group);
}

hone_random_kind hone_random_draw_unsafe(hone_rng *rng) {
    return draw_from(rng, HONE_COUNT(groups) - 1);
}

const char *hone_random_kind_name(hone_random_kind kind) {
    return groups[kind.group].steps().rows[kind.row].name;
}

hone_status hone_random_try(hone_schedule *sch, hone_rng *rng, hone_random_kind kind) {
    const hone_random_row *row = &groups[kind.group].steps().rows[kind.row];
    if (row->run) return row->run(sch, rng);
    hone_rv block = hone_random_block(sch, rng, row->wish);
    return block == HONE_NO_ID ? hone_random_nothing() : row->run_block(sch, rng, block);
}

hone_status hone_random_step(hone_schedule *sch, hone_rng *rng) {
    hone_random_kind kind = hone_random_draw(rng);
    hone_status st = hone_random_try(sch, rng, kind);
    for (int i = 1; i < TRIES && st; i++) {
        hone_status_free(st);
        st = hone_random_try(sch, rng, kind);
    }
    return st;
}
