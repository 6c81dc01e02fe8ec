/* tools/report/report_page.c - puts the page together: page.html with style, script and data in it.
 */
#include <string.h>

#include "support/core/arena.h"
#include "tools/report/report.h"
#include "tools/report/report_embedded.h"

/* '<' and '&' of a title, so that it stays text. */
static void append_escaped(hone_str *out, const char *text) {
    for (; *text; text++) {
        if (*text == '<') {
            hone_str_append(out, "&lt;");
        } else if (*text == '&') {
            hone_str_append(out, "&amp;");
        } else {
            hone_str_append_char(out, *text);
        }
    }
}

/* Inside of a <script> nothing may look like its end, or like a comment: in JSON, '<' stands in
 * texts only, where it may be written as an escape. */
static void append_data(hone_str *out, const char *json) {
    for (const char *at; (at = strchr(json, '<')); json = at + 1) {
        hone_str_append_n(out, json, (size_t)(at - json));
        hone_str_append(out, "\\u003c");
    }
    hone_str_append(out, json);
}

static void append_file(hone_str *out, const char *name) {
    for (const report_embedded_file *f = hone_report_embedded_files; f->name; f++) {
        if (strcmp(f->name, name) == 0) hone_str_append_n(out, (const char *)f->bytes, f->count);
    }
}

/* All files of the script, in the order in which the build names them. */
static void append_scripts(hone_str *out) {
    for (const report_embedded_file *f = hone_report_embedded_files; f->name; f++) {
        const char *dot = strrchr(f->name, '.');
        if (dot && strcmp(dot, ".js") == 0) append_file(out, f->name);
    }
}

static void append_slot(hone_str *out, const char *slot, size_t count, const char *title,
                        const char *data) {
    if (strncmp(slot, "title", count) == 0) {
        append_escaped(out, title);
    } else if (strncmp(slot, "style", count) == 0) {
        append_file(out, "page.css");
    } else if (strncmp(slot, "data", count) == 0) {
        append_data(out, data ? data : "null");
    } else {
        append_scripts(out);
    }
}

/* page.html has slots, @{title}, @{style}, @{data} and @{script}. */
hone_status hone_report_page(const char *title, const char *data, hone_str *out) {
    hone_str page = {0};
    append_file(&page, "page.html");
    const char *from = hone_str_text(&page);
    for (const char *slot; (slot = strstr(from, "@{"));) {
        const char *end = strchr(slot, '}');
        if (!end) break;
        hone_str_append_n(out, from, (size_t)(slot - from));
        append_slot(out, slot + 2, (size_t)(end - slot - 2), title, data);
        from = end + 1;
    }
    hone_str_append(out, from);
    out->failed |= page.failed;
    hone_str_deinit(&page);
    return hone_str_check(out);
}
