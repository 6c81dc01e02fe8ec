/* ir/region/region_between.h - the loops and conditions between an access and a node around it; for
 * this folder only. */
#ifndef HONE_IR_REGION_REGION_BETWEEN_H
#define HONE_IR_REGION_REGION_BETWEEN_H

#include "ir/region/written.h"

typedef struct region_between {
    bool *relax;            /* by variable: the loops, func->var_count entries */
    bool *names;            /* by variable: what lets name; NULL: nothing */
    const hone_expr *under; /* what conditions say of the loops, or NULL */
    const hone_expr *fixed; /* what they say of the rest, or NULL */
    bool has_unknown;       /* a condition is no index, or is on what a let names */
} region_between;

/* Looks from a node up to within, both exclusively. False where memory is short. */
bool region_look_between(const hone_dataflow *flow, hone_node_id at, hone_node_id within,
                         region_between *out);
/* The box of what a block (HONE_NO_ID: a statement) accesses, in these surroundings. */
bool region_box_between(const hone_dataflow *flow, hone_node_id block_or_none,
                        const hone_region *region, const region_between *between,
                        hone_interval *out, bool *out_is_exact);
/* Adds a region that is written where a statement is. */
void region_add_written(hone_written *w, hone_node_id at, const hone_region *region);
/* A box over the variable `from` becomes one over `to`; false where memory is short. */
bool region_rename_ends(const hone_dataflow *flow, uint32_t rank, hone_interval *box, hone_var from,
                        const hone_expr *to);

#endif
