/* tests/package/test_public_topi.c - operators of formulas: each makes what legalisation makes of
 * the same operator in a graph, and they can be put together. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/passes/pass.h"
#include "ir/identity/structural.h"
#include "ir/text/read/script.h"
#include "tests/package/public_test.h"

typedef const hone_term *term;

typedef struct inputs {
    hone_formula *f;
    hone_array x, y, z; /* of the shapes that the row's text says */
    term n;             /* the size "n", when the text has it */
} inputs;

typedef hone_array (*build)(const inputs *in);

static hone_array relu(const inputs *in) {
    return hone_topi_unary(in->f, "nn.relu", in->x);
}
static hone_array gelu(const inputs *in) {
    return hone_topi_unary(in->f, "nn.gelu", in->x);
}
static hone_array add(const inputs *in) {
    return hone_topi_binary(in->f, "add", in->x, in->y);
}
static hone_array less(const inputs *in) {
    return hone_topi_binary(in->f, "less", in->x, in->y);
}
static hone_array where(const inputs *in) {
    return hone_topi_where(in->f, in->x, in->y, in->z);
}
static hone_array clip(const inputs *in) {
    return hone_topi_clip(in->f, in->x, 0, 6);
}
static hone_array to_half(const inputs *in) {
    return hone_topi_cast(in->f, in->x, "float16");
}
static hone_array leaky(const inputs *in) {
    hone_option alpha = hone_option_number("alpha", 0.25);
    return hone_topi_call(in->f, "nn.leakyrelu", 1, &in->x, 1, &alpha);
}
static hone_array matmul(const inputs *in) {
    return hone_topi_matmul(in->f, in->x, in->y, 0, 0);
}
static hone_array conv(const inputs *in) {
    hone_topi_window w = {
        .strides = {2, 1},
          .pad_before = {1, 0},
          .pad_after = {1, 2}
    };
    return hone_topi_conv(in->f, in->x, in->y, &w);
}
static hone_array depthwise(const inputs *in) {
    hone_topi_window w = {
        .dilation = {2, 2},
          .groups = 4
    };
    return hone_topi_conv(in->f, in->x, in->y, &w);
}
static hone_array conv1d(const inputs *in) {
    return hone_topi_conv(in->f, in->x, in->y, NULL);
}
static hone_array max_pool(const inputs *in) {
    static const int64_t kernel[] = {3, 2};
    hone_topi_window w = {
        .strides = {2, 2},
          .pad_before = {1, 0},
          .ceil_mode = 1
    };
    return hone_topi_max_pool(in->f, in->x, kernel, &w);
}
static hone_array avg_pool(const inputs *in) {
    static const int64_t kernel[] = {3, 3};
    hone_topi_window w = {
        .pad_before = {1, 1},
          .pad_after = {1, 1},
          .count_include_pad = 1
    };
    return hone_topi_avg_pool(in->f, in->x, kernel, &w);
}
static hone_array global_pool(const inputs *in) {
    return hone_topi_global_avg_pool(in->f, in->x);
}
static hone_array sum_last(const inputs *in) {
    static const int64_t axes[] = {-1};
    return hone_topi_reduce(in->f, "sum", in->x, 1, axes, 1);
}
static hone_array mean_all(const inputs *in) {
    return hone_topi_reduce(in->f, "mean", in->x, 0, NULL, 0);
}
static hone_array max_all(const inputs *in) {
    return hone_topi_reduce(in->f, "max", in->x, 0, NULL, 0);
}
static hone_array arg_max(const inputs *in) {
    static const int64_t axes[] = {1};
    return hone_topi_reduce(in->f, "argmax", in->x, 1, axes, 0);
}
static hone_array softmax(const inputs *in) {
    return hone_topi_softmax(in->f, in->x, -1);
}
static hone_array log_softmax(const inputs *in) {
    return hone_topi_log_softmax(in->f, in->x, 0);
}
static hone_array layer_norm(const inputs *in) {
    static const int64_t axes[] = {-1};
    return hone_topi_layer_norm(in->f, in->x, in->y, in->z, 1, axes, 1e-4);
}
static hone_array transpose(const inputs *in) {
    static const int64_t axes[] = {2, 0, 1};
    return hone_topi_transpose(in->f, in->x, axes);
}
static hone_array reverse(const inputs *in) {
    return hone_topi_transpose(in->f, in->x, NULL);
}
static hone_array reshape(const inputs *in) {
    static const int64_t shape[] = {3, -1};
    return hone_topi_reshape(in->f, in->x, 2, shape);
}
static hone_array reshape_sized(const inputs *in) {
    term four = hone_term_int(hone_formula_terms(in->f), "int64", 4);
    return hone_topi_reshape_sized(in->f, in->x, 3, (term[]){in->n, four, four});
}
static hone_array broadcast(const inputs *in) {
    static const int64_t shape[] = {5, 2, 3};
    return hone_topi_broadcast_to(in->f, in->x, 3, shape);
}
static hone_array concat(const inputs *in) {
    return hone_topi_concat(in->f, 2, (hone_array[]){in->x, in->y}, 1);
}
static hone_array slice(const inputs *in) {
    return hone_topi_slice(in->f, in->x, 1, 1, 8, 3);
}
static hone_array take(const inputs *in) {
    return hone_topi_take(in->f, in->x, in->y, 1);
}
static hone_array pad(const inputs *in) {
    static const int64_t before[] = {0, 2}, after[] = {1, 0};
    return hone_topi_pad(in->f, in->x, before, after, 0.5);
}

/* types: of x, y and z as Relax writes them; n is a size. */
/* clang-format off */
static const struct row {
    const char *name, *types[3], *call;
    build build;
} rows[] = {
    {"relu", {"(2, 3), \"float32\""}, "nn.relu(x)", relu},
    {"gelu of a size", {"(n, 3), \"float16\""}, "nn.gelu(x)", gelu},
    {"add", {"(2, 3), \"float32\"", "(3,), \"float32\""}, "add(x, y)", add},
    {"add of sizes", {"(n, m), \"float32\"", "(n, 1), \"float32\""}, "add(x, y)", add},
    {"less", {"(2, 3), \"int32\"", "(2, 3), \"int32\""}, "less(x, y)", less},
    {"where",
     {"(2, 3), \"bool\"", "(2, 3), \"float32\"", "(3,), \"float32\""},
     "where(x, y, z)",
     where},
    {"clip", {"(2, 3), \"float32\""}, "clip(x, 0.0, 6.0)", clip},
    {"astype", {"(2, 3), \"float32\""}, "astype(x, dtype=\"float16\")", to_half},
    {"leaky relu", {"(2, 3), \"float32\""}, "nn.leakyrelu(x, alpha=0.25)", leaky},
    {"matmul", {"(2, 3), \"float32\"", "(3, 5), \"float32\""}, "matmul(x, y)", matmul},
    {"batched matmul",
     {"(n, 7, 2, 3), \"float32\"", "(7, 3, 5), \"float32\""},
     "matmul(x, y)",
     matmul},
    {"conv2d",
     {"(1, 3, 9, 8), \"float32\"", "(4, 3, 3, 3), \"float32\""},
     "nn.conv2d(x, y, strides=[2, 1], padding=[1, 0, 1, 2])",
     conv},
    {"depthwise conv2d",
     {"(n, 4, 9, 8), \"float32\"", "(4, 1, 3, 3), \"float32\""},
     "nn.conv2d(x, y, dilation=[2, 2], groups=4)",
     depthwise},
    {"conv1d", {"(1, 3, 9), \"float32\"", "(4, 3, 3), \"float32\""}, "nn.conv1d(x, y)", conv1d},
    {"max pool",
     {"(1, 3, 9, 8), \"float32\""},
     "nn.max_pool2d(x, pool_size=[3, 2], strides=[2, 2], padding=[1, 0, 0, 0], ceil_mode=True)",
     max_pool},
    {"avg pool",
     {"(1, 3, 9, 8), \"float32\""},
     "nn.avg_pool2d(x, pool_size=[3, 3], padding=[1, 1, 1, 1], count_include_pad=True)",
     avg_pool},
    {"global avg pool",
     {"(n, 3, 9, 8), \"float32\""},
     "nn.adaptive_avg_pool2d(x, output_size=[1, 1])",
     global_pool},
    {"sum", {"(2, n), \"float32\""}, "sum(x, axis=[-1], keepdims=True)", sum_last},
    {"mean", {"(2, 3), \"float32\""}, "mean(x)", mean_all},
    {"max from -2^63", {"(2, 3), \"int64\""}, "max(x)", max_all},
    {"argmax", {"(2, 3), \"float32\""}, "argmax(x, axis=1)", arg_max},
    {"softmax", {"(2, 3), \"float32\""}, "nn.softmax(x, axis=-1)", softmax},
    {"softmax of sizes", {"(n, m), \"float32\""}, "nn.softmax(x, axis=-1)", softmax},
    {"log softmax", {"(2, 3), \"float32\""}, "nn.log_softmax(x, axis=0)", log_softmax},
    {"layer norm",
     {"(n, 6), \"float32\"", "(6,), \"float32\"", "(6,), \"float32\""},
     "nn.layer_norm(x, y, z, axes=[-1], epsilon=1e-4)",
     layer_norm},
    {"permute_dims", {"(2, n, 4), \"float32\""}, "permute_dims(x, axes=[2, 0, 1])", transpose},
    {"permute_dims, turned", {"(2, 3, 4), \"float32\""}, "permute_dims(x)", reverse},
    {"reshape", {"(2, 3, 4), \"float32\""}, "reshape(x, R.shape([3, 8]))", reshape},
    {"reshape of a size",
     {"(n, 16), \"float32\""},
     "reshape(x, R.shape([n, 4, 4]))",
     reshape_sized},
    {"broadcast_to", {"(2, 1), \"float32\""}, "broadcast_to(x, R.shape([5, 2, 3]))", broadcast},
    {"concat", {"(2, 3), \"float32\"", "(2, 4), \"float32\""}, "concat((x, y), axis=1)", concat},
    {"concat of sizes",
     {"(2, n), \"float32\"", "(2, 4), \"float32\""},
     "concat((x, y), axis=1)",
     concat},
    {"strided_slice", {"(2, 9), \"float32\""}, "strided_slice(x, (1,), (1,), (8,), (3,))", slice},
    {"take", {"(2, 9), \"float32\"", "(4,), \"int64\""}, "take(x, y, axis=1)", take},
    {"pad", {"(2, 9), \"float32\""}, "nn.pad(x, pad_width=[0, 1, 2, 0], pad_value=0.5)", pad},
};
/* clang-format on */

/* Whether a size stands in the first shape. */
static bool has_size(const struct row *row, char size) {
    size_t length = strcspn(row->types[0], ")");
    return memchr(row->types[0], size, length) != NULL;
}

/* ---- what legalisation makes ---- */

static hone_module *legalised(const struct row *row) {
    hone_str text = {0};
    hone_module *module = NULL, *made = NULL;
    hone_str_append(&text, "from tvm.script import relax as R\n@R.function\ndef main(");
    for (int i = 0; i < 3 && row->types[i]; i++) {
        const char *type = row->types[i];
        hone_str_printf(&text, "%s%c: R.Tensor(", i ? ", " : "", 'x' + i);
        /* sizes stand in quotes in a signature */
        for (; *type; type++) {
            bool is_size = (*type == 'n' || *type == 'm') && (type[-1] == '(' || type[-1] == ' ');
            hone_str_printf(&text, is_size ? "\"%c\"" : "%c", *type);
        }
        hone_str_append(&text, ")");
    }
    hone_str_printf(&text, "):\n%s    return R.%s\n",
                    strstr(row->call, "[n, ") ? "    n = T.int64()\n" : "", row->call);
    hone_status st = hone_script_parse(hone_str_text(&text), text.length, "graph.py", &module);
    static const char *const passes[] = {"infer", "legalize_all"};
    if (!st) st = hone_graph_run_passes(module, passes, 2, NULL, &made);
    if (st) print_message("%s\n%s", hone_str_text(&text), hone_status_message(st));
    hone_str_deinit(&text);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    return made;
}

static const hone_func *kernel_of(hone_module *module) {
    for (uint32_t i = 0; i < module->member_count; i++) {
        hone_func *func = module->members[i].func;
        if (module->members[i].kind != HONE_MEMBER_FUNC) continue;
        func = hone_func_clone(module->arena, func);
        assert_non_null(func);
        assert_true(hone_attrs_without(module->arena, &func->attrs, "op_pattern", &func->attrs));
        return func;
    }
    fail_msg("no kernel");
    return NULL;
}

/* ---- the same as a formula ---- */

/* "(n, 3), "float32"" → an input */
static hone_array input_of(hone_formula *f, const char *name, const char *type, term n, term m) {
    hone_terms *terms = hone_formula_terms(f);
    term shape[8];
    uint32_t rank = 0;
    const char *at = type + 1;
    while (*at != ')') {
        if (*at == 'n' || *at == 'm') {
            shape[rank++] = *at++ == 'n' ? n : m;
        } else {
            char *end;
            long extent = strtol(at, &end, 10);
            shape[rank++] = hone_term_int(terms, "int64", extent);
            at = end;
        }
        while (*at == ',' || *at == ' ')
            at++;
    }
    char word[16] = "";
    sscanf(at, "), \"%15[a-z0-9]", word);
    return hone_formula_input_sized(f, name, word, rank, shape);
}

static hone_program *from_formula(const struct row *row, bool is_wide) {
    static const char *const names[] = {"x", "y", "z"};
    inputs in = {0};
    public_ok(hone_formula_create("main", &in.f));
    if (is_wide) hone_formula_index_type(in.f, "int64");
    term n = NULL, m = NULL;
    if (is_wide) n = in.n = hone_formula_size(in.f, "n");
    if (has_size(row, 'm')) m = hone_formula_size(in.f, "m");
    hone_array arrays[3] = {HONE_NO_ARRAY, HONE_NO_ARRAY, HONE_NO_ARRAY};
    for (int i = 0; i < 3 && row->types[i]; i++)
        arrays[i] = input_of(in.f, names[i], row->types[i], n, m);
    in.x = arrays[0], in.y = arrays[1], in.z = arrays[2];
    hone_array out = row->build(&in);
    hone_program *program = NULL;
    public_ok(hone_formula_finish(in.f, 1, &out, &program));
    hone_formula_free(in.f);
    return program;
}

static void makes_what_graphs_become(void **state) {
    const struct row *row = *state;
    bool is_wide = has_size(row, 'n');
    hone_program *program = from_formula(row, is_wide);
    char *text = NULL;
    hone_module *module = NULL, *graph = legalised(row);
    public_ok(hone_program_print(program, &text));
    HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "formula.py", &module));
    hone_str difference = {0};
    bool is_equal = hone_func_equal(kernel_of(module), kernel_of(graph), &difference);
    if (!is_equal) print_message("%s\n%s", hone_str_text(&difference), text);
    hone_str_deinit(&difference);
    hone_text_free(text);
    hone_program_free(program);
    hone_module_release(module);
    hone_module_release(graph);
    assert_true(is_equal);
}

/* ---- put together ---- */

static void stacks_layers(void **state) {
    (void)state;
    hone_formula *f = NULL;
    hone_program *program = NULL;
    public_ok(hone_formula_create("mlp", &f));
    hone_terms *terms = hone_formula_terms(f);
    term n = hone_formula_size(f, "n");
    static const int64_t w1[] = {32, 16}, b1[] = {32}, w2[] = {10, 32}, b2[] = {10};
    hone_array x = hone_formula_input_sized(f, "x", "float32", 2,
                                            (term[]){n, hone_term_int(terms, "int32", 16)});
    hone_array weight1 = hone_formula_input(f, "w1", "float32", 2, w1);
    hone_array bias1 = hone_formula_input(f, "b1", "float32", 1, b1);
    hone_array weight2 = hone_formula_input(f, "w2", "float32", 2, w2);
    hone_array bias2 = hone_formula_input(f, "b2", "float32", 1, b2);
    hone_array y = hone_topi_dense(f, x, weight1, bias1);
    y = hone_topi_unary(f, "nn.relu", y);
    y = hone_topi_dense(f, y, weight2, bias2);
    y = hone_topi_softmax(f, y, 1);
    public_ok(hone_formula_finish(f, 1, &y, &program));
    hone_formula_free(f);
    char *findings = NULL;
    public_ok(hone_program_verify(program, &findings));
    assert_null(findings);
    public_prints(program, "T.sblock(\"matmul_NT_1\")");
    public_prints(program, "T.sblock(\"relu\")");
    public_prints(program, "T.sblock(\"softmax_norm\")");
    hone_program_free(program);
}

/* ---- mistakes ---- */

typedef struct mistaken {
    hone_formula *f;
    hone_array x, y; /* float32[2, 3], float32[2, 4] */
} mistaken;

typedef hone_array (*mistake)(mistaken *m);

static hone_array no_operator(mistaken *m) {
    return hone_topi_unary(m->f, "nn.rely", m->x);
}
static hone_array null_operator(mistaken *m) {
    return hone_topi_unary(m->f, NULL, m->x);
}
static hone_array null_tensors(mistaken *m) {
    return hone_topi_call(m->f, "add", 2, NULL, 0, NULL);
}
static hone_array null_options(mistaken *m) {
    return hone_topi_call(m->f, "nn.relu", 1, &m->x, 1, NULL);
}
static hone_array too_few(mistaken *m) {
    return hone_topi_call(m->f, "add", 1, &m->x, 0, NULL);
}
static hone_array too_many(mistaken *m) {
    return hone_topi_call(m->f, "nn.relu", 2, (hone_array[]){m->x, m->x}, 0, NULL);
}
static hone_array far_too_many(mistaken *m) {
    hone_array many[65] = {0};
    return hone_topi_call(m->f, "concat", 65, many, 0, NULL);
}
static hone_array no_array(mistaken *m) {
    return hone_topi_binary(m->f, "add", m->x, 99);
}
static hone_array shapes_differ(mistaken *m) {
    return hone_topi_binary(m->f, "add", m->x, m->y);
}
static hone_array types_differ(mistaken *m) {
    return hone_topi_binary(m->f, "add", m->x, hone_topi_cast(m->f, m->x, "int32"));
}
static hone_array rows_differ(mistaken *m) {
    return hone_topi_matmul(m->f, m->x, m->y, 0, 0);
}
static hone_array exp_of_integers(mistaken *m) {
    return hone_topi_unary(m->f, "exp", hone_topi_cast(m->f, m->x, "int32"));
}
static hone_array null_cast(mistaken *m) {
    return hone_topi_cast(m->f, m->x, NULL);
}
static hone_array bad_cast(mistaken *m) {
    return hone_topi_cast(m->f, m->x, "float31");
}
static hone_array bad_axis(mistaken *m) {
    return hone_topi_softmax(m->f, m->x, 2);
}
static hone_array bad_reduce_axis(mistaken *m) {
    static const int64_t axes[] = {-3};
    return hone_topi_reduce(m->f, "sum", m->x, 1, axes, 0);
}
static hone_array null_axes(mistaken *m) {
    return hone_topi_reduce(m->f, "sum", m->x, 1, NULL, 0);
}
static hone_array no_reduction(mistaken *m) {
    return hone_topi_reduce(m->f, "average", m->x, 0, NULL, 0);
}
static hone_array two_arg_axes(mistaken *m) {
    static const int64_t axes[] = {0, 1};
    return hone_topi_reduce(m->f, "argmax", m->x, 2, axes, 0);
}
static hone_array flat_conv(mistaken *m) {
    return hone_topi_conv(m->f, m->x, m->y, NULL);
}
static hone_array null_kernel(mistaken *m) {
    static const int64_t shape[] = {1, 2, 3};
    return hone_topi_max_pool(m->f, hone_topi_reshape(m->f, m->x, 3, shape), NULL, NULL);
}
static hone_array odd_window(mistaken *m, hone_topi_window w, int64_t kernel) {
    static const int64_t shape[] = {1, 2, 3};
    return hone_topi_avg_pool(m->f, hone_topi_reshape(m->f, m->x, 3, shape), &kernel, &w);
}
static hone_array negative_stride(mistaken *m) {
    return odd_window(m, (hone_topi_window){.strides = {-1}}, 2);
}
static hone_array negative_padding(mistaken *m) {
    return odd_window(m, (hone_topi_window){.pad_before = {-1}}, 2);
}
static hone_array negative_kernel(mistaken *m) {
    return odd_window(m, (hone_topi_window){0}, -2);
}
static hone_array wide_kernel(mistaken *m) {
    return odd_window(m, (hone_topi_window){0}, 9);
}
static hone_array odd_groups(mistaken *m) {
    static const int64_t shape[] = {1, 2, 3}, weight[] = {2, 4, 1};
    hone_topi_window w = {.groups = 3};
    return hone_topi_conv(m->f, hone_topi_reshape(m->f, m->x, 3, shape),
                          hone_topi_reshape(m->f, m->y, 3, weight), &w);
}
static hone_array negative_groups(mistaken *m) {
    static const int64_t shape[] = {1, 2, 3}, weight[] = {2, 4, 1};
    hone_topi_window w = {.groups = -1};
    return hone_topi_conv(m->f, hone_topi_reshape(m->f, m->x, 3, shape),
                          hone_topi_reshape(m->f, m->y, 3, weight), &w);
}
static hone_array double_axes(mistaken *m) {
    static const int64_t axes[] = {0, 0};
    return hone_topi_transpose(m->f, m->x, axes);
}
static hone_array other_count(mistaken *m) {
    static const int64_t shape[] = {7};
    return hone_topi_reshape(m->f, m->x, 1, shape);
}
static hone_array null_shape(mistaken *m) {
    return hone_topi_reshape(m->f, m->x, 1, NULL);
}
static hone_array null_extent(mistaken *m) {
    term shape[] = {NULL};
    return hone_topi_reshape_sized(m->f, m->x, 1, shape);
}
static hone_array zero_extent(mistaken *m) {
    term shape[] = {hone_term_int(hone_formula_terms(m->f), "int32", 0)};
    return hone_topi_reshape_sized(m->f, m->x, 1, shape);
}
static hone_array deep_reshape(mistaken *m) {
    static const int64_t shape[] = {2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    return hone_topi_reshape(m->f, m->x, 13, shape);
}
static hone_array narrow_broadcast(mistaken *m) {
    static const int64_t shape[] = {2, 4};
    return hone_topi_broadcast_to(m->f, m->x, 2, shape);
}
static hone_array empty_concat(mistaken *m) {
    return hone_topi_concat(m->f, 0, NULL, 0);
}
static hone_array crooked_concat(mistaken *m) {
    return hone_topi_concat(m->f, 2, (hone_array[]){m->x, m->y}, 0);
}
static hone_array empty_slice(mistaken *m) {
    return hone_topi_slice(m->f, m->x, 0, 1, 1, 1);
}
static hone_array still_slice(mistaken *m) {
    return hone_topi_slice(m->f, m->x, 0, 0, 1, 0);
}
static hone_array take_floats(mistaken *m) {
    return hone_topi_take(m->f, m->x, m->x, 0);
}
static hone_array null_pad(mistaken *m) {
    return hone_topi_pad(m->f, m->x, NULL, NULL, 0);
}
static hone_array wrong_scale(mistaken *m) {
    static const int64_t axes[] = {1};
    return hone_topi_layer_norm(m->f, m->x, m->x, m->x, 1, axes, 1e-5);
}
static hone_array no_option(mistaken *m) {
    hone_option option = hone_option_integer("axes", 1);
    return hone_topi_call(m->f, "nn.softmax", 1, &m->x, 1, &option);
}
static hone_array unnamed_option(mistaken *m) {
    hone_option option = hone_option_integer(NULL, 1);
    return hone_topi_call(m->f, "nn.softmax", 1, &m->x, 1, &option);
}
static hone_array double_option(mistaken *m) {
    hone_option options[] = {hone_option_integer("axis", 1), hone_option_integer("axis", 0)};
    return hone_topi_call(m->f, "nn.softmax", 1, &m->x, 2, options);
}
static hone_array text_for_axis(mistaken *m) {
    hone_option option = hone_option_text("axis", "last");
    return hone_topi_call(m->f, "nn.softmax", 1, &m->x, 1, &option);
}
static hone_array text_for_shape(mistaken *m) {
    hone_option option = hone_option_text("shape", "2, 3");
    return hone_topi_call(m->f, "reshape", 1, &m->x, 1, &option);
}
static hone_array other_layout(mistaken *m) {
    static const int64_t shape[] = {1, 2, 3};
    hone_option option = hone_option_text("layout", "NCW4c");
    hone_array x = hone_topi_reshape(m->f, m->x, 3, shape);
    return hone_topi_call(m->f, "nn.max_pool1d", 1, &x, 1, &option);
}
static hone_array inside_an_array(mistaken *m) {
    static const int64_t shape[] = {2};
    hone_formula_axes(m->f, 1, shape, 0, NULL);
    return hone_topi_unary(m->f, "exp", m->x);
}
static hone_array many_elements(mistaken *m) {
    static const int64_t shape[] = {65536, 65536};
    hone_array big = hone_formula_input(m->f, "big", "float32", 2, shape);
    return hone_topi_unary(m->f, "exp", big);
}
static hone_array vectors(mistaken *m) {
    static const int64_t shape[] = {2};
    return hone_topi_unary(m->f, "exp", hone_formula_input(m->f, "v", "float32x4", 1, shape));
}
static hone_array mean_of_truths(mistaken *m) {
    return hone_topi_reduce(m->f, "mean", hone_topi_cast(m->f, m->x, "bool"), 0, NULL, 0);
}
static hone_array tensor_limits(mistaken *m) {
    return hone_topi_call(m->f, "clip", 3, (hone_array[]){m->x, m->x, m->x}, 0, NULL);
}
static hone_array far_pad(mistaken *m) {
    static const int64_t far[] = {0, INT64_MAX};
    return hone_topi_pad(m->f, m->x, far, far, 0);
}
static hone_array wide_pad(mistaken *m) {
    static const int64_t shape[] = {1, 2, 3}, kernel[] = {1};
    hone_topi_window w = {.strides = {1 << 30}, .pad_before = {INT32_MAX}};
    return hone_topi_max_pool(m->f, hone_topi_reshape(m->f, m->x, 3, shape), kernel, &w);
}
static hone_array not_a_builder(mistaken *m) {
    return hone_topi_call(m->f, "split", 1, &m->x, 0, NULL);
}

static const struct wrong {
    const char *name;
    mistake make;
    const char *kind, *part;
} wrongs[] = {
    {"no operator",        no_operator,      "not_found",   "nn.rely"                                  },
    {"NULL operator",      null_operator,    "invalid",     "NULL"                                     },
    {"NULL tensors",       null_tensors,     "invalid",     "tensors is NULL"                          },
    {"NULL options",       null_options,     "invalid",     "options is NULL"                          },
    {"too few",            too_few,          "invalid",     "'x2' is missing"                          },
    {"too many",           too_many,         "invalid",     "takes 1 tensors, got 2"                   },
    {"far too many",       far_too_many,     "invalid",     "more than 64"                             },
    {"no array",           no_array,         "invalid",     "no array 99"                              },
    {"shapes differ",      shapes_differ,    "type",        "float32[2, 3] and float32[2, 4]"          },
    {"types differ",       types_differ,     "type",        "int32"                                    },
    {"rows differ",        rows_differ,      "type",        "'matmul' of"                              },
    {"exp of integers",    exp_of_integers,  "type",        "'exp' of int32[2, 3]"                     },
    {"NULL type",          null_cast,        "invalid",     "'dtype' is NULL"                          },
    {"bad type",           bad_cast,         "type",        "float31"                                  },
    {"bad axis",           bad_axis,         "type",        "axis 2"                                   },
    {"bad axis of a sum",  bad_reduce_axis,  "type",        "axis -3"                                  },
    {"NULL axes",          null_axes,        "invalid",     "'axis' is NULL"                           },
    {"no reduction",       no_reduction,     "not_found",   "average"                                  },
    {"two axes of argmax", two_arg_axes,     "invalid",     "more than one axis"                       },
    {"flat conv",          flat_conv,        "type",        "2 dimensions, must have 3 to 5"           },
    {"NULL kernel",        null_kernel,      "invalid",     "kernel is NULL"                           },
    {"negative stride",    negative_stride,  "type",        "must be at least 1"                       },
    {"negative padding",   negative_padding, "",            "-1"                                       },
    {"negative kernel",    negative_kernel,  "",            "-2"                                       },
    {"wide kernel",        wide_kernel,      "type",        "avg_pool1d"                               },
    {"odd groups",         odd_groups,       "type",        "conv1d"                                   },
    {"negative groups",    negative_groups,  "",            "-1"                                       },
    {"axes twice",         double_axes,      "type",        "permute_dims"                             },
    {"other count",        other_count,      "type",        "reshape"                                  },
    {"NULL shape",         null_shape,       "invalid",     "'shape' is NULL"                          },
    {"NULL extent",        null_extent,      "invalid",     "is NULL"                                  },
    {"zero extent",        zero_extent,      "invalid",     "is 0"                                     },
    {"13 dimensions",      deep_reshape,     "",            "too many dimensions"                      },
    {"narrow broadcast",   narrow_broadcast, "type",        "broadcast_to"                             },
    {"empty concat",       empty_concat,     "invalid",     "is missing"                               },
    {"crooked concat",     crooked_concat,   "type",        "concat"                                   },
    {"empty slice",        empty_slice,      "unsupported", "without elements"                         },
    {"still slice",        still_slice,      "",            "strided_slice"                            },
    {"take at floats",     take_floats,      "type",        "take"                                     },
    {"NULL widths",        null_pad,         "invalid",     "is NULL"                                  },
    {"wrong scale",        wrong_scale,      "",            "layer_norm"                               },
    {"no option",          no_option,        "invalid",     "has no option 'axes'; it takes data, axis"},
    {"unnamed option",     unnamed_option,   "invalid",     "has no name"                              },
    {"double option",      double_option,    "invalid",     "given twice"                              },
    {"text for axis",      text_for_axis,    "invalid",     "wrong kind"                               },
    {"text for shape",     text_for_shape,   "invalid",     "wrong kind"                               },
    {"other layout",       other_layout,     "",            "NCW4c"                                    },
    {"inside an array",    inside_an_array,  "invalid",     "begun"                                    },
    {"2^32 elements",      many_elements,    "unsupported", "int64"                                    },
    {"vectors",            vectors,          "unsupported", "elements that are vectors"                },
    {"mean of truths",     mean_of_truths,   "unsupported", "a mean of truths"                         },
    {"tensor limits",      tensor_limits,    "unsupported", "limits that are tensors"                  },
    {"far pad",            far_pad,          "",            "from 0 to 2^31 - 1"                       },
    {"wide pad",           wide_pad,         "unsupported", "no int32"                                 },
    {"not a builder",      not_a_builder,    "",            "split"                                    },
};

static void sticks_to_mistakes(void **state) {
    const struct wrong *row = *state;
    static const int64_t x[] = {2, 3}, y[] = {2, 4};
    mistaken m;
    public_ok(hone_formula_create("main", &m.f));
    m.x = hone_formula_input(m.f, "x", "float32", 2, x);
    m.y = hone_formula_input(m.f, "y", "float32", 2, y);
    hone_array out = row->make(&m);
    hone_program *program = NULL;
    hone_error *error = hone_formula_finish(m.f, 1, &out, &program);
    hone_formula_free(m.f);
    bool is_refused = out == HONE_NO_ARRAY && !program;
    hone_program_free(program);
    if (*row->kind) {
        public_expect(error, row->kind, row->part);
    } else {
        bool has_part = strstr(hone_error_message(error), row->part) != NULL;
        if (!has_part) print_message("%s\n", hone_error_message(error));
        hone_error_free(error);
        assert_true(has_part);
    }
    assert_true(is_refused);
}

static void needs_a_formula(void **state) {
    (void)state;
    static const int64_t two[] = {1, 1};
    assert_int_equal(hone_topi_unary(NULL, "exp", 0), HONE_NO_ARRAY);
    assert_int_equal(hone_topi_dense(NULL, 0, 0, HONE_NO_ARRAY), HONE_NO_ARRAY);
    assert_int_equal(hone_topi_conv(NULL, 0, 0, NULL), HONE_NO_ARRAY);
    assert_int_equal(hone_topi_max_pool(NULL, 0, two, NULL), HONE_NO_ARRAY);
    assert_int_equal(hone_topi_global_avg_pool(NULL, 0), HONE_NO_ARRAY);
    assert_int_equal(hone_topi_pad(NULL, 0, two, two, 0), HONE_NO_ARRAY);
    assert_int_equal(hone_topi_transpose(NULL, 0, two), HONE_NO_ARRAY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_layers),
        cmocka_unit_test(needs_a_formula),
    };
    int failed = cmocka_run_group_tests_name("package/topi", tests, NULL, NULL);
    failed += HONE_RUN_ROWS("package/topi_mistakes", wrongs, sticks_to_mistakes);
    return failed + HONE_RUN_ROWS("package/topi_kernels", rows, makes_what_graphs_become);
}
