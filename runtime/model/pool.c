/* runtime/model/pool.c - the thread pool: threads spin for a while, then sleep.
 *
 * A loop is cut into one share per thread. A thread takes its own share in a few pieces and then
 * helps with the others', so a thread that is not running (its core was taken away) holds nobody up
 * but for the piece it is in. The calling thread is thread 0.
 *
 *   caller                                    worker
 *   fill in job, phase = open ──────────────► sees a new open phase
 *   wake sleepers                             active++, look at phase again, take pieces
 *   take pieces until none is left            active--
 *   phase = closed, wait for active == 0 ◄─── (a late worker sees closed and leaves)
 *
 * A thread that waits gives its core away now and then: the thread that it waits for may be the one
 * that needs it.
 *
 * A process that forks has none of the threads, and whatever they held is held for ever. The pool's
 * sign of life is a page that the system empties in the child: there loops run in the calling
 * thread.
 *
 * phase and active are sequentially consistent: either the worker sees closed, or the caller sees
 * that it is active. The same holds for phase and sleepers. */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/model/rt_impl.h"

#define LINE_BYTES 64
#define PIECES_PER_SHARE 4
#define SPINS_PER_CLOCK 64
#define SPINS_PER_YIELD 128
#define KEEP_CORE_NS 4000 /* who waits longer lets others have the core in between */

typedef struct share {
    _Alignas(LINE_BYTES) _Atomic int64_t next; /* first iteration that nobody has taken */
    int64_t end, step;
} share;

typedef struct worker {
    rt_pool *pool;
    int32_t index;
    pthread_t thread;
} worker;

struct rt_pool {
    _Alignas(LINE_BYTES) _Atomic uint64_t phase; /* 2k: closed; 2k + 1: job k is open */
    _Alignas(LINE_BYTES) _Atomic int32_t active;
    _Alignas(LINE_BYTES) _Atomic int32_t sleepers;
    atomic_flag is_busy; /* one job at a time */
    /* the job */
    const hone_rt *rt;
    hone_parallel_body body;
    void *closure;
    _Atomic int32_t code; /* first failure */
    /* constant */
    int32_t thread_count, started;
    int64_t spin_ns;
    const volatile char *has_threads; /* 0 in a child of fork; NULL: the system cannot tell */
    size_t page_bytes;
    share *shares;
    worker *workers;
    /* sleeping */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic bool is_ending;
};

static _Thread_local int depth; /* > 0 inside a parallel body: nested loops stay in this thread */

static inline void cpu_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void run_share(rt_pool *pool, share *s) {
    for (;;) {
        if (atomic_load_explicit(&s->next, memory_order_relaxed) >= s->end) return;
        int64_t begin = atomic_fetch_add_explicit(&s->next, s->step, memory_order_relaxed);
        if (begin >= s->end) return;
        int64_t end = begin + s->step < s->end ? begin + s->step : s->end;
        if (atomic_load_explicit(&pool->code, memory_order_relaxed) != 0) continue;
        int32_t code = pool->body(pool->rt, pool->closure, begin, end);
        int32_t none = 0;
        if (code != 0) atomic_compare_exchange_strong(&pool->code, &none, code);
    }
}

static void run_job(rt_pool *pool, int32_t index) {
    depth++;
    for (int32_t i = 0; i < pool->thread_count; i++) {
        run_share(pool, &pool->shares[(index + i) % pool->thread_count]);
    }
    depth--;
}

/* Waits for a phase that is open and not `seen`; returns it, or 0 when the pool ends. */
static uint64_t wait_for_job(rt_pool *pool, uint64_t seen) {
    int64_t give_up_ns = 0;
    for (int spins = 0;; spins++) {
        uint64_t phase = atomic_load_explicit(&pool->phase, memory_order_acquire);
        if ((phase & 1) && phase != seen) return phase;
        if (atomic_load_explicit(&pool->is_ending, memory_order_relaxed)) return 0;
        if (spins % SPINS_PER_CLOCK == 0) {
            int64_t now = now_ns();
            if (give_up_ns == 0) give_up_ns = now + pool->spin_ns;
            if (now >= give_up_ns) break;
            if (now >= give_up_ns - pool->spin_ns + KEEP_CORE_NS) sched_yield();
        }
        cpu_pause();
    }
    uint64_t phase = 0;
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    for (;;) {
        phase = atomic_load(&pool->phase);
        if ((phase & 1) && phase != seen) break;
        if (atomic_load(&pool->is_ending)) {
            phase = 0;
            break;
        }
        pthread_cond_wait(&pool->wake, &pool->lock);
    }
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
    return phase;
}

static void *worker_main(void *argument) {
    worker *self = argument;
    rt_pool *pool = self->pool;
    uint64_t seen = 0;
    for (;;) {
        uint64_t phase = wait_for_job(pool, seen);
        if (phase == 0) return NULL;
        seen = phase;
        atomic_fetch_add(&pool->active, 1);
        if (atomic_load(&pool->phase) == phase) run_job(pool, self->index);
        atomic_fetch_sub(&pool->active, 1);
    }
}

static void cut_shares(rt_pool *pool, int64_t begin, int64_t end) {
    int64_t count = end - begin, threads = pool->thread_count;
    int64_t each = count / threads, rest = count % threads, at = begin;
    for (int64_t i = 0; i < threads; i++) {
        int64_t size = each + (i < rest ? 1 : 0);
        share *s = &pool->shares[i];
        s->end = at + size;
        s->step = size > PIECES_PER_SHARE ? (size + PIECES_PER_SHARE - 1) / PIECES_PER_SHARE : 1;
        atomic_store_explicit(&s->next, at, memory_order_relaxed);
        at += size;
    }
}

static bool is_forked(const rt_pool *pool) {
    return pool->has_threads && !*pool->has_threads;
}

int32_t rt_pool_run(rt_pool *pool, const hone_rt *rt, int64_t begin, int64_t end,
                    hone_parallel_body body, void *closure) {
    if (depth > 0 || is_forked(pool) ||
        atomic_flag_test_and_set_explicit(&pool->is_busy, memory_order_acquire)) {
        return body(rt, closure, begin, end);
    }
    pool->rt = rt;
    pool->body = body;
    pool->closure = closure;
    atomic_store_explicit(&pool->code, 0, memory_order_relaxed);
    cut_shares(pool, begin, end);
    atomic_fetch_add(&pool->phase, 1); /* open */
    if (atomic_load(&pool->sleepers) > 0) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
    }
    run_job(pool, 0);
    atomic_fetch_add(&pool->phase, 1); /* closed */
    for (int spins = 1; atomic_load(&pool->active) != 0; spins++) {
        cpu_pause();
        if (spins % SPINS_PER_YIELD == 0) sched_yield();
    }
    int32_t code = atomic_load_explicit(&pool->code, memory_order_relaxed);
    atomic_flag_clear_explicit(&pool->is_busy, memory_order_release);
    return code;
}

static void watch_forks(rt_pool *pool) {
    long bytes = sysconf(_SC_PAGESIZE);
    if (bytes <= 0) return;
    pool->page_bytes = (size_t)bytes;
    char *page =
        mmap(NULL, pool->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, pool->page_bytes, MADV_WIPEONFORK) != 0) {
        munmap(page, pool->page_bytes);
        return;
    }
    *page = 1;
    pool->has_threads = page;
}

rt_pool *rt_pool_create(int32_t thread_count, int64_t spin_ns) {
    rt_pool *pool = aligned_alloc(LINE_BYTES, sizeof *pool);
    if (!pool) return NULL;
    *pool = (rt_pool){.thread_count = thread_count, .spin_ns = spin_ns};
    atomic_flag_clear(&pool->is_busy);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    watch_forks(pool);
    pool->shares = aligned_alloc(LINE_BYTES, (size_t)thread_count * sizeof *pool->shares);
    pool->workers = calloc((size_t)thread_count, sizeof *pool->workers);
    if (!pool->shares || !pool->workers) {
        rt_pool_destroy(pool);
        return NULL;
    }
    for (int32_t i = 1; i < thread_count; i++) {
        worker *w = &pool->workers[i];
        *w = (worker){.pool = pool, .index = i};
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
            rt_pool_destroy(pool);
            return NULL;
        }
        pool->started = i;
    }
    return pool;
}

static void end_threads(rt_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->is_ending, true);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int32_t i = 1; i <= pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
}

void rt_pool_destroy(rt_pool *pool) {
    if (!pool) return;
    if (!is_forked(pool)) end_threads(pool);
    if (pool->has_threads) munmap((void *)(uintptr_t)pool->has_threads, pool->page_bytes);
    free(pool->shares);
    free(pool->workers);
    free(pool);
}
