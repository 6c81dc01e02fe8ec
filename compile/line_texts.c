/* compile/line_texts.c - where the texts go that line tables name: OUT.lines/KERNEL.py, the loops
 * that a kernel's code was generated from. Tools look for them under the absolute name. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "compile/parts.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

hone_status parts_open_lines(parts *p) {
    const hone_compile_options *options = p->options;
    if (!options->lines) return HONE_OK;
    if (!(hone_compile_emits[options->emit].facts & HONE_EMITS_LINES)) {
        return HONE_ERROR(HONE_CODE_INVALID, "line tables are for machine code, not for this text");
    }
    const char *dir = hone_arena_printf(p->arena, "%s.lines", options->output);
    if (!dir) return parts_no_memory();
    HONE_TRY(hone_fs_mkdirs(dir));
    char room[PATH_MAX];
    if (!realpath(dir, room)) return HONE_ERROR(HONE_CODE_IO, "%s: %s", dir, strerror(errno));
    p->lines_dir = hone_arena_strdup(p->arena, room);
    return p->lines_dir ? HONE_OK : parts_no_memory();
}

const char *parts_lines_path(const parts *p, const part_kernel *k) {
    if (!p->lines_dir) return NULL;
    char *name = hone_path_short_name(k->symbol);
    const char *path = name ? hone_arena_printf(p->arena, "%s/%s.py", p->lines_dir, name) : NULL;
    hone_free(name);
    return path;
}
