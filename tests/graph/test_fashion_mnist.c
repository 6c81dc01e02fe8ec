/* tests/graph/test_fashion_mnist.c - the example models on real images: operator by operator, as a
 * plan of fused kernels, with a symbolic batch; they must classify as well as they were trained to.
 * Needs dataset-fashion-mnist. */
#include <stdio.h>
#include <unistd.h>

#include "graph/frontend/onnx_import.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "tests/graph/graph_run.h"
#include "tests/support/hone_test.h"

#define DATA "/usr/share/datasets/fashion-mnist/"

enum { IMAGES = 40, PIXELS = 784, CLASSES = 10, BATCH = 7 };

static unsigned char pixels[IMAGES * PIXELS], labels[IMAGES];

/* gzip -dc into a pipe, as far as it is wanted. */
static void read_gz(const char *name, size_t header, unsigned char *out, size_t count) {
    char path[256];
    int ends[2];
    snprintf(path, sizeof path, DATA "%s", name);
    assert_int_equal(pipe(ends), 0);
    const char *const argv[] = {"gzip", "-dc", path, NULL};
    hone_fd_map map = {ends[1], 1};
    hone_proc_options options = {.argv = argv, .fds = &map, .fd_count = 1};
    hone_proc proc;
    hone_status st = hone_proc_spawn(&options, &proc);
    close(ends[1]);
    unsigned char skipped[16];
    size_t got = 0, more = 0;
    if (!st) st = hone_fd_read_full(ends[0], skipped, header, &got);
    if (!st) st = hone_fd_read_full(ends[0], out, count, &more);
    close(ends[0]);
    hone_proc_deinit(&proc);
    bool ok = !st && got + more == header + count;
    hone_status_free(st);
    if (!ok) hone_test_skip_all("the images cannot be read");
}

static hone_tensor *images_of(int first, int count, bool is_flat) {
    int64_t flat[] = {count, PIXELS}, square[] = {count, 1, 28, 28};
    hone_tensor *x;
    HONE_ASSERT_OK(
        hone_tensor_create(HONE_DTYPE_F32, is_flat ? 2 : 4, is_flat ? flat : square, &x));
    for (int i = 0; i < count * PIXELS; i++) {
        ((float *)x->data)[i] = (float)pixels[first * PIXELS + i] / 255.0F;
    }
    return x;
}

static const struct row {
    const char *name, *path;
    bool is_flat, is_batch;
} rows[] = {
    {"mlp",       "examples/fashion_mnist/mlp.onnx",       true,  false},
    {"mlp_batch", "examples/fashion_mnist/mlp_batch.onnx", true,  true },
    {"cnn",       "examples/fashion_mnist/cnn.onnx",       false, false},
    {"cnn_batch", "examples/fashion_mnist/cnn_batch.onnx", false, true },
};

static int best_class(const hone_tensor *logits, int row) {
    int best = 0;
    for (int c = 1; c < CLASSES; c++) {
        double here = hone_tensor_get_f64(logits, row * CLASSES + c);
        if (here > hone_tensor_get_f64(logits, row * CLASSES + best)) best = c;
    }
    return best;
}

/* Right answers among `count` images; all ways of running must agree. */
static int run_images(const hone_module *module, const struct row *row, int first, int count) {
    hone_tensor *x = images_of(first, count, row->is_flat);
    hone_graph_dim dim = {"N", count};
    hone_graph_options bound = {.dims = &dim, .dim_count = row->is_batch};
    run_results plain, planned, symbolic;
    HONE_ASSERT_OK(run_plain(module, &bound, &x, 1, 0, &plain));
    HONE_ASSERT_OK(run_planned(module, &bound, &x, 1, 0, &planned));
    HONE_ASSERT_OK(run_planned(module, NULL, &x, 1, 0, &symbolic));
    assert_int_equal(plain.count, 1);
    assert_true(hone_test_close(planned.items[0], plain.items[0], 1e-5, 1e-4));
    assert_true(hone_test_close(symbolic.items[0], plain.items[0], 1e-5, 1e-4));
    int right = 0;
    for (int i = 0; i < count; i++)
        right += best_class(plain.items[0], i) == labels[first + i];
    run_results_deinit(&plain);
    run_results_deinit(&planned);
    run_results_deinit(&symbolic);
    hone_tensor_destroy(x);
    return right;
}

static void check_model(void **state) {
    const struct row *row = *state;
    hone_module *module;
    HONE_ASSERT_OK(hone_onnx_load(hone_test_source_path(row->path), NULL, &module));
    /* interpreted convolutions take a while: fewer images */
    int step = row->is_batch ? BATCH : 1, total = row->is_flat ? 28 : BATCH, right = 0, seen = 0;
    for (; seen + step <= total; seen += step)
        right += run_images(module, row, seen, step);
    hone_module_release(module);
    printf("%s: %d of %d\n", row->name, right, seen);
    assert_true(right * 100 >= seen * 85);
}

int main(void) {
    if (!hone_fs_exists(DATA "t10k-images-idx3-ubyte.gz")) {
        hone_test_skip_all("dataset-fashion-mnist is not installed");
    }
    read_gz("t10k-images-idx3-ubyte.gz", 16, pixels, sizeof pixels);
    read_gz("t10k-labels-idx1-ubyte.gz", 8, labels, sizeof labels);
    return HONE_RUN_ROWS("graph/fashion_mnist", rows, check_model);
}
