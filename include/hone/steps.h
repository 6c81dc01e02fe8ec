/* hone/steps.h - a schedule made step by step.
 *
 * Steps are written as in a printed trace (`x0, x1 = sch.split(x, [None, 4])`), one per line, and
 * name what earlier ones gave; every primitive of `hone schedule` is there. A step is checked when
 * it is added: what is refused changes nothing, and the next one may follow. Factors and extents
 * are numbers of iterations. A hone_steps belongs to one thread at a time; texts that come in are
 * copied.
 */
#ifndef HONE_STEPS_H
#define HONE_STEPS_H

#include <hone/program.h>

HONE_BEGIN_DECLS

typedef struct hone_steps hone_steps;

/* Begins a schedule of one PrimFunc (NULL = "main", or the only one) of a program, which may end
 * before it. What is sampled is drawn from the seed. Errors: not_found, invalid (not well formed).
 */
HONE_API hone_error *hone_steps_create(const hone_program *program, const char *function,
                                       uint64_t seed, hone_steps **out_steps);
HONE_API void hone_steps_free(hone_steps *steps); /* NULL is allowed */

/* Adds a tensor intrinsic: program text with the functions desc and impl, or …_desc and
 * …_impl. Errors: as of parsing. */
HONE_API hone_error *hone_steps_add_intrin(hone_steps *steps, const char *name, const char *text);

/* Applies one or several steps: all of them, or none. Errors: illegal (refused; the message has the
 * step and the reason, then the program with the place marked), invalid (not a step). */
HONE_API hone_error *hone_steps_add(hone_steps *steps, const char *text);

/* From now on what is sampled is drawn from this seed; what was drawn stays. NULL: nothing. */
HONE_API void hone_steps_seed(hone_steps *steps, uint64_t seed);
/* Draws a seed for another, below 2^31; 0 for NULL. */
HONE_API uint64_t hone_steps_fork_seed(hone_steps *steps);

/* What a variable of the trace stands for now, which the caller frees, as JSON: the number of one
 * that was sampled; of a loop {"is": "loop", "name", "min", "extent", "kind" ("serial", "parallel",
 * "vectorized", "unrolled", "thread_binding"), "thread" (null: none)}; of a block {"is": "block",
 * "name", "axes": [{"name", "extent", "kind"}], "reads": [buffers], "writes"}; sizes that are not
 * known are null. number: from 0, in the order in which the instructions give them. Errors:
 * not_found, illegal (a step has replaced it, or it says only where a block goes). */
HONE_API hone_error *hone_steps_get(const hone_steps *steps, size_t number, char **out_text);

/* The program with the function as it is now; the trace so far as JSON, decisions included, which
 * the caller frees.
 */
HONE_API hone_error *hone_steps_program(const hone_steps *steps, hone_program **out_program);
HONE_API hone_error *hone_steps_trace(const hone_steps *steps, char **out_trace);
/* That trace as a Python function, as TVM prints it, which the caller frees. */
HONE_API hone_error *hone_steps_script(const hone_steps *steps, char **out_text);
/* A trace that was kept as JSON (a record's) as a Python function. Errors: invalid. */
HONE_API hone_error *hone_trace_script(const char *trace, char **out_text);

/* ---- which steps there are ---- */

/* The signature of a step, which the caller frees, as "split(loop: loop, factors: factors,
 * preserve_unit_iters: bool = True, …) -> loops": each argument with its sort, and its default
 * where it may be left out. Errors: not_found (behind the last). */
HONE_API hone_error *hone_step_signature(size_t index, char **out_text);

HONE_END_DECLS

#endif
