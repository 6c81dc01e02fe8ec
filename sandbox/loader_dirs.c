/* sandbox/loader_dirs.c - ld.so.conf(5), as ldconfig reads it: one folder a line, "include" with
 * patterns, '#' for comments. */
#include "sandbox/loader_dirs.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/core/attributes.h"

enum { MAX_DEPTH = 8 };

/* Links of libraries are given in both ways. */
bool hone_loader_dirs_add(hone_loader_dirs *dirs, const char *path) {
    char real[PATH_MAX];
    const char *both[] = {path, realpath(path, real)};
    if (path[0] != '/' || path[1] == 0) return true;
    for (size_t i = 0; i < HONE_COUNT(both) && both[i]; i++) {
        char *copy = hone_strdup(both[i]);
        size_t length = copy ? strlen(copy) : 0;
        while (length > 1 && copy[length - 1] == '/')
            copy[--length] = 0;
        if (!copy || !hone_vec_push(dirs, copy)) {
            hone_free(copy);
            return false;
        }
    }
    return true;
}

static bool read_conf(hone_loader_dirs *dirs, const char *path, int depth);

static bool include_conf(hone_loader_dirs *dirs, const char *pattern, int depth) {
    glob_t found = {0};
    bool ok = true;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && ok; i++)
            ok = read_conf(dirs, found.gl_pathv[i], depth + 1);
    }
    globfree(&found);
    return ok;
}

static bool read_line(hone_loader_dirs *dirs, char *line, int depth) {
    line[strcspn(line, "#\n")] = 0;
    line += strspn(line, " \t");
    size_t length = strlen(line);
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        line[--length] = 0;
    if (strncmp(line, "include", 7) == 0 && (line[7] == ' ' || line[7] == '\t')) {
        return include_conf(dirs, line + 7 + strspn(line + 7, " \t"), depth);
    }
    return hone_loader_dirs_add(dirs, line);
}

static bool read_conf(hone_loader_dirs *dirs, const char *path, int depth) {
    char line[PATH_MAX];
    FILE *file = depth < MAX_DEPTH ? fopen(path, "re") : NULL;
    bool ok = true;
    if (!file) return true;
    while (ok && fgets(line, sizeof line, file))
        ok = read_line(dirs, line, depth);
    fclose(file);
    return ok;
}

static bool add_list(hone_loader_dirs *dirs, const char *list) {
    char one[PATH_MAX];
    bool ok = true;
    while (ok && list && *list) {
        size_t length = strcspn(list, ":;");
        if (length > 0 && length < sizeof one) {
            memcpy(one, list, length);
            one[length] = 0;
            ok = hone_loader_dirs_add(dirs, one);
        }
        list += length + (list[length] != 0);
    }
    return ok;
}

static bool add_usual(hone_loader_dirs *dirs, const char *const *usual, size_t count) {
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = hone_loader_dirs_add(dirs, usual[i]);
    return ok;
}

static hone_status finish(bool ok, hone_loader_dirs *dirs) {
    if (ok) return HONE_OK;
    hone_loader_dirs_deinit(dirs);
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "folders of libraries");
}

hone_status hone_loader_dirs_find(hone_loader_dirs *out_dirs) {
    static const char *const usual[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64",
                                        "/usr/local/lib"};
    *out_dirs = (hone_loader_dirs){0};
    bool ok = add_usual(out_dirs, usual, HONE_COUNT(usual)) &&
              read_conf(out_dirs, "/etc/ld.so.conf", 0) &&
              add_list(out_dirs, getenv("LD_LIBRARY_PATH"));
    return finish(ok, out_dirs);
}

/* PREFIX of PREFIX/bin/TOOL, with links followed. */
static bool add_prefix(hone_loader_dirs *dirs, const char *folder, const char *tool) {
    char path[PATH_MAX], real[PATH_MAX];
    const char *home = getenv("HOME");
    int count = snprintf(path, sizeof path, "%s/%s", folder, tool);
    if (count < 0 || (size_t)count >= sizeof path || !realpath(path, real)) return true;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(real, '/');
        if (!slash || slash == real) return true;
        *slash = 0;
    }
    return home && strcmp(real, home) == 0 ? true : hone_loader_dirs_add(dirs, real);
}

static bool add_prefixes(hone_loader_dirs *dirs, const char *list) {
    static const char *const tools[] = {"cc", "gcc", "ld", "ld.lld", "as", "objcopy"};
    bool ok = true;
    while (ok && list && *list) {
        char folder[PATH_MAX];
        size_t length = strcspn(list, ":");
        if (length > 0 && length < sizeof folder) {
            memcpy(folder, list, length);
            folder[length] = 0;
            for (size_t i = 0; i < HONE_COUNT(tools) && ok; i++)
                ok = add_prefix(dirs, folder, tools[i]);
        }
        list += length + (list[length] != 0);
    }
    return ok;
}

hone_status hone_toolchain_dirs_find(hone_loader_dirs *out_dirs) {
    static const char *const usual[] = {"/usr", "/lib", "/lib64", "/bin", "/opt", "/etc/OpenCL"};
    *out_dirs = (hone_loader_dirs){0};
    bool ok =
        add_usual(out_dirs, usual, HONE_COUNT(usual)) && add_prefixes(out_dirs, getenv("PATH"));
    return finish(ok, out_dirs);
}

void hone_loader_dirs_deinit(hone_loader_dirs *dirs) {
    for (size_t i = 0; i < dirs->count; i++)
        hone_free(dirs->data[i]);
    hone_vec_deinit(dirs);
}
