/* lower/device/shared_bytes.c - how much shared memory a kernel has, static and dynamic. Buffers
 * that do not live at the same time may lie at the same place only where threads wait for each
 * other in between, which the pass that inserts syncs does not know of: so each has a place of its
 * own. */
#include <string.h>

#include "lower/device/splitting.h"
#include "lower/ground/passes.h"

/* What a kernel may have without asking for it, on all devices that have shared memory. */
#define STATIC_BYTES INT64_C(49152)

static bool is_shared(const hone_buffer_info *info) {
    return info->scope && strncmp(info->scope, "shared", 6) == 0;
}

static bool is_dynamic(const hone_buffer_info *info) {
    return is_shared(info) && strcmp(info->scope, "shared.dyn") == 0;
}

static int64_t aligned(int64_t bytes) {
    return (bytes + HONE_SHARED_ALIGN - 1) / HONE_SHARED_ALIGN * HONE_SHARED_ALIGN;
}

static hone_status add_buffer(const hone_buffer_info *info, int64_t *io_bytes) {
    int64_t elements = hone_buffer_elements(info), each = (int64_t)hone_dtype_bytes(info->dtype);
    if (elements < 0 || elements > HONE_LAUNCH_MAX_SHARED / (each ? each : 1)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "'%s' in shared memory has no constant size, or a large one", info->name);
    }
    *io_bytes += aligned(elements * each);
    return HONE_OK;
}

/* is_counted: by buffer, room for all. */
static hone_status count(const hone_func *func, hone_device_kernel *kernel, bool *is_counted) {
    kernel->shared_bytes = kernel->dynamic_bytes = 0;
    memset(is_counted, false, func->buffer_count);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        bool is_named = node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL;
        if (!is_named) continue;
        hone_buffer b = node->u.alloc.buffer;
        const hone_buffer_info *info = &func->buffers[b];
        if (!is_shared(info) || info->alias_of != HONE_NO_ID || is_counted[b]) continue;
        is_counted[b] = true;
        HONE_TRY(
            add_buffer(info, is_dynamic(info) ? &kernel->dynamic_bytes : &kernel->shared_bytes));
    }
    return HONE_OK;
}

static void make_dynamic(hone_func *func) {
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (is_shared(&func->buffers[b])) func->buffers[b].scope = "shared.dyn";
    }
}

hone_status device_count_shared(splitting *s, hone_func *func, hone_device_kernel *kernel) {
    int64_t limit = s->target->max_shared_bytes;
    bool *is_counted = hone_arena_alloc(s->arena, func->buffer_count + 1);
    if (!is_counted) return LOWER_NO_MEMORY();
    HONE_TRY(count(func, kernel, is_counted));
    if (kernel->shared_bytes > STATIC_BYTES) {
        make_dynamic(func);
        HONE_TRY(count(func, kernel, is_counted));
    }
    int64_t bytes = kernel->shared_bytes + kernel->dynamic_bytes;
    if (limit <= 0 || bytes <= limit) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "a block has %lld bytes of shared memory, the target has at most %lld",
                      (long long)bytes, (long long)limit);
}
