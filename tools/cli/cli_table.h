/* tools/cli/cli_table.h - columns of text, aligned; numbers to the right.
 *
 * On a terminal nothing wraps: prose goes on below itself, names lose their middle and hashes their
 * end, numbers stay as they are; columns for which there is still no room follow in a table below,
 * each with the first column.
 */
#ifndef HONE_TOOLS_CLI_CLI_TABLE_H
#define HONE_TOOLS_CLI_CLI_TABLE_H

#include "support/core/arena.h"
#include "support/core/strbuf.h"

typedef enum hone_column_kind {
    HONE_COLUMN_NAME = ' ',
    HONE_COLUMN_NUMBER = '>', /* to the right, never cut */
    HONE_COLUMN_WHOLE = '!',  /* never cut */
    HONE_COLUMN_HASH = '#',
    HONE_COLUMN_PROSE = '~',
} hone_column_kind;

typedef struct hone_table hone_table;
struct hone_table {
    hone_arena *arena;
    const char **cells; /* row by row, the head first: its cells begin with their kind */
    size_t count, capacity;
    size_t columns;
    bool failed;
};

/* head: column names with '|' between them, "task|>trials|~why": each may begin with its kind. */
void hone_table_init(hone_table *table, hone_arena *arena, const char *head);
/* One more column, before the first row. */
void hone_table_add_column(hone_table *table, hone_column_kind kind, const char *name);
/* The next cell; rows fill up from the left. */
void hone_table_add(hone_table *table, const char *format, ...) HONE_PRINTF(2, 3);
/* Appends the lines; each without trailing blanks. width: of the terminal; 0 = all in full. */
void hone_table_print(const hone_table *table, size_t width, hone_str *out);

/* "1.23 us", "-" for NAN; in arena. */
const char *hone_text_of_ns(hone_arena *arena, double ns);
/* flops / ns, "12.3"; "-" when one is not known. */
const char *hone_text_of_gflops(hone_arena *arena, double flops, double ns);
/* "2.1 G", "512 k", "37" */
const char *hone_text_of_count(hone_arena *arena, double count);
/* "2.10x"; "-" when one is not known. */
const char *hone_text_of_ratio(hone_arena *arena, double before, double after);
/* "3 min ago" for a wall time; "-" for 0. */
const char *hone_text_of_age(hone_arena *arena, int64_t wall_ns, int64_t now_ns);

#endif
