/* tests/net/test_blob_hash.c - content hashes: known values, pieces, files, text. */
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

/* In pieces, moved in between, it is the same hash; also of a file. */
static void check_pieces(void **state) {
    (void)state;
    enum { COUNT = 300001 };
    uint8_t *bytes = hone_malloc(COUNT);
    for (size_t i = 0; i < COUNT; i++)
        bytes[i] = (uint8_t)(i * 131 >> 3);
    hone_blob_hash whole = hone_blob_hash_of(bytes, COUNT), parts, of_file;
    unsigned char *memory = hone_malloc(sizeof(hone_blob_hasher) + 1);
    hone_blob_hasher hasher;
    hone_blob_hasher_init(&hasher);
    for (size_t at = 0, step = 1; at < COUNT; at += step, step = step * 3 + 1) {
        if (step > COUNT - at) step = COUNT - at;
        hone_blob_hasher_feed(&hasher, bytes + at, step);
        memcpy(memory + 1, &hasher, sizeof hasher);
        memset(&hasher, 0, sizeof hasher);
        memcpy(&hasher, memory + 1, sizeof hasher);
    }
    parts = hone_blob_hasher_finish(&hasher);
    assert_true(hone_blob_hash_equal(&whole, &parts));

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
    hone_free(memory);
    hone_free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_known),
        cmocka_unit_test(check_pieces),
    };
    return cmocka_run_group_tests_name("net/blob_hash", tests, NULL, NULL);
}
