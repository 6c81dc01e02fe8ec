/* tests/conformance/escape_victims.c - see escape_victims.h. */
#include "tests/conformance/escape_victims.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

#define SECRET "what a candidate must never read"
#define MEMORY UINT64_C(0x1234567890abcdef)

static uint64_t memory = MEMORY; /* of the victim, too: it is forked */

/* ---- making ---- */

static void name_path(const escape_victims *v, char out[160], const char *name) {
    assert_true(snprintf(out, 160, "%s/%s", v->dir, name) < 160);
}

static void make_files(escape_victims *v) {
    escape_world *w = &v->world;
    char doomed2[160], empty[160];
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-escape", &v->dir));
    assert_true(snprintf(w->dir, sizeof w->dir, "%s", v->dir) < (int)sizeof w->dir);
    name_path(v, w->file, "file");
    name_path(v, w->doomed, "doomed");
    name_path(v, w->fifo, "fifo");
    name_path(v, w->link, "link");
    name_path(v, doomed2, "doomed2");
    name_path(v, empty, "empty");
    HONE_ASSERT_OK(hone_fs_write_atomic(w->file, SECRET, sizeof SECRET));
    HONE_ASSERT_OK(hone_fs_write_atomic(w->doomed, SECRET, sizeof SECRET));
    HONE_ASSERT_OK(hone_fs_write_atomic(doomed2, SECRET, sizeof SECRET));
    assert_int_equal(mkfifo(w->fifo, 0666), 0);
    assert_int_equal(symlink(w->file, w->link), 0);
    assert_int_equal(mkdir(empty, 0755), 0);
}

static void remember_paths(escape_victims *v) {
    const char *paths[ESCAPE_VICTIM_PATHS] = {v->dir,        v->world.file, v->world.doomed,
                                              v->world.fifo, v->world.link, "/etc/passwd"};
    for (int i = 0; i < ESCAPE_VICTIM_PATHS; i++) {
        snprintf(v->paths[i], sizeof v->paths[i], "%s", paths[i]);
        assert_int_equal(lstat(v->paths[i], &v->before[i]), 0);
    }
}

static void make_process(escape_victims *v) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        for (;;)
            pause();
    }
    v->world.victim = child;
    v->world.runner = getpid();
    v->world.memory = (uint64_t)(uintptr_t)&memory;
}

static int count_cpus(pid_t pid) {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(pid, sizeof set, &set) ? -1 : CPU_COUNT(&set);
}

static void remember_process(escape_victims *v) {
    assert_int_equal(prlimit(v->world.victim, RLIMIT_NOFILE, NULL, &v->limit), 0);
    v->priority = getpriority(PRIO_PROCESS, (id_t)v->world.victim);
    v->affinity = count_cpus(v->world.victim);
}

static int listen_at(int family, const struct sockaddr *address, socklen_t bytes) {
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, address, bytes), 0);
    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

static void make_sockets(escape_victims *v) {
    struct sockaddr_in tcp = {.sin_family = AF_INET};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    socklen_t bytes = sizeof tcp;
    tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    v->tcp_fd = listen_at(AF_INET, (struct sockaddr *)&tcp, sizeof tcp);
    assert_int_equal(getsockname(v->tcp_fd, (struct sockaddr *)&tcp, &bytes), 0);
    v->world.port = ntohs(tcp.sin_port);
    snprintf(v->world.socket, sizeof v->world.socket, "hone-escape-%d", (int)getpid());
    memcpy(local.sun_path + 1, v->world.socket, strlen(v->world.socket));
    bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(v->world.socket));
    v->unix_fd = listen_at(AF_UNIX, (struct sockaddr *)&local, bytes);
    v->fifo_fd = open(v->world.fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(v->fifo_fd >= 0);
}

void escape_victims_init(escape_victims *v) {
    *v = (escape_victims){.world = {.magic = ESCAPE_WORLD_MAGIC}};
    snprintf(v->world.secret_name, sizeof v->world.secret_name, "HONE_TEST_SECRET");
    assert_int_equal(setenv(v->world.secret_name, SECRET, 1), 0);
    make_files(v);
    make_process(v);
    make_sockets(v);
    remember_paths(v);
    remember_process(v);
}

void escape_victims_deinit(escape_victims *v) {
    kill(v->world.victim, SIGKILL);
    waitpid(v->world.victim, NULL, 0);
    close(v->tcp_fd);
    close(v->unix_fd);
    close(v->fifo_fd);
    HONE_ASSERT_OK(hone_fs_remove_tree(v->dir));
    hone_free(v->dir);
}

/* ---- watching ---- */

/* The time of change moves with content, mode, owner, names and attributes. */
static void print_changed_files(const escape_victims *v, hone_str *out) {
    for (int i = 0; i < ESCAPE_VICTIM_PATHS; i++) {
        struct stat now;
        const struct stat *was = &v->before[i];
        if (lstat(v->paths[i], &now) || now.st_ino != was->st_ino || now.st_mode != was->st_mode ||
            now.st_size != was->st_size || now.st_nlink != was->st_nlink ||
            now.st_ctim.tv_sec != was->st_ctim.tv_sec ||
            now.st_ctim.tv_nsec != was->st_ctim.tv_nsec) {
            hone_str_printf(out, " %s", v->paths[i]);
        }
    }
}

static void print_changed_process(const escape_victims *v, hone_str *out) {
    const pid_t victim = v->world.victim;
    uint64_t bytes = 0;
    struct iovec here = {&bytes, sizeof bytes}, there = {&memory, sizeof memory};
    struct rlimit limit = {0};
    siginfo_t ended = {0};
    if (waitid(P_PID, (id_t)victim, &ended, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) ||
        ended.si_pid != 0) {
        hone_str_append(out, " victim-stopped");
        return;
    }
    if (process_vm_readv(victim, &here, 1, &there, 1, 0) != sizeof bytes || bytes != MEMORY) {
        hone_str_append(out, " memory");
    }
    if (prlimit(victim, RLIMIT_NOFILE, NULL, &limit) || limit.rlim_cur != v->limit.rlim_cur) {
        hone_str_append(out, " limits");
    }
    if (getpriority(PRIO_PROCESS, (id_t)victim) != v->priority) hone_str_append(out, " priority");
    if (count_cpus(victim) != v->affinity) hone_str_append(out, " affinity");
}

static void print_callers(const escape_victims *v, hone_str *out) {
    const int fds[] = {v->tcp_fd, v->unix_fd};
    char byte;
    for (int i = 0; i < 2; i++) {
        int caller = accept4(fds[i], NULL, NULL, SOCK_CLOEXEC);
        if (caller < 0) continue;
        hone_str_append(out, i == 0 ? " tcp" : " unix");
        close(caller);
    }
    if (read(v->fifo_fd, &byte, 1) > 0) hone_str_append(out, " fifo");
}

static void print_left_behind(hone_str *out) {
    static const long gets[] = {SYS_shmget, SYS_semget};
    for (int i = 0; i < 2; i++) {
        if (syscall(gets[i], ESCAPE_IPC_KEY, 0, 0) >= 0) hone_str_append(out, " ipc");
    }
    if (syscall(SYS_msgget, ESCAPE_IPC_KEY, 0) >= 0) hone_str_append(out, " messages");
    if (syscall(SYS_mq_open, "hone_escape", O_RDONLY, 0, NULL) >= 0) hone_str_append(out, " queue");
}

void escape_victims_print_changes(escape_victims *v, hone_str *out) {
    hone_str_clear(out);
    print_changed_files(v, out);
    print_changed_process(v, out);
    print_callers(v, out);
    print_left_behind(out);
}

/* ---- the library ---- */

void escape_victims_write_library(const escape_victims *v, const char *from, const char *to,
                                  escape_place place, bool only_shown) {
    char *bytes = NULL;
    size_t count = 0;
    escape_world world = v->world;
    world.place = place;
    world.only_shown = only_shown;
    HONE_ASSERT_OK(hone_fs_read(from, 1 << 26, &bytes, &count));
    char *found = memmem(bytes, count, world.magic, sizeof world.magic);
    assert_non_null(found);
    assert_true((size_t)(found - bytes) + sizeof world <= count);
    memcpy(found, &world, sizeof world);
    HONE_ASSERT_OK(hone_fs_write_atomic(to, bytes, count));
    hone_free(bytes);
}
