/* tests/conformance/test_device_conformance.c - one suite for all devices; one row per device.
 *
 * Each case runs in a process of its own, which this program starts itself for ("--case DEVICE
 * CASE"): what kills a context takes nothing along, and a hanging kernel can be killed. Cards are
 * skipped where there are none. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cuda/device_cuda.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "tests/conformance/device_cases.h"
#include "tests/support/hone_test.h"

#define PATIENCE_NS (60 * HONE_NS_PER_S)
#define HANG_NS (HONE_NS_PER_S / 5)

enum { SKIPPED = 77, MAX_TESTS = 128 };

static hone_status make_fake(hone_cuda_library library, hone_device **out) {
    const hone_device_cuda_options options = {
        .ordinal = 1,
        .library = library,
        .library_path = hone_test_build_path("tests/fake_cuda/libcuda.so.1")};
    return hone_device_create_cuda(&options, out);
}

static hone_status make_fake_driver(hone_device **out) {
    return make_fake(HONE_CUDA_DRIVER, out);
}

static hone_status make_fake_runtime(hone_device **out) {
    return make_fake(HONE_CUDA_RUNTIME, out);
}

static hone_status make_card(hone_cuda_library library, hone_device **out) {
    const hone_device_cuda_options options = {.library = library};
    return hone_device_create_cuda(&options, out);
}

static hone_status make_card_driver(hone_device **out) {
    return make_card(HONE_CUDA_DRIVER, out);
}

static hone_status make_card_runtime(hone_device **out) {
    return make_card(HONE_CUDA_RUNTIME, out);
}

static hone_status make_cpu(hone_device **out) {
    return hone_device_open("cpu", 0, out);
}

static hone_status make_null(hone_device **out) {
    return hone_device_open("null", 0, out);
}

static hone_status make_opencl(hone_device **out) {
    return hone_device_open("opencl", 0, out);
}

static const struct device_row {
    const char *name;
    device_sort sort;
    bool may_lack; /* the machine */
    hone_status (*make)(hone_device **out);
} rows[] = {
    {"cpu",          DEVICE_PLAIN, false, make_cpu         },
    {"null",         DEVICE_PLAIN, false, make_null        },
    {"opencl",       DEVICE_PLAIN, true,  make_opencl      },
    {"fake_driver",  DEVICE_APART, false, make_fake_driver },
    {"fake_runtime", DEVICE_APART, false, make_fake_runtime},
    {"card_driver",  DEVICE_APART, true,  make_card_driver },
    {"card_runtime", DEVICE_APART, true,  make_card_runtime},
};

/* ---- in the child ---- */

typedef struct chosen {
    const struct device_row *row;
    const device_case *what;
} chosen;

static void run_chosen(void **state) {
    const chosen *c = *state;
    hone_device *device = NULL;
    HONE_ASSERT_OK(c->row->make(&device));
    c->what->run(device);
    hone_device_destroy(device);
}

/* Whether there is such a device: 77 = no, with the reason. */
static int probe(const struct device_row *row) {
    hone_device *device = NULL;
    hone_status st = row->make(&device);
    if (st) puts(hone_status_message(st));
    int code = !st ? 0 : row->may_lack ? SKIPPED : 1;
    hone_status_free(st);
    hone_device_destroy(device);
    return code;
}

static int be_child(const char *device, const char *what) {
    chosen c = {0};
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].name, device) == 0) c.row = &rows[i];
    }
    if (c.row && strcmp(what, "probe") == 0) return probe(c.row);
    for (int i = 0; i < device_case_count; i++) {
        if (strcmp(device_cases[i].name, what) == 0) c.what = &device_cases[i];
    }
    if (!c.row || !c.what) return 2;
    const struct CMUnitTest tests[] = {
        {what, run_chosen, NULL, NULL, &c}
    };
    return cmocka_run_group_tests_name(device, tests, NULL, NULL);
}

/* ---- in the parent ---- */

typedef struct one_test {
    const char *name; /* first: of the row */
    const struct device_row *row;
    const device_case *what;
} one_test;

static char *program; /* argv[0] */

static int run_child(const char *device, const char *what, hone_str *out, hone_str *err) {
    const char *const argv[] = {program, "--case", device, what, NULL};
    const hone_clock *clock = hone_clock_system();
    hone_proc proc = {0};
    HONE_ASSERT_OK(hone_proc_run(argv, 65536, clock, hone_deadline_after(clock, PATIENCE_NS), out,
                                 err, &proc));
    int code = proc.term_signal ? -proc.term_signal : proc.exit_code;
    hone_proc_deinit(&proc);
    return code;
}

/* Waits for the word that it hangs, lets it hang, and kills it. */
static void kill_child(const char *device, const char *what) {
    const char *const argv[] = {program, "--case", device, what, NULL};
    const hone_clock *clock = hone_clock_system();
    char said[32] = "";
    int pipe_fds[2];
    HONE_ASSERT_OK(hone_pipe_open(pipe_fds));
    const hone_fd_map fds[] = {
        {pipe_fds[1], STDERR_FILENO}
    };
    const hone_proc_options options = {.argv = argv, .fds = fds, .fd_count = 1};
    hone_proc proc = {0};
    HONE_ASSERT_OK(hone_proc_spawn(&options, &proc));
    close(pipe_fds[1]);
    HONE_ASSERT_OK(
        hone_fd_wait_readable(pipe_fds[0], clock, hone_deadline_after(clock, PATIENCE_NS)));
    assert_true(read(pipe_fds[0], said, sizeof said - 1) > 0);
    assert_string_equal(said, "hanging\n");
    HONE_ASSERT_CODE(hone_proc_wait(&proc, clock, hone_deadline_after(clock, HANG_NS)),
                     HONE_CODE_TIMEOUT);
    hone_proc_kill(&proc);
    HONE_ASSERT_OK(hone_proc_wait(&proc, clock, hone_deadline_after(clock, PATIENCE_NS)));
    hone_proc_deinit(&proc);
    close(pipe_fds[0]);
}

static void check_one(void **state) {
    const one_test *t = *state;
    hone_str out = {0}, err = {0};
    if (t->what->hangs) {
        kill_child(t->row->name, t->what->name);
        assert_int_equal(run_child(t->row->name, "computes", &out, &err), 0); /* nothing is left */
    } else {
        int code = run_child(t->row->name, t->what->name, &out, &err);
        if (code) print_error("%s%s", hone_str_text(&out), hone_str_text(&err));
        assert_int_equal(code, 0);
    }
    hone_str_deinit(&out);
    hone_str_deinit(&err);
}

static bool is_there(const struct device_row *row) {
    hone_str out = {0}, err = {0};
    bool lacks = row->may_lack && run_child(row->name, "probe", &out, &err) == SKIPPED;
    if (lacks) print_message("%s: skipped: %s", row->name, hone_str_text(&out));
    hone_str_deinit(&out);
    hone_str_deinit(&err);
    return !lacks;
}

int main(int argc, char **argv) {
    static one_test tests[MAX_TESTS];
    static char names[MAX_TESTS][64];
    size_t count = 0;
    if (argc == 4 && strcmp(argv[1], "--case") == 0) return be_child(argv[2], argv[3]);
    program = argv[0];
    for (size_t r = 0; r < HONE_COUNT(rows); r++) {
        if (argc == 2 && !strstr(rows[r].name, argv[1])) continue;
        if (!is_there(&rows[r])) continue;
        for (int i = 0; i < device_case_count && count < MAX_TESTS; i++) {
            if (!(device_cases[i].sorts & rows[r].sort)) continue;
            snprintf(names[count], sizeof names[count], "%s: %s", rows[r].name,
                     device_cases[i].name);
            tests[count] = (one_test){names[count], &rows[r], &device_cases[i]};
            count++;
        }
    }
    return hone_test_run_rows("conformance/device", tests, sizeof tests[0], count, check_one);
}
