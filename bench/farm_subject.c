/* bench/farm_subject.c - makes the trials of bench_farm. */
#include "bench/farm_subject.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/model/abi.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"

#define PATIENCE_NS (60 * HONE_NS_PER_S)

static const hone_arg output = {"C", {0}, HONE_ARG_OUT, 1, {16}};

void farm_subject_open(farm_subject *s, bench *b) {
    char *bin_dir;
    *s = (farm_subject){.b = b};
    bench_must(hone_fs_program_dir(&bin_dir));
    bench_must(hone_fs_temp_dir("bench-farm", &s->dir));
    snprintf(s->kernels, sizeof s->kernels, "%s/bench_farm_kernels.so", bin_dir);
    snprintf(s->fresh, sizeof s->fresh, "%s/fresh.so", s->dir);
    bench_must(hone_fs_read(s->kernels, 1 << 24, &s->bytes, &s->byte_count));
    hone_free(bin_dir);
}

void farm_subject_close(farm_subject *s) {
    bench_must(hone_fs_remove_tree(s->dir));
    hone_free(s->bytes);
    hone_free(s->dir);
}

hone_run_request farm_subject_request(const farm_subject *s, const char *entry, hone_arg *room) {
    *room = output;
    room->dtype = HONE_DTYPE_F32;
    return (hone_run_request){
        .artifact_path = s->kernels,
        .manifest = {.abi_version = HONE_ABI_VERSION, .entry = entry, .arg_count = 1, .args = room},
        .threads = 1,
        .skip_timing = true,
        .timeout_ns = PATIENCE_NS
    };
}

void farm_subject_renew(farm_subject *s) {
    char mark[32];
    hone_str content = {0};
    hone_str_append_n(&content, s->bytes, s->byte_count);
    hone_str_append_n(
        &content, mark,
        (size_t)snprintf(mark, sizeof mark, "%020llu", (unsigned long long)++s->count));
    bench_must(hone_str_check(&content));
    bench_must(hone_fs_write_atomic(s->fresh, content.data, content.length));
    hone_str_deinit(&content);
}

hone_runner *farm_subject_runner(const hone_runner_local_options *options) {
    hone_runner *runner;
    bench_must(hone_runner_create_local(options, &runner));
    return runner;
}

void farm_subject_take(hone_runner *runner) {
    hone_ticket ticket;
    hone_run_result result;
    int64_t deadline = hone_deadline_after(hone_clock_system(), PATIENCE_NS);
    bench_must(hone_runner_next_result(runner, deadline, &ticket, &result));
    if (result.failure != HONE_FAILURE_NONE) {
        fprintf(stderr, "bench_farm: %s: %s\n", hone_failure_name(result.failure), result.message);
        exit(1);
    }
    hone_run_result_deinit(&result);
}

void farm_subject_run(hone_runner *runner, const hone_run_request *request) {
    hone_ticket ticket;
    bench_must(hone_runner_submit(runner, request, &ticket));
    farm_subject_take(runner);
}
