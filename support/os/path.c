/* support/os/path.c - the path functions of fs.h: text only, except for the program's directory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/data/hash.h"
#include "support/os/fs.h"

char *hone_path_join(const char *a, const char *b) {
    hone_str path = {0};
    size_t length = strlen(a);
    if (b[0] != '/' && length > 0) {
        hone_str_append_n(&path, a, length);
        if (a[length - 1] != '/') hone_str_append_char(&path, '/');
    }
    hone_str_append(&path, b);
    return hone_str_take(&path);
}

char *hone_path_dirname(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return hone_strdup(".");
    while (slash > path && slash[-1] == '/')
        slash--;
    return slash == path ? hone_strdup("/") : hone_strndup(path, (size_t)(slash - path));
}

const char *hone_path_basename(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *hone_path_extension(const char *path) {
    const char *name = hone_path_basename(path);
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? dot : name + strlen(name); /* ".profile" has none */
}

/* Systems take 255 bytes; endings, numbers and those of temporary files want some of them. */
enum { LONGEST_NAME = 220, KEPT_OF_LONG = 180 };

char *hone_path_short_name(const char *name) {
    size_t kept = KEPT_OF_LONG;
    if (strlen(name) <= LONGEST_NAME) return hone_strdup(name);
    while (kept && ((unsigned char)name[kept] & 0xc0) == 0x80) /* no half of a UTF-8 character */
        kept--;
    char hash[HONE_HASH_HEX_BYTES];
    hone_hash128_print(hone_hash128_text(name), hash);
    char *made = hone_malloc(kept + sizeof hash + 1);
    if (made) snprintf(made, kept + sizeof hash + 1, "%.*s_%s", (int)kept, name, hash);
    return made;
}

hone_status hone_fs_program_dir(char **out_path) {
    char path[4096];
    *out_path = NULL;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) {
        return HONE_ERROR(HONE_CODE_IO, "cannot find the running program: %s", strerror(errno));
    }
    path[length] = '\0';
    *out_path = hone_path_dirname(path);
    return *out_path ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "path of the running program");
}
