/* graph/compose/compose_order.c - convolutions and pools of tensors whose dimensions stand in
 * another order than N, C and space: they are turned, and what is made of them is turned back. */
#include <string.h>

#include "graph/compose/compose_impl.h"
#include "ir/ops/layout.h"

/* x of a layout in the plain order of the letters. */
static hone_status to_plain(onnx_reader *r, const hone_gbind *bind, const char *layout,
                            const char *plain, hone_garg *io) {
    int64_t axes[HONE_MAX_RANK];
    if (strcmp(layout, plain) == 0) return HONE_OK;
    if (!hone_layout_axes(layout, plain, axes)) return compose_refuse(bind, "a layout of blocks");
    return onnx_emit_permute(r, *io, (uint32_t)strlen(plain), axes, io);
}

/* The attributes but layouts. */
static uint32_t other_attrs(const hone_gbind *bind, hone_attr out[COMPOSE_MOST_ATTRS]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < bind->attrs.count; i++) {
        const hone_attr *attr = &bind->attrs.items[i];
        if (!strstr(attr->key, "layout") && count < COMPOSE_MOST_ATTRS) out[count++] = *attr;
    }
    return count;
}

static hone_status in_plain_order(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    hone_attr attrs[COMPOSE_MOST_ATTRS];
    hone_window_layouts l;
    bool is_window = hone_layouts_of_window(bind, &l);
    assert(is_window);
    if (!is_window) return compose_refuse(bind, "no window");
    HONE_TRY(to_plain(r, bind, l.data, l.plain, &r->inputs[0]));
    if (l.kernel_key) HONE_TRY(to_plain(r, bind, l.kernel, l.plain_kernel, &r->inputs[1]));
    uint32_t count = other_attrs(bind, attrs);
    HONE_TRY(onnx_emit(r, bind->callee, r->input_count, r->inputs, count, attrs, out));
    return to_plain(r, bind, l.plain, l.out, out);
}

const hone_composer *hone_compose_order_of(const hone_gbind *bind) {
    static const hone_composer row = {"a window", in_plain_order};
    hone_window_layouts layouts;
    bool is_window = hone_layouts_of_window(bind, &layouts);
    return is_window && !hone_layouts_are_plain(&layouts) ? &row : NULL;
}
