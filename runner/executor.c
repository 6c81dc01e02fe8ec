/* runner/executor.c - reads requests, runs trials, writes results. */
#include "runner/executor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/wire.h"
#include "runner/crash_report.h"
#include "runner/message.h"
#include "runner/trial.h"
#include "sandbox/sandbox.h"
#include "support/os/proc.h"

#define FAR_FD 300 /* where the socket is moved to: candidates that scribble take low numbers */
#define ARENA_BLOCK_BYTES 16384
#define COMPILED_BYTES ((int64_t)64 << 20) /* in any one file of a driver that compiles */
#define CPU_SECONDS 3600 /* of each CPU; an executor that has used more is replaced */

typedef struct executor {
    const hone_executor_options *options;
    int fd;
    hone_message_head request; /* of the one that is worked on */
    hone_device *device;
    hone_trial_bench *bench;
    hone_sandbox *box;
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

static bool take_gate(void *ctx, int64_t patience_ns) {
    return hone_sandbox_take_gate(((executor *)ctx)->box, patience_ns);
}

static void drop_gate(void *ctx) {
    hone_sandbox_drop_gate(((executor *)ctx)->box);
}

/* Standard output and error are one memory file, which the runner reads when this process dies. */
static void forget_output(void) {
    fflush(NULL);
    if (ftruncate(STDOUT_FILENO, 0) == 0) lseek(STDOUT_FILENO, 0, SEEK_SET);
}

static bool is_apart(const hone_executor_options *options) {
    return options->device && !hone_device_name_is_host(options->device);
}

/* Its driver compiles what it loads, by programs that it starts, and computes in threads that it
 * has from the beginning: it is opened where it is held. */
static bool is_compiling(const hone_executor_options *options) {
    return options->device && hone_device_name_compiles(options->device);
}

static hone_status open_device(executor *self) {
    const hone_executor_options *options = self->options;
    if (self->bench) return HONE_OK;
    int64_t memory = is_apart(options) ? options->memory_bytes : 0;
    HONE_TRY(hone_device_open(options->device ? options->device : "cpu", memory, &self->device));
    const bool has_gate = options->quiet_path != NULL;
    const bool is_card = options->device && hone_device_name_is_alone(options->device);
    const hone_trial_options trial = {.device = self->device,
                                      .is_card = is_card,
                                      .clock = hone_clock_system(),
                                      .take_gate = has_gate ? take_gate : NULL,
                                      .drop_gate = has_gate ? drop_gate : NULL,
                                      .on_phase = on_phase,
                                      .ctx = self};
    HONE_TRY(hone_trial_bench_create(&trial, &self->bench));
    hone_crash_report_install(self->bench);
    return HONE_OK;
}

/* The first request brings the folder that a compiling device writes into. */
static void run_trial(executor *self, const hone_run_request *request, hone_run_result *result) {
    hone_status st = open_device(self);
    if (st) {
        hone_run_result_fail(result, HONE_FAILURE_DEVICE_LOST, "%s", hone_status_message(st));
        hone_status_free(st);
        return;
    }
    hone_trial_run(self->bench, request, result);
}

static hone_status serve_one(executor *self) {
    hone_run_result result;
    hone_run_request request;
    hone_run_result_init(&result);
    hone_arena_reset(self->arena);
    hone_status st = hone_run_request_decode(self->in.data, self->in.length, self->arena, &request);
    if (st) {
        bool is_machines = hone_status_code(st) == HONE_CODE_NO_MEMORY;
        hone_run_result_fail(&result,
                             is_machines ? HONE_FAILURE_DEVICE_LOST : HONE_FAILURE_LOAD_ERROR, "%s",
                             hone_status_message(st));
        hone_status_free(st);
    } else {
        forget_output();
        run_trial(self, &request, &result);
        fflush(NULL);
    }
    hone_str_clear(&self->out);
    st = hone_run_result_encode(&result, &self->out);
    hone_run_result_deinit(&result);
    HONE_TRY(st);
    return send_message(self, HONE_MESSAGE_RESULT, &self->out);
}

static hone_status serve_all(executor *self, const char *layers) {
    hone_str_append(&self->out, layers);
    HONE_TRY(hone_str_check(&self->out));
    HONE_TRY(send_message(self, HONE_MESSAGE_HELLO, &self->out));
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
    if (self->fd < 0 && (errno == EINVAL || errno == EMFILE)) { /* it lies beyond the limit */
        return HONE_ERROR(HONE_CODE_IO,
                          "%ld files may be open, more than %d are needed (ulimit -n)",
                          sysconf(_SC_OPEN_MAX), FAR_FD);
    }
    if (self->fd < 0) {
        return HONE_ERROR(HONE_CODE_IO, "descriptor %d is not the runner's socket: %s", fd,
                          strerror(errno));
    }
    close(fd);
    return HONE_OK;
}

/* A card is opened before a foreign byte is there: its library opens what it needs, and finds
 * itself at home. */
static hone_status set_up(executor *self) {
    HONE_TRY(move_socket(self, self->options->fd));
    setvbuf(stdout, NULL, _IOLBF, 0);
    self->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!self->arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "executor");
    return is_compiling(self->options) ? HONE_OK : open_device(self);
}

static hone_status serve_held(const hone_executor_options *options, hone_sandbox *box) {
    char layers[HONE_SANDBOX_LAYERS_BYTES];
    executor self = {.options = options, .fd = -1, .box = box};
    hone_status st = set_up(&self);
    if (!st) st = hone_sandbox_enter(box, layers);
    if (!st) st = serve_all(&self, layers);
    hone_trial_bench_destroy(self.bench);
    hone_device_destroy(self.device);
    hone_arena_destroy(self.arena);
    hone_str_deinit(&self.in);
    hone_str_deinit(&self.out);
    if (self.fd >= 0) close(self.fd);
    return st;
}

static int64_t cpu_seconds(void) {
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return CPU_SECONDS * (int64_t)(cpus > 0 ? cpus : 1);
}

static hone_sandbox_profile profile_of(const hone_executor_options *options) {
    if (is_compiling(options)) return HONE_SANDBOX_COMPILER;
    return is_apart(options) ? HONE_SANDBOX_CARD : HONE_SANDBOX_CANDIDATE;
}

hone_status hone_executor_serve(const hone_executor_options *options) {
    /* a card's library reserves more address space than any machine has memory */
    const hone_sandbox_options sandbox = {
        .profile = profile_of(options),
        .control_fd = options->control_fd,
        .keep_fd = options->fd,
        .quiet_path = options->quiet_path,
        .memory_bytes = is_apart(options) && !is_compiling(options) ? 0 : options->memory_bytes,
        .file_bytes = is_compiling(options) ? COMPILED_BYTES : HONE_EXECUTOR_OUTPUT_BYTES,
        .cpu_seconds = cpu_seconds(),
        .unsandboxed = options->unsandboxed,
        .without = options->without};
    hone_sandbox box;
    if (fcntl(options->fd, F_GETFD) < 0 || fcntl(options->control_fd, F_GETFD) < 0) {
        return HONE_ERROR(HONE_CODE_IO,
                          "descriptor %d is not the runner's socket, or %d not its "
                          "warden's: %s",
                          options->fd, options->control_fd, strerror(errno));
    }
    hone_proc_follow_parent();
    HONE_TRY(hone_sandbox_split(&sandbox, &box));
    return serve_held(options, &box);
}
