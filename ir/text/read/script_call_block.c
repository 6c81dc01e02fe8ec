/* ir/text/read/script_call_block.c - what stands in the head of a block: axes, predicate, regions
 * and attributes; and the attributes of the function. */
#include "ir/text/read/script_impl.h"

#include <string.h>

/* What says what a block is knows nothing of the loops and values in it. */
static bool inside_block(script_parser *p, const script_call *call, script_block **out) {
    *out = p->block;
    if (!p->block) return script_fail(p, call->at, "'%s' stands outside of a block", call->callee);
    for (hone_node_id n = p->parent; n != p->block->node; n = hone_func_node(p->func, n)->parent) {
        hone_node_kind kind = (hone_node_kind)hone_func_node(p->func, n)->kind;
        if (kind == HONE_NODE_DECL || kind == HONE_NODE_ALLOC) continue;
        return script_fail(p, call->at, "'%s' stands at the top of its block only", call->callee);
    }
    return true;
}

/* ---- axes ---- */

static bool add_axis(script_parser *p, script_block *b, hone_axis_kind kind, hone_range dom,
                     const hone_expr *binding, py_value *out) {
    if (b->axis_count == b->axis_capacity) {
        uint32_t same = b->axis_capacity;
        if (!script_grow(p, p->scratch, (void **)&b->axes, &b->axis_capacity, b->axis_count,
                         sizeof *b->axes) ||
            !script_grow(p, p->scratch, (void **)&b->bindings, &same, b->axis_count,
                         sizeof *b->bindings)) {
            return false;
        }
    }
    hone_var var = HONE_NO_ID;
    if (!script_check_head(p, p->run.at, binding) || !script_check_head(p, p->run.at, dom.min) ||
        !script_check_head(p, p->run.at, dom.extent) ||
        !script_new_var(p, "v", dom.extent->dtype, &var)) {
        return false;
    }
    b->axes[b->axis_count] = (hone_axis){.var = var, .kind = kind, .dom = dom};
    b->bindings[b->axis_count++] = binding;
    *out = SCRIPT_VALUE_EXPR(hone_func_var_expr(&p->ir, p->func, var));
    out->is_fresh = true;
    return script_check_ir(p, p->run.at);
}

static hone_axis_kind axis_kind_of(const char *callee) {
    const char *name = strrchr(callee, '.') + 1;
    if (strcmp(name, "reduce") == 0 || strcmp(name, "R") == 0) return HONE_AXIS_REDUCE;
    if (strcmp(name, "scan") == 0) return HONE_AXIS_SCAN;
    if (strcmp(name, "opaque") == 0) return HONE_AXIS_OPAQUE;
    return HONE_AXIS_SPATIAL;
}

static bool same_kind_int(hone_dtype a, hone_dtype b) {
    return hone_dtype_is_integer(a) && hone_dtype_is_integer(b) && a.lanes == 1 && b.lanes == 1;
}

/* The domain: an extent, or (begin, end). */
static bool domain_of(script_parser *p, const py_value *v, hone_range *out) {
    const py_value *items = NULL;
    uint32_t count = 0;
    script_items(v, &items, &count);
    if (count != 1 && count != 2)
        return script_fail(p, v->at, "expected an extent or (begin, end)");
    if (!script_to_expr(p, &items[count - 1], &out->extent)) return false;
    if (count == 1) {
        out->min = hone_expr_int(&p->ir, hone_dtype_element(out->extent->dtype), 0);
    } else {
        if (!script_to_expr(p, &items[0], &out->min)) return false;
        out->extent = script_extent_between(&p->ir, out->min, out->extent);
        if (out->extent) out->min = script_cast(p, out->extent->dtype, out->min);
    }
    if (!out->min || !out->extent) return script_check_ir(p, v->at);
    if (!same_kind_int(out->extent->dtype, out->extent->dtype)) {
        return script_fail_type(p, v->at, "the domain of an axis is %s, expected integers",
                                HONE_DTYPE_NAME(out->extent->dtype));
    }
    return true;
}

static bool call_axis(script_parser *p, const script_call *call, py_value *out) {
    const py_value *dom = NULL, *binding = NULL;
    script_block *b = NULL;
    hone_range range;
    const hone_expr *e = NULL;
    if (!inside_block(p, call, &b) || !script_need_arg(p, call, 0, "dom", &dom) ||
        !domain_of(p, dom, &range)) {
        return false;
    }
    binding = script_arg(call, 1, "binding");
    if (!binding) {
        return script_fail(p, call->at, "%s: the binding is missing", call->callee);
    }
    const py_value *type = script_arg(call, 2, "dtype");
    hone_dtype ignored;
    if (type && !script_to_dtype(p, type, &ignored)) return false;
    if (!script_to_expr(p, binding, &e)) return false;
    if (!same_kind_int(e->dtype, e->dtype)) {
        return script_fail_type(p, binding->at, "the binding of an axis is %s, expected an integer",
                                HONE_DTYPE_NAME(e->dtype));
    }
    if (e->kind == HONE_EXPR_INT) e = script_cast(p, range.extent->dtype, e);
    return add_axis(p, b, axis_kind_of(call->callee), range, e, out);
}

/* The loop around here that a variable belongs to. */
static bool loop_range(const script_parser *p, hone_var var, hone_range *out) {
    for (hone_node_id at = p->parent; at != HONE_NO_ID; at = hone_func_node(p->func, at)->parent) {
        const hone_node *node = hone_func_node(p->func, at);
        if (node->kind == HONE_NODE_FOR && node->u.loop.var == var) {
            *out = node->u.loop.range;
            return true;
        }
        if (node->kind != HONE_NODE_BLOCK) continue;
        const script_block *b = p->block;
        while (b && b->node != at)
            b = b->outer;
        for (uint32_t i = 0; b && i < b->axis_count; i++) {
            if (b->axes[i].var != var) continue;
            *out = b->axes[i].dom;
            return true;
        }
    }
    return false;
}

static bool remap_one(script_parser *p, const script_call *call, script_block *b, char letter,
                      const py_value *v, py_value *out) {
    const hone_expr *e = NULL;
    hone_range range;
    hone_axis_kind kind = letter == 'R' ? HONE_AXIS_REDUCE : HONE_AXIS_SPATIAL;
    if (letter != 'S' && letter != 'R') {
        return script_fail(p, call->at, "T.axis.remap: kind '%c', expected 'S' or 'R'", letter);
    }
    if (!script_to_expr(p, v, &e)) return false;
    if (e->kind != HONE_EXPR_VAR || !loop_range(p, e->u.var, &range)) {
        return script_fail(p, v->at,
                           "T.axis.remap takes loop variables; write T.axis.spatial or "
                           "T.axis.reduce for other bindings");
    }
    return add_axis(p, b, kind, range, e, out);
}

static bool call_remap(script_parser *p, const script_call *call, py_value *out) {
    const py_value *kinds = NULL, *bindings = NULL, *items = NULL;
    script_block *b = NULL;
    const char *letters = NULL;
    uint32_t count = 0;
    if (!inside_block(p, call, &b) || !script_need_arg(p, call, 0, "kinds", &kinds) ||
        !script_need_arg(p, call, 1, "bindings", &bindings) ||
        !script_to_string(p, kinds, &letters)) {
        return false;
    }
    script_items(bindings, &items, &count);
    if (strlen(letters) != count) {
        return script_fail(p, call->at, "T.axis.remap: %zu kinds for %u bindings", strlen(letters),
                           count);
    }
    py_value *axes = script_alloc(p, p->scratch, count, sizeof *axes);
    if (!axes) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!remap_one(p, call, b, letters[i], &items[i], &axes[i])) return false;
    }
    *out = (py_value){.kind = PYV_TUPLE, .count = count, .u.items = axes};
    if (count == 1) *out = axes[0]; /* vi = T.axis.remap("S", [i]) */
    return true;
}

/* ---- predicate and regions ---- */

static bool call_where(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    script_block *b = NULL;
    const hone_expr *e = NULL;
    static const char *const words[] = {"predicate"};
    if (!inside_block(p, call, &b) || !script_check_keywords(p, call, words, 1) ||
        !script_need_arg(p, call, 0, "predicate", &v) ||
        !script_to_condition(p, v, "the predicate of a block", &e)) {
        return false;
    }
    bool is_number = v->kind == SCRIPT_EXPR && script_expr_of(v)->kind != HONE_EXPR_INT &&
                     !hone_dtype_is_bool(script_expr_of(v)->dtype);
    if (is_number) {
        return script_fail_type(p, v->at, "the predicate of a block is %s, must be bool",
                                HONE_DTYPE_NAME(script_expr_of(v)->dtype));
    }
    if (b->has_where) return script_fail(p, call->at, "T.where stands twice in this block");
    if (!script_check_head(p, v->at, e)) return false;
    b->has_where = true;
    bool always = e->kind == HONE_EXPR_INT && e->u.i;
    if (!always) b->predicate = e;
    *out = (py_value){.kind = PYV_NONE};
    return script_check_ir(p, call->at);
}

static bool call_regions(script_parser *p, const script_call *call, py_value *out) {
    script_block *b = NULL;
    if (!inside_block(p, call, &b)) return false;
    const py_value *items = call->args;
    uint32_t count = call->count;
    bool one_list = count == 1 && script_is_list(items);
    if (one_list) script_items(&call->args[0], &items, &count);
    hone_region *regions = script_alloc(p, p->arena, count, sizeof *regions);
    if (!regions) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!script_to_region(p, &items[i], &regions[i])) return false;
    }
    bool reads = strcmp(call->callee, "T.reads") == 0;
    if (reads ? b->has_reads : b->has_writes) {
        return script_fail(p, call->at, "%s stands twice in this block", call->callee);
    }
    if (reads) {
        b->reads = regions;
        b->read_count = count;
        b->has_reads = true;
    } else {
        b->writes = regions;
        b->write_count = count;
        b->has_writes = true;
    }
    *out = (py_value){.kind = PYV_NONE};
    return true;
}

/* ---- attributes ---- */

/* Adds attributes; one that is there already must say the same, and dictionaries are merged. */
static bool merge_attrs(script_parser *p, uint32_t at, hone_attrs *into, const hone_attrs *more) {
    for (uint32_t i = 0; i < more->count; i++) {
        const hone_value *known = hone_attrs_find(into, more->items[i].key);
        hone_value value = more->items[i].value;
        if (known && known->kind == HONE_VALUE_MAP && value.kind == HONE_VALUE_MAP) {
            hone_attrs inner = {known->count, known->u.attrs}, added = {value.count, value.u.attrs};
            if (!script_enter(p, at) || !merge_attrs(p, at, &inner, &added)) return false;
            p->run.depth--;
            value.count = inner.count;
            value.u.attrs = inner.items;
        } else if (known && !hone_value_same(known, &value)) {
            return script_fail(p, at, "attribute '%s' is given twice, with different values",
                               more->items[i].key);
        }
        if (!hone_attrs_with(p->arena, into, more->items[i].key, value, into)) {
            return script_no_memory(p);
        }
    }
    if (into->count > SCRIPT_MAX_ATTRS)
        return script_fail(p, at, "more than %d attributes", SCRIPT_MAX_ATTRS);
    return true;
}

static bool call_block_attr(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    script_block *b = NULL;
    hone_attrs attrs;
    *out = (py_value){.kind = PYV_NONE};
    return inside_block(p, call, &b) && script_need_arg(p, call, 0, "attrs", &v) &&
           script_to_attrs(p, v, &attrs) && merge_attrs(p, call->at, &b->annotations, &attrs);
}

static bool call_func_attr(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    hone_attrs attrs;
    *out = (py_value){.kind = PYV_NONE};
    if (!p->func) return script_fail(p, call->at, "T.func_attr stands outside of a function");
    if (!script_need_arg(p, call, 0, "attrs", &v) || !script_to_attrs(p, v, &attrs)) return false;
    if (p->func->is_private && hone_attrs_find(&attrs, "global_symbol")) {
        return script_fail(p, call->at, "a private function has no \"global_symbol\"");
    }
    return merge_attrs(p, call->at, &p->func->attrs, &attrs);
}

static bool call_nothing(script_parser *p, const script_call *call, py_value *out) {
    (void)p;
    (void)call;
    *out = (py_value){.kind = PYV_NONE};
    return true;
}

const script_entry script_block_calls[] = {
    {"T.axis.spatial",        call_axis      },
    {"T.axis.S",              call_axis      },
    {"T.axis.reduce",         call_axis      },
    {"T.axis.R",              call_axis      },
    {"T.axis.scan",           call_axis      },
    {"T.axis.opaque",         call_axis      },
    {"T.axis.remap",          call_remap     },
    {"T.where",               call_where     },
    {"T.reads",               call_regions   },
    {"T.writes",              call_regions   },
    {"T.block_attr",          call_block_attr},
    {"T.sblock_attr",         call_block_attr},
    {"T.func_attr",           call_func_attr },
    {"T.preflattened_buffer", call_nothing   },
    {NULL,                    NULL           },
};
