/* hone/compile.h - one library of a program and its best records, as `hone compile` makes it; sizes
 * and parameters bound; programs run in the interpreter.
 *
 * hone-worker compiles (hone/tune.h says where it is looked for). Tensors are DLPack's, on the CPU,
 * dense and row-major, and memory of the caller.
 */
#ifndef HONE_COMPILE_H
#define HONE_COMPILE_H

#include <hone/model.h>
#include <hone/program.h>
#include <hone/variant.h>

HONE_BEGIN_DECLS

/* A tensor by the name of what gets it. */
typedef struct hone_named_tensor {
    const char *name;
    const DLTensor *tensor;
} hone_named_tensor;

/* ---- binding ---- */

/* The program with numbers in the place of symbolic sizes, each as "N=64". Errors: invalid (there
 * is no such size; the message has those there are), type (the program does not fit together). */
HONE_API hone_error *hone_program_bind_sizes(const hone_program *program, size_t count,
                                             const char *const *sizes, hone_program **out_program);

/* The program with values in the place of parameters of its graph functions, which copy them.
 * Errors: invalid (no such parameter, a tensor that does not fit it). */
HONE_API hone_error *hone_program_bind_parameters(const hone_program *program, size_t count,
                                                  const hone_named_tensor *values,
                                                  hone_program **out_program);

/* ---- compiling ---- */

/* What to do; members that are 0 or NULL have the default. */
typedef struct hone_compilation_options {
    const char *output;   /* path without ending: PATH.so and PATH.h are written */
    const char *function; /* the only one to compile; default: "main", or all there are */
    const char *database; /* of records; without it kernels get default schedules */
    const char *target;   /* default: this machine */
    int32_t threads;      /* that the model runs on at most; default: all cores */
    size_t size_count;    /* sizes to make special kernels for, as "N=1,64" */
    const char *const *sizes;
    int exact;            /* no general kernels beside those */
    int no_schedule;      /* plain kernels, as the programs are written */
    int reschedule;       /* default schedules also where the program carries one */
    const char *emit;     /* "so" (default), "a", "obj", or kernels alone: "c", "llvm", "asm",
                             "program";     of GPUs "ptx", "cubin", "cu", "cl", "metal" */
    const char *weights;  /* "auto" (default), "embed", "beside" */
    const char *programs; /* folder of hone-worker; default: it is looked for */
    int unsandboxed;      /* compilers are not held */
} hone_compilation_options;

/* Compiles; never measures. out_report (may be NULL) gets which kernel came from where and what was
 * written, as JSON, which the caller frees. Errors: invalid (an option; a record, a program, a
 * kernel that does not build), not_found (hone-worker, the database), unsupported, io. */
HONE_API hone_error *hone_program_compile(const hone_program *program,
                                          const hone_compilation_options *compilation,
                                          char **out_report);

/* Compiles and loads: output NULL leaves no files. compilation NULL: the defaults. The model is the
 * caller's, for hone_model_close. Errors: those of hone_program_compile, and unsupported: a target
 * that does not run here. */
HONE_API hone_error *hone_program_build(const hone_program *program,
                                        const hone_compilation_options *compilation,
                                        hone_model **out_model);

/* hone_program_compile and hone_program_build with other algorithms, as the tune was told of them;
 * variants NULL: those that are exact. Errors, too: invalid (variants, also programs
 * where no record is used, and any where there is no schedule), those of reading a variant's file.
 */
HONE_API hone_error *hone_program_compile_with(const hone_program *program,
                                               const hone_compilation_options *compilation,
                                               const hone_variant_options *variants,
                                               char **out_report);
HONE_API hone_error *hone_program_build_with(const hone_program *program,
                                             const hone_compilation_options *compilation,
                                             const hone_variant_options *variants,
                                             hone_model **out_model);

/* The text of a target in full, as databases and reports have it: of NULL or "host" what this
 * machine is, of a name (`hone target --list`) what it stands for. The caller frees it with
 * hone_text_free. Errors: invalid (it is no target; this machine is not known). */
HONE_API hone_error *hone_target_text(const char *target, char **out_text);

/* ---- the interpreter ---- */

typedef struct hone_results hone_results;

/* Runs a function (NULL = "main", or the only one) slowly and exactly: what compiled code must
 * agree with. Of a tensor program the arguments are all its parameters in order, numbers of rank 0
 * for scalars, and outputs are written in place. Of a graph function they are its inputs, and
 * out_results, which may be NULL for tensor programs, gets what it gives. Errors: not_found,
 * invalid (arguments that do not fit), illegal (a program that is wrong: an index out of bounds, a
 * division by zero; with the place), external (a function that it calls said no), unsupported. */
HONE_API hone_error *hone_program_interpret(const hone_program *program, const char *function,
                                            size_t count, DLTensor *const *arguments,
                                            hone_results **out_results);

/* A result; lives as long as the hone_results. NULL when there is no such one. */
HONE_API DLTensor *hone_results_at(const hone_results *results, size_t index);
HONE_API size_t hone_results_count(const hone_results *results);
HONE_API void hone_results_free(hone_results *results); /* NULL is allowed */

HONE_END_DECLS

#endif
