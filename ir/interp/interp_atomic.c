/* ir/interp/interp_atomic.c - functions of GPUs that programs call by their names in CUDA: atomic
 * updates, which several threads may do to one element, and products of four bytes. */
#include <string.h>

#include "ir/interp/interp_impl.h"
#include "ir/ops/named_op.h"

/* ---- atomic updates ---- */

static int64_t updated_i(hone_atomic update, const xexpr *like, int64_t old, int64_t value) {
    uint64_t a = (uint64_t)old, b = (uint64_t)value;
    bool is_less = like->type == X_U64 ? a < b : old < value;
    switch (update) {
    case HONE_ATOMIC_ADD:
        return wrap_to(like, (int64_t)(a + b));
    case HONE_ATOMIC_SUB:
        return wrap_to(like, (int64_t)(a - b));
    case HONE_ATOMIC_MIN:
        return is_less ? old : value;
    case HONE_ATOMIC_MAX:
        return is_less ? value : old;
    case HONE_ATOMIC_AND:
        return old & value;
    case HONE_ATOMIC_OR:
        return old | value;
    case HONE_ATOMIC_XOR:
        return old ^ value;
    default:
        return value;
    }
}

static double updated_f(machine *m, hone_atomic update, const xexpr *like, double old,
                        double value) {
    switch (update) {
    case HONE_ATOMIC_ADD:
        return round_to(like, old + value);
    case HONE_ATOMIC_SUB:
        return round_to(like, old - value);
    case HONE_ATOMIC_MIN:
        return old < value ? old : value;
    case HONE_ATOMIC_MAX:
        return old > value ? old : value;
    case HONE_ATOMIC_EXCHANGE:
    case HONE_ATOMIC_COMPARE:
        return value;
    default:
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "bits of a float are updated atomically"));
    }
}

HONE_NORETURN static void fail_mixed(machine *m, hone_buffer id, const xexpr *like) {
    machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "'%s' is updated atomically as %s",
                               hone_func_buffer(m->func, id)->name, HONE_DTYPE_NAME(like->dtype)));
}

/* What stood there before is the value of the call. */
static double update_f(const xexpr *e, machine *m) {
    hone_atomic update = (hone_atomic)e->u.slot;
    int64_t at;
    const xexpr *like = e->args[2];
    double value = x_float(e->args[update == HONE_ATOMIC_COMPARE ? 3 : 2], m);
    double expected = update == HONE_ATOMIC_COMPARE ? x_float(e->args[2], m) : 0;
    hone_buffer id = place_of_pointer(m, e->args[1], &at);
    const xbuffer *b = &m->buffers[id];
    touch_atomically(m, id, at);
    if (!hone_dtype_is_float(b->dtype)) fail_mixed(m, id, like);
    double old = read_float(b->store, b->dtype, at);
    if (update != HONE_ATOMIC_COMPARE || old == expected) {
        write_float(b->store, b->dtype, at, updated_f(m, update, like, old, value));
    }
    return old;
}

static int64_t update_i(const xexpr *e, machine *m) {
    hone_atomic update = (hone_atomic)e->u.slot;
    int64_t at;
    const xexpr *like = e->args[2];
    if (x_is_float(like)) { /* the value of the call is not used */
        update_f(e, m);
        return 0;
    }
    int64_t value = x_int(e->args[update == HONE_ATOMIC_COMPARE ? 3 : 2], m);
    int64_t expected = update == HONE_ATOMIC_COMPARE ? x_int(e->args[2], m) : 0;
    hone_buffer id = place_of_pointer(m, e->args[1], &at);
    const xbuffer *b = &m->buffers[id];
    touch_atomically(m, id, at);
    if (!hone_dtype_equal(b->dtype, like->dtype)) fail_mixed(m, id, like);
    int64_t old = read_int(b->store, b->dtype, at);
    if (update != HONE_ATOMIC_COMPARE || old == expected) {
        write_int(b->store, b->dtype, at, updated_i(update, like, old, value));
    }
    return old;
}

/* ---- __dp4a(a, b, c = 0): four bytes each, as vectors or packed in 32 bits ---- */

static int64_t byte_of(const xexpr *e, machine *m, uint16_t k) {
    if (e->lanes == 1) {
        uint32_t word = (uint32_t)x_int(e, m) >> (8 * k) & 0xff;
        return e->is_unsigned ? (int64_t)word : (int64_t)(int8_t)(uint8_t)word;
    }
    m->lane = k;
    return x_int(e, m);
}

static int64_t dp4a(const xexpr *e, machine *m) {
    uint16_t keep = m->lane;
    uint64_t sum = e->count > 3 ? (uint64_t)x_int(e->args[3], m) : 0;
    for (uint16_t k = 0; k < 4; k++) {
        int64_t a = byte_of(e->args[1], m, k);
        sum += (uint64_t)(a * byte_of(e->args[2], m, k));
    }
    m->lane = keep;
    return wrap_to(e, (int64_t)sum);
}

static bool is_four_bytes(const xexpr *e) {
    return !x_is_float(e) && ((e->lanes == 4 && e->bits == 8) || (e->lanes == 1 && e->bits == 32));
}

bool choose_device_call(xexpr *x) {
    if (x->count == 0 || x->source->args[0]->kind != HONE_EXPR_STRING || x->lanes > 1) return false;
    const char *name = x->source->args[0]->u.s;
    bool is_dp4a = strcmp(name, "__dp4a") == 0 || strcmp(name, "dp4a") == 0;
    bool has_args = is_dp4a && (x->count == 3 || (x->count == 4 && !x_is_float(x->args[3])));
    if (has_args && !x_is_float(x) && is_four_bytes(x->args[1]) && is_four_bytes(x->args[2])) {
        x->eval.i = dp4a;
        return true;
    }
    hone_atomic update = hone_atomic_of(name, x->count);
    if (update == HONE_ATOMIC_NONE || (x_is_float(x) && !x_is_float(x->args[2]))) return false;
    x->u.slot = update;
    if (!x_is_float(x) && x_is_float(x->args[2])) x->type = X_I64; /* not used */
    if (x_is_float(x))
        x->eval.f = update_f;
    else
        x->eval.i = update_i;
    return true;
}
