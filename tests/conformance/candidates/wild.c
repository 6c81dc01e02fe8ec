/* tests/conformance/candidates/wild.c - a kernel that does anything: system calls with any
 * arguments, writes to anywhere, signals, timers, jumps, loops, other modes of arithmetic, as its
 * seed says. Whoever runs it writes the seed into a copy of this library, behind the mark.
 *
 * Where it comes to its end it has computed C[i] = 2 A[i] + 1, as candidates.c does.
 */
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "runtime/model/abi.h"

#define COUNT 64
#define MAX_ACTIONS 4
#define MOST_CALM 64

/* Not constant, so that the seed is read where it was written. */
static volatile struct {
    char mark[16];
    uint64_t seed;
} wild = {"the seed is here", 1};

static uint64_t state, calm; /* calm: how many calls do nothing but their work */

/* xorshift64*, Vigna 2014. */
static uint64_t draw(void) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(2685821657736338717);
}

static uint64_t below(uint64_t bound) {
    return draw() % bound;
}

static char scratch[4096];

/* What might be an address, a descriptor, a length, a flag, a process. */
static long any_word(void) {
    volatile uintptr_t here = (uintptr_t)&here; /* on the stack, unseen by the compiler */
    switch (below(12)) {
    case 0:
        return 0;
    case 1:
        return -1;
    case 2:
        return (long)below(16);
    case 3:
        return (long)below(400);
    case 4:
        return getpid();
    case 5:
        return getppid();
    case 6:
        return (long)(scratch + below(sizeof scratch));
    case 7:
        return (long)here;
    case 8:
        return (long)(uintptr_t)any_word;
    case 9:
        return 1L << below(63);
    case 10:
        return (long)(uintptr_t)malloc(1 + below(10000));
    default:
        return (long)draw();
    }
}

static void call_anything(void) {
    for (uint64_t i = 0, calls = 1 + below(40); i < calls; i++) {
        long number = below(50) ? (long)below(470) : (long)draw();
        syscall(number, any_word(), any_word(), any_word(), any_word(), any_word(), any_word());
    }
}

static void write_anywhere(void) {
    char here;
    char *from[] = {scratch,
                    &here,
                    malloc(100),
                    (char *)&state,
                    (char *)(uintptr_t)write_anywhere,
                    (char *)(uintptr_t)memcpy};
    char *at = from[below(sizeof from / sizeof *from)];
    int64_t reach = INT64_C(1) << below(24);
    for (uint64_t i = 0, writes = 1 + below(64); i < writes; i++)
        ((volatile char *)at)[(int64_t)below(2 * (uint64_t)reach) - reach] = (char)draw();
}

static void fill_descriptors(void) {
    for (size_t i = 0; i < sizeof scratch; i++)
        scratch[i] = (char)draw();
    for (int i = 0; i < 16; i++) {
        int fd = below(2) ? (int)below(20) : 290 + (int)below(20);
        if (below(4) == 0)
            close(fd);
        else if (below(3) == 0)
            dup2((int)below(320), fd);
        else if (write(fd, scratch, below(sizeof scratch)) < 0)
            continue;
    }
}

static void *run_thread(void *unused) {
    (void)unused;
    call_anything();
    return NULL;
}

static void start_threads(void) {
    pthread_t thread;
    for (uint64_t i = 0, threads = 1 + below(8); i < threads; i++)
        (void)pthread_create(&thread, NULL, run_thread, NULL);
}

static void send_signals(void) {
    int number = (int)below(65);
    if (below(2)) signal(number, below(2) ? SIG_IGN : SIG_DFL);
    if (below(3) == 0) kill((pid_t)any_word(), number);
    if (below(2)) raise(number);
}

static void change_memory(void) {
    uintptr_t page = (uintptr_t)any_word() & ~(uintptr_t)4095;
    size_t bytes = (1 + below(64)) * 4096;
    switch (below(3)) {
    case 0:
        (void)mprotect((void *)page, bytes, (int)below(8));
        break;
    case 1:
        (void)munmap((void *)page, bytes);
        break;
    default:
        (void)mmap((void *)page, bytes, (int)below(8), MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                   0);
    }
}

static void damage_heap(void) {
    char *block = malloc(1 + below(2000));
    if (!block) return;
    volatile uintptr_t at = (uintptr_t)block; /* whose end the compiler does not see */
    memset((void *)at, (int)draw(), below(4000));
    free(block);
    if (below(2)) free((void *)(at + below(2) * 8));
}

static void jump(void) {
    void (*to)(void) = (void (*)(void))(uintptr_t)any_word();
    to();
}

/* ---- what those that come after it would notice ---- */

static float *results;
static const float *inputs;

/* At, before and behind what it is given. */
static void write_results(void) {
    float *at = below(2) ? results : (float *)(uintptr_t)inputs;
    uint64_t writes = 1 + below(8), reach = below(4) ? COUNT : UINT64_C(1) << below(16);
    for (uint64_t i = 0; i < writes; i++) {
        uint32_t bits = (uint32_t)draw();
        memcpy(at + (int64_t)below(2 * reach) - (int64_t)(below(4) ? 0 : reach), &bits,
               sizeof bits);
    }
}

/* How numbers are rounded, which way strings go. */
static void change_modes(void) {
    static const int ways[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    if (below(2)) fesetround(ways[below(3)]);
#ifdef __x86_64__
    if (below(2)) __builtin_ia32_ldmxcsr((unsigned)draw() & 0xffff);
    if (below(4) == 0) __asm__ volatile("std" ::: "cc");
#endif
}

static void set_timers(void) {
    struct itimerval soon = {
        .it_value = {0, 1 + (suseconds_t)below(20000)}
    };
    if (below(2)) soon.it_interval.tv_usec = 1 + (suseconds_t)below(5000);
    if (below(2)) signal(SIGALRM, SIG_IGN);
    (void)setitimer((int)below(3), &soon, NULL);
}

static void block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void return_to_fault(int number) {
    (void)number;
}

/* A fault whose handler returns to it. */
static void handle_faults(void) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
    struct sigaction how = {.sa_handler = below(2) ? return_to_fault : SIG_IGN};
    if (below(2)) how.sa_flags = SA_NODEFER | SA_ONSTACK;
    sigaction(faults[below(6)], &how, NULL);
    if (below(2)) *(volatile char *)(uintptr_t)(8 * below(500)) = 1;
}

static int go_down(uint64_t calls) {
    volatile char frame[1000];
    frame[calls % sizeof frame] = (char)calls;
    return (calls ? go_down(calls - 1) : 0) + frame[calls % sizeof frame];
}

/* Over its own frame, and those of its callers. */
static void smash_stack(void) {
    volatile uintptr_t here = (uintptr_t)&here;
    memset((void *)here, (int)draw(), 8 + below(UINT64_C(1) << (3 + below(14))));
}

static void take_memory(void) {
    for (uint64_t i = 0, pieces = 1 + below(40); i < pieces; i++) {
        size_t bytes = (size_t)1 << (16 + below(12));
        char *piece = malloc(bytes);
        if (piece) memset(piece, 1, bytes);
    }
}

static void wait_long(void) {
    struct timespec t = {(time_t)below(2), (long)below(300000000)};
    if (below(8) == 0) (void)pause();
    (void)nanosleep(&t, NULL);
}

static void *write_later(void *unused) {
    for (uint64_t i = 0, times = below(2000); i < times; i++) {
        struct timespec t = {0, (long)below(100000)};
        (void)nanosleep(&t, NULL);
        results[below(COUNT)] = (float)i;
    }
    return unused;
}

static void leave_thread(void) {
    pthread_t thread;
    (void)pthread_create(&thread, NULL, write_later, NULL);
}

static void spin_at_exit(void) {
    while (below(2) < 2) {
    }
}

static void hang_exit(void) {
    (void)atexit(below(2) ? spin_at_exit : abort);
}

static void disturb(void) {
    static void (*const ways[])(void) = {write_results, change_modes, set_timers,  block_signals,
                                         handle_faults, smash_stack,  take_memory, wait_long,
                                         leave_thread,  hang_exit};
    uint64_t way = below(11);
    if (way < 10)
        ways[way]();
    else
        (void)go_down(UINT64_C(1) << below(16));
}

static void leave(void) {
    switch (below(4)) {
    case 0:
        exit((int)draw());
    case 1:
        _exit((int)draw());
    case 2:
        abort();
    default:
        pthread_exit(NULL);
    }
}

static void loop(void) {
    while (below(UINT64_C(1) << 40)) {
    }
}

static void act(void) {
    switch (below(44)) {
    case 0:
        if (below(4) == 0) loop();
        break;
    case 1:
        leave();
        break;
    case 2:
        jump();
        break;
    case 3:
    case 4:
        damage_heap();
        break;
    case 5:
    case 6:
    case 7:
        change_memory();
        break;
    case 8:
    case 9:
    case 10:
        send_signals();
        break;
    case 11:
    case 12:
        start_threads();
        break;
    case 13:
    case 14:
    case 15:
    case 16:
        fill_descriptors();
        break;
    case 17:
    case 18:
    case 19:
    case 20:
        write_anywhere();
        break;
    case 21:
    case 22:
    case 23:
    case 24:
    case 25:
    case 26:
    case 27:
    case 28:
    case 29:
    case 30:
    case 31:
    case 32:
        disturb();
        break;
    default:
        call_anything();
    }
}

__attribute__((visibility("default"))) int32_t wild_kernel(const hone_rt *rt, void *const *buffers,
                                                           const int64_t *sizes);
int32_t wild_kernel(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    const float *a = buffers[0];
    float *c = buffers[1];
    (void)rt, (void)sizes;
    inputs = a, results = c;
    if (!state) {
        state = wild.seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
        calm = below(2) ? 0 : below(MOST_CALM);
    }
    for (uint64_t i = 0, actions = calm ? 0 : 1 + below(MAX_ACTIONS); i < actions; i++)
        act();
    /* from then on now and then, or always, or never again */
    calm = calm ? calm - 1 : below(2) ? UINT64_MAX : below(3) * below(MOST_CALM);
    for (int i = 0; i < COUNT; i++)
        c[i] = 2 * a[i] + 1;
    return 0;
}
