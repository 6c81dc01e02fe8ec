/* hone/pass.h - passes of one's own: what a module holds, changed and walked over.
 *
 * Programs do not change: what transforms one makes another, which the caller frees, and which
 * shares what stays the same; each may end before the other. Functions are named; `function` NULL
 * is the only one, or main. Tensor programs (PrimFuncs) are visited and rewritten by the functions
 * below, graph functions by those of hone/graph.h. Programs may be read by several threads at once.
 */
#ifndef HONE_PASS_H
#define HONE_PASS_H

#include <hone/program.h>
#include <hone/term.h>

HONE_BEGIN_DECLS

/* ---- functions of a module ---- */

/* "tensor program", "graph" or "external": static text; NULL when there is no such function. */
HONE_API const char *hone_program_function_kind(const hone_program *program, const char *function);
/* A program with that function (mod["name"]), of a graph function also with what it calls. Errors:
 * not_found. */
HONE_API hone_error *hone_program_get(const hone_program *program, const char *function,
                                      hone_program **out_program);
/* The program with the functions of `with` added, those of the same name in their place
 * (mod.update). That calls fit what they call is for hone_program_verify to say. */
HONE_API hone_error *hone_program_update(const hone_program *program, const hone_program *with,
                                         hone_program **out_program);
/* The program without a function. Errors: not_found, invalid (another function calls it). */
HONE_API hone_error *hone_program_remove(const hone_program *program, const char *function,
                                         hone_program **out_program);

/* ---- attributes, of functions of both kinds; function HONE_THE_MODULE: of the module itself ----
 */

#define HONE_THE_MODULE "*"

/* The text, number or flag ("True") under a key, as text that the caller frees; NULL when there is
 * none. Errors: not_found (the function), unsupported (a list, a map, None). */
HONE_API hone_error *hone_program_get_attribute(const hone_program *program, const char *function,
                                                const char *key, char **out_value);
/* Their keys in order; NULL behind the last. Lives as long as the program. */
HONE_API const char *hone_program_attribute_key(const hone_program *program, const char *function,
                                                size_t index);
/* The program with a text (NULL removes it), or an integer, under a key. */
HONE_API hone_error *hone_program_set_attribute(const hone_program *program, const char *function,
                                                const char *key, const char *value,
                                                hone_program **out_program);
HONE_API hone_error *hone_program_set_attribute_integer(const hone_program *program,
                                                        const char *function, const char *key,
                                                        int64_t value, hone_program **out_program);

/* ---- passes that are there ---- */

/* The program after passes in order, as `hone pass` runs them: over graphs ("infer",
 * "fold_constants", "legalize", "fuse", …) or lowering each tensor program for this machine
 * ("blocks", "flatten", "vectorize", …); TVM's names serve as well ("LegalizeOps"). Or one of the
 * pipelines "prepare", "interpret", "zero" and "lower". Errors: not_found (with the name that was
 * meant), and those of the passes. */
HONE_API hone_error *hone_program_run_passes(const hone_program *program, size_t count,
                                             const char *const *names, hone_program **out_program);
/* hone_program_run_passes for another target than this machine: what lowering is for, as `--target`
 * has it; NULL is this machine. Errors: invalid (the target), and those above. */
HONE_API hone_error *hone_program_run_passes_for(const hone_program *program, const char *target,
                                                 size_t count, const char *const *names,
                                                 hone_program **out_program);
/* What they are called, those over graphs first, then those that lower, in order; what they do, in
 * a line. Static texts; NULL behind the last. */
HONE_API const char *hone_pass_name(size_t index);
HONE_API const char *hone_pass_help(size_t index);

/* ---- visitors and mutators of tensor programs ---- */

/* What a visitor is told; each may be NULL. Statements come before what they hold, at their depth;
 * kind: "for", "block", "store", "if", "let", …; name: of the loop's variable, the block, or the
 * buffer that is written, else NULL. Terms come in full: their arguments are theirs to look at.
 * Texts and terms live as long as the program. */
typedef struct hone_visitor {
    void (*statement)(void *context, unsigned depth, const char *kind, const char *name);
    void (*term)(void *context, const hone_term *term);
    void *context;
} hone_visitor;

/* Errors: not_found, unsupported (no PrimFunc). */
HONE_API hone_error *hone_program_visit(const hone_program *program, const char *function,
                                        const hone_visitor *visitor);

/* Gets a term whose arguments are already rewritten; returns it, or another one of the same type,
 * made with terms or found in it. */
typedef const hone_term *(*hone_mutator)(void *context, hone_terms *terms, const hone_term *term);

/* The program with every term of a PrimFunc rewritten, innermost first; what its blocks read and
 * write follows. Errors: not_found, unsupported (no PrimFunc), type and others of the terms that
 * were made, invalid when NULL came back or what comes out is not well formed. */
HONE_API hone_error *hone_program_rewrite(const hone_program *program, const char *function,
                                          hone_mutator mutator, void *context,
                                          hone_program **out_program);

HONE_END_DECLS

#endif
