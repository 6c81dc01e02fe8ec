/* ir/text/print/script_print_allocs.c - where a block's allocations stand in the text.
 *
 * TVM 0.27 has two spellings: T.sblock_alloc_buffer in front of the body, and T.alloc_buffer, a
 * statement. Such a statement is printed where it was read, before the first statement that speaks
 * of its buffer at the latest (a schedule moves statements), and in the order of the block's list:
 * so the text gives the same list when it is read. What a schedule allocates comes behind it in the
 * list: then it is printed in front of the body, too. */
#include "ir/text/print/script_print_impl.h"

struct print_allocs {
    const hone_block *block;
    uint32_t next;       /* of the block's list: those before it are printed */
    hone_node_id *place; /* per allocation: the statement that it stands in front of */
};

/* The buffer of a region, or one that a bound of it loads. */
static bool speaks_of(const hone_func *func, uint32_t count, const hone_region *regions,
                      hone_buffer buffer) {
    for (uint32_t i = 0; i < count; i++) {
        if (regions[i].buffer == buffer) return true;
        for (uint32_t d = 0; d < hone_func_buffer(func, regions[i].buffer)->rank; d++) {
            const hone_range *range = &regions[i].ranges[d];
            if (print_loads(range->min, buffer) || print_loads(range->extent, buffer)) return true;
        }
    }
    return false;
}

bool print_has_allocs_first(const printer *pr, const hone_block *block) {
    for (uint32_t i = 0; i < block->alloc_count; i++) {
        if (speaks_of(pr->func, block->read_count, block->reads, block->allocs[i]) ||
            speaks_of(pr->func, block->write_count, block->writes, block->allocs[i])) {
            return true;
        }
    }
    return false;
}

/* The first of the list that are statements: all behind it are, too. */
static uint32_t first_statement(const printer *pr, const hone_block *block) {
    uint32_t first = block->alloc_count;
    if (printer_is_classic(pr) || print_has_allocs_first(pr, block)) return first;
    while (first > 0) {
        hone_buffer buffer = block->allocs[first - 1];
        if (hone_func_buffer(pr->func, buffer)->form != HONE_BUFFER_STATEMENT) break;
        first--;
    }
    return first;
}

static void print_one(printer *pr, const char *fn, hone_buffer buffer) {
    printer_line_begin(pr);
    hone_str_printf(pr->out, "%s = ", printer_define_buffer(pr, buffer));
    print_buffer_call(pr, fn, "", buffer, false);
    printer_line_end(pr);
}

void print_block_allocs(printer *pr, const hone_block *block) {
    const char *fn = printer_is_classic(pr) ? "T.alloc_buffer" : "T.sblock_alloc_buffer";
    uint32_t count = first_statement(pr, block);
    for (uint32_t i = 0; i < count; i++)
        print_one(pr, fn, block->allocs[i]);
}

void print_allocs_before(printer *pr, print_allocs *allocs, hone_node_id statement) {
    uint32_t end = allocs->block->alloc_count;
    while (end > allocs->next && allocs->place[end - 1] != statement)
        end--;
    while (allocs->next < end)
        print_one(pr, "T.alloc_buffer", allocs->block->allocs[allocs->next++]);
}

/* Where each was read, or its first use, whichever comes first; one that nobody needs stands in
 * front of all. */
static bool find_places(printer *pr, print_allocs *allocs, hone_node_id first) {
    const hone_buffer *buffers = allocs->block->allocs;
    uint32_t count = allocs->block->alloc_count;
    hone_node_id *place = hone_arena_alloc(pr->arena, count * sizeof *place);
    if (!place || !print_first_uses(pr, first, count, buffers, place)) return false;
    for (uint32_t i = allocs->next; i < count; i++) {
        hone_node_id before = hone_func_buffer(pr->func, buffers[i])->stands_before, at = first;
        while (before && at != before && at != place[i] && at != HONE_NO_ID)
            at = hone_func_node(pr->func, at)->next;
        place[i] = at == HONE_NO_ID ? first : at;
    }
    allocs->place = place;
    return true;
}

void print_block_statements(printer *pr, const hone_block *block, hone_node_id first) {
    print_allocs allocs = {.block = block, .next = first_statement(pr, block)};
    if (allocs.next < block->alloc_count && !find_places(pr, &allocs, first)) {
        pr->is_short_of_memory = true;
        return;
    }
    if (first == HONE_NO_ID) print_allocs_before(pr, &allocs, HONE_NO_ID);
    print_statements_with(pr, first, allocs.next < block->alloc_count ? &allocs : NULL);
}
