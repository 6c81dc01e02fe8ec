/* ir/interp/interp.h - the interpreter: what a tensor program means, slowly and exactly.
 *
 * The oracle of every lowering, schedule and code generator test. Runs programs before and after
 * lowering. Every store rounds to the dtype of its buffer (f16, bf16, fp8 by round to nearest
 * even); float32 arithmetic is done in float32, integers wrap at their width. Parallel, vectorized
 * and thread-bound loops run in order. It finds wrong programs, not only wrong numbers:
 * out-of-bounds accesses, reads of elements never written (check_uninitialised), divisions by
 * zero, reduction axes out of their domain, a block axis outside its domain, and (check_races) two
 * iterations of a parallel, vectorized or thread-bound loop touching one element, one of them
 * writing.
 *
 * is_scheduled: a buffer that is used inside of a loop only, whose iterations run at once, is each
 * iteration's own, wherever it is allocated: lowering will put it there. That one reads what
 * another one wrote is a race still.
 *
 * Threads of a block may touch one element of shared memory, as lowering makes them wait for each
 * other between statements; that two of them store different values there within one statement is
 * a race, in whatever order they run: S[t % 32] of 64 threads. Where they wait for each other, all
 * that they touch between two syncs counts. (Atomic updates and sums over threads are none.)
 *
 * allow_repeats: an iteration may write what another one wrote if that is the value which is there.
 * Schedules make such programs of blocks whose instances run more than once; in a program that was
 * written by hand it is more likely a mistake.
 *
 * Semantics where the language leaves a choice: min and max are a < b ? a : b and a > b ? a : b (so
 * with a NaN the result is b); Select evaluates all operands, if_then_else only the side it takes,
 * and and or their right one only where it matters; a float that does not fit the integer it is
 * cast to saturates, NaN becomes 0; integer division by zero and a shift by the width or more are
 * errors; float functions are computed in double and rounded once. A block's init runs when its
 * predicate holds and all its reduction axes are at the beginning of their domains. What a block
 * allocates is new at each execution and holds garbage (NaN). Thread-bound loops are nested serial
 * loops, also when a tag occurs twice, which is what scheduled programs mean before their threads
 * are unified. Where tvm_storage_sync or an exchange of values stands below them
 * (tvm_thread_allreduce, shuffles: interp_lanes.c), threads run together from one sync to the next,
 * a tag that occurs twice is one thread, and what two of them touch in between is a race
 * (interp_threads.c); a buffer that is used inside such a loop only is each thread's own, wherever
 * it is allocated (interp_private.c). Matrix instructions (wmma, ldmatrix, mma) do to buffers what
 * they do to registers (interp_matrix.c). Asynchronous copies are done at once; with check_races
 * what they write must not be touched before it is waited for (interp_async.c). Atomic updates of
 * one element are no race (interp_atomic.c). Integers of less than a byte take one in a buffer.
 *
 * out_bounds: a float64 tensor as large as the argument (NULL: not wanted) gets how far each
 * element may lie from that of another evaluation, which takes sums in another order, rounds
 * products or not, and is right to a few roundings where it calls functions: 0 for what was not
 * computed from rounded numbers, infinite where nothing can be said (interp_bound.c). UNSUPPORTED
 * where statements depend on rounded numbers, and for calls with effects and for vectors made of
 * others.
 */
#ifndef HONE_IR_INTERP_INTERP_H
#define HONE_IR_INTERP_INTERP_H

#include "ir/core/module.h"

/* An external function (call_extern, call_packed, call_dps_packed): args are dense tensor views,
 * scalars are rank-0 tensors. The last one is the output of a DPS call, and of a
 * call_pure_extern or another call with a result other than int32 (then of rank 0). */
typedef hone_status (*hone_extern_fn)(void *ctx, const char *name, hone_tensor *const *args,
                                      size_t arg_count);

/* A function of C: pointers are tensors of a rank above 0, numbers of rank 0; result is NULL when
 * there is none. */
typedef hone_status (*hone_c_fn)(void *ctx, const char *name, hone_tensor *const *args,
                                 size_t arg_count, hone_tensor *result);

typedef struct hone_interp_options {
    hone_extern_fn call_extern; /* NULL: external calls are refused */
    hone_c_fn call_c; /* call_extern and call_pure_extern; NULL: call_extern does these too */
    void *extern_ctx;
    bool check_uninitialised;
    bool check_races, allow_repeats;
    bool is_scheduled;    /* lowering is still to move allocations to where all their uses meet */
    bool lanes_in_order;  /* vectorized loops: no races between their iterations */
    hone_node_id *out_at; /* NULL, or: the statement that could not be run, when one could not */
    bool widen_f64;       /* compute and keep every float buffer in f64: the widened reference */
    int64_t max_steps;    /* 0 = no limit; else CANCELLED beyond it */
    int64_t *out_steps;   /* NULL, or: how many it took */
    hone_tensor *const *out_bounds; /* NULL, or by argument: where its bounds go */
} hone_interp_options;

/* With widen_f64 a float argument may be a float64 tensor whatever the program says; others are
 * rounded when they are written back. args: one tensor per buffer parameter in order, scalar
 * parameters as rank-0 tensors; shapes must match (symbolic sizes are bound by them). Outputs are
 * written in place. ILLEGAL for a wrong program, with the place; INVALID for arguments that do not
 * fit. */
HONE_NODISCARD hone_status hone_interp_func(const hone_func *func, hone_tensor *const *args,
                                            size_t arg_count, const hone_interp_options *options);

/* Runs a graph function whose calls are call_tir, call_dps_packed, calls of other graph functions,
 * tuples, shapes and casts (legalise operators first). inputs: one per parameter. Results are
 * created; a tuple result gives several. */
HONE_NODISCARD hone_status hone_interp_graph(const hone_module *module, const char *name,
                                             hone_tensor *const *inputs, size_t input_count,
                                             const hone_interp_options *options,
                                             hone_tensor ***out_results, size_t *out_count);

#endif
