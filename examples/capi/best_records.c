/* Lists the fastest records of a tuning database, then what is known about each task, by SQL.
 *     best_records build/demo/demo.db */
#include <stdio.h>

#include <hone/hone.h>

static int print_record(void *ctx, const hone_record *r) {
    (void)ctx;
    printf("%6lld  %10.2f us  %s%s\n", (long long)r->number, r->median_ns / 1e3, r->workload_name,
           r->is_confirmed ? "  (confirmed)" : "");
    return 0;
}

static int print_row(void *ctx, size_t count, const char *const *names, const char *const *cells) {
    (void)ctx;
    for (size_t i = 0; i < count; i++) {
        const char *text = cells ? cells[i] : names[i];
        printf("%s%s", text ? text : "-", i + 1 < count ? "\t" : "\n");
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: best_records FILE.db\n");
        return 2;
    }
    hone_records *records;
    hone_error *error = hone_records_open(argv[1], &records);
    if (!error) error = hone_records_top(records, NULL, NULL, 10, print_record, NULL);
    if (!error)
        error = hone_records_query(records, "SELECT task, trials, failed, best_ns FROM v_tasks",
                                   print_row, NULL);
    if (error) fprintf(stderr, "%s: %s\n", argv[1], hone_error_message(error));
    hone_records_close(records);
    int code = error ? 1 : 0;
    hone_error_free(error);
    return code;
}
