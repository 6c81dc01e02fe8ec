/* ir/text/print/script_print_impl.h - what the files of the printer share. Inside the room only.
 *
 * Names are given while printing and made unique among those in sight: a scope that ends gives its
 * names back, as TVM does, so that two loop nests may both use `i`.
 */
#ifndef HONE_IR_TEXT_PRINT_SCRIPT_PRINT_IMPL_H
#define HONE_IR_TEXT_PRINT_SCRIPT_PRINT_IMPL_H

#include "ir/text/print/script_print.h"
#include "support/data/map.h"

typedef struct printer {
    hone_str *out;
    hone_arena *arena; /* of this printing */
    hone_ir ir;        /* for bounds that are computed: min + extent */
    hone_print_options options;
    int indent;
    bool is_short_of_memory;
    uint32_t lines; /* printed so far */

    const hone_module *module;
    const hone_func *func;
    const hone_graph_func *graph;
    const char **var_names; /* NULL = not defined yet */
    const char **buffer_names;
    const char **value_names;
    hone_buffer *data_of;   /* var → the buffer whose handle it is */
    hone_buffer *offset_of; /* var → the buffer whose elem_offset it is, when that is implied */
    bool *as_scalar;        /* buffers that are spelled by their name alone */
    hone_buffer *waiting;   /* that nothing defines, and whose sizes have no names yet */
    uint32_t waiting_count;
    bool in_string;     /* a size of a graph program: plain integers */
    bool in_parameters; /* is_quoted[d]: the parameter being printed defines its size d */
    bool is_quoted[64];
    uint32_t branches;            /* of ifs in graph functions, one in the other */
    bool in_signature;            /* sizes are not defined yet and stand in quotes */
    const hone_var_info *pointer; /* a call that is the value of this pointer says its type */

    hone_strmap used;   /* names in sight */
    hone_strmap next;   /* base → the next suffix to try */
    const char **stack; /* names in order of definition */
    uint32_t stack_count, stack_capacity;
} printer;

/* Prints into out by these options (NULL: the defaults). False when memory is short;
 * printer_finish is called either way. */
bool printer_init(printer *pr, hone_str *out, const hone_print_options *options);
hone_status printer_finish(printer *pr); /* also deinit */
bool printer_is_classic(const printer *pr);

/* ---- names ---- */
/* A name that is not in sight yet, defined from now on; never NULL. */
const char *printer_define(printer *pr, const char *hint);
/* Whether printer_define would give the hint as it is. */
bool printer_can_keep(const printer *pr, const char *hint);
const char *printer_define_var(printer *pr, hone_var var);
const char *printer_define_buffer(printer *pr, hone_buffer buffer);
uint32_t printer_scope_begin(const printer *pr);
void printer_scope_end(printer *pr, uint32_t mark);
const char *printer_var(printer *pr, hone_var var);
const char *printer_buffer(printer *pr, hone_buffer buffer);
const char *printer_value(printer *pr, hone_gvalue value); /* of the graph function */

/* ---- lines ---- */
void printer_line_begin(printer *pr);
void printer_line_end(printer *pr);
void printer_line(printer *pr, const char *text);
/* The line that begins at this offset of the output, just printed, is that of the node: notes its
 * number, and underlines it when the node is the marked one. */
void printer_mark(printer *pr, hone_node_id node, size_t line_start);

/* ---- pieces ---- */
void print_expr(printer *pr, const hone_expr *e);
void print_access(printer *pr, const hone_expr *load, bool is_store);
void print_exprs(printer *pr, uint32_t count, const hone_expr *const *exprs); /* a, b, c */
void print_tuple(printer *pr, uint32_t count, const hone_expr *const *exprs); /* (a,) */
void print_float(hone_str *out, double value); /* shortest text that reads back, with '.' or 'e' */
void print_quoted(printer *pr, const char *text);
void print_dtype(printer *pr, hone_dtype dtype);                 /* "float32" in quotes */
void print_pointer_type(printer *pr, const hone_var_info *info); /* T.handle("float32", "local") */
void print_call(printer *pr, const hone_expr *e);
/* T.int32, T.handle("float32", "global") */
void print_var_type(printer *pr, hone_var var);
void print_value(printer *pr, const hone_value *v);
void print_attrs(printer *pr, const hone_attrs *attrs); /* {"a": 1} */
void print_region(printer *pr, const hone_region *region);
/* min + extent, folded. */
const hone_expr *print_range_end(printer *pr, const hone_range *range);
/* T.fn(shape, dtype, ...) of a buffer; first is put before the shape ("" or "a, "). */
void print_buffer_call(printer *pr, const char *fn, const char *first, hone_buffer buffer,
                       bool always_dtype);

/* The line of a statement that holds what follows; concise: without `with` and a suite. */
void print_holder_head(printer *pr, hone_node_id id, bool concise);
void print_init(printer *pr, hone_node_id id);
void print_statements(printer *pr, hone_node_id first);
/* Declares (T.Buffer) the waiting buffers, pr->waiting, whose sizes all have names by now. */
void print_waiting_buffers(printer *pr);
/* The allocations that stand among the statements of a block's body (script_print_allocs.c). */
typedef struct print_allocs print_allocs;
void print_statements_with(printer *pr, hone_node_id first, print_allocs *allocs);
void print_allocs_before(printer *pr, print_allocs *allocs, hone_node_id statement);
void print_block_statements(printer *pr, const hone_block *block, hone_node_id first);
/* Is the buffer loaded somewhere in e? */
bool print_loads(const hone_expr *e, hone_buffer buffer);
/* The block's own allocations; before its regions where those speak of them. */
void print_block_allocs(printer *pr, const hone_block *block);
bool print_has_allocs_first(const printer *pr, const hone_block *block);
/* The first of these statements that speaks of each buffer, HONE_NO_ID where none does. */
bool print_first_uses(printer *pr, hone_node_id first, uint32_t count, const hone_buffer *buffers,
                      hone_node_id *out);
void print_block_statement(printer *pr, hone_node_id node);
void print_root_block(printer *pr, hone_node_id node);
void print_func(printer *pr, const hone_func *func);
void print_graph(printer *pr, const hone_graph_func *graph);
/* Is the function a branch of an if? It is printed there. */
bool print_is_branch(const hone_module *module, const hone_graph_func *graph);

#endif
