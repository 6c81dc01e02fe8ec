/* graph/module/module_parts.h - modules made of parts of others: one function taken out, functions
 * added, replaced or left out.
 *
 * Results are new modules, not frozen yet. Tensor programs are shared with the frozen modules that
 * they come from (which stay alive); graph functions are copied with the constants that they use.
 */
#ifndef HONE_GRAPH_MODULE_MODULE_PARTS_H
#define HONE_GRAPH_MODULE_MODULE_PARTS_H

#include "ir/core/module.h"

/* A function, of a graph function also what it calls and what that calls. NOT_FOUND. */
HONE_NODISCARD hone_status hone_module_part(hone_module *module, const char *name_or_null,
                                            hone_module **out_module);
/* By member, in the arena: whether it is this function, or called by it on the way. NOT_FOUND. */
HONE_NODISCARD hone_status hone_module_find_needed(const hone_module *module, const char *name,
                                                   hone_arena *arena, bool **out_needed);
/* Takes out, in place, what this function does not need. NOT_FOUND. */
HONE_NODISCARD hone_status hone_module_keep(hone_module *module, const char *name);
/* Takes out, in place, the members with these names. */
void hone_module_drop(hone_module *module, const char *const *names, size_t count);
/* The members of module, those of the same name in `with` in their place, then its others.
 * Attributes of the module stay. */
HONE_NODISCARD hone_status hone_module_merge(hone_module *module, hone_module *with,
                                             hone_module **out_module);
/* Adds all functions of another module, which is frozen and stays alive, in place. INVALID: a name
 * is taken. */
HONE_NODISCARD hone_status hone_module_add_all(hone_module *module, hone_module *from);
/* The module with a tensor program in the place of that of the same name. */
HONE_NODISCARD hone_status hone_module_with_func(hone_module *module, const hone_func *func,
                                                 hone_module **out_module);
/* The module without a function. NOT_FOUND; INVALID when another one calls it. */
HONE_NODISCARD hone_status hone_module_without(hone_module *module, const char *name,
                                               hone_module **out_module);

/* A function of any kind that may be changed, alone in a module: tensor programs are copied too.
 * UNSUPPORTED: an external function. */
HONE_NODISCARD hone_status hone_module_alone(hone_module *module, const char *name_or_null,
                                             hone_module **out_module);

/* Whether another function of the module calls this one. */
bool hone_module_calls(const hone_module *module, const char *name);
/* The function that is run where none is named: "main"; else the first of those that a library of
 * the module has (graph functions that are public or that no other calls; where there is no graph
 * function, PrimFuncs), and how many these are. NULL: there is none. */
const hone_member *hone_module_first(const hone_module *module, uint32_t *out_count);

#endif
