/* bench/bench_models.c - what reading and preparing costs for models of 10, 100, 1,000 and 10,000
 * nodes.
 *
 *   matmul, add, relu or tanh, and every eighth node a sum with what came eight nodes before
 *
 * read: from text to a module. prepare: all passes (graph/passes/prepare.h). plan: steps and memory
 * of the prepared module. Each time is the least of some runs. The last row of each is the growth:
 * the time at 10,000 nodes over that at 100, over 100; 1 is linear, less is better. `memory` is
 * what the prepared module holds. Building kernels is not in it: there are as many as there are
 * shapes.
 */
#include <stdio.h>
#include <string.h>

#include "bench/bench_util.h"
#include "graph/passes/prepare.h"
#include "graph/plan/plan.h"
#include "ir/text/read/script.h"

enum { SIZES = 4, RUNS = 3 };
static const int node_counts[SIZES] = {10, 100, 1000, 10000};
static const char *const phases[] = {"read", "prepare", "plan"};

typedef struct cost {
    double ns[HONE_COUNT(phases)], bytes;
} cost;

static void append_node(hone_str *text, int k) {
    char from[32] = "x", before[32] = "x";
    if (k) snprintf(from, sizeof from, "v%d", k - 1);
    if (k >= 8) snprintf(before, sizeof before, "v%d", k - 8);
    hone_str_printf(text, "        v%d = ", k);
    if (k % 8 == 7) {
        hone_str_printf(text, "R.add(%s, %s)\n", from, before);
    } else if (k % 3 == 0) {
        hone_str_printf(text, "R.matmul(%s, w)\n", from);
    } else if (k % 3 == 1) {
        hone_str_printf(text, "R.add(%s, b)\n", from);
    } else {
        hone_str_printf(text, "R.%s(%s)\n", k % 2 ? "nn.relu" : "tanh", from);
    }
}

static void print_model(int count, hone_str *text) {
    hone_str_append(text, "from tvm.script import relax as R\n\n@R.function\n"
                          "def main(x: R.Tensor((4, 16), \"float32\"), "
                          "w: R.Tensor((16, 16), \"float32\"), "
                          "b: R.Tensor((16,), \"float32\")):\n    with R.dataflow():\n");
    for (int k = 0; k < count; k++)
        append_node(text, k);
    hone_str_printf(text, "        R.output(v%d)\n    return v%d\n", count - 1, count - 1);
}

static double least(double before, int64_t start) {
    double now = (double)(bench_now_ns() - start);
    return before == 0 || now < before ? now : before;
}

static void run_once(const hone_str *text, cost *io) {
    hone_module *module, *prepared;
    hone_plan *plan;
    int64_t start = bench_now_ns();
    bench_must(hone_script_parse(text->data, text->length, "model.py", &module));
    io->ns[0] = least(io->ns[0], start);
    start = bench_now_ns();
    bench_must(hone_graph_prepare(module, NULL, &prepared));
    io->ns[1] = least(io->ns[1], start);
    start = bench_now_ns();
    bench_must(hone_plan_create(prepared, "main", HONE_PLAN_ALIGN, &plan));
    io->ns[2] = least(io->ns[2], start);
    io->bytes = (double)hone_arena_reserved(prepared->arena);
    hone_plan_destroy(plan);
    hone_module_release(prepared);
    hone_module_release(module);
}

static cost cost_of(int count) {
    hone_str text = {0};
    cost c = {.bytes = 0};
    print_model(count, &text);
    for (int run = 0; run < RUNS; run++)
        run_once(&text, &c);
    hone_str_deinit(&text);
    return c;
}

static void add_row(bench *b, const char *work, const char *metric, const char *unit,
                    double value) {
    bench_add(b, &(bench_row){.work = work, .metric = metric, .unit = unit, .hone = value});
}

int main(int argc, char **argv) {
    bench b;
    cost costs[SIZES];
    char metrics[SIZES][16];
    bench_begin(&b, "models", argc, argv);
    for (int i = 0; i < SIZES; i++) {
        costs[i] = cost_of(node_counts[i]);
        snprintf(metrics[i], sizeof metrics[i], "%d", node_counts[i]);
    }
    for (size_t p = 0; p < HONE_COUNT(phases); p++) {
        for (int i = 0; i < SIZES; i++)
            add_row(&b, phases[p], metrics[i], "us", costs[i].ns[p] / 1e3);
        add_row(&b, phases[p], "growth", "", costs[3].ns[p] / costs[1].ns[p] / 100);
    }
    for (int i = 0; i < SIZES; i++)
        add_row(&b, "memory", metrics[i], "KiB", costs[i].bytes / 1024);
    add_row(&b, "memory", "growth", "", costs[3].bytes / costs[1].bytes / 100);
    return bench_finish(&b);
}
