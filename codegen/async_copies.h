/* codegen/async_copies.h - stores that copy in the background: what the generators must agree on.
 */
#ifndef HONE_CODEGEN_ASYNC_COPIES_H
#define HONE_CODEGEN_ASYNC_COPIES_H

#include "ir/core/func.h"

enum { COPIES_MOST_CONDITIONS = 4 };

/* What is copied: a load, where all of these hold, and zeros elsewhere. */
typedef struct copies_source {
    const hone_expr *load, *conditions[COPIES_MOST_CONDITIONS];
    unsigned count;
} copies_source;

/* False: the value is something else. */
bool copies_find_source(const hone_expr *value, copies_source *out);

/* The first of neighbours, where an index is that of neighbours; else NULL. */
const hone_expr *copies_first_of(const hone_expr *index);

/* A call names the word among its arguments: T.ptx.cp(…, "async", "commit_group"). */
bool copies_says(const hone_expr *call, const char *word);

/* The pointer, without T.cuda.cvta_generic_to_shared around it. */
const hone_expr *copies_plain_pointer(const hone_expr *e);

/* Bytes that the instruction moves: 4, 8 or 16. */
bool copies_has_size(int64_t bytes);

#endif
