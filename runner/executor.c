/* runner/executor.c - reads requests, runs trials, writes results. */
#include "runner/executor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/wire.h"
#include "runner/crash_report.h"
#include "runner/message.h"
#include "runner/sandbox.h"
#include "runner/trial.h"
#include "support/proc.h"

#define FAR_FD 300 /* where the socket is moved to: candidates that scribble take low numbers */
#define ARENA_BLOCK_BYTES 16384

typedef struct executor {
    int fd;
    hone_message_head request; /* of the one that is worked on */
    hone_device *device;
    hone_trial_bench *bench;
    hone_quiet_gate gate;
    bool has_gate;
    hone_arena *arena;
    hone_str in, out;
} executor;

static hone_status send_message(executor *self, hone_message_kind kind, const hone_str *payload) {
    return hone_message_write(self->fd, kind, self->request.ticket, self->request.nonce,
                              payload ? payload->data : NULL, payload ? payload->length : 0);
}

/* The runner may be gone: then the next read says so. */
static void on_phase(void *ctx, hone_trial_phase phase) {
    hone_message_kind kind =
        phase == HONE_TRIAL_WAITING ? HONE_MESSAGE_WAITING : HONE_MESSAGE_STARTED;
    hone_status_free(send_message(ctx, kind, NULL));
}

/* Standard output and error are one memory file, which the runner reads when this process dies. */
static void forget_output(void) {
    fflush(NULL);
    if (ftruncate(STDOUT_FILENO, 0) == 0) lseek(STDOUT_FILENO, 0, SEEK_SET);
}

static hone_status serve_one(executor *self) {
    hone_run_result result;
    hone_run_request request;
    hone_run_result_init(&result);
    hone_arena_reset(self->arena);
    hone_status st = hone_run_request_decode(self->in.data, self->in.length, self->arena, &request);
    if (st) {
        hone_run_result_fail(&result, HONE_FAILURE_LOAD_ERROR, "%s", hone_status_message(st));
        hone_status_free(st);
    } else {
        forget_output();
        hone_trial_run(self->bench, &request, &result);
        fflush(NULL);
    }
    hone_str_clear(&self->out);
    st = hone_run_result_encode(&result, &self->out);
    hone_run_result_deinit(&result);
    HONE_TRY(st);
    return send_message(self, HONE_MESSAGE_RESULT, &self->out);
}

static hone_status serve_all(executor *self) {
    HONE_TRY(send_message(self, HONE_MESSAGE_HELLO, NULL));
    for (;;) {
        hone_status st = hone_message_read(self->fd, &self->request, &self->in);
        if (hone_status_code(st) == HONE_CODE_UNAVAILABLE) {
            hone_status_free(st);
            return HONE_OK; /* the runner closed its end: the normal way to stop */
        }
        HONE_TRY(st);
        if (self->request.kind == HONE_MESSAGE_REQUEST) HONE_TRY(serve_one(self));
    }
}

static hone_status move_socket(executor *self, int fd) {
    self->fd = fcntl(fd, F_DUPFD_CLOEXEC, FAR_FD);
    if (self->fd < 0) {
        return HONE_ERROR(HONE_CODE_IO, "descriptor %d is not the runner's socket: %s", fd,
                          strerror(errno));
    }
    close(fd);
    return HONE_OK;
}

static hone_status set_up(executor *self, const hone_executor_options *options) {
    hone_proc_follow_parent();
    HONE_TRY(move_socket(self, options->fd));
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (options->quiet_path) {
        HONE_TRY(hone_quiet_open(options->quiet_path, &self->gate));
        self->has_gate = true;
    }
    HONE_TRY(hone_device_create_cpu(&self->device));
    const hone_trial_options trial = {.device = self->device,
                                      .clock = hone_clock_system(),
                                      .gate = self->has_gate ? &self->gate : NULL,
                                      .on_phase = on_phase,
                                      .ctx = self};
    HONE_TRY(hone_trial_bench_create(&trial, &self->bench));
    self->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!self->arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "executor");
    hone_crash_report_install(self->bench);
    const hone_sandbox_options sandbox = {.memory_bytes = options->memory_bytes,
                                          .file_bytes = HONE_EXECUTOR_OUTPUT_BYTES,
                                          .filter = !options->unsandboxed};
    return hone_sandbox_enter(&sandbox, NULL);
}

hone_status hone_executor_serve(const hone_executor_options *options) {
    executor self = {.fd = -1, .gate = {.fd = -1}};
    hone_status st = set_up(&self, options);
    if (!st) st = serve_all(&self);
    hone_trial_bench_destroy(self.bench);
    hone_device_destroy(self.device);
    if (self.has_gate) hone_quiet_close(&self.gate);
    hone_arena_destroy(self.arena);
    hone_str_deinit(&self.in);
    hone_str_deinit(&self.out);
    if (self.fd >= 0) close(self.fd);
    return st;
}
