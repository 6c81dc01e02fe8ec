/* The ONNX project's own operator tests (Debian: libonnx-testdata): every model whose operators are
 * implemented must give the recorded outputs, interpreted operator by operator and as a plan.
 * HONE_VERBOSE=1 lists what is skipped and why. A first argument restricts to names that hold it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/frontend/onnx_import.h"
#include "support/alloc.h"
#include "support/fs.h"
#include "tests/graph/graph_run.h"
#include "tests/support/hone_test.h"

#define DATA "/usr/share/libonnx-testdata/data"

enum { MAX_INPUTS = 32, MAX_STEPS = 10000000, LEAST_PASSED = 600 };

typedef struct tally {
    const char *group, *filter;
    int passed, unsupported, slow, failed;
    bool is_verbose;
} tally;

/* Data that does not fit its own model, or is rounded towards zero. */
static const char *const broken[] = {
    "test_castlike_BFLOAT16_to_FLOAT_expanded", "test_castlike_FLOAT_to_BFLOAT16_expanded",
    "test_castlike_BFLOAT16_to_FLOAT", "test_castlike_FLOAT_to_BFLOAT16",
    "test_cast_FLOAT_to_BFLOAT16"};

typedef struct example {
    char folder[512];
    hone_module *module;
    hone_tensor *inputs[MAX_INPUTS];
    size_t input_count;
} example;

static hone_status load_tensor(const example *e, const char *kind, size_t index,
                               hone_tensor **out) {
    char path[600];
    snprintf(path, sizeof path, "%s/test_data_set_0/%s_%zu.pb", e->folder, kind, index);
    *out = NULL;
    if (!hone_fs_exists(path)) return HONE_OK;
    HONE_TRY(hone_onnx_load_tensor(path, out));
    /* numpy has no bfloat16: these are recorded as their bits */
    if (strstr(e->folder, strcmp(kind, "input") == 0 ? "BFLOAT16_to" : "to_BFLOAT16")) {
        (*out)->dtype = HONE_DTYPE_BF16;
    }
    return HONE_OK;
}

static hone_status load_inputs(example *e) {
    for (; e->input_count < MAX_INPUTS; e->input_count++) {
        HONE_TRY(load_tensor(e, "input", e->input_count, &e->inputs[e->input_count]));
        if (!e->inputs[e->input_count]) break;
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
        uint64_t value = 0;
        for (int shift = 0; at < count; shift += 7) {
            unsigned char byte = (unsigned char)bytes[at++];
            value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
            if (!(byte & 0x80)) break;
        }
        if ((tag & 7) == 2) at += value;
    }
    hone_free(bytes);
    return HONE_OK;
}

/* Shapes and axes that the model takes as inputs are given as constants. */
static hone_status load_with_shapes(example *e, const char *path) {
    hone_graph_weight weights[MAX_INPUTS];
    char names[MAX_INPUTS][64];
    hone_graph_options options = {.weights = weights};
    bool is_bound[MAX_INPUTS] = {false};
    for (size_t i = 0; i < e->input_count; i++) {
        const hone_tensor *tensor = e->inputs[i];
        if (!hone_dtype_equal(tensor->dtype, HONE_DTYPE_I64) || tensor->rank > 1) continue;
        HONE_TRY(tensor_name(e, i, names[i]));
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
    hone_status st = hone_onnx_load(path, NULL, &e->module);
    bool wants_shape = st && strstr(hone_status_message(st), "must be constant");
    bool is_empty = st && strstr(hone_status_message(st), "input 'axes': dimension 0 is 0");
    if (st && !wants_shape && !is_empty) return st;
    hone_status_free(st);
    HONE_TRY(load_inputs(e));
    return wants_shape || is_empty ? load_with_shapes(e, path) : HONE_OK;
}

static hone_status compare(const example *e, const run_results *got) {
    for (size_t i = 0; i < got->count; i++) {
        hone_tensor *want;
        HONE_TRY(load_tensor(e, "output", i, &want));
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

static hone_status run_and_compare(const example *e, run_fn run) {
    run_results got;
    hone_status st = run(e->module, NULL, e->inputs, e->input_count, MAX_STEPS, &got);
    if (!st) st = compare(e, &got);
    run_results_deinit(&got);
    return st;
}

static void count_result(tally *t, const char *name, hone_status st) {
    hone_code code = hone_status_code(st);
    const char *word = "failed";
    if (!st) {
        t->passed++;
        return;
    }
    if (code == HONE_CODE_UNSUPPORTED) {
        t->unsupported++;
        word = "skipped";
    } else if (code == HONE_CODE_CANCELLED) {
        t->slow++;
        word = "too slow";
    } else {
        t->failed++;
    }
    bool is_failure = code != HONE_CODE_UNSUPPORTED && code != HONE_CODE_CANCELLED;
    if (is_failure || t->is_verbose) {
        printf("%s %s/%s: %s\n", word, t->group, name, hone_status_message(st));
    }
    hone_status_free(st);
}

static bool visit(void *context, const char *name) {
    tally *t = context;
    if (t->filter && !strstr(name, t->filter)) return true;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        if (strcmp(name, broken[i]) == 0) return true;
    }
    example e = {0};
    snprintf(e.folder, sizeof e.folder, "%s/%s/%s", DATA, t->group, name);
    hone_status st = load_example(&e);
    if (!st) st = run_and_compare(&e, run_plain);
    if (!st) st = hone_status_annotate(run_and_compare(&e, run_planned), "as a plan");
    count_result(t, name, st);
    for (size_t i = 0; i < e.input_count; i++)
        hone_tensor_destroy(e.inputs[i]);
    hone_module_release(e.module);
    return true;
}

int main(int argc, char **argv) {
    static const char *const groups[] = {"node", "simple", "pytorch-operator", "pytorch-converted"};
    tally t = {.filter = argc > 1 ? argv[1] : NULL, .is_verbose = getenv("HONE_VERBOSE") != NULL};
    if (!hone_fs_is_dir(DATA)) hone_test_skip_all("libonnx-testdata is not installed");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        char path[256];
        t.group = groups[i];
        snprintf(path, sizeof path, "%s/%s", DATA, groups[i]);
        if (hone_fs_is_dir(path)) HONE_ASSERT_OK(hone_fs_list(path, visit, &t));
    }
    printf("onnx backend tests: %d passed, %d skipped as unsupported, %d as too slow, %d failed\n",
           t.passed, t.unsupported, t.slow, t.failed);
    if (t.failed) return 1;
    return t.filter || t.passed >= LEAST_PASSED ? 0 : 1;
}
