#include "schedule/tensor_intrin_impl.h"

#include <string.h>

#include "ir/script.h"
#include "ir/verify.h"
#include "support/alloc.h"

/* The registry: a list of modules, each with the functions desc and impl (or …_desc and …_impl). */

typedef struct entry {
    char *name;
    hone_module *module;
} entry;

struct hone_tensor_intrins {
    entry *items;
    size_t count;
};

hone_status hone_tensor_intrins_create(hone_tensor_intrins **out_set) {
    *out_set = hone_calloc(1, sizeof **out_set);
    return *out_set ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "tensor intrinsics");
}

static void drop(entry *e) {
    hone_free(e->name);
    hone_module_release(e->module);
}

void hone_tensor_intrins_destroy(hone_tensor_intrins *set) {
    if (!set) return;
    for (size_t i = 0; i < set->count; i++)
        drop(&set->items[i]);
    hone_free(set->items);
    hone_free(set);
}

/* ---- what both functions must be ---- */

/* The function of that name, or the only one whose name ends in "_desc", say. */
static const hone_func *member(const hone_module *module, const char *name) {
    const hone_member *m = hone_module_find(module, name);
    for (uint32_t i = 0; !m && i < module->member_count; i++) {
        const char *end = strrchr(module->members[i].name, '_');
        if (!end || strcmp(end + 1, name) != 0) continue;
        for (uint32_t k = i + 1; k < module->member_count; k++) {
            const char *other = strrchr(module->members[k].name, '_');
            if (other && strcmp(other + 1, name) == 0) return NULL;
        }
        m = &module->members[i];
    }
    return m && m->kind == HONE_MEMBER_FUNC ? m->func : NULL;
}

static hone_status check_params(const char *name, const hone_func *desc, const hone_func *impl) {
    if (desc->param_count != impl->param_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "intrinsic '%s': desc has %u parameters, impl has %u",
                          name, desc->param_count, impl->param_count);
    }
    for (uint32_t i = 0; i < desc->param_count; i++) {
        if (desc->params[i].buffer == HONE_NO_ID || impl->params[i].buffer == HONE_NO_ID) {
            return HONE_ERROR(HONE_CODE_INVALID, "intrinsic '%s': parameter %u is no buffer", name,
                              i + 1);
        }
        const hone_buffer_info *a = hone_func_buffer(desc, desc->params[i].buffer);
        const hone_buffer_info *b = hone_func_buffer(impl, impl->params[i].buffer);
        bool same = a->rank == b->rank && hone_dtype_equal(a->dtype, b->dtype) &&
                    strcmp(a->scope, b->scope) == 0;
        for (uint32_t d = 0; same && d < a->rank; d++) {
            same = hone_expr_const(a->shape[d]) >= 0 &&
                   hone_expr_const(a->shape[d]) == hone_expr_const(b->shape[d]);
        }
        if (same) continue;
        return HONE_ERROR(HONE_CODE_INVALID,
                          "intrinsic '%s': '%s' of desc and '%s' of impl differ in type, scope or "
                          "shape, or have no constant one",
                          name, a->name, b->name);
    }
    return HONE_OK;
}

/* impl may touch what desc touches. */
static hone_status check_touched(const char *name, const hone_func *desc, const hone_func *impl,
                                 bool of_writes) {
    const hone_block *in = hone_func_node(impl, hone_func_root_block(impl))->u.block.block;
    const hone_block *of = hone_func_node(desc, hone_func_root_block(desc))->u.block.block;
    uint32_t count = of_writes ? in->write_count : in->read_count;
    for (uint32_t i = 0; i < count; i++) {
        hone_buffer buffer = (of_writes ? in->writes : in->reads)[i].buffer;
        bool is_known = false;
        for (uint32_t p = 0; p < impl->param_count; p++) {
            if (impl->params[p].buffer != buffer) continue;
            for (uint32_t k = 0; k < of->write_count; k++)
                is_known = is_known || of->writes[k].buffer == desc->params[p].buffer;
            for (uint32_t k = 0; k < of->read_count && !of_writes; k++)
                is_known = is_known || of->reads[k].buffer == desc->params[p].buffer;
        }
        if (is_known) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "intrinsic '%s': impl %s '%s', desc does not", name,
                          of_writes ? "writes" : "reads", hone_func_buffer(impl, buffer)->name);
    }
    return HONE_OK;
}

static hone_status check_pair(const char *name, const hone_module *module) {
    const hone_func *both[] = {member(module, "desc"), member(module, "impl")};
    static const char *const names[] = {"desc", "impl"};
    for (int i = 0; i < 2; i++) {
        if (!both[i]) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "intrinsic '%s': there is no function '%s', and not one '…_%s'", name,
                              names[i], names[i]);
        }
        if (hone_func_root_block(both[i]) == HONE_NO_ID) {
            return HONE_ERROR(HONE_CODE_INVALID, "intrinsic '%s': %s has no root block", name,
                              names[i]);
        }
        hone_status st = hone_check_func(both[i]);
        if (st) return hone_status_annotate(st, "intrinsic '%s': %s", name, names[i]);
    }
    HONE_TRY(check_params(name, both[0], both[1]));
    HONE_TRY(check_touched(name, both[0], both[1], false));
    return check_touched(name, both[0], both[1], true);
}

/* ---- adding and finding ---- */

static hone_status parse(const char *name, const char *text, size_t length, const char *source_name,
                         hone_module **out) {
    HONE_TRY(hone_script_parse(text, length, source_name, out));
    hone_status st = check_pair(name, *out);
    if (!st) {
        hone_module_freeze(*out);
        return HONE_OK;
    }
    hone_module_release(*out);
    *out = NULL;
    return st;
}

hone_status hone_tensor_intrins_add(hone_tensor_intrins *set, const char *name, const char *text,
                                    size_t length, const char *source_name) {
    entry fresh = {0};
    HONE_TRY(parse(name, text, length, source_name, &fresh.module));
    entry *items = hone_realloc(set->items, (set->count + 1) * sizeof *items);
    if (items) set->items = items;
    fresh.name = hone_strdup(name);
    if (!items || !fresh.name) {
        drop(&fresh);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "tensor intrinsics");
    }
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->items[i].name, name) != 0) continue;
        drop(&set->items[i]);
        set->items[i] = fresh;
        return HONE_OK;
    }
    set->items[set->count++] = fresh;
    return HONE_OK;
}

hone_status hone_tensor_intrin_find(const hone_tensor_intrins *set, const char *name,
                                    hone_module **out_module, const hone_func **out_desc,
                                    const hone_func **out_impl) {
    *out_module = NULL;
    for (size_t i = 0; set && i < set->count; i++) {
        if (strcmp(set->items[i].name, name) == 0) {
            *out_module = hone_module_retain(set->items[i].module);
        }
    }
    hone_str text = {0};
    if (!*out_module && tensor_intrin_write_builtin(name, &text)) {
        hone_status st = hone_str_check(&text);
        if (!st) st = parse(name, hone_str_text(&text), text.length, name, out_module);
        hone_str_deinit(&text);
        HONE_TRY(st);
    }
    if (!*out_module) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "there is no tensor intrinsic '%s'", name);
    }
    *out_desc = member(*out_module, "desc");
    *out_impl = member(*out_module, "impl");
    return HONE_OK;
}
