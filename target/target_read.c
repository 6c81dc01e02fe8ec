/* target/target_read.c - targets as users name them. */
#include "target/target_read.h"

#include <string.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "target/target_impl.h"

/* Reads the target in a file; its text may end with a newline. */
static hone_status read_file(const char *path, hone_target *out_target, bool *out_says_cores) {
    char *text = NULL;
    size_t count = 0;
    HONE_TRY(hone_fs_read(path, 1 << 16, &text, &count));
    while (count && strchr(" \t\r\n", text[count - 1]))
        text[--count] = '\0';
    hone_status st = hone_target_parse_cores(text, out_target, out_says_cores);
    hone_free(text);
    return hone_status_annotate(st, "%s", path);
}

static bool is_path(const char *text) {
    const char *extension = hone_path_extension(text);
    bool is_file = strcmp(extension, ".json") == 0 || strcmp(extension, ".txt") == 0 ||
                   strncmp(text, "./", 2) == 0 || *text == '/';
    return is_file && strchr(text, '{') == NULL;
}

/* However the triple is spelled. */
static bool is_same_arch(const hone_target *a, const hone_target *b) {
    if (strcmp(a->triple, b->triple) == 0) return true;
    return !hone_target_is_gpu(a) && !hone_target_is_gpu(b) &&
           strcmp(hone_target_arch(a), hone_target_arch(b)) == 0;
}

hone_status hone_target_read_on(const hone_target *machine, const char *text_or_null,
                                int64_t threads, hone_target *out_target) {
    bool says_cores;
    const char *text = text_or_null ? text_or_null : "host";
    HONE_TRY(is_path(text) ? read_file(text, out_target, &says_cores)
                           : hone_target_parse_cores(text, out_target, &says_cores));
    bool is_its_arch = is_same_arch(out_target, machine);
    if (!says_cores && is_its_arch) {
        out_target->num_threads = out_target->num_cores = machine->num_cores;
    }
    if (threads > 0) out_target->num_threads = (int32_t)threads;
    bool is_free = !says_cores && !is_its_arch; /* nobody knows how many there are */
    if (is_free && out_target->num_threads > out_target->num_cores) {
        out_target->num_cores = out_target->num_threads;
    }
    return hone_target_check(out_target);
}

hone_status hone_target_read(const char *text_or_null, int64_t threads, hone_target *out_target) {
    hone_target machine;
    HONE_TRY(hone_target_detect(&machine));
    return hone_target_read_on(&machine, text_or_null, threads, out_target);
}
