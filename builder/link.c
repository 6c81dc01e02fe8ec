/* builder/link.c - runs `ld -shared` on an object that lies in a memory file.
 *
 * ld takes about 4 ms, less than any linker in the process would; the object never touches a disk.
 */
#include "builder/link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "builder/object.h"
#include "builder/tool.h"
#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/data/vec.h"
#include "support/os/fs.h"
#include "support/os/proc.h"

enum { OBJECT_FD = 3 }; /* of the linker */

static hone_status open_object(const void *object, size_t count, int *out_fd) {
    *out_fd = memfd_create("hone-object", MFD_CLOEXEC);
    if (*out_fd < 0)
        return HONE_ERROR(HONE_CODE_IO, "memory file for the linker: %s", strerror(errno));
    hone_status st = hone_fd_write_full(*out_fd, object, count);
    if (st) hone_fd_close(out_fd);
    return st;
}

typedef struct link_job {
    const hone_target *target;
    int object_fd;
    bool has_libraries; /* names what it needs, nothing else; else whoever loads it has them, or
                           there is nothing that it needs */
    bool keeps_symbols; /* and line tables */
} link_job;

/* The linker of this machine; for others a cross linker, which has the triple in front, as Debian
 * names them, or LLVM's, which links for all. NULL: there are no more. */
static const char *linker_name(const hone_target *target, int attempt, char *room,
                               size_t capacity) {
    if (hone_target_is_native_arch(target)) return attempt ? NULL : "ld";
    if (attempt) return attempt == 1 ? "ld.lld" : NULL;
    snprintf(room, capacity, "%s-ld", target->triple);
    return room;
}

typedef HONE_VEC(const char *) word_list;

static bool push_words(word_list *words, const char *const *from, size_t count) {
    return hone_vec_append(words, from, count);
}

static hone_status make_words(word_list *words, const link_job *job, const char *linker,
                              const char *draft_path) {
    const char *const head[] = {linker,
                                "-shared",
                                "-z",
                                "noexecstack",
                                "-z",
                                "now",
                                job->keeps_symbols ? "--discard-none" : "-s",
                                "--build-id=none",
                                "--hash-style=gnu",
                                "-o",
                                draft_path,
                                "/proc/self/fd/3"};
    static const char *const libraries[] = {"-z", "defs", "--as-needed", "-l:libm.so.6",
                                            "-l:libc.so.6"};
    static const char *const end[] = {NULL};
    bool ok = push_words(words, head, HONE_COUNT(head)) &&
              (!job->has_libraries || push_words(words, libraries, HONE_COUNT(libraries))) &&
              push_words(words, end, 1);
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "linker");
}

static hone_status run_linker(const char *const *argv, int object_fd) {
    char who[128];
    const hone_fd_map object = {object_fd, OBJECT_FD};
    const hone_proc_options options = {.argv = argv, .fds = &object, .fd_count = 1};
    snprintf(who, sizeof who, "linker '%s'", argv[0]);
    hone_status st = hone_tool_run(&options, who, true);
    if (hone_status_code(st) != HONE_CODE_NOT_FOUND) return st;
    return hone_status_annotate(st, "%s (install binutils for the target)", who);
}

/* The first linker that is there. */
static hone_status try_linkers(const link_job *job, const char *draft_path) {
    char room[96];
    hone_status st = HONE_OK;
    const char *linker;
    for (int attempt = 0; (linker = linker_name(job->target, attempt, room, sizeof room)) != NULL;
         attempt++) {
        word_list words = {0};
        hone_status again = make_words(&words, job, linker, draft_path);
        if (!again) again = run_linker(words.data, job->object_fd);
        hone_vec_deinit(&words);
        if (hone_status_code(again) != HONE_CODE_NOT_FOUND) {
            hone_status_free(st);
            return again;
        }
        st = hone_status_join(st, again);
    }
    return st;
}

/* No linker at all is this machine's lack: the candidate is not blamed for it. */
static hone_status of_machine(hone_status st) {
    if (hone_status_code(st) != HONE_CODE_NOT_FOUND) return st;
    hone_status other = HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s", hone_status_message(st));
    hone_status_free(st);
    return other;
}

/* Links into a draft beside the output and renames it when it is whole. */
static hone_status link_all(const link_job *job, const char *output_path) {
    char *draft = NULL;
    hone_status st = HONE_OK;
    hone_str path = {0};
    hone_str_printf(&path, "%s.%ld.tmp", output_path, (long)getpid());
    HONE_TRY_GOTO(st, hone_str_check(&path), end);
    draft = hone_str_take(&path);
    HONE_TRY_GOTO(st, of_machine(try_linkers(job, draft)), end);
    if (rename(draft, output_path) != 0) {
        st = HONE_ERROR(HONE_CODE_IO, "%s: %s", output_path, strerror(errno));
    }
end:
    if (st && draft) unlink(draft);
    hone_str_deinit(&path);
    hone_free(draft);
    return st;
}

/* External functions that a program declares are looked up when it runs; whatever else is undefined
 * is an error here. A kernel for another machine is loaded by hone-runner, which has libm and tells
 * what is undefined: so the cross linker needs no libraries of that machine. Where nothing is
 * undefined no library is read: their symbols take the linker twice as long as all else. */
hone_status hone_link_shared(const hone_target *target, const void *object, size_t count,
                             bool keeps_symbols, const char *output_path) {
    link_job job = {.target = target,
                    .has_libraries = hone_target_is_native_arch(target) &&
                                     hone_object_needs_symbols(object, count),
                    .keeps_symbols = keeps_symbols};
    HONE_TRY(open_object(object, count, &job.object_fd));
    hone_status st = link_all(&job, output_path);
    hone_fd_close(&job.object_fd);
    return st;
}
