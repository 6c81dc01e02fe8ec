/* hone/model.h - loads libraries that `hone compile` made.
 *
 * A compiled model needs nothing of libhone: link it, or dlopen it, and call the functions of the
 * header that was made with it. This is for programs that load any model and ask what it takes;
 * types and calling conventions are those of hone/model_abi.h: shapes in elements, tensors dense
 * and row-major in memory of the caller, calls from several threads at once. Open and close are for
 * one thread at a time.
 */
#ifndef HONE_MODEL_H
#define HONE_MODEL_H

#include <hone/error.h>
#include <hone/model_abi.h>

HONE_BEGIN_DECLS

typedef struct hone_model hone_model;

/* Loads a library. Errors: not_found (the file), invalid (no library, no compiled model), version
 * (made for another interface). */
HONE_API hone_error *hone_model_open(const char *path, hone_model **out_model);

/* Unloads it: nothing of it may be in use. NULL is allowed. */
HONE_API void hone_model_close(hone_model *model);

/* Its name, target, threads and entries with their inputs and outputs; lives as long as the
 * model. */
HONE_API const hone_model_info *hone_model_describe(const hone_model *model);

/* Finds an entry; NULL = "main", or the only one. NULL when there is none. */
HONE_API const hone_model_entry *hone_model_find(const hone_model *model, const char *name);

/* Calls an entry on the model's own threads. inputs and outputs: one tensor per port, in order,
 * owned by the caller. Errors: invalid (a tensor that does not fit), unsupported (a CPU without the
 * features that the model uses), not_found (an external function), io (its weights), no_memory,
 * illegal (a kernel failed), external (an external function said no). */
HONE_API hone_error *hone_model_run(const hone_model *model, const hone_model_entry *entry,
                                    DLTensor *const *inputs, DLTensor *const *outputs);

/* One run of a kernel; texts live as long as the model. */
typedef struct hone_kernel_run {
    const char *name;
    const char *workload; /* its identity in a database */
    const char *schedule; /* where its schedule is from: "record 5", "default", ... */
    double flops, bytes;  /* of this run; flops 0 = not known */
    double ns;
} hone_kernel_run;

typedef void (*hone_kernel_run_visit)(void *context, const hone_kernel_run *run);

/* hone_model_run that tells of each kernel in order, in this thread, when it has run. Nobody else
 * calls the model meanwhile. Errors: those of hone_model_run; unsupported, behind the run: the
 * model was compiled by a version that tells nothing; unavailable: threads cannot be started. */
HONE_API hone_error *hone_model_profile(hone_model *model, const hone_model_entry *entry,
                                        DLTensor *const *inputs, DLTensor *const *outputs,
                                        hone_kernel_run_visit visit, void *context);

HONE_END_DECLS

#endif
