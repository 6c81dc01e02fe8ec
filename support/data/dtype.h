/* support/data/dtype.h - element types: what a number is made of.
 *
 * A small value, passed by value. Names are TVM's: "float32", "int8x4", "float8_e4m3fn", "bool".
 * Each lane is stored in whole bytes; a bool is one byte (0 or 1), a handle is a pointer.
 */
#ifndef HONE_SUPPORT_DATA_DTYPE_H
#define HONE_SUPPORT_DATA_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/attributes.h"

/* In-memory numbers only: never write them to a file, print the name. */
typedef enum hone_dtype_code {
    HONE_DTYPE_CODE_VOID = 0,
    HONE_DTYPE_CODE_INT,
    HONE_DTYPE_CODE_UINT,
    HONE_DTYPE_CODE_FLOAT,
    HONE_DTYPE_CODE_BFLOAT,
    HONE_DTYPE_CODE_FLOAT8_E4M3, /* e4m3fn: no infinity, NaN is S.1111.111 */
    HONE_DTYPE_CODE_FLOAT8_E5M2,
    HONE_DTYPE_CODE_FLOAT8_E3M4,
    HONE_DTYPE_CODE_FLOAT8_E4M3_IEEE, /* float8_e4m3: with infinities */
    HONE_DTYPE_CODE_FLOAT8_E4M3B11FNUZ,
    HONE_DTYPE_CODE_FLOAT8_E4M3FNUZ, /* fnuz: one zero, one NaN (the bits of -0), no infinity */
    HONE_DTYPE_CODE_FLOAT8_E5M2FNUZ,
    HONE_DTYPE_CODE_FLOAT8_E8M0FNU, /* powers of two, and NaN */
    HONE_DTYPE_CODE_FLOAT6_E2M3FN,  /* finite numbers only */
    HONE_DTYPE_CODE_FLOAT6_E3M2FN,
    HONE_DTYPE_CODE_FLOAT4_E2M1FN, /* the last float: hone_dtype_is_float */
    HONE_DTYPE_CODE_BOOL,
    HONE_DTYPE_CODE_HANDLE,
    HONE_DTYPE_CODE_COUNT
} hone_dtype_code;

typedef struct hone_dtype {
    uint8_t code;   /* hone_dtype_code */
    uint8_t bits;   /* of one lane */
    uint16_t lanes; /* with HONE_DTYPE_SCALABLE: so many for each unit of the machine's vectors */
} hone_dtype;

/* float32xvscalex4: a vector whose length only the machine knows, n * T.vscale() lanes. */
enum { HONE_DTYPE_SCALABLE = 0x8000 };

/* For initialisers of static tables, where a compound literal is no constant. */
#define HONE_DTYPE_INIT(code_name, bits, lanes)                                                    \
    { HONE_DTYPE_CODE_##code_name, (bits), (lanes) }
#define HONE_DTYPE_MAKE(code_name, bits) ((hone_dtype)HONE_DTYPE_INIT(code_name, (bits), 1))

#define HONE_DTYPE_VOID HONE_DTYPE_MAKE(VOID, 0) /* also what {0} nearly is: lanes 0 or 1 */
#define HONE_DTYPE_BOOL HONE_DTYPE_MAKE(BOOL, 8)
#define HONE_DTYPE_I8 HONE_DTYPE_MAKE(INT, 8)
#define HONE_DTYPE_I16 HONE_DTYPE_MAKE(INT, 16)
#define HONE_DTYPE_I32 HONE_DTYPE_MAKE(INT, 32)
#define HONE_DTYPE_I64 HONE_DTYPE_MAKE(INT, 64)
#define HONE_DTYPE_U8 HONE_DTYPE_MAKE(UINT, 8)
#define HONE_DTYPE_U16 HONE_DTYPE_MAKE(UINT, 16)
#define HONE_DTYPE_U32 HONE_DTYPE_MAKE(UINT, 32)
#define HONE_DTYPE_U64 HONE_DTYPE_MAKE(UINT, 64)
#define HONE_DTYPE_F16 HONE_DTYPE_MAKE(FLOAT, 16)
#define HONE_DTYPE_F32 HONE_DTYPE_MAKE(FLOAT, 32)
#define HONE_DTYPE_F64 HONE_DTYPE_MAKE(FLOAT, 64)
#define HONE_DTYPE_BF16 HONE_DTYPE_MAKE(BFLOAT, 16)
#define HONE_DTYPE_F8_E4M3 HONE_DTYPE_MAKE(FLOAT8_E4M3, 8)
#define HONE_DTYPE_F8_E5M2 HONE_DTYPE_MAKE(FLOAT8_E5M2, 8)
#define HONE_DTYPE_HANDLE HONE_DTYPE_MAKE(HANDLE, 64)

static inline bool hone_dtype_equal(hone_dtype a, hone_dtype b) {
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/* As above, but lanes do not count. */
static inline bool hone_dtype_same_element(hone_dtype a, hone_dtype b) {
    return a.code == b.code && a.bits == b.bits;
}

static inline hone_dtype hone_dtype_with_lanes(hone_dtype dtype, uint16_t lanes) {
    return (hone_dtype){dtype.code, dtype.bits, lanes};
}

static inline hone_dtype hone_dtype_element(hone_dtype dtype) {
    return hone_dtype_with_lanes(dtype, 1);
}

static inline bool hone_dtype_is_int(hone_dtype d) {
    return d.code == HONE_DTYPE_CODE_INT; /* signed */
}
static inline bool hone_dtype_is_uint(hone_dtype d) {
    return d.code == HONE_DTYPE_CODE_UINT;
}
static inline bool hone_dtype_is_integer(hone_dtype d) {
    return d.code == HONE_DTYPE_CODE_INT || d.code == HONE_DTYPE_CODE_UINT; /* not bool */
}
static inline bool hone_dtype_is_float(hone_dtype d) {
    return d.code >= HONE_DTYPE_CODE_FLOAT && d.code <= HONE_DTYPE_CODE_FLOAT4_E2M1FN; /* any */
}
/* Of 16 bits or less: float16, bfloat16, float8 and shorter. */
static inline bool hone_dtype_is_short_float(hone_dtype d) {
    return hone_dtype_is_float(d) && (d.code != HONE_DTYPE_CODE_FLOAT || d.bits == 16);
}
static inline bool hone_dtype_is_bool(hone_dtype d) {
    return d.code == HONE_DTYPE_CODE_BOOL;
}
static inline bool hone_dtype_is_handle(hone_dtype d) {
    return d.code == HONE_DTYPE_CODE_HANDLE;
}
static inline bool hone_dtype_is_void(hone_dtype d) {
    return d.code == HONE_DTYPE_CODE_VOID;
}
static inline bool hone_dtype_is_vector(hone_dtype d) {
    return d.lanes > 1;
}

static inline bool hone_dtype_is_scalable(hone_dtype d) {
    return (d.lanes & HONE_DTYPE_SCALABLE) != 0;
}

/* Bytes of all lanes; 0 for void, and where only the machine knows. */
static inline size_t hone_dtype_bytes(hone_dtype d) {
    return hone_dtype_is_scalable(d) ? 0 : (size_t)((d.bits + 7) / 8) * d.lanes;
}

/* The smallest and largest value of an integer or bool type (uint64: the maximum is INT64_MAX). */
int64_t hone_dtype_min_int(hone_dtype dtype);
int64_t hone_dtype_max_int(hone_dtype dtype);

/* The distance from 1 to the next number of a float type; 0 for others. The largest finite value.
 */
double hone_dtype_epsilon(hone_dtype dtype);
double hone_dtype_max_float(hone_dtype dtype);

/* True for the element types that tensors can hold (int4 in a byte) and the accessors of tensor.h
 * know. */
bool hone_dtype_is_storable(hone_dtype dtype);

/* Reads a name; false (and void) when it is none. Also reads the spellings of other worlds that
 * cannot be mistaken: "e4m3_float8", "void", "". */
HONE_NODISCARD bool hone_dtype_parse(const char *text, hone_dtype *out_dtype);
HONE_NODISCARD bool hone_dtype_parse_n(const char *text, size_t count, hone_dtype *out_dtype);

enum { HONE_DTYPE_NAME_BYTES = 32 };
/* Writes the name; returns `out`. HONE_DTYPE_NAME_BYTES are always enough. */
char *hone_dtype_print(hone_dtype dtype, char *out, size_t out_bytes);

/* The name as a temporary that lives until the end of the full expression: for printf arguments.
 *     HONE_ERROR(HONE_CODE_TYPE, "operands are %s and %s", HONE_DTYPE_NAME(a), HONE_DTYPE_NAME(b))
 */
typedef struct hone_dtype_text {
    char text[HONE_DTYPE_NAME_BYTES];
} hone_dtype_text;
hone_dtype_text hone_dtype_name(hone_dtype dtype);
#define HONE_DTYPE_NAME(dtype) (hone_dtype_name(dtype).text)

#endif
