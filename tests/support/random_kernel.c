/* tests/support/random_kernel.c - random programs as a schedule leaves them. */
#include "tests/support/random_kernel.h"

#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/data/rng.h"

enum { MAX_STAGES = 4, TEXT = 256, VALUE = 2048 };

static const char *const dtypes[] = {"float32", "float32", "int32",   "int8",     "uint8",
                                     "int16",   "int64",   "float16", "bfloat16", "float64"};

typedef struct source {
    char name[8];
    const char *dtype;
    bool is_column; /* one element per row */
} source;

typedef struct kernel_writer {
    hone_rng rng;
    hone_str *out;
    const char *dtype; /* what most of it is made of */
    char rows[8], columns[8];
    int row_count, column_count; /* 0 = known at run time only */
    source sources[MAX_STAGES + 2];
    uint32_t source_count;
    int depth;
} kernel_writer;

static uint32_t dice(kernel_writer *w, uint32_t sides) {
    return (uint32_t)(hone_rng_next(&w->rng) % sides);
}

HONE_PRINTF(2, 3) static void line(kernel_writer *w, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    char text[2 * VALUE];
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    hone_str_printf(w->out, "%*s%s\n", w->depth * 4, "", text);
}

static bool is_float(const char *dtype) {
    return strstr(dtype, "float") != NULL;
}

static bool is_byte(const char *dtype) {
    return strstr(dtype, "int8") != NULL;
}

/* ---- values ---- */

static void constant(const kernel_writer *w, const char *number, char *out) {
    snprintf(out, TEXT, "T.Cast(\"%s\", T.float32(%s))", w->dtype, number);
}

/* An element of something that was written before, at a place in this row. */
static void element(kernel_writer *w, const char *row, const char *column, char *out) {
    const source *s = &w->sources[dice(w, w->source_count)];
    char place[TEXT];
    switch (s->is_column ? 0 : 1 + dice(w, 6)) {
    case 0:
        snprintf(place, sizeof place, "0");
        break;
    case 1:
        snprintf(place, sizeof place, "T.max(%s - 1, 0)", column);
        break;
    case 2:
        snprintf(place, sizeof place, "%s - 1 - %s", w->columns, column);
        break;
    case 3:
        snprintf(place, sizeof place, "T.min(T.max(K[%s], 0), %s - 1)", column, w->columns);
        break;
    default:
        snprintf(place, sizeof place, "%s", column);
    }
    bool is_same = strcmp(s->dtype, w->dtype) == 0;
    snprintf(out, TEXT, is_same ? "%s[%s, %s]" : "T.Cast(\"%s\", %s[%s, %s])",
             is_same ? s->name : w->dtype, is_same ? row : s->name, is_same ? place : row, place);
}

static void float_value(kernel_writer *w, const char *a, const char *b, const char *column,
                        char *out, size_t size) {
    char half[TEXT], one[TEXT];
    constant(w, "0.5", half);
    constant(w, "1", one);
    switch (dice(w, 9)) {
    case 0:
        snprintf(out, size, "T.max(%s, %s)", a, b);
        return;
    case 1:
        snprintf(out, size, "T.exp(T.min(%s, %s))", a, one);
        return;
    case 2:
        snprintf(out, size, "T.sqrt(T.abs(%s)) + %s", a, b);
        return;
    case 3:
        snprintf(out, size, "T.tanh(%s) * %s", a, half);
        return;
    case 4:
        snprintf(out, size, "T.sigmoid(%s) - %s", a, b);
        return;
    case 5:
        snprintf(out, size, "T.Select(%s < %s, %s, %s)", a, b, b, a);
        return;
    case 6:
        snprintf(out, size, "T.if_then_else(%s %% 3 == 0, %s, %s)", column, a, b);
        return;
    default:
        snprintf(out, size, "%s * %s + %s", a, half, b);
    }
}

static void int_value(kernel_writer *w, const char *a, const char *b, const char *column, char *out,
                      size_t size) {
    char most[TEXT], least[TEXT], two[TEXT];
    constant(w, "100", most);
    constant(w, w->dtype[0] == 'u' ? "0" : "-100", least);
    constant(w, "2", two);
    uint32_t pick = dice(w, 7);
    if (pick == 0) {
        snprintf(out, size, "T.max(%s, %s)", a, b);
    } else if (pick == 1) {
        snprintf(out, size, "T.if_then_else(%s %% 3 == 0, %s, %s)", column, a, b);
    } else if (pick == 2) {
        snprintf(out, size, "T.Select(%s < %s, %s, %s)", a, b, b, a);
    } else if (is_byte(w->dtype)) {
        snprintf(out, size, "%s // %s + %s // %s", a, two, b, two);
    } else {
        snprintf(out, size, "T.max(T.min(%s * %s %s %s, %s), %s)", a, two, pick == 3 ? "-" : "+", b,
                 most, least);
    }
}

static void value(kernel_writer *w, const char *row, const char *column, char *out, size_t size) {
    char a[TEXT], b[TEXT];
    element(w, row, column, a);
    element(w, row, column, b);
    if (is_float(w->dtype))
        float_value(w, a, b, column, out, size);
    else
        int_value(w, a, b, column, out, size);
}

/* ---- loops ---- */

static const char *row_kind(kernel_writer *w) {
    static const char *const kinds[] = {"range", "range", "T.parallel", "T.unroll"};
    return kinds[dice(w, w->row_count ? 4 : 3)];
}

static void annotation(kernel_writer *w, bool reduces, char *out) {
    out[0] = 0;
    uint32_t pick = dice(w, 6);
    if (pick == 0) snprintf(out, TEXT, ", annotations={\"pragma_auto_unroll_max_step\": 16}");
    if (pick == 1) snprintf(out, TEXT, ", annotations={\"pragma_streaming_store\": 1}");
    if (pick == 5)
        snprintf(out, TEXT, ", annotations={\"pragma_prefetch%s\": 3}",
                 dice(w, 2) ? "_stores" : "");
    if (reduces && (pick == 3 || pick == 4)) {
        snprintf(out, TEXT, ", annotations={\"pragma_vector_reduce\": %u}", 1 + dice(w, 4));
    }
}

/* Loops around a block; the axis and the predicate for columns. Leaves w->depth inside. */
static void open_loops(kernel_writer *w, const char *name, bool vectors) {
    static const int lanes[] = {4, 8, 16};
    line(w, "for i in %s(%s):", row_kind(w), w->rows);
    w->depth++;
    char extra[TEXT];
    annotation(w, false, extra);
    bool is_split = vectors && dice(w, 2) == 0;
    int width = lanes[dice(w, 3)];
    if (is_split) {
        line(w, "for j0 in T.serial((%s + %d) // %d%s):", w->columns, width - 1, width, extra);
        w->depth++;
        line(w, "for j1 in %s(%d):", dice(w, 4) ? "T.vectorized" : "T.unroll", width);
    } else if (vectors && w->column_count && dice(w, 3) == 0) {
        bool is_vector = dice(w, 3) != 0;
        line(w, "for j in %s(%s):", is_vector ? "T.vectorized" : "T.unroll", w->columns);
    } else {
        line(w, "for j in T.serial(%s%s):", w->columns, extra);
    }
    w->depth++;
    line(w, "with T.block(\"%s\"):", name);
    w->depth++;
    line(w, "vi = T.axis.spatial(%s, i)", w->rows);
    if (is_split) {
        line(w, "vj = T.axis.spatial(%s, j0 * %d + j1)", w->columns, width);
        line(w, "T.where(j0 * %d + j1 < %s)", width, w->columns);
    } else {
        line(w, "vj = T.axis.spatial(%s, j)", w->columns);
    }
}

/* ---- stages ---- */

static void elementwise(kernel_writer *w, const char *to) {
    char what[VALUE];
    value(w, "vi", "vj", what, sizeof what);
    open_loops(w, to, true);
    if (dice(w, 6) == 0) line(w, "T.evaluate(T.prefetch(T.address_of(X[vi, 0]), 0, 3, 1))");
    line(w, "%s[vi, vj] = %s", to, what);
}

static void scan(kernel_writer *w, const char *to) {
    char what[TEXT];
    element(w, "vi", "vj", what);
    line(w, "for i in %s(%s):", dice(w, 2) ? "range" : "T.parallel", w->rows);
    w->depth++;
    line(w, "for j in range(%s):", w->columns);
    w->depth++;
    line(w, "with T.block(\"%s\"):", to);
    w->depth++;
    line(w, "vi = T.axis.spatial(%s, i)", w->rows);
    line(w, "vj = T.axis.opaque(%s, j)", w->columns);
    line(w, "%s[vi, vj] = T.if_then_else(vj == 0, %s, T.max(%s[vi, T.max(vj - 1, 0)], %s))", to,
         what, to, what);
}

static void reduction(kernel_writer *w, const char *to) {
    char what[TEXT], extra[TEXT], start[TEXT];
    element(w, "vi", "vj", what);
    bool is_small = is_byte(w->dtype) || strstr(w->dtype, "float16");
    bool is_sum = !is_small && dice(w, 2) == 0;
    constant(w, is_sum ? "0" : (w->dtype[0] == 'u' ? "0" : "-100"), start);
    annotation(w, true, extra);
    line(w, "for i in %s(%s):", row_kind(w), w->rows);
    w->depth++;
    line(w, "for j in T.serial(%s%s):", w->columns, extra);
    w->depth++;
    line(w, "with T.block(\"%s\"):", to);
    w->depth++;
    line(w, "vi = T.axis.spatial(%s, i)", w->rows);
    line(w, "vj = T.axis.reduce(%s, j)", w->columns);
    line(w, "with T.init():");
    line(w, "    %s[vi, 0] = %s", to, start);
    line(w, is_sum ? "%s[vi, 0] = %s[vi, 0] + %s" : "%s[vi, 0] = T.max(%s[vi, 0], %s)", to, to,
         what);
}

static void pipelined(kernel_writer *w, const char *to) {
    char what[VALUE];
    value(w, "i", "j", what, sizeof what);
    bool is_swapped = dice(w, 2) != 0;
    line(w,
         "for i in T.serial(%s, annotations={\"software_pipeline_stage\": [0, %u], "
         "\"software_pipeline_order\": [%d, %d]}):",
         w->rows, 1 + dice(w, 2), is_swapped, !is_swapped);
    w->depth++;
    line(w, "with T.block(\"%s\"):", to);
    w->depth++;
    line(w, "B = T.alloc_buffer((%s,), \"%s\")", w->columns, w->dtype);
    const char *kind = w->column_count && dice(w, 2) ? "T.vectorized" : "range";
    line(w, "for j in %s(%s):", kind, w->columns);
    line(w, "    with T.block(\"%s_fill\"):", to);
    line(w, "        B[j] = %s", what);
    line(w, "for j in %s(%s):", kind, w->columns);
    line(w, "    with T.block(\"%s_take\"):", to);
    line(w, "        %s[i, j] = B[%s - 1 - j]", to, w->columns);
}

static void stage(kernel_writer *w, const char *to, bool is_column) {
    w->depth = 1;
    uint32_t pick = dice(w, 8);
    if (is_column)
        reduction(w, to);
    else if (pick == 0)
        scan(w, to);
    else if (pick == 1)
        pipelined(w, to);
    else
        elementwise(w, to);
}

/* Types that convert to the main one exactly, or nearly so. */
static const char *other_dtype(kernel_writer *w) {
    if (is_float(w->dtype)) return dice(w, 2) ? "int8" : "float32";
    if (is_byte(w->dtype)) return w->dtype;
    return dice(w, 2) ? "uint8" : "int8";
}

static void extents(kernel_writer *w) {
    static const int columns[] = {1, 3, 5, 8, 16, 17, 33};
    w->row_count = dice(w, 3) ? 1 + (int)dice(w, 9) : 0;
    w->column_count = dice(w, 3) ? columns[dice(w, 7)] : 0;
    snprintf(w->rows, sizeof w->rows, w->row_count ? "%d" : "n", w->row_count);
    snprintf(w->columns, sizeof w->columns, w->column_count ? "%d" : "m", w->column_count);
}

void test_random_kernel(uint64_t seed, hone_str *out_text) {
    kernel_writer w = {.rng = hone_rng_from_seed(seed), .out = out_text};
    w.dtype = dtypes[dice(&w, HONE_COUNT(dtypes))];
    extents(&w);
    uint32_t stages = 1 + dice(&w, MAX_STAGES);
    bool is_column[MAX_STAGES], is_temporary[MAX_STAGES];
    line(&w, "from tvm.script import tir as T");
    line(&w, "@T.prim_func");
    hone_str_append(out_text, "def main(x: T.handle, z: T.handle, k: T.handle");
    for (uint32_t s = 0; s < stages; s++) {
        is_column[s] = dice(&w, 5) == 0;
        is_temporary[s] = s + 1 < stages && dice(&w, 2) == 0;
        if (!is_temporary[s]) hone_str_printf(out_text, ", y%u: T.handle", s);
    }
    hone_str_append(out_text, "):\n");
    w.depth = 1;
    line(&w, "n, m = T.int32(), T.int32()");
    w.sources[0] = (source){.name = "X", .dtype = w.dtype};
    w.sources[1] = (source){.name = "Z", .dtype = other_dtype(&w)};
    w.source_count = 2;
    line(&w, "X = T.match_buffer(x, (%s, %s), \"%s\")", w.rows, w.columns, w.dtype);
    line(&w, "Z = T.match_buffer(z, (%s, %s), \"%s\")", w.rows, w.columns, w.sources[1].dtype);
    line(&w, "K = T.match_buffer(k, (%s,), \"int32\")", w.columns);
    for (uint32_t s = 0; s < stages; s++) {
        const char *width = is_column[s] ? "1" : w.columns;
        if (is_temporary[s])
            line(&w, "Y%u = T.alloc_buffer((%s, %s), \"%s\")", s, w.rows, width, w.dtype);
        else
            line(&w, "Y%u = T.match_buffer(y%u, (%s, %s), \"%s\")", s, s, w.rows, width, w.dtype);
    }
    for (uint32_t s = 0; s < stages; s++) {
        source *to = &w.sources[w.source_count];
        *to = (source){.dtype = w.dtype, .is_column = is_column[s]};
        snprintf(to->name, sizeof to->name, "Y%u", s);
        stage(&w, to->name, is_column[s]);
        w.source_count++;
    }
}

/* ---- arguments ---- */

static int64_t size_of(hone_var var, uint64_t seed) {
    hone_rng rng = hone_rng_from_seed(seed * 77 + var);
    return 1 + (int64_t)(hone_rng_next(&rng) % 37);
}

/* A few of the numbers are at the ends of their type, or any. */
static void put_extremes(hone_tensor *tensor, hone_rng *rng) {
    unsigned bits = tensor->dtype.bits;
    int64_t most = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    for (int64_t i = 0; i < hone_tensor_count(tensor); i++) {
        int64_t any = (int64_t)hone_rng_next(rng) >> (64 - bits);
        const int64_t values[] = {most, -most - 1, -1, 0, any, any};
        uint64_t pick = hone_rng_below(rng, 4 * HONE_COUNT(values));
        if (pick < HONE_COUNT(values)) hone_tensor_set_i64(tensor, i, values[pick]);
    }
}

hone_tensor **test_random_kernel_args(const hone_func *func, uint64_t seed, int64_t *out_sizes) {
    hone_tensor **args = hone_calloc(func->param_count + 1, sizeof *args);
    hone_var seen[8];
    uint32_t sizes = 0;
    for (uint32_t i = 0; args && i < func->param_count; i++) {
        const hone_buffer_info *info = hone_func_buffer(func, func->params[i].buffer);
        int64_t shape[HONE_MAX_RANK] = {0};
        for (uint32_t d = 0; d < info->rank; d++) {
            shape[d] = hone_expr_const(info->shape[d]);
            if (shape[d] >= 0) continue;
            hone_var var = info->shape[d]->u.var;
            shape[d] = size_of(var, seed);
            bool is_new = true;
            for (uint32_t s = 0; s < sizes; s++)
                is_new &= seen[s] != var;
            if (!is_new) continue;
            seen[sizes] = var;
            out_sizes[sizes++] = shape[d];
        }
        if (hone_status_consume(
                hone_tensor_create(info->dtype, (int32_t)info->rank, shape, &args[i]))) {
            return args;
        }
        hone_rng rng = hone_rng_from_seed(seed * 1000 + i);
        bool is_unsigned = info->dtype.code == HONE_DTYPE_CODE_UINT;
        double lo = hone_dtype_is_float(info->dtype) ? -1 : -8;
        hone_tensor_fill_random(args[i], &rng, is_unsigned ? 0 : lo, -lo);
        if (seed % 4 == 0 && hone_dtype_is_int(info->dtype)) put_extremes(args[i], &rng);
    }
    return args;
}

double test_dtype_tolerance(hone_dtype dtype) {
    if (!hone_dtype_is_float(dtype)) return 0;
    if (dtype.bits == 64) return 1e-12;
    if (dtype.bits == 32) return 1e-4;
    return dtype.code == HONE_DTYPE_CODE_FLOAT ? 0.01 : 0.08; /* float16, bfloat16 */
}
