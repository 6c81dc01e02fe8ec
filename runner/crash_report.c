/* runner/crash_report.c - a fault handler that explains itself and lets the fault happen again. */
#include "runner/crash_report.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STACK_BYTES 65536

static const hone_trial_bench *watched; /* set once, before the first candidate */
static char handler_stack[STACK_BYTES]; /* a fault may be a stack overflow */

static const char *what(int number) {
    switch (number) {
    case SIGSEGV:
        return "memory access";
    case SIGBUS:
        return "bus error";
    case SIGFPE:
        return "arithmetic fault";
    case SIGILL:
        return "illegal instruction";
    default:
        return "signal";
    }
}

/* snprintf is not async-signal-safe by the letter; glibc's does not allocate for these formats,
 * and the worst that can happen is that a process dies that is dying. */
static void on_fault(int number, siginfo_t *info, void *context) {
    char place[256], line[512];
    (void)context;
    if (hone_trial_explain_address(watched, info->si_addr, place, sizeof place)) {
        snprintf(line, sizeof line, "%s %s\n", what(number), place);
    } else {
        snprintf(line, sizeof line, "%s at address %p\n", what(number), info->si_addr);
    }
    ssize_t ignored = write(STDERR_FILENO, line, strlen(line));
    (void)ignored; /* SA_RESETHAND: returning repeats the fault, which now kills */
}

void hone_crash_report_install(const hone_trial_bench *bench) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    watched = bench;
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &action, NULL);
    }
    signal(SIGABRT, SIG_DFL); /* whatever a sanitizer has put there */
}
