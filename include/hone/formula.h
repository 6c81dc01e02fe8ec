/* hone/formula.h - tensor programs from formulas, as te.placeholder, te.compute, te.var,
 * te.create_prim_func. hone/topi.h adds whole operators.
 *
 *   hone_formula_create("dense", &f);
 *   hone_array x = hone_formula_input(f, "X", "float32", 2, (int64_t[]){128, 64});
 *   hone_array w = hone_formula_input(f, "W", "float32", 2, (int64_t[]){64, 32});
 *   hone_formula_axes(f, 2, (int64_t[]){128, 32}, 1, (int64_t[]){64});
 *   i = hone_formula_axis(f, 0) … k = hone_formula_axis(f, 2)
 *   y = hone_formula_reduce(f, "Y", "sum", x[i, k] * w[k, j]);
 *   error = hone_formula_finish(f, 1, &y, &program);
 *
 * Each array is a loop nest with one block, and is dense and row-major. Shapes are in elements, the
 * outermost dimension first, at most 16 of them; no dimension (rank 0) is a single element.
 * Names and types that come in are copied. Mistakes on the way (a NULL where none is allowed
 * included) stick: what follows does nothing, and the first of them comes out of finish. A formula
 * and its terms belong to one thread at a time.
 */
#ifndef HONE_FORMULA_H
#define HONE_FORMULA_H

#include <hone/program.h>
#include <hone/term.h>

HONE_BEGIN_DECLS

typedef struct hone_formula hone_formula;
typedef uint32_t hone_array;           /* an input or a computed array of one formula */
#define HONE_NO_ARRAY ((hone_array)-1) /* what a mistake gives */

/* Begins a PrimFunc of that name. Errors: invalid (NULL, no identifier), no_memory. */
HONE_API hone_error *hone_formula_create(const char *name, hone_formula **out_formula);
HONE_API void hone_formula_free(hone_formula *formula); /* NULL is allowed */
/* Where the formula's terms are made; lives as long as the formula. */
HONE_API hone_terms *hone_formula_terms(hone_formula *formula);

/* ---- sizes ---- */

/* Indices and sizes are "int32", which is the default, or "int64": needed for arrays of 2^31
 * elements or more. Comes before everything else. */
HONE_API void hone_formula_index_type(hone_formula *formula, const char *type);
/* A size that is known only when the program runs, at least 1 (te.size_var): a term for shapes and
 * values. It is an extent by itself of some input or output, which then says what it is. */
HONE_API const hone_term *hone_formula_size(hone_formula *formula, const char *name);
/* Dimensions of an array; 0 when there is no such array. */
HONE_API uint32_t hone_formula_rank(const hone_formula *formula, hone_array array);
/* How many elements a dimension has, as a term of the type of indices. */
HONE_API const hone_term *hone_formula_extent(hone_formula *formula, hone_array array,
                                              uint32_t dimension);

/* ---- arrays ---- */

/* A parameter; at most 64 of them. The second form takes terms over sizes and constants. */
HONE_API hone_array hone_formula_input(hone_formula *formula, const char *name, const char *type,
                                       uint32_t rank, const int64_t *shape);
HONE_API hone_array hone_formula_input_sized(hone_formula *formula, const char *name,
                                             const char *type, uint32_t rank,
                                             const hone_term *const *shape);

/* The axes of the array that is computed next: those of its shape, then those it reduces over. Each
 * runs from 0 to its extent. */
HONE_API void hone_formula_axes(hone_formula *formula, uint32_t rank, const int64_t *shape,
                                uint32_t reduce_count, const int64_t *reduce_extents);
HONE_API void hone_formula_axes_sized(hone_formula *formula, uint32_t rank,
                                      const hone_term *const *shape, uint32_t reduce_count,
                                      const hone_term *const *reduce_extents);
/* Calls an axis of the array that is computed next, and its loop, as the caller does: a loop `i`
 * and a block axis `v_i`, which is where schedules and printed programs name them. */
HONE_API void hone_formula_name_axis(hone_formula *formula, uint32_t index, const char *name);
/* Axes are for terms of this array alone. */
HONE_API const hone_term *hone_formula_axis(hone_formula *formula, uint32_t index);
/* An element of an array, with one index (an integer) for each dimension. */
HONE_API const hone_term *hone_formula_load(hone_formula *formula, hone_array array,
                                            const hone_term *const *indices);

/* Ends an array: its element at the axes is value, or the reduction of value ("sum", "prod", "max",
 * "min") over the reduction axes. The name is that of the buffer and of the block; when it is
 * taken, name_1 and so on are. */
HONE_API hone_array hone_formula_compute(hone_formula *formula, const char *name,
                                         const hone_term *value);
HONE_API hone_array hone_formula_reduce(hone_formula *formula, const char *name,
                                        const char *reduction, const hone_term *value);

/* A reduction of one's own (te.comm_reducer): begin gives the element so far, as a term of that
 * type; end says what it starts as, and what it becomes with each round of the reduction axes. That
 * the order of rounds does not count is up to the caller. */
HONE_API const hone_term *hone_formula_reduce_begin(hone_formula *formula, const char *name,
                                                    const char *type);
HONE_API hone_array hone_formula_reduce_end(hone_formula *formula, const hone_term *initial,
                                            const hone_term *combined);

/* ---- several arrays at once, and arrays from elsewhere ---- */

/* Several arrays of the same axes, in one block, as te.compute and te.comm_reducer over tuples
 * (argmax: the best value and its place). They are called NAME_v0, NAME_v1, …; there are 1 to 16 of
 * them, and lists have an entry for each: types, elements so far, what they start as and become.
 * All values are computed before the first is stored. After a mistake out_arrays are HONE_NO_ARRAY
 * and out_elements are NULL. */
HONE_API void hone_formula_compute_many(hone_formula *formula, const char *name, size_t count,
                                        const hone_term *const *values, hone_array *out_arrays);
HONE_API void hone_formula_reduce_begin_many(hone_formula *formula, const char *name, size_t count,
                                             const char *const *types,
                                             const hone_term **out_elements);
HONE_API void hone_formula_reduce_end_many(hone_formula *formula, size_t count,
                                           const hone_term *const *initial,
                                           const hone_term *const *combined,
                                           hone_array *out_arrays);

/* An array that a C function fills (te.extern): int32_t function(inputs…, array) gets pointers to
 * the first elements, which are dense and row-major; it reads inputs only, and writes all of the
 * array. It is found when the program runs (hone run --extern, the process that loads the compiled
 * library, or hone_extern_register), 0 is success. The second form takes terms. */
HONE_API hone_array hone_formula_extern(hone_formula *formula, const char *name,
                                        const char *function, size_t input_count,
                                        const hone_array *inputs, const char *type, uint32_t rank,
                                        const int64_t *shape);
HONE_API hone_array hone_formula_extern_sized(hone_formula *formula, const char *name,
                                              const char *function, size_t input_count,
                                              const hone_array *inputs, const char *type,
                                              uint32_t rank, const hone_term *const *shape);

/* Makes the program: parameters are the inputs in order, then the outputs, which are computed
 * arrays, at least one; other arrays are allocated inside. The formula is used up and only waits
 * for hone_formula_free. The caller frees the program. Errors: the first mistake of all calls
 * before; type, invalid, not_found. */
HONE_API hone_error *hone_formula_finish(hone_formula *formula, size_t output_count,
                                         const hone_array *outputs, hone_program **out_program);

HONE_END_DECLS

#endif
