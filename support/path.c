/* support/path.c - the path functions of fs.h: text only, except for the program's directory. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "support/alloc.h"
#include "support/fs.h"

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
