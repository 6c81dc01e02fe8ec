/* tests/support_room/test_quiet.c - the quiet gate between handles, threads and killed processes.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "support/os/quiet.h"
#include "support/os/thread.h"
#include "tests/support/hone_test.h"

static char *dir, *path;

static int enter(void **state) {
    (void)state;
    if (hone_status_consume(hone_fs_temp_dir("hone-test-quiet", &dir))) return 1;
    path = hone_path_join(dir, "quiet.lock");
    return path == NULL;
}

static int leave(void **state) {
    (void)state;
    hone_free(path);
    hone_code code = hone_status_consume(hone_fs_remove_tree(dir));
    hone_free(dir);
    return (int)code;
}

static int64_t in_ms(int64_t ms) {
    return hone_deadline_after(hone_clock_system(), ms * HONE_NS_PER_MS);
}

static hone_status take(hone_quiet_gate *gate, hone_quiet_mode mode, int64_t ms) {
    return hone_quiet_begin(gate, mode, hone_clock_system(), in_ms(ms));
}

static void sharers_share_and_alone_excludes(void **state) {
    (void)state;
    hone_quiet_gate a, b, c;
    HONE_ASSERT_OK(hone_quiet_open(path, &a));
    HONE_ASSERT_OK(hone_quiet_open(path, &b));
    HONE_ASSERT_OK(hone_quiet_open(path, &c));
    HONE_ASSERT_OK(take(&a, HONE_QUIET_SHARED, 0));
    HONE_ASSERT_OK(take(&b, HONE_QUIET_SHARED, 0));
    assert_false(hone_quiet_is_wanted(&a));
    HONE_ASSERT_CODE(take(&c, HONE_QUIET_ALONE, 5), HONE_CODE_TIMEOUT);
    assert_false(c.is_held);
    hone_quiet_end(&a);
    hone_quiet_end(&b);
    HONE_ASSERT_OK(take(&c, HONE_QUIET_ALONE, 0));
    assert_true(hone_quiet_is_wanted(&a));
    HONE_ASSERT_CODE(take(&a, HONE_QUIET_SHARED, 5), HONE_CODE_TIMEOUT);
    HONE_ASSERT_CODE(take(&a, HONE_QUIET_ALONE, 0), HONE_CODE_TIMEOUT);
    hone_quiet_close(&c); /* lets go */
    HONE_ASSERT_OK(take(&a, HONE_QUIET_ALONE, 0));
    hone_quiet_close(&a);
    hone_quiet_close(&b);
    hone_quiet_close(&b);
}

static void wait_alone(void *context) {
    hone_code *code = context;
    hone_quiet_gate gate;
    *code = hone_status_consume(hone_quiet_open(path, &gate));
    if (*code) return;
    *code = hone_status_consume(take(&gate, HONE_QUIET_ALONE, 60000));
    hone_quiet_close(&gate);
}

static void waiting_alone_keeps_sharers_out(void **state) {
    (void)state;
    hone_quiet_gate a, b;
    hone_thread thread;
    hone_code code = HONE_CODE_INTERNAL;
    HONE_ASSERT_OK(hone_quiet_open(path, &a));
    HONE_ASSERT_OK(hone_quiet_open(path, &b));
    HONE_ASSERT_OK(take(&a, HONE_QUIET_SHARED, 0));
    HONE_ASSERT_OK(hone_thread_start(&thread, "alone", wait_alone, &code));
    int64_t deadline = in_ms(60000);
    while (!hone_quiet_is_wanted(&a) && hone_clock_now(hone_clock_system()) < deadline) {
        hone_clock_sleep_until(hone_clock_system(), in_ms(1));
    }
    hone_status st = take(&b, HONE_QUIET_SHARED, 5); /* though the gate itself is only shared */
    hone_quiet_end(&a);
    hone_thread_join(&thread);
    HONE_ASSERT_CODE(st, HONE_CODE_TIMEOUT);
    assert_int_equal(code, HONE_CODE_OK);
    HONE_ASSERT_OK(take(&b, HONE_QUIET_SHARED, 1000));
    hone_quiet_close(&a);
    hone_quiet_close(&b);
}

static void finds_its_usual_place(void **state) {
    (void)state;
    hone_quiet_gate gate;
    char *made = hone_path_join(dir, "hone/quiet.lock"), *sub = hone_path_join(dir, "hone");
    const char *before = getenv("XDG_RUNTIME_DIR");
    char *kept = before ? hone_strdup(before) : NULL;
    assert_int_equal(setenv("XDG_RUNTIME_DIR", dir, 1), 0);
    HONE_ASSERT_OK(hone_quiet_open(NULL, &gate));
    assert_true(hone_fs_exists(made));
    hone_quiet_close(&gate);
    assert_int_equal(chmod(sub, 0777), 0); /* anybody could put a link there */
    HONE_ASSERT_ERROR(hone_quiet_open(NULL, &gate), HONE_CODE_INVALID, "only this user can write");
    assert_int_equal(gate.fd, -1);
    if (kept) setenv("XDG_RUNTIME_DIR", kept, 1);
    if (!kept) unsetenv("XDG_RUNTIME_DIR");
    hone_free(kept);
    hone_free(made);
    hone_free(sub);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sharers_share_and_alone_excludes, enter, leave),
        cmocka_unit_test_setup_teardown(waiting_alone_keeps_sharers_out, enter, leave),
        cmocka_unit_test_setup_teardown(finds_its_usual_place, enter, leave),
    };
    return cmocka_run_group_tests_name("support/quiet", tests, NULL, NULL);
}
