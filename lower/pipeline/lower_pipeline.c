/* lower/pipeline/lower_pipeline.c - the pass that makes software pipelines.
 * needs: no blocks, allocations in their places, the marks of `stages`. keeps: what is computed. A
 * loop with software_pipeline_stage and _order runs statement p of iteration i at the time
 * i + stage[p], together with others of that time in the order given:
 *
 *   for i in E: A: B[..] = f(i); C: g(B[..])            stage [0, 1], order [0, 1]
 *     ⇒
 *   B becomes B[2, ..]
 *   A(0)                                                prologue: last_stage times
 *   for i in E - 1: A(i + 1); C(i)                      all statements, nothing to ask
 *   C(E - 1)                                            epilogue
 *
 * Buffers of the body that iterations in flight share get a copy for each of them, taken in turns;
 * double_buffer_scope asks for two at least; as T.attr it makes a pipeline (double_buffer.c). What
 * would change the program is refused: see pipeline_plan.c. Inner loops first; such a loop inside
 * of a pipelined one counts as three statements. software_pipeline_async_stages allows copies in
 * the background (background.c), which a CPU does not have: there they are made at once. */
#include <string.h>

#include "lower/ground/pipelined.h"
#include "lower/pipeline/fragment_copies.h"
#include "lower/pipeline/pipeline_write.h"

static hone_status refuse(const lower_pipe *pipe, const char *why) {
    return HONE_ERROR(HONE_CODE_INVALID, "loop '%s' cannot be pipelined: %s", pipe->name, why);
}

/* ---- reading ---- */

static hone_status add_part(lower_pipe *pipe, hone_node_id node) {
    if (pipe->part_count == pipe->part_capacity) {
        uint32_t capacity = pipe->part_capacity ? pipe->part_capacity * 2 : 8;
        lower_part *parts =
            hone_arena_zalloc(pipe->scope.lower->func->arena, capacity * sizeof *pipe->parts);
        if (!parts) return LOWER_NO_MEMORY();
        if (pipe->part_count) memcpy(parts, pipe->parts, pipe->part_count * sizeof *parts);
        pipe->parts = parts;
        pipe->part_capacity = capacity;
    }
    pipe->parts[pipe->part_count++] = (lower_part){.node = node};
    return HONE_OK;
}

/* Allocations of the body, the condition around all of it, and the parts. */
static hone_status gather(lower_pipe *pipe, hone_node_id parent) {
    const hone_func *func = pipe->scope.lower->func;
    LOWER_EACH_CHILD (func, parent, n) {
        const hone_node *node = hone_func_node(func, n);
        bool is_only = node->next == HONE_NO_ID && node->prev == HONE_NO_ID;
        if (lower_is_attr(node, LOWER_PART)) {
            HONE_TRY(add_part(pipe, n));
        } else if (lower_is_alloc(func, node)) {
            pipe->versions[node->u.alloc.buffer] = 1;
            HONE_TRY(gather(pipe, n));
        } else if (node->kind == HONE_NODE_IF && is_only && pipe->part_count == 0 &&
                   hone_expr_is_pure_index(node->u.eval.value)) {
            pipe->condition =
                lower_and(&pipe->scope.lower->ir, pipe->condition, node->u.eval.value);
            HONE_TRY(gather(pipe, n));
        } else {
            return refuse(pipe, "its body is more than a sequence of statements");
        }
    }
    return HONE_OK;
}

static hone_status read_list(const lower_pipe *pipe, const char *key, uint32_t i,
                             int64_t *out_value) {
    const hone_attrs *attrs =
        &hone_func_node(pipe->scope.lower->func, pipe->loop)->u.loop.annotations;
    const hone_value *list = hone_attrs_find(attrs, key);
    if (!list) {
        return HONE_ERROR(HONE_CODE_INVALID, "loop '%s' has no '%s' beside the other annotation",
                          pipe->name, key);
    }
    if (list->kind != HONE_VALUE_LIST || list->count != pipe->part_count) {
        bool is_list = list->kind == HONE_VALUE_LIST;
        return HONE_ERROR(HONE_CODE_INVALID,
                          "loop '%s' has %u numbers in '%s', but %u statements in its body",
                          pipe->name, is_list ? list->count : 0, key, pipe->part_count);
    }
    hone_attr item = {.key = key, .value = list->u.items[i]};
    *out_value = hone_attrs_int(&(hone_attrs){.count = 1, .items = &item}, key, -1);
    int64_t most =
        strcmp(key, HONE_PIPELINE_STAGE) == 0 ? HONE_PIPELINE_MOST_STAGES : list->count - 1;
    if (*out_value < 0 || *out_value > most) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "loop '%s' has %lld in '%s', which is not a number from 0 to %lld",
                          pipe->name, (long long)*out_value, key, (long long)most);
    }
    return HONE_OK;
}

/* What fills a double buffer goes ahead by one iteration. */
static hone_status stages_of_wish(lower_pipe *pipe) {
    uint32_t fills = 0;
    for (uint32_t i = 0; i < pipe->part_count; i++) {
        lower_part *part = &pipe->parts[i];
        const hone_func *func = pipe->scope.lower->func;
        hone_node_id only = hone_func_node(func, part->node)->first;
        bool is_fill = lower_is_attr(hone_func_node(func, only), LOWER_FILL);
        fills += is_fill;
        part->stage = is_fill ? 0 : 1;
        part->order = i;
    }
    pipe->last_stage = 1;
    return fills == 0 ? refuse(pipe, "nothing fills a double buffer") : HONE_OK;
}

static bool is_wish(const hone_func *func, hone_node_id loop) {
    return hone_attrs_find(&hone_func_node(func, loop)->u.loop.annotations, LOWER_PIPELINE_WISH);
}

static hone_status read_annotations(lower_pipe *pipe) {
    if (is_wish(pipe->scope.lower->func, pipe->loop)) return stages_of_wish(pipe);
    for (uint32_t i = 0; i < pipe->part_count; i++) {
        lower_part *part = &pipe->parts[i];
        HONE_TRY(read_list(pipe, HONE_PIPELINE_STAGE, i, &part->stage));
        HONE_TRY(read_list(pipe, HONE_PIPELINE_ORDER, i, &part->order));
        if (part->stage > pipe->last_stage) pipe->last_stage = part->stage;
        for (uint32_t j = 0; j < i; j++) {
            if (pipe->parts[j].order != part->order) continue;
            return HONE_ERROR(HONE_CODE_INVALID,
                              "loop '%s' gives statements %u and %u of its body the same order, "
                              "%lld",
                              pipe->name, j, i, (long long)part->order);
        }
    }
    return HONE_OK;
}

static hone_status check_loop(const lower_pipe *pipe) {
    const hone_node *loop = hone_func_node(pipe->scope.lower->func, pipe->loop);
    if (loop->loop_kind != HONE_LOOP_SERIAL && loop->loop_kind != HONE_LOOP_UNROLLED) {
        return refuse(pipe, "its iterations have no order");
    }
    if (pipe->part_count < 2) return refuse(pipe, "its body is not a sequence of statements");
    if (!hone_expr_is_pure_index(loop->u.loop.range.min) ||
        !hone_expr_is_pure_index(loop->u.loop.range.extent)) {
        return refuse(pipe, "its extent is read from memory");
    }
    return HONE_OK;
}

/* ---- buffers that are known by pointers ---- */

static hone_node_id alloc_of(const hone_func *func, hone_buffer buffer) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_ALLOC && node->u.alloc.buffer == buffer) return n;
    }
    return HONE_NO_ID;
}

/* They stay where they were allocated, but are the body's all the same. */
static void claim(lower_pipe *pipe) {
    const hone_lower *lower = pipe->scope.lower;
    hone_var var = hone_func_node(lower->func, pipe->loop)->u.loop.var;
    for (hone_buffer b = 0; b < lower->home_count; b++) {
        bool is_mine = lower->homes[b] == var && alloc_of(lower->func, b) != HONE_NO_ID;
        if (is_mine) pipe->versions[b] = 1;
    }
}

static void take_claimed(lower_pipe *pipe) {
    const hone_lower *lower = pipe->scope.lower;
    hone_var var = hone_func_node(lower->func, pipe->loop)->u.loop.var;
    for (hone_buffer b = 0; b < lower->home_count; b++) {
        hone_node_id alloc = lower->homes[b] == var ? alloc_of(lower->func, b) : HONE_NO_ID;
        if (alloc == HONE_NO_ID || pipe->versions[b] == 0) continue;
        lower_splice(lower->func, alloc);
    }
}

/* ---- copies of buffers ---- */

typedef struct versioning {
    lower_pipe *pipe;
    const hone_expr *iteration; /* counted from 0 */
} versioning;

static const hone_expr **with_version(versioning *v, hone_buffer buffer, uint32_t count,
                                      const hone_expr *const *indices) {
    hone_ir *ir = &v->pipe->scope.lower->ir;
    const hone_expr *copies = hone_expr_int(ir, v->iteration->dtype, v->pipe->versions[buffer]);
    if (!copies) return NULL;
    return lower_with_first(ir, hone_expr_floormod(ir, v->iteration, copies), count, indices);
}

/* Elements of one copy; a buffer of a body has no strides that depend on anything. */
static const hone_expr *copy_elements(hone_ir *ir, const hone_buffer_info *info) {
    const hone_expr *elements =
        info->strides ? hone_expr_mul(ir, info->strides[0], info->shape[0]) : hone_expr_i32(ir, 1);
    for (uint32_t d = 0; !info->strides && d < info->rank; d++)
        elements = hone_expr_mul(ir, elements, info->shape[d]);
    return elements;
}

/* A pointer goes on by as many copies. */
static const hone_expr *version_pointer(versioning *v, hone_ir *ir, const hone_expr *e,
                                        hone_buffer buffer) {
    const lower_pipe *pipe = v->pipe;
    const hone_expr *args[5];
    memcpy(args, e->args, sizeof args);
    const hone_expr *elements = copy_elements(ir, &pipe->scope.lower->func->buffers[buffer]);
    const hone_expr *copies = hone_expr_int(ir, v->iteration->dtype, pipe->versions[buffer]);
    if (!elements || !copies) return hone_ir_fail(ir, LOWER_NO_MEMORY());
    const hone_expr *copy = hone_expr_floormod(ir, v->iteration, copies);
    args[2] = hone_expr_add(ir, hone_expr_mul(ir, copy, elements), e->args[2]);
    return hone_expr_call(ir, e->dtype, HONE_INTRIN_ACCESS_PTR, 5, args);
}

/* A copy is as many fragments further on as one holds. */
static const hone_expr *version_fragments(versioning *v, hone_ir *ir, const hone_expr *e) {
    const hone_func *func = v->pipe->scope.lower->func;
    const hone_expr *args[16];
    bool is_changed = false;
    if (e->count > HONE_COUNT(args)) return e;
    memcpy(args, e->args, e->count * sizeof *args);
    for (uint16_t i = 1; i < e->count; i++) {
        uint16_t number = lower_fragment_number(e, i);
        hone_buffer b = number ? lower_buffer_of_data(func, e->args[i]) : HONE_NO_ID;
        if (b == HONE_NO_ID || v->pipe->versions[b] < 2) continue;
        const hone_expr *copies = hone_expr_int(ir, v->iteration->dtype, v->pipe->versions[b]);
        const hone_expr *each =
            hone_expr_int(ir, v->iteration->dtype, lower_fragment_count(func, b));
        const hone_expr *copy = hone_expr_floormod(ir, v->iteration, copies);
        const hone_expr *moved = hone_expr_mul(ir, copy, each);
        args[number] = hone_expr_add(ir, hone_expr_cast(ir, moved->dtype, args[number]), moved);
        is_changed = true;
    }
    return is_changed ? hone_expr_call(ir, e->dtype, HONE_INTRIN_NAMED, e->count, args) : e;
}

static const hone_expr *version_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    versioning *v = ctx;
    if (lower_is_fragment_call(e)) return version_fragments(v, ir, e);
    hone_buffer pointed = lower_pointed_buffer(v->pipe->scope.lower->func, e);
    if (pointed != HONE_NO_ID && v->pipe->versions[pointed] >= 2)
        return version_pointer(v, ir, e, pointed);
    if (e->kind != HONE_EXPR_LOAD || v->pipe->versions[e->u.buffer] < 2) return e;
    const hone_expr **indices = with_version(v, e->u.buffer, e->count, e->args);
    if (!indices) return hone_ir_fail(ir, LOWER_NO_MEMORY());
    return hone_expr_load(ir, e->dtype, e->u.buffer, e->count + 1u, indices);
}

static hone_status version_part(versioning *v, hone_node_id root) {
    hone_func *func = v->pipe->scope.lower->func;
    HONE_TRY(hone_tree_transform(func, root, version_load, v, false));
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE || v->pipe->versions[node->u.store.buffer] < 2) continue;
        const hone_expr **indices =
            with_version(v, node->u.store.buffer, node->u.store.rank, node->u.store.indices);
        if (!indices) return LOWER_NO_MEMORY();
        node->u.store.indices = indices;
        node->u.store.rank++;
    }
    return HONE_OK;
}

static hone_status make_versions(lower_pipe *pipe) {
    hone_func *func = pipe->scope.lower->func;
    hone_ir *ir = &pipe->scope.lower->ir;
    const hone_node *loop = hone_func_node(func, pipe->loop);
    const hone_expr *var = hone_func_var_expr(ir, func, loop->u.loop.var);
    versioning v = {pipe, hone_expr_sub(ir, var, loop->u.loop.range.min)};
    if (!v.iteration) return hone_ir_finish(ir);
    for (uint32_t i = 0; i < pipe->part_count; i++)
        HONE_TRY(version_part(&v, pipe->parts[i].node));
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (pipe->versions[b] < 2) continue;
        HONE_TRY(lower_grow_buffer(pipe->scope.lower, b, hone_expr_i32(ir, pipe->versions[b])));
    }
    return hone_ir_finish(ir);
}

static hone_status plan(lower_pipe *pipe) {
    HONE_TRY(gather(pipe, pipe->loop));
    HONE_TRY(check_loop(pipe));
    HONE_TRY(read_annotations(pipe));
    pipe->is_background = lower_may_copy_behind(pipe);
    return lower_plan_pipe(pipe);
}

static hone_status forget(hone_lower *lower, hone_node_id loop) {
    hone_attrs *attrs = &hone_func_node(lower->func, loop)->u.loop.annotations;
    return lower_drop_pipeline(lower->func, attrs) ? HONE_OK : LOWER_NO_MEMORY();
}

static hone_status pipeline(hone_lower *lower, hone_node_id loop) {
    hone_func *func = lower->func;
    const hone_node *node = hone_func_node(func, loop);
    lower_pipe pipe = {.scope.lower = lower, .loop = loop, .buffer_count = func->buffer_count};
    pipe.name = func->vars[node->u.loop.var].name;
    hone_arith_init(&pipe.scope.arith, func->arena);
    pipe.versions = hone_arena_zalloc(func->arena, func->buffer_count * sizeof *pipe.versions);
    if (!pipe.versions) return LOWER_NO_MEMORY();
    claim(&pipe);
    hone_status st = plan(&pipe);
    if (st && is_wish(func, loop) && hone_status_code(st) == HONE_CODE_INVALID) {
        hone_status_free(st);
        return forget(lower, loop);
    }
    HONE_TRY(st);
    for (hone_buffer b = 0; b < pipe.buffer_count; b++) {
        bool is_wanted = b < lower->named_count && lower->is_double[b];
        if (is_wanted && pipe.versions[b] == 1) pipe.versions[b] = 2;
    }
    take_claimed(&pipe);
    HONE_TRY(make_versions(&pipe));
    HONE_TRY(forget(lower, loop));
    return pipe.is_background ? lower_write_background(&pipe) : lower_write_pipe(&pipe);
}

/* The last loop in the program that is to be pipelined: no other one stands below it. */
static hone_node_id last_pipelined(const hone_func *func) {
    hone_node_id last = HONE_NO_ID;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (lower_is_pipelined(hone_func_node(func, n))) last = n;
    }
    return last;
}

/* Marks whose loop has gone (a single iteration). */
static bool drop_marks(hone_func *func) {
    bool is_changed = false;
    hone_node_id next;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = next) {
        const hone_node *node = hone_func_node(func, n);
        bool is_mark = lower_is_attr(node, LOWER_PART) || lower_is_attr(node, LOWER_NEST) ||
                       lower_is_attr(node, LOWER_FILL);
        if (!is_mark) {
            next = hone_tree_next(func, 0, n);
            continue;
        }
        next = node->first != HONE_NO_ID ? node->first : hone_tree_next_over(func, 0, n);
        lower_splice(func, n);
        is_changed = true;
    }
    return is_changed;
}

hone_status lower_pipeline(hone_lower *lower) {
    bool is_changed = false;
    for (;;) {
        hone_node_id loop = last_pipelined(lower->func);
        if (loop == HONE_NO_ID) break;
        HONE_TRY(pipeline(lower, loop));
        is_changed = true;
    }
    is_changed |= drop_marks(lower->func);
    return is_changed ? lower_simplify(lower) : HONE_OK;
}
