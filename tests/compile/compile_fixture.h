/* tests/compile/compile_fixture.h - compiles modules into a temporary directory, loads them, and
 * compares what they compute with the interpreter. */
#ifndef HONE_TESTS_COMPILE_COMPILE_FIXTURE_H
#define HONE_TESTS_COMPILE_COMPILE_FIXTURE_H

#include "compile/compile.h"
#include "ir/core/module.h"
#include "runtime/model_load.h"

/* One directory and one builder for a test program; free with fixture_end. */
typedef struct fixture {
    char dir[64];
    hone_builder *builder;
} fixture;

int fixture_begin(fixture *f); /* 0 */
void fixture_end(fixture *f);

/* Options for this machine with 2 threads; output is dir/name (static storage, until the next). */
hone_compile_options fixture_options(fixture *f, const char *name);
/* Text of a program, or a path of the source tree that ends with .onnx or .py. */
hone_status fixture_module(const char *text_or_path, hone_module **out_module);
/* Compiles and loads. result may be NULL. */
hone_status fixture_compile(const hone_module *module, const hone_compile_options *options,
                            hone_compile_result *out_result, hone_loaded_model **out_model);

/* As many inputs and outputs as the entry has. Outputs whose shape depends on data get it; those
 * without upper bounds are replaced. Fails as hone_model_call_create and _status do. */
hone_status fixture_run(const hone_loaded_model *model, const hone_model_entry *entry,
                        hone_tensor *const *inputs, hone_tensor **outputs);

/* Runs the model on random inputs (symbolic sizes are all `size`) and compares each output with the
 * interpreted module within the bound of measure/bound.h. INVALID with the difference. */
hone_status fixture_agree(const hone_module *module, const hone_loaded_model *model, int64_t size,
                          uint64_t seed);
/* Inputs for an entry; each tensor and the array are owned by the caller. */
hone_status fixture_inputs(const hone_model_entry *entry, int64_t size, uint64_t seed,
                           hone_tensor ***out_inputs);
void fixture_free_inputs(const hone_model_entry *entry, hone_tensor **inputs);

#endif
