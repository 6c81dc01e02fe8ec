/* runtime/device_open.c - devices by their names. */
#include <assert.h>
#include <string.h>

#include "runtime/device_impl.h"
#include "support/core/attributes.h"

enum { MAX_NUMBER = 1000 };

static const struct row {
    const char *name;
    hone_status (*open)(int32_t number, int64_t memory_bytes, hone_device **out_device);
    bool is_host, compiles, is_alone;
} rows[] = {
#define HONE_DEVICE(name, is_host, compiles, is_alone)                                             \
    {#name, hone_device_open_##name, is_host, compiles, is_alone},
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
    const struct row *row = find(name, &number);
    if (row->is_host && number > 0) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "there is no device '%s'", name);
    }
    return row->open(number, memory_bytes, out_device);
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

bool hone_device_name_is_alone(const char *name) {
    int32_t number;
    const struct row *row = find(name, &number);
    return row && row->is_alone;
}
