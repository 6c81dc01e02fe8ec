/* tests/compile/user_threads.c - a program as a user writes it: two copies of a model in one
 * process, called from several threads at once, on their own threads and on one pool that both
 * share; after the first calls none of them allocates. A third copy comes and goes, and processes
 * are forked, while the others run. Knows nothing but the header that `hone compile` wrote. Usage:
 * user_threads FIRST.so SECOND.so THIRD.so */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include MODEL_HEADER /* what hone compile wrote */

enum { THREADS = 4, ROUNDS = 200, VISITS = 12, MODELS = 2, BATCH = 3, MAX_DIMS = 8 };

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

/* The models in several threads; meanwhile this one does something else. */
static int run_together(const hone_model_info *const *models, const hone_rt *rt,
                        int (*meanwhile)(const void *), const void *with) {
    call calls[THREADS];
    pthread_t threads[THREADS];
    int failures = 0;
    for (int i = 0; i < THREADS; i++)
        make_call(&calls[i], models[i % MODELS], rt, i);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, call_often, &calls[i]) != 0) die("no thread");
    }
    if (meanwhile) failures += meanwhile(with);
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

static const hone_model_info *open_model(const char *path, void **out_library) {
    *out_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*out_library) die(dlerror());
    hone_model_get get;
    void *symbol = dlsym(*out_library, HONE_MODEL_SYMBOL);
    if (!symbol) die("no model");
    memcpy(&get, &symbol, sizeof get);
    return get();
}

/* ---- while others run ---- */

typedef struct guest {
    const char *path;
    const hone_rt *rt; /* the pool of the others */
} guest;

/* A model is loaded, called and unloaded, on its own threads and on those of the others. */
static int come_and_go(const void *argument) {
    const guest *g = argument;
    int failures = 0;
    for (int i = 0; i < VISITS; i++) {
        void *library;
        const hone_model_info *model = open_model(g->path, &library);
        call c;
        make_call(&c, model, i % 2 ? g->rt : NULL, i);
        run_once(&c);
        failures += c.failures;
        free_call(&c, i);
        if (dlclose(library) != 0) failures++;
        if (dlopen(g->path, RTLD_NOW | RTLD_NOLOAD)) failures++; /* it stayed */
    }
    return failures;
}

/* Children call a model that has threads and a pool in the parent. */
static int fork_often(const void *argument) {
    const hone_model_info *model = argument;
    int failures = 0;
    for (int i = 0; i < VISITS; i++) {
        call c;
        make_call(&c, model, NULL, i);
        pid_t child = fork();
        if (child == 0) {
            run_once(&c);
            _exit(c.failures ? 1 : 0);
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) failures++;
        failures += c.failures;
        free_call(&c, i);
    }
    return failures;
}

int main(int argc, char **argv) {
    if (argc != 2 + MODELS) die("wants three models");
    const hone_model_info *models[MODELS];
    void *library;
    for (int i = 0; i < MODELS; i++)
        models[i] = open_model(argv[1 + i], &library);
    hone_rt *rt = NULL;
    if (models[0]->rt_create(3, &rt) != 0) die("no pool");
    guest own_guest = {argv[1 + MODELS], NULL}, shared_guest = {argv[1 + MODELS], rt};
    int own = run_together(models, NULL, come_and_go, &own_guest);
    int shared = run_together(models, rt, come_and_go, &shared_guest);
    int forked = run_together(models, NULL, fork_often, models[0]);
    long allocated = 0;
    for (int i = 0; i < MODELS; i++)
        allocated += count_steady(models[i], NULL) + count_steady(models[i], rt);
    models[0]->rt_destroy(rt);
    printf("%d, %d and %d wrong calls, %ld allocations\n", own, shared, forked, allocated);
    return own || shared || forked || allocated;
}
