/* runtime/model/model_rt.c - makes the table of abi.h out of pool and workspaces. */
#include "runtime/model/model_rt.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/rt_impl.h"

static rt_state *state_of(const hone_rt *rt) {
    return rt->state;
}

static int32_t run_parallel(const hone_rt *rt, int64_t begin, int64_t end, hone_parallel_body body,
                            void *closure) {
    rt_state *state = state_of(rt);
    if (begin >= end) return 0;
    if (!state->pool || end - begin == 1) return body(rt, closure, begin, end);
    return rt_pool_run(state->pool, rt, begin, end, body, closure);
}

static void *alloc_scratch(const hone_rt *rt, int64_t bytes) {
    return rt_workspaces_alloc(state_of(rt)->workspaces, bytes);
}

static void free_scratch(const hone_rt *rt, void *memory) {
    rt_workspaces_free(state_of(rt)->workspaces, memory);
}

static void *find_extern(const hone_rt *rt, const char *name) {
    rt_state *state = state_of(rt);
    return state->find_extern ? state->find_extern(state->extern_ctx, name) : NULL;
}

static void set_error(const hone_rt *rt, int32_t code, const char *message) {
    rt_state *state = state_of(rt);
    pthread_mutex_lock(&state->error_lock);
    state->error_code = code;
    snprintf(state->error_message, sizeof state->error_message, "%s", message ? message : "");
    pthread_mutex_unlock(&state->error_lock);
}

int32_t hone_model_rt_take_error(hone_rt *rt, char *message, size_t capacity) {
    rt_state *state = state_of(rt);
    pthread_mutex_lock(&state->error_lock);
    int32_t code = state->error_code;
    if (capacity > 0) snprintf(message, capacity, "%s", state->error_message);
    state->error_code = 0;
    state->error_message[0] = 0;
    pthread_mutex_unlock(&state->error_lock);
    return code;
}

int32_t hone_model_rt_usable_cores(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (int32_t)count : 1;
}

int hone_model_rt_create(const hone_model_rt_options *options, hone_rt **out_rt) {
    static const hone_model_rt_options defaults = {0};
    if (!options) options = &defaults;
    *out_rt = NULL;
    rt_state *state = calloc(1, sizeof *state);
    if (!state) return -1;
    int32_t threads =
        options->thread_count > 0 ? options->thread_count : hone_model_rt_usable_cores();
    state->table = (hone_rt){
        .abi_version = HONE_ABI_VERSION,
        .thread_count = threads,
        .state = state,
        .parallel_for = run_parallel,
        .workspace_alloc = alloc_scratch,
        .workspace_free = free_scratch,
        .find_extern = find_extern,
        .set_error = set_error,
    };
    state->find_extern = options->find_extern;
    state->extern_ctx = options->extern_ctx;
    if (pthread_mutex_init(&state->error_lock, NULL) != 0) {
        free(state);
        return -1;
    }
    int64_t spin_ns = options->spin_ns == 0 ? 100000 : options->spin_ns < 0 ? 0 : options->spin_ns;
    state->workspaces = rt_workspaces_create();
    if (threads > 1) state->pool = rt_pool_create(threads, spin_ns);
    if (!state->workspaces || (threads > 1 && !state->pool)) {
        hone_model_rt_destroy(&state->table);
        return -1;
    }
    *out_rt = &state->table;
    return 0;
}

void hone_model_rt_destroy(hone_rt *rt) {
    if (!rt) return;
    rt_state *state = state_of(rt);
    rt_pool_destroy(state->pool);
    rt_workspaces_destroy(state->workspaces);
    pthread_mutex_destroy(&state->error_lock);
    free(state);
}
