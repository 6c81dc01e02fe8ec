/* graph/plan/tasks.h - the tuning tasks of prepared modules: plain data.
 *
 * A task is a PrimFunc of static shape that the graph calls, or that stands alone in a module
 * without graph. Kernels that are structurally equal are one task, however often they are called
 * and in however many variants (batch 1, batch 64) they appear.
 */
#ifndef HONE_GRAPH_PLAN_TASKS_H
#define HONE_GRAPH_PLAN_TASKS_H

#include "graph/module/graph_options.h"
#include "support/data/hash.h"

typedef struct hone_task {
    const char *name;      /* of the first PrimFunc: "fused_matmul_add_relu"; unique in the list */
    const hone_func *func; /* in a module that the list holds */
    hone_hash128 hash;     /* hone_func_hash(func): the workload's identity */
    uint32_t
        weight; /* calls of a run, as far as turns of loops are known (1 for a lone PrimFunc) */
    uint64_t constants; /* bit i: the i-th buffer parameter is a weight in every call */
    int64_t *distances; /* by buffer parameter: bytes that the model touches between two uses of
                           what is given for it (reuse.h), the mean of its calls; 0 where that is
                           not known and it is no weight */
    uint32_t variant;   /* which of the given modules it came from first */
    double flops;       /* arithmetic operations on floats, one execution; integer ones when
                           there are no floats */
    double bytes;       /* size of the parameters: the least traffic of one execution */
} hone_task;

typedef struct hone_task_list {
    hone_arena *arena;
    hone_task *items;
    uint32_t count;
    uint32_t skipped;      /* kernels with symbolic sizes: they need --shape, and are no tasks */
    hone_module **modules; /* retained */
    uint32_t module_count;
    int64_t footprint_bytes; /* that a run of the model touches: constants and workspace, of the
                                largest module; 0 = no graph, or not known */
    const char *left_out;    /* functions without tasks, and why; NULL: none (the caller sets it) */
} hone_task_list;

/* modules: results of hone_graph_prepare, one per variant; they are frozen and retained. The order
 * is that of first call. Deinit also after failure. */
HONE_NODISCARD hone_status hone_tasks_extract(hone_module *const *modules, size_t module_count,
                                              hone_task_list *out_list);
void hone_task_list_deinit(hone_task_list *list);

/* NOT_FOUND: no task of the list has the name; says which was meant. */
HONE_NODISCARD hone_status hone_task_list_check_name(const hone_task_list *list, const char *name);

/* Arithmetic operations of one execution of a PrimFunc: counted by walking blocks and loops
 * (selects take the dearer side; while loops count once). A symbolic extent counts as 1 and sets
 * *out_is_symbolic, which may be NULL. */
double hone_func_flops(const hone_func *func, bool *out_is_symbolic);
/* Bytes of all buffer parameters. */
double hone_func_param_bytes(const hone_func *func);

#endif
