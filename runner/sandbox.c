/* runner/sandbox.c - rlimits and a seccomp filter. */
#include "runner/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/attributes.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif
#ifndef UNDER_SANITIZER
#define UNDER_SANITIZER 0
#endif

static hone_status limit(int resource, const char *what, uint64_t value) {
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now)) now.rlim_max = RLIM_INFINITY;
    if (value > now.rlim_max) value = now.rlim_max;
    struct rlimit wanted = {value, value};
    if (setrlimit((__rlimit_resource_t)resource, &wanted)) {
        return HONE_ERROR(HONE_CODE_IO, "limiting %s to %llu: %s", what, (unsigned long long)value,
                          strerror(errno));
    }
    return HONE_OK;
}

/* ---- the filter: a classic BPF program over struct seccomp_data ---- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

#define MAX_STEPS 160

typedef struct program {
    struct sock_filter step[MAX_STEPS];
    unsigned short count;
} program;

static void add(program *p, struct sock_filter step) {
    if (p->count < MAX_STEPS) p->step[p->count++] = step;
}

#define LOAD(member)                                                                               \
    ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                        \
                                  (uint32_t)offsetof(struct seccomp_data, member)))
#define RETURN(value) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (value)))
#define JUMP(op, value, yes, no)                                                                   \
    ((struct sock_filter)BPF_JUMP(BPF_JMP | (op) | BPF_K, value, yes, no))
#define REFUSE(error) RETURN(SECCOMP_RET_ERRNO | ((error)&SECCOMP_RET_DATA))

/* The low half of argument i: both architectures are little-endian. */
#define ARGUMENT(i) LOAD(args[i])

static const int always_refused[] = {
#ifdef SYS_fork
    SYS_fork,     SYS_vfork,
#endif
#ifdef SYS_creat
    SYS_creat,    SYS_unlink,   SYS_rename,    SYS_mkdir,
    SYS_rmdir,    SYS_link,     SYS_symlink,   SYS_chmod,
    SYS_chown,
#endif
    SYS_execve,   SYS_execveat, SYS_socket,    SYS_socketpair,
    SYS_connect,  SYS_bind,     SYS_ptrace,    SYS_process_vm_writev,
    SYS_setpgid,  SYS_setsid,   SYS_unlinkat,  SYS_renameat2,
    SYS_mkdirat,  SYS_linkat,   SYS_symlinkat, SYS_fchmodat,
    SYS_fchownat, SYS_truncate, SYS_mount,     SYS_umount2,
    SYS_unshare,  SYS_setns,    SYS_chroot,    SYS_reboot,
    SYS_bpf,      SYS_keyctl,   SYS_setrlimit,
};

/* After LOAD(nr): refuses one call by number. */
static void refuse(program *p, int number) {
    add(p, JUMP(BPF_JEQ, (uint32_t)number, 0, 1));
    add(p, REFUSE(EPERM));
}

/* Refuses a call when argument `i` has one of `bits`; else it is allowed. */
static void refuse_bits(program *p, int number, int i, uint32_t bits) {
    add(p, JUMP(BPF_JEQ, (uint32_t)number, 0, 4));
    add(p, i == 1 ? ARGUMENT(1) : ARGUMENT(2));
    add(p, JUMP(BPF_JSET, bits, 0, 1));
    add(p, REFUSE(EPERM));
    add(p, RETURN(SECCOMP_RET_ALLOW));
}

/* Allows a signal call only when its first argument is this process. */
static void refuse_others(program *p, int number) {
    add(p, JUMP(BPF_JEQ, (uint32_t)number, 0, 4));
    add(p, ARGUMENT(0));
    add(p, JUMP(BPF_JEQ, (uint32_t)getpid(), 1, 0));
    add(p, REFUSE(EPERM));
    add(p, RETURN(SECCOMP_RET_ALLOW));
}

static void write_program(program *p) {
    const uint32_t writing = O_WRONLY | O_RDWR | O_CREAT;
    add(p, LOAD(arch));
    add(p, JUMP(BPF_JEQ, ARCHITECTURE, 1, 0));
    add(p, RETURN(SECCOMP_RET_KILL_PROCESS));
    add(p, LOAD(nr));
    for (size_t i = 0; i < HONE_COUNT(always_refused); i++)
        refuse(p, always_refused[i]);
    refuse_others(p, SYS_kill);
    refuse_others(p, SYS_tgkill);
    refuse(p, SYS_tkill);
    /* clone makes threads, or processes; glibc takes clone when there is no clone3 */
    add(p, JUMP(BPF_JEQ, SYS_clone3, 0, 1));
    add(p, REFUSE(ENOSYS));
    add(p, JUMP(BPF_JEQ, SYS_clone, 0, 4));
    add(p, ARGUMENT(0));
    add(p, JUMP(BPF_JSET, CLONE_THREAD, 1, 0));
    add(p, REFUSE(EPERM));
    add(p, RETURN(SECCOMP_RET_ALLOW));
#ifdef SYS_open
    refuse_bits(p, SYS_open, 1, writing);
#endif
    refuse_bits(p, SYS_openat, 2, writing);
    refuse(p, SYS_openat2);
    /* reading a limit is prlimit64 with no new value */
    add(p, JUMP(BPF_JEQ, SYS_prlimit64, 0, 4));
    add(p, ARGUMENT(2));
    add(p, JUMP(BPF_JEQ, 0, 1, 0));
    add(p, REFUSE(EPERM));
    add(p, RETURN(SECCOMP_RET_ALLOW));
    add(p, RETURN(SECCOMP_RET_ALLOW));
}

static bool install_filter(void) {
    program p = {.count = 0};
    write_program(&p);
    struct sock_fprog code = {.len = p.count, .filter = p.step};
    if (p.count >= MAX_STEPS || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return false;
    /* TSYNC: also for the threads that are there already */
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &code) == 0;
}

#else
static bool install_filter(void) {
    return false;
}
#endif

hone_status hone_sandbox_enter(const hone_sandbox_options *options, bool *out_filtered) {
    if (out_filtered) *out_filtered = false;
    HONE_TRY(limit(RLIMIT_CORE, "core dumps", 0));
    /* sanitizers reserve terabytes of address space */
    if (options->memory_bytes > 0 && !UNDER_SANITIZER) {
        HONE_TRY(limit(RLIMIT_AS, "address space", (uint64_t)options->memory_bytes));
    }
    if (options->file_bytes > 0) {
        signal(SIGXFSZ, SIG_IGN); /* writing fails instead of killing */
        HONE_TRY(limit(RLIMIT_FSIZE, "file size", (uint64_t)options->file_bytes));
    }
    HONE_TRY(limit(RLIMIT_NPROC, "processes", 4096)); /* does not bind root: the filter does */
    bool filtered = options->filter && install_filter();
    if (out_filtered) *out_filtered = filtered;
    return HONE_OK;
}
