/* codegen/nvptx/nvptx.h - kernels of NVIDIA's GPUs, between the files of this folder.
 *
 * A device function (lower/device) becomes one entry: a pointer to global memory for each buffer
 * parameter and 64 bits for each number. Threads are registers, shared memory is one variable of
 * the module per buffer, everything else that a function allocates is a thread's own. Pointers
 * carry their address space in their type, so that loads and stores are made by codegen/llvm.
 */
#ifndef HONE_CODEGEN_NVPTX_NVPTX_H
#define HONE_CODEGEN_NVPTX_NVPTX_H

#include "codegen/llvm/gen.h"

enum { PTX_GLOBAL = 1, PTX_SHARED = 3, PTX_CONSTANT = 4, PTX_LANES = 32 };

/* What is known of a buffer of the function (of that which holds its memory). */
typedef struct ptx_buffer {
    bool is_loaded, is_stored; /* a pointer to it counts as both */
    /* of fragments: m, n, k; a load turns them around; where each tile has its registers */
    int64_t fragment[3];
    bool is_fragment_loaded, is_turned;
    bool is_operand; /* of groups of warps, in shared memory: see ptx_wgmma.c */
    LLVMValueRef slots;
} ptx_buffer;

struct gen_device {
    int64_t block[3];      /* threads */
    ptx_buffer *buffers;   /* func->buffer_count */
    bool has_groups;       /* of four warps, which multiply what lies in shared memory */
    uint32_t to_multiply;  /* calls of ptx.wgmma that no code was made for yet */
    bool meets;            /* threads wait for each other in it, or change one element */
    int64_t dynamic_bytes; /* that buffers take of the shared memory of the launch's size */
    uint32_t shared_count; /* names */
};

/* ptx_facts.c */
/* Finds out what the device function does with its buffers and how many threads a block has. */
hone_status ptx_find_facts(gen *g);
/* The function has "sm_90" or newer: a number like 90; 0 for no such name. */
int ptx_capability(const hone_target *target);

/* ptx_kernel.c */
void ptx_kernel(gen *g);
void ptx_threads(gen *g, hone_node_id loop);
int64_t ptx_block_threads(const gen *g);

/* ptx_unroll.c: all steps of a loop over a thread's own memory, whose places become constants; of a
 * short one as many as there are registers for */
int64_t ptx_unrolls(gen *g, hone_node_id loop);
/* Memory of a thread: neither a parameter nor shared. */
bool ptx_is_own(const hone_func *func, hone_buffer buffer);
/* What is computed in the loop follows from its variable. */
bool ptx_varies(const gen *g, hone_node_id loop, const hone_expr *e);
/* Places in a thread's own memory do, so that nothing of the loop may be left. */
bool ptx_has_places(const gen *g, hone_node_id loop);
/* ptx_registers.c: steps of a loop of a known length whose loads can wait in registers together */
int64_t ptx_steps_at_once(const gen *g, hone_node_id loop);

/* ptx_align.c: says of loads and stores how they are aligned. */
void ptx_align(gen *g);
/* ptx_names.c: gives what all modules call by one name a name of this one. */
void ptx_rename(gen *g);
/* Bytes that a pointer is a multiple of, up to 128. */
unsigned ptx_alignment(gen *g, LLVMValueRef pointer);

/* ptx_memory.c */
void ptx_alloc(gen *g, hone_node_id node);

/* ptx_call.c */
LLVMValueRef ptx_call(gen *g, const hone_expr *e);
enum { PTX_MOST_ASM = 256 }; /* arguments of a text */
/* Text of PTX: `result` may be g->empty. */
typedef enum ptx_asm_facts {
    PTX_ASM_EFFECT = 1,     /* does more than its result */
    PTX_ASM_CONVERGENT = 2, /* lanes do it together */
} ptx_asm_facts;
LLVMValueRef ptx_asm(gen *g, LLVMTypeRef result, const char *text, const char *constraints,
                     LLVMValueRef *args, unsigned count, uint32_t facts);

/* A function that is called by its name. */
typedef struct ptx_call_row {
    const char *name;
    LLVMValueRef (*emit)(gen *g, const hone_expr *e);
} ptx_call_row;
/* By the row of that name; NULL when there is none. */
LLVMValueRef ptx_call_in(const ptx_call_row *rows, size_t count, gen *g, const hone_expr *e,
                         const char *name);

/* ptx_warp.c: the value of another lane, votes. Like those below: NULL when the call is another. */
LLVMValueRef ptx_warp_call(gen *g, const hone_expr *e, const char *name);

/* ptx_atomic.c */
LLVMValueRef ptx_atomic_call(gen *g, const hone_expr *e, const char *name);

/* ptx_mma.c: mma, ldmatrix */
LLVMValueRef ptx_mma_call(gen *g, const hone_expr *e, const char *name);

/* Registers with floats that are factors: the units look at 11 of their 24 bits, so they are
 * rounded to those before. */
void ptx_round_factors(gen *g, LLVMValueRef *words, unsigned count);

/* ptx_wmma.c: fragments */
LLVMValueRef ptx_wmma_call(gen *g, const hone_expr *e);
/* Remembers shapes that a call says. */
hone_status ptx_note_fragment(gen *g, const hone_expr *e);
/* False: the buffer is no fragment. */
bool ptx_alloc_fragment(gen *g, hone_buffer buffer, int64_t elements);

/* ptx_wgmma.c: products of four warps (sm_90a) */
LLVMValueRef ptx_wgmma_call(gen *g, const hone_expr *e, const char *name);
/* ptx_wgmma_lanes.c: the same, with sums in the threads' own memory */
LLVMValueRef ptx_wgmma_lanes_call(gen *g, const hone_expr *e, const char *name);
/* Eight bytes that say how an operand lies; NULL: it does not lie in shared memory. */
struct groups_operand;
LLVMValueRef ptx_describe_operand(gen *g, const hone_expr *pointer, const struct groups_operand *o);
/* Code for one more of the calls that ptx_note_operands has counted is being made. */
void ptx_begin_product(gen *g);
/* Remembers what is multiplied. UNSUPPORTED: as groups_find_operands says. */
hone_status ptx_note_operands(gen *g);
bool ptx_is_operand(const gen *g, hone_buffer buffer);
/* Products come behind the statement that code is being made for, in the text or by a loop around.
 */
bool ptx_multiplies_later(const gen *g);
/* Where those bytes of an operand lie; any other buffer's pointer itself. */
LLVMValueRef ptx_turn(gen *g, hone_buffer buffer, LLVMValueRef pointer, int64_t bytes);
/* Its registers: so many elements of all threads of a group. */
LLVMValueRef ptx_alloc_sums(gen *g, hone_buffer buffer, int64_t elements);
/* tvm_fill_fragment and tvm_store_matrix_sync of such a buffer; NULL: there is no code for it. */
LLVMValueRef ptx_fill_sums(gen *g, const hone_expr *e);
LLVMValueRef ptx_store_sums(gen *g, const hone_expr *e);

/* ptx_barrier.c: barriers in shared memory, and the copies that complete on them */
LLVMValueRef ptx_barrier_call(gen *g, const hone_expr *e, const char *name);
/* T.ptx.cp(…, "async", "bulk", …); NULL: another, or an older card. */
LLVMValueRef ptx_copy_bulk(gen *g, const hone_expr *e);

/* ptx_async.c: copies to shared memory */
LLVMValueRef ptx_async_call(gen *g, const hone_expr *e, const char *name);
/* buffer[index] = what lies side by side in global memory, or that where a condition holds and
 * zeros elsewhere, as one such copy. False: it is something else, or the pieces do not begin at
 * multiples of their size. */
bool ptx_copies(gen *g, hone_buffer to, const hone_expr *index, const hone_expr *value);

/* ptx_narrow.c: bfloat16 from sm_80 on */
LLVMValueRef ptx_narrow(gen *g, hone_dtype dtype, LLVMValueRef value);

/* ptx_libm.c */
LLVMValueRef ptx_libm(gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                      unsigned count);
/* A call of one of libm's functions; NULL when there is no code for it. */
LLVMValueRef ptx_libm_call(gen *g, const hone_expr *e, const char *name);

#endif
