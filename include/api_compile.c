/* include/api_compile.c - programs to libraries, and to loaded models; sizes and parameters bound.
 */
#include <hone/compile.h>

#include <string.h>

#include "compile/compile.h"
#include "compile/named_passes.h"
#include "include/api.h"
#include "include/api_host.h"
#include "runtime/model_load.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "support/os/scratch.h"
#include "target/target_read.h"

/* ---- binding ---- */

hone_status hone_api_bind_values(const hone_module *module, const hone_graph_options *values,
                                 hone_module **out_module) {
    static const char *const names[] = {"bind"};
    const hone_named_passes_options options = {.graph = *values};
    return hone_named_passes_run(module, names, 1, &options, out_module);
}

static hone_status bind(const hone_program *program, const hone_graph_options *values,
                        hone_program **out_program) {
    hone_module *made = NULL;
    HONE_TRY(hone_api_bind_values(hone_api_module(program), values, &made));
    *out_program = hone_api_program(made);
    return HONE_OK;
}

hone_error *hone_program_bind_sizes(const hone_program *program, size_t count,
                                    const char *const *sizes, hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(program);
    hone_dim_variants variants;
    hone_status st = hone_api_read_one_choice(count, sizes, &variants);
    if (!st) {
        const hone_graph_options values = {.dims = variants.items[0].dims,
                                           .dim_count = variants.items[0].dim_count};
        st = bind(program, &values, out_program);
    }
    hone_dim_variants_deinit(&variants);
    return hone_api_error(st);
}

static hone_status read_values(hone_arena *arena, size_t count, const hone_named_tensor *values,
                               hone_graph_weight **out_weights) {
    hone_graph_weight *weights = hone_arena_zalloc(arena, (count + 1) * sizeof *weights);
    hone_tensor *views = hone_arena_zalloc(arena, (count + 1) * sizeof *views);
    if (!weights || !views) return HONE_ERROR(HONE_CODE_NO_MEMORY, "parameters");
    for (size_t i = 0; i < count; i++) {
        if (!values[i].name) return HONE_ERROR(HONE_CODE_INVALID, "value %zu has no name", i);
        HONE_TRY(hone_api_view(values[i].tensor, values[i].name, &views[i]));
        weights[i] = (hone_graph_weight){values[i].name, &views[i]};
    }
    *out_weights = weights;
    return HONE_OK;
}

hone_error *hone_program_bind_parameters(const hone_program *program, size_t count,
                                         const hone_named_tensor *values,
                                         hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(program);
    if (count) HONE_API_NEED(values);
    hone_graph_options options = {.weight_count = count};
    hone_graph_weight *weights = NULL;
    hone_arena *arena = hone_arena_create(4096);
    if (!arena) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "parameters"));
    hone_status st = read_values(arena, count, values, &weights);
    options.weights = weights;
    if (!st) st = bind(program, &options, out_program);
    hone_arena_destroy(arena);
    return hone_api_error(st);
}

/* ---- compiling ---- */

/* What a compilation has open. */
typedef struct job {
    const hone_compilation_options *o;
    const hone_variant_options *allowed; /* NULL: not said */
    hone_arena *arena;
    hone_db *db;
    hone_builder *builder;
    hone_dim_variants variants;
    hone_compile_options options;
    hone_compile_result result;
} job;

static hone_status find_weights(const char *text, hone_compile_weights *out) {
    static const char *const names[] = {"auto", "embed", "beside"};
    for (size_t i = 0; text && i < HONE_COUNT(names); i++) {
        if (strcmp(names[i], text) != 0) continue;
        *out = (hone_compile_weights)i;
        return HONE_OK;
    }
    if (!text) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "weights is '%s', must be auto, embed or beside", text);
}

static hone_status find_emit(const char *text, hone_compile_emit *out) {
    if (!text || hone_compile_emit_parse(text, out)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "emit is '%s', must be so, a, obj, c, llvm, asm or program", text);
}

static hone_status open_builder(job *j) {
    hone_builder_local_options options = {.workers = 1, .unsandboxed = j->o->unsandboxed != 0};
    HONE_TRY(hone_api_find_program(j->arena, j->o->programs, "hone-worker", &options.worker_path));
    return hone_builder_create_local(&options, &j->builder);
}

/* Said in vain is a mistake; which variants there may be is of default schedules as well. */
static hone_status read_allowed(job *j) {
    const hone_variant_options *allowed = j->allowed;
    bool is_of_records = allowed && allowed->variant_count;
    bool is_said = is_of_records || (allowed && (allowed->variants || allowed->max_error));
    HONE_TRY(hone_api_read_variants(allowed, j->arena, &j->options.variant_rules));
    if (j->o->no_schedule ? !is_said : !is_of_records || j->o->database) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "variants say nothing about kernels without %s",
                      j->o->no_schedule ? "a schedule" : "records: database is NULL");
}

static hone_status open_job(job *j, const char *output) {
    const hone_compilation_options *o = j->o;
    hone_compile_options *to = &j->options;
    *to = (hone_compile_options){.output = output,
                                 .func = o->function,
                                 .no_schedule = o->no_schedule != 0,
                                 .reschedule = o->reschedule != 0,
                                 .exact = o->exact != 0,
                                 .variants = &j->variants};
    j->arena = hone_arena_create(4096);
    if (!j->arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "compile");
    HONE_TRY(read_allowed(j));
    HONE_TRY(find_emit(o->emit, &to->emit));
    HONE_TRY(find_weights(o->weights, &to->weights));
    if (o->threads < 0 || o->threads > 1024) {
        return HONE_ERROR(HONE_CODE_INVALID, "threads is %d, must be from 0 to 1024",
                          (int)o->threads);
    }
    HONE_TRY(hone_target_read(o->target, o->threads, &to->target));
    HONE_TRY(hone_api_read_sizes(o->size_count, o->sizes, &j->variants));
    if (o->database) {
        hone_db_options db = {.path = o->database, .mode = HONE_DB_READ};
        HONE_TRY(hone_db_open_sqlite(&db, &j->db));
    }
    to->db = j->db;
    HONE_TRY(open_builder(j));
    to->builder = j->builder;
    return HONE_OK;
}

static void close_job(job *j) {
    if (j->result.arena) hone_compile_result_deinit(&j->result);
    hone_builder_release(j->builder);
    hone_db_close(j->db);
    hone_dim_variants_deinit(&j->variants);
    hone_arena_destroy(j->arena);
}

static hone_status compile(const hone_program *program, const hone_compilation_options *o,
                           const hone_variant_options *variants, const char *output,
                           hone_str *report) {
    job j = {.o = o, .allowed = variants};
    hone_status st = open_job(&j, output);
    if (!st) st = hone_compile_module(hone_api_module(program), &j.options, &j.result);
    if (!st && report) hone_compile_result_print_json(&j.result, report);
    close_job(&j);
    return st;
}

hone_error *hone_program_compile_with(const hone_program *program,
                                      const hone_compilation_options *options,
                                      const hone_variant_options *variants, char **out_report) {
    if (out_report) *out_report = NULL;
    HONE_API_NEED(program);
    HONE_API_NEED(options);
    const char *output = options->output;
    HONE_API_NEED(output);
    hone_str report = {0};
    hone_status st = compile(program, options, variants, output, out_report ? &report : NULL);
    if (!st && out_report) st = hone_api_take_text(&report, out_report);
    hone_str_deinit(&report);
    return hone_api_error(st);
}

hone_error *hone_program_compile(const hone_program *program,
                                 const hone_compilation_options *options, char **out_report) {
    return hone_program_compile_with(program, options, NULL, out_report);
}

/* ---- to a loaded model ---- */

/* A library that is loaded needs its file no more: weights are inside. */
static hone_status build_in(const char *folder, const hone_program *program,
                            const hone_compilation_options *options,
                            const hone_variant_options *variants, hone_loaded_model **out) {
    hone_compilation_options inside = *options;
    if (!inside.weights) inside.weights = "embed";
    char *output = hone_path_join(folder, "model"), *library = hone_path_join(folder, "model.so");
    hone_status st = output && library ? compile(program, &inside, variants, output, NULL)
                                       : HONE_ERROR(HONE_CODE_NO_MEMORY, "compile");
    if (!st) st = hone_loaded_model_open(library, 0, out);
    hone_free(output);
    hone_free(library);
    return st;
}

static hone_status build_without_files(const hone_program *program,
                                       const hone_compilation_options *options,
                                       const hone_variant_options *variants,
                                       hone_loaded_model **out) {
    hone_scratch folder;
    if (options->weights && strcmp(options->weights, "embed") != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "weights is '%s', without output they are embedded",
                          options->weights);
    }
    HONE_TRY(hone_scratch_open("hone-building", &folder));
    hone_status st = build_in(folder.path, program, options, variants, out);
    return hone_status_join(st, hone_scratch_close(&folder));
}

static hone_status build_at_output(const hone_program *program,
                                   const hone_compilation_options *options,
                                   const hone_variant_options *variants, hone_loaded_model **out) {
    hone_str library = {0};
    HONE_TRY(compile(program, options, variants, options->output, NULL));
    hone_str_printf(&library, "%s.so", options->output);
    hone_status st = hone_str_check(&library);
    if (!st) st = hone_loaded_model_open(hone_str_text(&library), 0, out);
    hone_str_deinit(&library);
    return st;
}

hone_error *hone_program_build_with(const hone_program *program,
                                    const hone_compilation_options *options,
                                    const hone_variant_options *variants, hone_model **out_model) {
    static const hone_compilation_options none = {0};
    HONE_API_NEED(out_model);
    *out_model = NULL;
    HONE_API_NEED(program);
    if (!options) options = &none;
    hone_target target;
    hone_loaded_model *model = NULL;
    hone_status st = hone_target_read(options->target, options->threads, &target);
    if (!st) st = hone_target_check_here(&target);
    if (!st && options->emit && strcmp(options->emit, "so") != 0)
        st =
            HONE_ERROR(HONE_CODE_INVALID, "emit is '%s', a model is loaded from so", options->emit);
    if (!st) {
        st = options->output ? build_at_output(program, options, variants, &model)
                             : build_without_files(program, options, variants, &model);
    }
    if (!st) *out_model = (hone_model *)model;
    return hone_api_error(st);
}

hone_error *hone_program_build(const hone_program *program, const hone_compilation_options *options,
                               hone_model **out_model) {
    return hone_program_build_with(program, options, NULL, out_model);
}
