/* ir/verify/verify_pipeline.c - software pipelines: each statement of the loop's body has one stage
 * and one place in the order.
 *
 * Statements are counted as lowering counts them (lower/pipeline/lower_stages.c): those of the
 * block that is the loop's whole body; of an unguarded block with several statements, these; a
 * T.init; three for a pipeline inside, of one iteration too, two for a copy by way of registers.
 * What may overtake what is judged there. Of a loop of one iteration nothing is asked itself. */
#include <string.h>

#include "ir/core/annotation.h"
#include "ir/verify/verify_impl.h"
#include "support/core/attributes.h"

#define MARKS "hone.pipeline_" /* lower/ground/pipelined.h */

static const hone_value *stages_of(const hone_node *loop) {
    return hone_attrs_find(&loop->u.loop.annotations, HONE_PIPELINE_STAGE);
}

static const hone_value *order_of(const hone_node *loop) {
    return hone_attrs_find(&loop->u.loop.annotations, HONE_PIPELINE_ORDER);
}

static bool is_annotated(const hone_node *node) {
    return node->kind == HONE_NODE_FOR && (stages_of(node) || order_of(node));
}

static bool is_pipelined(const hone_node *node) {
    if (!is_annotated(node)) return false;
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    return extent != 0 && extent != 1;
}

/* Lowering has marked its statements, and goes on by the marks. */
static bool is_marked(const hone_func *func, hone_node_id loop) {
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_ATTR && strncmp(node->u.attr.key, MARKS, strlen(MARKS)) == 0)
            return true;
    }
    return false;
}

/* ---- statements ---- */

static bool holds_memory(const hone_func *func, const hone_node *node) {
    return node->kind == HONE_NODE_ALLOC ||
           (node->kind == HONE_NODE_DECL && node->u.alloc.buffer < func->buffer_count &&
            hone_func_buffer(func, node->u.alloc.buffer)->alias_of == HONE_NO_ID);
}

/* A block that stands for the statements in it. */
static bool is_sequence(const hone_node *node) {
    const hone_expr *predicate = node->kind == HONE_NODE_BLOCK ? node->u.block.predicate : NULL;
    return node->kind == HONE_NODE_BLOCK && node->first != node->last &&
           (!predicate || hone_expr_is_int_value(predicate, 1));
}

static bool goes_by_registers(const hone_func *func, hone_node_id id) {
    while (id != HONE_NO_ID && hone_func_node(func, id)->kind == HONE_NODE_FOR)
        id = hone_func_node(func, id)->first;
    if (id == HONE_NO_ID || hone_func_node(func, id)->kind != HONE_NODE_BLOCK) return false;
    const hone_attrs *attrs = &hone_func_node(func, id)->u.block.block->annotations;
    return hone_attrs_find(attrs, "tirx.manifest_shared_memory_local_stage") ||
           hone_attrs_find(attrs, "tir.manifest_shared_memory_local_stage");
}

static uint32_t count_statements(const hone_func *func, hone_node_id parent, bool enters) {
    uint32_t count = 0;
    for (hone_node_id n = hone_func_node(func, parent)->first; n != HONE_NO_ID;
         n = hone_func_node(func, n)->next) {
        const hone_node *node = hone_func_node(func, n);
        if (holds_memory(func, node)) {
            count += count_statements(func, n, enters);
        } else if (enters && is_sequence(node)) {
            count += count_statements(func, n, false);
        } else {
            count += (is_annotated(node) ? 3u : 1u) + goes_by_registers(func, n);
        }
    }
    return count;
}

static uint32_t count_of_loop(const hone_func *func, hone_node_id loop) {
    const hone_node *node = hone_func_node(func, loop);
    bool is_block = node->first != HONE_NO_ID && node->first == node->last &&
                    hone_func_node(func, node->first)->kind == HONE_NODE_BLOCK;
    return count_statements(func, is_block ? node->first : loop, true);
}

/* ---- the lists ---- */

static int64_t item_of(const hone_value *list, uint32_t i) {
    hone_attr item = {.key = "", .value = list->u.items[i]};
    return hone_attrs_int(&(hone_attrs){.count = 1, .items = &item}, "", -1);
}

static hone_status check_list(const char *loop, const char *key, const hone_value *list,
                              uint32_t statements, int64_t most) {
    if (list->count != statements) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "loop '%s' has %u numbers in '%s', but %u statements in its body", loop,
                          list->count, key, statements);
    }
    for (uint32_t i = 0; i < list->count; i++) {
        int64_t value = item_of(list, i);
        if (value >= 0 && value <= most) continue;
        return HONE_ERROR(HONE_CODE_INVALID,
                          "loop '%s' has %lld in '%s', which is not a number from 0 to %lld", loop,
                          (long long)value, key, (long long)most);
    }
    return HONE_OK;
}

static hone_status check_order(const char *loop, const hone_value *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (item_of(list, i) != item_of(list, j)) continue;
            return HONE_ERROR(
                HONE_CODE_INVALID,
                "loop '%s' gives statements %u and %u of its body the same order, %lld", loop, j, i,
                (long long)item_of(list, i));
        }
    }
    return HONE_OK;
}

static bool is_misfit(const char *key, const hone_value *value) {
    return value && hone_annotation_misfit(key, value);
}

static hone_status check_pipeline(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    const hone_value *stages = stages_of(node), *order = order_of(node);
    const char *loop = func->vars[node->u.loop.var].name;
    if (is_marked(func, id)) return HONE_OK;
    if (is_misfit(HONE_PIPELINE_STAGE, stages) || is_misfit(HONE_PIPELINE_ORDER, order))
        return HONE_OK; /* an error of its own */
    if (!stages || !order) {
        return HONE_ERROR(HONE_CODE_INVALID, "loop '%s' has no '%s' beside the other annotation",
                          loop, stages ? HONE_PIPELINE_ORDER : HONE_PIPELINE_STAGE);
    }
    if (node->loop_kind != HONE_LOOP_SERIAL && node->loop_kind != HONE_LOOP_UNROLLED) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "loop '%s' cannot be pipelined: its iterations have no order", loop);
    }
    uint32_t statements = count_of_loop(func, id);
    if (statements < 2) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "loop '%s' cannot be pipelined: its body is not a sequence of statements",
                          loop);
    }
    HONE_TRY(check_list(loop, HONE_PIPELINE_STAGE, stages, statements, HONE_PIPELINE_MOST_STAGES));
    HONE_TRY(check_list(loop, HONE_PIPELINE_ORDER, order, statements, statements - 1));
    return check_order(loop, order);
}

void verify_pipeline(verifier *v, hone_node_id id) {
    if (!is_pipelined(hone_func_node(v->func, id))) return;
    hone_status st = check_pipeline(v->func, id);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY)
        v->is_short_of_memory = true;
    else if (st)
        verify_error(v, id, "%s", hone_status_message(st));
    hone_status_free(st);
}

void verify_double_buffer(verifier *v, hone_node_id id) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    const hone_value *value = hone_attrs_find(&block->annotations, HONE_DOUBLE_BUFFER);
    if (!value || hone_annotation_misfit(HONE_DOUBLE_BUFFER, value)) return;
    int64_t index = hone_attrs_int(&block->annotations, HONE_DOUBLE_BUFFER, -1);
    if (index >= 0 && index < block->write_count) return;
    verify_error(v, id, "block '%s' has '%s' %lld, but %u regions that it writes", block->name,
                 HONE_DOUBLE_BUFFER, (long long)index, block->write_count);
}

hone_status hone_check_pipelines(const hone_func *func, hone_node_id *out_loop) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        *out_loop = n;
        if (is_pipelined(hone_func_node(func, n))) HONE_TRY(check_pipeline(func, n));
    }
    *out_loop = HONE_NO_ID;
    return HONE_OK;
}
