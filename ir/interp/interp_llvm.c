/* ir/interp/interp_llvm.c - the intrinsics of LLVM that implementations of tensor intrinsics call:
 * dot products and sums of pairs of x86 and ARM, named by their text; and halves of vectors. */
#include <string.h>

#include "ir/interp/interp_impl.h"

static int64_t lane_of(const xexpr *e, machine *m, uint32_t lane) {
    m->lane = (uint16_t)(e->lanes > 1 ? lane : 0);
    return x_int(e, m);
}

/* The lane of the result in hand; a number may stand in a vector. */
static uint32_t lane_in(const xexpr *e, const machine *m) {
    return e->lanes > 1 ? m->lane : 0;
}

/* A byte of a vector whose lanes hold several. */
static int64_t byte_of(const xexpr *e, machine *m, uint32_t at, bool is_unsigned) {
    uint32_t each = e->bits / 8u;
    uint64_t byte = (uint64_t)lane_of(e, m, at / each) >> (8 * (at % each)) & 0xff;
    return is_unsigned ? (int64_t)byte : (int64_t)(int8_t)(uint8_t)byte;
}

/* acc[i] + a[4 i] b[4 i] + ... + a[4 i + 3] b[4 i + 3], over bytes */
static int64_t dot(const xexpr *e, machine *m, bool is_a_unsigned, bool is_b_unsigned) {
    uint16_t keep = m->lane;
    uint32_t lane = lane_in(e, m);
    uint64_t sum = (uint64_t)lane_of(e->args[2], m, lane);
    for (uint32_t k = 4 * lane; k < 4 * lane + 4; k++) {
        int64_t a = byte_of(e->args[3], m, k, is_a_unsigned);
        sum += (uint64_t)(a * byte_of(e->args[4], m, k, is_b_unsigned));
    }
    m->lane = keep;
    return wrap_to(e, (int64_t)sum);
}
static int64_t dot_signed(const xexpr *e, machine *m) {
    return dot(e, m, false, false);
}
static int64_t dot_unsigned(const xexpr *e, machine *m) {
    return dot(e, m, true, true);
}
static int64_t dot_mixed(const xexpr *e, machine *m) {
    return dot(e, m, true, false);
}

/* a[2 i] b[2 i] + a[2 i + 1] b[2 i + 1]; of bytes it saturates */
static int64_t madd(const xexpr *e, machine *m) {
    uint16_t keep = m->lane;
    uint32_t lane = lane_in(e, m);
    int64_t sum = 0;
    for (uint32_t k = 2 * lane; k < 2 * lane + 2; k++) {
        int64_t a = lane_of(e->args[2], m, k);
        sum += a * lane_of(e->args[3], m, k);
    }
    m->lane = keep;
    if (e->bits == 16 && sum > INT16_MAX) return INT16_MAX;
    if (e->bits == 16 && sum < INT16_MIN) return INT16_MIN;
    return wrap_to(e, sum);
}

/* a[i] b[i], as wide as the result */
static int64_t multiply_long(const xexpr *e, machine *m) {
    int64_t a = x_int(e->args[2], m);
    return wrap_to(e, (int64_t)((uint64_t)a * (uint64_t)x_int(e->args[3], m)));
}

/* Sums of neighbours in one vector, or in one behind the other. */
static int64_t add_pairs(const xexpr *e, machine *m) {
    uint16_t keep = m->lane;
    uint32_t lane = lane_in(e, m), half = e->args[2]->lanes / 2u;
    bool is_second = e->count > 3 && lane >= half;
    const xexpr *vector = e->args[is_second ? 3 : 2];
    uint32_t at = 2 * (is_second ? lane - half : lane);
    uint64_t a = (uint64_t)lane_of(vector, m, at), b = (uint64_t)lane_of(vector, m, at + 1);
    m->lane = keep;
    return wrap_to(e, (int64_t)(a + b));
}

static int64_t upper_half(const xexpr *e, machine *m) {
    uint16_t keep = m->lane;
    int64_t value = lane_of(e->args[1], m, lane_in(e, m) + e->lanes);
    m->lane = keep;
    return value;
}
static int64_t lower_half(const xexpr *e, machine *m) {
    uint16_t keep = m->lane;
    int64_t value = lane_of(e->args[1], m, lane_in(e, m));
    m->lane = keep;
    return value;
}
static int64_t both_halves(const xexpr *e, machine *m) {
    uint16_t lane = m->lane, half = e->args[1]->lanes;
    int64_t value = lane_of(e->args[lane < half ? 1 : 2], m, lane % half);
    m->lane = lane;
    return value;
}

/* ---- choosing ---- */

typedef struct row {
    const char *name;
    uint8_t arguments;
    uint8_t
        pieces;   /* elements of each vector argument but an accumulator, per lane of the result */
    uint8_t bits; /* of those elements; 0: the two vectors hold bytes, as they come */
    int64_t (*run)(const xexpr *e, machine *m);
} row;

static const row rows[] = {
    {"llvm.x86.avx512.vpdpbusd.512",   3, 0, 0,  dot_mixed    },
    {"llvm.x86.avx512.vpdpbusd.256",   3, 0, 0,  dot_mixed    },
    {"llvm.x86.avx512.vpdpbusd.128",   3, 0, 0,  dot_mixed    },
    {"llvm.x86.avx512.pmaddubs.w.512", 2, 2, 8,  madd         },
    {"llvm.x86.avx2.pmadd.ub.sw",      2, 2, 8,  madd         },
    {"llvm.x86.ssse3.pmadd.ub.sw.128", 2, 2, 8,  madd         },
    {"llvm.x86.avx512.pmaddw.d.512",   2, 2, 16, madd         },
    {"llvm.x86.avx2.pmadd.wd",         2, 2, 16, madd         },
    {"llvm.x86.sse2.pmadd.wd",         2, 2, 16, madd         },
    {"llvm.aarch64.neon.sdot",         3, 0, 0,  dot_signed   },
    {"llvm.aarch64.neon.udot",         3, 0, 0,  dot_unsigned },
    {"llvm.aarch64.neon.usdot",        3, 0, 0,  dot_mixed    },
    {"llvm.aarch64.neon.smull",        2, 1, 0,  multiply_long},
    {"llvm.aarch64.neon.umull",        2, 1, 0,  multiply_long},
    {"llvm.aarch64.neon.saddlp",       1, 2, 0,  add_pairs    },
    {"llvm.aarch64.neon.uaddlp",       1, 2, 0,  add_pairs    },
    {"llvm.aarch64.neon.addp",         2, 1, 0,  add_pairs    },
};

static bool is_bytes(const xexpr *e, uint32_t lanes) {
    return e->bits % 8 == 0 && (uint32_t)e->lanes * e->bits / 8 == 4 * lanes;
}

static bool fits(const xexpr *x, const row *r) {
    if (x->count != r->arguments + 2u || x_is_float(x)) return false;
    for (uint32_t i = 2; i < x->count; i++) {
        const xexpr *e = x->args[i];
        bool is_accumulator = r->pieces == 0 && i == 2;
        if (x_is_float(e)) return false;
        if (is_accumulator   ? e->lanes != x->lanes
            : r->pieces == 0 ? !is_bytes(e, x->lanes)
                             : e->lanes != x->lanes * r->pieces) {
            return false;
        }
        if (r->bits && e->bits != r->bits) return false;
    }
    return true;
}

/* ("llvm...", arguments); the name of an overloaded one may go on with types: ".v4i32.v16i8" */
static bool choose_intrinsic(xexpr *x) {
    const hone_expr *name = x->count > 1 ? x->source->args[1] : NULL;
    if (!name || name->kind != HONE_EXPR_STRING) return false;
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        size_t length = strlen(rows[i].name);
        if (strncmp(rows[i].name, name->u.s, length) != 0) continue;
        if (name->u.s[length] != '\0' && name->u.s[length] != '.') continue;
        if (!fits(x, &rows[i])) return false;
        x->eval.i = rows[i].run;
        return true;
    }
    return false;
}

bool choose_llvm(xexpr *x) {
    const char *name = x->source->args[0]->u.s;
    bool is_half = x->count == 2 && !x_is_float(x) && !x_is_float(x->args[1]);
    bool is_combined = x->count == 3 && !x_is_float(x) && x->args[1]->lanes == x->args[2]->lanes &&
                       !x_is_float(x->args[1]) && !x_is_float(x->args[2]);
    if (strncmp(name, "call_llvm_", 10) == 0) return choose_intrinsic(x);
    if (is_half && strcmp(name, "vectorlow") == 0)
        x->eval.i = lower_half;
    else if (is_half && strcmp(name, "vectorhigh") == 0)
        x->eval.i = upper_half;
    else if (is_combined && strcmp(name, "vectorcombine") == 0)
        x->eval.i = both_halves;
    else
        return false;
    return true;
}
