/* tests/support/gpu/cuda_tools.c - see cuda_tools.h. */
#include "tests/support/gpu/cuda_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "support/os/scratch.h"

static bool is_in(const char *folder, size_t length, const char *name, hone_test_tool *out) {
    int wrote = snprintf(out->path, sizeof out->path, "%.*s/%s", (int)length, folder, name);
    return length > 0 && wrote < (int)sizeof out->path && access(out->path, X_OK) == 0;
}

bool hone_test_find_tool(const char *name, hone_test_tool *out) {
    static const char usual[] = "/usr/local/cuda/bin";
    const char *own = getenv("HONE_CUDA_BIN"), *path = getenv("PATH");
    if (own && is_in(own, strlen(own), name, out)) return true;
    for (const char *at = path ? path : "", *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, ":");
        if (is_in(at, (size_t)(end - at), name, out)) return true;
    }
    return is_in(usual, strlen(usual), name, out);
}

static hone_status call(const hone_test_tool *tool, const char *file, const char *const options[],
                        hone_str *said) {
    enum { MOST = 16 };
    const char *argv[MOST + 5] = {tool->path};
    size_t count = 1;
    for (; options[count - 1] && count < MOST; count++)
        argv[count] = options[count - 1];
    argv[count++] = "-o";
    argv[count++] = "/dev/null";
    argv[count++] = file;
    const hone_clock *clock = hone_clock_system();
    hone_proc proc;
    HONE_TRY(hone_proc_run(argv, 1 << 20, clock, hone_deadline_after(clock, 300 * HONE_NS_PER_S),
                           said, said, &proc));
    if (proc.term_signal == 0 && proc.exit_code == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%s: %s", tool->path, hone_str_text(said));
}

hone_status hone_test_call_tool(const hone_test_tool *tool, const hone_str *text,
                                const char *ending, const char *const options[],
                                hone_str *out_said) {
    char file[512];
    hone_str own = {0};
    hone_scratch dir;
    HONE_TRY(hone_scratch_open("hone-cuda-tool", &dir));
    snprintf(file, sizeof file, "%s/kernels%s", dir.path, ending);
    hone_status st = hone_fs_write_atomic(file, hone_str_text(text), text->length);
    if (!st) st = call(tool, file, options, out_said ? out_said : &own);
    hone_str_deinit(&own);
    return hone_status_join(st, hone_scratch_close(&dir));
}
