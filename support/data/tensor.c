/* support/data/tensor.c - see tensor.h. */
#include "support/data/tensor.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/data/float16.h"

enum { DATA_ALIGNMENT = 64 };

/* What a tensor that is no view begins. */
typedef struct owned {
    hone_tensor tensor;     /* first: a hone_tensor * is an owned * */
    struct owned *lender;   /* whose data it has; NULL: its own, behind this, or a map */
    _Atomic uint32_t users; /* itself, and those that share its data */
    void *map;
    size_t map_bytes;
} owned;

enum { HEADER_BYTES = (sizeof(owned) + DATA_ALIGNMENT - 1) / DATA_ALIGNMENT * DATA_ALIGNMENT };

/* With room for data behind it. */
static hone_status make_owned(size_t bytes, owned **out) {
    *out = hone_aligned_alloc(DATA_ALIGNMENT, HEADER_BYTES + bytes);
    if (!*out) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tensor of %zu bytes", bytes);
    memset(*out, 0, HEADER_BYTES);
    (*out)->users = 1;
    return HONE_OK;
}

hone_tensor hone_tensor_view(void *data, hone_dtype dtype, int32_t rank, const int64_t *shape) {
    assert(rank >= 0 && rank <= HONE_MAX_RANK);
    hone_tensor tensor = {.data = data, .dtype = dtype, .rank = rank};
    if (rank > 0) memcpy(tensor.shape, shape, (size_t)rank * sizeof *shape);
    return tensor;
}

static hone_status check_type(hone_dtype dtype, int32_t rank) {
    if (rank < 0 || rank > HONE_MAX_RANK) {
        return HONE_ERROR(HONE_CODE_INVALID, "rank is %d, must be 0 to %d", rank, HONE_MAX_RANK);
    }
    if (!hone_dtype_is_storable(dtype)) {
        return HONE_ERROR(HONE_CODE_INVALID, "a tensor cannot hold '%s'", HONE_DTYPE_NAME(dtype));
    }
    return HONE_OK;
}

static hone_status count_bytes(hone_dtype dtype, int32_t rank, const int64_t *shape,
                               size_t *out_bytes) {
    size_t bytes = hone_dtype_bytes(dtype);
    bool is_empty = false, is_large = false;
    *out_bytes = 0;
    for (int32_t i = 0; i < rank; i++) {
        if (shape[i] < 0) {
            return HONE_ERROR(HONE_CODE_INVALID, "size of axis %d is %lld, must not be negative", i,
                              (long long)shape[i]);
        }
        is_empty |= shape[i] == 0;
        is_large |= __builtin_mul_overflow(bytes, (size_t)shape[i], &bytes);
    }
    if (is_empty) return HONE_OK;
    if (is_large || bytes > (size_t)INT64_MAX / 2) {
        return HONE_ERROR(HONE_CODE_INVALID, "tensor has more bytes than an address can count");
    }
    *out_bytes = bytes;
    return HONE_OK;
}

hone_status hone_tensor_create(hone_dtype dtype, int32_t rank, const int64_t *shape,
                               hone_tensor **out_tensor) {
    size_t bytes = 0;
    owned *made;
    *out_tensor = NULL;
    HONE_TRY(check_type(dtype, rank));
    HONE_TRY(count_bytes(dtype, rank, shape, &bytes));
    HONE_TRY(make_owned(bytes, &made));
    made->tensor = hone_tensor_view((char *)made + HEADER_BYTES, dtype, rank, shape);
    memset(made->tensor.data, 0, bytes);
    *out_tensor = &made->tensor;
    return HONE_OK;
}

hone_status hone_tensor_share(const hone_tensor *tensor, hone_tensor **out_tensor) {
    owned *made, *from = (owned *)(uintptr_t)tensor; /* counts who has the data */
    *out_tensor = NULL;
    HONE_TRY(make_owned(0, &made));
    made->tensor = *tensor;
    made->lender = from->lender ? from->lender : from;
    atomic_fetch_add(&made->lender->users, 1);
    *out_tensor = &made->tensor;
    return HONE_OK;
}

static hone_status io_error(const char *path, const char *what) {
    return HONE_ERROR(HONE_CODE_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* Pages may be changed, which the file does not see. */
static hone_status map_open(int fd, const char *path, uint64_t offset, size_t bytes, owned *out) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = offset / page * page;
    struct stat facts;
    if (fstat(fd, &facts) != 0) return io_error(path, "look at it");
    if (!S_ISREG(facts.st_mode))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s: no regular file", path);
    uint64_t size = (uint64_t)facts.st_size;
    if (offset % DATA_ALIGNMENT || offset > size || bytes > size - offset)
        return HONE_ERROR(HONE_CODE_INVALID, "%s: no %zu bytes at %llu", path, bytes,
                          (unsigned long long)offset);
    out->map_bytes = (size_t)(offset - begin) + bytes;
    void *map = mmap(NULL, out->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, (off_t)begin);
    if (map == MAP_FAILED) return io_error(path, "map it");
    out->map = map;
    out->tensor.data = (char *)map + (offset - begin);
    return HONE_OK;
}

static hone_status map_part(const char *path, uint64_t offset, size_t bytes, owned *out) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return io_error(path, "open");
    hone_status st = map_open(fd, path, offset, bytes, out);
    close(fd);
    return st;
}

hone_status hone_tensor_map(const char *path, uint64_t offset, hone_dtype dtype, int32_t rank,
                            const int64_t *shape, hone_tensor **out_tensor) {
    size_t bytes = 0;
    owned *made;
    *out_tensor = NULL;
    HONE_TRY(check_type(dtype, rank));
    HONE_TRY(count_bytes(dtype, rank, shape, &bytes));
    HONE_TRY(make_owned(0, &made));
    made->tensor = hone_tensor_view(NULL, dtype, rank, shape);
    hone_status st = map_part(path, offset, bytes, made);
    if (st) {
        hone_free(made);
        return st;
    }
    *out_tensor = &made->tensor;
    return HONE_OK;
}

hone_status hone_tensor_clone(const hone_tensor *tensor, hone_tensor **out_tensor) {
    HONE_TRY(hone_tensor_create(tensor->dtype, tensor->rank, tensor->shape, out_tensor));
    size_t bytes = hone_tensor_bytes(tensor);
    if (bytes) memcpy((*out_tensor)->data, tensor->data, bytes);
    return HONE_OK;
}

static void let_go(owned *data) {
    if (atomic_fetch_sub(&data->users, 1) != 1) return;
    if (data->map) munmap(data->map, data->map_bytes);
    hone_free(data);
}

void hone_tensor_destroy(hone_tensor *tensor) {
    owned *own = (owned *)(void *)tensor;
    if (!own) return;
    if (own->lender) let_go(own->lender);
    let_go(own);
}

int64_t hone_tensor_count(const hone_tensor *tensor) {
    int64_t count = 1;
    for (int32_t i = 0; i < tensor->rank; i++)
        count *= tensor->shape[i];
    return count;
}

size_t hone_tensor_bytes(const hone_tensor *tensor) {
    return (size_t)hone_tensor_count(tensor) * hone_dtype_bytes(tensor->dtype);
}

bool hone_tensor_same_shape(const hone_tensor *a, const hone_tensor *b) {
    if (a->rank != b->rank) return false;
    for (int32_t i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i]) return false;
    }
    return true;
}

/* ---- lone elements ---- */

/* Copies an element out of memory of any alignment. */
#define DEFINE_LOAD(type, name)                                                                    \
    static type load_##name(const void *from) {                                                    \
        type value;                                                                                \
        memcpy(&value, from, sizeof value);                                                        \
        return value;                                                                              \
    }
DEFINE_LOAD(uint8_t, u8)
DEFINE_LOAD(uint16_t, u16)
DEFINE_LOAD(uint32_t, u32)
DEFINE_LOAD(uint64_t, u64)
DEFINE_LOAD(float, f32)
DEFINE_LOAD(double, f64)
#undef DEFINE_LOAD

static uint64_t load_unsigned(hone_dtype dtype, const void *element) {
    switch ((dtype.bits + 7) / 8) {
    case 1:
        return load_u8(element);
    case 2:
        return load_u16(element);
    case 4:
        return load_u32(element);
    default:
        return load_u64(element);
    }
}

static int64_t load_signed(hone_dtype dtype, const void *element) {
    switch ((dtype.bits + 7) / 8) {
    case 1:
        return (int8_t)load_u8(element);
    case 2:
        return (int16_t)load_u16(element);
    case 4:
        return (int32_t)load_u32(element);
    default:
        return (int64_t)load_u64(element);
    }
}

/* The low bytes of an integer; wraps. Little-endian hosts only, as all of Hone. */
static void store_integer(hone_dtype dtype, void *element, uint64_t value) {
    if (dtype.bits < 8 && hone_dtype_is_integer(dtype)) { /* a whole byte holds the same number */
        value &= (UINT64_C(1) << dtype.bits) - 1;
        if ((int64_t)value > hone_dtype_max_int(dtype)) value -= UINT64_C(1) << dtype.bits;
    }
    memcpy(element, &value, (size_t)(dtype.bits + 7) / 8);
}

static double load_float(hone_dtype dtype, const void *element) {
    if (dtype.bits == 16) return hone_short_float_load(dtype, load_u16(element));
    if (dtype.bits <= 8) return hone_short_float_load(dtype, load_u8(element));
    return dtype.bits == 32 ? (double)load_f32(element) : load_f64(element);
}

static void store_float(hone_dtype dtype, void *element, double value) {
    float narrow = (float)value;
    if (dtype.bits <= 16) {
        store_integer(dtype, element, hone_short_float_store(dtype, value));
    } else if (dtype.bits == 32) {
        memcpy(element, &narrow, sizeof narrow);
    } else {
        memcpy(element, &value, sizeof value);
    }
}

static int64_t saturate(double value) {
    if (isnan(value)) return 0;
    if (value >= 0x1p63) return INT64_MAX;
    if (value <= -0x1p63) return INT64_MIN;
    return (int64_t)value;
}

/* To the range of the type first, so that 300.0 becomes the uint8 255. */
static void store_f64_as_integer(hone_dtype dtype, void *element, double value) {
    if (dtype.code == HONE_DTYPE_CODE_UINT && dtype.bits == 64) {
        uint64_t wide = isnan(value) || value <= 0 ? 0
                        : value >= 0x1p64          ? UINT64_MAX
                                                   : (uint64_t)value;
        store_integer(dtype, element, wide);
        return;
    }
    int64_t whole = saturate(value);
    int64_t lo = hone_dtype_min_int(dtype), hi = hone_dtype_max_int(dtype);
    whole = whole < lo ? lo : whole > hi ? hi : whole;
    store_integer(dtype, element, (uint64_t)whole);
}

double hone_element_get_f64(hone_dtype dtype, const void *element) {
    if (hone_dtype_is_float(dtype)) return load_float(dtype, element);
    if (dtype.code == HONE_DTYPE_CODE_INT) return (double)load_signed(dtype, element);
    if (dtype.code == HONE_DTYPE_CODE_BOOL) return load_u8(element) != 0;
    return (double)load_unsigned(dtype, element);
}

int64_t hone_element_get_i64(hone_dtype dtype, const void *element) {
    if (hone_dtype_is_float(dtype)) return saturate(load_float(dtype, element));
    if (dtype.code == HONE_DTYPE_CODE_INT) return load_signed(dtype, element);
    if (dtype.code == HONE_DTYPE_CODE_BOOL) return load_u8(element) != 0;
    return (int64_t)load_unsigned(dtype, element);
}

void hone_element_set_f64(hone_dtype dtype, void *element, double value) {
    if (hone_dtype_is_float(dtype)) {
        store_float(dtype, element, value);
    } else if (dtype.code == HONE_DTYPE_CODE_BOOL) {
        store_integer(dtype, element, value != 0);
    } else {
        store_f64_as_integer(dtype, element, value);
    }
}

void hone_element_set_i64(hone_dtype dtype, void *element, int64_t value) {
    if (dtype.code == HONE_DTYPE_CODE_FLOAT && dtype.bits == 32) {
        float rounded = (float)value; /* once, not through double */
        memcpy(element, &rounded, sizeof rounded);
    } else if (hone_dtype_is_float(dtype)) {
        store_float(dtype, element, (double)value); /* beyond 2^53 this rounds twice */
    } else if (dtype.code == HONE_DTYPE_CODE_BOOL) {
        store_integer(dtype, element, value != 0);
    } else {
        store_integer(dtype, element, (uint64_t)value);
    }
}

/* ---- elements of tensors ---- */

static void *element_of(const hone_tensor *tensor, int64_t index) {
    assert(index >= 0 && index < hone_tensor_count(tensor) * tensor->dtype.lanes);
    return (char *)tensor->data + (size_t)index * ((size_t)(tensor->dtype.bits + 7) / 8);
}

double hone_tensor_get_f64(const hone_tensor *tensor, int64_t index) {
    return hone_element_get_f64(tensor->dtype, element_of(tensor, index));
}

int64_t hone_tensor_get_i64(const hone_tensor *tensor, int64_t index) {
    return hone_element_get_i64(tensor->dtype, element_of(tensor, index));
}

void hone_tensor_set_f64(hone_tensor *tensor, int64_t index, double value) {
    hone_element_set_f64(tensor->dtype, element_of(tensor, index), value);
}

void hone_tensor_set_i64(hone_tensor *tensor, int64_t index, int64_t value) {
    hone_element_set_i64(tensor->dtype, element_of(tensor, index), value);
}

static int64_t lane_count(const hone_tensor *tensor) {
    return hone_tensor_count(tensor) * tensor->dtype.lanes;
}

hone_status hone_tensor_convert(const hone_tensor *tensor, hone_dtype dtype,
                                hone_tensor **out_tensor) {
    *out_tensor = NULL;
    if (dtype.lanes != tensor->dtype.lanes) {
        return HONE_ERROR(HONE_CODE_INVALID, "cannot convert '%s' to '%s': lanes differ",
                          HONE_DTYPE_NAME(tensor->dtype), HONE_DTYPE_NAME(dtype));
    }
    HONE_TRY(hone_tensor_create(dtype, tensor->rank, tensor->shape, out_tensor));
    /* a uint64 may not fit an int64 */
    bool through_float = hone_dtype_is_float(tensor->dtype) ||
                         (hone_dtype_is_uint(tensor->dtype) && hone_dtype_is_float(dtype));
    int64_t count = lane_count(tensor);
    for (int64_t i = 0; i < count; i++) {
        if (through_float) {
            hone_tensor_set_f64(*out_tensor, i, hone_tensor_get_f64(tensor, i));
        } else {
            hone_tensor_set_i64(*out_tensor, i, hone_tensor_get_i64(tensor, i));
        }
    }
    return HONE_OK;
}

void hone_tensor_fill_random(hone_tensor *tensor, hone_rng *rng, double lo, double hi) {
    int64_t count = lane_count(tensor);
    bool is_float = hone_dtype_is_float(tensor->dtype);
    for (int64_t i = 0; i < count; i++) {
        if (is_float) {
            hone_tensor_set_f64(tensor, i, lo + (hi - lo) * hone_rng_uniform(rng));
        } else {
            hone_tensor_set_i64(tensor, i, hone_rng_between(rng, saturate(lo), saturate(hi)));
        }
    }
}

/* ---- differences ---- */

static void diff_element(hone_tensor_diff *diff, int64_t index, double got, double want,
                         double tolerance, double *worst_excess) {
    if (got == want || (isnan(got) && isnan(want))) return;
    double abs = fabs(got - want);
    if (isnan(abs)) abs = INFINITY; /* a NaN on one side */
    double rel = isfinite(abs) && want != 0 ? abs / fabs(want) : INFINITY;
    if (abs > diff->max_abs) diff->max_abs = abs;
    if (rel > diff->max_rel) diff->max_rel = rel;
    if (isfinite(abs) && abs <= tolerance) return;
    double excess = isfinite(abs) ? abs - tolerance : INFINITY;
    if (diff->bad_count++ == 0 || excess > *worst_excess) {
        *worst_excess = excess;
        diff->worst = index;
        diff->worst_got = got;
        diff->worst_want = want;
    }
}

/* 64-bit integers beyond 2^53 must not agree by being rounded to the same double. */
static bool integers_differ(const hone_tensor *a, const hone_tensor *b, int64_t index) {
    return !hone_dtype_is_float(a->dtype) && !hone_dtype_is_float(b->dtype) &&
           hone_tensor_get_i64(a, index) != hone_tensor_get_i64(b, index);
}

hone_tensor_diff hone_tensor_diff_make(const hone_tensor *got, const hone_tensor *want, double rtol,
                                       double atol) {
    hone_tensor_diff diff = {.worst = -1};
    double worst_excess = 0;
    if (!hone_tensor_same_shape(got, want) || got->dtype.lanes != want->dtype.lanes) return diff;
    diff.is_comparable = true;
    int64_t count = lane_count(want);
    for (int64_t i = 0; i < count; i++) {
        double a = hone_tensor_get_f64(got, i), b = hone_tensor_get_f64(want, i);
        if (a == b && integers_differ(got, want, i)) a = nextafter(a, INFINITY);
        double tolerance = isfinite(b) ? atol + rtol * fabs(b) : 0;
        diff_element(&diff, i, a, b, tolerance, &worst_excess);
    }
    return diff;
}

static void print_index(const hone_tensor *tensor, int64_t flat, hone_str *out) {
    int64_t index[HONE_MAX_RANK];
    flat /= tensor->dtype.lanes;
    for (int32_t i = tensor->rank - 1; i >= 0; i--) {
        index[i] = flat % tensor->shape[i];
        flat /= tensor->shape[i];
    }
    hone_str_append_char(out, '[');
    for (int32_t i = 0; i < tensor->rank; i++) {
        hone_str_printf(out, "%s%lld", i ? ", " : "", (long long)index[i]);
    }
    hone_str_append_char(out, ']');
}

void hone_tensor_diff_print(const hone_tensor_diff *diff, const hone_tensor *want, hone_str *out) {
    if (!diff->is_comparable) {
        hone_str_append(out, "shapes differ");
    } else if (diff->bad_count == 0) {
        hone_str_printf(out, "equal within tolerance (max abs %.3g)", diff->max_abs);
    } else {
        hone_str_printf(out, "%lld of %lld elements differ, worst at ", (long long)diff->bad_count,
                        (long long)lane_count(want));
        print_index(want, diff->worst, out);
        hone_str_printf(out, ": got %.9g, want %.9g (max abs %.3g, max rel %.3g)", diff->worst_got,
                        diff->worst_want, diff->max_abs, diff->max_rel);
    }
}

void hone_tensor_print_type(const hone_tensor *tensor, hone_str *out) {
    hone_str_printf(out, "%s[", HONE_DTYPE_NAME(tensor->dtype));
    for (int32_t i = 0; i < tensor->rank; i++) {
        hone_str_printf(out, "%s%lld", i ? ", " : "", (long long)tensor->shape[i]);
    }
    hone_str_append_char(out, ']');
}
