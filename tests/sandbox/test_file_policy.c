/* tests/sandbox/test_file_policy.c - which paths are given out, and for what. '@' in a path is the
 * folder of the test. */
#include "sandbox/file_policy.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

enum { FILE_FD = 200, SOCKET_FD = 201, PIPE_FD = 202, DEVICE_FD = 203 };

static char *dir;
static char libm[PATH_MAX];
static hone_file_policy *policies[2]; /* hone_sandbox_profile */
static hone_loader_dirs toolchain;

/* ---- the folder ---- */

static const char *at(const char *path) {
    static char texts[2][PATH_MAX];
    static unsigned next;
    char *text = texts[next++ % 2];
    assert_true(path[0] != '@' || strlen(dir) + strlen(path) < PATH_MAX);
    snprintf(text, PATH_MAX, "%s%s", path[0] == '@' ? dir : "", path + (path[0] == '@'));
    return strcmp(path, "libm") == 0 ? libm : text;
}

static void make_file(const char *path, mode_t mode) {
    HONE_ASSERT_OK(hone_fs_write_atomic(at(path), "text", 4));
    assert_int_equal(chmod(at(path), mode), 0);
}

static void make_files(void) {
    static const char *const dirs[] = {"@/folder",    "@/folder/sub",     "@/libs",
                                       "@/libs/deep", "@/libs/folder.so", "@/folder2",
                                       "@/own",       "@/own/sub",        "@/out.d"};
    static const char *const files[] = {
        "@/granted",           "@/granted2",       "@/granted.draft",  "@/out",
        "@/outside",           "@/lib.so",         "@/folder/file",    "@/folder/sub/file",
        "@/libs/libx.so",      "@/libs/libx.so.6", "@/libs/notes.txt", "@/libs/libx.sock",
        "@/libs/deep/liby.so", "@/folder2/file",   "@/own/library",    "@/own/libz.so",
        "@/own/libz.so.1",     "@/own/notes.txt",  "@/own/sub/libz.so"};
    static const char *const links[][2] = {
        {"/etc/passwd", "@/folder/link"   },
        {"..",          "@/folder/away"   },
        {"sub",         "@/folder/inner"  },
        {"folder2",     "@/linked"        },
        {"/etc/passwd", "@/libs/link.so"  },
        {"/etc",        "@/libs/etc.so"   },
        {"../lib.so",   "@/libs/up.so"    },
        {"libx.so.6",   "@/libs/libx.so.5"},
        {"/etc/passwd", "@/out.link"      },
        {"/etc/passwd", "@/own/link.so"   },
        {"../lib.so",   "@/own/up.so"     },
        {"libz.so.1",   "@/own/libz.so.0" }
    };
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-policy", &dir));
    for (size_t i = 0; i < HONE_COUNT(dirs); i++)
        assert_int_equal(mkdir(at(dirs[i]), 0755), 0);
    for (size_t i = 0; i < HONE_COUNT(files); i++)
        make_file(files[i], 0644);
    for (size_t i = 0; i < HONE_COUNT(links); i++)
        assert_int_equal(symlink(links[i][0], at(links[i][1])), 0);
    make_file("@/libs/secret.so", 0600);
    make_file("@/own/secret.so", 0600);
    assert_int_equal(mkfifo(at("@/libs/fifo.so"), 0644), 0);
    assert_int_equal(mkfifo(at("@/folder/fifo"), 0644), 0);
}

static void open_descriptors(void) {
    int ends[2];
    assert_int_equal(dup2(open(at("@/outside"), O_RDONLY | O_CLOEXEC), FILE_FD), FILE_FD);
    assert_int_equal(dup2(socket(AF_UNIX, SOCK_STREAM, 0), SOCKET_FD), SOCKET_FD);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], PIPE_FD), PIPE_FD);
    assert_int_equal(dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), DEVICE_FD), DEVICE_FD);
}

static void grant_all(void) {
    for (int i = 0; i < 2; i++) {
        HONE_ASSERT_OK(hone_file_policy_grant(policies[i], HONE_FILE_READ, at("@/granted")));
        HONE_ASSERT_OK(hone_file_policy_grant(policies[i], HONE_FILE_WRITE, at("@/out")));
        HONE_ASSERT_OK(hone_file_policy_grant(policies[i], HONE_FILE_FOLDER, at("@/folder")));
        HONE_ASSERT_OK(hone_file_policy_grant(policies[i], HONE_FILE_LIBRARY, at("@/own/library")));
    }
}

static void begin(void) {
    const struct link_map *map = dlopen("libm.so.6", RTLD_NOW);
    if (map) snprintf(libm, sizeof libm, "%s", map->l_name);
    make_files();
    open_descriptors();
    setenv("LD_LIBRARY_PATH", at("@/libs"), 1);
    HONE_ASSERT_OK(hone_file_policy_create(HONE_SANDBOX_CANDIDATE, NULL, &policies[0]));
    HONE_ASSERT_OK(hone_toolchain_dirs_find(&toolchain));
    HONE_ASSERT_OK(hone_file_policy_create(HONE_SANDBOX_COMPILER, &toolchain, &policies[1]));
}

static void end(void) {
    hone_file_policy_destroy(policies[0]);
    hone_file_policy_destroy(policies[1]);
    hone_loader_dirs_deinit(&toolchain);
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
}

/* ---- opening ---- */

#define BOTH 3
#define NEITHER 0
#define COMPILER 2

/* clang-format off */
static const struct row {
    const char *path;
    int flags;
    int given; /* bits: to candidates 1, to compilers 2 */
} rows[] = {
    /* what was granted, however it is written */
    {"@/granted", O_RDONLY, BOTH},
    {"@/granted", O_RDONLY | O_CLOEXEC | O_NOFOLLOW, BOTH},
    {"@//./granted", O_RDONLY, BOTH},
    {"@/folder/../granted", O_RDONLY, BOTH},
    {"@/granted", O_WRONLY, NEITHER},
    {"@/granted", O_RDWR, NEITHER},
    {"@/granted", O_RDONLY | O_TRUNC, NEITHER},
    {"@/granted", O_RDONLY | O_CREAT, NEITHER},
    {"@/granted", O_WRONLY | O_RDWR, NEITHER},
    {"@/granted", O_PATH, NEITHER},
    {"@/granted", O_RDONLY | O_ASYNC, NEITHER},
    {"@/granted2", O_RDONLY, NEITHER},
    {"@/granted.draft", O_RDONLY, NEITHER},
    {"@/grante", O_RDONLY, NEITHER},
    {"@", O_RDONLY | O_DIRECTORY, NEITHER},
    {"@/outside", O_RDONLY, NEITHER},
    /* what may be written */
    {"@/out", O_RDONLY, BOTH},
    {"@/out", O_WRONLY | O_CREAT | O_TRUNC, BOTH},
    {"@/out.x1", O_RDWR | O_CREAT | O_EXCL, BOTH},
    {"@/out.x1/../outside", O_RDWR, NEITHER},
    {"@/out.x/y", O_RDWR | O_CREAT, NEITHER},
    {"@/out.d/y", O_RDWR | O_CREAT, NEITHER}, /* a folder there */
    {"@/out.link", O_RDWR, NEITHER},
    {"@/out.link", O_RDONLY, NEITHER},
    {"@/outside", O_WRONLY, NEITHER},
    {"@/folder", O_RDONLY | O_DIRECTORY, BOTH},
    {"@/folder", O_TMPFILE | O_RDWR, NEITHER},
    {"@/folder/new", O_WRONLY | O_CREAT, BOTH},
    {"@/folder/sub/file", O_RDWR, BOTH},
    {"@/folder/sub/../sub/file", O_RDONLY, BOTH},
    {"@/folder/link", O_RDONLY, NEITHER},
    {"@/folder/away/outside", O_RDONLY, NEITHER},
    {"@/folder/away/outside", O_WRONLY, NEITHER},
    {"@/folder/away/new", O_WRONLY | O_CREAT, NEITHER},
    {"@/folder/away/folder/file", O_RDONLY, NEITHER},
    {"@/folder/away/", O_RDONLY, NEITHER},
    {"@/folder/inner/file", O_RDONLY, NEITHER},
    {"@/folder/sub/file/x", O_RDONLY, NEITHER},
    {"@/folder/link", O_WRONLY, NEITHER},
    {"@/folder/fifo", O_RDONLY, NEITHER},
    {"@/folder/../outside", O_RDONLY, NEITHER},
    {"@/folder/../outside", O_WRONLY, NEITHER},
    /* libraries */
    {"libm", O_RDONLY | O_CLOEXEC, BOTH},
    {"libm", O_RDWR, NEITHER},
    {"libm", O_RDONLY | O_TRUNC, NEITHER},
    {"/etc/ld.so.cache", O_RDONLY, BOTH},
    {"/etc/ld.so.preload", O_RDONLY, NEITHER},
    {"/etc/ld.so.conf", O_RDONLY, NEITHER},
    {"@/libs/libx.so", O_RDONLY, BOTH},
    {"@/libs/libx.so.6", O_RDONLY, BOTH},
    {"@/libs/libx.so.5", O_RDONLY, BOTH}, /* a link there */
    {"@/libs/deep/liby.so", O_RDONLY, BOTH},
    {"@/libs/libx.so", O_WRONLY, NEITHER},
    {"@/libs/libx.so", O_PATH, NEITHER},
    {"@/libs/libx.sock", O_RDONLY, NEITHER},
    {"@/libs/notes.txt", O_RDONLY, NEITHER},
    {"@/libs/secret.so", O_RDONLY, NEITHER},
    {"@/libs/fifo.so", O_RDONLY, NEITHER},
    {"@/libs/link.so", O_RDONLY, NEITHER},
    {"@/libs/etc.so", O_RDONLY, NEITHER},
    {"@/libs/etc.so/passwd", O_RDONLY, NEITHER},
    {"@/libs/up.so", O_RDONLY, NEITHER},
    {"@/libs/folder.so/../../outside", O_RDONLY, NEITHER},
    {"@/libs/new.so", O_RDWR | O_CREAT, NEITHER},
    {"@/libs", O_RDONLY, NEITHER},
    {"@/lib.so", O_RDONLY, NEITHER},
    {"/usr/lib", O_RDONLY, COMPILER},
    {"/usr/include/stdio.h", O_RDONLY, COMPILER},
    {"/usr/include/stdio.h", O_RDWR, NEITHER},
    {"/usr/../etc/passwd", O_RDONLY, NEITHER},
    /* beside a library that was granted */
    {"@/own/library", O_RDONLY, BOTH},
    {"@/own/library", O_RDWR, NEITHER},
    {"@/own/libz.so", O_RDONLY, BOTH},
    {"@/own/libz.so.1", O_RDONLY, BOTH},
    {"@/own/libz.so.0", O_RDONLY, BOTH},
    {"@/own/libz.so", O_WRONLY, NEITHER},
    {"@/own/secret.so", O_RDONLY, NEITHER},
    {"@/own/notes.txt", O_RDONLY, NEITHER},
    {"@/own/sub/libz.so", O_RDONLY, NEITHER},
    {"@/own/link.so", O_RDONLY, NEITHER},
    {"@/own/up.so", O_RDONLY, NEITHER},
    {"@/own", O_RDONLY, NEITHER},
    {"@/folder2/file", O_RDONLY, NEITHER},
    /* the machine */
    {"/proc/cpuinfo", O_RDONLY, BOTH},
    {"/proc/stat", O_RDONLY, BOTH},
    {"/proc/sys/vm/overcommit_memory", O_RDONLY, BOTH},
    {"/proc/sys/vm/overcommit_memory", O_WRONLY, NEITHER},
    {"/proc/sys/vm/../kernel/core_pattern", O_RDONLY, NEITHER},
    {"/sys/devices/system/cpu", O_RDONLY, BOTH},
    {"/sys/devices/system/cpu/online", O_RDONLY, BOTH},
    {"/sys/devices/system/cpu/online", O_RDWR, NEITHER},
    {"/sys/devices/system/cpu/../../../kernel/notes", O_RDONLY, NEITHER},
    {"/dev/null", O_RDONLY, COMPILER},
    {"/dev/null", O_RDWR | O_CREAT | O_TRUNC, COMPILER},
    {"/dev/../dev/./null", O_WRONLY, COMPILER},
    {"/dev/null/..", O_RDONLY, NEITHER},
    {"/dev/zero", O_RDWR, NEITHER},
    {"/etc/passwd", O_RDONLY, NEITHER},
    {"//etc/shadow", O_RDONLY, NEITHER},
    {"/", O_RDONLY, NEITHER},
    {"/proc", O_RDONLY, NEITHER},
    {"/tmp", O_RDONLY, NEITHER},
    {"", O_RDONLY, NEITHER},
    {"outside", O_RDONLY, NEITHER},
    {"proc/cpuinfo", O_RDONLY, NEITHER},
    /* itself */
    {"/proc/self/maps", O_RDONLY, BOTH},
    {"/proc/thread-self/status", O_RDONLY, BOTH},
    {"/proc/self/task", O_RDONLY, BOTH},
    {"/proc/self/task/1/maps", O_RDONLY, NEITHER},
    {"/proc/self/task/../environ", O_RDONLY, NEITHER},
    {"/proc/self/maps", O_RDWR, NEITHER},
    {"/proc/self/mem", O_RDONLY, NEITHER},
    {"/proc/self/mem", O_RDWR, NEITHER},
    {"/proc/thread-self/mem", O_RDONLY, NEITHER},
    {"/proc/self/environ", O_RDONLY, NEITHER},
    {"/proc/self/cmdline", O_RDONLY, NEITHER},
    {"/proc/self/auxv", O_RDONLY, NEITHER},
    {"/proc/self/exe", O_RDONLY, NEITHER},
    {"/proc/self/cwd", O_RDONLY, NEITHER},
    {"/proc/self/root", O_RDONLY, NEITHER},
    {"/proc/self/root/etc/passwd", O_RDONLY, NEITHER},
    {"/proc/self/root/proc/cpuinfo", O_RDONLY, NEITHER},
    {"/proc/self/ns/mnt", O_RDONLY, NEITHER},
    {"/proc/1/maps", O_RDONLY, NEITHER},
    {"/proc/1/status", O_RDONLY, NEITHER},
    {"/proc/self/../1/maps", O_RDONLY, NEITHER},
    {"/proc/self", O_RDONLY, NEITHER},
    /* what it has open anyway */
    {"/proc/self/fd/200", O_RDONLY, BOTH},
    {"/proc/self/fd/200", O_RDWR, NEITHER},
    {"/proc/self/fd/201", O_RDONLY, NEITHER},
    {"/proc/self/fd/202", O_RDONLY, NEITHER},
    {"/proc/self/fd/203", O_RDONLY, NEITHER},
    {"/proc/self/fd/999", O_RDONLY, NEITHER},
    {"/proc/self/fd/", O_RDONLY, NEITHER},
    {"/proc/self/fd/200/../../environ", O_RDONLY, NEITHER},
    {"/proc/self/fdinfo/200", O_RDONLY, NEITHER},
};
/* clang-format on */

static void check_row(void **state) {
    const struct row *row = *state;
    grant_all();
    for (int i = 0; i < 2; i++) {
        int fd = hone_file_policy_open(policies[i], getpid(), at(row->path), row->flags, 0600);
        bool is_given = fd >= 0, is_wanted = (row->given >> i) & 1;
        if (is_given) close(fd);
        hone_file_policy_revoke(policies[i]);
        if (row->flags & O_EXCL) unlink(at(row->path));
        if (is_given != is_wanted) {
            fail_msg("'%s' with flags %#o is %s to a %s (%s)", row->path, (unsigned)row->flags,
                     is_given ? "given" : "not given", i == 0 ? "candidate" : "compiler",
                     is_given ? "" : strerror(-fd));
        }
    }
}

/* ---- the rest ---- */

/* Here there may be none: then the warden has looked, and found nothing. */
static void cards_get_their_devices(void **state) {
    static const struct {
        const char *path;
        int flags;
        bool is_given;
    } devices[] = {
        {"/dev/nvidiactl",               O_RDWR | O_CLOEXEC, true },
        {"/dev/nvidia-uvm",              O_RDWR,             true },
        {"/dev/nvidia-uvm-tools",        O_RDWR,             true },
        {"/dev/nvidia0",                 O_RDWR,             true },
        {"/dev/nvidia12",                O_RDONLY,           true },
        {"/dev/../dev/nvidia0",          O_RDWR,             true },
        {"/dev/nvidia",                  O_RDWR,             false},
        {"/dev/nvidiactl2",              O_RDWR,             false},
        {"/dev/nvidia0x",                O_RDWR,             false},
        {"/dev/nvidia-caps/nvidia-cap1", O_RDWR,             false},
        {"/dev/nvidia-modeset",          O_RDWR,             false},
        {"/dev/nvidia0/../null",         O_RDWR,             false},
        {"/dev/nvidia0",                 O_RDWR | O_CREAT,   false},
        {"/dev/nvidia0",                 O_WRONLY | O_TRUNC, false},
        {"/dev/null",                    O_RDWR,             false},
        {"/etc/passwd",                  O_RDONLY,           false},
    };
    hone_file_policy *policy = NULL;
    (void)state;
    HONE_ASSERT_OK(hone_file_policy_create(HONE_SANDBOX_CARD, NULL, &policy));
    for (size_t i = 0; i < HONE_COUNT(devices); i++) {
        int fd = hone_file_policy_open(policy, getpid(), devices[i].path, devices[i].flags, 0600);
        if ((fd != -EACCES) != devices[i].is_given) fail_msg("'%s': %d", devices[i].path, fd);
        if (fd >= 0) close(fd);
        fd = hone_file_policy_open(policies[0], getpid(), devices[i].path, devices[i].flags, 0600);
        assert_int_equal(fd, -EACCES);
    }
    hone_file_policy_destroy(policy);
}

static void whatever_is_there_is_refused_alike(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hone_file_policy_open(policies[i], getpid(), "/etc/passwd", 0, 0),
                         -EACCES);
        assert_int_equal(hone_file_policy_open(policies[i], getpid(), "/etc/none", 0, 0), -EACCES);
        assert_int_equal(hone_file_policy_look(policies[i], getpid(), "/etc/passwd"), -EACCES);
        assert_int_equal(hone_file_policy_look(policies[i], getpid(), "/etc/none"), -EACCES);
    }
}

static void grants_end(void **state) {
    (void)state;
    grant_all();
    hone_file_policy_revoke(policies[0]);
    assert_int_equal(hone_file_policy_open(policies[0], getpid(), at("@/granted"), 0, 0), -EACCES);
    assert_false(hone_file_policy_owns(policies[0], at("@/folder/file")));
    assert_int_equal(hone_file_policy_open(policies[0], getpid(), at("@/own/libz.so"), 0, 0),
                     -EACCES);
    hone_file_policy_revoke(policies[1]);
}

static void grants_have_a_limit(void **state) {
    hone_status st = HONE_OK;
    (void)state;
    for (int i = 0; i < 100 && !st; i++)
        st = hone_file_policy_grant(policies[0], HONE_FILE_READ, "/x");
    HONE_ASSERT_CODE(st, HONE_CODE_INVALID);
    hone_file_policy_revoke(policies[0]);
}

/* As it is written, and as the kernel says where a program is that works there. */
static void folders_are_granted_by_both_names(void **state) {
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", at("@/linked"));
    HONE_ASSERT_OK(hone_file_policy_grant(policies[1], HONE_FILE_FOLDER, path));
    int spelt = hone_file_policy_open(policies[1], getpid(), at("@/linked/file"), O_RDWR, 0);
    int real = hone_file_policy_open(policies[1], getpid(), at("@/folder2/file"), O_RDWR, 0);
    assert_true(hone_file_policy_owns(policies[1], at("@/folder2/file")));
    hone_file_policy_revoke(policies[1]);
    close(spelt);
    close(real);
    assert_true(spelt >= 0 && real >= 0);
}

/* Neither the mode beyond the usual bits nor the descriptor's life beyond exec is the asker's. */
static void what_is_made_is_plain(void **state) {
    struct stat info;
    (void)state;
    grant_all();
    int fd = hone_file_policy_open(policies[1], getpid(), at("@/folder/made"),
                                   O_WRONLY | O_CREAT | O_EXCL, 06777);
    assert_true(fd >= 0 && fstat(fd, &info) == 0);
    assert_int_equal(info.st_mode & 07000, 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(hone_file_policy_change(policies[1], getpid(), HONE_FILE_CHMOD,
                                             at("@/folder/made"), NULL, 06755),
                     0);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0755);
    close(fd);
    hone_file_policy_revoke(policies[0]);
    hone_file_policy_revoke(policies[1]);
}

static const struct changing {
    const char *path, *other;
    hone_file_change change;
    int want;
} changes[] = {
    {"@/granted",             NULL,               HONE_FILE_UNLINK, -EACCES },
    {"@/outside",             NULL,               HONE_FILE_UNLINK, -EACCES },
    {"@/folder/../outside",   NULL,               HONE_FILE_UNLINK, -EACCES },
    {"@/folder",              NULL,               HONE_FILE_RMDIR,  -EACCES },
    {"@/new",                 NULL,               HONE_FILE_MKDIR,  -EACCES },
    {"@/folder",              NULL,               HONE_FILE_MKDIR,  -EEXIST },
    {"@",                     NULL,               HONE_FILE_MKDIR,  -EEXIST },
    {"/tmp",                  NULL,               HONE_FILE_MKDIR,  -EEXIST },
    {"/tmp2",                 NULL,               HONE_FILE_MKDIR,  -EACCES },
    {"@/outside",             "@/folder/in",      HONE_FILE_RENAME, -EACCES },
    {"@/folder/file",         "@/outside",        HONE_FILE_RENAME, -EACCES },
    {"@/granted",             "@/folder/in",      HONE_FILE_RENAME, -EACCES },
    {"@/outside",             NULL,               HONE_FILE_CHMOD,  -EACCES },
    {"@/folder/link",         NULL,               HONE_FILE_CHMOD,  -EACCES },
    {"/proc/self/fd/200",     NULL,               HONE_FILE_CHMOD,  -EACCES },
    {"@/folder/away/outside", NULL,               HONE_FILE_UNLINK, -ENOTDIR},
    {"@/folder/away/outside", NULL,               HONE_FILE_CHMOD,  -ENOTDIR},
    {"@/folder/away/outside", "@/folder/in",      HONE_FILE_RENAME, -ENOTDIR},
    {"@/folder/file",         "@/folder/away/in", HONE_FILE_RENAME, -ENOTDIR},
    {"@/folder/away/new",     NULL,               HONE_FILE_MKDIR,  -ENOTDIR},
    {"@/folder/away/own",     NULL,               HONE_FILE_RMDIR,  -ENOTDIR},
    {"@/folder/none",         NULL,               HONE_FILE_UNLINK, -ENOENT },
    {"@/folder/file",         NULL,               HONE_FILE_CHMOD,  0       },
    {"@/folder/dir",          NULL,               HONE_FILE_MKDIR,  0       },
    {"@/folder/dir",          NULL,               HONE_FILE_RMDIR,  0       },
    {"@/folder/file",         "@/folder/in",      HONE_FILE_RENAME, 0       },
    {"@/folder/in",           "@/out.draft",      HONE_FILE_RENAME, 0       },
    {"@/out.draft",           NULL,               HONE_FILE_UNLINK, 0       },
};

static void check_change(void **state) {
    const struct changing *row = *state;
    grant_all();
    int got = hone_file_policy_change(policies[1], getpid(), row->change, at(row->path),
                                      row->other ? at(row->other) : NULL, 0700);
    hone_file_policy_revoke(policies[0]);
    hone_file_policy_revoke(policies[1]);
    assert_int_equal(got, row->want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_get_their_devices),
        cmocka_unit_test(whatever_is_there_is_refused_alike),
        cmocka_unit_test(grants_end),
        cmocka_unit_test(grants_have_a_limit),
        cmocka_unit_test(what_is_made_is_plain),
        cmocka_unit_test(folders_are_granted_by_both_names),
    };
    begin();
    int failed = HONE_RUN_ROWS("sandbox/file_policy", rows, check_row);
    failed += cmocka_run_group_tests_name("sandbox/file_policy", tests, NULL, NULL);
    failed += HONE_RUN_ROWS("sandbox/file_policy changes", changes, check_change);
    end();
    return failed;
}
