/* costmodel/tree_forest.h - evaluates trained trees: flat, read-only, shared by threads.
 *
 * XGBoost trains; scoring is done here, because a score is asked for a few rows at a time, by many
 * threads, thousands of times per second. A forest is immutable and reference-counted.
 */
#ifndef HONE_COSTMODEL_TREE_FOREST_H
#define HONE_COSTMODEL_TREE_FOREST_H

#include <stddef.h>
#include <stdint.h>

#include "support/core/status.h"
#include "support/core/strbuf.h"

typedef struct tree_forest tree_forest;

/* Reads trees in XGBoost's text form, one string per tree; feature k of it is column columns[k]
 * (of `column_count`) of the rows that are scored. INTERNAL: the text is none. */
HONE_NODISCARD hone_status tree_forest_parse(const char *const *trees, size_t tree_count,
                                             const uint32_t *columns, size_t column_count,
                                             tree_forest **out_forest);
/* A text that tree_forest_read reads again, to the same trees: a line for each, its nodes in the
 * order of their depth, "column<threshold" or "=value". */
void tree_forest_print(const tree_forest *forest, hone_str *out);
/* Rows have `columns` columns. INVALID: the text is none, or names others. */
HONE_NODISCARD hone_status tree_forest_read(const char *text, size_t length, uint32_t columns,
                                            tree_forest **out_forest);
/* The forest that says the mean of what others say; NULL, in which nothing was learned, says 0. */
HONE_NODISCARD hone_status tree_forest_mean(const tree_forest *const *forests, size_t count,
                                            tree_forest **out_forest);
tree_forest *tree_forest_retain(tree_forest *forest); /* NULL stays NULL */
void tree_forest_release(tree_forest *forest);
size_t tree_forest_count(const tree_forest *forest); /* 0 for NULL */

/* The sum of the trees for one row. */
double tree_forest_row(const tree_forest *forest, const float *row);
/* The sum of these over the rows of a candidate; 0 for NULL. */
double tree_forest_rows(const tree_forest *forest, const float *rows, uint32_t row_count,
                        uint32_t columns);

#endif
