/* costmodel/prior.h - trees that were trained before, on many workloads: what a cost model knows
 * before the first trial of a task.
 *
 * A file of them begins with a line that names the features they are for. Those of another version,
 * or of another number of columns, are refused. `make model` makes costmodel/shipped.model, which
 * is built in.
 */
#ifndef HONE_COSTMODEL_PRIOR_H
#define HONE_COSTMODEL_PRIOR_H

#include "costmodel/tree_forest.h"

void hone_prior_print(const tree_forest *forest, hone_str *out);
/* text[length] is 0. INVALID: no such file; VERSION: for other features. */
HONE_NODISCARD hone_status hone_prior_read(const char *text, size_t length,
                                           tree_forest **out_forest);
/* What is built in; *out_forest NULL: nothing. Errors as of hone_prior_read. */
HONE_NODISCARD hone_status hone_prior_shipped(tree_forest **out_forest);

#endif
