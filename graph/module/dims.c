/* graph/module/dims.c - --shape N=1,64: sizes given by users, and what several of them mean
 * together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/module/graph_options.h"
#include "support/core/strbuf.h"
#include "support/text/nearest.h"

enum { MAX_VARIANTS = 64, MAX_DIMS = 32, ARENA_BYTES = 4096 };

typedef struct choice {
    const char *name;
    int64_t sizes[MAX_VARIANTS];
    size_t count;
} choice;

static hone_status parse_size(const char *spec, const char **at, int64_t *out) {
    char *end = NULL;
    errno = 0;
    long long size = strtoll(*at, &end, 10);
    bool is_number = end != *at && (**at >= '0' && **at <= '9');
    if (!is_number || errno || (*end && *end != ',') || size < 0 || size > INT32_MAX) {
        return HONE_ERROR(HONE_CODE_INVALID, "shape '%s': '%.20s' is no size from 0 to 2147483647",
                          spec, *at);
    }
    *out = size;
    *at = *end ? end + 1 : end;
    if (*end && !**at) return HONE_ERROR(HONE_CODE_INVALID, "shape '%s' ends with a comma", spec);
    return HONE_OK;
}

static hone_status parse_spec(hone_arena *arena, const char *spec, choice *out) {
    const char *equals = strrchr(spec, '='); /* a model may have '=' in a name */
    if (!equals || equals == spec) {
        return HONE_ERROR(HONE_CODE_INVALID, "shape '%s' must be NAME=SIZE[,SIZE...]", spec);
    }
    out->name = hone_arena_strndup(arena, spec, (size_t)(equals - spec));
    out->count = 0;
    if (!out->name) return HONE_ERROR(HONE_CODE_NO_MEMORY, "shapes");
    const char *at = equals + 1;
    do {
        if (out->count == MAX_VARIANTS) {
            return HONE_ERROR(HONE_CODE_INVALID, "shape '%s' has more than %d sizes", spec,
                              MAX_VARIANTS);
        }
        HONE_TRY(parse_size(spec, &at, &out->sizes[out->count]));
        for (size_t i = 0; i < out->count; i++) {
            if (out->sizes[i] == out->sizes[out->count]) {
                return HONE_ERROR(HONE_CODE_INVALID, "shape '%s' has %lld twice", spec,
                                  (long long)out->sizes[i]);
            }
        }
        out->count++;
    } while (*at);
    return HONE_OK;
}

/* Variant number `index`: the last option varies fastest. */
static hone_status make_variant(hone_arena *arena, const choice *choices, size_t count,
                                size_t index, hone_dim_variant *out) {
    hone_graph_dim *dims = hone_arena_zalloc(arena, (count + 1) * sizeof *dims);
    if (!dims) return HONE_ERROR(HONE_CODE_NO_MEMORY, "shapes");
    for (size_t i = count; i-- > 0;) {
        dims[i] = (hone_graph_dim){choices[i].name, choices[i].sizes[index % choices[i].count]};
        index /= choices[i].count;
    }
    *out = (hone_dim_variant){dims, count};
    return HONE_OK;
}

hone_status hone_dim_variants_parse(const char *const *specs, size_t count,
                                    hone_dim_variants *out_variants) {
    memset(out_variants, 0, sizeof *out_variants);
    out_variants->arena = hone_arena_create(ARENA_BYTES);
    if (!out_variants->arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "shapes");
    if (count > MAX_DIMS) return HONE_ERROR(HONE_CODE_INVALID, "more than %d shapes", MAX_DIMS);
    choice *choices = hone_arena_zalloc(out_variants->arena, (count + 1) * sizeof *choices);
    if (!choices) return HONE_ERROR(HONE_CODE_NO_MEMORY, "shapes");
    size_t total = 1;
    for (size_t i = 0; i < count; i++) {
        HONE_TRY(parse_spec(out_variants->arena, specs[i], &choices[i]));
        for (size_t k = 0; k < i; k++) {
            if (strcmp(choices[k].name, choices[i].name) == 0) {
                return HONE_ERROR(HONE_CODE_INVALID, "shape '%s' is given twice", choices[i].name);
            }
        }
        total *= choices[i].count;
        if (total > MAX_VARIANTS) {
            return HONE_ERROR(HONE_CODE_INVALID, "more than %d combinations of shapes",
                              MAX_VARIANTS);
        }
    }
    out_variants->items =
        hone_arena_zalloc(out_variants->arena, total * sizeof *out_variants->items);
    if (!out_variants->items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "shapes");
    for (size_t i = 0; i < total; i++) {
        HONE_TRY(make_variant(out_variants->arena, choices, count, i, &out_variants->items[i]));
    }
    out_variants->count = total;
    return HONE_OK;
}

void hone_dim_variants_deinit(hone_dim_variants *variants) {
    hone_arena_destroy(variants->arena);
    memset(variants, 0, sizeof *variants);
}

bool hone_dim_is_bound(const hone_module *module, const char *name, int64_t *out_size) {
    const hone_value *bound = hone_attrs_find(&module->attrs, "bound_sizes");
    if (!bound || bound->kind != HONE_VALUE_MAP) return false;
    const hone_attrs sizes = {bound->count, bound->u.attrs};
    *out_size = hone_attrs_int(&sizes, name, -1);
    return *out_size >= 0;
}

static hone_status drop_bound(hone_arena *arena, const hone_module *module,
                              hone_dim_variant *variant) {
    hone_graph_dim *kept = hone_arena_zalloc(arena, (variant->dim_count + 1) * sizeof *kept);
    size_t count = 0;
    if (!kept) return HONE_ERROR(HONE_CODE_NO_MEMORY, "shapes");
    for (size_t i = 0; i < variant->dim_count; i++) {
        const hone_graph_dim *dim = &variant->dims[i];
        int64_t size = dim->size;
        bool is_bound = hone_dim_is_bound(module, dim->name, &size);
        if (!is_bound) kept[count++] = *dim;
        if (size == dim->size) continue;
        return HONE_ERROR(HONE_CODE_INVALID,
                          "'%s' is %lld and %lld: this model is read for one number of it only",
                          dim->name, (long long)size, (long long)dim->size);
    }
    *variant = (hone_dim_variant){kept, count};
    return HONE_OK;
}

hone_status hone_dim_variants_drop_bound(hone_dim_variants *variants, const hone_module *module) {
    for (size_t i = 0; i < variants->count; i++)
        HONE_TRY(drop_bound(variants->arena, module, &variants->items[i]));
    return HONE_OK;
}

/* ---- names that nothing has ---- */

static bool is_among(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

hone_status hone_dim_unknown(const char *name, const char *const *names, size_t count) {
    hone_str list = {0};
    for (size_t i = 0; i < count; i++) {
        if (!is_among(names[i], names, i))
            hone_str_printf(&list, "%s'%s'", list.length ? ", " : "", names[i]);
    }
    const char *meant = hone_name_suggest(name, names, count, sizeof *names);
    hone_status st =
        HONE_ERROR(HONE_CODE_INVALID, "there is no size '%s'%s%s%s %s%s", name,
                   meant ? "; did you mean '" : ",", meant ? meant : "", meant ? "'?" : "",
                   count ? "there are " : "all are fixed", hone_str_text(&list));
    hone_str_deinit(&list);
    return st;
}

/* The names of a module's sizes, into names[] where that is given; returns how many. */
static size_t list_sizes(const hone_module *module, const char **names) {
    size_t count = 0;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_graph_func *graph = module->members[i].graph;
        const hone_func *func = module->members[i].func;
        for (uint32_t v = 0; graph && v < graph->var_count; v++, count++)
            if (names) names[count] = graph->vars[v].name;
        for (uint32_t v = 0; func && v < func->var_count; v++) {
            if (!func->vars[v].is_size) continue;
            if (names) names[count] = func->vars[v].name;
            count++;
        }
    }
    return count;
}

hone_status hone_dim_unknown_in(const char *name, const hone_module *module) {
    size_t count = list_sizes(module, NULL);
    hone_arena *arena = hone_arena_create(ARENA_BYTES);
    const char **names = arena ? hone_arena_alloc(arena, (count + 1) * sizeof *names) : NULL;
    if (names) list_sizes(module, names);
    hone_status st = names ? hone_dim_unknown(name, names, count)
                           : HONE_ERROR(HONE_CODE_NO_MEMORY, "names of sizes");
    hone_arena_destroy(arena);
    return st;
}
