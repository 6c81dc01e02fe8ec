#include <hone/pass.h>

#include <string.h>

#include "include/api.h"
#include "ir/func_rewrite.h"
#include "ir/module.h"
#include "ir/verify.h"
#include "support/alloc.h"

static const hone_module *module_of(const hone_program *program) {
    return (const hone_module *)program;
}

/* Modules count references, and a frozen one is shared by those made of it. */
static hone_module *shared(const hone_program *program) {
    union {
        const hone_program *from;
        hone_module *to;
    } cast = {.from = program};
    return cast.to;
}

static hone_status pick(const hone_program *program, const char *function, hone_func **out) {
    const hone_member *member;
    HONE_TRY(hone_module_pick(module_of(program), function, &member));
    *out = member->func;
    if (member->kind == HONE_MEMBER_FUNC) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' is no tensor program", member->name);
}

/* ---- making modules of modules ---- */

static hone_status add_member(hone_module *to, const hone_member *member) {
    switch (member->kind) {
    case HONE_MEMBER_FUNC:
        return hone_module_add_func(to, member->func);
    case HONE_MEMBER_GRAPH:
        return hone_module_add_graph(to, member->graph);
    case HONE_MEMBER_EXTERN:
        return hone_module_add_extern(to, member->name);
    }
    return HONE_OK;
}

static hone_status copy_constants(hone_module *to, const hone_module *from) {
    for (uint32_t i = 0; i < from->constant_count; i++) {
        hone_tensor *copy;
        uint32_t index;
        HONE_TRY(hone_tensor_clone(from->constants[i], &copy));
        HONE_TRY(hone_module_add_constant(to, copy, &index));
    }
    return HONE_OK;
}

/* The members of a program, in order; those that `with` has too come from there, then its others.
 * All of it is shared. */
static hone_status join(const hone_program *program, const hone_module *with, hone_module *to) {
    const hone_module *from = module_of(program);
    to->attrs = from->attrs;
    HONE_TRY(hone_module_borrow(to, shared(program)));
    HONE_TRY(copy_constants(to, from));
    for (uint32_t i = 0; i < from->member_count; i++) {
        const hone_member *newer = hone_module_find(with, from->members[i].name);
        HONE_TRY(add_member(to, newer ? newer : &from->members[i]));
    }
    for (uint32_t i = 0; i < with->member_count; i++) {
        if (hone_module_find(to, with->members[i].name)) continue;
        HONE_TRY(add_member(to, &with->members[i]));
    }
    return HONE_OK;
}

/* Takes with. */
static hone_status replace(const hone_program *program, hone_module *with,
                           hone_program **out_program) {
    hone_module *to = NULL;
    hone_module_freeze(with);
    hone_status st = hone_module_create(&to);
    if (!st) st = hone_module_borrow(to, with);
    if (!st) st = join(program, with, to);
    hone_module_release(with);
    if (st) {
        hone_module_release(to);
        return st;
    }
    hone_module_freeze(to);
    *out_program = (hone_program *)to;
    return HONE_OK;
}

hone_error *hone_program_get(const hone_program *program, const char *function,
                             hone_program **out_program) {
    hone_func *func;
    hone_module *module = NULL;
    *out_program = NULL;
    hone_status st = pick(program, function, &func);
    if (!st) st = hone_module_of_func(func, &module);
    if (st) return hone_api_error(st);
    hone_module_freeze(module);
    *out_program = (hone_program *)module;
    return NULL;
}

hone_error *hone_program_update(const hone_program *program, const hone_program *with,
                                hone_program **out_program) {
    *out_program = NULL;
    const hone_module *newer = module_of(with);
    for (uint32_t i = 0; i < newer->member_count; i++) {
        if (newer->members[i].kind == HONE_MEMBER_FUNC) continue;
        return hone_api_error(
            HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' is no tensor program", newer->members[i].name));
    }
    return hone_api_error(replace(program, hone_module_retain(shared(with)), out_program));
}

/* ---- attributes ---- */

hone_error *hone_program_get_attribute(const hone_program *program, const char *function,
                                       const char *key, char **out_value) {
    hone_func *func;
    hone_str text = {0};
    *out_value = NULL;
    hone_status st = pick(program, function, &func);
    if (st) return hone_api_error(st);
    const hone_value *value = hone_attrs_find(&func->attrs, key);
    const char *word = hone_attrs_string(&func->attrs, key, NULL);
    if (!value) return NULL;
    if (word)
        hone_str_append(&text, word);
    else
        hone_str_printf(&text, "%lld", (long long)hone_attrs_int(&func->attrs, key, 0));
    return hone_api_error(hone_api_take_text(&text, out_value));
}

static hone_status set_attribute(hone_module *module, const char *key, const char *value) {
    hone_func *func = module->members[0].func;
    const char *name = hone_arena_strdup(module->arena, key);
    const char *word = hone_arena_strdup(module->arena, value ? value : "");
    if (!name || !word) return HONE_ERROR(HONE_CODE_NO_MEMORY, "attribute");
    bool done = value ? hone_attrs_with(module->arena, &func->attrs, name,
                                        HONE_VALUE_OF_STRING(word), &func->attrs)
                      : hone_attrs_without(module->arena, &func->attrs, name, &func->attrs);
    return done ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "attribute");
}

/* A private copy of one function, to change. */
static hone_status take_copy(const hone_program *program, const char *function,
                             hone_module **out_module) {
    hone_func *func;
    *out_module = NULL;
    HONE_TRY(pick(program, function, &func));
    return hone_module_of_func(func, out_module);
}

hone_error *hone_program_set_attribute(const hone_program *program, const char *function,
                                       const char *key, const char *value,
                                       hone_program **out_program) {
    hone_module *module;
    *out_program = NULL;
    hone_status st = take_copy(program, function, &module);
    if (st) return hone_api_error(st);
    st = set_attribute(module, key, value);
    if (!st) return hone_api_error(replace(program, module, out_program));
    hone_module_release(module);
    return hone_api_error(st);
}

/* ---- visitors ---- */

static const char *kind_name(hone_node_kind kind) {
    static const char *const names[] = {
        [HONE_NODE_TOP] = "function",  [HONE_NODE_FOR] = "for",
        [HONE_NODE_BLOCK] = "block",   [HONE_NODE_INIT] = "init",
        [HONE_NODE_STORE] = "store",   [HONE_NODE_EVAL] = "evaluate",
        [HONE_NODE_IF] = "if",         [HONE_NODE_ELSE] = "else",
        [HONE_NODE_WHILE] = "while",   [HONE_NODE_LET] = "let",
        [HONE_NODE_ASSERT] = "assert", [HONE_NODE_ALLOC] = "alloc",
        [HONE_NODE_DECL] = "declare",  [HONE_NODE_ATTR] = "attr",
        [HONE_NODE_BREAK] = "break",   [HONE_NODE_CONTINUE] = "continue"};
    return names[kind];
}

static const char *statement_name(const hone_func *func, const hone_node *node) {
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_TOP:
        return func->name;
    case HONE_NODE_FOR:
        return func->vars[node->u.loop.var].name;
    case HONE_NODE_BLOCK:
        return node->u.block.block->name;
    case HONE_NODE_STORE:
        return hone_func_buffer(func, node->u.store.buffer)->name;
    case HONE_NODE_LET:
        return func->vars[node->u.let.var].name;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
        return hone_func_buffer(func, node->u.alloc.buffer)->name;
    default:
        return NULL;
    }
}

static void visit_statements(const hone_func *func, hone_node_id at, unsigned depth,
                             const hone_visitor *visitor) {
    const hone_node *node = hone_func_node(func, at);
    visitor->statement(visitor->context, depth, kind_name((hone_node_kind)node->kind),
                       statement_name(func, node));
    for (hone_node_id c = node->first; c != HONE_NO_ID; c = hone_func_node(func, c)->next)
        visit_statements(func, c, depth + 1, visitor);
}

static void visit_term(void *ctx, hone_node_id at, const hone_expr *e) {
    const hone_visitor *visitor = ctx;
    (void)at;
    visitor->term(visitor->context, (const hone_term *)e);
}

hone_error *hone_program_visit(const hone_program *program, const char *function,
                               const hone_visitor *visitor) {
    hone_func *func;
    hone_status st = pick(program, function, &func);
    if (st) return hone_api_error(st);
    hone_visitor copy = *visitor;
    if (copy.statement) visit_statements(func, 0, 0, &copy);
    if (copy.term) hone_tree_walk_exprs(func, 0, true, visit_term, &copy);
    return NULL;
}

/* ---- mutators ---- */

typedef struct mutation {
    hone_mutator mutator;
    void *context;
} mutation;

static const hone_expr *mutate(void *ctx, hone_ir *ir, const hone_expr *e) {
    const mutation *m = ctx;
    const hone_term *made = m->mutator(m->context, (hone_terms *)ir, (const hone_term *)e);
    if (!made) hone_ir_fail(ir, HONE_ERROR(HONE_CODE_INVALID, "the mutator returned NULL"));
    return (const hone_expr *)made;
}

hone_error *hone_program_rewrite(const hone_program *program, const char *function,
                                 hone_mutator mutator, void *context, hone_program **out_program) {
    hone_module *module;
    *out_program = NULL;
    hone_status st = take_copy(program, function, &module);
    if (st) return hone_api_error(st);
    hone_func *func = module->members[0].func;
    mutation m = {mutator, context};
    st = hone_func_rewrite(func, mutate, &m);
    if (!st) st = hone_check_func(func);
    if (!st) return hone_api_error(replace(program, module, out_program));
    hone_module_release(module);
    return hone_api_error(st);
}
