/* runtime/device_open.c - devices by their names. */
#include <assert.h>
#include <string.h>

#include "runtime/device_cuda.h"
#include "runtime/device_opencl.h"
#include "support/core/attributes.h"

enum { MAX_NUMBER = 1000 };

typedef hone_status (*opener)(int32_t number, int64_t memory_bytes, hone_device **out_device);

static hone_status refuse_number(const char *name, int32_t number) {
    if (number == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "there is no device '%s:%d'", name, number);
}

static hone_status open_cpu(int32_t number, int64_t memory_bytes, hone_device **out_device) {
    (void)memory_bytes; /* it has none of its own */
    HONE_TRY(refuse_number("cpu", number));
    return hone_device_create_cpu(out_device);
}

static hone_status open_null(int32_t number, int64_t memory_bytes, hone_device **out_device) {
    (void)memory_bytes;
    HONE_TRY(refuse_number("null", number));
    return hone_device_create_null(out_device);
}

static hone_status open_cuda(int32_t number, int64_t memory_bytes, hone_device **out_device) {
    const hone_device_cuda_options options = {.ordinal = number, .memory_bytes = memory_bytes};
    return hone_device_create_cuda(&options, out_device);
}

static const struct row {
    const char *name;
    opener open;
    bool is_host, compiles;
} rows[] = {
#define HONE_DEVICE(name, open, is_host, compiles) {name, open, is_host, compiles},
#include "runtime/devices.def"
#undef HONE_DEVICE
};

/* The row that a name begins with, and the number behind it; NULL: none. */
static const struct row *find(const char *name, int32_t *out_number) {
    *out_number = 0;
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        size_t length = strlen(rows[i].name);
        if (strncmp(name, rows[i].name, length) != 0) continue;
        if (name[length] == 0) return &rows[i];
        if (name[length] != ':' || name[length + 1] == 0) continue;
        const char *at = name + length + 1;
        for (; *at >= '0' && *at <= '9' && *out_number < MAX_NUMBER; at++)
            *out_number = 10 * *out_number + (*at - '0');
        return *at ? NULL : &rows[i];
    }
    return NULL;
}

hone_status hone_device_open(const char *name, int64_t memory_bytes, hone_device **out_device) {
    int32_t number;
    assert(name && out_device);
    *out_device = NULL;
    HONE_TRY(hone_device_name_check(name));
    return find(name, &number)->open(number, memory_bytes, out_device);
}

hone_status hone_device_name_check(const char *name) {
    int32_t number;
    if (find(name, &number)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "nothing runs kernels for '%s'", name);
}

bool hone_device_name_is_host(const char *name) {
    int32_t number;
    const struct row *row = find(name, &number);
    return row && row->is_host;
}

bool hone_device_name_compiles(const char *name) {
    int32_t number;
    const struct row *row = find(name, &number);
    return row && row->compiles;
}
