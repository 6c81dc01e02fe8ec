/* tools/tune/tune_model.h - `hone tune` asks the model: which of the records that look faster help
 * where they are used.
 *
 *   begin  ─► the model as the database would have it now ─────────────┐
 *   (tuning)                                                           ├─ in turns, each kernel
 *   decide ─► the model as the database has it then ───────────────────┘  in place
 *          ─► a record that is not surely faster in place makes way for what was used before
 *          ─► the model with what is left, in turns with the first one; slower: nothing is taken
 *
 * A record makes way by its confirmed time: it becomes that of the record used before times their
 * ratio in place, so that everybody who asks the database for the best record (compile) gets what
 * was decided.
 */
#ifndef HONE_TOOLS_TUNE_TUNE_MODEL_H
#define HONE_TOOLS_TUNE_TUNE_MODEL_H

#include "compile/compile.h"
#include "support/os/log.h"
#include "tools/cli/cli.h"
#include "tools/run/timed_model.h"
#include "tuner/loop/tune.h"

typedef struct tune_model_options {
    const hone_cli_list *shapes;
    const hone_target *target;
    hone_db *db;
    hone_builder *builder;
    const char *dir;         /* for libraries; exists */
    const char *extern_path; /* or NULL */
    const hone_log *log;
    hone_variant_rules variant_rules; /* as in hone_compile_options */
    size_t intrin_count;
    const hone_build_intrin *intrins;
    int64_t time_ns; /* for timing; 0 = 5 s */
} tune_model_options;

typedef struct tune_model {
    hone_cli *cli;
    tune_model_options options;
    bool is_on; /* there is a model to ask */
    hone_module *module;
    hone_dim_variants variants;
    hone_cli_list none; /* inputs are made up */
    void *externs;
    hone_compile_result before;
    int64_t compile_ns; /* how long that took */
    int64_t spent_ns;   /* on all of this; no part of the tuning's own time */
    /* What came of it. */
    bool is_decided;
    double before_ns, now_ns; /* of a run of the model */
    hone_time_ratio faster;
    uint32_t taken, left; /* kernels whose record helps in place, or does not */
} tune_model;

/* A program without a graph has no model to ask: then nothing is done, now or later. */
HONE_NODISCARD hone_status tune_model_begin(tune_model *self, hone_cli *cli,
                                            const tune_model_options *options);
/* Failures of the model with made-up inputs are warnings: then each kernel decides for itself. */
HONE_NODISCARD hone_status tune_model_decide(tune_model *self, const hone_tune_result *tuned);
void tune_model_end(tune_model *self);

#endif
