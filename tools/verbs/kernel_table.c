/* tools/verbs/kernel_table.c - see kernel_table.h. */
#include "tools/verbs/kernel_table.h"

#include <inttypes.h>

#include "tools/cli/cli_table.h"

static void put_counts(const hone_compile_result *result, hone_str *out) {
    hone_str_printf(out, "%u kernels: %u from records", result->kernel_count,
                    result->counts[HONE_COMPILE_RECORD]);
    if (result->translated > 0) hone_str_printf(out, " (%u translated)", result->translated);
    hone_str_printf(out, ", %u with default schedules, %u plain",
                    result->counts[HONE_COMPILE_DEFAULT], result->counts[HONE_COMPILE_PLAIN]);
    if (result->counts[HONE_COMPILE_WRITTEN] > 0) {
        hone_str_printf(out, ", %u as scheduled in the program",
                        result->counts[HONE_COMPILE_WRITTEN]);
    }
    if (result->counts[HONE_COMPILE_HOST] > 0)
        hone_str_printf(out, ", %u by the CPU", result->counts[HONE_COMPILE_HOST]);
    hone_str_append(out, "\n");
}

void hone_cli_put_kernels(hone_cli *cli, const hone_compile_result *result) {
    hone_table table;
    hone_table_init(&table, cli->arena, "kernel|>calls|from|>record|>time|~why");
    for (uint32_t i = 0; i < result->kernel_count; i++) {
        const hone_compile_kernel *k = &result->kernels[i];
        hone_table_add(&table, "%s", k->name);
        hone_table_add(&table, "%" PRIu32, k->calls);
        hone_table_add(&table, "%s", hone_compile_source_name(k->source));
        hone_table_add(&table, k->record ? "%" PRId64 : "-", k->record);
        hone_table_add(&table, "%s", hone_text_of_ns(cli->arena, k->record_ns));
        hone_table_add(&table, "%s", k->reason ? k->reason : "");
    }
    hone_cli_put_table(cli, &table);
    put_counts(result, &cli->out);
}
