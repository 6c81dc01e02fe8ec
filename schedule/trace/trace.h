/* schedule/trace/trace.h - a trace: the instructions that make a schedule, and the decisions of its
 * sampling instructions.
 *
 * A trace is text (TVM's JSON, or the Python that TVM prints: trace_parse.h), data (here), what
 * makes a schedule of a program (trace_apply.h), and a search space: with its decisions removed,
 * each sampling instruction draws anew.
 *
 * Instructions are immutable; decisions stand beside them, one slot per instruction, so a candidate
 * of a search is (sketch trace, decisions). Random variables are numbered in order of creation, the
 * outputs of one instruction are consecutive.
 *
 * Lifetime: in an arena. Threads: a finished trace may be read by many.
 */
#ifndef HONE_SCHEDULE_TRACE_TRACE_H
#define HONE_SCHEDULE_TRACE_TRACE_H

#include "ir/core/index_map.h"
#include "support/rng.h"
#include "support/status.h"

typedef uint32_t hone_rv;

typedef enum hone_rv_kind {
    HONE_RV_BLOCK, /* printed b0, b1, … */
    HONE_RV_LOOP,  /* l0, … ; node, or one of the marks below */
    HONE_RV_INT,   /* v0, … */
} hone_rv_kind;

typedef struct hone_rv_value {
    hone_rv_kind kind;
    uint32_t node; /* BLOCK, LOOP: hone_node_id, HONE_RV_ROOT_MARK or HONE_RV_INLINE_MARK */
    int64_t value; /* INT */
} hone_rv_value;
#define HONE_RV_ROOT_MARK (UINT32_MAX - 1)   /* compute location "at the root": leave the block */
#define HONE_RV_INLINE_MARK (UINT32_MAX - 2) /* compute location "inline" */

typedef enum hone_inst_kind {
#define HONE_INST(name, json, python) HONE_INST_##name,
#include "schedule/trace/insts.def"
#undef HONE_INST
    HONE_INST_COUNT
} hone_inst_kind;

typedef enum hone_operand_kind {
    HONE_OPERAND_RV,     /* u.rv */
    HONE_OPERAND_INT,    /* u.i */
    HONE_OPERAND_FLOAT,  /* u.f */
    HONE_OPERAND_STRING, /* u.s */
    HONE_OPERAND_NONE,
    HONE_OPERAND_LIST,  /* u.items[count] */
    HONE_OPERAND_VALUE, /* u.value: a map or anything else that is plain data */
    HONE_OPERAND_MAP,   /* u.map: an index map; its free variables are variables of the trace */
} hone_operand_kind;

typedef struct hone_operand hone_operand;
struct hone_operand {
    hone_operand_kind kind;
    uint32_t count;
    union {
        hone_rv rv;
        int64_t i;
        double f;
        const char *s;
        const hone_operand *items;
        const hone_value *value;
        const hone_index_map *map;
    } u;
};

typedef struct hone_inst {
    hone_inst_kind kind;
    uint32_t input_count, attr_count, output_count;
    const hone_operand *inputs;
    const hone_value *attrs;
    hone_rv first_output; /* outputs: first_output … first_output + output_count - 1 */
} hone_inst;

/* What a sampling instruction decided: tile factors, a candidate's index, or a location. */
typedef struct hone_decision {
    uint32_t count; /* 0 = no decision */
    const int64_t *values;
} hone_decision;

typedef struct hone_trace {
    hone_arena *arena;
    hone_inst *insts;
    hone_decision *decisions; /* one per instruction */
    uint32_t count, capacity;
    hone_rv_kind *rv_kinds;
    uint32_t rv_count, rv_capacity;
    bool is_unsafe; /* holds an instruction that is unsafe by name, or one that believed its caller
                     */
} hone_trace;

struct hone_func;

void hone_trace_init(hone_trace *trace, hone_arena *arena);
/* A copy that owns everything (in arena). False when memory is short. */
bool hone_trace_copy(hone_arena *arena, const hone_trace *trace, hone_trace *out_trace);
/* Appends; makes output_count new variables of the given kinds. inputs and attrs are copied one
 * level deep. */
HONE_NODISCARD hone_status hone_trace_append(hone_trace *trace, hone_inst_kind kind,
                                             uint32_t input_count, const hone_operand *inputs,
                                             uint32_t attr_count, const hone_value *attrs,
                                             uint32_t output_count, hone_rv_kind output_kind,
                                             hone_decision decision);

/* Every sampling instruction has its decision: a replay draws nothing. */
bool hone_trace_is_decided(const hone_trace *trace);

/* A variable that no instruction made; HONE_NO_ID when memory is short. */
hone_rv hone_trace_add_rv(hone_trace *trace, hone_rv_kind kind);

/* Makes a plain value own all it refers to (in arena). False when memory is short. */
bool hone_value_own(hone_arena *arena, hone_value *io);

/* An operand that is a map: numbers[rv] is what a variable in it is called from now on (in arena).
 * False when memory is short. */
bool hone_operand_renumber_map(hone_arena *arena, hone_operand *io, const hone_rv *numbers);

/* ---- editing ---- */
/* Drops pure instructions whose outputs nobody uses; optionally all from EnterPostproc on. */
HONE_NODISCARD hone_status hone_trace_simplify(hone_arena *arena, const hone_trace *trace,
                                               bool remove_postproc, hone_trace *out_trace);
/* Blocks that a trace for `from` names get the names of those in the same places of `to`, a program
 * with the same nests. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status hone_trace_rename_blocks(hone_arena *arena, const struct hone_func *from,
                                                    const struct hone_func *to, hone_trace *trace);

/* ---- text ---- */
/* TVM's JSON form [instructions, decisions]; old and new instruction names are read, new ones
 * written. Also reads whole tuning records' trace arrays. Errors say instruction and field. */
HONE_NODISCARD hone_status hone_trace_parse_json(hone_arena *arena, const char *text, size_t length,
                                                 const char *source_name, hone_trace *out_trace);
HONE_NODISCARD hone_status hone_trace_print_json(const hone_trace *trace, hone_str *out);
/* What a trace is read for. Some steps give lists of which only the program knows how long they are
 * (`loops = sch.get_loops(b)`, `sch.get_loops(b)[-1]`); without one they must be unpacked. */
typedef struct hone_trace_context {
    const struct hone_func *func;              /* where no step names one; NULL: all steps must */
    const struct hone_tensor_intrins *intrins; /* NULL: the built-in ones only */
    const struct hone_module *module;          /* whose functions steps may name; NULL: func only */
    struct hone_tensor_intrins *registered;    /* takes those that the text registers; NULL: none */
} hone_trace_context;
HONE_NODISCARD hone_status hone_trace_print_python(const hone_trace *trace, hone_str *out);
/* The same in the spelling of older documents (get_block). */
HONE_NODISCARD hone_status hone_trace_print_classic(const hone_trace *trace, hone_str *out);
/* One instruction as Python, "l5, l6 = sch.split(loop=l2, factors=[v3, v4], …)". */
HONE_NODISCARD hone_status hone_inst_print_python(const hone_trace *trace, uint32_t index,
                                                  hone_str *out);
HONE_NODISCARD hone_status hone_inst_print_classic(const hone_trace *trace, uint32_t index,
                                                   hone_str *out);
const char *hone_inst_json_name(hone_inst_kind kind);
bool hone_inst_is_pure(hone_inst_kind kind);
bool hone_inst_is_sampling(hone_inst_kind kind);
/* May make a wrong program, as its name says. */
bool hone_inst_is_unsafe(const hone_inst *inst);

#endif
