/* hone/program.h - programs (TVMScript text, ONNX models), and schedules from traces.
 *
 * A program is a module: tensor programs (PrimFuncs) and graph functions by name, with their
 * weights. Programs do not change; what transforms one makes another, and either may be freed
 * first. They may be read by several threads at once. Every program that comes out is freed by the
 * caller.
 */
#ifndef HONE_PROGRAM_H
#define HONE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <hone/error.h>

HONE_BEGIN_DECLS

typedef struct hone_program hone_program;

/* Loads a file: .onnx is imported as a graph, anything else is read as TVMScript ("-" is standard
 * input; weights of FILE.py come from FILE.safetensors beside it). Errors: not_found, io, invalid
 * and type with file, line, column and a caret, unsupported (an operator). */
HONE_API hone_error *hone_program_load(const char *path, hone_program **out_program);

/* hone_program_load with numbers for sizes: each "N=64" for a symbolic size, "x=3" for how many
 * tensors a sequence x of an ONNX file has, "x.rank=2" for the dimensions of an input of which the
 * file does not say. Errors, too: invalid (there is no such size; several numbers). */
HONE_API hone_error *hone_program_load_with(const char *path, size_t size_count,
                                            const char *const *sizes, hone_program **out_program);

/* hone_program_load for TVMScript in memory; `name` stands in messages. */
HONE_API hone_error *hone_program_parse(const char *text, const char *name,
                                        hone_program **out_program);

/* Ends a program; NULL is allowed. */
HONE_API void hone_program_free(hone_program *program);

/* How many functions there are, and their names in the order of the text; NULL when `index` is out
 * of range. The name lives as long as the program. */
HONE_API size_t hone_program_function_count(const hone_program *program);
HONE_API const char *hone_program_function_name(const hone_program *program, size_t index);

/* The canonical text; the caller frees it. Parsing it gives an equal program, except for weights
 * that are too long for text: hone_program_save keeps those. */
HONE_API hone_error *hone_program_print(const hone_program *program, char **out_text);

/* Writes the canonical text, and the weights beside it. The file is replaced as a whole. */
HONE_API hone_error *hone_program_save(const hone_program *program, const char *path);

/* Checks that the program is well formed. That it is not is no failure of the call: *out_findings
 * is NULL for a well-formed program, else its faults, one per line, which the caller frees. */
HONE_API hone_error *hone_program_verify(const hone_program *program, char **out_findings);

/* The structural hash, 32 hexadecimal digits and a NUL: the same for programs that differ in names
 * only, and the workload's identity in a database. `function` NULL: of the whole module. Errors:
 * not_found. */
HONE_API hone_error *hone_program_hash(const hone_program *program, const char *function,
                                       char out_hash[33]);

/* 1 when both are the same but for names, else 0; out_difference (may be NULL) gets the first
 * difference in words, which the caller frees. */
HONE_API int hone_program_equal(const hone_program *a, const hone_program *b,
                                char **out_difference);

/* How a trace is applied; {0} (or NULL) replays it as it is. */
typedef struct hone_replay_options {
    const char *function; /* the PrimFunc to schedule; NULL = "main", or the only one */
    int resample;         /* draw every decision anew, from the seed */
    uint64_t seed;
} hone_replay_options;

/* Applies a trace, as text in TVM's JSON or Python form, or a schedule written by hand, to one
 * PrimFunc of a program: the program with the scheduled function in its place. out_trace (may be
 * NULL) gets the trace with the decisions that were made, as JSON, which the caller frees. Errors:
 * illegal (a step was refused; the message has its number and its call, the reason, and the program
 * with the place marked), invalid (not a trace), not_found. */
HONE_API hone_error *hone_program_replay(const hone_program *program, const char *trace,
                                         const hone_replay_options *options,
                                         hone_program **out_program, char **out_trace);

HONE_END_DECLS

#endif
