/* support/data/dtype.c - see dtype.h. */
#include "support/data/dtype.h"

#include <stdio.h>
#include <string.h>

/* One row per element type that has a name; the first name of a type is the one printed. */
static const struct row {
    const char *name;
    hone_dtype dtype;
    double epsilon, max_float;
} rows[] = {
    {"float32",            HONE_DTYPE_INIT(FLOAT,              32, 1), 0x1p-23, 0x1.fffffep127        },
    {"int32",              HONE_DTYPE_INIT(INT,                32, 1), 0,       0                     },
    {"int64",              HONE_DTYPE_INIT(INT,                64, 1), 0,       0                     },
    {"bool",               HONE_DTYPE_INIT(BOOL,               8,  1), 0,       0                     },
    {"handle",             HONE_DTYPE_INIT(HANDLE,             64, 1), 0,       0                     },
    {"float16",            HONE_DTYPE_INIT(FLOAT,              16, 1), 0x1p-10, 65504.0               },
    {"float64",            HONE_DTYPE_INIT(FLOAT,              64, 1), 0x1p-52, 0x1.fffffffffffffp1023},
    {"bfloat16",           HONE_DTYPE_INIT(BFLOAT,             16, 1), 0x1p-7,  0x1.fep127            },
    {"float8_e4m3fn",      HONE_DTYPE_INIT(FLOAT8_E4M3,        8,  1), 0x1p-3,  448.0                 },
    {"float8_e5m2",        HONE_DTYPE_INIT(FLOAT8_E5M2,        8,  1), 0x1p-2,  57344.0               },
    {"int8",               HONE_DTYPE_INIT(INT,                8,  1), 0,       0                     },
    {"int16",              HONE_DTYPE_INIT(INT,                16, 1), 0,       0                     },
    {"uint8",              HONE_DTYPE_INIT(UINT,               8,  1), 0,       0                     },
    {"uint16",             HONE_DTYPE_INIT(UINT,               16, 1), 0,       0                     },
    {"uint32",             HONE_DTYPE_INIT(UINT,               32, 1), 0,       0                     },
    {"uint64",             HONE_DTYPE_INIT(UINT,               64, 1), 0,       0                     },
    {"void",               HONE_DTYPE_INIT(VOID,               0,  1), 0,       0                     },
    {"int4",               HONE_DTYPE_INIT(INT,                4,  1), 0,       0                     },
    {"uint4",              HONE_DTYPE_INIT(UINT,               4,  1), 0,       0                     },
    {"int2",               HONE_DTYPE_INIT(INT,                2,  1), 0,       0                     },
    {"uint2",              HONE_DTYPE_INIT(UINT,               2,  1), 0,       0                     },
    {"int1",               HONE_DTYPE_INIT(INT,                1,  1), 0,       0                     },
    {"uint1",              HONE_DTYPE_INIT(UINT,               1,  1), 0,       0                     },
    {"float8_e3m4",        HONE_DTYPE_INIT(FLOAT8_E3M4,        8,  1), 0x1p-4,  15.5                  },
    {"float8_e4m3",        HONE_DTYPE_INIT(FLOAT8_E4M3_IEEE,   8,  1), 0x1p-3,  240.0                 },
    {"float8_e4m3b11fnuz", HONE_DTYPE_INIT(FLOAT8_E4M3B11FNUZ, 8,  1), 0x1p-3,  30.0                  },
    {"float8_e4m3fnuz",    HONE_DTYPE_INIT(FLOAT8_E4M3FNUZ,    8,  1), 0x1p-3,  240.0                 },
    {"float8_e5m2fnuz",    HONE_DTYPE_INIT(FLOAT8_E5M2FNUZ,    8,  1), 0x1p-2,  57344.0               },
    {"float8_e8m0fnu",     HONE_DTYPE_INIT(FLOAT8_E8M0FNU,     8,  1), 1.0,     0x1p127               },
    {"float6_e2m3fn",      HONE_DTYPE_INIT(FLOAT6_E2M3FN,      6,  1), 0x1p-3,  7.5                   },
    {"float6_e3m2fn",      HONE_DTYPE_INIT(FLOAT6_E3M2FN,      6,  1), 0x1p-2,  28.0                  },
    {"float4_e2m1fn",      HONE_DTYPE_INIT(FLOAT4_E2M1FN,      4,  1), 0x1p-1,  6.0                   },
    {"e4m3_float8",        HONE_DTYPE_INIT(FLOAT8_E4M3,        8,  1), 0x1p-3,  448.0                 },
    {"e5m2_float8",        HONE_DTYPE_INIT(FLOAT8_E5M2,        8,  1), 0x1p-2,  57344.0               },
};

static const struct row *row_of(hone_dtype dtype) {
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (hone_dtype_same_element(rows[i].dtype, dtype)) return &rows[i];
    }
    return NULL;
}

int64_t hone_dtype_min_int(hone_dtype dtype) {
    if (dtype.code != HONE_DTYPE_CODE_INT || dtype.bits == 0) return 0;
    return dtype.bits >= 64 ? INT64_MIN : -(INT64_C(1) << (dtype.bits - 1));
}

int64_t hone_dtype_max_int(hone_dtype dtype) {
    if (dtype.code == HONE_DTYPE_CODE_BOOL) return 1;
    if (!hone_dtype_is_integer(dtype) || dtype.bits == 0) return 0;
    int value_bits = dtype.bits - (dtype.code == HONE_DTYPE_CODE_INT);
    return value_bits >= 63 ? INT64_MAX : (INT64_C(1) << value_bits) - 1;
}

double hone_dtype_epsilon(hone_dtype dtype) {
    const struct row *row = row_of(dtype);
    return row ? row->epsilon : 0;
}

double hone_dtype_max_float(hone_dtype dtype) {
    const struct row *row = row_of(dtype);
    return row ? row->max_float : 0;
}

bool hone_dtype_is_storable(hone_dtype dtype) {
    bool is_bit = dtype.bits < 2; /* "int1", void */
    if (dtype.lanes < 1 || hone_dtype_is_scalable(dtype) || is_bit) return false;
    return row_of(dtype) != NULL;
}

/* Reads "x4" or "xvscalex4" at the end of a name: digits without leading zero, 1..32767. */
static bool parse_lanes(const char *text, size_t count, uint16_t *out_lanes) {
    static const char scale[] = "xvscale";
    uint32_t lanes = 0;
    bool is_scalable = count > sizeof scale && memcmp(text, scale, sizeof scale - 1) == 0;
    text += is_scalable ? sizeof scale - 1 : 0;
    count -= is_scalable ? sizeof scale - 1 : 0;
    if (count < 2 || count > 6 || text[0] != 'x' || text[1] == '0') return false;
    for (size_t i = 1; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        lanes = lanes * 10 + (uint32_t)(text[i] - '0');
    }
    *out_lanes = (uint16_t)(is_scalable ? lanes | HONE_DTYPE_SCALABLE : lanes);
    return lanes < HONE_DTYPE_SCALABLE;
}

bool hone_dtype_parse(const char *text, hone_dtype *out_dtype) {
    return hone_dtype_parse_n(text, strlen(text), out_dtype);
}

bool hone_dtype_parse_n(const char *text, size_t count, hone_dtype *out_dtype) {
    *out_dtype = HONE_DTYPE_VOID;
    if (count == 0) return true;
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        size_t length = strlen(rows[i].name);
        if (count < length || memcmp(text, rows[i].name, length) != 0) continue;
        uint16_t lanes = 1;
        if (count > length && !parse_lanes(text + length, count - length, &lanes)) continue;
        if (lanes > 1 && rows[i].dtype.bits == 0) return false;
        *out_dtype = hone_dtype_with_lanes(rows[i].dtype, lanes);
        return true;
    }
    return false;
}

char *hone_dtype_print(hone_dtype dtype, char *out, size_t out_bytes) {
    static const char *const stems[HONE_DTYPE_CODE_COUNT] = {
        [HONE_DTYPE_CODE_VOID] = "void",     [HONE_DTYPE_CODE_INT] = "int",
        [HONE_DTYPE_CODE_UINT] = "uint",     [HONE_DTYPE_CODE_FLOAT] = "float",
        [HONE_DTYPE_CODE_BFLOAT] = "bfloat", [HONE_DTYPE_CODE_BOOL] = "bool",
        [HONE_DTYPE_CODE_HANDLE] = "handle"};
    const struct row *row = row_of(dtype);
    char lanes[16] = "";
    const char *scale = hone_dtype_is_scalable(dtype) ? "xvscalex" : "x";
    if (dtype.lanes > 1) {
        snprintf(lanes, sizeof lanes, "%s%u", scale, dtype.lanes % HONE_DTYPE_SCALABLE);
    }
    if (row) {
        snprintf(out, out_bytes, "%s%s", row->name, lanes);
    } else if (dtype.code < HONE_DTYPE_CODE_COUNT && stems[dtype.code]) {
        snprintf(out, out_bytes, "%s%u%s", stems[dtype.code], (unsigned)dtype.bits, lanes);
    } else {
        snprintf(out, out_bytes, "dtype?%u", (unsigned)dtype.code);
    }
    return out;
}

hone_dtype_text hone_dtype_name(hone_dtype dtype) {
    hone_dtype_text name;
    hone_dtype_print(dtype, name.text, sizeof name.text);
    return name;
}
