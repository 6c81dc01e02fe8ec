/* tools/hone_worker.c - hone-worker: compiles programs, one after the other. Started by the builder
 * with a socket on descriptor 3; links LLVM, which hone and libhone do not. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "builder/worker.h"
#include "support/proc.h"

static int usage(FILE *to, int code) {
    fputs("hone-worker: compiles programs for hone; started by it, not by hand\n"
          "usage: hone-worker --serve     (requests on descriptor 3)\n"
          "       hone-worker --version\n",
          to);
    return code;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--help") == 0) return usage(stdout, 0);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("hone-worker " HONE_WORKER_VERSION);
        return 0;
    }
    struct stat info;
    if (argc != 2 || strcmp(argv[1], "--serve") != 0 || fstat(HONE_WORKER_FD, &info) != 0) {
        return usage(stderr, 2);
    }
    hone_proc_follow_parent();
    hone_status st = hone_worker_serve(HONE_WORKER_FD);
    if (!st) return 0;
    fprintf(stderr, "hone-worker: %s\n", hone_status_message(st));
    hone_status_free(st);
    return 3;
}
