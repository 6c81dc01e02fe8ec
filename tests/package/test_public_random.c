/* tests/package/test_public_random.c - random calls of the public interface, most of them nonsense:
 * each formula and graph ends in a program that is well formed and can be read again, or in an
 * error with words. */
#include "support/data/rng.h"
#include "tests/package/public_test.h"

typedef const hone_term *term;
typedef const hone_argument *argument;

enum { MAX_ARRAYS = 24, MAX_TERMS = 32 };

static hone_rng rng;

static int64_t between(int64_t low, int64_t high) {
    return hone_rng_between(&rng, low, high);
}

static bool rarely(void) {
    return between(0, 119) == 0;
}

#define PICK(list) ((list)[between(0, (int64_t)(sizeof(list) / sizeof(list)[0]) - 1)])

static const char *const types[] = {"float32", "float32", "float32", "float32", "float16",
                                    "float64", "int32",   "int64",   "int8",    "uint8",
                                    "bool",    "handle",  "float31", "",        "float32x4"};

static const char *random_type(void) {
    if (rarely()) return NULL;
    return types[between(0, between(0, 5) ? 3 : (int64_t)(sizeof types / sizeof types[0]) - 1)];
}

static int64_t extent(void) {
    static const int64_t sizes[] = {1, 2, 3, 4, 2, 3, 6, 12};
    static const int64_t odd[] = {0, -1, -2, 1 << 20, INT32_MAX, INT64_MAX, INT64_MIN};
    return rarely() ? PICK(odd) : PICK(sizes);
}

static int64_t small(void) {
    return rarely()        ? PICK(((int64_t[]){-9, 99, INT64_MAX, INT64_MIN, INT32_MIN}))
           : between(0, 5) ? between(0, 2)
                           : between(-2, 4);
}

/* ---- formulas ---- */

typedef struct world {
    hone_formula *f;
    hone_terms *terms;
    hone_array arrays[MAX_ARRAYS];
    term items[MAX_TERMS];
    uint32_t array_count, term_count;
} world;

static void keep_array(world *w, hone_array array) {
    if (array == HONE_NO_ARRAY || w->array_count == MAX_ARRAYS) return;
    w->arrays[w->array_count++] = array;
}

static void keep_term(world *w, term item) {
    if (item) w->items[w->term_count++ % MAX_TERMS] = item;
}

static hone_array some_array(world *w) {
    if (rarely() || !w->array_count) return PICK(((hone_array[]){HONE_NO_ARRAY, 77, 1000000}));
    return w->arrays[between(0, w->array_count - 1)];
}

static term some_term(world *w) {
    uint32_t count = w->term_count < MAX_TERMS ? w->term_count : MAX_TERMS;
    return rarely() || !count ? NULL : w->items[between(0, count - 1)];
}

static void add_input(world *w) {
    int64_t shape[20];
    term sized[20];
    uint32_t rank = (uint32_t)(rarely() ? between(0, 20) : between(0, 4));
    for (uint32_t d = 0; d < rank; d++) {
        shape[d] = extent();
        sized[d] = between(0, 1) ? some_term(w) : hone_term_int(w->terms, "int32", shape[d]);
    }
    const char *name = rarely() ? PICK(((const char *[]){NULL, "", "a b", "9"})) : "x";
    if (between(0, 3))
        keep_array(w, hone_formula_input(w->f, name, random_type(), rank, rarely() ? NULL : shape));
    else
        keep_array(w, hone_formula_input_sized(w->f, name, random_type(), rank, sized));
}

static void add_term(world *w) {
    static const char *const ops[] = {"+", "-",  "*",   "/",  "//",       "%",   "min", "max",
                                      "<", "==", "and", "or", "truncdiv", "***", ""};
    static const char *const calls[] = {"exp",         "tanh",       "pow",         "if_then_else",
                                        "abs",         "fabs",       "shift_left",  "isnan",
                                        "call_extern", "address_of", "reinterpret", "ret",
                                        "nothing",     "likely",     "fma"};
    term args[3] = {some_term(w), some_term(w), some_term(w)};
    switch (between(0, 8)) {
    case 0:
        keep_term(w, hone_term_int(w->terms, random_type(), small()));
        break;
    case 1:
        keep_term(w, rarely()   ? hone_term_lowest(w->terms, random_type())
                     : rarely() ? hone_term_highest(w->terms, random_type())
                                : hone_term_float(w->terms, random_type(), (double)small() / 4));
        break;
    case 2:
    case 3:
        keep_term(w, hone_term_binary(w->terms, PICK(ops), args[0], args[1]));
        break;
    case 4:
        keep_term(w, hone_term_select(w->terms, args[0], args[1], args[2]));
        break;
    case 5:
        keep_term(w, hone_term_cast(w->terms, random_type(), args[0]));
        break;
    case 6:
        keep_term(w, hone_term_call(w->terms, between(0, 1) ? NULL : random_type(), PICK(calls),
                                    (size_t)between(0, 3), args));
        break;
    case 7:
        keep_term(w, hone_term_not(w->terms, args[0]));
        break;
    default:
        if (hone_term_arg_count(args[0]) <= 3)
            keep_term(w, hone_term_with_args(w->terms, args[0], args));
        break;
    }
}

static void add_load(world *w) {
    hone_array array = some_array(w);
    uint32_t rank = hone_formula_rank(w->f, array);
    term indices[20] = {NULL};
    for (uint32_t d = 0; d < rank && d < 20; d++)
        indices[d] = some_term(w);
    if (rank <= 20) keep_term(w, hone_formula_load(w->f, array, rarely() ? NULL : indices));
}

/* Several arrays at once. */
static void add_many(world *w, bool is_reduction) {
    const char *of_types[4];
    hone_array arrays[4];
    term one[4], two[4];
    size_t count = (size_t)between(rarely() ? 0 : 1, 4);
    for (int i = 0; i < 4; i++)
        of_types[i] = random_type();
    if (is_reduction) {
        hone_formula_reduce_begin_many(w->f, "m", count, of_types, one);
        for (size_t i = 0; i < count; i++)
            keep_term(w, one[i]);
    }
    for (int i = 0; i < 4; i++)
        one[i] = some_term(w), two[i] = some_term(w);
    if (is_reduction)
        hone_formula_reduce_end_many(w->f, count, one, two, arrays);
    else
        hone_formula_compute_many(w->f, "m", count, one, arrays);
    for (size_t i = 0; i < count; i++)
        keep_array(w, arrays[i]);
}

static void add_extern(world *w) {
    hone_array inputs[3] = {some_array(w), some_array(w), some_array(w)};
    int64_t shape[3] = {extent(), extent(), extent()};
    keep_array(w, hone_formula_extern(w->f, "e", "fill", (size_t)between(0, 3), inputs,
                                      random_type(), (uint32_t)between(0, 3), shape));
}

/* An array of its own: axes, terms over them, an end. */
static void add_stage(world *w) {
    int64_t shape[20], reduced[20];
    uint32_t rank = (uint32_t)between(0, 3), reduce = (uint32_t)between(0, 1);
    for (uint32_t d = 0; d < 20; d++)
        shape[d] = extent(), reduced[d] = extent();
    hone_formula_axes(w->f, rank, shape, reduce, reduced);
    w->term_count = 0;
    for (uint32_t d = 0; d < rank + reduce + (rarely() ? 1 : 0); d++)
        keep_term(w, hone_formula_axis(w->f, d));
    for (int64_t i = between(1, 6); i > 0; i--) {
        if (between(0, 1))
            add_load(w);
        else
            add_term(w);
    }
    term value = some_term(w);
    if (between(0, 5) == 0) {
        add_many(w, reduce != (uint32_t)rarely());
    } else if (reduce && between(0, 3) == 0) {
        keep_term(w, hone_formula_reduce_begin(w->f, "r", random_type()));
        keep_array(w, hone_formula_reduce_end(w->f, some_term(w), some_term(w)));
    } else if (reduce != (uint32_t)rarely()) {
        static const char *const words[] = {"sum", "prod", "max", "min", "sum", "mean"};
        keep_array(w, hone_formula_reduce(w->f, "r", PICK(words), value));
    } else {
        keep_array(w, hone_formula_compute(w->f, "y", value));
    }
    w->term_count = 0;
}

static void add_any_operator(world *w) {
    static const char *const ops[] = {"add",           "where",
                                      "clip",          "astype",
                                      "matmul",        "linear",
                                      "nn.conv2d",     "nn.max_pool1d",
                                      "nn.avg_pool2d", "nn.adaptive_avg_pool2d",
                                      "nn.batch_norm", "nn.layer_norm",
                                      "nn.softmax",    "nn.pad",
                                      "nn.dropout",    "sum",
                                      "argmax",        "reshape",
                                      "flatten",       "squeeze",
                                      "expand_dims",   "permute_dims",
                                      "broadcast_to",  "concat",
                                      "split",         "strided_slice",
                                      "take",          "nothing"};
    static const char *const keys[] = {
        "axis",        "axes",      "keepdims",  "strides",     "padding", "dilation",
        "groups",      "pool_size", "shape",     "min",         "max",     "begin",
        "end",         "dtype",     "pad_width", "output_size", "epsilon", "indices_or_sections",
        "transpose_a", "layout",    "ceil_mode", "out_dtype",   "pad_mode"};
    hone_array tensors[4];
    hone_option options[4];
    int64_t numbers[8];
    term terms[3] = {some_term(w), some_term(w), some_term(w)};
    for (int i = 0; i < 4; i++)
        tensors[i] = some_array(w);
    for (int i = 0; i < 8; i++)
        numbers[i] = small();
    for (int i = 0; i < 4; i++) {
        const char *key = rarely() ? NULL : PICK(keys);
        switch (between(0, 5)) {
        case 0:
            options[i] = hone_option_integer(key, small());
            break;
        case 1:
            options[i] = hone_option_number(key, (double)small());
            break;
        case 2:
            options[i] = hone_option_text(key, rarely() ? NULL : "float32");
            break;
        case 3:
            options[i] = hone_option_flag(key, (int)between(0, 1));
            break;
        case 4:
            options[i] = hone_option_terms(key, (size_t)between(0, 3), terms);
            break;
        default:
            options[i] =
                hone_option_integers(key, (size_t)between(0, 8), rarely() ? NULL : numbers);
            break;
        }
    }
    keep_array(w, hone_topi_call(w->f, PICK(ops), (size_t)between(0, 4), tensors,
                                 (size_t)between(0, 3), options));
}

static void add_operator(world *w) {
    static const char *const unary[] = {"exp",      "nn.relu", "nn.gelu",     "abs",
                                        "negative", "sigmoid", "logical_not", "nn.softmax",
                                        "nn.silu",  "flatten"};
    static const char *const binary[] = {"add", "multiply",     "divide",      "power",  "less",
                                         "mod", "floor_divide", "logical_and", "maximum"};
    static const char *const reductions[] = {"sum", "prod", "max", "mean", "argmax", "argmin"};
    hone_array a = some_array(w), b = some_array(w), c = some_array(w);
    int64_t numbers[16], more[16];
    for (int i = 0; i < 16; i++)
        numbers[i] = small(), more[i] = small();
    hone_topi_window window = {
        .strides = {small(), small(), small()},
        .dilation = {small(), small(), small()},
        .pad_before = {small(), small(), small()},
        .pad_after = {small(), small(), small()},
        .groups = small(),
        .ceil_mode = (int)between(0, 1),
        .count_include_pad = (int)between(0, 1)
    };
    hone_topi_window *maybe = between(0, 1) ? &window : NULL;
    int64_t shape[16];
    for (int i = 0; i < 16; i++)
        shape[i] = extent();
    uint32_t rank = (uint32_t)(rarely() ? between(0, 14) : between(0, 4));
    switch (between(0, 20)) {
    case 0:
        keep_array(w, hone_topi_unary(w->f, PICK(unary), a));
        break;
    case 1:
        keep_array(w, hone_topi_binary(w->f, PICK(binary), a, b));
        break;
    case 2:
        keep_array(w, hone_topi_where(w->f, a, b, c));
        break;
    case 3:
        keep_array(w, hone_topi_clip(w->f, a, (double)small(), (double)small()));
        break;
    case 4:
        keep_array(w, hone_topi_cast(w->f, a, random_type()));
        break;
    case 5:
        keep_array(w, hone_topi_matmul(w->f, a, b, (int)between(0, 1), (int)between(0, 1)));
        break;
    case 6:
        keep_array(w, hone_topi_dense(w->f, a, b, between(0, 1) ? c : HONE_NO_ARRAY));
        break;
    case 7:
        keep_array(w, hone_topi_conv(w->f, a, b, maybe));
        break;
    case 8:
        keep_array(w, hone_topi_max_pool(w->f, a, numbers, maybe));
        break;
    case 9:
        keep_array(w, hone_topi_avg_pool(w->f, a, numbers, maybe));
        break;
    case 10:
        keep_array(w, hone_topi_global_avg_pool(w->f, a));
        break;
    case 11:
        keep_array(w, hone_topi_reduce(w->f, PICK(reductions), a, (size_t)between(0, 2), numbers,
                                       (int)between(0, 1)));
        break;
    case 12:
        keep_array(w, hone_topi_softmax(w->f, a, small()));
        break;
    case 13:
        keep_array(w, hone_topi_layer_norm(w->f, a, b, c, (size_t)between(0, 2), numbers, 1e-5));
        break;
    case 14:
        keep_array(w, hone_topi_transpose(w->f, a, between(0, 1) ? numbers : NULL));
        break;
    case 15:
        keep_array(w, hone_topi_reshape(w->f, a, rank, shape));
        break;
    case 16:
        keep_array(w, hone_topi_broadcast_to(w->f, a, rank, shape));
        break;
    case 17:
        keep_array(w, hone_topi_concat(w->f, 2, (hone_array[]){a, b}, small()));
        break;
    case 18:
        keep_array(w, hone_topi_slice(w->f, a, small(), small(), small(), small()));
        break;
    case 19:
        keep_array(w, hone_topi_take(w->f, a, b, small()));
        break;
    default:
        keep_array(w, hone_topi_pad(w->f, a, numbers, more, (double)small()));
        break;
    }
}

/* A program is well formed, and its text gives it again; an error has a kind and words. */
static void check(hone_error *error, hone_program *program, int *made) {
    if (error) {
        bool has_words = *hone_error_message(error) && strcmp(hone_error_kind(error), "internal");
        if (!has_words || program) print_message("%s\n", hone_error_message(error));
        hone_error_free(error);
        assert_true(has_words && !program);
        return;
    }
    char *text = NULL, *findings = NULL, *difference = NULL;
    hone_program *again = NULL;
    public_ok(hone_program_verify(program, &findings));
    public_ok(hone_program_print(program, &text));
    bool has_weights = strstr(text, "metadata[") != NULL; /* too long for text */
    hone_error *unread = has_weights ? NULL : hone_program_parse(text, "again.py", &again);
    bool is_same =
        has_weights || (!findings && !unread && hone_program_equal(program, again, &difference));
    if (!is_same) {
        print_message("%s\n%s%s\n%s", findings ? findings : "", hone_error_message(unread),
                      difference ? difference : "", text);
    }
    hone_error_free(unread);
    hone_text_free(difference);
    hone_text_free(findings);
    hone_text_free(text);
    hone_program_free(again);
    hone_program_free(program);
    assert_true(is_same);
    ++*made;
}

static void random_formula(uint64_t seed, int *made) {
    world w = {0};
    hone_program *program = NULL;
    rng = hone_rng_from_seed(seed);
    public_ok(hone_formula_create("main", &w.f));
    w.terms = hone_formula_terms(w.f);
    if (rarely()) hone_formula_index_type(w.f, PICK(((const char *[]){"int64", "int32", "x"})));
    if (between(0, 2) == 0) keep_term(&w, hone_formula_size(w.f, "n"));
    for (int64_t i = between(1, 3); i > 0; i--)
        add_input(&w);
    for (int64_t i = between(1, 3); i > 0; i--) {
        int64_t what = between(0, 9);
        if (between(0, 15) == 0)
            add_extern(&w);
        else if (what < 3)
            add_stage(&w);
        else if (what < 9)
            add_operator(&w);
        else
            add_any_operator(&w);
    }
    hone_array outputs[2] = {w.array_count ? w.arrays[w.array_count - 1] : 0, some_array(&w)};
    hone_error *error = hone_formula_finish(w.f, rarely() ? 2 : 1, outputs, &program);
    hone_formula_free(w.f);
    check(error, program, made);
}

static void makes_programs_or_says_why(void **state) {
    (void)state;
    uint64_t seed = hone_test_seed(1), count = hone_test_count(3000);
    int made = 0;
    for (uint64_t i = 0; i < count; i++)
        random_formula(seed + i, &made);
    print_message("%d of %d formulas are programs\n", made, (int)count);
    assert_true(count < 1000 || made > (int)count / 20);
}

/* ---- graphs ---- */

static void random_graph(uint64_t seed, int *made) {
    static const char zeros[4096] = "some are not";
    static const char *const ops[] = {"add",          "nn.relu", "matmul",    "exp",
                                      "nn.softmax",   "sum",     "reshape",   "concat",
                                      "permute_dims", "split",   "nn.conv2d", "multiply",
                                      "nn.dropout",   "squeeze", "nothing"};
    argument values[32] = {NULL};
    size_t count = 0;
    hone_graph *g = NULL;
    hone_program *program = NULL;
    rng = hone_rng_from_seed(seed);
    public_ok(hone_graph_create("main", NULL, &g));
    hone_terms *terms = hone_graph_terms(g);
    term n = hone_graph_size(g, "n");
    for (int64_t i = between(1, 3); i > 0; i--) {
        term shape[4];
        for (int d = 0; d < 4; d++)
            shape[d] = between(0, 5) ? hone_term_int(terms, "int64", extent()) : n;
        values[count++] = hone_graph_parameter(g, "x", random_type(), (uint32_t)between(0, 4),
                                               rarely() ? NULL : shape);
    }
    for (int64_t i = between(1, 5); i > 0; i--) {
        argument args[] = {values[between(0, (int64_t)count - 1)],
                           values[between(0, (int64_t)count - 1)]};
        int64_t numbers[] = {extent(), extent(), small()};
        hone_option options[] = {
            between(0, 1) ? hone_option_integer("axis", small())
                          : hone_option_integers("shape", (size_t)between(0, 3), numbers)};
        argument made_now = NULL;
        switch (between(0, 6)) {
        case 0:
            made_now = hone_graph_tuple(g, (size_t)between(0, 2), args);
            break;
        case 1:
            made_now = hone_graph_item(g, args[0], (uint32_t)between(0, 2));
            break;
        case 2:
            made_now =
                hone_graph_call_external(g, "f", (size_t)between(0, 2), args, random_type(), 1, &n);
            break;
        case 3:
            made_now = hone_graph_constant(g, random_type(), (uint32_t)between(0, 1), &numbers[2],
                                           rarely() ? NULL : zeros);
            break;
        default:
            made_now = hone_graph_operator(g, PICK(ops), (size_t)between(1, 2), args,
                                           (size_t)between(0, 3) / 3, options);
            break;
        }
        if (made_now) values[count++] = made_now;
    }
    hone_error *error = hone_graph_finish(g, values[count - 1], &program);
    hone_graph_free(g);
    check(error, program, made);
}

static void makes_graphs_or_says_why(void **state) {
    (void)state;
    uint64_t seed = hone_test_seed(1), count = hone_test_count(2000);
    int made = 0;
    for (uint64_t i = 0; i < count; i++)
        random_graph(seed + i, &made);
    print_message("%d of %d graphs are programs\n", made, (int)count);
    assert_true(count < 1000 || made > (int)count / 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_programs_or_says_why),
        cmocka_unit_test(makes_graphs_or_says_why),
    };
    return cmocka_run_group_tests_name("package/random", tests, NULL, NULL);
}
