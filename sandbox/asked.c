/* sandbox/asked.c - see asked.h and seccomp_unotify(2). */
#include "sandbox/asked.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sandbox/processes.h"
#include "sandbox/sandbox.h"

enum { MAX_ANCESTORS = 8 };

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

int hone_pidfd_getfd(int pidfd, int fd) {
    return (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0u);
}

typedef struct question {
    int listener;
    hone_asked_facts *facts;
    const struct seccomp_notif *asked;
    struct seccomp_notif_resp *answer;
} question;

static uint64_t argument(const question *q, unsigned i) {
    return q->asked->data.args[i];
}

static pid_t asker(const question *q) {
    return (pid_t)q->asked->pid;
}

/* ---- the process's memory ---- */

/* Up to the end of each page, since the next one may not be there. */
static int read_text(const question *q, uint64_t address, char out[PATH_MAX]) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t used = 0; used < PATH_MAX;) {
        size_t count = page - (address + used) % page;
        if (count > PATH_MAX - used) count = PATH_MAX - used;
        struct iovec here = {out + used, count},
                     there = {(void *)(uintptr_t)(address + used), count};
        ssize_t got = process_vm_readv(asker(q), &here, 1, &there, 1, 0);
        if (got <= 0) return -EFAULT;
        if (memchr(out + used, 0, (size_t)got)) return 0;
        used += (size_t)got;
    }
    return -ENAMETOOLONG;
}

static int read_bytes(const question *q, uint64_t address, void *out, size_t count) {
    struct iovec here = {out, count}, there = {(void *)(uintptr_t)address, count};
    return process_vm_readv(asker(q), &here, 1, &there, 1, 0) == (ssize_t)count ? 0 : -EFAULT;
}

/* Whether the call still waits: else its thread may have died, and its number be somebody else's.
 */
static bool is_waiting(const question *q) {
    return seccomp_notify_id_valid(q->listener, q->asked->id) == 0;
}

/* The memory is held before it is known to be the asker's: a number alone could change hands
 * between that and the writing. */
static int write_back(const question *q, uint64_t address, const void *bytes, size_t count) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)asker(q));
    int memory = open(path, O_WRONLY | O_CLOEXEC);
    if (memory < 0) return -EFAULT;
    ssize_t put = is_waiting(q) ? pwrite(memory, bytes, count, (off_t)address) : -1;
    close(memory);
    return put == (ssize_t)count ? 0 : -EFAULT;
}

static bool follow_link(const char *link, char out[PATH_MAX]) {
    ssize_t length = readlink(link, out, PATH_MAX - 1);
    if (length >= 0) out[length] = 0;
    return length >= 0;
}

/* "/proc/TID/NAME" leads to `out`. */
static bool follow(const question *q, const char *name, char out[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/%s", (int)asker(q), name);
    return follow_link(link, out);
}

/* The path at `address`, from the folder that the call starts from. */
static int read_path(const question *q, int folder, uint64_t address, char out[PATH_MAX]) {
    char path[PATH_MAX], base[PATH_MAX], name[32];
    int error = read_text(q, address, path);
    if (!error && !is_waiting(q)) error = -ENOENT;
    if (error) return error;
    if (path[0] == '/') {
        memcpy(out, path, strlen(path) + 1);
        return 0;
    }
    if (path[0] == 0) return -ENOENT;
    snprintf(name, sizeof name, folder == AT_FDCWD ? "cwd" : "fd/%d", folder);
    if (!follow(q, name, base)) return -EACCES;
    int count = snprintf(out, PATH_MAX, "%s/%s", base, path);
    return count > 0 && count < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* ---- answers: >= 0 is the call's result, < 0 an errno ---- */

/* Puts a descriptor of this process into the asking one; its number there. */
static int hand_over(const question *q, int fd, bool is_closed_on_exec) {
    struct seccomp_notif_addfd addfd = {.id = q->asked->id,
                                        .srcfd = (uint32_t)fd,
                                        .newfd_flags = is_closed_on_exec ? O_CLOEXEC : 0};
    int there = ioctl(q->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addfd);
    return there < 0 ? -errno : there;
}

static int open_file(const question *q, int folder, unsigned first) {
    char path[PATH_MAX];
    const int flags = (int)argument(q, first + 1);
    int error = read_path(q, folder, argument(q, first), path);
    if (error) return error;
    int fd = hone_file_policy_open(q->facts->policy, asker(q), path, flags,
                                   (mode_t)argument(q, first + 2));
    if (fd < 0) return fd;
    int there = hand_over(q, fd, flags & O_CLOEXEC);
    close(fd);
    return there;
}

/* fstat(2) of today's C library looks at a descriptor by an empty path. */
static int look_at(const question *q) {
    char path[PATH_MAX];
    struct stat info;
    const int folder = (int)argument(q, 0);
    int fd, error = read_text(q, argument(q, 1), path);
    if (error) return error;
    if (path[0] == 0 && (argument(q, 3) & AT_EMPTY_PATH)) {
        fd = hone_pidfd_getfd(q->facts->held_pidfd, folder);
        if (fd < 0) return -errno;
    } else {
        error = read_path(q, folder, argument(q, 1), path);
        if (error) return error;
        fd = hone_file_policy_look(q->facts->policy, asker(q), path);
        if (fd < 0) return fd;
    }
    error = fstat(fd, &info) ? -errno : 0;
    close(fd);
    return error ? error : write_back(q, argument(q, 2), &info, sizeof info);
}

static int change(const question *q, hone_file_change kind, int folder, unsigned first) {
    char path[PATH_MAX];
    int error = read_path(q, folder, argument(q, first), path);
    if (error) return error;
    return hone_file_policy_change(q->facts->policy, asker(q), kind, path, NULL,
                                   (mode_t)argument(q, first + 1));
}

static int move(const question *q, int folder, uint64_t from, int other_folder, uint64_t to) {
    char path[PATH_MAX], other[PATH_MAX];
    int error = read_path(q, folder, from, path);
    if (!error) error = read_path(q, other_folder, to, other);
    if (error) return error;
    return hone_file_policy_change(q->facts->policy, asker(q), HONE_FILE_RENAME, path, other, 0);
}

/* Of a file that it made itself: also files that it may only read are open in it. The file is held
 * here while it is judged, since its number there may mean another one at any time. */
static int change_open_file(const question *q) {
    char path[PATH_MAX], link[64];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)asker(q), (int)argument(q, 0));
    int error = 0, file = open(link, O_PATH | O_CLOEXEC);
    if (file < 0) return -EBADF;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (!is_waiting(q) || !follow_link(link, path) ||
        !hone_file_policy_owns(q->facts->policy, path)) {
        error = -EACCES;
    } else if (chmod(link, (mode_t)argument(q, 1) & 0777)) {
        error = -errno;
    }
    close(file);
    return error;
}

/* ---- processes ---- */

/* A process that the held one has started, or that one of those has. */
static bool is_descendant(const question *q, pid_t pid) {
    hone_kin kin;
    for (int i = 0; pid > 1 && i < MAX_ANCESTORS; i++, pid = kin.parent) {
        if (pid == q->facts->held_pid) return true;
        if (!hone_process_kin(pid, &kin)) return false;
    }
    return false;
}

static bool is_thread(const question *q, pid_t tid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)q->facts->held_pid, (int)tid);
    return tid > 0 && access(path, F_OK) == 0;
}

static int let_through(const question *q) {
    q->answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    return 0;
}

/* RLIMIT_NPROC does not bind root. Threads of the held process count as long as they are there;
 * what else is started counts until the request is over. */
static int let_start(const question *q) {
    const pid_t held = q->facts->held_pid;
    bool is_own_thread =
        q->asked->data.nr == SYS_clone && (argument(q, 0) & CLONE_THREAD) && is_thread(q, asker(q));
    bool has_room = is_own_thread ? hone_process_threads(held) < HONE_SANDBOX_MAX_THREADS
                                  : q->facts->started++ < HONE_SANDBOX_MAX_THREADS;
    return has_room ? let_through(q) : -EAGAIN;
}

/* ---- and where a number may mean a stranger: judged and done here, by what holds one process ----
 */

static bool is_there(int pidfd) {
    return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0u) == 0;
}

/* The ancestors are read while the number is taken: it still is if what had it before is there. */
static int open_descendant(const question *q, pid_t pid) {
    int pidfd = pid > 1 ? (int)syscall(SYS_pidfd_open, pid, 0u) : -1;
    if (pidfd < 0) return -EPERM;
    if (is_descendant(q, pid) && is_there(pidfd)) return pidfd;
    close(pidfd);
    return -EPERM;
}

static int signal_one(const question *q, pid_t pid) {
    int pidfd = open_descendant(q, pid);
    if (pidfd < 0) return pidfd;
    int error = syscall(SYS_pidfd_send_signal, pidfd, (int)argument(q, 1), NULL, 0u) ? -errno : 0;
    close(pidfd);
    return error;
}

typedef struct group_visit {
    const question *q;
    pid_t group;
    int result;
} group_visit;

static void signal_member(pid_t pid, void *data) {
    group_visit *v = data;
    hone_kin kin;
    if (!hone_process_kin(pid, &kin) || kin.group != v->group) return;
    int error = signal_one(v->q, pid);
    if (!error || v->result == -ESRCH) v->result = error;
}

/* Those of a group whom the held process has started. */
static int signal_group(const question *q, pid_t group) {
    group_visit v = {q, group, -ESRCH};
    hone_process_each(signal_member, &v);
    return v.result;
}

static int send_signal(const question *q) {
    const pid_t target = (pid_t)argument(q, 0);
    if (q->facts->has_namespaces) return let_through(q);
    if (target == 0 || target == -1) return -EPERM;
    return target > 0 ? signal_one(q, target) : signal_group(q, -target);
}

static int bind_thread(const question *q) {
    cpu_set_t mask;
    const pid_t tid = (pid_t)argument(q, 0);
    if (q->facts->has_namespaces) return let_through(q);
    const size_t bytes = argument(q, 1) < sizeof mask ? (size_t)argument(q, 1) : sizeof mask;
    if (read_bytes(q, argument(q, 2), &mask, bytes)) return -EFAULT;
    if (!is_waiting(q) || !is_thread(q, tid)) return -EPERM;
    return sched_setaffinity(tid, bytes, &mask) ? -errno : 0;
}

/* Never raised: this process may have rights that the asking one lost. */
static int lower_limit(pid_t pid, int resource, const struct rlimit *wanted) {
    struct rlimit now;
    if (prlimit(pid, (__rlimit_resource_t)resource, NULL, &now)) return -errno;
    if (wanted->rlim_cur > wanted->rlim_max) return -EINVAL;
    if (wanted->rlim_max > now.rlim_max) return -EPERM;
    return prlimit(pid, (__rlimit_resource_t)resource, wanted, NULL) ? -errno : 0;
}

static int set_limit(const question *q) {
    struct rlimit wanted;
    const pid_t target = (pid_t)argument(q, 0);
    if (q->facts->has_namespaces) return let_through(q);
    if (argument(q, 3)) return -EPERM; /* asks for what there was */
    int error = read_bytes(q, argument(q, 2), &wanted, sizeof wanted);
    int pidfd = error || !is_waiting(q) ? -EFAULT : open_descendant(q, target);
    if (pidfd < 0) return pidfd;
    error = lower_limit(target, (int)argument(q, 1), &wanted);
    close(pidfd);
    return error;
}

/* ---- which call ---- */

static int judge_change(const question *q) {
    switch (q->asked->data.nr) {
#ifdef SYS_unlink
    case SYS_unlink:
        return change(q, HONE_FILE_UNLINK, AT_FDCWD, 0);
    case SYS_rmdir:
        return change(q, HONE_FILE_RMDIR, AT_FDCWD, 0);
    case SYS_mkdir:
        return change(q, HONE_FILE_MKDIR, AT_FDCWD, 0);
    case SYS_chmod:
        return change(q, HONE_FILE_CHMOD, AT_FDCWD, 0);
    case SYS_rename:
        return move(q, AT_FDCWD, argument(q, 0), AT_FDCWD, argument(q, 1));
#endif
    case SYS_unlinkat:
        return change(q, argument(q, 2) & AT_REMOVEDIR ? HONE_FILE_RMDIR : HONE_FILE_UNLINK,
                      (int)argument(q, 0), 1);
    case SYS_mkdirat:
        return change(q, HONE_FILE_MKDIR, (int)argument(q, 0), 1);
    case SYS_fchmodat:
        return change(q, HONE_FILE_CHMOD, (int)argument(q, 0), 1);
#ifdef SYS_renameat
    case SYS_renameat:
        return move(q, (int)argument(q, 0), argument(q, 1), (int)argument(q, 2), argument(q, 3));
#endif
    case SYS_renameat2:
        if (argument(q, 4)) return -EINVAL;
        return move(q, (int)argument(q, 0), argument(q, 1), (int)argument(q, 2), argument(q, 3));
    case SYS_fchmod:
        return change_open_file(q);
    default:
        return -ENOSYS;
    }
}

static int judge(const question *q) {
    switch (q->asked->data.nr) {
#ifdef SYS_open
    case SYS_open:
        return open_file(q, AT_FDCWD, 0);
#endif
    case SYS_openat:
        return open_file(q, (int)argument(q, 0), 1);
    case SYS_newfstatat:
        return look_at(q);
    case SYS_sched_setaffinity:
        return bind_thread(q);
#ifdef SYS_fork
    case SYS_fork:
    case SYS_vfork:
#endif
    case SYS_clone:
        return let_start(q);
    case SYS_kill:
        return send_signal(q);
    case SYS_prlimit64:
        return set_limit(q);
    default:
        return judge_change(q);
    }
}

bool hone_asked_answer(int listener, hone_asked_facts *facts) {
    struct seccomp_notif *asked = NULL;
    struct seccomp_notif_resp *answer = NULL;
    if (seccomp_notify_alloc(&asked, &answer)) return false;
    bool is_alive = true;
    if (seccomp_notify_receive(listener, asked) == 0) {
        const question q = {listener, facts, asked, answer};
        memset(answer, 0, sizeof *answer);
        answer->id = asked->id;
        int result = judge(&q);
        answer->val = result > 0 ? result : 0;
        answer->error = result < 0 ? result : 0;
        (void)seccomp_notify_respond(listener, answer); /* it may have died meanwhile */
    } else {
        is_alive = errno == EINTR || errno == ENOENT; /* asked, and killed before it was heard */
    }
    seccomp_notify_free(asked, answer);
    return is_alive;
}
