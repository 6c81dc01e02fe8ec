/* ir/identity/structural_equal.c - structural equality. It serialises both programs and compares
 * the bytes; the marks left on the way say what the first different byte belongs to. So what is
 * equal and what hashes alike cannot drift apart. */
#include <string.h>

#include "ir/identity/canon_impl.h"
#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"

/* ---- words ---- */

static size_t first_difference(const canon *a, const canon *b) {
    size_t shorter = a->length < b->length ? a->length : b->length;
    for (size_t i = 0; i < shorter; i++) {
        if (a->bytes[i] != b->bytes[i]) return i;
    }
    return shorter;
}

/* The last mark at or before the offset. */
static size_t mark_before(const canon *c, size_t offset) {
    size_t low = 0, high = c->mark_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c->marks[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const canon_mark *mark_of(const canon *c, size_t offset) {
    size_t end = mark_before(c, offset);
    if (end == 0) return NULL;
    const canon_mark *found = &c->marks[end - 1];
    /* a mark inside of an expression (a buffer first seen there) leads back to the expression */
    for (size_t i = end; i-- > 0 && c->marks[i].node == found->node;) {
        if (c->marks[i].expr && i + 1 < end && strcmp(found->what, "buffer") == 0) {
            return &c->marks[i];
        }
        if (strcmp(c->marks[i].what, "buffer") != 0) break;
    }
    return found;
}

static void describe_place(const canon *c, const canon_mark *mark, hone_str *out) {
    if (c->graph) {
        if (mark->bind == HONE_NO_ID) return;
        hone_gvalue value = c->graph->bindings[mark->bind].value;
        hone_str_printf(out, "in binding %u ('%s'): ", (unsigned)mark->bind,
                        value < c->graph->value_count ? c->graph->values[value].name : "?");
    } else if (mark->node != HONE_NO_ID && mark->node != 0) {
        hone_str_append(out, "at ");
        hone_node_describe(c->func, mark->node, out);
        hone_str_append(out, ": ");
    }
}

static void describe_side(const canon *c, const canon_mark *mark, size_t offset, hone_str *out) {
    if (offset >= c->length) {
        hone_str_append(out, "nothing more");
    } else if (mark->expr && c->func) {
        hone_str text = {0};
        hone_status_free(hone_expr_print(c->func, mark->expr, &text));
        hone_str_printf(out, "'%s'", hone_str_text(&text));
        hone_str_deinit(&text);
    } else if (mark->text) {
        hone_str_printf(out, "'%s'", mark->text);
    } else if (mark->is_count) {
        hone_str_printf(out, "%llu", (unsigned long long)mark->count);
    } else if (mark->is_dtype) {
        hone_str_append(out, HONE_DTYPE_NAME(mark->dtype));
    } else {
        hone_str_append(out, mark->what);
        if (c->func && mark->node != HONE_NO_ID) {
            hone_str_append(out, " of ");
            hone_node_describe(c->func, mark->node, out);
        }
    }
}

/* Two attributes of one name: what they are. */
static bool describe_values(const canon *a, const canon_mark *mark_a, const canon *b,
                            const canon_mark *mark_b, hone_str *out) {
    bool are_values = mark_a->value && mark_b->value && strcmp(mark_a->text, mark_b->text) == 0;
    if (!are_values) return false;
    hone_str_printf(out, "attribute '%s' differs: ", mark_a->text);
    hone_status_free(hone_value_print(a->func, a->graph, mark_a->value, out));
    hone_str_append(out, " and ");
    hone_status_free(hone_value_print(b->func, b->graph, mark_b->value, out));
    return true;
}

static void describe(const canon *a, const canon *b, hone_str *out) {
    size_t at = first_difference(a, b);
    const canon_mark *mark_a = mark_of(a, at), *mark_b = mark_of(b, at);
    if (!mark_a || !mark_b) {
        hone_str_append(out, "the functions are of different kinds");
        return;
    }
    describe_place(a, mark_a, out);
    if (describe_values(a, mark_a, b, mark_b, out)) return;
    hone_str one = {0}, other = {0};
    describe_side(a, mark_a, at, &one);
    describe_side(b, mark_b, at, &other);
    hone_str_printf(out, "%s differs", mark_a->what);
    bool are_alike = strcmp(hone_str_text(&one), hone_str_text(&other)) == 0;
    if (!are_alike)
        hone_str_printf(out, ": %s and %s", hone_str_text(&one), hone_str_text(&other));
    else if (mark_a->text)
        hone_str_printf(out, ": two that are called %s", hone_str_text(&one));
    hone_str_deinit(&one);
    hone_str_deinit(&other);
}

static bool compare(canon *a, canon *b, hone_str *out_difference) {
    bool is_equal = !a->is_short_of_memory && !b->is_short_of_memory && a->length == b->length &&
                    memcmp(a->bytes, b->bytes, a->length) == 0;
    if (!is_equal && out_difference) {
        if (a->is_short_of_memory || b->is_short_of_memory) {
            hone_str_append(out_difference, "no memory to compare");
        } else {
            describe(a, b, out_difference);
        }
    }
    canon_deinit(a);
    canon_deinit(b);
    return is_equal;
}

/* ---- functions and modules ---- */

bool hone_func_equal(const hone_func *a, const hone_func *b, hone_str *out_difference) {
    canon ca, cb;
    canon_init(&ca, true);
    canon_init(&cb, true);
    canon_write_func(&ca, a);
    canon_write_func(&cb, b);
    return compare(&ca, &cb, out_difference);
}

static bool graph_equal(const hone_module *ma, const hone_graph_func *a, const hone_module *mb,
                        const hone_graph_func *b, hone_str *out_difference) {
    canon ca, cb;
    canon_init(&ca, true);
    canon_init(&cb, true);
    canon_write_graph(&ca, ma, a);
    canon_write_graph(&cb, mb, b);
    return compare(&ca, &cb, out_difference);
}

static bool attrs_equal(const hone_module *a, const hone_module *b) {
    canon ca, cb;
    canon_init(&ca, true);
    canon_init(&cb, true);
    canon_attrs(&ca, &a->attrs);
    canon_attrs(&cb, &b->attrs);
    return compare(&ca, &cb, NULL);
}

static bool members_equal(const hone_module *a, const hone_member *x, const hone_module *b,
                          const hone_member *y, hone_str *out) {
    size_t before = out ? out->length : 0;
    bool is_equal = x->kind == y->kind;
    if (!is_equal) {
        if (out) hone_str_printf(out, "'%s' is of different kinds", x->name);
        return false;
    }
    if (x->kind == HONE_MEMBER_EXTERN) return true;
    hone_str difference = {0};
    is_equal = x->kind == HONE_MEMBER_FUNC ? hone_func_equal(x->func, y->func, &difference)
                                           : graph_equal(a, x->graph, b, y->graph, &difference);
    if (!is_equal && out && out->length == before) {
        hone_str_printf(out, "in '%s': %s", x->name, hone_str_text(&difference));
    }
    hone_str_deinit(&difference);
    return is_equal;
}

/* Tensor programs first: a graph that differs because of what it calls is the lesser news. */
static bool kinds_equal(const hone_module *a, const hone_module *b, bool tensor_programs,
                        hone_str *out) {
    for (uint32_t i = 0; i < a->member_count; i++) {
        const hone_member *x = &a->members[i], *y = hone_module_find(b, x->name);
        if ((x->kind == HONE_MEMBER_FUNC) != tensor_programs) continue;
        if (!y) {
            if (out) hone_str_printf(out, "'%s' is in the first module only", x->name);
            return false;
        }
        if (!members_equal(a, x, b, y, out)) return false;
    }
    return true;
}

bool hone_module_equal(const hone_module *a, const hone_module *b, hone_str *out_difference) {
    if (!kinds_equal(a, b, true, out_difference) || !kinds_equal(a, b, false, out_difference)) {
        return false;
    }
    for (uint32_t i = 0; i < b->member_count; i++) {
        if (hone_module_find(a, b->members[i].name)) continue;
        if (out_difference) {
            hone_str_printf(out_difference, "'%s' is in the second module only",
                            b->members[i].name);
        }
        return false;
    }
    if (attrs_equal(a, b)) return true;
    if (out_difference) hone_str_append(out_difference, "the attributes of the modules differ");
    return false;
}
