/* runtime/model/abi.h - what a compiled kernel and its caller agree on. libc only.
 *
 * A kernel is   int32_t f(const hone_rt *rt, void *const *buffers, const int64_t *sizes)
 * buffers: one pointer per buffer parameter, dense row-major; 64-byte aligned, but for what is only
 *          read, which may be aligned to its elements alone.
 * sizes:   the values of the symbolic sizes and scalar integer parameters in order; NULL when none.
 * It returns 0, or another code after setting rt->set_error. It has no undefined symbols except
 * libm and mem*: everything else comes through hone_rt.
 */
#ifndef HONE_RUNTIME_MODEL_ABI_H
#define HONE_RUNTIME_MODEL_ABI_H

#include <stddef.h>
#include <stdint.h>

#define HONE_ABI_VERSION 1

typedef struct hone_rt hone_rt;

typedef int32_t (*hone_kernel)(const hone_rt *rt, void *const *buffers, const int64_t *sizes);
/* Which failures the codes of set_error tell apart. What an external function returned is returned
 * by the kernel as well. */
enum { HONE_KERNEL_NO_MEMORY = -2, HONE_KERNEL_NO_EXTERN = -3, HONE_KERNEL_EXTERN_FAILED = -6 };
/* One share of a parallel loop: iterations [begin, end). */
typedef int32_t (*hone_parallel_body)(const hone_rt *rt, void *closure, int64_t begin, int64_t end);
/* An external function of call_packed or call_dps_packed. Behind the ranks of the arguments stand
 * their types (hone_dtype_dlpack_word), for functions that take tensors (model_rt.h). One of
 * call_extern or call_pure_extern is a plain C function: pointers and numbers in, a number or
 * nothing out. */
typedef int32_t (*hone_extern)(void *const *args, const int64_t *const *shapes,
                               const int32_t *ranks, int32_t arg_count);

struct hone_rt {
    uint32_t abi_version; /* HONE_ABI_VERSION */
    int32_t thread_count; /* threads that parallel_for uses at most, >= 1 */
    void *state;          /* of whoever made this table */
    /* Runs body over [begin, end) on up to thread_count threads, returns when all is done: 0, or
     * the first code that is not 0. Nested calls run in the calling thread. */
    int32_t (*parallel_for)(const hone_rt *rt, int64_t begin, int64_t end, hone_parallel_body body,
                            void *closure);
    /* Scratch memory, 64-byte aligned, for the duration of a kernel call; NULL when there is none.
     * Freed in reverse order, by the same thread. */
    void *(*workspace_alloc)(const hone_rt *rt, int64_t bytes);
    void (*workspace_free)(const hone_rt *rt, void *memory);
    /* Looks up an external function; NULL when unknown. */
    void *(*find_extern)(const hone_rt *rt, const char *name);
    void (*set_error)(const hone_rt *rt, int32_t code, const char *message);
};

#endif
