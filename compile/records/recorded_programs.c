/* compile/records/recorded_programs.c - reads stored programs and compares them with today's. */
#include "compile/records/recorded_programs.h"

#include <ctype.h>
#include <string.h>

#include "compile/records/stored_program.h"

/* ---- what the database has ---- */

typedef struct loading {
    recorded_programs *programs;
    hone_arena *arena;
    const recorded_target *target;
    bool failed;
} loading;

static bool add_workload(void *ctx, const hone_db_workload *workload) {
    loading *l = ctx;
    recorded_program program = {.hash = workload->hash, .hash_version = workload->hash_version};
    program.name = hone_arena_strdup(l->arena, workload->name ? workload->name : "");
    program.text = hone_arena_strdup(l->arena, workload->program ? workload->program : "");
    l->failed |= !program.name || !program.text || !hone_vec_push(l->programs, program);
    return !l->failed;
}

/* "num-threads is 1, here 2"; the whole text where it cannot be read. */
static const char *describe_other(const loading *l, const char *text) {
    hone_target there;
    hone_str words = {0};
    hone_status st = hone_target_parse(text, &there);
    if (!st) hone_target_print_obstacles(&there, &l->target->target, &words);
    const char *kept = hone_arena_strdup(l->arena, st ? text : hone_str_text(&words));
    if (words.failed) kept = NULL;
    hone_status_free(st);
    hone_str_deinit(&words);
    return kept;
}

static bool add_task(void *ctx, const hone_db_task *task) {
    loading *l = ctx;
    for (size_t i = 0; i < l->programs->count; i++) {
        recorded_program *program = &l->programs->data[i];
        if (!hone_hash128_equal(program->hash, task->workload)) continue;
        if (hone_db_alikes_find(&l->target->alikes, task->target) < l->target->alikes.count) {
            program->good += task->ok;
        } else if (task->ok > 0) {
            program->good_elsewhere += task->ok;
            program->other_target =
                describe_other(l, task->target_text ? task->target_text : "its text is not known");
            l->failed |= !program->other_target;
        }
    }
    return !l->failed;
}

hone_status recorded_programs_load(hone_db *db, const recorded_target *target, hone_arena *arena,
                                   recorded_programs *out) {
    loading l = {.programs = out, .arena = arena, .target = target};
    HONE_TRY(hone_db_workloads(db, NULL, add_workload, &l));
    if (!l.failed) HONE_TRY(hone_db_tasks(db, add_task, &l));
    return l.failed ? HONE_NO_MEMORY("recorded programs") : HONE_OK;
}

void recorded_programs_deinit(recorded_programs *programs) {
    for (size_t i = 0; i < programs->count; i++)
        hone_module_release(programs->data[i].module);
    hone_vec_deinit(programs);
}

/* ---- reading one ---- */

typedef struct maker {
    hone_arena *arena;
    const char *session, *version;
    bool failed;
} maker;

static bool note_session(void *ctx, const hone_db_trial *trial) {
    maker *m = ctx;
    m->session = hone_arena_strdup(m->arena, trial->session);
    m->failed |= !m->session;
    return false;
}

static bool note_version(void *ctx, const hone_db_session *session) {
    maker *m = ctx;
    if (!session->hone_version) return false;
    m->version = hone_arena_printf(m->arena, "hone %s", session->hone_version);
    m->failed |= !m->version;
    return false;
}

/* The version that the latest good record was made by. */
static hone_status find_maker(hone_db *db, const recorded_target *target, hone_arena *arena,
                              recorded_program *program) {
    maker m = {.arena = arena};
    hone_db_filter filter = {.workload = &program->hash,
                             .target = target->alikes.hashes,
                             .target_count = target->alikes.count,
                             .outcome = HONE_DB_OUTCOME_OK,
                             .limit = 1,
                             .order = HONE_DB_ORDER_LATEST};
    HONE_TRY(hone_db_trials(db, &filter, note_session, &m));
    if (m.session) HONE_TRY(hone_db_sessions(db, m.session, note_version, &m));
    program->made_by = m.version;
    return m.failed ? HONE_NO_MEMORY("recorded programs") : HONE_OK;
}

hone_status recorded_program_read(hone_db *db, const recorded_target *target, hone_arena *arena,
                                  recorded_program *program) {
    if (program->is_read) return HONE_OK;
    program->is_read = true;
    HONE_TRY(find_maker(db, target, arena, program));
    hone_status st = hone_stored_program_read(program->text, &program->module, &program->func);
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    const char *why = hone_status_message(st);
    program->unreadable = hone_arena_printf(arena, "%.*s", (int)strcspn(why, "\n"), why);
    hone_status_free(st);
    return program->unreadable ? HONE_OK : HONE_NO_MEMORY("recorded programs");
}

/* ---- beside today's ---- */

static size_t stem_length(const char *name) {
    size_t length = strlen(name);
    while (length > 1 && isdigit((unsigned char)name[length - 1]))
        length--;
    bool has_number = name[length] != '\0';
    return has_number && length > 1 && name[length - 1] == '_' ? length - 1 : length;
}

bool recorded_name_is_alike(const char *a, const char *b) {
    size_t length = stem_length(a);
    return length == stem_length(b) && memcmp(a, b, length) == 0;
}

static bool param_is_same(const hone_func *a, const hone_func *b, uint32_t index) {
    hone_buffer of_a = a->params[index].buffer, of_b = b->params[index].buffer;
    if (of_a == HONE_NO_ID || of_b == HONE_NO_ID) return of_a == of_b;
    const hone_buffer_info *x = hone_func_buffer(a, of_a), *y = hone_func_buffer(b, of_b);
    bool is_same = hone_dtype_equal(x->dtype, y->dtype) && x->rank == y->rank;
    for (uint32_t d = 0; d < x->rank && is_same; d++) {
        is_same = hone_expr_is_int(x->shape[d]) && hone_expr_is_int(y->shape[d]) &&
                  hone_expr_const(x->shape[d]) == hone_expr_const(y->shape[d]);
    }
    return is_same;
}

/* The first that differs; param_count = none. */
static uint32_t other_param(const hone_func *a, const hone_func *b) {
    uint32_t at = 0;
    while (at < a->param_count && at < b->param_count && param_is_same(a, b, at))
        at++;
    return at;
}

bool recorded_params_are_same(const hone_func *stored, const hone_func *today) {
    return stored->param_count == today->param_count &&
           other_param(stored, today) == today->param_count;
}

static void print_param(const hone_func *func, uint32_t index, hone_str *out) {
    hone_buffer id = index < func->param_count ? func->params[index].buffer : HONE_NO_ID;
    if (id == HONE_NO_ID) {
        hone_str_append(out, index < func->param_count ? "a scalar" : "not there");
        return;
    }
    const hone_buffer_info *buffer = hone_func_buffer(func, id);
    hone_str_printf(out, "%s[", HONE_DTYPE_NAME(buffer->dtype));
    for (uint32_t d = 0; d < buffer->rank; d++) {
        hone_str_append(out, d ? ", " : "");
        if (hone_expr_is_int(buffer->shape[d])) {
            hone_str_printf(out, "%lld", (long long)hone_expr_const(buffer->shape[d]));
        } else {
            hone_str_append_char(out, '?');
        }
    }
    hone_str_append(out, "]");
}

void recorded_params_describe(const hone_func *stored, const hone_func *today, hone_str *out) {
    uint32_t at = other_param(stored, today);
    hone_str_printf(out, "parameter %u is ", at + 1);
    print_param(stored, at, out);
    hone_str_append(out, " there and ");
    print_param(today, at, out);
    hone_str_append(out, " here");
}

static bool ranges_are_same(hone_range a, hone_range b) {
    return hone_expr_is_int(a.min) && hone_expr_is_int(b.min) && hone_expr_is_int(a.extent) &&
           hone_expr_is_int(b.extent) && hone_expr_const(a.min) == hone_expr_const(b.min) &&
           hone_expr_const(a.extent) == hone_expr_const(b.extent);
}

static bool axes_are_same(const hone_block *a, const hone_block *b) {
    bool is_same = a->axis_count == b->axis_count;
    for (uint32_t i = 0; i < a->axis_count && is_same; i++) {
        is_same =
            a->axes[i].kind == b->axes[i].kind && ranges_are_same(a->axes[i].dom, b->axes[i].dom);
    }
    return is_same;
}

static bool nodes_are_same(const hone_node *a, const hone_node *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == HONE_NODE_FOR) {
        return a->loop_kind == b->loop_kind && ranges_are_same(a->u.loop.range, b->u.loop.range);
    }
    return a->kind != HONE_NODE_BLOCK || axes_are_same(a->u.block.block, b->u.block.block);
}

bool recorded_loops_are_same(const hone_func *stored, const hone_func *today) {
    hone_node_id a = hone_tree_next(stored, 0, 0), b = hone_tree_next(today, 0, 0);
    while (a != HONE_NO_ID && b != HONE_NO_ID) {
        if (!nodes_are_same(hone_func_node(stored, a), hone_func_node(today, b)) ||
            hone_tree_depth(stored, a) != hone_tree_depth(today, b)) {
            return false;
        }
        a = hone_tree_next(stored, 0, a);
        b = hone_tree_next(today, 0, b);
    }
    return a == b; /* both are at their end */
}
