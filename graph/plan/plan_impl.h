/* graph/plan/plan_impl.h - between plan.c (what runs on which tensors) and plan_memory.c (where
 * they lie). */
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
    uint32_t first, last;    /* steps that touch it, both included */
} plan_storage;

/* Gives every WORKSPACE storage an offset such that two that live at the same time do not overlap;
 * the size of the whole, and of all without sharing (-1 = symbolic). */
hone_status plan_place(hone_ir *ir, plan_storage *storages, uint32_t count,
                       const hone_expr **out_bytes, int64_t *out_unplanned);

/* What must hold of a plan's sizes, in the making (plan_checks.c). */
typedef struct plan_checks {
    hone_arena *arena;
    const hone_graph_func *graph; /* whose sizes they are in */
    hone_plan_check *items;
    uint32_t count, capacity;
} plan_checks;

/* Nothing where it surely holds; INVALID where it surely does not. */
HONE_NODISCARD hone_status plan_check_that(plan_checks *checks, const hone_plan_check *check);
/* What a call of a kernel demands: that tensors fit its parameters, and that it stays inside of
 * them. Leaves the kernel's sizes in fit, of which arith is given. */
HONE_NODISCARD hone_status plan_check_call(plan_checks *checks, const hone_func *func,
                                           const hone_fit_tensor *tensors,
                                           const hone_expr *const *scalars, hone_fit *fit);

#endif
