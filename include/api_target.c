/* include/api_target.c - what the names of targets stand for. */
#include <hone/compile.h>

#include "include/api.h"
#include "support/core/strbuf.h"
#include "target/target_read.h"

hone_error *hone_target_text(const char *target, char **out_text) {
    HONE_API_NEED(out_text);
    *out_text = NULL;
    hone_target read;
    hone_str text = {0};
    hone_status st = hone_target_read(target, 0, &read);
    if (!st) {
        hone_target_print(&read, &text);
        st = hone_api_take_text(&text, out_text);
    }
    return hone_api_error(st);
}
