/* ir/text/read/script_impl.h - what the files of the reader share. Inside the room only.
 *
 * The text is a syntax tree (ir/python), and the reader goes through it as Python would: an
 * expression of the text becomes a py_value (a number, a tuple, a buffer, an expression of the
 * program, a dotted name such as T.axis...), a call of a known name runs a C function that builds
 * program nodes. Places ("at") are bytes of the text.
 *
 * Every function that reads returns false after the first failure, which p->error keeps.
 */
#ifndef HONE_IR_TEXT_READ_SCRIPT_IMPL_H
#define HONE_IR_TEXT_READ_SCRIPT_IMPL_H

#include "ir/python/python_run.h"
#include "ir/text/read/script.h"
#include "ir/text/script_fold.h"

/* What texts of programs have beside the values of Python. */
enum {
    SCRIPT_PATH = PYV_HOST, /* u.s: a dotted name ("T.axis.remap") */
    SCRIPT_METHOD,          /* script_method: attribute of a buffer, expression or graph value */
    SCRIPT_EXPR,            /* hone_expr: over the variables of the current function */
    SCRIPT_NEWVAR,          /* script_newvar: T.int32(), a variable that the assignment will name */
    SCRIPT_BUFFER,          /* u.i: its number */
    SCRIPT_ACCESS,          /* script_access: buffer[...]: a load, a store target or a region */
    SCRIPT_LOOP,            /* script_loop: T.grid(...), range(...): stands behind `in` only */
    SCRIPT_FRAME,           /* script_frame: T.block(...), T.init(): stands behind `with` only */
    SCRIPT_THREAD,          /* u.s: T.env_thread("threadIdx.x") */
    SCRIPT_GARG,            /* hone_garg: a value of the graph program */
    SCRIPT_SINFO,           /* hone_sinfo: R.Tensor(...) */
    SCRIPT_GLOBAL,          /* u.s: a function of the module */
    SCRIPT_LOCAL,           /* script_local: a function inside of a graph function */
    SCRIPT_MODULE,          /* the module itself: cls */
    SCRIPT_DTYPE,           /* u.i: a type as an annotation (script_dtype_of) */
    SCRIPT_LAMBDA,   /* py_node: not read yet, since its caller knows the types of its parameters */
    SCRIPT_FUNCTION, /* hone_lambda: T.index_map(...), T.comm_reducer(...) */
};

typedef struct script_loop {
    uint32_t count; /* number of nested loops; all serial but for count == 1 */
    hone_loop_kind kind;
    const hone_range *ranges;
    const hone_expr *start, *step; /* step NULL = 1; else the variable is start + loop * step */
    const char *thread_tag;
    hone_attrs annotations;
} script_loop;

typedef enum script_frame_kind {
    SCRIPT_FRAME_BLOCK, /* text = name */
    SCRIPT_FRAME_INIT,
    SCRIPT_FRAME_LAUNCH, /* text = tag, value = extent, thread = variable or NULL */
    SCRIPT_FRAME_ATTR,   /* text = key, node, value */
    SCRIPT_FRAME_ASSERT, /* value, text */
    SCRIPT_FRAME_LET,    /* var, value, type */
    SCRIPT_FRAME_DATAFLOW,
    SCRIPT_FRAME_SEQUENTIAL, /* T.Sequential and friends: no meaning of their own */
} script_frame_kind;

typedef struct script_frame {
    script_frame_kind kind;
    const char *text;
    const hone_expr *value;
    hone_value node;
    hone_var var;
    hone_buffer buffer;
    const py_value *type;             /* LET: of a new variable, or NULL */
    const struct script_frame *inner; /* ATTR: opened inside this one, or NULL */
} script_frame;

typedef struct script_access {
    hone_buffer buffer;
    uint32_t rank;
    const py_value *items; /* rank: expressions, numbers or slices */
} script_access;

typedef enum script_macro_kind {
    SCRIPT_STATEMENTS, /* @T.macro, @T.inline: statements of the program that calls it */
    SCRIPT_HELPER,     /* a Python function that returns a value */
    SCRIPT_FACTORY,    /* a Python function that holds programs */
} script_macro_kind;

typedef struct script_macro {
    const py_func *func;
    bool is_hygienic; /* sees what was known when it was defined, and what it defines itself */
    script_macro_kind kind;
    const struct script_macro *next; /* the factory before */
} script_macro;

/* It became a function of the module, with the values around that it uses as last parameters. */
typedef struct script_local {
    const char *name; /* in the module */
    uint32_t count;
    const hone_gvalue *captured; /* those values, in the function that names it now */
} script_local;

typedef struct script_method {
    py_value base;
    const char *name;
    uint32_t at; /* of the name */
} script_method;

typedef struct script_newvar {
    hone_dtype dtype;
    bool is_size;
    hone_dtype pointee;      /* T.handle("float32", "global") */
    const char *point_scope; /* of it, or NULL */
} script_newvar;

#define SCRIPT_HOLDS(name, type)                                                                   \
    static inline const type *script_##name##_of(const py_value *v) {                              \
        return v->u.host;                                                                          \
    }
SCRIPT_HOLDS(expr, hone_expr)
SCRIPT_HOLDS(method, script_method)
SCRIPT_HOLDS(var, script_newvar)
SCRIPT_HOLDS(access, script_access)
SCRIPT_HOLDS(loop, script_loop)
SCRIPT_HOLDS(frame, script_frame)
SCRIPT_HOLDS(garg, hone_garg)
SCRIPT_HOLDS(sinfo, hone_sinfo)
SCRIPT_HOLDS(local, script_local)
SCRIPT_HOLDS(node, py_node)
SCRIPT_HOLDS(lambda, hone_lambda)
#undef SCRIPT_HOLDS

static inline hone_buffer script_buffer_of(const py_value *v) {
    return (hone_buffer)v->u.i;
}
static inline hone_dtype script_dtype_of(const py_value *v) {
    uint64_t bits = (uint64_t)v->u.i;
    return (hone_dtype){(uint8_t)bits, (uint8_t)(bits >> 8), (uint16_t)(bits >> 16)};
}

/* The block whose body is being read. */
typedef struct script_block script_block;
struct script_block {
    script_block *outer;
    hone_node_id node;
    hone_axis *axes;
    const hone_expr **bindings;
    hone_region *reads, *writes;
    hone_buffer *allocs;
    hone_match *matches;
    uint32_t axis_count, axis_capacity;
    uint32_t read_count, write_count;
    uint32_t alloc_count, alloc_capacity;
    uint32_t match_count, match_capacity;
    bool has_reads, has_writes, has_init, has_where;
    const hone_expr *predicate;
    hone_attrs annotations;
};

/* A block that lacks T.reads or T.writes: they are found when the function is complete. */
typedef struct script_pending {
    hone_node_id node;
    bool has_reads, has_writes;
} script_pending;

/* More than any program's; it ends texts that grow while they are read. */
#define SCRIPT_STATEMENT_BUDGET 50000

typedef struct script_parser {
    py_source source;
    py_places places;
    py_run run; /* computes expressions, knows names; its depth bounds statements, too */
    hone_module *module;
    hone_arena *arena;   /* the module's */
    hone_arena *scratch; /* dies with the parser */
    hone_status error;
    uint32_t budget; /* operators that the present statement may still use */
    uint32_t value_budget;

    const py_name *suite_begin;    /* the last name in front of the suite being read; or NULL */
    const script_macro *factories; /* the last one */

    const char **globals; /* names of all functions of the text */
    const py_node **defs; /* and these functions */
    uint32_t global_count, global_capacity;
    const char *module_name;

    hone_ir ir;
    const py_node *def;         /* the function being read */
    const py_node *description; /* the T.Buffer being read, or NULL */
    hone_func *func;            /* the tensor program being read, or NULL */
    hone_node_id parent;        /* where statements go */
    script_block *block;        /* innermost block, or NULL */
    script_block *root;         /* collects allocations of the top level */
    hone_param *params;
    uint32_t param_count, param_capacity;
    script_pending *pending;
    uint32_t pending_count, pending_capacity;

    hone_graph_func *graph;  /* the graph program being read, or NULL */
    bool in_signature;       /* a buffer is the type of a parameter */
    hone_var signature_vars; /* variables that the parameters made; first of the body */
    bool in_dataflow, has_output, has_return;
    bool names_are_sizes;  /* inside "n + 1": unknown names are sizes */
    hone_dtype size_dtype; /* theirs */
    uint32_t quoted_at;    /* then: that string */
    bool default_s_tir;    /* @I.ir_module(s_tir=True) */
    bool is_classic;       /* no word of TVM 0.27 in the text: x = e is a let, not a scalar */
    uint32_t dataflow_count;

    hone_tensor *const *weights; /* what metadata["relax.expr.Constant"][i] names */
    uint32_t weight_count;
    hone_tensor **own_weights; /* those that the text holds, by number; NULL: no metadata */
    uint32_t *weight_places;   /* which constant of the module a weight became, plus one */
    uint32_t place_count;
} script_parser;

/* ---- failing (script_parser.c) ---- */
bool script_fail(script_parser *p, uint32_t at, const char *format, ...) HONE_PRINTF(3, 4);
bool script_fail_type(script_parser *p, uint32_t at, const char *format, ...) HONE_PRINTF(3, 4);
bool script_no_memory(script_parser *p);
/* Turns an error of a constructor (p->ir) into one with a place. True when there is none. */
bool script_check_ir(script_parser *p, uint32_t at);
bool script_check(script_parser *p, uint32_t at, hone_status st);
hone_status script_pass(script_parser *p, bool ok); /* hands the failure to the evaluator */
bool script_keep(script_parser *p, hone_status st); /* a failure that has its place; true: none */
const char *script_kind_name(const py_value *v);    /* "a tuple", for messages */
bool script_enter(script_parser *p, uint32_t at);   /* bounds recursion; pair with p->run.depth-- */
/* "expected WHAT, found …": what stands there. */
bool script_expected(script_parser *p, uint32_t at, const char *what);

/* ---- the text ---- */
/* All tokens, for messages about what stands around a name; and which of them stands there. */
bool script_cut(script_parser *p, uint32_t at, const py_token **out_tokens, uint32_t *out_count,
                uint32_t *out_here);
bool script_can_be_name(const char *text); /* of a function: lexes as a name, is no keyword */
/* One string literal, as it is written between its quotes, is this text. */
bool script_is_text(const script_parser *p, const py_node *node, const char *text);
/* T.int64, or the call of it: what stands behind "T.", else NULL. */
const char *script_word_of_t(const py_node *node);
const py_node *script_body(const py_node *def);
uint32_t script_name_at(const script_parser *p, const py_node *def); /* the place of its name */
/* Runs statement once for each one of the suite. */
typedef bool (*script_statement)(script_parser *p, const py_node *node);
bool script_suite(script_parser *p, const py_node *suite, script_statement statement);

/* ---- memory: growing arrays in an arena ---- */
bool script_grow(script_parser *p, hone_arena *arena, void **items, uint32_t *capacity,
                 uint32_t count, size_t item_bytes);
void *script_alloc(script_parser *p, hone_arena *arena, size_t count, size_t item_bytes);
const char *script_strdup(script_parser *p, const char *text);

/* ---- names ---- */
bool script_define(script_parser *p, const char *name, py_value value);
/* The size of the function by this name, which a TypeVar brought in; or HONE_NO_ID. */
hone_var script_size_of(const script_parser *p, const char *name);
const py_value *script_lookup(const script_parser *p, const char *name);
/* "undefined name 'x'; did you mean 'y'?" */
bool script_undefined(script_parser *p, uint32_t at, const char *name);
/* What an unknown dtype ("fp32") was meant for, or NULL. */
const char *script_dtype_meant(const char *name);
/* The nearest of some candidates, or NULL when none is near. */
const char *script_nearest(const char *name, const char *const *candidates, size_t count);

/* ---- values (script_value.c) ---- */
/* buffer[items]; a variable without a name. */
bool script_new_access(script_parser *p, hone_buffer buffer, uint32_t rank, const py_value *items,
                       py_value *out);
bool script_new_newvar(script_parser *p, script_newvar var, py_value *out);
bool script_to_expr(script_parser *p, const py_value *v, const hone_expr **out_expr);
/* script_to_expr, converted to a dtype as an assignment converts. */
bool script_to_expr_as(script_parser *p, const py_value *v, hone_dtype dtype,
                       const hone_expr **out_expr);
/* A truth value; an integer counts as one, a float does not. what: "the condition of an if". */
bool script_to_condition(script_parser *p, const py_value *v, const char *what,
                         const hone_expr **out_expr);
bool script_to_int(script_parser *p, const py_value *v, int64_t *out_value);
bool script_to_bool(script_parser *p, const py_value *v, bool *out_value);
bool script_to_string(script_parser *p, const py_value *v, const char **out_text);
bool script_to_dtype(script_parser *p, const py_value *v, hone_dtype *out_dtype);
bool script_is_dtype_name(const char *name, hone_dtype *out_dtype);
enum { SCRIPT_MAX_ATTRS = 1024 }; /* of one thing: they are looked for one by one */
/* Behind "T.", where f32 is float32, too. */
bool script_is_dtype_word(const char *name, hone_dtype *out_dtype);
bool script_to_value(script_parser *p, const py_value *v, hone_value *out_value);
/* The attributes that a dictionary gives; none for PYV_NONE. */
bool script_to_attrs(script_parser *p, const py_value *v, hone_attrs *out_attrs);
/* Items of a tuple or list; one lone value counts as a tuple of one. */
void script_items(const py_value *v, const py_value **out_items, uint32_t *out_count);
bool script_is_list(const py_value *v); /* or a tuple */
/* The item of a list that has one; what is no such list itself. */
const py_value *script_only(const py_value *v);
bool script_to_exprs(script_parser *p, const py_value *v, uint32_t *out_count,
                     const hone_expr *const **out_exprs);
bool script_to_region(script_parser *p, const py_value *v, hone_region *out_region);
/* What a block says of itself loads no scalar of its body (x = vi + 1). */
bool script_check_head(script_parser *p, uint32_t at, const hone_expr *e);
const hone_expr *script_cast(script_parser *p, hone_dtype dtype, const hone_expr *e);

/* ---- operators of values (script_operator.c) ---- */
/* A shift by a constant that the type has no bits for. */
bool script_check_shift(script_parser *p, uint32_t at, const hone_expr *value, const hone_expr *by);
bool script_binary_value(script_parser *p, uint32_t at, py_op op, const py_value *a,
                         const py_value *b, py_value *out);
bool script_unary_value(script_parser *p, uint32_t at, py_op op, const py_value *a, py_value *out);

/* ---- expressions (script_host.c) ---- */
void script_begin(script_parser *p); /* when it lies where it stays; pair with script_end */
void script_end(script_parser *p);
bool script_eval(script_parser *p, const py_node *node, py_value *out);
/* Has the name a meaning here? */
bool script_is_known(const script_parser *p, const char *name);
/* What a name stands for (script_name.c). */
bool script_eval_name(script_parser *p, const py_node *node, py_value *out);

/* ---- calls ---- */
typedef struct script_call {
    const char *callee; /* "T.Buffer" */
    uint32_t at;
    uint32_t count, keyword_count;
    const py_value *args;
    const py_word *keywords;
} script_call;

typedef bool (*script_function)(script_parser *p, const script_call *call, py_value *out);
typedef struct script_entry {
    const char *name;
    script_function run;
} script_entry;

/* The argument at a position or under a name, or NULL. None counts as absent. */
const py_value *script_arg(const script_call *call, uint32_t index, const char *name);
/* A flag by name; *io stays where it is not given, or call is NULL. */
bool script_option(script_parser *p, const script_call *call, const char *name, bool *io);
bool script_need_arg(script_parser *p, const script_call *call, uint32_t index, const char *name,
                     const py_value **out);
enum { SCRIPT_MOST_PARAMS = 16 };
/* "x y | span": the names one by one, in the parser's scratch. */
bool script_read_params(script_parser *p, const char *params, const char **names,
                        uint32_t *out_count);
/* Fails for an argument by a name that is none of these. */
bool script_check_keywords(script_parser *p, const script_call *call, const char *const *names,
                           size_t count);
bool script_eval_arguments(script_parser *p, const char *callee, const py_node *node,
                           script_call *out);
/* Fails for a shape without brackets: T.Buffer(16, 8, "float32"). */
bool script_check_shape(script_parser *p, const script_call *call, const py_value *shape,
                        const py_value *behind);
/* Fails for an argument that the function called does not take, as far as that is known. */
bool script_check_arguments(script_parser *p, const script_call *call);
/* "a buffer has no attribute 'shap'; did you mean 'shape'?" */
bool script_unknown_attribute(script_parser *p, const py_value *method);
/* "unknown function 'T.gird'; did you mean 'T.grid'?" */
bool script_unknown_call(script_parser *p, const script_call *call);
bool script_unknown_operator(script_parser *p, const script_call *call);
/* "Tensor" for "Tenser", or NULL. */
const char *script_graph_type_meant(const char *name);
/* What may be called by a dotted name; how many. */
size_t script_call_names(script_parser *p, const char **names, size_t most);
/* Is there a function of this whole name ("T.exp")? */
bool script_is_function(const char *name);
bool script_call_path(script_parser *p, const script_call *call, py_value *out);
bool script_call_method(script_parser *p, const py_value *callee, const script_call *call,
                        py_value *out);
bool script_attribute(script_parser *p, const py_value *base, const char *name, uint32_t at,
                      py_value *out);
bool script_subscript(script_parser *p, const py_value *base, const py_node *node, py_value *out);
/* Tables of functions, one per file; each ends with a NULL name. */
extern const script_entry script_expr_calls[];
extern const script_entry script_type_calls[];
extern const script_entry script_intrin_calls[];
extern const script_entry script_decl_calls[];
extern const script_entry script_scalar_calls[];
extern const script_entry script_block_calls[];
extern const script_entry script_loop_calls[];
extern const script_entry script_frame_calls[];
extern const script_entry script_lambda_calls[];
/* The expression (NULL after an error of p->ir) is what the call gives. */
bool script_finish(script_parser *p, const script_call *call, const hone_expr *e, py_value *out);
/* T.float32(1), and T.float32(), which is a new variable. */
bool script_typed_constant(script_parser *p, const script_call *call, hone_dtype dtype,
                           py_value *out);
/* A call of an intrinsic, or of a dtype. */
bool script_call_intrin(script_parser *p, const script_call *call, py_value *out, bool *out_known);
/* script_call_intrin for operations that are known by name only (ir/ops/named_op.h). */
bool script_call_named(script_parser *p, const script_call *call, py_value *out, bool *out_known);
/* An argument of a call: a buffer stands for its handle. */
bool script_to_argument(script_parser *p, const py_value *v, const hone_expr **out_expr);
/* The parameters of a lambda, defined as names. rank: how many there are when one of them is
 * `*rest`. */
bool script_lambda_params(script_parser *p, const py_node *node, hone_dtype dtype, uint32_t rank,
                          hone_lambda *lambda);
bool script_call_graph(script_parser *p, const script_call *call, py_value *out);
/* functions that are not programs (script_macro.c) */
bool script_is_macro(const char *path);
bool script_define_macro(script_parser *p, const py_node *def, script_macro_kind kind,
                         bool is_hygienic);
hone_status script_run_macro(py_run *run, const py_func *func, uint32_t at, const py_value *values,
                             py_value *out);
/* A function without a decorator: what it is, when it is no program that lacks one. */
bool script_define_helper(script_parser *p, const py_node *def, bool *out_is_helper);
bool script_call_factories(script_parser *p, const script_macro *last);
bool script_fail_empty(script_parser *p); /* a text without programs */
bool script_parse_top(script_parser *p, const py_node *node);
/* A function with decorators inside of a tensor program, of a graph program. */
bool script_parse_inner_macro(script_parser *p, const py_node *def);
bool script_parse_inner_graph(script_parser *p, const py_node *def);
bool script_parse_local(script_parser *p, const py_node *def, const script_call *options);
/* A call of a function of the module by a tensor program. */
bool script_call_function(script_parser *p, const char *name, const script_call *call,
                          py_value *out);
bool script_call_local(script_parser *p, const script_local *local, const script_call *call,
                       py_value *out);
/* The number that a value of a graph program is, as after `C = T.int64(16)`, or NULL. */
const hone_expr *script_garg_number(const script_parser *p, const hone_garg *garg);
/* Calls a value: R.ExternFunc("name") or what has the type R.Callable. */
bool script_call_extern(script_parser *p, const py_value *callee, const script_call *call,
                        py_value *out);
bool script_call_global(script_parser *p, const char *name, const script_call *call, py_value *out);

/* ---- statements and functions ---- */
bool script_parse_statement(script_parser *p, const py_node *node); /* of a tensor program */
/* options are those of the decorator, or NULL. */
bool script_parse_func(script_parser *p, const py_node *def, const script_call *options);
bool script_parse_graph(script_parser *p, const py_node *def, const script_call *options);
/* Gives types to the values of a graph that have none, where that is possible. */
bool script_infer_graph(script_parser *p, hone_graph_func *graph);
/* "n + 1" in quotes: an expression whose unknown names are sizes, made here. */
bool script_quoted_extent(script_parser *p, const py_value *v, const hone_expr **out);
/* The symbolic size of that name in the graph program being read; NULL after an error. */
const hone_expr *script_graph_size(script_parser *p, const char *name);
/* name: the tuple of what these names stand for ("*name" on the left). */
bool script_define_spread(script_parser *p, const char *name, const char *const *parts,
                          uint32_t count);
/* Assignments of all kinds, and expressions that stand alone. */
bool script_parse_simple(script_parser *p, const py_node *node);
/* A name that stands alone where something is named; else fails with "expected WHAT". */
bool script_need_name(script_parser *p, const py_node *node, const char *what,
                      const char **out_name);
/* The names on the left of "=" or behind "for"; *out_star: which one has a '*', or HONE_NO_ID. */
bool script_target_names(script_parser *p, const py_node *node, const char *what, uint32_t most,
                         const char **out_names, uint32_t *out_count, uint32_t *out_star);
/* x: T.int32 - one local element; out is the access to it. */
bool script_new_scalar(script_parser *p, const char *name, uint32_t at, hone_dtype dtype,
                       py_value *out);
/* T.float32[4, 4] as a type: a local buffer of that shape (the arguments of call). */
bool script_new_local(script_parser *p, const script_call *call, hone_dtype dtype, py_value *out);
bool script_view(script_parser *p, hone_buffer base, const script_call *call, py_value *out);
/* Opens a LET node; var HONE_NO_ID makes a new variable, which takes the name it is assigned to. */
bool script_open_let(script_parser *p, uint32_t at, hone_var var, const hone_expr *value,
                     py_value *out);
/* The new name in the arena, or NULL when memory is short. */
const char *script_rename_var(script_parser *p, hone_var var, const char *name);
bool script_assign(script_parser *p, const char *name, uint32_t at, const py_value *v);
/* target (a buffer access) = value */
bool script_store(script_parser *p, const py_value *target, const py_value *value);
/* Opens a frame under p->parent, which moves inside; *out is what `as` names. */
bool script_open_frame(script_parser *p, const py_value *frame, py_value *out);
/* Makes T.alloc_buffer among the statements of a block its own (script_parse_allocs.c). */
bool script_lift_allocs(script_parser *p);
/* a, b = …: as many values as names, at most SCRIPT_MOST_NAMES. */
enum { SCRIPT_MOST_NAMES = 32 };
bool script_eval_assignment(script_parser *p, const py_node *node, const char **names,
                            const py_value **out_items, uint32_t *out_count);
/* Each parameter of a program has a name of its own, a type ("expected …") and no default. */
bool script_check_params(script_parser *p, const py_node *def, const char *types);
/* A node under p->parent with that place in the text. */
bool script_add_node(script_parser *p, hone_node_kind kind, uint32_t at, hone_node_id *out_node);
bool script_name_buffer(script_parser *p, hone_buffer buffer, const char *name);
bool script_new_var(script_parser *p, const char *name, hone_dtype dtype, hone_var *out_var);
/* What the type of a new variable (SCRIPT_NEWVAR) says beside its dtype. */
void script_mark_var(script_parser *p, hone_var var, const py_value *type);
/* The handle variable of a buffer; made when nothing named it yet. */
bool script_buffer_data(script_parser *p, hone_buffer buffer, hone_var *out_var);
bool script_buffer_with_data(script_parser *p, hone_var data, hone_buffer *out_buffer);

/* metadata = tvm.ir.load_json("…"): constants in the text itself (script_metadata.c). */
bool script_is_constant_key(const char *key); /* is metadata[key] the list of constants? */
bool script_is_metadata(const py_node *node);
bool script_parse_metadata(script_parser *p, const py_node *node);
void script_free_metadata(script_parser *p);

/* Reads a module; weights (may be NULL) answer metadata[...] constants. */
hone_status script_parse_module(const py_source *source, hone_tensor *const *weights,
                                uint32_t weight_count, hone_module **out_module);

#define SCRIPT_VALUE_EXPR(e) ((py_value){.kind = SCRIPT_EXPR, .u.host = (e)})
#define SCRIPT_VALUE_BUFFER(b) ((py_value){.kind = SCRIPT_BUFFER, .u.i = (b)})
#define SCRIPT_VALUE_DTYPE(d)                                                                      \
    ((py_value){.kind = SCRIPT_DTYPE, .u.i = (d).code | (d).bits << 8 | (int64_t)(d).lanes << 16})
#define SCRIPT_VALUE_PATH(x) ((py_value){.kind = SCRIPT_PATH, .u.s = (x)})

#endif
