/* tests/net/test_blob_hash.c - content hashes: known values, files, text. */
#include <stdlib.h>
#include <string.h>

#include "net/blob_hash.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

/* BLAKE2b-256 of "" and "abc", as b2sum -l 256 prints them. */
static const char empty_hash[] = "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8";
static const char abc_hash[] = "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319";

static void check_known(void **state) {
    (void)state;
    char text[HONE_BLOB_HASH_HEX_BYTES];
    hone_blob_hash hash = hone_blob_hash_of("", 0), again;
    assert_string_equal(hone_blob_hash_print(&hash, text), empty_hash);
    hash = hone_blob_hash_of("abc", 3);
    assert_string_equal(hone_blob_hash_print(&hash, text), abc_hash);
    assert_true(hone_blob_hash_parse(abc_hash, &again));
    assert_true(hone_blob_hash_equal(&hash, &again));
    assert_false(hone_blob_hash_parse("bddd", &again));
    assert_false(hone_blob_hash_parse("", &again));
    memcpy(text, abc_hash, sizeof abc_hash);
    text[63] = 'g';
    assert_false(hone_blob_hash_parse(text, &again));
    assert_false(hone_blob_hash_equal(&hash, &again));
}

/* A file, read in pieces, has the hash of its bytes. */
static void check_file(void **state) {
    (void)state;
    enum { COUNT = 300001 };
    uint8_t *bytes = hone_malloc(COUNT);
    for (size_t i = 0; i < COUNT; i++)
        bytes[i] = (uint8_t)(i * 131 >> 3);
    hone_blob_hash whole = hone_blob_hash_of(bytes, COUNT), of_file;
    char *dir = NULL;
    uint64_t count = 0;
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-blob", &dir));
    char *path = hone_path_join(dir, "blob");
    HONE_ASSERT_OK(hone_fs_write_atomic(path, bytes, COUNT));
    HONE_ASSERT_OK(hone_blob_hash_file(path, &of_file, &count));
    assert_int_equal(count, COUNT);
    assert_true(hone_blob_hash_equal(&whole, &of_file));
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    HONE_ASSERT_CODE(hone_blob_hash_file(path, &of_file, &count), HONE_CODE_NOT_FOUND);
    hone_free(path);
    hone_free(dir);
    hone_free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_known),
        cmocka_unit_test(check_file),
    };
    return cmocka_run_group_tests_name("net/blob_hash", tests, NULL, NULL);
}
