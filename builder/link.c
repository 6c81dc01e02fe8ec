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

#include "support/alloc.h"
#include "support/attributes.h"
#include "support/fs.h"
#include "support/proc.h"
#include "support/vec.h"

enum { OBJECT_FD = 3, /* of the linker */ MAX_MESSAGE = 2000 };

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
    bool needs_libm;    /* names it; else whoever loads the library has it */
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

static hone_status read_message(int fd, char *text, size_t capacity) {
    size_t count = 0;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return HONE_ERROR(HONE_CODE_IO, "linker output: %s", strerror(errno));
    HONE_TRY(hone_fd_read_full(fd, text, capacity - 1, &count));
    text[count] = 0;
    while (count > 0 && text[count - 1] == '\n')
        text[--count] = 0;
    return HONE_OK;
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
    static const char *const libm[] = {"--as-needed", "-l:libm.so.6"}, *const end[] = {NULL};
    bool ok = push_words(words, head, HONE_COUNT(head)) &&
              (!job->needs_libm || push_words(words, libm, HONE_COUNT(libm))) &&
              push_words(words, end, 1);
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "linker");
}

static hone_status run_linker(const char *const *argv, int object_fd, int message_fd) {
    const char *linker = argv[0];
    const hone_fd_map fds[] = {
        {-1,         0        },
        {message_fd, 1        },
        {message_fd, 2        },
        {object_fd,  OBJECT_FD},
    };
    hone_proc_options options = {.argv = argv, .fds = fds, .fd_count = HONE_COUNT(fds)};
    hone_proc proc = {0};
    hone_status st = hone_proc_spawn(&options, &proc);
    if (st) {
        return hone_status_code(st) == HONE_CODE_NOT_FOUND
                   ? hone_status_annotate(st, "linker '%s' (install binutils for the target)",
                                          linker)
                   : st;
    }
    const hone_clock *clock = hone_clock_system();
    st = hone_proc_wait(&proc, clock, hone_deadline_after(clock, 60 * HONE_NS_PER_S));
    bool is_good = !st && proc.term_signal == 0 && proc.exit_code == 0;
    if (!st && !is_good) {
        char text[MAX_MESSAGE];
        st = read_message(message_fd, text, sizeof text);
        if (!st) st = HONE_ERROR(HONE_CODE_INVALID, "linker '%s': %s", linker, text);
    }
    hone_proc_deinit(&proc);
    return st;
}

/* The first linker that is there. */
static hone_status try_linkers(const link_job *job, const char *draft_path, int message_fd) {
    char room[96];
    hone_status st = HONE_OK;
    const char *linker;
    for (int attempt = 0; (linker = linker_name(job->target, attempt, room, sizeof room)) != NULL;
         attempt++) {
        word_list words = {0};
        hone_status again = make_words(&words, job, linker, draft_path);
        if (!again) again = run_linker(words.data, job->object_fd, message_fd);
        hone_vec_deinit(&words);
        if (hone_status_code(again) != HONE_CODE_NOT_FOUND) {
            hone_status_free(st);
            return again;
        }
        st = hone_status_join(st, again);
    }
    return st;
}

/* Links into a draft beside the output and renames it when it is whole. */
static hone_status link_all(const link_job *job, const char *output_path) {
    char *draft = NULL;
    int message_fd = -1;
    hone_status st = HONE_OK;
    hone_str path = {0};
    hone_str_printf(&path, "%s.%ld.tmp", output_path, (long)getpid());
    HONE_TRY_GOTO(st, hone_str_check(&path), end);
    draft = hone_str_take(&path);
    message_fd = memfd_create("hone-linker", MFD_CLOEXEC);
    if (message_fd < 0) {
        st = HONE_ERROR(HONE_CODE_IO, "memory file for the linker: %s", strerror(errno));
        goto end;
    }
    HONE_TRY_GOTO(st, try_linkers(job, draft, message_fd), end);
    if (rename(draft, output_path) != 0) {
        st = HONE_ERROR(HONE_CODE_IO, "%s: %s", output_path, strerror(errno));
    }
end:
    if (st && draft) unlink(draft);
    hone_fd_close(&message_fd);
    hone_str_deinit(&path);
    hone_free(draft);
    return st;
}

/* A kernel for another machine is loaded by hone-runner, which has libm: so the cross linker needs
 * no libraries of that machine. */
hone_status hone_link_shared(const hone_target *target, const void *object, size_t count,
                             bool keeps_symbols, const char *output_path) {
    link_job job = {.target = target,
                    .needs_libm = hone_target_is_native_arch(target),
                    .keeps_symbols = keeps_symbols};
    HONE_TRY(open_object(object, count, &job.object_fd));
    hone_status st = link_all(&job, output_path);
    hone_fd_close(&job.object_fd);
    return st;
}
