/* tools/doctor/doctor.c - the checks of `hone doctor`. They change nothing and take about a second.
 */
#include "tools/doctor/doctor.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "runtime/probe.h"
#include "support/core/alloc.h"
#include "support/core/number.h"
#include "support/core/strbuf.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "support/os/quiet.h"
#include "support/os/thread.h"
#include "target/target.h"
#include "tools/cli/cli_table.h"

void hone_doctor_say(hone_checkup *checkup, const char *check, hone_doctor_level level,
                     const char *advice, const char *found_format, ...) {
    hone_str text = {0};
    va_list args;
    if (checkup->count == HONE_COUNT(checkup->items)) return;
    va_start(args, found_format);
    hone_str_vprintf(&text, found_format, args);
    va_end(args);
    const char *found = hone_arena_strdup(checkup->arena, hone_str_text(&text));
    hone_str_deinit(&text);
    if (level == HONE_DOCTOR_OK) advice = NULL;
    if (advice) advice = hone_arena_strdup(checkup->arena, advice);
    checkup->failed |= !found;
    checkup->items[checkup->count++] = (hone_finding_line){check, level, found, advice};
    if (level > checkup->worst) checkup->worst = level;
}

/* The first line of a small file without blanks at its end, in the arena; NULL when it cannot be
 * read. */
static const char *read_line(hone_checkup *checkup, const char *path) {
    char *text = NULL;
    size_t count = 0;
    hone_status st = hone_fs_read(path, 1 << 20, &text, &count);
    if (st) {
        hone_status_free(st);
        return NULL;
    }
    size_t length = strcspn(text, "\n");
    while (length && text[length - 1] == ' ')
        length--;
    const char *line = hone_arena_strndup(checkup->arena, text, length);
    hone_free(text);
    return line;
}

/* ---- programs ---- */

/* Runs `path --version`; the first line of what it prints, or NULL with the reason. */
static const char *ask_version(hone_checkup *checkup, const char *path, const char **out_reason) {
    const char *const argv[] = {path, "--version", NULL};
    hone_str out = {0}, err = {0};
    hone_proc proc = {0};
    const char *version = NULL;
    const hone_clock *clock = hone_clock_system();
    hone_status st = hone_proc_run(
        argv, 65536, clock, hone_deadline_after(clock, 10 * HONE_NS_PER_S), &out, &err, &proc);
    *out_reason = NULL;
    if (st) {
        *out_reason = hone_arena_strdup(checkup->arena, hone_status_message(st));
    } else if (proc.term_signal || proc.exit_code) {
        *out_reason = "it started but failed";
    } else {
        const char *text = hone_str_text(&out);
        version = hone_arena_strndup(checkup->arena, text, strcspn(text, "\n"));
    }
    hone_status_free(st);
    hone_proc_deinit(&proc);
    hone_str_deinit(&out);
    hone_str_deinit(&err);
    return version;
}

/* A program of ours: beside this one, else in PATH. */
static void check_program(hone_checkup *checkup, const char *name, const char *advice) {
    char *dir = NULL, *path = NULL;
    const char *reason;
    hone_status st = hone_fs_program_dir(&dir);
    if (!st) path = hone_path_join(dir, name);
    hone_status_free(st);
    const char *used = path && hone_fs_exists(path) ? path : name;
    const char *version = ask_version(checkup, used, &reason);
    if (version) {
        hone_doctor_say(checkup, name, HONE_DOCTOR_OK, NULL, "%s", version);
    } else {
        hone_doctor_say(checkup, name, HONE_DOCTOR_PROBLEM, advice, "%s", reason ? reason : "?");
    }
    hone_free(dir);
    hone_free(path);
}

static void check_scratch(hone_checkup *checkup) {
    const char *dir = getenv("TMPDIR") && *getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    struct statvfs info;
    if (access(dir, W_OK | X_OK) != 0 || statvfs(dir, &info) != 0) {
        hone_doctor_say(checkup, "scratch space", HONE_DOCTOR_PROBLEM,
                        "set TMPDIR to a directory that can be written", "%s cannot be written",
                        dir);
        return;
    }
    double free_bytes = (double)info.f_bavail * (double)info.f_frsize;
    bool is_small = free_bytes < 256e6;
    hone_doctor_say(checkup, "scratch space", is_small ? HONE_DOCTOR_WARNING : HONE_DOCTOR_OK,
                    "free some space, or set TMPDIR to a larger file system", "%sB free in %s",
                    hone_text_of_count(checkup->arena, free_bytes), dir);
}

static void check_gate(hone_checkup *checkup) {
    hone_str path = {0};
    hone_quiet_gate gate = {.fd = -1};
    hone_status st = hone_quiet_default_path(&path);
    if (!st) st = hone_quiet_open(hone_str_text(&path), &gate);
    if (st) {
        hone_doctor_say(checkup, "quiet gate", HONE_DOCTOR_PROBLEM,
                        "remove the file or directory, or set XDG_RUNTIME_DIR", "%s",
                        hone_status_message(st));
    } else {
        bool is_wanted = hone_quiet_is_wanted(&gate);
        hone_doctor_say(checkup, "quiet gate", is_wanted ? HONE_DOCTOR_NOTE : HONE_DOCTOR_OK,
                        "somebody measures on this machine just now: the checks below are not "
                        "to be trusted",
                        "%s%s", hone_str_text(&path), is_wanted ? ", held by another process" : "");
    }
    hone_status_free(st);
    hone_quiet_close(&gate);
    hone_str_deinit(&path);
}

void hone_doctor_tools(hone_checkup *checkup) {
    check_program(checkup, "hone-worker", "install hone-worker beside hone: it compiles programs");
    check_program(checkup, "hone-runner", "install hone-runner beside hone: it runs candidates");
    check_program(checkup, "ld", "install a linker (apt-get install binutils)");
    check_scratch(checkup);
    check_gate(checkup);
}

/* ---- the machine ---- */

static void check_cores(hone_checkup *checkup) {
    hone_target target;
    hone_str text = {0};
    hone_status st = hone_target_detect(&target);
    if (st) {
        hone_doctor_say(checkup, "cores", HONE_DOCTOR_PROBLEM,
                        "give --target by hand, see hone target --list", "%s",
                        hone_status_message(st));
        hone_status_free(st);
        return;
    }
    hone_target_print(&target, &text);
    int online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    bool is_part = target.num_cores < online;
    hone_doctor_say(checkup, "cores", is_part ? HONE_DOCTOR_NOTE : HONE_DOCTOR_OK,
                    "this process may use a part of the machine only; records are for that part",
                    "%d of %d, %s, vectors of %d bits", target.num_cores, online, target.cpu,
                    target.vector_bits);
    hone_doctor_say(checkup, "target", HONE_DOCTOR_OK, NULL, "%s", hone_str_text(&text));
    hone_str_deinit(&text);
}

static void check_governor(hone_checkup *checkup) {
    const char *governor =
        read_line(checkup, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (!governor) {
        hone_doctor_say(checkup, "governor", HONE_DOCTOR_NOTE, NULL,
                        "not visible here (a virtual machine or container)");
        return;
    }
    bool is_good = strcmp(governor, "performance") == 0;
    hone_doctor_say(checkup, "governor", is_good ? HONE_DOCTOR_OK : HONE_DOCTOR_WARNING,
                    "cpupower frequency-set -g performance", "%s", governor);
}

static void check_turbo(hone_checkup *checkup) {
    const char *off = read_line(checkup, "/sys/devices/system/cpu/intel_pstate/no_turbo");
    const char *boost = read_line(checkup, "/sys/devices/system/cpu/cpufreq/boost");
    if (!off && !boost) return;
    bool is_on = off ? strcmp(off, "0") == 0 : strcmp(boost, "1") == 0;
    hone_doctor_say(checkup, "turbo", is_on ? HONE_DOCTOR_NOTE : HONE_DOCTOR_OK,
                    off ? "for steadier times: echo 1 > "
                          "/sys/devices/system/cpu/intel_pstate/no_turbo"
                        : "for steadier times: echo 0 > /sys/devices/system/cpu/cpufreq/boost",
                    is_on ? "on: times depend on temperature and on other cores" : "off");
}

static void check_smt(hone_checkup *checkup) {
    const char *active = read_line(checkup, "/sys/devices/system/cpu/smt/active");
    if (!active) return;
    bool is_on = strcmp(active, "1") == 0;
    hone_doctor_say(checkup, "SMT", is_on ? HONE_DOCTOR_NOTE : HONE_DOCTOR_OK,
                    "two threads share a core: keep the other one idle while tuning, or use "
                    "--threads with the number of cores",
                    is_on ? "on" : "off");
}

static void check_load(hone_checkup *checkup) {
    const char *text = read_line(checkup, "/proc/loadavg");
    if (!text) return;
    double load = hone_number_parse(text, NULL);
    bool is_busy = load > 0.5 * hone_thread_cpu_count();
    hone_doctor_say(checkup, "load", is_busy ? HONE_DOCTOR_WARNING : HONE_DOCTOR_OK,
                    "other work disturbs measurements: wait for it, or stop it", "%.2f on %d cores",
                    load, hone_thread_cpu_count());
}

static void check_perf(hone_checkup *checkup) {
    const char *text = read_line(checkup, "/proc/sys/kernel/perf_event_paranoid");
    if (!text) return;
    bool is_closed = strtol(text, NULL, 10) > 2;
    hone_doctor_say(checkup, "perf", is_closed ? HONE_DOCTOR_NOTE : HONE_DOCTOR_OK,
                    "to profile kernels: sysctl kernel.perf_event_paranoid=2",
                    "perf_event_paranoid %s", text);
}

void hone_doctor_machine(hone_checkup *checkup) {
    check_cores(checkup);
    check_governor(checkup);
    check_turbo(checkup);
    check_smt(checkup);
    check_load(checkup);
    check_perf(checkup);
    hone_doctor_cards(checkup);
    hone_doctor_opencl(checkup);
}

/* ---- timing ---- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The smallest step that the clock shows, and what reading it costs. */
static void check_clock(hone_checkup *checkup) {
    enum { READS = 20000 };
    const hone_clock *clock = hone_clock_system();
    int64_t first = hone_clock_now(clock), last = first, step = INT64_MAX;
    for (int i = 0; i < READS; i++) {
        int64_t now = hone_clock_now(clock);
        if (now > last && now - last < step) step = now - last;
        last = now;
    }
    double read_ns = (double)(last - first) / READS;
    const char *source =
        read_line(checkup, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    bool is_slow = read_ns > 300;
    hone_doctor_say(checkup, "clock", is_slow ? HONE_DOCTOR_WARNING : HONE_DOCTOR_OK,
                    "a clock that is slow to read blurs short kernels: boot with clocksource=tsc",
                    "%s, %.0f ns per reading, steps of %" PRId64 " ns", source ? source : "?",
                    read_ns, step);
}

/* The reference kernel that is timed around every trial: how much its times differ. */
static void check_noise(hone_checkup *checkup) {
    enum { TIMES = 200 };
    double times[TIMES];
    hone_reference_kernel kernel;
    if (!hone_reference_kernel_init(&kernel)) {
        checkup->failed = true;
        return;
    }
    for (int i = 0; i < TIMES; i++)
        times[i] = hone_reference_kernel_time(&kernel);
    hone_reference_kernel_deinit(&kernel);
    double first = 0, second = 0;
    for (int i = 0; i < TIMES / 2; i++)
        first += times[i];
    for (int i = TIMES / 2; i < TIMES; i++)
        second += times[i];
    qsort(times, TIMES, sizeof times[0], compare_doubles);
    double median = times[TIMES / 2];
    double spread = (times[3 * TIMES / 4] - times[TIMES / 4]) / median;
    bool is_noisy = spread > 0.02 || fabs(second / first - 1) > HONE_DRIFT_LIMIT;
    hone_doctor_say(checkup, "noise floor", is_noisy ? HONE_DOCTOR_WARNING : HONE_DOCTOR_OK,
                    "times that differ by less than this tell nothing: quieten the machine, fix "
                    "its frequency, or take more trials",
                    "reference kernel %s, spread %.2f%%, worst %.2fx, drift %+.1f%%",
                    hone_text_of_ns(checkup->arena, median), 100 * spread,
                    times[TIMES - 1] / median, 100 * (second / first - 1));
}

static void check_distance(hone_checkup *checkup) {
    int cpus[2];
    if (!hone_probe_cpus(cpus)) return;
    double ns = hone_probe_round_trip(cpus);
    if (isnan(ns)) return;
    bool is_far = ns > 1000;
    hone_doctor_say(checkup, "between cores", is_far ? HONE_DOCTOR_WARNING : HONE_DOCTOR_OK,
                    "threads talk slowly here: parallel kernels pay for it; compare --threads 1",
                    "%.0f ns for a cache line to go from core %d to %d and back", ns, cpus[0],
                    cpus[1]);
}

void hone_doctor_timing(hone_checkup *checkup) {
    check_clock(checkup);
    check_noise(checkup);
    check_distance(checkup);
}
