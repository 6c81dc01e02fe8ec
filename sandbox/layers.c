/* sandbox/layers.c - namespaces, users, Landlock (Linux Documentation/userspace-api/landlock.rst),
 * limits. */
#include "sandbox/layers.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/core/attributes.h"
#include "support/os/proc.h"

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

enum { MAX_OPEN_FILES = 512, FIRST_USER = 0x70000000, NOBODY = 65534 };

/* ---- namespaces ---- */

bool hone_layer_namespaces(void) {
    const int spaces = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET;
    return unshare(spaces) == 0 || unshare(CLONE_NEWUSER | spaces) == 0;
}

/* ---- user ---- */

static bool become(uid_t user) {
    if (setgroups(0, NULL) && errno != EPERM) return false;
    return !setresgid(user, user, user) && !setresuid(user, user, user);
}

/* A number that nobody else has: two held processes are strangers to each other. A container may
 * know only the first 65,536. */
uid_t hone_layer_user(pid_t number, bool has_namespaces) {
    if (geteuid() != 0) return 0;
    uid_t user = FIRST_USER + (uid_t)number;
    if (!become(user)) {
        user = NOBODY;
        if (!become(user)) return 0;
    }
    if (has_namespaces) (void)!unshare(CLONE_NEWUSER);
    return user;
}

/* A root without capabilities owns its files and nothing else, and gets none back from a program
 * that it starts, since the filter comes with PR_SET_NO_NEW_PRIVS. */
bool hone_layer_capabilities(void) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return geteuid() == 0 && syscall(SYS_capset, &head, none) == 0;
}

/* ---- Landlock ---- */

/* As in linux/landlock.h, of which this machine's may be older than its kernel. */
typedef struct landlock_ruleset {
    uint64_t files, network, scopes;
} landlock_ruleset;

typedef struct __attribute__((packed)) landlock_path {
    uint64_t allowed;
    int32_t folder_fd;
} landlock_path;

#define LANDLOCK_VERSION 1u
#define LANDLOCK_PATH_BENEATH 1
#define LANDLOCK_EXECUTE (UINT64_C(1) << 0)
#define LANDLOCK_READ_FILE (UINT64_C(1) << 2)

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

/* All rights that a version of the interface knows. */
static landlock_ruleset all_rights(int version) {
    int files = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    return (landlock_ruleset){.files = (UINT64_C(1) << files) - 1,
                              .network = version >= 4 ? 3 : 0,
                              .scopes = version >= 6 ? 3 : 0};
}

static void allow_to_start(int ruleset, const char *folder) {
    landlock_path rule = {LANDLOCK_EXECUTE | LANDLOCK_READ_FILE, open(folder, O_PATH | O_CLOEXEC)};
    if (rule.folder_fd < 0) return;
    (void)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_PATH_BENEATH, &rule, 0u);
    close(rule.folder_fd);
}

int hone_layer_landlock(const hone_loader_dirs *toolchain) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_VERSION);
    if (version < 1) return 0;
    const landlock_ruleset rights = all_rights((int)version);
    size_t bytes = version >= 6   ? sizeof rights
                   : version >= 4 ? offsetof(landlock_ruleset, scopes)
                                  : offsetof(landlock_ruleset, network);
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rights, bytes, 0u);
    if (ruleset < 0) return 0;
    for (size_t i = 0; i < toolchain->count; i++)
        allow_to_start(ruleset, toolchain->data[i]);
    bool done = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
                !syscall(SYS_landlock_restrict_self, ruleset, 0u);
    close(ruleset);
    return done ? (int)version : 0;
}

/* ---- limits ---- */

static uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static hone_status limit_twice(int resource, const char *what, uint64_t soft, uint64_t hard) {
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now)) now.rlim_max = RLIM_INFINITY;
    const struct rlimit wanted = {lesser(soft, now.rlim_max), lesser(hard, now.rlim_max)};
    if (setrlimit((__rlimit_resource_t)resource, &wanted)) {
        return HONE_ERROR(HONE_CODE_IO, "limiting %s to %llu: %s", what, (unsigned long long)soft,
                          strerror(errno));
    }
    return HONE_OK;
}

static hone_status limit(int resource, const char *what, uint64_t value) {
    return limit_twice(resource, what, value, value);
}

hone_status hone_layer_limits(const hone_sandbox_options *options) {
    HONE_TRY(limit(RLIMIT_CORE, "core dumps", 0));
    /* sanitizers reserve terabytes of address space */
    if (options->memory_bytes > 0 && !UNDER_SANITIZER) {
        HONE_TRY(limit(RLIMIT_AS, "address space", (uint64_t)options->memory_bytes));
    }
    if (options->file_bytes > 0) {
        signal(SIGXFSZ, SIG_IGN); /* writing fails instead of killing */
        HONE_TRY(limit(RLIMIT_FSIZE, "file size", (uint64_t)options->file_bytes));
    }
    if (options->cpu_seconds > 0) {
        uint64_t seconds = (uint64_t)options->cpu_seconds;
        HONE_TRY(
            limit_twice(RLIMIT_CPU, "CPU time", seconds, seconds + HONE_PROC_CPU_GRACE_SECONDS));
    }
    HONE_TRY(limit(RLIMIT_NOFILE, "open files", MAX_OPEN_FILES));
    HONE_TRY(limit(RLIMIT_MSGQUEUE, "message queues", 0));
    return limit(RLIMIT_NPROC, "threads",
                 HONE_SANDBOX_MAX_THREADS); /* of a user that is not root */
}
