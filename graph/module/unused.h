/* graph/module/unused.h - bindings that nobody uses. */
#ifndef HONE_GRAPH_MODULE_UNUSED_H
#define HONE_GRAPH_MODULE_UNUSED_H

#include "ir/core/graph_func.h"

/* Takes those bindings out whose values neither the result nor a binding that stays uses, and that
 * may go. In place; value ids stay. Errors: HONE_CODE_NO_MEMORY. */
HONE_NODISCARD hone_status hone_graph_drop_unused(hone_graph_func *graph,
                                                  bool (*may_go)(const hone_gbind *bind));

#endif
