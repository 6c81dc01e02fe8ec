/* hone/formula.h - tensor programs from formulas, as te.placeholder, te.compute,
 * te.create_prim_func.
 *
 *   hone_formula_create("dense", &f);
 *   hone_array x = hone_formula_input(f, "X", "float32", 2, (int64_t[]){128, 64});
 *   hone_array w = hone_formula_input(f, "W", "float32", 2, (int64_t[]){64, 32});
 *   hone_formula_axes(f, 2, (int64_t[]){128, 32}, 1, (int64_t[]){64});
 *   i = hone_formula_axis(f, 0) … k = hone_formula_axis(f, 2)
 *   y = hone_formula_reduce(f, "Y", "sum", x[i, k] * w[k, j]);
 *   error = hone_formula_finish(f, 1, &y, &program);
 *
 * Each array is a loop nest with one block. Mistakes on the way stick and come out of finish.
 */
#ifndef HONE_FORMULA_H
#define HONE_FORMULA_H

#include <hone/program.h>
#include <hone/term.h>

HONE_BEGIN_DECLS

typedef struct hone_formula hone_formula;
typedef uint32_t hone_array; /* an input or a computed array of one formula */

/* Begins a PrimFunc of that name. Errors: no_memory. */
HONE_API hone_error *hone_formula_create(const char *name, hone_formula **out_formula);
HONE_API void hone_formula_free(hone_formula *formula); /* NULL is allowed */
HONE_API hone_terms *hone_formula_terms(hone_formula *formula);

HONE_API hone_array hone_formula_input(hone_formula *formula, const char *name, const char *type,
                                       uint32_t rank, const int64_t *shape);

/* The axes of the array that is computed next: those of its shape, then those it reduces over. */
HONE_API void hone_formula_axes(hone_formula *formula, uint32_t rank, const int64_t *shape,
                                uint32_t reduce_count, const int64_t *reduce_extents);
HONE_API const hone_term *hone_formula_axis(hone_formula *formula, uint32_t index);
HONE_API const hone_term *hone_formula_load(hone_formula *formula, hone_array array,
                                            const hone_term *const *indices);

/* Ends an array: its element at the axes is value, or the reduction of value ("sum", "prod", "max",
 * "min") over the reduction axes. The name is that of the buffer and of the block. */
HONE_API hone_array hone_formula_compute(hone_formula *formula, const char *name,
                                         const hone_term *value);
HONE_API hone_array hone_formula_reduce(hone_formula *formula, const char *name,
                                        const char *reduction, const hone_term *value);

/* Makes the program: parameters are the inputs in order, then the outputs; other arrays are
 * allocated inside. The formula is used up and only waits for hone_formula_free. Errors: the first
 * mistake of all calls before; type, invalid, not_found. */
HONE_API hone_error *hone_formula_finish(hone_formula *formula, size_t output_count,
                                         const hone_array *outputs, hone_program **out_program);

HONE_END_DECLS

#endif
