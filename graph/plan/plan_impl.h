/* graph/plan/plan_impl.h - between plan.c and its parts: plan_tensors.c, plan_steps.c (what runs on
 * which tensors), plan_flow.c (branches and loops), plan_ports.c, plan_memory.c (where they lie).
 */
#ifndef HONE_GRAPH_PLAN_PLAN_IMPL_H
#define HONE_GRAPH_PLAN_PLAN_IMPL_H

#include "graph/plan/plan.h"
#include "ir/ops/fit.h"

/* A piece of memory that some step writes: shared by all tensors that are views of it. */
typedef struct plan_storage {
    hone_plan_place place;   /* WORKSPACE until an output takes it */
    uint32_t index;          /* of the output */
    const hone_expr *bytes;  /* int64 */
    const hone_expr *offset; /* found by plan_place */
    uint32_t phase;          /* from which its bytes are known */
    uint32_t first, last;    /* steps that touch it, both included */
    bool has_parts;          /* some of its tensors are parts: it is no output */
} plan_storage;

/* Gives every WORKSPACE storage of a phase an offset, a multiple of align, such that two that live
 * at the same time do not overlap; the size of the whole, and of all without sharing (-1 =
 * symbolic). */
hone_status plan_place(hone_ir *ir, uint32_t phase, int64_t align, plan_storage *storages,
                       uint32_t count, const hone_expr **out_bytes, int64_t *out_unplanned);

/* What must hold of a plan's sizes, in the making (plan_checks.c). */
typedef struct plan_checks {
    hone_arena *arena;
    hone_plan *plan;              /* whose vars they are in */
    const hone_graph_func *graph; /* which names them */
    hone_plan_check *items;
    uint32_t count, capacity;
    uint32_t demand, demand_count; /* the DEMAND step that the coming checks are of; 0: none */
    uint32_t phases_before;        /* as many were known at that step */
} plan_checks;

/* Adds a check that is made at each call, also where its outcome is known. */
HONE_NODISCARD hone_status plan_check_add(plan_checks *checks, const hone_plan_check *check);
/* Adds a check unless it is proved to hold for all sizes; INVALID where it is proved not to, and is
 * demanded of all runs. */
HONE_NODISCARD hone_status plan_check_that(plan_checks *checks, const hone_plan_check *check);
/* That e is surely at least 0, for all sizes that inputs have. */
HONE_NODISCARD hone_status plan_check_is_positive(plan_checks *checks, const hone_expr *e,
                                                  bool *out_is_so);
/* Adds the checks of a kernel's call: that the tensors fit its parameters, and that all accesses
 * stay inside of them. fit: the caller sets arith; gets the values of the kernel's sizes. */
HONE_NODISCARD hone_status plan_check_call(plan_checks *checks, const hone_func *func,
                                           const hone_fit_tensor *tensors,
                                           const hone_expr *const *scalars, hone_fit *fit);
/* Adds checks that a reduction reduces something: sizes of its inputs that may be 0 must be at
 * least 1, except those that its output (the last of count tensors) has as well. */
HONE_NODISCARD hone_status plan_check_reduction(plan_checks *checks, const hone_func *func,
                                                const hone_fit_tensor *tensors, uint32_t count);

/* ---- sizes that are elements of tensors (plan_sizes.c) ---- */

/* Makes the vars: dimensions of inputs, and room for elements; those have the names and greatest
 * values that the graph function says. */
HONE_NODISCARD hone_status plan_vars_begin(hone_plan *plan, const hone_graph_func *graph,
                                           const hone_plan_tensor *tensors,
                                           hone_plan_var **out_vars);
/* Makes room for `more` vars; the array may move (*io_vars and plan->vars are set anew). */
HONE_NODISCARD hone_status plan_vars_reserve(hone_plan *plan, uint32_t more, uint32_t *io_capacity,
                                             hone_plan_var **io_vars);
/* For a SIZES step: the elements of `tensor` are the dimensions of `shape`. Each becomes a var of a
 * new phase, *out_phase; where the dimension is not just a size that nothing gave before, a check
 * says that both are the same. *out_phase 0: the shape has no dimensions, or is not known. The
 * caller has reserved a var for each dimension. */
HONE_NODISCARD hone_status plan_bind_sizes(plan_checks *checks, hone_plan_var *vars,
                                           const char *name, const hone_sinfo *shape,
                                           uint32_t tensor, uint32_t *out_phase);

/* What a graph value is: a tensor, a tuple of values, or a shape that is in a tensor. */
typedef struct plan_value {
    bool is_known, is_tuple, is_shape;
    uint32_t tensor; /* index, of a tensor */
    uint32_t count;  /* items of a tuple */
    uint32_t *items; /* tensors */
} plan_value;

typedef struct planner {
    hone_plan *plan;
    int64_t align; /* of tensors in memory: bytes */
    hone_ir ir;
    hone_plan_tensor *tensors;
    uint32_t *storage_of; /* by tensor; HONE_NO_ID: an input or a constant */
    int64_t *begins;      /* by tensor: bytes from the start of its storage */
    uint32_t tensor_count, tensor_capacity, storage_link_capacity, begin_capacity;
    plan_storage *storages;
    uint32_t storage_count, storage_capacity;
    hone_plan_step *steps;
    uint32_t step_count, step_capacity;
    plan_checks checks;
    hone_plan_var *vars; /* the plan's */
    uint32_t var_capacity;
    uint32_t *constants; /* tensor of each constant, or HONE_NO_ID */
    /* the function whose bindings are planned: the plan's own, or one that it calls */
    const hone_graph_func *graph;
    plan_value *values;
    const hone_expr **sizes; /* of a called one: its sizes in those of the plan's */
    uint32_t depth;
} planner;

/* ---- plan_tensors.c ---- */
/* A tensor of these dimensions, which are in the plan's sizes, in no storage. INVALID: its shape is
 * not known. */
HONE_NODISCARD hone_status plan_add_tensor(planner *p, hone_plan_place place, uint32_t index,
                                           const hone_sinfo *info, uint32_t *out);
/* Another view of a tensor's memory, from so many bytes on. */
HONE_NODISCARD hone_status plan_add_view(planner *p, uint32_t of, int64_t begin,
                                         const hone_sinfo *info, uint32_t *out);
/* A tensor with memory of its own, written first by the coming step; info is in the plan's sizes.
 */
HONE_NODISCARD hone_status plan_add_result(planner *p, const hone_sinfo *info, uint32_t *out);
HONE_NODISCARD hone_status plan_value_of(planner *p, const hone_garg *arg, plan_value *out);
/* INVALID: the argument is no tensor. */
HONE_NODISCARD hone_status plan_tensor_of(planner *p, const hone_garg *arg, uint32_t *out);
/* The coming step reads or writes the tensor. */
void plan_touch(planner *p, uint32_t tensor);
/* The info with the sizes of a called function replaced by the plan's. */
HONE_NODISCARD hone_status plan_info(planner *p, const hone_sinfo *info, const hone_sinfo **out);
/* plan_info of the value that a binding defines. */
HONE_NODISCARD hone_status plan_info_of(planner *p, const hone_gbind *bind, const hone_sinfo **out);
/* Two known types of one value must have the same extents. */
HONE_NODISCARD hone_status plan_check_extents(planner *p, const char *name, uint32_t tensor,
                                              const hone_sinfo *info);

/* ---- plan_steps.c ---- */
HONE_NODISCARD hone_status plan_add_step(planner *p, const hone_plan_step *step);
/* Makes the steps of all bindings of p->graph. */
HONE_NODISCARD hone_status plan_bindings(planner *p);

/* ---- plan_ports.c ---- */
/* Makes the ports of inputs; before plan_bindings. */
HONE_NODISCARD hone_status plan_inputs(planner *p);
/* Makes the ports of outputs, and copies to them what cannot be computed in their memory: inputs,
 * constants, other outputs. After plan_bindings. */
HONE_NODISCARD hone_status plan_outputs(planner *p);
/* INVALID, with its name, where something depends on a size that no input or step gives. */
HONE_NODISCARD hone_status plan_check_vars(const planner *p);

/* ---- plan_flow.c ---- */
HONE_NODISCARD hone_status plan_if(planner *p, const hone_gbind *bind);
HONE_NODISCARD hone_status plan_call_func(planner *p, const hone_gbind *bind);
HONE_NODISCARD hone_status plan_loop(planner *p, const hone_gbind *bind);

#endif
