/* codegen/llvm/places.h - where the lanes of a load or a store lie. For access.c alone. */
#ifndef HONE_CODEGEN_LLVM_PLACES_H
#define HONE_CODEGEN_LLVM_PLACES_H

#include "codegen/llvm/gen.h"

enum { GEN_MAX_LANES = 1024 };

/* What kind of access an index is. */
typedef struct gen_place {
    enum {
        GEN_PLACE_SCALAR,
        GEN_PLACE_DENSE,
        GEN_PLACE_FIXED,   /* base plus a constant for each lane */
        GEN_PLACE_STRIDED, /* by a stride that is no constant */
        GEN_PLACE_INDEXED,
    } kind;
    LLVMValueRef base;      /* i64, all but INDEXED */
    const int64_t *offsets; /* FIXED, by lane */
    LLVMValueRef stride;    /* i64, STRIDED */
    LLVMValueRef indices;   /* vector of i64, INDEXED */
    unsigned lanes;
} gen_place;

gen_place gen_place_of(gen *g, const hone_expr *index);
/* The index of one lane, i64. */
LLVMValueRef gen_lane_index(gen *g, const gen_place *p, unsigned lane);
/* Those of all of them, GEN_MAX_LANES at most: a vector of i64. */
LLVMValueRef gen_lane_indices(gen *g, const gen_place *p);

/* Whether it is known which lanes may be touched: out_on, by lane; without a mask, all. */
bool gen_lanes_on(gen *g, unsigned lanes, bool *out_on);

#endif
