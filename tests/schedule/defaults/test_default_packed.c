/* tests/schedule/defaults/test_default_packed.c - products whose operands are laid out by default:
 * random convolutions and matrix products keep their meaning, and copies are made where they pay.
 */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <string.h>

#include "tests/schedule/defaults/default_trial.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

enum { PRODUCTS = 60, TALL_PRODUCTS = 10, MAX_ROOT = 16, CONVOLUTION_AXES = 7 };

static const hone_default_limits machines[] = {
    {.threads = 1,
     .vector_lanes = 4,
     .vector_registers = 16,
     .l1_bytes = 1 << 15,
     .l2_bytes = 1 << 12,
     .constants = 2},
    {.threads = 2,
     .vector_lanes = 8,
     .vector_registers = 16,
     .l1_bytes = 1 << 15,
     .l2_bytes = 1 << 20,
     .constants = 2},
    {.threads = 8,
     .vector_lanes = 16,
     .vector_registers = 32,
     .l1_bytes = 1 << 15,
     .l2_bytes = 1 << 20,
     .constants = 2},
    {.threads = 1,
     .vector_lanes = 8,
     .vector_registers = 32,
     .l1_bytes = 1 << 15,
     .l2_bytes = 1 << 20     },
    {.threads = 4,
     .vector_lanes = 16,
     .vector_registers = 32,
     .l1_bytes = 1 << 15,
     .l2_bytes = 1 << 12    },
};

static int between(hone_rng *rng, int low, int high) {
    return (int)hone_rng_between(rng, low, high);
}

/* Odd sizes, groups, dilation, strides, padding, batches; a bias and what is added, and relu,
 * behind it or not. */
static void print_convolution(hone_rng *rng, hone_str *text) {
    int groups = between(rng, 0, 3) > 0 ? 1 : 2, kernel = between(rng, 1, 3);
    int stride = between(rng, 1, 2), pad = between(rng, 0, kernel / 2),
        dilation = between(rng, 1, 2);
    int reach = (kernel - 1) * dilation + 1, height = between(rng, reach, 9),
        width = between(rng, reach, 17);
    hone_str_printf(
        text,
        "N, C, H, V, F, K, S, P, D, G = %d, %d, %d, %d, %d, %d, %d, %d, %d, %d\n"
        "OH = (H + 2 * P - %d) // S + 1\n"
        "OV = (V + 2 * P - %d) // S + 1\n"
        "@T.prim_func\n"
        "def main(X: T.Buffer((N, C * G, H, V), \"float32\"), W: T.Buffer((F * G, C, K, K), "
        "\"float32\"), B: T.Buffer((F * G,), \"float32\"), Y: T.Buffer((N, F * G, OH, OV), "
        "\"float32\")):\n",
        between(rng, 1, 2), between(rng, 1, 5), height, width, between(rng, 1, 37), kernel, stride,
        pad, dilation, groups, reach, reach);
    hone_str_append(text, "    Q = T.alloc_buffer((N, C * G, H + 2 * P, V + 2 * P))\n"
                          "    R = T.alloc_buffer((N, F * G, OH, OV))\n"
                          "    for n, c, y, x in T.grid(N, C * G, H + 2 * P, V + 2 * P):\n"
                          "        with T.block(\"pad\"):\n"
                          "            vn, vc, vy, vx = T.axis.remap(\"SSSS\", [n, c, y, x])\n"
                          "            Q[vn, vc, vy, vx] = T.if_then_else(P <= vy and vy < H + P "
                          "and P <= vx and vx < V + "
                          "P, X[vn, vc, vy - P, vx - P], T.float32(0))\n"
                          "    for n, f, y, x, c, dy, dx in T.grid(N, F * G, OH, OV, C, K, K):\n"
                          "        with T.block(\"conv\"):\n"
                          "            vn, vf, vy, vx, vc, vdy, vdx = T.axis.remap(\"SSSSRRR\", "
                          "[n, f, y, x, c, dy, dx])\n"
                          "            with T.init():\n"
                          "                R[vn, vf, vy, vx] = T.float32(0)\n");
    hone_str_printf(
        text,
        "            R[vn, vf, vy, vx] = R[vn, vf, vy, vx] + Q[vn, %svc, vy * S + vdy * D, "
        "vx * S + vdx * D] * W[vf, vc, vdy, vdx]\n",
        groups > 1 ? "vf // F * C + " : "");
    hone_str_printf(text,
                    "    for n, f, y, x in T.grid(N, F * G, OH, OV):\n"
                    "        with T.block(\"out\"):\n"
                    "            vn, vf, vy, vx = T.axis.remap(\"SSSS\", [n, f, y, x])\n"
                    "            Y[vn, vf, vy, vx] = %s\n",
                    between(rng, 0, 1) == 0 ? "T.max(R[vn, vf, vy, vx] + B[vf], T.float32(0))"
                                            : "R[vn, vf, vy, vx] * B[vf]");
}

/* Convolutions of one tap, whose rows go straight on: what takes them does so, too (nothing, a
 * bias, what is added), or turns the image. */
static void print_pointwise(hone_rng *rng, hone_str *text) {
    static const char *const takes[] = {"T.max(R[vn, vf, vy, vx] + B[vf], T.float32(0))",
                                        "R[vn, vf, vy, vx] * Z[vn, vf, vy, vx]",
                                        "R[vn, vf, vx, vy] * B[vf]", NULL};
    const char *taken = takes[between(rng, 0, 3)], *to = taken ? "R" : "Y";
    int size = between(rng, 2, 9);
    hone_str_printf(text,
                    "N, C, H, V, F = %d, %d, %d, %d, %d\n"
                    "@T.prim_func\n"
                    "def main(X: T.Buffer((N, C, H, V), \"float32\"), W: T.Buffer((F, C, 1, 1), "
                    "\"float32\"), B: T.Buffer((F,), \"float32\"), Z: T.Buffer((N, F, H, V), "
                    "\"float32\"), Y: T.Buffer((N, F, H, V), \"float32\")):\n",
                    between(rng, 1, 2), between(rng, 2, 9), size,
                    taken == takes[2] ? size : between(rng, 2, 19), between(rng, 1, 37));
    if (taken) hone_str_append(text, "    R = T.alloc_buffer((N, F, H, V))\n");
    hone_str_printf(text,
                    "    for n, f, y, x, c, dy, dx in T.grid(N, F, H, V, C, 1, 1):\n"
                    "        with T.block(\"conv\"):\n"
                    "            vn, vf, vy, vx, vc, vdy, vdx = T.axis.remap(\"SSSSRRR\", "
                    "[n, f, y, x, c, dy, dx])\n"
                    "            with T.init():\n"
                    "                %s[vn, vf, vy, vx] = T.float32(0)\n"
                    "            %s[vn, vf, vy, vx] += X[vn, vc, vy + vdy, vx + vdx] * "
                    "W[vf, vc, vdy, vdx]\n",
                    to, to);
    if (!taken) return;
    hone_str_printf(text,
                    "    for n, f, y, x in T.grid(N, F, H, V):\n"
                    "        with T.block(\"out\"):\n"
                    "            vn, vf, vy, vx = T.axis.remap(\"SSSS\", [n, f, y, x])\n"
                    "            Y[vn, vf, vy, vx] = %s\n",
                    taken);
}

/* Both operands as they are or transposed, W for each of a batch or for all. */
static void print_product(hone_rng *rng, hone_str *text) {
    bool x_turned = between(rng, 0, 1), w_turned = between(rng, 0, 1),
         is_batched = between(rng, 0, 1);
    hone_str_printf(
        text,
        "B, M, N, K = %d, %d, %d, %d\n"
        "@T.prim_func\n"
        "def main(X: T.Buffer((B, %s), \"float32\"), W: T.Buffer((%s%s), \"float32\"), Y: "
        "T.Buffer((B, M, N), \"float32\")):\n"
        "    R = T.alloc_buffer((B, M, N))\n"
        "    for b, i, j, k in T.grid(B, M, N, K):\n"
        "        with T.block(\"matmul\"):\n"
        "            vb, vi, vj, vk = T.axis.remap(\"SSSR\", [b, i, j, k])\n"
        "            with T.init():\n"
        "                R[vb, vi, vj] = T.float32(0)\n"
        "            R[vb, vi, vj] = R[vb, vi, vj] + X[vb, %s] * W[%s%s]\n"
        "    for b, i, j in T.grid(B, M, N):\n"
        "        with T.block(\"out\"):\n"
        "            vb, vi, vj = T.axis.remap(\"SSS\", [b, i, j])\n"
        "            Y[vb, vi, vj] = T.exp(R[vb, vi, vj])\n",
        between(rng, 1, 3), between(rng, 1, 40), between(rng, 1, 70), between(rng, 1, 9),
        x_turned ? "K, M" : "M, K", is_batched ? "B, " : "", w_turned ? "N, K" : "K, N",
        x_turned ? "vk, vi" : "vi, vk", is_batched ? "vb, " : "", w_turned ? "vj, vk" : "vk, vj");
}

/* Bytes summed in 32 bits: rows of X lie along the sum, W either way; a zero point, or none. */
static void print_bytes(hone_rng *rng, hone_str *text) {
    static const char *const types[] = {"int8", "uint8"};
    bool is_turned = between(rng, 0, 1), has_zero = between(rng, 0, 1);
    const char *x = types[between(rng, 0, 1)], *w = types[between(rng, 0, 1)];
    hone_str_printf(
        text,
        "M, N, K = %d, %d, %d\n"
        "@T.prim_func\n"
        "def main(X: T.Buffer((M, K), \"%s\"), W: T.Buffer((%s), \"%s\"), Y: T.Buffer((M, N), "
        "\"int32\")):\n"
        "    for i, j, k in T.grid(M, N, K):\n"
        "        with T.block(\"Y\"):\n"
        "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
        "            with T.init():\n"
        "                Y[vi, vj] = 0\n"
        "            Y[vi, vj] = Y[vi, vj] + (T.Cast(\"int32\", X[vi, vk])%s) * "
        "T.Cast(\"int32\", W[%s])\n",
        between(rng, 1, 40), between(rng, 1, 70), between(rng, 1, 19), x,
        is_turned ? "N, K" : "K, N", w, has_zero ? " - 3" : "", is_turned ? "vj, vk" : "vk, vj");
}

/* Images of bytes: channels are turned to come last, or do so already; few of them, and such that
 * are no multiple of four, are padded. */
static void print_convolution_of_bytes(hone_rng *rng, hone_str *text) {
    int kernel = between(rng, 1, 5), stride = between(rng, 1, 2), dilation = between(rng, 1, 2);
    int reach = (kernel - 1) * dilation + 1;
    bool is_last = between(rng, 0, 2) == 0; /* channels and filters */
    hone_str_printf(text,
                    "N, C, H, V, F, K, S, D = %d, %d, %d, %d, %d, %d, %d, %d\n"
                    "OH = (H - %d) // S + 1\n"
                    "OV = (V - %d) // S + 1\n"
                    "@T.prim_func\n",
                    between(rng, 1, 2), between(rng, 1, 9), between(rng, reach, reach + 6),
                    between(rng, reach, reach + 17), between(rng, 1, 37), kernel, stride, dilation,
                    reach, reach);
    const char *image = is_last ? "N, H, V, C" : "N, C, H, V";
    const char *filters = is_last ? "F, K, K, C" : "F, C, K, K";
    const char *sums = is_last ? "N, OH, OV, F" : "N, F, OH, OV";
    const char *at = is_last ? "vn, vy, vx, vf" : "vn, vf, vy, vx";
    hone_str_printf(text,
                    "def main(X: T.Buffer((%s), \"uint8\"), W: T.Buffer((%s), \"int8\"), "
                    "B: T.Buffer((F,), \"int32\"), Y: T.Buffer((%s), \"float32\")):\n"
                    "    R = T.alloc_buffer((%s), \"int32\")\n"
                    "    for n, f, y, x, c, dy, dx in T.grid(N, F, OH, OV, C, K, K):\n"
                    "        with T.block(\"conv\"):\n"
                    "            vn, vf, vy, vx, vc, vdy, vdx = T.axis.remap(\"SSSSRRR\", "
                    "[n, f, y, x, c, dy, dx])\n"
                    "            with T.init():\n"
                    "                R[%s] = 0\n",
                    image, filters, sums, sums, at);
    hone_str_printf(text,
                    "            R[%s] = R[%s] + T.Cast(\"int32\", X[vn, %svy * S + vdy * D, "
                    "vx * S + vdx * D%s]) * T.Cast(\"int32\", W[%s])\n"
                    "    for n, f, y, x in T.grid(N, F, OH, OV):\n"
                    "        with T.block(\"out\"):\n"
                    "            vn, vf, vy, vx = T.axis.remap(\"SSSS\", [n, f, y, x])\n"
                    "            Y[%s] = T.Cast(\"float32\", R[%s] - B[vf])\n",
                    at, at, is_last ? "" : "vc, ", is_last ? ", vc" : "",
                    is_last ? "vf, vdy, vdx, vc" : "vf, vc, vdy, vdx", at, at);
}

/* Nests in front of everything that read the weights: W is parameter 1. */
static int packings(const hone_func *func) {
    int count = 0;
    hone_buffer weights = func->params[1].buffer;
    hone_node_id root = hone_func_root_block(func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_BLOCK || n == root) continue;
        const hone_block *block = node->u.block.block;
        count += block->read_count == 1 && block->reads[0].buffer == weights;
    }
    return count;
}

/* The image has become one row: what is summed has an axis less than in the program. */
static bool has_joined(const hone_func *func) {
    hone_node_id root = hone_func_root_block(func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BLOCK && strncmp(node->u.block.block->name, "conv", 4) == 0 &&
            node->u.block.block->axis_count == CONVOLUTION_AXES - 1)
            return true;
    }
    return false;
}

static bool is_right(const hone_func *func, const hone_default_limits *limits, uint64_t seed,
                     int *io_packed) {
    hone_schedule *sch;
    bool is_good = default_trial(func, limits, seed, &sch);
    *io_packed += packings(sch->func) > 0 || has_joined(sch->func);
    hone_schedule_destroy(sch);
    return is_good;
}

/* A third of them at least have their weights laid out, or images that become rows: groups and
 * single rows do not. */
static void check_random(void (*print)(hone_rng *, hone_str *), uint64_t products) {
    enum { SHARE = 3 };
    uint64_t count = hone_test_count(products), first = hone_test_seed(0);
    int packed = 0, tried = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        hone_rng rng = hone_rng_from_seed(seed);
        hone_str text = {0};
        hone_module *module = NULL;
        print(&rng, &text);
        const hone_func *func = hone_test_parse(hone_str_text(&text), &module);
        bool is_good = is_right(func, &machines[seed % HONE_COUNT(machines)], seed, &packed);
        tried++;
        hone_module_release(module);
        hone_str_deinit(&text);
        if (!is_good) fail_msg("seed %llu", (unsigned long long)seed);
    }
    assert_true(SHARE * packed >= tried);
}

static void convolutions_are_right(void **state) {
    (void)state;
    check_random(print_convolution, PRODUCTS);
}

static void convolutions_of_one_tap_are_right(void **state) {
    (void)state;
    check_random(print_pointwise, PRODUCTS);
}

static void products_are_right(void **state) {
    (void)state;
    check_random(print_product, PRODUCTS);
}

/* So many rows go over W that it is copied where it is far, which it is for two of the machines:
 * in panels, or as a whole for eight threads; once for each of a batch. */
static void print_tall_product(hone_rng *rng, hone_str *text) {
    bool is_batched = between(rng, 0, 1);
    hone_str_printf(text,
                    "B, M, N, K = %d, %d, %d, %d\n"
                    "@T.prim_func\n"
                    "def main(X: T.Buffer((B, M, K), \"float32\"), W: T.Buffer((%sK, N), "
                    "\"float32\"), Y: T.Buffer((B, M, N), \"float32\")):\n"
                    "    for b, i, j, k in T.grid(B, M, N, K):\n"
                    "        with T.block(\"matmul\"):\n"
                    "            vb, vi, vj, vk = T.axis.remap(\"SSSR\", [b, i, j, k])\n"
                    "            with T.init():\n"
                    "                Y[vb, vi, vj] = T.float32(0)\n"
                    "            Y[vb, vi, vj] += X[vb, vi, vk] * W[%svk, vj]\n",
                    between(rng, 1, 2), between(rng, 384, 400), between(rng, 65, 150),
                    between(rng, 17, 23), is_batched ? "B, " : "", is_batched ? "vb, " : "");
}

static void tall_products_are_right(void **state) {
    (void)state;
    check_random(print_tall_product, TALL_PRODUCTS);
}

static void products_of_bytes_are_right(void **state) {
    (void)state;
    check_random(print_bytes, PRODUCTS);
}

static void convolutions_of_bytes_are_right(void **state) {
    (void)state;
    check_random(print_convolution_of_bytes, PRODUCTS);
}

/* X has so many rows; W, of 10 KB, is transposed, or not, and constant as the mask says. */
static int packed_of(int rows, bool is_turned, uint64_t constants, int64_t l2_bytes) {
    hone_default_limits limits = machines[2];
    hone_str text = {0};
    hone_module *module = NULL;
    hone_str_printf(&text,
                    "@T.prim_func\n"
                    "def main(X: T.Buffer((%d, 40), \"float32\"), W: T.Buffer((%s), \"float32\"), "
                    "Y: T.Buffer((%d, 64), \"float32\")):\n"
                    "    for i, j, k in T.grid(%d, 64, 40):\n"
                    "        with T.block(\"Y\"):\n"
                    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                    "            with T.init():\n"
                    "                Y[vi, vj] = T.float32(0)\n"
                    "            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[%s]\n",
                    rows, is_turned ? "64, 40" : "40, 64", rows, rows,
                    is_turned ? "vj, vk" : "vk, vj");
    const hone_func *func = hone_test_parse(hone_str_text(&text), &module);
    int packed = 0;
    limits.constants = constants;
    limits.l2_bytes = l2_bytes;
    bool is_good = is_right(func, &limits, 1, &packed);
    hone_module_release(module);
    hone_str_deinit(&text);
    assert_true(is_good);
    return packed;
}

/* W is laid out where it is constant; at run time where no vectors lie along its columns, or the
 * second cache does not hold it, and there are rows enough to pay for the copy. */
static void copies_are_made_where_they_pay(void **state) {
    (void)state;
    static const struct {
        int rows;
        bool is_turned;
        uint64_t constants;
        int64_t l2_bytes;
        int packed;
    } cases[] = {
        {24,  false, 0, 1 << 20, 0},
        {24,  false, 1, 1 << 20, 0},
        {24,  false, 2, 1 << 20, 1},
        {3,   false, 2, 1 << 20, 1},
        {24,  true,  0, 1 << 20, 1},
        {24,  true,  1, 1 << 20, 1},
        {3,   true,  0, 1 << 20, 0},
        {3,   true,  2, 1 << 20, 1},
        {400, false, 0, 1 << 20, 0},
        {400, false, 0, 1 << 13, 1},
        {100, false, 0, 1 << 13, 0},
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        int packed =
            packed_of(cases[i].rows, cases[i].is_turned, cases[i].constants, cases[i].l2_bytes);
        if (packed != cases[i].packed) fail_msg("case %zu: %d", i, packed);
    }
}

/* A square image of so many pixels a side, 48 filters of so many taps a side over 64 channels, in
 * groups. */
static int packed_filters(int size, int taps, int groups, uint64_t constants) {
    hone_default_limits limits = machines[2];
    hone_str text = {0};
    hone_module *module = NULL;
    hone_str_printf(&text,
                    "S, K, O, G = %d, %d, %d, %d\n"
                    "@T.prim_func\n"
                    "def main(X: T.Buffer((64, S, S), \"float32\"), W: T.Buffer((48, 64 // G, K, "
                    "K), \"float32\"), Y: T.Buffer((48, O, O), \"float32\")):\n"
                    "    for f, y, x, c, dy, dx in T.grid(48, O, O, 64 // G, K, K):\n"
                    "        with T.block(\"Y\"):\n"
                    "            vf, vy, vx, vc, vdy, vdx = T.axis.remap(\"SSSRRR\", [f, y, x, c, "
                    "dy, dx])\n"
                    "            with T.init():\n"
                    "                Y[vf, vy, vx] = T.float32(0)\n"
                    "            Y[vf, vy, vx] = Y[vf, vy, vx] + X[%svc, vy + vdy, vx + vdx] * "
                    "W[vf, vc, vdy, vdx]\n",
                    size, taps, size - taps + 1, groups,
                    groups > 1 ? "vf // (48 // G) * (64 // G) + " : "");
    const hone_func *func = hone_test_parse(hone_str_text(&text), &module);
    int packed = 0;
    limits.constants = constants;
    bool is_good = is_right(func, &limits, 1, &packed);
    hone_module_release(module);
    hone_str_deinit(&text);
    assert_true(is_good);
    return packed;
}

/* Filters of the run are laid out where rows of the image fill vectors badly, those of one tap
 * where all of the image does, and there are pixels enough to pay for the copy; one of taps takes
 * longer than one of a channel. */
static void filters_are_copied_where_it_pays(void **state) {
    (void)state;
    static const struct {
        int size, taps, groups;
        uint64_t constants;
        int packed;
    } cases[] = {
        {7,  1, 1, 0, 0},
        {9,  1, 1, 0, 0},
        {16, 1, 1, 0, 0},
        {2,  1, 1, 0, 0},
        {11, 3, 1, 0, 1},
        {5,  3, 1, 0, 0},
        {5,  3, 1, 2, 1},
        {7,  1, 1, 2, 1},
        {5,  3, 2, 2, 1},
        {11, 3, 2, 0, 1},
        {11, 3, 4, 2, 1},
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        int packed =
            packed_filters(cases[i].size, cases[i].taps, cases[i].groups, cases[i].constants);
        if (packed != cases[i].packed) fail_msg("case %zu: %d", i, packed);
    }
}

/* Images under filters of one tap are one row, whose vectors do not end where its rows do. */
static void images_of_one_tap_are_one_row(void **state) {
    (void)state;
    hone_rng rng = hone_test_rng(7);
    int joined = 0;
    for (int i = 0; i < 8; i++) {
        hone_default_limits limits = machines[2];
        hone_str text = {0};
        hone_module *module = NULL;
        hone_schedule *sch = NULL;
        print_pointwise(&rng, &text);
        const hone_func *func = hone_test_parse(hone_str_text(&text), &module);
        limits.constants = 0;
        HONE_ASSERT_OK(hone_schedule_create(func, &sch));
        HONE_ASSERT_OK(hone_default_schedule(sch, &limits));
        joined += has_joined(sch->func);
        hone_schedule_destroy(sch);
        hone_module_release(module);
        hone_str_deinit(&text);
    }
    assert_true(joined >= 4);
}

/* Blocks named "pad" that are left by default of a convolution with so many places of padding,
 * and taps for two of them and one more. */
static int paddings(int size, int channels, int places, const hone_default_limits *limits) {
    hone_module *module = NULL;
    hone_schedule *sch = NULL;
    char text[1500];
    int count = 0;
    snprintf(
        text, sizeof text,
        "H, C, P, K = %d, %d, %d, %d\n"
        "@T.prim_func\n"
        "def main(X: T.Buffer((1, C, H, H), \"float32\"), W: T.Buffer((32, C, K, K), "
        "\"float32\"), Y: T.Buffer((1, 32, H, H), \"float32\")):\n"
        "    Q = T.alloc_buffer((1, C, H + 2 * P, H + 2 * P))\n"
        "    for n, c, y, x in T.grid(1, C, H + 2 * P, H + 2 * P):\n"
        "        with T.block(\"pad\"):\n"
        "            vn, vc, vy, vx = T.axis.remap(\"SSSS\", [n, c, y, x])\n"
        "            Q[vn, vc, vy, vx] = T.if_then_else(P <= vy and vy < H + P and P <= vx and "
        "vx < H + P, X[vn, vc, vy - P, vx - P], T.float32(0))\n"
        "    for n, f, y, x, c, u, v in T.grid(1, 32, H, H, C, K, K):\n"
        "        with T.block(\"conv\"):\n"
        "            vn, vf, vy, vx, vc, vu, vv = T.axis.remap(\"SSSSRRR\", [n, f, y, x, c, u, "
        "v])\n"
        "            with T.init():\n"
        "                Y[vn, vf, vy, vx] = T.float32(0)\n"
        "            Y[vn, vf, vy, vx] += Q[vn, vc, vy + vu, vx + vv] * W[vf, vc, vu, vv]\n",
        size, channels, places, 2 * places + 1);
    const hone_func *func = hone_test_parse(text, &module);
    assert_true(default_trial(func, limits, 1, &sch));
    hone_node_id root = hone_func_root_block(sch->func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(sch->func, root, n)) {
        const hone_node *node = hone_func_node(sch->func, n);
        count += node->kind == HONE_NODE_BLOCK && strcmp(node->u.block.block->name, "pad") == 0;
    }
    hone_schedule_destroy(sch);
    hone_module_release(module);
    return count;
}

/* Paddings that are thin beside the image go into the product where the sum over channels is long:
 * with filters as vectors, and with vectors of the image where masks take no registers. */
static void thin_paddings_are_not_copied(void **state) {
    (void)state;
    static const struct {
        int size, channels, places, vector_registers;
        uint64_t constants;
        bool is_open;
        int paddings;
    } cases[] = {
        {14, 16, 1, 32, 2, false, 0},
        {14, 16, 1, 32, 0, false, 0},
        {14, 16, 1, 16, 2, false, 0},
        {16, 16, 1, 16, 0, false, 1},
        {14, 4,  1, 32, 2, false, 1},
        {7,  16, 1, 32, 2, false, 1},
        {14, 16, 1, 32, 2, true,  1},
        {31, 20, 2, 32, 0, false, 1},
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        hone_default_limits limits = machines[2];
        limits.vector_registers = cases[i].vector_registers;
        limits.vector_lanes = cases[i].vector_registers / 2;
        limits.constants = cases[i].constants;
        limits.are_sizes_open = cases[i].is_open;
        int left = paddings(cases[i].size, cases[i].channels, cases[i].places, &limits);
        if (left != cases[i].paddings) fail_msg("case %zu: %d", i, left);
    }
}

/* How many unrolled loops of more than one iteration are around the block. */
static int unrolled_around(const hone_func *func, const char *name) {
    int count = 0;
    hone_node_id root = hone_func_root_block(func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        bool is_it = node->kind == HONE_NODE_BLOCK && strcmp(node->u.block.block->name, name) == 0;
        for (hone_node_id up = node->parent; is_it && up != root; up = node->parent) {
            node = hone_func_node(func, up);
            count += node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_UNROLLED &&
                     !hone_expr_is_int_value(node->u.loop.range.extent, 1);
        }
    }
    return count;
}

/* The longest vectors that the default schedule of the function has. */
static int64_t longest_vector(const hone_func *func, const hone_default_limits *limits) {
    hone_schedule *sch = NULL;
    int64_t longest = 0;
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_default_schedule(sch, limits));
    hone_node_id root = hone_func_root_block(sch->func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(sch->func, root, n)) {
        const hone_node *node = hone_func_node(sch->func, n);
        if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_VECTORIZED) continue;
        int64_t extent = hone_expr_const(node->u.loop.range.extent);
        if (extent > longest) longest = extent;
    }
    hone_schedule_destroy(sch);
    return longest;
}

/* A product of 128 rows and 768 columns that are read where they lie: a panel of four vectors over
 * 3072 steps is three quarters of the second cache, so there are three, and more rows to a tile. */
static void panels_stay_in_the_second_cache(void **state) {
    (void)state;
    static const struct {
        int steps;
        int64_t l2_bytes, columns;
    } cases[] = {
        {1024, 1 << 20, 64},
        {3072, 1 << 20, 48},
        {3072, 2 << 20, 64},
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        hone_default_limits limits = machines[2];
        hone_module *module = NULL;
        char text[1024];
        snprintf(text, sizeof text,
                 "K = %d\n"
                 "@T.prim_func\n"
                 "def main(X: T.Buffer((128, K), \"float32\"), W: T.Buffer((K, 768), "
                 "\"float32\"), Y: T.Buffer((128, 768), \"float32\")):\n"
                 "    for i, j, k in T.grid(128, 768, K):\n"
                 "        with T.block(\"Y\"):\n"
                 "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                 "            with T.init():\n"
                 "                Y[vi, vj] = T.float32(0)\n"
                 "            Y[vi, vj] += X[vi, vk] * W[vk, vj]\n",
                 cases[i].steps);
        const hone_func *func = hone_test_parse(text, &module);
        limits.l2_bytes = cases[i].l2_bytes;
        limits.constants = 0;
        int64_t columns = longest_vector(func, &limits);
        hone_module_release(module);
        if (columns != cases[i].columns) fail_msg("case %zu: %lld", i, (long long)columns);
    }
}

/* 64 filters of 7×7 taps by 2: panels of four vectors of them are 25 or 37 KB, of two half of that.
 */
static void panels_stay_in_the_first_cache(void **state) {
    (void)state;
    static const struct {
        int channels;
        int64_t l1_bytes, columns;
    } cases[] = {
        {2, 32 << 10, 64},
        {3, 32 << 10, 32},
        {3, 48 << 10, 64},
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        hone_default_limits limits = machines[2];
        hone_module *module = NULL;
        char text[1024];
        snprintf(text, sizeof text,
                 "C = %d\n"
                 "@T.prim_func\n"
                 "def main(X: T.Buffer((C, 61, 229), \"float32\"), W: T.Buffer((64, C, 7, 7), "
                 "\"float32\"), Y: T.Buffer((64, 28, 112), \"float32\")):\n"
                 "    for f, y, x, c, dy, dx in T.grid(64, 28, 112, C, 7, 7):\n"
                 "        with T.block(\"Y\"):\n"
                 "            vf, vy, vx, vc, vdy, vdx = T.axis.remap(\"SSSRRR\", [f, y, x, c, dy, "
                 "dx])\n"
                 "            with T.init():\n"
                 "                Y[vf, vy, vx] = T.float32(0)\n"
                 "            Y[vf, vy, vx] += X[vc, vy * 2 + vdy, vx * 2 + vdx] * W[vf, vc, vdy, "
                 "vdx]\n",
                 cases[i].channels);
        const hone_func *func = hone_test_parse(text, &module);
        limits.l1_bytes = cases[i].l1_bytes;
        int64_t columns = longest_vector(func, &limits);
        hone_module_release(module);
        if (columns != cases[i].columns) fail_msg("case %zu: %lld", i, (long long)columns);
    }
}

/* 7×7 taps by 2 over 3 channels: steps of the innermost sum are unrolled, so rows of a tile along
 * both axes of the image hold what they share of it in registers, of which 16 are too few. */
static void taps_leave_registers(void **state) {
    (void)state;
    static const char text[] =
        "@T.prim_func\n"
        "def main(X: T.Buffer((3, 39, 39), \"float32\"), W: T.Buffer((16, 3, 7, 7), \"float32\"), "
        "Y: T.Buffer((16, 17, 17), \"float32\")):\n"
        "    for f, y, x, c, dy, dx in T.grid(16, 17, 17, 3, 7, 7):\n"
        "        with T.block(\"Y\"):\n"
        "            vf, vy, vx, vc, vdy, vdx = T.axis.remap(\"SSSRRR\", [f, y, x, c, dy, dx])\n"
        "            with T.init():\n"
        "                Y[vf, vy, vx] = T.float32(0)\n"
        "            Y[vf, vy, vx] = Y[vf, vy, vx] + X[vc, vy * 2 + vdy, vx * 2 + vdx] * "
        "W[vf, vc, vdy, vdx]\n";
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text, &module);
    for (int is_large = 0; is_large < 2; is_large++) {
        hone_default_limits limits = machines[1];
        hone_schedule *sch;
        limits.threads = 1;
        limits.vector_registers = is_large ? 32 : 16;
        assert_true(default_trial(func, &limits, 1, &sch));
        assert_int_equal(unrolled_around(sch->func, "Y_update"), 1 + is_large);
        hone_schedule_destroy(sch);
    }
    hone_module_release(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_are_right),
        cmocka_unit_test(convolutions_of_one_tap_are_right),
        cmocka_unit_test(images_of_one_tap_are_one_row),
        cmocka_unit_test(thin_paddings_are_not_copied),
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(tall_products_are_right),
        cmocka_unit_test(products_of_bytes_are_right),
        cmocka_unit_test(convolutions_of_bytes_are_right),
        cmocka_unit_test(copies_are_made_where_they_pay),
        cmocka_unit_test(filters_are_copied_where_it_pays),
        cmocka_unit_test(panels_stay_in_the_first_cache),
        cmocka_unit_test(panels_stay_in_the_second_cache),
        cmocka_unit_test(taps_leave_registers),
    };
    return cmocka_run_group_tests_name("schedule/default packed", tests, NULL, NULL);
}
