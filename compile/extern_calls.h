/* compile/extern_calls.h - external functions that programs call: which, and how they look in C. */
#ifndef HONE_COMPILE_EXTERN_CALLS_H
#define HONE_COMPILE_EXTERN_CALLS_H

#include "graph/plan/tasks.h"

/* One of a program, with a task that calls it. */
typedef struct hone_extern_call {
    const char *name; /* "env.relu" */
    const char *task; /* NULL: the graph calls it */
    bool is_packed;   /* hone_extern (runtime/model/abi.h); else a C function of its own types */
    const char *c_prototype; /* of such: "float env_relu(void *, float)" */
} hone_extern_call;

typedef struct hone_extern_calls {
    hone_arena *arena; /* owns the items; names are those of the programs */
    hone_extern_call *items;
    size_t count, capacity;
} hone_extern_calls;

/* Adds what a PrimFunc calls, each name once. calls.arena is the caller's. NO_MEMORY. */
HONE_NODISCARD hone_status hone_extern_calls_of_func(hone_extern_calls *calls,
                                                     const hone_func *func, const char *task);
/* Adds one name, once. NO_MEMORY. */
HONE_NODISCARD hone_status hone_extern_calls_add(hone_extern_calls *calls,
                                                 const hone_extern_call *call);
/* What the tasks of a list call, or the one of that name (NULL: all). */
HONE_NODISCARD hone_status hone_extern_calls_of_tasks(hone_extern_calls *calls,
                                                      const hone_task_list *tasks,
                                                      const char *only_task);

/* NOT_FOUND names all that an open library (dlopen) has not, and the forms that they may have. One
 * that takes DLPack tensors stands for no C function of other types. */
HONE_NODISCARD hone_status hone_extern_calls_find(const hone_extern_calls *calls, void *library);

/* "int32_t env_relu(void *const *args, …)", and the name of the form that takes tensors. */
void hone_extern_print_prototypes(const char *name, hone_str *out);

#endif
