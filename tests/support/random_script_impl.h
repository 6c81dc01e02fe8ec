/* tests/support/random_script_impl.h - what the files of the text generator share. */
#ifndef HONE_TESTS_SUPPORT_RANDOM_SCRIPT_IMPL_H
#define HONE_TESTS_SUPPORT_RANDOM_SCRIPT_IMPL_H

#include "support/core/attributes.h"
#include "support/core/strbuf.h"
#include "support/data/rng.h"

enum {
    SCRIPT_DIMS = 3,
    SCRIPT_AXES = 4,
    SCRIPT_TENSORS = 24,
    SCRIPT_TEXT = 400,
    SCRIPT_VALUE = 4 * SCRIPT_TEXT
};

/* A size: n + more where it is symbolic, else more. */
typedef struct script_dim {
    bool is_symbolic;
    int more;
} script_dim;

typedef struct script_tensor {
    char name[8];
    const char *dtype;
    int rank;
    script_dim dims[SCRIPT_DIMS];
    bool is_parameter;
    bool is_exact;   /* the same whatever the order of sums: may be compared and rounded */
    bool is_used;    /* read by a later stage */
    bool is_strided; /* strides and offset of the argument are found when it is called */
    bool is_made;    /* not what the present stage makes */
} script_tensor;

typedef struct script {
    hone_rng rng;
    hone_str body;
    int depth;
    bool has_sizes; /* some things are known at run time only */
    script_tensor tensors[SCRIPT_TENSORS];
    int tensor_count, input_count, stage_count, name_count;
} script;

/* The axes of a block; text of axis a: v0, v1, …. */
typedef struct script_nest {
    int rank;
    script_dim dims[SCRIPT_AXES];
    char kinds[SCRIPT_AXES]; /* S patial, R educe, O paque, C (scan) */
} script_nest;

int script_dice(script *w, int sides);
HONE_PRINTF(2, 3) void script_line(script *w, const char *fmt, ...);
/* out: room for 24. */
void script_dim_text(script_dim dim, char *out);

script_nest script_nest_over(const script_tensor *t);
/* A tensor like t that the present stage makes. */
script_tensor *script_keep_text(script *w, script_tensor t);
/* Loops and a block over the axes; leaves w->depth inside the block. */
void script_open_block(script *w, const char *name, const script_nest *nest);
/* "Y[v0, v1]"; out: room for 64. */
void script_target(const script_tensor *t, char *out);
/* A stage of a form that is seldom seen. */
void script_rare_stage(script *w);

/* ---- values ---- */
bool script_is_float(const char *dtype);
bool script_is_bool(const char *dtype);
void script_constant(const char *dtype, const char *number, char *out);
/* An input of a type; the same dimensions as like, or some of them 1. */
script_tensor *script_new_input(script *w, const char *dtype, int rank, const script_dim *dims);
/* What was made last, or sometimes earlier. */
script_tensor *script_pick(script *w);
/* source[…] at a place that follows from the axes; plain: at the axes themselves as far as sizes
 * agree. out: room for SCRIPT_TEXT. */
void script_element(script *w, const script_nest *nest, script_tensor *source, bool is_plain,
                    char *out);
/* An expression of the type over elements of x and of others; *io_exact is cleared where sums in
 * another order, or other ways of rounding, may give another value. */
void script_value(script *w, const script_nest *nest, script_tensor *x, const char *dtype,
                  bool *io_exact, char *out);
/* A condition over the axes or exact data. */
void script_condition(script *w, const script_nest *nest, script_tensor *x, char *out);

#endif
