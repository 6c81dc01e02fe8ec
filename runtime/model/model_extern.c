/* runtime/model/model_extern.c - steps of a model that call external functions. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/model/driver_impl.h"
#include "runtime/model/model_rt.h"

void *hone_mt_find_extern(const hone_rt *rt, const char *name) {
    const hone_mt_call *call = (const hone_mt_call *)(const void *)rt;
    void *found = call->base->find_extern ? call->base->find_extern(call->base, name) : NULL;
    return found ? found : hone_model_rt_find_symbol(RTLD_DEFAULT, name);
}

static void *find_packed(const hone_mt_call *call, const char *name) {
    char of_tensors[256];
    void *found = hone_mt_find_extern(&call->rt, name);
    int length = snprintf(of_tensors, sizeof of_tensors, "%s%s", name, HONE_EXTERN_DLPACK_ENDING);
    bool fits = length >= 0 && (size_t)length < sizeof of_tensors;
    return found || !fits ? found : hone_mt_find_extern(&call->rt, of_tensors);
}

typedef struct missing {
    char names[256]; /* "'env.dense', 'env.relu'" */
    size_t length;
    int32_t count;
} missing;

static void add_missing(missing *m, const char *name) {
    char quoted[128];
    int length = snprintf(quoted, sizeof quoted, "%s'%.100s'", m->count ? ", " : "", name);
    if (strstr(m->names, quoted + (m->count ? 2 : 0))) return; /* called twice */
    m->count++;
    if (length < 0 || m->length + (size_t)length >= sizeof m->names) return;
    memcpy(m->names + m->length, quoted, (size_t)length + 1);
    m->length += (size_t)length;
}

/* All that are missing are told at once, with the two forms that the first may have. */
static int32_t not_found(const hone_mt_call *call, const char *first) {
    missing m = {0};
    for (int32_t i = 0; i < call->plan->step_count; i++) {
        const hone_mt_step *step = &call->plan->steps[i];
        bool is_extern = step->kind == HONE_MT_EXTERN;
        if (is_extern && !find_packed(call, step->name)) add_missing(&m, step->name);
    }
    char c_name[64];
    snprintf(c_name, sizeof c_name, "%s", first);
    for (char *at = c_name; *at; at++)
        if (*at == '.') *at = '_';
    return hone_mt_fail(HONE_MODEL_NO_EXTERN,
                        "external function%s %s %s not found: int32_t %s(void *const *args, const "
                        "int64_t *const *shapes, const int32_t *ranks, int32_t count), or int32_t "
                        "%s%s(DLTensor *const *args, int32_t count)",
                        m.count > 1 ? "s" : "", m.names, m.count > 1 ? "were" : "was", c_name,
                        c_name, HONE_EXTERN_DLPACK_ENDING);
}

int32_t hone_mt_run_extern(hone_mt_call *call, const hone_mt_step *step, hone_mt_frame *frame,
                           int32_t *out_code) {
    void *found = find_packed(call, step->name);
    *out_code = 0;
    if (!found) return not_found(call, step->name);
    int64_t *dims = frame->dims;
    for (int32_t i = 0; i < step->arg_count; i++) {
        const hone_mt_tensor *t = &call->plan->tensors[step->args[i]];
        frame->shapes[i] = dims;
        frame->ranks[i] = t->rank;
        frame->ranks[step->arg_count + i] = t->type;
        for (int32_t d = 0; d < t->rank; d++)
            *dims++ = frame->values[t->shape[d]];
    }
    hone_extern function;
    memcpy(&function, &found, sizeof function); /* ISO C has no cast for this */
    *out_code = function(frame->args, frame->shapes, frame->ranks, step->arg_count);
    return HONE_MODEL_OK;
}
