/* schedule/primitive/tensor/tensor_match.c - compares the body of a block with the description of a
 * tensor intrinsic, side by side: the same statements, the same operators, loops and axes one to
 * one. Each buffer of the description gets a place: the program's indices are base + the
 * description's. Sums and products may have their operands the other way round. */
#include "schedule/primitive/tensor/tensor_match.h"

#include <stdarg.h>
#include <string.h>

#include "ir/text/print/script_print.h"

typedef struct matching {
    hone_schedule *sch;
    const hone_func *desc;
    const hone_expr **vars; /* desc's variable -> the program's, as an expression */
    bool *is_inner;         /* by the program's variable: made inside of the block */
    tensor_place *places;   /* by parameter */
    hone_node_id at;        /* in the program, for the message */
    const char *why;
} matching;

/* Keeps the first reason; takes the text. */
static bool keep_reason(matching *m, hone_str *text) {
    m->why = hone_arena_strdup(m->sch->arena, hone_str_text(text));
    if (!m->why) m->why = "something differs";
    hone_str_deinit(text);
    return false;
}

HONE_PRINTF(2, 3)
static bool differ(matching *m, const char *format, ...) {
    hone_str text = {0};
    va_list args;
    if (m->why) return false;
    va_start(args, format);
    hone_str_vprintf(&text, format, args);
    va_end(args);
    return keep_reason(m, &text);
}

/* "FORMAT: X, in the description Y" */
HONE_PRINTF(4, 5)
static bool exprs_differ(matching *m, const hone_expr *program, const hone_expr *desc,
                         const char *format, ...) {
    hone_str text = {0};
    va_list args;
    if (m->why) return false;
    va_start(args, format);
    hone_str_vprintf(&text, format, args);
    va_end(args);
    hone_str_append(&text, ": ");
    hone_status st = hone_expr_print(m->sch->func, program, &text);
    hone_str_append(&text, ", in the description ");
    hone_status_free(hone_status_join(st, hone_expr_print(m->desc, desc, &text)));
    return keep_reason(m, &text);
}

/* "'A' has other indices: A[vi, vk], in the description A[vk, vi]" */
static bool indices_differ(matching *m, const char *name, const hone_expr *const *program,
                           uint32_t rank, const hone_expr *const *desc, uint32_t desc_rank) {
    hone_str text = {0};
    hone_status st = HONE_OK;
    if (m->why) return false;
    hone_str_printf(&text, "'%s' has other indices: [", name);
    for (uint32_t d = 0; d < rank && !st; d++) {
        hone_str_append(&text, d ? ", " : "");
        st = hone_expr_print(m->sch->func, program[d], &text);
    }
    hone_str_append(&text, "], in the description [");
    for (uint32_t d = 0; d < desc_rank && !st; d++) {
        hone_str_append(&text, d ? ", " : "");
        st = hone_expr_print(m->desc, desc[d], &text);
    }
    hone_str_append(&text, "]");
    hone_status_free(st);
    return keep_reason(m, &text);
}

/* An expression of the description, over the program's variables. Buffers are left alone. */
static const hone_expr *rebuild(void *ctx, hone_ir *ir, const hone_expr *e) {
    const matching *m = ctx;
    if (e->kind == HONE_EXPR_VAR) return m->vars[e->u.var] ? m->vars[e->u.var] : e;
    if (e->kind == HONE_EXPR_BINARY) {
        return hone_expr_binary(ir, (hone_op)e->op, e->args[0], e->args[1]);
    }
    return e;
}

static const hone_expr *translate(matching *m, const hone_expr *e) {
    return hone_expr_transform(&m->sch->ir, e, rebuild, m);
}

static bool same_number(matching *m, const hone_expr *program, const hone_expr *desc) {
    const hone_expr *want = translate(m, desc);
    return want && hone_prove_equal(&m->sch->arith, program, want);
}

static bool same_condition(matching *m, const hone_expr *program, const hone_expr *desc) {
    bool any = program && !hone_expr_is_int_value(program, 1);
    bool wanted = desc && !hone_expr_is_int_value(desc, 1);
    if (!any && !wanted) return true;
    if (any != wanted) return false;
    const hone_expr *want = translate(m, desc);
    return want && hone_expr_same(hone_simplify(&m->sch->arith, program),
                                  hone_simplify(&m->sch->arith, want));
}

/* ---- buffers ---- */

static tensor_place *place_of(matching *m, hone_buffer desc_buffer) {
    for (uint32_t i = 0; i < m->desc->param_count; i++) {
        if (m->desc->params[i].buffer == desc_buffer) return &m->places[i];
    }
    return NULL;
}

/* The first access fixes where the buffer lies: where the block stands, whatever runs inside. */
static bool fix_place(matching *m, tensor_place *place, hone_buffer buffer,
                      const hone_expr *const *indices, const hone_expr *const *desc_indices,
                      uint32_t rank, uint32_t lead) {
    hone_schedule *sch = m->sch;
    place->base = hone_arena_zalloc(sch->arena, (rank + 1) * sizeof *place->base);
    if (!place->base) return false;
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *base = indices[d];
        if (d >= lead) {
            base = hone_expr_sub(&sch->ir, base, translate(m, desc_indices[d - lead]));
        }
        base = hone_simplify(&sch->arith, base);
        if (!base) return false;
        if (hone_expr_uses_any(base, m->is_inner, sch->func->var_count)) {
            return differ(m, "'%s' is indexed otherwise by the loops inside",
                          sch_buffer_name(sch, buffer));
        }
        place->base[d] = base;
    }
    place->buffer = buffer;
    return true;
}

static bool same_access(matching *m, hone_buffer buffer, const hone_expr *const *indices,
                        hone_buffer desc_buffer, const hone_expr *const *desc_indices) {
    hone_schedule *sch = m->sch;
    const hone_buffer_info *info = hone_func_buffer(sch->func, buffer);
    const hone_buffer_info *want = hone_func_buffer(m->desc, desc_buffer);
    tensor_place *place = place_of(m, desc_buffer);
    if (!place) return differ(m, "the description uses a buffer that is no parameter");
    if (!hone_dtype_equal(info->dtype, want->dtype)) {
        return differ(m, "'%s' has another type", info->name);
    }
    if (strcmp(info->scope, want->scope) != 0) {
        return differ(m, "'%s' is in another memory scope", info->name);
    }
    if (info->rank < want->rank) return differ(m, "'%s' has fewer dimensions", info->name);
    uint32_t lead = info->rank - want->rank;
    if (place->buffer == HONE_NO_ID) {
        return fix_place(m, place, buffer, indices, desc_indices, info->rank, lead);
    }
    if (place->buffer != buffer) return differ(m, "'%s' stands for two buffers", want->name);
    for (uint32_t d = 0; d < info->rank; d++) {
        const hone_expr *expected = place->base[d];
        if (d >= lead) {
            expected = hone_expr_add(&sch->ir, expected, translate(m, desc_indices[d - lead]));
        }
        if (expected && hone_prove_equal(&sch->arith, indices[d], expected)) continue;
        return indices_differ(m, info->name, indices, info->rank, desc_indices, want->rank);
    }
    return true;
}

/* ---- values ---- */

static bool same_value(matching *m, const hone_expr *program, const hone_expr *desc);

static bool same_args(matching *m, const hone_expr *program, const hone_expr *desc) {
    for (uint32_t i = 0; i < program->count; i++) {
        if (!same_value(m, program->args[i], desc->args[i])) return false;
    }
    return true;
}

/* Also with the operands the other way round: places that a first attempt fixed are given back. */
static bool same_binary(matching *m, const hone_expr *program, const hone_expr *desc) {
    size_t bytes = m->desc->param_count * sizeof *m->places;
    tensor_place *saved = hone_arena_alloc(m->sch->arena, bytes + 1);
    if (!saved) return false;
    memcpy(saved, m->places, bytes);
    if (same_args(m, program, desc)) return true;
    if (!hone_op_commutes((hone_op)program->op)) return false;
    const char *why = m->why;
    m->why = NULL;
    memcpy(m->places, saved, bytes);
    if (same_value(m, program->args[0], desc->args[1]) &&
        same_value(m, program->args[1], desc->args[0])) {
        return true;
    }
    m->why = why;
    return false;
}

static bool same_value(matching *m, const hone_expr *program, const hone_expr *desc) {
    bool is_index = hone_dtype_is_integer(desc->dtype) && desc->dtype.lanes == 1 &&
                    hone_expr_is_pure_index(desc) && hone_expr_is_pure_index(program);
    if (is_index) {
        if (hone_dtype_equal(program->dtype, desc->dtype) && same_number(m, program, desc)) {
            return true;
        }
        return exprs_differ(m, program, desc, "a number differs");
    }
    bool same_count = program->count == desc->count || program->kind == HONE_EXPR_LOAD;
    if (program->kind != desc->kind || program->op != desc->op || !same_count ||
        !hone_dtype_equal(program->dtype, desc->dtype)) {
        if (hone_dtype_equal(program->dtype, desc->dtype))
            return exprs_differ(m, program, desc, "an expression differs");
        return exprs_differ(m, program, desc, "%s stands where the description has %s",
                            HONE_DTYPE_NAME(program->dtype), HONE_DTYPE_NAME(desc->dtype));
    }
    switch ((hone_expr_kind)program->kind) {
    case HONE_EXPR_FLOAT:
        if (memcmp(&program->u.f, &desc->u.f, sizeof program->u.f) == 0) return true;
        return exprs_differ(m, program, desc, "a constant differs");
    case HONE_EXPR_INT:
        if (program->u.i == desc->u.i) return true;
        return exprs_differ(m, program, desc, "a constant differs");
    case HONE_EXPR_LOAD:
        return same_access(m, program->u.buffer, program->args, desc->u.buffer, desc->args);
    case HONE_EXPR_BINARY:
        return same_binary(m, program, desc);
    case HONE_EXPR_NOT:
    case HONE_EXPR_SELECT:
    case HONE_EXPR_CAST:
    case HONE_EXPR_CALL:
        return same_args(m, program, desc);
    default:
        return differ(m, "an expression is of a kind that is not compared");
    }
}

/* ---- statements ---- */

static bool same_children(matching *m, hone_node_id program, hone_node_id desc);

static bool enter_var(matching *m, hone_var program, hone_var desc) {
    m->is_inner[program] = true;
    m->vars[desc] = sch_var(m->sch, program);
    return m->vars[desc] != NULL;
}

static const char *kind_name(const hone_node *loop) {
    switch ((hone_loop_kind)loop->loop_kind) {
    case HONE_LOOP_SERIAL:
        return "serial";
    case HONE_LOOP_PARALLEL:
        return "parallel";
    case HONE_LOOP_VECTORIZED:
        return "vectorized";
    case HONE_LOOP_UNROLLED:
        return "unrolled";
    default:
        return loop->u.loop.thread_tag ? loop->u.loop.thread_tag : "bound to a thread";
    }
}

static bool same_loop(matching *m, hone_node_id program, hone_node_id desc) {
    const hone_node *a = sch_node(m->sch, program), *b = hone_func_node(m->desc, desc);
    const hone_range *p = &a->u.loop.range, *q = &b->u.loop.range;
    const char *its = m->desc->vars[b->u.loop.var].name;
    if (!same_number(m, p->extent, q->extent)) {
        return exprs_differ(m, p->extent, q->extent, "%s has another extent than '%s'",
                            sch_loop_name(m->sch, program), its);
    }
    if (!same_number(m, p->min, q->min))
        return exprs_differ(m, p->min, q->min, "a loop begins elsewhere");
    bool same_tag = a->loop_kind != HONE_LOOP_THREAD || b->loop_kind != HONE_LOOP_THREAD ||
                    strcmp(a->u.loop.thread_tag, b->u.loop.thread_tag) == 0;
    if (a->loop_kind != b->loop_kind || !same_tag) {
        return differ(m, "%s is %s, '%s' of the description is %s", sch_loop_name(m->sch, program),
                      kind_name(a), its, kind_name(b));
    }
    return enter_var(m, a->u.loop.var, b->u.loop.var) && same_children(m, program, desc);
}

static const char *axis_word(hone_axis_kind kind) {
    static const char *const words[] = {"spatial", "a reduction axis", "a scan axis", "opaque"};
    return (size_t)kind < HONE_COUNT(words) ? words[kind] : "another";
}

static bool same_axis(matching *m, const hone_axis *p, const hone_expr *p_binding,
                      const hone_axis *q, const hone_expr *q_binding) {
    const char *mine = m->sch->func->vars[p->var].name, *its = m->desc->vars[q->var].name;
    if (p->kind != q->kind) {
        return differ(m, "axis '%s' is %s, '%s' of the description is %s", mine, axis_word(p->kind),
                      its, axis_word(q->kind));
    }
    if (!same_number(m, p->dom.extent, q->dom.extent))
        return exprs_differ(m, p->dom.extent, q->dom.extent, "axis '%s' has another extent", mine);
    if (!same_number(m, p->dom.min, q->dom.min))
        return exprs_differ(m, p->dom.min, q->dom.min, "an axis begins elsewhere");
    if (!same_number(m, p_binding, q_binding))
        return exprs_differ(m, p_binding, q_binding, "axis '%s' has another binding", mine);
    return true;
}

static bool same_block(matching *m, hone_node_id program, hone_node_id desc) {
    const hone_node *a = sch_node(m->sch, program), *b = hone_func_node(m->desc, desc);
    const hone_block *p = a->u.block.block, *q = b->u.block.block;
    if (p->axis_count != q->axis_count) {
        return differ(m, "%s has %u axes, in the description it has %u",
                      sch_block_name(m->sch, program), p->axis_count, q->axis_count);
    }
    if (p->alloc_count || p->match_count || q->alloc_count || q->match_count) {
        return differ(m, "%s has buffers of its own", sch_block_name(m->sch, program));
    }
    if (!same_condition(m, a->u.block.predicate, b->u.block.predicate)) {
        return differ(m, "%s has another predicate", sch_block_name(m->sch, program));
    }
    for (uint32_t i = 0; i < p->axis_count; i++) {
        if (!same_axis(m, &p->axes[i], a->u.block.bindings[i], &q->axes[i], b->u.block.bindings[i]))
            return false;
    }
    for (uint32_t i = 0; i < p->axis_count; i++) {
        if (!enter_var(m, p->axes[i].var, q->axes[i].var)) return false;
    }
    return same_children(m, program, desc);
}

static bool same_store(matching *m, hone_node_id program, hone_node_id desc) {
    const hone_node *a = sch_node(m->sch, program), *b = hone_func_node(m->desc, desc);
    return same_access(m, a->u.store.buffer, a->u.store.indices, b->u.store.buffer,
                       b->u.store.indices) &&
           same_value(m, a->u.store.value, b->u.store.value);
}

static const char *statement_word(uint8_t kind) {
    switch ((hone_node_kind)kind) {
    case HONE_NODE_FOR:
        return "a loop";
    case HONE_NODE_BLOCK:
        return "a block";
    case HONE_NODE_INIT:
        return "T.init";
    case HONE_NODE_STORE:
        return "a store";
    case HONE_NODE_IF:
        return "an if";
    case HONE_NODE_LET:
        return "a let";
    case HONE_NODE_EVAL:
        return "a call";
    default:
        return "another statement";
    }
}

static bool same_node(matching *m, hone_node_id program, hone_node_id desc) {
    const hone_node *a = sch_node(m->sch, program), *b = hone_func_node(m->desc, desc);
    m->at = program;
    if (a->kind != b->kind) {
        return differ(m, "%s stands where the description has %s", statement_word(a->kind),
                      statement_word(b->kind));
    }
    switch ((hone_node_kind)a->kind) {
    case HONE_NODE_FOR:
        return same_loop(m, program, desc);
    case HONE_NODE_BLOCK:
        return same_block(m, program, desc);
    case HONE_NODE_INIT:
        return same_children(m, program, desc);
    case HONE_NODE_STORE:
        return same_store(m, program, desc);
    case HONE_NODE_IF:
        if (!same_condition(m, a->u.eval.value, b->u.eval.value)) {
            return exprs_differ(m, a->u.eval.value, b->u.eval.value, "a condition differs");
        }
        return same_children(m, program, desc);
    case HONE_NODE_ELSE:
        return same_children(m, program, desc);
    default:
        return differ(m, "a statement is of a kind that is not compared");
    }
}

static bool same_children(matching *m, hone_node_id program, hone_node_id desc) {
    hone_node_id a = sch_node(m->sch, program)->first, b = hone_func_node(m->desc, desc)->first;
    for (; a != HONE_NO_ID && b != HONE_NO_ID; b = hone_func_node(m->desc, b)->next) {
        if (!same_node(m, a, b)) return false;
        a = sch_node(m->sch, a)->next;
    }
    if (a == b) return true;
    m->at = a == HONE_NO_ID ? program : a;
    return differ(m, "%s",
                  a == HONE_NO_ID ? "a statement is missing" : "there is one statement more");
}

/* ---- */

static hone_status check_places(matching *m, const char *name, hone_node_id block) {
    hone_schedule *sch = m->sch;
    for (uint32_t i = 0; i < m->desc->param_count; i++) {
        const hone_buffer_info *want = hone_func_buffer(m->desc, m->desc->params[i].buffer);
        const tensor_place *place = &m->places[i];
        if (place->buffer == HONE_NO_ID) {
            return sch_refuse(sch, block, "the description of '%s' does not use '%s'", name,
                              want->name);
        }
        const hone_buffer_info *info = hone_func_buffer(sch->func, place->buffer);
        for (uint32_t d = 0; d < info->rank; d++) {
            uint32_t lead = info->rank - want->rank;
            hone_dtype dtype = place->base[d]->dtype;
            int64_t extent = d < lead ? 1 : hone_expr_const(want->shape[d - lead]);
            hone_range part = {place->base[d], hone_expr_int(&sch->ir, dtype, extent)};
            if (!part.extent) return sch_ir_error(sch);
            if (hone_prove_part(&sch->arith, part, info->shape[d])) continue;
            return sch_refuse(sch, block, "'%s' of '%s' would reach beyond '%s'", want->name, name,
                              info->name);
        }
    }
    return HONE_OK;
}

hone_status tensor_match(hone_schedule *sch, hone_node_id block, const char *name,
                         const hone_func *desc, tensor_place **out_places) {
    matching m = {.sch = sch, .desc = desc, .at = block};
    m.vars = hone_arena_zalloc(sch->arena, (desc->var_count + 1) * sizeof *m.vars);
    m.is_inner = hone_arena_zalloc(sch->arena, sch->func->var_count + 1);
    m.places = hone_arena_zalloc(sch->arena, (desc->param_count + 1) * sizeof *m.places);
    if (!m.vars || !m.is_inner || !m.places) return sch_no_memory();
    for (uint32_t i = 0; i < desc->param_count; i++)
        m.places[i].buffer = HONE_NO_ID;
    if (!same_children(&m, block, hone_func_root_block(desc))) {
        HONE_TRY(sch_ir_error(sch));
        return sch_refuse(sch, m.at, "%s is not what '%s' describes: %s",
                          sch_block_name(sch, block), name, m.why ? m.why : "something differs");
    }
    HONE_TRY(check_places(&m, name, block));
    *out_places = m.places;
    return sch_ir_error(sch);
}
