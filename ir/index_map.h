/* ir/index_map.h - a map of indices: lambda i, j: (i // 16, j, i % 16).
 *
 * What the steps of a schedule that change layouts take. A map stands for itself: its variables are
 * numbered 0, 1, … in a table of its own, parameters first, then the free ones, which whoever reads
 * the map gives a meaning (the sampled integers of a trace).
 *
 * It is read from and printed as a Python lambda, and as the text that TVM keeps in the JSON of
 * traces: the JSON of the graph of objects that the map is.
 *
 * Lifetime: immutable, in an arena. Threads: may be read by many.
 */
#ifndef HONE_IR_INDEX_MAP_H
#define HONE_IR_INDEX_MAP_H

#include "ir/func.h"
#include "support/strbuf.h"

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
     * there is (count is 0), see hone_index_map_instantiate. Else NULL. */
    const char *variadic;
};

/* ---- text ---- */

/* What a name inside a lambda stands for that is no parameter: one free variable, or a tuple of
 * them. False: nothing. */
typedef bool (*hone_index_map_names)(void *ctx, const char *name, uint32_t *out_count,
                                     const uint32_t **out_frees, bool *out_is_tuple);
/* The same for what is a whole number, or a tuple of them. */
typedef bool (*hone_index_map_numbers)(void *ctx, const char *name, uint32_t *out_count,
                                       const int64_t **out_numbers, bool *out_is_tuple);

typedef struct hone_index_map_text {
    const char *source_name; /* for messages */
    const char *text;
    size_t from, to, length;    /* the expression is text[from … to), of a text of this length */
    hone_index_map_names names; /* may be NULL */
    hone_index_map_numbers numbers; /* may be NULL */
    void *ctx;
} hone_index_map_text;

/* Reads "lambda …: …", or an expression, which is a map without parameters. rank: how many
 * parameters there are when the lambda has a `*` one; 0 = not known yet, the map is variadic then.
 * INVALID with file, line, column and caret. */
HONE_NODISCARD hone_status hone_index_map_parse(hone_arena *arena, const hone_index_map_text *text,
                                                uint32_t rank, const hone_index_map **out_map);
/* A variadic map with this number of parameters; others as they are. */
HONE_NODISCARD hone_status hone_index_map_instantiate(hone_arena *arena, const hone_index_map *map,
                                                      uint32_t rank,
                                                      const hone_index_map **out_map);
/* "lambda i, j: (i // 16, j, i % 16)", ranges as "lambda i: [(i, i + 1)]", with an inverse
 * "tvm.tirx.IndexMap.from_func(lambda …, inverse_index_map=lambda …)". free_names: of the free
 * variables. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status hone_index_map_print(const hone_index_map *map,
                                                const char *const *free_names, hone_str *out);

/* TVM's JSON of objects, as TVM 0.27 and those before it write it. UNSUPPORTED: an object of a kind
 * that no map is made of; INVALID. Free variables are those with names that `names` knows. */
HONE_NODISCARD hone_status hone_index_map_parse_json(hone_arena *arena, const char *text,
                                                     hone_index_map_names names, void *ctx,
                                                     const hone_index_map **out_map);
/* indented: over several lines, as TVM has it among the attributes of an instruction. INVALID for a
 * variadic map. */
HONE_NODISCARD hone_status hone_index_map_print_json(const hone_index_map *map,
                                                     const char *const *free_names, bool indented,
                                                     hone_str *out);

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

bool hone_index_map_same(const hone_index_map *a, const hone_index_map *b);

#endif
