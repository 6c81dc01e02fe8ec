/* include/api_steps_look.c - what the variables of a schedule stand for, as JSON. */
#include <hone/steps.h>

#include "include/api_steps.h"
#include "support/text/json.h"

static void set_constant(hone_json *object, const char *key, const hone_expr *e) {
    bool is_known = e && e->kind == HONE_EXPR_INT;
    hone_json_set(object, key, is_known ? hone_json_make_i64(e->u.i) : hone_json_make_null());
}

static hone_json *loop_as_json(const hone_func *func, const hone_node *node) {
    static const char *const kinds[] = {
        [HONE_LOOP_SERIAL] = "serial",         [HONE_LOOP_PARALLEL] = "parallel",
        [HONE_LOOP_VECTORIZED] = "vectorized", [HONE_LOOP_UNROLLED] = "unrolled",
        [HONE_LOOP_THREAD] = "thread_binding",
    };
    hone_json *loop = hone_json_make_object();
    hone_json_set_text(loop, "is", "loop");
    hone_json_set_text(loop, "name", func->vars[node->u.loop.var].name);
    set_constant(loop, "min", node->u.loop.range.min);
    set_constant(loop, "extent", node->u.loop.range.extent);
    hone_json_set_text(loop, "kind", kinds[node->loop_kind]);
    hone_json_set_text(loop, "thread", node->u.loop.thread_tag);
    return loop;
}

static hone_json *axes_as_json(const hone_func *func, const hone_block *block) {
    static const char *const kinds[] = {
        [HONE_AXIS_SPATIAL] = "spatial",
        [HONE_AXIS_REDUCE] = "reduce",
        [HONE_AXIS_SCAN] = "scan",
        [HONE_AXIS_OPAQUE] = "opaque",
    };
    hone_json *axes = hone_json_make_array();
    for (uint32_t i = 0; i < block->axis_count; i++) {
        hone_json *axis = hone_json_make_object();
        hone_json_set_text(axis, "name", func->vars[block->axes[i].var].name);
        set_constant(axis, "extent", block->axes[i].dom.extent);
        hone_json_set_text(axis, "kind", kinds[block->axes[i].kind]);
        hone_json_append(axes, axis);
    }
    return axes;
}

static hone_json *buffers_as_json(const hone_func *func, uint32_t count,
                                  const hone_region *regions) {
    hone_json *names = hone_json_make_array();
    for (uint32_t i = 0; i < count; i++) {
        const char *name = hone_func_buffer(func, regions[i].buffer)->name;
        hone_json_append(names, hone_json_make_text(name));
    }
    return names;
}

static hone_json *block_as_json(const hone_func *func, const hone_block *block) {
    hone_json *object = hone_json_make_object();
    hone_json_set_text(object, "is", "block");
    hone_json_set_text(object, "name", block->name);
    hone_json_set(object, "axes", axes_as_json(func, block));
    hone_json_set(object, "reads", buffers_as_json(func, block->read_count, block->reads));
    hone_json_set(object, "writes", buffers_as_json(func, block->write_count, block->writes));
    return object;
}

static hone_status look(hone_schedule *sch, size_t number, hone_json **out) {
    *out = NULL;
    if (number >= sch->trace.rv_count) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "there is no variable %zu, of %u", number,
                          (unsigned)sch->trace.rv_count);
    }
    hone_rv rv = (hone_rv)number;
    if (sch->trace.rv_kinds[rv] == HONE_RV_INT) {
        int64_t value;
        HONE_TRY(hone_schedule_int(sch, rv, &value));
        *out = hone_json_make_i64(value);
        return HONE_OK;
    }
    hone_node_id id;
    HONE_TRY(hone_schedule_node(sch, rv, &id));
    const hone_node *node = hone_func_node(sch->func, id);
    *out = node->kind == HONE_NODE_FOR ? loop_as_json(sch->func, node)
                                       : block_as_json(sch->func, node->u.block.block);
    return HONE_OK;
}

hone_error *hone_steps_get(const hone_steps *steps, size_t number, char **out_text) {
    HONE_API_NEED(out_text);
    *out_text = NULL;
    HONE_API_NEED(steps);
    hone_json *json;
    hone_status st = look(steps->schedule, number, &json);
    if (st) return hone_api_error(st);
    hone_str text = {0};
    hone_json_print(json, NULL, &text);
    bool is_whole = json;
    hone_json_destroy(json);
    st = is_whole ? hone_api_take_text(&text, out_text) : HONE_NO_MEMORY("variable");
    hone_str_deinit(&text);
    return hone_api_error(st);
}
