/* tuner/space/space.c - applies the rules. Rule after rule, each over all blocks from the root back
 * to the first; a rule may turn one schedule into several:
 *
 *   schedules ──rule at block n──► schedules ──rule at block n-1──► … ──► traces, without decisions
 */
#include "tuner/space/space_rule.h"

#include <string.h>

#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "support/data/hash.h"

enum { MAX_SKETCHES = 40, MAX_BLOCKS = 256, ARENA_BYTES = 1 << 14, CHECKED_DRAWS = 32 };

static const struct {
    hone_space_rule apply;
    hone_device_sort devices;
} rules[] = {
#define HONE_SPACE_RULE(name, devices) {hone_rule_##name, devices},
#include "tuner/space/space_rules.def"
#undef HONE_SPACE_RULE
};

typedef struct generation {
    const hone_target *target;
    hone_schedule *schedules[MAX_SKETCHES];
    uint32_t count;
    uint32_t block_count;
    const char *blocks[MAX_BLOCKS]; /* names, in program order */
} generation;

/* ---- one rule at one block ---- */

static void drop_all(generation *g) {
    for (uint32_t i = 0; i < g->count; i++)
        hone_schedule_destroy(g->schedules[i]);
    g->count = 0;
}

/* Takes the results over; those that there is no room for are destroyed, the first ones stay. */
static void take_results(generation *g, hone_rule_results *results, uint32_t reserved) {
    for (uint32_t k = 0; k < results->count; k++) {
        /* every schedule that is still to come needs one place */
        bool has_room = k == 0 || g->count + reserved < MAX_SKETCHES;
        if (has_room && g->count < MAX_SKETCHES) {
            g->schedules[g->count++] = results->items[k];
        } else {
            hone_schedule_destroy(results->items[k]);
        }
    }
}

static hone_status apply_rule(generation *g, hone_space_rule rule, const char *block) {
    hone_schedule *before[MAX_SKETCHES];
    uint32_t count = g->count;
    memcpy(before, g->schedules, count * sizeof before[0]);
    g->count = 0;
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (st) {
            hone_schedule_destroy(before[i]);
            continue;
        }
        hone_rule_results results = {0};
        st = rule(before[i], block, g->target, &results);
        take_results(g, &results, count - i - 1);
    }
    return st;
}

/* ---- all rules ---- */

/* Says so itself, or is a statement of a software pipeline, whose stages count those. */
static bool is_opted_out(const hone_func *func, hone_node_id block) {
    const hone_attrs *attrs = &hone_func_node(func, block)->u.block.block->annotations;
    bool is_out = hone_attrs_string(attrs, "schedule_rule", NULL) != NULL;
    for (hone_node_id up = block; !is_out && up != HONE_NO_ID;
         up = hone_func_node(func, up)->parent)
        is_out = hone_rule_is_pipeline(hone_func_node(func, up));
    return is_out;
}

/* Names are copied: the schedule that they are of may be gone when they are asked for. */
static hone_status list_blocks(generation *g, const hone_func *func, hone_arena *arena) {
    hone_node_id root = hone_func_root_block(func);
    for (hone_node_id n = root; n != HONE_NO_ID && g->block_count < MAX_BLOCKS;
         n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_BLOCK || is_opted_out(func, n)) continue;
        const char *name = hone_arena_strdup(arena, node->u.block.block->name);
        if (!name) return HONE_ERROR(HONE_CODE_NO_MEMORY, "design space");
        g->blocks[g->block_count++] = name;
    }
    return HONE_OK;
}

static hone_status apply_all(generation *g) {
    for (size_t r = 0; r < HONE_COUNT(rules); r++) {
        if (!(rules[r].devices & hone_target_device(g->target))) continue;
        HONE_TRY(
            apply_rule(g, rules[r].apply, g->blocks[0])); /* the root first, then from the back */
        for (uint32_t b = g->block_count; b-- > 1;) {
            HONE_TRY(apply_rule(g, rules[r].apply, g->blocks[b]));
        }
    }
    return HONE_OK;
}

/* ---- sketches ---- */

static void forget_decisions(hone_trace *trace) {
    for (uint32_t i = 0; i < trace->count; i++)
        trace->decisions[i] = (hone_decision){0, NULL};
}

static hone_status hash_of(const hone_trace *trace, hone_hash128 *out) {
    hone_str text = {0};
    hone_status st = hone_trace_print_json(trace, &text);
    if (!st) *out = hone_hash128_bytes(hone_str_text(&text), text.length);
    hone_str_deinit(&text);
    return st;
}

static hone_status collect(const generation *g, hone_space *out) {
    hone_hash128 seen[MAX_SKETCHES];
    out->sketches = hone_arena_zalloc(out->arena, (g->count + 1) * sizeof *out->sketches);
    if (!out->sketches) return HONE_ERROR(HONE_CODE_NO_MEMORY, "sketches");
    for (uint32_t i = 0; i < g->count; i++) {
        hone_trace *sketch = &out->sketches[out->count];
        HONE_TRY(hone_trace_simplify(out->arena, &g->schedules[i]->trace, true, sketch));
        forget_decisions(sketch);
        HONE_TRY(hash_of(sketch, &seen[out->count]));
        bool is_new = true;
        for (uint32_t k = 0; k < out->count; k++) {
            is_new = is_new && !hone_hash128_equal(seen[k], seen[out->count]);
        }
        out->count += is_new;
    }
    return HONE_OK;
}

static hone_status open_space(hone_space *out) {
    *out = (hone_space){.arena = hone_arena_create(ARENA_BYTES)};
    return out->arena ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "design space");
}

hone_status hone_space_generate(const hone_func *func, const hone_target *target,
                                hone_space *out_space) {
    return hone_space_generate_with(func, target, NULL, out_space);
}

hone_status hone_space_generate_with(const hone_func *func, const hone_target *target,
                                     const hone_tensor_intrins *intrins, hone_space *out_space) {
    assert(func && target && out_space);
    *out_space = (hone_space){0};
    hone_schedule *sch;
    HONE_TRY(hone_schedule_create(func, &sch));
    sch->intrins = intrins;
    return hone_space_generate_from(sch, target, out_space);
}

hone_status hone_space_generate_from(hone_schedule *sch, const hone_target *target,
                                     hone_space *out_space) {
    *out_space = (hone_space){0};
    generation g = {.target = target, .schedules = {sch}, .count = 1};
    sch->wants_reasons = false;
    hone_status st = open_space(out_space);
    if (!st) st = list_blocks(&g, sch->func, out_space->arena);
    if (!st && g.block_count) st = apply_all(&g);
    if (!st) st = collect(&g, out_space);
    drop_all(&g);
    if (st) hone_space_deinit(out_space);
    return st;
}

bool hone_space_add(hone_space *space, const hone_trace *trace, hone_draft *out_start) {
    hone_trace *sketches = hone_arena_alloc(space->arena, (space->count + 1) * sizeof *sketches);
    hone_decision *open = hone_arena_zalloc(space->arena, (trace->count + 1) * sizeof *open);
    if (!sketches || !open) return false;
    if (space->count) memcpy(sketches, space->sketches, space->count * sizeof *sketches);
    sketches[space->count] = *trace;
    sketches[space->count].decisions = open;
    space->sketches = sketches;
    if (out_start) *out_start = (hone_draft){(int32_t)space->count, trace->decisions};
    space->count++;
    return true;
}

/* ---- a space of the user's ---- */

/* Measuring gives tensors in the program's own layout. */
static hone_status keep_parameters(void *ctx, hone_schedule *sch, uint32_t step) {
    (void)ctx;
    (void)step;
    const hone_inst *inst = &sch->trace.insts[sch->trace.count - 1];
    if (inst->kind != HONE_INST_TRANSFORM_LAYOUT) return HONE_OK;
    hone_node_id node;
    HONE_TRY(hone_schedule_node(sch, inst->inputs[0].u.rv, &node));
    const hone_block *block = hone_func_node(sch->func, node)->u.block.block;
    int64_t number = inst->attrs[0].u.i;
    bool is_write = inst->attrs[1].u.i != 0;
    hone_buffer buffer = (is_write ? block->writes : block->reads)[number].buffer;
    if (!hone_func_is_parameter(sch->func, buffer)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "transform_layout changes the layout of the parameter '%s', which the "
                      "program's callers know; sch.cache_%s makes a buffer whose layout may change",
                      hone_func_buffer(sch->func, buffer)->name, is_write ? "write" : "read");
}

/* A draw may be refused; a space all of whose draws are is none. */
static hone_status check_draws(const hone_trace *trace, const hone_target *target,
                               hone_schedule *sch) {
    hone_status first = HONE_OK;
    for (uint64_t i = 0; i < CHECKED_DRAWS; i++) {
        hone_apply_options options = {.resample = true, .after_step = keep_parameters};
        hone_status st = hone_schedule_reset(sch);
        sch->rng = hone_rng_from_seed(i);
        if (!st) st = hone_trace_apply(trace, sch, &options);
        if (!st) st = hone_postprocess(sch, target);
        if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) {
            hone_status_free(first);
            return st;
        }
        if (first)
            hone_status_free(st);
        else
            first = st;
    }
    return first;
}

static hone_status check_space(const hone_trace *trace, const hone_trace_context *context,
                               const hone_target *target) {
    hone_schedule *sch;
    HONE_TRY(hone_schedule_create(context->func, &sch));
    sch->intrins = context->intrins;
    sch->wants_reasons = true;
    hone_status st = check_draws(trace, target, sch);
    hone_schedule_destroy(sch);
    return st;
}

static hone_status load_space(const char *path, const hone_trace_context *context,
                              const hone_target *target, hone_space *space) {
    hone_trace trace;
    HONE_TRY(open_space(space));
    HONE_TRY(hone_trace_load(space->arena, path, context, NULL, &trace));
    if (trace.count == 0) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "space '%s' has no steps, so that the program as it is written would be "
                          "its only candidate",
                          path);
    }
    HONE_TRY(hone_status_annotate(check_space(&trace, context, target), "space '%s'", path));
    space->sketches = hone_arena_zalloc(space->arena, sizeof *space->sketches);
    if (!space->sketches) return HONE_ERROR(HONE_CODE_NO_MEMORY, "sketch");
    HONE_TRY(hone_trace_simplify(space->arena, &trace, true, space->sketches));
    forget_decisions(space->sketches);
    space->count = 1;
    return HONE_OK;
}

hone_status hone_space_load(const char *path, const hone_trace_context *context,
                            const hone_target *target, hone_space *out_space) {
    assert(path && context && context->func && out_space);
    hone_status st = load_space(path, context, target, out_space);
    if (st) hone_space_deinit(out_space);
    return st;
}

void hone_space_deinit(hone_space *space) {
    if (space->arena) hone_arena_destroy(space->arena);
    *space = (hone_space){0};
}
