/* ir/interp/interp_extern.c - calls of external functions. Arguments become tensors: a buffer's
 * data variable is the whole buffer, tvm_access_ptr and address_of a rank-1 view of its storage, a
 * number a rank-0 tensor. A call whose value is used (any dtype but int32, void and handle, and
 * every pure call) gets one more rank-0 tensor at the end for its result. */
#include <string.h>

#include "ir/core/fold.h"
#include "ir/interp/interp_impl.h"

enum { MAX_EXTERN_ARGS = 32 };

typedef struct extern_arg {
    hone_tensor tensor;
    uint8_t scalar[8];
    hone_tensor *narrowed; /* a widened buffer in the dtype that the function expects; owned */
    xstore *store;         /* where narrowed goes back to */
    int64_t offset;
} extern_arg;

/* The calls whose arguments are being made: a call may stand in the arguments of another. */
struct extern_frame {
    extern_arg args[MAX_EXTERN_ARGS];
    uint32_t count;
    struct extern_frame *outer;
};

hone_buffer buffer_of_data(const machine *m, hone_var var) {
    hone_buffer found = HONE_NO_ID;
    for (uint32_t b = 0; b < m->func->buffer_count; b++) {
        if (m->func->buffers[b].data != var) continue;
        if (m->buffers[b].store && m->func->buffers[b].alias_of == HONE_NO_ID) return b;
        if (found == HONE_NO_ID || m->buffers[b].store) found = b;
    }
    return found;
}

hone_buffer place_of_pointer(machine *m, const xexpr *e, int64_t *out_at) {
    const hone_expr *source = e->source;
    bool is_access = hone_expr_is_call(source, HONE_INTRIN_ACCESS_PTR) && e->count == 5;
    const xexpr *data = is_access ? e->args[1] : e, *load = NULL;
    hone_buffer id = HONE_NO_ID;
    if (hone_expr_is_call(source, HONE_INTRIN_ADDRESS_OF)) load = e->args[0];
    if (data->source->kind == HONE_EXPR_VAR) id = buffer_of_data(m, data->source->u.var);
    if (load && load->source->kind == HONE_EXPR_LOAD) id = load->u.buffer;
    if (id == HONE_NO_ID || !m->buffers[id].store) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "a pointer to no buffer that exists"));
    }
    const xbuffer *b = &m->buffers[id];
    bool counts_from_data = is_access && hone_func_buffer(m->func, id)->elem_offset;
    *out_at = counts_from_data ? 0 : b->offset;
    if (is_access) *out_at += x_int(e->args[2], m);
    for (uint32_t d = 0; load && d < load->count; d++)
        *out_at += x_int(load->args[d], m) * b->strides[d];
    return id;
}

static void mark_written(const xbuffer *b, int64_t offset, int64_t count) {
    int64_t units, first = first_unit(b, offset, &units);
    if (b->store->is_written) memset(b->store->is_written + first, true, (size_t)(count * units));
}

/* A view of count elements; in a widened run the function still gets the dtype of the program. */
static void pass_storage(machine *m, extern_arg *arg, hone_buffer id, int64_t offset, int32_t rank,
                         const int64_t *shape) {
    const hone_buffer_info *info = hone_func_buffer(m->func, id);
    xstore *s = m->buffers[id].store;
    if (!s) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL,
                                   "buffer '%s' is passed where it does not exist", info->name));
    }
    const xbuffer *b = &m->buffers[id];
    uint8_t *data = s->data + (size_t)offset * hone_dtype_bytes(b->dtype);
    arg->tensor = hone_tensor_view(data, b->dtype, rank, shape);
    int64_t count = hone_tensor_count(&arg->tensor);
    if (offset < 0 || count < 0 || offset + count > view_elements(b)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL,
                                   "elements %lld to %lld of '%s' are passed, its storage has %lld",
                                   (long long)offset, (long long)(offset + count), info->name,
                                   (long long)view_elements(b)));
    }
    mark_written(b, offset, count);
    arg->store = s;
    arg->offset = offset;
    if (hone_dtype_equal(b->dtype, info->dtype)) return;
    hone_tensor *narrowed = NULL;
    hone_status st = hone_tensor_convert(&arg->tensor, info->dtype, &narrowed);
    if (st) machine_fail(m, st);
    arg->narrowed = narrowed;
    arg->tensor = *narrowed;
}

static void pass_buffer(machine *m, extern_arg *arg, hone_buffer id) {
    const xbuffer *b = &m->buffers[id];
    int64_t shape[HONE_MAX_RANK] = {0}, stride = 1;
    for (uint32_t d = b->rank; b->store && d-- > 0;) {
        if (b->shape[d] > 1 && b->strides[d] != stride) {
            machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                       "'%s' is not dense and is passed to an external function",
                                       hone_func_buffer(m->func, id)->name));
        }
        shape[d] = b->shape[d];
        stride *= b->shape[d];
    }
    pass_storage(m, arg, id, b->offset, (int32_t)b->rank, shape);
}

/* tvm_access_ptr(type, data, offset, extent, mask) */
static void pass_pointer(machine *m, extern_arg *arg, const xexpr *e) {
    const hone_expr *data = e->source->args[1];
    hone_buffer id =
        e->count == 5 && data->kind == HONE_EXPR_VAR ? buffer_of_data(m, data->u.var) : HONE_NO_ID;
    if (id == HONE_NO_ID) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "tvm_access_ptr of something unknown"));
    }
    int64_t offset = x_int(e->args[2], m), extent = x_int(e->args[3], m);
    if (!hone_func_buffer(m->func, id)->elem_offset) offset += m->buffers[id].offset;
    const xbuffer *b = &m->buffers[id];
    int64_t elements = b->store ? view_elements(b) : 0;
    if (offset >= 0 && offset < elements && extent > elements - offset) {
        extent = elements - offset; /* rows of a part may say more than there is */
    }
    pass_storage(m, arg, id, offset, 1, &extent);
}

static void pass_address(machine *m, extern_arg *arg, const xexpr *e) {
    const xexpr *load = e->args[0];
    if (load->source->kind != HONE_EXPR_LOAD) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "address_of takes an element of a buffer"));
    }
    hone_buffer id = load->u.buffer;
    const xbuffer *b = &m->buffers[id];
    int64_t offset = b->offset;
    for (uint32_t d = 0; b->store && d < load->count; d++) {
        offset += x_int(load->args[d], m) * b->strides[d];
    }
    int64_t extent = b->store ? view_elements(b) - offset : 0;
    pass_storage(m, arg, id, offset, 1, &extent);
}

static void pass_scalar(machine *m, extern_arg *arg, const xexpr *e) {
    hone_dtype dtype = hone_dtype_element(e->dtype);
    if (e->lanes > 1 || !hone_dtype_is_storable(dtype)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                   "a value of type %s is passed to an external function",
                                   HONE_DTYPE_NAME(e->dtype)));
    }
    arg->tensor = hone_tensor_view(arg->scalar, dtype, 0, NULL);
    if (x_is_float(e))
        hone_tensor_set_f64(&arg->tensor, 0, x_float(e, m));
    else
        hone_tensor_set_i64(&arg->tensor, 0, x_int(e, m));
}

static void pass(machine *m, extern_arg *arg, const xexpr *e) {
    const hone_expr *source = e->source;
    hone_buffer id = source->kind == HONE_EXPR_VAR && hone_dtype_is_handle(source->dtype)
                         ? buffer_of_data(m, source->u.var)
                         : HONE_NO_ID;
    if (id != HONE_NO_ID)
        pass_buffer(m, arg, id);
    else if (hone_expr_is_call(source, HONE_INTRIN_ACCESS_PTR))
        pass_pointer(m, arg, e);
    else if (hone_expr_is_call(source, HONE_INTRIN_ADDRESS_OF))
        pass_address(m, arg, e);
    else
        pass_scalar(m, arg, e);
}

static void take_back(extern_arg *args, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!args[i].narrowed) continue;
        int64_t elements = hone_tensor_count(args[i].narrowed);
        for (int64_t k = 0; k < elements; k++) {
            write_float(args[i].store, HONE_DTYPE_F64, args[i].offset + k,
                        hone_tensor_get_f64(args[i].narrowed, k));
        }
        hone_tensor_destroy(args[i].narrowed);
    }
}

static bool is_c_call(const machine *m, const xexpr *e) {
    return m->options.call_c && e->source->op != HONE_INTRIN_CALL_PACKED;
}

static bool has_result(const machine *m, const xexpr *e) {
    if (hone_dtype_is_void(e->dtype) || hone_dtype_is_handle(e->dtype)) return false;
    return is_c_call(m, e) || e->source->op == HONE_INTRIN_CALL_PURE_EXTERN ||
           !hone_dtype_equal(e->dtype, HONE_DTYPE_I32);
}

/* C tells a pointer from a number by its rank. */
static void show_as_pointer(extern_arg *arg, const xexpr *e) {
    static const int64_t one = 1;
    if (hone_dtype_is_handle(e->source->dtype) && arg->tensor.rank == 0) {
        arg->tensor = hone_tensor_view(arg->tensor.data, arg->tensor.dtype, 1, &one);
    }
}

static void call(const xexpr *e, machine *m, extern_arg *result) {
    struct extern_frame frame = {.outer = m->extern_frame};
    hone_tensor *tensors[MAX_EXTERN_ARGS + 1];
    const char *name = e->source->args[0]->u.s;
    bool is_c = is_c_call(m, e);
    if (!is_c && !m->options.call_extern) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNAVAILABLE,
                                   "external function '%s' is called, and there is none", name));
    }
    m->extern_frame = &frame;
    for (uint32_t i = 1; i < e->count; i++) {
        pass(m, &frame.args[i - 1], e->args[i]);
        if (is_c) show_as_pointer(&frame.args[i - 1], e->args[i]);
        tensors[i - 1] = &frame.args[i - 1].tensor;
        frame.count = i;
    }
    *result = (extern_arg){0};
    if (has_result(m, e)) {
        result->tensor = hone_tensor_view(result->scalar, hone_dtype_element(e->dtype), 0, NULL);
        tensors[frame.count] = &result->tensor;
    }
    hone_tensor *out = has_result(m, e) ? &result->tensor : NULL;
    void *ctx = m->options.extern_ctx;
    hone_status st = is_c ? m->options.call_c(ctx, name, tensors, frame.count, out)
                          : m->options.call_extern(ctx, name, tensors, frame.count + (out ? 1 : 0));
    take_back(frame.args, frame.count);
    m->extern_frame = frame.outer;
    if (st) machine_fail(m, hone_status_annotate(st, "external function '%s'", name));
}

void machine_free_extern(machine *m) {
    for (struct extern_frame *f = m->extern_frame; f; f = f->outer) {
        for (uint32_t i = 0; i < f->count; i++)
            hone_tensor_destroy(f->args[i].narrowed);
    }
    m->extern_frame = NULL;
}

static int64_t call_i(const xexpr *e, machine *m) {
    extern_arg result;
    call(e, m, &result);
    return has_result(m, e) ? hone_tensor_get_i64(&result.tensor, 0) : 0;
}
static double call_f(const xexpr *e, machine *m) {
    extern_arg result;
    call(e, m, &result);
    return round_to(e, hone_tensor_get_f64(&result.tensor, 0));
}

/* Of the C library: no name among the arguments. */
static double libm_f(const xexpr *e, machine *m) {
    double args[HONE_LIBM_MAX_ARGS];
    hone_dtype to = e->u.libm->is_float32 ? HONE_DTYPE_F32 : HONE_DTYPE_F64;
    for (uint32_t i = 0; i < e->count; i++) {
        const xexpr *arg = e->args[i];
        args[i] =
            x_is_float(arg) ? x_float(arg, m) : hone_fold_to_float(arg->dtype, x_int(arg, m), to);
    }
    return round_to(e, hone_libm_value(e->u.libm, args));
}

static bool choose_libm(xexpr *x) {
    x->u.libm = hone_libm_of_call(x->source);
    if (!x->u.libm) return false;
    x->count--;
    for (uint32_t i = 0; i < x->count; i++)
        x->args[i] = x->args[i + 1];
    x->eval.f = libm_f;
    return true;
}

void choose_extern(machine *m, xexpr *x) {
    if (choose_device_call(x) || choose_libm(x)) return;
    if (x->count == 0 || x->source->args[0]->kind != HONE_EXPR_STRING ||
        x->count - 1 > MAX_EXTERN_ARGS || x->lanes > 1) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                   "an external call wants a name and at most %d arguments",
                                   MAX_EXTERN_ARGS));
    }
    if (x_is_float(x))
        x->eval.f = call_f;
    else
        x->eval.i = call_i;
}
