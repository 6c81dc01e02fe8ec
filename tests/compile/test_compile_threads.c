/* tests/compile/test_compile_threads.c - several threads call one model at once, on its own threads
 * and on a pool that they share. */
#include <stdio.h>
#include <string.h>

#include "support/os/thread.h"
#include "tests/compile/compile_fixture.h"
#include "tests/support/hone_test.h"

enum { THREADS = 4, ROUNDS = 50 };

static fixture shared;

typedef struct caller {
    const hone_loaded_model *model;
    const hone_module *module;
    const hone_model_entry *entry;
    hone_tensor **inputs, **outputs, **expected;
    hone_status st;
} caller;

static void call_often(void *argument) {
    caller *c = argument;
    for (int i = 0; i < ROUNDS && !c->st; i++) {
        memset(c->outputs[0]->data, 0x5a, hone_tensor_bytes(c->outputs[0]));
        c->st = fixture_run(c->model, c->entry, c->inputs, c->outputs);
        if (!c->st && memcmp(c->outputs[0]->data, c->expected[0]->data,
                             hone_tensor_bytes(c->outputs[0])) != 0) {
            c->st = HONE_ERROR(HONE_CODE_INVALID, "round %d gives other numbers", i);
        }
    }
    /* an error is this thread's own */
    if (!c->st && c->entry->run(NULL, NULL, NULL) != HONE_MODEL_BAD_ARGUMENT) {
        c->st = HONE_ERROR(HONE_CODE_INVALID, "NULL was taken");
    }
}

static hone_status make_caller(caller *c, const hone_loaded_model *model, int number) {
    c->model = model;
    HONE_TRY(hone_loaded_model_entry(model, NULL, &c->entry));
    HONE_TRY(fixture_inputs(c->entry, 5 + number, (uint64_t)number, &c->inputs));
    HONE_TRY(hone_loaded_model_make_outputs(model, c->entry, c->inputs, &c->outputs));
    HONE_TRY(hone_loaded_model_make_outputs(model, c->entry, c->inputs, &c->expected));
    return fixture_run(model, c->entry, c->inputs, c->expected);
}

static hone_status run_all(const hone_loaded_model *model) {
    caller callers[THREADS] = {0};
    hone_thread threads[THREADS] = {0};
    hone_status st = HONE_OK;
    for (int i = 0; i < THREADS && !st; i++)
        st = make_caller(&callers[i], model, i);
    for (int i = 0; i < THREADS && !st; i++)
        st = hone_thread_start(&threads[i], "caller", call_often, &callers[i]);
    for (int i = 0; i < THREADS; i++) {
        hone_thread_join(&threads[i]);
        st = hone_status_join(st, callers[i].st);
    }
    for (int i = 0; i < THREADS && callers[i].entry; i++) {
        hone_model_free_outputs(callers[i].entry, callers[i].outputs);
        hone_model_free_outputs(callers[i].entry, callers[i].expected);
        fixture_free_inputs(callers[i].entry, callers[i].inputs);
    }
    return st;
}

static const struct row {
    const char *name, *model;
    int32_t threads; /* 0 = the model's own */
} rows[] = {
    {"its own threads", "examples/fashion_mnist/mlp_batch.onnx", 0},
    {"one thread",      "examples/fashion_mnist/mlp_batch.onnx", 1},
    {"a shared pool",   "examples/fashion_mnist/mlp_batch.onnx", 3},
};

static void check_row(void **state) {
    const struct row *row = *state;
    hone_compile_options options = fixture_options(&shared, "threads");
    hone_module *module = NULL;
    hone_loaded_model *model = NULL;
    char path[200];
    hone_status st = fixture_module(row->model, &module);
    if (!st) st = fixture_compile(module, &options, NULL, NULL);
    snprintf(path, sizeof path, "%s.so", options.output);
    if (!st) st = hone_loaded_model_open(path, row->threads, &model);
    if (!st) st = run_all(model);
    hone_loaded_model_close(model);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
}

int main(void) {
    if (fixture_begin(&shared) != 0) return 1;
    int code = HONE_RUN_ROWS("compile/threads", rows, check_row);
    fixture_end(&shared);
    return code;
}
