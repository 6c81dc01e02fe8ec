/* lower/threads/hazards.h - what threads of a block touch in memory that they share, and where one
 * must wait for another; inside lower/threads/ only. */
#ifndef HONE_LOWER_THREADS_HAZARDS_H
#define HONE_LOWER_THREADS_HAZARDS_H

#include "ir/region/relation.h"
#include "lower/threads/threads.h"

/* One access to watched memory (hazards.is_watched) by a statement. */
typedef struct touch {
    hone_node_id at;
    hone_buffer storage, buffer;     /* buffer: storage, or the view of it that is indexed */
    const hone_expr *const *indices; /* NULL: through a pointer, anywhere */
    bool is_write;
} touch;

typedef struct touches {
    uint32_t count, capacity;
    touch *items;
} touches;

typedef struct hazards {
    hone_lower *lower;
    hone_arith arith;
    hone_node_id nest, body; /* of the launch: its outermost loop; the last loop over an axis */
    hone_node_id block;      /* the last loop over blockIdx, or the node around the nest */
    bool *is_watched;        /* by buffer: shared by threads of a block, and written */
    bool *differs;           /* by variable: not the same for all threads of a block */
} hazards;

/* Appends the touches of `more` to `to`. */
HONE_NODISCARD hone_status hazards_join(const hazards *h, touches *to, const touches *more);
/* Works out is_watched and differs for a launch, whose outermost loop is nest; what was known of
 * another launch is cleared. */
HONE_NODISCARD hone_status hazards_enter(hazards *h, hone_node_id nest);
/* Adds what the node itself touches, not what is below it. */
HONE_NODISCARD hone_status hazards_add_own(const hazards *h, hone_node_id id, touches *io);
/* Adds what is touched below the node, itself included. */
HONE_NODISCARD hone_status hazards_add_below(const hazards *h, hone_node_id id, touches *io);
/* A thread may touch with one of `later` what another one did with one of `earlier`, and one of
 * the two writes it. True too where that is not known. */
bool hazards_meet(hazards *h, const touches *earlier, const touches *later);
/* A block of the launch has more than one thread. */
bool hazards_has_threads(const hazards *h);
/* The value is the same for all threads of a block. */
bool hazards_is_uniform(const hazards *h, const hone_expr *e);

#endif
