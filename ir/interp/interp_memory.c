/* ir/interp/interp_memory.c - storage: elements, accesses with their checks, buffers and views. */
#include <string.h>

#include "ir/interp/interp_impl.h"
#include "support/core/alloc.h"

/* ---- elements ---- */

int64_t read_int(const xstore *s, hone_dtype dtype, int64_t at) {
    const uint8_t *data = s->data;
    if (dtype.code == HONE_DTYPE_CODE_INT) {
        switch (dtype.bits) {
        case 8:
            return ((const int8_t *)data)[at];
        case 16:
            return ((const int16_t *)(const void *)data)[at];
        case 32:
            return ((const int32_t *)(const void *)data)[at];
        case 64:
            return ((const int64_t *)(const void *)data)[at];
        }
    }
    return hone_element_get_i64(dtype, data + (size_t)at * hone_dtype_bytes(dtype));
}

double read_float(const xstore *s, hone_dtype dtype, int64_t at) {
    return hone_element_get_f64(dtype, s->data + (size_t)at * hone_dtype_bytes(dtype));
}

void write_int(const xstore *s, hone_dtype dtype, int64_t at, int64_t value) {
    hone_element_set_i64(dtype, s->data + (size_t)at * hone_dtype_bytes(dtype), value);
}

void write_float(const xstore *s, hone_dtype dtype, int64_t at, double value) {
    hone_element_set_f64(dtype, s->data + (size_t)at * hone_dtype_bytes(dtype), value);
}

/* Integers of less than a byte take one. */
static hone_dtype stored_dtype(const machine *m, hone_dtype dtype) {
    if (hone_dtype_is_integer(dtype) && dtype.bits < 8) dtype.bits = 8;
    return m->options.widen_f64 && hone_dtype_is_float(dtype) ? HONE_DTYPE_F64 : dtype;
}

/* ---- accesses ---- */

HONE_NORETURN static void fail_outside(machine *m, const xbuffer *b, hone_buffer id,
                                       const int64_t *index, bool is_write) {
    hone_str text = {0};
    hone_str_printf(&text, "%s %s[", is_write ? "write to" : "read of",
                    hone_func_buffer(m->func, id)->name);
    for (uint32_t d = 0; d < b->rank; d++) {
        hone_str_printf(&text, "%s%lld", d ? ", " : "", (long long)index[d]);
    }
    hone_str_append(&text, "] is outside its shape (");
    for (uint32_t d = 0; d < b->rank; d++) {
        hone_str_printf(&text, "%s%lld", d ? ", " : "", (long long)b->shape[d]);
    }
    hone_str_append(&text, b->rank == 1 ? ",)" : ")");
    hone_status st = HONE_ERROR(HONE_CODE_ILLEGAL, "%s", hone_str_text(&text));
    hone_str_deinit(&text);
    machine_fail(m, st);
}

HONE_NORETURN static void fail_not_live(machine *m, hone_buffer id) {
    machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "buffer '%s' is used where it does not exist",
                               hone_func_buffer(m->func, id)->name));
}

size_t store_units(const xstore *s) {
    size_t bytes = (size_t)s->elements * hone_dtype_bytes(s->dtype);
    return bytes ? bytes / s->unit : 1;
}

int64_t view_elements(const xbuffer *b) {
    int64_t stored = (int64_t)hone_dtype_bytes(b->store->dtype);
    return b->store->elements * stored / (int64_t)hone_dtype_bytes(b->dtype);
}

int64_t first_unit(const xbuffer *b, int64_t at, int64_t *out_count) {
    *out_count = (int64_t)hone_dtype_bytes(b->dtype) / b->store->unit;
    return at * *out_count;
}

static void check_unit(machine *m, xstore *s, hone_buffer id, xplace at, bool is_write) {
    if (s->is_written) {
        if (!is_write && !s->is_written[at.unit]) {
            machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL,
                                       "read of '%s' at element %lld, which was never written",
                                       hone_func_buffer(m->func, id)->name, (long long)at.element));
        }
        s->is_written[at.unit] = true;
    }
    if (s->flights && s->flights[at.unit]) async_check(m, s, at, id);
}

/* What is checked only on request, or for views. */
static void check_element_but_races(machine *m, const xbuffer *b, hone_buffer id, int64_t at,
                                    bool is_write) {
    xstore *s = b->store;
    const char *name = hone_func_buffer(m->func, id)->name;
    if (at < 0 || at >= view_elements(b)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL,
                                   "%s '%s' at element %lld of its storage, which has %lld",
                                   is_write ? "write to" : "read of", name, (long long)at,
                                   (long long)view_elements(b)));
    }
    int64_t count, first = first_unit(b, at, &count);
    for (int64_t unit = first; unit < first + count; unit++)
        check_unit(m, s, id, (xplace){at, unit}, is_write);
}

static void check_element(machine *m, const xbuffer *b, hone_buffer id, int64_t at, bool is_write) {
    check_element_but_races(m, b, id, at, is_write);
    if (!b->store->shadow) return;
    int64_t count, first = first_unit(b, at, &count);
    for (int64_t unit = first; unit < first + count; unit++)
        race_touch(m, b->store, (xplace){at, unit}, id, is_write);
}

void touch_register(machine *m, hone_buffer id, int64_t at) {
    check_element_but_races(m, &m->buffers[id], id, at, false);
}

void touch_atomically(machine *m, hone_buffer id, int64_t at) {
    xbuffer *b = &m->buffers[id];
    check_element_but_races(m, b, id, at, false);
    if (!b->store->shadow) return;
    int64_t count, first = first_unit(b, at, &count);
    for (int64_t unit = first; unit < first + count; unit++)
        race_update(m, b->store, (xplace){at, unit}, id);
}

void touch_element(machine *m, hone_buffer id, int64_t at, bool is_write) {
    check_element(m, &m->buffers[id], id, at, is_write);
}

/* A vector that begins in a row goes on in the next ones, where these lie one behind the other. */
static bool runs_on(const machine *m, const xbuffer *b, const int64_t *index, int64_t at) {
    uint32_t last = b->rank - 1;
    int64_t stride = b->lanes, count = b->lanes;
    if (m->lane == 0 || b->rank < 2 || index[last] < 0) return false;
    for (uint32_t d = b->rank; d-- > 0; stride *= b->shape[d]) {
        if (b->shape[d] > 1 && b->strides[d] != stride) return false;
        if (d < last && (uint64_t)index[d] >= (uint64_t)b->shape[d]) return false;
        count *= b->shape[d];
    }
    return index[last] < count && (uint64_t)at - (uint64_t)b->offset < (uint64_t)count;
}

static inline int64_t locate_in(machine *m, const xbuffer *b, hone_buffer id, uint32_t rank,
                                const xexpr *const *indices, bool is_write) {
    int64_t index[HONE_MAX_RANK];
    uint64_t place = (uint64_t)b->offset; /* wraps where an index lies far outside */
    bool is_inside = true;
    if (HONE_UNLIKELY(!b->store)) fail_not_live(m, id);
    for (uint32_t d = 0; d < rank; d++) {
        index[d] = x_int(indices[d], m);
        is_inside &= (uint64_t)index[d] < (uint64_t)b->shape[d];
        place += (uint64_t)index[d] * (uint64_t)b->strides[d];
    }
    int64_t at = (int64_t)place;
    if (HONE_UNLIKELY(!is_inside) && !runs_on(m, b, index, at)) {
        fail_outside(m, b, id, index, is_write);
    }
    if (HONE_UNLIKELY(!b->is_plain)) check_element(m, b, id, at, is_write);
    return at;
}

int64_t locate(machine *m, hone_buffer id, uint32_t rank, const xexpr *const *indices,
               bool is_write) {
    return locate_in(m, &m->buffers[id], id, rank, indices, is_write);
}

int64_t locate_lane(machine *m, hone_buffer id, uint32_t rank, const xexpr *const *indices,
                    bool is_write) {
    const xbuffer *b = &m->buffers[id];
    uint16_t lane = m->lane;
    m->lane = (uint16_t)(lane / b->lanes); /* the lane of a vector of indices */
    int64_t at = locate(m, id, rank, indices, is_write) + lane % b->lanes;
    m->lane = lane;
    if (!b->is_plain && lane % b->lanes) check_element(m, b, id, at, is_write);
    return at;
}

static int64_t load_lane_i(const xexpr *e, machine *m) {
    const xbuffer *b = &m->buffers[e->u.buffer];
    int64_t at = locate_lane(m, e->u.buffer, e->count, e->args, false);
    return read_int(b->store, b->dtype, at);
}
static double load_lane_f(const xexpr *e, machine *m) {
    const xbuffer *b = &m->buffers[e->u.buffer];
    int64_t at = locate_lane(m, e->u.buffer, e->count, e->args, false);
    return read_float(b->store, b->dtype, at);
}

#define LOAD(name, type, result, rank)                                                             \
    static result name(const xexpr *e, machine *m) {                                               \
        const xbuffer *b = &m->buffers[e->u.buffer];                                               \
        int64_t at = locate_in(m, b, e->u.buffer, rank, e->args, false);                           \
        return (result)((const type *)(const void *)b->store->data)[at];                           \
    }
LOAD(load_f32_1, float, double, 1)
LOAD(load_f32_2, float, double, 2)
LOAD(load_f32_4, float, double, 4)
LOAD(load_f32, float, double, e->count)
LOAD(load_f64, double, double, e->count)
LOAD(load_i32, int32_t, int64_t, e->count)
LOAD(load_i64, int64_t, int64_t, e->count)

static int64_t load_int(const xexpr *e, machine *m) {
    const xbuffer *b = &m->buffers[e->u.buffer];
    int64_t at = locate_in(m, b, e->u.buffer, e->count, e->args, false);
    return read_int(b->store, b->dtype, at);
}
static double load_float(const xexpr *e, machine *m) {
    const xbuffer *b = &m->buffers[e->u.buffer];
    int64_t at = locate_in(m, b, e->u.buffer, e->count, e->args, false);
    return read_float(b->store, b->dtype, at);
}

void choose_load(machine *m, xexpr *x) {
    hone_buffer id = x->source->u.buffer;
    if (id >= m->func->buffer_count) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "a buffer that does not exist is read"));
    }
    const hone_buffer_info *info = hone_func_buffer(m->func, id);
    if (info->rank != x->count || info->rank > HONE_MAX_RANK) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                   "'%s' of rank %u and type %s is read with %u indices",
                                   info->name, (unsigned)info->rank, HONE_DTYPE_NAME(info->dtype),
                                   (unsigned)x->count));
    }
    if (x_is_float(x) != hone_dtype_is_float(info->dtype)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "'%s' of type %s is read as %s", info->name,
                                   HONE_DTYPE_NAME(info->dtype), HONE_DTYPE_NAME(x->dtype)));
    }
    hone_dtype stored = stored_dtype(m, info->dtype);
    x->u.buffer = id;
    if (info->dtype.lanes > 1) {
        if (hone_dtype_is_float(stored)) x->eval.f = load_lane_f;
        if (!hone_dtype_is_float(stored)) x->eval.i = load_lane_i;
    } else if (hone_dtype_equal(stored, HONE_DTYPE_F32)) {
        x->eval.f = x->count == 1   ? load_f32_1
                    : x->count == 2 ? load_f32_2
                    : x->count == 4 ? load_f32_4
                                    : load_f32;
    } else if (hone_dtype_equal(stored, HONE_DTYPE_F64)) {
        x->eval.f = load_f64;
    } else if (hone_dtype_is_float(stored)) {
        x->eval.f = load_float;
    } else if (hone_dtype_equal(stored, HONE_DTYPE_I32)) {
        x->eval.i = load_i32;
    } else if (hone_dtype_equal(stored, HONE_DTYPE_I64)) {
        x->eval.i = load_i64;
    } else {
        x->eval.i = load_int;
    }
}

/* ---- layouts ---- */

void bind_if_free(machine *m, const hone_expr *e, int64_t value) {
    if (!e || e->kind != HONE_EXPR_VAR || m->bound[e->u.var] != VAR_FREE) return;
    m->bound[e->u.var] = VAR_BOUND;
    m->slots[e->u.var].i = value;
}

/* bind_if_free for the sizes of a view, which may differ from one execution to the next. */
static void bind_view(machine *m, const hone_expr *e, int64_t value) {
    if (!e || e->kind != HONE_EXPR_VAR || m->bound[e->u.var] == VAR_BOUND) return;
    m->bound[e->u.var] = VAR_OF_VIEW;
    m->slots[e->u.var].i = value;
}

static void prepare(machine *m, hone_buffer id) {
    xbuffer *b = &m->buffers[id];
    const hone_buffer_info *info = hone_func_buffer(m->func, id);
    if (b->shape) return;
    if (info->rank > HONE_MAX_RANK ||
        !hone_dtype_is_storable(stored_dtype(m, hone_dtype_element(info->dtype)))) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "buffer '%s' of type %s and rank %u",
                                   info->name, HONE_DTYPE_NAME(info->dtype), (unsigned)info->rank));
    }
    b->rank = info->rank;
    b->dtype = stored_dtype(m, hone_dtype_element(info->dtype));
    b->lanes = info->dtype.lanes ? info->dtype.lanes : 1;
    b->shape = machine_alloc(m, (info->rank + 1) * sizeof *b->shape);
    b->strides = machine_alloc(m, (info->rank + 1) * sizeof *b->strides);
    b->shape_exprs = machine_alloc(m, (info->rank + 1) * sizeof *b->shape_exprs);
    for (uint32_t d = 0; d < info->rank; d++)
        b->shape_exprs[d] = compile_expr(m, info->shape[d]);
    if (info->strides) {
        b->stride_exprs = machine_alloc(m, (info->rank + 1) * sizeof *b->stride_exprs);
        for (uint32_t d = 0; d < info->rank; d++) {
            b->stride_exprs[d] = compile_expr(m, info->strides[d]);
        }
    }
    if (info->elem_offset) b->offset_expr = compile_expr(m, info->elem_offset);
}

static void dense_strides(xbuffer *b) {
    int64_t stride = b->lanes;
    for (uint32_t d = b->rank; d-- > 0;) {
        b->strides[d] = stride;
        stride *= b->shape[d];
    }
}

void buffer_layout(machine *m, hone_buffer id) {
    xbuffer *b = &m->buffers[id];
    const hone_buffer_info *info = hone_func_buffer(m->func, id);
    int64_t product = 1;
    prepare(m, id);
    for (uint32_t d = 0; d < b->rank; d++) {
        b->shape[d] = x_int(b->shape_exprs[d], m);
        if (b->shape[d] < 0 || __builtin_mul_overflow(product, b->shape[d], &product)) {
            machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "buffer '%s' has the extent %lld",
                                       info->name, (long long)b->shape[d]));
        }
    }
    dense_strides(b);
    if (!info->strides) return;
    for (uint32_t d = 0; d < b->rank; d++) {
        bind_if_free(m, info->strides[d], b->strides[d] / b->lanes);
        b->strides[d] = x_int(b->stride_exprs[d], m) * b->lanes;
    }
}

static int64_t count_of(const xbuffer *b) {
    int64_t count = b->lanes;
    for (uint32_t d = 0; d < b->rank; d++)
        count *= b->shape[d];
    return count;
}

/* Scalars from the first to the last one that the layout reaches. */
static int64_t span_of(const xbuffer *b) {
    int64_t last = 0;
    for (uint32_t d = 0; d < b->rank; d++) {
        if (b->shape[d] == 0) return 0;
        last += (b->shape[d] - 1) * b->strides[d];
    }
    return last + b->lanes;
}

static bool is_dense(const xbuffer *b) {
    int64_t stride = b->lanes;
    for (uint32_t d = b->rank; d-- > 0;) {
        if (b->shape[d] > 1 && b->strides[d] != stride) return false;
        stride *= b->shape[d];
    }
    return true;
}

/* The narrowest type that the storage of the buffer is seen as. */
static uint32_t unit_of(const machine *m, hone_buffer id) {
    size_t unit = hone_dtype_bytes(m->buffers[id].dtype);
    for (hone_buffer b = 0; b < m->func->buffer_count; b++) {
        const hone_buffer_info *info = hone_func_buffer(m->func, b);
        if (info->alias_of == HONE_NO_ID || hone_func_storage(m->func, b) != id) continue;
        size_t bytes = hone_dtype_bytes(stored_dtype(m, hone_dtype_element(info->dtype)));
        if (bytes && bytes < unit) unit = bytes;
    }
    return (uint32_t)unit;
}

static void attach_checks(machine *m, hone_buffer id, bool counts_writes) {
    xstore *s = &m->buffers[id].own;
    if (!s->unit) s->unit = unit_of(m, id);
    size_t count = store_units(s);
    if (counts_writes && m->options.check_uninitialised) {
        if (!s->is_written) s->is_written = hone_malloc(count);
        if (!s->is_written) machine_out_of_memory(m);
        memset(s->is_written, 0, count);
    }
    if (m->options.check_races) {
        if (!s->shadow) s->shadow = hone_malloc(count * sizeof *s->shadow);
        if (!s->shadow) machine_out_of_memory(m);
        memset(s->shadow, 0, count * sizeof *s->shadow);
    }
    if (m->options.check_races && s->is_shared) {
        if (!s->instants) s->instants = hone_malloc(count * sizeof *s->instants);
        if (!s->instants) machine_out_of_memory(m);
        memset(s->instants, 0, count * sizeof *s->instants);
    }
    if (m->options.out_bounds) {
        if (!s->bounds) s->bounds = hone_malloc(count * sizeof *s->bounds);
        if (!s->bounds) machine_out_of_memory(m);
        memset(s->bounds, 0, count * sizeof *s->bounds);
    }
    if (s->flights) memset(s->flights, 0, count * sizeof *s->flights);
}

static void free_store(xstore *s) {
    if (!s->is_argument) hone_free(s->data);
    hone_free(s->is_written);
    hone_free(s->shadow);
    hone_free(s->instants);
    hone_free(s->flights);
    hone_free(s->bounds);
    *s = (xstore){0};
}

static void make_storage(machine *m, xbuffer *b, const hone_buffer_info *info, int64_t elements) {
    size_t bytes = 0;
    xstore *s = &b->own;
    if (elements > s->capacity || !s->data) {
        free_store(s);
        if (__builtin_mul_overflow((size_t)elements, hone_dtype_bytes(b->dtype), &bytes) ||
            bytes > SIZE_MAX / 4) {
            machine_out_of_memory(m);
        }
        s->data = hone_aligned_alloc(64, (bytes + 127) / 64 * 64);
        if (!s->data) machine_out_of_memory(m);
        s->capacity = elements;
    }
    s->elements = elements;
    s->dtype = b->dtype;
    s->is_shared = info->scope && strncmp(info->scope, "shared", 6) == 0;
    memset(s->data, 0xff, (size_t)elements * hone_dtype_bytes(b->dtype)); /* NaN in every format */
}

/* Nothing to check on an access but the indices. */
static void settle(xbuffer *b, xstore *s, bool is_whole) {
    b->store = s;
    b->is_plain = is_whole && !s->is_written && !s->shadow;
}

void buffer_allocate(machine *m, hone_buffer id) {
    xbuffer *b = &m->buffers[id];
    buffer_layout(m, id);
    int64_t elements = is_dense(b) ? count_of(b) : span_of(b);
    int64_t threads = own_threads(m, id, elements);
    b->share = threads > 1 ? elements : 0;
    make_storage(m, b, hone_func_buffer(m->func, id), elements * threads);
    attach_checks(m, id, !m->is_passed[id]);
    b->own.row = b->rank > 1 ? b->shape[b->rank - 1] : 0;
    b->own.fragment = (xfragment){0};
    b->offset = 0;
    settle(b, &b->own, true);
}

void buffer_drop(machine *m, hone_buffer id) {
    m->buffers[id].store = NULL;
}

void buffer_argument(machine *m, hone_buffer id, hone_tensor *argument) {
    xbuffer *b = &m->buffers[id];
    prepare(m, id);
    bool is_shared =
        hone_dtype_equal(argument->dtype, b->dtype) ||
        hone_dtype_is_integer(argument->dtype); /* of 4 bits, in bytes here and there */
    if (is_shared) {
        b->own = (xstore){.data = argument->data, .dtype = b->dtype, .is_argument = true};
        b->own.elements = b->own.capacity = hone_tensor_count(argument);
    } else { /* widened: a private copy, written back at the end */
        make_storage(m, b, hone_func_buffer(m->func, id), hone_tensor_count(argument));
        b->own.argument = argument;
        for (int64_t i = 0; i < b->own.elements; i++) {
            write_float(&b->own, HONE_DTYPE_F64, i, hone_tensor_get_f64(argument, i));
        }
    }
    attach_checks(m, id, false);
    b->offset = 0;
    settle(b, &b->own, true);
}

/* Integers of less than a byte lie closer in memory than here. */
static bool is_packed(const machine *m, hone_buffer a, hone_buffer b) {
    uint8_t one = hone_func_buffer(m->func, a)->dtype.bits;
    uint8_t other = hone_func_buffer(m->func, b)->dtype.bits;
    return one != other && (one < 8 || other < 8);
}

void buffer_alias(machine *m, hone_buffer id) {
    xbuffer *b = &m->buffers[id];
    const hone_buffer_info *info = hone_func_buffer(m->func, id);
    const xbuffer *source = &m->buffers[info->alias_of];
    if (!source->store) fail_not_live(m, info->alias_of);
    bind_view(m, info->elem_offset, source->offset);
    buffer_layout(m, id);
    int64_t from = (int64_t)hone_dtype_bytes(source->dtype),
            to = (int64_t)hone_dtype_bytes(b->dtype);
    bool is_same = hone_dtype_equal(b->dtype, source->store->dtype);
    bool has_bounds = m->options.out_bounds && from != to; /* which are by element */
    if (!is_same && (m->options.widen_f64 || has_bounds || is_packed(m, id, info->alias_of))) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' shows storage of type %s as %s",
                                   info->name, HONE_DTYPE_NAME(source->store->dtype),
                                   HONE_DTYPE_NAME(info->dtype)));
    }
    if (!b->offset_expr && source->offset * from % to) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "'%s' begins inside of one of its elements",
                                   info->name));
    }
    b->offset = b->offset_expr ? x_int(b->offset_expr, m) * b->lanes : source->offset * from / to;
    settle(b, source->store, false);
}

void buffer_match(machine *m, const xmatch *match) {
    xbuffer *b = &m->buffers[match->buffer];
    const xbuffer *source = &m->buffers[match->source];
    const hone_buffer_info *info = hone_func_buffer(m->func, match->buffer);
    int64_t offset = source->offset;
    if (!source->store) fail_not_live(m, match->source);
    if (info->rank > source->rank) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "'%s' has more dimensions than its source",
                                   info->name));
    }
    uint32_t lead = source->rank - info->rank;
    for (uint32_t d = 0; d < source->rank; d++) {
        offset += range_min(&match->ranges[d], m) * source->strides[d];
        if (d >= lead) bind_view(m, info->shape[d - lead], range_extent(&match->ranges[d], m));
        if (d >= lead && info->strides) {
            bind_view(m, info->strides[d - lead], source->strides[d]);
        }
    }
    bind_view(m, info->elem_offset, offset);
    buffer_layout(m, match->buffer);
    for (uint32_t d = 0; d < info->rank; d++)
        b->strides[d] = source->strides[lead + d];
    b->offset = offset;
    settle(b, source->store, false);
}

void buffer_share(machine *m, hone_buffer id, const xbuffer *of) {
    buffer_layout(m, id);
    m->buffers[id].offset = 0;
    settle(&m->buffers[id], of->store, true);
}

void machine_free_stores(machine *m, xbuffer *buffers) {
    for (uint32_t i = 0; buffers && i < m->func->buffer_count; i++)
        free_store(&buffers[i].own);
}
