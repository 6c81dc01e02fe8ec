/* tests/graph/onnx_case.c - reads one case of the ONNX project's tests. */
#include "tests/graph/onnx_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/frontend/onnx_import.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/graph/graph_run.h"

enum { MAX_INPUTS = 32 };
#define NOT_ALONE SIZE_MAX

typedef struct example {
    char folder[512];
    hone_module *module;
    hone_tensor *inputs[MAX_INPUTS];
    size_t files[MAX_INPUTS]; /* the number of the file of each; NOT_ALONE: one of a sequence */
    size_t input_count;
    hone_graph_dim sizes[2 * MAX_INPUTS]; /* of inputs that are sequences or optionals */
    char names[2 * MAX_INPUTS][80];
    size_t size_count;
} example;

/* Reads a number of protobuf's. */
static uint64_t read_number(const char *bytes, size_t count, size_t *io_at) {
    uint64_t value = 0;
    for (int shift = 0; *io_at < count; shift += 7) {
        unsigned char byte = (unsigned char)bytes[(*io_at)++];
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80)) break;
    }
    return value;
}

/* The nth record with a length that a message has under a field; NULL: there are fewer. */
static const char *find_record(const char *bytes, size_t count, unsigned field, size_t nth,
                               size_t *out_length) {
    for (size_t at = 0; at + 1 < count;) {
        uint64_t tag = read_number(bytes, count, &at), value = read_number(bytes, count, &at);
        if ((tag & 7) != 2) continue;
        if (value > count - at) return NULL;
        *out_length = (size_t)value;
        if (tag >> 3 == field && nth-- == 0) return bytes + at;
        at += (size_t)value;
    }
    return NULL;
}

/* ---- files ---- */

static void path_of(const example *e, const char *kind, size_t index, char path[600]) {
    snprintf(path, 600, "%s/test_data_set_0/%s_%zu.pb", e->folder, kind, index);
}

static hone_status load_tensor(const example *e, const char *kind, size_t index,
                               hone_tensor **out) {
    char path[600];
    path_of(e, kind, index, path);
    *out = NULL;
    if (!hone_fs_exists(path)) return HONE_OK;
    HONE_TRY(hone_onnx_load_tensor(path, NULL, out));
    /* numpy has no bfloat16: these are recorded as their bits */
    if (strstr(e->folder, strcmp(kind, "input") == 0 ? "BFLOAT16_to" : "to_BFLOAT16")) {
        (*out)->dtype = HONE_DTYPE_BF16;
    }
    return HONE_OK;
}

/* A tensor that stands within a file. */
static hone_status load_within(const char *item, size_t length, hone_tensor **out) {
    char path[600], *folder = NULL;
    hone_status st = hone_fs_temp_dir("hone-case", &folder);
    snprintf(path, sizeof path, "%s/item.pb", folder ? folder : "");
    if (!st) st = hone_fs_write_atomic(path, item, length);
    if (!st) st = hone_onnx_load_tensor(path, NULL, out);
    if (folder) st = hone_status_join(st, hone_fs_remove_tree(folder));
    hone_free(folder);
    return st;
}

/* ---- sequences and optionals: SequenceProto and OptionalProto ---- */

/* Both begin with their name (field 1), which tensors have as field 8. */
static bool is_tensor(const char *bytes, size_t count) {
    return count == 0 || bytes[0] != 0x0a;
}

/* Tensor i of a sequence, of the sequence in an optional, or the one in an optional; NULL behind
 * the last one. */
static const char *find_item(const char *bytes, size_t count, size_t i, size_t *out_length) {
    size_t length = 0;
    const char *within = find_record(bytes, count, 5, 0, &length);
    return find_record(within ? within : bytes, within ? length : count, 3, i, out_length);
}

static size_t count_items(const char *bytes, size_t count) {
    size_t items = 0, length;
    while (find_item(bytes, count, items, &length))
        items++;
    return items;
}

/* Result i of a model, whose sequences are flat: of the output files in order. Before it comes
 * *io_at, the number of its first one. NULL: there is no such file. */
static hone_status load_result(const example *e, size_t file, size_t i, size_t *io_at,
                               hone_tensor **out) {
    char path[600], *bytes;
    size_t count, length = 0;
    path_of(e, "output", file, path);
    HONE_TRY(hone_fs_read(path, 1 << 24, &bytes, &count));
    hone_status st = HONE_OK;
    size_t made = is_tensor(bytes, count) ? 1 : count_items(bytes, count);
    if (i < *io_at + made && is_tensor(bytes, count)) {
        st = load_tensor(e, "output", file, out);
    } else if (i < *io_at + made) {
        const char *item = find_item(bytes, count, i - *io_at, &length);
        st = load_within(item, length, out);
    }
    *io_at += made;
    hone_free(bytes);
    return st;
}

/* NULL: nothing is recorded. */
static hone_status load_expected(const example *e, size_t i, hone_tensor **out) {
    char path[600];
    size_t at = 0;
    *out = NULL;
    for (size_t file = 0; !*out; file++) {
        path_of(e, "output", file, path);
        if (!hone_fs_exists(path)) return HONE_OK;
        HONE_TRY(load_result(e, file, i, &at, out));
    }
    return HONE_OK;
}

/* How many tensors the sequence has, or of how many dimensions. */
static void note_size(example *e, const char *name, size_t length, const char *ending,
                      int64_t size) {
    size_t i = e->size_count++;
    snprintf(e->names[i], sizeof e->names[i], "%.*s%s", (int)length, name, ending);
    e->sizes[i] = (hone_graph_dim){e->names[i], size};
}

static hone_status take_items(example *e, const char *bytes, size_t count) {
    size_t length = 0, first = e->input_count;
    const char *item;
    for (size_t i = 0; (item = find_item(bytes, count, i, &length)) && e->input_count < MAX_INPUTS;
         i++) {
        HONE_TRY(load_within(item, length, &e->inputs[e->input_count]));
        e->files[e->input_count++] = NOT_ALONE;
    }
    const char *name = find_record(bytes, count, 1, 0, &length);
    if (!name) return HONE_ERROR(HONE_CODE_INVALID, "an input without a name");
    note_size(e, name, length, "", (int64_t)(e->input_count - first));
    if (e->input_count > first) note_size(e, name, length, ".rank", e->inputs[first]->rank);
    return HONE_OK;
}

static hone_status load_input(example *e, const char *path, size_t index) {
    char *bytes;
    size_t count;
    HONE_TRY(hone_fs_read(path, 1 << 24, &bytes, &count));
    hone_status st;
    if (is_tensor(bytes, count)) {
        st = load_tensor(e, "input", index, &e->inputs[e->input_count]);
        e->files[e->input_count] = index;
        e->input_count += !st;
    } else {
        st = take_items(e, bytes, count);
    }
    hone_free(bytes);
    return st;
}

static hone_status load_inputs(example *e) {
    char path[600];
    for (size_t i = 0; e->input_count < MAX_INPUTS; i++) {
        path_of(e, "input", i, path);
        if (!hone_fs_exists(path)) break;
        HONE_TRY(load_input(e, path, i));
    }
    return HONE_OK;
}

/* The name that a TensorProto carries (field 8, a string); every record is of known wire form. */
static hone_status tensor_name(const example *e, size_t index, char out[64]) {
    char path[600], *bytes;
    size_t count, at = 0;
    snprintf(path, sizeof path, "%s/test_data_set_0/input_%zu.pb", e->folder, index);
    HONE_TRY(hone_fs_read(path, 1 << 24, &bytes, &count));
    out[0] = 0;
    while (at + 1 < count && !out[0]) {
        unsigned tag = (unsigned char)bytes[at++], length = (unsigned char)bytes[at];
        if (tag == 0x42 && length < 64 && at + 1 + length <= count) {
            snprintf(out, 64, "%.*s", (int)length, bytes + at + 1);
        }
        uint64_t value = read_number(bytes, count, &at);
        if ((tag & 7) == 2) at += value;
    }
    hone_free(bytes);
    return HONE_OK;
}

/* Shapes, axes, scales, lengths, choices: whole numbers, single ones, or what comes behind the
 * data.
 */
static bool may_be_constant(const hone_tensor *tensor, size_t index) {
    bool is_whole = tensor->dtype.code == HONE_DTYPE_CODE_INT && tensor->dtype.bits >= 32;
    return tensor->rank == 0 || (tensor->rank == 1 && (is_whole || index > 0));
}

/* What must be known and the model takes as inputs is given as constants. */
static hone_status load_with_shapes(example *e, const char *path) {
    hone_graph_weight weights[MAX_INPUTS];
    char names[MAX_INPUTS][64];
    hone_graph_options options = {
        .weights = weights, .dims = e->sizes, .dim_count = e->size_count, .keeps_sizes = true};
    bool is_bound[MAX_INPUTS] = {false};
    for (size_t i = 0; i < e->input_count; i++) {
        const hone_tensor *tensor = e->inputs[i];
        if (e->files[i] == NOT_ALONE || !may_be_constant(tensor, e->files[i])) continue;
        HONE_TRY(tensor_name(e, e->files[i], names[i]));
        weights[options.weight_count++] = (hone_graph_weight){names[i], tensor};
        is_bound[i] = true;
    }
    HONE_TRY(hone_onnx_load(path, &options, &e->module));
    size_t kept = 0;
    for (size_t i = 0; i < e->input_count; i++) {
        if (is_bound[i])
            hone_tensor_destroy(e->inputs[i]);
        else
            e->inputs[kept++] = e->inputs[i];
    }
    e->input_count = kept;
    return HONE_OK;
}

static hone_status load_example(example *e) {
    char path[600];
    snprintf(path, sizeof path, "%s/model.onnx", e->folder);
    hone_status inputs = load_inputs(e);
    const hone_graph_options sizes = {
        .dims = e->sizes, .dim_count = e->size_count, .keeps_sizes = true};
    hone_status st = hone_onnx_load(path, &sizes, &e->module);
    bool wants_shape = st && strstr(hone_status_message(st), "must be constant");
    if (st && !wants_shape) {
        hone_status_free(inputs); /* what the model is refused for counts */
        return st;
    }
    hone_status_free(st);
    HONE_TRY(inputs);
    return wants_shape ? load_with_shapes(e, path) : HONE_OK;
}

static hone_status compare(const example *e, const run_results *got) {
    for (size_t i = 0; i < got->count; i++) {
        hone_tensor *want;
        HONE_TRY(load_expected(e, i, &want));
        if (!want) return HONE_OK;
        hone_tensor_diff diff = hone_tensor_diff_make(got->items[i], want, 1e-3, 1e-5);
        bool ok = diff.is_comparable && diff.bad_count == 0 &&
                  hone_dtype_equal(want->dtype, got->items[i]->dtype);
        hone_str text = {0};
        if (!ok && diff.is_comparable) hone_tensor_diff_print(&diff, want, &text);
        if (!ok) {
            hone_str_append(&text, "; got ");
            hone_tensor_print_type(got->items[i], &text);
            hone_str_append(&text, ", want ");
            hone_tensor_print_type(want, &text);
        }
        hone_tensor_destroy(want);
        hone_status st =
            ok ? HONE_OK
               : HONE_ERROR(HONE_CODE_INTERNAL, "output %zu: %s", i, hone_str_text(&text));
        hone_str_deinit(&text);
        if (st) return st;
    }
    return HONE_OK;
}

typedef hone_status (*run_fn)(const hone_module *, const hone_graph_options *, hone_tensor *const *,
                              size_t, int64_t, run_results *);

static hone_status run_and_compare(const example *e, run_fn run, int64_t max_steps) {
    run_results got;
    hone_status st = run(e->module, NULL, e->inputs, e->input_count, max_steps, &got);
    if (!st) st = compare(e, &got);
    run_results_deinit(&got);
    return st;
}

static onnx_end end_of(hone_code code) {
    switch (code) {
    case HONE_CODE_OK:
        return ONNX_PASS;
    case HONE_CODE_UNSUPPORTED:
        return ONNX_REFUSED;
    case HONE_CODE_CANCELLED:
        return ONNX_SLOW;
    default:
        return ONNX_WRONG;
    }
}

/* The message in one line, without the path of the model before it. */
static void append_reason(const char *path, const char *message, hone_str *out) {
    size_t length = strlen(path);
    bool has_path = strncmp(message, path, length) == 0 && strncmp(message + length, ": ", 2) == 0;
    for (const char *at = has_path ? message + length + 2 : message; *at; at++)
        hone_str_append_char(out, *at == '\n' ? ' ' : *at);
}

onnx_end onnx_case_run(const char *folder, int64_t max_steps, hone_str *out_why) {
    example e = {0};
    char path[600];
    snprintf(e.folder, sizeof e.folder, "%s", folder);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    if (!hone_fs_exists(path)) {
        hone_str_append(out_why, "the data has no model.onnx");
        return ONNX_ABSENT;
    }
    hone_status st = load_example(&e);
    if (!st) st = run_and_compare(&e, run_plain, max_steps);
    if (!st) st = hone_status_annotate(run_and_compare(&e, run_planned, max_steps), "as a plan");
    onnx_end end = end_of(hone_status_code(st));
    if (end == ONNX_SLOW) { /* where it was then says nothing */
        hone_str_printf(out_why, "more than %" PRId64 " steps", max_steps);
    } else if (st) {
        append_reason(path, hone_status_message(st), out_why);
    }
    hone_status_free(st);
    for (size_t i = 0; i < e.input_count; i++)
        hone_tensor_destroy(e.inputs[i]);
    hone_module_release(e.module);
    return end;
}
