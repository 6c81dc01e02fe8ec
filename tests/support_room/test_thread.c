/* tests/support_room/test_thread.c - locks, conditions; meant for TSan. */
#include "support/os/thread.h"
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
        hone_cond_signal(&s->cond);
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
            hone_cond_wait(&s.cond, &s.mutex);
    }
    hone_mutex_unlock(&s.mutex);
    hone_thread_join(&thread);
    assert_int_equal(s.count, 100);
    hone_cond_deinit(&s.cond);
    hone_mutex_deinit(&s.mutex);
}

static void counts_processors(void **state) {
    (void)state;
    assert_true(hone_thread_cpu_count() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks_exclude),
        cmocka_unit_test(conditions_alternate),
        cmocka_unit_test(counts_processors),
    };
    return cmocka_run_group_tests_name("support/thread", tests, NULL, NULL);
}
