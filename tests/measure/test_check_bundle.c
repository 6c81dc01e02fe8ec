/* tests/measure/test_check_bundle.c - bundle files: write, read, damage. */
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/check_bundle.h"
#include "support/core/alloc.h"
#include "support/data/rng.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"
#include "tests/support/sanitizer.h"

static char *dir, *path;

static int begin(void **state) {
    (void)state;
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-bundle-test", &dir));
    path = hone_path_join(dir, "a.check");
    return 0;
}

static int end(void **state) {
    (void)state;
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
    hone_free(path);
    return 0;
}

static const double reference[5] = {1, 2, 3, 4, 5};
static const int32_t whole[3] = {7, 8, 9};

/* Three tensors of different roles and types. */
static void make(hone_check_tensor tensors[3], hone_check_bundle *bundle) {
    tensors[0] = (hone_check_tensor){
        .dtype = HONE_DTYPE_F16,
        .role = HONE_ARG_IN,
        .count = 10,
        .generator = {HONE_GENERATOR_UNIFORM, -2, 2}
    };
    tensors[1] = (hone_check_tensor){.dtype = HONE_DTYPE_F32,
                                     .role = HONE_ARG_OUT,
                                     .count = 5,
                                     .reference_dtype = HONE_DTYPE_F64,
                                     .reference = reference,
                                     .bound = 1e-5,
                                     .plain_deviation = 1e-7,
                                     .reference_max = 5};
    tensors[2] = (hone_check_tensor){
        .dtype = HONE_DTYPE_I32,
        .role = HONE_ARG_INOUT,
        .count = 3,
        .generator = {HONE_GENERATOR_INTEGER, 0, 4},
        .reference_dtype = HONE_DTYPE_I32,
        .reference = whole
    };
    *bundle = (hone_check_bundle){.seed = 1234567890123456789u, .count = 3, .tensors = tensors};
}

static void comes_back_as_it_was(void **state) {
    (void)state;
    hone_check_tensor tensors[3];
    hone_check_bundle bundle, back;
    make(tensors, &bundle);
    HONE_ASSERT_OK(hone_check_bundle_write(&bundle, path));
    HONE_ASSERT_OK(hone_check_bundle_open(path, &back));
    assert_string_equal(back.id, bundle.id);
    assert_int_equal(strlen(back.id), 32);
    assert_int_equal(back.seed, bundle.seed);
    assert_int_equal(back.count, 3);
    for (int i = 0; i < 3; i++) {
        const hone_check_tensor *a = &tensors[i], *b = &back.tensors[i];
        assert_true(hone_dtype_equal(a->dtype, b->dtype) && a->role == b->role);
        assert_int_equal(a->count, b->count);
        assert_true(a->generator.kind == b->generator.kind && a->generator.low == b->generator.low);
        assert_true(a->bound == b->bound && a->plain_deviation == b->plain_deviation);
        assert_int_equal((uintptr_t)b->reference % 64, 0);
    }
    assert_memory_equal(back.tensors[1].reference, reference, sizeof reference);
    assert_memory_equal(back.tensors[2].reference, whole, sizeof whole);
    assert_null(back.tensors[0].reference);
    int32_t made[3], again[3];
    HONE_ASSERT_OK(hone_check_bundle_fill(&back, 2, made));
    HONE_ASSERT_OK(hone_generate(&tensors[2].generator, bundle.seed, 2, HONE_DTYPE_I32, 3, again));
    assert_memory_equal(made, again, sizeof made);
    hone_check_bundle_close(&back);
    hone_check_bundle_close(&back);
}

/* Inputs that no generator makes travel in the bundle. */
static void values_travel(void **state) {
    (void)state;
    static const int32_t given[3] = {30, -2, 7};
    static const uint16_t halves[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    hone_check_tensor tensors[3];
    hone_check_bundle bundle, back;
    make(tensors, &bundle);
    tensors[0].values = halves;
    tensors[2].values = given;
    HONE_ASSERT_OK(hone_check_bundle_write(&bundle, path));
    HONE_ASSERT_OK(hone_check_bundle_open(path, &back));
    int32_t made[3];
    uint16_t made_halves[10];
    HONE_ASSERT_OK(hone_check_bundle_fill(&back, 2, made));
    HONE_ASSERT_OK(hone_check_bundle_fill(&back, 0, made_halves));
    assert_memory_equal(made, given, sizeof made);
    assert_memory_equal(made_halves, halves, sizeof halves);
    assert_memory_equal(back.tensors[1].reference, reference, sizeof reference);
    assert_memory_equal(back.tensors[2].reference, whole, sizeof whole);
    assert_int_equal((uintptr_t)back.tensors[2].values % 64, 0);
    assert_true(hone_check_bundle_is_complete(&back));
    hone_check_bundle_close(&back);
}

/* A bundle may say what the inputs are and no more. */
static void references_may_lack(void **state) {
    (void)state;
    hone_check_tensor tensors[3];
    hone_check_bundle bundle, back;
    make(tensors, &bundle);
    tensors[1].reference = tensors[2].reference = NULL;
    HONE_ASSERT_OK(hone_check_bundle_write(&bundle, path));
    HONE_ASSERT_OK(hone_check_bundle_open(path, &back));
    assert_false(hone_check_bundle_is_complete(&back));
    assert_null(back.tensors[1].reference);
    hone_check_bundle_close(&back);
}

static uint32_t format_of(const hone_check_bundle *bundle) {
    hone_check_bundle copy = *bundle;
    char *bytes = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(hone_check_bundle_write(&copy, path));
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 20, &bytes, &count));
    uint32_t format = (uint8_t)bytes[8];
    hone_free(bytes);
    return format;
}

/* What older runners can read is written as they know it. */
static void formats_are_as_old_as_they_can_be(void **state) {
    (void)state;
    hone_check_tensor tensors[3];
    hone_check_bundle bundle;
    make(tensors, &bundle);
    assert_int_equal(format_of(&bundle), 1);
    tensors[2].values = whole;
    assert_int_equal(format_of(&bundle), 2);
    tensors[2].values = tensors[1].reference = tensors[2].reference = NULL;
    assert_int_equal(format_of(&bundle), 2);
}

static void fits_its_manifest_only(void **state) {
    (void)state;
    hone_check_tensor tensors[3];
    hone_check_bundle bundle;
    hone_arg args[3] = {
        {"a", HONE_DTYPE_F16, HONE_ARG_IN,    2, {2, 5}},
        {"b", HONE_DTYPE_F32, HONE_ARG_OUT,   1, {5}   },
        {"c", HONE_DTYPE_I32, HONE_ARG_INOUT, 1, {3}   }
    };
    hone_manifest manifest = {.entry = "f", .arg_count = 3, .args = args};
    make(tensors, &bundle);
    HONE_ASSERT_OK(hone_check_bundle_fits(&bundle, &manifest));
    args[1].shape[0] = 6;
    HONE_ASSERT_ERROR(hone_check_bundle_fits(&bundle, &manifest), HONE_CODE_INVALID, "'b'");
    args[1].shape[0] = 5;
    args[2].role = HONE_ARG_OUT;
    HONE_ASSERT_ERROR(hone_check_bundle_fits(&bundle, &manifest), HONE_CODE_INVALID, "'c'");
    manifest.arg_count = 2;
    HONE_ASSERT_ERROR(hone_check_bundle_fits(&bundle, &manifest), HONE_CODE_INVALID, "3 tensors");
}

static void nonsense_is_not_written(void **state) {
    (void)state;
    hone_check_tensor tensors[3];
    hone_check_bundle bundle;
    make(tensors, &bundle);
    tensors[1].bound = (double)NAN;
    HONE_ASSERT_ERROR(hone_check_bundle_write(&bundle, path), HONE_CODE_INVALID, "tensor 1");
    tensors[1].bound = 0;
    tensors[0].count = -1;
    HONE_ASSERT_ERROR(hone_check_bundle_write(&bundle, path), HONE_CODE_INVALID, "tensor 0");
    tensors[0].count = 1;
    tensors[2].reference_dtype = HONE_DTYPE_HANDLE;
    HONE_ASSERT_ERROR(hone_check_bundle_write(&bundle, path), HONE_CODE_INVALID, "tensor 2");
    tensors[2].reference_dtype = HONE_DTYPE_I32;
    tensors[1].reference = NULL;
    HONE_ASSERT_ERROR(hone_check_bundle_write(&bundle, path), HONE_CODE_INVALID, "no reference");
    tensors[1].reference = reference;
    hone_status st = hone_check_bundle_write(&bundle, "/nonexistent/dir/x.check");
    assert_true(hone_status_code(st) == HONE_CODE_IO ||
                hone_status_code(st) == HONE_CODE_NOT_FOUND);
    hone_status_free(st);
    assert_false(hone_fs_exists(path));
}

static void bad_files_are_told_apart(void **state) {
    (void)state;
    hone_check_bundle bundle;
    HONE_ASSERT_CODE(hone_check_bundle_open(path, &bundle), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "", 0));
    HONE_ASSERT_CODE(hone_check_bundle_open(path, &bundle), HONE_CODE_INVALID);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "something else entirely, and long enough", 40));
    HONE_ASSERT_ERROR(hone_check_bundle_open(path, &bundle), HONE_CODE_INVALID,
                      "not a check bundle");
    HONE_ASSERT_CODE(hone_check_bundle_open(dir, &bundle), HONE_CODE_INVALID);
}

/* A machine that has no room for a sound bundle: nothing is said about who is checked with it. */
static void no_room_is_no_bad_file(void **state) {
    (void)state;
#ifdef UNDER_SANITIZER
    skip();
#endif
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "something that is long enough to be mapped", 42));
    pid_t child = fork();
    if (child == 0) {
        hone_check_bundle bundle;
        const struct rlimit limit = {1 << 20, 1 << 20};
        if (setrlimit(RLIMIT_AS, &limit)) _exit(2);
        _exit(hone_status_consume(hone_check_bundle_open(path, &bundle)) != HONE_CODE_NO_MEMORY);
    }
    int end = 0;
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_int_equal(end, 0);
}

/* Every flipped bit is noticed; with the hash mended, nothing worse than a refusal happens. */
static void damage_is_survived(void **state) {
    (void)state;
    hone_check_tensor tensors[3];
    hone_check_bundle bundle, back;
    char *bytes = NULL;
    size_t count = 0;
    make(tensors, &bundle);
    tensors[2].values = whole;
    HONE_ASSERT_OK(hone_check_bundle_write(&bundle, path));
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 20, &bytes, &count));
    for (size_t i = 0; i < count; i++) {
        bytes[i] ^= (char)(1 << (i % 8));
        hone_status st = hone_check_bundle_parse(bytes, count, &back);
        hone_code code = hone_status_consume(st);
        assert_true(code == HONE_CODE_INVALID || code == HONE_CODE_VERSION);
        bytes[i] ^= (char)(1 << (i % 8));
    }
    for (size_t cut = 0; cut < count; cut++) {
        HONE_ASSERT_CODE(hone_check_bundle_parse(bytes, cut, &back), HONE_CODE_INVALID);
    }
    hone_rng rng = hone_test_rng(5);
    int taken = 0;
    for (int round = 0; round < 20000; round++) {
        char *copy = hone_malloc(count);
        memcpy(copy, bytes, count);
        for (uint64_t k = 0; k < 1 + hone_rng_below(&rng, 4); k++) {
            copy[32 + hone_rng_below(&rng, count - 32)] = (char)hone_rng_next(&rng);
        }
        hone_hasher hasher;
        hone_hasher_init(&hasher, 0);
        hone_hasher_bytes(&hasher, copy + 32, count - 32);
        hone_hash128 hash = hone_hasher_finish(&hasher);
        for (int k = 0; k < 8; k++) {
            copy[16 + k] = (char)(hash.lo >> (8 * k));
            copy[24 + k] = (char)(hash.hi >> (8 * k));
        }
        if (hone_status_consume(hone_check_bundle_parse(copy, count, &back)) == HONE_CODE_OK) {
            taken++;
            double sum = 0; /* what it says is there can be read */
            for (size_t t = 0; t < back.count; t++) {
                const hone_check_tensor *tensor = &back.tensors[t];
                if (tensor->values && tensor->count) {
                    size_t each = hone_dtype_bytes(tensor->dtype);
                    const char *at = tensor->values, *end = at + (size_t)tensor->count * each;
                    assert_true(at >= copy && end <= copy + count);
                    sum += ((const unsigned char *)end)[-1];
                }
                if (!tensor->reference || tensor->count == 0) continue;
                sum += ((const unsigned char *)tensor->reference)[0];
                size_t last = (size_t)tensor->count * hone_dtype_bytes(tensor->reference_dtype) - 1;
                sum += ((const unsigned char *)tensor->reference)[last];
            }
            assert_true(sum >= 0);
            hone_check_bundle_close(&back);
        }
        hone_free(copy);
    }
    assert_true(taken > 0 && taken < 20000);
    hone_free(bytes);
}

static hone_status write_and_open(void *context) {
    hone_check_tensor tensors[3];
    hone_check_bundle bundle, back;
    (void)context;
    make(tensors, &bundle);
    HONE_TRY(hone_check_bundle_write(&bundle, path));
    HONE_TRY(hone_check_bundle_open(path, &back));
    hone_check_bundle_close(&back);
    return HONE_OK;
}

static void memory_may_run_out(void **state) {
    (void)state;
    hone_test_sweep_allocs(write_and_open, NULL);
}

#define BUNDLE_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        BUNDLE_TEST(comes_back_as_it_was),    BUNDLE_TEST(fits_its_manifest_only),
        BUNDLE_TEST(nonsense_is_not_written), BUNDLE_TEST(bad_files_are_told_apart),
        BUNDLE_TEST(no_room_is_no_bad_file),  BUNDLE_TEST(damage_is_survived),
        BUNDLE_TEST(memory_may_run_out),      BUNDLE_TEST(values_travel),
        BUNDLE_TEST(references_may_lack),     BUNDLE_TEST(formats_are_as_old_as_they_can_be),
    };
    return cmocka_run_group_tests_name("measure/check_bundle", tests, NULL, NULL);
}
