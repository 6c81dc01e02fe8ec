/* tests/sandbox/test_asked.c - a held process that changes what it asks about while it is judged.
 * This process plays the warden for a child of its own. */
#include "sandbox/asked.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/channel.h"
#include "sandbox/filter.h"
#include "sandbox/sandbox.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

enum {
    CHANNEL_FD = 301,
    FLIPPED_FD = 302,
    OWN_FD = 303,
    OTHER_FD = 304,
    STRANGER_FD = 305,
    TRIES = 20000
};

static char *dir, *folder, *own, *other;
static uint32_t started_before;

/* ---- the held child ---- */

static bool become_held(int channel) {
    hone_channel_packet hello = {.word = HONE_CHANNEL_HELLO}, answer;
    int listener = -1;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (dup2(channel, CHANNEL_FD) < 0) return false;
    const hone_filter_facts facts = {.pid = getpid(), .counts_starts = true};
    hone_status st = hone_filter_load(HONE_SANDBOX_COMPILER, &facts, &listener);
    if (hone_status_consume(st) != HONE_CODE_OK) return false;
    hello.number = listener;
    bool is_heard =
        hone_channel_send(CHANNEL_FD, &hello) && hone_channel_receive(CHANNEL_FD, &answer);
    close(listener);
    return is_heard;
}

static void *flip(void *unused) {
    for (;;) {
        dup2(OTHER_FD, FLIPPED_FD);
        dup2(OWN_FD, FLIPPED_FD);
    }
    return unused;
}

/* Its own file may get a mode, the other may not, and one number means now this and now that. */
static int change_modes(void) {
    pthread_t thread;
    int changed = 0, refused = 0;
    if (dup2(open(own, O_RDWR), OWN_FD) < 0 || dup2(open(other, O_RDONLY), OTHER_FD) < 0) return 2;
    if (dup2(OWN_FD, FLIPPED_FD) < 0 || pthread_create(&thread, NULL, flip, NULL)) return 3;
    for (int i = 0; i < TRIES; i++) {
        bool is_changed = syscall(SYS_fchmod, FLIPPED_FD, 0606) == 0;
        changed += is_changed;
        refused += !is_changed;
    }
    return changed > 0 && refused > 0 ? 0 : 4;
}

static int change_both(void) {
    if (dup2(open(own, O_RDWR), OWN_FD) < 0 || dup2(open(other, O_RDONLY), OTHER_FD) < 0) return 2;
    if (syscall(SYS_fchmod, OWN_FD, 06604) != 0) return 3;
    if (syscall(SYS_fchmod, OTHER_FD, 0606) == 0 || errno != EACCES) return 4;
    return syscall(SYS_fchmod, 999, 0606) == 0 || errno != EBADF ? 5 : 0;
}

/* What it started may be signalled and limited, by one number or as a group; nobody else may, and
 * nothing is raised. Numbers mean what they mean outside: there are no namespaces here. */
static int reach_others(void) {
    const struct rlimit less = {100, 100}, more = {150, 200};
    pid_t child = fork();
    if (child == 0) _exit(poll(NULL, 0, 20000));
    if (setpgid(child, child) != 0 || write(STRANGER_FD, &child, sizeof child) != sizeof child)
        return 2;
    char ready;
    if (read(STRANGER_FD, &ready, 1) != 1) return 3;
    if (prlimit(child, RLIMIT_NOFILE, &less, NULL) != 0) return 4;
    if (prlimit(child, RLIMIT_NOFILE, &more, NULL) == 0) return 5;
    if (prlimit(getppid(), RLIMIT_NOFILE, &less, NULL) == 0) return 6;
    if (kill(child, 0) != 0 || kill(getppid(), 0) == 0) return 7;
    if (kill(0, 0) == 0 || kill(-1, 0) == 0 || kill(1, 0) == 0) return 8;
    if (kill(-child, SIGKILL) != 0) return 9;
    return waitpid(child, NULL, 0) == child ? 0 : 10;
}

/* As thread libraries do; by its number, which may mean nobody else's thread. */
static int bind_threads(void) {
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return 2;
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    }
    if (sched_setaffinity(getpid(), sizeof one, &one) != 0) return 3;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || !CPU_EQUAL(&one, &all)) return 4;
    return sched_setaffinity(getppid(), sizeof one, &one) == 0 ? 5 : 0;
}

static int start_three(void) {
    int started = 0;
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        if (child > 0) started++;
        if (child < 0 && errno != EAGAIN) return 2;
    }
    return started == 2 ? 0 : 3;
}

/* ---- the warden ---- */

static void answer_until_end(int channel, hone_file_policy *policy, pid_t child) {
    hone_channel_packet hello;
    pid_t pid = 0;
    assert_true(hone_channel_receive_first(channel, &hello, &pid));
    assert_int_equal(pid, child);
    hone_asked_facts facts = {.policy = policy,
                              .held_pid = child,
                              .held_pidfd = (int)syscall(SYS_pidfd_open, child, 0),
                              .started = started_before};
    int listener = hone_pidfd_getfd(facts.held_pidfd, (int)hello.number);
    assert_true(listener >= 0 && hone_channel_send(channel, &hello));
    /* until Linux 6.11 the listener of a process that has ended hangs up when it is reaped */
    struct pollfd wait[] = {
        {.fd = listener,         .events = POLLIN},
        {.fd = facts.held_pidfd, .events = POLLIN},
    };
    while (poll(wait, 2, -1) > 0 && (wait[0].revents & POLLIN) &&
           hone_asked_answer(listener, &facts)) {
    }
    close(facts.held_pidfd);
    close(listener);
}

static int run_held(int (*what)(void)) {
    const int yes = 1;
    int pair[2], status = 0;
    hone_file_policy *policy = NULL;
    HONE_ASSERT_OK(hone_file_policy_create(HONE_SANDBOX_COMPILER, NULL, &policy));
    HONE_ASSERT_OK(hone_file_policy_grant(policy, HONE_FILE_FOLDER, folder));
    HONE_ASSERT_OK(hone_file_policy_grant(policy, HONE_FILE_READ, other));
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
    pid_t child = fork();
    if (child == 0) _exit(become_held(pair[1]) ? what() : 77);
    close(pair[1]);
    answer_until_end(pair[0], policy, child);
    close(pair[0]);
    hone_file_policy_destroy(policy);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- the tests ---- */

static unsigned mode_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? info.st_mode & 07777 : 0;
}

static int begin(void **state) {
    (void)state;
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-asked", &dir));
    folder = hone_path_join(dir, "folder");
    own = hone_path_join(folder, "own");
    other = hone_path_join(dir, "other");
    assert_int_equal(mkdir(folder, 0700), 0);
    HONE_ASSERT_OK(hone_fs_write_atomic(own, "own", 3));
    HONE_ASSERT_OK(hone_fs_write_atomic(other, "other", 5));
    assert_int_equal(chmod(other, 0644), 0);
    return 0;
}

static int end(void **state) {
    (void)state;
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
    hone_free(folder);
    hone_free(own);
    hone_free(other);
    return 0;
}

static void modes_are_those_of_its_own_files(void **state) {
    (void)state;
    assert_int_equal(run_held(change_both), 0);
    assert_int_equal(mode_of(own), 0604);
    assert_int_equal(mode_of(other), 0644);
}

static void a_number_that_changes_hands_changes_nothing(void **state) {
    (void)state;
    assert_int_equal(run_held(change_modes), 0);
    assert_int_equal(mode_of(own), 0606);
    assert_int_equal(mode_of(other), 0644);
}

/* Nobody that was started in here, but in the group of one who was. */
static pid_t start_stranger(void) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    pid_t stranger = fork();
    if (stranger == 0) {
        pid_t group;
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (read(pair[1], &group, sizeof group) != sizeof group || setpgid(0, group) != 0) _exit(1);
        if (write(pair[1], "", 1) != 1) _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(dup2(pair[0], STRANGER_FD), STRANGER_FD);
    close(pair[0]);
    close(pair[1]);
    return stranger;
}

static void strangers_are_out_of_reach(void **state) {
    (void)state;
    pid_t stranger = start_stranger();
    int result = run_held(reach_others);
    close(STRANGER_FD);
    bool is_alive = waitpid(stranger, NULL, WNOHANG) == 0;
    if (is_alive) {
        kill(stranger, SIGKILL);
        waitpid(stranger, NULL, 0);
    }
    assert_int_equal(result, 0);
    assert_true(is_alive);
}

static void threads_are_bound_that_are_its_own(void **state) {
    (void)state;
    assert_int_equal(run_held(bind_threads), 0);
}

static void starts_are_counted(void **state) {
    (void)state;
    started_before = HONE_SANDBOX_MAX_THREADS - 2;
    int result = run_held(start_three);
    started_before = 0;
    assert_int_equal(result, 0);
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        STORY(modes_are_those_of_its_own_files),
        STORY(a_number_that_changes_hands_changes_nothing),
        STORY(strangers_are_out_of_reach),
        STORY(threads_are_bound_that_are_its_own),
        STORY(starts_are_counted),
    };
    return cmocka_run_group_tests_name("sandbox/asked", tests, NULL, NULL);
}
