/* compile/assemble.c - objects, tables, runtime and weights to files.
 *
 * Everything is made in a temporary directory and put in place at the end, each file under a
 * temporary name first. The tools are those of binutils: as, ld, for archives objcopy and ar; for
 * another architecture the ones with its triple in front, and its gcc for runtime/model/; ptxas of
 * NVIDIA's toolkit for its cards' machine code. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compile/parts.h"
#include "runtime/model/model_device.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "support/os/scratch.h"

enum { MAX_OUTPUT = 4000, MAX_ARGS = 48 };
#define TOOL_TIMEOUT_NS (600 * HONE_NS_PER_S)

typedef struct assembly {
    parts *p;
    hone_compile_result *result;
    const char *dir; /* temporary */
    HONE_VEC(const char *) objects;
    HONE_VEC(const char *) files; /* written */
    const char *weights_path;     /* to embed */
    const char *weights_name;     /* beside the library */
} assembly;

static const char *in_dir(assembly *a, const char *name) {
    return hone_arena_printf(a->p->arena, "%s/%s", a->dir, name);
}

static const char *output_name(assembly *a, const char *ending) {
    return hone_arena_printf(a->p->arena, "%s%s", a->p->options->output, ending);
}

/* ---- tools ---- */

static const char *tool_name(assembly *a, const char *tool) {
    const hone_target *target = &a->p->host;
    if (strcmp(tool, "ptxas") == 0) return tool; /* there is one for all */
    if (hone_target_is_native_arch(target) && strcmp(tool, "gcc") != 0) return tool;
    return hone_arena_printf(a->p->arena, "%s-%s", target->triple, tool);
}

static const char *whence(const char *tool) {
    if (strcmp(tool, "gcc") == 0) return "install the C compiler for this target";
    return strcmp(tool, "ptxas") == 0 ? "it comes with NVIDIA's CUDA toolkit"
                                      : "install binutils for this target";
}

static hone_status run_tool(assembly *a, const char *tool, const char *const *args, size_t count) {
    const char *argv[MAX_ARGS + 2] = {tool_name(a, tool)};
    if (!argv[0]) return parts_no_memory();
    for (size_t i = 0; i < count; i++) {
        argv[i + 1] = args[i];
        if (!args[i]) return parts_no_memory();
    }
    const hone_clock *clock = hone_clock_system();
    hone_str out = {0}, err = {0};
    hone_proc proc = {0};
    hone_status st = hone_proc_run(argv, MAX_OUTPUT, clock,
                                   hone_deadline_after(clock, TOOL_TIMEOUT_NS), &out, &err, &proc);
    if (st && hone_status_code(st) == HONE_CODE_NOT_FOUND)
        st = hone_status_annotate(st, "'%s' is needed (%s)", argv[0], whence(tool));
    if (!st && (proc.term_signal != 0 || proc.exit_code != 0)) {
        st = HONE_ERROR(HONE_CODE_IO, "'%s' failed: %s%s", argv[0], hone_str_text(&err),
                        hone_str_text(&out));
    }
    hone_str_deinit(&out);
    hone_str_deinit(&err);
    hone_proc_deinit(&proc);
    return st;
}

/* Adds each name that the linker says is undefined, once. */
static void list_undefined(const char *said, hone_str *out) {
    static const char words[] = "undefined reference to `";
    for (const char *at = said; (at = strstr(at, words)); at++) {
        const char *name = at + strlen(words);
        const int length = (int)strcspn(name, "'\n");
        hone_str quoted = {0};
        hone_str_printf(&quoted, "'%.*s'", length, name);
        if (!strstr(hone_str_text(out), hone_str_text(&quoted)))
            hone_str_printf(out, "%s%s", out->length ? ", " : "", hone_str_text(&quoted));
        hone_str_deinit(&quoted);
    }
}

/* C text of a program may call what no library has: that is not this machine's fault. Takes st. */
static hone_status blame_program(hone_status st) {
    hone_str names = {0};
    if (hone_status_code(st) == HONE_CODE_IO) list_undefined(hone_status_message(st), &names);
    if (names.length) {
        hone_status_free(st);
        st = HONE_ERROR(HONE_CODE_INVALID,
                        "text of the program calls what neither it nor the C library has: "
                        "undefined %s",
                        hone_str_text(&names));
    }
    hone_str_deinit(&names);
    return st;
}

#define RUN_TOOL(a, tool, ...)                                                                     \
    run_tool((a), (tool), (const char *const[]){__VA_ARGS__},                                      \
             HONE_COUNT(((const char *const[]){__VA_ARGS__})))

/* ---- pieces ---- */

static hone_status write_in_dir(assembly *a, const char *name, const void *bytes, size_t count,
                                const char **out_path) {
    *out_path = in_dir(a, name);
    if (!*out_path) return parts_no_memory();
    return hone_fs_write_atomic(*out_path, bytes, count);
}

static hone_status add_object(assembly *a, const char *path) {
    return path && hone_vec_push(&a->objects, path) ? HONE_OK : parts_no_memory();
}

/* An object, or the text that a GPU's driver compiles; of nothing to launch there is none. */
static hone_status write_kernel(assembly *a, size_t number) {
    part_kernel *k = &a->p->kernels.data[number];
    bool is_code = parts_is_launched(a->p, k);
    char name[32];
    if (is_code && !k->launches.launch_count) return HONE_OK;
    const char *path;
    snprintf(name, sizeof name, "k%zu.%s", number, is_code ? "code" : "o");
    HONE_TRY(write_in_dir(a, name, k->object, k->object_bytes, &path));
    if (is_code) k->code_path = path;
    return is_code ? HONE_OK : add_object(a, path);
}

/* All kernels as one file of objects would be, one after the other. */
static hone_status write_kernels(assembly *a) {
    for (size_t i = 0; i < a->p->kernels.count; i++)
        HONE_TRY(write_kernel(a, i));
    return HONE_OK;
}

static bool has_ending(const char *name, const char *ending) {
    size_t length = strlen(name), want = strlen(ending);
    return length > want && strcmp(name + length - want, ending) == 0;
}

static hone_status compile_runtime_file(assembly *a, const embedded_file *file) {
    const char *source = hone_arena_printf(a->p->arena, "%s/runtime/model/%s", a->dir, file->name);
    const char *object = hone_arena_printf(a->p->arena, "%s.o", source);
    bool is_arm = strncmp(a->p->host.triple, "aarch64", 7) == 0;
    HONE_TRY(RUN_TOOL(a, "gcc", "-std=c11", "-O2", "-DNDEBUG", "-D_GNU_SOURCE", "-fPIC",
                      "-fvisibility=hidden", "-ffp-contract=off",
                      is_arm ? "-mno-outline-atomics" : "-O2", "-I", a->dir, "-c", source, "-o",
                      object));
    return add_object(a, object);
}

/* The runtime for another architecture: its source is carried along. */
static hone_status compile_runtime(assembly *a) {
    const char *path = in_dir(a, "runtime/model/device"); /* the deepest */
    if (!path) return parts_no_memory();
    HONE_TRY(hone_fs_mkdirs(path));
    for (const embedded_file *f = hone_embedded_files + 1; f->name; f++) {
        char name[128];
        snprintf(name, sizeof name, "runtime/model/%s", f->name);
        HONE_TRY(write_in_dir(a, name, f->bytes, f->count, &path));
    }
    for (const embedded_file *f = hone_embedded_files + 1; f->name; f++) {
        if (has_ending(f->name, ".c")) HONE_TRY(compile_runtime_file(a, f));
    }
    return HONE_OK;
}

static hone_status write_runtime(assembly *a) {
    if (!hone_target_is_native_arch(&a->p->host)) return compile_runtime(a);
    const char *path;
    HONE_TRY(write_in_dir(a, "runtime.o", hone_embedded_files[0].bytes,
                          hone_embedded_files[0].count, &path));
    return add_object(a, path);
}

/* ---- weights ---- */

static hone_status note_file(assembly *a, const char *path) {
    return path && hone_vec_push(&a->files, path) ? HONE_OK : parts_no_memory();
}

static hone_status write_weights(assembly *a) {
    parts *p = a->p;
    parts_sum_weights(p);
    if (p->weights_bytes == 0) return HONE_OK;
    bool is_beside = p->options->weights == HONE_COMPILE_WEIGHTS_BESIDE ||
                     (p->options->weights == HONE_COMPILE_WEIGHTS_AUTO &&
                      p->weights_bytes > HONE_COMPILE_EMBED_LIMIT);
    if (!is_beside) {
        a->weights_path = in_dir(a, "weights.bin");
        return a->weights_path ? parts_copy_weights(p, a->weights_path) : parts_no_memory();
    }
    const char *path = output_name(a, ".weights");
    if (!path) return parts_no_memory();
    a->weights_name = hone_path_basename(path);
    HONE_TRY(parts_keep_weights(p));
    return note_file(a, path);
}

static hone_status write_tables(assembly *a) {
    hone_str asm_text = {0};
    const char *path, *object = in_dir(a, "tables.o");
    hone_status st = parts_print_asm(a->p, a->weights_path, a->weights_name, &asm_text);
    if (!st) st = write_in_dir(a, "tables.s", asm_text.data, asm_text.length, &path);
    hone_str_deinit(&asm_text);
    HONE_TRY(st);
    HONE_TRY(RUN_TOOL(a, "as", "-o", object, path));
    return add_object(a, object);
}

/* ---- linking ---- */

/* Names that callers see, each on a line of the form given. */
static void print_symbols(const parts *p, const char *before, const char *after, hone_str *out) {
    static const char *const fixed[] = {"info", "last_error", "rt_create", "rt_destroy"};
    for (size_t i = 0; i < HONE_COUNT(fixed); i++)
        hone_str_printf(out, "%s%s_%s%s", before, p->prefix, fixed[i], after);
    for (size_t i = 0; i < p->entries.count; i++) {
        const char *suffix = p->entries.data[i].suffix;
        hone_str_printf(out, "%s%s_%s%s", before, p->prefix, suffix, after);
        hone_str_printf(out, "%s%s_%s_shapes%s", before, p->prefix, suffix, after);
    }
}

/* Options and objects for the linker, one per line: there may be thousands of kernels. */
static hone_status write_response(assembly *a, const char **out_option) {
    hone_str list = {0};
    const char *path = NULL;
    for (size_t i = 0; i < a->objects.count; i++)
        hone_str_printf(&list, "\"%s\"\n", a->objects.data[i]);
    hone_status st = hone_str_check(&list);
    if (!st) st = write_in_dir(a, "objects", list.data, list.length, &path);
    hone_str_deinit(&list);
    HONE_TRY(st);
    *out_option = hone_arena_printf(a->p->arena, "@%s", path);
    return *out_option ? HONE_OK : parts_no_memory();
}

/* From where fd stands to its end. */
static hone_status copy_rest(int fd, int to, int64_t *out_count) {
    char room[1 << 16];
    for (;;) {
        ssize_t count = read(fd, room, sizeof room);
        if (count == 0) return HONE_OK;
        if (count < 0) return HONE_ERROR(HONE_CODE_IO, "a file that was written cannot be read");
        HONE_TRY(hone_fd_write_full(to, room, (size_t)count));
        *out_count += count;
    }
}

hone_status parts_copy_file(int fd, const char *path, int64_t *out_count) {
    hone_fs_draft draft;
    *out_count = 0;
    HONE_TRY(hone_fs_draft_open(path, &draft));
    hone_status st = copy_rest(fd, draft.fd, out_count);
    if (!st) return hone_fs_draft_commit(&draft);
    hone_fs_draft_abandon(&draft);
    return hone_status_annotate(st, "%s", path);
}

/* From the temporary directory to where it was asked for. */
static hone_status put_in_place(assembly *a, const char *from, const char *ending) {
    const char *to = output_name(a, ending);
    if (!to) return parts_no_memory();
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return HONE_ERROR(HONE_CODE_IO, "%s: cannot be read", from);
    hone_status st = parts_copy_file(fd, to, &a->result->library_bytes);
    close(fd);
    return st ? st : note_file(a, to);
}

/* What has __tls_get_addr on x86_64; 64-bit ARM does without. */
static const char *loader_option(assembly *a) {
    bool is_x86 = strncmp(a->p->host.triple, "x86_64", 6) == 0;
    return is_x86 ? "-l:ld-linux-x86-64.so.2" : "-l:libc.so.6";
}

static hone_status link_shared(assembly *a) {
    hone_str script = {0};
    const char *map = NULL, *objects, *library = in_dir(a, "model.so");
    const char *soname = hone_path_basename(output_name(a, ".so"));
    hone_str_append(&script, "{ global: " HONE_MODEL_SYMBOL ";");
    print_symbols(a->p, " ", ";", &script);
    hone_str_append(&script, " local: *; };\n");
    hone_status st = hone_str_check(&script);
    if (!st) st = write_in_dir(a, "symbols.map", script.data, script.length, &map);
    hone_str_deinit(&script);
    HONE_TRY(st);
    HONE_TRY(write_response(a, &objects));
    HONE_TRY(blame_program(
        RUN_TOOL(a, "ld", "-shared", "-Bsymbolic", "-z", "noexecstack", "-z", "now", "-z", "relro",
                 "-z", "defs", a->p->lines_dir ? "--discard-none" : "-s", "--build-id=none",
                 "--hash-style=gnu", "--version-script", map, "-soname", soname, "-o", library,
                 objects, "--as-needed", "-l:libm.so.6", "-l:libc.so.6", loader_option(a))));
    return put_in_place(a, library, ".so");
}

/* One object in which only the entry points are global. */
static hone_status link_object(assembly *a, const char **out_path) {
    const char *objects, *whole = in_dir(a, "whole.o"), *keep = NULL, *option;
    *out_path = in_dir(a, hone_path_basename(output_name(a, ".o")));
    HONE_TRY(write_response(a, &objects));
    HONE_TRY(RUN_TOOL(a, "ld", "-r", "-o", whole, objects));
    hone_str names = {0};
    print_symbols(a->p, "", "\n", &names);
    hone_status st = hone_str_check(&names);
    if (!st) st = write_in_dir(a, "symbols.txt", names.data, names.length, &keep);
    hone_str_deinit(&names);
    HONE_TRY(st);
    option = hone_arena_printf(a->p->arena, "--keep-global-symbols=%s", keep);
    return RUN_TOOL(a, "objcopy", option, whole, *out_path);
}

static hone_status link_archive(assembly *a) {
    const char *object, *archive = in_dir(a, "model.a");
    HONE_TRY(link_object(a, &object));
    HONE_TRY(RUN_TOOL(a, "ar", "rcsD", archive, object));
    return put_in_place(a, archive, ".a");
}

static hone_status write_header(assembly *a) {
    hone_str text = {0};
    const char *path = output_name(a, ".h");
    hone_status st = path ? parts_print_header(a->p, &text) : parts_no_memory();
    if (!st) st = hone_fs_write_atomic(path, text.data, text.length);
    hone_str_deinit(&text);
    return st ? st : note_file(a, path);
}

static hone_status link_library(assembly *a) {
    HONE_TRY(write_kernels(a));
    HONE_TRY(write_runtime(a));
    HONE_TRY(write_weights(a));
    HONE_TRY(write_tables(a));
    if (a->p->options->emit == HONE_COMPILE_SO) {
        HONE_TRY(link_shared(a));
    } else if (a->p->options->emit == HONE_COMPILE_A) {
        HONE_TRY(link_archive(a));
    } else {
        const char *object;
        HONE_TRY(link_object(a, &object));
        HONE_TRY(put_in_place(a, object, ".o"));
    }
    return write_header(a);
}

/* ---- machine code of NVIDIA's cards ---- */

/* The texts of all kernels, one per line, in quotes for blanks: there may be hundreds. */
static hone_status write_texts(assembly *a, const char **out_list) {
    hone_str list = {0};
    hone_status st = HONE_OK;
    for (size_t i = 0; i < a->p->kernels.count && !st; i++) {
        const part_kernel *k = &a->p->kernels.data[i];
        const char *path;
        char name[32];
        snprintf(name, sizeof name, "k%zu.ptx", i);
        st = write_in_dir(a, name, k->object, k->object_bytes, &path);
        if (!st) hone_str_printf(&list, "\"%s\"\n", path);
    }
    if (!st) st = hone_str_check(&list);
    if (!st) st = write_in_dir(a, "texts", list.data, list.length, out_list);
    hone_str_deinit(&list);
    return st;
}

/* By ptxas, for the very architecture that is asked for. */
static hone_status write_cubin(assembly *a) {
    const char *list, *made = in_dir(a, "model.cubin");
    const char *arch = hone_arena_printf(a->p->arena, "-arch=%s", a->p->options->target.cpu);
    HONE_TRY(write_texts(a, &list));
    HONE_TRY(RUN_TOOL(a, "ptxas", arch, "-optf", list, "-o", made));
    return put_in_place(a, made, ".cubin");
}

/* ---- text ---- */

static hone_status write_text(assembly *a) {
    hone_str text = {0};
    parts_join_texts(a->p, &text);
    const char *path = output_name(a, hone_compile_emits[a->p->options->emit].ending);
    hone_status st = path ? hone_str_check(&text) : parts_no_memory();
    if (!st) st = hone_fs_write_atomic(path, hone_str_text(&text), text.length);
    hone_str_deinit(&text);
    return st ? st : note_file(a, path);
}

static hone_status write_as_asked(assembly *a) {
    hone_compile_emit emit = a->p->options->emit;
    if (emit == HONE_COMPILE_CUBIN) return write_cubin(a);
    bool is_library = hone_compile_emits[emit].facts & HONE_EMITS_LIBRARY;
    return is_library ? link_library(a) : write_text(a);
}

static hone_status note_lines(assembly *a) {
    for (size_t i = 0; a->p->lines_dir && i < a->p->kernels.count; i++)
        HONE_TRY(note_file(a, parts_lines_path(a->p, &a->p->kernels.data[i])));
    return HONE_OK;
}

static hone_status keep_files(assembly *a) {
    const char **files = hone_arena_alloc(a->p->arena, (a->files.count + 1) * sizeof *files);
    if (!files) return parts_no_memory();
    for (size_t i = 0; i < a->files.count; i++)
        files[i] = a->files.data[i];
    a->result->files = files;
    a->result->file_count = (uint32_t)a->files.count;
    return HONE_OK;
}

hone_status parts_make_output_dir(const parts *p) {
    char *dir = hone_path_dirname(p->options->output);
    if (!dir) return parts_no_memory();
    hone_status st = hone_fs_mkdirs(dir);
    hone_free(dir);
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_status world = HONE_ERROR(HONE_CODE_IO, "%s", hone_status_message(st));
    hone_status_free(st);
    return world;
}

hone_status parts_write(parts *p, hone_compile_result *result) {
    assembly a = {.p = p, .result = result};
    hone_scratch dir;
    HONE_TRY(hone_scratch_open("hone-compiling", &dir));
    a.dir = dir.path;
    hone_status st = write_as_asked(&a);
    if (!st) st = note_lines(&a);
    if (!st) st = keep_files(&a);
    st = hone_status_join(st, hone_scratch_close(&dir));
    hone_vec_deinit(&a.objects);
    hone_vec_deinit(&a.files);
    return st;
}
