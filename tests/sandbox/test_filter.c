/* tests/sandbox/test_filter.c - what each system call gets, on both architectures, call by call. */
#include "sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "tests/sandbox/bpf_program.h"
#include "tests/support/hone_test.h"

#define SELF 4711
#define HIGH (UINT64_C(1) << 32)
#define ANY_POINTER UINT64_C(0x7fff12345678)
#define THREAD UINT64_C(0x3d0f00)   /* of glibc's pthread_create, from its strace */
#define DETACHED UINT64_C(0x400000) /* which musl adds */
#define CHILD UINT64_C(0x1200011)   /* of fork(3) */

typedef enum verdict { NO, YES, ASK, KILL, SOME } verdict;

static const char *const profiles[] = {"candidate", "compiler", "card"};
static const char *const verdicts[] = {"no", "yes", "ask", "kill", "some"};
static const hone_filter_facts facts = {.pid = SELF};

typedef struct expected_call {
    const char *name;
    verdict of[2]; /* hone_sandbox_profile */
} expected_call;

/* clang-format off */
static const expected_call expected[] = {
#define HONE_EXPECTED(name, candidate, compiler) {#name, {candidate, compiler}},
#include "tests/sandbox/expected_calls.def"
#undef HONE_EXPECTED
};
/* clang-format on */
enum { EXPECTED = sizeof expected / sizeof *expected };

static const struct machine {
    const char *name;
    uint32_t audit;
} machines[] = {
    {"x86_64",  AUDIT_ARCH_X86_64 },
    {"aarch64", AUDIT_ARCH_AARCH64},
};

/* ---- arguments ---- */

/* clang-format off */
static const struct row {
    const char *name;
    uint64_t args[6];
    verdict candidate, compiler;
} rows[] = {
    {"madvise", {ANY_POINTER, 4096, MADV_DONTNEED}, YES, YES},
    {"madvise", {ANY_POINTER, 4096, MADV_HUGEPAGE}, YES, YES},
    {"madvise", {ANY_POINTER, 4096, 25}, YES, YES},
    {"madvise", {ANY_POINTER, 4096, 100}, NO, NO},
    {"madvise", {ANY_POINTER, 4096, 101}, NO, NO},
    {"madvise", {ANY_POINTER, 4096, HIGH | 4}, NO, NO},
    {"memfd_create", {ANY_POINTER, 0}, YES, YES},
    {"memfd_create", {ANY_POINTER, MFD_CLOEXEC | MFD_ALLOW_SEALING}, YES, YES},
    {"memfd_create", {ANY_POINTER, MFD_HUGETLB}, NO, NO},
    {"memfd_create", {ANY_POINTER, MFD_CLOEXEC | HIGH}, NO, NO},
    {"clone", {THREAD}, YES, YES},
    {"clone", {THREAD | DETACHED}, YES, YES},
    {"clone", {THREAD | HIGH}, NO, YES},
    {"clone", {THREAD | SIGCHLD}, NO, YES},
    {"clone", {THREAD | CLONE_VFORK}, NO, YES},
    {"clone", {THREAD | CLONE_PIDFD}, NO, YES},
    {"clone", {THREAD | CLONE_UNTRACED}, NO, YES},
    {"clone", {THREAD | CLONE_IO}, NO, YES},
    {"clone", {THREAD | CLONE_PARENT}, NO, NO},
    {"clone", {THREAD | CLONE_PTRACE}, NO, NO},
    {"clone", {THREAD | CLONE_NEWUSER}, NO, NO},
    {"clone", {THREAD & ~(uint64_t)CLONE_THREAD}, NO, YES},
    {"clone", {THREAD & ~(uint64_t)CLONE_SIGHAND}, NO, YES},
    {"clone", {0}, NO, YES},
    {"clone", {SIGCHLD}, NO, YES},
    {"clone", {CHILD}, NO, YES},
    {"clone", {CLONE_VM | CLONE_VFORK | SIGCHLD}, NO, YES},
    {"clone", {CLONE_NEWUSER | SIGCHLD}, NO, NO},
    {"clone", {CLONE_NEWPID | SIGCHLD}, NO, NO},
    {"clone", {CLONE_NEWNET | SIGCHLD}, NO, NO},
    {"clone", {CLONE_NEWNS | SIGCHLD}, NO, NO},
    {"clone", {CLONE_NEWIPC | SIGCHLD}, NO, NO},
    {"clone", {CLONE_NEWUTS | SIGCHLD}, NO, NO},
    {"clone", {CLONE_NEWCGROUP | SIGCHLD}, NO, NO},
    {"clone", {CLONE_PARENT | SIGCHLD}, NO, NO},
    {"sched_setaffinity", {0, 8, ANY_POINTER}, YES, YES},
    {"sched_setaffinity", {SELF, 8, ANY_POINTER}, ASK, ASK},
    {"sched_setaffinity", {1, 8, ANY_POINTER}, ASK, ASK},
    {"sched_setaffinity", {HIGH, 8, ANY_POINTER}, ASK, ASK},
    {"prctl", {PR_SET_NAME, ANY_POINTER}, YES, YES},
    {"prctl", {PR_GET_NAME, ANY_POINTER}, YES, YES},
    {"prctl", {0x53564d41, 0, ANY_POINTER}, YES, YES},
    {"prctl", {PR_SET_NAME | HIGH, ANY_POINTER}, NO, NO},
    {"prctl", {PR_SET_DUMPABLE, 1}, NO, NO},
    {"prctl", {PR_SET_PDEATHSIG, 0}, NO, NO},
    {"prctl", {PR_SET_SECCOMP, 1}, NO, NO},
    {"prctl", {PR_SET_MM, 1}, NO, NO},
    {"prctl", {PR_SET_PTRACER, UINT64_MAX}, NO, NO},
    {"prctl", {PR_SET_CHILD_SUBREAPER, 1}, NO, NO},
    {"prctl", {PR_CAP_AMBIENT, 4}, NO, NO},
    {"arch_prctl", {0x1021, ANY_POINTER}, YES, YES},
    {"arch_prctl", {0x1022, ANY_POINTER}, YES, YES},
    {"arch_prctl", {0x1023, 18}, YES, YES},
    {"arch_prctl", {0x1002, ANY_POINTER}, NO, YES},
    {"arch_prctl", {0x1012, 0}, NO, YES},
    {"kill", {SELF, SIGKILL}, YES, YES},
    {"kill", {SELF | HIGH, SIGKILL}, NO, ASK},
    {"kill", {0, SIGKILL}, NO, ASK},
    {"kill", {1, SIGKILL}, NO, ASK},
    {"kill", {UINT64_MAX, SIGKILL}, NO, ASK},
    {"kill", {(uint32_t)-1, SIGKILL}, NO, ASK},
    {"kill", {(uint64_t)-SELF, SIGKILL}, NO, ASK},
    {"kill", {SELF + 1, 0}, NO, ASK},
    {"tgkill", {SELF, SELF, SIGABRT}, YES, YES},
    {"tgkill", {SELF, 1, SIGABRT}, YES, YES}, /* no thread of SELF */
    {"tgkill", {SELF + 1, SELF, SIGABRT}, NO, NO},
    {"tgkill", {UINT64_MAX, SELF, SIGABRT}, NO, NO},
    {"tgkill", {SELF | HIGH, SELF, SIGABRT}, NO, NO},
    {"pipe2", {ANY_POINTER, 0}, YES, YES},
    {"pipe2", {ANY_POINTER, O_CLOEXEC | O_NONBLOCK}, YES, YES},
    {"pipe2", {ANY_POINTER, O_EXCL}, NO, NO},
    {"pipe2", {ANY_POINTER, O_DIRECT}, NO, NO},
    {"pipe2", {ANY_POINTER, HIGH}, NO, NO},
    {"fcntl", {3, F_DUPFD, 100}, YES, YES},
    {"fcntl", {3, F_DUPFD_CLOEXEC, 100}, YES, YES},
    {"fcntl", {3, F_GETFD}, YES, YES},
    {"fcntl", {3, F_SETFD, 1}, YES, YES},
    {"fcntl", {3, F_GETFL}, YES, YES},
    {"fcntl", {3, F_SETFL, O_ASYNC}, NO, NO},
    {"fcntl", {3, F_SETOWN, 1}, NO, NO},
    {"fcntl", {3, F_SETOWN_EX, ANY_POINTER}, NO, NO},
    {"fcntl", {3, F_SETSIG, SIGKILL}, NO, NO},
    {"fcntl", {3, F_SETLK, ANY_POINTER}, NO, NO},
    {"fcntl", {3, F_OFD_SETLK, ANY_POINTER}, NO, NO},
    {"fcntl", {3, F_SETLEASE, 0}, NO, NO},
    {"fcntl", {3, F_ADD_SEALS, 8}, NO, NO},
    {"fcntl", {3, F_GETFD | HIGH}, NO, NO},
    {"sendto", {300, ANY_POINTER, 8, MSG_NOSIGNAL, 0, 0}, YES, YES},
    {"sendto", {300, ANY_POINTER, 8, 0, ANY_POINTER, 16}, NO, NO},
    {"sendto", {300, ANY_POINTER, 8, 0, 0, 16}, NO, NO},
    {"sendto", {300, ANY_POINTER, 8, 0, HIGH, 0}, NO, NO},
    {"sendto", {300, ANY_POINTER, 8, 0, 0, HIGH}, NO, NO},
    {"sendto", {300, ANY_POINTER, 8, MSG_NOSIGNAL | MSG_MORE | MSG_DONTWAIT}, YES, YES},
    {"sendto", {300, ANY_POINTER, 8, MSG_OOB}, NO, NO},
    {"sendto", {300, ANY_POINTER, 8, MSG_ZEROCOPY}, NO, NO},
    {"sendto", {300, ANY_POINTER, 8, HIGH}, NO, NO},
    {"recvfrom", {300, ANY_POINTER, 8, 0}, YES, YES},
    {"recvfrom", {300, ANY_POINTER, 8, MSG_DONTWAIT}, YES, YES},
    {"recvfrom", {300, ANY_POINTER, 8, MSG_OOB}, NO, NO},
    {"recvfrom", {300, ANY_POINTER, 8, MSG_ERRQUEUE}, NO, NO},
    {"recvfrom", {300, ANY_POINTER, 8, HIGH}, NO, NO},
    {"prlimit64", {0, 7, 0, ANY_POINTER}, YES, YES},
    {"prlimit64", {SELF, 7, 0, ANY_POINTER}, NO, ASK},
    {"prlimit64", {0, 7, ANY_POINTER, 0}, NO, YES},
    {"prlimit64", {0, 7, HIGH, 0}, NO, YES},
    {"prlimit64", {HIGH, 7, 0, ANY_POINTER}, NO, ASK},
    {"prlimit64", {SELF, 7, HIGH, 0}, NO, ASK},
    {"prlimit64", {SELF + 1, 7, 0, ANY_POINTER}, NO, ASK},
    {"prlimit64", {SELF + 1, 7, HIGH, 0}, NO, ASK},
    {"prlimit64", {1, 7, ANY_POINTER, 0}, NO, ASK},
    {"ioctl", {1, TCGETS, ANY_POINTER}, NO, YES},
    {"ioctl", {1, TCGETS | HIGH, ANY_POINTER}, NO, NO},
    {"ioctl", {1, TIOCSTI, ANY_POINTER}, NO, NO},
    {"ioctl", {1, FIOASYNC, ANY_POINTER}, NO, NO},
    {"getpgid", {0}, NO, YES},
    {"getpgid", {1}, NO, NO},
};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- asking ---- */

static verdict ask(const bpf_program *program, uint32_t audit, int number, const uint64_t *args) {
    struct seccomp_data data = {.nr = number, .arch = audit};
    memcpy(data.args, args, sizeof data.args);
    switch (bpf_program_run(program, &data)) {
    case SECCOMP_RET_ALLOW:
        return YES;
    case SECCOMP_RET_USER_NOTIF:
        return ASK;
    case SECCOMP_RET_ERRNO | ENOSYS:
        return NO;
    case SECCOMP_RET_KILL_PROCESS:
        return KILL;
    default:
        return SOME;
    }
}

/* Below 0 where the machine has no such call. */
static int number_of(const struct machine *machine, const char *name) {
    return seccomp_syscall_resolve_name_arch(seccomp_arch_resolve_name(machine->name), name);
}

static void expect(const struct machine *machine, int profile, const bpf_program *program,
                   int number, const char *name, const uint64_t *args, verdict want) {
    verdict got = ask(program, machine->audit, number, args);
    if (got == want) return;
    fail_msg("%s, %s: call %d (%s) with %#llx, %#llx, %#llx, … gets '%s', want '%s'", machine->name,
             profiles[profile], number, name, (unsigned long long)args[0],
             (unsigned long long)args[1], (unsigned long long)args[2], verdicts[got],
             verdicts[want]);
}

typedef void (*with_program)(const struct machine *machine, int profile,
                             const bpf_program *program);

static void for_each_program(with_program check) {
    static bpf_program program;
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        for (int profile = HONE_SANDBOX_CANDIDATE; profile <= HONE_SANDBOX_COMPILER; profile++) {
            bpf_program_export((hone_sandbox_profile)profile, &facts, machines[m].name, &program);
            check(&machines[m], profile, &program);
        }
    }
}

/* ---- the tests ---- */

static const expected_call *find_expected(const struct machine *machine, int number) {
    for (int i = 0; i < EXPECTED; i++) {
        if (number_of(machine, expected[i].name) == number) return &expected[i];
    }
    return NULL;
}

static void check_numbers(const struct machine *machine, int profile, const bpf_program *program) {
    static const uint64_t nothing[6],
        all[6] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (int number = 0; number < 1024; number++) {
        const expected_call *e = find_expected(machine, number);
        verdict want = e ? e->of[profile] : NO;
        if (want == SOME) continue;
        expect(machine, profile, program, number, e ? e->name : "not listed", nothing, want);
        expect(machine, profile, program, number, e ? e->name : "not listed", all, want);
    }
}

static void every_number_gets_what_is_listed(void **state) {
    (void)state;
    for_each_program(check_numbers);
}

static void check_arguments(const struct machine *machine, int profile,
                            const bpf_program *program) {
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        int number = number_of(machine, row->name);
        if (number < 0) continue;
        expect(machine, profile, program, number, row->name, row->args,
               profile == HONE_SANDBOX_CANDIDATE ? row->candidate : row->compiler);
    }
}

static void arguments_count_with_all_their_bits(void **state) {
    (void)state;
    for_each_program(check_arguments);
}

/* Each bit that is not in what pthread_create passes makes it another call. */
static void check_clone(const struct machine *machine, int profile, const bpf_program *program) {
    int number = number_of(machine, "clone");
    for (int bit = 0; bit < 64 && profile == HONE_SANDBOX_CANDIDATE; bit++) {
        const uint64_t args[6] = {THREAD ^ (UINT64_C(1) << bit)};
        expect(machine, profile, program, number, "clone", args,
               args[0] == (THREAD | DETACHED) ? YES : NO);
    }
}

static void threads_are_made_with_exactly_these_flags(void **state) {
    (void)state;
    for_each_program(check_clone);
}

static void starts_are_asked_for_where_they_are_counted(void **state) {
    static const hone_filter_facts counting = {.pid = SELF, .counts_starts = true};
    static const struct {
        const char *name;
        uint64_t args[6];
        verdict want[2];
    } starts[] = {
        {"clone", {THREAD},                  {ASK, ASK}},
        {"clone", {CHILD},                   {NO, ASK} },
        {"clone", {CLONE_NEWUSER | SIGCHLD}, {NO, NO}  },
        {"fork",  {0},                       {NO, ASK} },
        {"vfork", {0},                       {NO, ASK} },
    };
    static bpf_program program;
    (void)state;
    for (int profile = HONE_SANDBOX_CANDIDATE; profile <= HONE_SANDBOX_COMPILER; profile++) {
        for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
            bpf_program_export((hone_sandbox_profile)profile, &counting, machines[m].name,
                               &program);
            for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
                int number = number_of(&machines[m], starts[i].name);
                if (number < 0) continue;
                expect(&machines[m], profile, &program, number, starts[i].name, starts[i].args,
                       starts[i].want[profile]);
            }
        }
    }
}

static void check_foreign(const struct machine *machine, int profile, const bpf_program *program) {
    static const uint32_t others[] = {AUDIT_ARCH_I386,   AUDIT_ARCH_ARM,    AUDIT_ARCH_PPC64LE, 0,
                                      AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64};
    static const uint64_t nothing[6];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] == machine->audit) continue;
        const struct machine other = {machine->name, others[i]};
        for (int number = 0; number < 512; number++)
            expect(&other, profile, program, number, "of another machine", nothing, KILL);
    }
}

static void calls_of_another_machine_kill(void **state) {
    (void)state;
    for_each_program(check_foreign);
}

/* x32: calls of the same machine with a bit in their number. */
static void check_x32(const struct machine *machine, int profile, const bpf_program *program) {
    static const uint64_t nothing[6];
    if (machine->audit != AUDIT_ARCH_X86_64) return;
    for (int number = 0; number < 1024; number++)
        expect(machine, profile, program, 0x40000000 | number, "x32", nothing, KILL);
    expect(machine, profile, program, -1, "no call", nothing, NO);
}

static void calls_of_x32_kill(void **state) {
    (void)state;
    for_each_program(check_x32);
}

/* A call that gets this or that by its arguments has cases above. */
static void what_depends_has_cases(void **state) {
    (void)state;
    for (int i = 0; i < EXPECTED; i++) {
        bool depends = expected[i].of[0] == SOME || expected[i].of[1] == SOME, has_case = false;
        for (int r = 0; r < ROWS; r++)
            has_case |= strcmp(rows[r].name, expected[i].name) == 0;
        if (depends != has_case) fail_msg("'%s' depends, or has cases", expected[i].name);
    }
}

/* libseccomp skips what it does not know: then a word that is spelt wrongly would, too. */
static void names_are_those_of_calls(void **state) {
    const char *name;
    (void)state;
    for (int profile = HONE_SANDBOX_CANDIDATE; profile <= HONE_SANDBOX_COMPILER; profile++) {
        for (size_t i = 0; (name = hone_filter_call_name((hone_sandbox_profile)profile, i)); i++) {
            if (seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR) fail_msg("'%s'", name);
        }
        assert_true(hone_filter_call_name((hone_sandbox_profile)profile, 0) != NULL);
    }
}

/* A candidate of a card gets what others do, and speaks to NVIDIA's driver. */
static void cards_add_requests_to_their_driver(void **state) {
    static const struct {
        uint64_t request;
        verdict want;
    } requests[] = {
        {0xc020462a,         YES}, /* _IOWR('F', 0x2a, 32): NV_ESC_RM_CONTROL */
        {0xffffffffc020462a, YES}, /* as an int that is below 0 */
        {0x46d6,             YES},
        {0x4700,             NO },
        {1,                  YES}, /* of unified memory */
        {71,                 YES},
        {0x30000001,         YES},
        {0x30000002,         YES},
        {0x30000003,         NO },
        {HIGH | 1,           NO },
        {0x30000001 | HIGH,  NO },
        {256,                NO },
        {TCGETS,             NO },
        {TIOCSTI,            NO },
        {FIOASYNC,           NO },
        {FIONBIO,            NO },
    };
    static const uint64_t nothing[6];
    static bpf_program card, candidate;
    (void)state;
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        const struct machine *machine = &machines[m];
        const int ioctl_number = number_of(machine, "ioctl");
        bpf_program_export(HONE_SANDBOX_CARD, &facts, machine->name, &card);
        bpf_program_export(HONE_SANDBOX_CANDIDATE, &facts, machine->name, &candidate);
        for (int number = 0; number < 1024; number++) {
            if (number == ioctl_number) continue;
            verdict want = ask(&candidate, machine->audit, number, nothing);
            expect(machine, HONE_SANDBOX_CARD, &card, number, "any", nothing, want);
        }
        for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
            const uint64_t args[6] = {3, requests[i].request, ANY_POINTER};
            expect(machine, HONE_SANDBOX_CARD, &card, ioctl_number, "ioctl", args,
                   requests[i].want);
        }
    }
}

static void refuses_machines_that_it_does_not_know(void **state) {
    (void)state;
    HONE_ASSERT_CODE(hone_filter_export(HONE_SANDBOX_CANDIDATE, &facts, "pdp11", -1),
                     HONE_CODE_UNAVAILABLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_gets_what_is_listed),
        cmocka_unit_test(arguments_count_with_all_their_bits),
        cmocka_unit_test(threads_are_made_with_exactly_these_flags),
        cmocka_unit_test(starts_are_asked_for_where_they_are_counted),
        cmocka_unit_test(calls_of_another_machine_kill),
        cmocka_unit_test(calls_of_x32_kill),
        cmocka_unit_test(cards_add_requests_to_their_driver),
        cmocka_unit_test(what_depends_has_cases),
        cmocka_unit_test(names_are_those_of_calls),
        cmocka_unit_test(refuses_machines_that_it_does_not_know),
    };
    return cmocka_run_group_tests_name("sandbox/filter", tests, NULL, NULL);
}
