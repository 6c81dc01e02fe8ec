/* compile/model_tasks.h - the tuning tasks of a model, for choices of its sizes. */
#ifndef HONE_COMPILE_MODEL_TASKS_H
#define HONE_COMPILE_MODEL_TASKS_H

#include "graph/plan/tasks.h"
#include "target/target.h"

/* target: whose kernels they are; NULL: not known, no kernels that some devices have alone.
 * Checks the module, which is frozen, prepares it once per variant, and extracts what there is to
 * tune. Functions that operators which are missing keep from running are left out and named
 * (out_tasks->left_out); UNSUPPORTED when that leaves none. INVALID: not well formed (the message
 * begins with "line:column: "), and the errors of hone_graph_prepare. Deinit also after failure. */
HONE_NODISCARD hone_status hone_model_tasks(const hone_module *module, const hone_target *target,
                                            const hone_dim_variants *variants,
                                            hone_task_list *out_tasks);

#endif
