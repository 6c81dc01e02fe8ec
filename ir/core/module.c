/* ir/core/module.c - modules: their life, members and constants. */
#include "ir/core/module.h"

#include <stdatomic.h>
#include <string.h>

#include "ir/core/grow.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"

enum { ARENA_BLOCK_BYTES = 64 * 1024, MAX_BORROWED = 8 };

/* What all holders of a module share. */
struct hone_module_shared {
    atomic_int references;
    uint32_t borrowed_count;
    hone_module
        *borrowed[MAX_BORROWED]; /* modules whose functions this one uses; one reference each */
};

hone_status hone_module_create(hone_module **out_module) {
    *out_module = NULL;
    hone_module *module = hone_calloc(1, sizeof *module);
    if (!module) return HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    module->shared = hone_calloc(1, sizeof *module->shared);
    module->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!module->shared || !module->arena) {
        if (module->arena) hone_arena_destroy(module->arena);
        hone_free(module->shared);
        hone_free(module);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    }
    atomic_init(&module->shared->references, 1);
    *out_module = module;
    return HONE_OK;
}

hone_module *hone_module_retain(hone_module *module) {
    atomic_fetch_add_explicit(&module->shared->references, 1, memory_order_relaxed);
    return module;
}

void hone_module_release(hone_module *module) {
    if (!module) return;
    if (atomic_fetch_sub_explicit(&module->shared->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (uint32_t i = 0; i < module->shared->borrowed_count; i++) {
        hone_module_release(module->shared->borrowed[i]);
    }
    for (uint32_t i = 0; i < module->constant_count; i++) {
        hone_tensor_destroy(module->constants[i]);
    }
    hone_strmap_deinit(&module->index);
    hone_strmap_deinit(&module->stems);
    hone_arena_destroy(module->arena);
    hone_free(module->shared);
    hone_free(module);
}

void hone_module_freeze(hone_module *module) {
    if (!module->is_frozen) module->is_frozen = true; /* a frozen one may be shared by threads */
}

hone_status hone_module_borrow(hone_module *module, hone_module *other) {
    struct hone_module_shared *shared = module->shared;
    for (uint32_t i = 0; i < shared->borrowed_count; i++) {
        if (shared->borrowed[i] == other) return HONE_OK;
    }
    if (shared->borrowed_count == MAX_BORROWED) {
        return HONE_ERROR(HONE_CODE_INTERNAL, "a module borrows from more than %d modules",
                          MAX_BORROWED);
    }
    shared->borrowed[shared->borrowed_count++] = hone_module_retain(other);
    return HONE_OK;
}

/* ---- names ---- */

enum { FEW = 16, MOST_DIGITS = 9 }; /* few members are looked through */

static bool is_indexed(const hone_module *module) {
    return hone_strmap_count(&module->index) == module->member_count;
}

/* The number behind a stem: 0 for the stem alone, -1 when the name is another one. */
static int64_t number_behind(const char *name, const char *stem, size_t length) {
    int64_t number = 0;
    if (strncmp(name, stem, length) != 0) return -1;
    const char *digits = name + length;
    if (*digits == '0' || strlen(digits) > MOST_DIGITS) return -1;
    for (; *digits >= '0' && *digits <= '9'; digits++)
        number = number * 10 + (*digits - '0');
    return *digits ? -1 : number;
}

/* Of "add12" what "add12", "add1" and "add" end with. */
static bool note_stems(hone_strmap *stems, const char *name) {
    char stem[256];
    size_t length = strlen(name), least = length > MOST_DIGITS ? length - MOST_DIGITS : 0;
    if (length >= sizeof stem) return false;
    for (size_t end = length + 1; end-- > least;) {
        if (end < length && (name[end] < '0' || name[end] > '9')) break;
        int64_t number = number_behind(name, name, end);
        uint64_t before;
        memcpy(stem, name, end);
        stem[end] = '\0';
        if (number < 0) continue;
        bool is_larger = !hone_strmap_find(stems, stem, &before) || before < (uint64_t)number;
        if (is_larger && !hone_strmap_put(stems, stem, (uint64_t)number)) return false;
    }
    return true;
}

static bool index_member(hone_module *module, uint32_t at) {
    const char *name = module->members[at].name;
    return hone_strmap_put(&module->index, name, at) && note_stems(&module->stems, name);
}

/* Without memory for it, or with names that are too long, there is none. */
static void index_all(hone_module *module) {
    bool is_made = module->member_count > FEW;
    hone_strmap_clear(&module->index);
    hone_strmap_clear(&module->stems);
    for (uint32_t i = 0; i < module->member_count && is_made; i++)
        is_made = index_member(module, i);
    if (!is_made) hone_strmap_clear(&module->index);
}

void hone_module_cut(hone_module *module, uint32_t count) {
    assert(!module->is_frozen && count <= module->member_count);
    module->member_count = count;
    index_all(module);
}

int64_t hone_module_last_number(const hone_module *module, const char *stem) {
    int64_t last = -1;
    uint64_t found;
    if (module->member_count && is_indexed(module))
        return hone_strmap_find(&module->stems, stem, &found) ? (int64_t)found : -1;
    size_t length = strlen(stem);
    for (uint32_t i = 0; i < module->member_count; i++) {
        int64_t number = number_behind(module->members[i].name, stem, length);
        if (number > last) last = number;
    }
    return last;
}

static hone_status add_member(hone_module *module, hone_member member) {
    assert(!module->is_frozen);
    if (hone_module_find(module, member.name)) {
        return HONE_ERROR(HONE_CODE_INVALID, "function '%s' is defined twice", member.name);
    }
    if (!hone_grow(module->arena, (void **)&module->members, &module->member_capacity,
                   module->member_count, sizeof *module->members)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    }
    bool was_indexed = is_indexed(module);
    module->members[module->member_count++] = member;
    bool is_next = was_indexed && module->member_count > FEW + 1;
    if (is_next && !index_member(module, module->member_count - 1))
        hone_strmap_clear(&module->index);
    else if (!is_next && module->member_count == FEW + 1)
        index_all(module);
    return HONE_OK;
}

hone_status hone_module_add_func(hone_module *module, hone_func *func) {
    return add_member(module, (hone_member){func->name, HONE_MEMBER_FUNC, func, NULL});
}

hone_status hone_module_add_graph(hone_module *module, hone_graph_func *graph) {
    return add_member(module, (hone_member){graph->name, HONE_MEMBER_GRAPH, NULL, graph});
}

hone_status hone_module_add_extern(hone_module *module, const char *name) {
    const char *copy = hone_arena_strdup(module->arena, name);
    if (!copy) return HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    return add_member(module, (hone_member){copy, HONE_MEMBER_EXTERN, NULL, NULL});
}

hone_status hone_module_add_constant(hone_module *module, hone_tensor *tensor,
                                     uint32_t *out_index) {
    *out_index = HONE_NO_ID;
    if (!hone_grow(module->arena, (void **)&module->constants, &module->constant_capacity,
                   module->constant_count, sizeof *module->constants)) {
        hone_tensor_destroy(tensor);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    }
    *out_index = module->constant_count;
    module->constants[module->constant_count++] = tensor;
    return HONE_OK;
}

bool hone_module_has_graph(const hone_module *module) {
    for (uint32_t i = 0; i < module->member_count; i++) {
        if (module->members[i].kind == HONE_MEMBER_GRAPH) return true;
    }
    return false;
}

const hone_member *hone_module_find(const hone_module *module, const char *name) {
    uint64_t at;
    if (module->member_count && is_indexed(module))
        return hone_strmap_find(&module->index, name, &at) ? &module->members[at] : NULL;
    for (uint32_t i = 0; i < module->member_count; i++) {
        if (strcmp(module->members[i].name, name) == 0) return &module->members[i];
    }
    return NULL;
}

static bool has_symbol(const hone_func *func, const char *symbol) {
    const hone_value *value = hone_attrs_find(&func->attrs, "global_symbol");
    return value && value->kind == HONE_VALUE_STRING && strcmp(value->u.s, symbol) == 0;
}

const hone_func *hone_module_find_program(const hone_module *module, const char *name_or_null) {
    const hone_member *member = name_or_null ? hone_module_find(module, name_or_null) : NULL;
    if (!name_or_null || member) return member ? member->func : NULL;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_func *func = module->members[i].func;
        if (func && has_symbol(func, name_or_null)) return func;
    }
    return NULL;
}

/* "'add', 'main'" for messages. */
static void list_names(const hone_module *module, hone_str *out) {
    for (uint32_t i = 0; i < module->member_count; i++) {
        hone_str_printf(out, "%s'%s'", i ? ", " : "", module->members[i].name);
    }
}

hone_status hone_module_pick(const hone_module *module, const char *name_or_null,
                             const hone_member **out_member) {
    *out_member = hone_module_find(module, name_or_null ? name_or_null : "main");
    if (*out_member) return HONE_OK;
    if (!name_or_null && module->member_count == 1) {
        *out_member = &module->members[0];
        return HONE_OK;
    }
    hone_str names = {0};
    list_names(module, &names);
    hone_status st =
        HONE_ERROR(HONE_CODE_NOT_FOUND, "no function '%s'; the module has %s",
                   name_or_null ? name_or_null : "main", names.length ? names.data : "none");
    hone_str_deinit(&names);
    return st;
}

hone_status hone_module_of_func(const hone_func *func, hone_module **out_module) {
    HONE_TRY(hone_module_create(out_module));
    hone_status st = HONE_OK;
    hone_func *copy = hone_func_copy_deep((*out_module)->arena, func);
    if (!copy) {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    } else {
        st = hone_module_add_func(*out_module, copy);
    }
    if (st) {
        hone_module_release(*out_module);
        *out_module = NULL;
    }
    return st;
}
