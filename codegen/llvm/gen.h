/* codegen/llvm/gen.h - the state of one code generation, shared by the files of codegen/llvm/.
 *
 * Values: a lane of bool is i1, an integer iN, float and double themselves; float16, bfloat16 and
 * float8 are computed as float and rounded when they are stored or cast. Loop variables and sizes
 * are kept as i64, so that index arithmetic needs no conversions; `gen_value` narrows them.
 *
 * An error is recorded once in gen.error; emitters then return undef values, so that callers need
 * not check, and the result is thrown away.
 */
#ifndef HONE_CODEGEN_LLVM_GEN_H
#define HONE_CODEGEN_LLVM_GEN_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>

#include "codegen/codegen.h"
#include "codegen/facts.h"
#include "ir/arith/arith.h"
#include "ir/core/func.h"
#include "lower/signature/signature.h"
#include "target/target.h"

/* What a variable stands for in the function being emitted. */
typedef struct gen_var {
    LLVMValueRef value; /* NULL = not in scope */
    bool is_index;      /* an i64, whatever the variable's dtype */
} gen_var;

/* The function being emitted: the kernel's body, or the body of a parallel loop. */
typedef struct gen_frame {
    LLVMValueRef function;
    LLVMValueRef rt;          /* ptr */
    LLVMBasicBlockRef entry;  /* allocas go here */
    LLVMBasicBlockRef leave;  /* frees scratch memory and returns code */
    LLVMValueRef code;        /* alloca i32: what is returned */
    LLVMValueRef fault;       /* alloca i32: a bit of each codegen_fault that has happened */
    bool may_fault;           /* it is looked at in the end */
    LLVMValueRef scratch[64]; /* workspace memory to free, in order of allocation */
    uint32_t scratch_count;
    int64_t stack_bytes;   /* in allocas so far */
    bool has_streams;      /* stores past the caches, to be fenced */
    bool is_parallel;      /* inside a parallel loop: further ones are serial */
    LLVMMetadataRef scope; /* what places in the text belong to; NULL = no line table */
} gen_frame;

typedef struct gen_loop {
    LLVMBasicBlockRef latch, after;
    hone_node_id node; /* HONE_NO_ID = there is none */
} gen_loop;

/* A condition that holds where code is made now, and those around it. */
typedef struct gen_truth {
    const hone_expr *condition;
    const struct gen_truth *outer;
} gen_truth;

typedef struct gen gen;
typedef struct gen_device gen_device; /* what a GPU's folder remembers of a function */

/* What kinds of processors do each in a way of its own: cpu.c, and the folder of a GPU. */
typedef struct gen_processor {
    hone_status (*machine)(const hone_target *target, LLVMTargetMachineRef *out);
    /* The passes over functions that a schedule shaped, or over others. */
    const char *(*passes)(bool is_scheduled);
    /* Says in the attributes of a function with a body for whom it is. */
    void (*attributes)(gen *g, LLVMValueRef function);
    /* Behind the passes; NULL = nothing. */
    void (*finish)(gen *g);
    /* g->func as the module's function g->symbol. */
    void (*kernel)(gen *g);
    /* A loop bound to threads. */
    void (*threads)(gen *g, hone_node_id loop);
    void (*alloc)(gen *g, hone_node_id node);
    /* How many steps of a loop become one (its length: nothing is left of it); NULL = LLVM's passes
     * know. */
    int64_t (*unrolls)(gen *g, hone_node_id loop);
    /* Ends the block: the kernel fails. */
    void (*abandon)(gen *g, int32_t code, const char *message);
    /* A call, or NULL when it is made as everywhere; NULL = there are no others. */
    LLVMValueRef (*call)(gen *g, const hone_expr *e);
    /* Copies to a place while others compute; false: the store is made as everywhere. NULL = there
     * are no such copies. */
    bool (*copies)(gen *g, hone_buffer to, const hone_expr *index, const hone_expr *value);
    /* Where so many bytes of a buffer lie that would lie at `pointer`; NULL = there. */
    LLVMValueRef (*turn)(gen *g, hone_buffer buffer, LLVMValueRef pointer, int64_t bytes);
    /* A function of libm (double's name), for scalars of `type`; NULL when there is none. */
    LLVMValueRef (*libm)(gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                         unsigned count);
    /* float32 as a small float is stored, by instructions; NULL when there is none for that type.
     * NULL = there are none. */
    LLVMValueRef (*narrow)(gen *g, hone_dtype dtype, LLVMValueRef value);
    bool waits; /* for an operation before the next that needs it: nobody else goes on meanwhile */
    bool has_ex2; /* an instruction raises 2 to a float32 */
} gen_processor;

struct gen {
    const gen_processor *processor;
    gen_device *device;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTypeRef i1, i8, i16, i32, i64, f16, f32, f64, ptr, empty;
    const hone_target *target;
    const hone_func *func;
    const char *symbol;
    hone_arena *arena;        /* scratch of this generation */
    hone_ir ir;               /* makes expressions in it */
    hone_arith arith;         /* what is known of the variables that are in scope */
    gen_var *vars;            /* func->var_count */
    LLVMValueRef *buffers;    /* func->buffer_count: base pointers, NULL = not in scope */
    const bool *is_only_read; /* of a CPU's kernel, per buffer: a parameter that it never writes */
    gen_frame *frame;
    gen_loop loop;                   /* innermost loop, for break and continue */
    bool is_relaxed;                 /* HONE_LOWER_RELAXED */
    bool is_streaming;               /* stores go past the caches */
    bool is_behind;                  /* stores may be copies that go on until they are waited for */
    LLVMValueRef mask;               /* lanes that may be touched, NULL = all */
    LLVMValueRef some;               /* a mask of which some lane is on where code is made now */
    const gen_truth *truths;         /* NULL = nothing was asked */
    const hone_expr *whole;          /* what the statement computes, NULL = nothing */
    uint32_t parallel_count;         /* names of outlined bodies */
    const hone_codegen_lines *lines; /* of the kernel; NULL = no line table */
    LLVMDIBuilderRef debug;
    LLVMMetadataRef file;
    hone_status error;
};

/* Records the first error (takes st). */
void gen_fail(gen *g, hone_status st);

/* types.c */
LLVMTypeRef gen_type(gen *g, hone_dtype dtype);         /* as a value */
LLVMTypeRef gen_storage_type(gen *g, hone_dtype dtype); /* as it lies in memory */
LLVMTypeRef gen_vector(LLVMTypeRef element, unsigned lanes);
LLVMValueRef gen_i64(gen *g, int64_t value);
LLVMValueRef gen_i32(gen *g, int32_t value);
LLVMValueRef gen_splat(gen *g, LLVMValueRef scalar, unsigned lanes);
LLVMValueRef gen_any_lane(gen *g, LLVMValueRef mask); /* i1 */
/* Value to storage form and back, lanes and all. */
LLVMValueRef gen_to_storage(gen *g, hone_dtype dtype, LLVMValueRef value);
LLVMValueRef gen_from_storage(gen *g, hone_dtype dtype, LLVMValueRef stored);
LLVMValueRef gen_cast(gen *g, hone_dtype from, hone_dtype to, LLVMValueRef value);
/* gen_cast in storage form: a small float is not widened in order to be narrowed. */
LLVMValueRef gen_cast_stored(gen *g, hone_dtype from, hone_dtype to, LLVMValueRef value);
/* A float that stands for a small float type as what that type can hold. */
LLVMValueRef gen_round_small(gen *g, hone_dtype dtype, LLVMValueRef value);

/* saturate.c: a float (not a small one) to an integer */
LLVMValueRef gen_saturate(gen *g, hone_dtype to, LLVMValueRef value);

/* expr.c */
LLVMValueRef gen_value(gen *g, const hone_expr *e);
/* What it does: nobody wants its value, which need not be of its type (instructions of GPUs). */
void gen_effect(gen *g, const hone_expr *e);
LLVMValueRef gen_stored_value(gen *g, const hone_expr *e); /* a small float in storage form */
LLVMValueRef gen_condition(gen *g, const hone_expr *e);    /* i1 */
/* hone_expr_extreme of floats; which zero stays of two with different signs is open. */
LLVMValueRef gen_extreme(gen *g, hone_op op, LLVMValueRef x, LLVMValueRef y);
/* Whether all lanes of a load, or a store, at the index lie in the buffer, by the ranges of loops.
 */
bool gen_is_inside(gen *g, hone_buffer buffer, const hone_expr *index);
/* An integer to divide by: 1 instead where no lane of the mask needs the result, which may be 0. */
LLVMValueRef gen_divisor(gen *g, LLVMValueRef b);
/* Whether a lane of a constant is, or may be, this. */
bool gen_has_lane(LLVMValueRef constant, int64_t value);
bool gen_has_zero(LLVMValueRef constant);

/* fault.c */
/* A divisor (b is its value) that is not 0: where it is and a lane of the mask needs the result,
 * the kernel fails in the end. */
LLVMValueRef gen_checked_divisor(gen *g, const hone_expr *divisor, LLVMValueRef b);
/* Rounded to 0; the least number by -1 is itself. out_rest may be NULL. b is not 0. */
LLVMValueRef gen_signed_quotient(gen *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *out_rest);
/* checked_index: a scalar as i64, a vector as what it is. */
LLVMValueRef gen_checked_index(gen *g, const hone_expr *e);
/* Where a function ends: sets the error and the code of what has happened. */
void gen_report_faults(gen *g);

/* carried.c */
/* Whether e adds a product to what the loop's iterations hand on, and that is all they do. */
bool gen_is_lone_sum(const gen *g, const hone_expr *e);
/* Says of a choice that it seldom changes what they hand on, where that is so. */
void gen_mark_rare(gen *g, const hone_expr *e, LLVMValueRef select);

/* index.c: integer expressions as mathematical integers in i64 */
LLVMValueRef gen_index(gen *g, const hone_expr *e);

/* bounded.c: lanes of a row of numbers that are below a bound, or not; NULL where e compares
 * something else. */
LLVMValueRef gen_bounded_lanes(gen *g, const hone_expr *e);
/* Whether a mask is known to have its first lane on: the tail of a row that has some elements. */
bool gen_first_lane_is_on(gen *g, const hone_expr *e);

/* access.c */
LLVMValueRef gen_load(gen *g, const hone_expr *e);
LLVMValueRef gen_load_stored(gen *g, const hone_expr *e); /* in storage form */
void gen_store(gen *g, hone_buffer buffer, const hone_expr *index, const hone_expr *value);
LLVMValueRef gen_address(gen *g, hone_buffer buffer, LLVMValueRef index); /* index: i64 */
LLVMValueRef gen_buffer(gen *g, hone_buffer buffer);

/* math.c */
LLVMValueRef gen_call(gen *g, const hone_expr *e);
LLVMValueRef gen_intrinsic(gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                           unsigned count);
/* gen_intrinsic with any number of types in its name. */
LLVMValueRef gen_intrinsic_of(gen *g, const char *name, LLVMTypeRef *types, unsigned type_count,
                              LLVMValueRef *args, unsigned count);
/* A call with `contract` set where it is a float operation. */
LLVMValueRef gen_contract(LLVMValueRef value);
/* The processor's libm once per lane; the name is that of the function of double. */
LLVMValueRef gen_libm(gen *g, const char *name, hone_dtype dtype, LLVMValueRef *args,
                      unsigned count);
/* vecmath.c: polynomial kernels on float vectors and scalars; NULL when there is none. */
LLVMValueRef gen_vector_math(gen *g, hone_intrin intrin, LLVMValueRef *args, unsigned lanes);

/* dot.c: dot4 and dot2 */
LLVMValueRef gen_dot(gen *g, const hone_expr *e);

/* imports.c: links what the programs bring along; the module is empty before. */
hone_status gen_imports(gen *g, const hone_codegen_kernel *kernels, size_t count);

/* external.c */
LLVMValueRef gen_extern_call(gen *g, const hone_expr *e);

/* stmt.c */
void gen_children(gen *g, hone_node_id parent);
void gen_serial_loop(gen *g, hone_node_id loop);
/* Ends the block with a branch, unless it has ended. */
void gen_branch(gen *g, LLVMBasicBlockRef to);
/* The body of a loop for its variable from min to end - 1, both i64. */
void gen_counted_loop(gen *g, hone_node_id loop, LLVMValueRef min, LLVMValueRef end);
/* Ends the block with a branch to `leave`, the code stored, when failed (i1) holds. */
void gen_leave_if(gen *g, LLVMValueRef failed, LLVMValueRef code);
LLVMBasicBlockRef gen_block(gen *g, const char *name);
/* An alloca in the entry block, 64-byte aligned. */
LLVMValueRef gen_alloca(gen *g, LLVMTypeRef type, uint64_t count, const char *name);

/* cpu.c */
extern const gen_processor gen_cpu;
void gen_set_error(gen *g, int32_t code, const char *message);
LLVMValueRef gen_rt_member(gen *g, unsigned index); /* a function pointer of the hone_rt table */

/* memory.c */
/* Allocates what the function needs, where it begins; frees it where it ends. */
void gen_reserve(gen *g, hone_node_id root);
void gen_release_all(gen *g);
void gen_alloc(gen *g, hone_node_id node);

/* lines.c: debug information, where it is wanted; else they do nothing. */
void gen_lines_begin(gen *g, const hone_codegen_lines *lines); /* of a kernel */
void gen_lines_end(gen *g);
/* The function stands at this node's line, and so does what is emitted next: returns its scope. */
LLVMMetadataRef gen_lines_function(gen *g, LLVMValueRef function, hone_node_id node);
/* What is emitted next stands at the node's line. */
void gen_lines_at(gen *g, hone_node_id node);

/* parallel.c */
void gen_parallel(gen *g, hone_node_id loop);
/* Begins the frame of a function for what is below the node. */
void gen_frame_begin(gen *g, gen_frame *frame, LLVMValueRef function, hone_node_id node);
/* Closes the current block and stands in `leave`. */
void gen_frame_leave(gen *g);
/* gen_frame_leave, and what a CPU's function does there. */
void gen_frame_end(gen *g);
/* What holds of a pointer to a buffer: where it begins, and that nothing else leads there. */
void gen_noalias(gen *g, LLVMValueRef function, unsigned parameter, hone_buffer buffer);
/* An attribute of a parameter, numbers from 0. */
void gen_parameter(gen *g, LLVMValueRef function, unsigned parameter, const char *name,
                   uint64_t value);

/* kernel.c */
void gen_kernel(gen *g);
/* once.c: behind the kernels that it is made of. */
HONE_NODISCARD hone_status gen_once(gen *g, const hone_codegen_once *what);
/* What holds wherever a kernel begins: nothing is in scope, sizes are at least 1. */
bool gen_kernel_begin(gen *g);
/* How much of a buffer there is, as an attribute of its parameter. */
void gen_dereferenceable(gen *g, LLVMValueRef function, unsigned parameter,
                         const hone_buffer_info *buffer);
/* The value of a size as its dtype wants it; integers stay i64. */
gen_var gen_size_value(gen *g, hone_var var, LLVMValueRef bits);

/* partial.c: behind LLVM's passes, odd vectors become whole ones, their accesses masked. */
void gen_widen_partial(gen *g);

/* emit.c */
hone_status gen_optimise(gen *g, LLVMTargetMachineRef machine, bool is_scheduled);
hone_status gen_emit(gen *g, LLVMTargetMachineRef machine, int emit, hone_str *out);
hone_status gen_machine(const char *triple, const char *cpu, const char *features,
                        LLVMTargetMachineRef *out_machine);

/* codegen_llvm.c */
hone_status gen_run(const gen_processor *processor, const hone_codegen_kernel *kernels,
                    size_t count, const hone_codegen_options *options, hone_str *out);
void gen_text_attribute(gen *g, LLVMValueRef function, const char *key, const char *value);

#endif
