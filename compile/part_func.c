/* compile/part_func.c - an entry that is one PrimFunc: its parameters are the ports.
 *
 * Parameters that are only read or updated in place are inputs, those that are surely written as a
 * whole are outputs. A scalar parameter is an input of rank 0. A parameter that the caller of the
 * compiler gave a value is a weight, and no port. */
#include <string.h>

#include "compile/parts.h"
#include "ir/region/size_needs.h"
#include "lower/signature/signature.h"
#include "support/data/dtype_dlpack.h"

typedef struct func_maker {
    parts *p;
    const hone_func *func;
    hone_signature signature;
    bool takes_weights; /* values of options->weight_values are meant for parameters */
    part_plan *out;
    int32_t *values;   /* variable → value, -1 = none */
    uint32_t *port_of; /* parameter → port, HONE_NO_ID = a weight */
    part_port *ports;  /* inputs, then outputs */
    uint32_t input_count, output_count;
} func_maker;

static hone_status bad_param(const func_maker *m, const char *name, const char *what) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s': parameter '%s' %s", m->func->name, name, what);
}

static const char *param_name(const func_maker *m, uint32_t param) {
    const hone_param *at = &m->func->params[param];
    return at->buffer != HONE_NO_ID ? m->func->buffers[at->buffer].name
                                    : m->func->vars[at->var].name;
}

static hone_param_role role_of(const func_maker *m, uint32_t param) {
    uint32_t buffer = 0;
    if (m->func->params[param].buffer == HONE_NO_ID) return HONE_PARAM_IN;
    for (uint32_t i = 0; i < param; i++)
        buffer += m->func->params[i].buffer != HONE_NO_ID;
    return m->signature.roles[buffer];
}

/* The value that was given for a parameter, or NULL. */
static const hone_tensor *weight_of(const func_maker *m, uint32_t param) {
    const hone_compile_options *options = m->p->options;
    for (size_t i = 0; i < options->weight_count && m->takes_weights; i++) {
        if (strcmp(options->weight_values[i].name, param_name(m, param)) == 0) {
            return options->weight_values[i].tensor;
        }
    }
    return NULL;
}

static hone_status describe(func_maker *m, uint32_t param, part_port *out) {
    const hone_func *func = m->func;
    const hone_param *at = &func->params[param];
    out->name = hone_arena_strdup(m->p->arena, param_name(m, param));
    if (!out->name) return parts_no_memory();
    if (at->buffer == HONE_NO_ID) {
        out->dtype = func->vars[at->var].dtype;
        return HONE_OK;
    }
    const hone_buffer_info *buffer = &func->buffers[at->buffer];
    out->dtype = buffer->dtype;
    out->rank = buffer->rank;
    out->is_updated = role_of(m, param) == HONE_PARAM_INOUT;
    if (buffer->rank > HONE_MAX_RANK) return bad_param(m, out->name, "has too many dimensions");
    for (uint32_t d = 0; d < buffer->rank; d++) {
        const hone_expr *e = buffer->shape[d];
        out->shape[d] = hone_expr_is_int(e) ? e->u.i : -1;
        HONE_TRY(parts_name_dim(m->p, func, e, &out->dim_names[d]));
    }
    return HONE_OK;
}

static hone_status number_ports(func_maker *m) {
    uint32_t count = m->func->param_count;
    m->port_of = hone_arena_zalloc(m->p->arena, (count + 1) * sizeof *m->port_of);
    m->ports = hone_arena_zalloc(m->p->arena, (count + 1) * sizeof *m->ports);
    if (!m->port_of || !m->ports) return parts_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        if (weight_of(m, i) && role_of(m, i) != HONE_PARAM_IN) {
            return bad_param(m, param_name(m, i), "is written, so it cannot be given a value");
        }
        m->input_count += !weight_of(m, i) && role_of(m, i) != HONE_PARAM_OUT;
    }
    uint32_t input = 0;
    for (uint32_t i = 0; i < count; i++) {
        m->port_of[i] = HONE_NO_ID;
        if (weight_of(m, i)) continue;
        bool is_output = role_of(m, i) == HONE_PARAM_OUT;
        m->port_of[i] = is_output ? m->input_count + m->output_count++ : input++;
        HONE_TRY(describe(m, i, &m->ports[m->port_of[i]]));
    }
    return HONE_OK;
}

/* Every variable that stands alone as a dimension, and every scalar, is read off a port. */
static hone_status find_values(func_maker *m) {
    const hone_func *func = m->func;
    m->values = hone_arena_alloc(m->p->arena, (func->var_count + 1) * sizeof *m->values);
    if (!m->values) return parts_no_memory();
    for (uint32_t v = 0; v < func->var_count; v++)
        m->values[v] = -1;
    for (uint32_t i = 0; i < func->param_count; i++) {
        int32_t port = (int32_t)m->port_of[i];
        if (m->port_of[i] == HONE_NO_ID) continue;
        if (func->params[i].buffer == HONE_NO_ID) {
            m->values[func->params[i].var] = part_value_make(m->out, HONE_MT_SCALAR, port, 0);
            continue;
        }
        const hone_buffer_info *buffer = &func->buffers[func->params[i].buffer];
        for (uint32_t d = 0; d < buffer->rank; d++) {
            const hone_expr *e = buffer->shape[d];
            if (e->kind != HONE_EXPR_VAR || m->values[e->u.var] >= 0) continue;
            m->values[e->u.var] = part_value_make(m->out, HONE_MT_DIM, port, (int32_t)d);
        }
    }
    return HONE_OK;
}

/* A place in the layout of a buffer, as the tensors of callers have it: fixes what the program
 * leaves open, else must be what the program says. */
static hone_status fix_layout(func_maker *m, const hone_buffer_info *buffer, const hone_expr *want,
                              int32_t is, const char *what) {
    if (want->kind == HONE_EXPR_VAR && m->values[want->u.var] < 0) m->values[want->u.var] = is;
    hone_mt_check check = {.place = m->func->name,
                           .what = what,
                           .got = is,
                           .wanted = part_value_expr(m->out, want, m->values)};
    if (check.wanted < 0) return bad_param(m, buffer->name, "has a layout that cannot be computed");
    if (check.got != check.wanted && hone_expr_is_int(want) &&
        m->out->values.data[is].op == HONE_MT_CONST) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "'%s': %s is %lld, as tensors are dense, and must be %lld", m->func->name,
                          what, (long long)m->out->values.data[is].k, (long long)want->u.i);
    }
    return part_check_add(m->out, check) ? HONE_OK : parts_no_memory();
}

/* Tensors of callers are dense and begin at their first element. */
static hone_status find_layout(func_maker *m, const hone_buffer_info *buffer) {
    hone_arena *arena = m->p->arena;
    if (buffer->elem_offset) {
        const char *what = hone_arena_printf(arena, "the element offset of '%s'", buffer->name);
        HONE_TRY(fix_layout(m, buffer, buffer->elem_offset, part_value_const(m->out, 0), what));
    }
    int32_t stride = part_value_const(m->out, 1);
    for (uint32_t k = 0; buffer->strides && k < buffer->rank; k++) {
        uint32_t d = buffer->rank - 1 - k;
        const char *what =
            hone_arena_printf(arena, "the stride of dimension %u of '%s'", d, buffer->name);
        int32_t extent = part_value_expr(m->out, buffer->shape[d], m->values);
        bool is_taken = !hone_expr_is_int_value(buffer->shape[d], 1);
        if (is_taken || buffer->strides[d]->kind == HONE_EXPR_VAR) {
            HONE_TRY(fix_layout(m, buffer, buffer->strides[d], stride, what));
        }
        stride = part_value_make(m->out, HONE_MT_MUL, stride, extent);
        if (stride < 0) return bad_param(m, buffer->name, "has a shape that cannot be computed");
    }
    return HONE_OK;
}

static hone_status make_tensor(func_maker *m, uint32_t param) {
    const hone_buffer_info *buffer = &m->func->buffers[m->func->params[param].buffer];
    part_tensor made = {
        .row = {.place = HONE_MT_PORT,
                .index = (int32_t)m->port_of[param],
                .rank = (int32_t)buffer->rank,
                .type = hone_dtype_dlpack_word(buffer->dtype)},
        .weight = weight_of(m, param),
    };
    if (made.weight) {
        made.row.place = HONE_MT_WEIGHT;
        made.row.index = 0;
    }
    int32_t *shape = hone_arena_alloc(m->p->arena, (buffer->rank + 1) * sizeof *shape);
    if (!shape) return parts_no_memory();
    int32_t bytes = part_value_const(m->out, (int64_t)hone_dtype_bytes(buffer->dtype));
    for (uint32_t d = 0; d < buffer->rank; d++) {
        shape[d] = part_value_expr(m->out, buffer->shape[d], m->values);
        if (shape[d] < 0) {
            return bad_param(m, buffer->name, "has a shape that does not follow from parameters");
        }
        bytes = part_value_make(m->out, HONE_MT_MUL, bytes, shape[d]);
    }
    made.shape = shape;
    made.row.bytes = bytes;
    if (!made.weight) m->out->ports[m->port_of[param]].shape = shape;
    return bytes >= 0 && hone_vec_push(&m->out->tensors, made) ? HONE_OK : parts_no_memory();
}

static hone_status make_tensors(func_maker *m) {
    const hone_func *func = m->func;
    m->out->port_count = m->input_count + m->output_count;
    m->out->ports = hone_arena_zalloc(m->p->arena, (func->param_count + 1) * sizeof *m->out->ports);
    if (!m->out->ports) return parts_no_memory();
    for (uint32_t i = 0; i < func->param_count; i++) {
        hone_param_role role = role_of(m, i);
        if (m->port_of[i] != HONE_NO_ID) {
            hone_mt_port *port = &m->out->ports[m->port_of[i]];
            port->is_input = role != HONE_PARAM_OUT;
            port->is_written = role != HONE_PARAM_IN;
        }
        if (func->params[i].buffer == HONE_NO_ID) continue;
        HONE_TRY(find_layout(m, &func->buffers[func->params[i].buffer]));
        HONE_TRY(make_tensor(m, i));
    }
    return HONE_OK;
}

/* What cannot be computed is left to luck, as what a condition decides is. */
static hone_status demand(void *ctx, const hone_size_need *need) {
    func_maker *m = ctx;
    const char *what =
        hone_arena_printf(m->p->arena, "the %s index of dimension %u of '%s'",
                          need->is_low ? "least" : "largest", need->dim, need->buffer);
    hone_mt_check check = {.place = m->func->name,
                           .what = what,
                           .got = part_value_expr(m->out, need->index, m->values),
                           .wanted = part_value_expr(m->out, need->limit, m->values),
                           .relation = need->is_low ? HONE_MT_AT_LEAST : HONE_MT_AT_MOST};
    if (check.got < 0 || check.wanted < 0) return HONE_OK;
    return part_check_add(m->out, check) ? HONE_OK : parts_no_memory();
}

static hone_status make_step(func_maker *m) {
    const hone_signature *s = &m->signature;
    part_step step = {.kind = HONE_MT_KERNEL,
                      .arg_count = s->buffer_count,
                      .size_count = s->size_count,
                      .detail = (int32_t)m->output_count};
    int32_t *args = hone_arena_alloc(m->p->arena, (s->buffer_count + 1) * sizeof *args);
    int32_t *sizes = hone_arena_alloc(m->p->arena, (s->size_count + 1) * sizeof *sizes);
    step.name = hone_arena_strdup(m->p->arena, m->func->name);
    if (!args || !sizes || !step.name) return parts_no_memory();
    for (uint32_t i = 0; i < s->buffer_count; i++)
        args[i] = (int32_t)i; /* tensors were made in this order */
    for (uint32_t i = 0; i < s->size_count; i++) {
        sizes[i] = m->values[s->sizes[i]];
        if (sizes[i] < 0) {
            return bad_param(m, m->func->vars[s->sizes[i]].name, "is a size that nothing gives");
        }
    }
    step.args = args;
    step.sizes = sizes;
    uint64_t constants = parts_constants_of(m->out, args, step.arg_count);
    HONE_TRY(parts_add_kernel(m->p, m->func, constants, &step.kernel));
    return hone_vec_push(&m->out->steps, step) ? HONE_OK : parts_no_memory();
}

/* What a function of given sizes shows to be written as a whole, or not at all, its general form
 * may not: all plans of an entry take and give what that does. */
static hone_status find_roles(func_maker *m, const hone_func *general) {
    hone_signature of_all;
    HONE_TRY(hone_signature_of(m->func, m->p->arena, &m->signature));
    if (general == m->func) return HONE_OK;
    HONE_TRY(hone_signature_of(general, m->p->arena, &of_all));
    if (of_all.buffer_count == m->signature.buffer_count) m->signature.roles = of_all.roles;
    return HONE_OK;
}

static hone_status make(func_maker *m, const hone_func *general, part_entry *entry) {
    bool is_special = general != m->func;
    HONE_TRY(find_roles(m, general));
    HONE_TRY(number_ports(m));
    HONE_TRY(find_values(m));
    HONE_TRY(make_tensors(m));
    hone_arith arith;
    hone_arith_init(&arith, m->p->arena);
    HONE_TRY(hone_func_size_needs(m->func, &arith, demand, m));
    HONE_TRY(make_step(m));
    int32_t nothing = part_value_const(m->out, 0);
    m->out->workspaces = hone_arena_copy(m->p->arena, &nothing, sizeof nothing);
    m->out->phase_count = 1;
    m->out->workspace_bytes = 0;
    if (is_special) HONE_TRY(parts_guard(m->out, m->ports, m->input_count + m->output_count));
    HONE_TRY(parts_put_ports(entry, m->ports, m->input_count, m->ports + m->input_count,
                             m->output_count));
    return nothing < 0 || !m->out->workspaces ? parts_no_memory() : HONE_OK;
}

hone_status parts_add_func(parts *p, const hone_func *func, const hone_func *general,
                           bool takes_weights, part_entry *entry) {
    if (!hone_vec_push(&entry->plans, (part_plan){.workspace_bytes = -1})) return parts_no_memory();
    func_maker m = {
        .p = p, .func = func, .takes_weights = takes_weights, .out = &hone_vec_last(&entry->plans)};
    return make(&m, general, entry);
}
