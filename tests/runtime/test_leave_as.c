/* tests/runtime/test_leave_as.c - memory keeps what it holds, whatever its size and the threads. */
#include "tests/support/hone_test.h"

#include <string.h>

#include "runtime/leave_as.h"
#include "runtime/model/model_rt.h"
#include "support/core/alloc.h"

static const struct row {
    const char *name;
    int32_t threads;
    size_t bytes;
} rows[] = {
    {"nothing",            2, 0           },
    {"a byte",             3, 1           },
    {"less than a page",   2, 4095        },
    {"pages for each",     2, 8 * 4096    },
    {"some have one more", 3, 4 * 4096 + 9},
    {"one thread",         1, 3 * 4096 + 1},
    {"fewer than threads", 4, 4097        },
};

static void keeps(void **state) {
    const struct row *r = *state;
    uint8_t *data = hone_malloc(r->bytes + 128), *was = hone_malloc(r->bytes + 128);
    hone_rt *rt;
    assert_int_equal(
        hone_model_rt_create(&(hone_model_rt_options){.thread_count = r->threads}, &rt), 0);
    for (size_t i = 0; i < r->bytes + 128; i++)
        data[i] = was[i] = (uint8_t)(i * 7 + i / 4096);
    hone_leave_as_produced(rt, data + 64, r->bytes);
    hone_leave_as_mixed(rt, data + 64, r->bytes);
    assert_memory_equal(data, was, r->bytes + 128);
    hone_model_rt_destroy(rt);
    hone_free(data);
    hone_free(was);
}

int main(void) {
    return HONE_RUN_ROWS("runtime/leave_as", rows, keeps);
}
