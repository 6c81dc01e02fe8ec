/* schedule/trace/trace_args.h - how the arguments of each instruction are called in Python, and
 * where they stand in its inputs and attributes. One table serves printer and parser. */
#ifndef HONE_SCHEDULE_TRACE_TRACE_ARGS_H
#define HONE_SCHEDULE_TRACE_TRACE_ARGS_H

#include "schedule/trace/trace.h"

typedef enum hone_arg_place {
    HONE_ARG_END,
    HONE_ARG_INPUT,    /* inputs[index] */
    HONE_ARG_TARGET,   /* inputs[index]: a variable, or a list of them */
    HONE_ARG_REST,     /* inputs[index…] as one list */
    HONE_ARG_VARARGS,  /* all inputs, positional */
    HONE_ARG_LIST,     /* inputs[index], which is a list; left out when empty */
    HONE_ARG_INT,      /* attrs[index] */
    HONE_ARG_BOOL,     /* attrs[index]: 0 or 1 in JSON, True or False in Python */
    HONE_ARG_STRING,   /* attrs[index] */
    HONE_ARG_BUFFER,   /* attrs[index], the number of a buffer; its name is read as well */
    HONE_ARG_ACCESS,   /* attrs[index] and attrs[index + 1]: ("read" or "write", number) */
    HONE_ARG_DATA,     /* inputs[index], plain data or a variable */
    HONE_ARG_BUF_TYPE, /* inputs[index]: 0 or 1 in JSON, "read" or "write" in Python */
    HONE_ARG_VALUES,   /* attrs[index], a list of numbers */
    HONE_ARG_MAP,      /* inputs[index], an index map; a number is a map that is constant */
    HONE_ARG_DECISION, /* the decision: an integer or a list */
} hone_arg_place;

typedef struct hone_arg_spec {
    const char *name;
    hone_arg_place place;
    uint32_t index;
    bool is_required;
    int64_t fallback;          /* INT, BOOL */
    const char *text_fallback; /* STRING */
} hone_arg_spec;

enum { HONE_MAX_ARGS = 5 };

/* Plain data of an operand: annotations and attributes hold no variables. out_bad: NULL, or the
 * operand inside that is none. */
HONE_NODISCARD hone_status hone_operand_value(hone_arena *arena, const hone_operand *o,
                                              hone_value *out, const hone_operand **out_bad);

/* Ends with HONE_ARG_END. */
const hone_arg_spec *hone_inst_args(hone_inst_kind kind);
const char *hone_inst_python_name(hone_inst_kind kind);
/* Finds an instruction by its JSON name (old or new), or by its Python method (old or new). */
bool hone_inst_find_json(const char *name, hone_inst_kind *out_kind);
bool hone_inst_find_python(const char *name, hone_inst_kind *out_kind);
/* One of the inputs is an index map that JSON has among the attributes: which, and where. */
bool hone_inst_has_map_attr(hone_inst_kind kind, uint32_t *out_input, uint32_t *out_attr);
/* A variable's name in both texts: "b0", "l1", "v2". */
void hone_trace_print_rv(const hone_trace *trace, hone_rv rv, hone_str *out);
/* The names of the variables in a map; NULL when memory is short. */
const char *const *hone_trace_free_names(const hone_trace *trace, const hone_index_map *map,
                                         hone_arena *arena);
/* How many inputs and attributes it can have; HONE_ANY_COUNT for inputs without a limit. */
enum { HONE_ANY_COUNT = 1 << 30 };
uint32_t hone_inst_max_inputs(hone_inst_kind kind);
uint32_t hone_inst_max_attrs(hone_inst_kind kind);
/* The kind of its results, and whether they are a list of unknown length (get_loops, …). */
hone_rv_kind hone_inst_output_kind(hone_inst_kind kind);
bool hone_inst_gives_list(hone_inst_kind kind);
bool hone_inst_gives_nothing(hone_inst_kind kind);
/* Its decision is a list, else one number. */
bool hone_inst_decides_list(hone_inst_kind kind);

#endif
