/* tests/runtime/cuda/fake_cuda/fake_cuda.h - a CUDA driver, and runtime, without a card: a library
 * with their symbols whose device memory is the host's and which knows the kernels of
 * device_kernels.h by their names. Tests steer it by the two functions below, which are in the
 * library, too.
 */
#ifndef HONE_TESTS_RUNTIME_FAKE_CUDA_H
#define HONE_TESTS_RUNTIME_FAKE_CUDA_H

#include <stdint.h>

enum { FAKE_CUDA_PARAMS = 64, FAKE_CUDA_SYMBOL = 256 };

typedef struct fake_cuda_launch {
    char symbol[FAKE_CUDA_SYMBOL];
    uint32_t grid[3], block[3], shared_bytes;
    uint64_t params[FAKE_CUDA_PARAMS];
} fake_cuda_launch;

/* The next call but `after` of a function returns `code` and does nothing else; code 0: as always.
 */
typedef void fake_cuda_fail_function(const char *symbol, int after, unsigned int code);
void fake_cuda_fail(const char *symbol, int after, unsigned int code);

/* What was launched last, how many launches there were (those of graphs too), graphs and copies,
 * and allocations, events, modules and prepared graphs that nobody freed; how often something was
 * ended in a thread without a context. */
typedef struct fake_cuda_record {
    fake_cuda_launch last;
    int64_t launches, graphs, copies, allocations, events, modules, prepared, astray;
} fake_cuda_record;
typedef void fake_cuda_look_function(fake_cuda_record *out_record);
void fake_cuda_look(fake_cuda_record *out_record);

#endif
