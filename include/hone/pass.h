/* hone/pass.h - passes of one's own: what a module holds, walked over and rewritten.
 *
 * Programs do not change: what transforms one makes another, which shares what stays the same.
 */
#ifndef HONE_PASS_H
#define HONE_PASS_H

#include <hone/program.h>
#include <hone/term.h>

HONE_BEGIN_DECLS

/* ---- functions of a module ---- */

/* A program with that function alone (mod["name"]). Errors: not_found, unsupported (no PrimFunc).
 */
HONE_API hone_error *hone_program_get(const hone_program *program, const char *function,
                                      hone_program **out_program);
/* The program with the PrimFuncs of `with` added, those of the same name in their place. */
HONE_API hone_error *hone_program_update(const hone_program *program, const hone_program *with,
                                         hone_program **out_program);

/* The string or integer under a key of a PrimFunc's attributes, as text that the caller frees; NULL
 * when there is none. `function` NULL: the only one, or main. */
HONE_API hone_error *hone_program_get_attribute(const hone_program *program, const char *function,
                                                const char *key, char **out_value);
/* The program with a string (NULL removes it) under a key. */
HONE_API hone_error *hone_program_set_attribute(const hone_program *program, const char *function,
                                                const char *key, const char *value,
                                                hone_program **out_program);

/* ---- visitors and mutators ---- */

/* What a visitor is told; each may be NULL. Statements come before what they hold, at their depth;
 * kind: "for", "block", "store", "if", "let", …; name: of the loop's variable, the block, or the
 * buffer that is written, else NULL. Terms come in full: their arguments are theirs to look at. */
typedef struct hone_visitor {
    void (*statement)(void *context, unsigned depth, const char *kind, const char *name);
    void (*term)(void *context, const hone_term *term);
    void *context;
} hone_visitor;

/* Errors: not_found, unsupported (no PrimFunc). */
HONE_API hone_error *hone_program_visit(const hone_program *program, const char *function,
                                        const hone_visitor *visitor);

/* Gets a term whose arguments are already rewritten; returns it, or another one. */
typedef const hone_term *(*hone_mutator)(void *context, hone_terms *terms, const hone_term *term);

/* The program with every term of a PrimFunc rewritten, innermost first. Errors: not_found, type and
 * others of the terms that were made, invalid when what comes out is not well formed. */
HONE_API hone_error *hone_program_rewrite(const hone_program *program, const char *function,
                                          hone_mutator mutator, void *context,
                                          hone_program **out_program);

HONE_END_DECLS

#endif
