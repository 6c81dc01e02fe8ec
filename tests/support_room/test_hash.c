/* tests/support_room/test_hash.c - golden values: hashes are in databases and on the wire. */
#include <string.h>

#include "support/data/hash.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *in, *want; /* XXH128 of xxHash's own command line tool: xxhsum -H2 */
} rows[] = {
    {"",    "99aa06d3014798d86001c324468d497f"},
    {"abc", "06b05ab6733a618578af5f94892f3950"},
};

static void hashes_text(void **state) {
    const struct row *row = *state;
    char hex[HONE_HASH_HEX_BYTES];
    hone_hash128 back, hash = hone_hash128_text(row->in);
    assert_string_equal(hone_hash128_print(hash, hex), row->want);
    assert_true(hone_hash128_parse(hex, &back));
    assert_true(hone_hash128_equal(hash, back));
}

static void streaming_is_the_same(void **state) {
    (void)state;
    char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    for (size_t i = 0; i < sizeof bytes; i += 100)
        hone_hasher_bytes(&hasher, bytes + i, 100);
    hone_hash128 whole = hone_hash128_bytes(bytes, sizeof bytes);
    assert_true(hone_hash128_equal(hone_hasher_finish(&hasher), whole));
    assert_true(hone_hash128_equal(hone_hasher_finish(&hasher), whole)); /* may be asked again */
}

static void feeds_values(void **state) {
    (void)state;
    char hex[HONE_HASH_HEX_BYTES];
    hone_hasher hasher;
    hone_hasher_init(&hasher, 42);
    hone_hasher_u8(&hasher, 1);
    hone_hasher_u32(&hasher, 2);
    hone_hasher_u64(&hasher, 3);
    hone_hasher_i64(&hasher, -4);
    hone_hasher_f64(&hasher, 0.5);
    hone_hasher_text(&hasher, "text");
    hone_hasher_hash(&hasher, (hone_hash128){5, 6});
    assert_string_equal(hone_hash128_print(hone_hasher_finish(&hasher), hex),
                        "d1b684f571b131f3d1401bdb752afb30");
}

static hone_hash128 of_two(const char *a, const char *b) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    hone_hasher_text(&hasher, a);
    hone_hasher_text(&hasher, b);
    return hone_hasher_finish(&hasher);
}

static void texts_do_not_run_together(void **state) {
    (void)state;
    assert_false(hone_hash128_equal(of_two("ab", "c"), of_two("a", "bc")));
    assert_false(hone_hash128_equal(of_two("", NULL), of_two(NULL, "")));
    assert_false(hone_hash128_equal(of_two("", ""), of_two(NULL, "")));
}

static void rejects_bad_hex(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "12",
                                      "g9aa06d3014798d86001c324468d497f",
                                      "99aa06d3014798d86001c324468d497",
                                      "99aa06d3014798d86001c324468d497f0",
                                      " 9aa06d3014798d86001c324468d497f"};
    for (size_t i = 0; i < HONE_COUNT(bad); i++) {
        hone_hash128 hash = {1, 1};
        assert_false(hone_hash128_parse(bad[i], &hash));
        assert_true(hone_hash128_is_zero(hash));
    }
    hone_hash128 hash;
    assert_true(hone_hash128_parse("99AA06D3014798D86001C324468D497F", &hash));
    assert_int_equal(hash.hi, 0x99aa06d3014798d8);
}

static void orders(void **state) {
    (void)state;
    assert_true(hone_hash128_compare((hone_hash128){1, 2}, (hone_hash128){2, 1}) > 0);
    assert_true(hone_hash128_compare((hone_hash128){1, 2}, (hone_hash128){2, 2}) < 0);
    assert_int_equal(hone_hash128_compare((hone_hash128){1, 2}, (hone_hash128){1, 2}), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streaming_is_the_same),
        cmocka_unit_test(feeds_values),
        cmocka_unit_test(texts_do_not_run_together),
        cmocka_unit_test(rejects_bad_hex),
        cmocka_unit_test(orders),
    };
    return HONE_RUN_ROWS("support/hash text", rows, hashes_text) +
           cmocka_run_group_tests_name("support/hash", tests, NULL, NULL);
}
