/* tests/package/graph_model.h - a graph function with a tensor program, and whether what became of
 * it computes the same. */
#ifndef HONE_TESTS_GRAPH_MODEL_H
#define HONE_TESTS_GRAPH_MODEL_H

#include "tests/package/public_test.h"

static const char model[] =
    "from tvm.script import ir as I\n"
    "from tvm.script import relax as R\n"
    "from tvm.script import tir as T\n"
    "@I.ir_module\n"
    "class Module:\n"
    "    I.module_attrs({\"version\": 2})\n"
    "    @T.prim_func\n"
    "    def twice(x: T.Buffer((2, 3), \"float32\"),\n"
    "              y: T.Buffer((2, 3), \"float32\")):\n"
    "        for i, j in T.grid(2, 3):\n"
    "            with T.block(\"y\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                y[vi, vj] = x[vi, vj] * T.float32(2)\n"
    "    @R.function\n"
    "    def main(x: R.Tensor((2, 3), \"float32\")):\n"
    "        R.func_attr({\"num_input\": 1})\n"
    "        cls = Module\n"
    "        with R.dataflow():\n"
    "            a = R.nn.relu(x)\n"
    "            b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((2, 3), "
    "\"float32\"))\n"
    "            c = R.add(b, R.const([1.0, 2.0, 3.0], \"float32\"))\n"
    "            d = R.nn.softmax(c, axis=0)\n"
    "            R.output(d)\n"
    "        return d\n";

/* The outputs of main of both programs on the same numbers. */
bool graph_model_agrees(const hone_program *a, const hone_program *b);

#endif
