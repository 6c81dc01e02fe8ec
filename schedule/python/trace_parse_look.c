/* schedule/python/trace_parse_look.c - what the program says in the Python form of traces:
 * sch.get(loop).extent, sch.get(block).name_hint and so on. What was read so far is applied; as
 * nothing is drawn yet, it is applied with several draws, and only what is the same in all of them
 * is known. */
#include "schedule/python/trace_parse_impl.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule_impl.h"
#include "schedule/trace/trace_parts.h"

enum { DRAWS = 6 };

typedef struct look {
    pytrace *p;
    uint32_t at;
    hone_schedule *sch;
} look;

/* ---- making views ---- */

static hone_status put(look *l, py_value *view, const char *name, py_value item) {
    return py_put(&l->p->run, l->at, view, &PYV_OF_STRING(name), &item);
}

static hone_status put_text(look *l, py_value *view, const char *name, const char *text) {
    char *copy = hone_arena_strdup(l->p->arena, text);
    return copy ? put(l, view, name, PYV_OF_STRING(copy)) : py_no_memory();
}

/* A number, or something that is not known. */
static py_value number_of(const hone_expr *e) {
    bool is_known = e && e->kind == HONE_EXPR_INT;
    return is_known ? PYV_OF_INT(e->u.i) : PYV_OF_UNKNOWN("a symbolic size");
}

static hone_status view_range(look *l, const hone_range *range, py_value *out) {
    HONE_TRY(py_new_list(&l->p->run, PYV_RECORD, out));
    HONE_TRY(put(l, out, "min", number_of(range->min)));
    return put(l, out, "extent", number_of(range->extent));
}

static hone_status view_var(look *l, hone_var var, py_value *out) {
    const hone_var_info *info = &l->sch->func->vars[var];
    HONE_TRY(py_new_list(&l->p->run, PYV_RECORD, out));
    HONE_TRY(put_text(l, out, "name", info->name));
    HONE_TRY(put_text(l, out, "name_hint", info->name));
    return put_text(l, out, "dtype", HONE_DTYPE_NAME(info->dtype));
}

static hone_status view_buffer(look *l, hone_buffer buffer, py_value *out) {
    const hone_buffer_info *info = hone_func_buffer(l->sch->func, buffer);
    py_value shape;
    HONE_TRY(py_new_list(&l->p->run, PYV_RECORD, out));
    HONE_TRY(py_new_list(&l->p->run, PYV_LIST, &shape));
    for (uint32_t i = 0; i < info->rank; i++) {
        const py_value extent = number_of(info->shape[i]);
        HONE_TRY(py_append(&l->p->run, l->at, &shape, &extent));
    }
    HONE_TRY(put_text(l, out, "name", info->name));
    HONE_TRY(put_text(l, out, "dtype", HONE_DTYPE_NAME(info->dtype)));
    return put(l, out, "shape", shape);
}

static hone_status plain_of(look *l, const hone_value *from, py_value *out) {
    switch (from->kind) {
    case HONE_VALUE_NONE:
        *out = PYV_OF_NONE;
        return HONE_OK;
    case HONE_VALUE_BOOL:
        *out = PYV_OF_BOOL(from->u.i);
        return HONE_OK;
    case HONE_VALUE_INT:
        *out = PYV_OF_INT(from->u.i);
        return HONE_OK;
    case HONE_VALUE_FLOAT:
        *out = PYV_OF_FLOAT(from->u.f);
        return HONE_OK;
    case HONE_VALUE_STRING:
        *out = PYV_OF_STRING(hone_arena_strdup(l->p->arena, from->u.s));
        return out->u.s ? HONE_OK : py_no_memory();
    case HONE_VALUE_EXPR:
        *out = number_of(from->u.expr);
        return HONE_OK;
    default:
        *out = PYV_OF_UNKNOWN("the annotation");
        return HONE_OK;
    }
}

static hone_status view_annotations(look *l, const hone_attrs *attrs, py_value *out) {
    HONE_TRY(py_new_list(&l->p->run, PYV_DICT, out));
    for (uint32_t i = 0; i < attrs->count; i++) {
        py_value item;
        HONE_TRY(plain_of(l, &attrs->items[i].value, &item));
        const char *key = hone_arena_strdup(l->p->arena, attrs->items[i].key);
        if (!key) return py_no_memory();
        HONE_TRY(put(l, out, key, item));
    }
    return HONE_OK;
}

/* ---- loops and blocks ---- */

static hone_status view_loop(look *l, const hone_node *node, py_value *out) {
    const hone_range *range = &node->u.loop.range;
    py_value var, annotations, binding = PYV_OF_NONE;
    HONE_TRY(py_new_list(&l->p->run, PYV_RECORD, out));
    HONE_TRY(view_var(l, node->u.loop.var, &var));
    HONE_TRY(view_annotations(l, &node->u.loop.annotations, &annotations));
    if (node->u.loop.thread_tag) {
        HONE_TRY(py_new_list(&l->p->run, PYV_RECORD, &binding));
        HONE_TRY(put_text(l, &binding, "thread_tag", node->u.loop.thread_tag));
    }
    HONE_TRY(put(l, out, "extent", number_of(range->extent)));
    HONE_TRY(put(l, out, "min", number_of(range->min)));
    HONE_TRY(put(l, out, "kind", PYV_OF_INT(node->loop_kind)));
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

static hone_status view_axes(look *l, const hone_block *block, py_value *out) {
    HONE_TRY(py_new_list(&l->p->run, PYV_LIST, out));
    for (uint32_t i = 0; i < block->axis_count; i++) {
        py_value axis, var, dom;
        HONE_TRY(py_new_list(&l->p->run, PYV_RECORD, &axis));
        HONE_TRY(view_var(l, block->axes[i].var, &var));
        HONE_TRY(view_range(l, &block->axes[i].dom, &dom));
        HONE_TRY(put(l, &axis, "var", var));
        HONE_TRY(put(l, &axis, "dom", dom));
        HONE_TRY(put(l, &axis, "iter_type", PYV_OF_INT(kind_of(block->axes[i].kind))));
        HONE_TRY(py_append(&l->p->run, l->at, out, &axis));
    }
    return HONE_OK;
}

static hone_status view_regions(look *l, uint32_t count, const hone_region *regions,
                                py_value *out) {
    HONE_TRY(py_new_list(&l->p->run, PYV_LIST, out));
    for (uint32_t i = 0; i < count; i++) {
        py_value region, buffer, ranges, range;
        uint32_t rank = hone_func_buffer(l->sch->func, regions[i].buffer)->rank;
        HONE_TRY(py_new_list(&l->p->run, PYV_RECORD, &region));
        HONE_TRY(py_new_list(&l->p->run, PYV_LIST, &ranges));
        HONE_TRY(view_buffer(l, regions[i].buffer, &buffer));
        for (uint32_t k = 0; k < rank; k++) {
            HONE_TRY(view_range(l, &regions[i].ranges[k], &range));
            HONE_TRY(py_append(&l->p->run, l->at, &ranges, &range));
        }
        HONE_TRY(put(l, &region, "buffer", buffer));
        HONE_TRY(put(l, &region, "region", ranges));
        HONE_TRY(py_append(&l->p->run, l->at, out, &region));
    }
    return HONE_OK;
}

static hone_status view_block(look *l, hone_node_id id, py_value *out) {
    const hone_block *block = hone_func_node(l->sch->func, id)->u.block.block;
    py_value axes, reads, writes, annotations;
    bool has_init = hone_block_init_of(l->sch->func, id) != HONE_NO_ID;
    HONE_TRY(py_new_list(&l->p->run, PYV_RECORD, out));
    HONE_TRY(view_axes(l, block, &axes));
    HONE_TRY(view_regions(l, block->read_count, block->reads, &reads));
    HONE_TRY(view_regions(l, block->write_count, block->writes, &writes));
    HONE_TRY(view_annotations(l, &block->annotations, &annotations));
    HONE_TRY(put_text(l, out, "name_hint", block->name));
    HONE_TRY(put_text(l, out, "name", block->name));
    HONE_TRY(put(l, out, "iter_vars", axes));
    HONE_TRY(put(l, out, "reads", reads));
    HONE_TRY(put(l, out, "writes", writes));
    HONE_TRY(put(l, out, "init", has_init ? PYV_OF_UNKNOWN("the init") : PYV_OF_NONE));
    return put(l, out, "annotations", annotations);
}

static hone_status view_of(look *l, hone_rv rv, py_value *out) {
    hone_node_id id;
    if (l->sch->trace.rv_kinds[rv] == HONE_RV_INT) {
        int64_t number;
        HONE_TRY(hone_schedule_int(l->sch, rv, &number));
        *out = PYV_OF_INT(number);
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
    if (!*out_rvs) return py_no_memory();
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

static hone_status look_once(pytrace *p, uint32_t at, hone_rv rv, uint64_t seed, py_value *out) {
    hone_schedule *sch;
    hone_rv *rvs;
    HONE_TRY(try_trace(p, rv, seed, &sch, &rvs));
    look l = {.p = p, .at = at, .sch = sch};
    hone_status st = view_of(&l, rvs[rv], out);
    hone_schedule_destroy(sch);
    return st;
}

/* What differs between two looks is not known. */
static void keep_common(py_value *io, const py_value *other, uint32_t depth) {
    bool is_list = io->kind == PYV_LIST || io->kind == PYV_RECORD || io->kind == PYV_DICT;
    bool is_known = io->kind == other->kind && depth < 8;
    if (is_known && is_list) {
        py_list *a = io->u.list;
        const py_list *b = other->u.list;
        is_known = a->count == b->count;
        for (uint32_t i = 0; is_known && i < a->count; i++)
            keep_common(&a->items[i], &b->items[i], depth + 1);
    } else if (is_known && io->kind != PYV_UNKNOWN) {
        is_known = py_is_same(io, other);
    }
    if (!is_known) *io = PYV_OF_UNKNOWN("what depends on what is drawn");
}

hone_status pytrace_read_get(pytrace *p, const py_node *call, py_value *out) {
    uint32_t where = call->mark;
    py_args args;
    HONE_TRY(py_eval_args(&p->run, call, &args));
    const py_value *v = args.count ? &args.items[0] : py_keyword(&args, "rand_var_or_sref");
    if (v && py_is_int(v)) {
        *out = *v;
        return HONE_OK;
    }
    if (!v || v->kind != PYTRACE_RV || v->mark != p->epoch) {
        return py_fail_at(&p->run, where,
                          "expected a block, a loop or a drawn number of this "
                          "schedule");
    }
    if (!pytrace_has_program(p)) {
        return py_fail_at(&p->run, where, "sch.get needs the program, which is not at hand here");
    }
    const hone_rv rv = v->count;
    uint32_t count = hone_trace_is_decided(p->trace) ? 1 : DRAWS;
    for (uint32_t i = 0; i < count; i++) {
        py_value next;
        hone_status st = look_once(p, where, rv, i, i ? &next : out);
        p->is_refused = st && count == 1 && hone_status_code(st) == HONE_CODE_ILLEGAL;
        HONE_TRY(st);
        if (i) keep_common(out, &next, 0);
    }
    return HONE_OK;
}
