#include "schedule/replay/trace_apply.h"

#include <string.h>

#include "schedule/primitive/choose/sample.h"
#include "schedule/primitive/primitives.h"
#include "schedule/replay/trace_apply_impl.h"

/* Replay: every instruction of a trace, on a schedule. The trace's variables are mapped to those
 * that the schedule makes. */

hone_status replay_malformed(const hone_inst *inst, const char *what) {
    return HONE_ERROR(HONE_CODE_INVALID, "%s: %s", hone_inst_json_name(inst->kind), what);
}

/* ---- reading operands and attributes; all may come from a file ---- */

hone_status replay_rv(const replay *r, const hone_inst *inst, uint32_t i, hone_rv *out) {
    if (i >= inst->input_count || inst->inputs[i].kind != HONE_OPERAND_RV) {
        return replay_malformed(inst, "an input must be a block or a loop");
    }
    *out = r->map[inst->inputs[i].u.rv];
    return HONE_OK;
}

hone_status replay_int(const hone_inst *inst, uint32_t i, int64_t fallback, bool is_optional,
                       int64_t *out) {
    *out = fallback;
    if (i >= inst->attr_count) {
        return is_optional ? HONE_OK : replay_malformed(inst, "an attribute is missing");
    }
    const hone_value *v = &inst->attrs[i];
    if (v->kind != HONE_VALUE_INT && v->kind != HONE_VALUE_BOOL) {
        return replay_malformed(inst, "an attribute must be an integer");
    }
    *out = v->u.i;
    return HONE_OK;
}

hone_status replay_string(const hone_inst *inst, uint32_t i, const char **out) {
    if (i >= inst->attr_count || inst->attrs[i].kind != HONE_VALUE_STRING) {
        return replay_malformed(inst, "an attribute must be a string");
    }
    *out = inst->attrs[i].u.s;
    return HONE_OK;
}

/* All inputs from `first` on as variables. */
static hone_status replay_rvs(const replay *r, const hone_operand *items, uint32_t count,
                              const hone_inst *inst, hone_rv **out) {
    *out = hone_arena_alloc(r->sch->arena, (count + 1) * sizeof **out);
    if (!*out) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind != HONE_OPERAND_RV) {
            return replay_malformed(inst, "an input must be a block or a loop");
        }
        (*out)[i] = r->map[items[i].u.rv];
    }
    return HONE_OK;
}

hone_status replay_ints(const replay *r, const hone_inst *inst, uint32_t i, uint32_t *out_count,
                        int64_t **out) {
    if (i >= inst->input_count || inst->inputs[i].kind != HONE_OPERAND_LIST) {
        return replay_malformed(inst, "an input must be a list of integers");
    }
    const hone_operand *list = &inst->inputs[i];
    *out_count = list->count;
    *out = hone_arena_alloc(r->sch->arena, (list->count + 1) * sizeof **out);
    if (!*out) return sch_no_memory();
    for (uint32_t k = 0; k < list->count; k++) {
        if (list->u.items[k].kind != HONE_OPERAND_INT) {
            return replay_malformed(inst, "an input must be a list of integers");
        }
        (*out)[k] = list->u.items[k].u.i;
    }
    return HONE_OK;
}

hone_status replay_buffer(const replay *r, const hone_inst *inst, uint32_t i, hone_rv block,
                          bool is_write, int64_t *out) {
    if (i >= inst->attr_count || inst->attrs[i].kind != HONE_VALUE_STRING) {
        return replay_int(inst, i, 0, false, out);
    }
    hone_node_id node;
    HONE_TRY(sch_resolve_block(r->sch, block, &node));
    return sch_find_buffer(r->sch, node, inst->attrs[i].u.s, is_write, out);
}

hone_status replay_map(const replay *r, const hone_inst *inst, uint32_t i,
                       const hone_index_map **out) {
    *out = NULL;
    if (i >= inst->input_count || inst->inputs[i].kind == HONE_OPERAND_NONE) return HONE_OK;
    hone_operand input = inst->inputs[i];
    if (input.kind != HONE_OPERAND_MAP) {
        return replay_malformed(inst, "an input must be an index map");
    }
    if (input.u.map->free_count && !hone_operand_renumber_map(r->sch->arena, &input, r->map)) {
        return sch_no_memory();
    }
    *out = input.u.map;
    return HONE_OK;
}

/* ---- instructions with arguments of their own kind ---- */

/* Factors of split and loop_partition: all inputs behind the loop. */
static hone_status read_factors(replay *r, const hone_inst *inst, uint32_t *out_count,
                                hone_factor **out) {
    uint32_t count = inst->input_count - 1;
    hone_factor *factors = hone_arena_alloc(r->sch->arena, (count + 1) * sizeof *factors);
    if (!factors) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        const hone_operand *o = &inst->inputs[i + 1];
        factors[i] = (hone_factor){.kind = HONE_FACTOR_NONE};
        if (o->kind == HONE_OPERAND_RV) factors[i] = HONE_FACTOR_OF_RV(r->map[o->u.rv]);
        if (o->kind == HONE_OPERAND_INT) factors[i] = HONE_FACTOR_OF_INT(o->u.i);
        bool is_none = o->kind == HONE_OPERAND_NONE ||
                       (o->kind == HONE_OPERAND_STRING && strcmp(o->u.s, "None") == 0);
        if (factors[i].kind == HONE_FACTOR_NONE && !is_none) {
            return replay_malformed(inst, "a factor must be an integer, a variable or None");
        }
    }
    *out_count = count;
    *out = factors;
    return HONE_OK;
}

static hone_status run_split(replay *r, const hone_inst *inst) {
    hone_rv loop;
    int64_t keep, unguarded;
    uint32_t count = 0;
    hone_factor *factors = NULL;
    HONE_TRY(replay_rv(r, inst, 0, &loop));
    HONE_TRY(replay_int(inst, 0, 1, true, &keep));
    HONE_TRY(replay_int(inst, 1, 0, true, &unguarded));
    HONE_TRY(read_factors(r, inst, &count, &factors));
    if (inst->kind == HONE_INST_LOOP_PARTITION) {
        return hone_sch_loop_partition(r->sch, loop, count, factors, keep != 0, NULL, NULL);
    }
    return hone_sch_split(r->sch, loop, count, factors, keep != 0, unguarded != 0, NULL);
}

static hone_status run_fuse_or_reorder(replay *r, const hone_inst *inst) {
    hone_rv *loops = NULL;
    HONE_TRY(replay_rvs(r, inst->inputs, inst->input_count, inst, &loops));
    if (inst->kind == HONE_INST_REORDER) return hone_sch_reorder(r->sch, inst->input_count, loops);
    if (inst->kind == HONE_INST_MERGE) {
        return hone_sch_merge(r->sch, inst->input_count, loops, NULL);
    }
    int64_t keep;
    HONE_TRY(replay_int(inst, 0, 1, true, &keep));
    return hone_sch_fuse(r->sch, inst->input_count, loops, keep != 0, NULL);
}

static hone_status run_cache(replay *r, const hone_inst *inst) {
    hone_rv block;
    int64_t index;
    const char *scope;
    HONE_TRY(replay_rv(r, inst, 0, &block));
    HONE_TRY(replay_buffer(r, inst, 0, block, inst->kind == HONE_INST_CACHE_WRITE, &index));
    HONE_TRY(replay_string(inst, 1, &scope));
    uint32_t count = 0;
    hone_rv *consumers = NULL;
    if (inst->input_count > 1 && inst->inputs[1].kind == HONE_OPERAND_LIST) {
        count = inst->inputs[1].count;
        HONE_TRY(replay_rvs(r, inst->inputs[1].u.items, count, inst, &consumers));
    }
    return inst->kind == HONE_INST_CACHE_READ
               ? hone_sch_cache_read(r->sch, block, index, scope, count, consumers, NULL)
               : hone_sch_cache_write(r->sch, block, index, scope, count, consumers, NULL);
}

static hone_status run_blockize(replay *r, const hone_inst *inst) {
    int64_t keep;
    HONE_TRY(replay_int(inst, 0, 1, true, &keep));
    if (inst->input_count == 1 && inst->inputs[0].kind == HONE_OPERAND_LIST) {
        const hone_operand *list = &inst->inputs[0];
        hone_rv *blocks = NULL;
        HONE_TRY(replay_rvs(r, list->u.items, list->count, inst, &blocks));
        return hone_sch_blockize_blocks(r->sch, list->count, blocks, keep != 0, NULL);
    }
    hone_rv loop;
    HONE_TRY(replay_rv(r, inst, 0, &loop));
    return hone_sch_blockize_loop(r->sch, loop, keep != 0, NULL);
}

static hone_status run_tensorize(replay *r, const hone_inst *inst) {
    hone_rv node;
    const char *name;
    int64_t keep;
    HONE_TRY(replay_rv(r, inst, 0, &node));
    HONE_TRY(replay_string(inst, 0, &name));
    HONE_TRY(replay_int(inst, 1, 1, true, &keep));
    return hone_sch_tensorize(r->sch, node, name, keep != 0);
}

static hone_status run_compute_at(replay *r, const hone_inst *inst) {
    hone_rv block, loop;
    int64_t keep, index;
    HONE_TRY(replay_rv(r, inst, 0, &block));
    HONE_TRY(replay_rv(r, inst, 1, &loop));
    HONE_TRY(replay_int(inst, 0, 0, true, &keep));
    HONE_TRY(replay_int(inst, 1, -1, true, &index));
    return inst->kind == HONE_INST_COMPUTE_AT
               ? hone_sch_compute_at(r->sch, block, loop, keep != 0, index)
               : hone_sch_reverse_compute_at(r->sch, block, loop, keep != 0, index);
}

static hone_status run_annotate(replay *r, const hone_inst *inst) {
    hone_rv node;
    const char *key;
    HONE_TRY(replay_rv(r, inst, 0, &node));
    HONE_TRY(replay_string(inst, 0, &key));
    if (inst->input_count < 2) return replay_malformed(inst, "the value is missing");
    const hone_operand *o = &inst->inputs[1];
    hone_value value = {.kind = HONE_VALUE_NONE};
    hone_rv value_rv = HONE_NO_ID;
    switch (o->kind) {
    case HONE_OPERAND_RV:
        value_rv = r->map[o->u.rv];
        break;
    case HONE_OPERAND_INT:
        value = HONE_VALUE_OF_INT(o->u.i);
        break;
    case HONE_OPERAND_FLOAT:
        value = HONE_VALUE_OF_FLOAT(o->u.f);
        break;
    case HONE_OPERAND_STRING:
        value = HONE_VALUE_OF_STRING(o->u.s);
        break;
    case HONE_OPERAND_VALUE:
        value = *o->u.value;
        break;
    case HONE_OPERAND_NONE:
        break;
    case HONE_OPERAND_LIST:
    case HONE_OPERAND_MAP:
        return replay_malformed(inst, "a list of variables is no annotation");
    }
    return hone_sch_annotate(r->sch, node, key, value, value_rv);
}

static hone_status run_categorical(replay *r, const hone_inst *inst,
                                   const hone_decision *decision) {
    if (inst->attr_count < 2 || inst->attrs[0].kind != HONE_VALUE_LIST ||
        inst->attrs[1].kind != HONE_VALUE_LIST || inst->attrs[0].count != inst->attrs[1].count) {
        return replay_malformed(inst,
                                "candidates and probabilities must be two lists of one length");
    }
    uint32_t count = inst->attrs[0].count;
    int64_t *candidates = hone_arena_alloc(r->sch->arena, (count + 1) * sizeof *candidates);
    double *probs = hone_arena_alloc(r->sch->arena, (count + 1) * sizeof *probs);
    if (!candidates || !probs) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        const hone_value *c = &inst->attrs[0].u.items[i], *p = &inst->attrs[1].u.items[i];
        bool is_number = p->kind == HONE_VALUE_FLOAT || p->kind == HONE_VALUE_INT;
        if (c->kind != HONE_VALUE_INT || !is_number) {
            return replay_malformed(inst, "candidates must be integers, probabilities numbers");
        }
        candidates[i] = c->u.i;
        probs[i] = p->kind == HONE_VALUE_FLOAT ? p->u.f : (double)p->u.i;
    }
    return hone_sch_sample_categorical(r->sch, count, candidates, probs, decision, NULL);
}

static hone_status run_tile(replay *r, const hone_inst *inst, const hone_decision *decision) {
    hone_rv loop;
    int64_t n, limit;
    HONE_TRY(replay_rv(r, inst, 0, &loop));
    HONE_TRY(replay_int(inst, 0, 0, false, &n));
    HONE_TRY(replay_int(inst, 1, 16, true, &limit));
    if (n < 1 || n > HONE_MAX_TILE_PARTS) return replay_malformed(inst, "n must be from 1 to 16");
    return hone_sch_sample_perfect_tile(r->sch, loop, (uint32_t)n, limit, decision, NULL);
}

static hone_status run_partitioned_tile(replay *r, const hone_inst *inst,
                                        const hone_decision *decision) {
    hone_rv loop;
    int64_t n, pos, inner;
    HONE_TRY(replay_rv(r, inst, 0, &loop));
    HONE_TRY(replay_int(inst, 0, 0, false, &n));
    HONE_TRY(replay_int(inst, 1, 0, true, &pos));
    HONE_TRY(replay_int(inst, 2, 1, true, &inner));
    if (n < 1 || n > HONE_MAX_TILE_PARTS) return replay_malformed(inst, "n must be from 1 to 16");
    return hone_sch_sample_partitioned_tile(r->sch, loop, (uint32_t)n, pos, inner, decision, NULL);
}

static hone_status run_get_block(replay *r, const hone_inst *inst) {
    const char *name;
    HONE_TRY(replay_string(inst, 0, &name));
    if (inst->attr_count > 1 && inst->attrs[1].kind == HONE_VALUE_STRING) {
        const char *wanted = inst->attrs[1].u.s, *own = r->sch->func->name;
        if (strcmp(wanted, "main") != 0 && strcmp(wanted, own) != 0) {
            return sch_refuse(r->sch, HONE_NO_ID,
                              "the schedule works on function '%s', not on '%s'", own, wanted);
        }
    }
    return hone_sch_get_block(r->sch, name, NULL);
}

/* ---- one instruction ---- */

static hone_status run_one(replay *r, const hone_inst *inst, const hone_decision *decision) {
    hone_schedule *sch = r->sch;
    hone_rv a = 0, b = 0;
    uint32_t count = 0;
    const hone_rv *list = NULL;
    const char *text = NULL;
    int64_t number = 0;
    switch (inst->kind) {
    case HONE_INST_SAMPLE_CATEGORICAL:
        return run_categorical(r, inst, decision);
    case HONE_INST_SAMPLE_PERFECT_TILE:
        return run_tile(r, inst, decision);
    case HONE_INST_SAMPLE_PARTITIONED_TILE:
        return run_partitioned_tile(r, inst, decision);
    case HONE_INST_GET_BLOCK:
        return run_get_block(r, inst);
    case HONE_INST_SPLIT:
    case HONE_INST_LOOP_PARTITION:
        return run_split(r, inst);
    case HONE_INST_FUSE:
    case HONE_INST_MERGE:
    case HONE_INST_REORDER:
        return run_fuse_or_reorder(r, inst);
    case HONE_INST_CACHE_READ:
    case HONE_INST_CACHE_WRITE:
        return run_cache(r, inst);
    case HONE_INST_COMPUTE_AT:
    case HONE_INST_REVERSE_COMPUTE_AT:
        return run_compute_at(r, inst);
    case HONE_INST_TENSORIZE:
        return run_tensorize(r, inst);
    case HONE_INST_BLOCKIZE:
        return run_blockize(r, inst);
    case HONE_INST_ANNOTATE:
        return run_annotate(r, inst);
    case HONE_INST_ENTER_POSTPROC:
        return hone_sch_enter_postproc(sch);
    default:
        break;
    }
    HONE_TRY(replay_rv(r, inst, 0, &a));
    switch (inst->kind) {
    case HONE_INST_SAMPLE_COMPUTE_LOCATION:
        return hone_sch_sample_compute_location(sch, a, decision, &b);
    case HONE_INST_GET_LOOPS:
        return hone_sch_get_loops(sch, a, &count, &list);
    case HONE_INST_GET_CHILD_BLOCKS:
        return hone_sch_get_child_blocks(sch, a, &count, &list);
    case HONE_INST_GET_PRODUCERS:
        return hone_sch_get_producers(sch, a, &count, &list);
    case HONE_INST_GET_CONSUMERS:
        return hone_sch_get_consumers(sch, a, &count, &list);
    case HONE_INST_GET_OUTPUT_BLOCKS:
        return hone_sch_get_output_blocks(sch, a, &count, &list);
    case HONE_INST_ADD_UNIT_LOOP:
        return hone_sch_add_unit_loop(sch, a, NULL);
    case HONE_INST_PARALLEL:
        return hone_sch_parallel(sch, a);
    case HONE_INST_VECTORIZE:
        return hone_sch_vectorize(sch, a);
    case HONE_INST_UNROLL:
        return hone_sch_unroll(sch, a);
    case HONE_INST_COMPUTE_INLINE:
        return hone_sch_compute_inline(sch, a);
    case HONE_INST_REVERSE_COMPUTE_INLINE:
        return hone_sch_reverse_compute_inline(sch, a);
    case HONE_INST_BIND:
        HONE_TRY(replay_string(inst, 0, &text));
        return hone_sch_bind(sch, a, text);
    case HONE_INST_UNANNOTATE:
        HONE_TRY(replay_string(inst, 0, &text));
        return hone_sch_unannotate(sch, a, text);
    case HONE_INST_RFACTOR:
        HONE_TRY(replay_int(inst, 0, 0, false, &number));
        return hone_sch_rfactor(sch, a, number, NULL);
    case HONE_INST_DECOMPOSE_PADDING:
        HONE_TRY(replay_rv(r, inst, 1, &b));
        return hone_sch_decompose_padding(sch, a, b, NULL);
    case HONE_INST_DECOMPOSE_REDUCTION:
        HONE_TRY(replay_rv(r, inst, 1, &b));
        return hone_sch_decompose_reduction(sch, a, b, NULL);
    default:
        return replay_buffer_step(r, inst, a);
    }
}

/* Every variable that is used was made by an earlier instruction. */
static bool is_defined(const hone_operand *operand, uint32_t defined) {
    if (operand->kind == HONE_OPERAND_RV) return operand->u.rv < defined;
    for (uint32_t i = 0; operand->kind == HONE_OPERAND_MAP && i < operand->u.map->free_count; i++) {
        if (operand->u.map->frees[i] >= defined) return false;
    }
    if (operand->kind != HONE_OPERAND_LIST) return true;
    for (uint32_t i = 0; i < operand->count; i++) {
        if (!is_defined(&operand->u.items[i], defined)) return false;
    }
    return true;
}

static hone_status run_checked(replay *r, uint32_t index, const hone_decision *decision) {
    const hone_inst *inst = &r->trace->insts[index];
    for (uint32_t i = 0; i < inst->input_count; i++) {
        if (!is_defined(&inst->inputs[i], inst->first_output)) {
            return replay_malformed(inst, "an input is used before it is defined");
        }
    }
    uint32_t first = r->sch->trace.rv_count;
    HONE_TRY(run_one(r, inst, decision));
    uint32_t made = r->sch->trace.rv_count - first;
    /* nobody wants the results, whose number only the step knows */
    bool is_ignored = inst->output_count == 0 &&
                      (hone_inst_is_pure(inst->kind) || inst->kind == HONE_INST_CACHE_INDEX);
    if (made != inst->output_count && !is_ignored) {
        return sch_refuse(r->sch, HONE_NO_ID, "it gave %u results, the trace has names for %u",
                          made, inst->output_count);
    }
    for (uint32_t i = 0; i < inst->output_count; i++)
        r->map[inst->first_output + i] = first + i;
    return HONE_OK;
}

/* "step 7: sch.split(…): " in front of a refusal. */
static hone_status name_step(const replay *r, uint32_t index, hone_status st) {
    if (!r->sch->wants_reasons) return st;
    hone_str text = {0};
    hone_status failed = hone_inst_print_python(r->trace, index, &text);
    if (failed || text.failed) {
        hone_status_free(failed);
    } else {
        st = hone_status_annotate(st, "step %u: %s", index + 1, text.data);
    }
    hone_str_deinit(&text);
    return st;
}

hone_status hone_trace_apply(const hone_trace *trace, struct hone_schedule *sch,
                             const hone_apply_options *options) {
    static const hone_apply_options defaults = {0};
    if (!options) options = &defaults;
    const hone_decision *decisions = options->decisions ? options->decisions : trace->decisions;
    replay r = {.sch = sch, .trace = trace};
    r.map = hone_arena_alloc(sch->arena, (trace->rv_count + 1) * sizeof *r.map);
    if (!r.map) return sch_no_memory();
    for (uint32_t i = 0; i < trace->rv_count; i++)
        r.map[i] = HONE_NO_ID; /* variables that no instruction makes */
    sch->blame = HONE_NO_ID;
    for (uint32_t i = 0; i < trace->count; i++) {
        if (options->skip_postproc && trace->insts[i].kind == HONE_INST_ENTER_POSTPROC) break;
        if (options->is_left_out && options->is_left_out[i]) continue;
        bool has_decision = !options->resample && decisions[i].count;
        hone_status st = run_checked(&r, i, has_decision ? &decisions[i] : NULL);
        if (!st && options->after_step) st = options->after_step(options->ctx, sch, i);
        if (st) {
            if (options->out_failed) *options->out_failed = i;
            return name_step(&r, i, st);
        }
    }
    if (options->out_rvs) memcpy(options->out_rvs, r.map, trace->rv_count * sizeof *r.map);
    return HONE_OK;
}
