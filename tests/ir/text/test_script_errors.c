/* tests/ir/text/test_script_errors.c - what is wrong with a text is said with its place, the line
 * and a caret. */
#include <string.h>

#include "ir/text/read/script.h"
#include "support/core/strbuf.h"
#include "tests/support/hone_test.h"

#define FUNC "@T.prim_func\ndef f(A: T.Buffer((4, 4), \"float32\"), n: T.int32):\n"
#define GRAPH "@R.function\ndef f(x: R.Tensor((4, 4), \"float32\")):\n"

/* clang-format off */
static const struct row {
    const char *name, *text, *want;
    hone_code code;
} rows[] = {
    {"nothing",                     "",                                                                             "p.py:1:1: expected a function or a module, found nothing",             HONE_CODE_INVALID},
    {"undefined name",              FUNC "    A[0, 0] = A[nn, 0]\n",
     "p.py:3:17: undefined name 'nn'; did you mean 'n'?\n    A[0, 0] = A[nn, 0]\n                ^",                                                                                        HONE_CODE_INVALID},
    {"undefined function",          FUNC "    T.evalute(0)\n",
     "p.py:3:5: unknown function 'T.evalute'; did you mean 'T.evaluate'?",                                                                                                                  HONE_CODE_INVALID},
    {"scope of a loop",             FUNC "    for i in range(4):\n        A[i, i] = 0\n    A[i, 0] = 1\n",
     "p.py:5:7: undefined name 'i'",                                                                                                                                                        HONE_CODE_INVALID},
    {"rank",                        FUNC "    A[0] = 1\n",                                                          "p.py:3:5: buffer 'A' has 2 dimensions, 1 given",
     HONE_CODE_TYPE                                                                                                                                                                                          },
    {"name that is no UTF-8",       FUNC "    A[0, 0] = A[\xe9, 0]\n",
     "p.py:3:17: this word is not UTF-8",                                                                                                                                                   HONE_CODE_INVALID},
    {"string that is no UTF-8",     FUNC "    T.evaluate(T.call_extern(\"int32\", \"caf\xe9\"))\n",
     "p.py:3:39: this string is not UTF-8",                                                                                                                                                 HONE_CODE_INVALID},
    {"half of a surrogate pair",    FUNC "    T.evaluate(T.call_extern(\"int32\", \"\\ud800\"))\n",
     "half of a surrogate pair in this string",                                                                                                                                             HONE_CODE_INVALID},
    {"dtype",                       "@T.prim_func\ndef f(A: T.Buffer((4,), \"floot32\")):\n    pass\n",
     "p.py:2:25: unknown dtype \"floot32\"",                                                                                                                                                HONE_CODE_TYPE   },
    {"negative size",               "@T.prim_func\ndef f(A: T.Buffer((-4,))):\n    pass\n",                         "size 0 is -4",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"no body",                     FUNC "    for i in range(4):\n    A[0, 0] = 1\n",
     "p.py:4:5: expected an indented body, found 'A'",                                                                                                                                      HONE_CODE_INVALID},
    {"lost indentation",            "@I.ir_module\nclass M:\n@T.prim_func\ndef f():\npass\n",
     "p.py:3:1: expected an indented body, found '@'",                                                                                                                                      HONE_CODE_INVALID},
    {"uneven indentation",          FUNC "    if n > 1:\n        pass\n      pass\n",
     "p.py:5:7: this indentation matches no line above",                                                                                                                                    HONE_CODE_INVALID},
    {"loop variables",              FUNC "    for i, j in T.grid(4):\n        pass\n",
     "p.py:3:17: 2 loop variables for 1 extent",                                                                                                                                           HONE_CODE_INVALID},
    {"remap of no loop",
     FUNC "    with T.block(\"b\"):\n        v = T.axis.remap(\"S\", [n])\n        A[v, v] = 1\n",
     "T.axis.remap takes loop variables",                                                                                                                                                   HONE_CODE_INVALID},
    {"remap kinds",
     FUNC "    for i in range(4):\n        with T.block(\"b\"):\n            v = "
          "T.axis.remap(\"SS\", [i])\n",                                                                            "p.py:5:17: T.axis.remap: 2 kinds for 1 bindings",                      HONE_CODE_INVALID},
    {"axis outside",                FUNC "    v = T.axis.spatial(4, n)\n",                                          "stands outside of a block",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"init twice",
     FUNC "    with T.block(\"b\"):\n        with T.init():\n            A[0, 0] = 0\n        with "
          "T.init():\n            A[0, 0] = 0\n        A[0, 0] = 1\n",                                              "p.py:6:14: T.init stands twice in this block",                         HONE_CODE_INVALID},
    {"where twice",
     FUNC "    with T.block(\"b\"):\n        v = T.axis.spatial(4, n)\n        T.where(n > 0)\n        T.where(n > 1)\n        A[v, v] = 1\n",
     "p.py:6:9: T.where stands twice in this block",
     HONE_CODE_INVALID},
    {"axis twice",
     FUNC "    for i, j in T.grid(4, 4):\n        with T.block(\"b\"):\n            v = T.axis.spatial(4, i)\n            v = T.axis.spatial(4, j)\n            A[v, v] = 1\n",
     "p.py:6:13: 'v' is an axis of this block already",
     HONE_CODE_INVALID},
    {"variable beside programs", "n = T.int32()\n" FUNC "    A[0, n] = 1\n", "p.py:1:5: 'T.int32' stands outside of a function", HONE_CODE_INVALID},
    {"pointer beside programs", "n = T.handle(\"float32\")\n" FUNC "    A[0, n] = 1\n", "p.py:1:5: 'T.handle' stands outside of a function", HONE_CODE_INVALID},
    {"buffer twice",
     FUNC "    B = T.alloc_buffer((4,))\n    B = T.alloc_buffer((4,))\n    B[0] = 1\n",
     "p.py:4:5: 'B' is a buffer of this scope already",
     HONE_CODE_INVALID},
    {"statement in a type",
     "@R.function\ndef f(x: R.Tensor((1,), \"float32\")) -> R.Tensor(T.evaluate(1), \"float32\"):\n    return x\n",
     "p.py:2:49: a statement stands outside of a tensor program",
     HONE_CODE_INVALID},
    {"thread in a type",
     "@R.function\ndef f(x: R.Tensor((1,), \"float32\")) -> R.Tensor(T.iter_var(T.int32(), (0, 1), \"\", \"\"), \"float32\"):\n    return x\n",
     "'T.iter_var' stands outside of a tensor program",
     HONE_CODE_INVALID},
    {"parameter of a size of the body",
     "@T.prim_func\ndef f(a: T.handle):\n    n = T.int32() - 1\n    A = T.match_buffer(a, (4,), strides=[n])\n    A[0] = 1.0\n",
     "p.py:4:9: the type of a parameter depends on 'n', which has a value in the body only",
     HONE_CODE_INVALID},
    {"parameter of a size that is loaded",
     "# from tvm.script import tirx as T\n@T.prim_func\ndef f(a: T.handle, n: T.int32):\n    m = n * 2\n    A = T.match_buffer(a, (m,))\n    A[0] = 1.0\n",
     "p.py:5:9: the type of a parameter depends on what is in 'm', which has a value in the body only",
     HONE_CODE_INVALID},
    {"region of a scalar of the body",
     "# from tvm.script import tirx as T\n@T.prim_func\ndef f(A: T.Buffer((9,))):\n    for i in range(8):\n        with T.sblock(\"b\"):\n            vi = T.axis.spatial(8, i)\n            x = vi + 1\n            T.reads(A[x])\n            A[vi] = 1.0\n",
     "p.py:8:21: 'x' gets its value in the body of the block, which comes later",
     HONE_CODE_INVALID},
    {"axis bound to a scalar of the body",
     "# from tvm.script import tirx as T\n@T.prim_func\ndef f(A: T.Buffer((9,))):\n    for i in range(8):\n        with T.sblock(\"b\"):\n            x = i + 1\n            vi = T.axis.spatial(9, x)\n            A[vi] = 1.0\n",
     "'x' gets its value in the body of the block, which comes later",
     HONE_CODE_INVALID},
    {"predicate of a scalar of the body",
     "# from tvm.script import tirx as T\n@T.prim_func\ndef f(A: T.Buffer((9,))):\n    for i in range(8):\n        with T.sblock(\"b\"):\n            vi = T.axis.spatial(9, i)\n            x = vi + 1\n            T.where(x < 8)\n            A[vi] = 1.0\n",
     "p.py:8:21: 'x' gets its value in the body of the block, which comes later",
     HONE_CODE_INVALID},
    {"attribute twice",
     FUNC "    T.func_attr({\"a\": 1})\n    T.func_attr({\"a\": 2})\n    A[0, 0] = 1\n",
     "p.py:4:5: attribute 'a' is given twice, with different values",
     HONE_CODE_INVALID},
    {"private symbol",
     "@T.prim_func(private=True)\ndef f():\n    T.func_attr({\"global_symbol\": \"g\"})\n    pass\n",
     "p.py:3:5: a private function has no \"global_symbol\"",
     HONE_CODE_INVALID},
    {"name of a block",
     FUNC "    with T.block(\"b\") as c:\n        A[0, 0] = 1\n",
     "p.py:3:26: this scope has no value that 'as' could name",
     HONE_CODE_INVALID},
    {"sum of a handle",
     "@T.prim_func\ndef f(h: T.handle, n: T.int32):\n    T.evaluate(h + n)\n",
     "p.py:3:18: operator '+' of handle and int32",
     HONE_CODE_TYPE   },
    {"minus a handle",
     "@T.prim_func\ndef f(h: T.handle):\n    T.evaluate(-h)\n",
     "p.py:3:16: operator '-' of handle",
     HONE_CODE_TYPE   },
    {"bits of a float",
     FUNC "    A[0, 0] = ~A[0, 0]\n",
     "p.py:3:15: operator '~' of float32",
     HONE_CODE_TYPE   },
    {"match of a tuple",
     FUNC "    B = T.match_buffer((4, 4), \"float32\")\n",
     "p.py:3:24: T.match_buffer takes a parameter (T.handle) or a region of a buffer first, found a tuple",
     HONE_CODE_INVALID},
    {"a vector up to a string",
     FUNC "    A[0, 0:4] = A[0, 0:\"float16\"] + T.Broadcast(T.float32(1), 4)\n",
     "p.py:3:24: the end of a region is handle, must be an integer",
     HONE_CODE_TYPE   },
    {"a region up to a vector",
     FUNC "    with T.sblock(\"b\"):\n        T.reads(A[0, 0:A[0, 0:4]])\n",
     "p.py:4:24: the end of a region is float32x4, must be an integer",
     HONE_CODE_TYPE   },
    {"nothing like it",
     FUNC "    A[0, 0] = T.gelu(A[0, 0])\n",
     "p.py:3:15: unknown function 'T.gelu'\n",
     HONE_CODE_INVALID},
    {"integer division",            FUNC "    A[n / 2, 0] = 1\n",                                                   "p.py:3:9: '/' of integers",                                            HONE_CODE_TYPE   },
    {"constant too wide",           FUNC "    A[0, 0] = T.int8(300)\n",                                             "300 does not fit int8",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"closing bracket",             FUNC "    A[0, 0] = (1 + n\n",                                                  "p.py:3:15: this bracket is never closed",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"string",                      FUNC "    assert n > 0, \"half\n",                                              "p.py:3:19: this string has no closing quote",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"byte",                        FUNC "    A[0, 0] = 1 $ 2\n",                                                   "p.py:3:17: unexpected character '$'",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"column counts characters",    FUNC "    assert n > 0, \"\xc3\xa4\xc3\xb6\"; A[0, q] = 1\n",
     "p.py:3:30: undefined name 'q'",                                                                                                                                                       HONE_CODE_INVALID},
    {"decorator",                   "def f():\n    pass\n",                                                         "p.py:1:1: function 'f' has no decorator",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"unknown decorator",           "@T.prim_fun\ndef f():\n    pass\n",                                            "unknown decorator '@T.prim_fun'",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"two of a name",               "@T.prim_func\ndef f():\n    pass\n@T.prim_func\ndef f():\n    pass\n",         "'f'",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"two parameters of a name",    "@T.prim_func\ndef f(a: T.handle, a: T.handle):\n    pass\n",
     "two parameters are named 'a'",                                                                                                                                                        HONE_CODE_INVALID},
    {"metadata",                    GRAPH "    y = R.add(x, metadata[\"relax.expr.Constant\"][0])\n    return y\n",
     "p.py:3:49: constant 0 is named here but its numbers are not at hand",                                                                                                                 HONE_CODE_INVALID},
    {"no return",                   GRAPH "    y = R.add(x, x)\n",                                                  "graph function 'f' has no return",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"member",
     "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((4,))):\n        cls = M\n "
     "       y = R.call_tir(cls.mian, (x,), out_sinfo=R.Tensor((4,)))\n        return y\n",                         "the module has no function 'mian'; did you mean 'main'?",              HONE_CODE_INVALID},
    {"sizes in quotes",             "@R.function\ndef f(x: R.Tensor((\"n +\",))):\n    return x\n",
     "p.py:2:20: \"n +\" is no size",                                                                                                                                                       HONE_CODE_INVALID},
    {"output of what the block does not bind", GRAPH "    with R.dataflow():\n      y = R.add(x, x)\n      R.output(x)\n    return x\n", "'x' is not bound in this R.dataflow", HONE_CODE_INVALID},
    {"region of a buffer without a name", FUNC "    with T.block(\"B\"):\n      T.reads(T.Buffer((4,)))\n      A[0, 0] = 1.0\n", "a buffer that has a name", HONE_CODE_INVALID},
    {"output outside",              GRAPH "    R.output(x)\n    return x\n",                                        "R.output stands outside",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"store of a string",           FUNC "    A[0, 0] = \"x\"\n",                                                   "p.py:3:15: a string is stored as ",
     HONE_CODE_TYPE                                                                                                                                                                                          },
    {"name of a helper", "def h(n):\n    row = n\n    return rwo\n" FUNC "    A[h(1), 0] = 1.0\n", "p.py:3:12: undefined name 'rwo'; did you mean 'row'?", HONE_CODE_INVALID},
    {"attribute of a list in itself", "def h():\n    x = [1]\n    x.insert(0, x)\n    return x\n" FUNC "    T.func_attr({\"k\": h()})\n", "nested too deeply", HONE_CODE_INVALID},
    {"constant of a list in itself", "def h():\n    x = [1]\n    x.insert(0, x)\n    return x\n" GRAPH "    return R.const(h())\n", "more than 12 dimensions", HONE_CODE_INVALID},
    {"type of a list in itself", "def h():\n    x = [1]\n    x.insert(0, x)\n    return x\n" GRAPH "    y = R.call_dps_packed(\"f\", x, out_sinfo=h())\n    return y\n", "nested too deeply", HONE_CODE_INVALID},
    {"tensors of a list in itself", "def h():\n    x = [1]\n    x.insert(0, x)\n    return x\n" GRAPH "    y = R.concat(h())\n    return y\n", "nested too deeply", HONE_CODE_INVALID},
    {"missing argument",            FUNC "    B = T.alloc_buffer()\n",
     "p.py:3:9: T.alloc_buffer: argument 'shape' is missing",                                                                                                                               HONE_CODE_INVALID},
    {"keyword of a loop",           FUNC "    for i in T.serial(4, annotation={}):\n        A[0, 0] = 1\n",
     "p.py:3:37: T.serial takes no argument 'annotation'; did you mean 'annotations'?",                                                                                                     HONE_CODE_INVALID},
    {"keyword of a buffer",         FUNC "    B = T.alloc_buffer((4,), scpoe=\"local\")\n",
     "T.alloc_buffer takes no argument 'scpoe'; did you mean 'scope'?",                                                                                                                     HONE_CODE_INVALID},
    {"a number is no buffer",       FUNC "    x: T.int32 = A\n",
     "p.py:3:18: expected an expression, found the buffer 'A' without indices",                                                                                                             HONE_CODE_INVALID},
    {"lambda of a loop variable",
     FUNC "    for i in range(4):\n        for j in T.serial(4, annotations={\"m\": "
          "T.index_map(lambda k: (i + k,))}):\n            A[0, 0] = 1\n",                                          "a lambda may use its parameters and constants only",                   HONE_CODE_INVALID},
    {"reducer of two",
     FUNC
     "    T.attr(T.comm_reducer(lambda x, y: (x, y), [T.float32(0)]), \"r\", 0)\n    A[0, 0] = 1\n",                "a reducer of 2 values has 2 parameters (expected 4) and 1 identities", HONE_CODE_INVALID},
    {"operation without its dtype", FUNC "    A[0, 0] = T.tvm_struct_get(A.data, 0, 1)\n",
     "T.tvm_struct_get: the dtype is missing",                                                                                                                                              HONE_CODE_INVALID},
    {"comment of C",                FUNC "    // all\n",
     "p.py:3:5: expected an expression, found '//'; a comment begins with '#'",                                                                                                             HONE_CODE_INVALID},
    {"and of C",                    FUNC "    if n > 1 && n < 3:\n        pass\n",                                  "found '&'; 'and' joins conditions",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"or of C",                     FUNC "    if n > 1 || n < 3:\n        pass\n",                                  "found '|'; 'or' joins conditions",
     HONE_CODE_INVALID                                                                                                                                                                                       },
    {"unequal of Pascal",           FUNC "    if n <> 1:\n        pass\n",
     "p.py:3:11: expected an expression, found '>'; '!=' says that two differ",                                                                                                             HONE_CODE_INVALID},
    {"increment of C",              FUNC "    A[0, 0]++\n",                                                         "write '+= 1'",                                                         HONE_CODE_INVALID},
    {"quotes of prose",             FUNC "    T.attr(A.data, \xe2\x80\x9cx\xe2\x80\x9d, 1)\n",
     "p.py:3:20: this is no quotation mark of Python; write \" or '",                                                                                                                       HONE_CODE_INVALID},
    {"a buffer is no function",     FUNC "    A(0, 0) = 1\n",
     "p.py:3:5: a buffer cannot be called; an element of it is A[i]",                                                                                                                       HONE_CODE_INVALID},
    {"a step of 0",                 FUNC "    for i in range(0, 4, 0):\n        pass\n",
     "p.py:3:26: the step is 0, must not be 0",                                                                                                                                             HONE_CODE_INVALID},
    {"two stars of a loop",         FUNC "    for *i, *j in T.grid(4, 4):\n        pass\n",
     "p.py:3:13: two names with '*'",                                                                                                                                              HONE_CODE_INVALID},
    {"two dots of a call",          FUNC "    T..evaluate(0)\n",
     "p.py:3:7: expected a name behind '.', found '.'",                                                                                                                                     HONE_CODE_INVALID},
    {"chained assignment",          FUNC "    x = y = 3\n",
     "p.py:3:11: expected the end of the line, found '='",                                                                                                                                  HONE_CODE_INVALID},
    {"else of a loop",              FUNC "    for i in range(4):\n        A[i, 0] = 1\n    else:\n        A[0, 0] = 1\n",
     "p.py:5:5: 'else' of a loop is not part of TVMScript",                                                                                                                                 HONE_CODE_INVALID},
    {"misspelt for",                FUNC "    fro i in range(4):\n        A[i, 0] = 1\n",
     "p.py:3:9: expected the end of the line, found 'i'; did you mean 'for'?",                                                                                                              HONE_CODE_INVALID},
    {"a loop without for",          FUNC "    i in range(4):\n        A[i, 0] = 1\n",
     "p.py:3:18: expected the end of the line, found ':'; a loop begins with 'for'",                                                                                                        HONE_CODE_INVALID},
    {"numbers without end",         FUNC "    A[0, 0] = 9223372036854775807 + 1\n",
     "p.py:3:35: the number is too large",                                                                                                                                                  HONE_CODE_INVALID},
    {"place behind wide letters",   "# \xc3\xa4\xc3\xa4\n" FUNC "    A[0, 0] = T.call_extern(\"float32\", \"\xc3\xa4\xc3\xb6\", q)\n",
     "p.py:4:46: undefined name 'q'",                                                                                                                                                       HONE_CODE_INVALID},
    {"import of a program",         FUNC "    import math\n",
     "p.py:3:5: expected an expression, found 'import', which is no part of TVMScript",                                                                                                     HONE_CODE_INVALID},
    {"a star alone",                FUNC "    *i = 3\n",                                                            "a name with '*' stands in a list",                                     HONE_CODE_INVALID},
    {"too few loops for a star",    FUNC "    for i, *j, k in T.grid(4):\n        pass\n",
     "3 loop variables for 1 extent",                                                                                                                                                      HONE_CODE_INVALID},
    {"intrinsic arity",             FUNC "    A[0, 0] = T.exp(A[0, 0], 1)\n",
     "p.py:3:15: T.exp takes 1 argument, 2 given",                                                                                                                                         HONE_CODE_TYPE   },
};
/* clang-format on */

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module = NULL;
    hone_status st = hone_script_parse(row->text, strlen(row->text), "p.py", &module);
    hone_module_release(module);
    HONE_ASSERT_ERROR(st, row->code, row->want);
}

/* The text is read to its end, however deep calls are nested in it; brackets nobody nests so. */
static hone_status read_nested(unsigned depth, const char *open, const char *close) {
    hone_str text = {0};
    hone_module *module = NULL;
    hone_str_append(&text, FUNC "    A[0, 0] = ");
    for (unsigned i = 0; i < depth; i++)
        hone_str_append(&text, open);
    hone_str_append(&text, "A[0, 0]");
    for (unsigned i = 0; i < depth; i++)
        hone_str_append(&text, close);
    hone_str_append(&text, "\n");
    assert_false(text.failed);
    hone_status st = hone_script_parse(hone_str_text(&text), text.length, "p.py", &module);
    hone_str_deinit(&text);
    hone_module_release(module);
    return st;
}

static void check_depth(void **state) {
    (void)state;
    HONE_ASSERT_OK(read_nested(150, "T.max(", ", A[0, 0])"));
    HONE_ASSERT_ERROR(read_nested(200000, "(", ")"), HONE_CODE_INVALID, "nested too deeply");
    HONE_ASSERT_ERROR(read_nested(200000, "T.exp(", ")"), HONE_CODE_INVALID, "nested too deeply");
    HONE_ASSERT_ERROR(read_nested(200000, "-", ""), HONE_CODE_INVALID, "nested too deeply");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(check_depth)};
    int failed = cmocka_run_group_tests_name("ir/script_depth", tests, NULL, NULL);
    return failed + HONE_RUN_ROWS("ir/script_errors", rows, check_row);
}
