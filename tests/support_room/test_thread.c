/* tests/support_room/test_thread.c - locks, conditions, once; meant for TSan. */
#include "support/clock.h"
#include "support/thread.h"
#include "tests/support/hone_test.h"

enum { THREADS = 4, ROUNDS = 2000 };

typedef struct shared {
    hone_mutex mutex;
    hone_cond cond;
    int count, turn;
} shared;

static void add(void *context) {
    shared *s = context;
    for (int i = 0; i < ROUNDS; i++) {
        hone_mutex_lock(&s->mutex);
        s->count++;
        hone_mutex_unlock(&s->mutex);
    }
}

static void locks_exclude(void **state) {
    (void)state;
    shared s = {.count = 0};
    hone_thread threads[THREADS];
    hone_mutex_init(&s.mutex);
    for (int i = 0; i < THREADS; i++) {
        HONE_ASSERT_OK(hone_thread_start(&threads[i], "a name longer than 15", add, &s));
    }
    for (int i = 0; i < THREADS; i++)
        hone_thread_join(&threads[i]);
    hone_thread_join(&threads[0]); /* again is fine */
    assert_int_equal(s.count, THREADS * ROUNDS);
    assert_true(hone_mutex_try_lock(&s.mutex));
    assert_false(hone_mutex_try_lock(&s.mutex));
    hone_mutex_unlock(&s.mutex);
    hone_mutex_deinit(&s.mutex);
}

static void answer(void *context) {
    shared *s = context;
    hone_mutex_lock(&s->mutex);
    while (s->count < 100) {
        while (s->turn != 1)
            hone_cond_wait(&s->cond, &s->mutex);
        s->count++;
        s->turn = 0;
        hone_cond_broadcast(&s->cond);
    }
    hone_mutex_unlock(&s->mutex);
}

static void conditions_alternate(void **state) {
    (void)state;
    shared s = {.count = 0};
    hone_thread thread;
    hone_mutex_init(&s.mutex);
    hone_cond_init(&s.cond);
    HONE_ASSERT_OK(hone_thread_start(&thread, "answer", answer, &s));
    hone_mutex_lock(&s.mutex);
    for (int i = 0; i < 100; i++) {
        s.turn = 1;
        hone_cond_signal(&s.cond);
        while (s.turn != 0)
            (void)hone_cond_wait_until(&s.cond, &s.mutex, HONE_DEADLINE_NEVER);
    }
    hone_mutex_unlock(&s.mutex);
    hone_thread_join(&thread);
    assert_int_equal(s.count, 100);
    hone_cond_deinit(&s.cond);
    hone_mutex_deinit(&s.mutex);
}

static void conditions_time_out(void **state) {
    (void)state;
    const hone_clock *clock = hone_clock_system();
    hone_mutex mutex = HONE_MUTEX_INIT;
    hone_cond cond;
    hone_cond_init(&cond);
    int64_t deadline = hone_clock_now(clock) + 5 * HONE_NS_PER_MS;
    hone_mutex_lock(&mutex);
    while (hone_cond_wait_until(&cond, &mutex, deadline)) { /* spurious wake-ups are allowed */
    }
    hone_mutex_unlock(&mutex);
    assert_true(hone_clock_now(clock) >= deadline);
    hone_cond_deinit(&cond);
    hone_mutex_deinit(&mutex);
}

static int once_count;

static void count_once(void) {
    once_count++;
}

static void runs_once(void **state) {
    (void)state;
    static hone_once once = HONE_ONCE_INIT;
    for (int i = 0; i < 3; i++)
        hone_once_run(&once, count_once);
    assert_int_equal(once_count, 1);
    assert_true(hone_thread_cpu_count() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks_exclude),
        cmocka_unit_test(conditions_alternate),
        cmocka_unit_test(conditions_time_out),
        cmocka_unit_test(runs_once),
    };
    return cmocka_run_group_tests_name("support/thread", tests, NULL, NULL);
}
