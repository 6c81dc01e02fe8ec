/* tools/tune/tune_inputs.h - `hone tune --in [TASK:]NAME=FILE`: inputs of tasks that users give,
 * where made-up ones do not do.
 */
#ifndef HONE_TOOLS_TUNE_TUNE_INPUTS_H
#define HONE_TOOLS_TUNE_TUNE_INPUTS_H

#include "graph/plan/tasks.h"
#include "tools/cli/cli_tensors.h"
#include "tuner/task/made_inputs.h"

typedef struct hone_tune_inputs {
    hone_cli_tensors files;  /* owned */
    hone_given_input *given; /* in the arena of cli; tensors in files */
    size_t count;
} hone_tune_inputs;

/* Reads the files and finds the tasks whose inputs they are. NAME is an input of the model, for the
 * tasks that get it as it is; or, where the model has none of that name, a parameter of each task
 * that has one of that type and shape; TASK:NAME a parameter of this task alone. INVALID, with what
 * is wanted: a name that no task has, a type or shape that no task of the name has, one given
 * twice. only_task: NULL, or the task that --task names. Deinit also after failure. */
HONE_NODISCARD hone_status hone_tune_inputs_load(hone_cli *cli, const hone_cli_list *files,
                                                 const hone_task_list *tasks, const char *only_task,
                                                 hone_tune_inputs *out_inputs);
void hone_tune_inputs_deinit(hone_tune_inputs *inputs); /* leaves {0} */

#endif
