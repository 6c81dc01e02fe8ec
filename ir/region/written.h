/* ir/region/written.h - what statements surely write of a buffer, and whether that covers what is
 * read.
 *
 * Pieces are boxes of which every element is written in one iteration of a node ("within"),
 * whatever its loops do: each a store or what a block declares, over the loops in between.
 * Conditions in between cut the box, or must hold where the piece is used. Ends of boxes are
 * expressions over the loops around `within`, both included.
 *
 *     for i: for j in 4: if i * 4 + j < 10: B[i * 4 + j] = …      i*4 … min(i*4 + 3, 9) in each i
 *     T.writes(B[0:5])  with two blocks: B[0:3], B[3:5]           all of it
 *
 * Answers are proofs: true holds for every value of what is outside of `within`; false means "not
 * shown", which is also said where memory is short. Facts that arith has been told may be about
 * what is outside only while pieces are added, and about anything while they are asked.
 *
 * Memory: the arena of the arith context. Thread-compatible.
 */
#ifndef HONE_IR_REGION_WRITTEN_H
#define HONE_IR_REGION_WRITTEN_H

#include "ir/arith/arith.h"

/* A program that is asked about. */
typedef struct hone_dataflow {
    hone_arith *arith; /* knows the sizes, and the domains of loops and axes */
    const hone_func *func;
    /* Who remembers it: each run of the block writes all that it declares to write. NULL: found out
     * each time. */
    bool (*writes_exactly)(void *ctx, hone_node_id block);
    void *ctx;
    bool may_leave; /* loads may lie outside of the buffer, which only a whole one covers */
} hone_dataflow;

typedef struct hone_piece {
    hone_interval *box; /* one per dimension */
    const hone_expr
        *condition; /* over what is outside of within: when it is written; NULL: always */
} hone_piece;

enum { HONE_MOST_PIECES = 64 };

typedef struct hone_written {
    const hone_dataflow *flow;
    hone_buffer buffer;
    hone_node_id within;
    uint32_t rank, count;
    hone_piece pieces[HONE_MOST_PIECES]; /* what does not fit is left out */
} hone_written;

/* ---- making ---- */
/* Without pieces yet. within: a loop, a block, or the top. */
void hone_written_begin(hone_written *w, const hone_dataflow *flow, hone_buffer buffer,
                        hone_node_id within);
/* Adds what the statement, which is below `within`, writes with all in it, over the loops between
 * the two. A store counts as its place, a block as what it writes if that is all of what it
 * declares, else its stores count. What both branches of an IF store counts whatever the condition
 * says; the init of a block, as if it were its first run. */
void hone_written_add(hone_written *w, hone_node_id statement);
/* Adds the stores that are direct children of a block's body, each over the loops around the block:
 * B[vi] and B[vi + 8] of eight instances. */
void hone_written_add_stores(hone_written *w, hone_node_id block);
/* Adds what the iterations of the loop before the present one have written, where these run one
 * after the other; with `within` the loop, whose iteration is fixed. */
void hone_written_add_earlier(hone_written *w, hone_node_id loop);

/* ---- questions ---- */
/* The loop has at least one iteration. */
bool hone_surely_runs(hone_arith *arith, const hone_func *func, hone_node_id loop);
/* Covers: every element of the box, or (unless flow->may_leave) those that the buffer has, is
 * written.
 *   To show: each element of the box is in some piece.
 *   Shown by one piece that contains it, or by several that stand side by side along a dimension,
 *   in each of the others as long as the box; pieces that make a larger box together count as that.
 *   Counter-example: B[0:3] and B[4:8] do not cover B[0:8]. */
bool hone_covers(const hone_written *w, const hone_interval *box);
/* hone_covers of the whole buffer. */
bool hone_covers_buffer(const hone_written *w);
/* Covers by slices: the statements of the function in front of `until` (one of its outermost;
 * HONE_NO_ID: all) write each element of the buffer, shown for one place of some dimensions at a
 * time, which the outermost loops of each nest pass through.
 *   To show: in one slice, the pieces of all nests cover it.
 *   Counter-example: for i in n: for j in i: B[i, j] = …, for i in n: for j in i: B[j, i] = … */
bool hone_covers_by_slices(const hone_dataflow *flow, hone_buffer buffer, hone_node_id until);
/* Writes exactly: each run of the block writes every element that it declares to write. Where it
 * writes through views or pointers, the declaration is all there is, and is believed, unless
 * somebody made it by hand (annotate_buffer_access).
 *   To show: the block's body covers the declared region.
 *   Counter-example: T.writes(B[vi * 4:vi * 4 + 7]) for j in 2: B[vi * 4 + j * 6] = … */
bool hone_writes_exactly(const hone_dataflow *flow, hone_node_id block);
/* Reads after write: what is loaded of the buffer in one run of root (a block, one iteration of a
 * loop, or the top) was written before in the same run. counts_init: what the init of root sets,
 * which runs in the first of its instances, is there in all of them.
 *   To show: for each load, what stands before it covers what it loads: at some level between it
 *   and root the statements in front of the one that it is in, with the earlier iterations of a
 *   loop that it is in. Conditions around the load hold where it happens. What a nested block reads
 *   counts as its declared region.
 *   Counter-example: for i: B[i] = B[i + 1] */
bool hone_reads_after_write(const hone_dataflow *flow, hone_node_id root, hone_buffer buffer,
                            bool counts_init);
/* The region of a load or store as a box, ramps by ones being as long as they have lanes; NULL
 * where it is none. */
const hone_region *hone_region_of_access(hone_arith *arith, hone_buffer buffer, uint32_t rank,
                                         const hone_expr *const *indices);

#endif
