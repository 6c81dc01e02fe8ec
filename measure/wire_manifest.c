/* measure/wire_manifest.c - the wire form of manifests, a part of runs and builds. */
#include "measure/wire_manifest.h"

#include "support/data/dtype.h"

#define MAX_NAME 4096
#define MAX_TARGET 8192

static void put_dtype(hone_str *out, const void *record) {
    hone_cbor_put_text(out, HONE_DTYPE_NAME(((const hone_arg *)record)->dtype));
}

static void get_dtype(wire_reader *reader, void *record) {
    hone_arg *arg = record;
    const char *text = NULL;
    size_t count = 0;
    hone_cbor_get_text(reader->cbor, &text, &count);
    if (!text || !hone_dtype_parse_n(text, count, &arg->dtype)) {
        hone_cbor_reader_fail(reader->cbor, "has an unknown element type");
    }
}

static void put_shape(hone_str *out, const void *record) {
    const hone_arg *arg = record;
    hone_cbor_put_array(out, arg->rank);
    for (uint32_t i = 0; i < arg->rank; i++)
        hone_cbor_put_int(out, arg->shape[i]);
}

static void get_shape(wire_reader *reader, void *record) {
    hone_arg *arg = record;
    arg->rank = (uint32_t)hone_wire_get_array(reader, HONE_MAX_RANK);
    for (uint32_t i = 0; i < arg->rank; i++)
        arg->shape[i] = hone_cbor_get_int(reader->cbor);
}

static const wire_field arg_fields[] = {
    WIRE_LIMITED(1, WIRE_TEXT, hone_arg, name, MAX_NAME),
    WIRE_HOOK(2, put_dtype, get_dtype),
    {3, WIRE_ENUM, offsetof(hone_arg, role), .limit = HONE_ARG_INOUT + 1},
    WIRE_HOOK(4, put_shape, get_shape),
};
WIRE_TABLE(arg_table, arg_fields);

static void put_args(hone_str *out, const void *record) {
    const hone_manifest *m = record;
    hone_cbor_put_array(out, m->arg_count);
    for (size_t i = 0; i < m->arg_count; i++)
        hone_wire_put(out, &arg_table, &m->args[i]);
}

static void get_args(wire_reader *reader, void *record) {
    hone_manifest *m = record;
    size_t count = hone_wire_get_array(reader, HONE_MANIFEST_MAX_ARGS);
    hone_arg *args = hone_wire_alloc(reader, count, sizeof *args);
    if (!args) return;
    for (size_t i = 0; i < count; i++)
        hone_wire_get(reader, &arg_table, &args[i]);
    m->arg_count = count;
    m->args = args;
}

static void put_sizes(hone_str *out, const void *record) {
    const hone_manifest *m = record;
    hone_cbor_put_array(out, m->size_count);
    for (size_t i = 0; i < m->size_count; i++)
        hone_cbor_put_int(out, m->sizes[i]);
}

static void get_sizes(wire_reader *reader, void *record) {
    hone_manifest *m = record;
    size_t count = hone_wire_get_array(reader, HONE_MANIFEST_MAX_SIZES);
    int64_t *sizes = hone_wire_alloc(reader, count, sizeof *sizes);
    if (!sizes) return;
    for (size_t i = 0; i < count; i++)
        sizes[i] = hone_cbor_get_int(reader->cbor);
    m->size_count = count;
    m->sizes = sizes;
}

static void put_externs(hone_str *out, const void *record) {
    const hone_manifest *m = record;
    hone_cbor_put_array(out, m->extern_count);
    for (size_t i = 0; i < m->extern_count; i++)
        hone_cbor_put_text(out, m->externs[i]);
}

static void get_externs(wire_reader *reader, void *record) {
    hone_manifest *m = record;
    size_t count = hone_wire_get_array(reader, HONE_MANIFEST_MAX_EXTERNS);
    const char **externs = hone_wire_alloc(reader, count, sizeof *externs);
    if (!externs) return;
    for (size_t i = 0; i < count; i++)
        externs[i] = hone_wire_get_text(reader, MAX_NAME);
    m->extern_count = count;
    m->externs = externs;
}

static const wire_field value_fields[] = {
    WIRE_LIMITED(1, WIRE_ENUM, hone_launch_value, op, HONE_LAUNCH_MAX + 1),
    WIRE_MEMBER(2, WIRE_INT32, hone_launch_value, a),
    WIRE_MEMBER(3, WIRE_INT32, hone_launch_value, b),
    WIRE_MEMBER(4, WIRE_INT64, hone_launch_value, k),
};
WIRE_TABLE(value_table, value_fields);

static const wire_field launch_arg_fields[] = {
    WIRE_LIMITED(1, WIRE_ENUM, hone_launch_arg, kind, HONE_LAUNCH_ARG_VALUE + 1),
    WIRE_MEMBER(2, WIRE_INT32, hone_launch_arg, index),
};
WIRE_TABLE(launch_arg_table, launch_arg_fields);

static void put_numbers(hone_str *out, const int32_t *numbers, size_t count) {
    hone_cbor_put_array(out, count);
    for (size_t i = 0; i < count; i++)
        hone_cbor_put_int(out, numbers[i]);
}

/* What does not fit becomes -1, which names nothing. */
static void get_numbers(wire_reader *reader, int32_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int64_t number = hone_cbor_get_int(reader->cbor);
        numbers[i] = number >= 0 && number <= INT32_MAX ? (int32_t)number : -1;
    }
}

static void get_extents(wire_reader *reader, int32_t extents[3]) {
    if (hone_wire_get_array(reader, 3) == 3) {
        get_numbers(reader, extents, 3);
    } else {
        hone_cbor_reader_fail(reader->cbor, "has extents that are not three");
    }
}

static void put_grid(hone_str *out, const void *record) {
    put_numbers(out, ((const hone_launch *)record)->grid, 3);
}

static void get_grid(wire_reader *reader, void *record) {
    get_extents(reader, ((hone_launch *)record)->grid);
}

static void put_block(hone_str *out, const void *record) {
    put_numbers(out, ((const hone_launch *)record)->block, 3);
}

static void get_block(wire_reader *reader, void *record) {
    get_extents(reader, ((hone_launch *)record)->block);
}

/* Lists of a count and a pointer: laid out as wire_list. */
#define LIST(number, type, count, list, table, most)                                               \
    {                                                                                              \
        .key = (number), .kind = WIRE_LIST, .offset = offsetof(type, count), .sub = (table),       \
        .limit = (most), .stride = sizeof *((type *)0)->list                                       \
    }
#define IS_LIST(type, count, list)                                                                 \
    (offsetof(type, list) == offsetof(type, count) + offsetof(wire_list, items))
_Static_assert(IS_LIST(hone_launch, arg_count, args), "a list");
_Static_assert(IS_LIST(hone_manifest, value_count, values), "a list");
_Static_assert(IS_LIST(hone_manifest, launch_count, launches), "a list");

static const wire_field launch_fields[] = {
    WIRE_LIMITED(1, WIRE_TEXT, hone_launch, symbol, MAX_NAME),
    WIRE_HOOK(2, put_grid, get_grid),
    WIRE_HOOK(3, put_block, get_block),
    WIRE_MEMBER(4, WIRE_INT32, hone_launch, dynamic_shared),
    LIST(5, hone_launch, arg_count, args, &launch_arg_table, HONE_LAUNCH_MAX_ARGS),
};
WIRE_TABLE(launch_table, launch_fields);

static void put_scratch(hone_str *out, const void *record) {
    const hone_manifest *m = record;
    put_numbers(out, m->scratch, m->scratch_count);
}

static void get_scratch(wire_reader *reader, void *record) {
    hone_manifest *m = record;
    size_t count = hone_wire_get_array(reader, HONE_LAUNCH_MAX_SCRATCH);
    int32_t *scratch = hone_wire_alloc(reader, count, sizeof *scratch);
    if (!scratch) return;
    get_numbers(reader, scratch, count);
    m->scratch_count = count;
    m->scratch = scratch;
}

static const wire_field manifest_fields[] = {
    WIRE_MEMBER(1, WIRE_UINT32, hone_manifest, abi_version),
    WIRE_LIMITED(2, WIRE_TEXT, hone_manifest, entry, MAX_NAME),
    {3, WIRE_TEXT, offsetof(hone_manifest, target), .limit = MAX_TARGET},
    WIRE_HOOK(4, put_args, get_args),
    WIRE_HOOK(5, put_sizes, get_sizes),
    WIRE_HOOK(6, put_externs, get_externs),
    LIST(7, hone_manifest, value_count, values, &value_table, HONE_LAUNCH_MAX_VALUES),
    WIRE_HOOK(8, put_scratch, get_scratch),
    LIST(9, hone_manifest, launch_count, launches, &launch_table, HONE_LAUNCH_MAX_COUNT),
};
const wire_table hone_wire_manifest_table = {sizeof manifest_fields / sizeof *manifest_fields,
                                             manifest_fields};
