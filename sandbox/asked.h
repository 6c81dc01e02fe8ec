/* sandbox/asked.h - answers to the calls that a held process must ask for (filter.h, ASK).
 *
 * What a call points to is read from the process once, before it is judged; the call itself is then
 * made here, with the copy. Only calls whose arguments are plain numbers are let through as they
 * are.
 */
#ifndef HONE_SANDBOX_ASKED_H
#define HONE_SANDBOX_ASKED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/file_policy.h"

typedef struct hone_asked_facts {
    const hone_file_policy *policy;
    pid_t held_pid;      /* the process that was held first, as this one sees it */
    int held_pidfd;      /* of the same */
    bool has_namespaces; /* then numbers of processes can only mean held ones */
    uint32_t started;    /* processes, and their threads, in the present request; counted here */
} hone_asked_facts;

/* pidfd_getfd(2): a descriptor of this process for what `fd` is there; -1 and errno. */
int hone_pidfd_getfd(int pidfd, int fd);

/* Answers whatever waits at the listener now; false when nobody is left who could ask. */
bool hone_asked_answer(int listener, hone_asked_facts *facts);

#endif
