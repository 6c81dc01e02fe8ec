/* tests/tensorfile/test_tensorfile.c - files that NumPy and others write, round trips, bad files.
 */
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tensorfile/tensorfile.h"
#include "tests/support/hone_test.h"

/* ---- npy texts: prefix, header, data ---- */

static void append_npy(hone_str *out, int major, const char *header, const char *data,
                       size_t data_bytes) {
    size_t length = strlen(header), width = major == 1 ? 2 : 4;
    hone_str_append_n(out, "\x93NUMPY", 6);
    hone_str_append_char(out, (char)major);
    hone_str_append_char(out, 0);
    for (size_t i = 0; i < width; i++)
        hone_str_append_char(out, (char)(length >> (8 * i)));
    hone_str_append(out, header);
    hone_str_append_n(out, data, data_bytes);
}

#define SIX "\1\0\2\0\3\0\4\0\5\0\6\0"

/* clang-format off */
static const struct npy_row {
    const char *name;
    int major;
    const char *header, *data;
    size_t data_bytes;
    hone_code code;
    const char *want; /* printed type and values, or a part of the message */
} npy_rows[] = {
    {"plain", 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n", SIX, 12,
     HONE_CODE_OK, "int16[2, 3] 1 2 3 4 5 6"},
    {"version 2, other order of keys", 2,
     "{\"shape\": (6,), \"descr\": \"<i2\", 'fortran_order': False}", SIX, 12, HONE_CODE_OK,
     "int16[6] 1 2 3 4 5 6"},
    {"version 3, column-major", 3, "{'descr':'<i2','fortran_order':True,'shape':(2,3)}", SIX, 12,
     HONE_CODE_OK, "int16[2, 3] 1 3 5 2 4 6"},
    {"column-major in three dimensions", 1,
     "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 1, 3)}", "\0\1\2\3\4\5", 6, HONE_CODE_OK,
     "uint8[2, 1, 3] 0 2 4 1 3 5"},
    {"big-endian", 1, "{'descr': '>i2', 'fortran_order': False, 'shape': (3, 2), }", SIX, 12,
     HONE_CODE_OK, "int16[3, 2] 256 512 768 1024 1280 1536"},
    {"scalar", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "\0\0\x80\x3f", 4,
     HONE_CODE_OK, "float32[] 1"},
    {"empty", 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 5), }", "", 0, HONE_CODE_OK,
     "float64[0, 5]"},
    {"half", 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", "\0\x3c", 2,
     HONE_CODE_OK, "float16[1] 1"},
    {"bools are cleaned", 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\0\1\6",
     3, HONE_CODE_OK, "bool[3] 0 1 1"},
    {"sizes of Python 2", 1, "{'descr': '|i1', 'fortran_order': False, 'shape': (2L, 1L), }",
     "\1\xff", 2, HONE_CODE_OK, "int8[2, 1] 1 -1"},

    {"strings of bytes", 1, "{'descr': '|S2', 'fortran_order': False, 'shape': (2,), }", "a\0bc", 4,
     HONE_CODE_OK, "uint8[2, 2] 97 0 98 99"},
    {"strings of code points", 1, "{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }",
     "\xe9\0\0\0\0\0\0\0b\0\0\0\xac\x20\0\0", 16, HONE_CODE_OK,
     "uint8[2, 4] 195 169 0 0 98 226 130 172"},
    {"a code point beyond all", 1, "{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }",
     "\0\0\x11\0", 4, HONE_CODE_UNSUPPORTED, "the code point 1114112"},
    {"data cut short", 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (7,), }", SIX, 12,
     HONE_CODE_INVALID, "12 bytes, its header asks for 14"},
    {"data too long", 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (5,), }", SIX, 12,
     HONE_CODE_INVALID, "asks for 10"},
    {"size overflows", 1,
     "{'descr': '<i2', 'fortran_order': False, 'shape': (4611686018427387904, 8), }", SIX, 12,
     HONE_CODE_INVALID, "12 bytes, its header asks for more"},
    {"size overflows to what is there", 1,
     "{'descr': '<i2', 'fortran_order': False, 'shape': (9223372036854775814,), }", SIX, 12,
     HONE_CODE_INVALID, "too large"},
    {"bytes overflow to what is there", 1,
     "{'descr': '<i2', 'fortran_order': False, 'shape': (4611686018427387907, 2), }", SIX, 12,
     HONE_CODE_INVALID, "asks for more than a file can have"},
    {"size has too many digits", 1,
     "{'descr': '<i2', 'fortran_order': False, 'shape': (99999999999999999999,), }", SIX, 12,
     HONE_CODE_INVALID, "too large"},
    {"negative size", 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (-6,), }", SIX, 12,
     HONE_CODE_INVALID, "'-6"},
    {"too many axes", 1,
     "{'descr': '<i2', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,6)}", SIX, 12,
     HONE_CODE_UNSUPPORTED, "12 axes"},
    {"complex", 1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", SIX, 8,
     HONE_CODE_UNSUPPORTED, "'<c8'"},
    {"objects", 1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", SIX, 12,
     HONE_CODE_UNSUPPORTED, "'|O'"},
    {"pickled objects", 1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", SIX, 12,
     HONE_CODE_UNSUPPORTED, "'|O'"},
    {"structured", 1, "{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (1,), }", SIX, 12,
     HONE_CODE_UNSUPPORTED, "structured"},
    {"float of 8 bits", 1, "{'descr': '|f1', 'fortran_order': False, 'shape': (1,), }", SIX, 1,
     HONE_CODE_UNSUPPORTED, "'|f1'"},
    {"no shape", 1, "{'descr': '<i2', 'fortran_order': False}", SIX, 12, HONE_CODE_INVALID,
     "lacks 'shape'"},
    {"shape twice", 1,
     "{'descr': '<i2', 'fortran_order': False, 'shape': (), 'shape': (6,), }", SIX, 12,
     HONE_CODE_INVALID, "'shape'"},
    {"key twice", 1, "{'descr': '<i2', 'descr': '<i2'}", SIX, 12, HONE_CODE_INVALID, "'descr'"},
    {"unknown key", 1, "{'dtype': '<i2'}", SIX, 12, HONE_CODE_INVALID, "'dtype'"},
    {"code instead of a literal", 1, "__import__('os').system('true')", SIX, 12, HONE_CODE_INVALID,
     "'{' is expected"},
    {"rubbish behind", 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (6,)} x", SIX, 12,
     HONE_CODE_INVALID, "the end"},
    {"string without end", 1, "{'descr", "", 0, HONE_CODE_INVALID, "ends"},
    {"version 9", 9, "{}", "", 0, HONE_CODE_VERSION, "version 9"},
};
/* clang-format on */

static void print_tensor(const hone_tensor *tensor, hone_str *out) {
    hone_tensor_print_type(tensor, out);
    for (int64_t i = 0; i < hone_tensor_count(tensor); i++) {
        hone_str_printf(out, " %g", hone_tensor_get_f64(tensor, i));
    }
}

static void reads_npy(void **state) {
    const struct npy_row *row = *state;
    hone_str bytes = {0}, got = {0};
    append_npy(&bytes, row->major, row->header, row->data, row->data_bytes);
    hone_tensor *tensor = NULL;
    hone_status st = hone_npy_read(bytes.data, bytes.length, &tensor);
    hone_str_deinit(&bytes);
    if (row->code != HONE_CODE_OK) {
        assert_null(tensor);
        HONE_ASSERT_ERROR(st, row->code, row->want);
        return;
    }
    HONE_ASSERT_OK(st);
    print_tensor(tensor, &got);
    hone_tensor_destroy(tensor);
    assert_string_equal(hone_str_text(&got), row->want);
    hone_str_deinit(&got);
}

/* ---- sets for the rest ---- */

static hone_tensor_set make_set(bool with_bfloat) {
    static const struct {
        const char *name;
        hone_dtype dtype;
        int32_t rank;
        int64_t shape[3];
    } items[] = {
        {"dense.weight",      HONE_DTYPE_INIT(FLOAT,       32, 1), 2, {3, 5}   },
        {"ключ \"1\" \\", HONE_DTYPE_INIT(INT,         64, 1), 1, {4}      },
        {"scalar",            HONE_DTYPE_INIT(FLOAT,       64, 1), 0, {0}      },
        {"none",              HONE_DTYPE_INIT(UINT,        16, 1), 3, {2, 0, 3}},
        {"mask",              HONE_DTYPE_INIT(BOOL,        8,  1), 2, {2, 2}   },
        {"half",              HONE_DTYPE_INIT(FLOAT,       16, 1), 1, {3}      },
        {"brain",             HONE_DTYPE_INIT(BFLOAT,      16, 1), 1, {7}      },
        {"tiny",              HONE_DTYPE_INIT(FLOAT8_E4M3, 8,  1), 1, {9}      },
    };
    hone_tensor_set set = {0};
    hone_rng rng = hone_test_rng(3);
    for (size_t i = 0; i < sizeof items / sizeof items[0] - (with_bfloat ? 0 : 2); i++) {
        hone_tensor *tensor = NULL;
        HONE_ASSERT_OK(hone_tensor_create(items[i].dtype, items[i].rank, items[i].shape, &tensor));
        hone_tensor_fill_random(tensor, &rng, 0, 1);
        HONE_ASSERT_OK(hone_tensor_set_add(&set, items[i].name, tensor));
    }
    return set;
}

static void assert_same_sets(const hone_tensor_set *got, const hone_tensor_set *want) {
    assert_int_equal(got->count, want->count);
    for (size_t i = 0; i < want->count; i++) {
        const hone_tensor *a = hone_tensor_set_find(got, want->data[i].name);
        const hone_tensor *b = want->data[i].tensor;
        assert_non_null(a);
        assert_true(hone_dtype_equal(a->dtype, b->dtype) && hone_tensor_same_shape(a, b));
        assert_memory_equal(a->data, b->data, hone_tensor_bytes(b));
    }
}

static const struct format {
    const char *name, *file;
    hone_status (*read)(const void *bytes, size_t count, hone_tensor_set *out_set);
    hone_status (*write)(const hone_tensor_set *set, hone_str *out);
    bool has_bfloat;
} formats[] = {
    {"npz",         "set.npz",         hone_npz_read,         hone_npz_write,         false},
    {"safetensors", "set.safetensors", hone_safetensors_read, hone_safetensors_write, true },
};

static void goes_round(void **state) {
    const struct format *format = *state;
    hone_tensor_set set = make_set(format->has_bfloat), back = {0};
    hone_str first = {0}, second = {0};
    HONE_ASSERT_OK(format->write(&set, &first));
    HONE_ASSERT_OK(format->read(first.data, first.length, &back));
    assert_same_sets(&back, &set);
    HONE_ASSERT_OK(format->write(&back, &second));
    assert_int_equal(first.length, second.length);
    assert_memory_equal(first.data, second.data, first.length);
    hone_str_deinit(&first);
    hone_str_deinit(&second);
    hone_tensor_set_deinit(&set);
    hone_tensor_set_deinit(&back);
}

/* Every cut and thousands of changed bytes: an error or a set, never a crash. */
static void survives_damage(void **state) {
    const struct format *format = *state;
    hone_tensor_set set = make_set(format->has_bfloat), back = {0};
    hone_str bytes = {0};
    HONE_ASSERT_OK(format->write(&set, &bytes));
    for (size_t length = 0; length < bytes.length; length++) {
        unsigned char *copy = malloc(length ? length : 1); /* exact size: ASan sees one too far */
        memcpy(copy, bytes.data, length);
        hone_status st = format->read(copy, length, &back);
        free(copy);
        assert_non_null(st);
        assert_null(back.data);
        hone_status_free(st);
    }
    hone_rng rng = hone_test_rng(7);
    for (int i = 0; i < 4000; i++) {
        size_t at = hone_rng_below(&rng, bytes.length);
        char was = bytes.data[at];
        bytes.data[at] = (char)hone_rng_below(&rng, 256);
        hone_status_free(format->read(bytes.data, bytes.length, &back));
        hone_tensor_set_deinit(&back);
        bytes.data[at] = was;
    }
    hone_str_deinit(&bytes);
    hone_tensor_set_deinit(&set);
}

static void survives_damaged_npy(void **state) {
    (void)state;
    hone_str bytes = {0};
    append_npy(&bytes, 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n", SIX, 12);
    hone_rng rng = hone_test_rng(8);
    for (size_t length = 0; length < bytes.length; length++) {
        hone_tensor *tensor = NULL;
        unsigned char *copy = malloc(length ? length : 1);
        memcpy(copy, bytes.data, length);
        hone_status st = hone_npy_read(copy, length, &tensor);
        free(copy);
        assert_non_null(st);
        assert_null(tensor);
        hone_status_free(st);
    }
    for (int i = 0; i < 20000; i++) {
        hone_tensor *tensor = NULL;
        size_t at = hone_rng_below(&rng, bytes.length);
        char was = bytes.data[at];
        bytes.data[at] = (char)hone_rng_below(&rng, 256);
        hone_status_free(hone_npy_read(bytes.data, bytes.length, &tensor));
        hone_tensor_destroy(tensor);
        bytes.data[at] = was;
    }
    hone_str_deinit(&bytes);
}

/* A run out of memory at every allocation is NO_MEMORY and leaks nothing. */
static void survives_lack_of_memory(void **state) {
    const struct format *format = *state;
    hone_tensor_set set = make_set(format->has_bfloat);
    for (uint64_t nth = 1;; nth++) {
        hone_str bytes = {0};
        hone_tensor_set back = {0};
        hone_alloc_fail_nth(nth, false);
        hone_status st = format->write(&set, &bytes);
        if (!st) st = format->read(bytes.data, bytes.length, &back);
        bool failed = hone_alloc_has_failed();
        hone_alloc_fail_nth(0, false);
        hone_code code = hone_status_consume(st);
        assert_int_equal(code, failed ? HONE_CODE_NO_MEMORY : HONE_CODE_OK);
        hone_str_deinit(&bytes);
        hone_tensor_set_deinit(&back);
        if (!failed) break;
    }
    hone_tensor_set_deinit(&set);
}

/* ---- files ---- */

static void loads_what_it_saves(void **state) {
    (void)state;
    char *dir = NULL;
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-tensors", &dir));
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        hone_tensor_set set = make_set(formats[i].has_bfloat), back = {0};
        char *path = hone_path_join(dir, formats[i].file);
        HONE_ASSERT_OK(hone_tensor_set_save(path, &set));
        HONE_ASSERT_OK(hone_tensor_set_load(path, &back));
        assert_same_sets(&back, &set);
        hone_tensor_set_deinit(&set);
        hone_tensor_set_deinit(&back);
        hone_free(path);
    }
    hone_tensor_set one = {0}, many = make_set(true);
    hone_tensor *tensor = NULL, *back = NULL;
    int64_t shape[] = {2, 2};
    char *path = hone_path_join(dir, "one.npy");
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, shape, &tensor));
    hone_test_fill(tensor, 1.5);
    HONE_ASSERT_OK(hone_tensor_set_add(&one, "arr_0", tensor));
    HONE_ASSERT_OK(hone_tensor_set_save(path, &one));
    HONE_ASSERT_OK(hone_npy_load(path, &back));
    assert_true(hone_test_close(back, tensor, 0, 0));
    HONE_ASSERT_OK(hone_npy_save(path, back));
    hone_tensor_set_deinit(&one);
    HONE_ASSERT_OK(hone_tensor_set_load(path, &one));
    assert_non_null(hone_tensor_set_find(&one, "arr_0"));
    hone_tensor_set_deinit(&one);
    HONE_ASSERT_ERROR(hone_tensor_set_save(path, &many), HONE_CODE_INVALID, "one tensor");
    HONE_ASSERT_ERROR(hone_tensor_set_save("x.npz", &many), HONE_CODE_UNSUPPORTED, "bfloat16");
    HONE_ASSERT_ERROR(hone_tensor_set_save("x.pt", &many), HONE_CODE_INVALID, "x.pt");
    HONE_ASSERT_ERROR(hone_tensor_set_load("x", &one), HONE_CODE_INVALID, ".safetensors");
    HONE_ASSERT_ERROR(hone_tensor_set_load("/nowhere/x.npz", &one), HONE_CODE_NOT_FOUND,
                      "/nowhere/x.npz");
    hone_tensor_destroy(back);
    hone_tensor_set_deinit(&one);
    hone_tensor_set_deinit(&many);
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(path);
    hone_free(dir);
}

static void names_are_unique(void **state) {
    (void)state;
    hone_tensor_set set = make_set(false);
    hone_tensor *tensor = NULL;
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 0, NULL, &tensor));
    HONE_ASSERT_ERROR(hone_tensor_set_add(&set, "mask", tensor), HONE_CODE_INVALID, "'mask'");
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 0, NULL, &tensor));
    HONE_ASSERT_CODE(hone_tensor_set_add(&set, "", tensor), HONE_CODE_INVALID);
    assert_null(hone_tensor_set_find(&set, "nothing"));
    hone_tensor_set_deinit(&set);
}

/* ---- safetensors texts ---- */

/* clang-format off */
static const struct st_row {
    const char *name, *header;
    size_t data_bytes;
    hone_code code;
    const char *want;
} st_rows[] = {
    {"metadata is skipped",
     "{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"U8\",\"shape\":[2],"
     "\"data_offsets\":[0,2]}}  ",
     2, HONE_CODE_OK, "uint8[2] 7 7"},
    {"hole", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2,
     HONE_CODE_INVALID, "hole"},
    {"rest", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 2,
     HONE_CODE_INVALID, "the file at 2"},
    {"overlap",
     "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
     "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
     2, HONE_CODE_INVALID, "overlap"},
    {"beyond the end", "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}", 2,
     HONE_CODE_INVALID, "entry 'a'"},
    {"backwards", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}", 2,
     HONE_CODE_INVALID, "range"},
    {"more than the shape", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,2]}}", 2,
     HONE_CODE_INVALID, "not what the shape asks"},
    {"shape does not fit", "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
     HONE_CODE_INVALID, "shape"},
    {"shape overflows",
     "{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
     HONE_CODE_INVALID, "shape"},
    {"negative size", "{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,0]}}", 0,
     HONE_CODE_INVALID, "axis 0"},
    {"unknown type", "{\"a\":{\"dtype\":\"C64\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0,
     HONE_CODE_UNSUPPORTED, "'C64'"},
    {"no dtype", "{\"a\":{\"shape\":[0],\"data_offsets\":[0,0]}}", 0, HONE_CODE_INVALID, "dtype"},
    {"a list", "[1]", 0, HONE_CODE_INVALID, "object"},
    {"an entry that is a number", "{\"a\":1}", 0, HONE_CODE_INVALID, "'a'"},
    {"no JSON", "{\"a\":", 0, HONE_CODE_INVALID, "header"},
};
/* clang-format on */

static void reads_safetensors(void **state) {
    const struct st_row *row = *state;
    hone_str bytes = {0}, got = {0};
    hone_tensor_set set = {0};
    uint64_t length = strlen(row->header);
    for (int i = 0; i < 8; i++)
        hone_str_append_char(&bytes, (char)(length >> (8 * i)));
    hone_str_append(&bytes, row->header);
    hone_str_append_repeat(&bytes, 7, row->data_bytes);
    hone_status st = hone_safetensors_read(bytes.data, bytes.length, &set);
    hone_str_deinit(&bytes);
    if (row->code != HONE_CODE_OK) {
        HONE_ASSERT_ERROR(st, row->code, row->want);
        return;
    }
    HONE_ASSERT_OK(st);
    print_tensor(hone_tensor_set_find(&set, "a"), &got);
    hone_tensor_set_deinit(&set);
    assert_string_equal(hone_str_text(&got), row->want);
    hone_str_deinit(&got);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_damaged_npy),
        cmocka_unit_test(loads_what_it_saves),
        cmocka_unit_test(names_are_unique),
    };
    int failed = HONE_RUN_ROWS("tensorfile/npy", npy_rows, reads_npy);
    failed += HONE_RUN_ROWS("tensorfile/safetensors", st_rows, reads_safetensors);
    failed += HONE_RUN_ROWS("tensorfile/round trip", formats, goes_round);
    failed += HONE_RUN_ROWS("tensorfile/damage", formats, survives_damage);
    failed += HONE_RUN_ROWS("tensorfile/memory", formats, survives_lack_of_memory);
    return failed + cmocka_run_group_tests_name("tensorfile/files", tests, NULL, NULL);
}
