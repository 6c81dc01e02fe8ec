/* ir/text/read/script_parse_stmt.c - statements of tensor programs.
 *
 * p->parent is where the next statement goes. A statement without a suite that still holds what
 * follows it (x: T.int32 = ..., T.attr(...), T.alloc_buffer in a lowered program) moves p->parent
 * inside itself; the end of the suite moves it back.
 */
#include "ir/text/read/script_impl.h"

#include <string.h>

bool script_add_node(script_parser *p, hone_node_kind kind, uint32_t at, hone_node_id *out_node) {
    if (!p->func) return script_fail(p, at, "a statement stands outside of a tensor program");
    *out_node = hone_func_add_node(p->func, kind);
    if (*out_node == HONE_NO_ID) return script_no_memory(p);
    if (p->func->node_count > 4000000) return script_fail(p, at, "this function is too large");
    hone_node *node = hone_func_node(p->func, *out_node);
    const py_place place = py_place_of(&p->places, at);
    node->line = place.line;
    node->column = place.column;
    hone_tree_append(p->func, p->parent, *out_node);
    return true;
}

const char *script_rename_var(script_parser *p, hone_var var, const char *name) {
    p->func->vars[var].name = script_strdup(p, name);
    return p->func->vars[var].name;
}

/* ---- frames ---- */

/* A variable without a type of its own points to what its value points to. */
static void note_pointer(script_parser *p, hone_var var, const hone_expr *value) {
    hone_var_info *info = &p->func->vars[var];
    hone_buffer buffer = HONE_NO_ID;
    if (info->point_scope) return;
    if (value->kind == HONE_EXPR_VAR && p->func->vars[value->u.var].point_scope) {
        info->pointee = p->func->vars[value->u.var].pointee;
        info->point_scope = p->func->vars[value->u.var].point_scope;
        return;
    }
    if (value->kind == HONE_EXPR_VAR) script_buffer_with_data(p, value->u.var, &buffer);
    bool is_address = hone_expr_is_call(value, HONE_INTRIN_ADDRESS_OF) && value->count == 1 &&
                      value->args[0]->kind == HONE_EXPR_LOAD;
    if (is_address) buffer = value->args[0]->u.buffer;
    if (buffer == HONE_NO_ID) return;
    info->pointee = hone_func_buffer(p->func, buffer)->dtype;
    info->point_scope = hone_func_buffer(p->func, buffer)->scope;
}

bool script_open_let(script_parser *p, uint32_t at, hone_var var, const hone_expr *value,
                     py_value *out) {
    hone_node_id node;
    bool is_new = var == HONE_NO_ID;
    if (is_new && !script_new_var(p, "v", value->dtype, &var)) return false;
    if (hone_dtype_is_handle(value->dtype)) note_pointer(p, var, value);
    if (!script_add_node(p, HONE_NODE_LET, at, &node)) return false;
    hone_func_node(p->func, node)->u.let.var = var;
    hone_func_node(p->func, node)->u.let.value = value;
    p->parent = node;
    *out = SCRIPT_VALUE_EXPR(hone_func_var_expr(&p->ir, p->func, var));
    out->is_fresh = is_new;
    return script_check_ir(p, at);
}

/* An environment thread that is launched is the loop variable from here on. */
static bool rebind_thread(script_parser *p, const char *thread, const py_value *now) {
    for (const py_name *n = py_newest(&p->run); n; n = n->before) {
        const py_value *v = &n->value;
        if (v->kind != SCRIPT_THREAD || v->u.s != thread) continue; /* the same text, in memory */
        if (!script_rename_var(p, script_expr_of(now)->u.var, n->name)) return false;
        return script_define(p, n->name, *now);
    }
    return true;
}

static bool open_launch(script_parser *p, uint32_t at, const script_frame *frame, py_value *out) {
    const py_place place = py_place_of(&p->places, at);
    hone_var var = frame->var; /* of T.iter_var */
    hone_range range = {hone_expr_int(&p->ir, frame->value->dtype, 0), frame->value};
    if (var == HONE_NO_ID && !script_new_var(p, frame->text, frame->value->dtype, &var)) {
        return false;
    }
    hone_node_id node = hone_func_add_loop(p->func, var, HONE_LOOP_THREAD, range);
    if (node == HONE_NO_ID) return script_no_memory(p);
    hone_func_node(p->func, node)->u.loop.thread_tag = frame->text;
    hone_func_node(p->func, node)->u.loop.is_launch = true;
    hone_func_node(p->func, node)->line = place.line;
    hone_func_node(p->func, node)->column = place.column;
    hone_tree_append(p->func, p->parent, node);
    p->parent = node;
    *out = SCRIPT_VALUE_EXPR(hone_func_var_expr(&p->ir, p->func, var));
    if (!script_check_ir(p, at)) return false;
    if (frame->node.kind == HONE_VALUE_STRING && !rebind_thread(p, frame->node.u.s, out))
        return false;
    out->is_fresh = true;
    return true;
}

bool script_open_frame(script_parser *p, const py_value *v, py_value *out) {
    const script_frame *frame = script_frame_of(v);
    hone_node_id node;
    *out = (py_value){.kind = PYV_NONE, .at = v->at};
    switch (frame->kind) {
    case SCRIPT_FRAME_LAUNCH:
        return open_launch(p, v->at, frame, out);
    case SCRIPT_FRAME_LET:
        if (!script_open_let(p, v->at, frame->var, frame->value, out)) return false;
        if (frame->type) script_mark_var(p, script_expr_of(out)->u.var, frame->type);
        return true;
    case SCRIPT_FRAME_ATTR:
        for (; frame; frame = frame->inner) {
            if (!script_add_node(p, HONE_NODE_ATTR, v->at, &node)) return false;
            hone_func_node(p->func, node)->u.attr.key = frame->text;
            hone_func_node(p->func, node)->u.attr.node = frame->node;
            hone_func_node(p->func, node)->u.attr.value = frame->value;
            p->parent = node;
        }
        return true;
    case SCRIPT_FRAME_ASSERT:
        if (!script_add_node(p, HONE_NODE_ASSERT, v->at, &node)) return false;
        hone_func_node(p->func, node)->u.eval.value = frame->value;
        hone_func_node(p->func, node)->u.eval.message = frame->text;
        return true;
    case SCRIPT_FRAME_SEQUENTIAL:
        return true;
    default:
        return script_fail(p, v->at, "this needs 'with' and a body");
    }
}

/* ---- blocks ---- */

static void *keep(script_parser *p, const void *items, uint32_t count, size_t bytes) {
    void *copy = script_alloc(p, p->arena, count, bytes);
    if (copy && count) memcpy(copy, items, count * bytes);
    return copy;
}

static bool finish_block(script_parser *p, const script_block *b, const char *name) {
    hone_block *block = script_alloc(p, p->arena, 1, sizeof *block);
    if (!block) return false;
    *block = (hone_block){.name = name,
                          .axis_count = b->axis_count,
                          .read_count = b->read_count,
                          .write_count = b->write_count,
                          .alloc_count = b->alloc_count,
                          .match_count = b->match_count,
                          .reads = b->reads,
                          .writes = b->writes,
                          .annotations = b->annotations,
                          .regions_inferred = !b->has_reads || !b->has_writes};
    block->axes = keep(p, b->axes, b->axis_count, sizeof *b->axes);
    block->allocs = keep(p, b->allocs, b->alloc_count, sizeof *b->allocs);
    block->matches = keep(p, b->matches, b->match_count, sizeof *b->matches);
    const hone_expr *const *bindings = keep(p, b->bindings, b->axis_count, sizeof *b->bindings);
    if (!block->axes || !block->allocs || !block->matches || !bindings) return false;
    hone_node *node = hone_func_node(p->func, b->node);
    node->u.block.block = block;
    node->u.block.bindings = bindings;
    node->u.block.predicate = b->predicate;
    if (!block->regions_inferred) return true;
    if (!script_grow(p, p->scratch, (void **)&p->pending, &p->pending_capacity, p->pending_count,
                     sizeof *p->pending)) {
        return false;
    }
    p->pending[p->pending_count++] =
        (script_pending){.node = b->node, .has_reads = b->has_reads, .has_writes = b->has_writes};
    return true;
}

static bool parse_block(script_parser *p, const py_value *v, const py_node *suite) {
    script_block b = {.outer = p->block};
    hone_node_id parent = p->parent;
    if (!script_add_node(p, HONE_NODE_BLOCK, v->at, &b.node)) return false;
    p->block = &b;
    p->parent = b.node;
    bool ok = script_suite(p, suite, script_parse_statement) &&
              finish_block(p, &b, script_frame_of(v)->text);
    p->block = b.outer;
    p->parent = parent;
    return ok;
}

/* Where T.init is not the first statement of its block (behind a LET, say) it still belongs there:
 * the tree wants it as the first child. */
static bool parse_init(script_parser *p, const py_value *v, const py_node *suite) {
    hone_node_id parent = p->parent, node;
    script_block *b = p->block;
    if (b->has_init) return script_fail(p, v->at, "T.init stands twice in this block");
    for (hone_node_id n = parent; n != b->node; n = hone_func_node(p->func, n)->parent) {
        if (hone_func_node(p->func, n)->kind == HONE_NODE_DECL) continue;
        return script_fail(p, v->at, "T.init stands at the top of its block only");
    }
    b->has_init = true;
    if (!script_add_node(p, HONE_NODE_INIT, v->at, &node)) return false;
    hone_tree_remove(p->func, node);
    hone_tree_prepend(p->func, b->node, node);
    p->parent = node;
    bool ok = script_suite(p, suite, script_parse_statement);
    p->parent = parent;
    return ok;
}

/* ---- with ---- */

static bool parse_with_item(script_parser *p, const py_node *item, py_value *out) {
    if (!script_eval(p, item->base, out)) return false;
    py_value value = *out;
    if (out->kind == SCRIPT_FRAME && script_frame_of(out)->kind != SCRIPT_FRAME_BLOCK &&
        script_frame_of(out)->kind != SCRIPT_FRAME_INIT) {
        if (!script_open_frame(p, out, &value)) return false;
    }
    const py_node *target = item->items[0];
    const char *name = NULL;
    if (!target) return true;
    bool is_nameless = value.kind == SCRIPT_FRAME || value.kind == PYV_NONE;
    if (is_nameless) {
        return script_fail(p, target->at, "this scope has no value that 'as' could name");
    }
    return script_need_name(p, target, "a name", &name) &&
           script_assign(p, name, target->at, &value);
}

/* with T.target(...): what it holds is for no other target than the rest. */
static bool is_target(const py_node *item, const py_value *v) {
    bool is_call = v->kind == PYV_DICT || v->kind == PYV_STRING;
    return is_call && item->base->kind == PY_CALL;
}

static bool parse_with(script_parser *p, const py_node *node) {
    hone_node_id parent = p->parent;
    py_scope *names = py_open_scope(&p->run, false);
    const py_node *suite = script_body(node), *last = node->items[node->count - 2];
    py_value v;
    for (uint32_t i = 0; i + 1 < node->count; i++) {
        if (!parse_with_item(p, node->items[i], &v)) return false;
    }
    bool ok = false;
    if (v.kind == SCRIPT_FRAME && script_frame_of(&v)->kind == SCRIPT_FRAME_BLOCK) {
        ok = parse_block(p, &v, suite);
    } else if (v.kind == SCRIPT_FRAME && script_frame_of(&v)->kind == SCRIPT_FRAME_INIT) {
        ok = parse_init(p, &v, suite);
    } else if (v.kind == SCRIPT_FRAME || v.kind == SCRIPT_BUFFER || is_target(last, &v)) {
        ok = script_suite(p, suite, script_parse_statement);
    } else {
        if (v.kind == SCRIPT_PATH) {
            return script_fail(p, v.at,
                               "expected a scope behind 'with'; it is called: with %s():", v.u.s);
        }
        return script_fail(p, v.at, "expected a block or another scope behind 'with', found %s",
                           script_kind_name(&v));
    }
    p->parent = parent;
    p->run.scope = names;
    return ok;
}

/* ---- loops ---- */

static bool open_loops(script_parser *p, uint32_t at, const script_loop *loop,
                       const char *const *names) {
    const py_place place = py_place_of(&p->places, at);
    for (uint32_t i = 0; i < loop->count; i++) {
        hone_var var = HONE_NO_ID;
        hone_dtype dtype = loop->ranges[i].extent->dtype;
        if (!script_new_var(p, names[i], dtype, &var)) return false;
        hone_node_id node = hone_func_add_loop(p->func, var, loop->kind, loop->ranges[i]);
        if (node == HONE_NO_ID) return script_no_memory(p);
        hone_node *n = hone_func_node(p->func, node);
        n->line = place.line;
        n->column = place.column;
        n->u.loop.thread_tag = loop->thread_tag;
        n->u.loop.annotations = loop->annotations;
        hone_tree_append(p->func, p->parent, node);
        p->parent = node;
        const hone_expr *e = hone_func_var_expr(&p->ir, p->func, var);
        if (loop->step) {
            e = script_fold_binary(&p->ir, HONE_OP_MUL, e, loop->step);
            e = script_fold_binary(&p->ir, HONE_OP_ADD, loop->start, e);
        }
        if (!script_check_ir(p, at) || !script_define(p, names[i], SCRIPT_VALUE_EXPR(e))) {
            return false;
        }
    }
    return true;
}

/* "*i, j" of four loops: i_0, i_1, i_2, j. */
static bool spread_names(script_parser *p, const char **names, uint32_t *io_count, uint32_t most,
                         uint32_t star, uint32_t loops) {
    if (loops + 1 < *io_count || loops > most) return true; /* the count is wrong */
    uint32_t taken = loops + 1 - *io_count;
    const char *stem = names[star];
    for (uint32_t i = *io_count; i-- > star + 1;)
        names[i + taken - 1] = names[i];
    for (uint32_t i = 0; i < taken; i++) {
        names[star + i] = hone_arena_printf(p->arena, "%s_%u", stem, i);
        if (!names[star + i]) return script_no_memory(p);
    }
    *io_count = loops;
    return true;
}

bool script_define_spread(script_parser *p, const char *name, const char *const *parts,
                          uint32_t count) {
    py_value *items = script_alloc(p, p->scratch, count, sizeof *items);
    if (!items) return false;
    for (uint32_t i = 0; i < count; i++) {
        const py_value *item = script_lookup(p, parts[i]);
        items[i] = item ? *item : (py_value){.kind = PYV_NONE};
    }
    return script_define(p, name, (py_value){.kind = PYV_TUPLE, .count = count, .u.items = items});
}

static bool parse_for(script_parser *p, const py_node *node) {
    const char *names[SCRIPT_MAX_GRID], *stem = NULL;
    uint32_t count = 0, star = HONE_NO_ID, written = 0, at = node->at;
    py_scope *names_around = py_open_scope(&p->run, false);
    hone_node_id parent = p->parent;
    py_value v;
    if (!script_target_names(p, node->items[0], "a loop variable", SCRIPT_MAX_GRID, names, &count,
                             &star) ||
        !script_eval(p, node->base, &v)) {
        return false;
    }
    if (node->items[2]) {
        return script_fail(p, node->items[2]->mark, "'else' of a loop is not part of TVMScript");
    }
    if (v.kind != SCRIPT_LOOP) {
        return script_fail(p, v.at, "expected range, T.grid, T.serial or another loop, found %s",
                           script_kind_name(&v));
    }
    written = count;
    bool is_tuple = count == 1 && star == HONE_NO_ID && script_loop_of(&v)->count > 1;
    if (is_tuple) star = 0; /* one name for all of T.grid is a tuple */
    if (star != HONE_NO_ID) {
        stem = names[star];
        if (!spread_names(p, names, &count, SCRIPT_MAX_GRID, star, script_loop_of(&v)->count))
            return false;
    }
    if (script_loop_of(&v)->count != count) {
        return script_fail(p, v.at, "%u loop variables for %u extent%s", count,
                           script_loop_of(&v)->count, script_loop_of(&v)->count == 1 ? "" : "s");
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < i && names[i][0] != '_'; k++) {
            if (strcmp(names[i], names[k]) == 0)
                return script_fail(p, at, "two loop variables are named '%s'", names[i]);
        }
    }
    bool ok = open_loops(p, at, script_loop_of(&v), names) &&
              (!stem || script_define_spread(p, stem, names + star, count + 1 - written)) &&
              script_suite(p, node->items[1], script_parse_statement);
    p->parent = parent;
    p->run.scope = names_around;
    return ok;
}

/* ---- if, while ---- */

static bool scoped_suite(script_parser *p, const py_node *suite, hone_node_id node) {
    hone_node_id parent = p->parent;
    py_scope *around = py_open_scope(&p->run, false);
    p->parent = node;
    bool ok = script_suite(p, suite, script_parse_statement);
    p->parent = parent;
    p->run.scope = around;
    return ok;
}

static bool parse_condition(script_parser *p, const py_node *node, const char *what,
                            const hone_expr **out) {
    py_value v;
    return script_eval(p, node, &v) && script_to_condition(p, &v, what, out);
}

/* The condition and suite from i on, and the branches behind them. */
static bool parse_branches(script_parser *p, const py_node *node, uint32_t i) {
    hone_node_id id, other, parent = p->parent;
    const hone_expr *cond = NULL;
    if (!parse_condition(p, node->items[i], "the condition of an if", &cond) ||
        !script_add_node(p, HONE_NODE_IF, node->items[i + 1]->mark, &id)) {
        return false;
    }
    hone_func_node(p->func, id)->u.eval.value = cond;
    if (!scoped_suite(p, node->items[i + 1], id)) return false;
    if (i + 2 >= node->count) return true;
    bool is_elif = i + 3 < node->count;
    const py_node *suite = node->items[is_elif ? i + 3 : i + 2];
    p->parent = id;
    bool ok = script_add_node(p, HONE_NODE_ELSE, suite->mark, &other);
    if (ok && is_elif) {
        p->parent = other;
        ok = script_enter(p, suite->mark) && parse_branches(p, node, i + 2);
        p->run.depth--;
    } else if (ok) {
        ok = scoped_suite(p, suite, other);
    }
    p->parent = parent;
    return ok;
}

static bool parse_if(script_parser *p, const py_node *node) {
    return parse_branches(p, node, 0);
}

static bool parse_while(script_parser *p, const py_node *node) {
    hone_node_id id;
    const hone_expr *cond = NULL;
    if (!parse_condition(p, node->base, "the condition of a while", &cond) ||
        !script_add_node(p, HONE_NODE_WHILE, node->at, &id)) {
        return false;
    }
    if (node->items[1]) {
        return script_fail(p, node->items[1]->mark, "'else' of a loop is not part of TVMScript");
    }
    hone_func_node(p->func, id)->u.eval.value = cond;
    return scoped_suite(p, node->items[0], id);
}

/* ("ValueError", ["the ", "parts"]), or the parts alone: the message is all of them in a row. */
static bool assert_parts(script_parser *p, const py_value *v, const char **out_kind,
                         const char **out_message, const hone_value **out_parts) {
    if (v->kind == PYV_TUPLE && v->count == 2 && v->u.items[1].kind == PYV_LIST) {
        if (!script_to_string(p, &v->u.items[0], out_kind) ||
            !(*out_kind = script_strdup(p, *out_kind))) {
            return false;
        }
        v = &v->u.items[1];
    }
    hone_str whole = {0};
    hone_value *list = script_alloc(p, p->arena, 1, sizeof *list);
    if (!list || !script_to_value(p, v, list)) return false;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->u.items[i].kind != HONE_VALUE_STRING) {
            hone_str_deinit(&whole);
            return script_fail(p, v->at, "expected strings that make the message");
        }
        hone_str_append(&whole, list->u.items[i].u.s);
    }
    *out_message = whole.failed ? NULL : hone_arena_strdup(p->scratch, hone_str_text(&whole));
    *out_parts = list;
    hone_str_deinit(&whole);
    return *out_message || script_no_memory(p);
}

static bool parse_assert(script_parser *p, const py_node *node) {
    hone_node_id id;
    const hone_expr *cond = NULL;
    const char *message = "", *kind = NULL;
    const hone_value *parts = NULL;
    if (!parse_condition(p, node->base, "what is asserted", &cond)) return false;
    if (node->items[0]) {
        py_value v;
        if (!script_eval(p, node->items[0], &v)) return false;
        bool many = script_is_list(&v);
        if (many ? !assert_parts(p, &v, &kind, &message, &parts)
                 : !script_to_string(p, &v, &message)) {
            return false;
        }
    }
    if (!script_add_node(p, HONE_NODE_ASSERT, node->at, &id)) return false;
    message = script_strdup(p, message);
    hone_func_node(p->func, id)->u.eval.value = cond;
    hone_func_node(p->func, id)->u.eval.message = message;
    hone_func_node(p->func, id)->u.eval.error_kind = kind;
    hone_func_node(p->func, id)->u.eval.parts = parts;
    return message != NULL;
}

/* return x is T.ret(x); a bare return at the end says nothing. */
static bool parse_return(script_parser *p, const py_node *node) {
    hone_node_id id;
    py_value v;
    const hone_expr *e = NULL;
    if (!node->base) return true;
    if (!script_eval(p, node->base, &v)) return false;
    if (v.kind == SCRIPT_BUFFER) {
        return script_fail(p, v.at,
                           "a tensor program returns no buffer; its results are those of its "
                           "parameters that it writes");
    }
    if (!script_to_expr(p, &v, &e)) return false;
    e = hone_expr_call(&p->ir, HONE_DTYPE_I32, HONE_INTRIN_RETURN, 1, &e);
    if (!script_check_ir(p, node->at) || !script_add_node(p, HONE_NODE_EVAL, node->at, &id)) {
        return false;
    }
    hone_func_node(p->func, id)->u.eval.value = e;
    return true;
}

/* Words of Python that stand for nothing in a program. */
static bool refuse(script_parser *p, const py_node *node) {
    const char *word = node->kind == PY_STATEMENT ? node->name
                       : node->kind == PY_DEL     ? "del"
                       : node->kind == PY_FROM    ? "from"
                       : node->kind == PY_IMPORT  ? "import"
                       : node->kind == PY_CLASS   ? "class"
                                                  : "def";
    bool is_foreign = node->kind != PY_CLASS && node->kind != PY_DEF;
    return script_fail(p, node->at, "expected an expression, found '%s'%s", word,
                       is_foreign ? ", which is no part of TVMScript" : "");
}

bool script_parse_statement(script_parser *p, const py_node *node) {
    hone_node_id id;
    p->budget = SCRIPT_STATEMENT_BUDGET;
    switch (node->kind) {
    case PY_FOR:
        return parse_for(p, node);
    case PY_WITH:
        return parse_with(p, node);
    case PY_IF:
        return parse_if(p, node);
    case PY_WHILE:
        return parse_while(p, node);
    case PY_ASSERT:
        return parse_assert(p, node);
    case PY_BREAK:
        return script_add_node(p, HONE_NODE_BREAK, node->at, &id);
    case PY_CONTINUE:
        return script_add_node(p, HONE_NODE_CONTINUE, node->at, &id);
    case PY_RETURN:
        return parse_return(p, node);
    case PY_PASS:
        return true;
    case PY_DEF:
        return node->count_ahead ? script_parse_inner_macro(p, node) : refuse(p, node);
    case PY_VALUE:
    case PY_ASSIGN:
    case PY_AUGMENT:
    case PY_ANNOTATE:
        return script_parse_simple(p, node);
    default:
        return refuse(p, node);
    }
}
