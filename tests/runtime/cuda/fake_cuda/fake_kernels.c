/* tests/runtime/cuda/fake_cuda/fake_kernels.c - see fake_kernels.h. */
#include "tests/runtime/cuda/fake_cuda/fake_kernels.h"

#include <stddef.h>
#include <string.h>

enum { ILLEGAL_ADDRESS = 700, MISALIGNED = 716, LAUNCH_FAILED = 719 };

typedef struct thread {
    float *a, *b;
    int64_t n, at; /* number of the thread */
    uint32_t block;
} thread;

static unsigned int self_test(const thread *t) {
    t->b[t->at] = 2 * t->a[t->at] + 1;
    return 0;
}

static unsigned int step_double(const thread *t) {
    t->b[t->at] = 2 * t->a[t->at];
    return 0;
}

static unsigned int step_add(const thread *t) {
    t->b[t->at] = t->a[t->at] + 1;
    return 0;
}

static unsigned int reverse(const thread *t) {
    int64_t first = t->at - t->at % t->block;
    t->b[t->at] = t->a[first + t->block - 1 - t->at % t->block];
    return 0;
}

static unsigned int behind(const thread *t) {
    if (t->at == 0) t->b[t->n] = 1;
    return self_test(t);
}

static unsigned int before(const thread *t) {
    if (t->at == 0) t->b[-1] = 1;
    return self_test(t);
}

static unsigned int into_input(const thread *t) {
    (void)self_test(t);
    if (t->at == 0) t->a[0] = t->b[0];
    return 0;
}

static unsigned int stray(const thread *t) {
    (void)self_test(t);
    return ILLEGAL_ADDRESS;
}

static unsigned int crooked(const thread *t) {
    (void)self_test(t);
    return MISALIGNED;
}

static unsigned int trap(const thread *t) {
    (void)self_test(t);
    return LAUNCH_FAILED;
}

static unsigned int hang(const thread *t) {
    (void)self_test(t);
    return FAKE_HANGS;
}

static const struct row {
    const char *symbol;
    unsigned int (*run)(const thread *t);
} rows[] = {
    {"self_test",   self_test  },
    {"step_double", step_double},
    {"step_add",    step_add   },
    {"reverse",     reverse    },
    {"behind",      behind     },
    {"before",      before     },
    {"into_input",  into_input },
    {"stray",       stray      },
    {"crooked",     crooked    },
    {"trap",        trap       },
    {"hang",        hang       },
};

static const struct row *find(const char *symbol) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].symbol, symbol) == 0) return &rows[i];
    }
    return NULL;
}

int fake_kernel_params(const char *symbol) {
    return find(symbol) ? 3 : -1;
}

unsigned int fake_kernel_run(const fake_cuda_launch *launch) {
    const struct row *row = find(launch->symbol);
    thread t = {.a = (float *)(uintptr_t)launch->params[0],
                .b = (float *)(uintptr_t)launch->params[1],
                .n = (int64_t)launch->params[2],
                .block = launch->block[0]};
    const int64_t threads = (int64_t)launch->grid[0] * launch->block[0];
    unsigned int error = 0;
    for (t.at = 0; t.at < threads && t.at < t.n && !error; t.at++)
        error = row->run(&t);
    return error;
}
