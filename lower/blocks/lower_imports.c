/* lower/blocks/lower_imports.c - the pass that keeps source which loops bring along.
 * needs: nothing. keeps: the program. Source that loops bring along becomes an attribute of the
 * function: loops come and go. */
#include <ctype.h>
#include <string.h>

#include "lower/ground/passes.h"

static hone_status collect(hone_lower *lower, const char *pragma, const char *attribute) {
    hone_func *func = lower->func;
    hone_value *items = hone_arena_alloc(func->arena, (func->node_count + 1) * sizeof *items);
    uint32_t count = 0;
    if (!items) return LOWER_NO_MEMORY();
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        const char *text = hone_attrs_string(&node->u.loop.annotations, pragma, NULL);
        bool is_known = !text;
        for (uint32_t i = 0; i < count && !is_known; i++)
            is_known = strcmp(items[i].u.s, text) == 0;
        if (!is_known) items[count++] = HONE_VALUE_OF_STRING(text);
    }
    if (count == 0) return HONE_OK;
    hone_value list = {.kind = HONE_VALUE_LIST, .count = count, .u.items = items};
    return hone_attrs_with(func->arena, &func->attrs, attribute, list, &func->attrs)
               ? HONE_OK
               : LOWER_NO_MEMORY();
}

/* Is the name followed by '(' somewhere, as where it is defined? */
static bool names_function(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        const char *end = at + length + strspn(at + length, " \t\"");
        if (begins && *end == '(') return true;
    }
    return false;
}

static bool list_names(const hone_attrs *attrs, const char *attribute, const char *name) {
    const hone_value *list = hone_attrs_find(attrs, attribute);
    for (uint32_t i = 0; list && list->kind == HONE_VALUE_LIST && i < list->count; i++) {
        if (names_function(list->u.items[i].u.s, name)) return true;
    }
    return false;
}

bool hone_lower_brings_along(const hone_func *func, const char *name, bool in_c) {
    if (list_names(&func->attrs, HONE_LOWER_IMPORT_C, name)) return true;
    if (!in_c && list_names(&func->attrs, HONE_LOWER_IMPORT_LLVM, name)) return true;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        const hone_attrs *notes = &node->u.loop.annotations;
        if (names_function(hone_attrs_string(notes, "pragma_import_c", ""), name)) return true;
        const char *ir = in_c ? "" : hone_attrs_string(notes, "pragma_import_llvm", "");
        if (names_function(ir, name)) return true;
    }
    return false;
}

hone_status lower_imports(hone_lower *lower) {
    HONE_TRY(collect(lower, "pragma_import_llvm", HONE_LOWER_IMPORT_LLVM));
    return collect(lower, "pragma_import_c", HONE_LOWER_IMPORT_C);
}
