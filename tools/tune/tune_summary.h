/* tools/tune/tune_summary.h - what `hone tune` says at its end. */
#ifndef HONE_TOOLS_TUNE_TUNE_SUMMARY_H
#define HONE_TOOLS_TUNE_TUNE_SUMMARY_H

#include "tools/cli/cli.h"
#include "tools/tune/tune_model.h"
#include "tuner/loop/tune.h"

/* Tables to cli->out: tasks, what the model gained, where the time went, how good the cost model
 * was. */
HONE_NODISCARD hone_status hone_tune_summary_print(hone_cli *cli, const hone_task_list *tasks,
                                                   const hone_tune_result *result,
                                                   const tune_model *model);
HONE_NODISCARD hone_status hone_tune_summary_json(hone_cli *cli, const hone_tune_result *result,
                                                  const tune_model *model);
/* Whether any task has a schedule that works. */
bool hone_tune_summary_has_best(const hone_tune_result *result);

#endif
