/* runner/executor_process.c - a child process, its socket, its output. */
#include "runner/executor_process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure/wire.h"
#include "runner/executor.h"
#include "runtime/device.h"

#define END_PATIENCE_NS (2 * HONE_NS_PER_S) /* for a child whose socket closed to be gone */
#define SEND_PATIENCE_S 10
#define READ_BYTES 65536

void hone_executor_process_init(hone_executor_process *process) {
    *process = (hone_executor_process){.fd = -1, .log_fd = -1};
    hone_held_init(&process->held);
}

void hone_executor_process_deinit(hone_executor_process *process) {
    hone_executor_process_end(process);
    hone_str_deinit(&process->received);
}

void hone_executor_process_end(hone_executor_process *process) {
    hone_held_end(&process->held);
    hone_fd_close(&process->fd); /* also leaves any epoll set */
    hone_fd_close(&process->log_fd);
    hone_status_free(hone_scratch_close(&process->folder)); /* what is left the next one removes */
    hone_str_clear(&process->received);
    process->trials = 0;
    process->said_hello = false;
}

/* What a driver has compiled it keeps in the folder that is its own, or nowhere. */
static hone_status start_held(hone_executor_process *process, const hone_proc_options *options) {
    const char *folder = process->folder.path;
    hone_str temporary = {0}, cache = {0};
    hone_str_printf(&temporary, "TMPDIR=%s", folder ? folder : "/tmp");
    hone_str_printf(&cache, "POCL_CACHE_DIR=%s", folder ? folder : "");
    const char *const environment[] = {"CUDA_CACHE_DISABLE=1",
                                       folder ? hone_str_text(&temporary) : NULL,
                                       hone_str_text(&cache), NULL};
    hone_status st = hone_status_join(hone_str_check(&temporary), hone_str_check(&cache));
    if (!st) st = hone_held_start(&process->held, options, environment);
    hone_str_deinit(&temporary);
    hone_str_deinit(&cache);
    return st;
}

static hone_status spawn(hone_executor_process *process, const hone_executor_program *program,
                         int child_fd) {
    char memory[32];
    snprintf(memory, sizeof memory, "%lld", (long long)program->memory_bytes);
    const char *argv[HONE_EXECUTOR_LAUNCHER_WORDS + 13] = {NULL};
    size_t count = 0;
    while (program->launcher && program->launcher[count]) {
        if (count == HONE_EXECUTOR_LAUNCHER_WORDS) {
            return HONE_ERROR(HONE_CODE_INVALID, "the launcher has more than %d words",
                              HONE_EXECUTOR_LAUNCHER_WORDS);
        }
        argv[count] = program->launcher[count];
        count++;
    }
    argv[count++] = program->path;
    argv[count++] = "--executor";
    argv[count++] = "--memory";
    argv[count++] = memory;
    if (program->quiet_path) {
        argv[count++] = "--quiet";
        argv[count++] = program->quiet_path;
    }
    if (program->device) {
        argv[count++] = "--device";
        argv[count++] = program->device;
    }
    if (program->unsandboxed) argv[count++] = "--unsandboxed";
    if (program->without) {
        argv[count++] = "--without";
        argv[count++] = program->without;
    }
    const hone_fd_map fds[] = {
        {-1,              STDIN_FILENO    },
        {process->log_fd, STDOUT_FILENO   },
        {process->log_fd, STDERR_FILENO   },
        {child_fd,        HONE_EXECUTOR_FD}
    };
    /* core dumps: the sandbox forbids them, from inside, where it cannot race with a sanitizer */
    const hone_proc_options options = {
        .argv = argv, .fds = fds, .fd_count = HONE_COUNT(fds), .is_core_allowed = true};
    return start_held(process, &options);
}

hone_status hone_executor_process_start(hone_executor_process *process,
                                        const hone_executor_program *program) {
    int pair[2] = {-1, -1};
    hone_status st = HONE_OK;
    hone_executor_process_end(process);
    process->log_fd = memfd_create("hone-executor-output", MFD_CLOEXEC);
    if (process->log_fd < 0) {
        return HONE_ERROR(HONE_CODE_IO, "memory file: %s", strerror(errno));
    }
    if (program->device && hone_device_name_compiles(program->device))
        st = hone_scratch_open("hone-runs", &process->folder);
    if (!st) st = hone_socket_pair_open(pair);
    if (!st) st = spawn(process, program, pair[1]);
    process->fd = pair[0];
    hone_fd_close(&pair[1]);
    if (st) {
        hone_executor_process_end(process);
        return hone_status_annotate(st, "starting '%s'", program->path);
    }
    /* a request is small, but bytes of an artifact may wait for a reader that never comes */
    const struct timeval patience = {.tv_sec = SEND_PATIENCE_S};
    setsockopt(process->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return HONE_OK;
}

hone_status hone_executor_process_send(hone_executor_process *process, uint64_t ticket,
                                       uint64_t nonce, const hone_run_request *request) {
    hone_str payload = {0};
    const hone_grant grants[] = {
        {HONE_FILE_READ,    request->artifact_path},
        {HONE_FILE_READ,    request->check_path   },
        {HONE_FILE_LIBRARY, request->extern_path  },
        {HONE_FILE_FOLDER,  process->folder.path  },
    };
    process->nonce = nonce;
    HONE_TRY(hone_held_serve(&process->held, grants, HONE_COUNT(grants)));
    hone_status st = hone_run_request_encode(request, &payload);
    if (!st) {
        st = hone_message_write(process->fd, HONE_MESSAGE_REQUEST, ticket, nonce, payload.data,
                                payload.length);
    }
    hone_str_deinit(&payload);
    return st;
}

void hone_executor_process_idle(hone_executor_process *process) {
    hone_held_idle(&process->held);
}

hone_executor_received hone_executor_process_receive(hone_executor_process *process) {
    hone_str *in = &process->received;
    if (!hone_str_reserve(in, READ_BYTES)) return HONE_EXECUTOR_UNHEARD;
    ssize_t got = recv(process->fd, in->data + in->length, READ_BYTES, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return HONE_EXECUTOR_NOTHING;
    if (got <= 0) return HONE_EXECUTOR_CLOSED;
    in->length += (size_t)got;
    return HONE_EXECUTOR_BYTES;
}

/* A user-mode emulator has its own last word, behind that of the program. */
static bool is_of_emulator(const char *line, ssize_t count) {
    static const char head[] = "qemu: uncaught target signal";
    return count >= (ssize_t)sizeof head - 1 && memcmp(line, head, sizeof head - 1) == 0;
}

/* The last line of the output, without its newline and with printable characters only. */
static void last_line(const hone_executor_process *process, char *out, size_t capacity) {
    char tail[512];
    out[0] = 0;
    off_t end = process->log_fd >= 0 ? lseek(process->log_fd, 0, SEEK_END) : 0;
    if (end <= 0) return;
    off_t start = end > (off_t)sizeof tail ? end - (off_t)sizeof tail : 0;
    ssize_t got = pread(process->log_fd, tail, (size_t)(end - start), start), from = 0;
    if (got < 0) return;
    do {
        while (got > 0 && (unsigned char)tail[got - 1] <= ' ')
            got--;
        from = got;
        while (from > 0 && tail[from - 1] != '\n')
            from--;
    } while (is_of_emulator(tail + from, got - from) && (got = from) > 0);
    size_t used = 0;
    for (ssize_t i = from; i < got && used + 1 < capacity; i++) {
        unsigned char c = (unsigned char)tail[i];
        out[used++] = c >= ' ' && c < 127 ? (char)c : '?';
    }
    out[used] = 0;
}

void hone_executor_process_explain(hone_executor_process *process, const hone_clock *clock,
                                   bool kill, char *out_end, size_t end_capacity, char *out_said,
                                   size_t said_capacity) {
    hone_str end = {0};
    hone_held *held = &process->held;
    if (held->proc.pid) {
        if (kill) hone_proc_kill(&held->proc);
        hone_status_free(hone_held_wait(held, clock, hone_deadline_after(clock, END_PATIENCE_NS)));
        if (held->proc.is_ended) hone_held_print_end(held, &end);
    }
    snprintf(out_end, end_capacity, "%s", hone_str_text(&end));
    hone_str_deinit(&end);
    last_line(process, out_said, said_capacity);
}
