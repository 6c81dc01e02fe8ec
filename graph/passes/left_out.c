/* graph/passes/left_out.c - see left_out.h. */
#include "graph/passes/left_out.h"

#include <string.h>

#include "graph/module/module_parts.h"
#include "ir/ops/missing_op.h"

typedef struct search {
    const hone_module *module;
    hone_arena *arena;
    hone_missing_ops missing;
    bool *is_broken; /* by member: calls a missing operator itself */
    bool *is_kept;   /* by member: can run, and somebody wants it */
} search;

static hone_status find_broken(search *s) {
    for (uint32_t i = 0; i < s->module->member_count; i++) {
        const hone_graph_func *graph = s->module->members[i].graph;
        size_t before = s->missing.count;
        if (graph) HONE_TRY(hone_missing_ops_find(graph, &s->missing));
        s->is_broken[i] = s->missing.count > before;
    }
    return HONE_OK;
}

/* A function for callers outside, with what it calls. */
static hone_status keep(search *s, const hone_member *member) {
    bool *is_needed, can_run = true;
    if (member->graph->is_private && hone_module_calls(s->module, member->name)) return HONE_OK;
    HONE_TRY(hone_module_find_needed(s->module, member->name, s->arena, &is_needed));
    for (uint32_t i = 0; i < s->module->member_count; i++)
        can_run &= !(is_needed[i] && s->is_broken[i]);
    for (uint32_t i = 0; can_run && i < s->module->member_count; i++)
        s->is_kept[i] |= is_needed[i];
    return HONE_OK;
}

static hone_status list(const search *s, hone_left_out *out) {
    const char **names =
        hone_arena_alloc(s->arena, (size_t)s->module->member_count * sizeof *names);
    if (!names) return HONE_NO_MEMORY("functions");
    bool is_any_left = false;
    for (uint32_t i = 0; i < s->module->member_count; i++) {
        const hone_member *member = &s->module->members[i];
        if (!member->graph) continue;
        is_any_left |= s->is_kept[i];
        if (!s->is_kept[i]) names[out->count++] = member->name;
    }
    out->names = names;
    return is_any_left ? HONE_OK : hone_missing_ops_refuse(&s->missing);
}

static hone_status say(const search *s, hone_left_out *out) {
    hone_status why = hone_missing_ops_refuse(&s->missing);
    hone_str said = {0};
    hone_str_append(&said, hone_status_message(why));
    hone_str_append(&said, "; left out:");
    for (size_t i = 0; i < out->count; i++)
        hone_str_printf(&said, "%s '%s'", i ? "," : "", out->names[i]);
    hone_status_free(why);
    out->said = hone_arena_strdup(s->arena, hone_str_text(&said));
    hone_str_deinit(&said);
    return out->said ? HONE_OK : HONE_NO_MEMORY("functions");
}

static hone_status find(search *s, hone_left_out *out) {
    const hone_module *module = s->module;
    s->is_broken = hone_arena_zalloc(s->arena, (size_t)module->member_count + 1);
    s->is_kept = hone_arena_zalloc(s->arena, (size_t)module->member_count + 1);
    if (!s->is_broken || !s->is_kept) return HONE_NO_MEMORY("functions");
    HONE_TRY(find_broken(s));
    if (!s->missing.count) return HONE_OK;
    for (uint32_t i = 0; i < module->member_count; i++) {
        if (module->members[i].graph) HONE_TRY(keep(s, &module->members[i]));
    }
    HONE_TRY(list(s, out));
    return say(s, out);
}

hone_status hone_graph_find_left_out(const hone_module *module, hone_arena *arena,
                                     hone_left_out *out) {
    *out = (hone_left_out){0};
    search s = {.module = module, .arena = arena};
    hone_status st = find(&s, out);
    hone_vec_deinit(&s.missing);
    return st;
}

bool hone_graph_is_left_out(const hone_left_out *list_or_null, const char *name) {
    for (size_t i = 0; list_or_null && i < list_or_null->count; i++) {
        if (strcmp(list_or_null->names[i], name) == 0) return true;
    }
    return false;
}
