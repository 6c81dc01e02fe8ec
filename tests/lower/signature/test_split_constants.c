/* tests/lower/signature/test_split_constants.c - what a program computes of constants alone is
 * split off: both parts are good programs, and one after the other they do what the program did.
 * What must not move does not. */
#include <string.h>

#include "ir/core/module.h"
#include "ir/interp/interp.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "lower/signature/signature.h"
#include "lower/signature/split_constants.h"
#include "support/core/arena.h"
#include "support/data/rng.h"
#include "tests/support/hone_test.h"

#define HEAD                                                                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(X: T.Buffer((6, 8), \"float32\"), W: T.Buffer((8, 12), \"float32\"),\n"              \
    "         V: T.Buffer((12,), \"float32\"), Y: T.Buffer((6, 12), \"float32\")):\n"
#define NEST(name, grid, kinds, loops, axes)                                                       \
    "    for " loops " in T.grid(" grid "):\n"                                                     \
    "        with T.block(\"" name "\"):\n"                                                        \
    "            " axes " = T.axis.remap(\"" kinds "\", [" loops "])\n"
#define PACK                                                                                       \
    NEST("pack", "3, 8, 4", "SSS", "j, k, l", "vj, vk, vl")                                        \
    "            P[vj, vk, vl] = W[vk, vj * 4 + vl]\n"
#define MATMUL                                                                                     \
    NEST("matmul", "6, 12, 8", "SSR", "i, j, k", "vi, vj, vk")                                     \
    "            with T.init():\n"                                                                 \
    "                Y[vi, vj] = T.float32(0)\n"                                                   \
    "            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * P[vj // 4, vk, vj % 4]\n"
#define ALLOC_P "    P = T.alloc_buffer((3, 8, 4))\n"

#define SUM_OUTSIDE                                                                                \
    NEST("matmul", "8, 6, 12", "RSS", "k, i, j", "vk, vi, vj")                                     \
    "            with T.init():\n"                                                                 \
    "                Y[vi, vj] = T.float32(0)\n"                                                   \
    "            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * P[vj // 4, vk, vj % 4]\n"

/* Filters that go through two steps, the first a reduction with an init of its own. */
#define TWO_STEPS                                                                                  \
    "    Q = T.alloc_buffer((8, 12))\n" ALLOC_P NEST(                                              \
        "zero", "8, 12", "SS", "k, j",                                                             \
        "vk, vj") "            Q[vk, vj] = "                                                       \
                  "T.float32(0)\n" NEST("sum", "8, 12, 8", "SSR", "k, j, r",                       \
                                        "vk, vj, vr") "            Q[vk, vj] = "                   \
                                                      "Q[vk, vj] + W[vr, vj] * "                   \
                                                      "V[vk]\n" NEST("pack", "3, 8, 4", "SSS",     \
                                                                     "j, k, l",                    \
                                                                     "vj, vk, "                    \
                                                                     "vl") "   "                   \
                                                                           "   "                   \
                                                                           "   "                   \
                                                                           "   "                   \
                                                                           "P["                    \
                                                                           "vj,"                   \
                                                                           " vk"                   \
                                                                           ", "                    \
                                                                           "vl]"                   \
                                                                           " = "                   \
                                                                           "Q["                    \
                                                                           "vk,"                   \
                                                                           " vj"                   \
                                                                           " * "                   \
                                                                           "4 "                    \
                                                                           "+ "                    \
                                                                           "vl]"                   \
                                                                           "\n" MATMUL

/* Programs whose packing must not move, or not all of it. */
#define READS_BOTH                                                                                 \
    HEAD ALLOC_P PACK MATMUL NEST(                                                                 \
        "more", "6, 12", "SS", "i, j",                                                             \
        "vi, vj") "            Y[vi, vj] = Y[vi, vj] + W[vi, vj] + V[vj]\n"
#define CHANGED_LATER                                                                              \
    HEAD ALLOC_P PACK NEST(                                                                        \
        "scale", "3, 8, 4", "SSS", "j, k, l",                                                      \
        "vj, vk, vl") "            P[vj, vk, vl] = P[vj, vk, vl] * X[0, 0]\n" MATMUL
#define PACKED_TWICE                                                                               \
    HEAD ALLOC_P PACK MATMUL NEST(                                                                 \
        "pack2", "3, 8, 4", "SSS", "j, k, l",                                                      \
        "vj, vk, vl") "            P[vj, vk, vl] = W[vk, vj * 4 + vl] * "                          \
                      "T.float32(2)\n" NEST("more", "6, 12", "SS", "i, j",                         \
                                            "vi, vj") "            Y[vi, vj] = Y[vi, "             \
                                                      "vj] + P[vj // 4, 0, vj % 4]\n"
#define COPY                                                                                       \
    HEAD NEST("copy", "6, 12", "SS", "i, j", "vi, vj") "            Y[vi, vj] = W[vi, vj]\n"
#define VIEW_READ                                                                                  \
    HEAD ALLOC_P PACK NEST(                                                                        \
        "matmul", "6, 12", "SS", "i, j",                                                           \
        "vi, vj") "            B = T.match_buffer(P[vj // 4, 0:8, vj % 4], (8, 1), strides=[4, "   \
                  "1], "                                                                           \
                  "offset_factor=1)\n"                                                             \
                  "            Y[vi, vj] = X[vi, 0] * B[0, 0] + X[vi, 7] * B[7, 0]\n"
#define VIEW_WRITTEN                                                                               \
    HEAD ALLOC_P PACK NEST("change", "3", "S", "j",                                                \
                           "vj") "            B = T.match_buffer(P[vj, 0:8, 0], (8, 1), "          \
                                 "strides=[4, 1], offset_factor=1)\n"                              \
                                 "            B[0, 0] = T.float32(3)\n" MATMUL
#define ADDRESS                                                                                    \
    HEAD ALLOC_P PACK                                                                              \
        "    T.evaluate(T.call_extern(\"int32\", \"f\", T.address_of(P[0, 0, 0])))\n" MATMUL
#define PREFETCHED                                                                                 \
    HEAD ALLOC_P PACK "    T.evaluate(T.prefetch(T.address_of(P[0, 0, 0]), 0, 3, 1))\n" MATMUL
#define SPREAD                                                                                     \
    HEAD "    P = T.alloc_buffer((99, 12, 12))\n" NEST(                                            \
        "spread", "99, 12, 12", "SSS", "j, k, l",                                                  \
        "vj, vk, vl") "            P[vj, vk, vl] = V[vl]\n" NEST("use", "6, 12", "SS", "i, j",     \
                                                                 "vi, vj") "            Y[vi, "    \
                                                                           "vj] = P[vi, vj, vj]\n"
#define PADDED                                                                                     \
    HEAD "    P = T.alloc_buffer((4, 8, 4))\n" NEST(                                               \
        "pad", "4, 8, 4", "SSS", "j, k, l",                                                        \
        "vj, vk, vl") "            P[vj, vk, vl] = T.if_then_else(vj * 4 + vl < 12, W[vk, vj * 4 " \
                      "+ vl], "                                                                    \
                      "T.float32(0))\n" MATMUL

/* A packed matrix of float16, all of which is read for each of some rows, and widened. */
#define OF_SHORT_FLOATS(rows, wide)                                                                \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(X: T.Buffer((" rows ", 8), \"float32\"), W: T.Buffer((8, " wide                      \
    "), \"float16\"), Y: T.Buffer((" rows ", " wide "), \"float32\")):\n"                          \
    "    P = T.alloc_buffer((" wide ", 8), \"float16\")\n" NEST(                                   \
        "pack", wide ", 8", "SS", "j, k",                                                          \
        "vj, vk") "            P[vj, vk] = W[vk, vj]\n" NEST("matmul", rows ", " wide ", 8",       \
                                                             "SSR", "i, j, k",                     \
                                                             "vi, vj, vk") "            with "     \
                                                                           "T.init():\n"           \
                                                                           "                "      \
                                                                           "Y[vi, vj] = "          \
                                                                           "T.float32(0)\n"        \
                                                                           "            Y[vi, "    \
                                                                           "vj] = Y[vi, vj] + "    \
                                                                           "X[vi, vk] * "          \
                                                                           "T.Cast(\"float32\", "  \
                                                                           "P[vj, vk])\n"

#define SHORT_FLOATS OF_SHORT_FLOATS("9", "40")
#define READ_SELDOM OF_SHORT_FLOATS("5", "40")
#define MANY_SHORT_FLOATS OF_SHORT_FLOATS("9", "8200")
#define WIDE_P "W:float16 P | X Y P"
#define SHORT_P "W:float16 P:float16 | X Y P:float16"

static const struct row {
    const char *name, *program;
    const char *constants; /* names of the parameters that are */
    const char *want;      /* names of the parameters of both parts, and their types where they are
                              not float32; NULL = no split */
} rows[] = {
    {"packed weight",                      HEAD ALLOC_P PACK MATMUL,      "W",   "W P | X V Y P"  },
    {"all of the rest is a sum",           HEAD ALLOC_P PACK SUM_OUTSIDE, "W",   "W P | X V Y P"  },
    {"nothing is constant",                HEAD ALLOC_P PACK MATMUL,      "",    NULL             },
    {"a chain of nests moves whole",       HEAD TWO_STEPS,                "W V", "W V P | X Y P"  },
    {"one that waits on the caller stays", HEAD TWO_STEPS,                "W",   NULL             },
    {"what the rest reads too stays",      READS_BOTH,                    "W V", "W P | X W V Y P"},
    {"changed by a nest that stays",       CHANGED_LATER,                 "W",   NULL             },
    {"written again after it was read",    PACKED_TWICE,                  "W",   NULL             },
    {"what the caller sees stays",         COPY,                          "W",   NULL             },
    {"a view in the rest is only read",    VIEW_READ,                     "W",   "W P | X V Y P"  },
    {"a view in the rest is written",      VIEW_WRITTEN,                  "W",   NULL             },
    {"an address is taken in the rest",    ADDRESS,                       "W",   NULL             },
    {"what is asked for early is packed",  PREFETCHED,                    "W",   "W P | X V Y P"  },
    {"what grows too much is computed",    SPREAD,                        "V",   NULL             },
    {"conditions and padding",             PADDED,                        "W",   "W P | X V Y P"  },
    {"short floats are packed wide",       SHORT_FLOATS,                  "W",   WIDE_P           },
    {"but not for few reads",              READ_SELDOM,                   "W",   SHORT_P          },
    {"nor where they are many",            MANY_SHORT_FLOATS,             "W",   SHORT_P          },
};

static bool names(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length) {
        bool begins = at == list || at[-1] == ' ', ends = !at[length] || at[length] == ' ';
        if (begins && ends) return true;
    }
    return false;
}

static const char *param_name(const hone_func *func, uint32_t i) {
    return func->buffers[func->params[i].buffer].name;
}

static void list_params(const hone_func *func, hone_str *out) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        hone_dtype dtype = func->buffers[func->params[i].buffer].dtype;
        hone_str_printf(out, "%s%s", i ? " " : "", param_name(func, i));
        if (!hone_dtype_equal(dtype, HONE_DTYPE_F32))
            hone_str_printf(out, ":%s", HONE_DTYPE_NAME(dtype));
    }
}

static hone_tensor *make_tensor(const hone_func *func, hone_buffer buffer, hone_rng *rng) {
    const hone_buffer_info *info = &func->buffers[buffer];
    int64_t shape[HONE_MAX_RANK];
    hone_tensor *tensor;
    for (uint32_t d = 0; d < info->rank; d++)
        shape[d] = hone_expr_const(info->shape[d]);
    HONE_ASSERT_OK(hone_tensor_create(info->dtype, (int32_t)info->rank, shape, &tensor));
    hone_tensor_fill_random(tensor, rng, -1, 1);
    return tensor;
}

/* The program, then the parts one after the other: the same bits in Y. */
static void check_agree(const hone_func *func, const hone_constant_split *split) {
    hone_tensor *args[8], *before, *packed[4], *inputs[8], *all[8];
    hone_rng rng = hone_test_rng(7);
    uint32_t count = func->param_count;
    for (uint32_t i = 0; i < count; i++)
        args[i] = make_tensor(func, func->params[i].buffer, &rng);
    hone_tensor *y = args[count - 1];
    HONE_ASSERT_OK(hone_interp_func(func, args, count, &(hone_interp_options){0}));
    HONE_ASSERT_OK(hone_tensor_clone(y, &before));
    hone_test_fill(y, -99);
    for (uint32_t i = 0; i < split->input_count; i++)
        inputs[i] = args[split->inputs[i]];
    for (uint32_t i = 0; i < split->output_count; i++) {
        packed[i] = make_tensor(split->rest, split->outputs[i], &rng);
        inputs[split->input_count + i] = packed[i];
    }
    HONE_ASSERT_OK(hone_interp_func(split->constants, inputs, split->constants->param_count,
                                    &(hone_interp_options){.check_uninitialised = true}));
    for (uint32_t i = 0; i < split->arg_count; i++)
        all[i] = split->args[i] < 0 ? packed[-1 - split->args[i]] : args[split->args[i]];
    assert_int_equal(split->arg_count, split->rest->param_count);
    HONE_ASSERT_OK(hone_interp_func(split->rest, all, split->arg_count, &(hone_interp_options){0}));
    bool is_same = memcmp(y->data, before->data, hone_tensor_bytes(y)) == 0;
    for (uint32_t i = 0; i < count; i++)
        hone_tensor_destroy(args[i]);
    for (uint32_t i = 0; i < split->output_count; i++)
        hone_tensor_destroy(packed[i]);
    hone_tensor_destroy(before);
    assert_true(is_same);
}

/* As compiling asks for it: what is packed is written as a whole. */
static void check_signature(const hone_constant_split *split, hone_arena *arena) {
    hone_signature signature;
    HONE_ASSERT_OK(hone_signature_of(split->constants, arena, &signature));
    for (uint32_t i = split->input_count; i < signature.buffer_count; i++)
        assert_int_equal(signature.roles[i], HONE_PARAM_OUT);
    HONE_ASSERT_OK(hone_signature_of(split->rest, arena, &signature));
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module;
    const hone_member *member;
    hone_constant_split split;
    hone_str got = {0};
    bool is_constant[8];
    hone_arena *arena = hone_arena_create(1 << 14);
    HONE_ASSERT_OK(hone_script_parse(row->program, strlen(row->program), "test", &module));
    hone_module_freeze(module);
    HONE_ASSERT_OK(hone_module_pick(module, NULL, &member));
    for (uint32_t i = 0; i < member->func->param_count; i++)
        is_constant[i] = names(row->constants, param_name(member->func, i));
    HONE_ASSERT_OK(hone_split_constants(member->func, is_constant, arena, &split));
    assert_int_equal(split.rest != NULL, row->want != NULL);
    if (split.rest) {
        HONE_ASSERT_OK(hone_check_func(split.constants));
        HONE_ASSERT_OK(hone_check_func(split.rest));
        list_params(split.constants, &got);
        hone_str_append(&got, " | ");
        list_params(split.rest, &got);
        assert_string_equal(hone_str_text(&got), row->want);
        check_signature(&split, arena);
        check_agree(member->func, &split);
    }
    hone_str_deinit(&got);
    hone_arena_destroy(arena);
    hone_module_release(module);
}

int main(void) {
    return HONE_RUN_ROWS("lower/split_constants", rows, check_row);
}
