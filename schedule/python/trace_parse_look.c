
#include "schedule/python/trace_parse_impl.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule_impl.h"
#include "schedule/trace/trace_parts.h"

/* What the program says in the Python form of traces: sch.get(loop).extent,
 * sch.get(block).name_hint and so on. What was read so far is applied; as nothing is drawn yet, it
 * is applied with several draws, and only what is the same in all of them is known. */

enum { DRAWS = 6 };

typedef struct look {
    pytrace *p;
    hone_schedule *sch;
} look;

/* ---- making views ---- */

static hone_status put(look *l, pytrace_value *view, const char *name, pytrace_value item) {
    return pytrace_put(l->p, view, &PYTRACE_OF_STRING(name), &item);
}

static hone_status put_text(look *l, pytrace_value *view, const char *name, const char *text) {
    char *copy = hone_arena_strdup(l->p->arena, text);
    return copy ? put(l, view, name, PYTRACE_OF_STRING(copy)) : pytrace_no_memory();
}

/* A number, or something that is not known. */
static pytrace_value number_of(const hone_expr *e) {
    bool is_known = e && e->kind == HONE_EXPR_INT;
    return is_known ? PYTRACE_OF_INT(e->u.i) : PYTRACE_OF_OUTSIDE("a symbolic size");
}

static hone_status view_range(look *l, const hone_range *range, pytrace_value *out) {
    HONE_TRY(pytrace_new_list(l->p, PYTRACE_VIEW, out));
    HONE_TRY(put(l, out, "min", number_of(range->min)));
    return put(l, out, "extent", number_of(range->extent));
}

static hone_status view_var(look *l, hone_var var, pytrace_value *out) {
    const hone_var_info *info = &l->sch->func->vars[var];
    HONE_TRY(pytrace_new_list(l->p, PYTRACE_VIEW, out));
    HONE_TRY(put_text(l, out, "name", info->name));
    HONE_TRY(put_text(l, out, "name_hint", info->name));
    return put_text(l, out, "dtype", HONE_DTYPE_NAME(info->dtype));
}

static hone_status view_buffer(look *l, hone_buffer buffer, pytrace_value *out) {
    const hone_buffer_info *info = hone_func_buffer(l->sch->func, buffer);
    pytrace_value shape;
    HONE_TRY(pytrace_new_list(l->p, PYTRACE_VIEW, out));
    HONE_TRY(pytrace_new_list(l->p, PYTRACE_LIST, &shape));
    for (uint32_t i = 0; i < info->rank; i++) {
        const pytrace_value extent = number_of(info->shape[i]);
        HONE_TRY(pytrace_push(l->p, &shape, &extent));
    }
    HONE_TRY(put_text(l, out, "name", info->name));
    HONE_TRY(put_text(l, out, "dtype", HONE_DTYPE_NAME(info->dtype)));
    return put(l, out, "shape", shape);
}

static hone_status plain_of(look *l, const hone_value *from, pytrace_value *out) {
    switch (from->kind) {
    case HONE_VALUE_NONE:
        *out = PYTRACE_OF_NONE;
        return HONE_OK;
    case HONE_VALUE_BOOL:
        *out = PYTRACE_OF_BOOL(from->u.i);
        return HONE_OK;
    case HONE_VALUE_INT:
        *out = PYTRACE_OF_INT(from->u.i);
        return HONE_OK;
    case HONE_VALUE_FLOAT:
        *out = PYTRACE_OF_FLOAT(from->u.f);
        return HONE_OK;
    case HONE_VALUE_STRING:
        *out = PYTRACE_OF_STRING(hone_arena_strdup(l->p->arena, from->u.s));
        return out->u.s ? HONE_OK : pytrace_no_memory();
    case HONE_VALUE_EXPR:
        *out = number_of(from->u.expr);
        return HONE_OK;
    default:
        *out = PYTRACE_OF_OUTSIDE("the annotation");
        return HONE_OK;
    }
}

static hone_status view_annotations(look *l, const hone_attrs *attrs, pytrace_value *out) {
    HONE_TRY(pytrace_new_list(l->p, PYTRACE_DICT, out));
    for (uint32_t i = 0; i < attrs->count; i++) {
        pytrace_value item;
        HONE_TRY(plain_of(l, &attrs->items[i].value, &item));
        const char *key = hone_arena_strdup(l->p->arena, attrs->items[i].key);
        if (!key) return pytrace_no_memory();
        HONE_TRY(put(l, out, key, item));
    }
    return HONE_OK;
}

/* ---- loops and blocks ---- */

static hone_status view_loop(look *l, const hone_node *node, pytrace_value *out) {
    const hone_range *range = &node->u.loop.range;
    pytrace_value var, annotations, binding = PYTRACE_OF_NONE;
    HONE_TRY(pytrace_new_list(l->p, PYTRACE_VIEW, out));
    HONE_TRY(view_var(l, node->u.loop.var, &var));
    HONE_TRY(view_annotations(l, &node->u.loop.annotations, &annotations));
    if (node->u.loop.thread_tag) {
        HONE_TRY(pytrace_new_list(l->p, PYTRACE_VIEW, &binding));
        HONE_TRY(put_text(l, &binding, "thread_tag", node->u.loop.thread_tag));
    }
    HONE_TRY(put(l, out, "extent", number_of(range->extent)));
    HONE_TRY(put(l, out, "min", number_of(range->min)));
    HONE_TRY(put(l, out, "kind", PYTRACE_OF_INT(node->loop_kind)));
    HONE_TRY(put(l, out, "loop_var", var));
    HONE_TRY(put(l, out, "thread_binding", binding));
    return put(l, out, "annotations", annotations);
}

static int64_t kind_of(hone_axis_kind kind) {
    static const int64_t numbers[] = {[HONE_AXIS_SPATIAL] = 0,
                                      [HONE_AXIS_REDUCE] = 2,
                                      [HONE_AXIS_SCAN] = 3,
                                      [HONE_AXIS_OPAQUE] = 4};
    return numbers[kind];
}

static hone_status view_axes(look *l, const hone_block *block, pytrace_value *out) {
    HONE_TRY(pytrace_new_list(l->p, PYTRACE_LIST, out));
    for (uint32_t i = 0; i < block->axis_count; i++) {
        pytrace_value axis, var, dom;
        HONE_TRY(pytrace_new_list(l->p, PYTRACE_VIEW, &axis));
        HONE_TRY(view_var(l, block->axes[i].var, &var));
        HONE_TRY(view_range(l, &block->axes[i].dom, &dom));
        HONE_TRY(put(l, &axis, "var", var));
        HONE_TRY(put(l, &axis, "dom", dom));
        HONE_TRY(put(l, &axis, "iter_type", PYTRACE_OF_INT(kind_of(block->axes[i].kind))));
        HONE_TRY(pytrace_push(l->p, out, &axis));
    }
    return HONE_OK;
}

static hone_status view_regions(look *l, uint32_t count, const hone_region *regions,
                                pytrace_value *out) {
    HONE_TRY(pytrace_new_list(l->p, PYTRACE_LIST, out));
    for (uint32_t i = 0; i < count; i++) {
        pytrace_value region, buffer, ranges, range;
        uint32_t rank = hone_func_buffer(l->sch->func, regions[i].buffer)->rank;
        HONE_TRY(pytrace_new_list(l->p, PYTRACE_VIEW, &region));
        HONE_TRY(pytrace_new_list(l->p, PYTRACE_LIST, &ranges));
        HONE_TRY(view_buffer(l, regions[i].buffer, &buffer));
        for (uint32_t k = 0; k < rank; k++) {
            HONE_TRY(view_range(l, &regions[i].ranges[k], &range));
            HONE_TRY(pytrace_push(l->p, &ranges, &range));
        }
        HONE_TRY(put(l, &region, "buffer", buffer));
        HONE_TRY(put(l, &region, "region", ranges));
        HONE_TRY(pytrace_push(l->p, out, &region));
    }
    return HONE_OK;
}

static hone_status view_block(look *l, hone_node_id id, pytrace_value *out) {
    const hone_block *block = hone_func_node(l->sch->func, id)->u.block.block;
    pytrace_value axes, reads, writes, annotations;
    bool has_init = hone_block_init_of(l->sch->func, id) != HONE_NO_ID;
    HONE_TRY(pytrace_new_list(l->p, PYTRACE_VIEW, out));
    HONE_TRY(view_axes(l, block, &axes));
    HONE_TRY(view_regions(l, block->read_count, block->reads, &reads));
    HONE_TRY(view_regions(l, block->write_count, block->writes, &writes));
    HONE_TRY(view_annotations(l, &block->annotations, &annotations));
    HONE_TRY(put_text(l, out, "name_hint", block->name));
    HONE_TRY(put_text(l, out, "name", block->name));
    HONE_TRY(put(l, out, "iter_vars", axes));
    HONE_TRY(put(l, out, "reads", reads));
    HONE_TRY(put(l, out, "writes", writes));
    HONE_TRY(put(l, out, "init", has_init ? PYTRACE_OF_OUTSIDE("the init") : PYTRACE_OF_NONE));
    return put(l, out, "annotations", annotations);
}

static hone_status view_of(look *l, hone_rv rv, pytrace_value *out) {
    hone_node_id id;
    if (l->sch->trace.rv_kinds[rv] == HONE_RV_INT) {
        int64_t number;
        HONE_TRY(hone_schedule_int(l->sch, rv, &number));
        *out = PYTRACE_OF_INT(number);
        return HONE_OK;
    }
    HONE_TRY(hone_schedule_node(l->sch, rv, &id));
    const hone_node *node = hone_func_node(l->sch->func, id);
    if (node->kind == HONE_NODE_FOR) return view_loop(l, node, out);
    return view_block(l, id, out);
}

/* ---- several draws ---- */

static uint32_t maker_of(const hone_trace *trace, hone_rv rv) {
    for (uint32_t i = 0; i < trace->count; i++) {
        const hone_inst *inst = &trace->insts[i];
        if (rv >= inst->first_output && rv - inst->first_output < inst->output_count) return i;
    }
    return 0;
}

/* Applies what was read so far of the function that rv is of, with what is drawn in this way;
 * out_rvs: one per variable. */
static hone_status try_trace(pytrace *p, hone_rv rv, uint64_t seed, struct hone_schedule **out_sch,
                             hone_rv **out_rvs) {
    *out_sch = NULL;
    *out_rvs = hone_arena_alloc(p->arena, (p->trace->rv_count + 1) * sizeof **out_rvs);
    if (!*out_rvs) return pytrace_no_memory();
    hone_trace_part part;
    HONE_TRY(hone_trace_part_of(p->arena, p->trace, p->context, maker_of(p->trace, rv), &part));
    HONE_TRY(hone_schedule_create(part.func, out_sch));
    (*out_sch)->wants_reasons = true;
    (*out_sch)->intrins = p->context->intrins;
    (*out_sch)->rng = hone_rng_from_seed(seed);
    const hone_apply_options options = {.out_rvs = *out_rvs, .is_left_out = part.is_left_out};
    hone_status st = hone_trace_apply(p->trace, *out_sch, &options);
    if (!st) return HONE_OK;
    hone_schedule_destroy(*out_sch);
    *out_sch = NULL;
    return st;
}

static hone_status look_once(pytrace *p, hone_rv rv, uint64_t seed, pytrace_value *out) {
    hone_schedule *sch;
    hone_rv *rvs;
    HONE_TRY(try_trace(p, rv, seed, &sch, &rvs));
    look l = {.p = p, .sch = sch};
    hone_status st = view_of(&l, rvs[rv], out);
    hone_schedule_destroy(sch);
    return st;
}

/* What differs between two looks is not known. */
static void keep_common(pytrace_value *io, const pytrace_value *other, uint32_t depth) {
    bool is_list = io->kind == PYTRACE_LIST || io->kind == PYTRACE_VIEW || io->kind == PYTRACE_DICT;
    bool is_known = io->kind == other->kind && depth < 8;
    if (is_known && is_list) {
        pytrace_list *a = io->u.list;
        const pytrace_list *b = other->u.list;
        is_known = a->count == b->count;
        for (uint32_t i = 0; is_known && i < a->count; i++)
            keep_common(&a->items[i], &b->items[i], depth + 1);
    } else if (is_known && io->kind != PYTRACE_OUTSIDE) {
        is_known = pytrace_is_same(io, other);
    }
    if (!is_known) *io = PYTRACE_OF_OUTSIDE("what depends on what is drawn");
}

hone_status pytrace_read_get(pytrace *p, pytrace_value *out) {
    const char *where = p->at;
    pytrace_args args;
    HONE_TRY(pytrace_read_args(p, &args));
    const pytrace_value *v =
        args.count ? &args.items[0] : pytrace_keyword(&args, "rand_var_or_sref");
    if (v && pytrace_is_int(v)) {
        *out = *v;
        return HONE_OK;
    }
    if (!v || v->kind != PYTRACE_RV || v->epoch != p->epoch) {
        return pytrace_fail_at(p, where,
                               "expected a block, a loop or a drawn number of this "
                               "schedule");
    }
    if (!pytrace_has_program(p)) {
        return pytrace_fail_at(p, where, "sch.get needs the program, which is not at hand here");
    }
    const hone_rv rv = v->u.rv;
    uint32_t count = hone_trace_is_decided(p->trace) ? 1 : DRAWS;
    for (uint32_t i = 0; i < count; i++) {
        pytrace_value next;
        hone_status st = look_once(p, rv, i, i ? &next : out);
        p->is_refused = st && count == 1 && hone_status_code(st) == HONE_CODE_ILLEGAL;
        HONE_TRY(st);
        if (i) keep_common(out, &next, 0);
    }
    return HONE_OK;
}
