/* include/api_formula.h - a formula, for the files that implement it; not installed. */
#ifndef HONE_INCLUDE_API_FORMULA_H
#define HONE_INCLUDE_API_FORMULA_H

#include <hone/formula.h>

#include "ir/core/module.h"
#include "ir/te/te.h"

struct hone_formula {
    hone_te te;
    hone_te_stage stage;
    hone_module *module;       /* owned until it is finished; the function is made in its arena */
    bool has_axes;             /* an array has been begun */
    hone_arena *late;          /* for terms that are made after the end, and go nowhere */
    const char *reducing_name; /* between reduce_begin and reduce_end: what is reduced, */
    uint32_t reducing_count;   /* how many buffers, else 0, */
    hone_buffer reducing[HONE_TE_MAX_MANY];
};

/* Records a mistake; takes st. */
void hone_formula_fail(hone_formula *f, hone_status st);
/* False after a mistake, and when the formula is finished or NULL. */
bool hone_formula_is_open(hone_formula *f);
/* An array that is there, and complete; else the mistake is recorded. */
bool hone_formula_has_array(hone_formula *f, hone_array array);
/* A type of elements; else the mistake is recorded. */
bool hone_formula_read_type(hone_formula *f, const char *name, const char *type, hone_dtype *out);
/* Ends the axes: false (and a mistake) when none were begun, or when they are of the other sort. */
bool hone_formula_may_end(hone_formula *f, const char *name, bool is_reduction);
/* A term that an element can be: of this array's axes and complete arrays. */
bool hone_formula_is_value(hone_formula *f, const char *name, const hone_term *value);
/* A term of the caller as an extent: over sizes and constants, of the type of indices. `what` is
 * for messages. */
const hone_expr *hone_formula_read_extent(hone_formula *f, const char *what, uint32_t dimension,
                                          const hone_term *term);

#endif
