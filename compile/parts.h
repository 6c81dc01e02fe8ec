/* compile/parts.h - shared by the files of compile/ only: what is being compiled, in memory. */
#ifndef HONE_COMPILE_PARTS_H
#define HONE_COMPILE_PARTS_H

#include "compile/compile.h"
#include "graph/plan/plan.h"
#include "lower/signature/split_constants.h"
#include "runtime/model/model_table.h"
#include "runtime/model/weights_sum.h"
#include "support/core/strbuf.h"
#include "support/data/map.h"
#include "support/data/vec.h"
#include "support/os/fs.h"

/* A kernel on its way from program to object. */
typedef struct part_kernel {
    hone_compile_kernel facts;
    const hone_func *func; /* of a prepared module */
    uint64_t constants;    /* bit i: buffer parameter i is a weight wherever it is called */
    const char *symbol;
    const char *title;   /* what its function is called where kernels stand as one text */
    const char *program; /* text, for the builder */
    const char *trace;   /* JSON, or NULL */
    hone_hash128 made;   /* RECORD: what the trace made of it; the build must make the same */
    const hone_constant_split *split; /* of the program that the trace makes; NULL = none */
    const char *rest;                 /* the text of split->rest, which is built instead */
    const char *object;               /* bytes, in the arena */
    size_t object_bytes;
    bool on_host;           /* in a library for a GPU: the CPU runs it */
    const char *device_why; /* on_host: why the GPU does not */
    hone_manifest launches; /* of a GPU's kernel; none where it has nothing to do */
    int32_t code_number;    /* its number among the GPU's programs, where it is one */
    const char *code_path;  /* of what is embedded then */
} part_kernel;

typedef struct part_tensor {
    hone_mt_tensor row; /* shape is filled in when written */
    const int32_t *shape;
    const hone_tensor *weight; /* row.place is WEIGHT; its offset is set by parts_lay_weights. NULL:
                                * none, or one that was made of weights and has its place */
} part_tensor;

typedef struct part_step {
    hone_mt_step_kind kind;
    const char *name;
    uint32_t kernel; /* KERNEL: index */
    uint32_t arg_count, size_count;
    int32_t detail;
    const int32_t *args, *sizes;
    uint32_t launch_count, scratch_count; /* LAUNCH */
    const hone_mt_launch *launches;
    const int32_t *scratch;
} part_step;

typedef struct part_plan {
    HONE_VEC(hone_mt_guard) guards;
    HONE_VEC(hone_mt_value) values;
    HONE_VEC(part_tensor) tensors;
    HONE_VEC(hone_mt_check) checks; /* texts: in the arena */
    HONE_VEC(part_step) steps;
    uint32_t port_count;
    hone_mt_port *ports; /* shape: in the arena */
    uint32_t phase_count;
    const int32_t *workspaces; /* by phase */
    int64_t workspace_bytes;   /* -1 = symbolic */
} part_plan;

typedef struct part_port {
    const char *name;
    hone_dtype dtype;
    uint32_t rank;
    int64_t shape[HONE_MAX_RANK]; /* -1 = any */
    const char *dim_names[HONE_MAX_RANK];
    bool is_updated;
    int32_t sized; /* HONE_MODEL_AT_MOST, ... */
} part_port;

typedef struct part_entry {
    const char *name;   /* in the model */
    const char *suffix; /* of its C function: "run", or the name */
    uint32_t input_count, output_count;
    part_port *inputs, *outputs;
    HONE_VEC(part_plan) plans;
} part_entry;

/* Weights on their way to a file. */
typedef struct weights_file {
    bool is_wanted, is_open; /* open: from the first weight on */
    hone_fs_draft draft;
    hone_mt_sum sum; /* of what is in it behind the head */
} weights_file;

/* The whole. */
typedef struct parts {
    const hone_compile_options *options;
    hone_arena *arena;  /* the result's */
    const char *prefix; /* of C names */
    const char *target_text;
    hone_target host;      /* whose CPU the library is for: the target, or that beside a GPU */
    const char *host_text; /* its text */
    const char *lines_dir; /* absolute; NULL = no line tables */
    hone_tensor_intrins *intrins; /* owned; NULL: the built-in ones only */
    hone_record_chooser *chooser; /* owned */
    hone_left_out left_out;       /* functions that cannot be compiled */
    HONE_VEC(part_kernel) kernels;
    hone_map128 kernel_of; /* hash of program and constants → index */
    hone_strmap titles;    /* of kernels */
    HONE_VEC(part_entry) entries;
    weights_file weights_file;
    hone_map128 weight_of; /* hash of content → offset */
    int64_t weights_bytes;
    hone_hash128 weights_hash;
    HONE_VEC(hone_module *) modules; /* retained */
    HONE_VEC(hone_plan *) plans;     /* owned */
} parts;

hone_status parts_no_memory(void);

/* parts.c: prepared modules and plans to kernels, entries and weights. */
HONE_NODISCARD hone_status parts_collect(parts *p, const hone_module *module);
void parts_deinit(parts *p);
HONE_NODISCARD hone_status parts_add_kernel(parts *p, const hone_func *func, uint64_t constants,
                                            uint32_t *out_index);
/* Which of a step's arguments are weights, as a set: bit i is argument i. */
uint64_t parts_constants_of(const part_plan *plan, const int32_t *args, uint32_t count);
/* A C identifier from any text. */
const char *parts_identifier(hone_arena *arena, const char *text);

/* part_values.c: numbers of a call. Index of the value, or -1 when memory is short or the
 * expression is of a kind that models cannot compute. map: variable → value, -1 = unknown. */
int32_t part_value_const(part_plan *plan, int64_t k);
int32_t part_value_make(part_plan *plan, hone_mt_op op, int32_t a, int32_t b);
/* The value that is an element of a tensor, `bytes` wide, from `phase` on. */
int32_t part_value_element(part_plan *plan, uint32_t phase, uint32_t tensor, uint32_t element,
                           uint32_t bytes);
int32_t part_value_expr(part_plan *plan, const hone_expr *e, const int32_t *map);
/* Adds a check of two values, unless both are the same value. False when memory is short. */
bool part_check_add(part_plan *plan, hone_mt_check check);

/* part_ports.c: how a dimension is called that is no number: a size, or an expression of sizes;
 * NULL for a number. In the arena. */
HONE_NODISCARD hone_status parts_name_dim(parts *p, const hone_func *vars, const hone_expr *e,
                                          const char **out_name);

/* Merges what one plan says of the entry's inputs and outputs (arrays in the arena) into the entry.
 * A dimension that is not the same number in all plans becomes open (-1). */
HONE_NODISCARD hone_status parts_put_ports(part_entry *entry, part_port *inputs,
                                           uint32_t input_count, part_port *outputs,
                                           uint32_t output_count);

/* Adds guards by which a call takes this plan only if the dimensions of these inputs that are
 * numbers are those numbers. To be called before parts_put_ports, which opens dimensions. */
HONE_NODISCARD hone_status parts_guard(part_plan *plan, const part_port *ports, uint32_t count);

/* part_func.c: a plan of an entry that is one PrimFunc. general: its form for all sizes; another
 * one than func where that is for its sizes alone.
 * takes_weights: parameters that have a value among options->weight_values are weights. */
HONE_NODISCARD hone_status parts_add_func(parts *p, const hone_func *func, const hone_func *general,
                                          bool takes_weights, part_entry *entry);
/* part_graph.c: adds to the entry the plan of a graph function that was prepared for a choice of
 * sizes; variant NULL: the general plan, without guards. */
HONE_NODISCARD hone_status parts_add_graph(parts *p, hone_module *module, const char *name,
                                           const hone_dim_variant *variant, part_entry *entry);

/* part_launches.c: steps whose kernels were built for a GPU become launches. */
HONE_NODISCARD hone_status parts_make_launches(parts *p);
/* The target is a GPU: the library embeds programs for one. */
bool parts_is_for_gpu(const parts *p);
/* Bytes at whose multiples tensors lie. */
int64_t parts_alignment(const parts *p);
/* Threads that the library's own pool has at most. */
int32_t parts_threads(const parts *p);

/* Does the GPU run the kernel, which the library is for? */
bool parts_is_launched(const parts *p, const part_kernel *k);

/* ---- join_texts.c ---- */

/* Appends the texts of all kernels, for who reads them, or compiles them as one. */
void parts_join_texts(const parts *p, hone_str *out);

/* line_texts.c: makes the directory of the texts that line tables name; nothing when there are
 * none. */
HONE_NODISCARD hone_status parts_open_lines(parts *p);
/* The text of a kernel; NULL when there are no line tables, or memory is short. */
const char *parts_lines_path(const parts *p, const part_kernel *k);

/* kernels.c: chooses each kernel's record or default schedule; then builds what was chosen. */
HONE_NODISCARD hone_status parts_choose_kernels(parts *p);
HONE_NODISCARD hone_status parts_build_kernels(parts *p);

/* weights.c: the part of a kernel that depends on weights alone is computed here, once. */
/* Finds that part under the kernel's present trace; no split when there is none. */
HONE_NODISCARD hone_status parts_split_kernel(parts *p, part_kernel *k);
/* Computes what was split off, of which steps take the results, and gives each weight that a step
 * uses its place, equal ones the same. Before kernels become launches. */
HONE_NODISCARD hone_status parts_lay_weights(parts *p);

/* weights_file.c: a file of weights, written as they are made, once that was begun; else they are
 * counted only. */
void parts_begin_weights(parts *p);
void parts_close_weights(parts *p); /* without keeping it; nothing where none is open */
/* Where the weight lies among the weights: at the end, or where an equal one does. */
HONE_NODISCARD hone_status parts_put_weight(parts *p, const hone_tensor *tensor,
                                            int64_t *out_offset);
/* After the last weight: the checksum of all. */
void parts_sum_weights(parts *p);
/* Then one of: the file as OUT.weights; its weights, without the head, in another file. */
HONE_NODISCARD hone_status parts_keep_weights(parts *p);
HONE_NODISCARD hone_status parts_copy_weights(parts *p, const char *path);

/* table_asm.c: tables and entry points as assembly. weights_path: the file to embed, or NULL. */
HONE_NODISCARD hone_status parts_print_asm(const parts *p, const char *weights_path,
                                           const char *weights_name, hone_str *out);
/* header.c */
HONE_NODISCARD hone_status parts_print_header(const parts *p, hone_str *out);
/* CPU features that kernels for this target may use, "avx2,fma". */
void parts_print_features(const hone_target *target, hone_str *out);

/* assemble.c: "-o out/model" makes out/. */
HONE_NODISCARD hone_status parts_make_output_dir(const parts *p);
/* assemble.c: what is in an open file from where it stands, as a file of its own. */
HONE_NODISCARD hone_status parts_copy_file(int fd, const char *path, int64_t *out_count);
/* assemble.c: objects, tables, runtime and weights to the files that were asked for. */
HONE_NODISCARD hone_status parts_write(parts *p, hone_compile_result *result);

/* One file of runtime/model/, carried in the program. */
typedef struct embedded_file {
    const char *name;
    const unsigned char *bytes;
    size_t count;
} embedded_file;
extern const embedded_file hone_embedded_files[]; /* ends with name NULL; [0]: the host's object */

#endif
