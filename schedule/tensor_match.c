#include "schedule/tensor_intrin_impl.h"

#include <string.h>

/* Compares the body of a block with the description of a tensor intrinsic, side by side: the same
 * statements, the same operators, loops and axes one to one. Each buffer of the description gets a
 * place: the program's indices are base + the description's. Sums and products may have their
 * operands the other way round. */

typedef struct matching {
    hone_schedule *sch;
    const hone_func *desc;
    const hone_expr **vars; /* desc's variable -> the program's, as an expression */
    bool *is_inner;         /* by the program's variable: made inside of the block */
    tensor_place *places;   /* by parameter */
    hone_node_id at;        /* in the program, for the message */
    const char *why;
} matching;

static bool differ(matching *m, const char *why) {
    if (!m->why) m->why = why;
    return false;
}

/* "NAME has another type": what differs, of what. */
static bool in_words(matching *m, const char *name, const char *what) {
    const char *why = hone_arena_printf(m->sch->arena, "%s %s", name, what);
    return differ(m, why ? why : "something differs");
}

static bool buffer_differs(matching *m, const char *name, const char *what) {
    const char *why = hone_arena_printf(m->sch->arena, "'%s' %s", name, what);
    return differ(m, why ? why : "something differs");
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

static bool same_range(matching *m, hone_range program, hone_range desc) {
    return same_number(m, program.min, desc.min) && same_number(m, program.extent, desc.extent);
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
            return buffer_differs(m, hone_func_buffer(sch->func, buffer)->name,
                                  "is indexed otherwise by the loops inside");
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
        return buffer_differs(m, info->name, "has another type");
    }
    if (strcmp(info->scope, want->scope) != 0) {
        return buffer_differs(m, info->name, "is in another memory scope");
    }
    if (info->rank < want->rank) return buffer_differs(m, info->name, "has fewer dimensions");
    uint32_t lead = info->rank - want->rank;
    if (place->buffer == HONE_NO_ID) {
        return fix_place(m, place, buffer, indices, desc_indices, info->rank, lead);
    }
    if (place->buffer != buffer) return buffer_differs(m, want->name, "stands for two buffers");
    for (uint32_t d = 0; d < info->rank; d++) {
        const hone_expr *expected = place->base[d];
        if (d >= lead) {
            expected = hone_expr_add(&sch->ir, expected, translate(m, desc_indices[d - lead]));
        }
        if (expected && hone_prove_equal(&sch->arith, indices[d], expected)) continue;
        return buffer_differs(m, info->name, "has other indices");
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
        return differ(m, "an integer differs");
    }
    bool same_count = program->count == desc->count || program->kind == HONE_EXPR_LOAD;
    if (program->kind != desc->kind || program->op != desc->op || !same_count ||
        !hone_dtype_equal(program->dtype, desc->dtype)) {
        return differ(m, "an operator or its type differs");
    }
    switch ((hone_expr_kind)program->kind) {
    case HONE_EXPR_FLOAT:
        if (memcmp(&program->u.f, &desc->u.f, sizeof program->u.f) == 0) return true;
        return differ(m, "a constant differs");
    case HONE_EXPR_INT:
        if (program->u.i == desc->u.i) return true;
        return differ(m, "a constant differs");
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

static bool same_loop(matching *m, hone_node_id program, hone_node_id desc) {
    const hone_node *a = sch_node(m->sch, program), *b = hone_func_node(m->desc, desc);
    if (!same_range(m, a->u.loop.range, b->u.loop.range)) {
        return in_words(m, sch_loop_name(m->sch, program), "has another range");
    }
    bool same_tag = a->loop_kind != HONE_LOOP_THREAD || b->loop_kind != HONE_LOOP_THREAD ||
                    strcmp(a->u.loop.thread_tag, b->u.loop.thread_tag) == 0;
    if (a->loop_kind != b->loop_kind || !same_tag) {
        return in_words(m, sch_loop_name(m->sch, program), "is of another kind");
    }
    return enter_var(m, a->u.loop.var, b->u.loop.var) && same_children(m, program, desc);
}

static bool same_block(matching *m, hone_node_id program, hone_node_id desc) {
    const hone_node *a = sch_node(m->sch, program), *b = hone_func_node(m->desc, desc);
    const hone_block *p = a->u.block.block, *q = b->u.block.block;
    const char *name = sch_block_name(m->sch, program);
    if (p->axis_count != q->axis_count) return in_words(m, name, "has other axes");
    if (p->alloc_count || p->match_count || q->alloc_count || q->match_count) {
        return in_words(m, name, "has buffers of its own");
    }
    if (!same_condition(m, a->u.block.predicate, b->u.block.predicate)) {
        return in_words(m, name, "has another predicate");
    }
    for (uint32_t i = 0; i < p->axis_count; i++) {
        bool same = p->axes[i].kind == q->axes[i].kind &&
                    same_range(m, p->axes[i].dom, q->axes[i].dom) &&
                    same_number(m, a->u.block.bindings[i], b->u.block.bindings[i]);
        if (!same) return in_words(m, name, "has other axes");
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

static bool same_node(matching *m, hone_node_id program, hone_node_id desc) {
    const hone_node *a = sch_node(m->sch, program), *b = hone_func_node(m->desc, desc);
    m->at = program;
    if (a->kind != b->kind) return differ(m, "a statement is of another kind");
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
            return differ(m, "a condition differs");
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
    return differ(m, a == HONE_NO_ID ? "a statement is missing" : "there is one statement more");
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
            const hone_expr *end =
                hone_expr_add(&sch->ir, place->base[d], hone_expr_int(&sch->ir, dtype, extent));
            const hone_expr *zero = hone_expr_int(&sch->ir, dtype, 0);
            if (!end || !zero) return sch_ir_error(sch);
            if (hone_prove_less_equal(&sch->arith, zero, place->base[d]) &&
                hone_prove_less_equal(&sch->arith, end, info->shape[d])) {
                continue;
            }
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
