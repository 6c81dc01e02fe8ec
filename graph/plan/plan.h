/* graph/plan/plan.h - how a prepared graph function runs: kernel calls in order, over one
 * workspace.
 *
 *   tensors[]  every piece of memory that a step touches: input i, output i, constant i, or bytes
 *              from `offset` of the workspace. Several tensors may share memory (reshape).
 *   checks[]   what must hold of the sizes for the steps to be right.
 *   steps[]    calls: the arguments are indices into tensors[], in the order of the callee's buffer
 *              parameters (outputs last); sizes[] are the values of its symbolic sizes in order.
 *
 * Sizes and offsets are expressions over vars[] (constants when the shapes are static: use
 * hone_expr_const). Each var is read off an input's dimension before anything else; all other
 * dimensions of inputs must equal their expression.
 * Lifetime: owned by the plan's arena; the module is retained. Threads: constant after making.
 */
#ifndef HONE_GRAPH_PLAN_PLAN_H
#define HONE_GRAPH_PLAN_PLAN_H

#include "ir/core/module.h"

#define HONE_PLAN_ALIGN 64

typedef enum hone_plan_place {
    HONE_PLAN_INPUT,     /* index: which input */
    HONE_PLAN_OUTPUT,    /* index: which output */
    HONE_PLAN_CONSTANT,  /* index: of module->constants */
    HONE_PLAN_WORKSPACE, /* offset: bytes from its start */
} hone_plan_place;

typedef struct hone_plan_tensor {
    hone_plan_place place;
    uint32_t index;
    const hone_expr *offset; /* WORKSPACE, int64, a multiple of HONE_PLAN_ALIGN */
    const hone_expr *bytes;  /* int64 */
    hone_dtype dtype;
    uint32_t rank;
    const hone_expr *const *shape; /* int64 */
} hone_plan_tensor;

typedef enum hone_plan_step_kind {
    HONE_PLAN_KERNEL, /* func */
    HONE_PLAN_EXTERN, /* callee: call_dps_packed; the last argument is the output */
    HONE_PLAN_COPY,   /* args[0] to args[1], bytes of args[1] (an output that is an input, ...) */
} hone_plan_step_kind;

typedef struct hone_plan_step {
    hone_plan_step_kind kind;
    const char *callee;    /* name of the PrimFunc or of the external function; "copy" */
    const hone_func *func; /* KERNEL */
    uint32_t arg_count;
    const uint32_t *args;  /* indices into tensors[] */
    uint32_t output_count; /* how many of the last args are written */
    uint32_t size_count;
    const hone_expr *const *sizes; /* KERNEL: symbolic sizes and scalar parameters, in ABI order */
} hone_plan_step;

typedef enum hone_plan_relation {
    HONE_PLAN_SAME,
    HONE_PLAN_AT_LEAST,
    HONE_PLAN_AT_MOST
} hone_plan_relation;

/* What must hold of two numbers, and does for some sizes of the inputs only: known when the plan is
 * run. */
typedef struct hone_plan_check {
    hone_plan_relation relation;
    const char *place; /* whose demand it is: the PrimFunc, or the value that is cast */
    const char *what;  /* "dimension 0 of 'B'" */
    const hone_expr *got, *wanted;
} hone_plan_check;

/* What a caller passes in or gets back. */
typedef struct hone_plan_port {
    const char *name;
    uint32_t tensor; /* index into tensors[] */
} hone_plan_port;

/* A symbolic size is dimension `dim` of input `input`. */
typedef struct hone_plan_var {
    const char *name;
    uint32_t input, dim;
} hone_plan_var;

typedef struct hone_plan {
    hone_arena *arena;
    hone_module *module; /* retained */
    const char *name;    /* of the graph function */
    uint32_t input_count, output_count, tensor_count, step_count, var_count;
    const hone_plan_port *inputs, *outputs;
    const hone_plan_tensor *tensors;
    const hone_plan_step *steps;
    uint32_t check_count;
    const hone_plan_check *checks;    /* before the first step */
    const hone_plan_var *vars;        /* index = hone_var of the expressions */
    const hone_expr *workspace_bytes; /* int64, 0 when nothing is needed */
    int64_t unplanned_bytes; /* what the intermediates would take without sharing; -1 = symbolic */
} hone_plan;

/* Plans one graph function of a prepared module (NULL = "main" or the only one). INVALID when it
 * is not prepared, a symbolic size is no dimension of an input, or a call gets a tensor that does
 * not fit whatever the sizes are. */
HONE_NODISCARD hone_status hone_plan_create(hone_module *module, const char *name,
                                            hone_plan **out_plan);
void hone_plan_destroy(hone_plan *plan);

#endif
