/* schedule/intrin/tensor_intrin.c - the registry: a list of modules, each with the functions desc
 * and impl (or …_desc and …_impl). */
#include "schedule/intrin/tensor_intrin_impl.h"

#include <stdarg.h>
#include <string.h>

#include "ir/core/touches.h"
#include "ir/python/python_lex.h"
#include "ir/region/region.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "support/core/alloc.h"
#include "support/text/nearest.h"

typedef struct entry {
    char *name;
    hone_module *module;
    const hone_func *desc, *impl; /* in it */
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

/* An intrinsic as its text says it: a failure names the place there. */
typedef struct candidate {
    const char *name;
    py_source source;
    const char *desc_name, *impl_name; /* NULL: desc and impl, or what ends so */
    const hone_func *desc, *impl;
} candidate;

HONE_PRINTF(4, 5)
static hone_status fail_at(const candidate *c, uint32_t line, uint32_t column, const char *format,
                           ...) {
    hone_str text = {0};
    va_list args;
    hone_str_printf(&text, "intrinsic '%s': ", c->name);
    va_start(args, format);
    hone_str_vprintf(&text, format, args);
    va_end(args);
    hone_status st =
        line ? py_error_at(&c->source, HONE_CODE_INVALID, line, column, hone_str_text(&text))
             : HONE_ERROR(HONE_CODE_INVALID, "%s", hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}

static void say_shape(const hone_buffer_info *info, hone_str *out) {
    hone_str_append(out, "(");
    for (uint32_t d = 0; d < info->rank; d++) {
        int64_t extent = hone_expr_const(info->shape[d]);
        hone_str_append(out, d ? ", " : "");
        if (extent < 0)
            hone_str_append(out, "?");
        else
            hone_str_printf(out, "%lld", (long long)extent);
    }
    hone_str_append(out, ")");
}

/* "'A' of desc is float32, 'A' of impl is float16" */
static hone_status check_param(const candidate *c, const hone_buffer_info *a,
                               const hone_buffer_info *b) {
    bool same = a->rank == b->rank;
    for (uint32_t d = 0; d < a->rank; d++) {
        if (hone_expr_const(a->shape[d]) >= 0) continue;
        return fail_at(c, a->line, a->column, "dimension %u of '%s' of desc is no number", d,
                       a->name);
    }
    for (uint32_t d = 0; same && d < a->rank; d++)
        same = hone_expr_const(a->shape[d]) == hone_expr_const(b->shape[d]);
    if (!hone_dtype_equal(a->dtype, b->dtype)) {
        return fail_at(c, b->line, b->column, "'%s' of desc is %s, '%s' of impl is %s", a->name,
                       HONE_DTYPE_NAME(a->dtype), b->name, HONE_DTYPE_NAME(b->dtype));
    }
    if (strcmp(a->scope, b->scope) != 0) {
        return fail_at(c, b->line, b->column,
                       "'%s' of desc is in the scope \"%s\", '%s' of impl in \"%s\"", a->name,
                       a->scope, b->name, b->scope);
    }
    if (same) return HONE_OK;
    hone_str desc = {0}, impl = {0};
    say_shape(a, &desc);
    say_shape(b, &impl);
    hone_status st =
        fail_at(c, b->line, b->column, "'%s' of desc has the shape %s, '%s' of impl has %s",
                a->name, hone_str_text(&desc), b->name, hone_str_text(&impl));
    hone_str_deinit(&desc);
    hone_str_deinit(&impl);
    return st;
}

static hone_status check_params(const candidate *c) {
    const hone_func *desc = c->desc, *impl = c->impl;
    if (desc->param_count != impl->param_count) {
        return fail_at(c, 0, 0, "desc has %u parameters, impl has %u", desc->param_count,
                       impl->param_count);
    }
    for (uint32_t i = 0; i < desc->param_count; i++) {
        if (desc->params[i].buffer == HONE_NO_ID || impl->params[i].buffer == HONE_NO_ID)
            return fail_at(c, 0, 0, "parameter %u is no buffer", i + 1);
        HONE_TRY(check_param(c, hone_func_buffer(desc, desc->params[i].buffer),
                             hone_func_buffer(impl, impl->params[i].buffer)));
    }
    return HONE_OK;
}

/* impl may touch what desc touches. */
static hone_status check_touched(const candidate *c, bool of_writes) {
    const hone_func *desc = c->desc, *impl = c->impl;
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
        const hone_node *root = hone_func_node(impl, hone_func_root_block(impl));
        return fail_at(c, root->line, root->column, "impl %s '%s', desc does not",
                       of_writes ? "writes" : "reads", hone_func_buffer(impl, buffer)->name);
    }
    return HONE_OK;
}

static bool is_written(const void *ctx, const hone_expr *e) {
    const hone_var *data = ctx;
    bool is_pointer = hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR) && e->count == 5 &&
                      e->args[1]->kind == HONE_EXPR_VAR && e->args[1]->u.var == *data;
    return is_pointer && e->args[4]->kind == HONE_EXPR_INT && (e->args[4]->u.i & 2) != 0;
}

/* By a store, or by access_ptr("w"); a handle alone says nothing. */
static bool surely_writes(const hone_func *func, hone_buffer buffer) {
    hone_var data = hone_func_buffer(func, buffer)->data;
    return hone_stores_below(func, 0, buffer) ||
           (data != HONE_NO_ID && hone_tree_find_part(func, 0, false, is_written, &data));
}

static hone_status fail_declared(const candidate *c, const hone_func *func, const char *which,
                                 hone_buffer buffer, const char *before, const char *behind) {
    const hone_node *root = hone_func_node(func, hone_func_root_block(func));
    return fail_at(c, root->line, root->column, "%s %s '%s', which its %s", which, before,
                   hone_func_buffer(func, buffer)->name, behind);
}

/* The root block names what its body touches: its place in a program is made of that. */
static hone_status check_declared(const candidate *c, const hone_func *func, const char *which,
                                  hone_arena *arena) {
    hone_node_id root = hone_func_root_block(func);
    const hone_block *block = hone_func_node(func, root)->u.block.block;
    hone_block found;
    bool is_silent = block->read_count == 0 && block->write_count == 0;
    if (block->regions_inferred || is_silent) return HONE_OK;
    HONE_TRY(hone_block_infer_regions(func, root, arena, &found));
    for (uint32_t i = 0; i < found.write_count; i++) {
        hone_buffer buffer = found.writes[i].buffer;
        if (!hone_region_of(block->write_count, block->writes, buffer) &&
            surely_writes(func, buffer))
            return fail_declared(c, func, which, buffer, "writes", "T.writes does not name");
    }
    for (uint32_t i = 0; i < block->write_count; i++) {
        hone_buffer buffer = block->writes[i].buffer;
        if (!hone_region_of(found.write_count, found.writes, buffer))
            return fail_declared(c, func, which, buffer, "does not write", "T.writes names");
    }
    for (uint32_t i = 0; i < found.read_count; i++) {
        hone_buffer buffer = found.reads[i].buffer;
        if (!hone_region_of(block->read_count, block->reads, buffer) &&
            !hone_region_of(block->write_count, block->writes, buffer))
            return fail_declared(c, func, which, buffer, "reads", "T.reads does not name");
    }
    return HONE_OK;
}

static hone_status check_well_formed(const candidate *c, const hone_func *func, const char *which) {
    hone_findings findings = {.arena = hone_arena_create(4096), .errors_only = true};
    if (!findings.arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tensor intrinsics");
    hone_status st = hone_verify_func(func, &findings);
    for (uint32_t i = 0; i < findings.count && !st; i++) {
        const hone_finding *f = &findings.items[i];
        if (!f->is_warning) st = fail_at(c, f->line, f->column, "%s: %s", which, f->text);
    }
    if (!st) st = check_declared(c, func, which, findings.arena);
    hone_arena_destroy(findings.arena);
    return st;
}

static const hone_func *named_member(const hone_module *module, const char *name,
                                     const char *otherwise) {
    if (!name) return member(module, otherwise);
    const hone_member *m = hone_module_find(module, name);
    return m && m->kind == HONE_MEMBER_FUNC ? m->func : NULL;
}

static hone_status check_pair(candidate *c, const hone_module *module) {
    const hone_func *both[] = {named_member(module, c->desc_name, "desc"),
                               named_member(module, c->impl_name, "impl")};
    static const char *const names[] = {"desc", "impl"};
    for (int i = 0; i < 2; i++) {
        if (!both[i]) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "%s: intrinsic '%s': there is no function '%s', and not one '…_%s'",
                              c->source.name, c->name, names[i], names[i]);
        }
        if (hone_func_root_block(both[i]) == HONE_NO_ID)
            return fail_at(c, 0, 0, "%s has no root block", names[i]);
        HONE_TRY(check_well_formed(c, both[i], names[i]));
    }
    c->desc = both[0];
    c->impl = both[1];
    HONE_TRY(check_params(c));
    HONE_TRY(check_touched(c, false));
    return check_touched(c, true);
}

/* ---- adding and finding ---- */

static hone_status parse(candidate *c, hone_module **out) {
    HONE_TRY(hone_script_parse(c->source.text, c->source.length, c->source.name, out));
    hone_status st = check_pair(c, *out);
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
    return hone_tensor_intrins_add_pair(set, name, text, length, source_name, NULL, NULL);
}

static entry *find_entry(const hone_tensor_intrins *set, const char *name) {
    for (size_t i = 0; set && i < set->count; i++) {
        if (strcmp(set->items[i].name, name) == 0) return &set->items[i];
    }
    return NULL;
}

/* In place of one of the same name. Takes fresh->module, also on failure. */
static hone_status put(hone_tensor_intrins *set, const char *name, entry *fresh) {
    entry *items = hone_realloc(set->items, (set->count + 1) * sizeof *items);
    if (items) set->items = items;
    fresh->name = hone_strdup(name);
    if (!items || !fresh->name) {
        drop(fresh);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "tensor intrinsics");
    }
    entry *known = find_entry(set, name);
    if (known) drop(known);
    if (!known) known = &set->items[set->count++];
    *known = *fresh;
    return HONE_OK;
}

hone_status hone_tensor_intrins_add_pair(hone_tensor_intrins *set, const char *name,
                                         const char *text, size_t length, const char *source_name,
                                         const char *desc, const char *impl) {
    entry fresh = {0};
    candidate c = {
        .name = name,
        .source = {.text = text, .length = length, .name = source_name},
        .desc_name = desc,
        .impl_name = impl
    };
    HONE_TRY(parse(&c, &fresh.module));
    fresh.desc = c.desc;
    fresh.impl = c.impl;
    return put(set, name, &fresh);
}

hone_status hone_tensor_intrins_keep(hone_tensor_intrins *set, const hone_tensor_intrins *from,
                                     const char *name) {
    entry fresh = {0};
    if (find_entry(set, name)) return HONE_OK;
    HONE_TRY(hone_tensor_intrin_find(from, name, &fresh.module, &fresh.desc, &fresh.impl));
    return put(set, name, &fresh);
}

const char *hone_tensor_intrins_name(const hone_tensor_intrins *set, size_t index) {
    return index < set->count ? set->items[index].name : NULL;
}

static hone_status fail_unknown(const char *name) {
    const char *meant = NULL;
    size_t least = 3; /* edits */
    for (size_t i = 0; hone_tensor_intrin_builtin(i); i++) {
        const char *known = hone_tensor_intrin_builtin(i);
        size_t distance = hone_name_distance(name, known);
        if (distance < least && hone_name_is_like(name, known)) least = distance, meant = known;
    }
    return HONE_ERROR(HONE_CODE_NOT_FOUND, "there is no tensor intrinsic '%s'%s%s%s", name,
                      meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

hone_status hone_tensor_intrin_find(const hone_tensor_intrins *set, const char *name,
                                    hone_module **out_module, const hone_func **out_desc,
                                    const hone_func **out_impl) {
    const entry *known = find_entry(set, name);
    *out_module = NULL;
    if (known) {
        *out_module = hone_module_retain(known->module);
        *out_desc = known->desc;
        *out_impl = known->impl;
    }
    hone_str text = {0};
    if (!*out_module && tensor_intrin_write_builtin(name, &text)) {
        hone_status st = hone_str_check(&text);
        candidate c = {
            .name = name,
            .source = {.text = hone_str_text(&text), .length = text.length, .name = name}
        };
        if (!st) st = parse(&c, out_module);
        *out_desc = c.desc;
        *out_impl = c.impl;
        hone_str_deinit(&text);
        HONE_TRY(st);
    }
    if (!*out_module) return fail_unknown(name);
    return HONE_OK;
}
