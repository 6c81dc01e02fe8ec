/* ir/script.h - TVMScript text: the one text form of modules.
 *
 * Reads both dialects (TVM 0.27 and the classic one of older documents); prints one canonical
 * spelling, that of TVM 0.27, or the classic one on request. parse(print(m)) equals m.
 */
#ifndef HONE_IR_SCRIPT_H
#define HONE_IR_SCRIPT_H

#include "ir/module.h"

/* source_name stands in messages ("prog.py"). Errors (INVALID, TYPE) carry
 * source_name:line:column, what was expected, the source line and a caret below it. Constants that
 * the text names but does not hold (metadata) are INVALID. Bare functions without a class make a
 * module of their own. The result is checked no further than the language demands: see verify. */
HONE_NODISCARD hone_status hone_script_parse(const char *text, size_t length,
                                             const char *source_name, hone_module **out_module);
/* Reads a file; "-" is standard input. Weights: FILE with .safetensors beside it when present
 * ("constant.0", ... in the order of the text's metadata, as hone_script_save writes them). */
HONE_NODISCARD hone_status hone_script_load(const char *path, hone_module **out_module);

/* The same for who only looks at the program or takes one PrimFunc of it: constants whose numbers
 * are not at hand are NULL in the module (nothing but printing, verifying, comparing and hashing
 * allows for that). */
HONE_NODISCARD hone_status hone_script_parse_outline(const char *text, size_t length,
                                                     const char *source_name,
                                                     hone_module **out_module);
HONE_NODISCARD hone_status hone_script_load_outline(const char *path, hone_module **out_module);

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
/* The value of an attribute; func or graph: of whose variables it may speak (NULL: of none). */
HONE_NODISCARD hone_status hone_value_print(const hone_func *func, const hone_graph_func *graph,
                                            const hone_value *value, hone_str *out);
/* "i: T.serial(0, 128)" or "block 'C'": how messages name a node. */
void hone_node_describe(const hone_func *func, hone_node_id node, hone_str *out);

#endif
