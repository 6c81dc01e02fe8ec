/* tests/conformance/candidates/escapes.c - every way out that is known, tried by raw system calls.
 *
 * Built once, used as an artifact and as an external library. Which of them makes the attempts, and
 * when, is written into its `world` by the test (escape_world.h). What succeeded is told by name.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/model/abi.h"
#include "tests/conformance/candidates/escape_calls.h"
#include "tests/conformance/candidates/escape_world.h"

#define COUNT 64
#define RUNNER_FD 300
#define CHANNEL_FD 301
#define THREAD_FLAGS                                                                               \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD |            \
     CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)
#define EXPORT __attribute__((visibility("default")))

#define P(pointer) ((long)(uintptr_t)(pointer))
#define KNOWN(name, ...) is_known(SYS_##name, (const long[6]){__VA_ARGS__})
#define GOT(name, ...) (make_call(SYS_##name, (const long[6]){__VA_ARGS__}) >= 0)

/* Not static: then the compiler knows that somebody else may have written it. */
__attribute__((visibility("hidden"))) escape_world world = {.magic = ESCAPE_WORLD_MAGIC};

static char room[8192] __attribute__((aligned(4096)));
static int tried;
static long known_number;  /* that should not be */
static char escaped[1024]; /* names, each with a blank before it */

static long make_call(long number, const long *a) {
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static bool is_known(long number, const long *a) {
    memset(room, 0, sizeof room);
    errno = 0;
    return make_call(number, a) >= 0 || errno != ENOSYS;
}

/* ---- attempts that take more than a line ---- */

static const char *in_dir(const escape_world *w, const char *name) {
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", w->dir, name);
    return path;
}

static bool opens_proc(pid_t pid, const char *name, int flags) {
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return GOT(openat, AT_FDCWD, P(path), flags);
}

static bool opens_by_openat2(const escape_world *w) {
    const uint64_t how[3] = {O_RDONLY, 0, 0};
    return KNOWN(openat2, AT_FDCWD, P(w->file), P(how), sizeof how);
}

static bool locks(int command) {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return KNOWN(fcntl, 1, command, P(&lock));
}

/* A child that came to life ends at once: what counts is that it could. */
static bool forks(long flags) {
    errno = 0;
    long child = syscall(SYS_clone, flags, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    return child > 0 || errno != ENOSYS;
}

static bool forks_old(void) {
    const long numbers[] = {SYS_fork, SYS_vfork};
    for (int i = 0; i < 2; i++) {
        errno = 0;
        long child = syscall(numbers[i]);
        if (child == 0) _exit(0);
        if (child > 0 || errno != ENOSYS) return true;
    }
    return false;
}

static bool reads_memory(long number, pid_t pid, uint64_t address) {
    struct {
        void *at;
        size_t bytes;
    } here = {room, 8}, there = {(void *)(uintptr_t)address, 8};
    return is_known(number, (const long[6]){pid, P(&here), 1, P(&there), 1, 0});
}

static bool queues_signal(pid_t pid) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = SIGKILL;
    info.si_code = SI_QUEUE;
    return KNOWN(rt_sigqueueinfo, pid, SIGKILL, P(&info));
}

static bool sets_limit(pid_t pid) {
    const struct rlimit limit = {3, 3};
    return KNOWN(prlimit64, pid, RLIMIT_NOFILE, P(&limit), 0);
}

/* Of the address of the limit, the low half is zero: who looks at that half only sees no limit. */
static bool sets_limit_by_high_pointer(pid_t pid) {
    void *where = (void *)(uintptr_t)(UINT64_C(1) << 32);
    struct rlimit *limit = mmap(where, 4096, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (limit == MAP_FAILED) return false;
    *limit = (struct rlimit){3, 3};
    bool is_set = KNOWN(prlimit64, pid, RLIMIT_NOFILE, P(limit), 0);
    munmap(limit, 4096);
    return is_set;
}

static bool sets_affinity(long pid) {
    unsigned long one = 1;
    return GOT(sched_setaffinity, pid, sizeof one, P(&one));
}

static bool makes_socket(void) {
    for (int family = 0; family < 46; family++) {
        if (KNOWN(socket, family, SOCK_STREAM, 0) || KNOWN(socket, family, SOCK_DGRAM, 0) ||
            KNOWN(socket, family, SOCK_RAW, 0))
            return true;
    }
    return false;
}

static bool connects_tcp(const escape_world *w) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)w->port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    long fd = syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    return KNOWN(connect, fd < 0 ? RUNNER_FD : fd, P(&to), sizeof to);
}

static socklen_t fill_address(const escape_world *w, struct sockaddr_un *to) {
    memset(to, 0, sizeof *to);
    to->sun_family = AF_UNIX;
    strcpy(to->sun_path + 1, w->socket); /* allow strcpy: shorter by its type */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(w->socket));
}

static bool connects_unix(const escape_world *w) {
    struct sockaddr_un to;
    socklen_t bytes = fill_address(w, &to);
    long fd = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    return KNOWN(connect, fd < 0 ? RUNNER_FD : fd, P(&to), bytes);
}

static bool reconnects(const escape_world *w) {
    struct sockaddr_un to;
    socklen_t bytes = fill_address(w, &to);
    return KNOWN(connect, CHANNEL_FD, P(&to), bytes) || KNOWN(connect, RUNNER_FD, P(&to), bytes);
}

static bool sends_to_address(const escape_world *w) {
    struct sockaddr_un to;
    socklen_t bytes = fill_address(w, &to);
    return KNOWN(sendto, CHANNEL_FD, P("x"), 1, MSG_DONTWAIT, P(&to), bytes) ||
           KNOWN(sendto, CHANNEL_FD, P("x"), 1, MSG_DONTWAIT, 0,
                 (long)(bytes | (UINT64_C(1) << 32))) ||
           KNOWN(sendto, CHANNEL_FD, P("x"), 1, MSG_DONTWAIT, (long)(UINT64_C(1) << 32), 0);
}

/* As root these would take memory from the whole machine: MADV_HWPOISON, MADV_SOFT_OFFLINE. */
static bool poisons_memory(void) {
    return KNOWN(madvise, P(room), 1, 100) || KNOWN(madvise, P(room), 1, 101) ||
           KNOWN(madvise, P(room), 1, (long)(100 | (UINT64_C(1) << 32)));
}

/* Output, and the sockets to the runner and the warden, are all that it was given. */
static bool has_descriptors(void) {
    for (int fd = 3; fd < 4096; fd++) {
        if (fd != RUNNER_FD && fd != CHANNEL_FD && fcntl(fd, F_GETFD) >= 0) return true;
    }
    return false;
}

/* Two calls of x86-64 pass every filter since Linux 6.14, and do nothing unless they come from the
 * page that the kernel itself puts there for probes: uretprobe, uprobe. */
static bool is_never_filtered(long number) {
#ifdef __x86_64__
    return number == 335 || number == 336;
#else
    return number < 0;
#endif
}

static bool is_listed(long number) {
    static const long listed[] = {
#define HONE_LISTED(name) SYS_##name,
#include "tests/conformance/candidates/escapes_listed.def"
#undef HONE_LISTED
    };
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        if (listed[i] == number) return true;
    }
    return is_never_filtered(number);
}

/* With arguments that do no harm anywhere. */
static bool knows_another_number(void) {
    static const long nothing[6] = {-1, -1, -1, -1, -1, -1};
    for (long number = 0; number < 1024; number++) {
        if (is_listed(number) || !is_known(number, nothing)) continue;
        known_number = number;
        return true;
    }
    return false;
}

/* ---- all of them ---- */

typedef struct escape {
    const char *name;
    bool (*attempt)(const escape_world *w);
    bool shows;
} escape;

#define HONE_ESCAPE(name, shows, expression)                                                       \
    static bool try_##name(const escape_world *w) {                                                \
        (void)w;                                                                                   \
        return expression;                                                                         \
    }
#include "tests/conformance/candidates/escapes.def"
#undef HONE_ESCAPE

static const escape escapes[] = {
#define HONE_ESCAPE(name, shows, expression) {#name, try_##name, shows},
#include "tests/conformance/candidates/escapes.def"
#undef HONE_ESCAPE
};
enum { ESCAPES = sizeof escapes / sizeof *escapes };

/* Held, none may succeed. Where nothing holds it, those that show it must, and the others, some of
 * which would end this machine, are not tried: then the names are of those that failed. */
static void attempt_all(void) {
    size_t used = 0;
    for (int i = 0; i < ESCAPES; i++) {
        const escape *e = &escapes[i];
        tried++;
        if (world.only_shown ? !e->shows || e->attempt(&world) : !e->attempt(&world)) continue;
        int count = snprintf(escaped + used, sizeof escaped - used, " %s", e->name);
        if (count > 0 && (size_t)count < sizeof escaped - used) used += (size_t)count;
    }
}

__attribute__((constructor)) static void on_load(void) {
    if (world.place == ESCAPE_IN_CONSTRUCTOR) attempt_all();
}

static const char *report(void) {
    static char text[sizeof escaped + 64];
    if (world.place == ESCAPE_IN_CALL && !tried) attempt_all();
    if (tried == ESCAPES && !escaped[0]) return NULL;
    snprintf(text, sizeof text, "%d of %d tried:%s (number %ld)", tried, ESCAPES, escaped,
             known_number);
    return text;
}

/* ---- what the runner calls ---- */

EXPORT int32_t attempt_here(const hone_rt *rt, void *const *buffers, const int64_t *sizes);
EXPORT int32_t attempt_in_extern(const hone_rt *rt, void *const *buffers, const int64_t *sizes);
EXPORT int32_t report_escapes(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
                              int32_t arg_count);

static int32_t end_kernel(const hone_rt *rt, void *const *buffers, const char *text) {
    const float *a = buffers[0];
    float *c = buffers[1];
    for (int i = 0; i < COUNT; i++)
        c[i] = 2 * a[i] + 1;
    if (!text) return 0;
    rt->set_error(rt, -1, text);
    return -1;
}

int32_t attempt_here(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    (void)sizes;
    return end_kernel(rt, buffers, report());
}

/* An external function: writes a text that says what escaped, "" for nothing. */
int32_t report_escapes(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
                       int32_t arg_count) {
    const char *text = report();
    (void)ranks, (void)arg_count;
    snprintf(args[0], (size_t)shapes[0][0], "%s", text ? text : "");
    return 0;
}

int32_t attempt_in_extern(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    static char text[sizeof escaped + 64];
    const int64_t shape[] = {sizeof text}, *shapes[] = {shape};
    const int32_t ranks[] = {1};
    void *args[] = {text}, *symbol = rt->find_extern(rt, "report_escapes");
    hone_extern function;
    (void)sizes;
    if (!symbol) return -2;
    memcpy(&function, &symbol, sizeof function);
    function(args, shapes, ranks, 1);
    return end_kernel(rt, buffers, text[0] ? text : NULL);
}
