/* tests/builder/test_builder.c - the builder: real workers, and workers that crash, hang and
 * babble. */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/builder.h"
#include "measure/wire.h"
#include "runtime/model/model_rt.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "tests/support/hone_test.h"
#include "tests/support/sanitizer.h"

static const char scale[] =
    "from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
    "    for i in range(64):\n"
    "        with T.block(\"B\"):\n"
    "            vi = T.axis.spatial(64, i)\n"
    "            B[vi] = A[vi] * T.float32(2)\n";

static char dir[64];

static int make_dir(void **state) {
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/hone-builder-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state) {
    (void)state;
    hone_status_free(hone_fs_remove_tree(dir));
    return 0;
}

static hone_status make_local(hone_builder **out) {
    hone_builder_local_options options = {.worker_path = hone_test_build_path("hone-worker"),
                                          .workers = 2};
    return hone_builder_create_local(&options, out);
}

static hone_build_request request_of(const char *program, const char *path) {
    return (hone_build_request){
        .program = program, .target = "host", .entry = "kernel", .output_path = path};
}

/* ---- real workers ---- */

static hone_build_result build_one(hone_builder *builder, const hone_build_request *request,
                                   hone_arena *arena) {
    hone_ticket ticket, got;
    hone_build_result result = {.failure = HONE_FAILURE_COUNT};
    HONE_ASSERT_OK(hone_builder_submit(builder, request, &ticket));
    HONE_ASSERT_OK(hone_builder_next_result(builder, HONE_DEADLINE_NEVER, arena, &got, &result));
    assert_int_equal(ticket, got);
    return result;
}

static void builds_a_library_that_runs(void **state) {
    (void)state;
    hone_builder *builder;
    HONE_ASSERT_OK(make_local(&builder));
    hone_arena *arena = hone_arena_create(4096);
    char path[128];
    snprintf(path, sizeof path, "%s/scale.so", dir);
    hone_build_request request = request_of(scale, path);
    hone_build_result r = build_one(builder, &request, arena);
    assert_string_equal(r.message ? r.message : "", "");
    assert_int_equal(r.failure, HONE_FAILURE_NONE);
    assert_int_equal(r.manifest.arg_count, 2);
    assert_int_equal(r.manifest.args[0].role, HONE_ARG_IN);
    assert_int_equal(r.manifest.args[1].role, HONE_ARG_OUT);
    assert_int_equal(r.manifest.args[1].shape[0], 64);
    void *library = dlopen(r.artifact_path, RTLD_NOW);
    assert_non_null(library);
    hone_kernel kernel;
    void *symbol = dlsym(library, "kernel");
    assert_non_null(symbol);
    memcpy(&kernel, &symbol, sizeof symbol);
    static _Alignas(64) float a[64], b[64];
    for (int i = 0; i < 64; i++)
        a[i] = (float)i;
    void *buffers[] = {a, b};
    hone_rt *rt;
    assert_int_equal(hone_model_rt_create(NULL, &rt), 0);
    int32_t code = kernel(rt, buffers, NULL);
    hone_model_rt_destroy(rt);
    dlclose(library);
    assert_int_equal(code, 0);
    for (int i = 0; i < 64; i++)
        assert_true(b[i] == 2 * (float)i);
    hone_builder_release(builder);
    hone_arena_destroy(arena);
}

/* Y = X + 2 W, where 2 W is a block of its own. */
static const char doubled[] =
    "from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(X: T.Buffer((64,), \"float32\"), W: T.Buffer((64,), \"float32\"), "
    "Y: T.Buffer((64,), \"float32\")):\n"
    "    D = T.alloc_buffer((64,))\n"
    "    for i in range(64):\n"
    "        with T.block(\"D\"):\n"
    "            vi = T.axis.spatial(64, i)\n"
    "            D[vi] = W[vi] * T.float32(2)\n"
    "    for i in range(64):\n"
    "        with T.block(\"Y\"):\n"
    "            vi = T.axis.spatial(64, i)\n"
    "            Y[vi] = X[vi] + D[vi]\n";

/* What depends on constants alone is computed by the first call: W changes before the second one.
 * It lies at several places, all of which later calls come by, or at one. */
static void constants_are_looked_at_once(void **state) {
    (void)state;
    static const uint64_t masks[] = {0, 2, 2};
    static const int64_t distances[] = {0, 0, 3000};
    static _Alignas(64) float x[64], w[64], y[64];
    for (size_t m = 0; m < HONE_COUNT(masks); m++) {
        hone_builder *builder;
        HONE_ASSERT_OK(make_local(&builder));
        hone_arena *arena = hone_arena_create(4096);
        char path[128];
        snprintf(path, sizeof path, "%s/doubled%zu.so", dir, m);
        hone_build_request request = request_of(doubled, path);
        request.constants = masks[m];
        request.constants_distance = distances[m];
        hone_build_result r = build_one(builder, &request, arena);
        assert_string_equal(r.message ? r.message : "", "");
        assert_int_equal(r.manifest.arg_count, 3);
        void *library = dlopen(r.artifact_path, RTLD_NOW), *symbol = dlsym(library, "kernel");
        assert_non_null(symbol);
        hone_kernel kernel;
        memcpy(&kernel, &symbol, sizeof symbol);
        void *buffers[] = {x, w, y};
        hone_rt *rt;
        assert_int_equal(hone_model_rt_create(NULL, &rt), 0);
        for (int turn = 0; turn < 9; turn++) {
            for (int i = 0; i < 64; i++) {
                x[i] = (float)(i + turn);
                w[i] = (float)(turn ? 1000 : i);
            }
            assert_int_equal(kernel(rt, buffers, NULL), 0);
            for (int i = 0; i < 64; i++) {
                float weight = (float)(turn && !masks[m] ? 1000 : i);
                assert_true(y[i] == x[i] + 2 * weight);
            }
        }
        hone_model_rt_destroy(rt);
        dlclose(library);
        hone_builder_release(builder);
        hone_arena_destroy(arena);
    }
}

static const struct emit_row {
    const char *name, *program, *emit, *part; /* part of the bytes, or of the message */
    hone_failure failure;
} emit_rows[] = {
    {"program",       scale,          "program",    "T.prim_func",   HONE_FAILURE_NONE       },
    {"llvm",          scale,          "llvm",       "define",        HONE_FAILURE_NONE       },
    {"asm",           scale,          "asm",        ".text",         HONE_FAILURE_NONE       },
    {"obj",           scale,          "obj",        "ELF",           HONE_FAILURE_NONE       },
    {"no such form",  scale,          "punchcards", "punchcards",    HONE_FAILURE_BUILD_ERROR},
    {"for GPUs",      scale,          "ptx",        "made for GPUs", HONE_FAILURE_BUILD_ERROR},
    {"not a program", "def main(:\n", "obj",        "program:1:",    HONE_FAILURE_BUILD_ERROR},
};

static bool contains(const char *bytes, size_t count, const char *part) {
    size_t length = strlen(part);
    for (size_t i = 0; i + length <= count; i++) {
        if (memcmp(bytes + i, part, length) == 0) return true;
    }
    return false;
}

static void emits(void **state) {
    const struct emit_row *row = *state;
    hone_builder *builder;
    HONE_ASSERT_OK(make_local(&builder));
    hone_arena *arena = hone_arena_create(4096);
    hone_build_request request = request_of(row->program, NULL);
    request.emit = row->emit;
    hone_build_result r = build_one(builder, &request, arena);
    bool is_good = r.failure == HONE_FAILURE_NONE;
    const char *bytes = is_good ? (const char *)r.artifact_bytes : r.message;
    size_t count = is_good ? r.artifact_byte_count : strlen(r.message);
    bool has_part = contains(bytes, count, row->part);
    hone_failure failure = r.failure;
    if (!has_part) print_message("%.*s\n", (int)count, bytes);
    hone_builder_release(builder);
    hone_arena_destroy(arena);
    assert_int_equal(failure, row->failure);
    assert_true(has_part);
}

static const char threads[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((200,), \"float32\"), B: T.Buffer((200,), \"float32\")):\n"
    "    X = T.alloc_buffer((200,), \"float32\")\n"
    "    for b in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
    "        for t in T.thread_binding(128, thread=\"threadIdx.x\"):\n"
    "            if b * 128 + t < 200:\n"
    "                X[b * 128 + t] = A[b * 128 + t] + T.float32(1)\n"
    "    for t in T.thread_binding(200, thread=\"threadIdx.x\"):\n"
    "        B[t] = X[199 - t]\n";

static int64_t value_of(const hone_manifest *m, int32_t value) {
    int64_t values[64] = {0};
    assert_true(m->value_count <= HONE_COUNT(values));
    HONE_ASSERT_OK(hone_launch_values(m, m->sizes, values));
    return values[value];
}

/* A GPU's artifact is text; what a host does stands in the manifest. */
static void describes_launches(void **state) {
    (void)state;
    static const char *const targets[] = {"nvidia/h100", "opencl", "metal"};
    static const char *const words[] = {".entry", "__kernel", "[[buffer(0)]]"};
    hone_builder *builder;
    HONE_ASSERT_OK(make_local(&builder));
    hone_arena *arena = hone_arena_create(4096);
    for (size_t i = 0; i < HONE_COUNT(targets); i++) {
        hone_build_request request = request_of(threads, NULL);
        request.target = targets[i];
        request.emit = NULL;
        hone_build_result r = build_one(builder, &request, arena);
        if (r.message) print_message("%s\n", r.message);
        assert_int_equal(r.failure, HONE_FAILURE_NONE);
        assert_true(contains((const char *)r.artifact_bytes, r.artifact_byte_count, words[i]));
        const hone_manifest *m = &r.manifest;
        assert_int_equal(m->launch_count, 2);
        assert_int_equal(m->scratch_count, 1);
        assert_int_equal(value_of(m, m->scratch[0]), 800);
        assert_int_equal(value_of(m, m->launches[0].grid[0]), 2);
        assert_int_equal(value_of(m, m->launches[0].block[0]), 128);
        assert_int_equal(value_of(m, m->launches[1].grid[0]), 1);
        assert_int_equal(value_of(m, m->launches[1].block[0]), 200);
        assert_string_equal(m->launches[1].symbol, "hone_kernel_1");
        assert_int_equal(m->launches[1].args[0].kind, HONE_LAUNCH_ARG_BUFFER);
        assert_int_equal(m->launches[1].args[0].index, 1);
        assert_int_equal(m->launches[1].args[1].kind, HONE_LAUNCH_ARG_SCRATCH);
    }
    hone_builder_release(builder);
    hone_arena_destroy(arena);
}

/* A scratch directory that takes no files says nothing about the program. */
static void scratch_that_is_gone(void **state) {
    (void)state;
    static const char *const emits[] = {"so", "obj"};
    char path[160];
    hone_builder *builder;
    HONE_ASSERT_OK(make_local(&builder));
    hone_arena *arena = hone_arena_create(4096);
    snprintf(path, sizeof path, "%s/gone/x", dir);
    for (size_t i = 0; i < HONE_COUNT(emits); i++) {
        hone_build_request request = request_of(scale, NULL);
        request.emit = emits[i];
        request.output_path = path;
        hone_build_result r = build_one(builder, &request, arena);
        if (r.failure != HONE_FAILURE_MACHINE_ERROR) print_message("%s\n", r.message);
        assert_int_equal(r.failure, HONE_FAILURE_MACHINE_ERROR);
    }
    hone_builder_release(builder);
    hone_arena_destroy(arena);
}

static void applies_a_trace(void **state) {
    (void)state;
    hone_builder *builder;
    HONE_ASSERT_OK(make_local(&builder));
    hone_arena *arena = hone_arena_create(4096);
    hone_build_request request = request_of(scale, NULL);
    request.emit = "program";
    request.trace = "b0 = sch.get_block(name=\"B\", func_name=\"main\")\n"
                    "l1, = sch.get_loops(block=b0)\n"
                    "l2, l3 = sch.split(loop=l1, factors=[4, 16])\n"
                    "sch.vectorize(loop=l3)\n";
    hone_build_result r = build_one(builder, &request, arena);
    bool is_split = r.artifact_bytes && contains((const char *)r.artifact_bytes,
                                                 r.artifact_byte_count, "T.vectorized(16)");
    if (!is_split) print_message("%s\n", r.message ? r.message : "no message");
    request.trace = "b0 = sch.get_block(name=\"nobody\", func_name=\"main\")\n";
    r = build_one(builder, &request, arena);
    bool is_refused = r.failure == HONE_FAILURE_BUILD_ERROR && strstr(r.message, "nobody");
    hone_builder_release(builder);
    hone_arena_destroy(arena);
    assert_true(is_split);
    assert_true(is_refused);
}

/* ---- scripted workers ---- */

/* clang-format off */
static const struct hostile_row {
    const char *name, *script, *part;
    hone_failure failure;
} hostile_rows[] = {
    {"crash", "read -r x <&3; echo boom >&2; kill -SEGV $$", "SIGSEGV: boom",
     HONE_FAILURE_BUILD_ERROR},
    {"exit", "exit 7", "exit 7", HONE_FAILURE_BUILD_ERROR},
    {"killed", "read -r x <&3; kill -KILL $$", "SIGKILL", HONE_FAILURE_MACHINE_ERROR},
    {"ended", "read -r x <&3; kill -TERM $$", "SIGTERM", HONE_FAILURE_MACHINE_ERROR},
    {"spin", "while :; do :; done", "the build took 10.8 s, the limit is 10.8 s",
     HONE_FAILURE_BUILD_TIMEOUT}, /* without a warden nobody knows its CPU time */
    {"a lost page", "read -r x <&3; kill -BUS $$", "SIGBUS", HONE_FAILURE_MACHINE_ERROR},
    {"no memory in LLVM", "read -r x <&3; echo 'LLVM ERROR: out of memory' >&2; kill -ABRT $$",
     "out of memory", HONE_FAILURE_MACHINE_ERROR},
    {"no memory for the loader", "echo 'hone-worker: error while loading shared libraries: libz3.so.4: failed to map segment from shared object' >&2; exit 127",
     "libz3", HONE_FAILURE_MACHINE_ERROR},
    {"unheld", "read -r x <&3; exec 4>&-; cat ${0%/*}/reply >&3; kill -KILL $$", "SIGKILL",
     HONE_FAILURE_MACHINE_ERROR},
    {"babble", "printf 'xxxxxxxxxxxxxxxx' >&3; sleep 60", "died", HONE_FAILURE_BUILD_ERROR},
    {"bad message", "{ printf '\\003'; head -c 3 /dev/zero; printf abc; } >&3; sleep 60",
     "cannot be read", HONE_FAILURE_BUILD_ERROR},
};
/* clang-format on */

/* What a worker says whose compiler failed, for a script to send. */
static void write_reply(void) {
    const hone_build_result failed = {.failure = HONE_FAILURE_BUILD_ERROR, .message = "cc: killed"};
    char path[128];
    hone_str reply = {0};
    snprintf(path, sizeof path, "%s/reply", dir);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    HONE_ASSERT_OK(hone_build_result_encode(&failed, &reply));
    HONE_ASSERT_OK(hone_frame_write(fd, reply.data, reply.length, hone_clock_system(), INT64_MAX));
    hone_str_deinit(&reply);
    hone_fd_close(&fd);
}

static void survives(void **state) {
    const struct hostile_row *row = *state;
    char path[128];
    write_reply();
    snprintf(path, sizeof path, "%s/fake-worker", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", row->script);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
    hone_builder_local_options options = {.worker_path = path};
    hone_builder *builder;
    HONE_ASSERT_OK(hone_builder_create_local(&options, &builder));
    hone_arena *arena = hone_arena_create(4096);
    hone_build_request request = request_of(scale, NULL);
    request.timeout_ns = 200 * HONE_NS_PER_MS;
    bool ok = true;
    for (int round = 0; round < 2; round++) { /* the second one gets a fresh worker */
        hone_build_result r = build_one(builder, &request, arena);
        ok &= r.failure == row->failure && r.message && strstr(r.message, row->part);
        if (!ok) print_message("%s: %s\n", hone_failure_name(r.failure), r.message);
    }
    hone_builder_release(builder);
    hone_arena_destroy(arena);
    assert_true(ok);
}

#ifndef UNDER_SANITIZER /* which wants terabytes */
/* How much the loader maps before a build begins depends on the machine: from where nothing starts
 * to where all is well in steps. What does not come of it is never the program's fault. */
static void is_kept_short_of_memory(void **state) {
    (void)state;
    enum { STEP_MIB = 8, MOST_MIB = 4096 };
    char path[128], script[512];
    int failed = 0;
    bool is_built = false;
    snprintf(path, sizeof path, "%s/short-worker", dir);
    for (int mib = 64; mib < MOST_MIB && !is_built; mib += mib < 128 ? 64 : STEP_MIB) {
        int length = snprintf(script, sizeof script, "#!/bin/sh\nulimit -v %d\nexec '%s' \"$@\"\n",
                              mib * 1024, hone_test_build_path("hone-worker"));
        HONE_ASSERT_OK(hone_fs_write_atomic(path, script, (size_t)length));
        assert_int_equal(chmod(path, 0755), 0);
        hone_builder_local_options options = {.worker_path = path};
        hone_builder *builder;
        HONE_ASSERT_OK(hone_builder_create_local(&options, &builder));
        hone_arena *arena = hone_arena_create(4096);
        hone_build_request request = request_of(scale, NULL);
        request.emit = "obj";
        hone_build_result r = build_one(builder, &request, arena);
        is_built = r.failure == HONE_FAILURE_NONE;
        if (!is_built && r.failure != HONE_FAILURE_MACHINE_ERROR) {
            fail_msg("%d MiB: %s: %s", mib, hone_failure_name(r.failure), r.message);
        }
        failed += !is_built;
        hone_builder_release(builder);
        hone_arena_destroy(arena);
    }
    assert_true(is_built && failed > 0);
}
#endif

/* Where PATH has a program; owned by the caller; NULL: nowhere. */
static char *which(const char *program) {
    const char *at = getenv("PATH");
    while (at && *at) {
        char path[512];
        int length = (int)strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", length, at, program);
        if (access(path, X_OK) == 0) return hone_strdup(path);
        at += length + (at[length] == ':');
    }
    return NULL;
}

static void expect_aarch64(const char *path) {
    char *bytes;
    size_t count;
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 24, &bytes, &count));
    assert_true(count > 20);
    assert_memory_equal(bytes, "\177ELF", 4);
    assert_int_equal((unsigned char)bytes[18], 183); /* e_machine: EM_AARCH64 */
    hone_free(bytes);
}

/* For another machine: with its own linker, with LLVM's, with none (which is said). */
static void links_for_another_machine(void **state) {
    static const char *const linkers[] = {"aarch64-linux-gnu-ld", "ld.lld", NULL};
    (void)state;
    char *old = hone_strdup(getenv("PATH") ? getenv("PATH") : "");
    for (int i = 0; i < 3; i++) {
        char bin[128], link[256], path[128];
        snprintf(bin, sizeof bin, "%s/bin-%d", dir, i);
        snprintf(path, sizeof path, "%s/cross-%d.so", dir, i);
        HONE_ASSERT_OK(hone_fs_mkdirs(bin));
        char *program = linkers[i] ? which(linkers[i]) : NULL;
        if (linkers[i] && !program) continue; /* not installed here */
        snprintf(link, sizeof link, "%s/%s", bin, linkers[i] ? linkers[i] : "nothing");
        if (program) assert_int_equal(symlink(program, link), 0);
        hone_free(program);
        setenv("PATH", bin, 1);
        hone_builder *builder;
        hone_arena *arena = hone_arena_create(4096);
        hone_build_request request = request_of(scale, path);
        request.target = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72";
        HONE_ASSERT_OK(make_local(&builder));
        hone_build_result result = build_one(builder, &request, arena);
        setenv("PATH", old, 1);
        if (linkers[i]) {
            if (result.failure) fail_msg("%s: %s", linkers[i], result.message);
            expect_aarch64(path);
        } else {
            assert_int_equal(result.failure, HONE_FAILURE_MACHINE_ERROR);
            assert_non_null(strstr(result.message, "aarch64-linux-gnu-ld"));
        }
        hone_builder_release(builder);
        hone_arena_destroy(arena);
    }
    hone_free(old);
}

static void says_when_there_is_no_worker(void **state) {
    (void)state;
    hone_builder_local_options options = {.worker_path = "/nowhere/hone-worker"};
    hone_builder *builder;
    HONE_ASSERT_ERROR(hone_builder_create_local(&options, &builder), HONE_CODE_NOT_FOUND,
                      "/nowhere/hone-worker");
    assert_null(builder);
}

static void pauses_and_cancels(void **state) {
    (void)state;
    hone_builder *builder;
    HONE_ASSERT_OK(make_local(&builder));
    hone_arena *arena = hone_arena_create(4096);
    hone_build_request request = request_of(scale, NULL);
    request.emit = "obj";
    hone_ticket ticket;
    hone_build_result r;
    const hone_clock *clock = hone_clock_system();
    hone_builder_pause(builder);
    for (int i = 0; i < 4; i++)
        HONE_ASSERT_OK(hone_builder_submit(builder, &request, &ticket));
    HONE_ASSERT_CODE(hone_builder_next_result(builder,
                                              hone_deadline_after(clock, 50 * HONE_NS_PER_MS),
                                              arena, &ticket, &r),
                     HONE_CODE_TIMEOUT);
    hone_builder_resume(builder);
    struct pollfd fd = {.fd = hone_builder_fd(builder), .events = POLLIN};
    assert_int_equal(poll(&fd, 1, 60000), 1);
    HONE_ASSERT_OK(hone_builder_next_result(builder, HONE_DEADLINE_NEVER, arena, &ticket, &r));
    assert_int_equal(r.failure, HONE_FAILURE_NONE);
    hone_builder_cancel_all(builder);
    for (int i = 0; i < 3; i++) {
        HONE_ASSERT_OK(hone_builder_next_result(builder, HONE_DEADLINE_NEVER, arena, &ticket, &r));
        assert_true(r.failure == HONE_FAILURE_NONE || r.failure == HONE_FAILURE_CANCELLED);
    }
    r = build_one(builder, &request, arena); /* and it still builds */
    hone_builder_release(builder);
    hone_arena_destroy(arena);
    assert_int_equal(r.failure, HONE_FAILURE_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_a_library_that_runs),
        cmocka_unit_test(constants_are_looked_at_once),
        cmocka_unit_test(applies_a_trace),
        cmocka_unit_test(scratch_that_is_gone),
        cmocka_unit_test(links_for_another_machine),
#ifndef UNDER_SANITIZER
        cmocka_unit_test(is_kept_short_of_memory),
#endif
        cmocka_unit_test(says_when_there_is_no_worker),
        cmocka_unit_test(pauses_and_cancels),
        cmocka_unit_test(describes_launches),
    };
    if (make_dir(NULL) != 0) return 1;
    int failed = HONE_RUN_ROWS("builder/emit", emit_rows, emits);
    failed += HONE_RUN_ROWS("builder/hostile", hostile_rows, survives);
    failed += cmocka_run_group_tests_name("builder/local", tests, NULL, NULL);
    remove_dir(NULL);
    return failed;
}
