/* tests/support_room/test_arena.c - bump allocation, reset, marks, running out of memory. */
#include <string.h>

#include "support/core/arena.h"
#include "tests/support/hone_test.h"

static void aligns_and_keeps(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(1024);
    unsigned char *kept[200];
    for (size_t i = 0; i < 200; i++) {
        kept[i] = hone_arena_alloc(arena, i);
        assert_non_null(kept[i]);
        assert_int_equal((uintptr_t)kept[i] % 16, 0);
        memset(kept[i], (int)i, i);
    }
    for (size_t i = 0; i < 200; i++) {
        for (size_t k = 0; k < i; k++)
            assert_int_equal(kept[i][k], i);
    }
    assert_true(hone_arena_used(arena) >= 199 * 200 / 2);
    assert_true(hone_arena_reserved(arena) >= hone_arena_used(arena));
    hone_arena_destroy(arena);
    hone_arena_destroy(NULL);
}

static void takes_large_blocks(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(0);
    char *small = hone_arena_strdup(arena, "small");
    char *large = hone_arena_zalloc(arena, 1 << 20);
    char *after = hone_arena_printf(arena, "%s-%d", "after", 7);
    assert_non_null(large);
    assert_int_equal(large[0] | large[(1 << 20) - 1], 0);
    assert_string_equal(small, "small");
    assert_string_equal(after, "after-7");
    assert_string_equal(hone_arena_strndup(arena, "abcdef", 3), "abc");
    assert_string_equal(hone_arena_strndup(arena, "abc", SIZE_MAX / 4), "abc");
    assert_null(hone_arena_alloc(arena, SIZE_MAX));
    assert_null(hone_arena_alloc(arena, SIZE_MAX - 20));
    hone_arena_destroy(arena);
}

static void reset_reuses_blocks(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(1024);
    size_t reserved = 0;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 100; i++) {
            assert_non_null(hone_arena_alloc(arena, (size_t)(i * 37 % 300)));
        }
        assert_non_null(hone_arena_alloc(arena, 5000));
        if (round == 0) reserved = hone_arena_reserved(arena);
        assert_int_equal(hone_arena_reserved(arena), reserved);
        hone_arena_reset(arena);
        assert_int_equal(hone_arena_used(arena), 0);
    }
    hone_arena_destroy(arena);
}

static void rewinds_to_marks(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(1024);
    char *kept = hone_arena_strdup(arena, "kept");
    hone_arena_mark mark = hone_arena_get_mark(arena);
    size_t used = hone_arena_used(arena);
    void *first = hone_arena_alloc(arena, 100);
    for (int i = 0; i < 100; i++)
        assert_non_null(hone_arena_alloc(arena, 100));
    hone_arena_rewind(arena, mark);
    assert_int_equal(hone_arena_used(arena), used);
    assert_ptr_equal(hone_arena_alloc(arena, 100), first);
    assert_string_equal(kept, "kept");
    hone_arena_destroy(arena);
}

static hone_status fill(void *context) {
    (void)context;
    hone_arena *arena = hone_arena_create(1024);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "arena");
    bool ok = true;
    for (int i = 0; i < 30 && ok; i++)
        ok = hone_arena_zalloc(arena, 500) != NULL;
    if (ok) ok = hone_arena_printf(arena, "%2000d", 1) != NULL;
    hone_arena_destroy(arena);
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "block");
}

static void sweeps(void **state) {
    (void)state;
    hone_test_sweep_allocs(fill, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligns_and_keeps),
        cmocka_unit_test(takes_large_blocks),
        cmocka_unit_test(reset_reuses_blocks),
        cmocka_unit_test(rewinds_to_marks),
        cmocka_unit_test(sweeps),
    };
    return cmocka_run_group_tests_name("support/arena", tests, NULL, NULL);
}
