/* graph/passes/link_memory.c - texts of TVM's later stages say where tensors lie; here they are
 * made values again.
 *
 *   a = R.builtin.alloc_tensor(...); cls.f(x, a)   a = R.call_tir(cls.f, (x,), ...)
 *   R.call_tir_inplace(f, (x, y), [0, -1], ...)    R.call_tir of f out of place (out_of_place.h)
 *   cls.f(x), which stores to x                    the same; x is the result from here on
 *   R.call_tir_with_grad                           R.call_tir
 *   R.call_tir(f, (x, n), ...), n a number         R.call_tir of f with its numbers last
 *   vm.builtin.reshape, of shapes that are known   R.reshape
 *   storage, what frees it, checks of arguments    nothing: the plan of a model does that
 *   R.invoke_pure_closure(f, (x,))                 cls.f(x, ...), with what R.make_closure gave
 *
 * Names of the same memory are one value that changes: an alias of a tensor, or the part of a
 * storage, is not looked for behind a change.
 * needs: nothing
 * keeps: everything else
 */
#include <string.h>

#include "graph/module/rewrite.h"
#include "graph/passes/graph_passes.h"
#include "graph/passes/out_of_place.h"
#include "ir/ops/graph_infer.h"

static bool is_one_of(const hone_gbind *bind, const char *const *names) {
    for (; *names; names++) {
        if (strcmp(bind->callee, *names) == 0) return true;
    }
    return false;
}

static bool is_alloc(const hone_gbind *bind) {
    return hone_gbind_calls(bind, "builtin.alloc_tensor") ||
           hone_gbind_calls(bind, "memory.alloc_tensor") ||
           hone_gbind_calls(bind, "vm.alloc_tensor");
}

/* It gives nothing, or what only these take. */
static bool is_about_memory(const hone_gbind *bind) {
    static const char *const calls[] = {
        "memory.alloc_storage", "vm.alloc_storage", "memory.kill_storage", "memory.kill_tensor",
        "vm.kill_object",       "null_value",       "make_closure",        NULL};
    static const char *const packed[] = {"vm.builtin.check_tensor_info",
                                         "vm.builtin.check_shape_info",
                                         "vm.builtin.check_prim_value_info", NULL};
    if (is_alloc(bind)) return true;
    if (bind->kind == HONE_GBIND_CALL) return is_one_of(bind, calls);
    return bind->kind == HONE_GBIND_CALL_PACKED && is_one_of(bind, packed);
}

/* Sizes that are all numbers are those of the types, which are checked anyhow. */
static bool is_plain_match(const hone_gbind *bind) {
    if (bind->kind != HONE_GBIND_CALL_PACKED || strcmp(bind->callee, "vm.builtin.match_shape") != 0)
        return false;
    for (uint32_t i = 3; i + 1 < bind->arg_count; i += 2) {
        const hone_garg *code = &bind->args[i];
        bool is_number = code->kind == HONE_GARG_PRIM && hone_expr_is_int_value(code->u.expr, 0);
        if (!is_number) return false;
    }
    return true;
}

/* ---- programs that fill tensors ---- */

/* What is told of an allocated tensor: its type as written, or by the shape and type given. */
static const hone_sinfo *type_of_alloc(const hone_rewrite *rw, const hone_gbind *alloc) {
    const hone_sinfo *written = rw->old->values[alloc->value].sinfo;
    uint32_t shape = hone_gbind_calls(alloc, "builtin.alloc_tensor") ? 0 : 2;
    bool is_told = written && written->kind == HONE_SINFO_TENSOR &&
                   (written->shape || written->rank == 0) && !hone_dtype_is_void(written->dtype);
    if (is_told) return written;
    if (alloc->arg_count < shape + 2 || alloc->args[shape].kind != HONE_GARG_SHAPE ||
        alloc->args[shape + 1].kind != HONE_GARG_DTYPE) {
        return NULL;
    }
    const hone_garg *given = &alloc->args[shape];
    return hone_sinfo_tensor(rw->module->arena, alloc->args[shape + 1].dtype, (int32_t)given->count,
                             given->u.exprs);
}

/* The allocation that an argument names, behind aliases; nothing stands there yet. */
static const hone_gbind *empty_alloc(const hone_rewrite *rw, const hone_garg *arg) {
    const hone_gbind *def = arg->kind == HONE_GARG_VALUE ? rw->defs[arg->u.value] : NULL;
    while (def && def->kind == HONE_GBIND_ARG && def->args[0].kind == HONE_GARG_VALUE)
        def = rw->defs[def->args[0].u.value];
    if (!def || !is_alloc(def)) return NULL;
    return rw->map[def->value].kind == HONE_GARG_NONE ? def : NULL;
}

/* A call that is being made: its tensors, which may be results. */
typedef struct filling {
    hone_param_use use;
    hone_garg inputs[64];
    const hone_sinfo *types[HONE_MAX_RESULTS];
    hone_gvalue olds[HONE_MAX_RESULTS]; /* of the old function; HONE_NO_ID: none */
    const hone_expr *numbers[64];
    uint32_t number_count;
} filling;

static hone_status add_input(filling *f, uint32_t number, hone_garg arg) {
    if (f->use.input_count == HONE_COUNT(f->inputs))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a call of more than 64 tensors");
    f->inputs[f->use.input_count] = arg;
    f->use.inputs[f->use.input_count++] = number;
    return HONE_OK;
}

static hone_status add_result(filling *f, uint32_t number, const hone_sinfo *type,
                              hone_gvalue old) {
    if (f->use.result_count == HONE_MAX_RESULTS)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a call of more than %d results",
                          HONE_MAX_RESULTS);
    if (!type) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a tensor of unknown size is filled");
    f->types[f->use.result_count] = type;
    f->olds[f->use.result_count] = old;
    f->use.results[f->use.result_count++] = number;
    return HONE_OK;
}

/* Its parameters are the inputs in order, then the results, and none is both. */
static bool is_in_order(const filling *f) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < f->use.input_count; i++, next++)
        if (f->use.inputs[i] != next) return false;
    for (uint32_t i = 0; i < f->use.result_count; i++, next++)
        if (f->use.results[i] != next) return false;
    return true;
}

/* Sizes and other numbers stand behind all tensors. */
static bool has_numbers_last(const hone_func *func) {
    bool has_number = false;
    for (uint32_t i = 0; i < func->param_count; i++) {
        bool is_number = func->params[i].buffer == HONE_NO_ID;
        if (has_number && !is_number) return false;
        has_number |= is_number;
    }
    return true;
}

static hone_status program_of(hone_rewrite *rw, const filling *f, const hone_func *func,
                              const char **out_name) {
    hone_func *made;
    *out_name = func->name;
    if (is_in_order(f) && has_numbers_last(func)) return HONE_OK;
    HONE_TRY(hone_module_fresh_name(rw->module, func->name, out_name));
    HONE_TRY(hone_func_out_of_place(func, &f->use, rw->module->arena, *out_name, &made));
    return hone_module_add_func(rw->module, made);
}

static hone_status give_result(hone_rewrite *rw, const filling *f, uint32_t i, hone_garg whole,
                               hone_garg *out) {
    *out = whole;
    if (f->use.result_count > 1) {
        hone_gvalue value = hone_graph_add_value(rw->now, "lv", f->types[i]);
        hone_garg *args = hone_arena_copy(rw->module->arena, &whole, sizeof whole);
        hone_gbind *get = value == HONE_NO_ID || !args
                              ? NULL
                              : hone_graph_add_bind(rw->now, HONE_GBIND_TUPLE_GET, value);
        if (!get) return HONE_NO_MEMORY("graph");
        get->args = args;
        get->arg_count = 1;
        get->index = (int32_t)i;
        get->in_dataflow = true;
        *out = HONE_GARG_OF_VALUE(value);
    }
    if (f->olds[i] != HONE_NO_ID) hone_rewrite_set(rw, f->olds[i], *out);
    return HONE_OK;
}

/* The call; out[] gets each result. */
static hone_status emit(hone_rewrite *rw, const filling *f, const hone_func *func, hone_garg *whole,
                        hone_garg out[HONE_MAX_RESULTS]) {
    const char *name;
    const hone_sinfo *info = f->types[0];
    if (f->use.result_count > 1)
        info = hone_sinfo_tuple(rw->module->arena, f->use.result_count, f->types);
    if (!info) return HONE_NO_MEMORY("graph");
    HONE_TRY(program_of(rw, f, func, &name));
    HONE_TRY(hone_rewrite_call_tir(rw, name, f->use.input_count, f->inputs, info, whole));
    hone_gbind *call = &rw->now->bindings[rw->now->bind_count - 1];
    call->symbolic_count = f->number_count;
    call->symbolic =
        hone_arena_copy(rw->module->arena, f->numbers, f->number_count * sizeof *f->numbers);
    if (!call->symbolic) return HONE_NO_MEMORY("graph");
    for (uint32_t i = 0; i < f->use.result_count; i++)
        HONE_TRY(give_result(rw, f, i, *whole, &out[i]));
    return HONE_OK;
}

static const hone_func *program(const hone_rewrite *rw, const char *name) {
    const hone_member *member = hone_module_find(rw->module, name);
    return member && member->kind == HONE_MEMBER_FUNC ? member->func : NULL;
}

static hone_status nothing(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    static const hone_garg none[1];
    hone_rewrite_set(rw, bind->value, (hone_garg){.kind = HONE_GARG_TUPLE, .u.items = none});
    *out_done = true;
    return HONE_OK;
}

static hone_status add_number(filling *f, const hone_expr *number) {
    if (f->number_count == HONE_COUNT(f->numbers))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a call of more than %zu numbers",
                          HONE_COUNT(f->numbers));
    f->numbers[f->number_count++] = number;
    return HONE_OK;
}

/* cls.f(x, alloc): each tensor is filled, changed or read. */
static hone_status link_direct(hone_rewrite *rw, const hone_gbind *bind, const hone_func *func,
                               bool *out_done) {
    filling f = {.number_count = 0};
    hone_garg whole, results[HONE_MAX_RESULTS];
    uint32_t tensors = hone_func_tensor_count(func), number = 0;
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        const hone_garg *arg = &bind->args[i];
        if (arg->kind == HONE_GARG_PRIM) {
            HONE_TRY(add_number(&f, arg->u.expr));
            continue;
        }
        const hone_gbind *alloc = empty_alloc(rw, arg);
        if (number >= tensors) return HONE_ERROR(HONE_CODE_TYPE, "too many arguments");
        if (alloc) {
            HONE_TRY(add_result(&f, number++, type_of_alloc(rw, alloc), alloc->value));
            continue;
        }
        hone_garg now;
        HONE_TRY(hone_rewrite_arg(rw, arg, &now));
        HONE_TRY(add_input(&f, number, now));
        bool changes = arg->kind == HONE_GARG_VALUE && hone_func_changes(func, number);
        if (changes) HONE_TRY(add_result(&f, number, hone_rewrite_info(rw, &now), arg->u.value));
        number++;
    }
    if (!f.use.result_count) return HONE_ERROR(HONE_CODE_TYPE, "a call that fills no tensor");
    HONE_TRY(emit(rw, &f, func, &whole, results));
    return nothing(rw, bind, out_done);
}

/* ---- R.call_tir_inplace ---- */

static const hone_sinfo *field_of(const hone_sinfo *info, uint32_t i) {
    if (!info) return NULL;
    if (info->kind != HONE_SINFO_TUPLE) return i == 0 ? info : NULL;
    return i < info->field_count ? info->fields[i] : NULL;
}

static hone_status read_place(const hone_gbind *bind, uint32_t i, uint32_t *out_count,
                              int64_t *out) {
    const hone_value *v = hone_attrs_find(&bind->attrs, "inplace_indices");
    bool is_one = v && v->kind == HONE_VALUE_INT;
    if (!is_one && (!v || v->kind != HONE_VALUE_LIST))
        return HONE_ERROR(HONE_CODE_TYPE, "'call_tir_inplace' without inplace_indices");
    *out_count = is_one ? 1 : v->count;
    *out = is_one ? v->u.i : i < v->count ? v->u.items[i].u.i : 0;
    return HONE_OK;
}

static hone_status link_inplace(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    filling f = {.number_count = 0};
    hone_garg whole, results[HONE_MAX_RESULTS];
    const hone_sinfo *type = rw->old->values[bind->value].sinfo;
    const hone_func *func = bind->arg_count && bind->args[0].kind == HONE_GARG_GLOBAL
                                ? program(rw, bind->args[0].u.s)
                                : NULL;
    if (!func || bind->arg_count < 2 || bind->args[1].kind != HONE_GARG_TUPLE)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'call_tir_inplace' of what is no program");
    uint32_t next = bind->args[1].count, count = 1;
    for (uint32_t i = 0; i < bind->args[1].count; i++) {
        hone_garg now;
        HONE_TRY(hone_rewrite_arg(rw, &bind->args[1].u.items[i], &now));
        HONE_TRY(add_input(&f, i, now));
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t place;
        HONE_TRY(read_place(bind, i, &count, &place));
        uint32_t number = place < 0 ? next++ : (uint32_t)place;
        if (number >= hone_func_tensor_count(func) || place >= (int64_t)f.use.input_count)
            return HONE_ERROR(HONE_CODE_TYPE, "'%s' has no tensor %u", func->name, number);
        HONE_TRY(add_result(&f, number, field_of(type, i), HONE_NO_ID));
    }
    HONE_TRY(emit(rw, &f, func, &whole, results));
    hone_rewrite_set(rw, bind->value, whole);
    *out_done = true;
    return HONE_OK;
}

/* ---- R.call_tir(cls.f, (x, n), ...): numbers among the tensors ---- */

static bool has_number(const hone_gbind *bind) {
    bool found = false;
    for (uint32_t i = 0; bind->kind == HONE_GBIND_CALL_TIR && i < bind->arg_count; i++)
        found |= bind->args[i].kind == HONE_GARG_PRIM;
    return found;
}

static hone_status link_numbers(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    filling f = {.number_count = 0};
    hone_garg whole, results[HONE_MAX_RESULTS];
    const hone_sinfo *type = rw->old->values[bind->value].sinfo;
    const hone_func *func = program(rw, bind->callee);
    if (!func || !type) return HONE_OK;
    uint32_t count = type->kind == HONE_SINFO_TUPLE ? type->field_count : 1;
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        hone_garg now;
        if (bind->args[i].kind == HONE_GARG_PRIM) {
            HONE_TRY(add_number(&f, bind->args[i].u.expr));
            continue;
        }
        HONE_TRY(hone_rewrite_arg(rw, &bind->args[i], &now));
        HONE_TRY(add_input(&f, f.use.input_count, now));
    }
    for (uint32_t i = 0; i < bind->symbolic_count; i++)
        HONE_TRY(add_number(&f, bind->symbolic[i]));
    if (f.use.input_count + count != hone_func_tensor_count(func))
        return HONE_ERROR(HONE_CODE_TYPE, "'%s' takes %u tensors", func->name,
                          hone_func_tensor_count(func));
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(add_result(&f, f.use.input_count + i, field_of(type, i), HONE_NO_ID));
    HONE_TRY(emit(rw, &f, func, &whole, results));
    hone_rewrite_set(rw, bind->value, whole);
    *out_done = true;
    return HONE_OK;
}

/* ---- other ways to call ---- */

static hone_status link_with_grad(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    hone_garg args, out;
    if (bind->arg_count < 2 || bind->args[0].kind != HONE_GARG_GLOBAL ||
        bind->args[1].kind != HONE_GARG_TUPLE) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' of what is no program", bind->callee);
    }
    HONE_TRY(hone_rewrite_arg(rw, &bind->args[1], &args));
    HONE_TRY(hone_rewrite_call_tir(rw, bind->args[0].u.s, args.count, args.u.items,
                                   rw->old->values[bind->value].sinfo, &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

static hone_status link_reshape(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    hone_garg args[2], out;
    if (bind->arg_count != 2 || bind->args[1].kind != HONE_GARG_SHAPE) return HONE_OK;
    for (uint32_t i = 0; i < 2; i++)
        HONE_TRY(hone_rewrite_arg(rw, &bind->args[i], &args[i]));
    HONE_TRY(hone_rewrite_call(rw, "reshape", 2, args, (hone_attrs){0}, &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

/* What was bound stands behind what is given. */
static hone_status link_closure(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const hone_garg *callee = &bind->args[0];
    const hone_gbind *maker = callee->kind == HONE_GARG_VALUE ? rw->defs[callee->u.value] : NULL;
    while (maker && maker->kind == HONE_GBIND_ARG) {
        callee = &maker->args[0];
        maker = callee->kind == HONE_GARG_VALUE ? rw->defs[callee->u.value] : NULL;
    }
    const hone_garg *bound = hone_gbind_calls(maker, "make_closure") ? &maker->args[1] : NULL;
    if (bound) callee = &maker->args[0];
    if (callee->kind != HONE_GARG_GLOBAL || bind->args[1].kind != HONE_GARG_TUPLE ||
        (bound && bound->kind != HONE_GARG_TUPLE)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' of a function that is not known",
                          bind->callee);
    }
    uint32_t given = bind->args[1].count, more = bound ? bound->count : 0;
    hone_garg *args = hone_arena_zalloc(rw->module->arena, (given + more + 1) * sizeof *args);
    if (!args) return HONE_NO_MEMORY("graph");
    for (uint32_t i = 0; i < given + more; i++) {
        const hone_garg *from = i < given ? &bind->args[1].u.items[i] : &bound->u.items[i - given];
        HONE_TRY(hone_rewrite_arg(rw, from, &args[i]));
    }
    const hone_gvalue_info *info = &rw->old->values[bind->value];
    hone_gvalue value = hone_graph_add_value(rw->now, info->name, info->sinfo);
    hone_gbind *call =
        value == HONE_NO_ID ? NULL : hone_graph_add_bind(rw->now, HONE_GBIND_CALL_FUNC, value);
    if (!call) return HONE_NO_MEMORY("graph");
    call->callee = callee->u.s;
    call->args = args;
    call->arg_count = given + more;
    hone_rewrite_set(rw, bind->value, HONE_GARG_OF_VALUE(value));
    *out_done = true;
    return HONE_OK;
}

/* An alias of what nothing stands in yet is that. */
static bool is_empty_alias(const hone_rewrite *rw, const hone_gbind *bind) {
    return bind->kind == HONE_GBIND_ARG && empty_alloc(rw, &bind->args[0]);
}

static hone_status link_bind(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    if (is_alloc(bind) || is_empty_alias(rw, bind)) {
        *out_done = true; /* it is a value when something fills it */
        return HONE_OK;
    }
    if (is_about_memory(bind) || is_plain_match(bind)) return nothing(rw, bind, out_done);
    if (bind->kind == HONE_GBIND_CALL_FUNC) {
        const hone_func *func = program(rw, bind->callee);
        return func ? link_direct(rw, bind, func, out_done) : HONE_OK;
    }
    if (has_number(bind)) return link_numbers(rw, bind, out_done);
    if (hone_gbind_calls(bind, "call_tir_inplace")) return link_inplace(rw, bind, out_done);
    if (hone_gbind_calls(bind, "call_tir_with_grad")) return link_with_grad(rw, bind, out_done);
    bool is_closure =
        hone_gbind_calls(bind, "invoke_pure_closure") || hone_gbind_calls(bind, "invoke_closure");
    if (is_closure && bind->arg_count >= 2) return link_closure(rw, bind, out_done);
    bool is_reshape =
        bind->kind == HONE_GBIND_CALL_PACKED && strcmp(bind->callee, "vm.builtin.reshape") == 0;
    return is_reshape ? link_reshape(rw, bind, out_done) : HONE_OK;
}

static bool has_memory(const hone_module *module, const hone_graph_func *graph) {
    static const char *const others[] = {"call_tir_inplace", "call_tir_with_grad",
                                         "invoke_pure_closure", "invoke_closure", NULL};
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        const hone_member *callee =
            bind->kind == HONE_GBIND_CALL_FUNC ? hone_module_find(module, bind->callee) : NULL;
        if (is_about_memory(bind) || has_number(bind)) return true;
        if (callee && callee->kind == HONE_MEMBER_FUNC) return true;
        if (bind->kind == HONE_GBIND_CALL && is_one_of(bind, others)) return true;
        if (bind->kind == HONE_GBIND_CALL_PACKED && strncmp(bind->callee, "vm.builtin.", 11) == 0)
            return true;
    }
    return false;
}

hone_status hone_pass_link_memory(hone_module *module, const hone_graph_options *options) {
    (void)options;
    uint32_t count = module->member_count; /* programs are added behind */
    for (uint32_t i = 0; i < count; i++) {
        const hone_graph_func *graph = module->members[i].graph;
        if (graph && has_memory(module, graph))
            HONE_TRY(hone_rewrite_member(module, i, link_bind, NULL));
    }
    return HONE_OK;
}
