/* codegen/nvptx/ptx_async.c - copies from global to shared memory that go on while others compute:
 * cp.async, its groups, and waiting for them. Before sm_80 a copy is done at once, and so are those
 * that the instruction cannot do. */
#include <stdio.h>
#include <string.h>

#include "codegen/async_copies.h"
#include "codegen/nvptx/nvptx.h"
#include "support/core/attributes.h"

static bool has_copies(gen *g) {
    return ptx_capability(g->target) >= 80;
}

static unsigned space_of(LLVMValueRef pointer) {
    return LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
}

static void copy_at_once(gen *g, LLVMValueRef to, LLVMValueRef from, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at++) {
        LLVMValueRef offset = gen_i64(g, at);
        LLVMValueRef source = LLVMBuildGEP2(g->builder, g->i8, from, &offset, 1, "");
        LLVMValueRef target = LLVMBuildGEP2(g->builder, g->i8, to, &offset, 1, "");
        LLVMBuildStore(g->builder, LLVMBuildLoad2(g->builder, g->i8, source, ""), target);
    }
}

/* args: to, from, how many bytes there are (has_size; zeros follow). The largest pieces go past the
 * first cache. */
static void begin_copy(gen *g, int64_t bytes, LLVMValueRef *args, bool has_size) {
    static const char *const names[] = {"llvm.nvvm.cp.async.ca.shared.global.4",
                                        "llvm.nvvm.cp.async.ca.shared.global.8",
                                        "llvm.nvvm.cp.async.cg.shared.global.16"};
    char name[64];
    snprintf(name, sizeof name, "%s%s", names[bytes / 8], has_size ? ".s" : "");
    gen_intrinsic_of(g, name, NULL, 0, args, has_size ? 3 : 2);
}

static LLVMValueRef copy(gen *g, LLVMValueRef to, LLVMValueRef from, int64_t bytes) {
    bool is_known =
        copies_has_size(bytes) && space_of(to) == PTX_SHARED && space_of(from) == PTX_GLOBAL;
    if (!has_copies(g) || !is_known) {
        copy_at_once(g, to, from, bytes);
        return gen_i32(g, 0);
    }
    LLVMValueRef args[] = {to, from};
    begin_copy(g, bytes, args, false);
    return gen_i32(g, 0);
}

static void commit(gen *g) {
    if (has_copies(g)) gen_intrinsic_of(g, "llvm.nvvm.cp.async.commit.group", NULL, 0, NULL, 0);
}

static void wait(gen *g, int64_t left) {
    LLVMValueRef count = gen_i32(g, (int32_t)left);
    if (has_copies(g)) gen_intrinsic_of(g, "llvm.nvvm.cp.async.wait.group", NULL, 0, &count, 1);
}

/* ---- stores that are copies ---- */

/* So many bytes where all conditions hold, else none. */
static LLVMValueRef size_of(gen *g, const copies_source *w, int64_t bytes) {
    LLVMValueRef holds = gen_condition(g, w->conditions[0]);
    for (unsigned i = 1; i < w->count; i++)
        holds = LLVMBuildAnd(g->builder, holds, gen_condition(g, w->conditions[i]), "");
    return LLVMBuildSelect(g->builder, holds, gen_i32(g, (int32_t)bytes), gen_i32(g, 0), "");
}

bool ptx_copies(gen *g, hone_buffer to, const hone_expr *index, const hone_expr *value) {
    copies_source w;
    if (!has_copies(g) || g->mask || !copies_find_source(value, &w)) return false;
    const hone_expr *load = w.load;
    hone_dtype dtype = g->func->buffers[to].dtype;
    int64_t lanes = index->dtype.lanes, bytes = lanes * (int64_t)hone_dtype_bytes(dtype);
    const hone_expr *target = copies_first_of(index), *source = copies_first_of(load->args[0]);
    bool is_known = copies_has_size(bytes) && target && source && load->dtype.lanes == lanes &&
                    hone_dtype_equal(g->func->buffers[load->u.buffer].dtype, dtype) &&
                    space_of(gen_buffer(g, to)) == PTX_SHARED &&
                    space_of(gen_buffer(g, load->u.buffer)) == PTX_GLOBAL;
    if (!is_known || g->error) return false;
    LLVMValueRef args[] = {gen_address(g, to, gen_index(g, target)),
                           gen_address(g, load->u.buffer, gen_index(g, source)), NULL};
    if (ptx_alignment(g, args[0]) < bytes || ptx_alignment(g, args[1]) < bytes) return false;
    args[0] = ptx_turn(g, to, args[0], bytes);
    if (w.count) args[2] = size_of(g, &w, bytes);
    begin_copy(g, bytes, args, w.count > 0);
    return true;
}

/* ---- calls ---- */

/* A pointer to an element: of a data variable, or anything else that is one. */
static LLVMValueRef pointer(gen *g, const hone_expr *e, const hone_expr *offset) {
    hone_buffer id =
        e->kind == HONE_EXPR_VAR ? codegen_buffer_of_data(g->func, e->u.var) : HONE_NO_ID;
    if (id != HONE_NO_ID) {
        return gen_address(g, id, offset ? gen_index(g, offset) : gen_i64(g, 0));
    }
    const hone_expr *load = e->count > 0 ? e->args[0] : NULL;
    LLVMValueRef at = gen_value(g, e), by = offset ? gen_index(g, offset) : NULL;
    bool is_element =
        hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF) && load && load->kind == HONE_EXPR_LOAD;
    hone_buffer of = is_element ? load->u.buffer
                     : hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR) && e->count == 5 &&
                             e->args[1]->kind == HONE_EXPR_VAR
                         ? codegen_buffer_of_data(g->func, e->args[1]->u.var)
                         : HONE_NO_ID;
    if (!by || of == HONE_NO_ID) return at;
    LLVMTypeRef type = gen_storage_type(g, g->func->buffers[of].dtype);
    return LLVMBuildGEP2(g->builder, type, at, &by, 1, "");
}

/* Where a copy of so many bytes goes: in an operand of groups of warps as that lies. */
static LLVMValueRef target_of(gen *g, const hone_expr *e, const hone_expr *offset, int64_t bytes) {
    hone_buffer id =
        e->kind == HONE_EXPR_VAR ? codegen_buffer_of_data(g->func, e->u.var) : HONE_NO_ID;
    LLVMValueRef at = pointer(g, e, offset);
    return id == HONE_NO_ID || g->error ? at : ptx_turn(g, id, at, bytes);
}

/* ([type,] data, offset, data, offset, bytes): offsets count elements */
static LLVMValueRef call_raw(gen *g, const hone_expr *e) {
    uint16_t first = e->count > 1 && e->args[1]->kind == HONE_EXPR_STRING ? 2 : 1;
    if (e->count != first + 5) return NULL;
    int64_t bytes = hone_expr_const(e->args[first + 4]);
    if (bytes < 1 || bytes > 1024) return NULL;
    LLVMValueRef to = target_of(g, e->args[first], e->args[first + 1], bytes);
    LLVMValueRef from = pointer(g, e->args[first + 2], e->args[first + 3]);
    return g->error ? gen_i32(g, 0) : copy(g, to, from, bytes);
}

/* T.ptx.cp in the table of PTX: operands, then words. */
static LLVMValueRef call_words(gen *g, const hone_expr *e) {
    uint16_t operands = 0;
    while (1 + operands < e->count && e->args[1 + operands]->kind != HONE_EXPR_STRING)
        operands++;
    bool waits = copies_says(e, "wait_all") || copies_says(e, "wait_group");
    if (copies_says(e, "commit_group") || copies_says(e, "wait_all")) commit(g);
    if (waits) wait(g, operands ? hone_expr_const(e->args[1]) : 0);
    if (waits || copies_says(e, "commit_group")) return gen_i32(g, 0);
    if (copies_says(e, "bulk")) return ptx_copy_bulk(g, e);
    if (!copies_says(e, "async") || operands != 3) return NULL;
    int64_t bytes = hone_expr_const(e->args[3]);
    if (bytes < 1 || bytes > 1024) return NULL;
    LLVMValueRef to = pointer(g, copies_plain_pointer(e->args[1]), NULL);
    LLVMValueRef from = pointer(g, copies_plain_pointer(e->args[2]), NULL);
    return g->error ? gen_i32(g, 0) : copy(g, to, from, bytes);
}

static const ptx_call_row calls[] = {
    {"s_tir.cp_async_raw", call_raw  },
    {"ptx.cp_async",       call_raw  },
    {"ptx.cp",             call_words},
};

LLVMValueRef ptx_async_call(gen *g, const hone_expr *e, const char *name) {
    return ptx_call_in(calls, HONE_COUNT(calls), g, e, name);
}
