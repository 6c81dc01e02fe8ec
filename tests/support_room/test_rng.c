/* tests/support_room/test_rng.c - golden streams and statistics so rough that any seed has them. */
#include <math.h>
#include <string.h>

#include "support/data/rng.h"
#include "tests/support/hone_test.h"

static void streams_are_golden(void **state) {
    (void)state;
    hone_rng rng = hone_rng_make(7, (hone_hash128){1, 2}, 3);
    uint64_t first = hone_rng_next(&rng), second = hone_rng_next(&rng);
    assert_int_equal(first, 0x4a2cdff20e149ea8);
    assert_int_equal(second, 0x37e3dc90902682b4);
}

static void keys_matter(void **state) {
    (void)state;
    hone_rng rngs[] = {
        hone_rng_make(1, (hone_hash128){1, 1}, 1),
        hone_rng_make(2, (hone_hash128){1, 1}, 1),
        hone_rng_make(1, (hone_hash128){2, 1}, 1),
        hone_rng_make(1, (hone_hash128){1, 1}, 2),
        hone_test_rng(1),
    };
    for (size_t i = 0; i < HONE_COUNT(rngs); i++) {
        for (size_t j = 0; j < i; j++) {
            hone_rng a = rngs[i], b = rngs[j];
            assert_int_not_equal(hone_rng_next(&a), hone_rng_next(&b));
        }
    }
    hone_rng parent = hone_test_rng(1), before = parent;
    hone_rng a = hone_rng_split(&parent, 0), b = hone_rng_split(&parent, 1);
    assert_memory_equal(&parent, &before, sizeof parent);
    assert_int_not_equal(hone_rng_next(&a), hone_rng_next(&b));
}

static void below_is_even(void **state) {
    (void)state;
    enum { BOUND = 10, DRAWS = 100000 };
    int seen[BOUND] = {0};
    hone_rng rng = hone_test_rng(5);
    for (int i = 0; i < DRAWS; i++)
        seen[hone_rng_below(&rng, BOUND)]++;
    for (int i = 0; i < BOUND; i++)
        assert_in_range(seen[i], 9500, 10500); /* 5 deviations */
    assert_int_equal(hone_rng_below(&rng, 1), 0);
    for (int i = 0; i < 1000; i++) {
        int64_t x = hone_rng_between(&rng, -3, 3);
        assert_true(x >= -3 && x <= 3);
    }
    (void)hone_rng_between(&rng, INT64_MIN, INT64_MAX);
    assert_int_equal(hone_rng_between(&rng, 8, 8), 8);
}

/* Of 2^63 + 1 numbers, all but half of those that are drawn would come twice as often as others. */
static void below_a_large_bound_is_even(void **state) {
    (void)state;
    enum { DRAWS = 40000, PARTS = 4 };
    const uint64_t bound = (UINT64_C(1) << 63) + 1;
    int seen[PARTS] = {0};
    hone_rng rng = hone_test_rng(9);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t x = hone_rng_below(&rng, bound);
        assert_true(x < bound);
        seen[x == bound - 1 ? PARTS - 1 : x >> 61]++;
    }
    for (int i = 0; i < PARTS; i++)
        assert_in_range(seen[i], 9500, 10500); /* 5 deviations */
}

static void uniform_and_normal_have_their_moments(void **state) {
    (void)state;
    enum { DRAWS = 100000 };
    double sum = 0, normal_sum = 0, normal_squares = 0;
    hone_rng rng = hone_test_rng(6);
    for (int i = 0; i < DRAWS; i++) {
        double u = hone_rng_uniform(&rng), n = hone_test_normal(&rng);
        assert_true(u >= 0 && u < 1);
        sum += u;
        normal_sum += n;
        normal_squares += n * n;
    }
    assert_true(fabs(sum / DRAWS - 0.5) < 0.005);
    assert_true(fabs(normal_sum / DRAWS) < 0.02);
    assert_true(fabs(normal_squares / DRAWS - 1) < 0.03);
}

static void weights_are_followed(void **state) {
    (void)state;
    const double weights[] = {0, 1, 0, 3, 0};
    int seen[5] = {0};
    hone_rng rng = hone_test_rng(7);
    for (int i = 0; i < 40000; i++)
        seen[hone_rng_weighted(&rng, weights, 5)]++;
    assert_int_equal(seen[0] + seen[2] + seen[4], 0);
    assert_in_range(seen[1], 9600, 10400);
}

static void shuffle_permutes(void **state) {
    (void)state;
    struct wide {
        int key;
        char rest[100];
    } items[50];
    int seen[50] = {0}, moved = 0;
    memset(items, 0, sizeof items);
    for (int i = 0; i < 50; i++)
        items[i].key = i, items[i].rest[99] = (char)i;
    hone_rng rng = hone_test_rng(8);
    hone_test_shuffle(&rng, items, 50, sizeof items[0]);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(items[i].rest[99], items[i].key);
        seen[items[i].key]++;
        moved += items[i].key != i;
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(seen[i], 1);
    assert_true(moved > 30);
    hone_test_shuffle(&rng, items, 0, sizeof items[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_golden),
        cmocka_unit_test(keys_matter),
        cmocka_unit_test(below_is_even),
        cmocka_unit_test(below_a_large_bound_is_even),
        cmocka_unit_test(uniform_and_normal_have_their_moments),
        cmocka_unit_test(weights_are_followed),
        cmocka_unit_test(shuffle_permutes),
    };
    return cmocka_run_group_tests_name("support/rng", tests, NULL, NULL);
}
