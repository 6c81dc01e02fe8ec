/* schedule/python/trace_parse_impl.h - for the files of the Python trace parser only: what the run
 * of a text (ir/python) finds there that belongs to schedules. All may come from a stranger's file.
 *
 *   trace_parse.c           statements             trace_parse_call.c      steps
 *   trace_parse_operand.c   what a step takes      trace_parse_look.c      sch.get(x)
 *   trace_parse_map.c       index maps             trace_parse_intrin.c    tensor intrinsics
 *   trace_parse_inst.c      instructions           trace_parse_outside.c   imports, other modules,
 *                                                  programs in the text
 */
#ifndef HONE_SCHEDULE_PYTHON_TRACE_PARSE_IMPL_H
#define HONE_SCHEDULE_PYTHON_TRACE_PARSE_IMPL_H

#include "ir/python/python_run.h"
#include "schedule/trace/trace_args.h"

/* Kinds of values. What belongs to a schedule has the number under which it was begun as its mark.
 * count of an UNKNOWN is 1 when it is of a module that has nothing to do with programs. */
#define PYTRACE_SCHEDULE PYV_HOST
#define PYTRACE_RV ((pyv_kind)(PYV_HOST + 1)) /* count: the variable */
#define PYTRACE_MAP                                                                                \
    ((pyv_kind)(PYV_HOST + 2)) /* u.host: an index map: a lambda, or a number with a               \
                                  dtype */

/* A program of the text, which nobody runs. */
typedef struct pytrace_program {
    const char *name;
    const py_node *node;
    const struct pytrace_program *before;
} pytrace_program;

typedef struct pytrace {
    py_run run;
    py_source source;
    hone_arena *arena;
    hone_trace *trace;
    const char *working_on;            /* the function that work_on named, or NULL */
    const hone_trace_context *context; /* may be NULL */
    const py_node *program;            /* the first program of the text, or NULL */
    const pytrace_program *programs;   /* the last of those that have a name */
    uint32_t epoch;                    /* how often the schedule was begun */
    bool is_refused; /* the last step is refused whatever is drawn: the text ends here */
} pytrace;

static inline pytrace *pytrace_of(py_run *run) {
    return run->ctx;
}

/* May it be asked what the steps so far make? */
static inline bool pytrace_has_program(const pytrace *p) {
    return p->context && (p->context->func || p->context->module);
}

static inline const hone_index_map *pytrace_map_of(const py_value *v) {
    return v->u.host;
}

/* ---- what a step takes (trace_parse_operand.c) ---- */
/* INVALID for what none takes, and for variables of an earlier schedule. */
HONE_NODISCARD hone_status pytrace_to_operand(pytrace *p, uint32_t at, const py_value *v,
                                              hone_operand *out);

/* ---- from arguments to an instruction (trace_parse_inst.c) ---- */
/* The arguments of a step, by the rows of its traits. */
typedef struct pytrace_call {
    hone_inst_kind kind;
    uint32_t start; /* of the step's name in the text */
    uint32_t where; /* the argument in hand begins there */
    hone_operand args[HONE_MAX_ARGS];
    bool given[HONE_MAX_ARGS];
    hone_operand *varargs;
    uint32_t vararg_count, vararg_capacity;
} pytrace_call;

/* How many arguments the call of a step has at most, but for *args. */
uint32_t pytrace_arg_count(hone_inst_kind kind);
/* Appends the instruction to the trace. wanted: how many results the text names
 * (PYTRACE_ONE_VALUE: one value). INVALID, at the call: an argument is missing or of a wrong type.
 */
hone_status pytrace_make_inst(pytrace *p, pytrace_call *c, uint32_t wanted, py_value *out);

/* ---- steps (trace_parse_call.c) ---- */
/* How many results a step shall give: as many as names, none, or what a single value holds. */
enum { PYTRACE_IGNORED = 0, PYTRACE_ONE_VALUE = INT32_MAX };
/* Is it "sch.step(…)" of the schedule that was begun last? */
bool pytrace_is_step(pytrace *p, const py_node *node);
HONE_NODISCARD hone_status pytrace_read_step(pytrace *p, const py_node *call, uint32_t wanted,
                                             py_value *out);
/* sch.name and sch.name(…) */
HONE_NODISCARD hone_status pytrace_read_part(pytrace *p, const py_node *node, py_value *io);
HONE_NODISCARD hone_status pytrace_read_member(pytrace *p, const py_node *call, py_value *io);
/* What was done so far is no part of the new schedule. */
void pytrace_begin_schedule(pytrace *p, py_value *out);
/* sch.get(x) (trace_parse_look.c) */
HONE_NODISCARD hone_status pytrace_read_get(pytrace *p, const py_node *call, py_value *out);

/* ---- tensor intrinsics (trace_parse_intrin.c) ---- */
HONE_NODISCARD hone_status pytrace_note_program(pytrace *p, const py_node *node);
/* TensorIntrin.register(args): adds it to context->registered. INVALID where that is not possible
 * and none of the name is known. */
HONE_NODISCARD hone_status pytrace_register_intrin(pytrace *p, uint32_t at, const py_args *args);

/* ---- index maps (trace_parse_map.c) ---- */
/* A lambda: an index map; else an expression of constants (a map without parameters). */
HONE_NODISCARD hone_status pytrace_read_map(pytrace *p, const py_node *node, py_value *out);
/* T.index_map(…), IndexMap.from_func(…), … */
HONE_NODISCARD hone_status pytrace_read_map_call(pytrace *p, const py_node *call, py_value *out);
/* A function of the text as an index map: all it does must be to return one. */
HONE_NODISCARD hone_status pytrace_map_of_func(pytrace *p, uint32_t at, const py_func *func,
                                               py_value *out);

/* ---- what is no part of the text (trace_parse_outside.c) ---- */
HONE_NODISCARD hone_status pytrace_read_import(pytrace *p, const py_node *node);
/* Names that every text knows: tvm, T, np. */
bool pytrace_is_known_module(const char *name);
/* .name and (…) of an UNKNOWN. */
HONE_NODISCARD hone_status pytrace_read_path(pytrace *p, const py_node *node, py_value *io);
HONE_NODISCARD hone_status pytrace_call_outside(pytrace *p, const py_node *call, py_value *io);
/* INVALID for what a module made that nobody here knows: a statement that is nothing else would be
 * left out silently. */
HONE_NODISCARD hone_status pytrace_refuse_strange(pytrace *p, uint32_t at, const py_value *value);
/* INVALID when a step is in what only shows something. */
HONE_NODISCARD hone_status pytrace_check_shown(pytrace *p, const py_node *node);
/* A class, or a function whose decorator makes a program of it? Then it gets a name. */
HONE_NODISCARD hone_status pytrace_take_program(pytrace *p, const py_node *node, bool *out_took);

#endif
