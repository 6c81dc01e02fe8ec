/* schedule/trace/trace_args.h - what an instruction takes and gives, as its primitive's file says.
 *
 * Each row of insts.def has its traits in the file of its primitive: how its arguments are called
 * in Python, where they stand among its inputs and attributes, what it gives, and how it is
 * applied. Printers, readers, JSON and replay go by these alone.
 */
#ifndef HONE_SCHEDULE_TRACE_TRACE_ARGS_H
#define HONE_SCHEDULE_TRACE_TRACE_ARGS_H

#include "schedule/trace/trace.h"

typedef enum hone_arg_place {
    HONE_ARG_END,
    HONE_ARG_DECISION, /* the decision: an integer or a list */
    /* inputs */
    HONE_ARG_INPUT,    /* inputs[index] */
    HONE_ARG_TARGET,   /* inputs[index]: a variable, or a list of them */
    HONE_ARG_REST,     /* inputs[index…] as one list: factors */
    HONE_ARG_VARARGS,  /* all inputs, positional */
    HONE_ARG_LIST,     /* inputs[index], a list of integers */
    HONE_ARG_BLOCKS,   /* inputs[index], a list of blocks; left out when empty */
    HONE_ARG_DATA,     /* inputs[index], plain data or a variable */
    HONE_ARG_BUF_TYPE, /* inputs[index]: 0 or 1 in JSON, "read" or "write" in Python */
    HONE_ARG_MAP,      /* inputs[index], an index map; a number is a map that is constant */
    /* attributes */
    HONE_ARG_INT,    /* attrs[index] */
    HONE_ARG_BOOL,   /* attrs[index]: 0 or 1 in JSON, True or False in Python */
    HONE_ARG_STRING, /* attrs[index] */
    HONE_ARG_FUNC,   /* attrs[index], the name of a function; unsaid: the one that is worked on */
    HONE_ARG_BUFFER, /* attrs[index], the number of a buffer among what the block named before reads
                        or writes; its name is read as well */
    HONE_ARG_ACCESS, /* attrs[index] and attrs[index + 1]: ("read" or "write", number) */
    HONE_ARG_VALUES, /* attrs[index], a list of integers */
    HONE_ARG_REALS,  /* attrs[index], a list of numbers */
} hone_arg_place;

typedef struct hone_arg_spec {
    const char *name;
    hone_arg_place place;
    uint32_t index;
    bool is_required;
    bool is_write;             /* BUFFER: counts what is written */
    bool is_attr_in_json;      /* MAP: there it stands among the attributes */
    bool takes_separators;     /* MAP: its separators become a step set_axis_separator */
    bool is_unsafe;            /* BOOL: true is the caller's word, and marks the trace */
    int64_t fallback;          /* INT, BOOL */
    const char *text_fallback; /* STRING, FUNC */
} hone_arg_spec;

enum { HONE_MAX_ARGS = 5 };

/* What a step gives: nothing, one variable, or a list. */
typedef enum hone_results {
    HONE_GIVES_NOTHING,
    HONE_GIVES_BLOCK,
    HONE_GIVES_LOOP,
    HONE_GIVES_INT,
    HONE_GIVES_BLOCKS,
    HONE_GIVES_LOOPS,
    HONE_GIVES_INTS,
} hone_results;

struct hone_schedule;

/* An argument as a step takes it; variables are those of its schedule. */
typedef struct hone_step_arg {
    hone_rv rv;     /* INPUT; TARGET and DATA that are one variable, else HONE_NO_ID */
    uint32_t count; /* of a list */
    bool is_write;  /* ACCESS */
    union {
        int64_t number;            /* INT, BOOL, BUFFER, BUF_TYPE; ACCESS: the buffer */
        const char *text;          /* STRING, FUNC */
        const hone_index_map *map; /* MAP; NULL: none */
        const hone_operand *data;  /* DATA */
        union {
            const hone_rv *rvs;         /* TARGET, VARARGS, BLOCKS */
            const hone_factor *factors; /* REST */
            const int64_t *numbers;     /* LIST, VALUES */
            const double *reals;        /* REALS */
        } list;
    };
} hone_step_arg;

typedef struct hone_inst_traits {
    hone_results gives;
    bool is_pure;                      /* changes nothing: dropped when nobody uses what it gives */
    bool is_unsafe;                    /* by name: may make a wrong program */
    const char *old_json, *old_python; /* as older texts call it, or NULL */
    /* How long the list is that it gives; NULL where only the program knows. */
    int64_t (*count_results)(const hone_inst *inst);
    /* Does the step. args: one per spec; decision: NULL for none. */
    hone_status (*apply)(struct hone_schedule *sch, const hone_step_arg *args,
                         const hone_decision *decision);
    hone_arg_spec args[HONE_MAX_ARGS + 1]; /* as Python has them; ends with HONE_ARG_END */
} hone_inst_traits;

#define HONE_INST(name, json, python) extern const hone_inst_traits hone_traits_##name;
#include "schedule/trace/insts.def"
#undef HONE_INST

/* The traits that the primitive's file gives; never NULL. */
const hone_inst_traits *hone_inst_traits_of(hone_inst_kind kind);
/* INVALID for an instruction that is not made as its traits say: "Split: <what>". */
HONE_NODISCARD hone_status hone_inst_malformed(hone_inst_kind kind, const char *what);

/* Plain data of an operand: annotations and attributes hold no variables. out_bad: NULL, or the
 * operand inside that is none. */
HONE_NODISCARD hone_status hone_operand_value(hone_arena *arena, const hone_operand *o,
                                              hone_value *out, const hone_operand **out_bad);

/* The arguments in Python's order; the list ends with HONE_ARG_END. */
const hone_arg_spec *hone_inst_args(hone_inst_kind kind);
/* The method's name: "compute_at". */
const char *hone_inst_python_name(hone_inst_kind kind);
/* The method's name in older TVM versions. */
const char *hone_inst_classic_name(hone_inst_kind kind);
/* Finds an instruction by its JSON name, new or old. */
bool hone_inst_find_json(const char *name, hone_inst_kind *out_kind);
/* Finds an instruction by its Python method, new or old. */
bool hone_inst_find_python(const char *name, hone_inst_kind *out_kind);
/* Whether one of the inputs is an index map that JSON has among the attributes: which input, and
 * which attribute. */
bool hone_inst_has_map_attr(hone_inst_kind kind, uint32_t *out_input, uint32_t *out_attr);
/* Appends a variable's name, as both texts have it: "b0", "l1", "v2". */
void hone_trace_print_rv(const hone_trace *trace, hone_rv rv, hone_str *out);
/* The names of the random variables in a map, by free variable, in the arena; NULL when memory is
 * short. */
const char *const *hone_trace_free_names(const hone_trace *trace, const hone_index_map *map,
                                         hone_arena *arena);
/* How many inputs it can have; HONE_ANY_COUNT: any number. */
enum { HONE_ANY_COUNT = 1 << 30 };
uint32_t hone_inst_max_inputs(hone_inst_kind kind);
/* How many attributes it can have. */
uint32_t hone_inst_max_attrs(hone_inst_kind kind);
/* The kind of its results. */
hone_rv_kind hone_inst_output_kind(hone_inst_kind kind);
/* Instructions of the kind give a list in Python, even of one result (get_loops, …). */
bool hone_inst_gives_list(hone_inst_kind kind);
/* Instructions of the kind have no results. */
bool hone_inst_gives_nothing(hone_inst_kind kind);
/* How long the list of results is; false where only the program knows. */
bool hone_inst_count_results(const hone_inst *inst, int64_t *out_count);
/* A decision of the kind is a list of numbers; else it is one number. */
bool hone_inst_decides_list(hone_inst_kind kind);

#endif
