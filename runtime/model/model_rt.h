/* runtime/model/model_rt.h - the small runtime inside every compiled model: a thread pool,
 * scratch memory, external functions and the last error, behind the table of abi.h.
 *
 * libc and pthreads only; no other room is included, because these files are linked into models
 * that know nothing of libhone. Threads: kernels of one runtime may be called from several threads;
 * while one of them uses the pool, parallel loops of the others run in their calling thread.
 */
#ifndef HONE_RUNTIME_MODEL_MODEL_RT_H
#define HONE_RUNTIME_MODEL_MODEL_RT_H

#include "runtime/model/abi.h"

typedef struct hone_model_rt_options {
    int32_t thread_count; /* 0 = one per usable core */
    int64_t spin_ns;      /* how long an idle thread spins before it sleeps; 0 = 100 us, -1 = never
                             spin: sleep at once */
    /* Looks up external functions; NULL = there are none. */
    void *(*find_extern)(void *ctx, const char *name);
    void *extern_ctx;
} hone_model_rt_options;

/* Returns 0, or -1 when memory or threads cannot be had. options NULL = defaults. */
int hone_model_rt_create(const hone_model_rt_options *options, hone_rt **out_rt);
/* No kernel may be running. NULL is allowed. */
void hone_model_rt_destroy(hone_rt *rt);

/* CPUs in the affinity mask of the caller, at least 1. */
int32_t hone_model_rt_usable_cores(void);

/* An external function in an open library (or RTLD_DEFAULT: in the process) by its name: NAME, or,
 * where C has no such name, with '_' for '.'. A name with HONE_EXTERN_DLPACK_ENDING is that of one
 * that takes DLPack tensors, of which the plain form is returned. In the process what was
 * registered with libhone comes first, whichever form it has. NULL: there is none. */
void *hone_model_rt_find_symbol(void *library, const char *name);
/* hone_model_rt_find_symbol for a call with tensors (hone_extern), which takes either form: NAME,
 * else NAME__dlpack. A call by the types of C takes NAME alone. */
void *hone_model_rt_find_packed(void *library, const char *name);
#define HONE_EXTERN_DLPACK_ENDING "__dlpack"
#define HONE_EXTERN_FINDER "hone_extern_find"

/* A plain function (hone_extern) that stands for int32_t function(DLTensor *const *args, int32_t
 * count); the same for the same, of all threads. NULL: there are 64 of them already. */
void *hone_model_rt_as_plain(void *function);

/* Who looks on while a model runs: an external function of this name that the caller's hone_rt
 * finds. Called in the thread of the call, before and behind each kernel. */
#define HONE_OBSERVER "hone_observe_step"
typedef struct hone_seen_step {
    const char *name;     /* of the kernel's function */
    const char *workload; /* its identity: 32 hex digits */
    const char *origin;   /* where its schedule comes from: "default", "record 12" */
    double flops;         /* of one run; 0 = not known */
    int64_t bytes;        /* of its arguments */
    int32_t is_over;      /* 0: it begins now; 2: it is over, and took so long as `ns` says */
    int32_t code;         /* what it returned, when it is over */
    int64_t ns;           /* by the clock of the device that ran it; told when the call ends */
} hone_seen_step;
typedef void (*hone_observer)(const hone_rt *rt, const hone_seen_step *step);

/* Copies the message of the last set_error, "" when there was none, and forgets it. Returns its
 * code. */
int32_t hone_model_rt_take_error(hone_rt *rt, char *message, size_t capacity);

#endif
