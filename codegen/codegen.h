/* codegen/codegen.h - lowered programs to machine code or text.
 *
 * Takes programs that lower/ made and writes kernels of runtime/model/abi.h. Knows nothing of
 * schedules. LLVM is loaded into whoever links this room: only hone-worker does.
 *
 * Threads: thread-compatible; one call at a time per process is what the worker does.
 */
#ifndef HONE_CODEGEN_CODEGEN_H
#define HONE_CODEGEN_CODEGEN_H

#include "ir/core/func.h"
#include "support/core/strbuf.h"
#include "target/target.h"

typedef enum hone_form {
    HONE_FORM_OBJECT,
    HONE_FORM_ASM,
    HONE_FORM_LLVM,   /* text */
    HONE_FORM_SOURCE, /* what else a generator writes */
} hone_form;

/* A text of the program, for line tables. */
typedef struct hone_codegen_lines {
    const char *path;     /* of the text, absolute */
    const uint32_t *line; /* per node of the program: where it begins, as hone_func_print says it */
} hone_codegen_lines;

typedef struct hone_codegen_kernel {
    const hone_func *func;           /* lowered */
    const char *symbol;              /* of the hone_kernel */
    const hone_codegen_lines *lines; /* debug information that maps code to it; NULL = none */
} hone_codegen_kernel;

/* A kernel made of two others of the same call: `first`, which computes what does not change
 * between calls, and `rest`. The first call runs both, later ones `rest` alone. Arguments: the
 * number of a buffer of the whole, or -1 - that of a kept one. */
typedef struct hone_codegen_once {
    const char *symbol, *first, *rest;
    size_t kept_count;
    const int64_t *kept_bytes; /* memory of the library: of one caller at a time */
    int64_t place_count;       /* of what is kept: calls find it at each in turn; at least 1 */
    size_t first_count, rest_count;
    const int32_t *first_args, *rest_args;
} hone_codegen_once;

typedef struct hone_codegen_options {
    const hone_target *target;
    hone_form form;
    bool verify;                   /* run LLVM's verifier (INTERNAL when it finds something) */
    const hone_codegen_once *once; /* for hone_codegen_llvm; NULL = none */
} hone_codegen_options;

/* Appends the bytes (text or binary) to out. UNSUPPORTED: something this target or generator cannot
 * do, with its name. INVALID: a program that lower/ did not make, an unknown target. */
HONE_NODISCARD hone_status hone_codegen_llvm(const hone_codegen_kernel *kernels, size_t count,
                                             const hone_codegen_options *options, hone_str *out);

/* Appends a file of C11 that any compiler takes and that gives the same results, within the error
 * bound: one function per kernel, with the ABI's declarations in front. Vectorized loops come out
 * as loops over lanes, which compilers vectorise again. UNSUPPORTED: integers of odd widths, a
 * buffer seen as another type. INVALID as above. */
HONE_NODISCARD hone_status hone_codegen_c(const hone_codegen_kernel *kernels, size_t count,
                                          const hone_codegen_options *options, hone_str *out);

/* Appends launches for GPUs as text: each program is what a device runs (lower/device), its entry a
 * pointer for each buffer and a 64-bit integer for each scalar, in the order of its parameters (a
 * float comes as the bits of a double). CUDA C is for nvcc, OpenCL C 1.2 for the compiler of any
 * device, Metal for Apple's. UNSUPPORTED: what the language has no words for. INVALID as above. */
HONE_NODISCARD hone_status hone_codegen_cuda(const hone_codegen_kernel *kernels, size_t count,
                                             const hone_codegen_options *options, hone_str *out);
HONE_NODISCARD hone_status hone_codegen_opencl(const hone_codegen_kernel *kernels, size_t count,
                                               const hone_codegen_options *options, hone_str *out);
HONE_NODISCARD hone_status hone_codegen_metal(const hone_codegen_kernel *kernels, size_t count,
                                              const hone_codegen_options *options, hone_str *out);

/* Appends a module of PTX for a cuda target: one entry per kernel, which is a device function of
 * lower/device: its parameters in order, a pointer to global memory for each buffer and 64 bits for
 * each number (a float: the bits of a double). Blocks have the size that the function's loops over
 * threadIdx say; the function's attribute "hone.min_blocks" is how many of them a multiprocessor
 * must have room for. UNSUPPORTED: an architecture before sm_50, a call that GPUs have no code for.
 */
HONE_NODISCARD hone_status hone_codegen_ptx(const hone_codegen_kernel *kernels, size_t count,
                                            const hone_codegen_options *options, hone_str *out);

/* ---- back ends ---- */

/* What is to be known of something that is made. */
typedef enum hone_emit_facts {
    HONE_EMITS_LIBRARY = 1,    /* of a model: machine code with a header */
    HONE_EMITS_LOADABLE = 2,   /* of a kernel: linked, and loaded alone: arguments are listed */
    HONE_EMITS_LINES = 4,      /* can have a line table */
    HONE_EMITS_LOOPS = 8,      /* the generator takes vectorized and unrolled loops as they are */
    HONE_EMITS_SCHEDULED = 16, /* the scheduled program, before it is lowered */
    HONE_EMITS_KERNELS = 32    /* of a GPU's program: kernels of lower/device, which are launched */
} hone_emit_facts;
/* A further fact: it is what is loaded on targets of that kind, of which each has one such row. */
#define HONE_EMITS_ON(target_kind) (256u << (target_kind))

/* How a kernel is made of a scheduled program: a row of emits.def. */
typedef struct hone_backend {
    const char *name;
    hone_status (*generate)(const hone_codegen_kernel *kernels, size_t count,
                            const hone_codegen_options *options, hone_str *out);
    hone_form form;
    uint32_t facts; /* of hone_emit_facts */
} hone_backend;

/* By name; NULL: what is loaded on the target ("so" on a CPU). UNSUPPORTED lists those that
 * kernels are made as; also of one that is for GPUs alone, or for CPUs, where the target is none.
 */
HONE_NODISCARD hone_status hone_backend_find(const char *name, const hone_target *target,
                                             const hone_backend **out);

#endif
