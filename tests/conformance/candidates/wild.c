/* tests/conformance/candidates/wild.c - a kernel that does anything: system calls with any
 * arguments, writes to anywhere, signals, jumps, loops, as its seed says. Whoever runs it writes
 * the seed into a copy of this library, behind the mark.
 *
 * Where it comes to its end it has computed C[i] = 2 A[i] + 1, as candidates.c does.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/model/abi.h"

#define COUNT 64
#define MAX_ACTIONS 4

/* Not constant, so that the seed is read where it was written. */
static volatile struct {
    char mark[16];
    uint64_t seed;
} wild = {"the seed is here", 1};

static uint64_t state;

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
    switch (below(32)) {
    case 0:
        loop();
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
    if (!state) state = wild.seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (uint64_t i = 0, actions = 1 + below(MAX_ACTIONS); i < actions; i++)
        act();
    for (int i = 0; i < COUNT; i++)
        c[i] = 2 * a[i] + 1;
    return 0;
}
