/* ir/verify/verify_impl.h - what the files of the verifier share. For this folder only. */
#ifndef HONE_IR_VERIFY_VERIFY_IMPL_H
#define HONE_IR_VERIFY_VERIFY_IMPL_H

#include "ir/core/touches.h"
#include "ir/region/points.h"
#include "ir/region/region.h"
#include "ir/region/region_facts.h"
#include "ir/verify/verify.h"

typedef struct verifier {
    const hone_func *func;
    hone_findings *out;
    hone_arith arith;        /* loops and axes in force, with their ranges */
    hone_arena *arena;       /* scratch */
    bool *is_defined;        /* by variable */
    bool *was_bound;         /* by variable: by a loop, an axis or a let, now or before */
    bool *is_hidden;         /* by variable: a loop outside of the block in hand */
    bool *is_live;           /* by buffer */
    bool *relax;             /* by variable: all that run */
    region_facts facts;      /* conditions in force, those that are linear */
    hone_points points;      /* the same conditions as they stand, and where variables come from */
    const hone_usage *usage; /* by buffer; NULL: not asked for */
    const hone_region *const *stores; /* what is ever stored, by buffer; NULL: not asked for */
    hone_region_inference *regions;   /* NULL: not asked for */
    hone_node_id node;                /* the statement in hand */
    hone_node_id block;               /* the innermost block, or HONE_NO_ID */
    uint32_t loops_at_once;           /* of those around: concurrent ones, and those of threads */
    const hone_buffer_info *declared; /* the buffer whose declaration is in hand, or NULL */
    bool is_short_of_memory;
    bool is_asked_for; /* the place in hand is not read: it may lie outside */
    bool in_region;    /* indices there are not evaluated: they may leave a buffer */
} verifier;

/* Notes that a rule is broken at the node, or that what stands there is suspicious. */
void verify_error(verifier *v, hone_node_id node, const char *format, ...) HONE_PRINTF(3, 4);
void verify_warning(verifier *v, hone_node_id node, const char *format, ...) HONE_PRINTF(3, 4);
const char *verify_block_name(const verifier *v); /* of the innermost block, or the function */
const char *verify_var_name(const verifier *v, hone_var var);

/* Adds a condition that holds (is_negated: does not hold) from here on, until the caller puts
 * points.guard_count back. is_soft: see hone_guard. */
void verify_know(verifier *v, const hone_expr *condition, bool is_negated, bool is_soft);

/* verify_expr.c */
/* Appends " (i = 3, j = 0)": the variables of e at the point in hand. */
void verify_show_point(verifier *v, const hone_expr *e, hone_str *out);
void verify_expr(verifier *v, const hone_expr *e);
/* An expression that must be one integer: loop ends, extents, indices. */
void verify_integer(verifier *v, const hone_expr *e, const char *what);
void verify_condition(verifier *v, const hone_expr *e, const char *what);
void verify_access(verifier *v, hone_buffer buffer, uint32_t rank, const hone_expr *const *indices,
                   const char *verb);

/* verify_declare.c: a buffer from its declaration at a statement on (HONE_NO_ID: a parameter) */
void verify_declare_buffer(verifier *v, hone_node_id id, hone_buffer buffer);
/* Sizes that the shape of a parameter or a view brings in. */
void verify_define_sizes(verifier *v, const hone_buffer_info *info);

/* verify_view.c: an access of a buffer that shows the storage of another one */
void verify_view_access(verifier *v, const hone_buffer_info *view, const hone_expr *const *indices,
                        const char *verb);

/* verify_thread.c: a loop, by its extent and kind and by what is around it */
void verify_loop(verifier *v, hone_node_id id);

/* verify_race.c: a store, beside other iterations of the same */
void verify_races(verifier *v, hone_node_id id);
/* Each iteration of the loop has a copy of its own of the buffer. */
bool verify_is_private(const verifier *v, hone_node_id loop, hone_buffer buffer);

/* verify_pipeline.c: a loop that is to be pipelined; a block that wants two copies of a buffer */
void verify_pipeline(verifier *v, hone_node_id id);
void verify_double_buffer(verifier *v, hone_node_id id);

/* In messages: "parallel", "vectorized", or the threads that it is bound to. */
const char *verify_loop_kind(const hone_node *loop);

/* verify_share.c: a loop whose iterations run at once; some of them are tried */
void verify_sharing(verifier *v, hone_node_id loop);

/* verify_flow.c: what is filled before it is read, over the whole function */
void verify_flow(verifier *v);

/* verify_filled.c: before all else; at a read; after all else */
void verify_find_stores(verifier *v);
void verify_filled(verifier *v, hone_buffer buffer, uint32_t d, const hone_expr *index);
void verify_outputs(verifier *v);

/* verify_odd.c: what is hardly meant; names at the end */
void verify_odd_store(verifier *v, hone_node_id id);
/* What T.init sets (first), beside what the block makes of it (update). */
void verify_odd_start(verifier *v, hone_node_id block, hone_node_id first, hone_node_id update);
void verify_odd_loop(verifier *v, hone_node_id id);
void verify_odd_while(verifier *v, hone_node_id id);
void verify_odd_condition(verifier *v, hone_node_id id, const hone_expr *condition);
void verify_block_names(verifier *v);

/* The integer variable bounds a buffer, a loop or an axis; else it is used as an index, and may
 * have any value. */
bool verify_bounds_something(const hone_func *func, hone_var var);

/* verify_size.c: e leaves [begin, begin + extent) whatever the sizes are, shown by an example:
 * values of e and extent, " (i = 63)" in out_where and the sizes chosen for it, " for n = 64", in
 * out_sizes. */
bool verify_leaves_for_all_sizes(verifier *v, const hone_expr *e, const hone_expr *begin,
                                 const hone_expr *extent, int64_t *out_value, int64_t *out_extent,
                                 hone_str *out_where, hone_str *out_sizes);
/* verify_leaves_for_all_sizes, for a program that is right only where some of its sizes are equal:
 * the example has them differ. */
bool verify_leaves_for_other_sizes(verifier *v, const hone_expr *e, const hone_expr *begin,
                                   const hone_expr *extent, int64_t *out_value, int64_t *out_extent,
                                   hone_str *out_where, hone_str *out_sizes);

/* verify_block.c: with the axes not yet defined, then inside */
void verify_block_outside(verifier *v, hone_node_id id);
void verify_block_inside(verifier *v, hone_node_id id);

/* verify_cover.c: an axis of known size whose binding runs from lo to hi only, within its domain */
void verify_uncovered(verifier *v, hone_node_id id, uint32_t axis, int64_t lo, int64_t hi);
/* Another block also writes what this one writes, so each may do a part. */
bool verify_shares_output(const verifier *v, hone_node_id id);
const char *verify_axis_word(hone_axis_kind kind);

/* verify_region.c: a region by itself; those of a block, with its axes defined */
void verify_region_shape(verifier *v, hone_node_id id, const hone_region *region, const char *what);
void verify_regions(verifier *v, hone_node_id id);

/* verify_graph.c */
hone_status verify_graph(const hone_module *module, const hone_graph_func *graph,
                         hone_findings *out);
void verify_add(hone_findings *out, hone_finding finding, const char *text);

/* verify_reduce.c: what is said of the reduction that a block is, or hides */
/* The condition is false by its constants alone. */
bool verify_never_holds(const hone_expr *e);
/* One of the axes is a reduction. */
bool verify_has_reduce_axis(const hone_block *block);
/* A loop inside the reduction that moves no axis repeats every update. */
void verify_reduction_loops(verifier *v, hone_node_id id);
/* A spatial axis takes each value once; an update in place shows when it does not. */
void verify_repeated_update(verifier *v, hone_node_id id);
/* What a reduction adds to must have been set, by its T.init or before. */
void verify_init(verifier *v, hone_node_id id);
/* A reduction stores to places that do not move with its reduction axes, and starts them all. */
void verify_outputs_of_block(verifier *v, hone_node_id id);

#endif
