/* graph/plan/plan.h - how a prepared graph function runs: kernel calls in order, over one
 * workspace.
 *
 *   tensors[]  every piece of memory that a step touches: input i, output i, constant i, or bytes
 *              from `offset` of the workspace. Several tensors may share memory (reshape).
 *   checks[]   what must hold of the sizes for the steps to be right; what a branch or a turn of a
 *              loop demands, where the plan comes by it.
 *   steps[]    calls: the arguments are indices into tensors[], in the order of the callee's buffer
 *              parameters (outputs last); sizes[] are the values of its symbolic sizes in order.
 *              Branches and loops are steps that go on elsewhere, as their body is among the steps
 *              (drawing: plan_flow.c).
 *
 * Sizes and offsets are expressions over vars[] (constants when the shapes are static: use
 * hone_expr_const). A var is read off an input's dimension before anything else; all other
 * dimensions of inputs must equal their expression. Or it is an element of a tensor that a step
 * computes: then it is known from a SIZES step on, which begins a phase. A phase has a workspace of
 * its own, for what has a size that was not known before, and checks of its own.
 *
 *   phase 0  sizes of inputs ─► checks ─► workspace 0 ─► steps ─┐
 *   phase 1  SIZES: elements of a tensor ─► checks ─► workspace 1 ─► steps ─► ...
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
    HONE_PLAN_WORKSPACE, /* index: of which phase; offset: bytes from its start */
} hone_plan_place;

typedef struct hone_plan_tensor {
    hone_plan_place place;
    uint32_t index;
    const hone_expr *offset; /* WORKSPACE, int64, a multiple of the plan's alignment */
    const hone_expr *bytes;  /* int64 */
    hone_dtype dtype;
    uint32_t rank;
    const hone_expr *const *shape; /* int64 */
} hone_plan_tensor;

typedef enum hone_plan_step_kind {
    HONE_PLAN_KERNEL, /* func */
    HONE_PLAN_EXTERN, /* callee: call_dps_packed; the last argument is the output */
    HONE_PLAN_COPY,   /* args[0] to args[1], bytes of args[1] (an output that is an input, ...) */
    HONE_PLAN_SIZES,  /* begins `phase`: its vars are elements of args[0] */
    HONE_PLAN_UNLESS, /* goes on at target where args[0], a bool, is false */
    HONE_PLAN_GO,     /* goes on at target */
    HONE_PLAN_START,  /* args[0], an int64, becomes -1 */
    HONE_PLAN_NEXT,   /* args[0] grows by 1; at target where it is not below its limit: sizes[0], or
                         else args[1] */
    HONE_PLAN_PLACE,  /* args[0] becomes item args[1] (an int64) of args[2] */
    HONE_PLAN_DEMAND, /* here the checks of `demand` must hold */
} hone_plan_step_kind;

typedef struct hone_plan_step {
    hone_plan_step_kind kind;
    const char *callee;    /* name of the PrimFunc or of the external function; "copy", ... */
    const hone_func *func; /* KERNEL */
    uint32_t arg_count;
    const uint32_t *args;  /* indices into tensors[] */
    uint32_t output_count; /* how many of the last args are written */
    uint32_t size_count;
    const hone_expr *const *sizes; /* KERNEL: symbolic sizes and scalar parameters, in ABI order */
    uint32_t phase;                /* SIZES */
    uint32_t target;               /* index of a step, or their number */
    uint32_t demand;               /* DEMAND: from 1 on */
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
    uint32_t phase;  /* from which on both are known */
    uint32_t demand; /* of the DEMAND step that wants it; 0: its phase does */
} hone_plan_check;

/* What a caller passes in or gets back. */
typedef struct hone_plan_port {
    const char *name;
    uint32_t tensor; /* index into tensors[] */
} hone_plan_port;

/* A symbolic size is dimension `dim` of input `input`, or element `dim` of tensor `tensor`. */
typedef struct hone_plan_var {
    const char *name;
    uint32_t input, dim; /* input HONE_NO_ID: none */
    uint32_t tensor;     /* HONE_NO_ID: none */
    uint32_t phase;
    int64_t most; /* of an element: the greatest it can be; -1 = that is not known */
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
    const hone_plan_check *checks;           /* before the first step of their phase, or DEMAND */
    const hone_plan_var *vars;               /* index = hone_var of the expressions */
    uint32_t phase_count;                    /* at least 1 */
    const hone_expr *const *workspace_bytes; /* by phase: int64, 0 when nothing is needed */
    int64_t unplanned_bytes; /* what the intermediates would take without sharing; -1 = symbolic */
} hone_plan;

/* Plans one graph function of a prepared module (NULL = "main" or the only one) for memory in which
 * tensors lie at multiples of `align` bytes, a multiple of HONE_PLAN_ALIGN. INVALID when it is not
 * prepared, a symbolic size is given by nothing, or a call gets a tensor that does not fit whatever
 * the sizes are. */
HONE_NODISCARD hone_status hone_plan_create(hone_module *module, const char *name, int64_t align,
                                            hone_plan **out_plan);
void hone_plan_destroy(hone_plan *plan);
/* From which phase on an expression is known. */
uint32_t hone_plan_phase_of(const hone_plan *plan, const hone_expr *e);
/* The greatest that an expression can be, for the sizes that are elements of tensors; -1 = there is
 * no such number, or it depends on others. */
HONE_NODISCARD hone_status hone_plan_most(const hone_plan *plan, const hone_expr *e,
                                          int64_t *out_most);

#endif
