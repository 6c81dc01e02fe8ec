/* codegen/nvptx/ptx_wgmma_lanes.c - wgmma of sm_90a on the threads' own memory: a product's sums,
 * and its first factor where that is no operand in shared memory, are buffers of each thread, in
 * the layouts of ir/interp/interp_matrix_lanes.c, which are those of the instruction's registers.
 *
 * A product goes on behind its call. Its registers are the instruction's until a wait that names
 * them: what is computed of them behind the wait is not moved before it. */
#include <stdio.h>
#include <string.h>

#include "codegen/groups.h"
#include "codegen/nvptx/nvptx.h"
#include "support/core/attributes.h"

/* ---- registers ---- */

/* What an asm is given and gives, and where that is kept. */
typedef struct registers {
    LLVMTypeRef types[PTX_MOST_ASM];
    LLVMValueRef places[PTX_MOST_ASM], args[PTX_MOST_ASM];
    unsigned results, count; /* places of results; arguments */
    bool is_over;
    hone_str constraints;
} registers;

static void add_argument(registers *r, LLVMValueRef value, const char *constraint) {
    r->is_over |= r->count >= PTX_MOST_ASM;
    if (r->is_over) return;
    r->args[r->count++] = value;
    hone_str_printf(&r->constraints, ",%s", constraint);
}

static bool find_buffer(const gen *g, const hone_expr *data, hone_buffer *out) {
    *out = data->kind == HONE_EXPR_VAR ? codegen_buffer_of_data(g->func, data->u.var) : HONE_NO_ID;
    if (*out == HONE_NO_ID) return false;
    const char *scope = g->func->buffers[hone_func_storage(g->func, *out)].scope;
    return scope && strcmp(scope, "local") == 0;
}

/* A register holds one element of 32 bits, or two of 16. */
static LLVMTypeRef word_of(gen *g, hone_dtype dtype) {
    return dtype.bits == 16 ? g->i32 : gen_storage_type(g, dtype);
}

static LLVMValueRef word_at(gen *g, hone_buffer id, LLVMValueRef first, unsigned i) {
    LLVMValueRef at = gen_i64(g, i);
    return LLVMBuildGEP2(g->builder, word_of(g, g->func->buffers[id].dtype), first, &at, 1, "");
}

static LLVMValueRef load_word(gen *g, hone_buffer id, LLVMValueRef place) {
    hone_dtype dtype = g->func->buffers[id].dtype;
    LLVMValueRef load = LLVMBuildLoad2(g->builder, word_of(g, dtype), place, "");
    LLVMSetAlignment(load, (unsigned)hone_dtype_bytes(dtype));
    return load;
}

static char letter_of(hone_dtype dtype) {
    return hone_dtype_is_float(dtype) && dtype.bits == 32 ? 'f' : 'r';
}

/* So many registers from there on become results. */
static void add_results(gen *g, registers *r, hone_buffer id, LLVMValueRef first, unsigned count) {
    hone_dtype dtype = g->func->buffers[id].dtype;
    r->is_over |= r->results + count > PTX_MOST_ASM;
    for (unsigned i = 0; i < count && !r->is_over; i++) {
        hone_str_printf(&r->constraints, "%s=%c", r->results ? "," : "", letter_of(dtype));
        r->types[r->results] = word_of(g, dtype);
        r->places[r->results++] = word_at(g, id, first, i);
    }
}

/* What the results were before. */
static void add_before(gen *g, registers *r, unsigned first, hone_buffer id, unsigned count) {
    char constraint[16];
    for (unsigned i = first; i < first + count && !r->is_over; i++) {
        snprintf(constraint, sizeof constraint, "%u", i);
        add_argument(r, load_word(g, id, r->places[i]), constraint);
    }
}

static LLVMValueRef run(gen *g, registers *r, const char *text) {
    LLVMTypeRef type = LLVMStructTypeInContext(g->context, r->types, r->results, 0);
    if (r->results == 1) type = r->types[0];
    LLVMValueRef made = ptx_asm(g, type, text, hone_str_text(&r->constraints), r->args, r->count,
                                PTX_ASM_CONVERGENT | PTX_ASM_EFFECT);
    for (unsigned i = 0; i < r->results; i++) {
        LLVMValueRef value =
            r->results == 1 ? made : LLVMBuildExtractValue(g->builder, made, i, "");
        LLVMValueRef store = LLVMBuildStore(g->builder, value, r->places[i]);
        LLVMSetAlignment(store, 2);
    }
    return gen_i32(g, 0);
}

/* ---- C += A B ---- */

/* The registers of A for an instruction, or its descriptor; then B's. */
static bool add_factors(gen *g, registers *r, const hone_expr *e, const groups_product *p) {
    LLVMValueRef a = NULL, b = ptx_describe_operand(g, e->args[8], &p->b);
    hone_buffer own = HONE_NO_ID;
    if (p->a.buffer != HONE_NO_ID) {
        a = ptx_describe_operand(g, e->args[6], &p->a);
    } else if (find_buffer(g, e->args[6], &own)) {
        a = gen_address(g, own, gen_index(g, p->a.offset));
    }
    for (unsigned i = 0; a && b && i < p->steps; i++) {
        LLVMValueRef of_b = gen_i64(g, groups_step(&p->b, i));
        if (own == HONE_NO_ID) {
            LLVMValueRef of_a = gen_i64(g, groups_step(&p->a, i));
            add_argument(r, LLVMBuildAdd(g->builder, a, of_a, ""), "l");
        }
        for (unsigned w = 0; own != HONE_NO_ID && w < GROUPS_MOST_A; w++)
            add_argument(r, load_word(g, own, word_at(g, own, a, i * GROUPS_MOST_A + w)), "r");
        add_argument(r, LLVMBuildAdd(g->builder, b, of_b, ""), "l");
    }
    return a && b && !r->is_over;
}

static LLVMValueRef call_product(gen *g, const hone_expr *e) {
    groups_product p;
    registers r = {0};
    hone_str text = {0};
    hone_buffer sums;
    bool is_known = groups_is_of_lanes(e) && find_buffer(g, e->args[1], &sums) &&
                    g->func->buffers[sums].dtype.bits == 32 && groups_read_product(g->func, e, &p);
    if (!is_known) return NULL;
    unsigned words = groups_words(g->func->buffers[sums].dtype, p.columns);
    if (words < 4 || words > GROUPS_MOST_WORDS) return NULL;
    ptx_begin_product(g);
    add_results(g, &r, sums, gen_address(g, sums, gen_index(g, e->args[2])), words);
    is_known = add_factors(g, &r, e, &p);
    if (p.is_added) add_before(g, &r, 0, sums, words);
    groups_write_product(&p, words, '$', "\n\t", &text);
    LLVMValueRef done = is_known && !r.is_over ? run(g, &r, hone_str_text(&text)) : NULL;
    hone_str_deinit(&r.constraints);
    hone_str_deinit(&text);
    return done;
}

/* (calls that may go on, data, ...): what is there of those is not touched before. */
static LLVMValueRef call_wait(gen *g, const hone_expr *e) {
    registers r = {0};
    char text[64];
    int64_t left = e->count > 1 ? hone_expr_const(e->args[1]) : -1;
    bool is_known = left >= 0 && left <= 7 && e->count > 2;
    for (int pass = 0; pass < 2; pass++) {
        unsigned first = 0;
        for (uint16_t i = 2; is_known && i < e->count; i++) {
            hone_buffer id;
            is_known = find_buffer(g, e->args[i], &id);
            if (!is_known) break;
            const hone_buffer_info *info = &g->func->buffers[id];
            unsigned count =
                (unsigned)hone_buffer_elements(info) / (info->dtype.bits == 16 ? 2 : 1);
            if (pass == 0)
                add_results(g, &r, id, gen_address(g, id, gen_i64(g, 0)), count);
            else
                add_before(g, &r, first, id, count);
            first += count;
        }
    }
    snprintf(text, sizeof text, "wgmma.wait_group.sync.aligned %d;", (int)left);
    LLVMValueRef done = is_known && !r.is_over ? run(g, &r, text) : NULL;
    hone_str_deinit(&r.constraints);
    return done;
}

static const ptx_call_row calls[] = {
    {"ptx.wgmma_lanes",      call_product},
    {"ptx.wgmma_lanes_wait", call_wait   },
};

LLVMValueRef ptx_wgmma_lanes_call(gen *g, const hone_expr *e, const char *name) {
    return ptx_capability(g->target) >= 90 ? ptx_call_in(calls, HONE_COUNT(calls), g, e, name)
                                           : NULL;
}
