/* tests/builder/test_builder_ends.c - whatever a build has started ends with its warden, or with
 * the worker that took too long, and is stopped with it: with namespaces, in which the kernel sees
 * to it, and without. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/builder.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

#define PATIENCE_NS (60 * HONE_NS_PER_S)
#define STEP_NS (20 * HONE_NS_PER_MS)

static char dir[64];

/* A C text that takes its compiler for ever and little memory: it includes itself twice, and so
 * again.
 */
static const char program[] =
    "from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
    "    for i in T.serial(64, annotations={\"pragma_import_c\": \"#if __INCLUDE_LEVEL__ < 150"
    "\\n#include __FILE__\\n#include __FILE__\\n#endif\\n\"}):\n"
    "        with T.block(\"B\"):\n"
    "            vi = T.axis.spatial(64, i)\n"
    "            B[vi] = A[vi] * T.float32(2)\n";

/* ---- processes ---- */

typedef bool (*is_wanted)(const char *pid);

static pid_t find_process(is_wanted wanted) {
    pid_t found = 0;
    DIR *proc = opendir("/proc");
    assert_non_null(proc);
    for (struct dirent *entry; !found && (entry = readdir(proc));) {
        if (strtol(entry->d_name, NULL, 10) > 0 && wanted(entry->d_name))
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(proc);
    return found;
}

/* It works in a folder of ours, and its name begins so. */
static bool is_ours(const char *pid, const char *begin) {
    char path[300], name[16] = "", where[256] = "";
    snprintf(path, sizeof path, "/proc/%s/cwd", pid);
    if (readlink(path, where, sizeof where - 1) < 0 || strncmp(where, dir, strlen(dir)) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%s/comm", pid);
    FILE *file = fopen(path, "re");
    bool is_named = file && fgets(name, sizeof name, file);
    if (file) fclose(file);
    return is_named && strncmp(name, begin, strlen(begin)) == 0;
}

/* The compiler proper, not the driver that waits for it. */
static bool is_compiling(const char *pid) {
    return is_ours(pid, "cc1");
}

static bool is_own_child(const char *pid) {
    char path[300], line[512], *behind_name = NULL;
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file)) behind_name = strrchr(line, ')');
    if (file) fclose(file);
    return behind_name && sscanf(behind_name + 1, " %*c %d", &parent) == 1 && parent == getpid();
}

/* Its state stands behind its name: T, when it is stopped. */
static bool is_running_compiler(const char *pid) {
    char path[300], line[512] = "";
    if (!is_compiling(pid)) return false;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    const char *behind_name = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (file) fclose(file);
    return behind_name && strncmp(behind_name, ") T", 3) != 0;
}

static void wait_until(is_wanted wanted, bool is_there) {
    const hone_clock *clock = hone_clock_system();
    const int64_t until = hone_deadline_after(clock, PATIENCE_NS);
    while ((find_process(wanted) != 0) != is_there) {
        if (hone_clock_now(clock) > until) fail_msg("%s", is_there ? "never came" : "stays");
        hone_clock_sleep_until(clock, hone_deadline_after(clock, STEP_NS));
    }
}

/* ---- the tests ---- */

static const struct row {
    const char *name;
    bool unsandboxed; /* and so without namespaces */
    bool is_killed;   /* the warden; else the build takes too long */
    hone_failure want;
} rows[] = {
    {"a killed warden",                    false, true,  HONE_FAILURE_MACHINE_ERROR},
    {"a killed warden, no namespaces",     true,  true,  HONE_FAILURE_MACHINE_ERROR},
    {"a build that takes long",            false, false, HONE_FAILURE_BUILD_TIMEOUT},
    {"a build that takes long, no spaces", true,  false, HONE_FAILURE_BUILD_TIMEOUT},
};

static void check_row(void **state) {
    const struct row *row = *state;
    const hone_builder_local_options options = {.worker_path = hone_test_build_path("hone-worker"),
                                                .unsandboxed = row->unsandboxed};
    const hone_build_request request = {.program = program,
                                        .target = "host",
                                        .entry = "kernel",
                                        .timeout_ns = row->is_killed ? PATIENCE_NS : HONE_NS_PER_MS,
                                        .output_path = "/tmp/hone-none.so"};
    hone_builder *builder = NULL;
    hone_ticket sent, got;
    hone_build_result result;
    hone_arena *arena = hone_arena_create(4096);
    HONE_ASSERT_OK(hone_builder_create_local(&options, &builder));
    HONE_ASSERT_OK(hone_builder_submit(builder, &request, &sent));
    wait_until(is_compiling, true);
    if (row->is_killed) kill(find_process(is_own_child), SIGKILL);
    HONE_ASSERT_OK(hone_builder_next_result(builder, INT64_MAX, arena, &got, &result));
    hone_failure failure = result.failure;
    hone_arena_destroy(arena);
    hone_builder_release(builder);
    assert_int_equal(failure, row->want); /* even if the worker saw its compiler die first */
    wait_until(is_compiling, false);
}

/* A compiler that starts another and is killed for its time; the limit that it has by itself is
 * too long for a test, so it says that it has reached it. */
static const char driver[] = "#!/bin/sh\nsleep 1000 &\nkill -XCPU $$\n";

static bool is_left(const char *pid) {
    return is_ours(pid, "sleep");
}

static void ends_what_a_tool_leaves(void **state) {
    (void)state;
    const hone_builder_local_options options = {.worker_path = hone_test_build_path("hone-worker"),
                                                .unsandboxed = true};
    const hone_build_request request = {.program = program,
                                        .target = "host",
                                        .entry = "kernel",
                                        .timeout_ns = PATIENCE_NS,
                                        .output_path = "/tmp/hone-none.so"};
    char tool[80], path[4096];
    hone_builder *builder = NULL;
    hone_ticket sent, got;
    hone_build_result result;
    hone_arena *arena = hone_arena_create(4096);
    const char *before = getenv("PATH");
    snprintf(tool, sizeof tool, "%s/cc", dir);
    snprintf(path, sizeof path, "%s:%s", dir, before ? before : "");
    HONE_ASSERT_OK(hone_fs_write_atomic(tool, driver, sizeof driver - 1));
    assert_int_equal(chmod(tool, 0700), 0);
    assert_int_equal(setenv("PATH", path, 1), 0);
    HONE_ASSERT_OK(hone_builder_create_local(&options, &builder));
    HONE_ASSERT_OK(hone_builder_submit(builder, &request, &sent));
    HONE_ASSERT_OK(hone_builder_next_result(builder, INT64_MAX, arena, &got, &result));
    hone_failure failure = result.failure;
    hone_arena_destroy(arena);
    assert_int_equal(unlink(tool), 0);
    assert_int_equal(failure, HONE_FAILURE_BUILD_TIMEOUT);
    wait_until(is_left, false); /* while the builder lives on */
    hone_builder_release(builder);
}

static const struct pause_row {
    const char *name;
    bool unsandboxed;
} pause_rows[] = {
    {"a pause",                false},
    {"a pause, no namespaces", true },
};

/* Else it would run beside what the pause is for. */
static void check_pause(void **state) {
    const struct pause_row *row = *state;
    const hone_builder_local_options options = {.worker_path = hone_test_build_path("hone-worker"),
                                                .unsandboxed = row->unsandboxed};
    const hone_build_request request = {.program = program,
                                        .target = "host",
                                        .entry = "kernel",
                                        .timeout_ns = PATIENCE_NS,
                                        .output_path = "/tmp/hone-none.so"};
    hone_builder *builder = NULL;
    hone_ticket sent;
    HONE_ASSERT_OK(hone_builder_create_local(&options, &builder));
    HONE_ASSERT_OK(hone_builder_submit(builder, &request, &sent));
    wait_until(is_compiling, true);
    hone_builder_pause(builder);
    wait_until(is_running_compiler, false);
    bool is_there = find_process(is_compiling) != 0;
    hone_builder_resume(builder);
    if (is_there) wait_until(is_running_compiler, true);
    hone_builder_release(builder);
    assert_true(is_there); /* stopped, not over */
    wait_until(is_compiling, false);
}

int main(void) {
    snprintf(dir, sizeof dir, "/tmp/hone-ends-XXXXXX");
    if (!mkdtemp(dir)) return 1;
    setenv("TMPDIR", dir, 1);
    int failed = HONE_RUN_ROWS("builder/ends", rows, check_row);
    failed += HONE_RUN_ROWS("builder/pauses", pause_rows, check_pause);
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_what_a_tool_leaves)};
    failed += cmocka_run_group_tests_name("builder/tools", tests, NULL, NULL);
    hone_status_free(hone_fs_remove_tree(dir));
    return failed;
}
