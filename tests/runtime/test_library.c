/* tests/runtime/test_library.c - what cannot be opened as a library, and what is said of it. */
#include "runtime/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"
#include "tests/support/sanitizer.h"

static const struct row {
    const char *name;
    unsigned machine; /* 0: no ELF file */
    bool is_big;
    const char *want;
} rows[] = {
    {"for a mainframe", EM_S390,  true,  "it is for S/390, this machine is " },
    {"for a board",     EM_RISCV, false, "it is for RISC-V, this machine is "},
    {"for nobody",      0x7777,   false, "it is for another processor"       },
    {"a text",          0,        false, "cannot be loaded: "                },
};

static void is_refused(void **state) {
    const struct row *row = *state;
    char path[64];
    unsigned char head[64] = {0};
    snprintf(path, sizeof path, "/tmp/hone-library-%ld", (long)getpid());
    if (row->machine) {
        memcpy(head, ELFMAG, SELFMAG);
        head[EI_CLASS] = ELFCLASS64;
        head[EI_DATA] = row->is_big ? ELFDATA2MSB : ELFDATA2LSB;
        head[EI_VERSION] = EV_CURRENT;
        head[18] = (unsigned char)(row->is_big ? row->machine >> 8 : row->machine);
        head[19] = (unsigned char)(row->is_big ? row->machine : row->machine >> 8);
    }
    HONE_ASSERT_OK(hone_fs_write_atomic(path, (const char *)head, sizeof head));
    void *library;
    hone_status st = hone_library_open(path, &library);
    unlink(path);
    char got[512];
    snprintf(got, sizeof got, "%s", st ? hone_status_message(st) : "opened");
    hone_status_free(st);
    assert_null(library);
    if (!strstr(got, row->want)) fail_msg("'%s' is not in '%s'", row->want, got);
}

/* Run with few descriptors, and with little address space: nothing is wrong with the library. */
static void wants_are_the_machines(void **state) {
    static const struct {
        int what;
        rlim_t limit;
        hone_code code;
    } wants[] = {
        {RLIMIT_NOFILE, 0,       HONE_CODE_IO       },
#ifndef UNDER_SANITIZER
        {RLIMIT_AS,     1 << 20, HONE_CODE_NO_MEMORY},
#endif
    };
    const char *path = hone_test_build_path("tests/candidates.so");
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(wants); i++) {
        pid_t child = fork();
        if (child == 0) {
            void *library;
            const struct rlimit limit = {wants[i].limit, wants[i].limit};
            if (setrlimit((__rlimit_resource_t)wants[i].what, &limit)) _exit(2);
            _exit(hone_status_consume(hone_library_open(path, &library)) != wants[i].code);
        }
        int end = 0;
        assert_int_equal(waitpid(child, &end, 0), child);
        if (end) fail_msg("want %zu: %d", i, end);
    }
}

/* What lies at the path now is opened, whatever of that name is open already; once. */
static void replaced_files_are_others(void **state) {
    enum { FILES = 4 };
    char path[64], *bytes;
    size_t count;
    void *libraries[FILES], *again;
    (void)state;
    snprintf(path, sizeof path, "/tmp/hone-library-%ld.so", (long)getpid());
    HONE_ASSERT_OK(
        hone_fs_read(hone_test_build_path("tests/candidates.so"), 1 << 24, &bytes, &count));
    for (int i = 0; i < FILES; i++) {
        HONE_ASSERT_OK(hone_fs_write_atomic(path, bytes, count));
        HONE_ASSERT_OK(hone_library_open(path, &libraries[i]));
        HONE_ASSERT_OK(hone_library_open(path, &again));
        assert_ptr_equal(again, libraries[i]);
        dlclose(again);
        for (int other = 0; other < i; other++)
            assert_ptr_not_equal(libraries[i], libraries[other]);
    }
    for (int i = 0; i < FILES; i++)
        dlclose(libraries[i]);
    unlink(path);
    hone_free(bytes);
}

/* Wherever a file ends too soon: nobody is ended by SIGBUS. */
static void cut_files_are_refused(void **state) {
    enum { STEPS = 40 };
    char path[64], *bytes;
    size_t count;
    void *library;
    (void)state;
    snprintf(path, sizeof path, "/tmp/hone-library-%ld.so", (long)getpid());
    HONE_ASSERT_OK(
        hone_fs_read(hone_test_build_path("tests/candidates.so"), 1 << 24, &bytes, &count));
    for (size_t i = 0; i < STEPS; i++) {
        HONE_ASSERT_OK(hone_fs_write_atomic(path, bytes, count * i / STEPS));
        hone_status st = hone_library_open(path, &library);
        if (st) {
            hone_status_free(st);
        } else {
            dlclose(library); /* what is missing is not loaded */
        }
    }
    HONE_ASSERT_OK(hone_fs_write_atomic(path, bytes, count / 3));
    HONE_ASSERT_ERROR(hone_library_open(path, &library), HONE_CODE_INVALID, "it was cut off");
    unlink(path);
    hone_free(bytes);
}

int main(void) {
    const struct CMUnitTest wants[] = {cmocka_unit_test(wants_are_the_machines),
                                       cmocka_unit_test(replaced_files_are_others),
                                       cmocka_unit_test(cut_files_are_refused)};
    return HONE_RUN_ROWS("runtime/library", rows, is_refused) +
           cmocka_run_group_tests_name("runtime/library/wants", wants, NULL, NULL);
}
