/* tests/support_room/test_lost_page.c - a mapped file that is cut while it is read. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "support/os/lost_page.h"
#include "tests/support/hone_test.h"

enum { CODE = 3, BYTES = 3 * 65536 };

static char *path;

/* In a process of its own: reads the last byte of a file that was cut behind its first page. */
static void read_what_is_cut(int errors) {
    dup2(errors, STDERR_FILENO);
    hone_lost_page_explain("probe", CODE);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    const volatile char *map = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED || map[BYTES - 1] != 'x' || ftruncate(fd, 100)) _exit(99);
    _exit(map[BYTES - 1] ? 98 : 97);
}

static void names_the_file(void **state) {
    (void)state;
    int ends[2], status = 0;
    char said[4096] = "", want[4096];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) read_what_is_cut(ends[1]);
    assert_true(child > 0);
    close(ends[1]);
    for (size_t at = 0; at < sizeof said - 1;) {
        ssize_t count = read(ends[0], said + at, sizeof said - 1 - at);
        if (count <= 0) break;
        at += (size_t)count;
    }
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    snprintf(want, sizeof want,
             "probe: %s: was cut, or cannot be read any more, while it was in use\n", path);
    assert_string_equal(said, want);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), CODE);
}

static int make_file(void **state) {
    (void)state;
    char *dir = NULL, *bytes = hone_malloc(BYTES);
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-lost", &dir));
    path = hone_path_join(dir, "weights");
    memset(bytes, 'x', BYTES);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, bytes, BYTES));
    hone_free(bytes);
    hone_free(dir);
    return 0;
}

static int remove_file(void **state) {
    (void)state;
    char *dir = hone_path_dirname(path);
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
    hone_free(path);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_the_file, make_file, remove_file),
    };
    return cmocka_run_group_tests_name("support/lost_page", tests, NULL, NULL);
}
