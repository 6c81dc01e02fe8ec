/* bench/ops/ops_shape_elements.c - row operators, elementwise ones, transposes, pooling and
 * products of bytes of any size, in the kinds of ops_rows.c. But for products of bytes the default
 * schedule is what is timed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/ops/ops_shape.h"

static const char head[] = "from tvm.script import tir as T\n\n";
static const char rows_head[] = "@T.prim_func\n"
                                "def main(X: T.Buffer((M, N), \"float32\"), "
                                "Y: T.Buffer((M, N), \"float32\")):\n"
                                "    T.func_attr({\"tir.noalias\": True})\n";

static void print_softmax(const int64_t *d, hone_str *out) {
    (void)d;
    hone_str_append(out, rows_head);
    hone_str_append(out, "    B = T.alloc_buffer((M,), \"float32\")\n"
                         "    E = T.alloc_buffer((M, N), \"float32\")\n"
                         "    S = T.alloc_buffer((M,), \"float32\")\n"
                         "    for i, k in T.grid(M, N):\n"
                         "        with T.block(\"max\"):\n"
                         "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                         "            with T.init():\n"
                         "                B[vi] = T.float32(-3.4028234663852886e38)\n"
                         "            B[vi] = T.max(B[vi], X[vi, vk])\n"
                         "    for i, k in T.grid(M, N):\n"
                         "        with T.block(\"exp\"):\n"
                         "            vi, vk = T.axis.remap(\"SS\", [i, k])\n"
                         "            E[vi, vk] = T.exp(X[vi, vk] - B[vi])\n"
                         "    for i, k in T.grid(M, N):\n"
                         "        with T.block(\"sum\"):\n"
                         "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                         "            with T.init():\n"
                         "                S[vi] = T.float32(0)\n"
                         "            S[vi] = S[vi] + E[vi, vk]\n"
                         "    for i, k in T.grid(M, N):\n"
                         "        with T.block(\"norm\"):\n"
                         "            vi, vk = T.axis.remap(\"SS\", [i, k])\n"
                         "            Y[vi, vk] = E[vi, vk] / S[vi]\n");
}

static void print_layernorm(const int64_t *d, hone_str *out) {
    hone_str_printf(out, "R = %.17g\n\n", 1.0 / (double)d[1]);
    hone_str_append(out,
                    "@T.prim_func\n"
                    "def main(X: T.Buffer((M, N), \"float32\"), G: T.Buffer((N,), \"float32\"), "
                    "B: T.Buffer((N,), \"float32\"), Y: T.Buffer((M, N), \"float32\")):\n"
                    "    T.func_attr({\"tir.noalias\": True})\n"
                    "    S = T.alloc_buffer((M,), \"float32\")\n"
                    "    V = T.alloc_buffer((M,), \"float32\")\n"
                    "    for i, k in T.grid(M, N):\n"
                    "        with T.block(\"sum\"):\n"
                    "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                    "            with T.init():\n"
                    "                S[vi] = T.float32(0)\n"
                    "            S[vi] = S[vi] + X[vi, vk]\n"
                    "    for i, k in T.grid(M, N):\n"
                    "        with T.block(\"squares\"):\n"
                    "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                    "            with T.init():\n"
                    "                V[vi] = T.float32(0)\n"
                    "            V[vi] = V[vi] + (X[vi, vk] - S[vi] * T.float32(R)) * "
                    "(X[vi, vk] - S[vi] * T.float32(R))\n"
                    "    for i, k in T.grid(M, N):\n"
                    "        with T.block(\"norm\"):\n"
                    "            vi, vk = T.axis.remap(\"SS\", [i, k])\n"
                    "            Y[vi, vk] = (X[vi, vk] - S[vi] * T.float32(R)) * "
                    "T.rsqrt(V[vi] * T.float32(R) + T.float32(1e-05)) * G[vk] + B[vk]\n");
}

static void print_sum(const int64_t *d, hone_str *out) {
    static const struct {
        const char *size, *axes, *at, *from;
    } forms[] = {
        {"M", "SR", "vi", "vi, vk"},
        {"N", "SR", "vi", "vk, vi"},
        {"1", "RR", "0",  "vi, vk"},
    };
    int form = (int)(d[2] - 1);
    hone_str_printf(out,
                    "@T.prim_func\n"
                    "def main(X: T.Buffer((M, N), \"float32\"), Y: T.Buffer((%s,), \"float32\")):\n"
                    "    T.func_attr({\"tir.noalias\": True})\n"
                    "    for i, k in T.grid(%s):\n"
                    "        with T.block(\"sum\"):\n"
                    "            vi, vk = T.axis.remap(\"%s\", [i, k])\n"
                    "            with T.init():\n"
                    "                Y[%s] = T.float32(0)\n"
                    "            Y[%s] = Y[%s] + X[%s]\n",
                    forms[form].size, form == 1 ? "N, M" : "M, N", forms[form].axes, forms[form].at,
                    forms[form].at, forms[form].at, forms[form].from);
}

static void print_move(const char *rows, const char *columns, const char *from, hone_str *out) {
    hone_str_printf(out,
                    "@T.prim_func\n"
                    "def main(X: T.Buffer((M, N), \"float32\"), "
                    "Y: T.Buffer((%s, %s), \"float32\")):\n"
                    "    T.func_attr({\"tir.noalias\": True})\n"
                    "    for i, j in T.grid(%s, %s):\n"
                    "        with T.block(\"move\"):\n"
                    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                    "            Y[vi, vj] = X[%s]\n",
                    rows, columns, rows, columns, from);
}

static void print_transpose(const int64_t *d, hone_str *out) {
    (void)d;
    print_move("N", "M", "vj, vi", out);
}
static void print_copy(const int64_t *d, hone_str *out) {
    (void)d;
    print_move("M", "N", "vi, vj", out);
}

/* Four sizes, then which of them, from 1, each dimension of Y has. */
static void print_permute(const int64_t *d, hone_str *out) {
    const char *names[] = {"va", "vb", "vc", "vd"}, *at[4] = {"va", "va", "va", "va"};
    int64_t y[4];
    for (int i = 0; i < 4; i++) {
        int64_t from = d[4 + i] >= 1 && d[4 + i] <= 4 ? d[4 + i] - 1 : 0;
        y[i] = d[from];
        at[from] = names[i];
    }
    hone_str_printf(out,
                    "X_SHAPE = (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")\n"
                    "Y_SHAPE = (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")\n\n",
                    d[0], d[1], d[2], d[3], y[0], y[1], y[2], y[3]);
    hone_str_printf(out,
                    "@T.prim_func\n"
                    "def main(X: T.Buffer(X_SHAPE, \"float32\"), Y: T.Buffer(Y_SHAPE, "
                    "\"float32\")):\n"
                    "    T.func_attr({\"tir.noalias\": True})\n"
                    "    for a, b, c, d in T.grid(*Y_SHAPE):\n"
                    "        with T.block(\"move\"):\n"
                    "            va, vb, vc, vd = T.axis.remap(\"SSSS\", [a, b, c, d])\n"
                    "            Y[va, vb, vc, vd] = X[%s, %s, %s, %s]\n",
                    at[0], at[1], at[2], at[3]);
}

static void print_gelu(const int64_t *d, hone_str *out) {
    (void)d;
    hone_str_append(out, "@T.prim_func\n"
                         "def main(X: T.Buffer((M,), \"float32\"), Y: T.Buffer((M,), "
                         "\"float32\")):\n"
                         "    T.func_attr({\"tir.noalias\": True})\n"
                         "    for i in range(M):\n"
                         "        with T.block(\"gelu\"):\n"
                         "            vi = T.axis.spatial(M, i)\n"
                         "            Y[vi] = X[vi] * T.float32(0.5) * (T.float32(1) + "
                         "T.erf(X[vi] * T.float32(0.7071067811865476)))\n");
}

static void print_chain(const int64_t *d, hone_str *out) {
    (void)d;
    hone_str_append(out, "@T.prim_func\n"
                         "def main(A: T.Buffer((M,), \"float32\"), B: T.Buffer((M,), \"float32\"), "
                         "C: T.Buffer((M,), \"float32\"), Y: T.Buffer((M,), \"float32\")):\n"
                         "    T.func_attr({\"tir.noalias\": True})\n"
                         "    P = T.alloc_buffer((M,), \"float32\")\n"
                         "    G = T.alloc_buffer((M,), \"float32\")\n"
                         "    for i in range(M):\n"
                         "        with T.block(\"add\"):\n"
                         "            vi = T.axis.spatial(M, i)\n"
                         "            P[vi] = T.max(A[vi] * B[vi] + C[vi], T.float32(0))\n"
                         "    for i in range(M):\n"
                         "        with T.block(\"gate\"):\n"
                         "            vi = T.axis.spatial(M, i)\n"
                         "            G[vi] = T.sigmoid(A[vi])\n"
                         "    for i in range(M):\n"
                         "        with T.block(\"out\"):\n"
                         "            vi = T.axis.spatial(M, i)\n"
                         "            Y[vi] = P[vi] * G[vi]\n");
}

/* Images, channels, height, width, kernel, stride, padding, 0 = the largest or 1 = the mean. */
static void print_pool(const int64_t *d, hone_str *out) {
    int64_t oh = (d[2] + 2 * d[6] - d[4]) / d[5] + 1, ow = (d[3] + 2 * d[6] - d[4]) / d[5] + 1;
    const char *none = d[7] ? "0" : "-3.4028234663852886e38";
    hone_str_printf(out,
                    "H, V, K, S, P, OH, OV = %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                    ", %" PRId64 ", %" PRId64 ", %" PRId64 "\n\n"
                    "@T.prim_func\n"
                    "def main(X: T.Buffer((M, N, H, V), \"float32\"), "
                    "Y: T.Buffer((M, N, OH, OV), \"float32\")):\n"
                    "    T.func_attr({\"tir.noalias\": True})\n"
                    "    XP = T.alloc_buffer((M, N, H + 2 * P, V + 2 * P))\n",
                    d[2], d[3], d[4], d[5], d[6], oh, ow);
    if (d[7]) hone_str_append(out, "    YS = T.alloc_buffer((M, N, OH, OV))\n");
    hone_str_printf(out,
                    "    for n, c, y, x in T.grid(M, N, H + 2 * P, V + 2 * P):\n"
                    "        with T.block(\"pad\"):\n"
                    "            vn, vc, vy, vx = T.axis.remap(\"SSSS\", [n, c, y, x])\n"
                    "            XP[vn, vc, vy, vx] = T.if_then_else(\n"
                    "                P <= vy and vy < H + P and P <= vx and vx < V + P,\n"
                    "                X[vn, vc, vy - P, vx - P], T.float32(%s))\n",
                    none);
    const char *to = d[7] ? "YS" : "Y";
    hone_str_printf(out,
                    "    for n, c, y, x, dy, dx in T.grid(M, N, OH, OV, K, K):\n"
                    "        with T.block(\"pool\"):\n"
                    "            vn, vc, vy, vx, vdy, vdx = T.axis.remap(\n"
                    "                \"SSSSRR\", [n, c, y, x, dy, dx])\n"
                    "            with T.init():\n"
                    "                %s[vn, vc, vy, vx] = T.float32(%s)\n"
                    "            %s[vn, vc, vy, vx] = %s%s[vn, vc, vy, vx] %s "
                    "XP[vn, vc, vy * S + vdy, vx * S + vdx]%s\n",
                    to, none, to, d[7] ? "" : "T.max(", to, d[7] ? "+" : ",", d[7] ? "" : ")");
    if (!d[7]) return;
    hone_str_printf(out,
                    "    for n, c, y, x in T.grid(M, N, OH, OV):\n"
                    "        with T.block(\"mean\"):\n"
                    "            vn, vc, vy, vx = T.axis.remap(\"SSSS\", [n, c, y, x])\n"
                    "            Y[vn, vc, vy, vx] = YS[vn, vc, vy, vx] * T.float32(%.17g)\n",
                    1.0 / (double)(d[4] * d[4]));
}

/* Rows, columns, steps of the sum, 1 = bytes of X are unsigned or 2 = signed. */
static void print_bytes(const int64_t *d, hone_str *out) {
    hone_str_printf(out,
                    "K = %" PRId64 "\n\n"
                    "@T.prim_func\n"
                    "def main(X: T.Buffer((M, K), \"%s\"), W: T.Buffer((K, N), \"int8\"), "
                    "Y: T.Buffer((M, N), \"int32\")):\n"
                    "    T.func_attr({\"tir.noalias\": True})\n"
                    "    for i, j, k in T.grid(M, N, K):\n"
                    "        with T.block(\"matmul\"):\n"
                    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                    "            with T.init():\n"
                    "                Y[vi, vj] = 0\n"
                    "            Y[vi, vj] = Y[vi, vj] + T.Cast(\"int32\", X[vi, vk]) * "
                    "T.Cast(\"int32\", W[vk, vj])\n",
                    d[2], d[3] == 2 ? "int8" : "uint8");
}

static const struct kind {
    const char *name;
    int least, most; /* numbers */
    void (*print)(const int64_t *dims, hone_str *out);
} kinds[] = {
    {"softmax",      2, 2, print_softmax  },
    {"layernorm",    2, 2, print_layernorm},
    {"sum",          3, 3, print_sum      },
    {"transpose",    2, 2, print_transpose},
    {"copy",         2, 2, print_copy     },
    {"gelu",         1, 1, print_gelu     },
    {"chain",        1, 1, print_chain    },
    {"pool",         8, 8, print_pool     },
    {"bytes_matmul", 4, 4, print_bytes    },
    {"permute",      8, 8, print_permute  },
};

bool ops_rows_shape(const char *option, ops_work *io_work, ops_shape_text *out) {
    char name[32];
    int length = 0;
    if (sscanf(option, "%31[a-z_]%n", name, &length) != 1) return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *kind = &kinds[i];
        if (strcmp(kind->name, name) != 0) continue;
        int count = 0, used;
        long long number;
        const char *rest = option + length;
        for (; count < kind->most && sscanf(rest, ",%lld%n", &number, &used) == 1; rest += used)
            io_work->dims[count++] = number;
        bool is_sum = strcmp(name, "sum") == 0;
        if (*rest || count < kind->least || (is_sum && (number < 1 || number > 3))) return false;
        for (int d = 0; d < count && d < 6; d++) {
            if (io_work->dims[d] < 1) return false;
        }
        io_work->kind = kind->name;
        snprintf(out->name, sizeof out->name, "%s", option);
        for (char *at = out->name; *at; at++)
            *at = *at == ',' ? '_' : *at;
        hone_str_printf(&out->program, "%sM, N = %" PRId64 ", %" PRId64 "\n\n", head,
                        io_work->dims[0], count > 1 ? io_work->dims[1] : 1);
        kind->print(io_work->dims, &out->program);
        return true;
    }
    return false;
}
