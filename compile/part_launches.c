/* compile/part_launches.c - kernels of a GPU and their launches, as a plan has them: what a
 * manifest computes of sizes (measure/launch.h) become values of the plan, where they are folded
 * and shared. */
#include "compile/parts.h"
#include "runtime/model/model_device.h"

_Static_assert(HONE_MT_DEVICE_ALIGNMENT % HONE_PLAN_ALIGN == 0, "plans can have it");
_Static_assert((int)HONE_MT_MAX_PARAMS == (int)HONE_LAUNCH_MAX_ARGS,
               "models take what kernels have");

bool parts_is_for_gpu(const parts *p) {
    bool is_library = hone_compile_emits[p->options->emit].facts & HONE_EMITS_LIBRARY;
    return is_library && hone_target_is_gpu(&p->options->target);
}

bool parts_is_launched(const parts *p, const part_kernel *k) {
    return parts_is_for_gpu(p) && !k->on_host;
}

int64_t parts_alignment(const parts *p) {
    return parts_is_for_gpu(p) ? HONE_MT_DEVICE_ALIGNMENT : HONE_PLAN_ALIGN;
}

int32_t parts_threads(const parts *p) {
    for (size_t i = 0; i < p->kernels.count; i++) {
        if (!parts_is_launched(p, &p->kernels.data[i])) return p->host.num_threads;
    }
    return parts_is_for_gpu(p) ? 1 : p->host.num_threads;
}

typedef struct launch_maker {
    parts *p;
    part_plan *plan;
    part_step *step;
    const hone_manifest *from;
    int32_t *values; /* by value of the manifest: that of the plan */
} launch_maker;

static hone_mt_op op_of(hone_launch_op op) {
    static const hone_mt_op ops[] = {
        [HONE_LAUNCH_ADD] = HONE_MT_ADD, [HONE_LAUNCH_SUB] = HONE_MT_SUB,
        [HONE_LAUNCH_MUL] = HONE_MT_MUL, [HONE_LAUNCH_DIV] = HONE_MT_DIV,
        [HONE_LAUNCH_MOD] = HONE_MT_MOD, [HONE_LAUNCH_MIN] = HONE_MT_MIN,
        [HONE_LAUNCH_MAX] = HONE_MT_MAX,
    };
    return ops[op];
}

static hone_status make_value(launch_maker *m, size_t i) {
    const hone_launch_value *v = &m->from->values[i];
    int32_t *out = &m->values[i];
    if (v->op == HONE_LAUNCH_CONST) {
        *out = part_value_const(m->plan, v->k);
    } else if (v->op != HONE_LAUNCH_SIZE) {
        *out = part_value_make(m->plan, op_of(v->op), m->values[v->a], m->values[v->b]);
    } else if (v->a < 0 || (uint32_t)v->a >= m->step->size_count) {
        return HONE_ERROR(HONE_CODE_INTERNAL, "'%s': its launches name size %d of %u",
                          m->step->name, (int)v->a, m->step->size_count);
    } else {
        *out = m->step->sizes[v->a];
    }
    return *out < 0 ? parts_no_memory() : HONE_OK;
}

static hone_status make_values(launch_maker *m) {
    m->values = hone_arena_alloc(m->p->arena, (m->from->value_count + 1) * sizeof *m->values);
    if (!m->values) return parts_no_memory();
    for (size_t i = 0; i < m->from->value_count; i++)
        HONE_TRY(make_value(m, i));
    return HONE_OK;
}

static hone_status make_params(launch_maker *m, const hone_launch *from, hone_mt_launch *to) {
    static const hone_mt_param_kind kinds[] = {
        [HONE_LAUNCH_ARG_BUFFER] = HONE_MT_PARAM_TENSOR,
        [HONE_LAUNCH_ARG_SCRATCH] = HONE_MT_PARAM_SCRATCH,
        [HONE_LAUNCH_ARG_VALUE] = HONE_MT_PARAM_VALUE,
    };
    hone_mt_param *params = hone_arena_zalloc(m->p->arena, (from->arg_count + 1) * sizeof *params);
    if (!params) return parts_no_memory();
    for (size_t i = 0; i < from->arg_count; i++) {
        const hone_launch_arg *arg = &from->args[i];
        bool is_value = arg->kind == HONE_LAUNCH_ARG_VALUE;
        bool is_buffer = arg->kind == HONE_LAUNCH_ARG_BUFFER;
        if (is_buffer && (uint32_t)arg->index >= m->step->arg_count) {
            return HONE_ERROR(HONE_CODE_INTERNAL, "'%s': its launches name argument %d of %u",
                              m->step->name, (int)arg->index, m->step->arg_count);
        }
        params[i] = (hone_mt_param){.kind = (int32_t)kinds[arg->kind],
                                    .index = is_value ? m->values[arg->index] : arg->index};
    }
    to->params = params;
    to->param_count = (int32_t)from->arg_count;
    return HONE_OK;
}

static hone_status make_launch(launch_maker *m, const hone_launch *from, hone_mt_launch *to) {
    to->symbol = from->symbol;
    to->program = m->p->kernels.data[m->step->kernel].code_number;
    for (int d = 0; d < 3; d++) {
        to->grid[d] = m->values[from->grid[d]];
        to->block[d] = m->values[from->block[d]];
    }
    to->shared_bytes = m->values[from->dynamic_shared];
    return make_params(m, from, to);
}

static hone_status make_scratch(launch_maker *m) {
    int32_t *scratch =
        hone_arena_alloc(m->p->arena, (m->from->scratch_count + 1) * sizeof *scratch);
    if (!scratch) return parts_no_memory();
    for (size_t i = 0; i < m->from->scratch_count; i++)
        scratch[i] = m->values[m->from->scratch[i]];
    m->step->scratch = scratch;
    m->step->scratch_count = (uint32_t)m->from->scratch_count;
    return HONE_OK;
}

static hone_status make_launches(launch_maker *m) {
    size_t count = m->from->launch_count;
    hone_mt_launch *launches = hone_arena_zalloc(m->p->arena, (count + 1) * sizeof *launches);
    if (!launches) return parts_no_memory();
    HONE_TRY(make_values(m));
    for (size_t i = 0; i < count; i++)
        HONE_TRY(make_launch(m, &m->from->launches[i], &launches[i]));
    m->step->kind = HONE_MT_LAUNCH;
    m->step->launches = launches;
    m->step->launch_count = (uint32_t)count;
    return make_scratch(m);
}

static hone_status make_plan(parts *p, part_plan *plan) {
    for (size_t i = 0; i < plan->steps.count; i++) {
        part_step *step = &plan->steps.data[i];
        if (step->kind != HONE_MT_KERNEL) continue;
        const part_kernel *k = &p->kernels.data[step->kernel];
        launch_maker m = {.p = p, .plan = plan, .step = step, .from = &k->launches};
        if (parts_is_launched(p, k)) HONE_TRY(make_launches(&m));
    }
    return HONE_OK;
}

hone_status parts_make_launches(parts *p) {
    int32_t count = 0;
    for (size_t i = 0; i < p->kernels.count; i++) {
        part_kernel *k = &p->kernels.data[i];
        if (k->launches.launch_count) k->code_number = count++;
    }
    for (size_t e = 0; e < p->entries.count; e++) {
        for (size_t n = 0; n < p->entries.data[e].plans.count; n++)
            HONE_TRY(make_plan(p, &p->entries.data[e].plans.data[n]));
    }
    return HONE_OK;
}
