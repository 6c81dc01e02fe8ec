/* graph/module/rewrite.h - rebuilds graph functions binding by binding: what most graph passes are
 * made of.
 *
 * For each binding of the old function the callback either does nothing and lets the default happen
 * (a copy with its arguments mapped) or emits bindings of its own and says with
 * hone_rewrite_set what the old value is now. Symbolic sizes keep their ids.
 */
#ifndef HONE_GRAPH_MODULE_REWRITE_H
#define HONE_GRAPH_MODULE_REWRITE_H

#include "graph/module/graph_options.h"

typedef struct hone_rewrite {
    hone_module *module; /* being changed; its arena owns everything new */
    const hone_graph_func *old;
    hone_graph_func *now;
    hone_garg *map;           /* by old value: what it is now; HONE_GARG_NONE = not defined yet */
    const uint32_t *uses;     /* by old value: how often it is used, the result included */
    const hone_gbind **defs;  /* by old value: the binding that defines it, NULL for a parameter */
    const hone_gbind **users; /* see hone_rewrite_find_users; NULL until then */
    const uint32_t *first_user; /* by old value, and one more: where its users begin */
    void *ctx;
    hone_ir ir;
} hone_rewrite;

/* Handles a binding and sets *out_done, or leaves it false for the default. */
typedef hone_status (*hone_rewrite_fn)(hone_rewrite *rw, const hone_gbind *bind, bool *out_done);

/* Rebuilds one graph function of the module. */
hone_status hone_rewrite_member(hone_module *module, uint32_t member, hone_rewrite_fn fn,
                                void *ctx);
/* Rebuilds every graph function of the module. */
hone_status hone_rewrite_module(hone_module *module, hone_rewrite_fn fn, void *ctx);

/* An argument of an old binding in terms of the new function. */
hone_status hone_rewrite_arg(hone_rewrite *rw, const hone_garg *arg, hone_garg *out);
/* All arguments of a binding; out has room for them (arena). */
hone_status hone_rewrite_args(hone_rewrite *rw, const hone_gbind *bind, const hone_garg **out);
void hone_rewrite_set(hone_rewrite *rw, hone_gvalue old, hone_garg now);

/* Finds the users of all old values, once for a function, in time linear in its size; asked for
 * before the first hone_rewrite_users. Errors: HONE_CODE_NO_MEMORY. */
hone_status hone_rewrite_find_users(hone_rewrite *rw);
/* The old bindings that have an old value among their arguments, each once, in order. The result
 * of the function is none. */
const hone_gbind *const *hone_rewrite_users(const hone_rewrite *rw, hone_gvalue old,
                                            uint32_t *out_count);

/* Emits an operator call into the new function, with shape inference. */
hone_status hone_rewrite_call(hone_rewrite *rw, const char *op, uint32_t arg_count,
                              const hone_garg *args, hone_attrs attrs, hone_garg *out);
/* Emits a reshape to `rank` extents, which belong to the module's arena. */
hone_status hone_rewrite_reshape(hone_rewrite *rw, hone_garg x, int32_t rank,
                                 const hone_expr *const *shape, hone_garg *out);
/* Emits a call_tir of a member of the module. */
hone_status hone_rewrite_call_tir(hone_rewrite *rw, const char *callee, uint32_t arg_count,
                                  const hone_garg *args, const hone_sinfo *info, hone_garg *out);
const hone_sinfo *hone_rewrite_info(hone_rewrite *rw, const hone_garg *now);
/* What defines a value of the new function, as far as it is made; NULL for other arguments. */
const hone_gbind *hone_rewrite_maker(const hone_rewrite *rw, const hone_garg *now);
/* The constant tensor behind a new argument, or NULL. */
const hone_tensor *hone_rewrite_constant(const hone_rewrite *rw, const hone_garg *now);
/* Takes tensor. */
hone_status hone_rewrite_add_constant(hone_rewrite *rw, hone_tensor *tensor, hone_garg *out);

/* A name that no member of the module has: stem, stem1, stem2, ... In the module's arena. */
hone_status hone_module_fresh_name(const hone_module *module, const char *stem,
                                   const char **out_name);
/* Both are one value, constant or literal. */
bool hone_garg_same(const hone_garg *a, const hone_garg *b);

#endif
