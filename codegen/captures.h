/* codegen/captures.h - what a part of a function uses from around it: the closure of a parallel
 * loop, whose body becomes a function of its own. */
#ifndef HONE_CODEGEN_CAPTURES_H
#define HONE_CODEGEN_CAPTURES_H

#include "ir/core/func.h"

/* One bool for each variable and buffer of the function; the arrays are the caller's. */
typedef struct codegen_captures {
    const bool *vars_in_scope, *buffers_in_scope;
    bool *vars, *buffers; /* set for what is in scope and used; zeroed by the caller */
} codegen_captures;

void codegen_find_captures(const hone_func *func, hone_node_id root, const codegen_captures *out);

#endif
