/* tests/runtime/test_guarded.c - guard pages and slack. */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/guarded.h"
#include "tests/support/hone_test.h"

/* Whether writing one byte kills; in a child, without a sanitizer's handler. */
static bool write_kills(uint8_t *at) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile uint8_t *)at = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

static const struct row {
    const char *name;
    size_t bytes;
    hone_guard_side side;
} rows[] = {
    {"nothing",             0,       HONE_GUARD_START},
    {"nothing at the end",  0,       HONE_GUARD_END  },
    {"one byte",            1,       HONE_GUARD_START},
    {"one byte at the end", 1,       HONE_GUARD_END  },
    {"64 bytes at the end", 64,      HONE_GUARD_END  },
    {"a page",              4096,    HONE_GUARD_START},
    {"a page and more",     5000,    HONE_GUARD_END  },
    {"a megabyte",          1 << 20, HONE_GUARD_END  },
};

static void check_row(void **state) {
    const struct row *row = *state;
    hone_guarded g;
    HONE_ASSERT_OK(hone_guarded_map(row->bytes, row->side, &g));
    assert_int_equal((uintptr_t)g.data % 64, 0);
    for (size_t i = 0; i < row->bytes; i++)
        assert_int_equal(g.data[i], 0);
    memset(g.data, 0x5A, row->bytes);
    assert_true(hone_guarded_damage(&g) == INT64_MIN); /* all of it may be written */
    hone_guarded_poison(&g);
    if (row->bytes >= 8) {
        double d;
        float f;
        memcpy(&d, g.data, sizeof d);
        memcpy(&f, g.data, sizeof f);
        assert_true(isnan(d) && isnan(f));
    }
    /* far away, where an index is wrong by a row */
    assert_true(write_kills(g.data + row->bytes + (256 << 10)));
    assert_true(write_kills(g.data - (256 << 10)));
    /* the first byte behind and before: killed, or found as damage */
    if (!write_kills(g.data + row->bytes)) {
        g.data[row->bytes] ^= 1;
        assert_true(hone_guarded_damage(&g) == (int64_t)row->bytes);
        assert_true(hone_guarded_damage(&g) == INT64_MIN); /* mended */
    }
    if (!write_kills(g.data - 1)) {
        g.data[-1] ^= 1;
        assert_true(hone_guarded_damage(&g) == -1);
    }
    assert_true(write_kills(g.base) && write_kills(g.base + g.map_bytes - 1));
    int64_t at = 0;
    assert_true(hone_guarded_contains(&g, g.data + row->bytes, &at));
    assert_int_equal(at, row->bytes);
    assert_false(hone_guarded_contains(&g, g.base + g.map_bytes, &at));
    HONE_ASSERT_OK(hone_guarded_protect(&g, false));
    if (row->bytes) assert_true(write_kills(g.data));
    HONE_ASSERT_OK(hone_guarded_protect(&g, true));
    if (row->bytes) assert_false(write_kills(g.data));
    hone_guarded_unmap(&g);
    assert_null(g.base);
    hone_guarded_unmap(&g);
}

static void huge_is_refused(void **state) {
    (void)state;
    hone_guarded g;
    HONE_ASSERT_CODE(hone_guarded_map(SIZE_MAX - 5, HONE_GUARD_END, &g), HONE_CODE_NO_MEMORY);
    HONE_ASSERT_CODE(hone_guarded_map(SIZE_MAX / 4, HONE_GUARD_END, &g), HONE_CODE_NO_MEMORY);
    assert_null(g.base);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(huge_is_refused)};
    return HONE_RUN_ROWS("runtime/guarded", rows, check_row) +
           cmocka_run_group_tests_name("runtime/guarded_edges", tests, NULL, NULL);
}
