/* ir/region/region_walk.h - a walk that infers what is touched: what it knows on its way, and what
 * it has recorded. For region.c and region_record.c only. Memory: the arena of the arith context.
 */
#ifndef HONE_IR_REGION_REGION_WALK_H
#define HONE_IR_REGION_REGION_WALK_H

#include "ir/region/region_impl.h"

typedef struct region_touch {
    hone_buffer buffer;
    hone_interval *dims; /* an end that is NULL: unknown, so the whole dimension */
} region_touch;

typedef struct region_touches {
    region_touch *items;
    uint32_t count, capacity;
} region_touches;

/* A variable of which something is known by this block, and what is known without it. */
typedef struct known_here {
    hone_var var;
    hone_bound before;
} known_here;

typedef struct region_walk {
    const hone_func *func;
    const hone_block
        *block; /* NULL: all statements of the function count, not what blocks declare */
    hone_arith arith;
    bool *relax;    /* by variable */
    bool *is_local; /* by buffer: lives inside the block */
    bool has_locals;
    const hone_expr **values; /* by variable: what a let gave it, or NULL */
    bool has_values;
    bool believes; /* what is done by an address is what the block declares, where it names that */
    region_facts facts;
    region_touches reads, writes;
    bool is_out_of_memory;
    known_here *noted;
    uint32_t noted_count, noted_capacity;
} region_walk;

static inline hone_arena *region_arena(const region_walk *walk) {
    return walk->arith.ir.arena;
}

/* ---- what is known of variables ---- */
/* Something becomes known of the variable, which is to be forgotten behind this block. False: the
 * function has no such variable, or memory is short. */
bool region_note(region_walk *walk, hone_var var);
/* From now on the variable stands for the value. */
void region_set_value(region_walk *walk, hone_var var, const hone_expr *value);
void region_forget_noted(region_walk *walk);
/* e with values in the place of variables that have one. */
const hone_expr *region_resolve(region_walk *walk, const hone_expr *e);
/* The last value of a range; NULL when memory is short. */
const hone_expr *region_last_of(region_walk *walk, const hone_range *range);

/* ---- recording ---- */
/* A box of a buffer (NULL: all of it); views and aliases count as the buffer that they show. */
void region_record(region_walk *walk, region_touches *list, hone_buffer buffer,
                   const hone_interval *dims);
/* One access by indices. */
void region_record_access(region_walk *walk, region_touches *list, hone_buffer buffer,
                          const hone_expr *const *indices);
/* A buffer whose address escapes, which alone does not tell whether it is read or written there:
 * all of it, both, unless the block is believed to tell. */
void region_record_handle(region_walk *walk, hone_buffer buffer);
/* region_record_handle through a pointer that says what it is for. */
void region_record_opaque(region_walk *walk, hone_buffer buffer, bool reads, bool writes);
/* The buffer whose data handle the variable is, or HONE_NO_ID. */
hone_buffer region_buffer_of_data(const region_walk *walk, hone_var var);

#endif
