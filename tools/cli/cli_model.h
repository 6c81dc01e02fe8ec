/* tools/cli/cli_model.h - reading what users name: programs and models, and their tuning tasks. */
#ifndef HONE_TOOLS_CLI_CLI_MODEL_H
#define HONE_TOOLS_CLI_CLI_MODEL_H

#include "graph/module/graph_options.h"
#include "graph/plan/tasks.h"
#include "ir/text/print/script_print.h"
#include "target/target_read.h"
#include "tools/cli/cli.h"

/* Reads a module of any kind: .py TVMScript, .onnx a model, others and "-" (standard input) by
 * their first bytes. options (may be NULL) go to the ONNX reader; a model that is refused with
 * sizes left open is read with the numbers given for them. */
HONE_NODISCARD hone_status hone_cli_load_module(const char *path, const hone_graph_options *options,
                                                hone_module **out_module);

/* hone_cli_load_module for verbs that only look at a program, or take a PrimFunc of it: constants
 * may lack their numbers. */
HONE_NODISCARD hone_status hone_cli_load_outline(const char *path, hone_module **out_module);

/* Those of `shapes` ("N=4") that reading the module has not used: it uses lengths of sequences. */
HONE_NODISCARD hone_status hone_cli_other_sizes(hone_cli *cli, const hone_module *module,
                                                const hone_cli_list *shapes,
                                                hone_cli_list *out_others);

#define HONE_CLI_DIALECT_OPTION(place)                                                             \
    HONE_CLI_OPTION("dialect", 0, "NAME", TEXT, (place),                                           \
                    "tvm-0.27 (default) or classic, the spelling of older TVM")
#define HONE_CLI_PROGRAM_OUTPUT_OPTION(place)                                                      \
    HONE_CLI_OPTION("output", 'o', "FILE", OUTPUT, (place),                                        \
                    "write there; long weights go to FILE with .safetensors")
/* Writes a module to the path of -o, its weights beside it, or to cli->out when it is NULL or "-".
 */
HONE_NODISCARD hone_status hone_cli_put_program(hone_cli *cli, const char *path_or_null,
                                                const hone_module *module,
                                                const hone_print_options *style);
/* The dialect that --dialect names. INVALID for others. */
HONE_NODISCARD hone_status hone_cli_parse_dialect(const char *name, hone_dialect *out_dialect);

/* The PrimFunc that --func names, or the only one, or "main". INVALID when it is a graph function;
 * NOT_FOUND lists the names. */
HONE_NODISCARD hone_status hone_cli_pick_func(const hone_module *module, const char *path,
                                              const char *name_or_null, const hone_func **out_func);

/* INVALID when the function is ill-formed: "path:line:column: reason", the line and a caret. */
HONE_NODISCARD hone_status hone_cli_check_func(const char *path, const hone_func *func);
/* Puts the place in a file before what failed, and the line behind it. Takes and returns failed. */
HONE_NODISCARD hone_status hone_cli_place(const char *path, uint32_t line, uint32_t column,
                                          hone_status failed);
/* Appends a line of the source (may be NULL: nothing) and a caret below the column. */
void hone_cli_quote(const char *source, uint32_t line, uint32_t column, hone_str *out);

/* Reads, prepares (one variant per combination of --shape) and extracts the tasks, for a target
 * (NULL: not known yet). Deinit also after failure. */
HONE_NODISCARD hone_status hone_cli_load_tasks(const char *path, const hone_cli_list *shapes,
                                               const hone_target *target,
                                               hone_task_list *out_tasks);

/* Says which functions are left out; said NULL: none, nothing. */
void hone_cli_warn_of_left_out(const hone_log *log, const char *path, const char *said);
/* Says what was odd about the file of a model that is taken nevertheless. */
void hone_cli_warn_of_file(const hone_log *log, const char *path, const hone_module *module);
/* Says it when there are more threads than cores. */
void hone_cli_warn_of_threads(const hone_log *log, const hone_target *target);

/* The options of a verb whose struct has `const char *target` and `int64_t threads`, for it. */
#define HONE_CLI_TARGET_OPTIONS(o)                                                                 \
    HONE_CLI_OPTION("target", 0, "TARGET", TEXT, &(o).target, "for this target; default: host"),   \
        HONE_CLI_OPTION("threads", 0, "N", NUMBER, &(o).threads,                                   \
                        "for this number of threads; default: all cores", .min = 1, .max = 1024)

#endif
