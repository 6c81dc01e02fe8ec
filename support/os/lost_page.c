/* support/os/lost_page.c - finds the file of an address and says what has become of it. */
#include "support/os/lost_page.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program_name; /* set once, before there are other threads; like the next */
static int code;

static void say(const char *text) {
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored; /* the process ends */
}

/* "7f00-7f10 r--p 00000000 08:01 12   /path", or NULL: another place, or no file's. */
static const char *file_of_line(const char *line, uintptr_t address) {
    char *end;
    uintptr_t first = (uintptr_t)strtoull(line, &end, 16);
    uintptr_t last = *end == '-' ? (uintptr_t)strtoull(end + 1, &end, 16) : 0;
    return address >= first && address < last ? strchr(end, '/') : NULL;
}

/* Calls that a signal handler may make only. */
static bool find_file(uintptr_t address, char out[PATH_MAX]) {
    char line[PATH_MAX + 128], bytes[4096];
    size_t length = 0;
    ssize_t count;
    const char *file = NULL;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && !file && (count = read(fd, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < count && !file; i++) {
            if (bytes[i] != '\n') {
                if (length < sizeof line - 1) line[length++] = bytes[i];
                continue;
            }
            line[length] = '\0';
            length = 0;
            file = file_of_line(line, address);
        }
    }
    if (fd >= 0) close(fd);
    if (file) strncpy(out, file, PATH_MAX - 1);
    out[PATH_MAX - 1] = '\0';
    return file != NULL;
}

static void on_bus(int number, siginfo_t *info, void *context) {
    char file[PATH_MAX];
    (void)number, (void)context;
    bool is_lost = info->si_code == BUS_ADRERR && find_file((uintptr_t)info->si_addr, file);
    if (!is_lost) return; /* SA_RESETHAND: it happens again, and kills */
    say(program_name);
    say(": ");
    say(file);
    say(": was cut, or cannot be read any more, while it was in use\n");
    _exit(code);
}

void hone_lost_page_explain(const char *program, int exit_code) {
    program_name = program;
    code = exit_code;
    struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
