/* tests/sandbox/test_layers.c - the limits of a held process, as it finds them itself, and how one
 * ends that uses up its CPU time. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/layers.h"
#include "tests/support/hone_test.h"

#define FILE_BYTES 4096
#define CPU_SECONDS 1

/* Memory is not among them: a sanitizer takes more than any limit. */
static const struct row {
    const char *name;
    int resource;
    rlim_t soft, hard;
} rows[] = {
    {"core dumps",     RLIMIT_CORE,     0,           0              },
    {"file size",      RLIMIT_FSIZE,    FILE_BYTES,  FILE_BYTES     },
    {"CPU time",       RLIMIT_CPU,      CPU_SECONDS, CPU_SECONDS + 1},
    {"open files",     RLIMIT_NOFILE,   512,         512            },
    {"message queues", RLIMIT_MSGQUEUE, 0,           0              },
};

/* How a child ended that has these limits. */
static int status_of(void (*body)(const void *data), const void *data) {
    const hone_sandbox_options options = {.file_bytes = FILE_BYTES, .cpu_seconds = CPU_SECONDS};
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hone_status st = hone_layer_limits(&options);
        if (!st) body(data);
        _exit(hone_status_consume(st) == HONE_CODE_OK ? 0 : 1);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

static void compare(const void *data) {
    const struct row *row = data;
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)row->resource, &now)) _exit(2);
    if (now.rlim_cur != row->soft || now.rlim_max != row->hard) _exit(3);
}

static void is_limited(void **state) {
    assert_int_equal(status_of(compare, *state), 0);
}

static void spin(const void *data) {
    (void)data;
    for (volatile uint64_t i = 0;; i++) {
    }
}

/* Not by SIGKILL, which is how a process ends that somebody has killed. */
static void is_told_that_time_is_up(void **state) {
    (void)state;
    int status = status_of(spin, NULL);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGXCPU);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_told_that_time_is_up)};
    return HONE_RUN_ROWS("sandbox/limits", rows, is_limited) +
           cmocka_run_group_tests_name("sandbox/ends", tests, NULL, NULL);
}
