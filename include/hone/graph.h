/* hone/graph.h - graph functions (Relax): looked at, rewritten, and made.
 *
 * A graph function is a list of bindings, each of which names a value and says what it is: an
 * operator of arguments, a call of a tensor program, a tuple, … Arguments are values, constants,
 * shapes, numbers. What a visitor or mutator is given lives as long as its call; what a mutator
 * makes, as long as the rewriting; what is made in a hone_graph, as long as that. Shapes are in
 * elements, the outermost dimension first; symbolic sizes are terms of int64. A hone_graph belongs
 * to one thread at a time.
 *
 * What makes arguments sticks to the first mistake, as terms do: it returns NULL, NULL in gives
 * NULL out, and the error comes out of hone_graph_rewrite or hone_graph_finish.
 */
#ifndef HONE_GRAPH_H
#define HONE_GRAPH_H

#include <hone/option.h>
#include <hone/program.h>
#include <hone/term.h>

HONE_BEGIN_DECLS

typedef struct hone_graph hone_graph; /* a graph function in the making */
typedef struct hone_binding hone_binding;
typedef struct hone_argument hone_argument;

/* ---- looking at bindings; of NULL all of these say nothing: HONE_BINDING_OTHER, NULL, 0 ---- */

typedef enum hone_binding_kind {
    HONE_BINDING_OPERATOR,       /* R.nn.relu(x): the callee is "nn.relu" */
    HONE_BINDING_TENSOR_PROGRAM, /* R.call_tir(cls.f, (x,), …): the callee is "f" */
    HONE_BINDING_EXTERNAL,       /* R.call_dps_packed("f", (x,), …) */
    HONE_BINDING_PACKED,         /* R.call_packed("f", x, …) */
    HONE_BINDING_FUNCTION,       /* cls.f(x) */
    HONE_BINDING_ALIAS,          /* an argument under another name; tuples too */
    HONE_BINDING_ITEM,           /* x[i]: hone_binding_index */
    HONE_BINDING_CAST,           /* R.match_cast(x, …) */
    HONE_BINDING_OTHER
} hone_binding_kind;

HONE_API hone_binding_kind hone_binding_get_kind(const hone_binding *binding);
HONE_API const char *hone_binding_callee(const hone_binding *binding); /* NULL when there is none */
/* What it defines, with its name and what is known of it. */
HONE_API const hone_argument *hone_binding_value(const hone_binding *binding);
HONE_API size_t hone_binding_arg_count(const hone_binding *binding);
HONE_API const hone_argument *hone_binding_arg(const hone_binding *binding, size_t index);
HONE_API int32_t hone_binding_index(const hone_binding *binding);
/* An attribute of an operator that is written out: its integer, or a default; its text, or NULL. */
HONE_API int64_t hone_binding_integer(const hone_binding *binding, const char *key,
                                      int64_t default_value);
HONE_API const char *hone_binding_text(const hone_binding *binding, const char *key);

/* ---- looking at arguments; NULL as above ---- */

typedef enum hone_argument_kind {
    HONE_ARGUMENT_VALUE,    /* a parameter, or what a binding defines */
    HONE_ARGUMENT_CONSTANT, /* a tensor: hone_argument_data */
    HONE_ARGUMENT_SHAPE,    /* its extents by hone_argument_extent */
    HONE_ARGUMENT_NUMBER,   /* hone_argument_number */
    HONE_ARGUMENT_TEXT,
    HONE_ARGUMENT_TUPLE,
    HONE_ARGUMENT_FUNCTION,
    HONE_ARGUMENT_OTHER /* a type, None */
} hone_argument_kind;

HONE_API hone_argument_kind hone_argument_get_kind(const hone_argument *argument);
/* Of a value or function its name, of a text itself; else NULL. */
HONE_API const char *hone_argument_name(const hone_argument *argument);
/* All that is known of it, in words: "float32[1, 784]", "(int64[n], int64)", "unknown". */
HONE_API const char *hone_argument_describe(const hone_argument *argument);
/* "float32"; "" when it is not known or no tensor. */
HONE_API void hone_argument_type(const hone_argument *argument, char out_type[24]);
/* Dimensions of a tensor or shape; -1 when that is not known. */
HONE_API int32_t hone_argument_rank(const hone_argument *argument);
/* An extent; -1 when it is symbolic or not known. As a term: NULL when it is not known. */
HONE_API int64_t hone_argument_extent(const hone_argument *argument, uint32_t dimension);
HONE_API const hone_term *hone_argument_extent_term(const hone_argument *argument,
                                                    uint32_t dimension);
HONE_API double hone_argument_number(const hone_argument *argument);
HONE_API size_t hone_argument_item_count(const hone_argument *argument); /* of a tuple as written */
HONE_API const hone_argument *hone_argument_item(const hone_argument *argument, size_t index);
/* The elements of a constant, dense and row-major; out_bytes may be NULL. NULL for others. */
HONE_API const void *hone_argument_data(const hone_argument *argument, size_t *out_bytes);
/* 1 when both are the same value, constant or number. */
HONE_API int hone_argument_same(const hone_argument *a, const hone_argument *b);

/* ---- visitors ---- */

/* What a visitor is told, in the order of the text; each may be NULL. */
typedef struct hone_graph_visitor {
    void (*parameter)(void *context, const hone_argument *parameter);
    void (*binding)(void *context, const hone_binding *binding);
    void (*result)(void *context, const hone_argument *result);
    void *context;
} hone_graph_visitor;

/* function NULL: the only one, or main. Errors: not_found, unsupported (no graph function). */
HONE_API hone_error *hone_graph_visit(const hone_program *program, const char *function,
                                      const hone_graph_visitor *visitor);

/* ---- mutators ---- */

/* Gets a binding whose arguments are already those of the new function; returns what its value is
 * from now on, made by the functions below or found in the binding, or NULL: it stays. */
typedef const hone_argument *(*hone_graph_mutator)(void *context, hone_graph *graph,
                                                   const hone_binding *binding);

/* The program with every binding of a graph function rewritten, in order; types that follow from
 * changed arguments are inferred anew. Bindings that nobody uses any more stay until
 * hone_program_run_passes with "prune". Errors: not_found, unsupported (no graph function), those
 * of what was made, invalid when what comes out is not well formed. */
HONE_API hone_error *hone_graph_rewrite(const hone_program *program, const char *function,
                                        hone_graph_mutator mutator, void *context,
                                        hone_program **out_program);

/* ---- making ---- */

/* Begins a graph function of that name, which may call the functions of `with` (NULL: none).
 * Errors: invalid (the name is NULL, no identifier, or taken in `with`). */
HONE_API hone_error *hone_graph_create(const char *name, const hone_program *with,
                                       hone_graph **out_graph);
HONE_API void hone_graph_free(hone_graph *graph); /* NULL is allowed; not for a mutator's */
/* What defines a value in the graph as far as it is made (a mutator asks what stands behind an
 * argument); NULL for parameters and whatever is no value. */
HONE_API const hone_binding *hone_graph_lookup(hone_graph *graph, const hone_argument *value);
/* Where terms over sizes are made. */
HONE_API hone_terms *hone_graph_terms(hone_graph *graph);
/* Adds the functions of a program, which may end before the graph, to what the graph may call: a
 * mutator adds what it calls from now on. Their names are not taken. */
HONE_API void hone_graph_add(hone_graph *graph, const hone_program *program);
/* A symbolic size; a parameter has it as an extent by itself. Not in a mutator. */
HONE_API const hone_term *hone_graph_size(hone_graph *graph, const char *name);
/* A parameter; before every binding, and not in a mutator. */
HONE_API const hone_argument *hone_graph_parameter(hone_graph *graph, const char *name,
                                                   const char *type, uint32_t rank,
                                                   const hone_term *const *shape);

/* An operator by its Relax name without "R.", as in hone_topi_call: its tensors in order,
 * everything else by options. What it gives is inferred. */
HONE_API const hone_argument *hone_graph_operator(hone_graph *graph, const char *op, size_t count,
                                                  const hone_argument *const *tensors,
                                                  size_t option_count, const hone_option *options);
/* R.call_tir: a tensor program of the module, which gives one tensor of that type and shape. */
HONE_API const hone_argument *hone_graph_call_program(hone_graph *graph, const char *function,
                                                      size_t count,
                                                      const hone_argument *const *args,
                                                      const char *type, uint32_t rank,
                                                      const hone_term *const *shape);
/* R.call_dps_packed: an external function by its name, the same. */
HONE_API const hone_argument *hone_graph_call_external(hone_graph *graph, const char *function,
                                                       size_t count,
                                                       const hone_argument *const *args,
                                                       const char *type, uint32_t rank,
                                                       const hone_term *const *shape);
/* hone_graph_call_external with several tensors: a tuple of them, which hone_graph_item takes
 * apart. */
typedef struct hone_graph_output {
    const char *type;
    uint32_t rank;
    const hone_term *const *shape;
} hone_graph_output;
HONE_API const hone_argument *hone_graph_call_program_many(hone_graph *graph, const char *function,
                                                           size_t count,
                                                           const hone_argument *const *args,
                                                           size_t output_count,
                                                           const hone_graph_output *outputs);
HONE_API const hone_argument *hone_graph_call_external_many(hone_graph *graph, const char *function,
                                                            size_t count,
                                                            const hone_argument *const *args,
                                                            size_t output_count,
                                                            const hone_graph_output *outputs);
/* Another graph function of the module. */
HONE_API const hone_argument *hone_graph_call_function(hone_graph *graph, const char *function,
                                                       size_t count,
                                                       const hone_argument *const *args);
HONE_API const hone_argument *hone_graph_tuple(hone_graph *graph, size_t count,
                                               const hone_argument *const *items);
HONE_API const hone_argument *hone_graph_item(hone_graph *graph, const hone_argument *tuple,
                                              uint32_t index);
/* A constant tensor; data, dense and row-major, is copied. */
HONE_API const hone_argument *hone_graph_constant(hone_graph *graph, const char *type,
                                                  uint32_t rank, const int64_t *shape,
                                                  const void *data);

/* Makes the program: `with` and the function, which returns result. The graph is used up and only
 * waits for hone_graph_free. Errors: the first mistake of all calls before; invalid. */
HONE_API hone_error *hone_graph_finish(hone_graph *graph, const hone_argument *result,
                                       hone_program **out_program);

HONE_END_DECLS

#endif
