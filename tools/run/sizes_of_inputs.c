/* tools/run/sizes_of_inputs.c - see sizes_of_inputs.h. */
#include "tools/run/sizes_of_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "graph/passes/prepare.h"
#include "ir/core/fold.h"
#include "ir/verify/verify.h"

typedef struct sizes {
    hone_run_job *job;
    hone_graph_dim *dims;
    size_t count, capacity;
} sizes;

static hone_graph_dim *find(const sizes *s, const char *name) {
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->dims[i].name, name) == 0) return &s->dims[i];
    return NULL;
}

/* The greater one holds of two; what --shape gives stands before and is not asked again. */
static hone_status note(sizes *s, size_t first, const char *name, int64_t size) {
    hone_graph_dim *known = name ? find(s, name) : NULL;
    if (!name) return HONE_NO_MEMORY("sizes of inputs");
    if (known && (size_t)(known - s->dims) >= first && known->size < size) known->size = size;
    if (known || s->count == s->capacity) return HONE_OK;
    s->dims[s->count++] = (hone_graph_dim){name, size};
    return HONE_OK;
}

/* "x_2" is one of at least 3 of x. */
static hone_status note_item(sizes *s, size_t first, const hone_cli_tensor *tensor) {
    hone_arena *arena = s->job->cli->arena;
    const char *name = tensor->name, *line = name ? strrchr(name, '_') : NULL;
    char *end = NULL;
    bool is_item = line && line > name && line[1] >= '0' && line[1] <= '9';
    unsigned long place = is_item ? strtoul(line + 1, &end, 10) : 0;
    if (!is_item || *end || place >= INT32_MAX) return HONE_OK;
    const char *of = hone_arena_strndup(arena, name, (size_t)(line - name));
    HONE_TRY(note(s, first, of, (int64_t)place + 1));
    return note(s, first, hone_arena_printf(arena, "%s.rank", of), tensor->tensor->rank);
}

static hone_status note_inputs(sizes *s) {
    size_t first = s->count;
    for (size_t i = 0; i < s->job->inputs.count; i++) {
        const hone_cli_tensor *tensor = &s->job->inputs.data[i];
        if (!tensor->name || tensor->is_casual) continue;
        const char *rank = hone_arena_printf(s->job->cli->arena, "%s.rank", tensor->name);
        HONE_TRY(note(s, first, rank, tensor->tensor->rank));
        HONE_TRY(note_item(s, first, tensor));
    }
    return HONE_OK;
}

hone_status hone_run_sizes_of_inputs(hone_run_job *job, const hone_graph_dim **out_dims,
                                     size_t *out_count) {
    hone_dim_variants given = {0};
    sizes s = {.job = job, .capacity = job->o->shapes.count + 3 * job->inputs.count};
    s.dims = hone_arena_zalloc(job->cli->arena, (s.capacity + 1) * sizeof *s.dims);
    hone_status st = s.dims ? HONE_OK : HONE_NO_MEMORY("sizes of inputs");
    if (!st) st = hone_dim_variants_parse(job->o->shapes.items, job->o->shapes.count, &given);
    if (!st && given.count > 1)
        st = HONE_ERROR(HONE_CODE_INVALID, "--shape may give one number per size here");
    for (size_t i = 0; !st && i < given.items[0].dim_count; i++) {
        const hone_graph_dim *dim = &given.items[0].dims[i];
        const char *name = hone_arena_strdup(job->cli->arena, dim->name);
        st = note(&s, 0, name, dim->size);
    }
    hone_dim_variants_deinit(&given);
    HONE_TRY(st);
    HONE_TRY(note_inputs(&s));
    *out_dims = s.dims;
    *out_count = s.count;
    return HONE_OK;
}

/* ---- sizes of 0 ---- */

static bool any_is_empty(const hone_cli_tensors *inputs) {
    bool has = false;
    for (size_t i = 0; i < inputs->count; i++)
        has |= hone_tensor_count(inputs->data[i].tensor) == 0;
    return has;
}

/* Which input each want gets. */
static hone_status match(hone_run_job *job, const hone_module *module,
                         const hone_member **out_member, hone_cli_want **out_wants,
                         size_t *out_count, size_t **out_index) {
    HONE_TRY(hone_check_module(module));
    HONE_TRY(hone_run_pick(job, module, out_member));
    HONE_TRY(hone_run_wants(job, *out_member, out_wants, out_count));
    *out_index = hone_arena_zalloc(job->cli->arena, (*out_count + 1) * sizeof **out_index);
    if (!*out_index) return HONE_NO_MEMORY("sizes of inputs");
    return hone_cli_assign_tensors(*out_wants, *out_count, &job->inputs, "--in", "input",
                                   *out_index);
}

/* The dimension is a size alone, not n + 1. */
static bool is_size(const hone_member *member, const char *name) {
    bool is_graph = member->kind == HONE_MEMBER_GRAPH, is_one = false;
    uint32_t count = is_graph ? member->graph->var_count : member->func->var_count;
    const hone_var_info *vars = is_graph ? member->graph->vars : member->func->vars;
    for (uint32_t v = 0; name && v < count; v++)
        is_one |= vars[v].name && strcmp(vars[v].name, name) == 0;
    return is_one;
}

static hone_status add_shape(hone_run_job *job, const char *name) {
    hone_arena *arena = job->cli->arena;
    const char **items = hone_arena_alloc(arena, (job->shapes.count + 1) * sizeof *items);
    const char *shape = hone_arena_printf(arena, "%s=0", name);
    if (!items || !shape) return HONE_NO_MEMORY("sizes of inputs");
    for (size_t i = 0; i < job->shapes.count; i++)
        items[i] = job->shapes.items[i];
    items[job->shapes.count] = shape;
    job->shapes = (hone_cli_list){items, job->shapes.count + 1};
    return HONE_OK;
}

typedef struct matching {
    const hone_run_job *job;
    const hone_cli_want *wants;
    const size_t *index; /* of the input that each want gets */
    size_t count;
} matching;

/* As all dimensions of that name are; else the inputs contradict each other, which is said later.
 */
static bool is_empty_everywhere(const matching *m, const char *name) {
    for (size_t i = 0; i < m->count; i++) {
        const hone_tensor *tensor = m->job->inputs.data[m->index[i]].tensor;
        for (int32_t d = 0; d < m->wants[i].rank && d < tensor->rank; d++) {
            const char *other = m->wants[i].dim_names[d];
            if (other && strcmp(other, name) == 0 && tensor->shape[d] != 0) return false;
        }
    }
    return true;
}

static hone_status add_empty_sizes(hone_run_job *job, const hone_module *module) {
    hone_cli_want *wants;
    size_t *index, count;
    const hone_member *member;
    hone_status st = match(job, module, &member, &wants, &count, &index);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    if (st) {
        hone_status_free(st);
        return HONE_OK;
    }
    const matching m = {job, wants, index, count};
    for (size_t i = 0; i < count; i++) {
        const hone_tensor *tensor = job->inputs.data[index[i]].tensor;
        for (int32_t d = 0; d < wants[i].rank && d < tensor->rank; d++) {
            const char *name = wants[i].dim_names[d];
            bool is_empty = wants[i].shape[d] < 0 && tensor->shape[d] == 0;
            if (is_empty && is_size(member, name) && !hone_cli_is_told(&job->shapes, name) &&
                is_empty_everywhere(&m, name))
                HONE_TRY(add_shape(job, name));
        }
    }
    return HONE_OK;
}

/* ---- what is computed of sizes and is 0 ---- */

typedef struct known_sizes {
    const hone_var_info *vars;
    int64_t *values; /* by variable; negative: not known */
    uint32_t count;
    bool *makes_nothing; /* by variable: what has no elements is computed of it */
} known_sizes;

static void know(known_sizes *k, const char *name, int64_t size) {
    for (uint32_t v = 0; name && v < k->count; v++)
        if (k->vars[v].name && strcmp(k->vars[v].name, name) == 0) k->values[v] = size;
}

static void look_at(known_sizes *k, const hone_expr *extent) {
    int64_t size;
    if (hone_expr_is_int(extent) || !hone_fold_sizes(extent, k->values, k->count, &size) || size)
        return;
    for (uint32_t v = 0; v < k->count; v++)
        k->makes_nothing[v] |= hone_expr_uses_var(extent, v);
}

/* Every tensor of a graph, every buffer of a PrimFunc. */
static void look_at_all(known_sizes *k, const hone_member *member) {
    const hone_graph_func *graph = member->kind == HONE_MEMBER_GRAPH ? member->graph : NULL;
    for (uint32_t v = 0; graph && v < graph->value_count; v++) {
        const hone_sinfo *info = graph->values[v].sinfo;
        bool is_tensor = info && info->kind == HONE_SINFO_TENSOR && info->shape;
        for (int32_t d = 0; is_tensor && d < info->rank; d++)
            look_at(k, info->shape[d]);
    }
    for (uint32_t b = 0; !graph && b < member->func->buffer_count; b++) {
        const hone_buffer_info *buffer = &member->func->buffers[b];
        for (uint32_t d = 0; d < buffer->rank; d++)
            look_at(k, buffer->shape[d]);
    }
}

static hone_status know_sizes(known_sizes *k, const hone_run_job *job, const matching *m) {
    hone_dim_variants given = {0};
    HONE_TRY(hone_dim_variants_parse(job->shapes.items, job->shapes.count, &given));
    for (size_t i = 0; i < given.items[0].dim_count; i++)
        know(k, given.items[0].dims[i].name, given.items[0].dims[i].size);
    hone_dim_variants_deinit(&given);
    for (size_t i = 0; i < m->count; i++) {
        const hone_tensor *tensor = job->inputs.data[m->index[i]].tensor;
        for (int32_t d = 0; d < m->wants[i].rank && d < tensor->rank; d++)
            know(k, m->wants[i].dim_names[d], tensor->shape[d]);
    }
    return HONE_OK;
}

static hone_status open_sizes(const hone_member *member, hone_arena *arena, known_sizes *k) {
    bool is_graph = member->kind == HONE_MEMBER_GRAPH;
    k->vars = is_graph ? member->graph->vars : member->func->vars;
    k->count = is_graph ? member->graph->var_count : member->func->var_count;
    k->values = hone_arena_alloc(arena, (k->count + 1) * sizeof *k->values);
    k->makes_nothing = hone_arena_zalloc(arena, (k->count + 1) * sizeof *k->makes_nothing);
    if (!k->values || !k->makes_nothing) return HONE_NO_MEMORY("sizes of inputs");
    for (uint32_t v = 0; v < k->count; v++)
        k->values[v] = -1;
    return HONE_OK;
}

static hone_status add_empty(hone_run_job *job, const known_sizes *k) {
    hone_dim_variant *empty = &job->empty;
    size_t used = empty->dim_count, room = used + k->count + 1;
    hone_graph_dim *dims = hone_arena_zalloc(job->cli->arena, room * sizeof *dims);
    if (!dims) return HONE_NO_MEMORY("sizes of inputs");
    memcpy(dims, empty->dims, used * sizeof *dims);
    for (uint32_t v = 0; v < k->count; v++) {
        if (!k->makes_nothing[v] || k->values[v] <= 0) continue;
        const char *name = hone_arena_strdup(job->cli->arena, k->vars[v].name);
        if (!name) return HONE_NO_MEMORY("sizes of inputs");
        dims[used++] = (hone_graph_dim){name, k->values[v]};
    }
    *empty = (hone_dim_variant){dims, used};
    return HONE_OK;
}

static bool has_unknown_types(const hone_graph_func *graph) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const hone_sinfo *info = graph->values[v].sinfo;
        if (!info || (info->kind == HONE_SINFO_TENSOR && info->rank < 0)) return true;
    }
    return false;
}

/* The types of all values follow from the operators only when those are written out. */
static hone_status look_at_prepared(hone_run_job *job, const hone_module *module, const char *name,
                                    const matching *m) {
    known_sizes k;
    hone_module *plain = NULL;
    hone_graph_options options = {
        .only = name, .weights = job->weights, .weight_count = job->params.count};
    hone_status st = hone_graph_prepare_plain(module, &options, &plain);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    if (st) {
        hone_status_free(st);
        return HONE_OK;
    }
    const hone_member *member = hone_module_find(plain, name);
    st = open_sizes(member, job->cli->arena, &k);
    if (!st) st = know_sizes(&k, job, m);
    if (!st) look_at_all(&k, member);
    if (!st) st = add_empty(job, &k);
    hone_module_release(plain);
    return st;
}

static hone_status note_emptied(hone_run_job *job, const hone_module *module) {
    known_sizes k;
    matching m = {.job = job};
    hone_cli_want *wants;
    size_t *index;
    const hone_member *member;
    hone_status st = match(job, module, &member, &wants, &m.count, &index);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    if (st) {
        hone_status_free(st);
        return HONE_OK;
    }
    m.wants = wants;
    m.index = index;
    HONE_TRY(open_sizes(member, job->cli->arena, &k));
    if (k.count == 0) return HONE_OK;
    if (member->kind == HONE_MEMBER_GRAPH && has_unknown_types(member->graph))
        return look_at_prepared(job, module, member->name, &m);
    HONE_TRY(know_sizes(&k, job, &m));
    look_at_all(&k, member);
    return add_empty(job, &k);
}

hone_status hone_run_note_empty(hone_run_job *job, const hone_module *module) {
    hone_dim_variants given = {0};
    hone_arena *arena = job->cli->arena;
    if (any_is_empty(&job->inputs)) HONE_TRY(add_empty_sizes(job, module));
    hone_graph_dim *dims = hone_arena_zalloc(arena, (job->shapes.count + 1) * sizeof *dims);
    hone_status st = dims ? HONE_OK : HONE_NO_MEMORY("sizes of inputs");
    if (!st) st = hone_dim_variants_parse(job->shapes.items, job->shapes.count, &given);
    job->empty = (hone_dim_variant){dims, 0};
    for (size_t i = 0; !st && i < given.items[0].dim_count; i++) {
        const hone_graph_dim *dim = &given.items[0].dims[i];
        if (dim->size != 0) continue;
        const char *name = hone_arena_strdup(arena, dim->name);
        if (!name) st = HONE_NO_MEMORY("sizes of inputs");
        dims[job->empty.dim_count++] = (hone_graph_dim){name, 0};
    }
    hone_dim_variants_deinit(&given);
    return st || !job->inputs.count ? st : note_emptied(job, module);
}
