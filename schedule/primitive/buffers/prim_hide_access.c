/* schedule/primitive/buffers/prim_hide_access.c - unsafe_hide_buffer_access: takes buffers out of
 * what a block says it reads or writes; the body stays. Unsafe: later steps no longer see these
 * accesses.
 *
 *     with T.block("C"): T.reads(A[vi, vk], B[vk, vj])           hide(c, "read", [1])
 *  →  with T.block("C"): T.reads(A[vi, vk])
 *
 * Checks: the kind is "read" or "write"; each index exists and is named once. The trace is marked
 * as unsafe.
 */
#include "schedule/primitive/primitive_impl.h"

#include <string.h>

static hone_status check_indices(hone_schedule *sch, hone_node_id id, bool is_write, uint32_t count,
                                 const int64_t *indices) {
    for (uint32_t i = 0; i < count; i++) {
        hone_buffer ignored;
        HONE_TRY(sch_nth_buffer(sch, id, is_write, indices[i], &ignored));
        for (uint32_t k = 0; k < i; k++) {
            if (indices[k] != indices[i]) continue;
            return sch_refuse(sch, id, "buffer index %lld is named twice", (long long)indices[i]);
        }
    }
    return HONE_OK;
}

static hone_status hide(hone_schedule *sch, hone_node_id id, bool is_write, uint32_t count,
                        const int64_t *indices) {
    uint32_t region_count, kept_count = 0;
    const hone_region *regions = sch_regions_of(sch_block(sch, id), is_write, &region_count);
    hone_region *kept = hone_arena_alloc(sch->arena, (region_count + 1) * sizeof *kept);
    if (!kept) return sch_no_memory();
    for (uint32_t r = 0; r < region_count; r++) {
        bool is_hidden = false;
        for (uint32_t i = 0; i < count; i++)
            is_hidden = is_hidden || indices[i] == r;
        if (!is_hidden) kept[kept_count++] = regions[r];
    }
    return sch_declare_regions(sch, id, is_write, kept_count, kept);
}

hone_status hone_sch_unsafe_hide_buffer_access(hone_schedule *sch, hone_rv block_rv,
                                               const char *buf_type, uint32_t count,
                                               const int64_t *indices) {
    hone_node_id id;
    HONE_TRY(sch_resolve_block(sch, block_rv, &id));
    bool is_write = strcmp(buf_type, "write") == 0;
    if (!is_write && strcmp(buf_type, "read") != 0) {
        return sch_refuse(sch, id, "buf_type is '%s', expected read or write", buf_type);
    }
    HONE_TRY(check_indices(sch, id, is_write, count, indices));
    HONE_TRY(hide(sch, id, is_write, count, indices));
    const hone_operand type = {.kind = HONE_OPERAND_STRING, .u.s = is_write ? "write" : "read"};
    return sch_record(
        sch, HONE_INST_UNSAFE_HIDE_BUFFER_ACCESS,
        SCH_ARGS(SCH_RV(block_rv), SCH_DATA(&type, HONE_NO_ID), SCH_LIST(count, numbers, indices)));
}

static hone_status apply_hiding(hone_schedule *sch, const hone_step_arg *a) {
    if (a[1].data->kind != HONE_OPERAND_STRING) {
        return hone_inst_malformed(HONE_INST_UNSAFE_HIDE_BUFFER_ACCESS,
                                   "buf_type must be a string");
    }
    return hone_sch_unsafe_hide_buffer_access(sch, a[0].rv, a[1].data->u.s, a[2].count,
                                              a[2].list.numbers);
}

SCH_STEP(UNSAFE_HIDE_BUFFER_ACCESS, apply_hiding(sch, a), .gives = HONE_GIVES_NOTHING,
         .is_unsafe = true,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG("buf_type", DATA, 1),
                  SCH_ARG("buf_index_array", LIST, 2)});
