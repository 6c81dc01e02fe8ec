/* database/session_owner.c - identifies the process at a session by its number and start time. */
#include "database/session_owner.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PLACE_BYTES = 128, BOOT_BYTES = 48 };

typedef struct owner {
    char place[PLACE_BYTES]; /* host and namespace of pids */
    char boot[BOOT_BYTES];
    long pid;
    unsigned long long start; /* in ticks since the boot */
} owner;

/* The 22nd field of /proc/PID/stat; the second may hold spaces and brackets. False: no process. */
static bool read_start(long pid, unsigned long long *out_start) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    size_t count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[count] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, " %llu", out_start) == 1;
}

static bool read_place(owner *out) {
    char host[65] = "", space[32] = "";
    FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool ok = boot && fscanf(boot, "%47s", out->boot) == 1;
    if (boot) fclose(boot);
    ok = ok && gethostname(host, sizeof host - 1) == 0 && host[0] && !strchr(host, ' ');
    ok = ok && readlink("/proc/self/ns/pid", space, sizeof space - 1) > 0;
    snprintf(out->place, sizeof out->place, "%s/%s", host, space);
    return ok;
}

void hone_db_owner_print(char out[HONE_DB_OWNER_BYTES]) {
    owner self = {.pid = getpid()};
    out[0] = '\0';
    if (!read_place(&self) || !read_start(self.pid, &self.start)) return;
    snprintf(out, HONE_DB_OWNER_BYTES, "%s %s %ld %llu", self.place, self.boot, self.pid,
             self.start);
}

bool hone_db_owner_is_gone(const char *text) {
    owner there, here;
    unsigned long long start;
    if (!text || sscanf(text, "%127s %47s %ld %llu", there.place, there.boot, &there.pid,
                        &there.start) != 4) {
        return false;
    }
    if (!read_place(&here) || strcmp(here.place, there.place) != 0) return false;
    if (strcmp(here.boot, there.boot) != 0) return true;
    return !read_start(there.pid, &start) || start != there.start;
}
