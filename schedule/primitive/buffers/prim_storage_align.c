/* schedule/primitive/buffers/prim_storage_align.c - storage_align: asks that the stride of a
 * dimension of a buffer be factor * k + offset elements (against bank conflicts), by the annotation
 * "buffer_dim_align" on the block that writes it.
 *
 *     with T.block("B"):                                     storage_align(b, 0, -2, 32, 8)
 *  →  with T.block("B"): T.block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})
 *
 * A second wish for the same dimension replaces the first. Checks: wishes that stand there already
 * have that form; the buffer is allocated in the
 * function; the dimension exists (from the end when negative); factor is at least 1.
 */
#include "schedule/primitive/primitive_impl.h"

static const char key[] = "buffer_dim_align";

static bool is_wish_list(const hone_value *value) {
    bool is_list = value->kind == HONE_VALUE_LIST;
    for (uint32_t i = 0; is_list && i < value->count; i++) {
        const hone_value *entry = &value->u.items[i];
        is_list = entry->kind == HONE_VALUE_LIST && entry->count == 4;
        for (uint32_t k = 0; is_list && k < 4; k++)
            is_list = entry->u.items[k].kind == HONE_VALUE_INT;
    }
    return is_list;
}

static bool is_about(const hone_value *entry, int64_t buffer, int64_t axis) {
    return entry->u.items[0].u.i == buffer && entry->u.items[1].u.i == axis;
}

/* The list with one entry more, or one replaced. */
static hone_status with_entry(hone_schedule *sch, const hone_value *old, const int64_t entry[4],
                              hone_value *out) {
    uint32_t count = old ? old->count : 0, at = count;
    hone_value *list = hone_arena_alloc(sch->arena, (count + 1) * sizeof *list);
    hone_value *fresh = hone_arena_alloc(sch->arena, 4 * sizeof *fresh);
    if (!list || !fresh) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        list[i] = old->u.items[i];
        if (is_about(&list[i], entry[0], entry[1])) at = i;
    }
    for (int i = 0; i < 4; i++)
        fresh[i] = HONE_VALUE_OF_INT(entry[i]);
    list[at] = (hone_value){.kind = HONE_VALUE_LIST, .count = 4, .u.items = fresh};
    *out = (hone_value){
        .kind = HONE_VALUE_LIST, .count = at == count ? count + 1 : count, .u.items = list};
    return HONE_OK;
}

hone_status hone_sch_storage_align(hone_schedule *sch, hone_rv block_rv, int64_t buffer_index,
                                   int64_t axis, int64_t factor, int64_t offset) {
    hone_node_id id;
    hone_buffer buffer;
    HONE_TRY(sch_resolve_block(sch, block_rv, &id));
    HONE_TRY(sch_nth_buffer(sch, id, true, buffer_index, &buffer));
    HONE_TRY(sch_require_allocated(sch, id, buffer));
    const hone_buffer_info *info = hone_func_buffer(sch->func, buffer);
    int64_t dim = axis < 0 ? axis + info->rank : axis;
    if (dim < 0 || dim >= info->rank) {
        return sch_refuse(sch, id, "axis is %lld, buffer '%s' has %u dimensions", (long long)axis,
                          info->name, info->rank);
    }
    if (factor < 1) {
        return sch_refuse(sch, id, "factor is %lld, must be at least 1", (long long)factor);
    }
    const hone_value *old = hone_attrs_find(&sch_block(sch, id)->annotations, key);
    if (old && !is_wish_list(old)) {
        return sch_refuse(sch, id, "annotation '%s' of %s is no list of lists of four integers",
                          key, sch_block_name(sch, id));
    }
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, id));
    if (!block) return sch_no_memory();
    hone_value value;
    const int64_t entry[4] = {buffer_index, dim, factor, offset};
    HONE_TRY(with_entry(sch, old, entry, &value));
    if (!hone_attrs_with(sch->arena, &block->annotations, key, value, &block->annotations)) {
        return sch_no_memory();
    }
    sch_node(sch, id)->u.block.block = block;
    return sch_record(sch, HONE_INST_STORAGE_ALIGN,
                      SCH_ARGS(SCH_RV(block_rv), SCH_INT(buffer_index), SCH_INT(axis),
                               SCH_INT(factor), SCH_INT(offset)));
}

SCH_STEP(STORAGE_ALIGN,
         hone_sch_storage_align(sch, a[0].rv, a[1].number, a[2].number, a[3].number, a[4].number),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_WRITTEN_BUFFER("buffer_index"), SCH_ARG_INT("axis", 1),
                  SCH_ARG_INT("factor", 2), SCH_ARG_INT("offset", 3)});
