/* support/os/proc.c - see proc.h.
 *
 * posix_spawn, because it is safe with threads and does not copy the page tables. What it cannot
 * set (limits) is set from outside right after. The end of a child is first seen without reaping
 * it, so its group can be killed while its id cannot be reused.
 */
#include "support/os/proc.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* What is waited for at once, so the most that a leap of time counts for. */
#define SLICE_NS (HONE_NS_PER_S / 4)

enum { MAX_FDS = 16, MOST_WAITS = 200 };

/* ---- spawn ---- */

typedef struct spawn_plan {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int lifted[MAX_FDS]; /* copies of the parent's descriptors above all numbers of the child */
    int lifted_count;
} spawn_plan;

static int highest_child_fd(const hone_proc_options *options) {
    int highest = 2;
    for (size_t i = 0; i < options->fd_count; i++) {
        if (options->fds[i].child_fd > highest) highest = options->fds[i].child_fd;
    }
    return highest;
}

static bool is_mapped(const hone_proc_options *options, int child_fd) {
    for (size_t i = 0; i < options->fd_count; i++) {
        if (options->fds[i].child_fd == child_fd) return true;
    }
    return false;
}

/* Lifting first makes the order of the dup2 calls irrelevant: 3 → 4 and 4 → 3 both work. */
static int plan_fd(spawn_plan *plan, const hone_fd_map *map, int highest) {
    if (map->parent_fd < 0) {
        return posix_spawn_file_actions_addopen(&plan->actions, map->child_fd, "/dev/null", O_RDWR,
                                                0);
    }
    int lifted = fcntl(map->parent_fd, F_DUPFD_CLOEXEC, highest + 1);
    if (lifted < 0) return errno;
    plan->lifted[plan->lifted_count++] = lifted;
    return posix_spawn_file_actions_adddup2(&plan->actions, lifted, map->child_fd);
}

static int plan_fds(spawn_plan *plan, const hone_proc_options *options) {
    int highest = highest_child_fd(options), error = 0;
    for (size_t i = 0; i < options->fd_count && !error; i++) {
        error = plan_fd(plan, &options->fds[i], highest);
    }
    for (int fd = 3; fd <= highest && !error; fd++) {
        if (!is_mapped(options, fd)) error = posix_spawn_file_actions_addclose(&plan->actions, fd);
    }
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&plan->actions, highest + 1);
    if (!error && options->work_dir) {
        error = posix_spawn_file_actions_addchdir_np(&plan->actions, options->work_dir);
    }
    return error;
}

/* A group of its own or the parent's, default signals, nothing blocked. */
static int plan_attributes(spawn_plan *plan, bool shares_group) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF, error = 0;
    if (!shares_group) {
        flags |= POSIX_SPAWN_SETPGROUP;
        error = posix_spawnattr_setpgroup(&plan->attributes, 0);
    }
    if (!error) error = posix_spawnattr_setsigmask(&plan->attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(&plan->attributes, &all);
    return error ? error : posix_spawnattr_setflags(&plan->attributes, (short)flags);
}

static int spawn_planned(spawn_plan *plan, const hone_proc_options *options, pid_t *out_pid) {
    /* POSIX spells the vectors without const but does not write to them */
    char *const *argv = (char *const *)(uintptr_t)options->argv;
    char *const *env = options->env ? (char *const *)(uintptr_t)options->env : environ;
    int error = plan_attributes(plan, options->shares_group);
    if (!error) error = plan_fds(plan, options);
    if (error) return error;
    return posix_spawnp(out_pid, argv[0], &plan->actions, &plan->attributes, argv, env);
}

static int spawn(const hone_proc_options *options, pid_t *out_pid) {
    spawn_plan plan = {.lifted_count = 0};
    int error = posix_spawn_file_actions_init(&plan.actions);
    if (error) return error;
    error = posix_spawnattr_init(&plan.attributes);
    if (!error) {
        error = spawn_planned(&plan, options, out_pid);
        posix_spawnattr_destroy(&plan.attributes);
    }
    posix_spawn_file_actions_destroy(&plan.actions);
    for (int i = 0; i < plan.lifted_count; i++)
        close(plan.lifted[i]);
    return error;
}

/* There is a hard limit: the child cannot raise it. */
static void set_limit_twice(pid_t pid, int resource, int64_t soft, int64_t hard) {
    struct rlimit limit = {.rlim_cur = (rlim_t)soft, .rlim_max = (rlim_t)hard};
    (void)prlimit(pid, (enum __rlimit_resource)resource, &limit, NULL);
}

static void set_limit(pid_t pid, int resource, int64_t value) {
    set_limit_twice(pid, resource, value, value);
}

static void set_limits(pid_t pid, const hone_proc_options *options) {
    if (options->cpu_seconds > 0) {
        set_limit_twice(pid, RLIMIT_CPU, options->cpu_seconds,
                        options->cpu_seconds + HONE_PROC_CPU_GRACE_SECONDS);
    }
    if (options->address_bytes > 0) set_limit(pid, RLIMIT_AS, options->address_bytes);
    if (options->file_bytes > 0) set_limit(pid, RLIMIT_FSIZE, options->file_bytes);
    if (options->open_files > 0) set_limit(pid, RLIMIT_NOFILE, options->open_files);
    if (!options->is_core_allowed) set_limit(pid, RLIMIT_CORE, 0);
}

static hone_status spawn_error(int error, const char *program) {
    hone_code code = error == ENOENT || error == EACCES || error == ENOTDIR ? HONE_CODE_NOT_FOUND
                     : error == ENOMEM                                      ? HONE_CODE_NO_MEMORY
                     : error == EAGAIN                                      ? HONE_CODE_UNAVAILABLE
                                                                            : HONE_CODE_IO;
    return HONE_ERROR(code, "cannot start '%s': %s", program, strerror(error));
}

hone_status hone_proc_spawn(const hone_proc_options *options, hone_proc *out_proc) {
    assert(options->argv && options->argv[0]);
    *out_proc = (hone_proc){.pid_fd = -1};
    if (options->fd_count > MAX_FDS) {
        return HONE_ERROR(HONE_CODE_INVALID, "%zu descriptors for a child, must be at most %d",
                          options->fd_count, MAX_FDS);
    }
    pid_t pid = 0;
    int error = spawn(options, &pid);
    if (error) return spawn_error(error, options->argv[0]);
    set_limits(pid, options);
    out_proc->pid = pid;
    out_proc->shares_group = options->shares_group;
    out_proc->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by definition */
    return HONE_OK;
}

void hone_proc_follow_parent(void) {
    /* should it have ended before this call, the end of the channel to it says so */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/* ---- end ---- */

static int64_t rusage_ns(const struct rusage *usage) {
    return (int64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * HONE_NS_PER_S +
           (int64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * HONE_NS_PER_US;
}

static void signal_all(const hone_proc *proc, int signal_number) {
    (void)kill(proc->shares_group ? proc->pid : -proc->pid, signal_number);
}

/* Those of its group that were killed and came to this process, as all orphans come to the first
 * one of a container, which nobody else reaps. One that cannot be killed is not waited for. */
static void reap_orphans(pid_t group) {
    const struct timespec moment = {.tv_nsec = HONE_NS_PER_MS};
    for (int waits = 0; waits < MOST_WAITS;) {
        pid_t ended = waitpid(-group, NULL, WNOHANG);
        if (ended < 0 && errno != EINTR) return; /* there is none */
        if (ended != 0) continue;
        (void)nanosleep(&moment, NULL);
        waits++;
    }
}

/* The child is dead: kill what is left of its group while it still owns the id, then reap it. */
static void reap(hone_proc *proc) {
    int status = 0;
    struct rusage usage = {0};
    signal_all(proc, SIGKILL);
    while (wait4(proc->pid, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    if (!proc->shares_group) reap_orphans(proc->pid);
    proc->is_ended = true;
    proc->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    proc->term_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    proc->cpu_ns = rusage_ns(&usage);
    proc->peak_bytes = (int64_t)usage.ru_maxrss * 1024;
}

bool hone_proc_poll(hone_proc *proc) {
    if (proc->is_ended || proc->pid == 0) return true;
    siginfo_t info = {.si_pid = 0};
    int result;
    do {
        result = waitid(P_PID, (id_t)proc->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    } while (result < 0 && errno == EINTR);
    if (result == 0 && info.si_pid == 0) return false;
    reap(proc);
    return true;
}

hone_status hone_proc_wait(hone_proc *proc, const hone_clock *clock, int64_t deadline_ns) {
    while (!hone_proc_poll(proc)) {
        int timeout_ms = hone_deadline_poll_ms(clock, deadline_ns);
        if (timeout_ms == 0) {
            return HONE_ERROR(HONE_CODE_TIMEOUT, "process %d is still running", (int)proc->pid);
        }
        if (proc->pid_fd < 0) timeout_ms = 1; /* no pidfd in this kernel: look again and again */
        struct pollfd wait = {.fd = proc->pid_fd, .events = POLLIN};
        (void)poll(&wait, 1, timeout_ms);
    }
    return HONE_OK;
}

hone_status hone_proc_wait_awake(hone_proc *proc, const hone_clock *clock, int64_t most_ns) {
    int64_t now = hone_clock_now(clock);
    while (!hone_proc_poll(proc)) {
        if (most_ns <= 0) {
            return HONE_ERROR(HONE_CODE_TIMEOUT, "process %d is still running", (int)proc->pid);
        }
        hone_status_free(hone_proc_wait(proc, clock, hone_deadline_after(clock, SLICE_NS)));
        int64_t before = now;
        now = hone_clock_now(clock);
        most_ns -= now - before < SLICE_NS ? now - before : SLICE_NS;
    }
    return HONE_OK;
}

static void send_signal(const hone_proc *proc, int signal_number) {
    if (proc->pid > 0 && !proc->is_ended) signal_all(proc, signal_number);
}

void hone_proc_kill(const hone_proc *proc) {
    send_signal(proc, SIGKILL);
}

void hone_proc_stop(const hone_proc *proc) {
    send_signal(proc, SIGSTOP);
}

void hone_proc_resume(const hone_proc *proc) {
    send_signal(proc, SIGCONT);
}

void hone_proc_deinit(hone_proc *proc) {
    if (proc->pid > 0) {
        if (!proc->is_ended) {
            hone_proc_kill(proc);
            reap(proc);
        }
        hone_fd_close(&proc->pid_fd);
    }
    *proc = (hone_proc){0};
}

/* ---- facts ---- */

/* User and system time of the children that process `pid` has reaped: fields 16 and 17 of stat. */
static int64_t reaped_cpu_ns(pid_t pid) {
    char path[64], line[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    char *text = fgets(line, sizeof line, file);
    fclose(file);
    char *after_name = text ? strrchr(text, ')') : NULL;
    if (!after_name ||
        sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu",
               &user, &system) != 2) {
        return 0;
    }
    long ticks = sysconf(_SC_CLK_TCK);
    return ticks > 0 ? (int64_t)(user + system) * (HONE_NS_PER_S / ticks) : 0;
}

int64_t hone_proc_cpu_ns(const hone_proc *proc) {
    clockid_t id;
    struct timespec ts;
    if (proc->is_ended || proc->pid <= 0) return proc->cpu_ns;
    if (clock_getcpuclockid(proc->pid, &id) != 0 || clock_gettime(id, &ts) != 0) return 0;
    return (int64_t)ts.tv_sec * HONE_NS_PER_S + ts.tv_nsec + reaped_cpu_ns(proc->pid);
}

/* The second number of schedstat; 0 when the kernel does not count. */
static int64_t waited_ns(pid_t pid, const char *thread) {
    char path[96];
    long long ran = 0, waited = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%.20s/schedstat", (long)pid, thread);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    bool ok = fscanf(file, "%lld %lld", &ran, &waited) == 2;
    fclose(file);
    return ok ? waited : 0;
}

int64_t hone_proc_waited_ns(const hone_proc *proc) {
    char path[64];
    int64_t longest = 0;
    if (proc->is_ended || proc->pid <= 0) return 0;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)proc->pid);
    DIR *dir = opendir(path);
    if (!dir) return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        int64_t waited = entry->d_name[0] == '.' ? 0 : waited_ns(proc->pid, entry->d_name);
        if (waited > longest) longest = waited;
    }
    closedir(dir);
    return longest;
}

bool hone_proc_is_runnable(const hone_proc *proc) {
    char path[64], line[1024];
    if (proc->is_ended || proc->pid <= 0) return false;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)proc->pid);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    const char *text = fgets(line, sizeof line, file);
    const char *behind_name = text ? strrchr(text, ')') : NULL;
    bool is_runnable = behind_name && strncmp(behind_name, ") R", 3) == 0;
    fclose(file);
    return is_runnable;
}

void hone_proc_print_end(const hone_proc *proc, hone_str *out) {
    if (!proc->is_ended) {
        hone_str_append(out, "running");
    } else if (proc->term_signal) {
        const char *name = sigabbrev_np(proc->term_signal);
        hone_str_printf(out, "killed by %s%s%s", name ? "SIG" : "signal ", name ? name : "?",
                        proc->term_signal == SIGXCPU ? " (its CPU time is used up)" : "");
    } else {
        hone_str_printf(out, "exit %d", proc->exit_code);
    }
}
