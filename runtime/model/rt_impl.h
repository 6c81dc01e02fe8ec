/* runtime/model/rt_impl.h - shared by the files of runtime/model/ only. */
#ifndef HONE_RUNTIME_MODEL_RT_IMPL_H
#define HONE_RUNTIME_MODEL_RT_IMPL_H

#include <pthread.h>

#include "runtime/model/model_rt.h"

typedef struct rt_pool rt_pool;
typedef struct rt_workspaces rt_workspaces;

typedef struct rt_state {
    hone_rt table; /* first: an rt_state * is an hone_rt * */
    rt_pool *pool; /* NULL with one thread */
    rt_workspaces *workspaces;
    void *(*find_extern)(void *ctx, const char *name);
    void *extern_ctx;
    pthread_mutex_t error_lock;
    int32_t error_code;
    char error_message[256];
} rt_state;

/* thread_count includes the calling thread and is at least 2. NULL on failure. */
rt_pool *rt_pool_create(int32_t thread_count, int64_t spin_ns);
void rt_pool_destroy(rt_pool *pool);
int32_t rt_pool_run(rt_pool *pool, const hone_rt *rt, int64_t begin, int64_t end,
                    hone_parallel_body body, void *closure);

rt_workspaces *rt_workspaces_create(void);
void rt_workspaces_destroy(rt_workspaces *workspaces);
void *rt_workspaces_alloc(rt_workspaces *workspaces, int64_t bytes);
void rt_workspaces_free(rt_workspaces *workspaces, void *memory);

#endif
