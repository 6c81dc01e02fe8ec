/* sandbox/sandbox.c - splitting, entering, and the held process's side of the gate. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/channel.h"
#include "sandbox/layers.h"
#include "sandbox/processes.h"
#include "sandbox/warden.h"
#include "support/core/attributes.h"
#include "support/os/proc.h"

enum { CHANNEL_FD = 301 }; /* far from the numbers that candidates scribble on */
#define END_SIGNAL SIGTERM

static hone_status system_error(const char *what) {
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "sandbox: %s: %s", what, strerror(errno));
}

/* ---- the first process of its namespace ---- */

/* Whatever is left ends with the first process: by itself where that is the first of a namespace,
 * else because its orphans come to it. */
static void end_all(bool has_namespaces) {
    if (!has_namespaces) hone_process_end_children();
    _exit(0);
}

/* Says how its child ended, to the warden. It is a process for this alone: signals that a process
 * sends itself would not reach the first of a namespace. END_SIGNAL: the warden has ended, or wants
 * the end. */
static void reap_until(pid_t child, int end_fd, const sigset_t *watched, bool has_namespaces) {
    for (int status, number;;) {
        if (sigwait(watched, &number) != 0) continue;
        if (number == END_SIGNAL) end_all(has_namespaces);
        for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (ended != child) continue;
            ssize_t ignored = write(end_fd, &status, sizeof status);
            (void)ignored; /* the warden sees the end of the pipe then */
            end_all(has_namespaces);
        }
    }
}

/* Everything but 0, 1, 2 and two others; for a kernel too old for that there is no filter either.
 */
static void close_all_but(int one, int other) {
    const int low = one < other ? one : other, high = one < other ? other : one;
    if (low > 3) (void)syscall(SYS_close_range, 3u, (unsigned)low - 1, 0u);
    if (high > low + 1) (void)syscall(SYS_close_range, (unsigned)low + 1, (unsigned)high - 1, 0u);
    (void)syscall(SYS_close_range, (unsigned)high + 1, ~0u, 0u);
}

typedef struct ends {
    int channel[2]; /* warden's, held process's */
    int end[2];     /* read by the warden, written by the first process */
} ends;

static void close_ends(ends *e) {
    hone_fd_close(&e->channel[0]);
    hone_fd_close(&e->channel[1]);
    hone_fd_close(&e->end[0]);
    hone_fd_close(&e->end[1]);
}

static hone_status open_ends(ends *e) {
    const int yes = 1;
    *e = (ends){
        {-1, -1},
        {-1, -1}
    };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e->channel) ||
        setsockopt(e->channel[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) ||
        pipe2(e->end, O_CLOEXEC)) {
        hone_status st = system_error("descriptors");
        close_ends(e);
        return st;
    }
    return HONE_OK;
}

/* What the first process waits for. It is blocked before that process is there: the first of a
 * namespace loses a signal that comes earlier, as it does where the runner has ended already. */
static void block_watched(sigset_t *watched, sigset_t *before) {
    sigemptyset(watched);
    sigaddset(watched, SIGCHLD);
    sigaddset(watched, END_SIGNAL);
    sigprocmask(SIG_BLOCK, watched, before);
}

/* Returns in the held process only. The other is told when the warden ends rather than killed, and
 * is in no group with it that could be: so nothing that was started outlives the two. */
static void become_first(const hone_sandbox *box, const ends *e, const sigset_t *watched) {
    (void)prctl(PR_SET_PDEATHSIG, END_SIGNAL, 0, 0, 0);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    pid_t child = fork();
    if (child != 0) {
        (void)setpgid(0, 0);
        close_all_but(e->end[1], e->end[1]);
        if (child < 0) _exit(1);
        reap_until(child, e->end[1], watched, box->has_namespaces);
    }
    hone_proc_follow_parent();
    (void)dup3(e->channel[1], CHANNEL_FD, O_CLOEXEC);
    close_all_but(box->options.keep_fd, CHANNEL_FD);
}

/* Does not return: what this process was before is the held one's to go on with, and to end. */
static void serve_as_warden(hone_warden *warden, pid_t first, const hone_sandbox *box, ends *e) {
    hone_fd_close(&e->channel[1]);
    hone_fd_close(&e->end[1]);
    (void)close(box->options.keep_fd);
    hone_warden_watch(warden, e->channel[0], e->end[0], box->has_namespaces);
    (void)kill(first, END_SIGNAL);
    (void)waitpid(first, NULL, 0);
    _exit(0);
}

/* Finds and opens what cannot be found and opened later. */
static hone_status prepare(const hone_sandbox_options *options, hone_loader_dirs *toolchain,
                           hone_warden **out_warden) {
    if (options->profile == HONE_SANDBOX_COMPILER) HONE_TRY(hone_toolchain_dirs_find(toolchain));
    return hone_warden_create(options, toolchain, out_warden);
}

/* NVIDIA's driver names its threads by their numbers in /proc, which shows those outside. */
static bool has_own_namespaces(const hone_sandbox_options *options) {
    return !options->unsandboxed && options->profile != HONE_SANDBOX_CARD &&
           !(options->without & HONE_SANDBOX_NAMESPACES) && hone_layer_namespaces();
}

hone_status hone_sandbox_split(const hone_sandbox_options *options, hone_sandbox *out_box) {
    ends e;
    hone_warden *warden = NULL;
    *out_box =
        (hone_sandbox){.options = *options, .channel_fd = CHANNEL_FD, .warden_pid = getpid()};
    hone_status st = prepare(options, &out_box->toolchain, &warden);
    if (!st) st = open_ends(&e);
    if (st) {
        hone_warden_destroy(warden);
        hone_loader_dirs_deinit(&out_box->toolchain);
        return st;
    }
    out_box->has_namespaces = has_own_namespaces(options);
    sigset_t watched, before;
    block_watched(&watched, &before);
    pid_t first = fork();
    if (first < 0) st = system_error("a process");
    if (first == 0) become_first(out_box, &e, &watched);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (first > 0) serve_as_warden(warden, first, out_box, &e);
    if (first < 0) close_ends(&e);
    hone_warden_destroy(warden);
    return st;
}

/* ---- entering ---- */

/* What was done about the user, as text; "" for nothing. Who has to stay root has no rights of it.
 */
static void change_user(const hone_sandbox *box, char out[32]) {
    out[0] = 0;
    uid_t user = box->options.profile != HONE_SANDBOX_COMPILER
                     ? hone_layer_user(box->warden_pid, box->has_namespaces)
                     : 0;
    if (user) {
        snprintf(out, 32, ", user %lu", (unsigned long)user);
    } else if (hone_layer_capabilities()) {
        snprintf(out, 32, ", no capabilities");
    }
}

static void describe(char layers[HONE_SANDBOX_LAYERS_BYTES], const hone_sandbox *box,
                     const char *user, int landlock) {
    char lock[32] = "";
    if (landlock) snprintf(lock, sizeof lock, ", landlock %d", landlock);
    snprintf(layers, HONE_SANDBOX_LAYERS_BYTES, "%slimits%s%s%s",
             box->options.unsandboxed ? "" : "filter, ", user,
             box->has_namespaces ? ", namespaces" : "", lock);
}

/* The listener stays open here until the warden has it. */
static hone_status say_hello(const hone_sandbox *box, int listener) {
    const hone_channel_packet hello = {.word = HONE_CHANNEL_HELLO, .number = listener};
    hone_channel_packet answer = {0};
    bool is_heard = hone_channel_send(box->channel_fd, &hello) &&
                    hone_channel_receive(box->channel_fd, &answer);
    if (listener >= 0) close(listener);
    if (!is_heard) return system_error("the warden is gone");
    if (answer.word == HONE_CHANNEL_GIVEN) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE,
                      "the sandbox's warden cannot look into the process that it is to watch "
                      "(pidfd_getfd and process_vm_readv: Linux 5.6, kernel.yama.ptrace_scope 0 or "
                      "1, and in a container CAP_SYS_PTRACE)");
}

static hone_status enter(const hone_sandbox *box, char layers[HONE_SANDBOX_LAYERS_BYTES]) {
    const hone_sandbox_options *o = &box->options;
    int listener = -1, landlock = 0;
    char user[32] = "";
    HONE_TRY(hone_layer_limits(o));
    if (!o->unsandboxed) {
        if (!(o->without & HONE_SANDBOX_USER)) change_user(box, user);
        if (!(o->without & HONE_SANDBOX_LANDLOCK)) landlock = hone_layer_landlock(&box->toolchain);
        hone_proc_follow_parent(); /* another user has forgotten whom to follow */
        const hone_filter_facts facts = {.pid = getpid(), .counts_starts = getuid() == 0};
        HONE_TRY(hone_filter_load(o->profile, &facts, &listener));
    }
    describe(layers, box, user, landlock);
    return say_hello(box, listener);
}

hone_status hone_sandbox_enter(hone_sandbox *box, char layers[HONE_SANDBOX_LAYERS_BYTES]) {
    hone_status st = enter(box, layers);
    hone_loader_dirs_deinit(&box->toolchain);
    return st;
}

/* ---- the gate ---- */

bool hone_sandbox_take_gate(hone_sandbox *box, int64_t patience_ns) {
    const hone_channel_packet take = {.word = HONE_CHANNEL_TAKE, .number = patience_ns};
    hone_channel_packet answer = {0};
    return hone_channel_send(box->channel_fd, &take) &&
           hone_channel_receive(box->channel_fd, &answer) && answer.word == HONE_CHANNEL_GIVEN;
}

void hone_sandbox_drop_gate(hone_sandbox *box) {
    const hone_channel_packet drop = {.word = HONE_CHANNEL_DROP};
    (void)hone_channel_send(box->channel_fd, &drop);
}

/* ---- names ---- */

bool hone_sandbox_read_layers(const char *text, unsigned *out_layers) {
    static const struct {
        const char *name;
        hone_sandbox_layer layer;
    } names[] = {
        {"user",       HONE_SANDBOX_USER      },
        {"namespaces", HONE_SANDBOX_NAMESPACES},
        {"landlock",   HONE_SANDBOX_LANDLOCK  },
    };
    *out_layers = 0;
    for (const char *at = text; *at; at += at[0] == ',') {
        size_t length = strcspn(at, ","), i = 0;
        while (i < HONE_COUNT(names) &&
               (strncmp(at, names[i].name, length) != 0 || strlen(names[i].name) != length))
            i++;
        if (i == HONE_COUNT(names)) return false;
        *out_layers |= names[i].layer;
        at += length;
    }
    return *text != 0;
}
