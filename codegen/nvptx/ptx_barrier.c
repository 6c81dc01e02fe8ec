/* codegen/nvptx/ptx_barrier.c - barriers in shared memory (mbarrier), and the copies of many bytes
 * that complete on them (cp.async.bulk), of sm_90. What they mean: ir/interp/interp_barrier.c. */
#include "codegen/async_copies.h"
#include "codegen/nvptx/nvptx.h"

enum { FIRST_WITH_BARRIERS = 90 };

static bool has_barriers(const gen *g) {
    return ptx_capability(g->target) >= FIRST_WITH_BARRIERS;
}

static bool is_in(LLVMValueRef pointer, unsigned space) {
    LLVMTypeRef type = LLVMTypeOf(pointer);
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
           LLVMGetPointerAddressSpace(type) == space;
}

/* 32 bits that say where shared memory is; NULL: the pointer is to something else. */
static LLVMValueRef shared_address(gen *g, const hone_expr *pointer) {
    LLVMValueRef at = gen_value(g, copies_plain_pointer(pointer));
    bool is_known = !g->error && is_in(at, PTX_SHARED);
    return is_known ? LLVMBuildPtrToInt(g->builder, at, g->i32, "") : NULL;
}

static LLVMValueRef word(gen *g, const hone_expr *e) {
    return LLVMBuildTrunc(g->builder, gen_index(g, e), g->i32, "");
}

static LLVMValueRef call_text(gen *g, const char *text, const char *constraints, LLVMValueRef *args,
                              unsigned count) {
    ptx_asm(g, g->empty, text, constraints, args, count, PTX_ASM_EFFECT);
    return gen_i32(g, 0);
}

/* (barrier, number, words…). Copies see the barrier by a proxy of their own. */
static LLVMValueRef call_barrier(gen *g, const hone_expr *e) {
    bool arrives = copies_says(e, "arrive"), expects = copies_says(e, "expect_tx");
    const char *text = copies_says(e, "init") ? "mbarrier.init.shared::cta.b64 [$0], $1;\n\t"
                                                "fence.proxy.async.shared::cta;"
                       : arrives && expects
                           ? "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;"
                       : arrives ? "mbarrier.arrive.shared::cta.b64 _, [$0], $1;"
                       : expects ? "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;"
                                 : NULL;
    if (!text || e->count < 3 || !has_barriers(g)) return NULL;
    LLVMValueRef args[] = {shared_address(g, e->args[1]), word(g, e->args[2])};
    return args[0] ? call_text(g, text, "r,r,~{memory}", args, 2) : NULL;
}

/* (barrier, parity) */
static LLVMValueRef call_wait(gen *g, const hone_expr *e) {
    static const char text[] = "{\n\t.reg .pred ended;\n"
                               "$$L_again:\n\t"
                               "mbarrier.try_wait.parity.shared::cta.b64 ended, [$0], $1;\n\t"
                               "@!ended bra $$L_again;\n\t}";
    if (e->count != 3 || !has_barriers(g)) return NULL;
    LLVMValueRef args[] = {shared_address(g, e->args[1]), word(g, e->args[2])};
    return args[0] ? call_text(g, text, "r,r,~{memory}", args, 2) : NULL;
}

/* (to, from, bytes, barrier, words…) */
LLVMValueRef ptx_copy_bulk(gen *g, const hone_expr *e) {
    static const char text[] =
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];";
    bool is_known = copies_says(e, "bulk") && copies_says(e, "mbarrier::complete_tx::bytes") &&
                    e->count > 5 && e->args[4]->kind != HONE_EXPR_STRING && has_barriers(g);
    if (!is_known) return NULL;
    LLVMValueRef from = gen_value(g, copies_plain_pointer(e->args[2]));
    LLVMValueRef args[] = {shared_address(g, e->args[1]), from, word(g, e->args[3]),
                           shared_address(g, e->args[4])};
    if (!args[0] || !args[3] || g->error || !is_in(from, PTX_GLOBAL)) return NULL;
    return call_text(g, text, "r,l,r,r,~{memory}", args, 4);
}

static const ptx_call_row calls[] = {
    {"ptx.mbarrier",       call_barrier},
    {"cuda.mbarrier_wait", call_wait   },
};

LLVMValueRef ptx_barrier_call(gen *g, const hone_expr *e, const char *name) {
    return ptx_call_in(calls, HONE_COUNT(calls), g, e, name);
}
