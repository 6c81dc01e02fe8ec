/* ir/core/func.h - a tensor program: a PrimFunc with buffers, loops and blocks.
 *
 *   hone_func
 *     vars[]     names and dtypes of variables         (a variable is an index into it)
 *     buffers[]  shapes, scopes and dtypes of buffers  (a buffer is an index into it)
 *     nodes[]    the statement tree                    (a node is an index into it)
 *
 * The tree is flat: nodes are linked by ids (parent, first, last, prev, next), a container's
 * children are a sequence of statements, so there is no sequence node. nodes[0] is the top
 * (HONE_NODE_TOP). In a program that can be scheduled its only child is the root block. Edits
 * relink nodes and never move them: an id stays valid as long as its function, also after the node
 * was taken out of the tree (its parent is then HONE_NO_ID).
 *
 * What hangs on a node (expressions, hone_block, annotations) is immutable and lives in an arena,
 * so a clone copies three arrays and shares the rest: that is what makes replaying a trace cheap.
 *
 *   FOR    children = body
 *   BLOCK  children = [INIT] body...
 *   INIT   children = body; only as the first child of a BLOCK
 *   IF     children = then... [ELSE]
 *   ELSE   children = body; only as the last child of an IF
 *   WHILE, LET, ATTR, ALLOC, DECL   children = body
 *   STORE, EVAL, ASSERT, BREAK, CONTINUE   leaves
 *
 * Lifetime: a function lives in the arena it was made in, which its owner frees (hone_module, a
 * schedule). Threads: thread-compatible; a frozen function may be read by many threads.
 */
#ifndef HONE_IR_CORE_FUNC_H
#define HONE_IR_CORE_FUNC_H

#include "ir/core/expr.h"

/* A statement of the tree: index into hone_func.nodes, or HONE_NO_ID. */
typedef uint32_t hone_node_id;

typedef struct hone_var_info {
    const char *name; /* a hint; printing makes names unique */
    hone_dtype dtype;
    bool is_size;            /* a symbolic size: known to be >= 1 */
    bool is_index;           /* made by lowering of index arithmetic: computed in 64 bits */
    hone_dtype pointee;      /* of a handle: what it points to, void = unknown; kept for the text */
    const char *point_scope; /* of a handle: the scope of that storage, or NULL */
} hone_var_info;

/* All integers from min on, extent of them. */
typedef struct hone_range {
    const hone_expr *min, *extent;
} hone_range;

/* How the text spells a buffer of the tree; its meaning is the same. */
typedef enum hone_buffer_form {
    HONE_BUFFER_PLAIN,     /* T.alloc_buffer, T.decl_buffer */
    HONE_BUFFER_SCALAR,    /* x: T.int32: one local element, read and assigned by its name */
    HONE_BUFFER_VIEW,      /* A.view(4, 4) */
    HONE_BUFFER_STATEMENT, /* of a block, but T.alloc_buffer among the statements of its body */
} hone_buffer_form;

/* A buffer. Strides NULL means row-major and dense. elem_offset NULL means 0. */
typedef struct hone_buffer_info {
    const char *name;
    hone_dtype dtype;
    uint32_t rank;
    const hone_expr *const *shape;   /* rank expressions */
    const hone_expr *const *strides; /* NULL or rank expressions, in elements */
    const hone_expr *elem_offset;    /* NULL or in elements */
    const char *scope;               /* "global", "shared", "local", "global.A_reg", ... */
    hone_var data;                   /* the handle variable, HONE_NO_ID when nothing names it */
    hone_buffer alias_of;  /* T.decl_buffer/T.Buffer(data=): shares that storage, else HONE_NO_ID */
    int32_t align;         /* bytes, 0 = default (64) */
    int32_t offset_factor; /* 0 = none */
    uint32_t separator_count; /* axis separators */
    const int32_t *separators;
    hone_buffer_form form;
    /* HONE_BUFFER_STATEMENT: what it was written in front of, while that is a statement of the
     * block's body; 0 = of all. */
    hone_node_id stands_before;
    hone_attrs annotations;  /* of its allocation */
    bool has_no_layout;      /* layout=None: flat, where TVM would give it one; says nothing here */
    hone_var matched_handle; /* the parameter of T.match_buffer(a, ...), else HONE_NO_ID */
    uint32_t line, column;   /* where the text declares it, 0 = unknown; no part of the program */
} hone_buffer_info;

/* A box of a buffer. */
typedef struct hone_region {
    hone_buffer buffer;
    const hone_range *ranges; /* one per dimension */
} hone_region;

typedef enum hone_axis_kind {
    HONE_AXIS_SPATIAL, /* data-parallel: each value at most once, any order */
    HONE_AXIS_REDUCE,  /* commutative reduction */
    HONE_AXIS_SCAN,    /* ordered */
    HONE_AXIS_OPAQUE,  /* anything */
} hone_axis_kind;

/* An iterator of a block (TVM: block iter var). */
typedef struct hone_axis {
    hone_var var;
    hone_axis_kind kind;
    hone_range dom; /* min is 0 in nearly all programs */
} hone_axis;

/* T.match_buffer inside a block: buffer is a view of the source region. */
typedef struct hone_match {
    hone_buffer buffer;
    hone_region source;
} hone_match;

/* The part of a block that does not depend on the loops around it. Immutable: a change makes a new
 * one (hone_block_copy). */
typedef struct hone_block {
    const char *name;
    uint32_t axis_count, read_count, write_count, alloc_count, match_count;
    const hone_axis *axes;
    const hone_region *reads, *writes;
    const hone_buffer *allocs; /* buffers allocated at the top of this block */
    const hone_match *matches;
    hone_attrs annotations;
    bool regions_inferred; /* reads and writes were not written in the text */
    bool is_written;       /* a root block that stands in the text */
} hone_block;

typedef enum hone_loop_kind {
    HONE_LOOP_SERIAL,
    HONE_LOOP_PARALLEL,
    HONE_LOOP_VECTORIZED,
    HONE_LOOP_UNROLLED,
    HONE_LOOP_THREAD, /* thread_tag says which: "blockIdx.x", "threadIdx.y", "vthread.x" */
} hone_loop_kind;

typedef enum hone_node_kind {
    HONE_NODE_TOP,
    HONE_NODE_FOR,
    HONE_NODE_BLOCK,
    HONE_NODE_INIT,
    HONE_NODE_IF,
    HONE_NODE_ELSE,
    HONE_NODE_WHILE,
    HONE_NODE_LET,
    HONE_NODE_ATTR,
    HONE_NODE_ALLOC, /* lowered programs: the buffer lives during the body */
    HONE_NODE_DECL,  /* T.decl_buffer: a view, no storage of its own unless alias_of is none */
    HONE_NODE_STORE,
    HONE_NODE_EVAL,
    HONE_NODE_ASSERT,
    HONE_NODE_BREAK,
    HONE_NODE_CONTINUE,
} hone_node_kind;

typedef struct hone_node {
    uint8_t kind;      /* hone_node_kind */
    uint8_t loop_kind; /* hone_loop_kind, FOR only */
    uint16_t flags; /* facts cached by who owns the function (a schedule); no part of the program */
    hone_node_id parent, first, last, prev, next;
    union {
        struct {
            hone_var var;
            bool is_launch;         /* is spelled T.launch_thread; no meaning of its own */
            const char *thread_tag; /* NULL unless HONE_LOOP_THREAD */
            hone_range range;
            hone_attrs annotations;
        } loop;
        struct {
            const hone_block *block;
            const hone_expr *const *bindings; /* block->axis_count values, over loop variables */
            const hone_expr *predicate;       /* T.where; NULL = true */
        } block;
        struct {
            hone_buffer buffer;
            uint32_t rank;
            const hone_expr *value;
            const hone_expr *const *indices;
            bool converts; /* the text stores a value of another type, without a cast */
        } store;
        struct {
            const hone_expr *value;  /* IF, WHILE: condition. EVAL: the call. ASSERT: condition */
            const char *message;     /* ASSERT */
            const char *error_kind;  /* ASSERT: "ValueError"; NULL = "RuntimeError" */
            const hone_value *parts; /* ASSERT: a list of strings that make the message, or NULL */
        } eval;
        struct {
            hone_var var;
            const hone_expr *value;
        } let;
        struct {
            const char *key;
            hone_value node;
            const hone_expr *value;
        } attr;
        struct {
            hone_buffer buffer;
        } alloc; /* ALLOC, DECL */
    } u;
    uint32_t line, column; /* place in the text it was parsed from; 0 = none */
} hone_node;

typedef struct hone_param {
    hone_var var;       /* the handle or scalar parameter; HONE_NO_ID for a plain T.Buffer one */
    hone_buffer buffer; /* HONE_NO_ID for a scalar or an unmatched handle */
} hone_param;

typedef struct hone_func {
    const char *name; /* global symbol in its module */
    hone_arena *arena;
    hone_var_info *vars;
    hone_buffer_info *buffers;
    hone_node *nodes;
    uint32_t var_count, buffer_count, node_count;
    uint32_t var_capacity, buffer_capacity, node_capacity;
    uint32_t param_count;
    const hone_param *params;
    hone_attrs attrs;
    hone_dtype result; /* of what `return` gives; void = nothing */
    bool is_private;
    bool is_scheduled_form; /* has a root block (s_tir) */
} hone_func;

/* ---- making ---- */
/* An empty function (its top node only); NULL when memory is short. */
hone_func *hone_func_create(hone_arena *arena, const char *name);
/* A copy that shares all immutable parts with the original, whose arena must outlive the copy. */
hone_func *hone_func_clone(hone_arena *arena, const hone_func *func);
/* A copy that owns everything it refers to. */
hone_func *hone_func_copy_deep(hone_arena *arena, const hone_func *func);
/* hone_func_copy_deep with variables numbered by first occurrence: structurally equal functions get
 * equal numbers, however they were made. (The simplifier orders terms by number, so a trace gives
 * the same program on both.) */
hone_func *hone_func_copy_canonical(hone_arena *arena, const hone_func *func);

/* Appends to the tables; HONE_NO_ID when memory is short. Names are copied into the arena. */
hone_var hone_func_add_var(hone_func *func, const char *name, hone_dtype dtype);
/* hone_func_add_var with a name that lives in the arena already: it is not copied. */
hone_var hone_func_add_named_var(hone_func *func, const char *name, hone_dtype dtype);
hone_buffer hone_func_add_buffer(hone_func *func, const hone_buffer_info *info);
/* A dense row-major buffer with constant shape. */
hone_buffer hone_func_add_dense(hone_func *func, const char *name, hone_dtype dtype, size_t rank,
                                const int64_t *shape, const char *scope);
/* Makes a node of this kind, not in the tree yet. The array nodes[] may move: pointers into it are
 * invalid after this. */
hone_node_id hone_func_add_node(hone_func *func, hone_node_kind kind);
/* Makes a FOR over the range, likewise. */
hone_node_id hone_func_add_loop(hone_func *func, hone_var var, hone_loop_kind kind,
                                hone_range range);
/* Makes a STORE of the value, likewise; HONE_NO_ID where that is NULL, too. */
hone_node_id hone_func_add_store(hone_func *func, hone_buffer buffer, uint32_t rank,
                                 const hone_expr *const *indices, const hone_expr *value);

static inline hone_node *hone_func_node(const hone_func *func, hone_node_id id) {
    assert(id < func->node_count);
    return &func->nodes[id];
}
/* The loop is parallel or vectorized. Loops bound to threads are not counted. */
static inline bool hone_node_is_concurrent_loop(const hone_node *node) {
    return node->kind == HONE_NODE_FOR &&
           (node->loop_kind == HONE_LOOP_PARALLEL || node->loop_kind == HONE_LOOP_VECTORIZED);
}
static inline const hone_buffer_info *hone_func_buffer(const hone_func *func, hone_buffer id) {
    assert(id < func->buffer_count);
    return &func->buffers[id];
}
/* The buffer is a parameter of the function. */
bool hone_func_is_parameter(const hone_func *func, hone_buffer buffer);
/* The buffer that holds the memory: the one given, unless that is a view of it, or a view of a view
 * (alias_of). In a program that is not well formed what it ends at may be no buffer. */
hone_buffer hone_func_storage(const hone_func *func, hone_buffer buffer);
/* The variable is a parameter of the function. */
bool hone_func_takes(const hone_func *func, hone_var var);
/* The variable as an expression. */
const hone_expr *hone_func_var_expr(hone_ir *ir, const hone_func *func, hone_var var);
/* A load with the buffer's dtype. */
const hone_expr *hone_func_load(hone_ir *ir, const hone_func *func, hone_buffer buffer,
                                const hone_expr *const *indices);

/* ---- tree edits: all O(1) ---- */
void hone_tree_append(hone_func *func, hone_node_id parent, hone_node_id child);
void hone_tree_prepend(hone_func *func, hone_node_id parent, hone_node_id child);
void hone_tree_insert_before(hone_func *func, hone_node_id where, hone_node_id node);
void hone_tree_insert_after(hone_func *func, hone_node_id where, hone_node_id node);
/* Takes a node (with all below it) out of the tree. */
void hone_tree_remove(hone_func *func, hone_node_id node);
/* Puts replacement where node was; node leaves the tree with what is below it. */
void hone_tree_replace(hone_func *func, hone_node_id node, hone_node_id replacement);
/* Moves all children of from to the end of to. */
void hone_tree_move_children(hone_func *func, hone_node_id from, hone_node_id to);
/* A deep copy of a sub-tree within the function, not in the tree yet; variables are shared. */
hone_node_id hone_tree_copy(hone_func *func, hone_node_id node);

/* A deep copy of a sub-tree of another function, not in the tree yet. All variables and buffers of
 * that function are added to this one; out_buffers: the new number of each of its buffers, in the
 * arena of func. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status hone_tree_import(hone_func *func, const hone_func *from,
                                            hone_node_id node, const hone_buffer **out_buffers,
                                            hone_node_id *out_node);

/* ---- walking ---- */
/* The next node in pre-order below root, or HONE_NO_ID; start with node == root. */
hone_node_id hone_tree_next(const hone_func *func, hone_node_id root, hone_node_id node);
/* As hone_tree_next, passing over what is below node. */
hone_node_id hone_tree_next_over(const hone_func *func, hone_node_id root, hone_node_id node);
/* `ancestor` is above node in the tree; false when they are the same. */
bool hone_tree_is_ancestor(const hone_func *func, hone_node_id ancestor, hone_node_id node);
/* A break, continue or return stands below top, so that a statement behind it may be left out. */
bool hone_jumps_below(const hone_func *func, hone_node_id top);
/* How many nodes are above it. */
uint32_t hone_tree_depth(const hone_func *func, hone_node_id node);
/* The lowest common ancestor: the lowest node that is above, or is, both. */
hone_node_id hone_tree_lca(const hone_func *func, hone_node_id a, hone_node_id b);
/* The first node of this kind below root, in pre-order; or HONE_NO_ID. */
hone_node_id hone_tree_first_of(const hone_func *func, hone_node_id root, hone_node_kind kind);
/* The FOR or WHILE that a BREAK or CONTINUE belongs to; HONE_NO_ID where there is none. */
hone_node_id hone_tree_loop_of(const hone_func *func, hone_node_id jump);
/* The first BREAK (with_continue: or CONTINUE) that belongs to the loop, or HONE_NO_ID. */
hone_node_id hone_tree_jump_of(const hone_func *func, hone_node_id loop, bool with_continue);
/* The root block of a function in scheduled form, or HONE_NO_ID. */
hone_node_id hone_func_root_block(const hone_func *func);
/* Body children of a block, after its INIT. */
hone_node_id hone_block_init_of(const hone_func *func, hone_node_id block); /* or HONE_NO_ID */
hone_node_id hone_block_body_of(const hone_func *func, hone_node_id block); /* first body child */
/* A reduce axis without values, for which the block's T.init never runs, or NULL; also where it
 * writes nothing anyway, and below a condition, which may see to that. sizes: by variable, as many
 * as the function has, -1: not known. */
const hone_axis *hone_block_over_nothing(const hone_func *func, hone_node_id block,
                                         const int64_t *sizes);

/* Rewrites every expression below root (bounds, bindings, predicates, indices, values; block
 * regions, axis domains and match regions too when with_blocks). */
HONE_NODISCARD hone_status hone_tree_transform(hone_func *func, hone_node_id root,
                                               hone_expr_rewrite rewrite, void *ctx,
                                               bool with_blocks);
/* Loads and stores of a buffer in root and below it become those of another one, of the same rank
 * and type; what blocks say of their regions stays. */
HONE_NODISCARD hone_status hone_tree_rename_buffer(hone_func *func, hone_node_id root,
                                                   hone_buffer from, hone_buffer to);
/* Calls visit for every expression below root (its outermost node only), with_blocks as in
 * hone_tree_transform. */
void hone_tree_walk_exprs(const hone_func *func, hone_node_id root, bool with_blocks,
                          void (*visit)(void *ctx, hone_node_id at, const hone_expr *e), void *ctx);
/* hone_tree_walk_exprs of the node alone, without what is below it. */
void hone_node_walk_exprs(const hone_func *func, hone_node_id id, bool with_blocks,
                          void (*visit)(void *ctx, hone_node_id at, const hone_expr *e), void *ctx);
/* An expression below root uses a variable that set[0..count) marks. */
bool hone_tree_uses_any(const hone_func *func, hone_node_id root, bool with_blocks, const bool *set,
                        size_t count);
/* hone_expr_walk over each expression below root. */
void hone_tree_walk_parts(const hone_func *func, hone_node_id root, bool with_blocks,
                          hone_expr_visit visit, void *ctx);
/* hone_expr_find in each expression below root: the first found, or NULL. */
const hone_expr *hone_tree_find_part(const hone_func *func, hone_node_id root, bool with_blocks,
                                     hone_expr_test is_it, const void *ctx);

/* UNSUPPORTED where the function uses vectors of scalable length: such programs are read, printed
 * and verified, no more. */
HONE_NODISCARD hone_status hone_func_refuse_scalable(const hone_func *func);

/* A shallow copy to change before it is hung on a node. */
hone_block *hone_block_copy(hone_arena *arena, const hone_block *block);

/* ---- static shapes ---- */
/* The constant, or -1 when the expression is not a constant integer. */
int64_t hone_expr_const(const hone_expr *e);
/* Elements of a buffer with constant shape, or -1. */
int64_t hone_buffer_elements(const hone_buffer_info *buffer);

#endif
