/* sandbox/filter.c - the allow-lists, made into filters by libseccomp. */
#include "sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/core/attributes.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#define ARCH_GET_XCOMP_SUPP 0x1021 /* asm/prctl.h, which not all architectures have */
#define ARCH_REQ_XCOMP_PERM 0x1023
/* what pthread_create passes: glibc, and musl with CLONE_DETACHED */
#define THREAD_FLAGS                                                                               \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD |            \
     CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)
#define NEW_NAMESPACES                                                                             \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET | CLONE_PARENT | CLONE_PTRACE)
#define MEMORY_FILE_FLAGS (MFD_CLOEXEC | MFD_ALLOW_SEALING | 0x18 /* NOEXEC_SEAL, EXEC */)

#define SEND_FLAGS (MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE) /* nothing out of band */
#define ADVICES 0x3f /* not those from 100 on, by which root takes memory from the machine */

enum { MAX_CONDITIONS = 3 };

typedef enum verdict {
    ALLOW,
    ASK,
    START, /* ALLOW, or ASK where starts are counted */
} verdict;

typedef enum comparison {
    ANYTHING,
    IS,       /* the value */
    IS_NOT,   /* the value */
    LACKS,    /* all bits of the value */
    BITS_ARE, /* those of the mask: the value */
    IS_SELF,  /* the process id */
    IS_NOT_SELF,
} comparison;

typedef struct condition {
    unsigned argument;
    comparison comparison;
    uint64_t value, mask;
} condition;

/* Several rows of one call: any of them. Conditions of one row: all of them. */
typedef struct call {
    const char *name;
    verdict verdict;
    condition when[MAX_CONDITIONS];
} call;

#define ALWAYS                                                                                     \
    {                                                                                              \
        { 0 }                                                                                      \
    }
#define WHEN(argument, comparison, value)                                                          \
    {                                                                                              \
        { argument, comparison, value, 0 }                                                         \
    }
#define WHEN2(argument, comparison, value, argument2, comparison2, value2)                         \
    {                                                                                              \
        {argument, comparison, value, 0}, {                                                        \
            argument2, comparison2, value2, 0                                                      \
        }                                                                                          \
    }

/* What computing in threads takes. None of these reaches another process, a file that was not
 * handed out, or a device. */
/* clang-format off */
static const call computing[] = {
    /* memory */
    {"brk", ALLOW, ALWAYS},
    {"mmap", ALLOW, ALWAYS},
    {"mprotect", ALLOW, ALWAYS},
    {"munmap", ALLOW, ALWAYS},
    {"mremap", ALLOW, ALWAYS},
    {"madvise", ALLOW, WHEN(2, LACKS, ~(uint64_t)ADVICES)},
    {"memfd_create", ALLOW, WHEN(1, LACKS, ~(uint64_t)MEMORY_FILE_FLAGS)},
    /* time */
    {"clock_gettime", ALLOW, ALWAYS},
    {"clock_getres", ALLOW, ALWAYS},
    {"gettimeofday", ALLOW, ALWAYS},
    {"time", ALLOW, ALWAYS},
    {"times", ALLOW, ALWAYS},
    {"getrusage", ALLOW, ALWAYS},
    {"nanosleep", ALLOW, ALWAYS},
    {"clock_nanosleep", ALLOW, ALWAYS},
    {"restart_syscall", ALLOW, ALWAYS},
    /* threads */
    {"clone", START, WHEN(0, IS, THREAD_FLAGS)},
    {"clone", START, WHEN(0, IS, THREAD_FLAGS | CLONE_DETACHED)},
    {"futex", ALLOW, ALWAYS},
    {"set_robust_list", ALLOW, ALWAYS},
    {"set_tid_address", ALLOW, ALWAYS},
    {"rseq", ALLOW, ALWAYS},
    {"sched_yield", ALLOW, ALWAYS},
    {"sched_getaffinity", ALLOW, ALWAYS},
    {"sched_setaffinity", ALLOW, WHEN(0, IS, 0)},
    {"sched_setaffinity", ASK, WHEN(0, IS_NOT, 0)},
    {"getcpu", ALLOW, ALWAYS},
    {"gettid", ALLOW, ALWAYS},
    {"getpid", ALLOW, ALWAYS},
    {"getppid", ALLOW, ALWAYS},
    {"exit", ALLOW, ALWAYS},
    {"exit_group", ALLOW, ALWAYS},
    {"prctl", ALLOW, WHEN(0, IS, PR_SET_NAME)},
    {"prctl", ALLOW, WHEN(0, IS, PR_GET_NAME)},
    {"prctl", ALLOW, WHEN(0, IS, PR_SET_VMA)},
    {"arch_prctl", ALLOW, WHEN(0, IS, ARCH_GET_XCOMP_SUPP)},
    {"arch_prctl", ALLOW, WHEN(0, IS, ARCH_GET_XCOMP_SUPP + 1)},
    {"arch_prctl", ALLOW, WHEN(0, IS, ARCH_REQ_XCOMP_PERM)},
    /* signals to itself */
    {"rt_sigaction", ALLOW, ALWAYS},
    {"rt_sigprocmask", ALLOW, ALWAYS},
    {"rt_sigreturn", ALLOW, ALWAYS},
    {"rt_sigpending", ALLOW, ALWAYS},
    {"rt_sigsuspend", ALLOW, ALWAYS},
    {"rt_sigtimedwait", ALLOW, ALWAYS},
    {"sigaltstack", ALLOW, ALWAYS},
    {"kill", ALLOW, WHEN(0, IS_SELF, 0)},
    {"tgkill", ALLOW, WHEN(0, IS_SELF, 0)},
    /* descriptors that it has */
    {"read", ALLOW, ALWAYS},
    {"write", ALLOW, ALWAYS},
    {"readv", ALLOW, ALWAYS},
    {"writev", ALLOW, ALWAYS},
    {"pread64", ALLOW, ALWAYS},
    {"pwrite64", ALLOW, ALWAYS},
    {"lseek", ALLOW, ALWAYS},
    {"ftruncate", ALLOW, ALWAYS},
    {"close", ALLOW, ALWAYS},
    {"fstat", ALLOW, ALWAYS},
    {"getdents64", ALLOW, ALWAYS},
    {"dup", ALLOW, ALWAYS},
    {"dup2", ALLOW, ALWAYS},
    {"dup3", ALLOW, ALWAYS},
    {"pipe", ALLOW, ALWAYS},
    {"pipe2", ALLOW, WHEN(1, LACKS, ~(uint64_t)(O_CLOEXEC | O_NONBLOCK))},
    {"poll", ALLOW, ALWAYS},
    {"ppoll", ALLOW, ALWAYS},
    {"fcntl", ALLOW, WHEN(1, IS, F_DUPFD)},
    {"fcntl", ALLOW, WHEN(1, IS, F_DUPFD_CLOEXEC)},
    {"fcntl", ALLOW, WHEN(1, IS, F_GETFD)},
    {"fcntl", ALLOW, WHEN(1, IS, F_SETFD)},
    {"fcntl", ALLOW, WHEN(1, IS, F_GETFL)},
    {"sendto", ALLOW, {{4, IS, 0, 0}, {5, IS, 0, 0}, {3, LACKS, ~(uint64_t)SEND_FLAGS, 0}}},
    {"recvfrom", ALLOW, WHEN(3, LACKS, ~(uint64_t)MSG_DONTWAIT)},
    /* what it asks about itself */
    {"uname", ALLOW, ALWAYS},
    {"sysinfo", ALLOW, ALWAYS},
    {"getrandom", ALLOW, ALWAYS},
    {"getuid", ALLOW, ALWAYS},
    {"geteuid", ALLOW, ALWAYS},
    {"getgid", ALLOW, ALWAYS},
    {"getegid", ALLOW, ALWAYS},
    {"getrlimit", ALLOW, ALWAYS},
    {"prlimit64", ALLOW, WHEN2(0, IS, 0, 2, IS, 0)},
    /* files: the warden opens in its place */
    {"open", ASK, ALWAYS},
    {"openat", ASK, ALWAYS},
};
/* clang-format on */

/* clang-format off */
static const call looking_by_warden[] = {
    {"newfstatat", ASK, ALWAYS},
};
/* clang-format on */

/* What a compiler, an assembler and a linker take beyond that. Whatever they start is held by the
 * same filter; what changes a folder is done by the warden. That a file exists, and how large it
 * is, may be seen; what is in it may not. */
/* clang-format off */
static const call compiling[] = {
    {"clone", START, WHEN(0, LACKS, NEW_NAMESPACES)},
    {"fork", START, ALWAYS},
    {"vfork", START, ALWAYS},
    {"execve", ALLOW, ALWAYS},
    {"arch_prctl", ALLOW, ALWAYS}, /* a new program sets up */
    {"wait4", ALLOW, ALWAYS},
    {"waitid", ALLOW, ALWAYS},
    {"pidfd_open", ALLOW, ALWAYS}, /* to wait for its end */
    {"setpgid", ALLOW, ALWAYS}, /* of its children */
    {"kill", ASK, WHEN(0, IS_NOT_SELF, 0)},
    {"prlimit64", ALLOW, WHEN(0, IS, 0)},
    {"prlimit64", ASK, WHEN(0, IS_NOT, 0)},
    {"umask", ALLOW, ALWAYS},
    {"getcwd", ALLOW, ALWAYS},
    {"chdir", ALLOW, ALWAYS},
    {"ioctl", ALLOW, WHEN(1, IS, TCGETS)},
    {"close_range", ALLOW, ALWAYS},
    {"fsync", ALLOW, ALWAYS},
    {"fdatasync", ALLOW, ALWAYS},
    {"getpgrp", ALLOW, ALWAYS},
    {"getpgid", ALLOW, WHEN(0, IS, 0)},
    /* looking */
    {"newfstatat", ALLOW, ALWAYS},
    {"stat", ALLOW, ALWAYS},
    {"lstat", ALLOW, ALWAYS},
    {"access", ALLOW, ALWAYS},
    {"faccessat", ALLOW, ALWAYS},
    {"faccessat2", ALLOW, ALWAYS},
    {"readlink", ALLOW, ALWAYS},
    {"readlinkat", ALLOW, ALWAYS},
    /* in its own folders, by the warden */
    {"unlink", ASK, ALWAYS},
    {"unlinkat", ASK, ALWAYS},
    {"rmdir", ASK, ALWAYS},
    {"mkdir", ASK, ALWAYS},
    {"mkdirat", ASK, ALWAYS},
    {"rename", ASK, ALWAYS},
    {"renameat", ASK, ALWAYS},
    {"renameat2", ASK, ALWAYS},
    {"chmod", ASK, ALWAYS},
    {"fchmodat", ASK, ALWAYS},
    {"fchmod", ASK, ALWAYS},
};
/* clang-format on */

/* What NVIDIA's driver takes beyond that, once its devices are open: requests of its own type, and
 * the numbers of its unified memory, which have none. On what else is open they mean nothing. */
#define NVIDIA_TYPE ((uint64_t)'F' << 8)
/* clang-format off */
static const call on_a_card[] = {
    {"newfstatat", ASK, ALWAYS},
    {"ioctl", ALLOW, {{1, BITS_ARE, NVIDIA_TYPE, 0xff00}}},
    {"ioctl", ALLOW, {{1, BITS_ARE, 0, ~(uint64_t)0xff}}},
    {"ioctl", ALLOW, WHEN(1, IS, 0x30000001)},
    {"ioctl", ALLOW, WHEN(1, IS, 0x30000002)},
};
/* clang-format on */

/* ---- the lists of a profile ---- */

typedef struct list {
    const call *calls;
    size_t count;
} list;

enum { LISTS = 2 };

static const list lists[][LISTS] = {
    [HONE_SANDBOX_CANDIDATE] = {{computing, HONE_COUNT(computing)},
                                {looking_by_warden, HONE_COUNT(looking_by_warden)}                    },
    [HONE_SANDBOX_COMPILER] = {{computing, HONE_COUNT(computing)},
                                {compiling, HONE_COUNT(compiling)}                                    },
    [HONE_SANDBOX_CARD] = {{computing, HONE_COUNT(computing)}, {on_a_card, HONE_COUNT(on_a_card)}},
};

const char *hone_filter_call_name(hone_sandbox_profile profile, size_t i) {
    for (size_t l = 0; l < LISTS; l++) {
        const list *in = &lists[profile][l];
        if (i < in->count) return in->calls[i].name;
        i -= in->count;
    }
    return NULL;
}

/* ---- making the filter ---- */

static struct scmp_arg_cmp compare(const condition *when, const hone_filter_facts *facts) {
    struct scmp_arg_cmp c = {
        .arg = when->argument, .op = SCMP_CMP_EQ, .datum_a = when->value, .datum_b = 0};
    switch (when->comparison) {
    case IS_NOT:
        c.op = SCMP_CMP_NE;
        break;
    case LACKS:
        c.op = SCMP_CMP_MASKED_EQ; /* datum_a is the mask */
        break;
    case BITS_ARE:
        c.op = SCMP_CMP_MASKED_EQ;
        c.datum_a = when->mask;
        c.datum_b = when->value;
        break;
    case IS_NOT_SELF:
        c.op = SCMP_CMP_NE;
        c.datum_a = (uint64_t)facts->pid;
        break;
    case IS_SELF:
        c.datum_a = (uint64_t)facts->pid;
        break;
    case IS:
    case ANYTHING:
        break;
    }
    return c;
}

/* A name that this architecture, or this libseccomp, does not know is not allowed then. */
static int add_call(scmp_filter_ctx filter, const call *c, const hone_filter_facts *facts) {
    struct scmp_arg_cmp conditions[MAX_CONDITIONS];
    unsigned count = 0;
    int number = seccomp_syscall_resolve_name(c->name);
    if (number == __NR_SCMP_ERROR) return 0;
    for (size_t i = 0; i < MAX_CONDITIONS; i++) {
        if (c->when[i].comparison != ANYTHING) conditions[count++] = compare(&c->when[i], facts);
    }
    const bool is_asked = c->verdict == ASK || (c->verdict == START && facts->counts_starts);
    int error = seccomp_rule_add_array(filter, is_asked ? SCMP_ACT_NOTIFY : SCMP_ACT_ALLOW, number,
                                       count, conditions);
    return error == -EDOM ? 0 : error;
}

/* Speculation stays as it is for everybody else: the switch would slow kernels down. */
static int fill(scmp_filter_ctx filter, hone_sandbox_profile profile,
                const hone_filter_facts *facts) {
    int error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (!error) error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (!error) error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
    for (size_t l = 0; l < LISTS && !error; l++) {
        const list *in = &lists[profile][l];
        for (size_t i = 0; i < in->count && !error; i++)
            error = add_call(filter, &in->calls[i], facts);
    }
    return error;
}

static hone_status filter_error(int error) {
    return HONE_ERROR(
        error == -ENOMEM ? HONE_CODE_NO_MEMORY : HONE_CODE_UNAVAILABLE,
        "this kernel does not filter system calls as a sandbox needs it (seccomp with "
        "user notification, Linux 5.9): %s",
        strerror(-error));
}

hone_status hone_filter_load(hone_sandbox_profile profile, const hone_filter_facts *facts,
                             int *out_listener) {
    *out_listener = -1;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter) return filter_error(-ENOMEM);
    int error = fill(filter, profile, facts);
    if (!error) error = seccomp_load(filter);
    if (!error) *out_listener = seccomp_notify_fd(filter);
    seccomp_release(filter);
    if (error) return filter_error(error);
    return *out_listener >= 0 ? HONE_OK : filter_error(-EOPNOTSUPP);
}

hone_status hone_filter_export(hone_sandbox_profile profile, const hone_filter_facts *facts,
                               const char *arch, int fd) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter) return filter_error(-ENOMEM);
    const uint32_t token = seccomp_arch_resolve_name(arch), native = seccomp_arch_native();
    int error = token ? 0 : -EINVAL;
    if (!error && token != native) {
        error = seccomp_arch_add(filter, token);
        if (!error) error = seccomp_arch_remove(filter, native);
    }
    if (!error) error = fill(filter, profile, facts);
    if (!error) error = seccomp_export_bpf(filter, fd);
    seccomp_release(filter);
    return error ? filter_error(error) : HONE_OK;
}
