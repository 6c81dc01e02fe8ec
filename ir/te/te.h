/* ir/te/te.h - builds PrimFuncs in block form: one stage per tensor, from expressions over axes.
 *
 *   hone_te te; hone_te_begin(&te, arena, "dense");
 *   x = hone_te_input(&te, "x", HONE_DTYPE_F32, 2, shape_x); ...
 *   hone_te_stage s; hone_te_stage_begin(&te, &s, 2, shape_out, 1, &k);
 *   hone_te_reduce(&te, &s, "matmul", HONE_TE_SUM, mul(load(x, s.axis[0], s.axis[2]), ...));
 *   HONE_TRY(hone_te_finish(&te, 1, &out, &func));
 *
 * A stage is a loop nest over its spatial axes, then its reduction axes, with one block inside; the
 * buffer it defines is a parameter when it is named in hone_te_finish, else it is allocated in the
 * root block. Reads and writes are filled in. Errors stick and come out of hone_te_finish.
 * Index arithmetic is in te.index: int32, or int64 after hone_te_use_int64 (large or symbolic).
 */
#ifndef HONE_IR_TE_TE_H
#define HONE_IR_TE_TE_H

#include "ir/core/func.h"

#define HONE_TE_MAX_RANK 16
#define HONE_TE_MAX_INPUTS 64
#define HONE_TE_MAX_MANY 16 /* buffers that one stage makes */

typedef struct hone_te {
    hone_func *func;
    hone_ir ir; /* make expressions with this */
    hone_dtype index;
    hone_node_id root;
    uint32_t input_count, size_count;
    hone_buffer inputs[HONE_TE_MAX_INPUTS];
    hone_var sizes[HONE_TE_MAX_RANK]; /* symbolic sizes: parameters are found by the shapes */
} hone_te;

typedef enum hone_te_reducer {
    HONE_TE_SUM,
    HONE_TE_PROD,
    HONE_TE_MAX, /* T.max from the lowest number on, as TVM has it: may lose a NaN, and -inf */
    HONE_TE_MIN,
    HONE_TE_MAXIMUM, /* hone_expr_extreme from hone_expr_least on */
    HONE_TE_MINIMUM
} hone_te_reducer;

typedef struct hone_te_stage {
    uint32_t spatial_count, reduce_count;
    const hone_expr *axis[HONE_TE_MAX_RANK];   /* the block's axes, spatial ones first */
    const hone_expr *extent[HONE_TE_MAX_RANK]; /* their extents */
    hone_var loops[HONE_TE_MAX_RANK], axes[HONE_TE_MAX_RANK];
} hone_te_stage;

/* Begins a function in the arena. */
HONE_NODISCARD hone_status hone_te_begin(hone_te *te, hone_arena *arena, const char *name);
/* Index arithmetic is in int64 from now on; to be called before any input. */
void hone_te_use_int64(hone_te *te);
/* A symbolic size (a variable of te.index type). */
const hone_expr *hone_te_size(hone_te *te, const char *name);
/* A parameter. Shapes are expressions of type te.index. */
hone_buffer hone_te_input(hone_te *te, const char *name, hone_dtype dtype, uint32_t rank,
                          const hone_expr *const *shape);
const hone_expr *hone_te_int(hone_te *te, int64_t value); /* an index constant */
const hone_expr *hone_te_load(hone_te *te, hone_buffer buffer, const hone_expr *const *indices);

/* Begins a stage: its axes, spatial ones with the given extents, then reduce axes. */
void hone_te_stage_begin(hone_te *te, hone_te_stage *stage, uint32_t spatial_count,
                         const hone_expr *const *spatial, uint32_t reduce_count,
                         const hone_expr *const *reduce);
/* Ends a stage without reduction: out[axes] = value. name is that of block and buffer, with a
 * number behind it when a buffer has it already. */
hone_buffer hone_te_compute(hone_te *te, const hone_te_stage *stage, const char *name,
                            const hone_expr *value);
/* Ends a stage with reduction: out[spatial axes] = reduction of value over the reduce axes. */
hone_buffer hone_te_reduce(hone_te *te, const hone_te_stage *stage, const char *name,
                           hone_te_reducer reducer, const hone_expr *value);
/* A reduction of another kind, in two calls: this one makes the output, which `combined` may load
 * (hone_te_load at the spatial axes) as the value so far. */
hone_buffer hone_te_reduce_begin(hone_te *te, const hone_te_stage *stage, const char *name,
                                 hone_dtype dtype);
/* Ends it: out starts at init and becomes `combined` in each step. */
void hone_te_reduce_end(hone_te *te, const hone_te_stage *stage, hone_buffer out,
                        const hone_expr *init, const hone_expr *combined);

/* Ends a stage that makes several buffers in one block called `name`: out[i][axes] = values[i], in
 * NAME_v0, NAME_v1, …; all values are computed before the first is stored. out[i] is HONE_NO_ID
 * after an error. */
void hone_te_compute_many(hone_te *te, const hone_te_stage *stage, const char *name, uint32_t count,
                          const hone_expr *const *values, hone_buffer *out);
/* hone_te_reduce_begin for several buffers. */
void hone_te_reduce_begin_many(hone_te *te, const hone_te_stage *stage, const char *name,
                               uint32_t count, const hone_dtype *dtypes, hone_buffer *out);
/* hone_te_reduce_end for several buffers, in one block called `name`. */
void hone_te_reduce_end_many(hone_te *te, const hone_te_stage *stage, const char *name,
                             uint32_t count, const hone_buffer *out, const hone_expr *const *init,
                             const hone_expr *const *combined);

/* A buffer that no stage defines as a whole: hone_te_update stores into it. */
hone_buffer hone_te_buffer(hone_te *te, const char *name, hone_dtype dtype, uint32_t rank,
                           const hone_expr *const *shape);
/* Ends a stage whose reduce axes are taken in order (T.axis.scan), in a block called `name`:
 * out[indices] = value in each step. Value and indices may load what was stored before, out too;
 * indices may be computed. `out` is that of an earlier stage or of hone_te_buffer. */
void hone_te_update(hone_te *te, const hone_te_stage *stage, const char *name, hone_buffer out,
                    const hone_expr *const *indices, const hone_expr *value);

/* Ends a stage of spatial axes whose block is statements in order; they go to the node that comes
 * back, by the functions below. The axes are the first dimensions of the buffers: an instance reads
 * and writes what lies behind them, and what it reads of `writes` it has stored itself, or an
 * earlier stage (name those among `reads` too). HONE_NO_ID after an error, which all of these
 * bear. */
hone_node_id hone_te_steps(hone_te *te, const hone_te_stage *stage, const char *name,
                           uint32_t read_count, const hone_buffer *reads, uint32_t write_count,
                           const hone_buffer *writes);
/* Each instance of these statements reads all of the buffer, too, whose first dimensions may be
 * others. */
void hone_te_steps_read(hone_te *te, hone_node_id steps, hone_buffer whole);
/* A loop from 0 on, a value that has a name: what comes next goes inside; its variable. */
const hone_expr *hone_te_for(hone_te *te, hone_node_id *io_at, const char *name,
                             const hone_expr *extent);
const hone_expr *hone_te_let(hone_te *te, hone_node_id *io_at, const char *name,
                             const hone_expr *value);
/* A loop of so many iterations, none of which needs what another one stores: a vector's lanes. */
const hone_expr *hone_te_lanes(hone_te *te, hone_node_id *io_at, const char *name, int64_t count);
/* Where statements under the condition go, and, made after those, where all others go. */
hone_node_id hone_te_if(hone_te *te, hone_node_id at, const hone_expr *condition);
hone_node_id hone_te_else(hone_te *te, hone_node_id branch);
void hone_te_store(hone_te *te, hone_node_id at, hone_buffer buffer,
                   const hone_expr *const *indices, const hone_expr *value);
void hone_te_break(hone_te *te, hone_node_id at); /* leaves the innermost loop */

/* A buffer that a C function fills: a block without axes that calls function(inputs…, output) with
 * pointers to their elements. */
hone_buffer hone_te_extern(hone_te *te, const char *name, const char *function,
                           uint32_t input_count, const hone_buffer *inputs, hone_dtype dtype,
                           uint32_t rank, const hone_expr *const *shape);

/* Makes the function: parameters are the inputs in order, then the outputs. */
HONE_NODISCARD hone_status hone_te_finish(hone_te *te, uint32_t output_count,
                                          const hone_buffer *outputs, hone_func **out_func);

#endif
