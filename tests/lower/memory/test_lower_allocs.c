/* tests/lower/memory/test_lower_allocs.c - buffers as they are behind a pass. compact: they shrink
 * to what is touched of them. plan_allocs: iterations that run at once do not share what they all
 * store to. layout: small buffers are laid out as the vectors in most loops run. flatten: the one
 * index of an element counts from where its buffer begins. */
#include "tests/lower/pass_rows.h"
#include "tests/support/hone_test.h"

static const struct row compact_rows[] = {
    {"a tile of a buffer of any size",
     HEAD "    L = T.alloc_buffer((n, 8), \"int32\")\n"
          "    for i in range((n + 5) // 6):\n"
          "        for t in T.unroll(6):\n"
          "            if i * 6 + t < n:\n"
          "                L[i * 6 + t, 0] = A[i * 6 + t]\n"
          "        for t in range(6):\n"
          "            if i * 6 + t < n:\n"
          "                Y[i * 6 + t] = L[i * 6 + t, 0]\n", "        L = T.alloc_buffer((6, 1), \"int32\")\n"
     "        for t in T.unroll(6):\n"
     "            if i * 6 + t < n:\n"
     "                L[t, 0] = A[i * 6 + t]\n"  },
    {"cut off at an end where it is filled and at another one where it is read",
     HEAD "    L = T.alloc_buffer(((n + 15) // 16 * 16,), \"int32\")\n"
          "    for i in range((n + 63) // 64):\n"
          "        for t in T.unroll(16):\n"
          "            if i * 64 + t < (n + 15) // 16 * 16:\n"
          "                L[i * 64 + t] = 3\n"
          "        for t in range(16):\n"
          "            if i * 64 + t < n:\n"
          "                Y[i * 64 + t] = L[i * 64 + t]\n",  "        L = T.alloc_buffer((16,), \"int32\")\n"},
    {"but not all of it",
     HEAD "    L = T.alloc_buffer((n, 8), \"int32\")\n"
          "    for i, j in T.grid(n, 8):\n"
          "        L[i, j] = A[i + j]\n"
          "    for i in range(n):\n"
          "        Y[i] = L[i, 0]\n",                         "    L = T.alloc_buffer((n, 8), \"int32\")\n"   },
};

/* clang-format off */
static const struct row alloc_rows[] = {
    {"iterations that run at once and store to the same have buffers of their own",
     HEAD "    L = T.alloc_buffer((2,), \"int32\")\n"
          "    for o in range(2):\n"
          "        for f in T.parallel(3):\n"
          "            for t in range(4):\n"
          "                if t % 2 == 0:\n"
          "                    L[t // 2] = 0\n"
          "                L[t // 2] = L[t // 2] + A[t]\n"
          "            Y[o * 3 + f] = L[0]\n",
     "        for f in T.parallel(3):\n"
     "            L = T.alloc_buffer((2,), \"int32\")\n"},
    {"but where a round may go on with what one before it stored",
     HEAD "    L = T.alloc_buffer((2,), \"int32\")\n"
          "    for o in range(2):\n"
          "        for f in T.parallel(3):\n"
          "            if o == 0:\n"
          "                L[1] = A[3]\n"
          "            else:\n"
          "                Y[f] = L[1]\n",
     "    L = T.alloc_buffer((3, 2), \"int32\")\n"},
    {"or between what it stores itself",
     HEAD "    L = T.alloc_buffer((5,), \"int32\")\n"
          "    for o in range(2):\n"
          "        for f in T.parallel(3):\n"
          "            for t in range(3):\n"
          "                L[t * 2] = A[t]\n"
          "            Y[o * 3 + f] = L[o]\n"
          "            L[1] = A[4]\n",
     "    L = T.alloc_buffer((3, 5), \"int32\")\n"},
    {"or beside the diagonal that it stores itself",
     HEAD "    L = T.alloc_buffer((4, 4), \"int32\")\n"
          "    for o in range(2):\n"
          "        for f in T.parallel(3):\n"
          "            for t in range(4):\n"
          "                L[t, t] = A[t]\n"
          "            Y[o * 3 + f] = L[0, o]\n"
          "            L[0, 1] = A[4]\n",
     "    L = T.alloc_buffer((3, 4, 4), \"int32\")\n"},
    {"what the conditions around a load say counts",
     HEAD "    L = T.alloc_buffer((5,), \"int32\")\n"
          "    for o in range(3):\n"
          "        for f in T.parallel(2):\n"
          "            if o == 0:\n"
          "                for t in range(2):\n"
          "                    L[t] = A[t]\n"
          "                for t in range(3):\n"
          "                    L[t + 2] = A[t]\n"
          "            if o * 2 + f < 5:\n"
          "                Y[o * 2 + f] = L[o * 2 + f]\n",
     "    L = T.alloc_buffer((2, 5), \"int32\")\n"},
    {"and the ends of what is looked up",
     HEAD "    L = T.alloc_buffer((5,), \"int32\")\n"
          "    for o in range(3):\n"
          "        for f in T.parallel(2):\n"
          "            if o == 0:\n"
          "                for t in range(5):\n"
          "                    L[t] = A[t]\n"
          "            if o * 2 + f < 5:\n"
          "                Y[o * 2 + f] = L[T.min(T.max(A[o], 0), 4)]\n",
     "    L = T.alloc_buffer((2, 5), \"int32\")\n"},
    {"those that store apart may go on with what is theirs",
     HEAD "    L = T.alloc_buffer((3,), \"int32\")\n"
          "    for o in range(2):\n"
          "        for f in T.parallel(3):\n"
          "            if o == 0:\n"
          "                L[f] = 0\n"
          "            L[f] = L[f] + A[o]\n"
          "            Y[o * 3 + f] = L[f]\n",
     "    L = T.alloc_buffer((3,), \"int32\")\n"
     "    for o in range(2):\n"},
    {"what is read under a condition was made under it, up to the end of the buffer",
     HEAD "    L = T.alloc_buffer((n,), \"int32\")\n"
          "    for o in range((n + 1) // 2):\n"
          "        for f in T.parallel(2):\n"
          "            for t in range(2):\n"
          "                if t <= T.min(n - o * 2 - f - 1, 1):\n"
          "                    L[o * 2 + f + t] = A[o * 2 + f + t]\n"
          "            if o * 2 + f < n:\n"
          "                Y[o * 2 + f] = L[T.min(o * 2 + f + 1, n - 1)]\n",
     "        for f in T.parallel(2):\n"
     "            L = T.alloc_buffer((n,), \"int32\")\n"},
    {"what is made ends where the last reader needs it",
     HEAD
     "    L = T.alloc_buffer((6,), \"int32\")\n"
     "    for o in range(2):\n"
     "        for f in T.parallel(3):\n"
     "            for t in range(6):\n"
     "                if T.min(o * 3 + f, 5 - o * 3 - f) + t <= T.max(o * 3 + f, 5 - o * 3 - f):\n"
     "                    L[T.min(o * 3 + f, 5 - o * 3 - f) + t] = A[t]\n"
     "            Y[o * 3 + f] = L[o * 3 + f] + L[5 - o * 3 - f]\n",
     "        for f in T.parallel(3):\n"
     "            L = T.alloc_buffer((6,), \"int32\")\n"},
    {"else each iteration has a part, to go on with in the next round",
     HEAD "    L = T.alloc_buffer((6,), \"int32\")\n"
          "    for o in range(2):\n"
          "        for f in T.parallel(3):\n"
          "            for t in range(6):\n"
          "                if t <= o * 3 + f:\n"
          "                    L[t] = A[t]\n"
          "            Y[o * 3 + f] = L[o * 3 + f] + L[5]\n",
     "    L = T.alloc_buffer((3, 6), \"int32\")\n"
     "    for o in range(2):\n"
     "        for f in T.parallel(3):\n"
     "            for t in range(6):\n"
     "                if t <= o * 3 + f:\n"
     "                    L[f, t] = A[t]\n"},
    {"digits of one loop are apart",
     HEAD "    L = T.alloc_buffer((2, 3), \"int32\")\n"
          "    for o in range(2):\n"
          "        for f in T.parallel(6):\n"
          "            if o == 0:\n"
          "                L[f // 3, f % 3] = A[f]\n"
          "            Y[f] = L[f // 3, f % 3] + o\n",
     "    L = T.alloc_buffer((2, 3), \"int32\")\n"
     "    for o in range(2):\n"},
    {"what others stored in an earlier round stays shared",
     HEAD "    L = T.alloc_buffer((8,), \"int32\")\n"
          "    for o in range(2):\n"
          "        for f in T.parallel(8):\n"
          "            if o == 0:\n"
          "                L[f * 3 % 8] = A[f]\n"
          "            if o == 1:\n"
          "                Y[f] = L[f]\n",
     "    L = T.alloc_buffer((8,), \"int32\")\n"
     "    for o in range(2):\n"},
    {"a loop inside of the one that has its own buffers needs its own, too",
     HEAD "    L = T.alloc_buffer((6,), \"int32\")\n"
          "    for o in T.parallel(2):\n"
          "        for f in T.parallel(3):\n"
          "            for s in range(2):\n"
          "                if s == 0:\n"
          "                    for t in range(6):\n"
          "                        L[t] = A[t]\n"
          "                for t in range(3):\n"
          "                    L[s * 3 + t] = L[s * 3 + t] + f\n"
          "            Y[o * 3 + f] = L[f] + L[f + 3]\n",
     "    for o in T.parallel(2):\n"
     "        L = T.alloc_buffer((3, 6), \"int32\")\n"
     "        for f in T.parallel(3):\n"},
    {"what is made in all of an inner loop is there behind it",
     HEAD "    L = T.alloc_buffer((6,), \"int32\")\n"
          "    for f in T.parallel(3):\n"
          "        for s in range(2):\n"
          "            for t in range(3):\n"
          "                L[s * 3 + t] = A[t]\n"
          "            for t in range(3):\n"
          "                L[s * 3 + t] = L[s * 3 + t] + f\n"
          "        Y[f] = L[f] + L[f + 3]\n",
     "    for f in T.parallel(3):\n"
     "        L = T.alloc_buffer((6,), \"int32\")\n"
     "        for s in range(2):\n"},
    {"what two stores make under one condition is there under it",
     HEAD "    L = T.alloc_buffer((5,), \"int32\")\n"
          "    for o in range(3):\n"
          "        for f in T.parallel(2):\n"
          "            if o * 2 + f < 5:\n"
          "                for t in range(2):\n"
          "                    L[t] = A[t]\n"
          "                for t in range(3):\n"
          "                    L[t + 2] = A[t]\n"
          "            if o * 2 + f < 5:\n"
          "                Y[o * 2 + f] = L[o * 2 + f]\n",
     "        for f in T.parallel(2):\n"
     "            L = T.alloc_buffer((5,), \"int32\")\n"},
    {"what is looked up may be anybody's: one iteration after the other",
     HEAD "    L = T.alloc_buffer((6,), \"int32\")\n"
          "    for o in range(2):\n"
          "        for f in T.parallel(3):\n"
          "            for t in range(2):\n"
          "                L[f + t] = A[t]\n"
          "            Y[o * 3 + f] = L[A[f]]\n",
     "    L = T.alloc_buffer((6,), \"int32\")\n"
     "    for o, f in T.grid(2, 3):\n"},
    {"steps that reach into the next are not",
     HEAD "    L = T.alloc_buffer((7,), \"int32\")\n"
          "    for o in range(2):\n"
          "        for f in T.parallel(3):\n"
          "            for t in range(3):\n"
          "                if o == 0:\n"
          "                    L[f * 2 + t] = A[t]\n"
          "            Y[f] = L[f * 2] + L[f * 2 + 2] + o\n",
     "    L = T.alloc_buffer((3, 7), \"int32\")\n"
     "    for o in range(2):\n"},
    {"a block of threads has shared memory of its own, whatever it reads",
     HEAD "    L = T.alloc_buffer((64,), \"int32\", scope=\"shared\")\n"
          "    for b in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
          "        for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
          "            if A[t] < n:\n"
          "                L[b // 2 * 32 + t] = A[t]\n"
          "        for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
          "            if A[t + 8] < n:\n"
          "                Y[b * 8 + t] = L[b // 2 * 32 + 7 - t]\n",
     "    for b in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
     "        L = T.alloc_buffer((64,), \"int32\", scope=\"shared\")\n"},
    {"but what is global is one for all",
     HEAD "    L = T.alloc_buffer((64,), \"int32\")\n"
          "    for b in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
          "        for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
          "            if A[t] < n:\n"
          "                L[b // 2 * 32 + t] = A[t]\n"
          "        for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
          "            if A[t + 8] < n:\n"
          "                Y[b * 8 + t] = L[b // 2 * 32 + 7 - t]\n",
     "    L = T.alloc_buffer((64,), \"int32\")\n"
     "    for b in T.thread_binding(4, thread=\"blockIdx.x\"):\n"},
};
/* clang-format on */

static const struct row layout_rows[] = {
    {"the vectors of most loops run along the last dimension",
     HEAD "    L = T.alloc_buffer((8, 7, 1), \"int32\")\n"
          "    for k, w in T.grid(3, 7):\n"
          "        for f in T.vectorized(8):\n"
          "            L[f, w, 0] = T.if_then_else(k == 0, 0, L[f, w, 0]) + A[k * 8 + f] * A[w]\n"
          "    for f in range(8):\n"
          "        for w in T.vectorized(7):\n"
          "            Y[f * 7 + w] = L[f, w, 0]\n", "    L = T.alloc_buffer((7, 1, 8), \"int32\")\n"
     "    for k, w in T.grid(3, 7):\n"
     "        for f in T.vectorized(8):\n"
     "            L[w, 0, f] = A[k * 8 + f] * A[w] + T.if_then_else(k == 0, 0, L[w, 0, f])\n"
     "    for f in range(8):\n"
     "        for w in T.vectorized(7):\n"
     "            Y[f * 7 + w] = L[w, 0, f]\n"   },
    {"nothing changes where they do already",
     HEAD "    L = T.alloc_buffer((7, 8, 1), \"int32\")\n"
          "    for w in range(7):\n"
          "        for f in T.vectorized(8):\n"
          "            L[w, f, 0] = A[f * 7 + w]\n"
          "    for w in range(7):\n"
          "        for f in T.vectorized(8):\n"
          "            Y[w * 8 + f] = L[w, f, 0]\n", "    L = T.alloc_buffer((7, 8, 1), \"int32\")\n"},
    {"nor where vectors run across several dimensions",
     HEAD "    L = T.alloc_buffer((8, 8), \"int32\")\n"
          "    for f in T.vectorized(8):\n"
          "        L[f, f] = A[f]\n"
          "    for f in T.vectorized(8):\n"
          "        Y[f] = L[f, f]\n",                "    L = T.alloc_buffer((8, 8), \"int32\")\n"   },
    {"nor where others know its address",
     HEAD "    L = T.alloc_buffer((8, 7), \"int32\")\n"
          "    for w in range(7):\n"
          "        for f in T.vectorized(8):\n"
          "            L[f, w] = A[f]\n"
          "    T.evaluate(T.call_extern(\"int32\", \"use\", T.address_of(L[0, 0])))\n"
          "    for f in T.vectorized(8):\n"
          "        Y[f] = L[f, 0]\n",                "    L = T.alloc_buffer((8, 7), \"int32\")\n"   },
};

static const struct row flatten_rows[] = {
    {"a view begins where it says",
     HEAD "    V = T.decl_buffer((4, 4), \"int32\", data=A.data, elem_offset=n)\n"
          "    for i, j in T.grid(4, 4):\n"
          "        Y[i * 4 + j] = V[i, j]\n",                    "[T.checked_index(n + i * 4 + j, 64)]"},
    {"a view that ends where its storage does",
     HEAD "    V = T.decl_buffer((4, 15), \"int32\", data=A.data, elem_offset=4)\n"
          "    for i, j in T.grid(4, 15):\n"
          "        Y[i * 4 + j] = V[i, j]\n",                    "[i * 15 + j + 4]"                    },
    {"a view of bytes",
     HEAD "    V = T.decl_buffer((4, 64), \"int8\", data=A.data)\n"
          "    for i, j in T.grid(4, 16):\n"
          "        Y[i * 4 + j] = T.Cast(\"int32\", V[i, j])\n", "[i * 64 + j]"                        },
    {"a view that may end behind its storage",
     HEAD "    V = T.decl_buffer((4, n), \"int32\", data=A.data)\n"
          "    for i, j in T.grid(4, n):\n"
          "        if i * n + j < 64:\n"
          "            Y[i * n + j] = V[i, j]\n",                "V_1[T.checked_index(n * i + j, 64)]" },
    {"storage is as long as its strides reach",
     HEAD "    X = T.alloc_buffer((4, 16), \"int32\", strides=[20, 1])\n"
          "    for i, j in T.grid(4, 16):\n"
          "        X[i, j] = A[i * 16 + j]\n"
          "    for i, j in T.grid(4, 16):\n"
          "        Y[i * 16 + j] = X[i, 15 - j] + n\n",          "alloc_buffer((76,)"                  },
};

static void keeps_what_is_touched(void **state) {
    hone_check_behind_pass(*state, "compact");
}

static void shares_where_it_may(void **state) {
    hone_check_behind_pass(*state, "plan_allocs");
}

static void lays_out_as_vectors_run(void **state) {
    hone_check_behind_pass(*state, "layout");
}

static void counts_elements(void **state) {
    hone_check_behind_pass(*state, "flatten");
}

int main(void) {
    return HONE_RUN_ROWS("lower/compact", compact_rows, keeps_what_is_touched) +
           HONE_RUN_ROWS("lower/plan_allocs", alloc_rows, shares_where_it_may) +
           HONE_RUN_ROWS("lower/layout", layout_rows, lays_out_as_vectors_run) +
           HONE_RUN_ROWS("lower/flatten", flatten_rows, counts_elements);
}
