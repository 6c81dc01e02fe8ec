/* graph/module/module_parts.c - copies members between modules, with what they call. */
#include "graph/module/module_parts.h"

#include <string.h>

/* ---- one member from one module to another ---- */

typedef struct moving {
    hone_module *to;
    const hone_module *from;
    uint32_t *numbers; /* by constant of from: its number in to; HONE_NO_ID = not there yet */
} moving;

static hone_status begin(moving *m, hone_module *to, hone_module *from) {
    *m = (moving){.to = to, .from = from};
    m->numbers = hone_arena_alloc(to->arena, (from->constant_count + 1) * sizeof *m->numbers);
    if (!m->numbers) return HONE_NO_MEMORY("module");
    for (uint32_t i = 0; i < from->constant_count; i++)
        m->numbers[i] = HONE_NO_ID;
    return hone_module_borrow(to, from);
}

static hone_status move_arg(moving *m, hone_garg *arg) {
    if (arg->kind == HONE_GARG_CONSTANT) {
        uint32_t *number = &m->numbers[arg->u.constant];
        const hone_tensor *from = m->from->constants[arg->u.constant];
        hone_tensor *copy = NULL; /* and NULL of an outline */
        if (*number == HONE_NO_ID) {
            if (from) HONE_TRY(hone_tensor_share(from, &copy));
            HONE_TRY(hone_module_add_constant(m->to, copy, number));
        }
        arg->u.constant = *number;
    } else if (arg->kind == HONE_GARG_TUPLE && arg->count) {
        hone_garg *items = hone_arena_copy(m->to->arena, arg->u.items, arg->count * sizeof *items);
        if (!items) return HONE_NO_MEMORY("module");
        arg->u.items = items;
        for (uint32_t i = 0; i < arg->count; i++)
            HONE_TRY(move_arg(m, &items[i]));
    }
    return HONE_OK;
}

static hone_status move_graph(moving *m, const hone_graph_func *graph) {
    hone_graph_func *copy = hone_graph_func_copy_deep(m->to->arena, graph);
    if (!copy) return HONE_NO_MEMORY("module");
    for (uint32_t i = 0; i < copy->bind_count; i++) {
        hone_gbind *bind = &copy->bindings[i];
        if (!bind->arg_count) continue;
        hone_garg *args = hone_arena_copy(m->to->arena, bind->args, bind->arg_count * sizeof *args);
        if (!args) return HONE_NO_MEMORY("module");
        bind->args = args;
        for (uint32_t a = 0; a < bind->arg_count; a++)
            HONE_TRY(move_arg(m, &args[a]));
    }
    HONE_TRY(move_arg(m, &copy->result));
    return hone_module_add_graph(m->to, copy);
}

static hone_status move_member(moving *m, const hone_member *member) {
    switch (member->kind) {
    case HONE_MEMBER_FUNC:
        return hone_module_add_func(m->to, member->func);
    case HONE_MEMBER_GRAPH:
        return move_graph(m, member->graph);
    case HONE_MEMBER_EXTERN:
        return hone_module_add_extern(m->to, member->name);
    }
    return HONE_OK;
}

hone_status hone_module_add_all(hone_module *module, hone_module *from) {
    moving m;
    HONE_TRY(begin(&m, module, from));
    for (uint32_t i = 0; i < from->member_count; i++)
        HONE_TRY(move_member(&m, &from->members[i]));
    return HONE_OK;
}

/* ---- who calls whom ---- */

typedef void (*see_call)(void *ctx, const char *name);

static void see_arg(const hone_garg *arg, see_call see, void *ctx) {
    if (arg->kind == HONE_GARG_GLOBAL) see(ctx, arg->u.s);
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++)
        see_arg(&arg->u.items[i], see, ctx);
}

static void see_calls(const hone_graph_func *graph, see_call see, void *ctx) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        bool is_call = bind->kind == HONE_GBIND_CALL_TIR || bind->kind == HONE_GBIND_CALL_FUNC ||
                       bind->kind == HONE_GBIND_CALL_DPS;
        if (is_call && bind->callee) see(ctx, bind->callee);
        for (uint32_t a = 0; a < bind->arg_count; a++)
            see_arg(&bind->args[a], see, ctx);
    }
    see_arg(&graph->result, see, ctx);
}

typedef struct closure {
    const hone_module *module;
    bool *is_needed; /* by member */
} closure;

static void need(void *ctx, const char *name) {
    closure *c = ctx;
    const hone_member *member = hone_module_find(c->module, name);
    if (!member) return; /* an external function */
    size_t index = (size_t)(member - c->module->members);
    if (c->is_needed[index]) return;
    c->is_needed[index] = true;
    if (member->graph) see_calls(member->graph, need, c);
}

typedef struct search {
    const char *name;
    bool is_found;
} search;

static void compare(void *ctx, const char *name) {
    search *s = ctx;
    s->is_found |= strcmp(s->name, name) == 0;
}

bool hone_module_calls(const hone_module *module, const char *name) {
    search s = {.name = name};
    for (uint32_t i = 0; i < module->member_count && !s.is_found; i++) {
        const hone_member *member = &module->members[i];
        if (member->graph && strcmp(member->name, name) != 0) see_calls(member->graph, compare, &s);
    }
    return s.is_found;
}

const hone_member *hone_module_first(const hone_module *module, uint32_t *out_count) {
    const hone_member *first = hone_module_find(module, "main");
    bool has_graph = hone_module_has_graph(module);
    *out_count = first != NULL;
    if (first) return first;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *member = &module->members[i];
        bool is_one = member->kind == (has_graph ? HONE_MEMBER_GRAPH : HONE_MEMBER_FUNC);
        if (is_one && has_graph && member->graph->is_private)
            is_one = !hone_module_calls(module, member->name);
        if (is_one && !first) first = member;
        *out_count += is_one;
    }
    return first;
}

/* ---- modules ---- */

hone_status hone_module_find_needed(const hone_module *module, const char *name, hone_arena *arena,
                                    bool **out_needed) {
    const hone_member *member;
    closure c = {.module = module};
    HONE_TRY(hone_module_pick(module, name, &member));
    c.is_needed = hone_arena_zalloc(arena, (size_t)module->member_count + 1);
    if (!c.is_needed) return HONE_NO_MEMORY("module");
    need(&c, member->name);
    *out_needed = c.is_needed;
    return HONE_OK;
}

static hone_status part(hone_module *module, const char *name, hone_module *to) {
    bool *is_needed;
    moving m;
    HONE_TRY(hone_module_find_needed(module, name, to->arena, &is_needed));
    HONE_TRY(begin(&m, to, module));
    for (uint32_t i = 0; i < module->member_count; i++) {
        if (is_needed[i]) HONE_TRY(move_member(&m, &module->members[i]));
    }
    return HONE_OK;
}

hone_status hone_module_keep(hone_module *module, const char *name) {
    bool *is_needed;
    uint32_t count = 0;
    HONE_TRY(hone_module_find_needed(module, name, module->arena, &is_needed));
    for (uint32_t i = 0; i < module->member_count; i++) {
        if (is_needed[i]) module->members[count++] = module->members[i];
    }
    hone_module_cut(module, count);
    return HONE_OK;
}

void hone_module_drop(hone_module *module, const char *const *names, size_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < module->member_count; i++) {
        bool is_named = false;
        for (size_t n = 0; n < count; n++)
            is_named |= strcmp(names[n], module->members[i].name) == 0;
        if (!is_named) module->members[kept++] = module->members[i];
    }
    hone_module_cut(module, kept);
}

static hone_status merge(hone_module *module, hone_module *with, hone_module *to) {
    moving old, new;
    to->attrs = module->attrs;
    HONE_TRY(begin(&old, to, module));
    HONE_TRY(begin(&new, to, with));
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *newer = hone_module_find(with, module->members[i].name);
        HONE_TRY(newer ? move_member(&new, newer) : move_member(&old, &module->members[i]));
    }
    for (uint32_t i = 0; i < with->member_count; i++) {
        if (hone_module_find(to, with->members[i].name)) continue;
        HONE_TRY(move_member(&new, &with->members[i]));
    }
    return HONE_OK;
}

static hone_status without(hone_module *module, const char *name, hone_module *to) {
    const hone_member *member;
    moving m;
    search s = {.name = name};
    HONE_TRY(hone_module_pick(module, name, &member));
    to->attrs = module->attrs;
    HONE_TRY(begin(&m, to, module));
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *other = &module->members[i];
        if (other == member) continue;
        if (other->graph) see_calls(other->graph, compare, &s);
        if (s.is_found) {
            return HONE_ERROR(HONE_CODE_INVALID, "'%s' calls '%s'", other->name, name);
        }
        HONE_TRY(move_member(&m, other));
    }
    return HONE_OK;
}

static hone_status alone(hone_module *module, const char *name, hone_module *to) {
    const hone_member *member;
    moving m;
    HONE_TRY(hone_module_pick(module, name, &member));
    HONE_TRY(begin(&m, to, module));
    if (member->kind == HONE_MEMBER_EXTERN) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' is an external function", member->name);
    }
    if (member->kind != HONE_MEMBER_FUNC) return move_member(&m, member);
    hone_func *copy = hone_func_copy_deep(to->arena, member->func);
    return copy ? hone_module_add_func(to, copy) : HONE_NO_MEMORY("module");
}

/* ---- each with a module of its own for the result ---- */

static hone_status finish(hone_status st, hone_module *to, hone_module **out_module) {
    if (!st) {
        *out_module = to;
        return HONE_OK;
    }
    hone_module_release(to);
    return st;
}

hone_status hone_module_part(hone_module *module, const char *name, hone_module **out_module) {
    hone_module *to;
    *out_module = NULL;
    HONE_TRY(hone_module_create(&to));
    return finish(part(module, name, to), to, out_module);
}

hone_status hone_module_merge(hone_module *module, hone_module *with, hone_module **out_module) {
    hone_module *to;
    *out_module = NULL;
    HONE_TRY(hone_module_create(&to));
    return finish(merge(module, with, to), to, out_module);
}

hone_status hone_module_with_func(hone_module *module, const hone_func *func,
                                  hone_module **out_module) {
    hone_module *with;
    *out_module = NULL;
    HONE_TRY(hone_module_of_func(func, &with));
    hone_module_freeze(with);
    hone_status st = hone_module_merge(module, with, out_module);
    hone_module_release(with);
    return st;
}

hone_status hone_module_without(hone_module *module, const char *name, hone_module **out_module) {
    hone_module *to;
    *out_module = NULL;
    HONE_TRY(hone_module_create(&to));
    return finish(without(module, name, to), to, out_module);
}

hone_status hone_module_alone(hone_module *module, const char *name, hone_module **out_module) {
    hone_module *to;
    *out_module = NULL;
    HONE_TRY(hone_module_create(&to));
    return finish(alone(module, name, to), to, out_module);
}
