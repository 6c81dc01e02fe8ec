/* tools/programs/hone_worker.c - hone-worker: compiles programs, one after the other. Started by
 * the builder with a socket on descriptor 3; links LLVM, which hone and libhone do not. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "builder/worker.h"
#include "sandbox/held.h"
#include "sandbox/sandbox.h"
#include "support/os/proc.h"

#define FILE_BYTES (INT64_C(4) << 30) /* of one file: a library with all its weights is smaller */

static int usage(FILE *to, int code) {
    fputs("hone-worker: compiles programs for hone; started by it, not by hand\n"
          "usage: hone-worker --serve [--unsandboxed]     (requests on descriptor 3, 4 to its "
          "warden)\n"
          "       hone-worker --version\n",
          to);
    return code;
}

/* Held before the first text is read: what is compiled may be anybody's. */
static hone_status serve(bool is_unsandboxed) {
    const hone_sandbox_options options = {.profile = HONE_SANDBOX_COMPILER,
                                          .control_fd = HONE_HELD_CONTROL_FD,
                                          .keep_fd = HONE_WORKER_FD,
                                          .file_bytes = FILE_BYTES,
                                          .unsandboxed = is_unsandboxed};
    hone_sandbox box;
    char layers[HONE_SANDBOX_LAYERS_BYTES];
    HONE_TRY(hone_sandbox_split(&options, &box));
    HONE_TRY(hone_sandbox_enter(&box, layers));
    return hone_worker_serve(HONE_WORKER_FD);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--help") == 0) return usage(stdout, 0);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("hone-worker " HONE_WORKER_VERSION);
        return 0;
    }
    struct stat info;
    const bool is_unsandboxed = argc == 3 && strcmp(argv[2], "--unsandboxed") == 0;
    if (argc != 2 + is_unsandboxed || strcmp(argv[1], "--serve") != 0 ||
        fstat(HONE_WORKER_FD, &info) != 0 || fstat(HONE_HELD_CONTROL_FD, &info) != 0) {
        return usage(stderr, 2);
    }
    hone_proc_follow_parent();
    hone_status st = serve(is_unsandboxed);
    if (!st) return 0;
    fprintf(stderr, "hone-worker: %s\n", hone_status_message(st));
    hone_status_free(st);
    return 3;
}
