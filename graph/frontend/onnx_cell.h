/* graph/frontend/onnx_cell.h - one step of LSTM, GRU or RNN. For onnx_recurrent.c, which makes the
 * steps one after the other. */
#ifndef HONE_GRAPH_FRONTEND_ONNX_CELL_H
#define HONE_GRAPH_FRONTEND_ONNX_CELL_H

#include "graph/frontend/nodes/onnx_nodes.h"

enum { ONNX_CELL_GATES = 4, ONNX_CELL_FUNCTIONS = 3 };

/* A function of a cell, with its two numbers. */
typedef struct onnx_cell_function {
    char name[32];
    double alpha, beta;
} onnx_cell_function;

typedef struct onnx_cell {
    onnx_reader *r;
    uint32_t gates; /* 4: LSTM, 3: GRU, 1: RNN */
    uint32_t directions;
    int64_t steps, hidden; /* steps -1: that is not known */
    const hone_expr *batch, *length;
    hone_dtype dtype;
    double clip; /* 0 = none */
    bool is_linear_first, couples_gates, is_batch_first;
    bool is_quantized;                  /* products take data and state as short numbers */
    bool has_attention;                 /* reads a memory after each step */
    hone_garg attention_weight;         /* [directions, gates * hidden, size of what it read] */
    uint32_t h_input, c_input, p_input; /* inputs; 0 = there is none */
    onnx_cell_function functions[2 * ONNX_CELL_FUNCTIONS];
    hone_garg data; /* [steps, batch, inputs] */
} onnx_cell;

/* What a cell reads of a memory (onnx_cell_attention.c). */
typedef struct onnx_cell_attention {
    hone_garg state;        /* what it read last: [batch, size] */
    hone_garg keys, memory; /* [batch, places, depth] of each */
    hone_garg is_there;     /* which places count, [batch, places]; NONE: all */
    hone_garg query;        /* [hidden, depth of keys] */
    hone_garg direction;    /* [depth of keys] */
    hone_garg weight;       /* [size, gates * hidden] */
    hone_garg layer;        /* [hidden + depth, size]; or NONE */
} onnx_cell_attention;

/* One direction of a cell. */
typedef struct onnx_cell_pass {
    const onnx_cell *c;
    const onnx_cell_function *f;
    hone_garg taken; /* of the data: [steps, batch, gates * hidden], biases in it */
    hone_garg weight, last_gate,
        late;             /* [hidden, gates * hidden]; GRU: the parts of the last gate */
    hone_garg peep[3];    /* of gates i, o and f, or NONE */
    hone_garg h, c_state; /* NONE: zeros */
    hone_garg lengths;    /* [batch, 1]; or NONE */
    hone_garg last;       /* the index of the last step, in a loop; or NONE */
    onnx_cell_attention attention;
} onnx_cell_pass;

/* The attributes activations, activation_alpha and activation_beta, or what the operator has
 * without them. INVALID: names that are not known, or too few of them. */
HONE_NODISCARD hone_status onnx_cell_functions(const onnx_reader *r, uint32_t per_direction,
                                               onnx_cell *c);
/* x as the short numbers that it would be quantised to where it is used. */
HONE_NODISCARD hone_status onnx_cell_shorten(const onnx_cell *c, hone_garg x, hone_garg *out);
/* Gate k of what has all of them along the last dimension. */
HONE_NODISCARD hone_status onnx_cell_gate(const onnx_cell *c, hone_garg x, uint32_t k,
                                          hone_garg *out);
/* Zeros of the shape of a state where io is NONE. */
HONE_NODISCARD hone_status onnx_cell_or_zeros(const onnx_cell *c, hone_garg *io);
/* ---- a memory: where the cell has attention ---- */
/* Checks the inputs, and takes the columns of what is read from the weight of the data. */
HONE_NODISCARD hone_status onnx_cell_attention_split(onnx_cell *c);
/* Fills in what a direction has of it: nothing is read yet. */
HONE_NODISCARD hone_status onnx_cell_attention_begin(onnx_cell_pass *p, int64_t d);
/* Adds what a step takes of what was read last. */
HONE_NODISCARD hone_status onnx_cell_attention_take(const onnx_cell_pass *p, hone_garg *io_taken);
/* What is read after a step that gives h. */
HONE_NODISCARD hone_status onnx_cell_attention_read(const onnx_cell_pass *p, hone_garg h,
                                                    hone_garg *out);
/* One step with what it takes of the data; its index matters where sequences have lengths. The
 * states of p become those behind it. */
HONE_NODISCARD hone_status onnx_cell_step(onnx_cell_pass *p, hone_garg index, hone_garg taken,
                                          hone_garg *out);

#endif
