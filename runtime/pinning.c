/* runtime/pinning.c - finds threads in /proc, because the pool (which is also part of compiled
 * models) knows nothing of CPUs. */
#include "runtime/pinning.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The id by which the process itself calls a thread, which in a namespace of processes is not that
 * of /proc: the last of "NSpid:" of its status. */
static int32_t own_id(const char *entry) {
    char path[64], line[256];
    int32_t id = 0;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/status", entry);
    FILE *file = fopen(path, "re");
    while (file && id == 0 && fgets(line, sizeof line, file)) {
        const char *last = strncmp(line, "NSpid:", 6) == 0 ? strrchr(line, '\t') : NULL;
        if (last) id = (int32_t)strtol(last, NULL, 10);
    }
    if (file) fclose(file);
    return id;
}

/* Thread ids of this process, at most HONE_PINNING_MAX_THREADS; how many. */
static int32_t list_threads(int32_t *out_ids) {
    int32_t count = 0;
    DIR *dir = opendir("/proc/self/task");
    if (!dir) return 0;
    for (struct dirent *entry; (entry = readdir(dir)) && count < HONE_PINNING_MAX_THREADS;) {
        int32_t id = entry->d_name[0] == '.' ? 0 : own_id(entry->d_name);
        if (id > 0) out_ids[count++] = id;
    }
    closedir(dir);
    return count;
}

static bool is_known(const hone_pinning *pinning, int32_t id) {
    for (int32_t i = 0; i < pinning->known_count; i++) {
        if (pinning->known[i] == id) return true;
    }
    return false;
}

void hone_pinning_begin(hone_pinning *pinning) {
    CPU_ZERO(&pinning->mask);
    pinning->cpus = 0;
    if (sched_getaffinity(0, sizeof pinning->mask, &pinning->mask) == 0) {
        pinning->cpus = CPU_COUNT(&pinning->mask);
    }
    pinning->known_count = list_threads(pinning->known);
}

static int next_cpu(const cpu_set_t *mask, int after) {
    for (int cpu = after + 1; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, mask)) return cpu;
    }
    return -1;
}

static bool pin(int32_t thread, int cpu) {
    cpu_set_t one;
    if (cpu < 0) return false;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(thread, sizeof one, &one) == 0;
}

bool hone_pinning_apply(const hone_pinning *pinning) {
    int32_t ids[HONE_PINNING_MAX_THREADS], started = 0;
    int32_t count = list_threads(ids);
    for (int32_t i = 0; i < count; i++) {
        if (!is_known(pinning, ids[i])) ids[started++] = ids[i];
    }
    if (started < 1 || started + 1 != pinning->cpus) return false;
    int cpu = next_cpu(&pinning->mask, -1);
    bool done = pin(0, cpu);
    for (int32_t i = 0; i < started && done; i++) {
        cpu = next_cpu(&pinning->mask, cpu);
        done = pin(ids[i], cpu);
    }
    if (!done) hone_pinning_end(pinning);
    return done;
}

void hone_pinning_end(const hone_pinning *pinning) {
    if (pinning->cpus > 0) sched_setaffinity(0, sizeof pinning->mask, &pinning->mask);
}
