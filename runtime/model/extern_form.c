/* runtime/model/extern_form.c - functions that take DLPack tensors, called as those that take
 * pointers, shapes and ranks. A function in C has no room for whom it stands for: there are as many
 * stand-ins as such functions can be in a process. */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/model/model_abi.h"
#include "runtime/model/model_rt.h"

typedef int32_t (*takes_tensors)(DLTensor *const *args, int32_t count);

enum { MOST_FUNCTIONS = 64, MOST_ARGS = 64 };

static _Atomic(void *) functions[MOST_FUNCTIONS]; /* who the stand-ins stand for */

static DLDataType type_of(int32_t word) {
    return (DLDataType){(uint8_t)(word & 255), (uint8_t)(word >> 8 & 255), (uint16_t)(word >> 16)};
}

static int32_t call(int32_t slot, void *const *args, const int64_t *const *shapes,
                    const int32_t *ranks, int32_t count) {
    DLTensor tensors[MOST_ARGS], *pointers[MOST_ARGS];
    if (count > MOST_ARGS) return HONE_MODEL_BAD_ARGUMENT;
    for (int32_t i = 0; i < count; i++) {
        tensors[i] = (DLTensor){
            .data = args[i],
            .device = {1, 0},
            .ndim = ranks[i],
            .dtype = type_of(ranks[count + i]),
            .shape = (int64_t *)(uintptr_t)shapes[i]
        };
        pointers[i] = &tensors[i];
    }
    takes_tensors function;
    void *found = atomic_load_explicit(&functions[slot], memory_order_acquire);
    memcpy(&function, &found, sizeof function); /* ISO C has no cast for this */
    return function(pointers, count);
}

#define STAND_IN(n)                                                                                \
    static int32_t stand_in_##n(void *const *args, const int64_t *const *shapes,                   \
                                const int32_t *ranks, int32_t count) {                             \
        return call(0##n, args, shapes, ranks, count);                                             \
    }
#define EIGHT(of, n) of(n##0) of(n##1) of(n##2) of(n##3) of(n##4) of(n##5) of(n##6) of(n##7)
#define ALL(of)                                                                                    \
    EIGHT(of, 0)                                                                                   \
    EIGHT(of, 1)                                                                                   \
    EIGHT(of, 2)                                                                                   \
    EIGHT(of, 3)                                                                                   \
    EIGHT(of, 4)                                                                                   \
    EIGHT(of, 5)                                                                                   \
    EIGHT(of, 6)                                                                                   \
    EIGHT(of, 7)
ALL(STAND_IN)

#define NAME(n) stand_in_##n,
static const hone_extern stand_ins[MOST_FUNCTIONS] = {ALL(NAME)};

void *hone_model_rt_as_plain(void *function) {
    for (int32_t i = 0; i < MOST_FUNCTIONS; i++) {
        void *taken = NULL;
        bool is_ours =
            atomic_compare_exchange_strong(&functions[i], &taken, function) || taken == function;
        if (!is_ours) continue;
        void *plain;
        memcpy(&plain, &stand_ins[i], sizeof plain);
        return plain;
    }
    return NULL;
}
