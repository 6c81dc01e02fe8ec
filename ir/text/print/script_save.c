/* ir/text/print/script_save.c - a module as a file, and its weights beside it. */
#include <string.h>

#include "ir/text/print/script_print.h"
#include "ir/text/script_weights.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

hone_status hone_script_save(const hone_module *module, const char *path,
                             const hone_print_options *options) {
    assert(module && path);
    hone_str text = {0};
    char *beside = script_weights_path(path);
    hone_status st = HONE_OK;
    if (!beside) return HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
    HONE_TRY_GOTO(st, hone_module_print(module, options, &text), done);
    if (strcmp(path, "-") != 0) HONE_TRY_GOTO(st, script_weights_save(module, beside), done);
    st = hone_fs_write_atomic(path, hone_str_text(&text), text.length);
done:
    hone_str_deinit(&text);
    hone_free(beside);
    return st;
}
