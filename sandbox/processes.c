/* sandbox/processes.c - see proc(5). */
#include "sandbox/processes.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool hone_process_kin(pid_t pid, hone_kin *out_kin) {
    char path[64], line[512];
    int parent = 0, group = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    const char *behind_name = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    bool is_there = behind_name && sscanf(behind_name + 1, " %*c %d %d", &parent, &group) == 2;
    if (file) fclose(file);
    *out_kin = is_there ? (hone_kin){parent, group} : (hone_kin){0};
    return is_there;
}

void hone_process_each(void (*visit)(pid_t pid, void *data), void *data) {
    DIR *dir = opendir("/proc");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0) visit((pid_t)pid, data);
    }
    if (dir) closedir(dir);
}

static void kill_child(pid_t pid, void *unused) {
    hone_kin kin;
    (void)unused;
    if (hone_process_kin(pid, &kin) && kin.parent == getpid()) (void)kill(pid, SIGKILL);
}

/* What a child leaves has come here before the child can be reaped: so each turn kills all that
 * there are. */
void hone_process_end_children(void) {
    do {
        hone_process_each(kill_child, NULL);
    } while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

/* The folder of its threads has a link for each, beside its own two. */
long hone_process_threads(pid_t pid) {
    char path[64];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return stat(path, &info) == 0 && info.st_nlink > 2 ? (long)info.st_nlink - 2 : 0;
}
