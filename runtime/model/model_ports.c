/* runtime/model/model_ports.c - do the tensors of a call fit the ports of its entry? */
#include <stdbool.h>
#include <stdio.h>

#include "runtime/model/driver_impl.h"

const char *hone_mt_port_kind(const hone_mt_call *call, int32_t port) {
    return port < call->info->input_count ? "input" : "output";
}

int32_t hone_mt_bad_port(const hone_mt_call *call, int32_t port, const char *what) {
    return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "%s '%s': %s", hone_mt_port_kind(call, port),
                        hone_mt_port_info(call, port)->name, what);
}

static bool is_type(DLDataType got, DLDataType want) {
    if (want.code == 6) { /* bool, also in older spellings */
        return (got.code == 6 || got.code == 1) && (got.bits == 8 || got.bits == 1) &&
               got.lanes == want.lanes;
    }
    return got.code == want.code && got.bits == want.bits && got.lanes == want.lanes;
}

static int32_t check_dims(const hone_mt_call *call, int32_t port, const DLTensor *t) {
    const hone_model_port *want = hone_mt_port_info(call, port);
    if (t->ndim != want->ndim) {
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "%s '%s' has %d dimensions, wants %d",
                            hone_mt_port_kind(call, port), want->name, (int)t->ndim,
                            (int)want->ndim);
    }
    if (t->ndim > 0 && !t->shape) return hone_mt_bad_port(call, port, "no shape");
    for (int32_t d = 0; d < t->ndim && !hone_mt_is_sized_late(call, port); d++) {
        if (want->shape[d] >= 0 ? t->shape[d] == want->shape[d] : t->shape[d] >= 0) continue;
        if (want->shape[d] < 0) {
            return hone_mt_fail(
                HONE_MODEL_BAD_ARGUMENT, "%s '%s': dimension %d is %lld, must be at least 0",
                hone_mt_port_kind(call, port), want->name, (int)d, (long long)t->shape[d]);
        }
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "%s '%s': dimension %d is %lld, wants %lld",
                            hone_mt_port_kind(call, port), want->name, (int)d,
                            (long long)t->shape[d], (long long)want->shape[d]);
    }
    return HONE_MODEL_OK;
}

static bool is_dense(const DLTensor *t) {
    int64_t stride = 1;
    for (int32_t d = t->ndim - 1; t->strides && d >= 0; d--) {
        if (t->shape[d] != 1 && t->strides[d] != stride) return false;
        stride *= t->shape[d];
    }
    return true;
}

/* "float64", "float32x4"; "type 99 of 8 bits" for what DLPack has no name for here. */
static const char *print_type(DLDataType type, char out[48]) {
    static const char *const names[] = {
        [0] = "int",
        [1] = "uint",
        [2] = "float",
        [3] = "handle",
        [4] = "bfloat",
        [6] = "bool",
        [7] = "float8_e3m4",
        [8] = "float8_e4m3",
        [9] = "float8_e4m3b11fnuz",
        [10] = "float8_e4m3fn",
        [11] = "float8_e4m3fnuz",
        [12] = "float8_e5m2",
        [13] = "float8_e5m2fnuz",
        [14] = "float8_e8m0fnu",
        [15] = "float6_e2m3fn",
        [16] = "float6_e3m2fn",
        [17] = "float4_e2m1fn",
    };
    const char *name = type.code < sizeof names / sizeof *names ? names[type.code] : NULL;
    char bits[8] = "", lanes[12] = "";
    bool has_bits = type.code < 5; /* the others have one size */
    if (has_bits) snprintf(bits, sizeof bits, "%d", (int)type.bits);
    if (type.lanes != 1) snprintf(lanes, sizeof lanes, "x%d", (int)type.lanes);
    if (name) {
        snprintf(out, 48, "%s%s%s", name, bits, lanes);
    } else {
        snprintf(out, 48, "type %d of %d bits%s", (int)type.code, (int)type.bits, lanes);
    }
    return out;
}

static bool has_elements(const DLTensor *t) {
    bool is_some = true;
    for (int32_t d = 0; d < t->ndim; d++)
        is_some &= t->shape[d] != 0;
    return is_some;
}

static int32_t check_port(const hone_mt_call *call, int32_t port) {
    const DLTensor *t = hone_mt_port_tensor(call, port);
    const hone_model_port *want = hone_mt_port_info(call, port);
    if (!t) return hone_mt_bad_port(call, port, "no tensor");
    if (want->sized == HONE_MODEL_MADE) return HONE_MODEL_OK;
    if (t->device.device_type != 1 && t->device.device_type != 3 &&
        !hone_mt_is_on_device(call, t)) {
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT,
                            "%s '%s' is on device type %d, wants the CPU%s%s",
                            hone_mt_port_kind(call, port), want->name, (int)t->device.device_type,
                            call->device ? " or " : "", call->device ? call->device->name : "");
    }
    if (!is_type(t->dtype, want->dtype)) {
        char type[48];
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "%s '%s' is %s, wants %s",
                            hone_mt_port_kind(call, port), want->name, print_type(t->dtype, type),
                            want->dtype_name);
    }
    int32_t code = check_dims(call, port, t);
    if (code) return code;
    bool is_late = hone_mt_is_sized_late(call, port);
    if (is_late ? t->strides != NULL : !is_dense(t))
        return hone_mt_bad_port(call, port, "not dense and row-major");
    bool has_data = t->data || (!is_late && !has_elements(t));
    return has_data ? HONE_MODEL_OK : hone_mt_bad_port(call, port, "no data");
}

int32_t hone_mt_check_ports(const hone_mt_call *call) {
    int32_t ports = call->info->input_count + call->info->output_count;
    if ((call->info->input_count && !call->inputs) ||
        (call->info->output_count && !call->outputs)) {
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "inputs or outputs are NULL");
    }
    for (int32_t p = 0; p < ports; p++) {
        int32_t code = check_port(call, p);
        if (code) return code;
    }
    return HONE_MODEL_OK;
}

/* A scalar is read before anything else is done, by the CPU. */
int32_t hone_mt_check_scalars(const hone_mt_call *call) {
    for (int32_t i = 0; call->device && i < call->plan->value_count; i++) {
        const hone_mt_value *v = &call->plan->values[i];
        if (v->op != HONE_MT_SCALAR) continue;
        if (hone_mt_is_on_device(call, hone_mt_port_tensor(call, v->a)))
            return hone_mt_bad_port(call, v->a, "a scalar must be on the CPU");
    }
    return HONE_MODEL_OK;
}

int32_t hone_mt_check_inputs(const hone_mt_call *call) {
    for (int32_t p = 0; p < call->info->input_count; p++) {
        const DLTensor *t = hone_mt_port_tensor(call, p);
        if (!t) return hone_mt_bad_port(call, p, "no tensor");
        int32_t code = check_dims(call, p, t);
        if (code) return code;
    }
    for (int32_t p = 0; p < call->info->output_count; p++) {
        if (!call->outputs[p] || (call->info->outputs[p].ndim && !call->outputs[p]->shape)) {
            return hone_mt_bad_port(call, call->info->input_count + p, "no tensor or no shape");
        }
    }
    return HONE_MODEL_OK;
}
