/* tests/graph/test_ops_random.c - operators with random attributes and awkward shapes (1, primes, a
 * batch of 7) against plain loops in double precision, written here from the definitions of ONNX.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/passes/pass.h"
#include "support/core/alloc.h"
#include "support/data/rng.h"
#include "tests/graph/graph_run.h"
#include "tests/graph/onnx_text.h"
#include "tests/support/hone_test.h"

enum { CASES = 60 };

typedef struct numbers {
    hone_tensor *tensor;
    const float *data;
} numbers;

static hone_rng rng;

static int between(int low, int high) {
    return (int)hone_rng_between(&rng, low, high);
}

/* 1, a prime, or something round */
static int extent(void) {
    static const int sizes[] = {1, 2, 3, 5, 7, 8};
    return sizes[between(0, 5)];
}

static numbers make(int32_t rank, const int64_t *shape) {
    numbers n;
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, rank, shape, &n.tensor));
    hone_tensor_fill_random(n.tensor, &rng, -1, 1);
    n.data = n.tensor->data;
    return n;
}

/* Runs the model, as a plan also as GPUs get it, and compares with what was computed here. */
static void check(const char *text, hone_tensor *const *inputs, size_t count, const double *want,
                  int64_t want_count) {
    hone_module *module;
    run_results got[3];
    const hone_graph_options of_gpus = {.is_for_many_threads = true};
    HONE_ASSERT_OK(onnx_text_load(text, &module));
    HONE_ASSERT_OK(run_plain(module, NULL, inputs, count, 0, &got[0]));
    HONE_ASSERT_OK(run_planned(module, NULL, inputs, count, 0, &got[1]));
    HONE_ASSERT_OK(run_planned(module, &of_gpus, inputs, count, 0, &got[2]));
    bool ok = true;
    for (int way = 0; way < 3; way++) {
        ok &= hone_tensor_count(got[way].items[0]) == want_count;
        for (int64_t i = 0; ok && i < want_count; i++) {
            double here = hone_tensor_get_f64(got[way].items[0], i);
            ok = fabs(here - want[i]) <= 1e-4 + 1e-4 * fabs(want[i]);
            if (!ok)
                print_error("way %d, element %lld: got %g, want %g\n", way, (long long)i, here,
                            want[i]);
        }
        run_results_deinit(&got[way]);
    }
    hone_module_release(module);
    if (!ok) print_error("%s\n", text);
    assert_true(ok);
}

/* ---- windows ---- */

typedef struct window {
    int n, c, h, w, kh, kw, sh, sw, dh, dw, top, left, bottom, right, oh, ow;
} window;

/* A window that fits at least once. */
static window random_window(bool may_ceil, bool *out_ceil) {
    window v;
    do {
        v = (window){.n = between(0, 3) ? 1 : 7, .c = extent(), .h = extent(), .w = extent()};
        v.kh = between(1, 4), v.kw = between(1, 4), v.sh = between(1, 3), v.sw = between(1, 3);
        v.dh = between(1, 2), v.dw = between(1, 2);
        /* padding is smaller than the kernel, so that no window lies in it alone */
        v.top = between(0, v.kh - 1), v.left = between(0, v.kw - 1);
        v.bottom = between(0, v.kh - 1), v.right = between(0, v.kw - 1);
        *out_ceil = may_ceil && between(0, 1);
        int room_h = v.h + v.top + v.bottom - (v.kh - 1) * v.dh - 1;
        int room_w = v.w + v.left + v.right - (v.kw - 1) * v.dw - 1;
        v.oh = room_h < 0 ? 0 : (room_h + (*out_ceil ? v.sh - 1 : 0)) / v.sh + 1;
        v.ow = room_w < 0 ? 0 : (room_w + (*out_ceil ? v.sw - 1 : 0)) / v.sw + 1;
        if (*out_ceil && v.oh > 0 && (v.oh - 1) * v.sh >= v.h + v.top) v.oh--;
        if (*out_ceil && v.ow > 0 && (v.ow - 1) * v.sw >= v.w + v.left) v.ow--;
    } while (v.oh < 1 || v.ow < 1);
    return v;
}

static void print_window(hone_str *out, const window *v) {
    hone_str_printf(out, " strides=[%d,%d] dilations=[%d,%d] pads=[%d,%d,%d,%d]", v->sh, v->sw,
                    v->dh, v->dw, v->top, v->left, v->bottom, v->right);
}

static void random_conv(void) {
    bool ceil_mode;
    window v = random_window(false, &ceil_mode);
    int groups = between(0, 2) ? 1 : between(0, 1) ? v.c : 1, filters = groups * between(1, 3);
    int per = v.c / groups;
    bool has_bias = between(0, 1);
    int64_t x_shape[] = {v.n, v.c, v.h, v.w}, w_shape[] = {filters, per, v.kh, v.kw},
            b_shape[] = {filters};
    numbers x = make(4, x_shape), w = make(4, w_shape), b = make(1, b_shape);
    int64_t count = (int64_t)v.n * filters * v.oh * v.ow, at = 0;
    double *want = hone_calloc((size_t)count, sizeof *want);
    for (int n = 0; n < v.n; n++) {
        for (int f = 0; f < filters; f++) {
            for (int i = 0; i < v.oh; i++) {
                for (int j = 0; j < v.ow; j++, at++) {
                    double sum = has_bias ? b.data[f] : 0;
                    for (int c = 0; c < per; c++) {
                        for (int p = 0; p < v.kh; p++) {
                            for (int q = 0; q < v.kw; q++) {
                                int y = i * v.sh + p * v.dh - v.top,
                                    z = j * v.sw + q * v.dw - v.left;
                                if (y < 0 || y >= v.h || z < 0 || z >= v.w) continue;
                                int channel = f / (filters / groups) * per + c;
                                sum += (double)x.data[((n * v.c + channel) * v.h + y) * v.w + z] *
                                       (double)w.data[((f * per + c) * v.kh + p) * v.kw + q];
                            }
                        }
                    }
                    want[at] = sum > 0 ? sum : 0;
                }
            }
        }
    }
    hone_str text = {0};
    hone_str_printf(&text, "input x f32 %d,%d,%d,%d\ninput w f32 %d,%d,%d,%d\ninput b f32 %d\n",
                    v.n, v.c, v.h, v.w, filters, per, v.kh, v.kw, filters);
    hone_str_printf(&text, "node Conv x,w%s -> c group=%d", has_bias ? ",b" : "", groups);
    print_window(&text, &v);
    hone_str_append(&text, "\nnode Relu c -> y\noutput y");
    hone_tensor *inputs[] = {x.tensor, w.tensor, b.tensor};
    check(hone_str_text(&text), inputs, 3, want, count);
    hone_str_deinit(&text);
    hone_free(want);
    for (int i = 0; i < 3; i++)
        hone_tensor_destroy(inputs[i]);
}

/* One output of a pool: the maximum, or the mean over the taps that count. */
static double pool_at(const window *v, const float *plane, int i, int j, bool is_max,
                      bool include_pad) {
    double best = -INFINITY, sum = 0;
    int taps = 0;
    for (int p = 0; p < v->kh; p++) {
        for (int q = 0; q < v->kw; q++) {
            int y = i * v->sh + p * v->dh - v->top, z = j * v->sw + q * v->dw - v->left;
            bool inside = y >= 0 && y < v->h && z >= 0 && z < v->w;
            bool in_padding = y < v->h + v->bottom && z < v->w + v->right;
            taps += inside || (include_pad && in_padding);
            if (!inside) continue;
            double here = plane[y * v->w + z];
            sum += here;
            if (here > best) best = here;
        }
    }
    return is_max ? best : taps ? sum / taps : 0;
}

static void random_pool(void) {
    bool ceil_mode, is_max = between(0, 1), include_pad = between(0, 1);
    window v;
    bool is_covered; /* a dilated window may miss the data: its maximum is not defined */
    do {
        v = random_window(true, &ceil_mode);
        if (!is_max) v.dh = v.dw = 1;
        is_covered = v.dh == 1 && v.dw == 1;
        int room_h = v.h + v.top + v.bottom - v.kh, room_w = v.w + v.left + v.right - v.kw;
        if (is_covered) {
            v.oh = room_h < 0 ? 0 : (room_h + (ceil_mode ? v.sh - 1 : 0)) / v.sh + 1;
            v.ow = room_w < 0 ? 0 : (room_w + (ceil_mode ? v.sw - 1 : 0)) / v.sw + 1;
            if (ceil_mode && v.oh > 0 && (v.oh - 1) * v.sh >= v.h + v.top) v.oh--;
            if (ceil_mode && v.ow > 0 && (v.ow - 1) * v.sw >= v.w + v.left) v.ow--;
        }
    } while (!is_covered || v.oh < 1 || v.ow < 1);
    int64_t shape[] = {v.n, v.c, v.h, v.w};
    numbers x = make(4, shape);
    int64_t count = (int64_t)v.n * v.c * v.oh * v.ow, at = 0;
    double *want = hone_calloc((size_t)count, sizeof *want);
    for (int plane = 0; plane < v.n * v.c; plane++) {
        for (int i = 0; i < v.oh; i++) {
            for (int j = 0; j < v.ow; j++) {
                want[at++] = pool_at(&v, x.data + plane * v.h * v.w, i, j, is_max, include_pad);
            }
        }
    }
    hone_str text = {0};
    hone_str_printf(
        &text,
        "opset 19\ninput x f32 %d,%d,%d,%d\nnode %s x -> y kernel_shape=[%d,%d] ceil_mode=%d", v.n,
        v.c, v.h, v.w, is_max ? "MaxPool" : "AveragePool", v.kh, v.kw, ceil_mode);
    if (!is_max) hone_str_printf(&text, " count_include_pad=%d", include_pad);
    print_window(&text, &v);
    hone_str_append(&text, "\noutput y");
    check(hone_str_text(&text), &x.tensor, 1, want, count);
    hone_str_deinit(&text);
    hone_free(want);
    hone_tensor_destroy(x.tensor);
}

/* ---- matrix products ---- */

static void random_gemm(void) {
    int m = extent(), n = extent(), k = extent();
    bool ta = between(0, 1), tb = between(0, 1), is_constant = between(0, 1);
    int form = between(0, 4); /* of C: none, full, row, column, scalar */
    double alpha = between(0, 1) ? 1 : 0.5, beta = between(0, 1) ? 1 : -2;
    static const int rows_of[] = {0, 1, 0, 1, 0}, columns_of[] = {0, 1, 1, 0, 0};
    int cm = rows_of[form] ? m : 1, cn = columns_of[form] ? n : 1;
    int64_t a_shape[] = {ta ? k : m, ta ? m : k}, b_shape[] = {tb ? n : k, tb ? k : n},
            c_shape[] = {cm, cn};
    numbers a = make(2, a_shape), b = make(2, b_shape), c = make(2, c_shape);
    if (is_constant) { /* the numbers that "random" gives under this name */
        hone_rng fixed = hone_rng_from_seed(hone_hash64("b", 1));
        hone_tensor_fill_random(b.tensor, &fixed, -1, 1);
    }
    double *want = hone_calloc((size_t)(m * n), sizeof *want);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int p = 0; p < k; p++) {
                sum += (double)a.data[ta ? p * m + i : i * k + p] *
                       (double)b.data[tb ? j * k + p : p * n + j];
            }
            double bias =
                form ? c.data[(rows_of[form] ? i : 0) * cn + (columns_of[form] ? j : 0)] : 0;
            want[i * n + j] = alpha * sum + beta * bias;
        }
    }
    hone_str text = {0};
    hone_str_printf(&text, "input a f32 %lld,%lld\n%s b f32 %lld,%lld%s\ninput c f32 %d,%d\n",
                    (long long)a_shape[0], (long long)a_shape[1], is_constant ? "const" : "input",
                    (long long)b_shape[0], (long long)b_shape[1], is_constant ? " = random" : "",
                    cm, cn);
    hone_str_printf(&text,
                    "node Gemm a,b%s -> y alpha=%.1f beta=%.1f transA=%d transB=%d\noutput y",
                    form ? ",c" : "", alpha, beta, ta, tb);
    hone_tensor *inputs[] = {a.tensor, is_constant ? c.tensor : b.tensor, c.tensor};
    check(hone_str_text(&text), inputs, is_constant ? 2 : 3, want, (int64_t)m * n);
    hone_str_deinit(&text);
    hone_free(want);
    hone_tensor_destroy(a.tensor);
    hone_tensor_destroy(b.tensor);
    hone_tensor_destroy(c.tensor);
}

/* ---- batch norms behind a convolution: folded when planned, written out when plain ---- */

/* Calls of an operator that are left after folding. */
static int count_operators(const hone_module *module, const char *op) {
    static const char *const passes[] = {"infer", "normalize", "fold_constants", "fold_batch_norm"};
    hone_module *folded;
    int count = 0;
    HONE_ASSERT_OK(hone_graph_run_passes(module, passes, 4, NULL, &folded));
    const hone_graph_func *graph = hone_module_find(folded, "main")->graph;
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        count += strstr(graph->bindings[i].callee ? graph->bindings[i].callee : "", op) != NULL;
    }
    hone_module_release(folded);
    return count;
}

static void random_batch_norm(void) {
    int channels = extent(), filters = extent(), size = between(3, 8);
    bool has_bias = between(0, 1), has_conv = between(0, 3) != 0;
    if (!has_conv) filters = channels;
    /* a bias that is added: none, one for each channel, one for each column, of which there are as
     * many, so that it stays where it is */
    int added = has_conv && !has_bias ? between(0, 2) : 0;
    bool stays = added == 2 && filters > 1;
    if (added == 2) size = filters + 2;
    hone_str text = {0};
    hone_str_printf(
        &text, "input x f32 2,%d,%d,%d\nconst w f32 %d,%d,3,3 = random\nconst b f32 %d = random\n",
        channels, size, size, filters, channels, filters);
    hone_str_printf(&text,
                    "const g f32 %d = random\nconst h f32 %d = random\nconst m f32 %d = random\n"
                    "const r f32 %d = random\nnode Mul r,r -> v\n",
                    filters, filters, filters, filters);
    if (has_conv) hone_str_printf(&text, "node Conv x,w%s -> c\n", has_bias ? ",b" : "");
    if (added) {
        hone_str_printf(&text, "const d f32 1,%d,1,%d = random\nnode Add c,d -> e\n",
                        added == 1 ? filters : 1, added == 2 ? filters : 1);
    }
    hone_str_printf(
        &text, "node BatchNormalization %s,g,h,m,v -> n epsilon=0.01\nnode Relu n -> y\noutput y",
        added      ? "e"
        : has_conv ? "c"
                   : "x");
    int64_t shape[] = {2, channels, size, size};
    numbers x = make(4, shape);
    hone_module *module;
    run_results plain, planned;
    HONE_ASSERT_OK(onnx_text_load(hone_str_text(&text), &module));
    HONE_ASSERT_OK(run_plain(module, NULL, &x.tensor, 1, 0, &plain));
    HONE_ASSERT_OK(run_planned(module, NULL, &x.tensor, 1, 0, &planned));
    bool ok = hone_test_close(planned.items[0], plain.items[0], 1e-3, 1e-4);
    ok &= !has_conv || count_operators(module, "batch_norm") == stays;
    run_results_deinit(&plain);
    run_results_deinit(&planned);
    hone_module_release(module);
    hone_tensor_destroy(x.tensor);
    if (!ok) print_error("%s\n", hone_str_text(&text));
    hone_str_deinit(&text);
    assert_true(ok);
}

/* ---- softmax, both meanings ---- */

static void random_softmax(void) {
    int a = extent(), b = extent(), c = extent(), axis = between(-3, 2);
    bool is_old = between(0, 1);
    int64_t shape[] = {a, b, c};
    numbers x = make(3, shape);
    int at = axis < 0 ? axis + 3 : axis, count = a * b * c;
    double *want = hone_calloc((size_t)count, sizeof *want);
    int inner = 1, length = (int)shape[at];
    for (int i = at + 1; i < 3; i++) {
        if (is_old)
            length *= (int)shape[i];
        else
            inner *= (int)shape[i];
    }
    for (int i = 0; i < count; i++) {
        int first = i / (inner * length) * inner * length + i % inner;
        double sum = 0;
        for (int k = 0; k < length; k++)
            sum += exp((double)x.data[first + k * inner]);
        want[i] = exp((double)x.data[i]) / sum;
    }
    char text[200];
    snprintf(text, sizeof text,
             "opset %d\ninput x f32 %d,%d,%d\nnode Softmax x -> y axis=%d\noutput y",
             is_old ? 11 : 13, a, b, c, axis);
    check(text, &x.tensor, 1, want, count);
    hone_free(want);
    hone_tensor_destroy(x.tensor);
}

/* ---- order ---- */

/* NaN is the largest. */
static bool is_above(float a, float b) {
    return a > b || (isnan(a) && !isnan(b));
}

/* How many of a row of `count` elements, `step` apart, come before element i: equal ones by number.
 */
static int place_of(const float *row, int count, int step, int i, bool is_largest) {
    int place = 0;
    for (int k = 0; k < count; k++) {
        float own = row[i * step], other = row[k * step];
        bool is_first = is_largest ? is_above(other, own) : is_above(own, other);
        bool is_last = is_largest ? is_above(own, other) : is_above(other, own);
        place += is_first || (!is_last && k < i);
    }
    return place;
}

/* Many are equal; some are no numbers. */
static numbers make_ties(int32_t rank, const int64_t *shape) {
    numbers n = make(rank, shape);
    float *data = n.tensor->data;
    for (int64_t i = 0; i < hone_tensor_count(n.tensor); i++)
        data[i] = between(0, 20) ? roundf(data[i] * 8) / 4 : NAN;
    return n;
}

/* Few of a row, which are found one by one, a quarter, for which there is a heap, and many, which
 * are sorted; of a length and a number that come later, too. */
static void first_of_rows(int length, int64_t k, bool is_open, bool is_late) {
    int outer = between(1, 3), inner = between(1, 3);
    bool is_largest = between(0, 1);
    int64_t shape[] = {outer, length, inner}, one[] = {1};
    numbers x = make_ties(3, shape);
    hone_tensor *inputs[] = {x.tensor, NULL};
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_I64, 1, one, &inputs[1]));
    hone_tensor_set_i64(inputs[1], 0, k);
    double *want = hone_calloc((size_t)(outer * k * inner), sizeof *want);
    for (int o = 0; o < outer; o++) {
        for (int i = 0; i < length * inner; i++) {
            const float *row = x.data + o * length * inner + i % inner;
            int place = place_of(row, length, inner, i / inner, is_largest);
            if (place < k) want[(o * (int)k + place) * inner + i % inner] = i / inner;
        }
    }
    char text[200], known[32], extent_text[16];
    snprintf(known, sizeof known, "const k i64 1 = %d", (int)k);
    snprintf(extent_text, sizeof extent_text, "%d", length);
    snprintf(text, sizeof text,
             "opset 11\ninput x f32 %d,%s,%d\n%s\nnode TopK x,k -> v,y axis=1 largest=%d\n"
             "output y",
             outer, is_open ? "N" : extent_text, inner, is_late ? "input k i64 1" : known,
             is_largest);
    check(text, inputs, is_late ? 2 : 1, want, outer * k * inner);
    hone_free(want);
    hone_tensor_destroy(inputs[0]);
    hone_tensor_destroy(inputs[1]);
}

static void random_order(void) {
    static const int lengths[] = {1, 2, 3, 7, 17, 64, 65, 67, 100, 150, 400, 400};
    int length = lengths[between(0, (int)HONE_COUNT(lengths) - 1)];
    int k = between(1, between(0, 1) ? length : (length + 3) / 4);
    first_of_rows(length, k, between(0, 1), between(0, 3) == 0);
}

/* Few of such as are gone over in blocks; a case in four, since they take longer. */
static void random_long_rows(void) {
    static const int lengths[] = {1024, 1025, 1087}, counts[] = {1, 5, 63, 64, 65, 100};
    if (between(0, 3)) return;
    first_of_rows(lengths[between(0, (int)HONE_COUNT(lengths) - 1)],
                  counts[between(0, (int)HONE_COUNT(counts) - 1)], false, false);
}

/* ---- boxes ---- */

typedef struct box_lists {
    int batches, classes, count, most;
    bool is_center;
    numbers boxes, scores;
    float overlap, least;
} box_lists;

/* Halves, and scores of which many are equal; some are no numbers. */
static box_lists make_boxes(void) {
    static const int counts[] = {1, 2, 3, 8, 20, 20, 70};
    static const float overlaps[] = {0, 0.25f, 0.3f, 0.5f, 1}, leasts[] = {-INFINITY, 0, 0.4f, 1};
    box_lists l = {.batches = between(1, 2), .classes = between(1, 3)};
    l.count = counts[between(0, (int)HONE_COUNT(counts) - 1)];
    l.most = between(0, 2) ? between(0, 5) : 100;
    l.is_center = between(0, 1);
    l.overlap = overlaps[between(0, (int)HONE_COUNT(overlaps) - 1)];
    l.least = leasts[between(0, (int)HONE_COUNT(leasts) - 1)];
    int64_t boxes[] = {l.batches, l.count, 4}, scores[] = {l.batches, l.classes, l.count};
    l.boxes = make(3, boxes);
    l.scores = make(3, scores);
    float *data = l.boxes.tensor->data, *score = l.scores.tensor->data;
    for (int64_t i = 0; i < hone_tensor_count(l.boxes.tensor); i++)
        data[i] = between(0, 60) ? (float)between(0, 12) / 2 : NAN;
    for (int64_t i = 0; i < hone_tensor_count(l.scores.tensor); i++)
        score[i] = between(0, 20) ? (float)between(0, 12) / 12 : between(0, 1) ? NAN : -INFINITY;
    return l;
}

/* How long two ranges have in common along an axis; what has none is not positive. */
static double common_side(const box_lists *l, const float *a, const float *b, int axis) {
    double low[2], high[2];
    const float *const both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        double x = both[i][axis], y = both[i][axis + 2];
        low[i] = l->is_center ? x - y / 2 : x < y ? x : y;
        high[i] = l->is_center ? x + y / 2 : x < y ? y : x;
        if (isnan(x) || isnan(y)) return -1;
    }
    return (high[0] < high[1] ? high[0] : high[1]) - (low[0] > low[1] ? low[0] : low[1]);
}

static double area(const box_lists *l, const float *box) {
    double height = common_side(l, box, box, 0), width = common_side(l, box, box, 1);
    return height > 0 && width > 0 ? height * width : 0;
}

static bool lie_over(const box_lists *l, const float *a, const float *b) {
    double height = common_side(l, a, b, 0), width = common_side(l, a, b, 1);
    if (!(height > 0 && width > 0)) return false;
    return height * width / (area(l, a) + area(l, b) - height * width) > (double)l->overlap;
}

/* Of those that are left, the one of the best score, the first of equal ones: -1 = none. */
static int best_left(const box_lists *l, const float *scores, const bool *is_done) {
    int best = -1;
    for (int i = 0; i < l->count; i++) {
        bool is_wanted = !is_done[i] && scores[i] > l->least;
        if (is_wanted && (best < 0 || scores[i] > scores[best])) best = i;
    }
    return best;
}

/* Appends batch, class and number of each box that stays; how many numbers there are then. */
static int choose_boxes(const box_lists *l, int batch, int class, double *want, int filled) {
    const float *boxes = l->boxes.data + batch * l->count * 4;
    const float *scores = l->scores.data + (batch * l->classes + class) * l->count;
    bool is_done[70] = {false};
    int stay[70], staying = 0;
    for (int best; staying < l->most && (best = best_left(l, scores, is_done)) >= 0;) {
        bool is_over = false;
        is_done[best] = true;
        for (int i = 0; i < staying; i++)
            is_over |= lie_over(l, boxes + 4 * stay[i], boxes + 4 * best);
        if (is_over) continue;
        stay[staying++] = best;
        want[filled++] = batch;
        want[filled++] = class;
        want[filled++] = best;
    }
    return filled;
}

static void random_suppression(void) {
    box_lists l = make_boxes();
    bool is_late = between(0, 1), is_open = between(0, 1);
    hone_tensor *inputs[] = {l.boxes.tensor, l.scores.tensor, NULL};
    int64_t one[] = {1};
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_I64, 1, one, &inputs[2]));
    hone_tensor_set_i64(inputs[2], 0, l.most);
    double *want = hone_calloc((size_t)(l.batches * l.classes * l.count * 3), sizeof *want);
    int filled = 0;
    for (int batch = 0; batch < l.batches; batch++)
        for (int class = 0; class < l.classes; class ++)
            filled = choose_boxes(&l, batch, class, want, filled);
    char text[400], known[32], count[16];
    snprintf(known, sizeof known, "const m i64 1 = %d", l.most);
    snprintf(count, sizeof count, "%d", l.count);
    snprintf(text, sizeof text,
             "opset 11\ninput b f32 %d,%s,4\ninput s f32 %d,%d,%s\n%s\nconst o f32 1 = %.9g\n"
             "const t f32 1 = %.9g\nnode NonMaxSuppression b,s,m,o,t -> y center_point_box=%d\n"
             "output y",
             l.batches, is_open ? "N" : count, l.batches, l.classes, is_open ? "N" : count,
             is_late ? "input m i64 1" : known, (double)l.overlap, (double)l.least, l.is_center);
    check(text, inputs, is_late ? 3 : 2, want, filled);
    hone_free(want);
    for (size_t i = 0; i < HONE_COUNT(inputs); i++)
        hone_tensor_destroy(inputs[i]);
}

/* ---- determinants ---- */

enum { LARGEST = 6 };

/* By the elements of the first of the rows that are left, and the columns that are. */
static double determinant(const float *rows, int n, int row, unsigned columns) {
    double sum = 0, sign = 1;
    if (row == n) return 1;
    for (int column = 0; column < n; column++) {
        if (!(columns >> column & 1)) continue;
        double rest = determinant(rows, n, row + 1, columns & ~(1U << column));
        sum += sign * (double)rows[row * n + column] * rest;
        sign = -sign;
    }
    return sum;
}

/* Many elements are 0, so that rows change places and columns are zeros. */
static void random_determinant(void) {
    int n = between(1, LARGEST), outer = between(1, 3);
    bool is_one = between(0, 3) == 0;
    if (is_one) outer = 1;
    int64_t shape[] = {outer, n, n};
    double want[3];
    numbers x = make(is_one ? 2 : 3, shape + is_one);
    float *data = x.tensor->data;
    for (int64_t i = 0; i < hone_tensor_count(x.tensor); i++)
        data[i] = between(0, 2) ? data[i] * 3 : 0;
    for (int i = 0; i < outer; i++)
        want[i] = determinant(x.data + i * n * n, n, 0, ~0U);
    char text[100], lead[16] = "";
    if (!is_one) snprintf(lead, sizeof lead, "%d,", outer);
    snprintf(text, sizeof text, "opset 11\ninput x f32 %s%d,%d\nnode Det x -> y\noutput y", lead, n,
             n);
    check(text, &x.tensor, 1, want, outer);
    hone_tensor_destroy(x.tensor);
}

/* A product of two triangular matrices, of which one has ones along its diagonal and the other one
 * 1 and -1, with rows in another order: exact in float32. */
static double make_known(float *rows, int n) {
    double low[40][40] = {{0}}, high[40][40] = {{0}}, det = 1;
    int order[40];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double few = between(0, 7) ? 0 : between(-1, 1) / 2.0;
            low[i][j] = i == j ? 1 : i > j ? few : 0;
            high[i][j] = i == j ? (between(0, 1) ? 1 : -1) : i < j ? few : 0;
        }
        order[i] = i;
        det *= high[i][i];
    }
    for (int i = n - 1; i > 0; i--) {
        int other = between(0, i), own = order[i];
        order[i] = order[other];
        order[other] = own;
        if (other != i) det = -det;
    }
    for (int i = 0; i < n * n; i++) {
        double sum = 0;
        for (int k = 0; k < n; k++)
            sum += low[order[i / n]][k] * high[k][i % n];
        rows[i] = (float)sum;
    }
    return det;
}

/* Of sizes that fill vectors; a case in four, since they take longer. */
static void large_determinant(void) {
    static const int sizes[] = {15, 16, 17, 31, 32, 33, 40};
    int n = sizes[between(0, (int)HONE_COUNT(sizes) - 1)];
    int64_t shape[] = {2, n, n};
    double want[2];
    char text[100];
    if (between(0, 3)) return;
    numbers x = make(3, shape);
    for (int i = 0; i < 2; i++)
        want[i] = make_known((float *)x.tensor->data + i * n * n, n);
    snprintf(text, sizeof text, "opset 11\ninput x f32 2,%d,%d\nnode Det x -> y\noutput y", n, n);
    check(text, &x.tensor, 1, want, 2);
    hone_tensor_destroy(x.tensor);
}

static const struct row {
    const char *name;
    void (*run)(void);
} rows[] = {
    {"conv",               random_conv       },
    {"pool",               random_pool       },
    {"gemm",               random_gemm       },
    {"batch_norm",         random_batch_norm },
    {"softmax",            random_softmax    },
    {"order",              random_order      },
    {"first of long rows", random_long_rows  },
    {"boxes",              random_suppression},
    {"determinants",       random_determinant},
    {"large determinants", large_determinant },
};

static void check_row(void **state) {
    const struct row *row = *state;
    rng = hone_test_rng(hone_hash64(row->name, strlen(row->name)));
    for (int i = 0; i < CASES; i++)
        row->run();
}

int main(void) {
    return HONE_RUN_ROWS("graph/ops_random", rows, check_row);
}
