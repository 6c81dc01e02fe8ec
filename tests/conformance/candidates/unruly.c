/* tests/conformance/candidates/unruly.c - kernels that do not leave the sandbox, but do in it what
 * they should not: use up what there is, lie to the runner and the warden, leave threads behind.
 *
 * Those that are to pass compute C[i] = 2 A[i] + 1, as candidates.c does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/model/abi.h"
#include "tests/conformance/candidates/flush.h"

#define COUNT 64
#define RUNNER_FD 300
#define CHANNEL_FD 301
#define KERNEL(name)                                                                               \
    __attribute__((visibility("default"))) int32_t name(const hone_rt *rt, void *const *buffers,   \
                                                        const int64_t *sizes);                     \
    int32_t name(const hone_rt *rt, void *const *buffers, const int64_t *sizes)
#define UNUSED (void)rt, (void)buffers, (void)sizes

static int32_t work(void *const *buffers) {
    const float *a = buffers[0];
    float *c = buffers[1];
    for (int i = 0; i < COUNT; i++)
        c[i] = 2 * a[i] + 1;
    return 0;
}

static void wait_ms(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static bool is_first(int *runs) {
    return (*runs)++ == 0;
}

static const char anything_here;

/* A thread that goes on when this library is no longer needed. */
static bool leave(void *(*what)(void *)) {
    Dl_info own;
    pthread_t thread;
    pthread_attr_t attr;
    if (!dladdr(&anything_here, &own) || !dlopen(own.dli_fname, RTLD_NOW | RTLD_NODELETE))
        return false;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    bool is_left = pthread_create(&thread, &attr, what, NULL) == 0;
    pthread_attr_destroy(&attr);
    return is_left;
}

/* ---- what a call must leave as it was ---- */

KERNEL(flush_subnormals) {
    UNUSED;
    flush();
    return work(buffers);
}

typedef struct flushing {
    pthread_t caller;
    _Atomic bool is_done;
} flushing;

/* The caller's share takes until another thread has had one. */
static int32_t flush_elsewhere(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    flushing *f = closure;
    (void)rt;
    (void)begin;
    (void)end;
    bool is_caller = pthread_equal(pthread_self(), f->caller);
    if (!is_caller) flush();
    f->is_done = f->is_done || !is_caller;
    for (int i = 0; i < 10000 && !f->is_done; i++)
        wait_ms(1);
    return f->is_done ? 0 : -1;
}

KERNEL(flush_in_threads) {
    UNUSED;
    flushing f = {.caller = pthread_self()};
    int32_t code = rt->parallel_for(rt, 0, rt->thread_count, flush_elsewhere, &f);
    wait_ms(5); /* by then they sleep */
    return code ? code : work(buffers);
}

KERNEL(round_upward) {
    UNUSED;
    fesetround(FE_UPWARD);
    return work(buffers);
}

KERNEL(round_upward_for_itself) {
    UNUSED;
    fesetround(FE_UPWARD);
    int32_t code = work(buffers);
    fesetround(FE_TONEAREST);
    feraiseexcept(FE_INEXACT | FE_OVERFLOW); /* what was raised is nobody's */
    return code;
}

KERNEL(trap_floats) {
    UNUSED;
    int32_t code = work(buffers);
#ifdef __x86_64__
    feenableexcept(FE_DIVBYZERO | FE_INVALID);
#else
    flush(); /* not every processor can */
#endif
    return code;
}

KERNEL(copy_backwards) {
    UNUSED;
    int32_t code = work(buffers);
#ifdef __x86_64__
    __asm__ volatile("std" : : : "cc");
#else
    flush();
#endif
    return code;
}

KERNEL(trap_unaligned) {
    UNUSED;
    int32_t code = work(buffers);
#ifdef __x86_64__
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | UINT64_C(1) << 18);
#else
    flush();
#endif
    return code;
}

KERNEL(forget_registers) {
    UNUSED;
    work(buffers);
#ifdef __x86_64__
    __asm__ volatile("xor %%ebx, %%ebx\n xor %%ebp, %%ebp\n xor %%r12d, %%r12d\n"
                     "xor %%r13d, %%r13d\n xor %%r14d, %%r14d\n xor %%r15d, %%r15d\n"
                     "mov %0, %%rsp\n xor %%eax, %%eax\n ret"
                     :
                     : "r"((void **)__builtin_frame_address(0) + 1));
#else
    abort();
#endif
    return 0;
}

KERNEL(move_to_one_cpu) {
    UNUSED;
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    for (int i = CPU_SETSIZE - 1; i >= 0 && CPU_COUNT(&cpus) > 1; i--)
        CPU_CLR(i, &cpus);
    return sched_setaffinity(0, sizeof cpus, &cpus) ? -1 : work(buffers);
}

/* Finds what the ones above leave; whoever runs it does so where more than one CPU is allowed. */
KERNEL(expect_manners) {
    UNUSED;
    cpu_set_t cpus;
    volatile float least = 2e-45f, half = 0.5f, third = 3;
    if (least * third == 0) return -11;
    if (1 + half * 1e-7f != 1 || fegetround() != FE_TONEAREST) return -12;
    sched_getaffinity(0, sizeof cpus, &cpus);
    return CPU_COUNT(&cpus) == 1 && sysconf(_SC_NPROCESSORS_ONLN) > 1 ? -13 : work(buffers);
}

/* ---- calls that kill ---- */

KERNEL(call_as_i386) {
    UNUSED;
#ifdef __x86_64__
    long result = 20; /* getpid there */
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return work(buffers);
#else
    raise(SIGSYS);
    return 0;
#endif
}

KERNEL(call_as_x32) {
    UNUSED;
#ifdef __x86_64__
    syscall(0x40000000 | SYS_getpid);
    return work(buffers);
#else
    raise(SIGSYS);
    return 0;
#endif
}

static sigjmp_buf before_call;

static void jump_back(int signal_number) {
    siglongjmp(before_call, signal_number);
}

/* uretprobe and uprobe, which no filter of x86-64 gets to see (335 since Linux 6.14, 336 since
 * 6.18): SIGILL and an error for who is not in the page that the kernel makes for probes. */
KERNEL(call_probes) {
    UNUSED;
#ifdef __x86_64__
    const struct sigaction catch = {.sa_handler = jump_back};
    struct sigaction before;
    sigaction(SIGILL, &catch, &before);
    for (volatile long number = 335; number <= 336; number++) {
        if (sigsetjmp(before_call, 1) == 0 && syscall(number, -1, -1, -1, -1, -1, -1) != -1)
            return -2;
    }
    sigaction(SIGILL, &before, NULL);
#endif
    return work(buffers);
}

KERNEL(stop_itself) {
    UNUSED;
    kill(getpid(), SIGSTOP);
    return work(buffers);
}

/* ---- using up what there is ---- */

KERNEL(exhaust_descriptors) {
    UNUSED;
    while (dup(0) >= 0) {
    }
    return work(buffers);
}

static void *wait_for_gate(void *gate) {
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* All at the same time; they end when that has been counted. */
KERNEL(count_threads) {
    UNUSED;
    enum { TRIED = 5000, LIMIT = 4096 };
    static pthread_t threads[TRIED];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_attr_t attr;
    int count = 0;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    pthread_mutex_lock(&gate);
    while (count < TRIED && !pthread_create(&threads[count], &attr, wait_for_gate, &gate))
        count++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attr);
    return count > LIMIT ? -4 : work(buffers);
}

static void *sleep_forever(void *unused) {
    for (;;)
        wait_ms(1000000);
    return unused;
}

KERNEL(leave_threads) {
    UNUSED;
    static int runs;
    if (!is_first(&runs)) return work(buffers);
    for (int i = 0; i < 1000 && leave(sleep_forever); i++) {
    }
    return work(buffers);
}

/* Fails where it could get 64 GiB; what counts is having it, and touching it takes long. */
KERNEL(eat_memory) {
    UNUSED;
    static int runs;
    if (!is_first(&runs)) return work(buffers);
    const size_t bytes = (size_t)64 << 20;
    char *blocks[1024];
    int count = 0;
    while (count < 1024) {
        char *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) break;
        block[0] = 1;
        blocks[count++] = block;
    }
    for (int i = 0; i < count; i++)
        munmap(blocks[i], bytes);
    return count == 1024 ? -1 : work(buffers);
}

KERNEL(write_10_gigabytes) {
    UNUSED;
    static int runs;
    static char text[1 << 20];
    if (!is_first(&runs)) return work(buffers);
    memset(text, 'x', sizeof text);
    for (int i = 0; i < 10240; i++) {
        ssize_t ignored = write(i % 2 ? STDOUT_FILENO : STDERR_FILENO, text, sizeof text);
        (void)ignored;
    }
    return work(buffers);
}

static void *burn(void *unused) {
    for (volatile int i = 0;; i = 0)
        (void)i;
    return unused;
}

KERNEL(leave_burner) {
    UNUSED;
    static int runs;
    if (is_first(&runs) && !leave(burn)) return -3;
    return work(buffers);
}

/* ---- lies to the runner: runner/message.h ---- */

typedef struct head {
    uint32_t magic, kind;
    uint64_t ticket, nonce, bytes;
} head;
enum { HELLO, REQUEST, WAITING, STARTED, RESULT };
#define MAGIC UINT32_C(0x48464d32)

extern char **environ;

/* The head of the request lies on the stack of those who called this kernel. */
static bool find_request(head *out) {
    const char *at = __builtin_frame_address(0), *end = (const char *)environ;
    for (at = (const char *)((uintptr_t)at & ~(uintptr_t)7); at + sizeof *out < end; at += 8) {
        memcpy(out, at, sizeof *out);
        if (out->magic == MAGIC && out->kind == REQUEST) return true;
    }
    return false;
}

static void say(const head *request, uint32_t kind) {
    const head message = {MAGIC, kind, request->ticket, request->nonce, 0};
    ssize_t ignored = write(RUNNER_FD, &message, sizeof message);
    (void)ignored;
}

/* For ten seconds: whoever believes it waits that long, or for ever. */
static int32_t repeat(uint32_t kind) {
    head request;
    if (!find_request(&request)) return -5;
    for (int i = 0; i < 200; i++) {
        say(&request, kind);
        wait_ms(50);
    }
    return -6;
}

KERNEL(say_waiting) {
    UNUSED;
    return repeat(WAITING);
}

KERNEL(say_started) {
    UNUSED;
    return repeat(STARTED);
}

KERNEL(say_hello) {
    UNUSED;
    return repeat(HELLO);
}

KERNEL(answer_another) {
    UNUSED;
    const head another = {12345, 0, 0, 0, 0};
    head request = another;
    if (!find_request(&request)) return -5;
    request.ticket++;
    say(&request, RESULT);
    wait_ms(10000);
    return -6;
}

/* A message that never ends: its reader would keep gigabytes. */
KERNEL(answer_gigabytes) {
    UNUSED;
    static char block[1 << 20];
    head request;
    if (!find_request(&request)) return -5;
    const head message = {MAGIC, RESULT, request.ticket, request.nonce, UINT64_C(1) << 33};
    ssize_t sent = write(RUNNER_FD, &message, sizeof message);
    for (int i = 0; i < 512 && sent > 0; i++)
        sent = write(RUNNER_FD, block, sizeof block);
    return -6;
}

/* ---- lies to the warden: sandbox/channel.h ---- */

enum { CHANNEL_HELLO = 1, CHANNEL_TAKE, CHANNEL_DROP, CHANNEL_GIVEN };

static void *take_forever(void *unused) {
    const int64_t take[2] = {CHANNEL_TAKE, 1000000};
    for (;;)
        send(CHANNEL_FD, take, sizeof take, MSG_NOSIGNAL);
    return unused;
}

KERNEL(leave_taker) {
    UNUSED;
    static int runs;
    if (is_first(&runs) && !leave(take_forever)) return -3;
    return work(buffers);
}

KERNEL(keep_gate) {
    UNUSED;
    static int runs;
    const int64_t take[2] = {CHANNEL_TAKE, INT64_MAX};
    int64_t answer[2] = {0};
    if (!is_first(&runs)) return work(buffers);
    send(CHANNEL_FD, take, sizeof take, MSG_NOSIGNAL);
    recv(CHANNEL_FD, answer, sizeof answer, 0);
    return answer[0] == CHANNEL_GIVEN ? work(buffers) : -1;
}

KERNEL(garble_channel) {
    UNUSED;
    static int runs;
    char packet[64];
    if (!is_first(&runs)) return work(buffers);
    for (int i = 1; i <= 64; i++) {
        memset(packet, i, sizeof packet);
        send(CHANNEL_FD, packet, (size_t)i, MSG_NOSIGNAL);
    }
    const int64_t words[] = {CHANNEL_HELLO, CHANNEL_DROP, CHANNEL_GIVEN, 0, -1, INT64_MIN};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const int64_t both[2] = {words[i], INT64_MIN};
        send(CHANNEL_FD, both, sizeof both, MSG_NOSIGNAL);
    }
    return work(buffers);
}

/* ---- questions that change while they are read ---- */

static char flipped[512];
static volatile bool is_over;

static void *flip(void *mine) {
    static const char other[] = "/etc/passwd";
    while (!is_over) {
        memcpy(flipped, other, sizeof other);
        memcpy(flipped, mine, strlen(mine) + 1);
    }
    return NULL;
}

/* Everybody may read /etc/passwd, and root anything: only the warden stands before it. */
KERNEL(flip_paths) {
    UNUSED;
    static int runs;
    Dl_info own;
    pthread_t thread;
    int given = 0;
    if (!is_first(&runs)) return work(buffers);
    if (!dladdr((const void *)flipped, &own) || strlen(own.dli_fname) >= sizeof flipped) return -3;
    char mine[512];
    strcpy(mine, own.dli_fname); /* allow strcpy: measured above */
    pthread_create(&thread, NULL, flip, mine);
    for (int i = 0; i < 100000 && given >= 0; i++) {
        char start[4] = "";
        int fd = open(flipped, O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue;
        given = read(fd, start, 4) == 4 && memcmp(start, "\177ELF", 4) == 0 ? given + 1 : -1;
        close(fd);
    }
    is_over = true;
    pthread_join(thread, NULL);
    return given > 0 ? work(buffers) : -1;
}

/* ---- what is left for the next ---- */

static void *ask_forever(void *unused) {
    for (;;) {
        int fd = open("/etc/passwd", O_RDONLY);
        if (fd >= 0) _exit(9);
    }
    return unused;
}

KERNEL(leave_asker) {
    UNUSED;
    static int runs;
    if (is_first(&runs) && !leave(ask_forever)) return -3;
    return work(buffers);
}

static void *vandalise(void *unused) {
    static const char text[] = "no message of the protocol, and longer than the head of one";
    wait_ms(20);
    for (;;) {
        ssize_t ignored = write(RUNNER_FD, text, sizeof text);
        (void)ignored;
        wait_ms(1);
    }
    return unused;
}

KERNEL(leave_vandal) {
    UNUSED;
    static int runs;
    if (is_first(&runs) && !leave(vandalise)) return -3;
    return work(buffers);
}
