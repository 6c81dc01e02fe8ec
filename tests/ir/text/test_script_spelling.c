/* tests/ir/text/test_script_spelling.c - different spellings of one thing are read as the same
 * program, and what differs is not. */
#include <stdio.h>
#include <string.h>

#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "tests/support/hone_test.h"

/* clang-format off */
static const struct row {
    const char *name, *left, *right; /* statements of a function over A, B, S and n, m */
    bool same;
} rows[] = {
    {"cast",                       "A[0] = T.Cast(\"float32\", n)",                                  "A[0] = n.astype(\"float32\")",                                               true },
    {"cast function",              "A[0] = T.cast(n, \"float32\")",                                  "A[0] = T.float32(n)",                                                        true },
    {"stored constant",            "A[0] = 0",                                                       "A[0] = T.float32(0.0)",                                                      true },
    {"stored integer",             "A[0] = n",                                                       "A[0] = T.Cast(\"float32\", n)",                                              true },
    {"constant takes the type",    "A[0] = A[1] * 2",                                                "A[0] = A[1] * T.float32(2)",                                                 true },
    {"typed constants count",      "H[0] = H[1] * 2.5",                                              "H[0] = T.Cast(\"float32\", H[1]) * T.float32(2.5)",                          true },
    {"untyped integers do not",    "H[0] = H[1] * 2",                                                "H[0] = H[1] * T.float16(2)",                                                 true },
    {"as wide and unsigned",       "W[0] = W[1] >> T.uint32(1)",                                     "W[0] = T.Cast(\"uint32\", W[1]) >> T.uint32(1)",                             true },
    {"wider on the left",          "W[0] = T.int8(3) + n",                                           "W[0] = T.Add(3, n)",                                                         true },
    {"bits of a narrow integer",   "Q[0] = Q[1] & 15",                                               "Q[0] = Q[1] & T.int8(15)",                                                   true },
    {"sums of a narrow integer",   "Q[0] = Q[1] + 15",                                               "Q[0] = T.Cast(\"int32\", Q[1]) + 15",                                        true },
    {"beyond int32",               "A[0] = T.float32(T.int32(2147483647) + T.int32(1))",             "A[0] = T.float32(T.Add(2147483647, 1))",                                     true },
    {"beyond int32, by Python",    "A[0] = T.float32(T.int32(65536) * T.int32(65536))",              "A[0] = T.float32(65536 * 65536)",                                            false},
    {"the quotient by zero",       "W[0] = T.int32(7) // T.int32(0)",                                "W[0] = T.floordiv(7, 0)",                                                    true },
    {"the least has no opposite",  "A[0] = T.float32(T.abs(T.int32(-2147483648)))",                  "A[0] = T.float32(T.int64(2147483648))",                                      false},
    {"python folds",               "A[16 // 3 - 4] = 1",                                             "A[1] = 1",                                                                   true },
    {"a choice that is known",     "A[0] = 1.0 if 2 > 1 else no_name",  "A[0] = 1.0",  true},
    {"arguments by a dictionary",  "A[0] = T.Cast(**{\"dtype\": \"float32\", \"value\": n})",  "A[0] = T.Cast(\"float32\", n)",  true},
    {"comprehension",              "A[sum([i * 2 for i in range(4)])] = 1",                          "A[12] = 1",                                                                  true },
    {"formatted string",           "T.evaluate(T.call_extern(\"int32\", f\"f{2 + 1}\"))",            "T.evaluate(T.call_extern(\"int32\", \"f3\"))",                               true },
    {"every other of a tuple",     "A[(1, 2, 3, 4)[::2][1]] = 1",                                    "A[3] = 1",                                                                   true },
    {"zero folds",                 "A[n + 0] = 1",                                                   "A[n] = 1",                                                                   true },
    {"one folds",                  "A[n * 1] = 1",                                                   "A[n] = 1",                                                                   true },
    {"a named node stays",         "A[T.Add(n, 0)] = 1",                                             "A[n] = 1",                                                                   false},
    {"character by its number",    "T.evaluate(T.call_extern(\"int32\", \"caf\\xe9\"))",               "T.evaluate(T.call_extern(\"int32\", \"caf\\u00e9\"))",                      true },
    {"augmented",                  "A[0] += A[1]",                                                   "A[0] = A[0] + A[1]",                                                         true },
    {"numbers of a type beside",   "A[0] = more(A[1]) * TWO",  "A[0] = (A[1] * T.float32(3) + T.float32(6)) * T.float32(2)",  true},
    {"floor division",             "A[n // 4 % 2] = 1",                                              "A[T.floormod(T.floordiv(n, 4), 2)] = 1",                                     true },
    {"step",                       "for i in range(2, 9, 3): A[i] = 1",                              "for i in range(3): A[2 + i * 3] = 1",                                        true },
    {"backward step",              "for i in range(9, 1, -3): A[i] = 1",                             "for i in range(3): A[9 + i * -3] = 1",
     true                                                                                                                                                                               },
    {"all but the last",
     "for *i, j in T.grid(2, 3, 4):\n        with T.block(\"b\"):\n            *v, w = "
     "T.axis.remap(\"SSS\", [*i, j])\n            A[v[0] + v[1] + w] = 0",                           "for i, j, k in T.grid(2, 3, 4):\n        with T.block(\"b\"):\n            vi, vj, vk = "
     "T.axis.remap(\"SSS\", [i, j, k])\n            A[vi + vj + vk] = 0",                                true },
    {"not a number",               "A[0] = T.infinity(\"float32\") - T.float32(\"inf\")",
     "A[0] = T.float32(\"nan\")",                                                                                                                                                  true },
    {"vectors behind a pointer",
     "T.evaluate(T.call_extern(\"f\", A.access_ptr(\"w\", content_lanes=4)))",                       "T.evaluate(T.call_extern(\"f\", T.tvm_access_ptr(T.type_annotation(\"float32x4\"), A.data, "
     "0, 16, 2)))",                                                                                  true },
    {"jump as an expression",      "while n < 1: T.evaluate(T.break_loop())",                        "while n < 1: break",
     true                                                                                                                                                                               },
    {"vector store",               "A.vstore([n], A.vload([0], \"float32x4\"))",                     "A[n:n + 4] = A[0:4]",                                                        true },
    {"vector store at a ramp",
     "A.vstore([T.Ramp(n, 2, 4)], A.vload([0], \"float32x4\"))",
     "A[T.Ramp(n, 2, 4)] = A[0:4]",
     true},
    {"masked accesses",
     "B.vstore([n, T.Ramp(0, 1, 4)], A.vload([T.Ramp(m, 1, 4)], predicate=T.Broadcast(T.bool(True), 4)), predicate=T.Broadcast(T.bool(False), 4))",
     "T.masked_store(B, T.masked_load(\"float32x4\", A, T.Ramp(m, 1, 4), T.Broadcast(T.bool(True), 4)), n, T.Ramp(0, 1, 4), T.Broadcast(T.bool(False), 4))",
     true},
    {"a mask counts",
     "A.vstore([0], A.vload([T.Ramp(8, 1, 4)], predicate=T.Broadcast(T.bool(False), 4)))",
     "A.vstore([0], A.vload([T.Ramp(8, 1, 4)]))",
     false},
    {"region without a shape",
     "with T.block(\"b\"):\n        C = T.match_buffer(B[0:2, 4:8])\n        C[0, 0] = 0",
     "with T.block(\"b\"):\n        C = T.match_buffer(B[0:2, 4:8], (2, 4), \"float32\")\n        C[0, 0] = 0",
     true},
    {"attributes of a block",
     "with T.block(\"b\"):\n        T.block_attr({\"a\": {\"x\": 1}})\n        T.block_attr({\"a\": {\"y\": 2}})\n        T.block_attr({\"b\": 3, \"a\": {\"x\": 1}})\n        A[0] = 0",
     "with T.block(\"b\"):\n        T.block_attr({\"a\": {\"x\": 1, \"y\": 2}, \"b\": 3})\n        A[0] = 0",
     true},
    {"range of an iteration variable",
     "v = T.int32()\n    with T.attr(T.iter_var(v, T.Range(0, 4), \"ThreadIndex\", \"threadIdx.x\"), \"thread_extent\", 4):\n        A[v] = 0",
     "v = T.int32()\n    with T.attr(T.iter_var(v, None, \"ThreadIndex\", \"threadIdx.x\"), \"thread_extent\", 4):\n        A[v] = 0",
     true},
    {"no offset",
     "C = T.decl_buffer((4,), data=A.data, elem_offset=0, offset_factor=1)\n    C[0] = 0",
     "C = T.decl_buffer((4,), data=A.data)\n    C[0] = 0",
     true},
    {"tuple of meta variables",    "i, j = T.meta_var((n, n * 2)); A[i] = A[j]",                     "A[n] = A[n * 2]",
     true                                                                                                                                                                               },
    {"ceil division",              "A[T.ceildiv(n, 4)] = 1",                                         "A[(n + 4 - 1) // 4] = 1",                                                    true },
    {"truncating is not flooring", "A[T.truncdiv(n, 4)] = 1",                                        "A[n // 4] = 1",                                                              false},
    {"precedence",                 "A[n + m * 2 - 1] = 1",                                           "A[(n + (m * 2)) - 1] = 1",                                                   true },
    {"left to right",              "A[n - m - 1] = 1",                                               "A[n - (m - 1)] = 1",                                                         false},
    {"negation",                   "A[-n] = 1",                                                      "A[n * -1] = 1",                                                              true },
    {"power binds tighter",        "A[0] = -A[1] ** 2.0",                                            "A[0] = -(A[1] ** 2.0)",                                                      true },
    {"chain",                      "assert 0 <= n < 4, \"\"",                                        "assert 0 <= n and n < 4, \"\"",                                              true },
    {"not binds weaker",           "assert not n == 1 and m == 2, \"\"",
     "assert (not (n == 1)) and (m == 2), \"\"",                                                                                                                                   true },
    {"or and",                     "assert n < 1 or n < 2 and n < 3, \"\"",                          "assert n < 1 or (n < 2 and n < 3), \"\"",
     true                                                                                                                                                                               },
    {"shift",                      "A[n << 2] = 1",                                                  "A[T.shift_left(n, 2)] = 1",                                                  true },
    {"bits",                       "A[n & 3 | m] = 1",                                               "A[T.bitwise_or(T.bitwise_and(n, 3), m)] = 1",                                true },
    {"conditional",                "A[0] = A[1] if n > 0 else 0.0",
     "A[0] = T.if_then_else(n > 0, A[1], T.float32(0))",                                                                                                                           true },
    {"select is no conditional",   "A[0] = T.Select(n > 0, A[1], A[2])",
     "A[0] = T.if_then_else(n > 0, A[1], A[2])",                                                                                                                                   false},
    {"elif",                       "if n > 0:\n        A[0] = 1\n    elif n > 1:\n        A[0] = 2",
     "if n > 0:\n        A[0] = 1\n    else:\n        if n > 1:\n            A[0] = 2",                                                                                            true },
    {"one line",                   "if n > 0: A[0] = 1; A[1] = 2",                                   "if n > 0:\n        A[0] = 1\n        A[1] = 2",
     true                                                                                                                                                                               },
    {"continued line",             "A[0] = A[1] + \\\n  A[2]",                                       "A[0] = (A[1] +\n\n # note\n  A[2])",                                         true },
    {"grid",                       "for i, j in T.grid(4, 5):\n        B[i, j] = 0",
     "for i in range(4):\n        for j in T.serial(5):\n            B[i, j] = 0",                                                                                                 true },
    {"bounds",                     "for i in range(2, 6):\n        A[i] = 0",
     "for i in T.serial(2, 6):\n        A[i] = 0",                                                                                                                                 true },
    {"loop kinds differ",          "for i in T.parallel(4):\n        A[i] = 0",
     "for i in T.unroll(4):\n        A[i] = 0",                                                                                                                                    false},
    {"names do not count",         "for i in range(4):\n        A[i] = 0",
     "for k in range(4):\n        A[k] = 0",                                                                                                                                       true },
    {"let",                        "x: T.int32 = n + 1\n    A[x] = 0",                               "with T.LetStmt(n + 1) as y:\n        A[y] = 0",
     true                                                                                                                                                                               },
    {"let type",                   "x: T.let[T.int32] = n + 1\n    A[x] = 0",                        "x = T.bind(n + 1)\n    A[x] = 0",
     true                                                                                                                                                                               },
    {"meta value",                 "x = T.meta_var(n + 1)\n    A[x] = 0",                            "A[n + 1] = 0",                                                               true },
    {"slice",                      "A[4:8] = A[0:4]",                                                "A[T.Ramp(4, 1, 4)] = A[T.Ramp(0, 1, 4)]",                                    true },
    {"broadcast",                  "A[0:4] = 1",                                                     "A[0:4] = T.Broadcast(T.float32(1), 4)",                                      true },
    {"extern",                     "T.evaluate(T.call_extern(\"f\", n, dtype=\"int32\"))",
     "T.call_extern(\"int32\", \"f\", n)",                                                                                                                                         true },
    {"scalar buffer",              "S[()] = A[0]",                                                   "S[()] = A[T.int32(0)]",                                                      true },
    {"remap",
     "for i, j in T.grid(4, 5):\n        with T.block(\"b\"):\n            vi, vj = "
     "T.axis.remap(\"SR\", [i, j])\n            B[vi, vj] = 0",                                      "for i, j in T.grid(4, 5):\n        with T.sblock(\"c\"):\n            vi = T.axis.S(4, i)\n  "
     "          vj = T.axis.R(5, j)\n            B[vi, vj] = 0",                                                    true },
    {"spelled root",
     "with T.block(\"root\"):\n        for i in range(4):\n            with T.block(\"b\"):\n      "
     "          vi = T.axis.spatial(4, i)\n                A[vi] = 0",                               "for i in range(4):\n        with T.block(\"b\"):\n            vi = T.axis.spatial(4, i)\n    "
     "        A[vi] = 0",                                                                                    true },
    {"regions",
     "for i in range(4):\n        with T.block(\"b\"):\n            vi = T.axis.spatial(4, i)\n    "
     "        A[vi] = B[vi, 0] + B[vi, 1]",                                                          "for i in range(4):\n        with T.block(\"b\"):\n            vi = T.axis.spatial(4, i)\n    "
     "        T.reads([B[vi, 0:2]])\n            T.writes(A[vi])\n            A[vi] = B[vi, 0] + "
     "B[vi, 1]",                                                                                                                        true },
    {"where",
     "for i in range(4):\n        with T.block(\"b\"):\n            vi = T.axis.spatial(16, i * "
     "4)\n            T.where(i < 3)\n            A[vi] = 0",                                        "for i in range(4):\n        with T.block(\"b\"):\n            vi = T.axis.spatial(16, i * "
     "4)\n            A[vi] = 0",                                                                                     false},
    {"launch",                     "tx = T.launch_thread(\"threadIdx.x\", 4)\n    A[tx] = 0",
     "for t in T.thread_binding(4, thread=\"threadIdx.x\"):\n        A[t] = 0",                                                                                                    true },
    {"environment thread",
     "tx = T.env_thread(\"threadIdx.x\")\n    with T.launch_thread(tx, 4):\n        A[tx] = 0",      "for t in T.thread_binding(0, 4, thread=\"threadIdx.x\"):\n        A[t] = 0", true },
    {"limits",                     "A[0] = T.min_value(\"float32\")",                                "A[0] = -T.max_value(\"float32\")",                                           true },
    {"largest of uint64",          "A[0] = T.cast(T.max_value(\"uint64\"), \"float32\")",
     "A[0] = T.cast(T.bitwise_not(T.uint64(0)), \"float32\")",                                                                                                                     true },
    {"infinity",                   "A[0] = T.infinity(\"float32\")",                                 "A[0] = T.float32(\"inf\")",                                                  true },
    {"maximum",                    "A[0] = max(A[1], 0)",                                            "A[0] = T.max(A[1], T.float32(0))",                                           true },
};
/* clang-format on */

static hone_module *read_body(const char *body) {
    char text[4096];
    hone_module *module = NULL;
    snprintf(
        text, sizeof text,
        "TWO, FOUR = T.float32(2), T.max(T.float32(4), T.min_value(\"float32\"))\n"
        "def more(x, y=T.float32(3), *, z=TWO + FOUR):\n    return x * y + z\n"
        "@T.prim_func\ndef f(A: T.Buffer((64,)), B: T.Buffer[(8, 8), \"float32\"], "
        "S: T.Buffer((), \"float32\"), n: T.int32, m: T.int32, H: T.Buffer((8,), \"float16\"), "
        "Q: T.Buffer((8,), \"int8\"), W: T.Buffer((8,), \"int32\")):\n    %s\n",
        body);
    HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "p.py", &module));
    return module;
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *left = read_body(row->left), *right = read_body(row->right), *copy = NULL;
    hone_str difference = {0}, text = {0};
    bool same = hone_module_equal(left, right, &difference);
    if (same != row->same) print_error("%s\n", hone_str_text(&difference));
    HONE_ASSERT_OK(hone_module_print(left, NULL, &text));
    HONE_ASSERT_OK(hone_script_parse(text.data, text.length, "again.py", &copy));
    bool round = hone_module_equal(left, copy, &difference);
    if (!round) print_error("%s\n%s", hone_str_text(&difference), text.data);
    hone_module_release(left);
    hone_module_release(right);
    hone_module_release(copy);
    hone_str_deinit(&difference);
    hone_str_deinit(&text);
    assert_int_equal(same, row->same);
    assert_true(round);
}

int main(void) {
    return HONE_RUN_ROWS("ir/script_spelling", rows, check_row);
}
