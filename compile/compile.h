/* compile/compile.h - a model and a database to one library that needs nothing of Hone.
 *
 *   module ─► graph prepare, once per choice of sizes ─► plans ─► kernels, each distinct one once
 *   kernel ─► best record ─replay─► object      (record_choice.h: which one, and what it must make)
 *                │ none, stale, does not build
 *                └► default schedule ─► object, or no schedule at all
 *   objects + tables + weights + runtime/model ─► ld ─► model.so, model.h (and model.weights)
 *
 * For cuda and opencl the library is for this machine's CPU, has the kernels' text as data and
 * opens the driver at its first call. A kernel that cannot be made for the GPU is run by the CPU.
 *
 * Never measures. The same module, database and options give the same bytes.
 *
 * Lifetime: the result owns what it points to until hone_compile_result_deinit.
 * Threads:  one compilation per builder at a time.
 * Layer:    may include graph/, builder/, database/ and what they include.
 */
#ifndef HONE_COMPILE_COMPILE_H
#define HONE_COMPILE_COMPILE_H

#include "builder/builder.h"
#include "codegen/codegen.h"
#include "compile/records/record_choice.h"
#include "graph/module/graph_options.h"
#include "support/os/progress.h"
#include "target/target.h"

typedef enum hone_compile_source {
    HONE_COMPILE_PLAIN,   /* as it was written */
    HONE_COMPILE_DEFAULT, /* default schedule */
    HONE_COMPILE_RECORD,  /* trace of a record, replayed */
    HONE_COMPILE_WRITTEN, /* as it was written, with a schedule (ir/core/written_schedule.h) */
    HONE_COMPILE_HOST,    /* in a library for a GPU: by the CPU, default schedule */
    HONE_COMPILE_SOURCES,
} hone_compile_source;

/* What is made of a model, in files OUT.so, OUT.c, …; libraries with a header OUT.h. */
typedef enum hone_compile_emit {
#define HONE_EMIT(id, name, kernels, ending, comment, generator, form, facts) HONE_COMPILE_##id,
#include "codegen/emits.def"
#undef HONE_EMIT
    HONE_COMPILE_EMIT_COUNT,
} hone_compile_emit;

/* What codegen/emits.def says of one of them, by hone_compile_emit. */
typedef struct hone_compile_emit_row {
    const char *name, *kernels, *ending, *comment;
    uint32_t facts; /* of hone_emit_facts */
} hone_compile_emit_row;
extern const hone_compile_emit_row hone_compile_emits[HONE_COMPILE_EMIT_COUNT];

typedef enum hone_compile_weights {
    HONE_COMPILE_WEIGHTS_AUTO,   /* beside the library when they take more than the limit below */
    HONE_COMPILE_WEIGHTS_EMBED,  /* in its read-only data */
    HONE_COMPILE_WEIGHTS_BESIDE, /* OUT.weights, found in the directory of the library */
} hone_compile_weights;

#define HONE_COMPILE_EMBED_LIMIT (INT64_C(64) << 20) /* bytes */

typedef struct hone_compile_options {
    const char *output; /* path without ending; its last part gives the functions their names */
    const char *func;   /* the one function to compile; NULL = "main", or all there are */
    hone_target target; /* num_threads: what kernels run on at most */
    hone_compile_emit emit;
    hone_compile_weights weights;
    bool no_schedule;                 /* plain kernels: neither records nor default schedules */
    bool reschedule;                  /* default schedules also where the program carries one */
    hone_db *db;                      /* NULL = no records */
    hone_variant_rules variant_rules; /* of which variants records and default schedules are used */
    hone_builder *builder;   /* NULL = a local one with hone-worker, one process per core */
    const char *worker_path; /* for that one; NULL = beside this program, else in PATH */
    bool unsandboxed;        /* what builds is not held by that one (odd kernels) */
    const hone_graph_weight *weight_values; /* parameters to bind */
    size_t weight_count;
    /* Sizes to compile special plans for, beside the general one; NULL = the general one only. When
     * all sizes are given and `exact` is set there is no general one. */
    const hone_dim_variants *variants;
    bool exact;
    bool lines;         /* line tables: code is mapped to texts in OUT.lines/; not for C, PROGRAM */
    bool only_recorded; /* leave out those choices of which the database knows no kernel */
    size_t intrin_count; /* tensor intrinsics that traces may name */
    const hone_build_intrin *intrins;
    const hone_progress *progress; /* or NULL */
} hone_compile_options;

/* One distinct kernel. */
typedef struct hone_compile_kernel {
    const char *name; /* of the PrimFunc that it is */
    hone_hash128 hash;
    uint32_t calls; /* places that call it, over all plans */
    hone_compile_source source;
    int64_t record;      /* its number in the database; 0 = none */
    const char *variant; /* of the program, that the record is about; NULL: none */
    double record_ns;    /* what the record says; NAN = none */
    hone_hash128 made;   /* from a record: the program that its trace makes */
    bool is_confirmed;   /* the record was */
    hone_record_match match;
    int64_t stale;              /* records that do not fit; the rest as in hone_record_choice */
    int64_t earlier;            /* good records of earlier programs under its name */
    const char *earlier_reason; /* or NULL */
    const char *reason;         /* why it is what it is, in words */
} hone_compile_kernel;

typedef struct hone_compile_result {
    hone_arena *arena;
    uint32_t kernel_count;
    const hone_compile_kernel *kernels; /* in order of first call */
    uint32_t file_count;
    const char *const *files; /* that were written */
    int64_t weights_bytes;
    int64_t workspace_bytes;               /* of the plan that needs most; -1 = depends on sizes */
    uint32_t counts[HONE_COMPILE_SOURCES]; /* kernels by source */
    uint32_t translated;                   /* of those from records */
    uint32_t plan_count;                   /* with the general ones */
    int64_t library_bytes;
    const char *left_out; /* functions that are not in it, and why; NULL: none */
} hone_compile_result;

/* INVALID, UNSUPPORTED: the model, a kernel that does not build (with the compiler's words), or a
 * target; NOT_FOUND: no hone-worker, linker or assembler; IO: files. out_result is to be deinited
 * also after failure. Files are written under temporary names and renamed at the end. */
HONE_NODISCARD hone_status hone_compile_module(const hone_module *module,
                                               const hone_compile_options *options,
                                               hone_compile_result *out_result);
/* hone_compile_module without building: what each kernel would get, and why. Writes nothing. */
HONE_NODISCARD hone_status hone_compile_explain(const hone_module *module,
                                                const hone_compile_options *options,
                                                hone_compile_result *out_result);
void hone_compile_result_deinit(hone_compile_result *result);

const char *hone_compile_source_name(hone_compile_source source); /* "plain", "default", "record",
                                                                          "written", "host" */
/* "so", "a", "obj", "c", "llvm", "asm", "ptx", "program"; false for others. */
HONE_NODISCARD bool hone_compile_emit_parse(const char *text, hone_compile_emit *out_emit);

/* Which kernel came from where, and what was written, as JSON. */
void hone_compile_result_print_json(const hone_compile_result *result, hone_str *out);

#endif
