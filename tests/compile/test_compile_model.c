/* tests/compile/test_compile_model.c - what a compiled library is, and what it says to callers who
 * err. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "tests/compile/compile_fixture.h"
#include "tests/support/hone_test.h"

static fixture shared;

static const char product[] =
    "from tvm.script import ir as I\nfrom tvm.script import relax as R\n"
    "from tvm.script import tir as T\n"
    "@I.ir_module\nclass M:\n    @R.function\n"
    "    def main(x: R.Tensor((\"n\", 4), \"float32\"), y: R.Tensor((\"n\", 4), \"float32\")):\n"
    "        n = T.int64()\n"
    "        with R.dataflow():\n"
    "            p = R.multiply(x, y)\n"
    "            q = R.concat((p, x), axis=1)\n"
    "            R.output(q)\n"
    "        return q\n";

static hone_status build(const char *source, const char *name,
                         void (*change)(hone_compile_options *), hone_compile_result *out_result,
                         hone_loaded_model **out_model) {
    hone_module *module;
    hone_compile_options options = fixture_options(&shared, name);
    options.no_schedule = true;
    if (change) change(&options);
    HONE_TRY(fixture_module(source, &module));
    hone_status st = fixture_compile(module, &options, out_result, out_model);
    hone_module_release(module);
    return st;
}

static const char *in_dir(const char *name) {
    static char path[2][200];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", shared.dir, name);
    return path[turn];
}

/* Runs a command; its output in `out`. Returns its exit code. */
static int run(const char *const *argv, hone_str *out) {
    const hone_clock *clock = hone_clock_system();
    hone_proc proc = {0};
    hone_status st = hone_proc_run(argv, 1 << 16, clock,
                                   hone_deadline_after(clock, 60 * HONE_NS_PER_S), out, out, &proc);
    int code = st ? -1 : proc.term_signal ? -2 : proc.exit_code;
    hone_status_free(st);
    hone_proc_deinit(&proc);
    return code;
}

/* ---- the library as a file ---- */

static void needs_libc_and_libm_only(void **state) {
    (void)state;
    hone_str out = {0};
    HONE_ASSERT_OK(build(product, "needs", NULL, NULL, NULL));
    const char *const argv[] = {"ldd", in_dir("needs.so"), NULL};
    assert_int_equal(run(argv, &out), 0);
    for (char *line = out.data; line && *line;) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        bool is_known = strstr(line, "linux-vdso") || strstr(line, "libc.so") ||
                        strstr(line, "libm.so") || strstr(line, "ld-linux") || !*line;
        if (!is_known) fail_msg("needs %s", line);
        line = end ? end + 1 : NULL;
    }
    hone_str_deinit(&out);
}

static void shows_its_own_names_only(void **state) {
    (void)state;
    hone_str out = {0};
    HONE_ASSERT_OK(build(product, "names", NULL, NULL, NULL));
    const char *const argv[] = {"nm", "-D", "--defined-only", in_dir("names.so"), NULL};
    assert_int_equal(run(argv, &out), 0);
    int count = 0;
    for (char *line = out.data; line && *line;) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        const char *name = strrchr(line, ' ');
        bool is_ours = name && (strncmp(name + 1, "names_", 6) == 0 ||
                                strcmp(name + 1, HONE_MODEL_SYMBOL) == 0);
        if (!is_ours) fail_msg("shows %s", line);
        count++;
        line = end ? end + 1 : NULL;
    }
    hone_str_deinit(&out);
    assert_int_equal(count, 7);
}

static void compile_header(const char *compiler, const char *standard, const char *ending) {
    char source[200], first[300];
    hone_str out = {0};
    snprintf(source, sizeof source, "%s/use.%s", shared.dir, ending);
    /* twice, together with another model's */
    snprintf(first, sizeof first,
             "#include \"head.h\"\n#include \"other.h\"\n#include \"head.h\"\n"
             "int use(void);\nint use(void) { return head_run(0, 0, 0) + other_run(0, 0, 0); }\n");
    HONE_ASSERT_OK(hone_fs_write_atomic(source, first, strlen(first)));
    const char *const argv[] = {compiler, standard, "-Wall",     "-Wextra", "-pedantic", "-Werror",
                                "-c",     "-o",     "/dev/null", source,    NULL};
    int code = run(argv, &out);
    if (code != 0) fail_msg("%s %s: %s", compiler, standard, hone_str_text(&out));
    hone_str_deinit(&out);
}

static void header_is_c99_and_cpp(void **state) {
    (void)state;
    HONE_ASSERT_OK(build(product, "head", NULL, NULL, NULL));
    HONE_ASSERT_OK(build("examples/fashion_mnist/mlp.onnx", "other", NULL, NULL, NULL));
    compile_header("gcc", "-std=c99", "c");
    compile_header("g++", "-std=c++98", "cc");
    compile_header("g++", "-std=c++20", "cc");
}

static void same_input_gives_same_bytes(void **state) {
    (void)state;
    char *a = NULL, *b = NULL;
    size_t a_count, b_count;
    HONE_ASSERT_OK(build("examples/fashion_mnist/mlp.onnx", "same", NULL, NULL, NULL));
    HONE_ASSERT_OK(hone_fs_read(in_dir("same.so"), SIZE_MAX, &a, &a_count));
    HONE_ASSERT_OK(build("examples/fashion_mnist/mlp.onnx", "same", NULL, NULL, NULL));
    HONE_ASSERT_OK(hone_fs_read(in_dir("same.so"), SIZE_MAX, &b, &b_count));
    bool is_same = a_count == b_count && memcmp(a, b, a_count) == 0;
    hone_free(a);
    hone_free(b);
    assert_true(is_same);
}

/* ---- archives and objects: two in one program ---- */

static void emit_archive(hone_compile_options *options) {
    options->emit = HONE_COMPILE_A;
}
static void emit_object(hone_compile_options *options) {
    options->emit = HONE_COMPILE_OBJ;
}

static const char two_models[] =
    "#include \"first.h\"\n#include \"second.h\"\n#include <stdio.h>\n"
    "static int check(hone_model_run_fn run) {\n"
    "    float x[8], y[8], q[16];\n"
    "    int64_t in[2] = {2, 4}, out[2] = {2, 8};\n"
    "    for (int i = 0; i < 8; i++) x[i] = (float)i, y[i] = 2;\n"
    "    DLTensor a = {x, {1, 0}, 2, {2, 32, 1}, in, 0, 0};\n"
    "    DLTensor b = {y, {1, 0}, 2, {2, 32, 1}, in, 0, 0};\n"
    "    DLTensor c = {q, {1, 0}, 2, {2, 32, 1}, out, 0, 0};\n"
    "    DLTensor *ins[] = {&a, &b}, *outs[] = {&c};\n"
    "    if (run(0, ins, outs)) { puts(first_last_error()); return 1; }\n"
    "    return q[3] != 6 || q[4] != 0 || q[15] != 7;\n"
    "}\n"
    "int main(void) { return check(first_run) + 2 * check(second_run); }\n";

static void two_models_link_into_one_program(void **state) {
    (void)state;
    hone_str out = {0};
    HONE_ASSERT_OK(build(product, "first", emit_archive, NULL, NULL));
    HONE_ASSERT_OK(build(product, "second", emit_object, NULL, NULL));
    HONE_ASSERT_OK(hone_fs_write_atomic(in_dir("two.c"), two_models, strlen(two_models)));
    char source[200], archive[200], object[200], program[200];
    snprintf(source, sizeof source, "%s/two.c", shared.dir);
    snprintf(archive, sizeof archive, "%s/first.a", shared.dir);
    snprintf(object, sizeof object, "%s/second.o", shared.dir);
    snprintf(program, sizeof program, "%s/two", shared.dir);
    const char *const cc[] = {"gcc",  "-o",  program,    source, archive,
                              object, "-lm", "-pthread", NULL};
    int code = run(cc, &out);
    if (code != 0) fail_msg("%s", hone_str_text(&out));
    const char *const argv[] = {program, NULL};
    code = run(argv, &out);
    if (code != 0) fail_msg("exit %d: %s", code, hone_str_text(&out));
    hone_str_deinit(&out);
}

static void two_libraries_in_one_process(void **state) {
    (void)state;
    hone_loaded_model *a = NULL, *b = NULL;
    hone_module *module_a, *module_b;
    HONE_ASSERT_OK(build(product, "liba", NULL, NULL, &a));
    HONE_ASSERT_OK(build("examples/fashion_mnist/mlp.onnx", "libb", NULL, NULL, &b));
    HONE_ASSERT_OK(fixture_module(product, &module_a));
    HONE_ASSERT_OK(fixture_module("examples/fashion_mnist/mlp.onnx", &module_b));
    assert_string_equal(hone_loaded_model_info(a)->name, "liba");
    assert_string_equal(hone_loaded_model_info(b)->name, "libb");
    hone_status st = fixture_agree(module_a, a, 3, 1);
    if (!st) st = fixture_agree(module_b, b, 1, 2);
    hone_loaded_model_close(a);
    if (!st) st = fixture_agree(module_b, b, 1, 3); /* the other one lives on */
    hone_loaded_model_close(b);
    hone_module_release(module_a);
    hone_module_release(module_b);
    HONE_ASSERT_OK(st);
}

/* ---- callers who err ---- */

typedef struct call {
    float x[64], y[64], q[128];
    int64_t in_shape[3], y_shape[3], out_shape[3], strides[3];
    DLTensor a, b, c;
    DLTensor *inputs[2], *outputs[1];
} call;

static void good_call(call *k) {
    memset(k, 0, sizeof *k);
    k->in_shape[0] = k->y_shape[0] = k->out_shape[0] = 2;
    k->in_shape[1] = k->y_shape[1] = 4;
    k->out_shape[1] = 8;
    k->a = (DLTensor){
        .data = k->x, .device = {1,   0},
             .ndim = 2, .dtype = { 2, 32, 1},
             .shape = k->in_shape
    };
    k->b = k->a;
    k->b.data = k->y;
    k->b.shape = k->y_shape;
    k->c = k->a;
    k->c.data = k->q;
    k->c.shape = k->out_shape;
    k->inputs[0] = &k->a;
    k->inputs[1] = &k->b;
    k->outputs[0] = &k->c;
}

static void wrong_rank(call *k) {
    k->a.ndim = 3;
}
static void wrong_size(call *k) {
    k->in_shape[1] = 5;
}
static void wrong_open_size(call *k) {
    k->y_shape[0] = 3;
}
static void wrong_output(call *k) {
    k->out_shape[0] = 1;
}
static void zero_size(call *k) {
    k->in_shape[0] = k->y_shape[0] = k->out_shape[0] = 0;
}
static void wrong_type(call *k) {
    k->b.dtype.bits = 64;
}
static void wrong_kind(call *k) {
    k->b.dtype.code = 0;
}
static void wrong_device(call *k) {
    k->a.device.device_type = 2;
}
static void no_data(call *k) {
    k->c.data = NULL;
}
static void no_tensor(call *k) {
    k->inputs[1] = NULL;
}
static void no_shape(call *k) {
    k->a.shape = NULL;
}
static void not_dense(call *k) {
    k->strides[0] = 1;
    k->strides[1] = 2;
    k->a.strides = k->strides;
}

static const struct wrong_row {
    const char *name;
    void (*spoil)(call *k);
    const char *message;
} wrong_rows[] = {
    {"rank",        wrong_rank,      "input 'x' has 3 dimensions, wants 2"                   },
    {"size",        wrong_size,      "input 'x': dimension 1 is 5, wants 4"                  },
    {"open size",   wrong_open_size, "input 'y': dimension 0 is 3, wants 2 with these inputs"},
    {"output size", wrong_output,    "dimension 0 is 1, wants 2 with these inputs"           },
    {"zero size",   zero_size,       "dimension 0 is 0, must be at least 1"                  },
    {"type",        wrong_type,      "input 'y' is float64, wants float"                     },
    {"kind",        wrong_kind,      "input 'y' is int32, wants float"                       },
    {"device",      wrong_device,    "input 'x' is on device type 2, wants the CPU"          },
    {"no data",     no_data,         "no data"                                               },
    {"no tensor",   no_tensor,       "input 'y': no tensor"                                  },
    {"no shape",    no_shape,        "input 'x': no shape"                                   },
    {"not dense",   not_dense,       "input 'x': not dense and row-major"                    },
};

static void refuses_wrong_tensors(void **state) {
    (void)state;
    hone_loaded_model *model = NULL;
    const hone_model_entry *entry;
    call k;
    HONE_ASSERT_OK(build(product, "wrong", NULL, NULL, &model));
    HONE_ASSERT_OK(hone_loaded_model_entry(model, NULL, &entry));
    for (size_t i = 0; i < HONE_COUNT(wrong_rows); i++) {
        good_call(&k);
        assert_int_equal(entry->run(NULL, k.inputs, k.outputs), HONE_MODEL_OK);
        wrong_rows[i].spoil(&k);
        assert_int_equal(entry->run(NULL, k.inputs, k.outputs), HONE_MODEL_BAD_ARGUMENT);
        const char *said = hone_loaded_model_info(model)->last_error();
        if (!strstr(said, wrong_rows[i].message)) fail_msg("%s: %s", wrong_rows[i].name, said);
    }
    assert_int_equal(entry->run(NULL, NULL, k.outputs), HONE_MODEL_BAD_ARGUMENT);
    HONE_ASSERT_ERROR(hone_loaded_model_entry(model, "nothing", &entry), HONE_CODE_NOT_FOUND,
                      "'main'");
    hone_loaded_model_close(model);
}

/* Data at any address, and outputs that overlap inputs, are right all the same. */
static void takes_any_address(void **state) {
    (void)state;
    hone_loaded_model *model = NULL;
    const hone_model_entry *entry;
    call k;
    HONE_ASSERT_OK(build(product, "address", NULL, NULL, &model));
    HONE_ASSERT_OK(hone_loaded_model_entry(model, NULL, &entry));
    for (uint64_t shift = 0; shift < 5; shift++) {
        good_call(&k);
        for (int i = 0; i < 32; i++) {
            k.x[i] = (float)i;
            k.y[i] = 2;
        }
        k.a.byte_offset = 4 * shift;
        k.b.byte_offset = 4 * (shift ^ 1);
        k.c.data = k.x + 2; /* over the input */
        assert_int_equal(entry->run(NULL, k.inputs, k.outputs), HONE_MODEL_OK);
        assert_true(k.x[2] == 2 * (float)shift);
        assert_true(k.x[2 + 3] == 2 * (float)(shift + 3));
        assert_true(k.x[2 + 4] == (float)shift);
        assert_true(k.x[2 + 15] == (float)(shift + 7));
    }
    hone_loaded_model_close(model);
}

/* Inputs at any byte, of which some are where elements may lie and some are not. */
static void reads_any_byte(void **state) {
    (void)state;
    hone_loaded_model *model = NULL;
    const hone_model_entry *entry;
    call k;
    _Alignas(64) char x[64], y[64];
    HONE_ASSERT_OK(build(product, "byte", NULL, NULL, &model));
    HONE_ASSERT_OK(hone_loaded_model_entry(model, NULL, &entry));
    for (uint64_t shift = 0; shift < 16; shift++) {
        good_call(&k);
        for (int i = 0; i < 8; i++) {
            float of_x = (float)i, of_y = (float)(i + 3);
            memcpy(x + shift + 4 * i, &of_x, sizeof of_x);
            memcpy(y + (15 - shift) + 4 * i, &of_y, sizeof of_y);
        }
        k.a.data = x;
        k.a.byte_offset = shift;
        k.b.data = y;
        k.b.byte_offset = 15 - shift;
        assert_int_equal(entry->run(NULL, k.inputs, k.outputs), HONE_MODEL_OK);
        for (int i = 0; i < 8; i++) {
            int row = i / 4, column = i % 4;
            assert_true(k.q[8 * row + column] == (float)(i * (i + 3)));
            assert_true(k.q[8 * row + 4 + column] == (float)i);
        }
    }
    hone_loaded_model_close(model);
}

/* Copies are made in the widest pieces that the places of both tensors are known to allow. */
static void copies_from_any_element(void **state) {
    (void)state;
    static const char copied[] = "from tvm.script import tir as T\n"
                                 "@T.prim_func\n"
                                 "def main(A: T.Buffer((12,), \"float32\"), B: T.Buffer((12,), "
                                 "\"float32\")):\n"
                                 "    for i in range(12):\n"
                                 "        with T.block(\"B\"):\n"
                                 "            v = T.axis.spatial(12, i)\n"
                                 "            B[v] = A[v]\n";
    enum { COUNT = 12, PLACES = 16 };
    hone_loaded_model *model = NULL;
    const hone_model_entry *entry;
    _Alignas(64) float from[COUNT + PLACES], to[COUNT];
    int64_t shape[] = {COUNT};
    DLTensor a =
                 {
                     .device = {1,   0},
                       .ndim = 1, .dtype = { 2, 32, 1},
                       .shape = shape
    },
             b = a;
    DLTensor *inputs[] = {&a}, *outputs[] = {&b};
    HONE_ASSERT_OK(build(copied, "copied", NULL, NULL, &model));
    HONE_ASSERT_OK(hone_loaded_model_entry(model, NULL, &entry));
    for (int place = 0; place < PLACES; place++) {
        for (int i = 0; i < COUNT; i++)
            from[place + i] = (float)(100 * place + i);
        a.data = from + place;
        b.data = to;
        assert_int_equal(entry->run(NULL, inputs, outputs), HONE_MODEL_OK);
        assert_memory_equal(to, from + place, sizeof to);
    }
    hone_loaded_model_close(model);
}

/* ---- weights beside the library ---- */

static void put_weights_beside(hone_compile_options *options) {
    options->weights = HONE_COMPILE_WEIGHTS_BESIDE;
}

static hone_status run_once(hone_loaded_model *model) {
    const hone_model_entry *entry;
    hone_tensor **inputs, **outputs = NULL;
    HONE_TRY(hone_loaded_model_entry(model, NULL, &entry));
    HONE_TRY(fixture_inputs(entry, 1, 1, &inputs));
    hone_status st = hone_loaded_model_make_outputs(model, entry, inputs, &outputs);
    if (!st) st = fixture_run(model, entry, inputs, outputs);
    hone_model_free_outputs(entry, outputs);
    fixture_free_inputs(entry, inputs);
    return st;
}

static void finds_weights_beside(void **state) {
    (void)state;
    hone_loaded_model *model = NULL;
    hone_module *module;
    char *bytes = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(
        build("examples/fashion_mnist/cnn.onnx", "beside", put_weights_beside, NULL, &model));
    HONE_ASSERT_OK(hone_fs_read(in_dir("beside.weights"), SIZE_MAX, &bytes, &count));
    HONE_ASSERT_OK(hone_fs_remove_file(in_dir("beside.weights")));
    HONE_ASSERT_ERROR(run_once(model), HONE_CODE_IO, "beside.weights");
    HONE_ASSERT_OK(hone_fs_write_atomic(in_dir("beside.weights"), bytes, count - 64));
    HONE_ASSERT_ERROR(run_once(model), HONE_CODE_IO, "does not have the");
    bytes[8] ^= 1;
    HONE_ASSERT_OK(hone_fs_write_atomic(in_dir("beside.weights"), bytes, count));
    HONE_ASSERT_ERROR(run_once(model), HONE_CODE_IO, "belongs to another model");
    bytes[0] ^= 1;
    HONE_ASSERT_OK(hone_fs_write_atomic(in_dir("beside.weights"), bytes, count));
    HONE_ASSERT_ERROR(run_once(model), HONE_CODE_IO, "is no file of weights");
    bytes[0] ^= 1;
    bytes[8] ^= 1;
    for (size_t at = 64; at < count; at += count / 7) {
        bytes[at] ^= 1 << at % 8;
        HONE_ASSERT_OK(hone_fs_write_atomic(in_dir("beside.weights"), bytes, count));
        HONE_ASSERT_ERROR(run_once(model), HONE_CODE_IO, "is damaged");
        bytes[at] ^= 1 << at % 8;
    }
    HONE_ASSERT_OK(hone_fs_write_atomic(in_dir("beside.weights"), bytes, count));
    hone_free(bytes);
    HONE_ASSERT_OK(fixture_module("examples/fashion_mnist/cnn.onnx", &module));
    HONE_ASSERT_OK(fixture_agree(module, model, 1, 9));
    hone_module_release(module);
    hone_loaded_model_close(model);
}

static void overwrite(const char *path, const char *bytes, size_t count) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0); /* clocks of file systems are coarse */
}

/* What becomes of the file between calls is an error of the next call, no signal. */
static void notices_weights_that_change(void **state) {
    (void)state;
    hone_loaded_model *model = NULL;
    char *bytes = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(
        build("examples/fashion_mnist/cnn.onnx", "changed", put_weights_beside, NULL, &model));
    char *path = hone_strdup(in_dir("changed.weights"));
    assert_non_null(path);
    HONE_ASSERT_OK(hone_fs_read(path, SIZE_MAX, &bytes, &count));
    HONE_ASSERT_OK(run_once(model));
    assert_int_equal(truncate(path, 4096), 0);
    HONE_ASSERT_ERROR(run_once(model), HONE_CODE_IO, "changed.weights' does not have the");
    assert_int_equal(truncate(path, 0), 0);
    HONE_ASSERT_ERROR(run_once(model), HONE_CODE_IO, "does not have the");
    overwrite(path, bytes, count);
    HONE_ASSERT_OK(run_once(model)); /* it is as it was */
    bytes[count / 2] ^= 1;
    overwrite(path, bytes, count);
    HONE_ASSERT_ERROR(run_once(model), HONE_CODE_IO, "is damaged");
    bytes[count / 2] ^= 1;
    overwrite(path, bytes, count);
    HONE_ASSERT_OK(run_once(model));
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "another", 7)); /* the mapped file has no name now */
    HONE_ASSERT_OK(run_once(model));
    HONE_ASSERT_OK(hone_fs_remove_file(path));
    HONE_ASSERT_OK(run_once(model));
    hone_free(bytes);
    hone_free(path);
    hone_loaded_model_close(model);
}

/* ---- another CPU ---- */

static void for_another_cpu(hone_compile_options *options) {
    static const char *const features[] = {"+avx512fp16", "+amx-bf16", "+avx512bf16",
                                           "+avxvnni",    "+avx512f",  "+avx2"};
    hone_target host = options->target;
    for (size_t i = 0; i < HONE_COUNT(features); i++) {
        size_t used = strlen(host.features);
        options->target = host;
        snprintf(options->target.features + used, sizeof host.features - used, "%s%s",
                 used ? "," : "", features[i]);
        if (!hone_target_runs_here(&options->target)) return;
    }
    options->target = host;
}

static void refuses_a_cpu_that_lacks_features(void **state) {
    (void)state;
    hone_loaded_model *model = NULL;
    hone_compile_options options = fixture_options(&shared, "probe");
    for_another_cpu(&options);
    if (hone_target_runs_here(&options.target)) skip(); /* this CPU has everything */
    HONE_ASSERT_OK(build(product, "cpu", for_another_cpu, NULL, &model));
    HONE_ASSERT_ERROR(run_once(model), HONE_CODE_UNSUPPORTED, "this CPU lacks ");
    hone_loaded_model_close(model);
}

/* ---- what is no model ---- */

static void refuses_what_is_no_model(void **state) {
    (void)state;
    hone_loaded_model *model;
    HONE_ASSERT_OK(hone_fs_write_atomic(in_dir("text.so"), "hello", 5));
    HONE_ASSERT_CODE(hone_loaded_model_open(in_dir("text.so"), 0, &model), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_loaded_model_open(in_dir("absent.so"), 0, &model), HONE_CODE_INVALID);
    HONE_ASSERT_ERROR(hone_loaded_model_open("/lib/x86_64-linux-gnu/libm.so.6", 0, &model),
                      HONE_CODE_INVALID, "no compiled model");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_libc_and_libm_only),
        cmocka_unit_test(shows_its_own_names_only),
        cmocka_unit_test(header_is_c99_and_cpp),
        cmocka_unit_test(same_input_gives_same_bytes),
        cmocka_unit_test(two_models_link_into_one_program),
        cmocka_unit_test(two_libraries_in_one_process),
        cmocka_unit_test(refuses_wrong_tensors),
        cmocka_unit_test(takes_any_address),
        cmocka_unit_test(reads_any_byte),
        cmocka_unit_test(copies_from_any_element),
        cmocka_unit_test(finds_weights_beside),
        cmocka_unit_test(notices_weights_that_change),
        cmocka_unit_test(refuses_a_cpu_that_lacks_features),
        cmocka_unit_test(refuses_what_is_no_model),
    };
    if (fixture_begin(&shared) != 0) return 1;
    int code = cmocka_run_group_tests_name("compile/model", tests, NULL, NULL);
    fixture_end(&shared);
    return code;
}
