/* tools/cli/cli_table.c - the cells of tables, and numbers as people read them. */
#include "tools/cli/cli_table.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "support/core/attributes.h"
#include "support/text/utf8.h"

static void push(hone_table *table, const char *cell) {
    if (!cell) table->failed = true;
    if (table->failed) return;
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 64;
        const char **cells = hone_arena_alloc(table->arena, capacity * sizeof *cells);
        if (!cells) {
            table->failed = true;
            return;
        }
        if (table->count) memcpy(cells, table->cells, table->count * sizeof *cells);
        table->cells = cells;
        table->capacity = capacity;
    }
    table->cells[table->count++] = cell;
}

void hone_table_add_column(hone_table *table, hone_column_kind kind, const char *name) {
    push(table, hone_arena_printf(table->arena, "%c%s", (char)kind, name));
    table->columns++;
}

void hone_table_init(hone_table *table, hone_arena *arena, const char *head) {
    *table = (hone_table){.arena = arena};
    while (*head) {
        bool has_kind = strchr(">!#~", *head) != NULL;
        hone_column_kind kind = has_kind ? (hone_column_kind)*head : HONE_COLUMN_NAME;
        head += has_kind;
        size_t length = strcspn(head, "|");
        const char *name = hone_arena_strndup(arena, head, length);
        hone_table_add_column(table, kind, name ? name : "");
        head += length + (head[length] == '|');
    }
}

void hone_table_add(hone_table *table, const char *format, ...) {
    hone_str text = {0};
    va_list args;
    va_start(args, format);
    hone_str_vprintf(&text, format, args);
    va_end(args);
    hone_str shown = {0};
    hone_utf8_append_shown(&shown, hone_str_text(&text), text.length, false);
    push(table, text.failed || shown.failed
                    ? NULL
                    : hone_arena_strdup(table->arena, hone_str_text(&shown)));
    hone_str_deinit(&shown);
    hone_str_deinit(&text);
}

/* ---- numbers ---- */

static const char *or_empty(const char *text) {
    return text ? text : "";
}

const char *hone_text_of_ns(hone_arena *arena, double ns) {
    static const struct {
        double scale;
        const char *unit;
    } units[] = {
        {1,   "ns"},
        {1e3, "us"},
        {1e6, "ms"},
        {1e9, "s" }
    };
    if (!(ns >= 0) || isinf(ns)) return "-";
    size_t i = 0;
    while (i + 1 < HONE_COUNT(units) && ns >= 999.5 * units[i].scale)
        i++;
    double value = ns / units[i].scale;
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return or_empty(hone_arena_printf(arena, "%.*f %s", digits, value, units[i].unit));
}

const char *hone_text_of_gflops(hone_arena *arena, double flops, double ns) {
    if (!(flops > 0) || !(ns > 0)) return "-";
    double value = flops / ns;
    return or_empty(hone_arena_printf(arena, "%.*f", value < 9.995 ? 2 : 1, value));
}

const char *hone_text_of_count(hone_arena *arena, double count) {
    static const char *const units[] = {"", " k", " M", " G", " T"};
    if (!(count >= 0)) return "-";
    size_t i = 0;
    while (i + 1 < HONE_COUNT(units) && count >= 999.5) {
        count /= 1000;
        i++;
    }
    int digits = i == 0 || count >= 99.95 ? 0 : count < 9.995 ? 2 : 1;
    return or_empty(hone_arena_printf(arena, "%.*f%s", digits, count, units[i]));
}

const char *hone_text_of_ratio(hone_arena *arena, double before, double after) {
    if (!(before > 0) || !(after > 0)) return "-";
    return or_empty(hone_arena_printf(arena, "%.2fx", before / after));
}

const char *hone_text_of_age(hone_arena *arena, int64_t wall_ns, int64_t now_ns) {
    if (wall_ns <= 0) return "-";
    int64_t seconds = (now_ns - wall_ns) / 1000000000;
    if (seconds < 60) return "just now";
    if (seconds < 3600)
        return or_empty(hone_arena_printf(arena, "%d min ago", (int)(seconds / 60)));
    if (seconds < 86400)
        return or_empty(hone_arena_printf(arena, "%d h ago", (int)(seconds / 3600)));
    return or_empty(hone_arena_printf(arena, "%d d ago", (int)(seconds / 86400)));
}
