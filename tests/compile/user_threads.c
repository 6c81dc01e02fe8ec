/* A program as a user writes it: two copies of a model in one process, called from several threads
 * at once, on their own threads and on one pool that both share; after the first calls none of them
 * allocates. Knows nothing but the header that `hone compile` wrote.
 * Usage: user_threads FIRST.so SECOND.so */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include MODEL_HEADER /* what hone compile wrote */

enum { THREADS = 4, ROUNDS = 200, MODELS = 2, BATCH = 3, MAX_DIMS = 8 };

/* ---- every allocation of the process passes here ---- */

static _Atomic long allocations;

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes) {
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
    atomic_fetch_add(&allocations, 1);
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
    *out = aligned_alloc(alignment, bytes);
    return *out ? 0 : 12;
}

/* ---- calls ---- */

typedef struct tensor {
    DLTensor dl;
    int64_t shape[MAX_DIMS];
    size_t bytes;
} tensor;

typedef struct call {
    const hone_model_info *model;
    const hone_rt *rt; /* NULL: the model's own */
    tensor input, output;
    void *expected;
    int failures;
} call;

static void die(const char *what) {
    fprintf(stderr, "user_threads: %s\n", what);
    exit(1);
}

static void make_tensor(tensor *t, const hone_model_port *port, size_t shift) {
    memset(t, 0, sizeof *t);
    t->bytes = port->dtype.bits / 8;
    for (int d = 0; d < port->ndim; d++) {
        t->shape[d] = port->shape[d] < 0 ? BATCH : port->shape[d];
        t->bytes *= (size_t)t->shape[d];
    }
    char *memory = aligned_alloc(64, (t->bytes + 127) / 64 * 64);
    if (!memory) die("no memory");
    t->dl = (DLTensor){
        .data = memory + shift,
        .device = {1, 0},
        .ndim = port->ndim,
        .dtype = port->dtype,
        .shape = t->shape
    };
}

static void run_once(call *c) {
    DLTensor *inputs[] = {&c->input.dl}, *outputs[] = {&c->output.dl};
    memset(c->output.dl.data, 0x5a, c->output.bytes);
    if (c->model->entries[0].run(c->rt, inputs, outputs) != 0 ||
        (c->expected && memcmp(c->output.dl.data, c->expected, c->output.bytes) != 0)) {
        c->failures++;
    }
}

static void make_call(call *c, const hone_model_info *model, const hone_rt *rt, int seed) {
    const hone_model_entry *entry = &model->entries[0];
    *c = (call){.model = model, .rt = rt};
    make_tensor(&c->input, &entry->inputs[0], seed % 2 ? 4 : 0); /* odd ones are not aligned */
    make_tensor(&c->output, &entry->outputs[0], 0);
    float *x = c->input.dl.data;
    for (size_t i = 0; i < c->input.bytes / sizeof *x; i++)
        x[i] = (float)((i * 7 + (size_t)seed * 13) % 31) / 31;
    run_once(c);
    c->expected = aligned_alloc(64, (c->output.bytes + 63) / 64 * 64);
    if (!c->expected) die("no memory");
    memcpy(c->expected, c->output.dl.data, c->output.bytes);
}

static void free_call(call *c, int seed) {
    free((char *)c->input.dl.data - (seed % 2 ? 4 : 0));
    free(c->output.dl.data);
    free(c->expected);
}

static void *call_often(void *argument) {
    for (int i = 0; i < ROUNDS; i++)
        run_once(argument);
    return NULL;
}

static int run_together(const hone_model_info *const *models, const hone_rt *rt) {
    call calls[THREADS];
    pthread_t threads[THREADS];
    int failures = 0;
    for (int i = 0; i < THREADS; i++)
        make_call(&calls[i], models[i % MODELS], rt, i);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, call_often, &calls[i]) != 0) die("no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        failures += calls[i].failures;
        free_call(&calls[i], i);
    }
    return failures;
}

static long count_round(call *c) {
    long before = atomic_load(&allocations);
    for (int i = 0; i < ROUNDS; i++)
        run_once(c);
    return atomic_load(&allocations) - before;
}

/* Allocations of calls that are not the first ones. A thread of a pool has its first call when it
 * helps for the first time, which may be late on a busy machine: so rounds are repeated, more often
 * than there are threads that could have one. */
static long count_steady(const hone_model_info *model, const hone_rt *rt) {
    long count = 0;
    for (int seed = 0; seed < 2; seed++) {
        call c;
        make_call(&c, model, rt, seed);
        long last = count_round(&c);
        for (int i = 0; i < 16 && last > 0; i++)
            last = count_round(&c);
        count += last;
        if (c.failures) die("a call failed");
        free_call(&c, seed);
    }
    return count;
}

static const hone_model_info *open_model(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) die(dlerror());
    hone_model_get get;
    void *symbol = dlsym(library, HONE_MODEL_SYMBOL);
    if (!symbol) die("no model");
    memcpy(&get, &symbol, sizeof get);
    return get();
}

int main(int argc, char **argv) {
    if (argc != 1 + MODELS) die("wants two models");
    const hone_model_info *models[MODELS];
    for (int i = 0; i < MODELS; i++)
        models[i] = open_model(argv[1 + i]);
    hone_rt *rt = NULL;
    if (models[0]->rt_create(3, &rt) != 0) die("no pool");
    int own = run_together(models, NULL), shared = run_together(models, rt);
    long allocated = 0;
    for (int i = 0; i < MODELS; i++)
        allocated += count_steady(models[i], NULL) + count_steady(models[i], rt);
    models[0]->rt_destroy(rt);
    printf("%d and %d wrong calls, %ld allocations\n", own, shared, allocated);
    return own || shared || allocated;
}
