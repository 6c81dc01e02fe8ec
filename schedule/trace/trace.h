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
#include "support/core/status.h"
#include "support/data/rng.h"

/* A random variable: what an instruction gave, by number. */
typedef uint32_t hone_rv;

typedef enum hone_rv_kind {
    HONE_RV_BLOCK, /* printed b0, b1, … */
    HONE_RV_LOOP,  /* l0, … ; node, or one of the marks below */
    HONE_RV_INT,   /* v0, … */
} hone_rv_kind;

/* What a random variable stands for in a schedule. */
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

/* A factor of a loop: a random variable, a constant, or "None" (inferred). */
typedef struct hone_factor {
    enum { HONE_FACTOR_NONE, HONE_FACTOR_INT, HONE_FACTOR_RV } kind;
    int64_t value;
    hone_rv rv;
} hone_factor;
#define HONE_FACTOR_OF_INT(x) ((hone_factor){.kind = HONE_FACTOR_INT, .value = (x)})
#define HONE_FACTOR_OF_RV(x) ((hone_factor){.kind = HONE_FACTOR_RV, .rv = (x)})

/* What an instruction takes as input, in TVM's sense: variables, numbers, strings, lists of them.
 */
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

/* One recorded step. */
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

/* An empty trace, which grows in the arena. */
void hone_trace_init(hone_trace *trace, hone_arena *arena);
/* Makes a copy in the arena that shares nothing with the original. False when memory is short. */
bool hone_trace_copy(hone_arena *arena, const hone_trace *trace, hone_trace *out_trace);
/* Appends an instruction, with its decision; makes output_count new variables of this kind, with
 * consecutive numbers. inputs and attrs are copied one level deep: what they point to stays where
 * it is and must live as long as the trace. */
HONE_NODISCARD hone_status hone_trace_append(hone_trace *trace, hone_inst_kind kind,
                                             uint32_t input_count, const hone_operand *inputs,
                                             uint32_t attr_count, const hone_value *attrs,
                                             uint32_t output_count, hone_rv_kind output_kind,
                                             hone_decision decision);

/* Every sampling instruction has its decision: a replay draws nothing. */
bool hone_trace_is_decided(const hone_trace *trace);

/* A new variable that is no output of an instruction; HONE_NO_ID when memory is short. */
hone_rv hone_trace_add_rv(hone_trace *trace, hone_rv_kind kind);

/* Copies all that a plain value points to (strings, lists, maps) into the arena. False when memory
 * is short. */
bool hone_value_own(hone_arena *arena, hone_value *io);

/* In an operand that is an index map (others stay), replaces each random variable rv by
 * numbers[rv]; the new map is in the arena. False when memory is short. */
bool hone_operand_renumber_map(hone_arena *arena, hone_operand *io, const hone_rv *numbers);

/* ---- editing ---- */
/* A copy without pure instructions (get_loops, …) whose outputs nobody uses; remove_postproc: and
 * without all from EnterPostproc on. */
HONE_NODISCARD hone_status hone_trace_simplify(hone_arena *arena, const hone_trace *trace,
                                               bool remove_postproc, hone_trace *out_trace);
/* Makes a trace for the program `from` one for `to`, which has the same loop nests with other block
 * names: names of blocks that stand in the same places are exchanged, in place. NO_MEMORY is the
 * only failure. */
HONE_NODISCARD hone_status hone_trace_rename_blocks(hone_arena *arena, const struct hone_func *from,
                                                    const struct hone_func *to, hone_trace *trace);

/* ---- text ---- */
/* TVM's JSON form [instructions, decisions]; old and new instruction names are read, new ones
 * written. Also reads whole tuning records' trace arrays. Errors say instruction and field. */
HONE_NODISCARD hone_status hone_trace_parse_json(hone_arena *arena, const char *text, size_t length,
                                                 const char *source_name, hone_trace *out_trace);
/* The bytes at the beginning of a trace's JSON form that its instructions take: traces that begin
 * with the same bytes differ in decisions only. 0: it is not of that form. */
size_t hone_trace_json_head(const char *text);
/* Reads the decisions of a trace whose head has `head` bytes and whose sampling instructions are
 * those of io_trace, in the place of those that it has; new ones are in its arena. After a failure
 * it has some of each. */
HONE_NODISCARD hone_status hone_trace_parse_decisions(const char *text, size_t head,
                                                      hone_trace *io_trace);
/* Appends TVM's JSON form, with the new instruction names. */
HONE_NODISCARD hone_status hone_trace_print_json(const hone_trace *trace, hone_str *out);
/* What a trace is read for. Some steps give lists of which only the program knows how long they are
 * (`loops = sch.get_loops(b)`, `sch.get_loops(b)[-1]`); without one they must be unpacked. */
typedef struct hone_trace_context {
    const struct hone_func *func;              /* where no step names one; NULL: all steps must */
    const struct hone_tensor_intrins *intrins; /* NULL: the built-in ones only */
    const struct hone_module *module;          /* whose functions steps may name; NULL: func only */
    struct hone_tensor_intrins *registered;    /* takes those that the text registers; NULL: none */
} hone_trace_context;
/* Appends the trace as a Python function, as TVM prints it. */
HONE_NODISCARD hone_status hone_trace_print_python(const hone_trace *trace, hone_str *out);
/* hone_trace_print_python with the method names of older TVM versions (get_block for get_sblock).
 */
HONE_NODISCARD hone_status hone_trace_print_classic(const hone_trace *trace, hone_str *out);
/* Appends one instruction as Python: "l5, l6 = sch.split(loop=l2, factors=[v3, v4], …)". */
HONE_NODISCARD hone_status hone_inst_print_python(const hone_trace *trace, uint32_t index,
                                                  hone_str *out);
/* hone_inst_print_python with the method names of older TVM versions. */
HONE_NODISCARD hone_status hone_inst_print_classic(const hone_trace *trace, uint32_t index,
                                                   hone_str *out);
/* The name in JSON: "ComputeAt". */
const char *hone_inst_json_name(hone_inst_kind kind);
/* It changes nothing: it can be dropped when nobody uses its outputs. */
bool hone_inst_is_pure(hone_inst_kind kind);
/* It draws its outputs: it has a decision. */
bool hone_inst_is_sampling(hone_inst_kind kind);
/* It may make a wrong program, as its name says, or by an attribute with which the caller vouches
 * for something. */
bool hone_inst_is_unsafe(const hone_inst *inst);

#endif
