/* ir/interp/interp.c - a run of a tensor program: its arguments, and how it ends early. */
#include "ir/interp/interp.h"

#include "ir/interp/interp_impl.h"
#include "support/core/alloc.h"

/* ---- ending early ---- */

static void print_value(hone_str *out, const machine *m, hone_var var, bool is_first) {
    hone_str_printf(out, "%s%s = %lld", is_first ? "" : ", ", m->func->vars[var].name,
                    (long long)m->slots[var].i);
}

/* ", in block 'B' (vi = 3, vj = 0)", or the loops when no block around has axes. */
static void print_place(hone_str *out, const machine *m) {
    if (m->block && (m->block->block->block->axis_count || m->at == HONE_NO_ID)) {
        const hone_block *block = m->block->block->block;
        hone_str_printf(out, ", in block '%s'", block->name);
        for (uint32_t i = 0; i < block->axis_count; i++) {
            hone_str_append(out, i ? "" : " (");
            print_value(out, m, block->axes[i].var, i == 0);
        }
        hone_str_append(out, block->axis_count ? ")" : "");
        return;
    }
    if (m->block) hone_str_printf(out, ", in block '%s'", m->block->block->block->name);
    hone_var loops[16];
    uint32_t count = 0;
    for (hone_node_id n = m->at; n != HONE_NO_ID; n = hone_func_node(m->func, n)->parent) {
        const hone_node *node = hone_func_node(m->func, n);
        if (m->block && n == m->block->node) break;
        if (node->kind == HONE_NODE_FOR && count < HONE_COUNT(loops)) {
            loops[count++] = node->u.loop.var;
        }
    }
    for (uint32_t i = count; i-- > 0;) {
        hone_str_append(out, i + 1 < count ? "" : m->block ? " at (" : ", at (");
        print_value(out, m, loops[i], i + 1 == count);
    }
    hone_str_append(out, count ? ")" : "");
}

void machine_fail(machine *m, hone_status st) {
    machine_free_extern(m);
    if (m->options.out_at) *m->options.out_at = m->is_running ? m->at : m->prepared;
    hone_str place = {0};
    print_place(&place, m);
    if (place.length > 0 && hone_status_code(st) != HONE_CODE_NO_MEMORY) {
        hone_status full = HONE_ERROR(hone_status_code(st), "%s%s", hone_status_message(st),
                                      hone_str_text(&place));
        hone_status_free(st);
        st = full;
    }
    hone_str_deinit(&place);
    m->status = st;
    longjmp(m->escape, 1);
}

void machine_out_of_memory(machine *m) {
    machine_fail(m, HONE_ERROR(HONE_CODE_NO_MEMORY, "interpreter"));
}

void *machine_alloc(machine *m, size_t bytes) {
    void *memory = hone_arena_zalloc(m->arena, bytes);
    if (!memory) machine_out_of_memory(m);
    return memory;
}

/* ---- arguments ---- */

/* "'B'", or the place when the parameter has no name. */
static const char *param_name(const machine *m, uint32_t i) {
    const hone_param *param = &m->func->params[i];
    if (param->buffer != HONE_NO_ID) return hone_func_buffer(m->func, param->buffer)->name;
    return param->var != HONE_NO_ID ? m->func->vars[param->var].name : "?";
}

static void bind_scalar(machine *m, uint32_t i, hone_tensor *arg) {
    hone_var var = m->func->params[i].var;
    hone_dtype dtype = m->func->vars[var].dtype;
    if (hone_dtype_is_handle(dtype) || hone_tensor_count(arg) != 1) {
        machine_fail(m,
                     HONE_ERROR(HONE_CODE_INVALID, "argument %u ('%s') must be a number of type %s",
                                (unsigned)i, param_name(m, i), HONE_DTYPE_NAME(dtype)));
    }
    if (hone_dtype_is_float(dtype))
        m->slots[var].f = hone_tensor_get_f64(arg, 0);
    else
        m->slots[var].i = hone_tensor_get_i64(arg, 0);
    m->bound[var] = VAR_BOUND;
}

static void check_kind(machine *m, uint32_t i, const hone_tensor *arg) {
    const hone_buffer_info *info = hone_func_buffer(m->func, m->func->params[i].buffer);
    bool may_widen = m->options.widen_f64 && hone_dtype_is_float(info->dtype) &&
                     hone_dtype_equal(arg->dtype, HONE_DTYPE_F64);
    if (!hone_dtype_equal(arg->dtype, info->dtype) && !may_widen) {
        machine_fail(m, HONE_ERROR(HONE_CODE_INVALID, "argument %u ('%s') is %s, must be %s",
                                   (unsigned)i, info->name, HONE_DTYPE_NAME(arg->dtype),
                                   HONE_DTYPE_NAME(info->dtype)));
    }
    if ((uint32_t)arg->rank != info->rank) {
        machine_fail(m, HONE_ERROR(HONE_CODE_INVALID,
                                   "argument %u ('%s') has %d dimensions, must have %u",
                                   (unsigned)i, info->name, (int)arg->rank, (unsigned)info->rank));
    }
}

static void fail_shape(machine *m, uint32_t i, const hone_tensor *arg) {
    const xbuffer *b = &m->buffers[m->func->params[i].buffer];
    hone_str got = {0}, want = {0};
    for (uint32_t d = 0; d < b->rank; d++) {
        hone_str_printf(&got, "%s%lld", d ? ", " : "", (long long)arg->shape[d]);
        hone_str_printf(&want, "%s%lld", d ? ", " : "", (long long)b->shape[d]);
    }
    hone_status st =
        HONE_ERROR(HONE_CODE_INVALID, "argument %u ('%s') has shape (%s), must have (%s)",
                   (unsigned)i, param_name(m, i), hone_str_text(&got), hone_str_text(&want));
    hone_str_deinit(&got);
    hone_str_deinit(&want);
    machine_fail(m, st);
}

static void check_offset(machine *m, uint32_t i, const xbuffer *b) {
    int64_t offset = b->offset_expr ? x_int(b->offset_expr, m) : 0;
    if (offset == 0) return;
    machine_fail(m, HONE_ERROR(HONE_CODE_INVALID,
                               "argument %u ('%s') begins with its data, the program wants the "
                               "element offset %lld",
                               (unsigned)i, param_name(m, i), (long long)offset));
}

static void check_layout(machine *m, uint32_t i, const hone_tensor *arg) {
    const xbuffer *b = &m->buffers[m->func->params[i].buffer];
    int64_t stride = 1;
    for (uint32_t d = 0; d < b->rank; d++) {
        if (b->shape[d] != arg->shape[d]) fail_shape(m, i, arg);
    }
    for (uint32_t d = b->rank; d-- > 0; stride *= b->shape[d]) {
        if (b->shape[d] > 1 && b->strides[d] != stride) {
            machine_fail(m, HONE_ERROR(HONE_CODE_INVALID,
                                       "argument %u ('%s') is dense, the program wants the stride "
                                       "%lld in dimension %u",
                                       (unsigned)i, param_name(m, i), (long long)b->strides[d],
                                       (unsigned)d));
        }
    }
    check_offset(m, i, b);
}

static void bind_arguments(machine *m, hone_tensor *const *args) {
    for (uint32_t i = 0; i < m->func->param_count; i++) {
        const hone_param *param = &m->func->params[i];
        if (param->buffer == HONE_NO_ID) {
            bind_scalar(m, i, args[i]);
            continue;
        }
        const hone_buffer_info *info = hone_func_buffer(m->func, param->buffer);
        check_kind(m, i, args[i]);
        for (uint32_t d = 0; d < info->rank; d++) {
            bind_if_free(m, info->shape[d], args[i]->shape[d]);
        }
        bind_if_free(m, info->elem_offset, 0);
    }
    for (uint32_t i = 0; i < m->func->param_count; i++) {
        hone_buffer id = m->func->params[i].buffer;
        if (id == HONE_NO_ID) continue;
        buffer_argument(m, id, args[i]);
        buffer_layout(m, id);
        check_layout(m, i, args[i]);
    }
}

static int64_t *sizes_of_arguments(machine *m) {
    const hone_func *func = m->func;
    int64_t *sizes = machine_alloc(m, (func->var_count + 1) * sizeof *sizes);
    for (uint32_t v = 0; v < func->var_count; v++)
        sizes[v] = -1;
    for (uint32_t i = 0; i < func->param_count; i++) {
        const hone_param *param = &func->params[i];
        if (param->buffer == HONE_NO_ID) {
            if (hone_dtype_is_integer(func->vars[param->var].dtype))
                sizes[param->var] = m->slots[param->var].i;
            continue;
        }
        const hone_buffer_info *info = hone_func_buffer(func, param->buffer);
        for (uint32_t d = 0; d < info->rank; d++) {
            const hone_expr *e = info->shape[d];
            if (e->kind == HONE_EXPR_VAR) sizes[e->u.var] = m->slots[e->u.var].i;
        }
    }
    return sizes;
}

/* What the verifier refuses where sizes are numbers: a T.init that never runs. */
static void check_reductions(machine *m) {
    const int64_t *sizes = NULL;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(m->func, 0, n)) {
        const hone_node *node = hone_func_node(m->func, n);
        if (node->kind != HONE_NODE_BLOCK || hone_block_init_of(m->func, n) == HONE_NO_ID) continue;
        if (!sizes) sizes = sizes_of_arguments(m);
        const hone_axis *axis = hone_block_over_nothing(m->func, n, sizes);
        if (!axis) continue;
        m->prepared = n;
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL,
                                   "block '%s' reduces over nothing: axis '%s' has the extent 0, "
                                   "so its T.init never runs",
                                   node->u.block.block->name, m->func->vars[axis->var].name));
    }
}

/* What a widened run kept in float64 goes back to narrower arguments. */
static void return_widened(machine *m) {
    for (uint32_t b = 0; b < m->func->buffer_count; b++) {
        xstore *s = &m->buffers[b].own;
        if (!s->argument) continue;
        for (int64_t i = 0; i < s->elements; i++) {
            hone_tensor_set_f64(s->argument, i, read_float(s, HONE_DTYPE_F64, i));
        }
    }
}

/* ---- running ---- */

static void run(machine *m, hone_tensor *const *args) {
    const hone_func *func = m->func;
    m->slots = machine_alloc(m, (func->var_count + 1) * sizeof *m->slots);
    if (m->options.out_bounds)
        m->slot_bounds = machine_alloc(m, (func->var_count + 1) * sizeof *m->slot_bounds);
    m->bound = machine_alloc(m, func->var_count + 1);
    m->buffers = machine_alloc(m, (func->buffer_count + 1) * sizeof *m->buffers);
    m->outer_buffers = m->buffers;
    m->is_passed = machine_alloc(m, func->buffer_count + 1);
    private_find(m);
    own_find(m);
    if (m->options.check_races) race_begin(m);
    const xstmt *top = compile_stmt(m, 0);
    m->prepared = HONE_NO_ID;
    bind_arguments(m, args);
    check_reductions(m);
    m->is_running = true;
    top->run(top, m);
    m->at = HONE_NO_ID;
    m->block = NULL;
    if (m->options.widen_f64) return_widened(m);
    if (m->options.out_bounds) bound_return(m);
}

hone_status hone_interp_func(const hone_func *func, hone_tensor *const *args, size_t arg_count,
                             const hone_interp_options *options) {
    assert(func && (args || arg_count == 0));
    if (arg_count != func->param_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' takes %u arguments, got %zu", func->name,
                          (unsigned)func->param_count, arg_count);
    }
    machine *m = hone_calloc(1, sizeof *m);
    if (!m) return HONE_ERROR(HONE_CODE_NO_MEMORY, "interpreter");
    m->func = func;
    m->at = m->prepared = HONE_NO_ID;
    if (options) m->options = *options;
    m->arena = hone_arena_create(1 << 16);
    if (!m->arena)
        m->status = HONE_ERROR(HONE_CODE_NO_MEMORY, "interpreter");
    else if (setjmp(m->escape) == 0)
        run(m, args);
    hone_status st = m->status;
    if (m->options.out_steps) *m->options.out_steps = m->steps;
    machine_free_teams(m);
    machine_free_stores(m, m->outer_buffers);
    hone_free(m->tasks);
    hone_free(m->flights);
    hone_free(m->factors);
    if (m->arena) hone_arena_destroy(m->arena);
    hone_free(m);
    return st;
}
