/* ir/core/index_map.h - a map of indices: lambda i, j: (i // 16, j, i % 16).
 *
 * What the steps of a schedule that change layouts take. A map stands for itself: its variables are
 * numbered 0, 1, … in a table of its own, parameters first, then the free ones, which whoever reads
 * the map gives a meaning (the sampled integers of a trace).
 *
 * It is read from (index_map_parse.h) and printed as (index_map_print.h) a Python lambda, and as
 * the text that TVM keeps in the JSON of traces (index_map_json.h).
 *
 * Lifetime: immutable, in an arena. Threads: may be read by many.
 */
#ifndef HONE_IR_CORE_INDEX_MAP_H
#define HONE_IR_CORE_INDEX_MAP_H

#include "ir/core/func.h"

typedef struct hone_index_map hone_index_map;

struct hone_index_map {
    uint32_t param_count, free_count, count;
    const hone_var_info *vars;       /* param_count + free_count of them */
    const uint32_t *frees;           /* what the reader calls the free ones */
    const hone_expr *const *indices; /* count of them, over the variables */
    bool is_ranges;                  /* indices are begin, end, begin, end, … */
    uint32_t separator_count;        /* IndexMap.AXIS_SEPARATOR stood before these indices */
    const int32_t *separators;
    const hone_index_map *inverse; /* given with the map, or NULL */
    /* "lambda *i: …": how many parameters it has is known when it is used; until then this is all
     * there is (count is 0), see index_map_parse.h. Else NULL. */
    const char *variadic;
};

/* Resolves a name in a lambda that is no parameter: to one free variable, or to a tuple of them.
 * False: the name is unknown. */
typedef bool (*hone_index_map_names)(void *ctx, const char *name, uint32_t *out_count,
                                     const uint32_t **out_frees, bool *out_is_tuple);

/* ---- making ---- (NULL when memory is short) */

/* A copy that refers to nothing outside of this arena. */
const hone_index_map *hone_index_map_copy(hone_arena *arena, const hone_index_map *map);
/* A map that differs in the numbers of its free variables: frees[i] for number i. */
const hone_index_map *hone_index_map_with_frees(hone_arena *arena, const hone_index_map *map,
                                                const uint32_t *frees);
/* A map with the constant values[i] in the place of free variable i. */
const hone_index_map *hone_index_map_bind_frees(hone_arena *arena, const hone_index_map *map,
                                                const int64_t *values);
/* A map of param_count parameters, none of which it uses, onto one index: a constant where a
 * function is wanted. */
const hone_index_map *hone_index_map_of_constant(hone_arena *arena, uint32_t param_count,
                                                 const hone_expr *value);
/* A map whose parameter i is larger by offsets[i]: i - offset stands where i did. */
const hone_index_map *hone_index_map_shift(hone_arena *arena, const hone_index_map *map,
                                           const int64_t *offsets);
/* A map over another integer type: parameters, free variables, and what is computed from them. */
const hone_index_map *hone_index_map_with_dtype(hone_arena *arena, const hone_index_map *map,
                                                hone_dtype dtype);
/* A map in which indices that are constants in `like`, a map with as many indices, have the types
 * that they have there. */
const hone_index_map *hone_index_map_with_constants(hone_arena *arena, const hone_index_map *map,
                                                    const hone_index_map *like);

/* ---- using ---- */

/* The indices at a place: out[i] is index i with args (param_count expressions) in the place of the
 * parameters. The map has no free variables. NULL entries after an error, which is in ir. */
void hone_index_map_apply(hone_ir *ir, const hone_index_map *map, const hone_expr *const *args,
                          const hone_expr **out);

#endif
