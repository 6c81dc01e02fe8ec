/* tuner/loop/tune_transfer.c - where a search begins that has little of its own to go on: with what
 * was good for programs like the task's.
 *
 *   the same program      on targets of its device whose records do not serve this one
 *   of the same kind      programs that differ from it in sizes only, the nearest ones
 *
 * Their fastest traces are replayed on the task's program, with tiles that are made to fit. They
 * are tried early, and are parents from the start; their times count for nothing here.
 */
#include <math.h>
#include <string.h>

#include "compile/records/stored_program.h"
#include "ir/identity/structural.h"
#include "support/core/alloc.h"
#include "tuner/loop/tune_impl.h"

/* Relatives of a task, trials of each; a task with so many trials of its own needs no advice. */
enum { RELATIVES = 3, TRIALS_OF_ONE = 2, ENOUGH = 64, MOST_TARGETS = 64 };

typedef struct relative {
    hone_module *module; /* retained */
    const hone_func *func;
    hone_hash128 hash;
    double distance;
} relative;

typedef struct family {
    hone_tune_task *task;
    hone_hash128 kind;
    relative items[RELATIVES]; /* nearest first */
    uint32_t count;
} family;

typedef struct transfer {
    hone_tuning *t;
    family *families; /* of the tasks that want advice */
    uint32_t family_count;
    hone_hash128 targets[MOST_TARGETS]; /* that serve, and from `unlike` on the others */
    size_t target_count, unlike;
    hone_status error;
} transfer;

/* ---- targets ---- */

static bool is_alike(const transfer *x, hone_hash128 hash) {
    return hone_db_alikes_find(&x->t->alikes, hash) < x->t->alikes.count;
}

/* A CPU learns from CPUs. */
static bool note_target(void *ctx, const hone_db_target *row) {
    transfer *x = ctx;
    hone_target target;
    hone_status st = hone_target_parse(row->text, &target);
    bool fits = !st && !is_alike(x, row->hash) &&
                hone_target_device(&target) == hone_target_device(&x->t->options->target);
    hone_status_free(st);
    if (fits && x->target_count < MOST_TARGETS) x->targets[x->target_count++] = row->hash;
    return true;
}

static hone_status list_targets(transfer *x) {
    const hone_db_alikes *alikes = &x->t->alikes;
    for (size_t i = 0; i < alikes->count && i < MOST_TARGETS / 2; i++)
        x->targets[x->target_count++] = alikes->hashes[i];
    x->unlike = x->target_count;
    return hone_db_targets(x->t->options->db, NULL, note_target, x);
}

/* ---- relatives ---- */

/* How far sizes are apart: in doublings, over all loops. Both trees have the same nodes. */
static double distance_of(const hone_func *a, const hone_func *b) {
    double sum = 0;
    hone_node_id i = 0, k = 0;
    while (i != HONE_NO_ID && k != HONE_NO_ID) {
        const hone_node *one = hone_func_node(a, i), *other = hone_func_node(b, k);
        if (one->kind == HONE_NODE_FOR && other->kind == HONE_NODE_FOR) {
            int64_t x = hone_expr_const(one->u.loop.range.extent);
            int64_t y = hone_expr_const(other->u.loop.range.extent);
            if (x > 0 && y > 0) sum += fabs(log2((double)x / (double)y));
        }
        i = hone_tree_next(a, 0, i);
        k = hone_tree_next(b, 0, k);
    }
    return sum;
}

static void insert(family *f, const relative *r) {
    uint32_t at = f->count;
    while (at > 0 && f->items[at - 1].distance > r->distance)
        at--;
    if (at == RELATIVES) return;
    if (f->count == RELATIVES) hone_module_release(f->items[--f->count].module);
    for (uint32_t i = f->count++; i > at; i--)
        f->items[i] = f->items[i - 1];
    f->items[at] = *r;
    hone_module_retain(r->module);
}

static void offer(transfer *x, hone_module *module, const hone_func *func, hone_hash128 hash) {
    hone_hash128 kind = hone_func_kind_hash(func);
    for (uint32_t i = 0; i < x->family_count; i++) {
        family *f = &x->families[i];
        const hone_task *task = f->task->task;
        if (!hone_hash128_equal(kind, f->kind) || hone_hash128_equal(hash, task->hash)) continue;
        insert(f, &(relative){module, func, hash, distance_of(func, task->func)});
    }
}

/* One that cannot be read is nobody's relative. */
static bool note_workload(void *ctx, const hone_db_workload *row) {
    transfer *x = ctx;
    hone_module *module;
    const hone_func *func;
    if (!row->program) return true;
    hone_status st = hone_stored_program_read(row->program, &module, &func);
    if (!st) offer(x, module, func, row->hash);
    hone_module_release(module);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY)
        x->error = st;
    else
        hone_status_free(st);
    return !x->error;
}

/* ---- taking advice ---- */

typedef struct taking {
    hone_tune_task *task;
    const hone_func *from; /* whose names the traces have; NULL: the database's of the task */
    hone_status error;
} taking;

static hone_status read_trace(const taking *g, const char *json, hone_trace *out) {
    hone_tune_task *task = g->task;
    if (!g->from) HONE_TRY(hone_tune_task_from_stored(task, json, task->arena, &json));
    HONE_TRY(hone_trace_parse_json(task->arena, json, strlen(json), "record", out));
    return g->from ? hone_trace_rename_blocks(task->arena, g->from, task->task->func, out)
                   : HONE_OK;
}

static hone_status take(const taking *g, const char *json) {
    hone_tune_task *task = g->task;
    hone_trace trace;
    hone_candidate candidate;
    HONE_TRY(read_trace(g, json, &trace));
    HONE_TRY(hone_tune_task_adopt(task, &trace, hone_rng_from_seed(0), &candidate));
    HONE_TRY(hone_tune_task_trace(task, task->arena, &candidate.trace));
    candidate.score = NAN;
    hone_tune_task_advise(task, &candidate);
    return HONE_OK;
}

/* What does not replay on this program is no advice. */
static bool visit(void *ctx, const hone_db_trial *trial) {
    taking *g = ctx;
    hone_status st = take(g, trial->trace);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY)
        g->error = st;
    else
        hone_status_free(st);
    return !g->error;
}

static hone_status ask(const transfer *x, hone_tune_task *task, const relative *r) {
    size_t first = r ? 0 : x->unlike;
    if (first == x->target_count) return HONE_OK;
    taking g = {.task = task, .from = r ? r->func : NULL};
    const hone_db_filter filter = {.workload = r ? &r->hash : &task->task->hash,
                                   .target = &x->targets[first],
                                   .target_count = x->target_count - first,
                                   .order = HONE_DB_ORDER_FASTEST,
                                   .limit = TRIALS_OF_ONE};
    hone_status st = hone_db_trials(x->t->options->db, &filter, visit, &g);
    return hone_status_join(st, g.error);
}

static hone_status advise(const transfer *x, const family *f) {
    HONE_TRY(ask(x, f->task, NULL));
    for (uint32_t i = 0; i < f->count; i++)
        HONE_TRY(ask(x, f->task, &f->items[i]));
    return HONE_OK;
}

/* ---- all tasks ---- */

static hone_status run(transfer *x) {
    HONE_TRY(list_targets(x));
    hone_status st = hone_db_workloads(x->t->options->db, NULL, note_workload, x);
    st = hone_status_join(st, x->error);
    for (uint32_t i = 0; i < x->family_count && !st; i++)
        st = advise(x, &x->families[i]);
    return st;
}

hone_status hone_tuning_transfer(hone_tuning *t) {
    transfer x = {.t = t};
    if (!t->strategy->takes_advice || t->options->space_path) return HONE_OK;
    x.families = hone_calloc(t->task_count + 1, sizeof *x.families);
    if (!x.families) return HONE_ERROR(HONE_CODE_NO_MEMORY, "transfer");
    for (uint32_t i = 0; i < t->task_count; i++) {
        hone_tune_task *task = t->tasks[i];
        if (task->known_trials >= ENOUGH || task->begins_as_written) continue;
        x.families[x.family_count++] =
            (family){.task = task, .kind = hone_func_kind_hash(task->task->func)};
    }
    hone_status st = x.family_count ? run(&x) : HONE_OK;
    for (uint32_t i = 0; i < x.family_count; i++) {
        for (uint32_t k = 0; k < x.families[i].count; k++)
            hone_module_release(x.families[i].items[k].module);
    }
    hone_free(x.families);
    return st;
}
