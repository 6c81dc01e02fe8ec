/* runtime/roofline.c - see roofline.h. */
#include "runtime/roofline.h"

#include <math.h>
#include <string.h>

#include "runtime/model/model_rt.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Chains enough for two units of a latency of five. */
enum { CHAINS = 12, TURNS = 20000, RUNS = 9 };
#define MEMORY_BYTES ((size_t)64 << 20) /* a share of more than caches hold */

/* Multiply-adds of one thread: TURNS rounds of CHAINS vectors. Returns what keeps them from being
 * left out; *out_lanes: floats in a vector. */
typedef float (*flops_kernel)(int32_t *out_lanes);

#define EACH_CHAIN(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

/* Chains are variables, not an array, so that they stay in registers. */
#define DEFINE_KERNEL(name, attribute, vector, lanes, set, fma, store)                             \
    attribute static float name(int32_t *out_lanes) {                                              \
        const vector factor = set(0.999F), term = set(0.001F);                                     \
        vector all = term;                                                                         \
        float out[lanes];                                                                          \
        EACH_CHAIN(BEGIN_##name)                                                                   \
        for (int i = 0; i < TURNS; i++) {                                                          \
            EACH_CHAIN(TURN_##name)                                                                \
        }                                                                                          \
        EACH_CHAIN(END_##name)                                                                     \
        store(out, all);                                                                           \
        *out_lanes = lanes;                                                                        \
        return out[0];                                                                             \
    }

static float set_one(float x) {
    return x;
}
static float fma_one(float a, float b, float c) {
    return a * b + c;
}
static void store_one(float *out, float x) {
    *out = x;
}
#define BEGIN_plain_flops(c) float sum##c = set_one(1.0F + (float)(c));
#define TURN_plain_flops(c) sum##c = fma_one(sum##c, factor, term);
#define END_plain_flops(c) all = fma_one(sum##c, factor, all);
DEFINE_KERNEL(plain_flops, , float, 1, set_one, fma_one, store_one)

#if defined(__x86_64__)
#define BEGIN_avx2_flops(c) __m256 sum##c = _mm256_set1_ps(1.0F + (float)(c));
#define TURN_avx2_flops(c) sum##c = _mm256_fmadd_ps(sum##c, factor, term);
#define END_avx2_flops(c) all = _mm256_fmadd_ps(sum##c, factor, all);
DEFINE_KERNEL(avx2_flops, __attribute__((target("avx2,fma"))), __m256, 8, _mm256_set1_ps,
              _mm256_fmadd_ps, _mm256_storeu_ps)
#define BEGIN_avx512_flops(c) __m512 sum##c = _mm512_set1_ps(1.0F + (float)(c));
#define TURN_avx512_flops(c) sum##c = _mm512_fmadd_ps(sum##c, factor, term);
#define END_avx512_flops(c) all = _mm512_fmadd_ps(sum##c, factor, all);
DEFINE_KERNEL(avx512_flops, __attribute__((target("avx512f"))), __m512, 16, _mm512_set1_ps,
              _mm512_fmadd_ps, _mm512_storeu_ps)

static flops_kernel widest(void) {
    if (__builtin_cpu_supports("avx512f")) return avx512_flops;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2_flops
                                                                           : plain_flops;
}
#elif defined(__aarch64__)
#include <arm_neon.h>
static float32x4_t fma_neon(float32x4_t a, float32x4_t b, float32x4_t c) {
    return vfmaq_f32(c, a, b);
}
#define BEGIN_neon_flops(c) float32x4_t sum##c = vdupq_n_f32(1.0F + (float)(c));
#define TURN_neon_flops(c) sum##c = fma_neon(sum##c, factor, term);
#define END_neon_flops(c) all = fma_neon(sum##c, factor, all);
DEFINE_KERNEL(neon_flops, , float32x4_t, 4, vdupq_n_f32, fma_neon, vst1q_f32)

static flops_kernel widest(void) {
    return neon_flops;
}
#else
static flops_kernel widest(void) {
    return plain_flops;
}
#endif

typedef struct probe {
    flops_kernel kernel;
    int32_t lanes;
    float *memory;
    int64_t floats; /* of one thread's share */
    _Atomic int32_t sink;
} probe;

static int32_t compute(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    probe *p = closure;
    int32_t lanes = 0;
    (void)rt;
    for (int64_t i = begin; i < end; i++)
        p->sink += p->kernel(&lanes) > 0;
    return 0;
}

static int32_t read_memory(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    probe *p = closure;
    (void)rt;
    for (int64_t share = begin; share < end; share++) {
        const float *memory = p->memory + share * p->floats;
        float sums[16] = {0};
        for (int64_t i = 0; i + 16 <= p->floats; i += 16) {
            for (int k = 0; k < 16; k++)
                sums[k] += memory[i + k];
        }
        p->sink += sums[0] > 0;
    }
    return 0;
}

/* The best of some runs, one share of work for each thread. */
static double best_ns(const hone_rt *rt, hone_parallel_body body, probe *p) {
    double best = INFINITY;
    for (int run = 0; run <= RUNS; run++) { /* the first one warms up */
        int64_t start = hone_clock_now(hone_clock_system());
        rt->parallel_for(rt, 0, rt->thread_count, body, p);
        double ns = (double)(hone_clock_now(hone_clock_system()) - start);
        if (run > 0) best = fmin(best, ns);
    }
    return best;
}

static hone_status measure(const hone_rt *rt, hone_roofline *out) {
    int32_t threads = rt->thread_count, lanes = 1;
    probe p = {.kernel = widest()};
    p.memory = hone_aligned_alloc(64, MEMORY_BYTES);
    if (!p.memory) return HONE_ERROR(HONE_CODE_NO_MEMORY, "measuring the machine");
    memset(p.memory, 0, MEMORY_BYTES);
    p.floats = (int64_t)(MEMORY_BYTES / sizeof(float)) / threads;
    p.sink += p.kernel(&lanes) > 0;
    double work = 2.0 * TURNS * CHAINS * lanes * threads;
    out->flops_per_ns = work / best_ns(rt, compute, &p);
    double bytes = (double)p.floats * sizeof(float) * threads;
    out->bytes_per_ns = bytes / best_ns(rt, read_memory, &p);
    hone_free(p.memory);
    return HONE_OK;
}

hone_status hone_roofline_measure(int32_t threads, hone_roofline *out) {
    hone_rt *rt;
    const hone_model_rt_options options = {.thread_count = threads};
    *out = (hone_roofline){0};
    if (hone_model_rt_create(&options, &rt) != 0)
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%d threads cannot be started", (int)threads);
    hone_status st = measure(rt, out);
    hone_model_rt_destroy(rt);
    return st;
}

double hone_roofline_ns(const hone_roofline *roofline, double flops, double bytes,
                        bool *out_by_memory) {
    double by_flops = flops / roofline->flops_per_ns, by_bytes = bytes / roofline->bytes_per_ns;
    *out_by_memory = by_bytes > by_flops;
    return fmax(by_flops, by_bytes);
}
