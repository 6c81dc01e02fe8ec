/* tools/cli/cli_config.c - hone.conf: INI text, sections are verbs, keys are option names.
 *
 *     trials = 500          # for every verb that has the option
 *     [tune]
 *     shape = N=1,64        # for this verb; an unknown key is an error
 */
#include <string.h>

#include <ini.h>

#include "support/alloc.h"
#include "support/fs.h"
#include "tools/cli/cli.h"

typedef struct ini_walk {
    const char *section;
    hone_cli_visit_setting visit;
    void *ctx;
    hone_status st;
} ini_walk;

/* inih's callback: 0 stops at this line. */
static int take(void *ctx, const char *section, const char *name, const char *value) {
    ini_walk *walk = ctx;
    if (walk->st) return 0;
    bool is_own = strcmp(section, walk->section) == 0;
    if (!is_own && *section) return 1;
    walk->st = walk->visit(walk->ctx, is_own, name, value ? value : "");
    return walk->st ? 0 : 1;
}

enum { MOST_BYTES = 1 << 20 };

hone_status hone_cli_read_config(const char *path, const char *section,
                                 hone_cli_visit_setting visit, void *ctx) {
    char *text = NULL;
    size_t count = 0;
    HONE_TRY(hone_fs_read(path, MOST_BYTES, &text, &count));
    ini_walk walk = {section, visit, ctx, HONE_OK};
    int line = ini_parse_string(text, take, &walk);
    hone_free(text);
    if (walk.st) return hone_status_annotate(walk.st, "%s:%d", path, line > 0 ? line : 0);
    if (line > 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s:%d: expected 'option = value' or '[verb]'", path,
                          line);
    }
    return line < 0 ? HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path) : HONE_OK;
}
