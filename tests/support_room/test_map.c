/* tests/support_room/test_map.c - the three hash maps, compared with plain arrays. */
#include <stdio.h>
#include <string.h>

#include "support/data/map.h"
#include "support/data/rng.h"
#include "tests/support/hone_test.h"

enum { KEYS = 500 };

static void maps_text(void **state) {
    (void)state;
    hone_strmap map = {0};
    char key[16];
    uint64_t value = 1;
    assert_false(hone_strmap_find(&map, "x", &value));
    assert_int_equal(value, 0);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "key%d", i);
        assert_true(hone_strmap_put(&map, key, (uint64_t)i));
    }
    assert_true(hone_strmap_put(&map, "key7", 70));
    assert_true(hone_strmap_put(&map, "", 5));
    assert_int_equal(hone_strmap_count(&map), KEYS + 1);
    assert_true(hone_strmap_find(&map, "key7", &value));
    assert_int_equal(value, 70);
    assert_true(hone_strmap_find(&map, "", &value));
    assert_false(hone_strmap_find(&map, "key", NULL));
    hone_strmap_deinit(&map);
}

static void walks_in_order_of_insertion(void **state) {
    (void)state;
    hone_strmap map = {0};
    const char *const keys[] = {"zebra", "ape", "mole", "bear"};
    for (size_t i = 0; i < 4; i++)
        assert_true(hone_strmap_put(&map, keys[i], i));
    assert_true(hone_strmap_remove(&map, "ape"));
    assert_false(hone_strmap_remove(&map, "ape"));
    assert_true(hone_strmap_put(&map, "ape", 9));
    const char *key = NULL;
    uint64_t value = 0;
    char seen[64] = "";
    for (size_t cursor = 0; hone_strmap_next(&map, &cursor, &key, &value);) {
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s=%d ", key, (int)value);
    }
    assert_string_equal(seen, "zebra=0 mole=2 bear=3 ape=9 ");
    hone_strmap_deinit(&map);
}

/* Random puts and removes; the array says what must be there. */
static void follows_a_model(void **state) {
    (void)state;
    hone_u64map numbers = {0};
    hone_map128 hashes = {0};
    uint64_t want[KEYS] = {0}; /* 0 = absent */
    size_t count = 0;
    hone_rng rng = hone_test_rng(1);
    for (uint64_t step = 1; step < 20000; step++) {
        uint64_t k = hone_rng_below(&rng, KEYS);
        hone_hash128 hash = {k % 7, k};
        if (hone_rng_below(&rng, 2)) {
            count += want[k] == 0;
            want[k] = step;
            assert_true(hone_u64map_put(&numbers, k << 32, step));
            assert_true(hone_map128_put(&hashes, hash, step));
        } else {
            assert_int_equal(hone_u64map_remove(&numbers, k << 32), want[k] != 0);
            assert_int_equal(hone_map128_remove(&hashes, hash), want[k] != 0);
            count -= want[k] != 0;
            want[k] = 0;
        }
    }
    assert_int_equal(hone_u64map_count(&numbers), count);
    assert_int_equal(hone_map128_count(&hashes), count);
    for (uint64_t k = 0; k < KEYS; k++) {
        uint64_t a = 0, b = 0;
        assert_int_equal(hone_u64map_find(&numbers, k << 32, &a), want[k] != 0);
        assert_int_equal(hone_map128_find(&hashes, (hone_hash128){k % 7, k}, &b), want[k] != 0);
        assert_int_equal(a, want[k]);
        assert_int_equal(b, want[k]);
    }
    hone_u64map_deinit(&numbers);
    hone_map128_deinit(&hashes);
}

static void walks_numbers(void **state) {
    (void)state;
    hone_u64map numbers = {0};
    hone_map128 hashes = {0};
    uint64_t key = 0, value = 0, sum = 0;
    hone_hash128 hash;
    for (uint64_t i = 0; i < 10; i++) {
        assert_true(hone_u64map_put(&numbers, i, i * i));
        assert_true(hone_map128_put(&hashes, (hone_hash128){i, 1}, i));
    }
    for (size_t c = 0; hone_u64map_next(&numbers, &c, &key, &value);)
        sum += key + value;
    for (size_t c = 0; hone_map128_next(&hashes, &c, &hash, &value);)
        sum += hash.hi + value;
    assert_int_equal(sum, 45 + 285 + 10 + 45);
    hone_map128_clear(&hashes);
    assert_int_equal(hone_map128_count(&hashes), 0);
    hone_u64map_deinit(&numbers);
    hone_map128_deinit(&hashes);
}

static hone_status fill(void *context) {
    (void)context;
    hone_strmap map = {0};
    char key[16];
    bool ok = true;
    for (int i = 0; i < 40 && ok; i++) {
        snprintf(key, sizeof key, "%d", i);
        ok = hone_strmap_put(&map, key, 1);
        if (!ok && hone_strmap_find(&map, key, NULL)) {
            hone_strmap_deinit(&map);
            return HONE_ERROR(HONE_CODE_INTERNAL, "a failed put left its key");
        }
    }
    hone_strmap_deinit(&map);
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "map");
}

static void sweeps(void **state) {
    (void)state;
    hone_test_sweep_allocs(fill, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_text),       cmocka_unit_test(walks_in_order_of_insertion),
        cmocka_unit_test(follows_a_model), cmocka_unit_test(walks_numbers),
        cmocka_unit_test(sweeps),
    };
    return cmocka_run_group_tests_name("support/map", tests, NULL, NULL);
}
