/* bench/ops/ops_case.c - one work: tensors, reference, checks, pairs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/ops/ops.h"
#include "bench/ops/ops_build.h"
#include "support/data/rng.h"

typedef struct kernel {
    ops_built built;
    hone_model_call *call;
} kernel;

static void kernel_run(void *ctx) {
    const kernel *self = ctx;
    int32_t code = hone_model_call_run(self->call);
    if (code != 0) bench_must(hone_model_call_status(self->call, code));
}

static void kernel_free(kernel *self) {
    hone_model_call_destroy(self->call);
    ops_built_free(&self->built);
}

static hone_tensor *make_tensor(const hone_model_port *port) {
    hone_tensor *tensor;
    bench_must(hone_tensor_create(hone_model_port_dtype(port), port->ndim, port->shape, &tensor));
    return tensor;
}

static void make_data(const hone_model_entry *entry, ops_data *out) {
    hone_rng rng = hone_rng_from_seed(1);
    *out = (ops_data){.input_count = entry->input_count, .output_count = entry->output_count};
    if (entry->input_count > OPS_MAX_PORTS || entry->output_count > OPS_MAX_PORTS) {
        bench_must(HONE_ERROR(HONE_CODE_INVALID, "more than %d tensors", OPS_MAX_PORTS));
    }
    for (int i = 0; i < entry->input_count; i++) {
        out->inputs[i] = make_tensor(&entry->inputs[i]);
        snprintf(out->input_names[i], sizeof *out->input_names, "%s", entry->inputs[i].name);
        bool is_float = hone_dtype_is_float(out->inputs[i]->dtype);
        bool is_signed = !hone_dtype_is_uint(out->inputs[i]->dtype);
        hone_tensor_fill_random(out->inputs[i], &rng,
                                is_float    ? -1
                                : is_signed ? -8
                                            : 0,
                                is_float ? 1 : 8);
    }
    for (int i = 0; i < entry->output_count; i++) {
        out->outputs[i] = make_tensor(&entry->outputs[i]);
        snprintf(out->output_names[i], sizeof *out->output_names, "%s", entry->outputs[i].name);
    }
}

/* The inputs are shared; the outputs are new. */
static ops_data other_outputs(const ops_data *data) {
    ops_data other = *data;
    for (int i = 0; i < data->output_count; i++)
        bench_must(hone_tensor_clone(data->outputs[i], &other.outputs[i]));
    return other;
}

static void free_outputs(ops_data *data) {
    for (int i = 0; i < data->output_count; i++)
        hone_tensor_destroy(data->outputs[i]);
}

static void free_data(ops_data *data) {
    free_outputs(data);
    for (int i = 0; i < data->input_count; i++)
        hone_tensor_destroy(data->inputs[i]);
}

/* Leftovers of an earlier run must not pass for a result. */
static void poison(const ops_data *data) {
    for (int i = 0; i < data->output_count; i++)
        memset(data->outputs[i]->data, 0x5a, hone_tensor_bytes(data->outputs[i]));
}

static double largest(const hone_tensor *tensor) {
    double most = 0;
    for (int64_t i = 0, n = hone_tensor_count(tensor); i < n; i++)
        most = fmax(most, fabs(hone_tensor_get_f64(tensor, i)));
    return most;
}

/* Ends the bench when outputs differ from the reference: times of wrong results mean nothing. */
static void check(const ops_work *work, const char *who, const ops_data *got,
                  const ops_data *want) {
    for (int i = 0; i < want->output_count; i++) {
        bool is_float = hone_dtype_is_float(want->outputs[i]->dtype);
        double tolerance = work->tolerance > 0 ? work->tolerance : 1e-4;
        double bound = is_float ? tolerance * largest(want->outputs[i]) : 0;
        hone_tensor_diff diff = hone_tensor_diff_make(got->outputs[i], want->outputs[i], 0, bound);
        if (diff.is_comparable && diff.bad_count == 0) continue;
        hone_str text = {0};
        hone_tensor_diff_print(&diff, want->outputs[i], &text);
        bench_must(HONE_ERROR(HONE_CODE_INTERNAL, "%s: %s is wrong: %s", work->name, who,
                              hone_str_text(&text)));
    }
}

/* The tensor of a port. A scheduled program may have for an input that it updates what was an
 * output (when it is not plain to see that all of it is written). */
static hone_tensor *tensor_of(const ops_data *data, const char *name) {
    for (int i = 0; i < data->input_count; i++) {
        if (strcmp(data->input_names[i], name) == 0) return data->inputs[i];
    }
    for (int i = 0; i < data->output_count; i++) {
        if (strcmp(data->output_names[i], name) == 0) return data->outputs[i];
    }
    bench_must(HONE_ERROR(HONE_CODE_INTERNAL, "the schedule made a new parameter '%s'", name));
    return NULL;
}

static void open_kernel(const ops_work *work, const char *set, int threads, ops_how how,
                        const char *path, const hone_graph_weight *weight, ops_data *io_data,
                        kernel *out) {
    ops_build(work, set, threads, how, path, weight, &out->built);
    if (io_data->input_count == 0) make_data(out->built.entry, io_data);
    const hone_model_entry *entry = out->built.entry;
    hone_tensor *inputs[2 * OPS_MAX_PORTS], *outputs[OPS_MAX_PORTS];
    for (int i = 0; i < entry->input_count; i++)
        inputs[i] = tensor_of(io_data, entry->inputs[i].name);
    for (int i = 0; i < entry->output_count; i++)
        outputs[i] = tensor_of(io_data, entry->outputs[i].name);
    bench_must(hone_model_call_create(out->built.model, entry, inputs, outputs, &out->call));
    poison(io_data);
    kernel_run(out);
}

static double seconds_of(const bench *b) {
    return b->seconds > 0 ? b->seconds : b->is_quick ? 0.05 : 1.5;
}

static void time_pair(bench *b, const ops_setup *setup, const char *row, bench_work ours,
                      const char *name, bench_work theirs) {
    bench_pair pair = setup->threads > 1 ? bench_run_settled_pair(ours, theirs, seconds_of(b))
                                         : bench_run_thread_pair(ours, theirs, seconds_of(b));
    bench_add_pair(b, row, "us", 1e3, name, &pair);
}

static void time_with_peer(bench *b, const ops_setup *setup, const ops_peer *peer, kernel *hone,
                           const ops_data *reference, const char *row) {
    if (b->peer && strcmp(b->peer, peer->name) != 0) return;
    const char *reason = "it cannot be had";
    void *context = peer->open(setup, &reason);
    if (!context) {
        char what[300];
        snprintf(what, sizeof what, "%s beside %s", row, peer->name);
        bench_skip(b, what, reason);
        return;
    }
    poison(setup->data);
    peer->run(context);
    if (peer->fetch) peer->fetch(context);
    check(setup->work, peer->name, setup->data, reference);
    bench_work ours = {.run = kernel_run, .ctx = hone},
               theirs = {.run = peer->run, .ctx = context, .time = peer->time};
    time_pair(b, setup, row, ours, peer->name, theirs);
    if (peer->close) peer->close(context);
}

static void name_row(const bench *b, const ops_setup *setup, const kernel *hone, char row[200]) {
    snprintf(row, 200, "%s%s, %dt, %s %s", setup->work->name,
             !setup->work->weight ? ""
             : setup->is_constant ? ", W const"
                                  : ", W run time",
             setup->threads, b->set, hone->built.source);
}

static void time_row(bench *b, const ops_setup *setup, kernel *hone, const ops_data *reference) {
    const ops_work *work = setup->work;
    char row[200];
    name_row(b, setup, hone, row);
    int peers = 0;
    for (; peers < OPS_MAX_PEERS && work->peers[peers]; peers++)
        time_with_peer(b, setup, work->peers[peers], hone, reference, row);
    if (peers == 0) {
        double spread;
        bench_work ours = {.run = kernel_run, .ctx = hone};
        double ns = bench_run_one(ours, seconds_of(b), &spread);
        bench_row alone = {
            .work = row, .metric = "time", .unit = "us", .hone = ns / 1e3, .spread = spread};
        bench_add(b, &alone);
    }
}

/* The kernel `best` beside another one of ours, which is built and checked first; a work without a
 * trace of its own has none to be beside. */
static void time_beside(bench *b, const ops_setup *setup, const ops_work *work, ops_how how,
                        const char *name, kernel *best, ops_data *ours, const ops_data *reference) {
    char path[512], row[200];
    kernel other;
    snprintf(path, sizeof path, "%s/%s_%d_%s", setup->run->dir, work->name, setup->threads, name);
    open_kernel(work, b->set, setup->threads, how, path, NULL, ours, &other);
    check(work, name, ours, reference);
    name_row(b, setup, best, row);
    bench_work mine = {.run = kernel_run, .ctx = best}, theirs = {.run = kernel_run, .ctx = &other};
    if (how == OPS_DEFAULT || strcmp(other.built.source, "trace") == 0)
        time_pair(b, setup, row, mine, name, theirs);
    kernel_free(&other);
}

static void run_tuned(bench *b, const ops_setup *setup, ops_data *ours, const ops_data *reference) {
    const ops_tuned *tuned = setup->run->tuned;
    ops_work work = *setup->work;
    char path[512], row[200];
    kernel best;
    work.program = tuned->program;
    snprintf(path, sizeof path, "%s/%s_%d_tuned", setup->run->dir, work.name, setup->threads);
    open_kernel(&work, b->set, setup->threads, OPS_BEST, path, NULL, ours, &best);
    check(&work, "what was tuned", ours, reference);
    time_row(b, setup, &best, reference);
    name_row(b, setup, &best, row);
    if (tuned->tvm) time_with_peer(b, setup, &ops_tvm, &best, reference, row);
    time_beside(b, setup, &work, OPS_DEFAULT, "default", &best, ours, reference);
    time_beside(b, setup, setup->work, OPS_BEST, "hand", &best, ours, reference);
    kernel_free(&best);
}

static void run_scheduled(bench *b, const ops_setup *setup, ops_data *ours,
                          const ops_data *reference) {
    const ops_work *work = setup->work;
    char path[512];
    kernel hone;
    int at = setup->is_constant ? abs(work->weight) - 1 : 0;
    hone_graph_weight weight = {ours->input_names[at], ours->inputs[at]};
    snprintf(path, sizeof path, "%s/%s_%d_%d", setup->run->dir, work->name, setup->threads,
             setup->is_constant);
    open_kernel(work, b->set, setup->threads, OPS_BEST, path, setup->is_constant ? &weight : NULL,
                ours, &hone);
    check(work, "Hone", ours, reference);
    time_row(b, setup, &hone, reference);
    kernel_free(&hone);
}

void ops_run_work(bench *b, const ops_work *work, int threads, const ops_run *run) {
    char path[512];
    ops_data reference = {0};
    kernel hone;
    snprintf(path, sizeof path, "%s/%s_reference", run->dir, work->name);
    open_kernel(work, b->set, 1, OPS_REFERENCE, path, NULL, &reference, &hone);
    kernel_free(&hone);
    ops_data ours = other_outputs(&reference), theirs = other_outputs(&reference);
    for (int is_constant = work->weight != 0; is_constant >= (work->weight < 0); is_constant--) {
        ops_setup setup = {work, &theirs, threads, is_constant, run};
        if (!run->tuned)
            run_scheduled(b, &setup, &ours, &reference);
        else if (!is_constant)
            run_tuned(b, &setup, &ours, &reference);
    }
    free_outputs(&ours);
    free_outputs(&theirs);
    free_data(&reference);
}
