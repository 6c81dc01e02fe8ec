/* lower/ground/lower.h - from a scheduled program to loops over flat buffers that code is generated
 * from.
 *
 *   blocks, regions, init ──► loops, ifs, flat loads and stores, vectors, allocations
 *
 * An ordered list of passes, program to program, each in its own file and dumpable. The result has
 * no BLOCK and INIT nodes; every access has one index (a ramp where it is a vector); vectorized and
 * unrolled loops are gone where that was possible; parallel loops are left for the generator.
 * Lowering keeps the meaning of a program exactly: the interpreter runs it after any pass.
 *
 * Threads: thread-compatible. Memory: the arena given.
 */
#ifndef HONE_LOWER_GROUND_LOWER_H
#define HONE_LOWER_GROUND_LOWER_H

#include "ir/arith/arith.h"
#include "ir/core/func.h"
#include "target/target.h"

typedef struct hone_lower_options {
    const hone_target *target; /* what to lower for; must outlive the call */
    /* Called after each pass with its name and the program then; NULL = nobody wants to know. A
     * failure ends lowering. */
    hone_status (*after)(void *ctx, const char *pass, const hone_func *func);
    void *ctx;
    int64_t max_unrolled_nodes; /* statements that unrolling may make, marked loops eight times as
                                 * many; 0 = 512 */
    bool keeps_loops;           /* vectorized and unrolled loops stay loops: for source text */
} hone_lower_options;

/* Function attributes of a lowered program: lists of texts that loops brought along as
 * pragma_import_llvm and pragma_import_c, with external functions that the program calls. */
#define HONE_LOWER_IMPORT_LLVM "hone.import_llvm"
#define HONE_LOWER_IMPORT_C "hone.import_c"

/* Function attribute of a program for GPUs: it says itself where threads wait for each other. */
#define HONE_LOWER_SYNCED "hone.synced"

/* Function attribute of a program for GPUs: what exp2 gives may be 0 where it is no normal number,
 * and a maximum need not be NaN where one of the numbers is. */
#define HONE_LOWER_RELAXED "hone.relaxed"

/* Key of an ATTR node: the store in it goes past the caches. */
#define HONE_LOWER_STREAMING "hone.streaming_store"

/* Key of an ATTR node: copies to shared memory in it may go on until T.ptx.cp waits for them. */
#define HONE_LOWER_BEHIND "async_scope"

/* Does the program (lowered or not) bring along a function of this name, as C source (in_c) or as
 * either? Goes by the text: a name in front of a bracket. */
bool hone_lower_brings_along(const hone_func *func, const char *name, bool in_c);

/* What a pass works on. */
typedef struct hone_lower {
    hone_func *func; /* changed in place; in ir.arena */
    hone_ir ir;
    const hone_lower_options *options;
    bool *is_double; /* by buffer of the program given (named_count): double_buffer_scope */
    uint32_t named_count;
    hone_var *homes; /* by buffer (home_count): the variable of a loop each iteration of which reads
                      * of the buffer only what it has written itself, and outside of which nothing
                      * uses the buffer; HONE_NO_ID = not known */
    uint32_t home_count;
} hone_lower;

typedef struct hone_lower_pass {
    const char *name;
    hone_status (*run)(hone_lower *lower);
    const char *summary;      /* one line for --list */
    hone_device_sort devices; /* left out for others */
    bool makes_vectors;       /* left out where loops are kept */
    const char *tvm_names;    /* "UnrollLoop": those of TVM that it stands for; or NULL */
} hone_lower_pass;

/* The passes in order. */
const hone_lower_pass *hone_lower_pipeline(size_t *out_count);
/* A pass by its name, or one of TVM's ("tirx.transform.UnrollLoop" too); NULL when there is none.
 */
const hone_lower_pass *hone_lower_pass_find(const char *name);

/* Runs passes in the order given on a copy of func, made in arena, as hone_lower_func does. */
HONE_NODISCARD hone_status hone_lower_run(const hone_func *func,
                                          const hone_lower_pass *const *passes, size_t count,
                                          const hone_lower_options *options, hone_arena *arena,
                                          hone_func **out_func);

/* Lowers a copy of func, made in arena; func and its arena must outlive the result. UNSUPPORTED: a
 * program that this target cannot run (thread-bound loops on a CPU), with the loop named. */
HONE_NODISCARD hone_status hone_lower_func(const hone_func *func, const hone_lower_options *options,
                                           hone_arena *arena, hone_func **out_func);

#endif
