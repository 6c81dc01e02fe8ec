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

/* What a name inside a lambda stands for that is no parameter: one free variable, or a tuple of
 * them. False: nothing. */
typedef bool (*hone_index_map_names)(void *ctx, const char *name, uint32_t *out_count,
                                     const uint32_t **out_frees, bool *out_is_tuple);

/* ---- making ---- (NULL when memory is short) */

/* A map that takes all it needs from other arenas into this one. */
const hone_index_map *hone_index_map_copy(hone_arena *arena, const hone_index_map *map);
/* The same map with other numbers for its free variables. */
const hone_index_map *hone_index_map_with_frees(hone_arena *arena, const hone_index_map *map,
                                                const uint32_t *frees);
/* With constants in the place of the free variables. */
const hone_index_map *hone_index_map_bind_frees(hone_arena *arena, const hone_index_map *map,
                                                const int64_t *values);
/* A map with parameters that it does not use: a constant that is wanted as a function. */
const hone_index_map *hone_index_map_of_constant(hone_arena *arena, uint32_t param_count,
                                                 const hone_expr *value);
/* The map of i + offset for each parameter i: i - offset stands where i did. */
const hone_index_map *hone_index_map_shift(hone_arena *arena, const hone_index_map *map,
                                           const int64_t *offsets);
/* Indices of another integer type: parameters, free variables and what is computed from them. */
const hone_index_map *hone_index_map_with_dtype(hone_arena *arena, const hone_index_map *map,
                                                hone_dtype dtype);
/* With the indices that are constants in `like`, which has as many, of their types there. */
const hone_index_map *hone_index_map_with_constants(hone_arena *arena, const hone_index_map *map,
                                                    const hone_index_map *like);

/* ---- using ---- */

/* The indices at a place: args has param_count entries, out room for count. No free variables. NULL
 * entries after an error of ir. */
void hone_index_map_apply(hone_ir *ir, const hone_index_map *map, const hone_expr *const *args,
                          const hone_expr **out);

#endif
