/* graph/plan/plan_memory.c - offsets in one workspace.
 *
 * Static sizes: largest first, each at the lowest offset where it overlaps none of those that are
 * placed already and live at the same time ("greedy by size": Pisarchyk and Lee, Efficient Memory
 * Management for Deep Neural Net Inference, 2020, section 5).
 * Symbolic sizes: in order of first use, each takes over a slot of the same size that is free, or
 * opens a new one behind the others. What is known in one phase lies in the workspace of it.
 */
#include <stdlib.h>

#include "graph/plan/plan_impl.h"
#include "ir/ops/graph_infer.h"

static int64_t round_up(int64_t bytes, int64_t align) {
    return (bytes + align - 1) / align * align;
}

static int compare_size(const void *a, const void *b) {
    const plan_storage *x = *(plan_storage *const *)a, *y = *(plan_storage *const *)b;
    if (x->bytes->u.i != y->bytes->u.i) return x->bytes->u.i < y->bytes->u.i ? 1 : -1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* What is placed, so that one storage is compared with few others. Those that live with it are
 * those that live at its first step, and those that begin later: each stands at the step where it
 * begins, and at the nodes of a binary tree over the steps that make up its life. */

typedef struct entry {
    const plan_storage *storage;
    struct entry *next;
} entry;

typedef struct occupied {
    int64_t begin, end;
} occupied;

typedef struct timeline {
    hone_arena *arena;
    int64_t align;
    uint32_t steps; /* a power of two */
    entry **nodes;  /* by node: 1 is the root, `steps` the first step */
    entry **begins; /* by step */
    occupied *room; /* for as many as there are storages */
} timeline;

static hone_status timeline_init(timeline *t, hone_arena *arena, plan_storage *const *items,
                                 uint32_t count, int64_t align) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; i++)
        last = items[i]->last > last ? items[i]->last : last;
    t->arena = arena;
    t->align = align;
    for (t->steps = 1; t->steps <= last;)
        t->steps *= 2;
    t->nodes = hone_arena_zalloc(arena, 2 * (size_t)t->steps * sizeof *t->nodes);
    t->begins = hone_arena_zalloc(arena, (size_t)t->steps * sizeof *t->begins);
    t->room = hone_arena_alloc(arena, ((size_t)count + 1) * sizeof *t->room);
    return t->nodes && t->begins && t->room ? HONE_OK
                                            : HONE_ERROR(HONE_CODE_NO_MEMORY, "memory plan");
}

static hone_status put(timeline *t, entry **list, const plan_storage *s) {
    entry *made = hone_arena_alloc(t->arena, sizeof *made);
    if (!made) return HONE_ERROR(HONE_CODE_NO_MEMORY, "memory plan");
    *made = (entry){s, *list};
    *list = made;
    return HONE_OK;
}

static hone_status timeline_add(timeline *t, const plan_storage *s) {
    uint32_t low = s->first + t->steps, high = s->last + t->steps + 1;
    HONE_TRY(put(t, &t->begins[s->first], s));
    for (; low < high; low /= 2, high /= 2) {
        if (low % 2) HONE_TRY(put(t, &t->nodes[low++], s));
        if (high % 2) HONE_TRY(put(t, &t->nodes[--high], s));
    }
    return HONE_OK;
}

static int compare_begin(const void *a, const void *b) {
    const occupied *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void occupy(const timeline *t, const entry *list, uint32_t *io_count) {
    for (const entry *e = list; e; e = e->next) {
        int64_t begin = e->storage->offset->u.i;
        t->room[(*io_count)++] =
            (occupied){begin, begin + round_up(e->storage->bytes->u.i, t->align)};
    }
}

/* Where those lie that live at the same time, each once. */
static uint32_t find_occupied(const timeline *t, const plan_storage *s) {
    uint32_t count = 0;
    for (uint32_t node = s->first + t->steps; node; node /= 2)
        occupy(t, t->nodes[node], &count);
    for (uint32_t step = s->first + 1; step <= s->last; step++)
        occupy(t, t->begins[step], &count);
    return count;
}

/* The lowest offset where nothing that lives at the same time lies. */
static int64_t lowest_offset(const timeline *t, const plan_storage *s) {
    int64_t at = 0, size = round_up(s->bytes->u.i, t->align);
    uint32_t count = find_occupied(t, s);
    if (count) qsort(t->room, count, sizeof *t->room, compare_begin);
    for (uint32_t i = 0; i < count && t->room[i].begin < at + size; i++) {
        if (t->room[i].end > at) at = t->room[i].end;
    }
    return at;
}

static hone_status place_static(hone_ir *ir, plan_storage **items, uint32_t count, int64_t align,
                                const hone_expr **out_bytes, int64_t *out_unplanned) {
    timeline t;
    int64_t total = 0;
    *out_unplanned = 0;
    HONE_TRY(timeline_init(&t, ir->arena, items, count, align));
    if (count) qsort(items, count, sizeof *items, compare_size);
    for (uint32_t i = 0; i < count; i++) {
        int64_t size = items[i]->bytes->u.i;
        if (size < 0 || size > INT64_C(1) << 50) {
            return HONE_ERROR(HONE_CODE_INVALID, "an intermediate result of %lld bytes",
                              (long long)size);
        }
        int64_t at = lowest_offset(&t, items[i]);
        items[i]->offset = hone_extent_int(ir, at);
        if (!items[i]->offset) return hone_ir_finish(ir);
        HONE_TRY(timeline_add(&t, items[i]));
        if (at + round_up(size, align) > total) total = at + round_up(size, align);
        *out_unplanned += round_up(size, align);
    }
    *out_bytes = hone_extent_int(ir, total);
    return hone_ir_finish(ir);
}

/* ---- symbolic ---- */

typedef struct slot {
    const hone_expr *bytes, *offset;
    uint32_t busy_until;
} slot;

static const hone_expr *round_up_expr(hone_ir *ir, const hone_expr *bytes, int64_t align) {
    if (hone_expr_is_int(bytes)) return hone_extent_int(ir, round_up(bytes->u.i, align));
    bool is_multiple = hone_expr_is_op(bytes, HONE_OP_MUL) && hone_expr_is_int(bytes->args[1]) &&
                       bytes->args[1]->u.i % align == 0;
    if (is_multiple) return bytes;
    const hone_expr *units = hone_extent_div(ir, hone_extent_add(ir, bytes, align - 1), align);
    return hone_extent_mul(ir, units, hone_extent_int(ir, align));
}

static int compare_first(const void *a, const void *b) {
    const plan_storage *x = *(plan_storage *const *)a, *y = *(plan_storage *const *)b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static hone_status place_symbolic(hone_ir *ir, plan_storage **items, uint32_t count, int64_t align,
                                  const hone_expr **out_bytes) {
    slot *slots = hone_arena_zalloc(ir->arena, (count + 1) * sizeof *slots);
    uint32_t used = 0;
    if (!slots) return HONE_ERROR(HONE_CODE_NO_MEMORY, "memory plan");
    *out_bytes = hone_extent_int(ir, 0);
    if (count) qsort(items, count, sizeof *items, compare_first);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        while (at < used && (slots[at].busy_until >= items[i]->first ||
                             !hone_extent_same(slots[at].bytes, items[i]->bytes))) {
            at++;
        }
        if (at == used) {
            slots[used++] = (slot){items[i]->bytes, *out_bytes, 0};
            *out_bytes = hone_extent_sum(ir, *out_bytes, round_up_expr(ir, items[i]->bytes, align));
            if (!*out_bytes) return hone_ir_finish(ir);
        }
        slots[at].busy_until = items[i]->last;
        items[i]->offset = slots[at].offset;
    }
    return hone_ir_finish(ir);
}

hone_status plan_place(hone_ir *ir, uint32_t phase, int64_t align, plan_storage *storages,
                       uint32_t count, const hone_expr **out_bytes, int64_t *out_unplanned) {
    plan_storage **items = hone_arena_zalloc(ir->arena, (count + 1) * sizeof *items);
    uint32_t used = 0;
    bool is_static = true;
    *out_unplanned = -1;
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "memory plan");
    for (uint32_t i = 0; i < count; i++) {
        if (storages[i].place != HONE_PLAN_WORKSPACE || storages[i].phase != phase) continue;
        items[used++] = &storages[i];
        is_static &= hone_expr_is_int(storages[i].bytes);
    }
    return is_static ? place_static(ir, items, used, align, out_bytes, out_unplanned)
                     : place_symbolic(ir, items, used, align, out_bytes);
}
