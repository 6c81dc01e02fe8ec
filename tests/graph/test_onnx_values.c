/* tests/graph/test_onnx_values.c - operators of ONNX whose values went wrong beside another
 * implementation (tests/peer/onnx_random.py): each with the numbers that the standard has for it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/graph/graph_run.h"
#include "tests/graph/onnx_text.h"
#include "tests/support/hone_test.h"

#define ROW(name, model, x, want)                                                                  \
    { name, model, x, want }

static const struct row {
    const char *name, *model; /* of x, which gives y */
    const char *x, *want;
} rows[] = {
    ROW("an attribute that is left out is of float32", "input x f64 1\nnode LeakyRelu x -> y", "-1",
        "-0.009999999776482582"),
    ROW("epsilon, too",
        "input x f64 1,1\nconst o f64 1 = 1\nconst z f64 1 = 0\n"
        "node BatchNormalization x,o,z,z,z -> y",
        "1", "316.2277700111307"),
    ROW("Clip of uint64 without a maximum",
        "input x u64 2\nconst low u64 = 5\nnode Clip x,low -> y", "3,18446744073709551615",
        "5,18446744073709551615"),
    ROW("Clip of uint64 above 2^63",
        "input x u64 2\nconst low u64 = 9223372036854775809\n"
        "const high u64 = 18446744073709551614\nnode Clip x,low,high -> y",
        "3,18446744073709551615", "9223372036854775809,18446744073709551614"),
    ROW("Clip of int64 between numbers that no double is",
        "input x i64 2\nconst low i64 = -9007199254740993\nconst high i64 = 9007199254740993\n"
        "node Clip x,low,high -> y",
        "-9223372036854775807,9223372036854775807", "-9007199254740993,9007199254740993"),
    ROW("PRelu of zero is zero, whatever the slope",
        "input x f32 3\nconst s f32 1 = inf\nnode PRelu x,s -> y", "0,-1,nan", "0,-inf,nan"),
    ROW("Pad of some axes",
        "opset 18\ninput x f32 1,2\nconst p i64 2 = 1,2\nconst a i64 1 = -1\n"
        "node Pad x,p,,a -> y",
        "3,4", "0,3,4,0,0"),
    ROW("Pad with a number that no double is",
        "input x i64 1\nconst p i64 2 = 1,0\nconst v i64 = 9007199254740993\n"
        "node Pad x,p,v -> y",
        "3", "9007199254740993,3"),
    ROW("Pad with a number that no int64 is",
        "input x u64 2\nconst p i64 2 = 1,2\nconst v u64 = 18446744073709551614\n"
        "node Pad x,p,v -> y",
        "3,18446744073709551615",
        "18446744073709551614,3,18446744073709551615,18446744073709551614,18446744073709551614"),
    ROW("Mod has the sign of the divisor",
        "input x i32 4\nconst d i32 4 = 3,-3,3,-3\nnode Mod x,d -> y", "7,7,-7,-7", "1,-2,2,-1"),
    ROW("Mod as C has it has that of the dividend",
        "input x i32 4\nconst d i32 4 = 3,-3,3,-3\nnode Mod x,d -> y fmod=1", "7,7,-7,-7",
        "1,1,-1,-1"),
    ROW("Mod as C has it of the least number",
        "input x i64 2\nconst d i64 = -1\nnode Mod x,d -> y fmod=1", "-9223372036854775808,5",
        "0,0"),
    ROW("Mod as C has it of large numbers without a sign",
        "input x u64 2\nconst d u64 = 10\nnode Mod x,d -> y fmod=1", "18446744073709551615,7",
        "5,7"),
    ROW("Mod as C has it of bytes", "input x i8 3\nconst d i8 = 5\nnode Mod x,d -> y fmod=1",
        "-128,127,-4", "-3,2,-4"),
    ROW("Mod as C has it of floats",
        "input x f32 8\nconst d f32 8 = 3,-3,3,-3,inf,1,0,nan\nnode Mod x,d -> y fmod=1",
        "7.5,7.5,-7.5,-7.5,2,inf,1,1", "1.5,1.5,-1.5,-1.5,2,nan,nan,nan"),
    ROW("Mod as C has it of doubles is exact",
        "input x f64 2\nconst d f64 2 = 0.1,3\nnode Mod x,d -> y fmod=1", "1e17,-1e300",
        "0.04888487687421761,-0.0"),
    ROW("Mod as C has it of half floats",
        "input x f16 3\nconst d f16 3 = 0.3,-0.3,7\nnode Mod x,d -> y fmod=1", "60000,-60000,-0.5",
        "0.135986328125,-0.135986328125,-0.5"),
    ROW("GlobalAveragePool of sizes that come later",
        "input x f32 1,1,H,W\nnode GlobalAveragePool x -> y", "1,2,3,4,5,9", "4"),
    ROW("a target that is no class is held within them, and one that is ignored counts nothing",
        "opset 13\ninput x f32 3,2\nconst t i64 3 = -5,9,1\n"
        "node NegativeLogLikelihoodLoss x,t -> y reduction='none' ignore_index=1",
        "1,2,3,4,5,6", "-1,-4,0"),
    ROW("the mean of losses is over what counts, by weight",
        "opset 13\ninput x f32 3,2\nconst t i64 3 = 0,1,1\nconst w f32 2 = 3,1\n"
        "node NegativeLogLikelihoodLoss x,t,w -> y",
        "1,2,3,4,5,6", "-2.6"),
    ROW("Resize to the nearest, rounded up at halves",
        "opset 13\ninput x f32 1,3\nconst n i64 2 = 1,2\n"
        "node Resize x,,,n -> y nearest_mode='round_prefer_ceil' "
        "coordinate_transformation_mode='asymmetric'",
        "1,2,3", "1,3"),
    ROW("Resize of bytes rounds",
        "opset 13\ninput x u8 1,2\nconst n i64 2 = 1,4\nnode Resize x,,,n -> y mode='linear'",
        "0,255", "0,64,191,255"),
    ROW("Resize with many taps for each element",
        "opset 18\ninput x f32 1,8\nconst n i64 2 = 1,2\n"
        "node Resize x,,,n -> y mode='linear' antialias=1 exclude_outside=1",
        "1,1,1,1,2,2,2,2", "1.1428571939468384,1.8571429252624512"),
    ROW("Resize crops, and fills what lies outside",
        "opset 13\ninput x f32 1,3\nconst r f32 4 = 0,0,1,1.5\nconst n i64 2 = 1,4\n"
        "node Resize x,r,,n -> y mode='linear' coordinate_transformation_mode='tf_crop_and_resize' "
        "extrapolation_value=9.0",
        "1,2,3", "1,2,3,9"),
    ROW("Resize by a whole scale of sizes that come later",
        "opset 13\ninput x f32 1,1,H,W\nconst s f32 4 = 1,1,2,3\nnode Resize x,,s -> y "
        "mode='nearest'",
        "1,2,3,4,5,6", "1,1,1,2,2,2,3,3,3,1,1,1,2,2,2,3,3,3,4,4,4,5,5,5,6,6,6,4,4,4,5,5,5,6,6,6"),
    ROW("ConvTranspose whose result is larger than what its kernel makes",
        "input x f32 1,1,2\nconst w f32 1,1,2 = 1,10\n"
        "node ConvTranspose x,w -> y strides=[3] output_shape=[7]",
        "1,2", "1,10,0,2,20,0,0"),
    ROW("ConvTranspose that is padded beyond its kernel",
        "input x f32 1,1,4\nconst w f32 1,1,1 = 1\nnode ConvTranspose x,w -> y pads=[1,1]",
        "1,2,3,4", "2,3"),
    ROW("GridSample outside, thrown back at the ends",
        "opset 16\ninput x f32 1,1,1,3\nconst g f32 1,1,3,2 = -1.5,0,0.5,0,2.5,0\n"
        "node GridSample x,g -> y padding_mode='reflection' align_corners=1",
        "1,2,4", "1.5,3,1.5"),
    ROW("QuantizeLinear rounds halves to even, then adds, and stays in its type",
        "opset 13\ninput x f32 6\nconst s f32 = 1\nconst z u8 = 1\nnode QuantizeLinear x,s,z -> y",
        "0.5,1.5,2.5,-1000,1000,254.4", "1,3,3,0,255,255"),
    ROW("QuantizeLinear of blocks that do not fill the data",
        "opset 21\ninput x f32 1,3\nconst s f32 1,2 = 1,2\nconst z i8 1,2 = 0,1\n"
        "node QuantizeLinear x,s,z -> y axis=1 block_size=2",
        "3,5,8", "3,5,5"),
    ROW("DynamicQuantizeLinear of zeros",
        "opset 11\ninput x f32 2\nnode DynamicQuantizeLinear x -> y,s,z", "0,0", "0,0"),
    ROW("MatMulInteger with a zero point of each side",
        "opset 10\ninput x u8 1,2\nconst w i8 2,1 = -128,127\nconst a u8 = 200\nconst b i8 = -1\n"
        "node MatMulInteger x,w,a,b -> y",
        "255,0", "-32585"),
    ROW("ConvInteger has its zero point around the data",
        "opset 10\ninput x u8 1,1,1,2\nconst w u8 1,1,1,3 = 1,2,3\nconst z u8 = 5\n"
        "node ConvInteger x,w,z -> y pads=[0,1,0,1]",
        "6,7", "8,5"),
    ROW("Einsum of three operands, with a broadcast",
        "opset 12\ninput x f32 2,2\nconst a f32 2 = 1,10\nconst b f32 1,1 = 3\n"
        "node Einsum x,a,b -> y equation='ij,...j,kl->...i'",
        "1,2,3,4", "63,129"),
    ROW("a sequence that ended keeps its state and gives zeros",
        "opset 14\ninput x f32 2,2,1\nconst w f32 1,1,1 = 1\nconst r f32 1,1,1 = 0.5\n"
        "const n i32 2 = 1,2\nnode RNN x,w,r,,n -> y activations=['Relu'] direction='reverse'",
        "1,2,3,4", "1,4,0,4"),
    ROW("a transform back to real numbers",
        "opset 20\ninput x f32 1,3,2\nnode DFT x -> y inverse=1 onesided=1", "10,0,-2,2,-2,0",
        "1,2,3,4"),
    ROW("a normalisation of another domain",
        "input x f32 1,2\nconst s f32 1,2 = 1,1\nconst g f32 2 = 1,2\n"
        "node com.microsoft.SkipSimplifiedLayerNormalization x,s,g -> y epsilon=0.0",
        "2,3", "0.8485281374238571,2.2627416997969522"),
    ROW("a product of another domain",
        "input x f32 2,1\nconst w f32 3,2 = 1,2,3,4,5,6\n"
        "node com.microsoft.FusedMatMul x,w -> y transA=1 transB=1 alpha=0.5",
        "1,10", "10.5,21.5,32.5"),
    ROW("a kernel that reads what has fewer places than sizes",
        "input x f32 1,1,1,W\nconst k f32 1,1,1,2 = 1,1\nnode Conv x,k -> c\nnode Relu c -> d\n"
        "node Conv d,k -> e\nnode Relu e -> y",
        "1,2,3", "8"),
};

static hone_tensor *numbers(hone_dtype dtype, int32_t rank, const int64_t *shape,
                            const char *text) {
    hone_tensor *tensor;
    HONE_ASSERT_OK(hone_tensor_create(dtype, rank, shape, &tensor));
    for (int64_t i = 0; i < hone_tensor_count(tensor); i++) {
        onnx_text_number(tensor, i, text);
        text += strcspn(text, ",");
        text += *text == ',';
    }
    assert_int_equal(*text, 0);
    return tensor;
}

/* Numbers for the only input; an extent without a number is as large as its place. */
static hone_tensor *input_of(const hone_module *module, const char *text) {
    const hone_sinfo *info = hone_module_find(module, "main")->graph->values[0].sinfo;
    int64_t shape[HONE_MAX_RANK];
    for (int32_t i = 0; i < info->rank; i++)
        shape[i] = hone_expr_is_int(info->shape[i]) ? info->shape[i]->u.i : i;
    return numbers(info->dtype, info->rank, shape, text);
}

static void check(const run_results *got, const char *text) {
    const hone_tensor *result = got->items[0];
    int64_t count = hone_tensor_count(result);
    hone_tensor *want = numbers(result->dtype, 1, &count, text);
    for (int64_t i = 0; i < count; i++) {
        double right = hone_tensor_get_f64(want, i), is = hone_tensor_get_f64(result, i);
        bool is_right = hone_tensor_get_i64(want, i) == hone_tensor_get_i64(result, i);
        if (hone_dtype_is_float(want->dtype)) {
            is_right = is == right || (isnan(is) && isnan(right)) ||
                       fabs(is - right) <= 1e-12 * fabs(right);
        }
        if (!is_right) fail_msg("element %lld is %.17g, should be %.17g", (long long)i, is, right);
    }
    hone_tensor_destroy(want);
}

static void check_row(void **state) {
    const struct row *row = *state;
    char model[512];
    hone_module *module;
    run_results plain, planned;
    snprintf(model, sizeof model, "%s\noutput y", row->model);
    HONE_ASSERT_OK(onnx_text_load(model, &module));
    hone_tensor *x = input_of(module, row->x);
    HONE_ASSERT_OK(run_plain(module, NULL, &x, 1, 0, &plain));
    HONE_ASSERT_OK(run_planned(module, NULL, &x, 1, 0, &planned));
    hone_module_release(module);
    hone_tensor_destroy(x);
    check(&plain, row->want);
    check(&planned, row->want);
    run_results_deinit(&plain);
    run_results_deinit(&planned);
}

int main(void) {
    return HONE_RUN_ROWS("graph/onnx_values", rows, check_row);
}
