/* tests/graph/frontend/test_onnx_values.c - operators of ONNX with the numbers that the standard
 * has for them: what went wrong beside another implementation
 * (tests/peer/onnx_models/onnx_random.py), and edges. Sizes that are known in a run only are those
 * of test_onnx_sizes.c, operators of com.microsoft those of test_onnx_microsoft.c. */
#include "tests/graph/frontend/value_rows.h"

/* Ten steps from a to b. */
#define TEN(a, b)                                                                                  \
    "node Abs " a " -> " a "1\nnode Abs " a "1 -> " a "2\nnode Abs " a "2 -> " a "3\n"             \
    "node Abs " a "3 -> " a "4\nnode Abs " a "4 -> " a "5\nnode Abs " a "5 -> " a "6\n"            \
    "node Abs " a "6 -> " a "7\nnode Abs " a "7 -> " a "8\nnode Abs " a "8 -> " a "9\n"            \
    "node Abs " a "9 -> " b "\n"

static const value_row rows[] = {
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
    ROW("a function with attributes, a default, and another one inside",
        "function my.Inner x,none -> y,z slope add=0.5 opset=17\nnode LeakyRelu x -> b "
        "alpha=@slope\n"
        "node Constant -> k value_float=@add\nnode Add b,k -> y\nnode Neg y -> z\nend\n"
        "function my.Outer x -> b s\nnode my.Inner x -> b slope=@s\nend\n"
        "input x f32 2\nnode my.Outer x -> t s=0.25\nnode my.Inner t -> ,y slope=0.5 add=2.0",
        "4,-4", "-6.5,-1.75"),
    ROW("a function has operator sets of its own",
        "function my.Sums x -> y opset=11\nnode ReduceSum x -> y axes=[1]\nend\nopset 17\n"
        "input x f32 1,2\nnode my.Sums x -> t\nconst k i64 1 = 0\nnode ReduceSum t,k -> y",
        "4,5", "9"),
    ROW("numbers of four bits, and blocks of them",
        "opset 21\ninput x f32 1\nconst q i4 2,3 = 7,-8,1,-1,2,3\nconst s f32 2,1 = 0.5,2\n"
        "node DequantizeLinear q,s -> d axis=1 block_size=3\nnode Mul d,x -> y",
        "2", "7,-8,1,-4,8,12"),
    ROW("to four bits",
        "opset 21\ninput x f32 3\nconst s f32 = 0.5\nconst z i4 = 1\n"
        "node QuantizeLinear x,s,z -> q\nnode Cast q -> y to=1",
        "1.2,9,-9", "3,7,-8"),
    ROW("float8 is held within its numbers",
        "opset 19\ninput x f32 4\nnode Cast x -> t to=17\nnode Cast t -> y to=1",
        "1000,-inf,0.3,nan", "448,-448,0.3125,nan"),
    ROW("or not",
        "opset 19\ninput x f32 3\nnode Cast x -> t to=17 saturate=0\nnode Cast t -> y to=1",
        "1000,-2,0.3", "nan,-2,0.3125"),
    ROW("powers of two: up",
        "opset 24\ninput x f32 8\nnode Cast x -> t to=24\nnode Cast t -> y to=1",
        "1,1.0001,-3,0.25,inf,nan,3e38,1.75", "1,2,4,0.25,nan,nan,1.7014118e38,2"),
    ROW("the nearest one, halves up",
        "opset 24\ninput x f16 5\nnode Cast x -> t to=24 round_mode='nearest'\n"
        "node Cast t -> y to=1",
        "1,1.49,1.5,3,-5", "1,1,2,4,4"),
    ROW("down",
        "opset 24\ninput x f64 4\nnode Cast x -> t to=24 round_mode='down'\nnode Cast t -> y to=1",
        "1,1.99,-3,inf", "1,1,2,nan"),
    ROW("beyond the greatest one",
        "opset 24\ninput x f32 2\nnode Cast x -> t to=24 saturate=0\nnode Cast t -> y to=1",
        "3e38,1.7014118e38", "nan,1.7014118e38"),
    ROW("the least ones",
        "opset 24\ninput x f32 3\nnode Cast x -> t to=24 round_mode='nearest'\n"
        "node Cast t -> d to=11\nconst k f64 = 1e38\nnode Mul d,k -> y",
        "0,4e-39,7e-39", "0.58774717541114374,0.58774717541114374,1.1754943508222875"),
    ROW("constants of float8",
        "opset 19\ninput x f32 1\nconst q f8 2 = 1.5,-448\nconst s f32 = 2\n"
        "node DequantizeLinear q,s -> d\nnode Mul d,x -> y",
        "1", "3,-896"),
    ROW("sums of what data leaves empty are 0",
        "input x f32 3\nnode NonZero x -> p\nnode Cast p -> f to=1\n"
        "const a i64 1 = 1\nnode ReduceSum f,a -> y keepdims=0",
        "0,0,0", "0"),
    ROW("and products are 1",
        "opset 18\ninput x f32 3\nnode NonZero x -> p\nnode Cast p -> f to=1\n"
        "const a i64 1 = 1\nnode ReduceProd f,a -> y keepdims=0",
        "0,0,0", "1"),
    ROW("maxima -inf",
        "opset 18\ninput x f32 3\nnode NonZero x -> p\nnode Cast p -> f to=1\n"
        "const a i64 1 = 1\nnode ReduceMax f,a -> y keepdims=0",
        "0,0,0", "-inf"),
    ROW("a query that sees no key takes nothing",
        "opset 23\ninput x f32 1,1,2,1\nconst m bool 2,2 = 1,1,0,0\nnode Attention x,x,x,m -> y",
        "0,2", "1,0"),
    ROW("Swish", "opset 24\ninput x f32 2\nnode Swish x -> y alpha=2.0", "0,40", "0,40"),
    ROW("BitCast", "opset 26\ninput x f32 3\nnode BitCast x -> y to=6", "1,-0,inf",
        "1065353216,-2147483648,2139095040"),
    ROW("BitCast of bfloat16", "opset 26\ninput x bf16 2\nnode BitCast x -> y to=4", "1,-2",
        "16256,49152"),
    ROW("Conv of short floats by wider weights is rounded once",
        "opset 18\ninput x bf16 1,1,2\nconst w f32 1,1,2 = 1.001,1\nconst b f32 1 = 0.001\n"
        "node Conv x,w,b -> y",
        "256,-256", "0.2578125"),
    ROW("Gemm of short floats by wider weights",
        "opset 18\ninput x f16 1,2\nconst w f32 2,1 = 1.0001,-1\nnode Gemm x,w -> y", "1024,1024",
        "0.1024169921875"),
    ROW("BitCast of truths",
        "opset 26\ninput x bool 2\nnode BitCast x -> t to=3\nnode BitCast t -> y to=9", "0,1",
        "0,1"),
    ROW("CausalConvWithState",
        "opset 27\ninput x f32 1,1,3\nconst w f32 1,1,2 = 10,1\nconst b f32 1 = 5\nconst p f32 "
        "1,1,1 = 4\nnode CausalConvWithState x,w,b,p -> y,s",
        "1,2,3", "46,17,28"),
    ROW("the state of CausalConvWithState",
        "opset 27\ninput x f32 1,1,2\nconst w f32 1,1,4 = 1,1,1,1\nnode CausalConvWithState x,w -> "
        "z,y",
        "1,2", "0,1,2"),
    ROW("SwiGLU", "opset 28\ninput x f32 2\nconst b f32 2 = 3,2\nnode SwiGLU x,b -> y alpha=2.0",
        "0,40", "0,80"),
    ROW("LpPool", "opset 18\ninput x f32 1,1,2\nnode LpPool x -> y kernel_shape=[2] pads=[1,1]",
        "3,-4", "3,5,4"),
    ROW("LpPool beyond the end",
        "opset 18\ninput x f32 1,1,4\nnode LpPool x -> y kernel_shape=[2] p=1 ceil_mode=1 "
        "strides=[3]",
        "1,-2,3,-4", "3,4"),
    ROW("GlobalLpPool", "input x f32 1,2,1,2\nnode GlobalLpPool x -> y", "3,-4,0,2", "5,2"),
    ROW("CenterCropPad",
        "opset 18\ninput x f32 3,2\nconst s i64 2 = 2,4\nnode CenterCropPad x,s -> y",
        "1,2,3,4,5,6", "0,1,2,0,0,3,4,0"),
    ROW("CenterCropPad of an axis",
        "opset 18\ninput x i8 1,6\nconst s i64 1 = 3\nnode CenterCropPad x,s -> y axes=[-1]",
        "1,2,3,4,5,6", "2,3,4"),
    ROW("Col2Im",
        "opset 18\ninput x f32 1,2,3\nconst i i64 1 = 4\nconst b i64 1 = 2\nnode Col2Im x,i,b -> y",
        "1,2,3,10,20,30", "1,12,23,30"),
    ROW("AffineGrid to the corners",
        "opset 20\ninput x f32 1,2,3\nconst s i64 4 = 1,1,2,2\nnode AffineGrid x,s -> y "
        "align_corners=1",
        "1,0,0.5,0,2,0", "-0.5,-2,1.5,-2,-0.5,2,1.5,2"),
    ROW("AffineGrid to the edges",
        "opset 20\ninput x f32 1,2,3\nconst s i64 4 = 1,1,2,2\nnode AffineGrid x,s -> y",
        "1,0,0.5,0,2,0", "0,-1,1,-1,0,1,1,1"),
    ROW("TensorScatter around the end",
        "opset 24\ninput x f32 2,2,1\nconst c f32 2,4,1 = 0,0,0,0,0,0,0,0\nconst w i64 2 = "
        "3,1\nnode TensorScatter c,x,w -> y mode='circular'",
        "1,2,3,4", "2,0,0,1,0,3,4,0"),
    ROW("Mish", "opset 22\ninput x f32 2\nnode Mish x -> y", "0,40", "0,40"),
    ROW("LpNormalization of zeros", "opset 22\ninput x f32 2,2\nnode LpNormalization x -> y",
        "3,4,0,0", "0.6,0.8,0,0"),
    ROW("CumProd from behind",
        "opset 26\ninput x f32 3\nconst a i64 = 0\nnode CumProd x,a -> y reverse=1 exclusive=1",
        "2,3,4", "12,4,1"),
    ROW("Mod of floats by infinity",
        "opset 28\ninput x f32 3\nconst d f32 3 = inf,-2.5,inf\nnode Mod x,d -> y", "-3,1,4",
        "inf,-1.5,4"),
    ROW("what is cast to four bits keeps the low ones",
        "opset 21\ninput x f32 3\nnode Cast x -> t to=22\nnode Cast t -> y to=1", "9,-9,3.7",
        "-7,7,4"),
    ROW("numbers at random are those of their seed",
        "input x f32 3\nnode RandomUniformLike x -> y seed=1.0 low=2.0 high=4.0", "0,0,0",
        "3.3510146141052246,3.7697391510009766,3.9553682804107666"),
    ROW("dropout in training mode",
        "input x f32 3\nconst r f32 = 0.5\nconst t bool = 1\nnode Dropout x,r,t -> y seed=3",
        "1,1,1", "0,2,2"),
    ROW("the sum of nothing", "opset 11\ninput x f32 2,0\nnode ReduceSum x -> y axes=[1]", "",
        "0,0"),
    ROW("the maximum of nothing", "opset 11\ninput x f32 2,0\nnode ReduceMax x -> y axes=[1]", "",
        "-inf,-inf"),
    ROW("the mean of nothing", "opset 11\ninput x f32 2,0\nnode ReduceMean x -> y axes=[1]", "",
        "nan,nan"),
    ROW("products over nothing", "input x f32 2,0\nconst w f32 0,1 =\nnode MatMul x,w -> y", "",
        "0,0"),
    ROW("what nothing is put beside",
        "input x f32 0,2\nconst w f32 1,2 = 3,4\nnode Concat x,w -> y axis=0", "", "3,4"),
    ROW("nothing in another shape, with something around it",
        "opset 11\ninput x f32 2,3,0\nnode Flatten x -> t axis=1\n"
        "node Relu t -> u\nconst p i64 4 = 0,1,0,1\nnode Pad u,p -> y",
        "", "0,0,0,0"),
    ROW("the determinant of nothing", "input x f32 2,0,0\nnode Det x -> y", "", "1,1"),
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
    ROW("a target that is ignored counts nothing",
        "opset 13\ninput x f32 3,2\nconst t i64 3 = 0,1,9\n"
        "node NegativeLogLikelihoodLoss x,t -> y reduction='none' ignore_index=9",
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
    ROW("Resize of bytes drops fractions",
        "opset 13\ninput x u8 1,2\nconst n i64 2 = 1,4\nnode Resize x,,,n -> y mode='linear'",
        "0,255", "0,63,191,255"),
    ROW("Resize of whole numbers drops fractions towards zero",
        "opset 13\ninput x i8 1,2\nconst n i64 2 = 1,4\nnode Resize x,,,n -> y mode='linear'",
        "-3,4", "-3,-1,2,4"),
    ROW("Resize of bytes that is smooth rounds",
        "opset 18\ninput x u8 1,4\nconst n i64 2 = 1,2\n"
        "node Resize x,,,n -> y mode='linear' antialias=1",
        "10,11,12,14", "11,13"),
    ROW("Resize with many taps for each element",
        "opset 18\ninput x f32 1,8\nconst n i64 2 = 1,2\n"
        "node Resize x,,,n -> y mode='linear' antialias=1 exclude_outside=1",
        "1,1,1,1,2,2,2,2", "1.1428571939468384,1.8571429252624512"),
    ROW("Resize crops, and fills what lies outside",
        "opset 13\ninput x f32 1,3\nconst r f32 4 = 0,0,1,1.5\nconst n i64 2 = 1,4\n"
        "node Resize x,r,,n -> y mode='linear' coordinate_transformation_mode='tf_crop_and_resize' "
        "extrapolation_value=9.0",
        "1,2,3", "1,2,3,9"),
    ROW("Resize by whole scales repeats",
        "opset 13\ninput x f32 1,1,1,2\nconst s f32 4 = 1,1,2,3\nnode Resize x,,s -> y "
        "coordinate_transformation_mode='asymmetric' nearest_mode='floor'",
        "1,2", "1,1,1,2,2,2,1,1,1,2,2,2"),
    ROW("Resize by a scale that is not whole",
        "opset 13\ninput x f32 1,1,1,4\nconst s f32 4 = 1,1,1,1.5\nnode Resize x,,s -> y "
        "coordinate_transformation_mode='asymmetric' nearest_mode='floor'",
        "1,2,3,4", "1,1,2,3,3,4"),
    ROW("Conv whose other taps are all in the padding",
        "opset 11\ninput x f32 1,1,2,2\nconst w f32 1,1,3,3 = 1,2,3,4,5,6,7,8,9\n"
        "node Conv x,w -> y dilations=[6,6] pads=[6,6,6,6]",
        "1,2,3,4", "5,10,15,20"),
    ROW("Conv whose last tap is left",
        "opset 11\ninput x f32 1,1,4\nconst w f32 1,1,3 = 1,2,3\n"
        "node Conv x,w -> y dilations=[5] pads=[10,2]",
        "1,2,3,4", "3,6,9,12,0,2"),
    ROW("Conv whose first taps are left, in strides and groups",
        "opset 11\ninput x f32 1,2,3\nconst w f32 2,1,3 = 1,2,3,4,5,6\n"
        "node Conv x,w -> y dilations=[4] pads=[1,8] strides=[2] group=2",
        "1,2,3,4,5,6", "0,2,0,20"),
    ROW("Conv of taps that lie further apart than the data reaches",
        "opset 11\ninput x f32 1,2,2,3\nconst w f32 1,2,2,2 = 1,2,3,4,5,6,7,8\n"
        "node Conv x,w -> y dilations=[2,3] pads=[2,3,2,3]",
        "1,2,3,4,5,6,7,8,9,10,11,12",
        "60,72,84,52,62,72,96,108,120,82,92,102,44,52,60,36,42,48,68,76,84,54,60,66"),
    ROW("ConvTranspose whose result is larger than what its kernel makes",
        "input x f32 1,1,2\nconst w f32 1,1,2 = 1,10\n"
        "node ConvTranspose x,w -> y strides=[3] output_shape=[7]",
        "1,2", "1,10,0,2,20,0,0"),
    ROW("ConvTranspose by phases, between padding and what the output has more",
        "input x f32 1,1,3\nconst w f32 1,1,4 = 1,10,100,1000\n"
        "node ConvTranspose x,w -> y strides=[2] pads=[1,1] output_padding=[1]",
        "1,2,3", "10,102,1020,203,2030,300,3000"),
    ROW("ConvTranspose by phases of groups, one of the data infinite",
        "input x f32 1,2,1,2\nconst w f32 2,1,1,2 = 1,2,10,20\n"
        "node ConvTranspose x,w -> y strides=[1,2] group=2",
        "3,5,7,inf", "3,6,5,10,70,140,inf,inf"),
    ROW("ConvTranspose of one element in each of two channels, padding and a bias",
        "input x f32 2,2,1,1\nconst w f32 2,2,1,3 = 1,2,3,4,5,6,10,20,30,40,50,60\n"
        "const b f32 2 = 100,200\nnode ConvTranspose x,w,b -> y strides=[1,2] pads=[0,1,0,0]",
        "1,2,0,1", "142,163,305,326,120,130,250,260"),
    ROW("ConvTranspose of one element whose result is larger than its kernel",
        "input x f32 1,1,1\nconst w f32 1,1,2 = 1,10\n"
        "node ConvTranspose x,w -> y strides=[3] output_padding=[2]",
        "2", "2,20,0,0"),
    ROW("ConvTranspose of one element in each of two groups",
        "input x f32 1,2,1\nconst w f32 2,1,2 = 1,2,10,20\nnode ConvTranspose x,w -> y group=2",
        "3,5", "3,6,50,100"),
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
    ROW("MatMulInteger with a zero point of each column",
        "opset 10\ninput x u8 2,2\nconst w u8 2,2 = 1,2,3,4\nconst a u8 = 200\nconst b u8 2 = 1,5\n"
        "node MatMulInteger x,w,a,b -> y",
        "255,0,1,2", "-400,35,-396,795"),
    ROW("ConvInteger has its zero point around the data",
        "opset 10\ninput x u8 1,1,1,2\nconst w u8 1,1,1,3 = 1,2,3\nconst z u8 = 5\n"
        "node ConvInteger x,w,z -> y pads=[0,1,0,1]",
        "6,7", "8,5"),
    ROW("ConvInteger of filters that become int8 when they are moved",
        "opset 10\ninput x u8 1,1,1,2\nconst w u8 1,1,1,3 = 0,2,255\nconst z u8 = 5\n"
        "const v u8 = 100\nnode ConvInteger x,w,z,v -> y pads=[0,1,0,1]",
        "6,7", "212,-296"),
    ROW("ConvInteger of such filters in groups",
        "opset 10\ninput x u8 1,2,1,1\nconst w u8 2,1,1,1 = 0,255\nconst z u8 = 5\n"
        "const v u8 = 100\nnode ConvInteger x,w,z,v -> y group=2",
        "6,7", "-100,310"),
    ROW("ConvInteger of filters with zero points of their own",
        "opset 10\ninput x u8 1,1,1,1\nconst w u8 2,1,1,1 = 10,250\nconst z u8 = 5\n"
        "const v u8 2 = 20,240\nnode ConvInteger x,w,z,v -> y",
        "6", "-10,10"),
    ROW("ConvTranspose in phases of unlike lengths multiplies nothing infinite with nothing",
        "input x f32 1,1,2\nconst w f32 1,1,3 = 1,10,100\nnode ConvTranspose x,w -> y strides=[2]",
        "inf,1", "inf,inf,inf,10,100"),
    ROW("ConvTranspose in phases of unlike lengths, in two dimensions",
        "input x f32 1,1,2,1\nconst w f32 1,1,3,2 = 1,2,3,4,5,6\n"
        "node ConvTranspose x,w -> y strides=[2,3] pads=[1,0,0,0] output_padding=[0,1]",
        "1,10", "3,4,0,15,26,0,30,40,0,50,60,0"),
    ROW("Einsum of three operands, with a broadcast",
        "opset 12\ninput x f32 2,2\nconst a f32 2 = 1,10\nconst b f32 1,1 = 3\n"
        "node Einsum x,a,b -> y equation='ij,...j,kl->...i'",
        "1,2,3,4", "63,129"),
    ROW("a sequence that ended keeps its state and gives zeros",
        "opset 14\ninput x f32 2,2,1\nconst w f32 1,1,1 = 1\nconst r f32 1,1,1 = 0.5\n"
        "const n i32 2 = 1,2\nnode RNN x,w,r,,n -> y activations=['Relu'] direction='reverse'",
        "1,2,3,4", "1,4,0,4"),
    ROW("local responses of no channels", "input x f32 2,0,2,2\nnode LRN x -> y size=5", "", ""),
    ROW("DFT of a length that comes later",
        "opset 20\ninput x f32 2,1,n,1\nconst a i64 = 2\nnode DFT x,,a -> f\nnode Round f -> y",
        "1,2,3,5", "3,0,-1,0,8,0,-2,0"),
    ROW("and back from its half",
        "opset 17\ninput x f32 1,1,n,2\nnode DFT x -> f axis=2 inverse=1 onesided=1\n"
        "node Round f -> y",
        "8,0,-2,7", "3,5"),
    ROW("and cut to a length",
        "opset 17\ninput x f32 1,1,n,2\nconst l i64 = 1\nnode DFT x,l -> y axis=2", "8,3,-2,7",
        "8,3"),
    ROW("a transform back to real numbers",
        "opset 20\ninput x f32 1,3,2\nnode DFT x -> y inverse=1 onesided=1", "10,0,-2,2,-2,0",
        "1,2,3,4"),
    ROW("Gather of a place that is not there",
        "input x i64 2\nconst d f32 4 = 1,2,3,4\nnode Gather d,x -> y", "0,4",
        "!is outside its shape"),
    ROW("Gather of a place that is far away",
        "input x i64 1\nconst d f32 4 = 1,2,3,4\nnode Gather d,x -> y", "4294967296",
        "!is outside its shape"),
    ROW("GatherElements",
        "input x i64 2,2\nconst d f32 2,2 = 1,2,3,4\n"
        "node GatherElements d,x -> y axis=1",
        "0,0,-1,0", "1,1,4,3"),
    ROW("GatherND behind a batch",
        "input x i64 2,1\nconst d i32 2,2,2 = 0,1,2,3,4,5,6,7\n"
        "node GatherND d,x -> y batch_dims=1",
        "1,-2", "2,3,4,5"),
    ROW("ScatterElements adds as often as a place is named",
        "opset 16\ninput x i64 1,4\nconst d f32 1,3 = 1,2,3\nconst u f32 1,4 = 10,20,30,40\n"
        "node ScatterElements d,x,u -> y axis=1 reduction='add'",
        "0,-1,0,2", "41,2,63"),
    ROW("ScatterElements: true and true are true",
        "opset 18\ninput x i64 5\nconst d bool 4 = 0,0,1,1\nconst u bool 5 = 1,0,1,1,0\n"
        "node ScatterElements d,x,u -> y reduction='add'",
        "0,1,2,0,3", "1,0,1,1"),
    ROW("ScatterND: false and true are false",
        "opset 18\ninput x i64 3,1\nconst d bool 3 = 1,1,0\nconst u bool 3 = 1,0,1\n"
        "node ScatterND d,x,u -> y reduction='mul'",
        "0,1,2", "1,0,0"),
    ROW("ScatterElements leaves the last one",
        "opset 11\ninput x i64 3\nconst d i8 2 = 1,2\nconst u i8 3 = 7,8,9\n"
        "node ScatterElements d,x,u -> y",
        "1,1,1", "1,9"),
    ROW("ScatterElements to a place that is not there",
        "opset 11\ninput x i64 1\nconst d i8 2 = 1,2\nconst u i8 1 = 7\n"
        "node ScatterElements d,x,u -> y",
        "-3", "!is outside its shape"),
    ROW("ScatterND of rows",
        "opset 18\ninput x i64 2,1\nconst d f32 3,2 = 1,2,3,4,5,6\n"
        "const u f32 2,2 = 9,1,0,8\n"
        "node ScatterND d,x,u -> y reduction='max'",
        "-1,0", "1,8,3,4,9,6"),
    ROW("TopK: of equal numbers the first, NaN above all",
        "opset 11\ninput x f32 6\nconst k i64 1 = 4\nnode TopK x,k -> v,y", "1,3,nan,3,-inf,2",
        "2,1,3,5"),
    ROW("TopK of the least",
        "opset 11\ninput x i32 5\nconst k i64 1 = 3\n"
        "node TopK x,k -> y,i largest=0",
        "5,-1,3,-1,9", "-1,-1,3"),
    ROW("TopK of nothing",
        "opset 11\ninput x f32 2,5\nconst k i64 1 = 0\nnode TopK x,k -> v,i axis=0\n"
        "node Shape v -> s\nnode Shape i -> t\nnode Concat s,t -> y axis=0",
        "1,2,3,4,5,6,7,8,9,10", "0,5,0,5"),
    ROW("CumSum from behind, without the number itself",
        "opset 14\ninput x i32 2,3\nconst a i64 = 1\nnode CumSum x,a -> y exclusive=1 reverse=1",
        "1,2,3,4,5,6", "5,3,0,11,6,0"),
    ROW("ReverseSequence",
        "input x f32 3,2\nconst l i64 2 = 2,3\n"
        "node ReverseSequence x,l -> y time_axis=0 batch_axis=1",
        "0,1,2,3,4,5", "2,5,0,3,4,1"),
    ROW("OneHot of places from the end, and of none",
        "opset 11\ninput x i64 3\nconst d i64 = 2\nconst v f32 2 = 5,7\nnode OneHot x,d,v -> y",
        "-1,0,2", "5,7,7,5,5,5"),
    ROW("Hardmax up to opset 12 takes all that is behind the axis",
        "opset 11\ninput x f32 1,2,2\nnode Hardmax x -> y", "1,3,3,2", "0,1,0,0"),
    ROW("Hardmax", "opset 13\ninput x f32 1,2,2\nnode Hardmax x -> y", "1,3,3,2", "0,1,1,0"),
    ROW("ArgMax, the last one", "opset 13\ninput x f32 4\nnode ArgMax x -> y select_last_index=1",
        "3,1,3,2", "2"),
    ROW("Range downwards",
        "opset 11\ninput x i64 1\nconst a i64 = 5\nconst b i64 = 0\n"
        "const c i64 = -2\nnode Range a,b,c -> r\nnode Add x,r -> y",
        "0", "5,3,1"),
    ROW("Trilu below a diagonal",
        "opset 14\ninput x i8 2,3\nconst k i64 = 1\nnode Trilu x,k -> y upper=0", "1,2,3,4,5,6",
        "1,2,0,4,5,6"),
    ROW("Pad by reflection, further than the data reach",
        "opset 11\ninput x i32 3\nconst p i64 2 = 4,3\nnode Pad x,p -> y mode='reflect'", "1,2,3",
        "1,2,3,2,1,2,3,2,1,2"),
    ROW("Pad with what is at the edge",
        "opset 11\ninput x i32 2\nconst p i64 2 = 2,1\nnode Pad x,p -> y mode='edge'", "1,2",
        "1,1,1,2,2"),
    ROW("Pad round", "opset 19\ninput x i32 3\nconst p i64 2 = 2,1\nnode Pad x,p -> y mode='wrap'",
        "1,2,3", "2,3,1,2,3,1"),
    ROW("Pad below 0 cuts off", "opset 11\ninput x i32 4\nconst p i64 2 = -1,2\nnode Pad x,p -> y",
        "1,2,3,4", "2,3,4,0,0"),
    ROW("BitShift",
        "opset 11\ninput x u8 4\nconst s u8 4 = 1,2,7,0\n"
        "node BitShift x,s -> y direction='LEFT'",
        "255,65,3,9", "254,4,128,9"),
    ROW("BitShift by more bits than there are",
        "opset 11\ninput x u8 2\nconst s u8 2 = 8,200\nnode BitShift x,s -> y direction='RIGHT'",
        "255,65", "0,0"),
    ROW("BitwiseNot", "opset 18\ninput x i8 2\nnode BitwiseNot x -> y", "0,-128", "-1,127"),
    ROW("IsInf of one sign", "opset 10\ninput x f32 4\nnode IsInf x -> y detect_negative=0",
        "inf,-inf,nan,1", "1,0,0,0"),
    ROW("Shrink of whole numbers", "input x i32 4\nnode Shrink x -> y lambd=1.5 bias=1.5",
        "-3,-1,1,3", "-1,0,0,1"),
    ROW("MaxPool: where the first of equal maxima lies, column by column",
        "opset 12\ninput x f32 1,1,2,3\n"
        "node MaxPool x -> v,y kernel_shape=[2,2] pads=[0,1,0,0] storage_order=1",
        "1,5,5,2,0,9", "1,2,5"),
    ROW("MaxPool: where a maximum lies that is the least number",
        "opset 12\ninput x f32 1,1,2\nnode MaxPool x -> v,y kernel_shape=[2] pads=[1,0]",
        "-inf,-inf", "0,0"),
    ROW("MaxUnpool into a larger shape",
        "opset 11\ninput x f32 1,1,2\nconst i i64 1,1,2 = 1,2\nconst s i64 3 = 1,1,5\n"
        "node MaxUnpool x,i,s -> y kernel_shape=[2] strides=[2]",
        "7,8", "0,7,8,0,0"),
    ROW("Compress", "opset 11\ninput x f32 2,2\nconst c bool 3 = 0,1,1\nnode Compress x,c -> y",
        "1,2,3,4", "2,3"),
    ROW("Dropout at a ratio of 0 in training",
        "opset 13\ninput x f32 2\nconst r f32 = 0\nconst t bool = 1\nnode Dropout x,r,t -> v,y",
        "1,2", "1,1"),
    ROW("Dropout: the mask of old versions", "opset 9\ninput x f32 2\nnode Dropout x -> v,y", "1,2",
        "0,0"),
    ROW("a shape by way of floats",
        "opset 13\ninput x f32 2,6\nnode Shape x -> s\nnode Cast s -> f to=1\n"
        "const h f32 2 = 1.5,0.75\nnode Mul f,h -> g\nnode Ceil g -> c\nnode Cast c -> i to=7\n"
        "node ReduceProd i -> n keepdims=1\nconst one i64 1 = 15\nnode Min n,one -> m\n"
        "node ConstantOfShape m -> z\nnode Size z -> k\nnode Cast k -> e to=1\n"
        "node ReduceSum x -> t keepdims=0\nnode Add t,e -> y",
        "1,0,0,0,0,0,0,0,0,0,0,0", "16"),
    ROW("NonZero: NaN is another number than 0", "opset 13\ninput x f32 2,3\nnode NonZero x -> y",
        "0,1,0,nan,-0,-2", "0,1,1,1,0,2"),
    ROW("NonZero of nothing", "opset 13\ninput x f32 2,2\nnode NonZero x -> y", "0,0,0,0", ""),
    ROW("Unique: NaN is the largest, and one", "opset 13\ninput x f32 6\nnode Unique x -> y",
        "nan,1,nan,0,1,inf", "0,1,inf,nan"),
    ROW("Unique in the order of the data",
        "opset 13\ninput x i32 6\nnode Unique x -> v,f,g,y sorted=0", "3,1,3,2,1,3", "3,2,1"),
    ROW("Unique: groups in the order of the data",
        "opset 13\ninput x i32 6\nnode Unique x -> v,f,y sorted=0", "3,1,3,2,1,3", "0,1,0,2,1,0"),
    ROW("Unique columns", "opset 13\ninput x i32 2,4\nnode Unique x -> y axis=1", "2,1,2,1,0,5,0,3",
        "1,1,2,3,5,0"),
    ROW("Unique rows of three, NaN the largest",
        "opset 13\ninput x f32 5,3\nnode Unique x -> v,f,y axis=0",
        "1,nan,2,1,0,3,1,nan,2,0,9,9,1,0,inf", "3,1,3,0,2"),
    ROW("NonMaxSuppression: equal scores by number, of no number of boxes none",
        "opset 11\ninput x f32 1,1,3\nconst b f32 1,3,4 = 0,0,1,1,0,0,1,1,2,2,3,3\n"
        "node NonMaxSuppression b,x -> y",
        "1,1,1", ""),
    ROW("NonMaxSuppression: a box lies over one before it",
        "opset 11\ninput x f32 1,1,4\n"
        "const b f32 1,4,4 = 0,0,1,1,0,0,1,1,2,2,3,3,1,1,0,0\nconst m i64 1 = 9\n"
        "const t f32 1 = 0.5\nnode NonMaxSuppression b,x,m,t -> y",
        "1,1,2,0", "0,0,2,0,0,0"),
    ROW("TopK of more than there are",
        "opset 13\ninput x i64 1\nconst d f32 2 = 1,2\nnode TopK d,x -> y", "3", "!"),
    ROW("DeformConv: what lies between elements, and outside",
        "opset 22\ninput x f32 1,1,3,2\nconst w f32 1,1,2,1 = 1,10\n"
        "const o f32 1,4,2,2 = 0,0,0,0,0,0,0,0,0.5,0,0,1,0,-1,0,0\n"
        "const b f32 1 = 100\nnode DeformConv x,w,o,b -> y kernel_shape=[2,1]",
        "1,2,3,4,5,6", "141,132,153,104"),
    ROW("DeformConv with a mask, parts with offsets of their own and groups",
        "opset 22\ninput x f32 1,2,1,2\nconst w f32 2,1,1,1 = 1,2\n"
        "const o f32 1,4,1,2 = 0,0,0.5,0,0,0,0,-1\nconst m f32 1,2,1,2 = 1,3,1,0.5\n"
        "node DeformConv x,w,o,,m -> y group=2 offset_group=2",
        "1,2,3,5", "1.5,6,6,3"),
    ROW("casts to two bits keep the low ones",
        "opset 25\ninput x i32 6\nnode Cast x -> a to=26\nnode Cast a -> y to=6", "-3,-2,2,3,5,-9",
        "1,-2,-2,-1,1,-1"),
    ROW("floats are rounded to four bits, halves to the even number",
        "opset 21\ninput x f32 10\nnode Cast x -> a to=22\nnode Cast a -> y to=6",
        "-2.7,-2.5,-1.5,-0.5,0.3,0.5,1.5,2.5,2.7,nan", "-3,-2,-2,0,0,0,2,2,3,0"),
    ROW("and to two, from short floats as well; what does not fit keeps its low bits",
        "opset 25\ninput x bf16 6\nnode Cast x -> a to=25\nnode Cast a -> y to=6",
        "0.5,1.5,2.5,2.75,3.5,-0.75", "0,2,2,3,0,3"),
    ROW("CastLike rounds to four bits, too",
        "opset 21\ninput x f64 4\nconst t i4 1 = 0\nnode CastLike x,t -> a\nnode Cast a -> y to=6",
        "0.5,6.6,7.5,-1.5", "0,7,-8,-2"),
    ROW("LinearAttention: a state of sums",
        "opset 27\ninput x f32 1,3,1\nnode LinearAttention x,x,x -> y,s update_rule='linear' "
        "scale=1.0 q_num_heads=1 kv_num_heads=1",
        "1,2,3", "1,10,42"),
    ROW("LinearAttention: of what is known, half of the rest is learned",
        "opset 27\ninput x f32 1,3,1\nconst b f32 1,3,1 = 0.5,0.5,0.5\n"
        "node LinearAttention x,x,x,,,b -> y update_rule='delta' scale=1.0 q_num_heads=1 "
        "kv_num_heads=1",
        "1,2,3", "0.5,3,-2.25"),
    ROW("SpaceToDepth, channels in front of places",
        "opset 28\ninput x f32 1,2,2,2\nnode SpaceToDepth x -> y blocksize=2 mode='CRD'",
        "1,2,3,4,5,6,7,8", "1,2,3,4,5,6,7,8"),
    ROW("SpaceToDepth, places in front of channels",
        "opset 28\ninput x f32 1,2,2,2\nnode SpaceToDepth x -> y blocksize=2 mode='DCR'",
        "1,2,3,4,5,6,7,8", "1,5,2,6,3,7,4,8"),
    ROW("a product of dequantised numbers that is quantised, with a scale for each row and a bias",
        "opset 13\ninput x u8 1,2\nconst s f32 = 0.5\nconst z u8 = 3\n"
        "const w i8 2,2 = 1,-2,3,4\nconst t f32 2 = 0.25,1\nconst v i8 2 = 0,0\n"
        "const b i32 2 = 8,-12\nconst c f32 2 = 0.125,0.5\nconst o f32 = 2\nconst p u8 = 10\n"
        "node DequantizeLinear x,s,z -> X\nnode DequantizeLinear w,t,v -> W axis=0\n"
        "node DequantizeLinear b,c -> B axis=0\nnode Gemm X,W,B -> g transB=1\n"
        "node Relu g -> h\nnode QuantizeLinear h,o,p -> y",
        "7,1", "11,10"),
    ROW("sums of dequantised numbers that are quantised are exact",
        "opset 13\ninput x u8 1,3\nconst s f32 = 1\nconst n u8 = 0\n"
        "const w i8 3,1 = 127,127,1\nconst m i8 = 0\nconst o f32 = 1\nconst p i8 = 0\n"
        "node DequantizeLinear x,s,n -> X\nnode DequantizeLinear w,s,m -> W\n"
        "node MatMul X,W -> g\nconst low f32 = -3\nconst high f32 = 5\n"
        "node Clip g,low,high -> h\nnode QuantizeLinear h,o,p -> y",
        "0,0,255", "5"),
    ROW("a convolution of dequantised numbers that is quantised, around which the zero point lies",
        "opset 13\ninput x u8 1,1,1,2\nconst s f32 = 0.5\nconst z u8 = 4\n"
        "const w i8 1,1,1,3 = 1,2,-1\nconst t f32 1 = 2\nconst v i8 1 = 1\nconst o f32 = 1\n"
        "const p u8 = 100\nnode DequantizeLinear x,s,z -> X\n"
        "node DequantizeLinear w,t,v -> W axis=0\nnode Conv X,W -> g pads=[0,1,0,1]\n"
        "node QuantizeLinear g,o,p -> y",
        "6,1", "108,97"),
    ROW("a norm of rows whose size only the scale says",
        "opset 17\ninput x f32 1,A,B\nconst s f32 2 = 1,2\n"
        "node LayerNormalization x,s -> y epsilon=0.0",
        "3,1", "1,-2"),
    ROW("more steps than one kernel takes, some of which are a kernel before they meet the rest",
        "input x f32 2\n" TEN("x", "a") TEN("a", "b")
            TEN("b", "c") "node Neg x -> e\n"
                          "node Add c,e -> f\nnode Neg e -> q\n" TEN("f", "g")
                              TEN("q", "r") "node Add g,r -> y",
        "1,2", "1,2"),
    ROW("what images begin with that were converted from CoreML",
        "opset 7\ninput x f32 1,2,1,1\nnode ImageScaler x -> y scale=2.0 bias=[1.0,-1.0]", "1,2",
        "3,3"),
    ROW("images without their borders",
        "opset 7\ninput x f32 1,1,3,3\nnode Crop x -> y border=[1,0,0,1]", "1,2,3,4,5,6,7,8,9",
        "2,3,5,6"),
    ROW("or of a size",
        "opset 7\ninput x f32 1,1,3,3\nnode Crop x -> y border=[1,1,0,0] scale=[1,2]",
        "1,2,3,4,5,6,7,8,9", "5,6"),
    ROW("other experiments of the standard",
        "opset 7\ninput x f32 2\nnode Affine x -> a alpha=2.0 beta=1.0\nnode Scale a -> s "
        "scale=3.0\n"
        "node ScaledTanh s -> t alpha=0.0 beta=1.0\nnode Add s,t -> y",
        "1,2", "9,15"),
    ROW("its function between two numbers",
        "opset 7\ninput x f32 3\nnode ScaledTanh x -> y alpha=2.0 beta=25.0", "-2,0,2", "-2,0,2"),
    ROW("and that of a soft step",
        "opset 7\ninput x f32 3\nnode ParametricSoftplus x -> y alpha=2.0 beta=0.5", "0,400,-400",
        "1.3862943611198906,400,0"),
    ROW("a slice by operands, before Slice had them",
        "opset 9\ninput x f32 4\nconst b i64 1 = 1\nconst e i64 1 = 3\n"
        "node DynamicSlice x,b,e -> y",
        "1,2,3,4", "2,3"),
    ROW("nodes before what they use",
        "input x f32 1\nnode Neg b -> y\nnode Abs a -> b\nnode Add x,x -> a", "-3", "-6"),
    ROW("a branch, too, and within one",
        "opset 13\ninput x f32 1\nbody then_branch\nnode Neg u -> t\nnode Mul a,a -> u\noutput t\n"
        "end\nbody else_branch\nnode Identity a -> e\noutput e\nend\nnode If c -> y\n"
        "node Squeeze g,z -> c\nnode Greater x,h -> g\nconst h f32 1 = 0\nconst z i64 1 = 0\n"
        "node Add x,x -> a",
        "3", "-36"),
    ROW("whose names are its own, though a node before it makes one like them",
        "opset 13\ninput x f32 1\nconst h f32 1 = 0\nconst k i64 1 = 0\nnode Sub q,z -> y\n"
        "node Abs z -> q\nbody then_branch\nnode Mul x,x -> q\nnode Neg q -> u\noutput u\nend\n"
        "body else_branch\nnode Identity x -> e\noutput e\nend\nnode If c -> z\n"
        "node Greater x,h -> g\nnode Squeeze g,k -> c",
        "3", "18"),
};

int main(void) {
    return HONE_RUN_ROWS("graph/onnx_values", rows, value_row_check);
}
