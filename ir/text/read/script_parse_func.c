/* ir/text/read/script_parse_func.c - a tensor program: parameters, body, the root block that the
 * text may leave out, and the regions that it may leave to us. */
#include "ir/region/region.h"
#include "ir/text/read/script_impl.h"

#include <string.h>

/* ---- parameters ---- */

static bool add_param(script_parser *p, hone_var var, hone_buffer buffer) {
    if (!script_grow(p, p->scratch, (void **)&p->params, &p->param_capacity, p->param_count,
                     sizeof *p->params)) {
        return false;
    }
    p->params[p->param_count++] = (hone_param){.var = var, .buffer = buffer};
    return true;
}

/* The variable that a parameter in front brought in: T.Buffer(("n",)), by a TypeVar or without. */
static hone_var var_in_front(const script_parser *p, const char *name, hone_dtype dtype) {
    const py_value *known = script_lookup(p, name);
    hone_var var = HONE_NO_ID;
    if (!known) return HONE_NO_ID;
    if (known->kind == SCRIPT_NEWVAR) var = script_size_of(p, name);
    if (known->kind == SCRIPT_EXPR && script_expr_of(known)->kind == HONE_EXPR_VAR)
        var = script_expr_of(known)->u.var;
    bool fits = var != HONE_NO_ID && hone_dtype_equal(p->func->vars[var].dtype, dtype);
    return fits ? var : HONE_NO_ID;
}

static bool add_scalar_param(script_parser *p, const char *name, hone_dtype dtype,
                             const py_value *type) {
    hone_var var = var_in_front(p, name, dtype);
    if (var == HONE_NO_ID && !script_new_var(p, name, dtype, &var)) return false;
    if (type) script_mark_var(p, var, type);
    const hone_expr *e = hone_func_var_expr(&p->ir, p->func, var);
    return script_check_ir(p, p->run.at) && script_define(p, name, SCRIPT_VALUE_EXPR(e)) &&
           add_param(p, var, HONE_NO_ID);
}

/* `n: int`: Python's types say no width. */
static bool check_scalar_type(script_parser *p, const char *name, const py_node *type) {
    static const char *const types[][2] = {
        {"int",   "int32"  },
        {"float", "float32"},
        {"bool",  "bool"   }
    };
    const char *word = type->name;
    if (type->kind != PY_NAME) return true;
    for (size_t i = 0; i < HONE_COUNT(types); i++) {
        if (strcmp(types[i][0], word) != 0) continue;
        return script_fail(p, type->at,
                           "parameter '%s' has Python's type '%s'; did you mean 'T.%s'?", name,
                           types[i][0], types[i][1]);
    }
    hone_dtype dtype;
    bool is_bare = !script_lookup(p, word) && hone_dtype_parse(word, &dtype);
    if (!is_bare) return true;
    return script_fail(p, type->at, "undefined name '%s'; did you mean 'T.%s'?", word, word);
}

static bool parse_param(script_parser *p, const py_node *param) {
    const char *name = param->name;
    py_value type;
    if (!check_scalar_type(p, name, param->items[0]) || !script_eval(p, param->items[0], &type)) {
        return false;
    }
    if (type.kind == SCRIPT_NEWVAR) {
        return add_scalar_param(p, name, script_var_of(&type)->dtype, &type);
    }
    if (type.kind == SCRIPT_BUFFER && type.is_fresh) {
        return script_name_buffer(p, script_buffer_of(&type), name) &&
               script_define(p, name, SCRIPT_VALUE_BUFFER(script_buffer_of(&type))) &&
               add_param(p, HONE_NO_ID, script_buffer_of(&type));
    }
    hone_dtype dtype;
    if (type.kind == SCRIPT_PATH && strcmp(type.u.s, "T.Buffer") == 0) {
        return script_fail(p, type.at,
                           "T.Buffer wants a shape and a dtype, as in "
                           "T.Buffer((16,), \"float32\")");
    }
    if (!script_to_dtype(p, &type, &dtype)) return false;
    return add_scalar_param(p, name, dtype, NULL);
}

static bool parse_params(script_parser *p, const py_node *def) {
    if (!script_check_params(p, def, "': T.Buffer(...)', ': T.handle' or another")) return false;
    for (uint32_t i = def->count_ahead; i + 2 < def->count; i++) {
        if (p->param_count > 4096) return script_fail(p, def->items[i]->at, "too many parameters");
        p->budget = SCRIPT_STATEMENT_BUDGET;
        if (!parse_param(p, def->items[i])) return false;
    }
    const py_node *result = def->items[def->count - 2];
    py_value type;
    if (!result) return true;
    if (!script_eval(p, result, &type)) return false;
    bool is_type = type.kind == SCRIPT_NEWVAR || type.kind == SCRIPT_PATH ||
                   type.kind == SCRIPT_DTYPE || type.kind == PYV_STRING;
    if (!is_type) return true;
    return type.kind == SCRIPT_NEWVAR ? (p->func->result = script_var_of(&type)->dtype, true)
                                      : script_to_dtype(p, &type, &p->func->result);
}

/* ---- form ---- */

static bool names_block(void *ctx, const py_node *node) {
    (void)ctx;
    if (node->kind != PY_ATTRIBUTE) return false;
    return strcmp(node->name, "block") == 0 || strcmp(node->name, "sblock") == 0 ||
           strncmp(node->name, "sblock_alloc", 12) == 0;
}

/* The only statement of the function, when it can be its root block. */
static hone_node_id written_root(const script_parser *p, const script_block *root) {
    hone_node_id first = hone_func_node(p->func, HONE_NODE_TOP)->first;
    if (root->alloc_count || first == HONE_NO_ID) return HONE_NO_ID;
    const hone_node *node = hone_func_node(p->func, first);
    if (node->kind != HONE_NODE_BLOCK || node->next != HONE_NO_ID) return HONE_NO_ID;
    bool plain = node->u.block.block->axis_count == 0 && !node->u.block.predicate;
    return plain ? first : HONE_NO_ID;
}

static bool make_root(script_parser *p, const script_block *root) {
    hone_node_id node = written_root(p, root);
    hone_block *block = NULL;
    if (node != HONE_NO_ID) {
        block = hone_block_copy(p->arena, hone_func_node(p->func, node)->u.block.block);
        if (!block) return script_no_memory(p);
        block->is_written = true;
        hone_func_node(p->func, node)->u.block.block = block;
        return true;
    }
    node = hone_func_add_node(p->func, HONE_NODE_BLOCK);
    block = script_alloc(p, p->arena, 1, sizeof *block);
    hone_buffer *allocs = script_alloc(p, p->arena, root->alloc_count, sizeof *allocs);
    if (node == HONE_NO_ID || !block || !allocs) return script_no_memory(p);
    if (root->alloc_count) memcpy(allocs, root->allocs, root->alloc_count * sizeof *allocs);
    *block = (hone_block){.name = "root", .alloc_count = root->alloc_count, .allocs = allocs};
    hone_func_node(p->func, node)->u.block.block = block;
    hone_tree_move_children(p->func, HONE_NODE_TOP, node);
    hone_tree_append(p->func, HONE_NODE_TOP, node);
    return true;
}

/* ---- regions ---- */

static bool finish_regions(script_parser *p) {
    hone_node_id root = hone_func_root_block(p->func);
    hone_region_inference *inference;
    if (!script_check(p, 0, hone_region_inference_begin(p->func, false, p->arena, &inference)))
        return false;
    for (uint32_t i = 0; i < p->pending_count; i++) { /* inner blocks come first */
        const script_pending *pending = &p->pending[i];
        hone_block *block =
            hone_block_copy(p->arena, hone_func_node(p->func, pending->node)->u.block.block);
        if (!block) return script_no_memory(p);
        if (pending->node == root) {
            block->regions_inferred = false; /* the root block has none */
        } else {
            const hone_block declared = *block;
            hone_status st = hone_region_inference_next(inference, pending->node, block);
            if (!script_check(p, 0, st)) return false;
            if (pending->has_reads) {
                block->reads = declared.reads;
                block->read_count = declared.read_count;
            }
            if (pending->has_writes) {
                block->writes = declared.writes;
                block->write_count = declared.write_count;
            }
        }
        hone_func_node(p->func, pending->node)->u.block.block = block;
    }
    return true;
}

static void mark_size(script_parser *p, const hone_expr *e, bool is_size) {
    if (!e) return;
    if (e->kind == HONE_EXPR_VAR) {
        p->func->vars[e->u.var].is_size = is_size;
    } else if (e->kind == HONE_EXPR_BINARY && e->op == HONE_OP_MUL) {
        mark_size(p, e->args[0], is_size);
        mark_size(p, e->args[1], is_size);
    }
}

/* A factor of the extents of a parameter is a size: at least 1. Strides and offsets are none,
 * though TypeVar may have brought them in. */
static void mark_sizes(script_parser *p) {
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (p->params[i].buffer == HONE_NO_ID) continue;
        const hone_buffer_info *info = hone_func_buffer(p->func, p->params[i].buffer);
        mark_size(p, info->elem_offset, false);
        for (uint32_t d = 0; info->strides && d < info->rank; d++)
            mark_size(p, info->strides[d], false);
    }
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (p->params[i].buffer == HONE_NO_ID) continue;
        const hone_buffer_info *info = hone_func_buffer(p->func, p->params[i].buffer);
        for (uint32_t d = 0; d < info->rank; d++)
            mark_size(p, info->shape[d], true);
    }
}

/* ---- the function ---- */

/* "global_symbol" names the function, unless no function could be written with that name; one that
 * only repeats the name says nothing. */
static bool settle_name(script_parser *p) {
    const char *symbol = hone_attrs_string(&p->func->attrs, "global_symbol", NULL);
    if (!symbol) return true;
    bool is_bare = p->module_name == NULL;
    if (is_bare && script_can_be_name(symbol)) p->func->name = symbol;
    if (strcmp(symbol, p->func->name) != 0) return true;
    return hone_attrs_without(p->arena, &p->func->attrs, "global_symbol", &p->func->attrs) ||
           script_no_memory(p);
}

static bool parse_body(script_parser *p, const py_node *def, const script_call *options) {
    script_block root = {.node = HONE_NO_ID};
    bool s_tir = p->default_s_tir,
         has_blocks = py_search(script_body(def), names_block, NULL) != NULL;
    if (!script_option(p, options, "private", &p->func->is_private) ||
        !script_option(p, options, "s_tir", &s_tir)) {
        return false;
    }
    p->root = &root;
    p->func->is_scheduled_form = s_tir || has_blocks;
    p->in_signature = true;
    bool ok = parse_params(p, def);
    p->in_signature = false;
    p->signature_vars = p->func->var_count;
    ok = ok && script_suite(p, script_body(def), script_parse_statement);
    p->root = NULL;
    if (!ok) return false;
    hone_param *params = script_alloc(p, p->arena, p->param_count, sizeof *params);
    if (!params) return false;
    if (p->param_count) memcpy(params, p->params, p->param_count * sizeof *params);
    p->func->params = params;
    p->func->param_count = p->param_count;
    if (p->func->is_scheduled_form && !make_root(p, &root)) return false;
    if (has_blocks && !p->is_classic && !script_lift_allocs(p)) return false;
    mark_sizes(p);
    return settle_name(p) && finish_regions(p);
}

bool script_parse_func(script_parser *p, const py_node *def, const script_call *options) {
    py_scope *around = py_open_scope(&p->run, false);
    const char *name = script_strdup(p, def->name);
    p->func = name ? hone_func_create(p->arena, name) : NULL;
    if (!p->func) return script_no_memory(p);
    p->def = def;
    p->parent = HONE_NODE_TOP;
    p->block = NULL;
    p->params = NULL;
    p->param_count = p->param_capacity = 0;
    p->pending_count = 0;
    p->value_budget = 1000000;
    p->budget = SCRIPT_STATEMENT_BUDGET;
    bool ok = parse_body(p, def, options) &&
              script_check(p, script_name_at(p, def), hone_module_add_func(p->module, p->func));
    p->func = NULL;
    p->def = NULL;
    p->run.scope = around;
    return ok;
}
