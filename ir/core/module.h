/* ir/core/module.h - a module: named functions, attributes, and constants (weights).
 *
 * Lifetime: a module owns its arena; retain/release share it. While it is being built it belongs to
 * one thread; hone_module_freeze ends that, and a frozen module may be read by any thread. Passes
 * make new modules and may share functions of a frozen one (they hold a reference to it).
 */
#ifndef HONE_IR_CORE_MODULE_H
#define HONE_IR_CORE_MODULE_H

#include "ir/core/func.h"
#include "ir/core/graph_func.h"
#include "support/data/map.h"
#include "support/data/tensor.h"

typedef enum hone_member_kind {
    HONE_MEMBER_FUNC,   /* a PrimFunc */
    HONE_MEMBER_GRAPH,  /* a Relax function */
    HONE_MEMBER_EXTERN, /* R.ExternFunc("name") */
} hone_member_kind;

typedef struct hone_member {
    const char *name;
    hone_member_kind kind;
    hone_func *func;        /* HONE_MEMBER_FUNC */
    hone_graph_func *graph; /* HONE_MEMBER_GRAPH */
} hone_member;

typedef struct hone_module hone_module;
struct hone_module {
    hone_arena *arena;
    hone_member *members; /* in the order of the text */
    uint32_t member_count, member_capacity;
    hone_strmap index; /* of many members: name → place; empty: they are looked through */
    hone_strmap stems; /* of as many: name without its last digits → the largest such number */
    hone_attrs attrs;
    hone_tensor **constants; /* owned; index = what HONE_GARG_CONSTANT holds; NULL in outlines */
    uint32_t constant_count, constant_capacity;
    const char *note; /* what whoever read it from a file found odd about that; NULL: nothing */
    bool is_frozen;
    struct hone_module_shared *shared; /* reference count and the modules this one borrows from */
};

/* An empty module, with one reference. */
HONE_NODISCARD hone_status hone_module_create(hone_module **out_module);
/* One reference more; returns module. */
hone_module *hone_module_retain(hone_module *module);
/* One reference less; the last one frees it. NULL is allowed. */
void hone_module_release(hone_module *module);
/* Ends the making: nothing changes it any more. */
void hone_module_freeze(hone_module *module);
/* Keeps other alive as long as module, so that module may share its functions. */
HONE_NODISCARD hone_status hone_module_borrow(hone_module *module, hone_module *other);

/* Adds a function under its name; INVALID when the name is taken. */
HONE_NODISCARD hone_status hone_module_add_func(hone_module *module, hone_func *func);
HONE_NODISCARD hone_status hone_module_add_graph(hone_module *module, hone_graph_func *graph);
HONE_NODISCARD hone_status hone_module_add_extern(hone_module *module, const char *name);
/* Adds a constant and takes the tensor; out_index: what HONE_GARG_CONSTANT holds. */
HONE_NODISCARD hone_status hone_module_add_constant(hone_module *module, hone_tensor *tensor,
                                                    uint32_t *out_index);
/* The member of that name, or NULL. */
const hone_member *hone_module_find(const hone_module *module, const char *name);
/* Drops the members behind the first `count`, to which the caller has moved those that stay. */
void hone_module_cut(hone_module *module, uint32_t count);
/* The largest number that stands behind the stem in the name of a member: 0 for the stem alone, -1
 * when there is none. */
int64_t hone_module_last_number(const hone_module *module, const char *stem);
/* One of its members is a graph program. */
bool hone_module_has_graph(const hone_module *module);
/* The tensor program that a call by this name reaches: the one of that name, or, where no member
 * has it, the one with that "global_symbol"; or NULL. */
const hone_func *hone_module_find_program(const hone_module *module, const char *name_or_null);
/* The function that a user means when none is named: "main", or the only one. NOT_FOUND with the
 * list of names. */
HONE_NODISCARD hone_status hone_module_pick(const hone_module *module, const char *name_or_null,
                                            const hone_member **out_member);
/* Makes a module with a deep copy of one function. */
HONE_NODISCARD hone_status hone_module_of_func(const hone_func *func, hone_module **out_module);

#endif
