/* tools/tune/tune_inputs.c - matches the inputs that users give with what tasks take. */
#include "tools/tune/tune_inputs.h"

#include <string.h>

#include "ir/identity/structural.h"
#include "lower/signature/signature.h"
#include "support/data/vec.h"
#include "support/os/fs.h"

/* One input of one task, under the name of its parameter or of the model's input. */
typedef struct place {
    const hone_task *task;
    uint32_t arg; /* among its buffer parameters */
    bool is_of_model;
    hone_cli_want want;
} place;

typedef struct search {
    hone_cli *cli;
    const hone_task_list *tasks;
    const char *only_task;
    HONE_VEC(place) places;
    bool is_single; /* one task: its name need not be said */
    hone_tune_inputs *out;
} search;

/* ---- what tasks take ---- */

static void describe(const hone_buffer_info *buffer, hone_cli_want *out) {
    *out = (hone_cli_want){
        .name = buffer->name, .dtype = buffer->dtype, .rank = (int32_t)buffer->rank};
    for (uint32_t d = 0; d < buffer->rank && d < HONE_MAX_RANK; d++)
        out->shape[d] = hone_expr_is_int(buffer->shape[d]) ? buffer->shape[d]->u.i : -1;
}

static hone_status add_task(search *s, const hone_task *task) {
    hone_signature signature;
    HONE_TRY(hone_signature_of(task->func, s->cli->arena, &signature));
    for (uint32_t i = 0; i < signature.buffer_count; i++) {
        place p = {.task = task, .arg = i};
        if (signature.roles[i] == HONE_PARAM_OUT) continue;
        describe(hone_func_buffer(task->func, signature.buffers[i]), &p.want);
        if (!hone_vec_push(&s->places, p)) return HONE_NO_MEMORY("inputs of tasks");
    }
    return HONE_OK;
}

/* What a call of the task's kernel gets from the inputs of the graph. */
static hone_status add_call(search *s, const hone_graph_func *graph, const hone_gbind *call,
                            size_t first, size_t count) {
    for (size_t i = first; i < first + count; i++) {
        place p = s->places.data[i];
        const hone_garg *arg = p.arg < call->arg_count ? &call->args[p.arg] : NULL;
        if (!arg || arg->kind != HONE_GARG_VALUE || arg->u.value >= graph->param_count) continue;
        p.is_of_model = true;
        p.want.name = graph->values[arg->u.value].name;
        if (!hone_vec_push(&s->places, p)) return HONE_NO_MEMORY("inputs of tasks");
    }
    return HONE_OK;
}

static hone_status add_graph(search *s, const hone_module *module, const hone_graph_func *graph,
                             const hone_task *task, size_t first, size_t count) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        if (bind->kind != HONE_GBIND_CALL_TIR) continue;
        const hone_member *member = hone_module_find(module, bind->callee);
        assert(member && member->kind == HONE_MEMBER_FUNC); /* the task was found by it */
        if (!hone_hash128_equal(hone_func_hash(member->func), task->hash)) continue;
        HONE_TRY(add_call(s, graph, bind, first, count));
    }
    return HONE_OK;
}

static hone_status add_inputs_of_model(search *s, const hone_task *task, size_t first) {
    size_t count = s->places.count - first;
    for (uint32_t m = 0; m < s->tasks->module_count; m++) {
        const hone_module *module = s->tasks->modules[m];
        for (uint32_t i = 0; i < module->member_count; i++) {
            const hone_member *member = &module->members[i];
            if (member->kind != HONE_MEMBER_GRAPH) continue;
            HONE_TRY(add_graph(s, module, member->graph, task, first, count));
        }
    }
    return HONE_OK;
}

static hone_status find_places(search *s) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->tasks->count; i++) {
        const hone_task *task = &s->tasks->items[i];
        size_t first = s->places.count;
        if (s->only_task && strcmp(task->name, s->only_task) != 0) continue;
        HONE_TRY(add_task(s, task));
        HONE_TRY(add_inputs_of_model(s, task, first));
        count++;
    }
    s->is_single = count == 1;
    return HONE_OK;
}

/* ---- whose input it is ---- */

static bool is_called(const place *p, const char *name) {
    size_t length = strlen(p->task->name);
    if (strcmp(p->want.name, name) == 0) return true;
    return !p->is_of_model && strncmp(name, p->task->name, length) == 0 && name[length] == ':' &&
           strcmp(name + length + 1, p->want.name) == 0;
}

static hone_status unknown(const search *s, const char *name) {
    hone_cli_want *wants = hone_arena_alloc(s->cli->arena, (s->places.count + 1) * sizeof *wants);
    if (!wants) return HONE_NO_MEMORY("inputs of tasks");
    for (size_t i = 0; i < s->places.count; i++) {
        const place *p = &s->places.data[i];
        wants[i] = p->want;
        if (s->is_single || p->is_of_model) continue;
        wants[i].name = hone_arena_printf(s->cli->arena, "%s:%s", p->task->name, p->want.name);
        if (!wants[i].name) return HONE_NO_MEMORY("inputs of tasks");
    }
    return hone_cli_unknown_input(wants, s->places.count, name);
}

static bool fits(const hone_cli_want *want, const hone_tensor *tensor) {
    if (!hone_dtype_equal(want->dtype, tensor->dtype) || want->rank != tensor->rank) return false;
    for (int32_t d = 0; d < want->rank; d++) {
        if (want->shape[d] != tensor->shape[d]) return false;
    }
    return true;
}

static hone_status misfit(const place *p, const hone_tensor *tensor) {
    hone_str got = {0}, wanted = {0};
    hone_tensor_print_type(tensor, &got);
    hone_tensor want = hone_tensor_view(NULL, p->want.dtype, p->want.rank, p->want.shape);
    hone_tensor_print_type(&want, &wanted);
    hone_status st =
        HONE_ERROR(HONE_CODE_INVALID, "--in: '%s' of task '%s' is %s, the file holds %s",
                   p->want.name, p->task->name, hone_str_text(&wanted), hone_str_text(&got));
    hone_str_deinit(&got);
    hone_str_deinit(&wanted);
    return st;
}

static hone_status give(search *s, const place *p, const hone_tensor *tensor) {
    hone_tune_inputs *out = s->out;
    for (size_t i = 0; i < out->count; i++) {
        if (out->given[i].task != p->task->name || out->given[i].arg != p->arg) continue;
        if (out->given[i].tensor == tensor) return HONE_OK; /* two calls of one kernel */
        return HONE_ERROR(HONE_CODE_INVALID, "--in: '%s' of task '%s' is given twice", p->want.name,
                          p->task->name);
    }
    out->given[out->count++] = (hone_given_input){p->task->name, p->arg, tensor};
    return HONE_OK;
}

/* Gives it to all places of that name that it fits. *out_named: one that has the name. */
static hone_status assign_to(search *s, const hone_cli_tensor *file, bool of_model,
                             const place **out_named, bool *out_taken) {
    for (size_t i = 0; i < s->places.count; i++) {
        const place *p = &s->places.data[i];
        if (p->is_of_model != of_model || !is_called(p, file->name)) continue;
        *out_named = p;
        HONE_TRY(hone_cli_take_as_few_bits(&p->want, file->tensor));
        if (!fits(&p->want, file->tensor)) continue;
        HONE_TRY(give(s, p, file->tensor));
        *out_taken = true;
    }
    return HONE_OK;
}

static hone_status wants_name(void) {
    return HONE_ERROR(HONE_CODE_INVALID, "--in wants NAME=FILE or TASK:NAME=FILE here");
}

static hone_status assign(search *s, const hone_cli_tensor *file) {
    const place *named = NULL;
    bool is_taken = false;
    if (!file->name) return wants_name();
    HONE_TRY(assign_to(s, file, true, &named, &is_taken));
    if (!named) HONE_TRY(assign_to(s, file, false, &named, &is_taken));
    if (is_taken) return HONE_OK;
    return named ? misfit(named, file->tensor) : unknown(s, file->name);
}

static hone_status assign_all(search *s) {
    hone_tune_inputs *out = s->out;
    HONE_TRY(find_places(s));
    out->given = hone_arena_alloc(s->cli->arena, (s->places.count + 1) * sizeof *out->given);
    if (!out->given) return HONE_NO_MEMORY("inputs of tasks");
    for (size_t i = 0; i < out->files.count; i++)
        HONE_TRY(assign(s, &out->files.data[i]));
    return HONE_OK;
}

/* A file of several tensors has their names, others are named by what stands before '='. */
static hone_status check_names(const hone_cli_list *files) {
    for (size_t i = 0; i < files->count; i++) {
        const char *text = files->items[i];
        if (!strchr(text, '=') && !hone_fs_exists(text)) return wants_name();
    }
    return HONE_OK;
}

hone_status hone_tune_inputs_load(hone_cli *cli, const hone_cli_list *files,
                                  const hone_task_list *tasks, const char *only_task,
                                  hone_tune_inputs *out_inputs) {
    search s = {.cli = cli, .tasks = tasks, .only_task = only_task, .out = out_inputs};
    *out_inputs = (hone_tune_inputs){0};
    if (!files->count) return HONE_OK;
    HONE_TRY(check_names(files));
    HONE_TRY(hone_cli_load_tensors(files, &out_inputs->files));
    hone_status st = assign_all(&s);
    hone_vec_deinit(&s.places);
    return st;
}

void hone_tune_inputs_deinit(hone_tune_inputs *inputs) {
    hone_cli_tensors_deinit(&inputs->files);
    *inputs = (hone_tune_inputs){0};
}
