/* tools/run/model_profile.c - see model_profile.h. */
#include "tools/run/model_profile.h"

#include <math.h>
#include <string.h>

void hone_model_profile_init(hone_model_profile *profile, hone_arena *arena) {
    *profile = (hone_model_profile){.arena = arena, .is_first = true};
}

void hone_model_profile_deinit(hone_model_profile *profile) {
    for (size_t i = 0; i < profile->kernels.count; i++)
        hone_vec_deinit(&profile->kernels.data[i].times_ns);
    hone_vec_deinit(&profile->kernels);
}

static bool is_kernel(const hone_kernel_profile *kernel, const hone_kernel_seen *seen) {
    return strcmp(kernel->workload, seen->workload) == 0 &&
           strcmp(kernel->origin, seen->origin) == 0;
}

static hone_kernel_profile *add(hone_model_profile *profile, const hone_kernel_seen *seen) {
    hone_kernel_profile kernel = {.name = hone_arena_strdup(profile->arena, seen->name),
                                  .workload = hone_arena_strdup(profile->arena, seen->workload),
                                  .origin = hone_arena_strdup(profile->arena, seen->origin)};
    bool ok = kernel.name && kernel.workload && kernel.origin;
    if (!ok || !hone_vec_push(&profile->kernels, kernel)) return NULL;
    return &profile->kernels.data[profile->kernels.count - 1];
}

/* Calls of a model come in one order: the kernel behind the last one is looked at first. */
static hone_kernel_profile *find(hone_model_profile *profile, const hone_kernel_seen *seen) {
    for (size_t i = 0; i < profile->kernels.count; i++) {
        size_t at = (profile->next + i) % profile->kernels.count;
        if (!is_kernel(&profile->kernels.data[at], seen)) continue;
        profile->next = at + 1;
        return &profile->kernels.data[at];
    }
    return add(profile, seen);
}

static void see(void *ctx, const hone_kernel_seen *seen) {
    hone_model_profile *profile = ctx;
    hone_kernel_profile *kernel = find(profile, seen);
    if (!kernel) {
        profile->failed = true;
        return;
    }
    kernel->call_ns += (double)seen->ns;
    if (!profile->is_first) return;
    kernel->calls++;
    kernel->flops += seen->flops;
    kernel->bytes += (double)seen->bytes;
}

static void end_call(hone_model_profile *profile, bool is_first_of_round) {
    for (size_t i = 0; i < profile->kernels.count; i++) {
        hone_kernel_profile *k = &profile->kernels.data[i];
        k->round_ns = is_first_of_round ? k->call_ns : fmin(k->round_ns, k->call_ns);
        k->call_ns = 0;
    }
    profile->is_first = false;
    profile->next = 0;
}

static hone_status end_round(hone_model_profile *profile, const char *path) {
    bool ok = !profile->failed;
    if (profile->kernels.count == 0) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "%s: no kernel ran: it has none, or an older hone compiled it", path);
    }
    for (size_t i = 0; i < profile->kernels.count; i++) {
        hone_kernel_profile *k = &profile->kernels.data[i];
        ok &= hone_vec_push(&k->times_ns, k->round_ns);
    }
    return ok ? HONE_OK : HONE_NO_MEMORY("profile");
}

static hone_status run_calls(hone_model_profile *profile, hone_timed_model *model, int64_t calls) {
    for (int64_t i = 0; i < calls; i++) {
        double ns;
        HONE_TRY(hone_timed_model_run(model, 1, &ns));
        end_call(profile, i == 0);
    }
    return end_round(profile, model->path);
}

hone_status hone_model_profile_round(hone_model_profile *profile, hone_timed_model *model,
                                     int64_t calls) {
    HONE_TRY(hone_loaded_model_observe(model->model, model->clock, see, profile));
    hone_status st = run_calls(profile, model, calls);
    return hone_status_join(st, hone_loaded_model_observe(model->model, NULL, NULL, NULL));
}

const hone_kernel_profile *hone_model_profile_find(const hone_model_profile *profile,
                                                   const char *workload) {
    for (size_t i = 0; i < profile->kernels.count; i++) {
        if (strcmp(profile->kernels.data[i].workload, workload) == 0)
            return &profile->kernels.data[i];
    }
    return NULL;
}
