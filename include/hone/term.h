/* hone/term.h - terms: the expressions of tensor programs, made and looked at.
 *
 * A term is immutable and lives as long as what made it (a hone_formula, or the pass that it is
 * handed to); terms of one maker may be parts of many others. Constructors stick to the first
 * error: they return NULL, NULL in gives NULL out, and the error comes out of hone_formula_finish
 * or hone_program_rewrite. Types are named as in TVMScript: "float32", "int64", "float16x8".
 * Threads: terms and their maker belong to one thread at a time.
 */
#ifndef HONE_TERM_H
#define HONE_TERM_H

#include <stddef.h>
#include <stdint.h>

#include <hone/error.h>

HONE_BEGIN_DECLS

typedef struct hone_term hone_term;
typedef struct hone_terms hone_terms; /* where terms are made */

/* ---- making ---- */

/* Constants. One beside a term of another type is converted to that type, so type counts where
 * nothing else says it. Mistakes: type (a float of an integer type; no such type), invalid (a
 * number that the type does not have). */
HONE_API const hone_term *hone_term_int(hone_terms *terms, const char *type, int64_t value);
HONE_API const hone_term *hone_term_float(hone_terms *terms, const char *type, double value);
/* The largest and smallest finite number of a type (T.max_value, T.min_value): what minima and
 * maxima start as. */
HONE_API const hone_term *hone_term_highest(hone_terms *terms, const char *type);
HONE_API const hone_term *hone_term_lowest(hone_terms *terms, const char *type);
HONE_API const hone_term *hone_term_string(hone_terms *terms, const char *text); /* copied */

/* op: + - * / // % min max == != < <= > >= and or; truncdiv truncmod, of integers. */
HONE_API const hone_term *hone_term_binary(hone_terms *terms, const char *op, const hone_term *a,
                                           const hone_term *b);
HONE_API const hone_term *hone_term_not(hone_terms *terms, const hone_term *value);
/* Both sides may be evaluated; for one side only call "if_then_else". */
HONE_API const hone_term *hone_term_select(hone_terms *terms, const hone_term *condition,
                                           const hone_term *if_true, const hone_term *if_false);
HONE_API const hone_term *hone_term_cast(hone_terms *terms, const char *type,
                                         const hone_term *value);
/* A function of TVMScript by its name without "T.": exp, tanh, erf, if_then_else, … type NULL: what
 * its arguments say. Mistakes: not_found, invalid (their number), type. */
HONE_API const hone_term *hone_term_call(hone_terms *terms, const char *type, const char *name,
                                         size_t count, const hone_term *const *args);
/* A term with other arguments, as many as it has and of the same types. */
HONE_API const hone_term *hone_term_with_args(hone_terms *terms, const hone_term *term,
                                              const hone_term *const *args);

/* ---- looking ---- */

/* Of a NULL term all of these say nothing: HONE_TERM_OTHER, "", NULL, 0. */
typedef enum hone_term_kind {
    HONE_TERM_INT,
    HONE_TERM_FLOAT,
    HONE_TERM_STRING,
    HONE_TERM_VARIABLE,
    HONE_TERM_BINARY, /* hone_term_name is the operator */
    HONE_TERM_NOT,
    HONE_TERM_SELECT,
    HONE_TERM_CAST,
    HONE_TERM_LOAD, /* an element of a buffer; the arguments are its indices */
    HONE_TERM_CALL, /* hone_term_name is the function */
    HONE_TERM_OTHER /* of vectors, and let */
} hone_term_kind;

HONE_API hone_term_kind hone_term_get_kind(const hone_term *term);
/* Writes the type's name. */
HONE_API void hone_term_get_type(const hone_term *term, char out_type[24]);
/* "+" or "exp", or the text of a string; NULL for other kinds. */
HONE_API const char *hone_term_name(const hone_term *term);
HONE_API size_t hone_term_arg_count(const hone_term *term);
HONE_API const hone_term *hone_term_arg(const hone_term *term, size_t index); /* NULL: no such */
/* The value of a constant; 0 for other kinds. */
HONE_API int64_t hone_term_int_value(const hone_term *term);
HONE_API double hone_term_float_value(const hone_term *term);
/* 1 when both are the same, variables and buffers included. */
HONE_API int hone_term_same(const hone_term *a, const hone_term *b);

HONE_END_DECLS

#endif
