/* tests/support_room/test_proc.c - child processes: their descriptors, limits, ends and groups. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/os/fs.h"
#include "support/os/proc.h"
#include "tests/support/hone_test.h"

#define SHELL(script) ((const char *const[]){"/bin/sh", "-c", (script), NULL})
#define LONG_NS (60 * HONE_NS_PER_S) /* never reached when things work */

static int64_t soon(void) {
    return hone_deadline_after(hone_clock_system(), LONG_NS);
}

static const struct row {
    const char *script, *out, *err, *end;
} rows[] = {
    {"echo out; echo err >&2; exit 3", "out\n",      "err\n", "exit 3"           },
    {"kill -SEGV $$",                  "",           "",      "killed by SIGSEGV"},
    {"cat; echo done",                 "done\n",     "",      "exit 0"           }, /* input is empty */
    {"printf 1234567890123456789",     "1234567890", "",      "exit 0"           }, /* bounded */
    {"sleep 1000 & echo child",        "child\n",    "",      "exit 0"           }, /* left behind */
    {"ulimit -c",                      "0\n",        "",      "exit 0"           },
};

static void runs(void **state) {
    const struct row *row = *state;
    hone_str out = {0}, err = {0}, end = {0};
    hone_proc proc;
    HONE_ASSERT_OK(
        hone_proc_run(SHELL(row->script), 10, hone_clock_system(), soon(), &out, &err, &proc));
    hone_proc_print_end(&proc, &end);
    assert_string_equal(hone_str_text(&end), row->end);
    assert_string_equal(hone_str_text(&out), row->out);
    assert_string_equal(hone_str_text(&err), row->err);
    hone_str_deinit(&out);
    hone_str_deinit(&err);
    hone_str_deinit(&end);
}

static void runs_out_of_time(void **state) {
    (void)state;
    hone_proc proc;
    int64_t deadline = hone_deadline_after(hone_clock_system(), 50 * HONE_NS_PER_MS);
    HONE_ASSERT_ERROR(
        hone_proc_run(SHELL("sleep 1000"), 10, hone_clock_system(), deadline, NULL, NULL, &proc),
        HONE_CODE_TIMEOUT, "/bin/sh: did not end");
}

static void says_when_there_is_no_program(void **state) {
    (void)state;
    hone_proc proc;
    hone_proc_options options = {
        .argv = (const char *const[]){"/no/such/program", NULL}
    };
    HONE_ASSERT_ERROR(hone_proc_spawn(&options, &proc), HONE_CODE_NOT_FOUND, "'/no/such/program'");
    hone_proc_deinit(&proc);
}

/* 3 and 4 change places, 7 is a pipe; nothing else comes through. */
static void maps_descriptors(void **state) {
    (void)state;
    int pipe_fds[2], leak = open("/dev/null", O_RDONLY); /* not close-on-exec */
    char text[64] = "";
    size_t count = 0;
    HONE_ASSERT_OK(hone_pipe_open(pipe_fds));
    const hone_fd_map fds[] = {
        {pipe_fds[1], pipe_fds[0]}, /* overlaps on purpose */
        {-1,          0          },
        {pipe_fds[1], 7          },
    };
    char script[256];
    snprintf(script, sizeof script, "echo a >&7; echo b >&%d; ls /proc/self/fd | tr '\\n' ' ' >&7",
             pipe_fds[0]);
    hone_proc_options options = {.argv = SHELL(script), .fds = fds, .fd_count = 3};
    hone_proc proc;
    HONE_ASSERT_OK(hone_proc_spawn(&options, &proc));
    hone_fd_close(&pipe_fds[1]);
    HONE_ASSERT_OK(hone_fd_read_full(pipe_fds[0], text, sizeof text - 1, &count));
    HONE_ASSERT_OK(hone_proc_wait(&proc, hone_clock_system(), soon()));
    hone_proc_deinit(&proc);
    char mapped[8];
    snprintf(mapped, sizeof mapped, " %d ", pipe_fds[0]);
    hone_fd_close(&pipe_fds[0]);
    hone_fd_close(&leak);
    assert_memory_equal(text, "a\nb\n", 4);
    assert_non_null(strstr(text, " 7 "));
    assert_non_null(strstr(text, mapped));
    assert_null(strstr(text, " 8 "));
}

static void gives_environment_and_directory(void **state) {
    (void)state;
    int fds[2];
    char text[64] = "";
    size_t count = 0;
    HONE_ASSERT_OK(hone_pipe_open(fds));
    const hone_fd_map map = {fds[1], 1};
    hone_proc_options options = {
        .argv = SHELL("echo $X $HOME; pwd"),
        .env = (const char *const[]){"X=1", NULL},
        .fds = &map,
        .fd_count = 1,
        .work_dir = "/"
    };
    hone_proc proc;
    HONE_ASSERT_OK(hone_proc_spawn(&options, &proc));
    hone_fd_close(&fds[1]);
    HONE_ASSERT_OK(hone_fd_read_full(fds[0], text, sizeof text - 1, &count));
    hone_fd_close(&fds[0]);
    hone_proc_deinit(&proc);
    assert_string_equal(text, "1\n/\n");
}

static void waits_with_deadline(void **state) {
    (void)state;
    const hone_clock *clock = hone_clock_system();
    hone_proc_options options = {.argv = SHELL("sleep 1000")};
    hone_proc proc;
    HONE_ASSERT_OK(hone_proc_spawn(&options, &proc));
    assert_false(hone_proc_poll(&proc));
    HONE_ASSERT_CODE(hone_proc_wait(&proc, clock, hone_clock_now(clock) + HONE_NS_PER_MS),
                     HONE_CODE_TIMEOUT);
    hone_proc_kill(&proc);
    HONE_ASSERT_OK(hone_proc_wait(&proc, clock, soon()));
    assert_int_equal(proc.term_signal, SIGKILL);
    assert_true(hone_proc_poll(&proc));
    hone_proc_kill(&proc); /* nothing left to hit */
    hone_proc_deinit(&proc);
    hone_proc_deinit(&proc);
}

static void descriptor_tells_the_end(void **state) {
    (void)state;
    hone_proc_options options = {.argv = SHELL("exit 0")};
    hone_proc proc;
    HONE_ASSERT_OK(hone_proc_spawn(&options, &proc));
    if (proc.pid_fd >= 0) {
        HONE_ASSERT_OK(hone_fd_wait_readable(proc.pid_fd, hone_clock_system(), soon()));
        assert_true(hone_proc_poll(&proc));
    }
    hone_proc_deinit(&proc);
}

/* The group dies with its leader: the pipe that a grandchild holds ends too. */
static void kills_grandchildren(void **state) {
    (void)state;
    int fds[2];
    char text[8] = "";
    size_t count = 0;
    HONE_ASSERT_OK(hone_pipe_open(fds));
    const hone_fd_map map = {fds[1], 1};
    hone_proc_options options = {
        .argv = SHELL("sleep 1000 & echo up; wait"), .fds = &map, .fd_count = 1};
    hone_proc proc;
    HONE_ASSERT_OK(hone_proc_spawn(&options, &proc));
    hone_fd_close(&fds[1]);
    HONE_ASSERT_OK(hone_fd_read_full(fds[0], text, 3, &count));
    hone_proc_deinit(&proc);
    HONE_ASSERT_OK(hone_fd_read_full(fds[0], text, 1, &count)); /* returns at the end of the pipe */
    assert_int_equal(count, 0);
    hone_fd_close(&fds[0]);
}

/* As the first process of a container: what a child leaves comes to this process. */
static void leaves_no_orphans(void **state) {
    (void)state;
    const hone_proc_options options = {.argv = SHELL("sleep 1000 & (sleep 1000 & true); true")};
    hone_proc proc = {0};
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    HONE_ASSERT_OK(hone_proc_spawn(&options, &proc));
    HONE_ASSERT_OK(hone_proc_wait(&proc, hone_clock_system(), soon()));
    assert_int_equal(proc.exit_code, 0);
    assert_int_equal(proc.term_signal, 0);
    hone_proc_deinit(&proc);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
}

static void stops_and_resumes(void **state) {
    (void)state;
    int fds[2];
    char text[8] = "";
    size_t count = 0;
    HONE_ASSERT_OK(hone_socket_pair_open(fds));
    const hone_fd_map maps[] = {
        {fds[1], 0},
        {fds[1], 1},
    };
    hone_proc_options options = {.argv = SHELL("cat"), .fds = maps, .fd_count = 2};
    hone_proc proc;
    HONE_ASSERT_OK(hone_proc_spawn(&options, &proc));
    hone_fd_close(&fds[1]);
    hone_proc_stop(&proc);
    HONE_ASSERT_OK(hone_fd_write_full(fds[0], "ping", 4));
    assert_false(hone_proc_poll(&proc)); /* stopped is not ended */
    const hone_clock *clock = hone_clock_system();
    HONE_ASSERT_CODE(
        hone_fd_wait_readable(fds[0], clock, hone_clock_now(clock) + 20 * HONE_NS_PER_MS),
        HONE_CODE_TIMEOUT);
    hone_proc_resume(&proc);
    HONE_ASSERT_OK(hone_fd_read_full(fds[0], text, 4, &count));
    assert_string_equal(text, "ping");
    hone_proc_stop(&proc);
    hone_proc_deinit(&proc); /* also ends a stopped one */
    hone_fd_close(&fds[0]);
}

static void limits_and_counts_cpu_time(void **state) {
    (void)state;
    hone_proc_options options = {.argv = SHELL("while :; do :; done"), .cpu_seconds = 1};
    hone_proc proc;
    HONE_ASSERT_OK(hone_proc_spawn(&options, &proc));
    HONE_ASSERT_OK(hone_proc_wait(&proc, hone_clock_system(), soon()));
    hone_str end = {0};
    hone_proc_print_end(&proc, &end);
    bool is_told = strstr(hone_str_text(&end), "SIGXCPU (its CPU time is used up)") != NULL;
    hone_str_deinit(&end);
    assert_true(is_told);
    assert_true(proc.cpu_ns > 500 * HONE_NS_PER_MS);
    assert_int_equal(hone_proc_cpu_ns(&proc), proc.cpu_ns);
    hone_proc_deinit(&proc);
}

static void reads_cpu_time_of_the_living(void **state) {
    (void)state;
    hone_proc_options options = {.argv = SHELL("while :; do :; done")};
    const hone_clock *clock = hone_clock_system();
    hone_proc proc;
    HONE_ASSERT_OK(hone_proc_spawn(&options, &proc));
    int64_t deadline = soon();
    while (hone_proc_cpu_ns(&proc) < 5 * HONE_NS_PER_MS && hone_clock_now(clock) < deadline) {
        hone_clock_sleep_until(clock, hone_clock_now(clock) + HONE_NS_PER_MS);
    }
    assert_true(hone_proc_cpu_ns(&proc) >= 5 * HONE_NS_PER_MS);
    hone_proc_deinit(&proc);
}

/* A clock that leaps ahead when it is first read after a wait has begun, as it does for a process
 * that was stopped meanwhile. */
typedef struct leaping_clock {
    hone_clock clock; /* first */
    int *reads;
    int leap_at;
} leaping_clock;

static int64_t leaping_now(const hone_clock *clock) {
    const leaping_clock *self = (const leaping_clock *)clock;
    int64_t leap = ++*self->reads >= self->leap_at ? 3600 * HONE_NS_PER_S : 0;
    return hone_clock_now(hone_clock_system()) + leap;
}

static void start_sleep(const char *seconds, hone_proc *out) {
    const char *const argv[] = {"sleep", seconds, NULL};
    const hone_proc_options options = {.argv = argv};
    HONE_ASSERT_OK(hone_proc_spawn(&options, out));
}

static void is_not_charged_for_a_pause(void **state) {
    (void)state;
    for (int leap_at = 2; leap_at < 6; leap_at++) {
        int reads = 0;
        hone_proc proc;
        const leaping_clock clock = {
            {leaping_now, NULL},
            &reads, leap_at
        };
        start_sleep("0.6", &proc);
        hone_status st = hone_proc_wait_awake(&proc, &clock.clock, 60 * HONE_NS_PER_S);
        hone_proc_deinit(&proc);
        HONE_ASSERT_OK(st);
    }
}

static void ends_a_wait(void **state) {
    (void)state;
    hone_proc proc;
    start_sleep("1000", &proc);
    hone_status st = hone_proc_wait_awake(&proc, hone_clock_system(), HONE_NS_PER_S / 2);
    hone_proc_deinit(&proc);
    assert_int_equal(hone_status_consume(st), HONE_CODE_TIMEOUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_not_charged_for_a_pause),
        cmocka_unit_test(ends_a_wait),
        cmocka_unit_test(runs_out_of_time),
        cmocka_unit_test(says_when_there_is_no_program),
        cmocka_unit_test(maps_descriptors),
        cmocka_unit_test(gives_environment_and_directory),
        cmocka_unit_test(waits_with_deadline),
        cmocka_unit_test(descriptor_tells_the_end),
        cmocka_unit_test(kills_grandchildren),
        cmocka_unit_test(leaves_no_orphans),
        cmocka_unit_test(stops_and_resumes),
        cmocka_unit_test(limits_and_counts_cpu_time),
        cmocka_unit_test(reads_cpu_time_of_the_living),
    };
    return HONE_RUN_ROWS("support/proc run", rows, runs) +
           cmocka_run_group_tests_name("support/proc", tests, NULL, NULL);
}
