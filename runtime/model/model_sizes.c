/* runtime/model/model_sizes.c - what follows from the shapes of a call's tensors: the plan that
 * takes them, values that steps use, what must hold of them, shapes of outputs. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/driver_impl.h"

/* ---- values ---- */

static int64_t floor_div(int64_t a, int64_t b) {
    return b > 0 ? a / b - (a % b != 0 && a < 0) : -1;
}

int64_t hone_mt_arithmetic(int32_t op, int64_t a, int64_t b) {
    int64_t out = -1;
    switch ((hone_mt_op)op) {
    case HONE_MT_ADD:
        return __builtin_add_overflow(a, b, &out) ? -1 : out;
    case HONE_MT_SUB:
        return __builtin_sub_overflow(a, b, &out) ? -1 : out;
    case HONE_MT_MUL:
        return __builtin_mul_overflow(a, b, &out) ? -1 : out;
    case HONE_MT_DIV:
        return floor_div(a, b);
    case HONE_MT_MOD:
        return b > 0 ? a - floor_div(a, b) * b : -1;
    case HONE_MT_MIN:
        return a < b ? a : b;
    case HONE_MT_MAX:
        return a > b ? a : b;
    default:
        return -1;
    }
}

/* What a kernel gets for a scalar parameter: an integer, or a float as the bits of a double. */
static int64_t scalar_bits(const DLTensor *t) {
    const char *at = (const char *)t->data + t->byte_offset;
    int64_t i = 0;
    double f = 0;
    float f32;
    int32_t i32;
    int16_t i16;
    switch (t->dtype.code * 256 + t->dtype.bits) {
    case 2 * 256 + 32:
        memcpy(&f32, at, sizeof f32);
        f = (double)f32;
        memcpy(&i, &f, sizeof i);
        return i;
    case 0 * 256 + 32:
        memcpy(&i32, at, sizeof i32);
        return i32;
    case 0 * 256 + 16:
        memcpy(&i16, at, sizeof i16);
        return i16;
    case 0 * 256 + 8:
        return *(const int8_t *)at;
    default: /* doubles as they are; unsigned and bool are in the low bytes */
        memcpy(&i, at, (size_t)(t->dtype.bits + 7) / 8 < 8 ? (size_t)(t->dtype.bits + 7) / 8 : 8);
        return i;
    }
}

/* What is known from the ports. */
void hone_mt_compute_values(const hone_mt_call *call, int64_t *values) {
    const hone_mt_plan *plan = call->plan;
    for (int32_t i = 0; i < plan->value_count; i++) {
        const hone_mt_value *v = &plan->values[i];
        if (v->phase > 0) continue;
        if (v->op == HONE_MT_CONST) {
            values[i] = v->k;
        } else if (v->op == HONE_MT_DIM) {
            const DLTensor *t = hone_mt_port_tensor(call, v->a);
            values[i] = v->b < t->ndim ? t->shape[v->b] : -1;
        } else if (v->op == HONE_MT_SCALAR) {
            const DLTensor *t = hone_mt_port_tensor(call, v->a);
            values[i] = t->data && !hone_mt_is_on_device(call, t) ? scalar_bits(t) : -1;
        } else {
            values[i] = hone_mt_arithmetic(v->op, values[v->a], values[v->b]);
        }
    }
}

/* Dimensions that are computed from others ("2 * N") and sizes that appear twice; check_dims has
 * seen the others. */
int32_t hone_mt_check_shapes(const hone_mt_call *call, const int64_t *values) {
    int32_t ports = call->info->input_count + call->info->output_count;
    for (int32_t p = 0; p < ports; p++) {
        const DLTensor *t = hone_mt_port_tensor(call, p);
        const hone_model_port *info = hone_mt_port_info(call, p);
        for (int32_t d = 0; info->sized != HONE_MODEL_MADE && d < t->ndim; d++) {
            if (info->shape[d] >= 0) continue;
            int32_t value = call->plan->ports[p].shape[d];
            int64_t want = values[value];
            if (call->plan->values[value].phase > 0 || t->shape[d] == want) continue;
            return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT,
                                "%s '%s': dimension %d is %lld, wants %lld with these inputs",
                                hone_mt_port_kind(call, p), info->name, (int)d,
                                (long long)t->shape[d], (long long)want);
        }
    }
    return HONE_MODEL_OK;
}

static bool is_so(int32_t relation, int64_t got, int64_t wanted) {
    if (relation == HONE_MT_AT_LEAST) return got >= wanted;
    return relation == HONE_MT_AT_MOST ? got <= wanted : got == wanted;
}

/* What calls inside of the plan demand of the sizes. */
int32_t hone_mt_check_calls(const hone_mt_call *call, const int64_t *values, int32_t phase) {
    static const char *const words[] = {"", "at least ", "at most "};
    for (int32_t i = 0; i < call->plan->check_count; i++) {
        const hone_mt_check *c = &call->plan->checks[i];
        if (c->phase != phase || is_so(c->relation, values[c->got], values[c->wanted])) continue;
        return hone_mt_fail(
            HONE_MODEL_BAD_ARGUMENT, "'%s': %s is %lld, wants %s%lld with these inputs", c->place,
            c->what, (long long)values[c->got], words[c->relation], (long long)values[c->wanted]);
    }
    return HONE_MODEL_OK;
}

/* Of the first ports: all of them, or the inputs alone. */
static bool guards_hold(const hone_mt_call *call, const hone_mt_plan *plan, int32_t port_count) {
    for (int32_t i = 0; i < plan->guard_count; i++) {
        const hone_mt_guard *g = &plan->guards[i];
        if (g->port >= port_count) continue;
        const DLTensor *t = hone_mt_port_tensor(call, g->port);
        if (g->dim >= t->ndim || t->shape[g->dim] != g->wanted) return false;
    }
    return true;
}

/* The first of the ports that has a dimension of 0 which the plan takes for a size, -1: none. What
 * a kernel makes of nothing is known only where that was compiled for. */
static int32_t find_empty(const hone_mt_call *call, const hone_mt_plan *plan, int32_t port_count,
                          int32_t *out_dim) {
    for (int32_t p = 0; p < port_count; p++) {
        const DLTensor *t = hone_mt_port_tensor(call, p);
        const hone_model_port *info = hone_mt_port_info(call, p);
        for (int32_t d = 0; d < t->ndim && !hone_mt_is_sized_late(call, p); d++) {
            *out_dim = d;
            bool is_fixed = plan->values[plan->ports[p].shape[d]].op == HONE_MT_CONST;
            if (info->shape[d] < 0 && t->shape[d] == 0 && !is_fixed) return p;
        }
    }
    return -1;
}

static bool takes(const hone_mt_call *call, const hone_mt_plan *plan, int32_t port_count) {
    int32_t dim;
    return guards_hold(call, plan, port_count) && find_empty(call, plan, port_count, &dim) < 0;
}

static bool is_in_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does a text such as "n - 3" speak of the size? */
static bool speaks_of(const char *text, const char *size) {
    size_t length = strlen(size);
    for (const char *at = strstr(text, size); length && at; at = strstr(at + 1, size)) {
        bool begins = at == text || !is_in_word(at[-1]);
        if (begins && !is_in_word(at[length])) return true;
    }
    return false;
}

/* The sizes of the inputs that a dimension is computed of, as --shape has them: "n=3, m=4". */
static void tell_sizes(const hone_mt_call *call, const char *dim, char *out, size_t room) {
    size_t used = 0;
    for (int32_t p = 0; dim && p < call->info->input_count; p++) {
        const DLTensor *t = hone_mt_port_tensor(call, p);
        const hone_model_port *info = hone_mt_port_info(call, p);
        for (int32_t d = 0; d < t->ndim && used < room; d++) {
            const char *size = info->dim_names[d];
            if (!size || !speaks_of(dim, size) || (used && speaks_of(out, size))) continue;
            used += (size_t)snprintf(out + used, room - used, "%s%s=%lld", used ? ", " : "", size,
                                     (long long)t->shape[d]);
        }
    }
    if (!used) snprintf(out, room, "%s=0", dim ? dim : "it");
}

static int32_t no_plan(const hone_mt_call *call, const hone_mt_entry *entry, int32_t port_count) {
    for (int32_t i = 0; i < entry->plan_count; i++) {
        int32_t dim, port = -1;
        if (guards_hold(call, &entry->plans[i], port_count))
            port = find_empty(call, &entry->plans[i], port_count, &dim);
        if (port < 0) continue;
        char sizes[160];
        tell_sizes(call, hone_mt_port_info(call, port)->dim_names[dim], sizes, sizeof sizes);
        return hone_mt_fail(
            HONE_MODEL_BAD_ARGUMENT,
            "%s '%s': dimension %d is 0, must be at least 1 where the model was not "
            "compiled for %s",
            hone_mt_port_kind(call, port), hone_mt_port_info(call, port)->name, (int)dim, sizes);
    }
    return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT,
                        "the model was not compiled for inputs of these shapes");
}

int32_t hone_mt_choose_plan(hone_mt_call *call, const hone_mt_entry *entry) {
    int32_t ports = call->info->input_count + call->info->output_count;
    for (int32_t i = 0; i < entry->plan_count; i++) {
        if (!takes(call, &entry->plans[i], ports)) continue;
        call->plan = &entry->plans[i];
        return HONE_MODEL_OK;
    }
    return no_plan(call, entry, ports);
}

/* Before outputs have shapes: the general plan, the last one, where there is one; else the only
 * one that takes the inputs. */
static int32_t choose_plan_by_inputs(hone_mt_call *call, const hone_mt_entry *entry) {
    call->plan = NULL;
    for (int32_t i = 0; i < entry->plan_count; i++) {
        const hone_mt_plan *plan = &entry->plans[i];
        if (!takes(call, plan, call->info->input_count)) continue;
        if (call->plan && plan->guard_count) {
            return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT,
                                "the shapes of the outputs do not follow from the inputs");
        }
        call->plan = plan;
    }
    return call->plan ? HONE_MODEL_OK : no_plan(call, entry, call->info->input_count);
}

/* ---- shapes of outputs ---- */

static int64_t bound_of(const hone_model_port *port, int32_t dim) {
    return port->sized == HONE_MODEL_MADE ? -1 : port->shape[dim];
}

static int32_t fill_shapes(const hone_mt_call *call, const int64_t *values) {
    for (int32_t p = 0; p < call->info->output_count; p++) {
        int32_t port = call->info->input_count + p;
        DLTensor *t = call->outputs[p];
        for (int32_t d = 0; d < call->info->outputs[p].ndim; d++) {
            int32_t value = call->plan->ports[port].shape[d];
            bool is_late = call->plan->values[value].phase > 0;
            int64_t size = is_late ? bound_of(&call->info->outputs[p], d) : values[value];
            if (size < 0 && !is_late)
                return hone_mt_bad_port(call, port, "its shape does not follow from the inputs");
            t->shape[d] = size;
        }
        t->ndim = call->info->outputs[p].ndim;
        t->dtype = call->info->outputs[p].dtype;
    }
    return HONE_MODEL_OK;
}

int32_t hone_mt_output_shapes(hone_mt_model *model, DLTensor *const *inputs,
                              DLTensor *const *outputs, int32_t entry) {
    hone_mt_call call = {
        .info = &model->info->entries[entry],
        .device = hone_mt_device_of(model),
        .inputs = inputs,
        .outputs = outputs,
    };
    int32_t code = hone_mt_check_inputs(&call);
    if (!code) code = choose_plan_by_inputs(&call, &model->entries[entry]);
    if (code) return code;
    int64_t *values = malloc((size_t)(call.plan->value_count + 1) * sizeof *values);
    if (!values) return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory");
    hone_mt_compute_values(&call, values);
    code = fill_shapes(&call, values);
    free(values);
    return code;
}
