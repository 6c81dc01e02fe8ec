/* codegen/llvm/stmt.c - statements: loops, conditions, stores, early exits. */
#include "codegen/llvm/gen.h"

#include <string.h>

#include "lower/ground/lower.h"

LLVMBasicBlockRef gen_block(gen *g, const char *name) {
    return LLVMAppendBasicBlockInContext(g->context, g->frame->function, name);
}

static bool is_terminated(gen *g) {
    return LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(g->builder)) != NULL;
}

void gen_branch(gen *g, LLVMBasicBlockRef to) {
    if (!is_terminated(g)) LLVMBuildBr(g->builder, to);
}

LLVMValueRef gen_alloca(gen *g, LLVMTypeRef type, uint64_t count, const char *name) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->builder);
    LLVMMetadataRef place = LLVMGetCurrentDebugLocation2(g->builder);
    LLVMValueRef first = LLVMGetFirstInstruction(g->frame->entry);
    if (first)
        LLVMPositionBuilderBefore(g->builder, first);
    else
        LLVMPositionBuilderAtEnd(g->builder, g->frame->entry);
    LLVMTypeRef array = LLVMArrayType2(type, count);
    LLVMValueRef memory = LLVMBuildAlloca(g->builder, array, name);
    LLVMSetAlignment(memory, 64);
    LLVMPositionBuilderAtEnd(g->builder, here);
    LLVMSetCurrentDebugLocation2(g->builder, place);
    return memory;
}

void gen_leave_if(gen *g, LLVMValueRef failed, LLVMValueRef code) {
    LLVMBasicBlockRef fail = gen_block(g, "fail"), next = gen_block(g, "");
    LLVMBuildCondBr(g->builder, failed, fail, next);
    LLVMPositionBuilderAtEnd(g->builder, fail);
    LLVMBuildStore(g->builder, code, g->frame->code);
    LLVMBuildBr(g->builder, g->frame->leave);
    LLVMPositionBuilderAtEnd(g->builder, next);
}

/* Metadata of a loop is a node that names itself first. */
static void mark_unrolled(gen *g, LLVMValueRef branch, int64_t steps, bool is_all) {
    static const char all[] = "llvm.loop.unroll.full", some[] = "llvm.loop.unroll.count";
    const char *text = is_all ? all : some;
    LLVMMetadataRef wish[] = {LLVMMDStringInContext2(g->context, text, strlen(text)),
                              LLVMValueAsMetadata(gen_i32(g, (int32_t)steps))};
    LLVMMetadataRef self = LLVMTemporaryMDNode(g->context, NULL, 0);
    LLVMMetadataRef parts[] = {self, LLVMMDNodeInContext2(g->context, wish, is_all ? 1 : 2)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, node);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(g->context, "llvm.loop", 9),
                    LLVMMetadataAsValue(g->context, node));
}

void gen_counted_loop(gen *g, hone_node_id id, LLVMValueRef min, LLVMValueRef end) {
    LLVMBuilderRef b = g->builder;
    const hone_node *node = hone_func_node(g->func, id);
    hone_var var = node->u.loop.var;
    LLVMBasicBlockRef body = gen_block(g, g->func->vars[var].name);
    LLVMBasicBlockRef latch = gen_block(g, ""), after = gen_block(g, "");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, min, end, ""), body, after);
    LLVMPositionBuilderAtEnd(b, body);
    LLVMValueRef iv = LLVMBuildPhi(b, g->i64, g->func->vars[var].name);
    gen_loop outer = g->loop;
    g->loop = (gen_loop){latch, after, id};
    g->vars[var] = (gen_var){.value = iv, .is_index = true};
    if (!hone_arith_bind(&g->arith, var, node->u.loop.range))
        gen_fail(g, HONE_NO_MEMORY("code generation"));
    gen_children(g, id);
    g->loop = outer;
    gen_lines_at(g, id);
    gen_branch(g, latch);
    LLVMPositionBuilderAtEnd(b, latch);
    LLVMValueRef next = LLVMBuildNSWAdd(b, iv, gen_i64(g, 1), "");
    /* a loop that was entered ends exactly there; with "less" LLVM would keep a second counter */
    LLVMValueRef back = LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, next, end, ""), body, after);
    int64_t steps = g->processor->unrolls ? g->processor->unrolls(g, id) : 0;
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    if (steps > 1 || (steps == 1 && extent == 1)) mark_unrolled(g, back, steps, steps == extent);
    LLVMValueRef values[] = {min, next};
    LLVMBasicBlockRef blocks[] = {before, latch};
    LLVMAddIncoming(iv, values, blocks, 2);
    LLVMPositionBuilderAtEnd(b, after);
}

void gen_serial_loop(gen *g, hone_node_id id) {
    const hone_node *node = hone_func_node(g->func, id);
    LLVMValueRef min = gen_index(g, node->u.loop.range.min);
    LLVMValueRef extent = gen_index(g, node->u.loop.range.extent);
    /* with constant bounds the builder folds the first comparison */
    gen_counted_loop(g, id, min, LLVMBuildNSWAdd(g->builder, min, extent, ""));
}

static void loop(gen *g, hone_node_id id) {
    const hone_node *node = hone_func_node(g->func, id);
    if (node->loop_kind == HONE_LOOP_THREAD) {
        g->processor->threads(g, id);
        return;
    }
    if (node->loop_kind == HONE_LOOP_PARALLEL && !g->frame->is_parallel) {
        gen_parallel(g, id);
        return;
    }
    gen_serial_loop(g, id);
}

static void attribute(gen *g, hone_node_id id) {
    const char *key = hone_func_node(g->func, id)->u.attr.key;
    bool was_streaming = g->is_streaming, was_behind = g->is_behind;
    g->is_streaming |= strcmp(key, HONE_LOWER_STREAMING) == 0;
    g->is_behind |= strcmp(key, HONE_LOWER_BEHIND) == 0;
    gen_children(g, id);
    g->is_streaming = was_streaming;
    g->is_behind = was_behind;
}

/* A condition on lanes: skipped when no lane has it, which is not asked where one is known to; else
 * the stores inside are masked. */
static void masked(gen *g, hone_node_id id) {
    LLVMBuilderRef b = g->builder;
    const hone_expr *e = hone_func_node(g->func, id)->u.eval.value;
    LLVMValueRef mask = gen_value(g, e), outer = g->mask, wanted = g->some;
    if (outer) mask = LLVMBuildAnd(b, mask, outer, "");
    LLVMBasicBlockRef after = NULL;
    if (outer || !gen_first_lane_is_on(g, e)) {
        LLVMBasicBlockRef some = gen_block(g, "masked");
        after = gen_block(g, "");
        LLVMBuildCondBr(b, gen_any_lane(g, mask), some, after);
        LLVMPositionBuilderAtEnd(b, some);
    }
    g->mask = g->some = mask;
    gen_children(g, id);
    g->mask = outer;
    g->some = wanted;
    if (!after) return;
    gen_branch(g, after);
    LLVMPositionBuilderAtEnd(b, after);
}

static void condition(gen *g, hone_node_id id) {
    LLVMBuilderRef b = g->builder;
    const hone_node *node = hone_func_node(g->func, id);
    if (node->u.eval.value->dtype.lanes > 1) {
        masked(g, id);
        return;
    }
    hone_node_id last = node->last;
    bool has_else = last != HONE_NO_ID && hone_func_node(g->func, last)->kind == HONE_NODE_ELSE;
    LLVMValueRef value = gen_condition(g, node->u.eval.value);
    LLVMBasicBlockRef yes = gen_block(g, "then"), after = gen_block(g, "");
    LLVMBasicBlockRef no = has_else ? gen_block(g, "else") : after;
    LLVMBuildCondBr(b, value, yes, no);
    LLVMPositionBuilderAtEnd(b, yes);
    const gen_truth truth = {node->u.eval.value, g->truths};
    g->truths = &truth;
    gen_children(g, id); /* skips ELSE */
    g->truths = truth.outer;
    gen_branch(g, after);
    if (has_else) {
        LLVMPositionBuilderAtEnd(b, no);
        gen_children(g, last);
        gen_branch(g, after);
    }
    LLVMPositionBuilderAtEnd(b, after);
}

static void while_loop(gen *g, hone_node_id id) {
    LLVMBuilderRef b = g->builder;
    LLVMBasicBlockRef head = gen_block(g, "while"), body = gen_block(g, ""),
                      after = gen_block(g, "");
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    LLVMBuildCondBr(b, gen_condition(g, hone_func_node(g->func, id)->u.eval.value), body, after);
    LLVMPositionBuilderAtEnd(b, body);
    gen_loop outer = g->loop;
    g->loop = (gen_loop){head, after, HONE_NO_ID};
    gen_children(g, id);
    g->loop = outer;
    gen_branch(g, head);
    LLVMPositionBuilderAtEnd(b, after);
}

static void let(gen *g, hone_node_id id) {
    const hone_node *node = hone_func_node(g->func, id);
    hone_var var = node->u.let.var;
    const hone_expr *value = node->u.let.value;
    bool is_index = g->func->vars[var].is_index;
    g->vars[var] = (gen_var){is_index ? gen_index(g, value) : gen_value(g, value), is_index};
    if (is_index) {
        hone_bound bound = hone_arith_bound(&g->arith, value);
        const hone_expr *one = hone_expr_int(&g->ir, value->dtype, 1);
        bool is_bound = hone_expr_is_pure_index(value) /* it goes on to be that */
                            ? hone_arith_bind(&g->arith, var, (hone_range){value, one})
                            : hone_arith_bind_const(&g->arith, var, bound.min, bound.max);
        if (!is_bound) gen_fail(g, HONE_NO_MEMORY("code generation"));
    }
    gen_children(g, id);
}

/* Everything behind a jump in the same block is unreachable; it goes into a block of its own. */
static void jump(gen *g, LLVMBasicBlockRef to) {
    if (!to) {
        gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "break or continue outside of a loop"));
        return;
    }
    LLVMBuildBr(g->builder, to);
    LLVMPositionBuilderAtEnd(g->builder, gen_block(g, "dead"));
}

static void assertion(gen *g, const hone_node *node) {
    LLVMBasicBlockRef fail = gen_block(g, "assert"), next = gen_block(g, "");
    LLVMBuildCondBr(g->builder, gen_condition(g, node->u.eval.value), next, fail);
    LLVMPositionBuilderAtEnd(g->builder, fail);
    const char *message = node->u.eval.message;
    g->processor->abandon(g, -1, message ? message : "assertion failed");
    LLVMPositionBuilderAtEnd(g->builder, next);
}

static const hone_expr *value_of(const hone_node *node) {
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_STORE:
        return node->u.store.value;
    case HONE_NODE_LET:
        return node->u.let.value;
    case HONE_NODE_IF:
    case HONE_NODE_WHILE:
    case HONE_NODE_EVAL:
        return node->u.eval.value;
    default:
        return NULL;
    }
}

static void statement(gen *g, hone_node_id id) {
    const hone_node *node = hone_func_node(g->func, id);
    gen_lines_at(g, id);
    g->whole = value_of(node);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        loop(g, id);
        return;
    case HONE_NODE_IF:
        condition(g, id);
        return;
    case HONE_NODE_ELSE:
        return; /* made by its IF */
    case HONE_NODE_WHILE:
        while_loop(g, id);
        return;
    case HONE_NODE_LET:
        let(g, id);
        return;
    case HONE_NODE_ALLOC:
        g->processor->alloc(g, id);
        return;
    case HONE_NODE_ATTR:
        attribute(g, id);
        return;
    case HONE_NODE_DECL:
        gen_children(g, id);
        return;
    case HONE_NODE_STORE:
        if (node->u.store.rank != 1) {
            gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "buffer '%s' is not flat",
                                   g->func->buffers[node->u.store.buffer].name));
            return;
        }
        gen_store(g, node->u.store.buffer, node->u.store.indices[0], node->u.store.value);
        return;
    case HONE_NODE_EVAL:
        gen_effect(g, node->u.eval.value);
        return;
    case HONE_NODE_ASSERT:
        assertion(g, node);
        return;
    case HONE_NODE_BREAK:
        jump(g, g->loop.after);
        return;
    case HONE_NODE_CONTINUE:
        jump(g, g->loop.latch);
        return;
    default:
        gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "the program was not lowered"));
    }
}

void gen_children(gen *g, hone_node_id parent) {
    for (hone_node_id c = hone_func_node(g->func, parent)->first; c != HONE_NO_ID && !g->error;
         c = hone_func_node(g->func, c)->next) {
        statement(g, c);
    }
}
