/* tests/runtime/test_library.c - what cannot be opened as a library, and what is said of it. */
#include "runtime/library.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/os/fs.h"
#include "tests/support/hone_test.h"

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

int main(void) {
    return HONE_RUN_ROWS("runtime/library", rows, is_refused);
}
