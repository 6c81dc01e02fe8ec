/* graph/frontend/onnx_turns.h - the turns of Loop and Scan: read one by one where they stand in
 * place, or as the body of a loop of the graph. For this folder only. */
#ifndef HONE_GRAPH_FRONTEND_ONNX_TURNS_H
#define HONE_GRAPH_FRONTEND_ONNX_TURNS_H

#include "graph/frontend/onnx_flow.h"

typedef struct onnx_turns {
    const Onnx__GraphProto *body;
    bool is_scan;
    uint32_t state_count, whole_count, scan_count;
    hone_garg *states; /* as they begin; then as they are */
    hone_garg *wholes; /* of which a Scan takes an item per turn */
    int64_t axes[ONNX_MAX_OUTPUTS];
    hone_garg limit;     /* PRIM, or a value */
    int64_t known;       /* how many turns at most; -1: that is not known */
    hone_garg condition; /* whether to begin; NONE: yes */
    hone_garg *results;  /* states, then scans */
    onnx_growth *growth; /* the last states are the sizes of others; or NULL */
} onnx_turns;

/* Reads the body, and the states from input first_state on; wholes come behind them. The counts of
 * states and wholes are given; INVALID: the body gives other numbers of values. */
HONE_NODISCARD hone_status onnx_begin_turns(onnx_reader *r, onnx_turns *t, uint32_t first_state);
/* Reads the body once, as turn i (PRIM, or a value) of these states and wholes: outputs gets
 * whether to go on (not of a Scan), states, scans. */
HONE_NODISCARD hone_status onnx_read_turn(onnx_reader *r, const onnx_turns *t, hone_garg i,
                                          const hone_garg *states, const hone_garg *wholes,
                                          hone_garg *outputs);
/* All turns, in place where they are few, else as a loop; t->results are set. UNSUPPORTED: neither
 * can be, and which is missing. */
HONE_NODISCARD hone_status onnx_run_turns(onnx_reader *r, onnx_turns *t);
/* onnx_run_turns, also where states are sequences that a loop appends to. */
HONE_NODISCARD hone_status onnx_run_loop(onnx_reader *r, onnx_turns *t);
/* All turns as a loop of the graph (onnx_turns_loop.c). */
HONE_NODISCARD hone_status onnx_turns_as_loop(onnx_reader *r, onnx_turns *t);

#endif
