/* tests/runner/farm/test_blob_cache.c - files by their hash: what is kept, what is dropped, what is
 * believed. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/farm/blob_cache.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

typedef struct fixture {
    char *dir;
    hone_blob_cache *cache;
} fixture;

static int set_up(void **state) {
    static fixture f;
    f = (fixture){0};
    *state = &f;
    HONE_ASSERT_OK(hone_fs_temp_dir("blob-cache", &f.dir));
    HONE_ASSERT_OK(hone_blob_cache_open(f.dir, 1000, &f.cache));
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    hone_blob_cache_close(f->cache);
    HONE_ASSERT_OK(hone_fs_remove_tree(f->dir));
    hone_free(f->dir);
    return 0;
}

static void reopen(fixture *f) {
    hone_blob_cache_close(f->cache);
    HONE_ASSERT_OK(hone_blob_cache_open(f->dir, 1000, &f->cache));
}

/* `count` bytes of one letter. */
static hone_blob_hash letters(char letter, size_t count, char *room) {
    memset(room, letter, count);
    return hone_blob_hash_of(room, count);
}

static hone_status put(hone_blob_cache *cache, char letter, size_t count,
                       hone_blob_hash *out_hash) {
    char content[2048];
    hone_blob_draft draft;
    *out_hash = letters(letter, count, content);
    HONE_TRY(hone_blob_cache_begin(cache, out_hash, (int64_t)count, &draft));
    hone_status st = hone_blob_draft_write(&draft, 0, content, count);
    if (!st) return hone_blob_cache_commit(cache, &draft);
    hone_blob_cache_abandon(cache, &draft);
    return st;
}

static bool has(hone_blob_cache *cache, const hone_blob_hash *hash) {
    const char *path;
    if (hone_status_consume(hone_blob_cache_pin(cache, hash, &path)) != HONE_CODE_OK) return false;
    hone_blob_cache_unpin(cache, hash);
    return true;
}

static void keeps_what_it_got(void **state) {
    fixture *f = *state;
    char content[100], *got;
    size_t count;
    const char *path;
    hone_blob_draft draft;
    hone_blob_hash hash = letters('a', sizeof content, content);
    assert_false(has(f->cache, &hash));
    HONE_ASSERT_OK(hone_blob_cache_begin(f->cache, &hash, sizeof content, &draft));
    HONE_ASSERT_OK(hone_blob_draft_write(&draft, 60, content + 60, 40));
    HONE_ASSERT_OK(hone_blob_draft_write(&draft, 0, content, 60));
    HONE_ASSERT_CODE(hone_blob_draft_write(&draft, 60, content, 41), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_blob_draft_write(&draft, -1, content, 1), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_blob_draft_write(&draft, 101, content, 0), HONE_CODE_INVALID);
    HONE_ASSERT_OK(hone_blob_cache_commit(f->cache, &draft));
    for (int again = 0; again < 2; again++) {
        HONE_ASSERT_OK(hone_blob_cache_pin(f->cache, &hash, &path));
        assert_int_equal(path[0], '/');
        HONE_ASSERT_OK(hone_fs_read(path, 1000, &got, &count));
        assert_int_equal(count, sizeof content);
        assert_memory_equal(got, content, count);
        hone_free(got);
        hone_blob_cache_unpin(f->cache, &hash);
        assert_int_equal(hone_blob_cache_get_stats(f->cache).bytes, 100);
        reopen(f);
    }
}

static void refuses_other_content(void **state) {
    fixture *f = *state;
    char content[50];
    hone_blob_draft draft;
    hone_blob_hash hash = letters('a', sizeof content, content);
    content[7] = 'b';
    HONE_ASSERT_OK(hone_blob_cache_begin(f->cache, &hash, sizeof content, &draft));
    HONE_ASSERT_OK(hone_blob_draft_write(&draft, 0, content, sizeof content));
    HONE_ASSERT_ERROR(hone_blob_cache_commit(f->cache, &draft), HONE_CODE_INVALID, "hash");
    assert_int_equal(hone_blob_cache_get_stats(f->cache).bytes, 0);
    assert_false(has(f->cache, &hash));
}

static void scribble(const char *path) {
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "?", 1, 3), 1);
    /* as it may be on a file system whose clock is coarse: the time differs in any case */
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 12345}};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static void finds_damage(void **state) {
    fixture *f = *state;
    hone_blob_hash hash;
    const char *path;
    for (int restarts = 0; restarts < 2; restarts++) {
        HONE_ASSERT_OK(put(f->cache, 'a', 100, &hash));
        HONE_ASSERT_OK(hone_blob_cache_pin(f->cache, &hash, &path));
        scribble(path);
        hone_blob_cache_unpin(f->cache, &hash);
        if (restarts) reopen(f);
        HONE_ASSERT_ERROR(hone_blob_cache_pin(f->cache, &hash, &path), HONE_CODE_NOT_FOUND,
                          "damaged");
        assert_int_equal(hone_blob_cache_get_stats(f->cache).entries, 0);
        assert_int_equal(hone_blob_cache_get_stats(f->cache).bytes, 0);
    }
    /* in use: it is replaced in its place */
    HONE_ASSERT_OK(put(f->cache, 'a', 100, &hash));
    HONE_ASSERT_OK(hone_blob_cache_pin(f->cache, &hash, &path));
    scribble(path);
    assert_false(has(f->cache, &hash));
    HONE_ASSERT_OK(put(f->cache, 'a', 100, &hash));
    assert_true(has(f->cache, &hash));
    assert_int_equal(hone_blob_cache_get_stats(f->cache).bytes, 100);
    hone_blob_cache_unpin(f->cache, &hash);
}

static void drops_the_least_used(void **state) {
    fixture *f = *state;
    hone_blob_hash a, b, c, d;
    HONE_ASSERT_OK(put(f->cache, 'a', 400, &a));
    HONE_ASSERT_OK(put(f->cache, 'b', 400, &b));
    assert_true(has(f->cache, &a)); /* used later than b */
    HONE_ASSERT_OK(put(f->cache, 'c', 400, &c));
    assert_true(has(f->cache, &a));
    assert_false(has(f->cache, &b));
    assert_true(has(f->cache, &c));
    const char *path;
    HONE_ASSERT_OK(hone_blob_cache_pin(f->cache, &a, &path));
    HONE_ASSERT_OK(put(f->cache, 'd', 600, &d));
    assert_true(has(f->cache, &a)); /* in use, so c went */
    assert_false(has(f->cache, &c));
    HONE_ASSERT_ERROR(put(f->cache, 'c', 601, &c), HONE_CODE_UNAVAILABLE, "601 bytes");
    hone_blob_cache_unpin(f->cache, &a);
    HONE_ASSERT_ERROR(put(f->cache, 'c', 1001, &c), HONE_CODE_UNAVAILABLE, "1001 bytes");
    assert_true(hone_blob_cache_get_stats(f->cache).bytes <= 1000);
}

static void remembers_the_order(void **state) {
    fixture *f = *state;
    hone_blob_hash hashes[3];
    static const time_t used[3] = {3000, 1000, 2000};
    for (int i = 0; i < 3; i++) {
        const char *path;
        HONE_ASSERT_OK(put(f->cache, (char)('a' + i), 300, &hashes[i]));
        HONE_ASSERT_OK(hone_blob_cache_pin(f->cache, &hashes[i], &path));
        const struct timespec times[2] = {{.tv_sec = used[i]}, {.tv_nsec = UTIME_OMIT}};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
        hone_blob_cache_unpin(f->cache, &hashes[i]);
    }
    reopen(f);
    hone_blob_hash more;
    HONE_ASSERT_OK(put(f->cache, 'x', 400, &more));
    assert_true(has(f->cache, &hashes[0]));
    assert_false(has(f->cache, &hashes[1]));
    assert_true(has(f->cache, &hashes[2]));
}

static void write_file(const fixture *f, const char *name) {
    char *path = hone_path_join(f->dir, name);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "x", 1));
    hone_free(path);
}

static bool exists(const fixture *f, const char *name) {
    char *path = hone_path_join(f->dir, name);
    bool is_there = hone_fs_exists(path);
    hone_free(path);
    return is_there;
}

static void cleans_up_after_the_dead(void **state) {
    static const char draft[] =
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff.part";
    fixture *f = *state;
    write_file(f, draft);
    write_file(f, "holiday.jpg");
    write_file(f, "other.part");
    reopen(f);
    assert_false(exists(f, draft));
    assert_true(exists(f, "holiday.jpg"));
    assert_true(exists(f, "other.part"));
}

static void belongs_to_one_process(void **state) {
    fixture *f = *state;
    hone_blob_cache *other;
    struct stat info;
    HONE_ASSERT_ERROR(hone_blob_cache_open(f->dir, 1000, &other), HONE_CODE_UNAVAILABLE,
                      "another process");
    assert_null(other);
    assert_int_equal(stat(f->dir, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
}

/* Who cleans up a disk takes the lock with it: then the directory is anybody's, until it is taken
 * again. */
static void comes_back_when_removed(void **state) {
    fixture *f = *state;
    hone_blob_cache *other = NULL;
    hone_blob_hash hash;
    HONE_ASSERT_OK(put(f->cache, 'a', 100, &hash));
    HONE_ASSERT_OK(hone_blob_cache_mend(f->cache));
    assert_true(has(f->cache, &hash));
    HONE_ASSERT_OK(hone_fs_remove_tree(f->dir));
    assert_false(has(f->cache, &hash));
    HONE_ASSERT_CODE(put(f->cache, 'a', 100, &hash), HONE_CODE_IO);
    HONE_ASSERT_OK(hone_blob_cache_mend(f->cache));
    HONE_ASSERT_OK(put(f->cache, 'a', 100, &hash));
    assert_true(has(f->cache, &hash));
    HONE_ASSERT_CODE(hone_blob_cache_open(f->dir, 1000, &other), HONE_CODE_UNAVAILABLE);
    HONE_ASSERT_OK(hone_fs_remove_tree(f->dir));
    HONE_ASSERT_OK(hone_blob_cache_open(f->dir, 1000, &other));
    HONE_ASSERT_CODE(hone_blob_cache_mend(f->cache), HONE_CODE_UNAVAILABLE);
    hone_blob_cache_close(other);
    HONE_ASSERT_OK(hone_blob_cache_mend(f->cache));
    HONE_ASSERT_OK(put(f->cache, 'b', 100, &hash));
}

/* Nothing is made, nor a right changed, behind a link that lies in its place. */
static void mends_no_link(void **state) {
    fixture *f = *state;
    char other[4096];
    struct stat info;
    snprintf(other, sizeof other, "%s-other", f->dir);
    assert_int_equal(mkdir(other, 0755), 0);
    HONE_ASSERT_OK(hone_fs_remove_tree(f->dir));
    assert_int_equal(symlink(other, f->dir), 0);
    HONE_ASSERT_ERROR(hone_blob_cache_mend(f->cache), HONE_CODE_IO, "no longer a directory");
    assert_int_equal(stat(other, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0755);
    assert_int_equal(unlink(f->dir), 0);
    assert_int_equal(rmdir(other), 0); /* it is empty */
    HONE_ASSERT_OK(hone_blob_cache_mend(f->cache));
}

/* A limit on the size of files stands in for a disk without room. */
static void survives_a_full_disk(void **state) {
    fixture *f = *state;
    struct rlimit before, small;
    hone_blob_hash hash;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 100, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    hone_status st = put(f->cache, 'a', 500, &hash);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    HONE_ASSERT_ERROR(st, HONE_CODE_IO, "no room on disk");
    assert_int_equal(hone_blob_cache_get_stats(f->cache).bytes, 0);
    HONE_ASSERT_OK(put(f->cache, 'a', 500, &hash));
    assert_true(has(f->cache, &hash));
}

static hone_status use(void *context) {
    const char *dir = context, *path;
    hone_blob_cache *cache;
    hone_blob_hash hash;
    HONE_TRY(hone_blob_cache_open(dir, 1000, &cache));
    hone_status st = put(cache, 'a', 100, &hash);
    if (!st) st = hone_blob_cache_pin(cache, &hash, &path);
    hone_blob_cache_close(cache);
    return st;
}

static void survives_no_memory(void **state) {
    fixture *f = *state;
    char *dir = hone_path_join(f->dir, "other");
    hone_test_sweep_allocs(use, dir);
    hone_free(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keeps_what_it_got, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_other_content, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(drops_the_least_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(remembers_the_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cleans_up_after_the_dead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(belongs_to_one_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(comes_back_when_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mends_no_link, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_a_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_no_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("runner/blob cache", tests, NULL, NULL);
}
