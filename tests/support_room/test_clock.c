/* tests/support_room/test_clock.c - clocks, deadlines and the printed forms of times. */
#include "support/os/clock.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *want; /* names the test */
    int64_t ns;
} rows[] = {
    {"0 ns",    0            },
    {"999 ns",  999          },
    {"1 us",    1000         },
    {"12.3 us", 12345        },
    {"999 us",  999400       },
    {"1 ms",    999600       },
    {"4.56 ms", 4560000      },
    {"7.89 s",  7890000000   },
    {"59.9 s",  59900000000  },
    {"1m 00s",  59999000000  },
    {"3m 05s",  185000000000 },
    {"2h 03m",  7380000000000},
    {"-5 ms",   -5000000     },
};

static void prints_durations(void **state) {
    const struct row *row = *state;
    char text[HONE_DURATION_BYTES];
    assert_string_equal(hone_duration_print(row->ns, text), row->want);
}

static void prints_wall_times(void **state) {
    (void)state;
    char text[HONE_WALL_TIME_BYTES];
    assert_string_equal(hone_wall_time_print(0, text), "1970-01-01T00:00:00Z");
    assert_string_equal(hone_wall_time_print(-1, text), "1969-12-31T23:59:59Z");
    assert_string_equal(hone_wall_time_print(INT64_C(1714566896) * HONE_NS_PER_S, text),
                        "2024-05-01T12:34:56Z");
    assert_true(hone_wall_time_ns() > INT64_C(1700000000) * HONE_NS_PER_S);
}

static void system_clock_moves(void **state) {
    (void)state;
    const hone_clock *clock = hone_clock_system();
    int64_t start = hone_clock_now(clock);
    hone_clock_sleep_until(clock, start + 2 * HONE_NS_PER_MS);
    assert_true(hone_clock_now(clock) - start >= 2 * HONE_NS_PER_MS);
    hone_clock_sleep_until(clock, 0); /* long past */
}

static void virtual_clock_stands_still(void **state) {
    (void)state;
    hone_virtual_clock v;
    hone_virtual_clock_init(&v, 1000);
    const hone_clock *clock = &v.clock;
    assert_int_equal(hone_clock_now(clock), 1000);
    hone_clock_sleep_until(clock, INT64_C(3600) * HONE_NS_PER_S);
    assert_int_equal(hone_clock_now(clock), INT64_C(3600) * HONE_NS_PER_S);
    hone_clock_sleep_until(clock, 5); /* never goes back */
    hone_virtual_clock_advance(&v, 7);
    assert_int_equal(hone_clock_now(clock), INT64_C(3600) * HONE_NS_PER_S + 7);
}

/* It counts work, not waits. */
static void thread_clock_counts_its_own_time(void **state) {
    (void)state;
    const hone_clock *clock = hone_clock_thread(), *wall = hone_clock_system();
    if (clock == wall) skip(); /* it moves by ticks here */
    int64_t start = hone_clock_now(clock), begin = hone_clock_now(wall);
    hone_clock_sleep_until(wall, begin + 30 * HONE_NS_PER_MS);
    int64_t waited = hone_clock_now(clock) - start;
    assert_in_range(waited, 0, 20 * HONE_NS_PER_MS);
    while (hone_clock_now(clock) - start < 5 * HONE_NS_PER_MS) {
    }
    assert_true(hone_clock_now(wall) - begin >= 35 * HONE_NS_PER_MS - waited);
}

/* Each look takes 50 ns; what is seen moves by steps. */
typedef struct stepping {
    hone_clock clock; /* first */
    int64_t step_ns, *passed_ns;
} stepping;

static int64_t stepping_now(const hone_clock *clock) {
    const stepping *s = (const stepping *)clock;
    *s->passed_ns += 50;
    return s->step_ns ? *s->passed_ns / s->step_ns * s->step_ns : 0;
}

static void clocks_of_ticks_are_not_fine(void **state) {
    (void)state;
    static const struct {
        int64_t step_ns, start_ns;
        bool is_fine;
    } clocks[] = {
        {1,                   0,                          true },
        {1000,                0,                          true },
        {HONE_NS_PER_MS,      HONE_NS_PER_MS - 200,       false},
        {10 * HONE_NS_PER_MS, 0,                          false},
        {10 * HONE_NS_PER_MS, 10 * HONE_NS_PER_MS - 2000, false},
        {0,                   0,                          false},
    };
    for (size_t i = 0; i < HONE_COUNT(clocks); i++) {
        int64_t passed = clocks[i].start_ns;
        stepping s = {{.now_ns = stepping_now}, clocks[i].step_ns, &passed};
        assert_int_equal(hone_clock_is_fine(&s.clock), clocks[i].is_fine);
    }
    assert_true(hone_clock_is_fine(hone_clock_system()));
}

static void deadlines_do_not_overflow(void **state) {
    (void)state;
    hone_virtual_clock v;
    hone_virtual_clock_init(&v, 100);
    assert_int_equal(hone_deadline_after(&v.clock, 50), 150);
    assert_int_equal(hone_deadline_after(&v.clock, INT64_MAX), HONE_DEADLINE_NEVER);
    assert_int_equal(hone_deadline_after(&v.clock, -1), HONE_DEADLINE_NEVER);
    assert_int_equal(hone_deadline_poll_ms(&v.clock, HONE_DEADLINE_NEVER), -1);
    assert_int_equal(hone_deadline_poll_ms(&v.clock, HONE_DEADLINE_NOW), 0);
    assert_int_equal(hone_deadline_poll_ms(&v.clock, 100), 0);
    assert_int_equal(hone_deadline_poll_ms(&v.clock, 101), 1);
    assert_int_equal(hone_deadline_poll_ms(&v.clock, 100 + 2 * HONE_NS_PER_MS), 2);
    assert_int_equal(hone_deadline_poll_ms(&v.clock, INT64_MAX - 1), INT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_wall_times),
        cmocka_unit_test(system_clock_moves),
        cmocka_unit_test(virtual_clock_stands_still),
        cmocka_unit_test(thread_clock_counts_its_own_time),
        cmocka_unit_test(clocks_of_ticks_are_not_fine),
        cmocka_unit_test(deadlines_do_not_overflow),
    };
    return HONE_RUN_ROWS("support/clock durations", rows, prints_durations) +
           cmocka_run_group_tests_name("support/clock", tests, NULL, NULL);
}
