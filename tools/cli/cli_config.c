/* tools/cli/cli_config.c - hone.conf: INI text, sections are verbs, keys are option names.
 *
 *     trials = 500          # for every verb that has the option
 *     [tune]
 *     shape = N=1,64        # for this verb
 *
 * A section that is no verb's and a key that no verb has are errors, whichever verb reads them.
 */
#include <string.h>

#include <ini.h>

#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/os/fs.h"
#include "support/text/nearest.h"
#include "tools/cli/cli.h"

typedef struct ini_walk {
    const char *section;
    hone_cli_visit_setting visit;
    void *ctx;
    hone_status st;
} ini_walk;

static const char *const section_names[] = {
#define HONE_CONFIG_SECTION(name) name,
#define HONE_CONFIG_OPTION(name)
#include "tools/cli/config_names.def"
#undef HONE_CONFIG_SECTION
#undef HONE_CONFIG_OPTION
};

static const char *const option_names[] = {
#define HONE_CONFIG_SECTION(name)
#define HONE_CONFIG_OPTION(name) name,
#include "tools/cli/config_names.def"
#undef HONE_CONFIG_SECTION
#undef HONE_CONFIG_OPTION
};

static hone_status check_name(const char *what, const char *name, const char *const *names,
                              size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) return HONE_OK;
    }
    const char *meant = hone_name_suggest(name, names, count, sizeof *names);
    return HONE_ERROR(HONE_CODE_INVALID, "there is no %s '%s'%s%s%s", what, name,
                      meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

/* Of the verb's own sections the verb knows more. */
static hone_status check_names(const char *section, const char *key) {
    if (*section) HONE_TRY(check_name("verb", section, section_names, HONE_COUNT(section_names)));
    return check_name("option", key, option_names, HONE_COUNT(option_names));
}

/* inih's callback: 0 stops at this line. */
static int take(void *ctx, const char *section, const char *name, const char *value) {
    ini_walk *walk = ctx;
    if (walk->st) return 0;
    bool is_own = strcmp(section, walk->section) == 0;
    if (!is_own) walk->st = check_names(section, name);
    if (!walk->st && (is_own || !*section))
        walk->st = walk->visit(walk->ctx, is_own, name, value ? value : "");
    return walk->st ? 0 : 1;
}

/* inih takes a line that begins with blanks as more of the value before it. */
static void strip_indents(char *text) {
    char *to = text;
    for (const char *at = text; *at;) {
        at += strspn(at, " \t");
        size_t length = strcspn(at, "\n");
        length += at[length] == '\n';
        memmove(to, at, length);
        to += length;
        at += length;
    }
    *to = 0;
}

enum { MOST_BYTES = 1 << 20 };

hone_status hone_cli_read_config(const char *path, const char *section,
                                 hone_cli_visit_setting visit, void *ctx) {
    char *text = NULL;
    size_t count = 0;
    HONE_TRY(hone_fs_read(path, MOST_BYTES, &text, &count));
    strip_indents(text);
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
