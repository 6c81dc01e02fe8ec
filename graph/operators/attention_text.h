/* graph/operators/attention_text.h - the kernels of attention, as text with its sizes left open.
 *
 * $NAME stands for a size or an expression (attention_kernel.c has the names); a line that begins
 * with ?X stands only where one of the letters holds: b bias, n no bias, c causal, k keys that do
 * not fill tiles, z zeros for queries that see no key. A line =NAME stands for the lines of a part,
 * indented as it is. */
#ifndef HONE_GRAPH_OPERATORS_ATTENTION_TEXT_H
#define HONE_GRAPH_OPERATORS_ATTENTION_TEXT_H

#include "graph/operators/attention_kernel.h"

typedef struct attention_form {
    const char *const *lines;
    size_t count;
    int64_t queries, keys; /* of a block; of a tile */
    int64_t key_stages;    /* tiles of keys at a time */
    int64_t threads;
    int64_t group; /* queries that threads have together */
} attention_form;

typedef struct attention_part {
    const char *name;
    const char *const *lines;
    size_t count;
} attention_part;

const attention_form *attention_form_of(const hone_attention *a);
/* NULL: there is none. */
const attention_part *attention_part_named(const char *name);

#endif
