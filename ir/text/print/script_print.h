/* ir/text/print/script_print.h - TVMScript of modules, functions and pieces of them.
 *
 * One canonical spelling, that of TVM 0.27, or that of older documents on request. script.h reads
 * both; parse(print(m)) equals m.
 */
#ifndef HONE_IR_TEXT_PRINT_SCRIPT_PRINT_H
#define HONE_IR_TEXT_PRINT_SCRIPT_PRINT_H

#include "ir/core/module.h"
#include "support/core/strbuf.h"

typedef enum hone_dialect {
    HONE_DIALECT_TVM_0_27,
    HONE_DIALECT_CLASSIC,
} hone_dialect;

typedef struct hone_print_options {
    hone_dialect dialect;
    hone_node_id mark; /* a node to underline with ^^^ (a refused schedule step), or HONE_NO_ID */
    const char *mark_note; /* text behind the ^^^ */
    bool bare;             /* a function without module header */
    uint32_t *lines; /* of a function: filled in with the line (1 = first) where each node begins,
                        one place per node; that of HONE_NODE_TOP is the `def`. NULL = not wanted */
} hone_print_options;

/* options NULL = defaults. Output ends with a newline. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status hone_module_print(const hone_module *module,
                                             const hone_print_options *options, hone_str *out);
HONE_NODISCARD hone_status hone_func_print(const hone_func *func, const hone_print_options *options,
                                           hone_str *out);
/* Writes the text, and FILE.safetensors beside it when the module holds weights too long for the
 * text ("-": the text alone, to standard output). IO; NO_MEMORY. */
HONE_NODISCARD hone_status hone_script_save(const hone_module *module, const char *path,
                                            const hone_print_options *options);
/* One expression, for messages; func gives the names. */
HONE_NODISCARD hone_status hone_expr_print(const hone_func *func, const hone_expr *e,
                                           hone_str *out);
/* Is it what a text has for this name, where that is the only one like it: "_2_h" for "2*h"? */
bool hone_is_name_printed(const char *name, const char *printed, size_t length);
/* A dimension that is computed of sizes, "n * 2"; func need have no more than their names. */
HONE_NODISCARD hone_status hone_size_print(const hone_func *func, const hone_expr *e,
                                           hone_str *out);
/* The value of an attribute; func or graph: of whose variables it may speak (NULL: of none). */
HONE_NODISCARD hone_status hone_value_print(const hone_func *func, const hone_graph_func *graph,
                                            const hone_value *value, hone_str *out);
/* "i: T.serial(0, 128)" or "block 'C'": how messages name a node. */
void hone_node_describe(const hone_func *func, hone_node_id node, hone_str *out);

#endif
