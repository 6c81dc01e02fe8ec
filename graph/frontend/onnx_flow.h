/* graph/frontend/onnx_flow.h - between the files that read If, Loop, Scan and sequences.
 *
 * Sequences are HONE_GARG_TUPLE: lists of values that are known by their indices while the model is
 * read. A sequence whose length comes later is a series (onnx_series.c). An optional is its
 * element, or HONE_GARG_NONE.
 */
#ifndef HONE_GRAPH_FRONTEND_ONNX_FLOW_H
#define HONE_GRAPH_FRONTEND_ONNX_FLOW_H

#include "graph/frontend/onnx_impl.h"

extern const onnx_converter onnx_branch_converters[];
extern const onnx_converter onnx_loop_converters[];
extern const onnx_converter onnx_sequence_converters[];
extern const onnx_converter onnx_recurrent_converters[];
extern const onnx_converter onnx_quant_recurrent_converters[]; /* of com.microsoft */
extern const onnx_converter onnx_linear_attention_converters[];
extern const onnx_converter onnx_flex_converters[]; /* of ai.onnx.preview */

hone_status onnx_attr_graph(const onnx_reader *r, const char *name,
                            const Onnx__GraphProto **out_graph);
/* The nodes of a graph of the current node, called with these inputs, where that stands; outputs
 * has room for all that the graph has. */
HONE_NODISCARD hone_status onnx_read_inside(onnx_reader *r, const Onnx__GraphProto *graph,
                                            uint32_t input_count, const hone_garg *inputs,
                                            hone_garg *outputs);

/* What comes behind a node, in the graph whose outputs are the goal. */
typedef struct onnx_rest {
    size_t count;
    Onnx__NodeProto *const *nodes;
    const Onnx__GraphProto *graph;
} onnx_rest;
/* An if whose branches differ in their numbers of dimensions, with what comes behind it
 * (onnx_rest.c); its condition is input 0. */
HONE_NODISCARD hone_status onnx_convert_rest(onnx_reader *r, const Onnx__NodeProto *node,
                                             const onnx_rest *rest);
/* An if of graphs that end with all that there is: the outputs that are declared tell which one is
 * taken where they differ in their numbers of dimensions, or one of them is wrong. */
HONE_NODISCARD hone_status onnx_convert_branches(onnx_reader *r, hone_garg condition,
                                                 const Onnx__GraphProto *then,
                                                 const Onnx__GraphProto *otherwise, hone_garg *out);

/* Names that graphs take from outside, and the values that they stand for. */
typedef struct onnx_captured {
    const char **names;
    hone_garg *values;
    uint32_t name_count, name_capacity, count, capacity;
} onnx_captured;
/* Adds what a graph takes. */
HONE_NODISCARD hone_status onnx_capture(onnx_reader *r, const Onnx__GraphProto *graph,
                                        onnx_captured *c);

/* A function of the module in the making: its parameters are those of leads[], then the captured
 * values. */
typedef struct onnx_function {
    const char *stem; /* of its name */
    const onnx_captured *captured;
    uint32_t lead_count;
    const hone_sinfo *const *leads;
    bool gives_tuple; /* also of one result */
    void *ctx;
    /* Emits what it does and gives results in the arena. */
    hone_status (*read)(onnx_reader *r, void *ctx, const hone_garg *leads, hone_garg **out_results,
                        uint32_t *out_count);
} onnx_function;
HONE_NODISCARD hone_status onnx_make_function(onnx_reader *r, onnx_function *f,
                                              const char **out_name);

/* A loop whose body is a function of the number of the turn, the states, the items of `given` and
 * what is captured. It gives whether to go on (where there is a condition), the states after the
 * turn, and an item of each scan. */
typedef struct onnx_loop {
    const char *body;
    hone_garg limit;     /* of turns: a PRIM or a scalar */
    hone_garg condition; /* whether to begin, where the body says whether to go on; or NONE */
    uint32_t state_count, given_count, scan_count;
    const hone_garg *states, *given;
    const onnx_captured *captured;
} onnx_loop;
/* results: states, then scans. */
HONE_NODISCARD hone_status onnx_emit_loop(onnx_reader *r, const onnx_loop *loop,
                                          hone_garg *results);
/* Captures a value more for each size of the parameters, or of what is captured, that nothing
 * captured tells. */
HONE_NODISCARD hone_status onnx_capture_sizes(onnx_reader *r, onnx_captured *c);

/* ---- states of loops whose sizes change from turn to turn (onnx_growth.c) ---- */

enum { ONNX_MOST_GROWING = 32 };
/* Dimension `axis` of a state. */
typedef struct onnx_growing {
    uint32_t state, group; /* those of a group have the same size in each turn */
    int32_t axis;
    const hone_expr *begin; /* its size at first */
    const hone_expr *by;    /* how much more it is after a turn */
    const hone_expr *room;  /* what it is held in; NULL: that is not known yet */
    const hone_expr *size;  /* in the body: what it is in this turn */
} onnx_growing;
typedef struct onnx_growth {
    uint32_t count, groups;
    onnx_growing items[ONNX_MOST_GROWING];
} onnx_growth;

/* What changes between states as they begin and after[], what a turn makes of them. */
HONE_NODISCARD hone_status onnx_find_growth(onnx_reader *r, uint32_t count, const hone_garg *states,
                                            const hone_sinfo *const *after, onnx_growth *out);
/* Takes out what changes by nothing, by something else in each turn (`by` does not follow from the
 * sizes around the loop, the first var_count ones) or by something else than its group; whether
 * there was any. */
bool onnx_drop_uneven(uint32_t var_count, onnx_growth *io);
/* The size of each group at first, as a scalar. */
HONE_NODISCARD hone_status onnx_first_sizes(onnx_reader *r, const onnx_growth *g, hone_garg *out);
/* Rooms for `limit` turns, and the states in them. */
HONE_NODISCARD hone_status onnx_make_room(onnx_reader *r, const hone_expr *limit, onnx_growth *g,
                                          hone_garg *io_states);
/* In the body: the states without what is free in their rooms. */
HONE_NODISCARD hone_status onnx_cut_states(onnx_reader *r, onnx_growth *g, const hone_garg *sizes,
                                           hone_garg *io_states);
/* In the body: what a turn made, in the rooms, and the sizes; fills in each `by`. */
HONE_NODISCARD hone_status onnx_keep_states(onnx_reader *r, onnx_growth *g, hone_garg *io_states,
                                            hone_garg *out_sizes);
/* Behind the loop; is_full: as many turns were made as there is room for. */
HONE_NODISCARD hone_status onnx_cut_results(onnx_reader *r, const onnx_growth *g,
                                            const hone_garg *sizes, bool is_full,
                                            hone_garg *io_states);
/* The size follows from the first var_count ones of a function. */
bool onnx_is_known_before(uint32_t var_count, const hone_expr *size);
/* The items at indices along an axis, held within it. */
HONE_NODISCARD hone_status onnx_fit_indices(onnx_reader *r, hone_garg indices, int32_t axis,
                                            hone_garg *io);

/* ---- sequences whose length comes later (onnx_series.c) ---- */

/* A tuple without items that holds one tensor: its dimension 0 counts items of one shape. */
bool onnx_is_series(const hone_garg *arg);
/* How many values a tuple holds: its items, or the one tensor of a series. 0 of all else. */
uint32_t onnx_held_count(const hone_garg *arg);
HONE_NODISCARD hone_status onnx_make_series(onnx_reader *r, hone_garg items, hone_garg *out);
/* UNSUPPORTED for a series, where a list is wanted. */
HONE_NODISCARD hone_status onnx_refuse_series(const hone_garg *arg);
HONE_NODISCARD hone_status onnx_series_length(const onnx_reader *r, const hone_garg *series,
                                              hone_garg *out);
HONE_NODISCARD hone_status onnx_series_at(onnx_reader *r, const hone_garg *series, hone_garg index,
                                          hone_garg *out);
/* All items along an axis of theirs, or along a new one. */
HONE_NODISCARD hone_status onnx_series_concat(onnx_reader *r, const hone_garg *series,
                                              int64_t wanted, bool is_new, hone_garg *out);
/* Each index along the axis, which stays as 1 or goes. */
HONE_NODISCARD hone_status onnx_series_split(onnx_reader *r, hone_garg x, int32_t axis, bool keeps,
                                             hone_garg *out);
/* Sequences that are empty at first and to which each turn of a Loop appends an item. */
typedef struct onnx_appends {
    const Onnx__GraphProto *body; /* without those states; the items are its last outputs */
    uint32_t count, states[ONNX_MAX_OUTPUTS]; /* which, in the order of those outputs */
} onnx_appends;
HONE_NODISCARD hone_status onnx_find_appends(onnx_reader *r, const Onnx__GraphProto *body,
                                             uint32_t state_count, const hone_garg *states,
                                             onnx_appends *out);

/* A number or truth that is known while reading. */
bool onnx_known_truth(const onnx_reader *r, const hone_garg *arg, bool *out);
/* As a tensor of no dimensions. */
HONE_NODISCARD hone_status onnx_as_scalar(onnx_reader *r, hone_garg *arg);
/* Items one behind the other along a new dimension 0. */
HONE_NODISCARD hone_status onnx_stack(onnx_reader *r, uint32_t count, const hone_garg *items,
                                      int64_t axis, hone_garg *out);
/* Item i of a tensor along an axis, which goes away; i is an integer or a scalar. */
HONE_NODISCARD hone_status onnx_item(onnx_reader *r, hone_garg x, hone_garg i, int64_t axis,
                                     hone_garg *out);

#endif
