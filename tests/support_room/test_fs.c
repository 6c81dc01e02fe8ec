/* tests/support_room/test_fs.c - files, directories, paths; each test in a directory of its own. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *path, *dirname, *basename, *extension;
} rows[] = {
    {"a/b.c",    "a",   "b.c",      ".c" },
    {"b.tar.gz", ".",   "b.tar.gz", ".gz"},
    {"/b",       "/",   "b",        ""   },
    {"/",        "/",   "",         ""   },
    {"a//b",     "a",   "b",        ""   },
    {"a.d/b",    "a.d", "b",        ""   },
    {".profile", ".",   ".profile", ""   },
    {"a/b/",     "a/b", "",         ""   },
    {"",         ".",   "",         ""   },
};

static void splits(void **state) {
    const struct row *row = *state;
    char *dirname = hone_path_dirname(row->path);
    assert_string_equal(dirname, row->dirname);
    assert_string_equal(hone_path_basename(row->path), row->basename);
    assert_string_equal(hone_path_extension(row->path), row->extension);
    hone_free(dirname);
}

static void joins(void **state) {
    (void)state;
    static const char *const joined[][3] = {
        {"a",  "b",  "a/b"},
        {"a/", "b",  "a/b"},
        {"",   "b",  "b"  },
        {"a",  "/b", "/b" },
        {"/",  "b",  "/b" },
    };
    for (size_t i = 0; i < HONE_COUNT(joined); i++) {
        char *path = hone_path_join(joined[i][0], joined[i][1]);
        assert_string_equal(path, joined[i][2]);
        hone_free(path);
    }
}

static char *dir; /* of the running test */

static int enter(void **state) {
    (void)state;
    hone_status st = hone_fs_temp_dir("hone-test-fs", &dir);
    return (int)hone_status_consume(st);
}

static int leave(void **state) {
    (void)state;
    hone_status st = hone_fs_remove_tree(dir);
    hone_free(dir);
    return (int)hone_status_consume(st);
}

static char *at(const char *name) {
    char *path = hone_path_join(dir, name);
    assert_non_null(path);
    return path;
}

static bool count_names(void *context, const char *name) {
    hone_str_printf(context, "%s ", name);
    return true;
}

static void assert_names(const char *want) {
    hone_str names = {0};
    HONE_ASSERT_OK(hone_fs_list(dir, count_names, &names));
    assert_string_equal(hone_str_text(&names), want);
    hone_str_deinit(&names);
}

static void writes_and_reads(void **state) {
    (void)state;
    char *path = at("file"), *bytes = NULL;
    size_t count = 0;
    int64_t size = 0;
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "one\0two", 7));
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "longer than before", 18));
    HONE_ASSERT_OK(hone_fs_read(path, 18, &bytes, &count));
    assert_int_equal(count, 18);
    assert_string_equal(bytes, "longer than before");
    hone_free(bytes);
    HONE_ASSERT_ERROR(hone_fs_read(path, 17, &bytes, &count), HONE_CODE_INVALID,
                      "more than 17 bytes");
    assert_null(bytes);
    char part[4] = {0};
    HONE_ASSERT_OK(hone_fs_read_part(path, 12, 3, part));
    assert_string_equal(part, "bef");
    HONE_ASSERT_OK(hone_fs_read_part(path, 18, 0, part));
    HONE_ASSERT_ERROR(hone_fs_read_part(path, 16, 3, part), HONE_CODE_INVALID,
                      "has 18 bytes, 3 from 16 are wanted");
    HONE_ASSERT_CODE(hone_fs_read_part(path, UINT64_MAX, 2, part), HONE_CODE_INVALID);
    HONE_ASSERT_OK(hone_fs_size(path, &size));
    assert_int_equal(size, 18);
    assert_names("file ");
    hone_free(path);
}

static void keeps_the_mode(void **state) {
    (void)state;
    char *path = at("file");
    struct stat info;
    mode_t before = umask(027);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "x", 1));
    umask(before);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(chmod(path, 0751), 0);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "y", 1));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0751);
    hone_free(path);
}

static void abandons_drafts(void **state) {
    (void)state;
    char *path = at("file");
    hone_fs_draft draft;
    HONE_ASSERT_OK(hone_fs_draft_open(path, &draft));
    HONE_ASSERT_OK(hone_fd_write_full(draft.fd, "half", 4));
    assert_false(hone_fs_exists(path));
    hone_fs_draft_abandon(&draft);
    hone_fs_draft_abandon(&draft);
    assert_names("");
    HONE_ASSERT_OK(hone_fs_draft_open(path, &draft));
    HONE_ASSERT_OK(hone_fs_draft_commit(&draft));
    assert_names("file ");
    hone_free(path);
}

/* Who is killed leaves what lies there: nothing, where files without a name are to be had. */
static void drafts_have_no_name(void **state) {
    (void)state;
    char *path = at("file");
    hone_fs_draft draft;
    HONE_ASSERT_OK(hone_fs_draft_open(path, &draft));
    if (!draft.is_nameless) {
        hone_fs_draft_abandon(&draft);
        hone_free(path);
        skip();
    }
    HONE_ASSERT_OK(hone_fd_write_full(draft.fd, "half", 4));
    assert_names("");
    hone_fs_draft_abandon(&draft);
    for (int i = 0; i < 2; i++) { /* new, then in place of an old one */
        HONE_ASSERT_OK(hone_fs_draft_open(path, &draft));
        HONE_ASSERT_OK(hone_fd_write_full(draft.fd, i ? "new" : "old", 3));
        assert_names(i ? "file " : "");
        HONE_ASSERT_OK(hone_fs_draft_commit(&draft));
        assert_names("file ");
    }
    char *bytes = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(hone_fs_read(path, 10, &bytes, &count));
    assert_string_equal(bytes, "new");
    hone_free(bytes);
    hone_free(path);
}

/* In the moment between two names a kill leaves one: the next who writes that file removes it, but
 * not one that is still at work. */
static void left_drafts_go(void **state) {
    (void)state;
    char *path = at("file"), *left = at("file.hone-draft-0");
    hone_fs_draft draft;
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "old", 3));
    HONE_ASSERT_OK(hone_fs_draft_open(path, &draft));
    if (!draft.is_nameless) {
        hone_fs_draft_abandon(&draft);
        hone_free(path);
        hone_free(left);
        skip();
    }
    HONE_ASSERT_OK(hone_fs_write_atomic(left, "half", 4));
    int fd = open(left, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    HONE_ASSERT_OK(hone_fs_draft_commit(&draft));
    assert_names("file file.hone-draft-0 ");
    close(fd);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "new", 3));
    assert_names("file ");
    assert_int_equal(mkfifo(left, 0600), 0); /* nobody writes to it */
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "newer", 5));
    assert_names("file ");
    hone_free(path);
    hone_free(left);
}

static void new_files_replace_none(void **state) {
    (void)state;
    char *path = at("file");
    char *bytes = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(hone_fs_write_new(path, "first", 5));
    HONE_ASSERT_OK(hone_fs_write_new(path, "second", 6));
    assert_names("file ");
    HONE_ASSERT_OK(hone_fs_read(path, 10, &bytes, &count));
    assert_string_equal(bytes, "first");
    hone_free(bytes);
    hone_free(path);
}

static void a_failed_rename_leaves_nothing(void **state) {
    (void)state;
    char *path = at("busy/inner");
    HONE_ASSERT_OK(hone_fs_mkdirs(path));
    char *outer = at("busy");
    HONE_ASSERT_CODE(hone_fs_write_atomic(outer, "x", 1), HONE_CODE_IO); /* a directory */
    assert_names("busy ");
    hone_free(path);
    hone_free(outer);
}

static void keeps_pipes(void **state) {
    (void)state;
    char *path = at("pipe"), got[8] = "";
    size_t count = 0;
    struct stat info;
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "through", 7));
    HONE_ASSERT_OK(hone_fd_read_full(fd, got, 7, &count));
    assert_string_equal(got, "through");
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_names("pipe ");
    close(fd);
    hone_free(path);
}

static void says_what_is_missing(void **state) {
    (void)state;
    char *path = at("none/file"), *bytes = NULL;
    size_t count = 0;
    HONE_ASSERT_ERROR(hone_fs_read(path, 10, &bytes, &count), HONE_CODE_NOT_FOUND, "none/file: ");
    HONE_ASSERT_CODE(hone_fs_write_atomic(path, "", 0), HONE_CODE_IO);
    HONE_ASSERT_ERROR(hone_fs_read(dir, 10, &bytes, &count), HONE_CODE_INVALID, "is a directory");
    HONE_ASSERT_ERROR(hone_fs_read("", 10, &bytes, &count), HONE_CODE_NOT_FOUND, "is empty");
    HONE_ASSERT_OK(hone_fs_remove_tree(path));
    HONE_ASSERT_OK(hone_fs_remove_file(path));
    hone_free(path);
}

static void reads_files_without_a_size(void **state) {
    (void)state;
    char *bytes = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(hone_fs_read("/proc/self/status", 1 << 20, &bytes, &count));
    assert_true(count > 100);
    assert_int_equal(strlen(bytes), count);
    hone_free(bytes);
}

static void makes_and_removes_trees(void **state) {
    (void)state;
    char *deep = at("a/b/c"), *file = at("a/b/file"), *outside = at("outside"),
         *link = at("a/link");
    HONE_ASSERT_OK(hone_fs_mkdirs(deep));
    HONE_ASSERT_OK(hone_fs_mkdirs(deep));
    assert_true(hone_fs_is_dir(deep));
    HONE_ASSERT_OK(hone_fs_write_atomic(file, "x", 1));
    HONE_ASSERT_CODE(hone_fs_mkdirs(file), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_OK(hone_fs_mkdirs(outside));
    assert_int_equal(symlink(outside, link), 0);
    assert_names("a outside ");
    char *a = at("a");
    HONE_ASSERT_OK(hone_fs_remove_tree(a));
    assert_false(hone_fs_exists(a));
    assert_true(hone_fs_is_dir(outside)); /* links are not followed */
    hone_free(a);
    hone_free(deep);
    hone_free(file);
    hone_free(outside);
    hone_free(link);
}

static hone_status write_and_read(void *context) {
    char *bytes = NULL;
    size_t count = 0;
    HONE_TRY(hone_fs_write_atomic(context, "abc", 3));
    HONE_TRY(hone_fs_read(context, 3, &bytes, &count));
    hone_free(bytes);
    return HONE_OK;
}

static void check_place(hone_status st, hone_code code, const char *says) {
    assert_int_equal(hone_status_code(st), code);
    if (says) assert_non_null(strstr(hone_status_message(st), says));
    hone_status_free(st);
}

/* A name of a descriptor, as /dev/stdout, stays, and what it leads to is written on. */
static void writes_to_descriptors(void **state) {
    (void)state;
    char name[64], *bytes;
    size_t count;
    int fd = open("led_to", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "one ", 4), 4);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    HONE_ASSERT_OK(hone_fs_check_place(name, 0));
    HONE_ASSERT_OK(hone_fs_write_atomic(name, "two", 3));
    close(fd);
    HONE_ASSERT_OK(hone_fs_read("led_to", 16, &bytes, &count));
    assert_string_equal(bytes, "one two");
    hone_free(bytes);
    assert_int_equal(hone_fs_own_descriptor("/dev/stdout"), STDOUT_FILENO);
    assert_int_equal(hone_fs_own_descriptor("/dev/fd/12"), 12);
    assert_int_equal(hone_fs_own_descriptor("/dev/fd/"), -1);
    assert_int_equal(hone_fs_own_descriptor("/dev/fd/1/x"), -1);
    assert_int_equal(unlink("led_to"), 0);
}

static void tells_places_before_they_are_made(void **state) {
    (void)state;
    char name[256 + 1], file[] = "file", path[4200];
    memset(name, 'n', 256);
    name[256] = '\0';
    hone_status_free(hone_fs_write_atomic(file, "x", 1));
    check_place(hone_fs_check_place(file, 0), HONE_CODE_OK, NULL);
    check_place(hone_fs_check_place("new", 0), HONE_CODE_OK, NULL);
    check_place(hone_fs_check_place("/dev/null", 0), HONE_CODE_OK, NULL);
    check_place(hone_fs_check_place("no/new", 0), HONE_CODE_IO, "there is no directory 'no'");
    check_place(hone_fs_check_place("file/new", 0), HONE_CODE_IO, "'file' is no directory");
    check_place(hone_fs_check_place(name, 0), HONE_CODE_INVALID, "has 256 bytes, must have 255");
    check_place(hone_fs_check_place(name + 1, 0), HONE_CODE_OK, NULL);
    check_place(hone_fs_check_place(name + 1, 1), HONE_CODE_INVALID, "255 bytes, must have 254");
    check_place(hone_fs_check_new_dir("no/new/dir"), HONE_CODE_OK, NULL);
    check_place(hone_fs_check_new_dir("."), HONE_CODE_OK, NULL);
    check_place(hone_fs_check_new_dir("file/dir"), HONE_CODE_IO, "file/dir: cannot be made there");
    memset(path, '/', sizeof path);
    path[4095] = '\0';
    check_place(hone_fs_check_names(path, 0), HONE_CODE_OK, NULL);
    check_place(hone_fs_check_names(path, 1), HONE_CODE_INVALID, "4095 bytes, must have 4094");
    assert_int_equal(unlink(file), 0);
}

static void sweeps(void **state) {
    (void)state;
    char *path = at("file");
    hone_test_sweep_allocs(write_and_read, path);
    assert_names("file ");
    hone_free(path);
}

static void finds_the_program(void **state) {
    (void)state;
    char *path = NULL;
    HONE_ASSERT_OK(hone_fs_program_dir(&path));
    assert_true(hone_fs_is_dir(path));
    assert_string_equal(hone_path_basename(path), "tests");
    hone_free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins),
        cmocka_unit_test(finds_the_program),
        cmocka_unit_test_setup_teardown(writes_and_reads, enter, leave),
        cmocka_unit_test_setup_teardown(keeps_the_mode, enter, leave),
        cmocka_unit_test_setup_teardown(abandons_drafts, enter, leave),
        cmocka_unit_test_setup_teardown(drafts_have_no_name, enter, leave),
        cmocka_unit_test_setup_teardown(left_drafts_go, enter, leave),
        cmocka_unit_test_setup_teardown(new_files_replace_none, enter, leave),
        cmocka_unit_test_setup_teardown(a_failed_rename_leaves_nothing, enter, leave),
        cmocka_unit_test_setup_teardown(keeps_pipes, enter, leave),
        cmocka_unit_test_setup_teardown(says_what_is_missing, enter, leave),
        cmocka_unit_test_setup_teardown(reads_files_without_a_size, enter, leave),
        cmocka_unit_test_setup_teardown(writes_to_descriptors, enter, leave),
        cmocka_unit_test_setup_teardown(tells_places_before_they_are_made, enter, leave),
        cmocka_unit_test_setup_teardown(makes_and_removes_trees, enter, leave),
        cmocka_unit_test_setup_teardown(sweeps, enter, leave),
    };
    return HONE_RUN_ROWS("support/path", rows, splits) +
           cmocka_run_group_tests_name("support/fs", tests, NULL, NULL);
}
