/* bench/ops/ops_onnxruntime.c - onnxruntime, and TVM, each in a process of its own
 * (peer_onnxruntime.py, bench/search/peer_tvm.py), which times its runs by its own clock: what goes
 * through the pipe is not counted. Threads of theirs spin for some 30 ms after a run, so the
 * process is stopped while it is not asked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/ops/ops.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "support/os/proc.h"

static const char python[] = HONE_SOURCE_DIR "/build/peers/venv/bin/python";

typedef struct ort {
    hone_proc proc;
    FILE *to, *from;
    hone_tensor *output;
    char path[600]; /* of its result */
} ort;

static void ort_close(void *peer) {
    ort *self = peer;
    hone_proc_resume(&self->proc);
    if (self->to) fclose(self->to);
    if (self->from) fclose(self->from);
    hone_proc_deinit(&self->proc);
    hone_free(self);
}

static void write_inputs(const ops_setup *setup) {
    char path[600];
    for (int i = 0; i < setup->data->input_count; i++) {
        const hone_tensor *t = setup->data->inputs[i];
        snprintf(path, sizeof path, "%s/in%d.bin", setup->run->dir, i);
        bench_must(hone_fs_write_atomic(path, t->data, hone_tensor_bytes(t)));
    }
}

static void start(ort *self, const ops_setup *setup, const char *const *argv) {
    int to[2], from[2];
    bench_must(hone_pipe_open(to));
    bench_must(hone_pipe_open(from));
    hone_fd_map fds[] = {
        {to[0],   0},
        {from[1], 1}
    };
    hone_proc_options options = {
        .argv = argv, .fds = fds, .fd_count = 2, .work_dir = setup->run->dir};
    bench_must(hone_proc_spawn(&options, &self->proc));
    hone_fd_close(&to[0]);
    hone_fd_close(&from[1]);
    self->to = fdopen(to[1], "w");
    self->from = fdopen(from[0], "r");
}

/* Starts python with such arguments; NULL with the reason when it is not ready. */
static void *open_script(const ops_setup *setup, const char *name, const char *const *argv,
                         const char **out_reason) {
    static char reason[300];
    snprintf(reason, sizeof reason, "%s is not installed (scripts/peers %s)", name, name);
    *out_reason = reason;
    if (!hone_fs_exists(argv[0])) return NULL;
    ort *self = hone_calloc(1, sizeof *self);
    if (!self) return NULL;
    write_inputs(setup);
    start(self, setup, argv);
    snprintf(self->path, sizeof self->path, "%s/out0.bin", setup->run->dir);
    self->output = setup->data->outputs[0];
    char line[256] = "nothing was said";
    if (self->from && fgets(line, sizeof line, self->from) && strcmp(line, "ready\n") == 0) {
        return self;
    }
    line[strcspn(line, "\n")] = 0;
    snprintf(reason, sizeof reason, "%s: %s", name, line);
    ort_close(self);
    return NULL;
}

/* With the number of the constant input, and all dims. */
static void *ort_open(const ops_setup *setup, const char **out_reason) {
    char threads[16], constant[16], dims[OPS_MAX_DIMS][24];
    const char *argv[6 + OPS_MAX_DIMS] = {python, HONE_SOURCE_DIR "/bench/ops/peer_onnxruntime.py",
                                          setup->work->kind, threads, constant};
    snprintf(threads, sizeof threads, "%d", setup->threads);
    snprintf(constant, sizeof constant, "%d", setup->is_constant ? abs(setup->work->weight) : 0);
    int count = 5;
    int dim_count = OPS_MAX_DIMS;
    while (dim_count > 0 && setup->work->dims[dim_count - 1] == 0)
        dim_count--;
    for (int i = 0; i < dim_count; i++) {
        snprintf(dims[i], sizeof dims[i], "%lld", (long long)setup->work->dims[i]);
        argv[count++] = dims[i];
    }
    return open_script(setup, "onnxruntime", argv, out_reason);
}

static void *tvm_open(const ops_setup *setup, const char **out_reason) {
    char threads[16];
    const char *argv[] = {python,  HONE_SOURCE_DIR "/bench/search/peer_tvm.py",
                          "run",   setup->run->tuned->tvm,
                          threads, NULL};
    snprintf(threads, sizeof threads, "%d", setup->threads);
    return open_script(setup, "tvm", argv, out_reason);
}

static double ort_time(void *peer, int repeats) {
    ort *self = peer;
    char line[64];
    hone_proc_resume(&self->proc);
    fprintf(self->to, "%d\n", repeats);
    fflush(self->to);
    if (!fgets(line, sizeof line, self->from)) {
        bench_must(HONE_ERROR(HONE_CODE_UNAVAILABLE, "the process of a peer has ended"));
    }
    hone_proc_stop(&self->proc);
    return strtod(line, NULL);
}

static void ort_run(void *peer) {
    ort_time(peer, 1);
}

static void ort_fetch(void *peer) {
    ort *self = peer;
    FILE *file = fopen(self->path, "rb");
    size_t bytes = hone_tensor_bytes(self->output);
    if (!file || fread(self->output->data, 1, bytes, file) != bytes) {
        bench_must(HONE_ERROR(HONE_CODE_IO, "the result of a peer cannot be read"));
    }
    fclose(file);
}

const ops_peer ops_onnxruntime = {.name = "onnxruntime",
                                  .open = ort_open,
                                  .run = ort_run,
                                  .time = ort_time,
                                  .fetch = ort_fetch,
                                  .close = ort_close};

const ops_peer ops_tvm = {.name = "TVM",
                          .open = tvm_open,
                          .run = ort_run,
                          .time = ort_time,
                          .fetch = ort_fetch,
                          .close = ort_close};
