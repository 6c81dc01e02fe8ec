/* codegen/nvptx/ptx_wmma.c - matrix units by fragments: tiles that the lanes of a warp hold
 * together, nobody else knows how (TVM's tvm_load_matrix_sync and relatives; LLVM has an intrinsic
 * for each).
 *
 * A buffer of scope "wmma.…" becomes slots of eight registers, one per tile; a tile is named by its
 * number. Sizes and the way a matrix was loaded are part of the instruction's name, so they must be
 * the same wherever a buffer is used.
 */
#include <stdio.h>
#include <string.h>

#include "codegen/groups.h"
#include "codegen/nvptx/nvptx.h"
#include "support/core/attributes.h"

enum { SLOT_WORDS = 8 };

/* ---- what programs say of their fragments ---- */

static const char *const names[] = {"tvm_fill_fragment", "tvm_load_matrix_sync",
                                    "tvm_store_matrix_sync", "tvm_mma_sync"};
enum { FILL, LOAD, STORE, MULTIPLY };

static int call_number(const hone_expr *e) {
    if (!hone_expr_is_call(e, HONE_INTRIN_NAMED) || e->count < 7) return -1;
    for (int i = 0; i < (int)HONE_COUNT(names); i++) {
        if (strcmp(e->args[0]->u.s, names[i]) == 0) return i;
    }
    return -1;
}

static ptx_buffer *fragment_of(gen *g, const hone_expr *data) {
    hone_buffer id =
        data->kind == HONE_EXPR_VAR ? codegen_buffer_of_data(g->func, data->u.var) : HONE_NO_ID;
    return id == HONE_NO_ID ? NULL : &g->device->buffers[hone_func_storage(g->func, id)];
}

static bool is_column_major(const hone_expr *e) {
    return e->args[8]->kind == HONE_EXPR_STRING && strcmp(e->args[8]->u.s, "col_major") == 0;
}

hone_status ptx_note_fragment(gen *g, const hone_expr *e) {
    int call = call_number(e);
    ptx_buffer *f = call < 0 || call == MULTIPLY ? NULL : fragment_of(g, e->args[1]);
    if (!f) return HONE_OK;
    bool is_group = groups_is_sums(g->func, codegen_buffer_of_data(g->func, e->args[1]->u.var));
    if (is_group) g->device->has_groups = true;
    if (is_group && call == STORE) return HONE_OK; /* of a part */
    int64_t sizes[3];
    bool is_turned = call == LOAD && e->count == 9 && is_column_major(e);
    for (int i = 0; i < 3; i++)
        sizes[i] = hone_expr_const(e->args[2 + i]);
    bool is_new = f->fragment[0] == 0;
    bool is_same = is_new || memcmp(f->fragment, sizes, sizeof sizes) == 0;
    if (call == LOAD && f->is_fragment_loaded) is_same &= f->is_turned == is_turned;
    if (!is_same) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a fragment is used in different shapes");
    }
    memcpy(f->fragment, sizes, sizeof sizes);
    f->is_fragment_loaded |= call == LOAD;
    f->is_turned |= is_turned;
    return HONE_OK;
}

/* ---- slots ---- */

bool ptx_alloc_fragment(gen *g, hone_buffer buffer, int64_t elements) {
    const hone_buffer_info *info = &g->func->buffers[buffer];
    ptx_buffer *f = &g->device->buffers[buffer];
    if (groups_is_sums(g->func, buffer)) {
        f->slots = ptx_alloc_sums(g, buffer, elements);
        return true;
    }
    if (!info->scope || strncmp(info->scope, "wmma.", 5) != 0) return false;
    const int64_t *s = f->fragment; /* m, n, k */
    bool is_a = strcmp(info->scope, "wmma.matrix_a") == 0;
    bool is_b = strcmp(info->scope, "wmma.matrix_b") == 0;
    int64_t tile = is_a ? s[0] * s[2] : is_b ? s[1] * s[2] : s[0] * s[1];
    if (tile < 1) tile = 64; /* nobody touches it */
    uint64_t tiles = (uint64_t)((elements + tile - 1) / tile);
    f->slots = gen_alloca(g, LLVMArrayType2(g->i32, SLOT_WORDS), tiles ? tiles : 1, info->name);
    return true;
}

static LLVMValueRef slot_at(gen *g, const ptx_buffer *f, const hone_expr *number) {
    LLVMTypeRef type = LLVMArrayType2(g->i32, SLOT_WORDS);
    LLVMValueRef at = gen_index(g, number);
    return LLVMBuildGEP2(g->builder, type, f->slots, &at, 1, "");
}

static LLVMValueRef word_at(gen *g, LLVMValueRef slot, LLVMTypeRef type, unsigned i) {
    LLVMValueRef at = gen_i64(g, i);
    return LLVMBuildGEP2(g->builder, type, slot, &at, 1, "");
}

/* ---- names of intrinsics ---- */

/* One of LLVM's, for pointers of that type (NULL: it takes none). */
typedef struct intrinsic {
    unsigned id;
    LLVMTypeRef pointer, type;
} intrinsic;

static bool find(gen *g, const char *name, LLVMTypeRef pointer, intrinsic *out) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    *out = (intrinsic){id, pointer, NULL};
    if (id) out->type = LLVMIntrinsicGetType(g->context, id, &out->pointer, pointer ? 1 : 0);
    return id != 0;
}

static LLVMValueRef call(gen *g, intrinsic *i, LLVMValueRef *args, unsigned count) {
    LLVMValueRef function =
        LLVMGetIntrinsicDeclaration(g->module, i->id, &i->pointer, i->pointer ? 1 : 0);
    return LLVMBuildCall2(g->builder, i->type, function, args, count, "");
}

static const char *element_word(hone_dtype dtype, bool is_sum) {
    if (dtype.code == HONE_DTYPE_CODE_BFLOAT) return "bf16";
    if (hone_dtype_is_float(dtype)) {
        return dtype.bits == 16 ? "f16" : dtype.bits == 64 ? "f64" : is_sum ? "f32" : "tf32";
    }
    if (dtype.bits == 32) return "s32";
    return hone_dtype_is_int(dtype) ? "s8" : "u8";
}

static void name_shape(const ptx_buffer *f, char text[32]) {
    snprintf(text, 32, "m%dn%dk%d", (int)f->fragment[0], (int)f->fragment[1], (int)f->fragment[2]);
}

/* "a", "b", "c" */
static char part_of(const hone_buffer_info *info) {
    return strcmp(info->scope, "wmma.matrix_a") == 0   ? 'a'
           : strcmp(info->scope, "wmma.matrix_b") == 0 ? 'b'
                                                       : 'c';
}

static const hone_buffer_info *info_of(gen *g, const hone_expr *data) {
    hone_buffer id = codegen_buffer_of_data(g->func, data->u.var);
    return &g->func->buffers[hone_func_storage(g->func, id)];
}

/* The registers of a lane for a tile: as many as a load of one gives. */
typedef struct tile {
    LLVMTypeRef type; /* of a register */
    unsigned count;
} tile;

static void name_load(char name[96], const ptx_buffer *f, const hone_buffer_info *info,
                      bool is_column_major) {
    char shape[32], part = part_of(info);
    name_shape(f, shape);
    snprintf(name, 96, "llvm.nvvm.wmma.%s.load.%c.%s.stride.%s", shape, part,
             is_column_major ? "col" : "row", element_word(info->dtype, part == 'c'));
}

static bool tile_of(gen *g, const ptx_buffer *f, const hone_expr *data, tile *out) {
    char name[96];
    intrinsic i;
    name_load(name, f, info_of(g, data), f->is_turned);
    if (!f->slots || !find(g, name, g->ptr, &i)) return false;
    LLVMTypeRef result = LLVMGetReturnType(i.type);
    bool is_struct = LLVMGetTypeKind(result) == LLVMStructTypeKind;
    out->type = is_struct ? LLVMStructGetTypeAtIndex(result, 0) : result;
    out->count = is_struct ? LLVMCountStructElementTypes(result) : 1;
    return out->count <= SLOT_WORDS;
}

static void keep(gen *g, const tile *t, LLVMValueRef slot, LLVMValueRef values) {
    for (unsigned i = 0; i < t->count; i++) {
        LLVMValueRef value =
            t->count == 1 ? values : LLVMBuildExtractValue(g->builder, values, i, "");
        LLVMSetAlignment(LLVMBuildStore(g->builder, value, word_at(g, slot, t->type, i)), 4);
    }
}

static unsigned take(gen *g, const tile *t, LLVMValueRef slot, LLVMValueRef *args) {
    for (unsigned i = 0; i < t->count; i++) {
        args[i] = LLVMBuildLoad2(g->builder, t->type, word_at(g, slot, t->type, i), "");
        LLVMSetAlignment(args[i], 4);
    }
    return t->count;
}

/* ---- calls ---- */

static LLVMValueRef word(gen *g, const hone_expr *e) {
    return LLVMBuildTrunc(g->builder, gen_index(g, e), g->i32, "");
}

/* (data, m, n, k, number, memory, stride, layout) */
static LLVMValueRef load(gen *g, const hone_expr *e, const ptx_buffer *f) {
    char name[96];
    intrinsic i;
    tile t;
    LLVMValueRef args[] = {gen_value(g, e->args[6]), word(g, e->args[7])};
    name_load(name, f, info_of(g, e->args[1]), is_column_major(e));
    if (g->error || !tile_of(g, f, e->args[1], &t)) return NULL;
    if (!find(g, name, LLVMTypeOf(args[0]), &i)) return NULL;
    keep(g, &t, slot_at(g, f, e->args[5]), call(g, &i, args, 2));
    return gen_i32(g, 0);
}

static LLVMValueRef store(gen *g, const hone_expr *e, const ptx_buffer *f) {
    char shape[32], name[96];
    intrinsic i;
    tile t;
    LLVMValueRef args[2 + SLOT_WORDS] = {gen_value(g, e->args[6])};
    name_shape(f, shape);
    snprintf(name, sizeof name, "llvm.nvvm.wmma.%s.store.d.%s.stride.%s", shape,
             is_column_major(e) ? "col" : "row", element_word(info_of(g, e->args[1])->dtype, true));
    if (g->error || !tile_of(g, f, e->args[1], &t)) return NULL;
    if (!find(g, name, LLVMTypeOf(args[0]), &i)) return NULL;
    unsigned count = 1 + take(g, &t, slot_at(g, f, e->args[5]), args + 1);
    args[count++] = word(g, e->args[7]);
    call(g, &i, args, count);
    return gen_i32(g, 0);
}

/* The value in each element of a register. */
static LLVMValueRef filled(gen *g, LLVMTypeRef register_type, LLVMValueRef value) {
    if (LLVMGetTypeKind(register_type) != LLVMVectorTypeKind) return value;
    return gen_splat(g, value, LLVMGetVectorSize(register_type));
}

/* (data, m, n, k, number, value) */
static LLVMValueRef fill(gen *g, const hone_expr *e, const ptx_buffer *f) {
    tile t;
    hone_dtype dtype = hone_dtype_element(info_of(g, e->args[1])->dtype);
    if (part_of(info_of(g, e->args[1])) != 'c' || !tile_of(g, f, e->args[1], &t)) return NULL;
    LLVMValueRef value = gen_value(g, e->args[6]);
    value = filled(g, t.type, gen_cast_stored(g, e->args[6]->dtype, dtype, value));
    LLVMValueRef slot = slot_at(g, f, e->args[5]);
    for (unsigned k = 0; k < t.count; k++)
        LLVMSetAlignment(LLVMBuildStore(g->builder, value, word_at(g, slot, t.type, k)), 4);
    return gen_i32(g, 0);
}

/* "m16n16k16.mma.row.col.f32.f32" */
static void name_product(gen *g, const hone_expr *e, const ptx_buffer *const f[4], char name[128]) {
    char shape[32];
    hone_dtype from = info_of(g, e->args[3])->dtype;
    const char *sum = element_word(info_of(g, e->args[1])->dtype, true);
    const char *start = element_word(info_of(g, e->args[7])->dtype, true);
    bool is_half = from.code == HONE_DTYPE_CODE_FLOAT && from.bits == 16;
    name_shape(f[1], shape);
    int length = snprintf(name, 128, "llvm.nvvm.wmma.%s.mma.%s.%s.", shape,
                          f[1]->is_turned ? "col" : "row", f[2]->is_turned ? "col" : "row");
    if (is_half)
        snprintf(name + length, 128 - (size_t)length, "%s.%s", sum, start);
    else
        snprintf(name + length, 128 - (size_t)length, "%s", element_word(from, false));
}

/* (D, number, A, number, B, number, C, number): D = A B + C */
static LLVMValueRef multiply(gen *g, const hone_expr *e) {
    const ptx_buffer *f[4];
    tile t[4];
    LLVMValueRef args[3 * SLOT_WORDS];
    char name[128];
    intrinsic i;
    unsigned count = 0;
    for (int k = 0; k < 4; k++) {
        f[k] = fragment_of(g, e->args[1 + 2 * k]);
        if (!f[k] || !tile_of(g, f[k], e->args[1 + 2 * k], &t[k])) return NULL;
    }
    name_product(g, e, f, name);
    if (!find(g, name, NULL, &i)) return NULL;
    bool is_short = strcmp(element_word(info_of(g, e->args[3])->dtype, false), "tf32") == 0;
    for (int k = 1; k < 4; k++) {
        unsigned taken = take(g, &t[k], slot_at(g, f[k], e->args[2 + 2 * k]), args + count);
        if (is_short && k < 3) ptx_round_factors(g, args + count, taken);
        count += taken;
    }
    keep(g, &t[0], slot_at(g, f[0], e->args[2]), call(g, &i, args, count));
    return gen_i32(g, 0);
}

LLVMValueRef ptx_wmma_call(gen *g, const hone_expr *e) {
    static const uint16_t counts[] = {[FILL] = 7, [LOAD] = 9, [STORE] = 9, [MULTIPLY] = 9};
    int number = call_number(e);
    if (number < 0 || e->count != counts[number]) return NULL;
    if (number == MULTIPLY) return multiply(g, e);
    const ptx_buffer *f = fragment_of(g, e->args[1]);
    if (!f) return NULL;
    if (groups_is_sums(g->func, codegen_buffer_of_data(g->func, e->args[1]->u.var)))
        return number == FILL ? ptx_fill_sums(g, e) : number == STORE ? ptx_store_sums(g, e) : NULL;
    return number == FILL ? fill(g, e, f) : number == LOAD ? load(g, e, f) : store(g, e, f);
}
