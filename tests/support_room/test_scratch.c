/* tests/support_room/test_scratch.c - temporary folders: gone when closed, and when their owner was
 * killed; never taken from who lives. */
#include "support/os/scratch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

static char *dir;

static int begin(void **state) {
    (void)state;
    unsetenv("TMPDIR");
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-test-scratch", &dir));
    return setenv("TMPDIR", dir, 1);
}

static int end(void **state) {
    (void)state;
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
    return 0;
}

static bool count_one(void *count, const char *name) {
    (void)name;
    (*(int *)count)++;
    return true;
}

static int count_entries(void) {
    int count = 0;
    HONE_ASSERT_OK(hone_fs_list(dir, count_one, &count));
    return count;
}

static void write_into(const hone_scratch *scratch) {
    char *path = hone_path_join(scratch->path, "file");
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "text", 4));
    hone_free(path);
}

/* A process that has one, and waits to be killed. */
static pid_t start_owner(const char *prefix) {
    int ends[2];
    char ready;
    assert_int_equal(pipe(ends), 0);
    pid_t owner = fork();
    if (owner == 0) {
        hone_scratch scratch;
        if (hone_status_consume(hone_scratch_open(prefix, &scratch))) _exit(1);
        write_into(&scratch);
        if (write(ends[1], "", 1) != 1) _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return owner;
}

static void kill_owner(pid_t owner) {
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
}

static void goes_when_it_is_closed(void **state) {
    hone_scratch scratch;
    struct stat info;
    (void)state;
    HONE_ASSERT_OK(hone_scratch_open("work", &scratch));
    write_into(&scratch);
    assert_int_equal(stat(scratch.path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    HONE_ASSERT_OK(hone_scratch_close(&scratch));
    HONE_ASSERT_OK(hone_scratch_close(&scratch)); /* once more: nothing */
    assert_int_equal(count_entries(), 0);
}

static void goes_with_the_next_when_its_owner_was_killed(void **state) {
    hone_scratch scratch;
    (void)state;
    pid_t first = start_owner("work"), second = start_owner("work"), other = start_owner("play");
    assert_int_equal(count_entries(), 3);
    kill_owner(first);
    kill_owner(other);
    assert_int_equal(count_entries(), 3);
    HONE_ASSERT_OK(hone_scratch_open("work", &scratch));
    int with_live_and_other = count_entries();
    kill_owner(second);
    HONE_ASSERT_OK(hone_scratch_close(&scratch));
    HONE_ASSERT_OK(hone_scratch_open("play", &scratch));
    HONE_ASSERT_OK(hone_scratch_close(&scratch));
    HONE_ASSERT_OK(hone_scratch_open("work", &scratch));
    HONE_ASSERT_OK(hone_scratch_close(&scratch));
    assert_int_equal(with_live_and_other, 3); /* the second one's, the other's, its own */
    assert_int_equal(count_entries(), 0);
}

static void leaves_what_only_looks_like_one(void **state) {
    static const char *const names[] = {"work.abcdefg", "work.abc", "works.abcdef", "awork.abcdef"};
    hone_scratch scratch;
    char path[4096], link[4096];
    (void)state;
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(link, sizeof link, "%s/work.uvwxyz", dir);
    assert_int_equal(symlink(path, link), 0);
    snprintf(path, sizeof path, "%s/work.afile1", dir);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "text", 4));
    HONE_ASSERT_OK(hone_scratch_open("work", &scratch));
    HONE_ASSERT_OK(hone_scratch_close(&scratch));
    assert_int_equal(count_entries(), 6);
}

static void says_where_it_cannot_be(void **state) {
    hone_scratch scratch;
    (void)state;
    setenv("TMPDIR", "/nonexistent", 1);
    hone_status st = hone_scratch_open("work", &scratch);
    HONE_ASSERT_ERROR(st, HONE_CODE_IO, "/nonexistent/work.");
    HONE_ASSERT_OK(hone_scratch_close(&scratch));
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        STORY(goes_when_it_is_closed),
        STORY(goes_with_the_next_when_its_owner_was_killed),
        STORY(leaves_what_only_looks_like_one),
        STORY(says_where_it_cannot_be),
    };
    return cmocka_run_group_tests_name("support/scratch", tests, NULL, NULL);
}
