/* builder/c_import.c - links source that a program imports into its kernel.
 *
 *   text.c ─ cc -c ─► text.o ─┐
 *                kernel.o ────┴─ ld -r ─► all.o ─ objcopy --localize-hidden ─► all.o
 *
 * Texts are compiled with hidden names, which objcopy then makes local: two kernels of one library
 * may bring along the same function.
 */
#include "builder/c_import.h"

#include <stdio.h>

#include "builder/tool.h"
#include "codegen/facts.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

enum { MAX_TEXTS = 16, NAME_BYTES = 128 };

/* A text that expands without end, or into gigabytes, is an error like another. */
#define MAX_MEMORY (INT64_C(4) << 30)
#define MAX_FILE (INT64_C(256) << 20)

typedef struct workplace {
    const hone_target *target;
    char *dir; /* owned */
    uint32_t count;
} workplace;

static void path_of(const workplace *w, const char *name, hone_str *out) {
    hone_str_printf(out, "%s/%s", w->dir, name);
}

/* "gcc", or "aarch64-linux-gnu-gcc" for another processor, as Debian names them. */
static void tool_name(const workplace *w, const char *name, char out[NAME_BYTES]) {
    bool is_native = hone_target_is_native_arch(w->target);
    snprintf(out, NAME_BYTES, "%s%s%s", is_native ? "" : w->target->triple, is_native ? "" : "-",
             name);
}

/* A tool that failed may have found no room; what it says of that could be the text's own words. */
static hone_status blame_full_disk(const workplace *w, hone_status failure) {
    static const char page[1 << 16];
    hone_str path = {0};
    path_of(w, "room", &path);
    hone_status st = hone_str_check(&path);
    if (!st) st = hone_fs_write_atomic(hone_str_text(&path), page, sizeof page);
    if (!st) st = hone_fs_remove_file(hone_str_text(&path));
    hone_str_deinit(&path);
    if (!st) return failure;
    hone_status_free(failure);
    return st;
}

/* Runs a tool in the workplace; what it says is the message of a failure. */
static hone_status run_tool(const workplace *w, const char *const *argv) {
    char who[NAME_BYTES + 32];
    const hone_proc_options options = {
        .argv = argv, .work_dir = w->dir, .address_bytes = MAX_MEMORY, .file_bytes = MAX_FILE};
    snprintf(who, sizeof who, "pragma_import_c: %s", argv[0]);
    hone_status st = hone_tool_run(&options, who, false);
    if (hone_status_code(st) == HONE_CODE_INVALID) return blame_full_disk(w, st);
    if (hone_status_code(st) != HONE_CODE_NOT_FOUND) return st;
    hone_status_free(st);
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "pragma_import_c needs '%s', which is not here",
                      argv[0]);
}

static hone_status write_text(const workplace *w, uint32_t index, const char *text) {
    hone_str path = {0}, clean = {0};
    hone_str_printf(&path, "%s/text%u.c", w->dir, index);
    codegen_append_c_source(text, &clean);
    hone_status st = hone_str_check(&path);
    if (!st) st = hone_str_check(&clean);
    if (!st) st = hone_fs_write_atomic(hone_str_text(&path), hone_str_text(&clean), clean.length);
    hone_str_deinit(&path);
    hone_str_deinit(&clean);
    return st;
}

static hone_status compile(const workplace *w, uint32_t index) {
    char tool[NAME_BYTES], source[32], object[32];
    tool_name(w, hone_target_is_native_arch(w->target) ? "cc" : "gcc", tool);
    snprintf(source, sizeof source, "text%u.c", index);
    snprintf(object, sizeof object, "text%u.o", index);
    const char *const argv[] = {tool, "-O3",  "-fPIC", "-fvisibility=hidden", "-w", "-c", source,
                                "-o", object, NULL};
    return run_tool(w, argv);
}

static hone_status join(const workplace *w) {
    char ld[NAME_BYTES], objcopy[NAME_BYTES], names[MAX_TEXTS][32];
    const char *argv[MAX_TEXTS + 6] = {ld, "-r", "-o", "all.o", "kernel.o"};
    tool_name(w, "ld", ld);
    tool_name(w, "objcopy", objcopy);
    for (uint32_t i = 0; i < w->count; i++) {
        snprintf(names[i], sizeof names[i], "text%u.o", i);
        argv[5 + i] = names[i];
    }
    HONE_TRY(run_tool(w, argv));
    const char *const hide[] = {objcopy, "--localize-hidden", "all.o", NULL};
    return run_tool(w, hide);
}

static hone_status put_object(const workplace *w, const hone_str *object) {
    hone_str path = {0};
    path_of(w, "kernel.o", &path);
    hone_status st = hone_str_check(&path);
    if (!st) st = hone_fs_write_atomic(hone_str_text(&path), object->data, object->length);
    hone_str_deinit(&path);
    return st;
}

static hone_status take_object(const workplace *w, hone_str *object) {
    hone_str path = {0};
    char *bytes = NULL;
    size_t count = 0;
    path_of(w, "all.o", &path);
    hone_status st = hone_str_check(&path);
    if (!st) st = hone_fs_read(hone_str_text(&path), 1 << 28, &bytes, &count);
    hone_str_deinit(&path);
    if (st) return st;
    hone_str_truncate(object, 0);
    hone_str_append_n(object, bytes, count);
    hone_free(bytes);
    return hone_str_check(object);
}

static hone_status import_all(const workplace *w, const hone_value *texts, hone_str *io_object) {
    for (uint32_t i = 0; i < w->count; i++) {
        HONE_TRY(write_text(w, i, texts->u.items[i].u.s));
        HONE_TRY(compile(w, i));
    }
    HONE_TRY(put_object(w, io_object));
    HONE_TRY(join(w));
    return take_object(w, io_object);
}

hone_status hone_c_import(const hone_target *target, const hone_value *texts, hone_str *io_object) {
    workplace w = {.target = target, .count = texts->count};
    if (w.count > MAX_TEXTS) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%u texts of pragma_import_c, at most %d", w.count,
                          MAX_TEXTS);
    }
    HONE_TRY(hone_fs_temp_dir("hone-c", &w.dir));
    hone_status st = import_all(&w, texts, io_object);
    hone_status removed = hone_fs_remove_tree(w.dir);
    hone_free(w.dir);
    return hone_status_join(st, removed);
}
