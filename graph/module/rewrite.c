/* graph/module/rewrite.c - copies a graph function binding by binding, as its user says. */
#include "graph/module/rewrite.h"

#include <string.h>

#include "ir/ops/graph_op.h"

/* ---- facts of the old function ---- */

static void count_uses(uint32_t *uses, const hone_garg *arg) {
    if (arg->kind == HONE_GARG_VALUE) uses[arg->u.value]++;
    if (arg->kind == HONE_GARG_TUPLE) {
        for (uint32_t i = 0; i < arg->count; i++)
            count_uses(uses, &arg->u.items[i]);
    }
}

static hone_status collect_facts(hone_rewrite *rw) {
    const hone_graph_func *old = rw->old;
    size_t room = (size_t)old->value_count + 1;
    uint32_t *uses = hone_arena_zalloc(rw->module->arena, room * sizeof *uses);
    rw->defs = hone_arena_zalloc(rw->module->arena, room * sizeof *rw->defs);
    rw->map = hone_arena_zalloc(rw->module->arena, room * sizeof *rw->map);
    if (!uses || !rw->defs || !rw->map) return HONE_NO_MEMORY("graph");
    for (uint32_t i = 0; i < old->value_count; i++)
        rw->map[i].kind = HONE_GARG_NONE;
    for (uint32_t i = 0; i < old->bind_count; i++) {
        const hone_gbind *bind = &old->bindings[i];
        rw->defs[bind->value] = bind;
        for (uint32_t a = 0; a < bind->arg_count; a++)
            count_uses(uses, &bind->args[a]);
    }
    count_uses(uses, &old->result);
    rw->uses = uses;
    return HONE_OK;
}

/* ---- users ---- */

typedef struct user_list {
    const hone_gbind *last;
    uint32_t count;
} user_list;

/* Notes that a binding uses what an argument names: counts it, and writes it down where there is
 * room already. */
static void note_user(user_list *lists, const uint32_t *first, const hone_gbind **users,
                      const hone_garg *arg, const hone_gbind *bind) {
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++)
        note_user(lists, first, users, &arg->u.items[i], bind);
    if (arg->kind != HONE_GARG_VALUE) return;
    user_list *list = &lists[arg->u.value];
    if (list->last == bind) return;
    list->last = bind;
    if (users) users[first[arg->u.value] + list->count] = bind;
    list->count++;
}

static void note_users(const hone_graph_func *old, user_list *lists, const uint32_t *first,
                       const hone_gbind **users) {
    for (uint32_t i = 0; i < old->value_count; i++)
        lists[i] = (user_list){0};
    for (uint32_t i = 0; i < old->bind_count; i++) {
        const hone_gbind *bind = &old->bindings[i];
        for (uint32_t a = 0; a < bind->arg_count; a++)
            note_user(lists, first, users, &bind->args[a], bind);
    }
}

hone_status hone_rewrite_find_users(hone_rewrite *rw) {
    if (rw->users) return HONE_OK;
    hone_arena *arena = rw->module->arena;
    size_t count = (size_t)rw->old->value_count + 1;
    user_list *lists = hone_arena_zalloc(arena, count * sizeof *lists);
    uint32_t *first = hone_arena_zalloc(arena, count * sizeof *first);
    if (!lists || !first) return HONE_NO_MEMORY("graph");
    note_users(rw->old, lists, first, NULL);
    for (size_t i = 1; i < count; i++)
        first[i] = first[i - 1] + lists[i - 1].count;
    const hone_gbind **users =
        hone_arena_alloc(arena, ((size_t)first[count - 1] + 1) * sizeof *users);
    if (!users) return HONE_NO_MEMORY("graph");
    note_users(rw->old, lists, first, users);
    rw->first_user = first;
    rw->users = users;
    return HONE_OK;
}

const hone_gbind *const *hone_rewrite_users(const hone_rewrite *rw, hone_gvalue old,
                                            uint32_t *out_count) {
    assert(rw->users);
    *out_count = rw->first_user[old + 1] - rw->first_user[old];
    return &rw->users[rw->first_user[old]];
}

/* ---- arguments ---- */

hone_status hone_rewrite_arg(hone_rewrite *rw, const hone_garg *arg, hone_garg *out) {
    *out = *arg;
    if (arg->kind == HONE_GARG_VALUE) {
        *out = rw->map[arg->u.value];
        if (out->kind == HONE_GARG_NONE) {
            return HONE_ERROR(HONE_CODE_INVALID, "'%s' is used before it is defined",
                              rw->old->values[arg->u.value].name);
        }
    } else if (arg->kind == HONE_GARG_TUPLE) {
        hone_garg *items = hone_arena_alloc(rw->module->arena, (arg->count + 1) * sizeof *items);
        if (!items) return HONE_NO_MEMORY("graph");
        for (uint32_t i = 0; i < arg->count; i++) {
            HONE_TRY(hone_rewrite_arg(rw, &arg->u.items[i], &items[i]));
        }
        out->u.items = items;
    }
    return HONE_OK;
}

hone_status hone_rewrite_args(hone_rewrite *rw, const hone_gbind *bind, const hone_garg **out) {
    hone_garg *args = hone_arena_zalloc(rw->module->arena, (bind->arg_count + 1) * sizeof *args);
    *out = args;
    if (!args) return HONE_NO_MEMORY("graph");
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        HONE_TRY(hone_rewrite_arg(rw, &bind->args[i], &args[i]));
    }
    return HONE_OK;
}

void hone_rewrite_set(hone_rewrite *rw, hone_gvalue old, hone_garg now) {
    rw->map[old] = now;
    if (now.kind != HONE_GARG_VALUE || now.u.value < rw->now->param_count) return;
    const hone_gvalue_info *from = &rw->old->values[old];
    hone_gvalue_info *to = &rw->now->values[now.u.value];
    to->is_output |= from->is_output;
    if (strcmp(to->name, "lv") == 0) to->name = from->name;
}

const hone_sinfo *hone_rewrite_info(hone_rewrite *rw, const hone_garg *now) {
    return hone_garg_sinfo(rw->module, rw->now, now, rw->module->arena);
}

const hone_gbind *hone_rewrite_maker(const hone_rewrite *rw, const hone_garg *arg) {
    if (arg->kind != HONE_GARG_VALUE || arg->u.value < rw->now->param_count) return NULL;
    uint32_t low = 0, high = rw->now->bind_count; /* bindings define values in order */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const hone_gbind *bind = &rw->now->bindings[middle];
        if (bind->value == arg->u.value) return bind;
        if (bind->value < arg->u.value)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const hone_tensor *hone_rewrite_constant(const hone_rewrite *rw, const hone_garg *now) {
    return now->kind == HONE_GARG_CONSTANT ? rw->module->constants[now->u.constant] : NULL;
}

hone_status hone_rewrite_add_constant(hone_rewrite *rw, hone_tensor *tensor, hone_garg *out) {
    uint32_t index;
    HONE_TRY(hone_module_add_constant(rw->module, tensor, &index));
    *out = HONE_GARG_OF_CONSTANT(index);
    return HONE_OK;
}

bool hone_garg_same(const hone_garg *a, const hone_garg *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == HONE_GARG_VALUE) return a->u.value == b->u.value;
    if (a->kind == HONE_GARG_CONSTANT) return a->u.constant == b->u.constant;
    if (a->kind == HONE_GARG_PRIM) return hone_expr_same(a->u.expr, b->u.expr);
    return false;
}

/* ---- bindings ---- */

hone_status hone_rewrite_call(hone_rewrite *rw, const char *op, uint32_t arg_count,
                              const hone_garg *args, hone_attrs attrs, hone_garg *out) {
    hone_gvalue value = hone_graph_add_call(rw->now, op, arg_count, args, attrs, NULL);
    if (value == HONE_NO_ID) return HONE_NO_MEMORY("graph");
    hone_gbind *bind = &rw->now->bindings[rw->now->bind_count - 1];
    const hone_sinfo *info;
    bind->in_dataflow = true;
    HONE_TRY(hone_graph_infer_bind(rw->module, rw->now, bind, rw->module->arena, &info));
    rw->now->values[value].sinfo = info;
    *out = HONE_GARG_OF_VALUE(value);
    return HONE_OK;
}

hone_status hone_rewrite_reshape(hone_rewrite *rw, hone_garg x, int32_t rank,
                                 const hone_expr *const *shape, hone_garg *out) {
    const hone_garg args[] = {
        x, {.kind = HONE_GARG_SHAPE, .count = (uint32_t)rank, .u.exprs = shape}
    };
    return hone_rewrite_call(rw, "reshape", 2, args, (hone_attrs){0}, out);
}

hone_status hone_rewrite_call_tir(hone_rewrite *rw, const char *callee, uint32_t arg_count,
                                  const hone_garg *args, const hone_sinfo *info, hone_garg *out) {
    hone_gvalue value =
        hone_graph_add_call(rw->now, callee, arg_count, args, (hone_attrs){0}, info);
    if (value == HONE_NO_ID) return HONE_NO_MEMORY("graph");
    hone_gbind *bind = &rw->now->bindings[rw->now->bind_count - 1];
    bind->kind = HONE_GBIND_CALL_TIR;
    bind->in_dataflow = true;
    *out = HONE_GARG_OF_VALUE(value);
    return HONE_OK;
}

static bool is_known(const hone_sinfo *info) {
    if (!info || info->kind == HONE_SINFO_OBJECT) return false;
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (!is_known(info->fields[i])) return false;
    }
    bool has_shape = info->kind == HONE_SINFO_TENSOR || info->kind == HONE_SINFO_SHAPE;
    return !has_shape || (info->rank >= 0 && (info->rank == 0 || info->shape));
}

/* What follows from the arguments as they are now says more, or the same. */
static bool follows(const hone_gbind *bind) {
    return bind->kind == HONE_GBIND_CALL || bind->kind == HONE_GBIND_ARG ||
           bind->kind == HONE_GBIND_TUPLE_GET;
}

static hone_status keep(hone_rewrite *rw, const hone_gbind *bind) {
    const hone_garg *args;
    HONE_TRY(hone_rewrite_args(rw, bind, &args));
    const hone_gvalue_info *info = &rw->old->values[bind->value];
    hone_gvalue value = hone_graph_add_value(rw->now, info->name, info->sinfo);
    hone_gbind *copy = value == HONE_NO_ID ? NULL : hone_graph_add_bind(rw->now, bind->kind, value);
    if (!copy) return HONE_NO_MEMORY("graph");
    *copy = *bind;
    copy->value = value;
    copy->args = args;
    hone_rewrite_set(rw, bind->value, HONE_GARG_OF_VALUE(value));
    if (info->sinfo && (is_known(info->sinfo) || !follows(bind))) return HONE_OK;
    const hone_sinfo *inferred;
    HONE_TRY(hone_graph_infer_bind(rw->module, rw->now, copy, rw->module->arena, &inferred));
    if (inferred) rw->now->values[value].sinfo = inferred;
    return HONE_OK;
}

/* ---- functions ---- */

static hone_status begin(hone_rewrite *rw) {
    const hone_graph_func *old = rw->old;
    hone_graph_func *now = hone_graph_func_create(rw->module->arena, old->name);
    if (!now) return HONE_NO_MEMORY("graph");
    rw->now = now;
    now->attrs = old->attrs;
    now->is_private = old->is_private;
    now->is_pure = old->is_pure;
    now->result_sinfo = old->result_sinfo;
    for (uint32_t i = 0; i < old->var_count; i++) {
        if (hone_graph_add_var(now, old->vars[i].name) == HONE_NO_ID)
            return HONE_NO_MEMORY("graph");
    }
    for (uint32_t i = 0; i < old->param_count; i++) {
        hone_gvalue value = hone_graph_add_param(now, old->values[i].name, old->values[i].sinfo);
        if (value == HONE_NO_ID) return HONE_NO_MEMORY("graph");
        rw->map[i] = HONE_GARG_OF_VALUE(value);
    }
    return HONE_OK;
}

/* What a dataflow block makes and others use is named by its R.output. by: who uses it, NULL: the
 * result. */
static void hand_out(hone_rewrite *rw, const hone_garg *arg, const hone_gbind *by) {
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++)
        hand_out(rw, &arg->u.items[i], by);
    const hone_gbind *maker = hone_rewrite_maker(rw, arg);
    if (!maker || !maker->in_dataflow) return;
    bool is_inside = by && by->in_dataflow && by->dataflow_block == maker->dataflow_block;
    if (!is_inside) rw->now->values[maker->value].is_output = true;
}

/* Bindings that a block has around something else are two blocks. */
static void number_blocks(hone_graph_func *graph) {
    uint32_t before = 0, block = 0;
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        hone_gbind *bind = &graph->bindings[i];
        const hone_gbind *last = i ? bind - 1 : bind;
        bool is_other = !last->in_dataflow || bind->dataflow_block != before;
        before = bind->dataflow_block;
        if (i && bind->in_dataflow && is_other) block++;
        if (bind->in_dataflow) bind->dataflow_block = block;
    }
}

static void hand_out_all(hone_rewrite *rw) {
    number_blocks(rw->now);
    for (uint32_t i = 0; i < rw->now->bind_count; i++) {
        const hone_gbind *bind = &rw->now->bindings[i];
        for (uint32_t a = 0; a < bind->arg_count; a++)
            hand_out(rw, &bind->args[a], bind);
    }
    hand_out(rw, &rw->now->result, NULL);
}

/* What stands for a binding belongs to its kernel. */
static void keep_kernel(hone_graph_func *graph, uint32_t first, uint32_t kernel) {
    for (uint32_t i = first; i < graph->bind_count; i++)
        graph->bindings[i].kernel = kernel;
}

static hone_status rewrite_graph(hone_rewrite *rw, hone_rewrite_fn fn) {
    HONE_TRY(collect_facts(rw));
    HONE_TRY(begin(rw));
    for (uint32_t i = 0; i < rw->old->bind_count; i++) {
        const hone_gbind *bind = &rw->old->bindings[i];
        uint32_t first = rw->now->bind_count;
        bool is_done = false;
        hone_status st = fn(rw, bind, &is_done);
        if (!st) st = hone_ir_finish(&rw->ir);
        if (!st && !is_done) st = keep(rw, bind);
        keep_kernel(rw->now, first, bind->kernel);
        if (st) {
            return hone_status_annotate(hone_status_join(st, hone_ir_finish(&rw->ir)), "'%s'",
                                        rw->old->values[bind->value].name);
        }
    }
    HONE_TRY(hone_rewrite_arg(rw, &rw->old->result, &rw->now->result));
    hand_out_all(rw);
    return HONE_OK;
}

hone_status hone_rewrite_member(hone_module *module, uint32_t member, hone_rewrite_fn fn,
                                void *ctx) {
    assert(!module->is_frozen && module->members[member].kind == HONE_MEMBER_GRAPH);
    hone_rewrite rw = {.module = module,
                       .old = module->members[member].graph,
                       .ctx = ctx,
                       .ir = {.arena = module->arena}};
    HONE_TRY(rewrite_graph(&rw, fn));
    module->members[member].graph = rw.now;
    return HONE_OK;
}

hone_status hone_rewrite_module(hone_module *module, hone_rewrite_fn fn, void *ctx) {
    uint32_t count = module->member_count; /* passes add PrimFuncs behind */
    for (uint32_t i = 0; i < count; i++) {
        if (module->members[i].kind != HONE_MEMBER_GRAPH) continue;
        HONE_TRY(hone_rewrite_member(module, i, fn, ctx));
    }
    return HONE_OK;
}

hone_status hone_module_fresh_name(const hone_module *module, const char *stem,
                                   const char **out_name) {
    int64_t last = hone_module_last_number(module, stem);
    *out_name = last < 0 ? hone_arena_strdup(module->arena, stem)
                         : hone_arena_printf(module->arena, "%s%lld", stem, (long long)last + 1);
    return *out_name ? HONE_OK : HONE_NO_MEMORY("graph");
}
