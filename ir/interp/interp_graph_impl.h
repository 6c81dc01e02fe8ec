/* ir/interp/interp_graph_impl.h - one call of a graph function: values, calls, loops. For this
 * folder only.
 *
 * All that returns a status fails with NO_MEMORY, too. Memory of values is the frame's, tensors are
 * owned by the frame that made them or by whoever called it.
 */
#ifndef HONE_IR_INTERP_INTERP_GRAPH_IMPL_H
#define HONE_IR_INTERP_INTERP_GRAPH_IMPL_H

#include "ir/interp/interp.h"

enum { MAX_TENSORS_OF_CALL = 256 };

typedef enum value_kind { V_NONE, V_TENSOR, V_SHAPE, V_TUPLE } value_kind;

typedef struct gvalue {
    value_kind kind;
    uint32_t count;
    hone_tensor *tensor; /* not owned */
    const int64_t *dims;
    const struct gvalue *items;
} gvalue;

/* One call of a graph function. */
typedef struct frame {
    const hone_module *module;
    const hone_graph_func *graph;
    const hone_interp_options *options;
    hone_arena *arena;
    gvalue *values;          /* by value */
    const hone_expr **sizes; /* by symbolic size: its value, or NULL */
    hone_tensor **owned;
    uint32_t owned_count, owned_capacity, depth;
} frame;

/* What a program or an external function is called with. */
typedef struct frame_args {
    hone_tensor *tensors[MAX_TENSORS_OF_CALL];
    uint32_t count;
} frame_args;

hone_status frame_no_memory(void);
/* Runs a graph function; depth: how many calls it is inside of. Results are copies that the caller
 * owns. ILLEGAL: it calls itself without end. */
HONE_NODISCARD hone_status frame_run_graph(const hone_module *module, const hone_graph_func *graph,
                                           const gvalue *inputs, uint32_t depth,
                                           const hone_interp_options *options,
                                           hone_tensor ***out_results, size_t *out_count);

/* ---- values (interp_graph_value.c) ---- */
/* Takes the tensor, also where it fails. */
HONE_NODISCARD hone_status frame_own(frame *f, hone_tensor *tensor);
/* A tensor of the frame's, and a scalar of that value. */
HONE_NODISCARD hone_status frame_tensor(frame *f, hone_dtype dtype, int32_t rank,
                                        const int64_t *shape, hone_tensor **out_tensor);
HONE_NODISCARD hone_status frame_number(frame *f, hone_dtype dtype, int64_t value,
                                        hone_tensor **out_tensor);
/* INVALID: a size in it has no value yet. */
HONE_NODISCARD hone_status frame_size(frame *f, const hone_expr *e, int64_t *out_value);
/* Binds sizes to what a value has, or compares: INVALID. lone: only extents that are a size alone
 * (first, so that others can be computed from them). */
HONE_NODISCARD hone_status frame_match(frame *f, const char *name, const hone_sinfo *info,
                                       const gvalue *value, bool lone);
/* ILLEGAL: it uses what is not defined. */
HONE_NODISCARD hone_status frame_eval(frame *f, const hone_garg *arg, gvalue *out_value);

/* ---- calls (interp_graph_call.c) ---- */
/* The tensors in a value, shapes as tensors. UNSUPPORTED: they are too many. */
HONE_NODISCARD hone_status frame_push(frame *f, frame_args *c, const gvalue *value);
/* Makes what a call writes, as its struct info says, in float64 where that widens. */
HONE_NODISCARD hone_status frame_output(frame *f, frame_args *c, const hone_sinfo *info,
                                        bool widens, gvalue *out_value);
const hone_sinfo *frame_info(const frame *f, const hone_gbind *bind);
bool frame_widens(const frame *f);
HONE_NODISCARD hone_status frame_call_tir(frame *f, const hone_gbind *bind, gvalue *out_value);
HONE_NODISCARD hone_status frame_call_external(frame *f, const hone_gbind *bind, gvalue *out_value);
/* What a graph function gives for these values. */
HONE_NODISCARD hone_status frame_call(frame *f, const char *callee, uint32_t count,
                                      const gvalue *inputs, gvalue *out_value);
/* ---- the operator "loop" (interp_graph_loop.c) ---- */
HONE_NODISCARD hone_status frame_loop(frame *f, const hone_gbind *bind, gvalue *out_value);

#endif
