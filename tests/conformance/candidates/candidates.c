/* tests/conformance/candidates/candidates.c - kernels that behave, and kernels that do not.
 *
 * All compute C[i] = 2 A[i] + 1 over 64 floats, or pretend to. Built without sanitizers, as real
 * candidates are.
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "runtime/model/abi.h"

#define COUNT 64
#define KERNEL(name)                                                                               \
    __attribute__((visibility("default"))) int32_t name(const hone_rt *rt, void *const *buffers,   \
                                                        const int64_t *sizes);                     \
    int32_t name(const hone_rt *rt, void *const *buffers, const int64_t *sizes)
#define UNUSED (void)rt, (void)buffers, (void)sizes

static void work(void *const *buffers) {
    const float *a = buffers[0];
    float *c = buffers[1];
    for (int i = 0; i < COUNT; i++)
        c[i] = 2 * a[i] + 1;
}

/* Works: who waits takes no time of its own. */
static void spend_ns(long ns) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    long end = t.tv_sec * 1000000000 + t.tv_nsec + ns;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (t.tv_sec * 1000000000 + t.tv_nsec < end);
}

KERNEL(ok) {
    UNUSED;
    work(buffers);
    return 0;
}

KERNEL(slow) {
    UNUSED;
    spend_ns(3000000);
    work(buffers);
    return 0;
}

/* As if somebody else had the CPU meanwhile. */
KERNEL(waits) {
    UNUSED;
    const struct timespec t = {0, 3000000};
    nanosleep(&t, NULL);
    work(buffers);
    return 0;
}

/* False: an argument is not at three places or more, or twice at the same one in a row. The last
 * run of a trial is for the comparison. */
static bool takes_turns(const void *place) {
    static const void *places[8], *last;
    static int count, runs, again;
    bool is_known = false;
    for (int i = 0; i < count; i++)
        is_known |= places[i] == place;
    if (!is_known && count < 8) places[count++] = place;
    again = last == place ? again + 1 : 0;
    last = place;
    return ++runs <= 20 || (again < 2 && count >= 3);
}

KERNEL(wants_turns) {
    UNUSED;
    work(buffers);
    return takes_turns(buffers[0]) ? 0 : 7;
}

/* Wants so of its output. */
KERNEL(wants_places) {
    UNUSED;
    work(buffers);
    return takes_turns(buffers[1]) ? 0 : 7;
}

/* A quarter of a second of CPU time, at first. */
KERNEL(long_work) {
    UNUSED;
    static int runs;
    struct timespec used = {0, 0};
    while (runs == 0 && used.tv_sec == 0 && used.tv_nsec < 250000000) {
        for (volatile int i = 0; i < 100000; i++) {
        }
        if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used)) return -1;
    }
    runs++;
    work(buffers);
    return 0;
}

KERNEL(hang) {
    UNUSED;
    for (;;)
        pause();
}

/* Spins, and lets no signal through. */
KERNEL(stubborn) {
    UNUSED;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (volatile int i = 0;; i++)
        i = 0;
}

/* Comes back from the checked run and hangs while it is timed. */
KERNEL(hang_later) {
    UNUSED;
    static int runs;
    work(buffers);
    if (runs++ == 0) return 0;
    for (;;)
        pause();
}

KERNEL(call_abort) {
    UNUSED;
    abort();
}

KERNEL(segfault) {
    UNUSED;
    *(volatile int *)(uintptr_t)64 = 1;
    return 0;
}

static int overflow(volatile char *before) {
    volatile char frame[4096];
    frame[0] = before[0];
    return overflow(frame) + frame[1];
}

KERNEL(stack_overflow) {
    UNUSED;
    char start = 1;
    return overflow(&start);
}

KERNEL(exit_zero) {
    UNUSED;
    work(buffers);
    exit(0);
}

KERNEL(exit_three) {
    UNUSED;
    _exit(3);
}

KERNEL(kill_itself) {
    UNUSED;
    kill(getpid(), SIGKILL);
    return 0;
}

KERNEL(endless_output) {
    UNUSED;
    for (;;) {
        printf("all work and no play makes a dull kernel\n");
        fflush(stdout);
    }
}

KERNEL(chatty) {
    UNUSED;
    for (int i = 0; i < 1000; i++)
        printf("line %d\n", i);
    work(buffers);
    return 0;
}

KERNEL(wrong) {
    UNUSED;
    work(buffers);
    ((float *)buffers[1])[17] += 0.5f;
    return 0;
}

KERNEL(nan_result) {
    UNUSED;
    work(buffers);
    ((float *)buffers[1])[3] = NAN;
    return 0;
}

/* Leaves the last element as it was. */
KERNEL(forgetful) {
    UNUSED;
    float *c = buffers[1];
    float before = c[COUNT - 1];
    work(buffers);
    c[COUNT - 1] = before;
    return 0;
}

KERNEL(wrong_later) {
    UNUSED;
    static int runs;
    work(buffers);
    if (runs++ > 0) ((float *)buffers[1])[0] = 99;
    return 0;
}

/* What it left the first time is right the next times, too. */
KERNEL(done_once) {
    UNUSED;
    static int runs;
    if (runs++ == 0) work(buffers);
    return 0;
}

KERNEL(write_behind) {
    UNUSED;
    work(buffers);
    ((volatile float *)buffers[1])[COUNT] = 1;
    return 0;
}

KERNEL(write_far_behind) {
    UNUSED;
    work(buffers);
    ((volatile float *)buffers[1])[COUNT + 4096] = 1;
    return 0;
}

KERNEL(write_before) {
    UNUSED;
    work(buffers);
    ((volatile float *)buffers[1])[-1] = 1;
    return 0;
}

KERNEL(read_behind) {
    UNUSED;
    work(buffers);
    ((volatile float *)buffers[1])[0] += ((volatile float *)buffers[0])[COUNT] * 0;
    return 0;
}

KERNEL(write_input) {
    UNUSED;
    work(buffers);
    ((volatile float *)buffers[0])[5] = 0;
    return 0;
}

KERNEL(corrupt_heap) {
    UNUSED;
    work(buffers);
    char *p = malloc(40), *q = malloc(40);
    for (volatile char *v = p; v < p + 4096; v++)
        *v = (char)0xEE;
    free(q);
    free(p);
    return 0;
}

KERNEL(fork_bomb) {
    UNUSED;
    for (int i = 0; i < 1000; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (;;)
                fork();
        }
        if (child > 0) return -1; /* it could: then the runner must clean up */
    }
    work(buffers);
    return 0;
}

KERNEL(connect_out) {
    UNUSED;
    work(buffers);
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 ? -1 : 0;
}

KERNEL(write_file) {
    UNUSED;
    work(buffers);
    return open("/tmp/hone-candidate-was-here", O_WRONLY | O_CREAT, 0600) >= 0 ? -1 : 0;
}

KERNEL(kill_parent) {
    UNUSED;
    work(buffers);
    return kill(getppid(), SIGTERM) == 0 ? -1 : 0;
}

KERNEL(scribble_on_descriptors) {
    UNUSED;
    static const char text[] = "this is certainly no message of the protocol, whatever it may be";
    for (int fd = 3; fd < 1024; fd++) {
        ssize_t ignored = write(fd, text, sizeof text);
        (void)ignored;
    }
    work(buffers);
    return 0;
}

KERNEL(close_descriptors) {
    UNUSED;
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    work(buffers);
    return 0;
}

KERNEL(error_code) {
    UNUSED;
    rt->set_error(rt, -7, "the kernel is not in the mood");
    return -7;
}

static int32_t part(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    (void)rt;
    void *const *buffers = closure;
    const float *a = buffers[0];
    float *c = buffers[1];
    for (int64_t i = begin; i < end; i++)
        c[i] = 2 * a[i] + 1;
    return 0;
}

KERNEL(in_parallel) {
    UNUSED;
    void *pair[2] = {buffers[0], buffers[1]};
    float *scratch = rt->workspace_alloc(rt, 4096);
    if (!scratch) return -1;
    scratch[0] = 1;
    rt->workspace_free(rt, scratch);
    return rt->parallel_for(rt, 0, COUNT, part, pair);
}

KERNEL(crash_in_thread) {
    UNUSED;
    void *bad[2] = {buffers[0], (void *)(uintptr_t)4096};
    return rt->parallel_for(rt, 0, COUNT, part, bad);
}

/* Uses an external function: int32_t scale(args, shapes, ranks, count). */
KERNEL(with_extern) {
    UNUSED;
    void *symbol = rt->find_extern(rt, "double_and_add");
    if (!symbol) return -2;
    hone_extern function;
    memcpy(&function, &symbol, sizeof function);
    const int64_t shape[] = {COUNT};
    const int64_t *shapes[] = {shape, shape};
    const int32_t ranks[] = {1, 1};
    return function(buffers, shapes, ranks, 2);
}

/* C[i] += A[i]: the second buffer is in and out. */
KERNEL(accumulate) {
    UNUSED;
    for (int i = 0; i < COUNT; i++)
        ((float *)buffers[1])[i] += ((const float *)buffers[0])[i];
    return 0;
}

KERNEL(accumulate_once) {
    static int runs;
    return runs++ == 0 ? accumulate(rt, buffers, sizes) : 0;
}

/* C[i] = sizes[0] A[i] + sizes[1] */
KERNEL(with_sizes) {
    (void)rt;
    if (!sizes) return -3;
    for (int i = 0; i < COUNT; i++) {
        ((float *)buffers[1])[i] =
            (float)sizes[0] * ((const float *)buffers[0])[i] + (float)sizes[1];
    }
    return 0;
}
