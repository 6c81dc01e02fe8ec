/* ir/identity/canon_graph.c - the canonical serialisation of graph programs. */
#include "ir/identity/canon_impl.h"
#include "ir/identity/structural.h"

enum { MAX_CALLEE_DEPTH = 16 }; /* deeper ones (and cycles) count by name */

static char bind_letter(hone_gbind_kind kind) {
    switch (kind) {
    case HONE_GBIND_CALL:
        return 'o';
    case HONE_GBIND_CALL_TIR:
        return 't';
    case HONE_GBIND_CALL_DPS:
        return 'd';
    case HONE_GBIND_CALL_FUNC:
        return 'f';
    case HONE_GBIND_CALL_PACKED:
        return 'p';
    case HONE_GBIND_ARG:
        return '=';
    case HONE_GBIND_TUPLE_GET:
        return 'g';
    case HONE_GBIND_MATCH_CAST:
        return 'm';
    case HONE_GBIND_IF:
        return '?';
    }
    return 'z';
}

static char sinfo_letter(hone_sinfo_kind kind) {
    switch (kind) {
    case HONE_SINFO_OBJECT:
        return 'o';
    case HONE_SINFO_TENSOR:
        return 't';
    case HONE_SINFO_SHAPE:
        return 's';
    case HONE_SINFO_PRIM:
        return 'p';
    case HONE_SINFO_TUPLE:
        return 'u';
    case HONE_SINFO_CALLABLE:
        return 'c';
    }
    return 'z';
}

static void write_sinfo(canon *c, const hone_sinfo *info) {
    canon_mark_at(c, "type of a value", NULL, NULL);
    if (!info) {
        canon_byte(c, 'N');
        return;
    }
    canon_byte(c, (uint8_t)sinfo_letter(info->kind));
    canon_dtype(c, info->dtype);
    canon_int(c, info->rank);
    canon_byte(c, info->shape ? 'S' : '-');
    for (int32_t i = 0; info->shape && i < info->rank; i++) {
        canon_expr(c, "extent of a value", info->shape[i]);
    }
    canon_uint(c, info->field_count);
    for (uint32_t i = 0; i < info->field_count; i++)
        write_sinfo(c, info->fields[i]);
}

/* Weights count by their content. */
static void write_constant(canon *c, uint32_t index) {
    canon_mark_at(c, "constant", NULL, NULL);
    if (!c->module || index >= c->module->constant_count || !c->module->constants[index]) {
        canon_byte(c, 'z');
        canon_uint(c, index);
        return;
    }
    const hone_tensor *tensor = c->module->constants[index];
    canon_dtype(c, tensor->dtype);
    canon_uint(c, (uint64_t)tensor->rank);
    for (int32_t i = 0; i < tensor->rank; i++)
        canon_int(c, tensor->shape[i]);
    hone_hash128 hash = hone_hash128_bytes(tensor->data, hone_tensor_bytes(tensor));
    for (int i = 0; i < 8; i++)
        canon_byte(c, (uint8_t)(hash.lo >> (8 * i)));
    for (int i = 0; i < 8; i++)
        canon_byte(c, (uint8_t)(hash.hi >> (8 * i)));
}

static hone_hash128 graph_hash_at(const hone_module *module, const hone_graph_func *graph,
                                  uint32_t depth) {
    canon c;
    canon_init(&c, false);
    c.depth = depth;
    canon_write_graph(&c, module, graph);
    hone_hash128 hash = canon_digest(&c);
    canon_deinit(&c);
    return hash;
}

/* A function of the module counts by what it does, not by its name. */
static void write_callee(canon *c, const char *name) {
    canon_mark_at(c, "called function", NULL, name);
    const hone_member *member = c->module && name ? hone_module_find(c->module, name) : NULL;
    hone_hash128 hash = {0};
    bool is_by_name = !member || member->kind == HONE_MEMBER_EXTERN ||
                      (member->kind == HONE_MEMBER_GRAPH && c->depth >= MAX_CALLEE_DEPTH);
    if (is_by_name) {
        canon_byte(c, 'n');
        canon_string(c, name);
        return;
    }
    if (member->kind == HONE_MEMBER_FUNC)
        hash = hone_func_hash(member->func);
    else
        hash = graph_hash_at(c->module, member->graph, c->depth + 1);
    canon_byte(c, 'h');
    for (int i = 0; i < 8; i++)
        canon_byte(c, (uint8_t)(hash.lo >> (8 * i)));
    for (int i = 0; i < 8; i++)
        canon_byte(c, (uint8_t)(hash.hi >> (8 * i)));
}

static void write_arg(canon *c, const hone_garg *arg) {
    canon_mark_at(c, "argument", NULL, NULL);
    switch (arg->kind) {
    case HONE_GARG_VALUE:
        canon_byte(c, 'v');
        canon_uint(c, arg->u.value < c->graph->value_count ? c->buffer_numbers[arg->u.value] : 0);
        return;
    case HONE_GARG_CONSTANT:
        canon_byte(c, 'c');
        write_constant(c, arg->u.constant);
        return;
    case HONE_GARG_SHAPE:
        canon_byte(c, 's');
        canon_uint(c, arg->count);
        for (uint32_t i = 0; i < arg->count; i++)
            canon_expr(c, "shape", arg->u.exprs[i]);
        return;
    case HONE_GARG_PRIM:
        canon_byte(c, 'p');
        canon_expr(c, "value", arg->u.expr);
        return;
    case HONE_GARG_STRING:
        canon_byte(c, '"');
        canon_string(c, arg->u.s);
        return;
    case HONE_GARG_DTYPE:
        canon_byte(c, 'd');
        canon_dtype(c, arg->dtype);
        return;
    case HONE_GARG_TUPLE:
        canon_byte(c, 't');
        canon_uint(c, arg->count);
        for (uint32_t i = 0; i < arg->count; i++)
            write_arg(c, &arg->u.items[i]);
        return;
    case HONE_GARG_GLOBAL:
        canon_byte(c, 'g');
        write_callee(c, arg->u.s);
        return;
    case HONE_GARG_EXTERN:
        canon_byte(c, 'x');
        canon_string(c, arg->u.s);
        return;
    case HONE_GARG_NONE:
        canon_byte(c, 'N');
        return;
    }
}

static void define_value(canon *c, hone_gvalue value) {
    if (value >= c->graph->value_count) {
        canon_byte(c, 'z');
        return;
    }
    const hone_gvalue_info *info = &c->graph->values[value];
    c->buffer_numbers[value] = c->next_buffer++;
    write_sinfo(c, info->sinfo);
    canon_byte(c, info->is_output ? 'o' : '-');
}

static void write_bind(canon *c, const hone_gbind *bind) {
    canon_mark_at(c, "kind of a binding", NULL, NULL);
    canon_byte(c, (uint8_t)bind_letter(bind->kind));
    canon_byte(c, bind->in_dataflow ? 'd' : '-');
    if (bind->kind == HONE_GBIND_CALL_TIR || bind->kind == HONE_GBIND_CALL_FUNC) {
        write_callee(c, bind->callee);
    } else {
        canon_mark_at(c, "operator", NULL, bind->callee);
        canon_string(c, bind->callee);
    }
    canon_mark_at(c, "number of arguments", NULL, NULL);
    canon_uint(c, bind->arg_count);
    for (uint32_t i = 0; i < bind->arg_count; i++)
        write_arg(c, &bind->args[i]);
    canon_uint(c, bind->symbolic_count);
    for (uint32_t i = 0; i < bind->symbolic_count; i++) {
        canon_expr(c, "symbolic argument", bind->symbolic[i]);
    }
    canon_int(c, bind->kind == HONE_GBIND_TUPLE_GET ? bind->index : 0);
    canon_attrs(c, &bind->attrs);
    define_value(c, bind->value);
}

void canon_write_graph(canon *c, const hone_module *module, const hone_graph_func *graph) {
    c->func = NULL;
    c->module = module;
    c->graph = graph;
    if (!canon_number_tables(c, graph->var_count, graph->value_count)) return;
    c->bind = HONE_NO_ID;
    canon_uint(c, HONE_STRUCTURAL_VERSION);
    canon_byte(c, 'G');
    canon_count(c, "number of parameters", graph->param_count);
    for (uint32_t i = 0; i < graph->param_count; i++)
        define_value(c, i);
    canon_func_attrs(c, &graph->attrs);
    canon_count(c, "number of bindings", graph->bind_count);
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        c->bind = i;
        write_bind(c, &graph->bindings[i]);
    }
    c->bind = HONE_NO_ID;
    canon_mark_at(c, "result", NULL, NULL);
    write_arg(c, &graph->result);
    write_sinfo(c, graph->result_sinfo);
}
