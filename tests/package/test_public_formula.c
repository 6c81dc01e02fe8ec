/* tests/package/test_public_formula.c - programs from formulas: fixed and symbolic sizes,
 * reductions of one's own, and every mistake that can be made on the way. */
#include "tests/package/public_test.h"

typedef const hone_term *term;

static const int64_t six[] = {6}, four_six[] = {4, 6};

static hone_formula *begin(void) {
    hone_formula *f = NULL;
    public_ok(hone_formula_create("main", &f));
    return f;
}

/* Y[i] = value, over six elements */
static hone_array end(hone_formula *f, term value) {
    return hone_formula_compute(f, "Y", value);
}

/* ---- what works ---- */

static hone_program *finish(hone_formula *f, hone_array y) {
    hone_program *program = NULL;
    public_ok(hone_formula_finish(f, 1, &y, &program));
    hone_formula_free(f);
    char *findings = NULL;
    public_ok(hone_program_verify(program, &findings));
    assert_null(findings);
    return program;
}

static void doubles(void **state) {
    (void)state;
    hone_formula *f = begin();
    hone_terms *terms = hone_formula_terms(f);
    hone_array x = hone_formula_input(f, "X", "float32", 1, six);
    hone_formula_axes(f, 1, six, 0, NULL);
    term i = hone_formula_axis(f, 0), load = hone_formula_load(f, x, &i);
    hone_program *program =
        finish(f, end(f, hone_term_binary(terms, "*", load, hone_term_int(terms, "int32", 2))));
    public_prints(program, "Y[v_i0] = X[v_i0] * T.float32(2.0)");
    hone_program_free(program);
}

/* C[i, j] = sum over k of A[i, k] * B[k, j], of any sizes */
static hone_program *symbolic_product(const char *index_type) {
    hone_formula *f = begin();
    hone_terms *terms = hone_formula_terms(f);
    hone_formula_index_type(f, index_type);
    term n = hone_formula_size(f, "n"), m = hone_formula_size(f, "m");
    term width = hone_term_int(terms, "int32", 32);
    hone_array a = hone_formula_input_sized(f, "A", "float32", 2, (term[]){n, m});
    hone_array b = hone_formula_input_sized(f, "B", "float32", 2, (term[]){m, width});
    assert_int_equal(hone_formula_rank(f, a), 2);
    hone_formula_axes_sized(f, 2, (term[]){hone_formula_extent(f, a, 0), width}, 1,
                            (term[]){hone_formula_extent(f, b, 0)});
    term i = hone_formula_axis(f, 0), j = hone_formula_axis(f, 1), k = hone_formula_axis(f, 2);
    term left = hone_formula_load(f, a, (term[]){i, k});
    term right = hone_formula_load(f, b, (term[]){k, j});
    return finish(f, hone_formula_reduce(f, "C", "sum", hone_term_binary(terms, "*", left, right)));
}

static void takes_symbolic_sizes(void **state) {
    (void)state;
    static const char text[] = "from tvm.script import tir as T\n"
                               "@T.prim_func\n"
                               "def main(a: T.handle, b: T.handle, c: T.handle):\n"
                               "    T.func_attr({\"tir.noalias\": True})\n"
                               "    n = T.int32(is_size_var=True)\n"
                               "    m = T.int32(is_size_var=True)\n"
                               "    A = T.match_buffer(a, (n, m), \"float32\")\n"
                               "    B = T.match_buffer(b, (m, 32), \"float32\")\n"
                               "    C = T.match_buffer(c, (n, 32), \"float32\")\n"
                               "    for i, j, k in T.grid(n, 32, m):\n"
                               "        with T.block(\"C\"):\n"
                               "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                               "            with T.init():\n"
                               "                C[vi, vj] = T.float32(0)\n"
                               "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";
    hone_program *program = symbolic_product("int32"), *want = public_parse(text);
    char *difference = NULL;
    int is_equal = hone_program_equal(program, want, &difference);
    if (difference) print_message("%s\n", difference);
    hone_text_free(difference);
    hone_program_free(program);
    hone_program_free(want);
    assert_int_equal(is_equal, 1);
    program = symbolic_product("int64");
    public_prints(program, "n = T.int64()");
    hone_program_free(program);
}

/* The product of a sum and a size: shapes are calculated with. */
static void calculates_with_sizes(void **state) {
    (void)state;
    hone_formula *f = begin();
    hone_terms *terms = hone_formula_terms(f);
    term n = hone_formula_size(f, "n"), one = hone_term_int(terms, "int32", 1);
    term longer = hone_term_binary(terms, "+", n, one);
    hone_array x = hone_formula_input_sized(f, "X", "float32", 1, &n);
    hone_formula_axes_sized(f, 1, &longer, 0, NULL);
    term i = hone_formula_axis(f, 0);
    term before = hone_term_binary(terms, "-", i, one);
    term is_inside = hone_term_binary(terms, "<=", one, i);
    term load = hone_formula_load(f, x, &before);
    term parts[] = {is_inside, load, hone_term_float(terms, "float32", 0)};
    hone_program *program =
        finish(f, end(f, hone_term_call(terms, NULL, "if_then_else", 3, parts)));
    public_prints(program, "n + 1");
    hone_program_free(program);
}

/* A single element, and the largest square of a row by a combination of one's own. */
static void reduces_in_its_own_way(void **state) {
    (void)state;
    hone_formula *f = begin();
    hone_terms *terms = hone_formula_terms(f);
    hone_array x = hone_formula_input(f, "X", "float32", 2, four_six);
    hone_formula_axes(f, 0, NULL, 2, four_six);
    term at[] = {hone_formula_axis(f, 0), hone_formula_axis(f, 1)};
    term load = hone_formula_load(f, x, at);
    term old = hone_formula_reduce_begin(f, "most", "float32");
    term square = hone_term_binary(terms, "*", load, load);
    term better = hone_term_select(terms, hone_term_binary(terms, "<", old, square), square, old);
    hone_array y = hone_formula_reduce_end(f, hone_term_float(terms, "float32", 0), better);
    hone_program *program = finish(f, y);
    public_prints(program, "most[()] = T.Select(");
    hone_program_free(program);
}

/* Arrays of one name get others. */
static void tells_arrays_apart(void **state) {
    (void)state;
    hone_formula *f = begin();
    hone_array x = hone_formula_input(f, "X", "float32", 1, six);
    for (int round = 0; round < 3; round++) {
        hone_formula_axes(f, 1, six, 0, NULL);
        term i = hone_formula_axis(f, 0);
        x = end(f, hone_formula_load(f, x, &i));
    }
    hone_program *program = finish(f, x);
    public_prints(program, "T.sblock(\"Y_1\")");
    public_prints(program, "T.sblock(\"Y_2\")");
    hone_program_free(program);
}

/* ---- mistakes ---- */

typedef struct mistaken { /* a formula with an input of six floats and axes over six elements */
    hone_formula *f, *other;
    hone_terms *terms;
    hone_array x;
    term i, load;
} mistaken;

typedef hone_array (*mistake)(mistaken *m);

static hone_array bad_type(mistaken *m) {
    return hone_formula_input(m->f, "Z", "float31", 1, six);
}
static hone_array null_type(mistaken *m) {
    return hone_formula_input(m->f, "Z", NULL, 1, six);
}
static hone_array null_name(mistaken *m) {
    return hone_formula_input(m->f, NULL, "float32", 1, six);
}
static hone_array no_identifier(mistaken *m) {
    return hone_formula_compute(m->f, "an array", m->load);
}
static hone_array null_shape(mistaken *m) {
    return hone_formula_input(m->f, "Z", "float32", 1, NULL);
}
static hone_array zero_extent(mistaken *m) {
    static const int64_t shape[] = {4, 0};
    return hone_formula_input(m->f, "Z", "float32", 2, shape);
}
static hone_array huge_extent(mistaken *m) {
    static const int64_t shape[] = {(int64_t)1 << 31};
    return hone_formula_input(m->f, "Z", "float32", 1, shape);
}
static hone_array deep_shape(mistaken *m) {
    static const int64_t shape[17] = {1};
    return hone_formula_input(m->f, "Z", "float32", 17, shape);
}
static hone_array null_extent(mistaken *m) {
    term shape[] = {NULL};
    return hone_formula_input_sized(m->f, "Z", "float32", 1, shape);
}
static hone_array axis_as_extent(mistaken *m) {
    return hone_formula_input_sized(m->f, "Z", "float32", 1, &m->i);
}
static hone_array float_extent(mistaken *m) {
    term shape = hone_term_float(m->terms, "float32", 4);
    return hone_formula_input_sized(m->f, "Z", "float32", 1, &shape);
}
static hone_array wide_extent(mistaken *m) {
    term shape = hone_term_cast(m->terms, "int64", hone_formula_size(m->f, "n"));
    return hone_formula_input_sized(m->f, "Z", "float32", 1, &shape);
}
static hone_array late_index_type(mistaken *m) {
    hone_formula_index_type(m->f, "int64");
    return end(m->f, m->load);
}
static hone_array bad_index_type(mistaken *m) {
    hone_formula_index_type(m->f, "float32");
    return end(m->f, m->load);
}
static hone_array null_size(mistaken *m) {
    hone_formula_size(m->f, NULL);
    return end(m->f, m->load);
}
static hone_array size_of_nothing(mistaken *m) {
    term n = hone_formula_size(m->f, "n");
    return end(m->f,
               hone_term_binary(m->terms, "*", m->load, hone_term_cast(m->terms, "float32", n)));
}
static hone_array no_such_extent(mistaken *m) {
    hone_formula_extent(m->f, m->x, 1);
    return end(m->f, m->load);
}
static hone_array no_such_array(mistaken *m) {
    return end(m->f, hone_formula_load(m->f, 77, &m->i));
}
static hone_array array_of_a_mistake(mistaken *m) {
    return end(m->f, hone_formula_load(m->f, HONE_NO_ARRAY, &m->i));
}
static hone_array null_indices(mistaken *m) {
    return end(m->f, hone_formula_load(m->f, m->x, NULL));
}
static hone_array null_index(mistaken *m) {
    term none = NULL;
    return end(m->f, hone_formula_load(m->f, m->x, &none));
}
static hone_array float_index(mistaken *m) {
    return end(m->f, hone_formula_load(m->f, m->x, &m->load));
}
static hone_array no_such_axis(mistaken *m) {
    return end(m->f, hone_formula_axis(m->f, 1));
}
static hone_array null_value(mistaken *m) {
    return end(m->f, NULL);
}
static hone_array text_value(mistaken *m) {
    return end(m->f, hone_term_string(m->terms, "six"));
}
static hone_array no_reduction_axes(mistaken *m) {
    return hone_formula_reduce(m->f, "Y", "sum", m->load);
}
static hone_array no_reduction(mistaken *m) {
    hone_formula_axes(m->f, 0, NULL, 1, six);
    return end(m->f, m->load);
}
static hone_array bad_reduction(mistaken *m) {
    hone_formula_axes(m->f, 0, NULL, 1, six);
    term k = hone_formula_axis(m->f, 0);
    return hone_formula_reduce(m->f, "Y", "mean", hone_formula_load(m->f, m->x, &k));
}
static hone_array null_reduction(mistaken *m) {
    hone_formula_axes(m->f, 0, NULL, 1, six);
    term k = hone_formula_axis(m->f, 0);
    return hone_formula_reduce(m->f, "Y", NULL, hone_formula_load(m->f, m->x, &k));
}
static hone_array end_without_begin(mistaken *m) {
    return hone_formula_reduce_end(m->f, m->load, m->load);
}
static hone_array begin_without_end(mistaken *m) {
    hone_array y = end(m->f, m->load);
    hone_formula_axes(m->f, 0, NULL, 1, six);
    hone_formula_reduce_begin(m->f, "Z", "float32");
    return y;
}
static hone_array begin_in_begin(mistaken *m) {
    begin_without_end(m);
    hone_formula_axes(m->f, 1, six, 0, NULL);
    return HONE_NO_ARRAY;
}
static hone_array other_combination(mistaken *m) {
    hone_formula_axes(m->f, 0, NULL, 1, six);
    term old = hone_formula_reduce_begin(m->f, "Z", "float32");
    return hone_formula_reduce_end(m->f, hone_term_int(m->terms, "int32", 0), old);
}
static hone_array ended_twice(mistaken *m) {
    end(m->f, m->load);
    return end(m->f, m->load);
}
static hone_array many_axes(mistaken *m) {
    static const int64_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    hone_formula_axes(m->f, 9, ones, 9, ones);
    return end(m->f, m->load);
}
static hone_array old_axis(mistaken *m) {
    end(m->f, m->load);
    hone_formula_axes(m->f, 1, six, 0, NULL);
    return end(m->f, m->load);
}
static hone_array term_of_another(mistaken *m) {
    hone_array z = hone_formula_input(m->other, "Z", "float32", 1, six);
    for (int i = 0; i < 9; i++)
        z = hone_formula_input(m->other, "Z", "float32", 1, six);
    hone_formula_axes(m->other, 1, six, 0, NULL);
    term i = hone_formula_axis(m->other, 0);
    return end(m->f, hone_formula_load(m->other, z, &i));
}
static hone_array mixed_types(mistaken *m) {
    term other = hone_term_cast(m->terms, "float64", m->load);
    return end(m->f, hone_term_binary(m->terms, "+", m->load, other));
}
static hone_array quotient_of_integers(mistaken *m) {
    return end(m->f, hone_term_binary(m->terms, "/", m->i, m->i));
}
static hone_array handles(mistaken *m) {
    return hone_formula_input(m->f, "Z", "handle", 1, six);
}
static hone_array bad_operator(mistaken *m) {
    return end(m->f, hone_term_binary(m->terms, "***", m->load, m->load));
}
static hone_array null_operator(mistaken *m) {
    return end(m->f, hone_term_binary(m->terms, NULL, m->load, m->load));
}
static hone_array bad_function(mistaken *m) {
    return end(m->f, hone_term_call(m->terms, NULL, "exq", 1, &m->load));
}
static hone_array inner_function(mistaken *m) {
    return end(m->f, hone_term_call(m->terms, "float32", "named", 1, &m->load));
}
static hone_array bad_count(mistaken *m) {
    return end(m->f, hone_term_call(m->terms, NULL, "pow", 1, &m->load));
}
static hone_array null_args(mistaken *m) {
    return end(m->f, hone_term_call(m->terms, NULL, "exp", 1, NULL));
}
static hone_array function_of_integers(mistaken *m) {
    return end(m->f, hone_term_call(m->terms, NULL, "exp", 1, &m->i));
}
static hone_array other_result(mistaken *m) {
    return end(m->f, hone_term_call(m->terms, "float64", "exp", 1, &m->load));
}
static hone_array unnamed_extern(mistaken *m) {
    return end(m->f, hone_term_call(m->terms, "float32", "call_extern", 1, &m->load));
}
static hone_array type_untold(mistaken *m) {
    return end(m->f, hone_term_call(m->terms, NULL, "reinterpret", 1, &m->load));
}
static hone_array integer_of_float(mistaken *m) {
    return end(m->f, hone_term_float(m->terms, "int32", 2.5));
}
static hone_array wide_integer(mistaken *m) {
    return end(m->f, hone_term_int(m->terms, "int8", 128));
}
static hone_array negative_unsigned(mistaken *m) {
    return end(m->f, hone_term_int(m->terms, "uint8", -1));
}
static hone_array integer_of_handle(mistaken *m) {
    return end(m->f, hone_term_int(m->terms, "handle", 2));
}
static hone_array other_args(mistaken *m) {
    term sum = hone_term_binary(m->terms, "+", m->load, m->load);
    return end(m->f, hone_term_with_args(m->terms, sum, (term[]){m->load, m->i}));
}
static hone_array not_of_number(mistaken *m) {
    return end(m->f, hone_term_not(m->terms, m->load));
}
static hone_array and_of_numbers(mistaken *m) {
    return end(m->f, hone_term_binary(m->terms, "and", m->i, m->i));
}
static hone_array choice_by_number(mistaken *m) {
    return end(m->f, hone_term_select(m->terms, m->i, m->load, m->load));
}
static hone_array sum_of_texts(mistaken *m) {
    term word = hone_term_string(m->terms, "word");
    return end(m->f, hone_term_binary(m->terms, "+", word, word));
}
static hone_array cast_to_handle(mistaken *m) {
    return end(m->f, hone_term_cast(m->terms, "handle", m->i));
}
static hone_array select_of_two_types(mistaken *m) {
    term is_first = hone_term_binary(m->terms, "<", m->i, hone_term_int(m->terms, "int32", 1));
    return end(m->f, hone_term_select(m->terms, is_first, m->load, m->i));
}
static hone_array index_outside(mistaken *m) {
    term next = hone_term_binary(m->terms, "+", m->i, hone_term_int(m->terms, "int32", 1));
    return end(m->f, hone_formula_load(m->f, m->x, &next));
}
static hone_array output_is_input(mistaken *m) {
    return m->x;
}
static hone_array output_is_none(mistaken *m) {
    end(m->f, m->load);
    return 99;
}
static hone_array many_inputs(mistaken *m) {
    for (int i = 0; i < 64; i++)
        hone_formula_input(m->f, "Z", "float32", 1, six);
    return end(m->f, m->load);
}
static hone_array many_sizes(mistaken *m) {
    for (int i = 0; i < 17; i++)
        hone_formula_size(m->f, "n");
    return end(m->f, m->load);
}

static const struct row {
    const char *name;
    mistake make;
    const char *kind, *part;
} rows[] = {
    {"bad type",             bad_type,             "type",        "'float31' is no type"     },
    {"NULL type",            null_type,            "invalid",     "NULL"                     },
    {"NULL name",            null_name,            "invalid",     "NULL"                     },
    {"no identifier",        no_identifier,        "invalid",     "'an array'"               },
    {"NULL shape",           null_shape,           "invalid",     "shape of Z is NULL"       },
    {"zero extent",          zero_extent,          "invalid",     "extent 1 of Z is 0"       },
    {"huge extent",          huge_extent,          "invalid",     "2147483648"               },
    {"17 dimensions",        deep_shape,           "invalid",     "17 dimensions, at most 16"},
    {"NULL extent",          null_extent,          "invalid",     "extent 0 of Z is NULL"    },
    {"axis as extent",       axis_as_extent,       "invalid",     "made of sizes"            },
    {"float extent",         float_extent,         "invalid",     "made of sizes"            },
    {"wide extent",          wide_extent,          "type",        "int64"                    },
    {"late index type",      late_index_type,      "invalid",     "comes before"             },
    {"bad index type",       bad_index_type,       "type",        "float32"                  },
    {"NULL size",            null_size,            "invalid",     "NULL"                     },
    {"size of nothing",      size_of_nothing,      "invalid",     "'n'"                      },
    {"no such extent",       no_such_extent,       "invalid",     "no dimension 1"           },
    {"no such array",        no_such_array,        "invalid",     "no array 77"              },
    {"array of a mistake",   array_of_a_mistake,   "invalid",     "no array -1"              },
    {"NULL indices",         null_indices,         "type",        "NULL"                     },
    {"NULL index",           null_index,           "type",        "NULL"                     },
    {"float index",          float_index,          "type",        "float32, not an integer"  },
    {"no such axis",         no_such_axis,         "invalid",     "no axis 1"                },
    {"NULL value",           null_value,           "invalid",     "value of 'Y' is NULL"     },
    {"text value",           text_value,           "type",        "handle"                   },
    {"no reduction axes",    no_reduction_axes,    "invalid",     "no axes to reduce over"   },
    {"no reduction",         no_reduction,         "invalid",     "no reduction"             },
    {"bad reduction",        bad_reduction,        "not_found",   "'mean'"                   },
    {"NULL reduction",       null_reduction,       "not_found",   "NULL"                     },
    {"end without begin",    end_without_begin,    "invalid",     "no reduction was begun"   },
    {"begin without end",    begin_without_end,    "invalid",     "has no end"               },
    {"begin in begin",       begin_in_begin,       "invalid",     "has no end"               },
    {"other combination",    other_combination,    "type",        "starts as is int32"       },
    {"ended twice",          ended_twice,          "invalid",     "has no axes"              },
    {"18 axes",              many_axes,            "invalid",     "18 axes"                  },
    {"old axis",             old_axis,             "invalid",     "something else"           },
    {"term of another",      term_of_another,      "invalid",     "something else"           },
    {"mixed types",          mixed_types,          "type",        "float32 and float64"      },
    {"quotient of integers", quotient_of_integers, "type",        "'//' rounds down"         },
    {"handles",              handles,              "type",        "no type of elements"      },
    {"bad operator",         bad_operator,         "not_found",   "***"                      },
    {"NULL operator",        null_operator,        "invalid",     "NULL"                     },
    {"bad function",         bad_function,         "not_found",   "exq"                      },
    {"inner function",       inner_function,       "not_found",   "named"                    },
    {"bad count",            bad_count,            "invalid",     "takes 2 arguments, got 1" },
    {"NULL arguments",       null_args,            "invalid",     "NULL"                     },
    {"function of integers", function_of_integers, "type",        "takes floats"             },
    {"other result",         other_result,         "type",        "float32 here, not float64"},
    {"unnamed extern",       unnamed_extern,       "type",        "its name first"           },
    {"type untold",          type_untold,          "type",        "must be given a type"     },
    {"integer of float",     integer_of_float,     "type",        "no type of floats"        },
    {"wide integer",         wide_integer,         "invalid",     "128 is no int8"           },
    {"negative unsigned",    negative_unsigned,    "invalid",     "-1 is no uint8"           },
    {"integer of handle",    integer_of_handle,    "type",        "has no integers"          },
    {"other arguments",      other_args,           "type",        "argument 1 is int32"      },
    {"not of number",        not_of_number,        "type",        "'not' takes bool"         },
    {"and of numbers",       and_of_numbers,       "type",        "'and' takes bool"         },
    {"choice by number",     choice_by_number,     "type",        "'select' takes bool"      },
    {"sum of texts",         sum_of_texts,         "type",        "'+' takes numbers"        },
    {"cast to handle",       cast_to_handle,       "type",        "'handle'"                 },
    {"select of two types",  select_of_two_types,  "type",        ""                         },
    {"index outside",        index_outside,        "invalid",     "index 6"                  },
    {"output is input",      output_is_input,      "invalid",     "is an input, 'X'"         },
    {"output is none",       output_is_none,       "invalid",     "output 0 is no array"     },
    {"65 inputs",            many_inputs,          "unsupported", "64 inputs"                },
    {"17 sizes",             many_sizes,           "unsupported", "16 symbolic sizes"        },
};

static void sticks_to_mistakes(void **state) {
    const struct row *row = *state;
    mistaken m = {.f = begin(), .other = begin()};
    m.terms = hone_formula_terms(m.f);
    m.x = hone_formula_input(m.f, "X", "float32", 1, six);
    hone_formula_axes(m.f, 1, six, 0, NULL);
    m.i = hone_formula_axis(m.f, 0);
    m.load = hone_formula_load(m.f, m.x, &m.i);
    hone_array y = row->make(&m);
    hone_program *program = NULL;
    hone_error *error = hone_formula_finish(m.f, 1, &y, &program);
    hone_formula_free(m.f);
    hone_formula_free(m.other);
    bool is_refused = program == NULL;
    hone_program_free(program);
    assert_true(is_refused);
    public_expect(error, row->kind, row->part);
}

static void needs_its_arguments(void **state) {
    (void)state;
    hone_formula *f = NULL;
    hone_program *program = NULL;
    hone_array y = 0;
    public_expect(hone_formula_create("main", NULL), "invalid", "out_formula is NULL");
    public_expect(hone_formula_create(NULL, &f), "invalid", "NULL");
    public_expect(hone_formula_create("a b", &f), "invalid", "'a b'");
    assert_null(f);
    public_expect(hone_formula_finish(NULL, 1, &y, &program), "invalid", "formula is NULL");
    f = begin();
    public_expect(hone_formula_finish(f, 1, &y, NULL), "invalid", "out_program is NULL");
    public_expect(hone_formula_finish(f, 1, NULL, &program), "invalid", "outputs is NULL");
    public_expect(hone_formula_finish(f, 0, NULL, &program), "invalid", "without outputs");
    /* it is used up now: what follows goes nowhere */
    hone_terms *terms = hone_formula_terms(f);
    assert_null(terms);
    assert_int_equal(hone_formula_input(f, "X", "float32", 1, six), HONE_NO_ARRAY);
    hone_formula_axes(f, 1, six, 0, NULL);
    assert_null(hone_formula_axis(f, 0));
    public_expect(hone_formula_finish(f, 1, &y, &program), "invalid", "finished");
    hone_formula_free(f);
    assert_null(hone_formula_terms(NULL));
    assert_null(hone_formula_size(NULL, "n"));
    assert_null(hone_formula_extent(NULL, 0, 0));
    assert_int_equal(hone_formula_rank(NULL, 0), 0);
    assert_null(hone_formula_load(NULL, 0, NULL));
    assert_int_equal(hone_formula_compute(NULL, "Y", NULL), HONE_NO_ARRAY);
    hone_formula_index_type(NULL, "int64");
    hone_formula_free(NULL);
}

static void makes_terms_after_the_end(void **state) {
    (void)state;
    hone_formula *f = begin();
    hone_terms *terms = hone_formula_terms(f);
    hone_formula_axes(f, 1, six, 0, NULL);
    hone_array y = end(f, hone_term_int(terms, "int32", 1));
    hone_program *program = NULL;
    public_ok(hone_formula_finish(f, 1, &y, &program));
    hone_program_free(program);
    term late = hone_term_binary(terms, "+", hone_term_int(terms, "int32", 1),
                                 hone_term_int(terms, "int32", 2));
    assert_non_null(late);
    hone_formula_free(f);
}

/* What terms say of themselves, and that nothing says nothing. */
static void looks_at_terms(void **state) {
    (void)state;
    hone_formula *f = begin();
    hone_terms *terms = hone_formula_terms(f);
    term one = hone_term_int(terms, "int64", 1), half = hone_term_float(terms, "float16", 0.5);
    term word = hone_term_string(terms, "word"), none = NULL;
    term less = hone_term_binary(terms, "<", one, hone_term_int(terms, "int64", 2));
    char type[24];
    hone_term_get_type(half, type);
    assert_string_equal(type, "float16");
    hone_term_get_type(less, type);
    assert_string_equal(type, "bool");
    assert_int_equal(hone_term_get_kind(word), HONE_TERM_STRING);
    assert_string_equal(hone_term_name(word), "word");
    assert_string_equal(hone_term_name(less), "<");
    assert_int_equal(hone_term_arg_count(less), 2);
    assert_int_equal(hone_term_int_value(hone_term_arg(less, 1)), 2);
    assert_null(hone_term_arg(less, 2));
    assert_true(hone_term_float_value(half) == 0.5);
    assert_int_equal(hone_term_same(one, one), 1);
    assert_int_equal(hone_term_same(one, half), 0);
    assert_int_equal(hone_term_get_kind(none), HONE_TERM_OTHER);
    hone_term_get_type(none, type);
    assert_string_equal(type, "");
    hone_term_get_type(one, NULL);
    assert_null(hone_term_name(none));
    assert_int_equal(hone_term_arg_count(none), 0);
    assert_null(hone_term_arg(none, 0));
    assert_int_equal(hone_term_int_value(none), 0);
    assert_true(hone_term_float_value(none) == 0);
    assert_int_equal(hone_term_same(one, none), 0);
    assert_null(hone_term_int(NULL, "int32", 1));
    assert_null(hone_term_binary(terms, "+", none, one)); /* NULL in, NULL out: no mistake */
    assert_null(hone_term_cast(terms, "float32", none));
    hone_formula_free(f);
}

static void names_axes(void **state) {
    (void)state;
    static const int64_t shape[] = {4, 6}, four[] = {4};
    hone_formula *f = NULL;
    hone_program *program = NULL;
    public_ok(hone_formula_create("rows", &f));
    hone_array x = hone_formula_input(f, "x", "float32", 2, shape);
    hone_formula_axes(f, 1, four, 1, six);
    hone_formula_name_axis(f, 0, "row");
    hone_formula_name_axis(f, 1, "k");
    const hone_term *at[] = {hone_formula_axis(f, 0), hone_formula_axis(f, 1)};
    hone_array y = hone_formula_reduce(f, "y", "sum", hone_formula_load(f, x, at));
    public_ok(hone_formula_finish(f, 1, &y, &program));
    hone_formula_free(f);
    public_prints(program, "for row, k in T.grid(4, 6)");
    public_prints(program, "v_row, v_k = T.axis.remap(\"SR\", [row, k])");
    hone_program_free(program);
    const char *const wrong[] = {NULL, "2x", "fine"};
    const char *const said[] = {"NULL", "identifier", "no axis 2"};
    for (uint32_t i = 0; i < 3; i++) {
        public_ok(hone_formula_create("rows", &f));
        hone_formula_axes(f, 1, four, 1, six);
        hone_formula_name_axis(f, i, wrong[i]);
        public_expect(hone_formula_finish(f, 1, &y, &program), "invalid", said[i]);
        assert_null(program);
        hone_formula_free(f);
    }
    hone_formula_name_axis(NULL, 0, "i");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_axes),
        cmocka_unit_test(doubles),
        cmocka_unit_test(takes_symbolic_sizes),
        cmocka_unit_test(calculates_with_sizes),
        cmocka_unit_test(reduces_in_its_own_way),
        cmocka_unit_test(tells_arrays_apart),
        cmocka_unit_test(needs_its_arguments),
        cmocka_unit_test(makes_terms_after_the_end),
        cmocka_unit_test(looks_at_terms),
    };
    int failed = cmocka_run_group_tests_name("package/formula", tests, NULL, NULL);
    return failed + HONE_RUN_ROWS("package/mistakes", rows, sticks_to_mistakes);
}
