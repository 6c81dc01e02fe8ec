/* compile/compile.c - the order of things. */
#include "compile/compile.h"

#include <assert.h>
#include <string.h>

#include "builder/build_intrins.h"
#include "compile/parts.h"
#include "ir/verify/verify.h"
#include "support/os/fs.h"

enum { ARENA_BYTES = 1 << 16 };

static bool is_for_models(const hone_target *target) {
    return hone_target_makes_code(target) || target->kind == HONE_TARGET_CUDA ||
           target->kind == HONE_TARGET_OPENCL;
}

static hone_status check(const hone_compile_options *options) {
    const char *name = options->output ? hone_path_basename(options->output) : "";
    if (!name[0]) return HONE_ERROR(HONE_CODE_INVALID, "the output has no name");
    bool is_library = hone_compile_emits[options->emit].facts & HONE_EMITS_LIBRARY;
    if (is_library && !is_for_models(&options->target)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "libraries are made for CPUs, cuda and opencl, not for '%s'",
                          hone_target_kind_name(options->target.kind));
    }
    return hone_target_check(&options->target);
}

static const char *target_text(const hone_target *target, hone_arena *arena) {
    hone_str text = {0};
    hone_target_print(target, &text);
    const char *kept = hone_arena_strdup(arena, hone_str_text(&text));
    hone_str_deinit(&text);
    return kept;
}

static hone_status begin(parts *p, const hone_compile_options *options, hone_arena *arena) {
    p->options = options;
    p->arena = arena;
    p->host = options->target;
    if (parts_is_for_gpu(p)) HONE_TRY(hone_target_detect(&p->host));
    p->target_text = target_text(&options->target, arena);
    p->host_text = target_text(&p->host, arena);
    p->prefix = parts_identifier(arena, hone_path_basename(options->output));
    if (!p->prefix || !p->target_text || !p->host_text) return parts_no_memory();
    HONE_TRY(hone_build_intrins_open(options->intrin_count, options->intrins, &p->intrins));
    HONE_TRY(hone_record_chooser_create(options->db, &options->target, p->intrins, &p->chooser));
    hone_record_chooser_allow(p->chooser, &options->variant_rules);
    return HONE_OK;
}

static hone_status keep_facts(const parts *p, hone_compile_result *result) {
    hone_compile_kernel *kernels =
        hone_arena_alloc(p->arena, (p->kernels.count + 1) * sizeof *kernels);
    if (!kernels) return parts_no_memory();
    for (size_t i = 0; i < p->kernels.count; i++) {
        kernels[i] = p->kernels.data[i].facts;
        result->counts[kernels[i].source]++;
        result->translated += kernels[i].match == HONE_RECORD_TRANSLATED;
    }
    result->kernels = kernels;
    result->kernel_count = (uint32_t)p->kernels.count;
    result->weights_bytes = p->weights_bytes;
    result->left_out = p->left_out.said;
    for (size_t e = 0; e < p->entries.count; e++) {
        result->plan_count += (uint32_t)p->entries.data[e].plans.count;
        for (size_t n = 0; n < p->entries.data[e].plans.count; n++) {
            int64_t bytes = p->entries.data[e].plans.data[n].workspace_bytes;
            bool is_more = bytes < 0 || bytes > result->workspace_bytes;
            if (is_more && result->workspace_bytes >= 0) result->workspace_bytes = bytes;
        }
    }
    return HONE_OK;
}

static hone_status choose(parts *p, const hone_module *module, hone_compile_result *result) {
    HONE_TRY(hone_check_module(module)); /* what is ill-formed may write anywhere */
    HONE_TRY(begin(p, p->options, result->arena));
    HONE_TRY(parts_collect(p, module));
    return parts_choose_kernels(p);
}

static hone_status make(parts *p, const hone_module *module, hone_compile_result *result) {
    HONE_TRY(choose(p, module, result));
    bool is_library = hone_compile_emits[p->options->emit].facts & HONE_EMITS_LIBRARY;
    HONE_TRY(parts_build_kernels(p));
    HONE_TRY(parts_make_output_dir(p));
    if (is_library) parts_begin_weights(p);
    HONE_TRY(parts_lay_weights(p));
    HONE_TRY(parts_make_launches(p));
    HONE_TRY(keep_facts(p, result));
    return parts_write(p, result);
}

static hone_status explain(parts *p, const hone_module *module, hone_compile_result *result) {
    HONE_TRY(choose(p, module, result));
    return keep_facts(p, result);
}

static hone_status run(const hone_module *module, const hone_compile_options *options,
                       hone_status (*work)(parts *, const hone_module *, hone_compile_result *),
                       hone_compile_result *out_result) {
    assert(module && options && out_result);
    memset(out_result, 0, sizeof *out_result);
    HONE_TRY(check(options));
    out_result->arena = hone_arena_create(ARENA_BYTES);
    if (!out_result->arena) return parts_no_memory();
    parts p = {.options = options};
    hone_status st = work(&p, module, out_result);
    parts_deinit(&p);
    return st;
}

hone_status hone_compile_module(const hone_module *module, const hone_compile_options *options,
                                hone_compile_result *out_result) {
    return run(module, options, make, out_result);
}

hone_status hone_compile_explain(const hone_module *module, const hone_compile_options *options,
                                 hone_compile_result *out_result) {
    return run(module, options, explain, out_result);
}

void hone_compile_result_deinit(hone_compile_result *result) {
    hone_arena_destroy(result->arena);
    memset(result, 0, sizeof *result);
}
