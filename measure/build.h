/* measure/build.h - a request to build a candidate, and what came of it. Text in, artifact out.
 *
 * Plain values; strings and arrays belong to whoever made them, a decoded one's to its arena.
 */
#ifndef HONE_MEASURE_BUILD_H
#define HONE_MEASURE_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "measure/failure.h"
#include "measure/manifest.h"

/* A tensor intrinsic: the two functions `desc` and `impl` as program text. */
typedef struct hone_build_intrin {
    const char *name, *text;
} hone_build_intrin;

#define HONE_BUILD_MAX_INTRINS 1024

typedef struct hone_build_request {
    const char *program;     /* TVMScript text; one PrimFunc, or a module when `func` names it */
    const char *func;        /* the function of the module; NULL = the only one */
    const char *trace;       /* JSON text; NULL = as it stands */
    const char *target;      /* canonical target text */
    const char *entry;       /* symbol of the kernel; of "program": its name in the text */
    const char *output_path; /* where the artifact goes; NULL = return its bytes */
    const char *lines_path;  /* absolute: the lowered program's text goes there, and the code gets a
                                line table that names it; NULL = neither */
    const char *emit;        /* "so" (also when NULL), "obj", "c", "llvm", "asm", "program" */
    int32_t threads;         /* of the target */
    uint64_t constants;      /* of a "so" for a CPU: bit i: the i-th buffer never changes. What is
                                computed of such alone is computed by the first call only; later calls
                                must bring the same */
    int64_t constants_distance; /* bytes that are touched between two calls in the model: what is
                                   computed of constants lies at so many places in turn that it is
                                   as far away; 0 = at one */
    int64_t timeout_ns;         /* of CPU time; 0 = 30 s */
    int64_t memory_bytes;       /* what a build may take: the builder says */
    size_t intrin_count;
    const hone_build_intrin *intrins;
} hone_build_request;

typedef struct hone_build_times {
    int64_t queue_ns, replay_ns, lower_ns, codegen_ns, link_ns;
} hone_build_times;

typedef struct hone_build_result {
    hone_failure failure; /* NONE, BUILD_ERROR, BUILD_TIMEOUT, CANCELLED */
    const char *message;  /* why it failed, or NULL */
    const char *artifact_path;
    const uint8_t *artifact_bytes; /* when no path was asked for */
    size_t artifact_byte_count;
    hone_manifest manifest; /* of an emitted "so"; else without arguments and sizes */
    hone_build_times times;
    uint8_t program_hash[16]; /* structural hash of the program that the trace made */
} hone_build_result;

#endif
