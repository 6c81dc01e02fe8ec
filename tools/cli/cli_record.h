/* tools/cli/cli_record.h - all about one record of a database: what it refers to, and what
 * replaying its trace gives. */
#ifndef HONE_TOOLS_CLI_CLI_RECORD_H
#define HONE_TOOLS_CLI_CLI_RECORD_H

#include "database/database.h"
#include "schedule/intrin/tensor_intrin.h"
#include "support/text/json.h"

/* Rows in the arena of hone_record_view_read; texts end with hone_record_view_deinit. */
typedef struct hone_record_view {
    const hone_db_trial *trial; /* with samples and features */
    const hone_db_workload *workload;
    const hone_db_target *target;
    const char *variant; /* that the trace is about, in the arena; NULL: the program as it is */
    hone_str trace;      /* as Python */
    hone_str scheduled;  /* the program that the trace makes; empty when it does not replay */
    hone_str trouble;    /* why not */
} hone_record_view;

/* which: as hone_db_get_trial takes it, whose codes these are. A trace that this build cannot read
 * or apply is no failure. intrins may be NULL. Deinit also after failure. */
HONE_NODISCARD hone_status hone_record_view_read(hone_db *db, hone_arena *arena, const char *which,
                                                 hone_tensor_intrins *intrins,
                                                 hone_record_view *out_view);
void hone_record_view_deinit(hone_record_view *view);
/* The variant that a trace is about, its name in the arena; NULL: the program as it is. */
const char *hone_cli_variant_of(hone_arena *arena, const char *trace);
/* The object that `hone db show --json` prints, with or without the text of the workload; NULL when
 * memory is short. */
hone_json *hone_record_view_json(const hone_record_view *view, bool with_workload);

#endif
