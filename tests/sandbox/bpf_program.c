/* tests/sandbox/bpf_program.c - see bpf_program.h. */
#include "tests/sandbox/bpf_program.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/hone_test.h"

void bpf_program_export(hone_sandbox_profile profile, const hone_filter_facts *facts,
                        const char *arch, bpf_program *out) {
    int fd = memfd_create("filter", MFD_CLOEXEC);
    assert_true(fd >= 0);
    HONE_ASSERT_OK(hone_filter_export(profile, facts, arch, fd));
    ssize_t bytes = pread(fd, out->code, sizeof out->code, 0);
    close(fd);
    assert_true(bytes > 0 && (size_t)bytes < sizeof out->code);
    out->count = (size_t)bytes / sizeof out->code[0];
}

/* The machine: an accumulator and a few words of memory. */
typedef struct machine {
    uint32_t a, memory[BPF_MEMWORDS];
    size_t next;
} machine;

static void load(machine *m, const struct sock_filter *at, const struct seccomp_data *data) {
    if (BPF_MODE(at->code) == BPF_IMM) {
        m->a = at->k;
    } else if (BPF_MODE(at->code) == BPF_MEM) {
        assert_true(at->k < BPF_MEMWORDS);
        m->a = m->memory[at->k];
    } else {
        assert_int_equal(at->code, BPF_LD | BPF_W | BPF_ABS);
        assert_true(at->k % 4 == 0 && at->k < sizeof *data);
        memcpy(&m->a, (const char *)data + at->k, sizeof m->a);
    }
}

static bool compare(const machine *m, const struct sock_filter *at) {
    switch (BPF_OP(at->code)) {
    case BPF_JEQ:
        return m->a == at->k;
    case BPF_JGT:
        return m->a > at->k;
    case BPF_JGE:
        return m->a >= at->k;
    case BPF_JSET:
        return (m->a & at->k) != 0;
    default:
        fail_msg("a jump of kind %#x", at->code);
        return false;
    }
}

static void jump(machine *m, const struct sock_filter *at) {
    if (BPF_OP(at->code) == BPF_JA) {
        m->next += at->k;
        return;
    }
    m->next += compare(m, at) ? at->jt : at->jf;
}

uint32_t bpf_program_run(const bpf_program *program, const struct seccomp_data *data) {
    machine m = {0};
    while (m.next < program->count) {
        const struct sock_filter *at = &program->code[m.next++];
        switch (BPF_CLASS(at->code)) {
        case BPF_RET:
            return at->k;
        case BPF_LD:
            load(&m, at, data);
            break;
        case BPF_ST:
            assert_true(at->k < BPF_MEMWORDS);
            m.memory[at->k] = m.a;
            break;
        case BPF_ALU:
            assert_int_equal(at->code, BPF_ALU | BPF_AND | BPF_K);
            m.a &= at->k;
            break;
        case BPF_JMP:
            jump(&m, at);
            break;
        default:
            fail_msg("instruction %zu is %#x", m.next - 1, at->code);
        }
    }
    fail_msg("the filter runs out of its %zu instructions", program->count);
    return 0;
}
