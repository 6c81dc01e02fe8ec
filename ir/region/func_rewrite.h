/* ir/region/func_rewrite.h - all terms of a function rewritten, with what follows from it.
 *
 * What blocks declare to read and write is rewritten with everything else; where a body touches
 * other elements than before, the declaration becomes what it touches now.
 * Threads: thread-compatible; memory is that of the function's arena.
 */
#ifndef HONE_IR_REGION_FUNC_REWRITE_H
#define HONE_IR_REGION_FUNC_REWRITE_H

#include "ir/core/func.h"

/* As hone_tree_transform of the whole function, blocks included. What comes out may be ill formed:
 * hone_check_func tells. */
HONE_NODISCARD hone_status hone_func_rewrite(hone_func *func, hone_expr_rewrite rewrite, void *ctx);

#endif
