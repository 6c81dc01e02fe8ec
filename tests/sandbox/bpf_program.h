/* tests/sandbox/bpf_program.h - an exported filter, and what it says about a call: classic BPF as
 * Documentation/networking/filter.rst and seccomp(2) have it, written down once more. */
#ifndef HONE_TESTS_SANDBOX_BPF_PROGRAM_H
#define HONE_TESTS_SANDBOX_BPF_PROGRAM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/filter.h"

enum { BPF_PROGRAM_MAX = 4096 };

typedef struct bpf_program {
    struct sock_filter code[BPF_PROGRAM_MAX];
    size_t count;
} bpf_program;

void bpf_program_export(hone_sandbox_profile profile, const hone_filter_facts *facts,
                        const char *arch, bpf_program *out);

/* SECCOMP_RET_…, with its data. Fails the test on anything that the kernel would refuse. */
uint32_t bpf_program_run(const bpf_program *program, const struct seccomp_data *data);

#endif
