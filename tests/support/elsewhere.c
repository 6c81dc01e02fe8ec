/* tests/support/elsewhere.c - links kernels for another CPU and runs them by qemu. */
#include "tests/support/elsewhere.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "tests/support/hone_test.h"

/* Reads the arguments from its file, calls the kernel, writes them back. */
static const char harness[] =
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include \"runtime/model/abi.h\"\n"
    "int32_t kernel(const hone_rt *rt, void *const *buffers, const int64_t *sizes);\n"
    "static int32_t run_all(const hone_rt *rt, int64_t begin, int64_t end,\n"
    "                       hone_parallel_body body, void *closure) {\n"
    "    return body(rt, closure, begin, end);\n"
    "}\n"
    "static void *room(int64_t bytes) {\n"
    "    return aligned_alloc(64, ((size_t)bytes + 127) / 64 * 64);\n"
    "}\n"
    "static void *take(const hone_rt *rt, int64_t bytes) { (void)rt; return room(bytes); }\n"
    "static void give(const hone_rt *rt, void *memory) { (void)rt; free(memory); }\n"
    "static void *find(const hone_rt *rt, const char *name) {\n"
    "    (void)rt; (void)name; return NULL;\n"
    "}\n"
    "static void say(const hone_rt *rt, int32_t code, const char *text) {\n"
    "    (void)rt; (void)code; puts(text);\n"
    "}\n"
    "int main(int argc, char **argv) {\n"
    "    hone_rt rt = {HONE_ABI_VERSION, 1, NULL, run_all, take, give, find, say};\n"
    "    void *buffers[32] = {0};\n"
    "    int64_t bytes[32], count = 0;\n"
    "    FILE *file = argc == 2 ? fopen(argv[1], \"r+b\") : NULL;\n"
    "    if (!file) return 10;\n"
    "    if (fread(&count, 8, 1, file) != 1) return 11;\n"
    "    for (int64_t i = 0; i < count; i++) {\n"
    "        if (fread(&bytes[i], 8, 1, file) != 1) return 12;\n"
    "        buffers[i] = room(bytes[i]);\n"
    "        if (fread(buffers[i], 1, (size_t)bytes[i], file) != (size_t)bytes[i]) return 13;\n"
    "    }\n"
    "    if (kernel(&rt, buffers, NULL) != 0) return 14;\n"
    "    rewind(file);\n"
    "    for (int64_t i = 0; i < count; i++)\n"
    "        fwrite(buffers[i], 1, (size_t)bytes[i], file);\n"
    "    return fclose(file) == 0 ? 0 : 15;\n"
    "}\n";

static const char *emulator(void) {
    static const char *const paths[] = {"/usr/bin/qemu-aarch64-static", "/usr/bin/qemu-aarch64"};
    for (size_t i = 0; i < HONE_COUNT(paths); i++) {
        if (access(paths[i], X_OK) == 0) return paths[i];
    }
    return NULL;
}

/* Debian's multiarch library, or the one of its cross packages. */
static bool has_static_libm(void) {
    return access("/usr/lib/aarch64-linux-gnu/libm.a", R_OK) == 0 ||
           access("/usr/aarch64-linux-gnu/lib/libm.a", R_OK) == 0;
}

bool test_can_run(const hone_target *target) {
    if (hone_target_runs_here(target)) return true;
    return strcmp(target->triple, "aarch64-linux-gnu") == 0 && emulator() &&
           access("/usr/bin/aarch64-linux-gnu-gcc", X_OK) == 0 && has_static_libm();
}

static hone_status run(const char *const *argv) {
    const hone_clock *clock = hone_clock_system();
    int64_t deadline = hone_deadline_after(clock, 300 * HONE_NS_PER_S);
    hone_str said = {0};
    hone_proc proc;
    hone_status st = hone_proc_run(argv, 1 << 16, clock, deadline, &said, &said, &proc);
    if (!st && (proc.term_signal != 0 || proc.exit_code != 0)) {
        hone_str end = {0};
        hone_proc_print_end(&proc, &end);
        st = HONE_ERROR(HONE_CODE_INVALID, "%s: %s: %s", argv[0], hone_str_text(&end),
                        hone_str_text(&said));
        hone_str_deinit(&end);
    }
    hone_str_deinit(&said);
    return st;
}

static hone_status write_args(const char *path, hone_tensor *const *args) {
    hone_str text = {0};
    int64_t count = 0;
    while (args[count])
        count++;
    hone_str_append_n(&text, (const char *)&count, sizeof count);
    for (int64_t i = 0; i < count; i++) {
        int64_t bytes = (int64_t)hone_tensor_bytes(args[i]);
        hone_str_append_n(&text, (const char *)&bytes, sizeof bytes);
        hone_str_append_n(&text, args[i]->data, (size_t)bytes);
    }
    hone_status st = hone_str_check(&text);
    if (!st) st = hone_fs_write_atomic(path, text.data, text.length);
    hone_str_deinit(&text);
    return st;
}

static hone_status read_args(const char *path, hone_tensor *const *args) {
    char *bytes;
    size_t count, at = 0;
    HONE_TRY(hone_fs_read(path, SIZE_MAX / 2, &bytes, &count));
    for (size_t i = 0; args[i] && at + hone_tensor_bytes(args[i]) <= count; i++) {
        memcpy(args[i]->data, bytes + at, hone_tensor_bytes(args[i]));
        at += hone_tensor_bytes(args[i]);
    }
    hone_free(bytes);
    return HONE_OK;
}

hone_status test_run_elsewhere(const hone_str *object, hone_tensor *const *args) {
    char paths[4][96];
    static const char *const ends[] = {"c", "o", "args", "program"};
    for (int i = 0; i < 4; i++) {
        snprintf(paths[i], sizeof paths[i], "/tmp/hone-elsewhere-%ld.%s", (long)getpid(), ends[i]);
    }
    const char *const link[] = {"/usr/bin/aarch64-linux-gnu-gcc",
                                "-static",
                                "-std=gnu11",
                                "-I",
                                hone_test_source_path("."),
                                paths[0],
                                paths[1],
                                "-lm",
                                "-o",
                                paths[3],
                                NULL};
    const char *const start[] = {emulator(), paths[3], paths[2], NULL};
    hone_status st = hone_fs_write_atomic(paths[0], harness, strlen(harness));
    if (!st) st = hone_fs_write_atomic(paths[1], object->data, object->length);
    if (!st) st = write_args(paths[2], args);
    if (!st) st = run(link);
    if (!st) st = run(start);
    if (!st) st = read_args(paths[2], args);
    for (int i = 0; i < 4; i++)
        unlink(paths[i]);
    return st;
}
