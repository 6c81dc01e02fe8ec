/* tools/cli/cli_table_print.c - tables as lines, within the width of a terminal.
 *
 *     task          flops     best            task             trials   share
 *     fused_..ul_2  1.2 G   3.1 us    ─►      fused_..ul_2         64   12.0%
 */
#include <stdint.h>
#include <string.h>

#include "support/text/utf8.h"
#include "tools/cli/cli_table.h"

enum {
    GAP = 2,          /* blanks between columns */
    LEAST_NAME = 12,  /* columns that a name keeps */
    LEAST_FIRST = 24, /* the same of the first column, where the others are shared out */
    LEAST_HASH = 8,
    LEAST_PROSE = 24,
};

/* What is printed at once: the first column and a run of others. */
typedef struct layout {
    const hone_table *table;
    size_t *widths;    /* of all columns */
    size_t first, end; /* columns beside column 0 */
    hone_str *out;
} layout;

static hone_column_kind kind_of(const hone_table *table, size_t column) {
    return (hone_column_kind)table->cells[column][0];
}

static const char *cell_at(const hone_table *table, size_t i) {
    return table->cells[i] + (i < table->columns);
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static void measure(const hone_table *table, size_t *widths) {
    for (size_t i = 0; i < table->count; i++) {
        size_t width = hone_utf8_columns(cell_at(table, i)), column = i % table->columns;
        if (width > widths[column]) widths[column] = width;
    }
}

/* What a column has to keep of its width. */
static size_t least_of(const hone_table *table, const size_t *widths, size_t column,
                       size_t least_name) {
    size_t width = widths[column];
    switch (kind_of(table, column)) {
    case HONE_COLUMN_NUMBER:
    case HONE_COLUMN_WHOLE:
        return width;
    case HONE_COLUMN_HASH:
        return smaller(width, LEAST_HASH);
    case HONE_COLUMN_PROSE:
        return smaller(width, column ? LEAST_PROSE : least_name);
    case HONE_COLUMN_NAME:
        break;
    }
    return smaller(width, least_name);
}

static size_t next_of(const layout *l, size_t column) {
    return column == 0 && l->first > 0 ? l->first : column + 1;
}

static size_t total_of(const layout *l) {
    size_t total = l->widths[0];
    for (size_t c = next_of(l, 0); c < l->end; c++)
        total += GAP + l->widths[c];
    return total;
}

/* Takes from the widest column that can give, until the line fits. */
static void shrink(layout *l, size_t width) {
    for (size_t total = total_of(l); total > width; total--) {
        size_t widest = SIZE_MAX;
        for (size_t c = 0; c < l->end; c = next_of(l, c)) {
            bool gives = l->widths[c] > least_of(l->table, l->widths, c, LEAST_NAME);
            if (gives && (widest == SIZE_MAX || l->widths[c] > l->widths[widest])) widest = c;
        }
        if (widest == SIZE_MAX) return;
        l->widths[widest]--;
    }
}

/* Bytes of the next line of prose; *out_skip: the blank behind it. */
static size_t prose_line(const char *text, size_t width, size_t *out_skip) {
    size_t bytes = hone_utf8_prefix(text, width), end = bytes;
    *out_skip = 0;
    if (!text[bytes]) return bytes;
    while (end > 0 && text[end] != ' ')
        end--;
    if (end == 0) return bytes;
    *out_skip = 1;
    return end;
}

static size_t lines_of(const layout *l, size_t row) {
    size_t most = 1, skip;
    for (size_t c = 0; c < l->end; c = next_of(l, c)) {
        const char *cell = cell_at(l->table, row * l->table->columns + c);
        size_t lines = 0;
        if (kind_of(l->table, c) != HONE_COLUMN_PROSE) continue;
        for (; *cell; lines++) {
            size_t bytes = prose_line(cell, l->widths[c], &skip);
            cell += bytes + skip;
        }
        if (lines > most) most = lines;
    }
    return most;
}

/* Line `number` of a cell, in the width of its column. */
static void print_cell(const char *cell, hone_column_kind kind, size_t width, size_t number,
                       hone_str *out) {
    size_t skip;
    if (kind == HONE_COLUMN_PROSE) {
        for (; number > 0 && *cell; number--) {
            size_t bytes = prose_line(cell, width, &skip);
            cell += bytes + skip;
        }
        hone_str_append_n(out, cell, prose_line(cell, width, &skip));
    } else if (number > 0) {
        return;
    } else if (kind == HONE_COLUMN_HASH) {
        hone_str_append_n(out, cell, hone_utf8_prefix(cell, width));
    } else {
        hone_utf8_append_short(out, cell, width);
    }
}

static void print_line(const layout *l, size_t row, size_t number) {
    hone_str cell = {0};
    for (size_t c = 0; c < l->end; c = next_of(l, c)) {
        hone_column_kind kind = kind_of(l->table, c);
        hone_str_clear(&cell);
        print_cell(cell_at(l->table, row * l->table->columns + c), kind, l->widths[c], number,
                   &cell);
        size_t blanks = l->widths[c] - hone_utf8_columns(hone_str_text(&cell));
        bool is_right = kind == HONE_COLUMN_NUMBER;
        if (c) hone_str_append_repeat(l->out, ' ', GAP);
        if (is_right) hone_str_append_repeat(l->out, ' ', blanks);
        hone_str_append(l->out, hone_str_text(&cell));
        if (!is_right) hone_str_append_repeat(l->out, ' ', blanks);
        l->out->failed |= cell.failed;
    }
    hone_str_deinit(&cell);
    while (l->out->length && l->out->data[l->out->length - 1] == ' ')
        hone_str_truncate(l->out, l->out->length - 1);
    hone_str_append_char(l->out, '\n');
}

static void print_rows(const layout *l) {
    size_t rows = l->table->count / l->table->columns;
    for (size_t row = 0; row < rows; row++) {
        size_t lines = lines_of(l, row);
        for (size_t number = 0; number < lines; number++)
            print_line(l, row, number);
    }
}

/* The column behind the last one for which there is room beside column 0. */
static size_t end_of_part(const layout *l, size_t width, size_t least_name) {
    const hone_table *table = l->table;
    size_t used = least_of(table, l->widths, 0, least_name), c = l->first;
    for (; c < table->columns; c++) {
        used += GAP + least_of(table, l->widths, c, LEAST_NAME);
        if (used > width && c > l->first) return c;
    }
    return c;
}

static size_t least_first(size_t width) {
    return width / 3 < LEAST_NAME ? LEAST_NAME : smaller(width / 3, LEAST_FIRST);
}

static void print_parts(layout *l, const size_t *natural, size_t width) {
    size_t columns = l->table->columns, bytes = columns * sizeof *natural;
    l->first = 1;
    memcpy(l->widths, natural, bytes);
    bool is_whole = end_of_part(l, width, LEAST_NAME) == columns;
    do {
        memcpy(l->widths, natural, bytes);
        l->end = is_whole ? columns : end_of_part(l, width, least_first(width));
        shrink(l, width);
        if (l->first > 1) hone_str_append_char(l->out, '\n');
        print_rows(l);
        l->first = l->end;
    } while (l->first < columns);
}

void hone_table_print(const hone_table *table, size_t width, hone_str *out) {
    size_t *natural = hone_arena_zalloc(table->arena, (table->columns + 1) * sizeof *natural);
    size_t *widths = hone_arena_zalloc(table->arena, (table->columns + 1) * sizeof *widths);
    if (table->failed || !natural || !widths) {
        out->failed = true;
        return;
    }
    if (!table->columns) return;
    measure(table, natural);
    layout l = {.table = table, .widths = widths, .out = out};
    print_parts(&l, natural, width ? width : SIZE_MAX);
}
