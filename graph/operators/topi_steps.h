/* graph/operators/topi_steps.h - statements in order, for what depends on what came before: where
 * the next one goes, and elements of buffers whose first dimensions are the axes of the stage.
 *
 *   hone_topi_steps p = {.t = t};
 *   hone_te_stage_begin(t->te, &p.s, 1, shape, 0, NULL);
 *   p.at = hone_te_steps(t->te, &p.s, "name", …);
 *   hone_topi_steps inside = p;                 a copy: p itself goes on behind the loop
 *   i = hone_te_for(t->te, &inside.at, "i", extent);
 *   hone_topi_step_store(&inside, buffer, i, value);
 */
#ifndef HONE_GRAPH_OPERATORS_TOPI_STEPS_H
#define HONE_GRAPH_OPERATORS_TOPI_STEPS_H

#include "graph/operators/topi_build.h"

typedef struct hone_topi_steps {
    hone_topi *t;
    hone_te_stage s;
    hone_node_id at;
    const void *about; /* what the operator knows beside it; not looked at here */
} hone_topi_steps;

/* The axes and, behind them, `index` in out[] (room for HONE_MAX_RANK), which comes back. */
const hone_expr *const *hone_topi_step_index(const hone_topi_steps *p, const hone_expr *index,
                                             const hone_expr **out);
const hone_expr *hone_topi_step_load(const hone_topi_steps *p, hone_buffer buffer,
                                     const hone_expr *index);
void hone_topi_step_store(const hone_topi_steps *p, hone_buffer buffer, const hone_expr *index,
                          const hone_expr *value);
/* A value that has a name in what comes next. */
const hone_expr *hone_topi_step_let(hone_topi_steps *p, const char *name, const hone_expr *value);
const hone_expr *hone_topi_step_int(const hone_topi_steps *p, int64_t value);
/* A shift of x by so many bits. */
const hone_expr *hone_topi_step_shift(const hone_topi_steps *p, hone_intrin how, const hone_expr *x,
                                      const hone_expr *by);
/* Leaves the loop where this is so; what comes next is where it is not. */
void hone_topi_step_break_if(hone_topi_steps *p, const hone_expr *is_so);

/* ---- a heap ---- */

enum { HONE_TOPI_DOUBLINGS = 40 }; /* 2^40 elements at most, where it comes later how many */

/* The first `size` indices of keys and elements: each one comes behind its two children, those of
 * index i being at 2 i + 1 and 2 i + 2, so the first one comes last of all. */
typedef struct hone_topi_heap {
    hone_buffer keys, elements;
    hone_buffer hole; /* an index for an element that is on its way */
    const hone_expr *size;
    /* a comes before b, which is another element */
    const hone_expr *(*precedes)(const hone_topi_steps *p, const hone_expr *key_a,
                                 const hone_expr *element_a, const hone_expr *key_b,
                                 const hone_expr *element_b);
} hone_topi_heap;

void hone_topi_heap_put(const hone_topi_steps *p, const hone_topi_heap *h, const hone_expr *index,
                        const hone_expr *key, const hone_expr *element);
/* Makes a heap of what is at its indices. */
void hone_topi_heap_make(hone_topi_steps p, const hone_topi_heap *h);
/* The element takes the place of the one at `from`, and goes down to where it belongs. */
void hone_topi_heap_sink(hone_topi_steps p, const hone_topi_heap *h, const hone_expr *from,
                         const hone_expr *key, const hone_expr *element);

#endif
