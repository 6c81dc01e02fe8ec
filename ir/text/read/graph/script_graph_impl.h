/* ir/text/read/graph/script_graph_impl.h - what the files that read graph programs share. Inside
 * the room only. */
#ifndef HONE_IR_TEXT_READ_GRAPH_SCRIPT_GRAPH_IMPL_H
#define HONE_IR_TEXT_READ_GRAPH_SCRIPT_GRAPH_IMPL_H

#include "ir/ops/graph_op.h"
#include "ir/text/read/script_impl.h"

/* How a tuple of numbers is meant: R.reshape(x, (1, 4)) a shape, elsewhere a tuple of scalars. */
bool script_to_garg(script_parser *p, const py_value *v, bool numbers_are_shape, hone_garg *out);
bool script_to_sinfo(script_parser *p, const py_value *v, const hone_sinfo **out);
/* R.Tensor(...), R.Shape(...), R.Prim, R.Tuple, R.Object, R.Callable: false in *out_known when it
 * is none of these. */
bool script_call_sinfo(script_parser *p, const script_call *call, py_value *out, bool *out_known);
/* int64 extents: each a number, an expression, or a name or expression in quotes. */
bool script_to_extents(script_parser *p, const py_value *v, int32_t *out_rank,
                       const hone_expr *const **out);
/* R.const and metadata constants. */
bool script_call_const(script_parser *p, const script_call *call, py_value *out);
bool script_call_metadata(script_parser *p, const script_call *call, py_value *out);
/* What a function inside of a graph function uses of that one (script_local_graph.c). */
typedef struct script_outside script_outside;
typedef struct script_used_name {
    const char *name;
    py_value value; /* what it means around */
} script_used_name;

struct script_outside {
    bool is_branch;               /* of an if: nobody calls it by name */
    const hone_graph_func *graph; /* the function around */
    const char *name, *in_module;
    script_used_name *names;
    uint32_t name_count, name_capacity;
    hone_gvalue *captured; /* values around, and the parameters that stand for them */
    hone_gvalue *params;
    uint32_t captured_count;
    bool in_signature; /* while names are looked for */
};

/* Reads parameters and body of a function, and adds it to the module. outside NULL: it stands in
 * the module itself. */
bool script_read_graph(script_parser *p, const py_node *def, const script_call *options,
                       const char *name, script_outside *outside);
/* All names of the text from `node` on that mean something around, and the values among them. */
bool script_find_names(script_parser *p, script_outside *outside, const py_node *node);
/* "main_inner", "main_inner1", … */
bool script_name_inside(script_parser *p, script_outside *outside);
bool script_bring_sizes(script_parser *p, script_outside *outside);  /* in front of the signature */
bool script_bring_values(script_parser *p, script_outside *outside); /* behind it */
/* What a function inside puts back: names around are hidden meanwhile. */
typedef struct script_inside {
    hone_graph_func *graph;
    const py_node *def;
    bool in_dataflow, has_output, has_return;
    uint32_t dataflow_count;
    py_scope *scope;
} script_inside;
script_inside script_enter_inside(script_parser *p);
void script_leave_inside(script_parser *p, const script_inside *before);
/* The condition that is the i-th item of a PY_IF, and the branches behind (script_graph_if.c). */
bool script_parse_if(script_parser *p, const py_node *node, uint32_t i);
/* Statements of a graph function; a value gets its name. */
bool script_graph_statement(script_parser *p, const py_node *node);
bool script_bind_name(script_parser *p, const char *name, uint32_t at, const py_value *v,
                      const hone_sinfo *info);
bool script_garg_value(script_parser *p, hone_garg garg, py_value *out);
/* Appends a binding whose new value is not named yet; *out refers to it. */
bool script_bind(script_parser *p, uint32_t at, const hone_gbind *bind, const hone_sinfo *info,
                 py_value *out);
/* call_tir, call_dps_packed and their kin: false in *out_known when it is none of these. */
bool script_call_through(script_parser *p, const script_call *call, py_value *out, bool *out_known);

#endif
