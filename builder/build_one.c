/* builder/build_one.c - text of program, trace and target to an artifact with its manifest.
 *
 *   program text ─► parse ─► trace applied ─► lower ─► back end (codegen/emits.def) ─► ld ─► .so
 *                                               └─ for a GPU: kernels and launches ─► text
 */
#include "builder/build_one.h"

#include <string.h>

#include "builder/build_intrins.h"
#include "builder/build_once.h"
#include "builder/c_import.h"
#include "builder/link.h"
#include "codegen/codegen.h"
#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "lower/device/launches.h"
#include "lower/ground/lower.h"
#include "lower/signature/signature.h"
#include "runtime/model/abi.h"
#include "schedule/intrin/tensor_intrin.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"

typedef struct build {
    const hone_build_request *request;
    hone_arena *arena;
    hone_build_result *result;
    hone_str *bytes;
    const hone_backend *backend;
    hone_target target;
    hone_module *module;          /* owned */
    hone_schedule *schedule;      /* owned */
    hone_tensor_intrins *intrins; /* owned */
    hone_func *func;              /* of module or schedule */
    hone_func *lowered;
    const hone_build_once *once; /* the lowered program in two parts; NULL: it is one */
    hone_launches launches;      /* of a GPU's program */
    hone_codegen_lines lines;    /* path NULL: not wanted */
} build;

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "build");
}

static bool emits(const build *b, hone_emit_facts fact) {
    return (b->backend->facts & fact) != 0;
}

static int64_t lap(int64_t *since) {
    int64_t now = hone_clock_now(hone_clock_system()), passed = now - *since;
    *since = now;
    return passed;
}

static hone_status read_program(build *b) {
    const char *text = b->request->program;
    if (b->request->threads > 0) b->target.num_threads = b->request->threads;
    HONE_TRY(hone_script_parse(text, strlen(text), "program", &b->module));
    const hone_member *member;
    HONE_TRY(hone_module_pick(b->module, b->request->func, &member));
    if (member->kind != HONE_MEMBER_FUNC) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is not a PrimFunc", member->name);
    }
    b->func = member->func;
    return HONE_OK;
}

static hone_status apply_trace(build *b) {
    const char *text = b->request->trace;
    if (!text) return HONE_OK;
    hone_trace trace;
    text += strspn(text, " \t\r\n");
    if (*text == '[' || *text == '{') {
        HONE_TRY(hone_trace_parse_json(b->arena, text, strlen(text), "trace", &trace));
    } else {
        HONE_TRY(hone_trace_parse_python(b->arena, text, strlen(text), "trace", &trace));
    }
    HONE_TRY(hone_schedule_create(b->func, &b->schedule));
    b->schedule->wants_reasons = true;
    HONE_TRY(hone_build_intrins_open(b->request->intrin_count, b->request->intrins, &b->intrins));
    b->schedule->intrins = b->intrins;
    hone_apply_options options = {0};
    HONE_TRY(hone_trace_apply(&trace, b->schedule, &options));
    b->func = b->schedule->func;
    return HONE_OK;
}

static hone_status describe_arg(build *b, hone_buffer id, hone_param_role role, hone_arg *out) {
    static const hone_arg_role roles[] = {HONE_ARG_IN, HONE_ARG_OUT, HONE_ARG_INOUT};
    const hone_buffer_info *buffer = &b->func->buffers[id];
    *out = (hone_arg){.dtype = buffer->dtype, .role = roles[role], .rank = buffer->rank};
    out->name = hone_arena_strdup(b->arena, buffer->name);
    if (!out->name) return no_memory();
    if (buffer->rank > HONE_MAX_RANK) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "parameter '%s' has rank %u, at most %d",
                          buffer->name, buffer->rank, HONE_MAX_RANK);
    }
    for (uint32_t d = 0; d < buffer->rank; d++) {
        int64_t extent = hone_expr_const(buffer->shape[d]);
        out->shape[d] =
            hone_expr_is_int(buffer->shape[d]) ? extent : -1; /* -1: known at run time */
    }
    return HONE_OK;
}

/* Objects and texts are not loaded alone, so they need no list of arguments and their sizes may be
 * open; so may those of a GPU's kernels, which are texts then. */
static bool is_closed(const build *b, const hone_arg *args, size_t count) {
    bool is_closed = emits(b, HONE_EMITS_LOADABLE) || emits(b, HONE_EMITS_KERNELS);
    for (size_t i = 0; i < count && emits(b, HONE_EMITS_KERNELS); i++)
        is_closed &= hone_arg_elements(&args[i]) >= 0;
    return is_closed;
}

static hone_status describe(build *b) {
    hone_signature s;
    HONE_TRY(hone_signature_of(b->func, b->arena, &s));
    hone_arg *args = hone_arena_zalloc(b->arena, (s.buffer_count + 1) * sizeof *args);
    int64_t *sizes = hone_arena_zalloc(b->arena, (s.size_count + 1) * sizeof *sizes);
    const char **externs = hone_arena_zalloc(b->arena, (s.extern_count + 1) * sizeof *externs);
    if (!args || !sizes || !externs) return no_memory();
    for (uint32_t i = 0; i < s.buffer_count; i++) {
        HONE_TRY(describe_arg(b, s.buffers[i], s.roles[i], &args[i]));
    }
    for (uint32_t i = 0; i < s.extern_count; i++) {
        externs[i] = hone_arena_strdup(b->arena, s.externs[i]);
        if (!externs[i]) return no_memory();
    }
    const char *target = hone_arena_strdup(b->arena, b->request->target);
    if (!target) return no_memory();
    b->result->manifest = (hone_manifest){
        .abi_version = HONE_ABI_VERSION,
        .entry = b->request->entry ? b->request->entry : "kernel",
        .target = target,
        .arg_count = s.buffer_count,
        .args = args,
        .size_count = s.size_count,
        .sizes = sizes,
        .extern_count = s.extern_count,
        .externs = externs,
    };
    if (!is_closed(b, args, s.buffer_count)) {
        b->result->manifest.arg_count = b->result->manifest.size_count = 0;
    }
    return hone_manifest_check(&b->result->manifest);
}

/* Bytes in the order of the hash's hex form. */
static void note_hash(build *b) {
    hone_hash128 hash = hone_func_hash(b->func);
    for (int i = 0; i < 8; i++) {
        b->result->program_hash[i] = (uint8_t)(hash.hi >> (56 - 8 * i));
        b->result->program_hash[8 + i] = (uint8_t)(hash.lo >> (56 - 8 * i));
    }
}

/* What a GPU's kernels are called, or begin with: "kernel" is a word of their languages. */
static const char *launch_symbol(const char *entry) {
    return strcmp(entry, "kernel") == 0 ? "hone_kernel" : entry;
}

/* What is launched, and with what. */
static hone_status find_launches(build *b) {
    hone_manifest *m = &b->result->manifest;
    const hone_launches *l = &b->launches;
    HONE_TRY(hone_lower_launches(b->lowered, launch_symbol(m->entry), &b->target, b->arena,
                                 &b->launches));
    m->value_count = l->value_count;
    m->values = l->values;
    m->scratch_count = l->scratch_count;
    m->scratch = l->scratch;
    m->launch_count = l->launch_count;
    m->launches = l->launches;
    HONE_TRY(hone_manifest_check(m));
    if (m->size_count || m->arg_count == 0) return HONE_OK; /* what they are, a call says */
    int64_t *values = hone_arena_zalloc(b->arena, (m->value_count + 1) * sizeof *values);
    return values ? hone_launch_values(m, m->sizes, values) : no_memory();
}

/* A program with a trace was looked at when the schedule was made of it. */
static hone_status lower(build *b) {
    if (!b->request->trace) HONE_TRY(hone_check_func(b->func));
    hone_lower_options options = {.target = &b->target, .keeps_loops = emits(b, HONE_EMITS_LOOPS)};
    HONE_TRY(hone_lower_func(b->func, &options, b->arena, &b->lowered));
    bool is_once = emits(b, HONE_EMITS_LOADABLE) && b->result->manifest.size_count == 0;
    if (is_once && !emits(b, HONE_EMITS_KERNELS)) {
        HONE_TRY(hone_build_once_split(b->func, b->request->constants,
                                       b->request->constants_distance, b->result->manifest.entry,
                                       &options, b->arena, &b->once));
    }
    return emits(b, HONE_EMITS_KERNELS) ? find_launches(b) : HONE_OK;
}

static hone_status generate_kernels(build *b, const hone_codegen_options *options) {
    const hone_launches *l = &b->launches;
    hone_codegen_kernel *kernels =
        hone_arena_zalloc(b->arena, (l->kernel_count + 1) * sizeof *kernels);
    if (!kernels) return no_memory();
    for (size_t i = 0; i < l->kernel_count; i++) {
        kernels[i].func = l->kernels[i].func;
        kernels[i].symbol = l->kernels[i].symbol;
    }
    return b->backend->generate(kernels, l->kernel_count, options, b->bytes);
}

/* The text that line tables name, and where in it things stand. */
static hone_status write_lines(build *b) {
    uint32_t *line = hone_arena_zalloc(b->arena, (b->lowered->node_count + 1) * sizeof *line);
    if (!line) return no_memory();
    hone_str text = {0};
    hone_print_options options = {.mark = HONE_NO_ID, .bare = true, .lines = line};
    hone_status st = hone_func_print(b->lowered, &options, &text);
    if (!st) st = hone_fs_write_atomic(b->request->lines_path, text.data, text.length);
    hone_str_deinit(&text);
    b->lines = (hone_codegen_lines){b->request->lines_path, line};
    return st;
}

/* Under the name that was asked for: other programs may stand beside it. */
static hone_status print_program(build *b) {
    hone_attrs *attrs = &b->func->attrs;
    if (b->request->entry) {
        b->func->name = b->request->entry;
        if (!hone_attrs_without(b->arena, attrs, "global_symbol", attrs)) return no_memory();
    }
    return hone_func_print(b->func, NULL, b->bytes);
}

static hone_status generate(build *b) {
    if (emits(b, HONE_EMITS_SCHEDULED)) return print_program(b);
    hone_codegen_kernel kernel = {.func = b->lowered, .symbol = b->result->manifest.entry};
    hone_codegen_options options = {.target = &b->target, .form = b->backend->form};
#ifndef NDEBUG
    options.verify = true;
#endif
    if (emits(b, HONE_EMITS_KERNELS)) return generate_kernels(b, &options);
    if (b->request->lines_path && emits(b, HONE_EMITS_LINES)) {
        HONE_TRY(write_lines(b));
        kernel.lines = &b->lines;
    }
    if (b->once) options.once = &b->once->once;
    HONE_TRY(b->once ? b->backend->generate(b->once->kernels, 2, &options, b->bytes)
                     : b->backend->generate(&kernel, 1, &options, b->bytes));
    const hone_value *texts = hone_attrs_find(&b->lowered->attrs, HONE_LOWER_IMPORT_C);
    if (!texts || options.form != HONE_FORM_OBJECT) return HONE_OK;
    return hone_c_import(&b->target, texts, b->bytes);
}

/* The artifact goes to the path that was asked for, or back as bytes. */
static hone_status deliver(build *b) {
    const char *path = b->request->output_path;
    bool is_linked = emits(b, HONE_EMITS_LOADABLE);
    if (!path) {
        if (is_linked) return HONE_ERROR(HONE_CODE_INVALID, "a library needs an output path");
        b->result->artifact_bytes = (const uint8_t *)b->bytes->data;
        b->result->artifact_byte_count = b->bytes->length;
        return HONE_OK;
    }
    if (is_linked) {
        HONE_TRY(hone_link_shared(&b->target, b->bytes->data, b->bytes->length,
                                  b->request->lines_path != NULL, path));
    } else {
        HONE_TRY(hone_fs_write_atomic(path, b->bytes->data, b->bytes->length));
    }
    b->result->artifact_path = path;
    return HONE_OK;
}

static hone_status run(build *b) {
    int64_t since = hone_clock_now(hone_clock_system());
    hone_build_times *times = &b->result->times;
    HONE_TRY(hone_target_parse(b->request->target, &b->target));
    HONE_TRY(hone_backend_find(b->request->emit, &b->target, &b->backend));
    HONE_TRY(read_program(b));
    HONE_TRY(describe(b)); /* before the schedule: roles are plain to see then */
    HONE_TRY(apply_trace(b));
    note_hash(b);
    times->replay_ns = lap(&since);
    if (!emits(b, HONE_EMITS_SCHEDULED)) HONE_TRY(lower(b));
    times->lower_ns = lap(&since);
    HONE_TRY(generate(b));
    times->codegen_ns = lap(&since);
    HONE_TRY(deliver(b));
    times->link_ns = lap(&since);
    return HONE_OK;
}

/* Whoever watches ends a build that has taken too much; what is left to tell is that it asked for
 * too much at once. Any less the machine should have had. */
static bool asked_too_much(const hone_build_request *request) {
    return request->memory_bytes > 0 &&
           hone_alloc_refused_bytes() >= (uint64_t)request->memory_bytes;
}

/* Reading and writing, processes and memory that do not come: of this machine. All else is of the
 * program. */
static hone_failure failure_of(const hone_build_request *request, hone_code code) {
    if (code == HONE_CODE_TIMEOUT) return HONE_FAILURE_BUILD_TIMEOUT;
    bool is_machines = code == HONE_CODE_IO || code == HONE_CODE_UNAVAILABLE ||
                       (code == HONE_CODE_NO_MEMORY && !asked_too_much(request));
    return is_machines ? HONE_FAILURE_MACHINE_ERROR : HONE_FAILURE_BUILD_ERROR;
}

void hone_build_run(const hone_build_request *request, hone_arena *arena, hone_str *out_bytes,
                    hone_build_result *out_result) {
    memset(out_result, 0, sizeof *out_result);
    build b = {.request = request, .arena = arena, .result = out_result, .bytes = out_bytes};
    hone_status st = run(&b);
    if (st) {
        hone_build_times times = out_result->times;
        memset(out_result, 0, sizeof *out_result);
        out_result->times = times;
        out_result->failure = failure_of(request, hone_status_code(st));
        out_result->message = hone_arena_strdup(arena, hone_status_message(st));
        hone_status_free(st);
    }
    hone_schedule_destroy(b.schedule);
    hone_tensor_intrins_destroy(b.intrins);
    hone_module_release(b.module);
}
