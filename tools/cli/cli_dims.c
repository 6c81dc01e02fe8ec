/* tools/cli/cli_dims.c - dimensions that a command line gives or a text prints, as numbers. */
#include "tools/cli/cli_dims.h"

#include <ctype.h>
#include <string.h>

#include "ir/core/fold.h"
#include "ir/text/map/index_map_parse.h"
#include "ir/text/print/script_print.h"

/* ---- what is computed ---- */

static hone_status parse(const char *dim, const hone_index_map_scope *scope, hone_arena *arena,
                         const hone_index_map **out) {
    const py_source text = {.name = "size", .text = dim, .length = strlen(dim)};
    return hone_index_map_parse(arena, &text, scope, 0, out);
}

/* Modules that an expression may call functions of. */
static bool is_module(const char *name) {
    return strcmp(name, "T") == 0 || strcmp(name, "R") == 0;
}

static bool any_size(void *ctx, const char *name, uint32_t *out_count, const uint32_t **out_frees,
                     bool *out_is_tuple) {
    static const uint32_t size = 0;
    (void)ctx;
    *out_count = 1;
    *out_frees = &size;
    *out_is_tuple = false;
    return !is_module(name);
}

/* Names may have blanks and brackets as well: only what can be read is an expression. */
static bool is_computed(const char *dim) {
    if (!strpbrk(dim, " (")) return false;
    const hone_index_map *map = NULL;
    const hone_index_map_scope scope = {.names = any_size};
    hone_arena *arena = hone_arena_create(1024);
    hone_status st = arena ? parse(dim, &scope, arena, &map) : HONE_OK;
    bool is_read = !st && map && map->count == 1;
    hone_status_free(st);
    hone_arena_destroy(arena);
    return is_read;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

bool hone_cli_dim_visit(const char *dim, bool (*visit)(void *ctx, const char *name, size_t length),
                        void *ctx) {
    if (!dim) return true;
    if (!is_computed(dim)) return visit(ctx, dim, strlen(dim));
    for (const char *at = dim; *at;) {
        size_t length = 0;
        while (is_word(at[length]))
            length++;
        bool is_name = length && !isdigit((unsigned char)*at) && !strchr("(.", at[length]);
        if (at[length] == 0) is_name = length && !isdigit((unsigned char)*at);
        bool is_member = at > dim && at[-1] == '.';
        if (is_name && !is_member && !visit(ctx, at, length)) return false;
        at += length ? length : 1;
    }
    return true;
}

static bool is_another(void *ctx, const char *name, size_t length) {
    const char *wanted = ctx;
    return strlen(wanted) != length || memcmp(wanted, name, length) != 0;
}

bool hone_cli_dim_uses(const char *dim, const char *name) {
    if (!dim) return false;
    return strcmp(dim, name) == 0 || !hone_cli_dim_visit(dim, is_another, (void *)(uintptr_t)name);
}

/* ---- values ---- */

typedef struct lookup {
    const hone_dim_variant *sizes;
    int64_t others, found;
} lookup;

static bool find(const hone_dim_variant *sizes, const char *name, int64_t *out) {
    for (size_t i = 0; sizes && i < sizes->dim_count; i++) {
        if (strcmp(sizes->dims[i].name, name) != 0) continue;
        *out = sizes->dims[i].size;
        return true;
    }
    return false;
}

/* As an expression names it: one of that very name before "n.1", of which a text makes n_1. */
static bool find_printed(const hone_dim_variant *sizes, const char *name, int64_t *out) {
    if (find(sizes, name, out)) return true;
    for (size_t i = 0; sizes && i < sizes->dim_count; i++) {
        if (!hone_is_name_printed(sizes->dims[i].name, name, strlen(name))) continue;
        *out = sizes->dims[i].size;
        return true;
    }
    return false;
}

static bool number_of(void *ctx, const char *name, uint32_t *out_count, const int64_t **out_numbers,
                      bool *out_is_tuple) {
    lookup *l = ctx;
    if (is_module(name)) return false;
    if (!find_printed(l->sizes, name, &l->found)) l->found = l->others;
    *out_count = 1;
    *out_numbers = &l->found;
    *out_is_tuple = false;
    return l->found >= 0;
}

static bool compute(const char *dim, lookup *l, int64_t *out) {
    const hone_index_map *map = NULL;
    const hone_index_map_scope scope = {.numbers = number_of, .ctx = l};
    hone_arena *arena = hone_arena_create(1024);
    hone_status st = arena ? parse(dim, &scope, arena, &map) : HONE_OK;
    bool is_known = !st && map && map->count == 1 && hone_fold_sizes(map->indices[0], NULL, 0, out);
    hone_status_free(st); /* no value is an answer */
    hone_arena_destroy(arena);
    return is_known;
}

bool hone_cli_dim_value(const char *dim, const hone_dim_variant *sizes, int64_t others,
                        int64_t *out_value) {
    lookup l = {sizes, others, 0};
    if (dim && find(sizes, dim, out_value)) return true;
    if (dim && is_computed(dim) && compute(dim, &l, out_value)) return true;
    *out_value = others;
    return others >= 0 && !(dim && is_computed(dim));
}
