/* tests/graph/frontend/test_onnx_microsoft.c - operators of the domain com.microsoft, by the
 * numbers that onnxruntime gives, or, where no processor of its computes them, those that their
 * definitions have for them (more are drawn beside it: tests/peer/onnx_models/). */
#include "tests/graph/frontend/value_rows.h"

static const value_row rows[] = {
    ROW("com.microsoft: factors whose batch stands behind their first dimension",
        "input x f32 1,2,2\nconst w f32 2,2,1 = 1,10,100,1000\n"
        "node com.microsoft.FusedMatMul x,w -> y transBatchA=1",
        "1,2,3,4", "21,4300"),
    ROW("com.microsoft: distances of rows",
        "input x f32 2,2\nconst b f32 1,2 = 1,0\nnode com.microsoft.CDist x,b -> y "
        "metric='euclidean'",
        "4,4,1,0", "5,0"),
    ROW("half of it through Gelu",
        "input x f32 1,4\nconst b f32 4 = 1,0,1,-1\nnode com.microsoft.BiasSplitGelu x,b -> y",
        "1,3,19,1", "40,0"),
    ROW("rows of numbers of four bits, and what lies outside",
        "input x i64 3\nconst d u8 2,8 = 16,50,0,0,0,0,0,0,255,0,0,0,0,0,0,0\n"
        "const s f32 2,1 = 1,0.5\nnode com.microsoft.GatherBlockQuantized d,x,s -> g "
        "block_size=16\n"
        "const a i64 1 = 0\nconst e i64 1 = 4\nconst c i64 1 = 1\nnode Slice g,a,e,c -> y",
        "0,-1,5", "-8,-7,-6,-5,3.5,3.5,-4,-4,0,0,0,0"),
    ROW("rows of numbers of eight bits, between two other dimensions",
        "input x i64 1,2\nconst d u8 2,2,2 = 129,130,131,132,133,134,135,136\n"
        "const s f32 2,2,1 = 1,10,100,1000\nconst z u8 2,2,1 = 128,129,130,131\n"
        "node com.microsoft.GatherBlockQuantized d,x,s,z -> y bits=8 block_size=16 "
        "gather_axis=1 quantize_axis=2",
        "1,5", "20,30,0,0,4000,5000,0,0"),
    ROW("QLoRA's numbers, the first one in the high bits",
        "input x f32 1,2\nconst b u8 1 = 240\nconst s f32 1 = 2\n"
        "node com.microsoft.MatMulBnb4 x,b,s -> y K=2 N=1 block_size=16 quant_type=1",
        "3,1", "4"),
    ROW("experts: those that the router likes best",
        "input x f32 2,1\nconst r f32 2,3 = 0,9,5,1,0,9\nconst f f32 3,1,1 = 1,2,-3\n"
        "const g f32 3,1,1 = 1,10,100\nconst b f32 3,1 = 0,1,0\n"
        "node com.microsoft.MoE x,r,f,,g,b -> y k=1 normalize_routing_weights=1",
        "2,-2", "41,600"),
    ROW("an expert that was not chosen may give infinity",
        "input x f32 1,1\nconst r f32 1,2 = 0,9\nconst f f32 2,1,1 = 3e38,1\n"
        "const g f32 2,1,1 = 1,10\n"
        "node com.microsoft.MoE x,r,f,,g -> y k=1 normalize_routing_weights=1",
        "2", "20"),
    ROW("a sink takes what nothing gets",
        "input x f32 1,1,2\nconst q f32 1,1,2 = 0,0\nconst e f32 1,1,0,2 =\nconst l i32 1 = "
        "0\nconst t i32 = 1\n"
        "node com.microsoft.GroupQueryAttention q,x,x,e,e,l,t -> y,, num_heads=1 kv_num_heads=1 "
        "smooth_softmax=1 scale=0.5",
        "2,4", "1,2"),
    ROW("com.microsoft: Gelu", "input x f32 2\nnode com.microsoft.Gelu x -> y", "1,-1",
        "0.8413447,-0.15865525603294373"),
    ROW("BiasGelu", "input x f32 2\nconst b f32 2 = 1,-1\nnode com.microsoft.BiasGelu x,b -> y",
        "0,0", "0.8413447,-0.15865525603294373"),
    ROW("FastGelu", "input x f32 2\nnode com.microsoft.FastGelu x -> y", "1,-1",
        "0.841192,-0.158808"),
    ROW("QuickGelu", "input x f32 2\nnode com.microsoft.QuickGelu x -> y alpha=1.0", "1,-1",
        "0.7310586,-0.26894143223762512"),
    ROW("FusedMatMul",
        "input x f32 1,2\nconst w f32 1,2 = 3,4\n"
        "node com.microsoft.FusedMatMul x,w -> y transB=1 alpha=0.5",
        "1,2", "5.5"),
    ROW("FusedGemm: Elu",
        "input x f32 3,1\nconst w f32 1,1 = 2\n"
        "node com.microsoft.FusedGemm x,w -> y activation='Elu' activation_alpha=0.5",
        "-0.5,0,1", "-0.31606028,0,2"),
    ROW("FusedGemm: Selu",
        "input x f32 3,1\nconst w f32 1,1 = 2\n"
        "node com.microsoft.FusedGemm x,w -> y activation='Selu' activation_alpha=2.0 "
        "activation_gamma=3.0",
        "-50,0,1", "-6,0,6"),
    ROW("FusedGemm: Selu as the standard has it",
        "input x f32 3,1\nconst w f32 1,1 = 2\n"
        "node com.microsoft.FusedGemm x,w -> y activation='Selu'",
        "-0.5,0,1", "-1.1113307,0,2.101402"),
    ROW("FusedGemm: Softplus",
        "input x f32 3,1\nconst w f32 1,1 = 2\n"
        "node com.microsoft.FusedGemm x,w -> y activation='Softplus'",
        "-50,0,50", "0,0.69314718,100"),
    ROW("FusedGemm: Softsign",
        "input x f32 3,1\nconst w f32 1,1 = 2\n"
        "node com.microsoft.FusedGemm x,w -> y activation='Softsign'",
        "-0.5,0,1", "-0.5,0,0.66666667"),
    ROW("FusedGemm: ThresholdedRelu at its threshold",
        "input x f32 3,1\nconst w f32 1,1 = 2\n"
        "node com.microsoft.FusedGemm x,w -> y activation='ThresholdedRelu' activation_alpha=2.0",
        "-0.5,0,1", "0,0,0"),
    ROW("FusedGemm: HardSigmoid",
        "input x f32 3,1\nconst w f32 1,1 = 2\n"
        "node com.microsoft.FusedGemm x,w -> y activation='HardSigmoid' activation_alpha=0.25 "
        "activation_beta=0.5",
        "-0.5,0,1", "0.25,0.5,1"),
    ROW("SkipLayerNormalization",
        "input x f32 1,1,2\nconst s f32 1,1,2 = 1,1\nconst g f32 2 = 2,2\n"
        "const b f32 2 = 1,1\nnode com.microsoft.SkipLayerNormalization x,s,g,b -> y",
        "0,2", "-0.99999,2.99999"),
    ROW("SkipSimplifiedLayerNormalization",
        "input x f32 1,1,2\nconst s f32 1,1,2 = 1,1\n"
        "const g f32 2 = 2,2\nnode com.microsoft.SkipSimplifiedLayerNormalization x,s,g -> y",
        "0,0", "1.99999,1.99999"),
    ROW("MatMulNBits: low bits first, 8 is zero",
        "input x f32 1,3\nconst w u8 1,1,8 = 121,11,0,0,0,0,0,0\nconst s f32 1 = 0.5\n"
        "node com.microsoft.MatMulNBits x,w,s -> y K=3 N=1 bits=4 block_size=16",
        "1,10,100", "145.5"),
    ROW("MatMulNBits: zero points of blocks",
        "input x f32 1,17\nconst w u8 1,2,8 = 0,0,0,0,0,0,0,0,5,0,0,0,0,0,0,0\n"
        "const s f32 2 = 1,0.5\nconst z u8 1 = 16\n"
        "node com.microsoft.MatMulNBits x,w,s,z -> y K=17 N=1 bits=4 block_size=16",
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "2"),
    ROW("RotaryEmbedding from a position on",
        "input x f32 1,2,2\nconst p i64 1 = 1\nconst c f32 3,1 = 1,0,-1\nconst s f32 3,1 = 0,1,0\n"
        "node com.microsoft.RotaryEmbedding x,p,c,s -> y num_heads=1",
        "1,2,3,4", "-2,1,-3,-4"),
    ROW("RotaryEmbedding beyond the table",
        "input x f32 1,2,2\nconst p i64 1 = 2\nconst c f32 3,1 = 1,0,-1\nconst s f32 3,1 = 0,1,0\n"
        "node com.microsoft.RotaryEmbedding x,p,c,s -> y num_heads=1",
        "1,2,3,4", "!is outside its shape"),
    ROW("Attention of one head sees what the mask counts",
        "input x f32 1,2,1\nconst w f32 1,3 = 0,0,1\nconst m i32 1 = 1\n"
        "node com.microsoft.Attention x,w,,m -> y num_heads=1",
        "3,5", "3,3"),
    ROW("GroupNorm of com.microsoft, channels last",
        "input x f32 1,1,2,2\nconst g f32 2 = 2,3\nconst b f32 2 = 0,1\n"
        "node com.microsoft.GroupNorm x,g,b -> y groups=2 epsilon=0.0",
        "-1,2,1,6", "-2,-2,2,4"),
    ROW("and first",
        "input x f32 1,2,1,2\nconst g f32 2 = 2,3\nconst b f32 2 = 0,1\n"
        "node com.microsoft.GroupNorm x,g,b -> y groups=2 epsilon=0.0 channels_last=0",
        "-1,1,2,6", "-2,2,-2,4"),
    ROW("SkipGroupNorm by channels",
        "input x f32 1,1,2,2\nconst g f32 2 = 2,3\nconst b f32 2 = 0,1\nconst s f32 1,2 = 5,-1\n"
        "const i f32 2 = 1,1\nnode com.microsoft.SkipGroupNorm x,g,b,s,i -> y groups=2 "
        "epsilon=0.0",
        "-1,2,1,6", "-2,-2,2,4"),
    ROW("and the sum that it normalises",
        "input x f32 1,1,2,2\nconst g f32 2 = 2,3\nconst b f32 2 = 0,1\nconst s f32 1,2 = 5,-1\n"
        "const i f32 2 = 1,1\nnode com.microsoft.SkipGroupNorm x,g,b,s,i -> n,y groups=2 "
        "epsilon=0.0",
        "-1,2,1,6", "5,2,7,6"),
    ROW("a normalisation of another domain",
        "input x f32 1,2\nconst s f32 1,2 = 1,1\nconst g f32 2 = 1,2\n"
        "node com.microsoft.SkipSimplifiedLayerNormalization x,s,g -> y epsilon=0.0",
        "2,3", "0.8485281374238571,2.2627416997969522"),
    ROW("a product of another domain",
        "input x f32 2,1\nconst w f32 3,2 = 1,2,3,4,5,6\n"
        "node com.microsoft.FusedMatMul x,w -> y transA=1 transB=1 alpha=0.5",
        "1,10", "10.5,21.5,32.5"),
    ROW("a sum of quantised numbers",
        "opset 13\ninput x u8 1,2\nconst s f32 = 0.5\nconst z u8 = 3\nconst b u8 2 = 4,8\n"
        "const t f32 = 1\nconst v u8 = 4\nconst p u8 = 10\n"
        "node com.microsoft.QLinearAdd x,s,z,b,t,v,s,p -> y",
        "7,1", "14,16"),
    ROW("weights of 4 bits whose columns are in an order of groups",
        "opset 17\ninput x f32 1,16\nconst w u8 1,2,4 = 153,153,153,153,153,153,153,153\n"
        "const s f32 2 = 1,10\nconst g i32 16 = 0,1,0,0,1,0,0,0,0,0,0,0,0,0,1,1\n"
        "node com.microsoft.MatMulNBits x,w,s,,g -> y K=16 N=1 bits=4 block_size=8",
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2", "62"),
    ROW("a product of quantised numbers that stays one of floats",
        "opset 13\ninput x u8 1,2\nconst s f32 = 0.5\nconst z u8 = 3\n"
        "const w i8 2,2 = 1,-2,3,4\nconst t f32 = 0.25\nconst v i8 = 0\nconst b i32 2 = 8,-12\n"
        "node com.microsoft.QGemm x,s,z,w,t,v,b -> y transB=1",
        "7,1", "2,-1"),
    ROW("quantised parts of different scales joined",
        "opset 13\ninput x u8 1,2\nconst s f32 = 0.5\nconst z u8 = 3\nconst b u8 1,1 = 9\n"
        "const t f32 = 1\nconst v u8 = 4\n"
        "node com.microsoft.QLinearConcat s,v,x,s,z,b,t,v -> y axis=1",
        "7,1", "8,2,14"),
    ROW("quantised parts joined whose sizes agree when they are there",
        "opset 13\ninput x u8 1,A,B\nconst s f32 = 0.5\nconst z u8 = 3\nconst t f32 = 1\n"
        "const v u8 = 4\nconst i i64 1 = 1\nconst j i64 1 = 9\nconst k i64 1 = 2\n"
        "node Slice x,i,j,k -> g\nnode Transpose g -> h perm=[0,2,1]\n"
        "node com.microsoft.QLinearConcat s,v,g,s,z,h,t,v -> y axis=0",
        "7,1", "2,0"),
    ROW("a skip whose size agrees when it is there",
        "opset 13\ninput x f32 1,A,B\nconst w f32 1 = 2\nconst i i64 1 = 1\nconst j i64 1 = 9\n"
        "const k i64 1 = 2\nnode Slice x,i,j,k -> g\nnode Transpose g -> h perm=[0,2,1]\n"
        "node com.microsoft.SkipSimplifiedLayerNormalization g,h,w -> y epsilon=0.0",
        "7,1", "2"),
    ROW("steps of an LSTM whose data and states are quantised where they are multiplied",
        "opset 17\ninput x f32 2,1,1\nconst w u8 1,1,4 = 3,3,3,3\nconst r u8 1,1,4 = 1,1,1,2\n"
        "const s f32 1 = 0.5\nconst t f32 1 = 1\nconst z u8 1 = 1\n"
        "node com.microsoft.DynamicQuantizeLSTM x,w,r,,,,,,s,z,t,z -> y hidden_size=1 "
        "activations=['Sigmoid','Relu','Relu']",
        "255,100.4", "255,610"),
    ROW("quantised sides of different scales, chosen",
        "opset 13\ninput x u8 2\nconst c bool 2 = 1,0\nconst s f32 = 0.5\nconst z u8 = 3\n"
        "const b u8 = 9\nconst t f32 = 1\nconst v u8 = 4\n"
        "node com.microsoft.QLinearWhere c,x,s,z,b,t,v,t,v -> y",
        "7,1", "6,9"),
    ROW("distances of T5 in buckets, both ways; the table lies turned",
        "input x f32 4,2\nconst n i64 1 = 5\n"
        "node com.microsoft.RelativePositionBias x,n,n -> y is_bidirectional=1 max_distance=4",
        "0,1,2,3,4,5,6,7",
        "0,3,3,3,3,1,0,3,3,3,1,1,0,3,3,1,1,1,0,3,1,1,1,1,0,"
        "4,7,7,7,7,5,4,7,7,7,5,5,4,7,7,5,5,5,4,7,5,5,5,5,4"),
    ROW("and those to what was before, of a length that comes later",
        "input x f32 1,1,1,L\nconst t f32 4,2 = 0,1,2,3,4,5,6,7\nnode Shape x -> s\n"
        "const k i64 = 3\nnode Gather s,k -> n\n"
        "node com.microsoft.RelativePositionBias t,n,n -> y max_distance=4",
        "9,9,9", "0,0,0,1,0,0,2,1,0,4,4,4,5,4,4,6,5,4"),
    ROW("distances behind gates that are half open",
        "input x f32 1,2,2\nconst b f32 2 = -1,-2\nconst p f32 1,2,1,1 = 8,16\n"
        "const w f32 1,4 = 0,0,0,0\nconst c f32 4 = 0,0,0,0\nconst a f32 1,2,1,1 = 2,4\n"
        "node com.microsoft.GatedRelativePositionBias x,b,p,w,c,a -> y num_heads=2",
        "1,2,3,4", "16,16,40,40"),
    ROW("and of packed tokens, between which there are zeros",
        "input x f32 1,2\nconst b f32 2 = 0,0\nconst p f32 1,1,2,2 = 8,8,8,8\n"
        "const w f32 2,2 = 100,0,0,0\nconst c f32 2 = 0,0\nconst a f32 1,1,1,1 = 4\n"
        "const o i32 1,2 = 1,0\n"
        "node com.microsoft.GatedRelativePositionBias x,b,p,w,c,a,o -> y num_heads=1",
        "1,0", "20,20,24,24"),
    ROW("a convolution of channels that come last, as filters' do",
        "input x f32 1,1,2,2\nconst w f32 1,1,2,2 = 1,10,100,1000\n"
        "node com.microsoft.NhwcConv x,w -> y kernel_shape=[1,2]",
        "1,2,3,4", "4321"),
    ROW("and one with more to add behind it, of the standard's filters",
        "input x f32 1,1,2,2\nconst w f32 2,2,1,1 = 1,10,-1,0\nconst z f32 1,1,2,2 = 1,2,3,4\n"
        "node com.microsoft.NhwcFusedConv x,w,,z -> y activation='Relu'",
        "1,2,3,4", "22,1,46,1"),
    ROW("a product and its Gelu",
        "input x f32 1,2\nconst w f32 2,2 = 1,0,0,1\nconst b f32 2 = 10,-40\n"
        "node com.microsoft.GemmFastGelu x,w,b -> y",
        "20,0", "30,0"),
    ROW("keys between a begin and an end",
        "input x f32 1,3,1\nconst w f32 1,3 = 0,0,1\nconst b f32 3 = 0,0,0\n"
        "const m i32 2 = 3,1\nnode com.microsoft.Attention x,w,b,m -> y, num_heads=1",
        "1,2,4", "3,3,3"),
    ROW("one query beside a cache that is longer than what is in it",
        "input x f32 1,1,1\nconst q f32 1,1,1 = 0\nconst c f32 1,1,3,1 = 4,9,9\n"
        "const p i32 1 = 1\nnode com.microsoft.DecoderMaskedMultiHeadAttention q,q,x,,,c,c,p -> "
        "o,,v num_heads=1 past_present_share_buffer=1\nconst f i64 1 = -1\nnode Reshape o,f -> a\n"
        "node Reshape v,f -> b\nnode Concat a,b -> y axis=0",
        "6", "5,4,6,9"),
    ROW("the cache of another beam",
        "input x f32 2,1,1\nconst q f32 2,1,1 = 0,0\nconst c f32 2,1,2,1 = 4,9,8,9\n"
        "const p i32 1 = 1\nconst w i32 1 = 2\nconst i i32 1,2,2 = 1,0,1,0\n"
        "node com.microsoft.DecoderMaskedMultiHeadAttention q,q,x,,,c,c,p,w,i -> y "
        "num_heads=1 past_present_share_buffer=1",
        "6,2", "7,5"),
    ROW("what was said is not said again",
        "input x f32 1,3\nconst i i64 1,5 = 0,1,2,0,1\n"
        "node com.microsoft.NGramRepeatBlock i,x -> y ngram_size=3",
        "1,2,3", "1,2,-inf"),
    ROW("the softmax of one number is 1, quantised as well",
        "input x u8 2,1\nconst s f32 = 0.5\nconst z u8 = 3\nconst t f32 = 0.00390625\n"
        "const v u8 = 0\nnode com.microsoft.QLinearSoftmax x,s,z,t,v -> y axis=1 opset=13",
        "9,200", "255,255"),
    ROW("slices with their items behind",
        "input x f32 5,1\nnode com.microsoft.UnfoldTensor x -> y dim=0 size=2 step=3", "1,2,3,4,5",
        "1,2,4,5"),
    ROW("what is there once, in the order in which it comes",
        "input x f32 6\nnode com.microsoft.Unique x -> y,i,n", "2,1,1,3,4,3", "2,1,3,4"),
    ROW("which of it stands where, and how often",
        "opset 13\ninput x f32 6\nnode com.microsoft.Unique x -> u,i,n\n"
        "node Concat i,n -> y axis=0",
        "2,1,1,3,4,3", "0,1,1,2,3,2,1,2,2,1"),
    ROW("parts of images, one of them beyond the edge",
        "input x f32 1,1,2,3\nconst r f32 2,4 = 0,0,1,1,0,0.5,1,1.5\nconst n i32 2 = 0,0\n"
        "const s i32 2 = 3,2\nnode com.microsoft.CropAndResize x,r,n,s -> y "
        "extrapolation_value=-1.0",
        "1,2,3,4,5,6", "1,3,2.5,4.5,4,6,2,-1,3.5,-1,5,-1"),
    ROW("the middle of one, nearest",
        "input x f32 1,1,H,W\nconst r f32 1,4 = 0,0,1,1\nconst n i32 1 = 0\n"
        "const s i32 2 = 1,1\nnode com.microsoft.CropAndResize x,r,n,s -> y mode='nearest'",
        "1,2,3,4,5,6", "5"),
    ROW("the inverse of a matrix whose rows must change places",
        "input x f32 2,2\nnode com.microsoft.Inverse x -> y", "0,2,4,1", "-0.125,0.25,0.5,0"),
    ROW("the echo", "input x f32 2\nnode com.microsoft.SampleOp x -> y", "1,-2", "1,-2"),
    ROW("rows of a window end where the mask is 0, but for the first element",
        "input x f32 1,1,2,3\nconst m i32 1,1,2,3 = 0,1,1,1,0,1\n"
        "node com.microsoft.MaxpoolWithMask x,m -> y kernel_shape=[2,2]",
        "7,1,2,3,9,4", "7,2"),
    ROW("the mask of the second channel begins one element behind the first one",
        "input x f32 1,2,4\nconst m i32 1,3,4 = 1,1,1,0,0,1,1,1,1,1,1,1\n"
        "node com.microsoft.MaxpoolWithMask x,m -> y kernel_shape=[4]",
        "1,2,3,9,1,2,8,4", "3,2"),
    ROW("pads of a transposed convolution that are known",
        "input x f32 1,1,2\nconst w f32 1,1,3 = 1,10,100\nconst p i64 2 = 1,0\n"
        "node com.microsoft.ConvTransposeWithDynamicPads x,w,p -> y",
        "1,2", "12,120,200"),
    ROW("and that come later",
        "input x i64 2\nconst d f32 1,1,2 = 1,2\nconst w f32 1,1,3 = 1,10,100\n"
        "node com.microsoft.ConvTransposeWithDynamicPads d,w,x -> y",
        "1,2", "12"),
    ROW("and are more than there is",
        "input x i64 2\nconst d f32 1,1,2 = 1,2\nconst w f32 1,1,3 = 1,10,100\n"
        "node com.microsoft.ConvTransposeWithDynamicPads d,w,x -> y",
        "1,9", "!outside its shape"),
    ROW("elements of a sparse matrix meet rows of the other one",
        "input x f32 3,1\nsparse a f32 2,3 = 1,2,5 = 2,3,5\n"
        "node com.microsoft.SparseToDenseMatMul a,x -> y alpha=2.0",
        "inf,10,100", "640,1000"),
    ROW("turned",
        "input x f32 2,1\nsparse a f32 2,3 = 1,2,5 = 2,3,5\n"
        "node com.microsoft.SparseToDenseMatMul a,x -> y transA=1",
        "1,10", "0,2,53"),
    ROW("a sparse tensor is any constant",
        "input x i32 2,2\nsparse a i32 2,2 = 3 = 7\nnode Add x,a -> y", "1,2,3,4", "1,2,3,11"),
    ROW("a blob of four bits, and its zero point",
        "input x f32 1,2\nconst b u8 21 = 0,0,0,63,3,5,8,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n"
        "const s i64 2 = 2,1\nnode com.microsoft.MatMulFpQ4 x,b,s -> y",
        "1,10", "26"),
    ROW("the way that costs least, in a tie from the column before",
        "input x f32 2,3\nnode com.microsoft.DynamicTimeWarping x -> y", "0,0,0,0,0,0",
        "0,1,1,1,0,0,1,2"),
    ROW("of one matrix of a batch, of open sizes",
        "input x f32 1,R,C\nnode com.microsoft.DynamicTimeWarping x -> y", "1,2", "0,0,0,1"),
    ROW("hashes of numbers", "input x i32 2\nnode com.microsoft.MurmurHash3 x -> y", "3,4",
        "847579505,1889779975"),
    ROW("of longer ones", "input x f64 2\nnode com.microsoft.MurmurHash3 x -> y", "3,4",
        "3554953595,644467234"),
    ROW("hashes are signed but for a 1",
        "input x f64 2\nnode com.microsoft.MurmurHash3 x -> y positive=2", "3,4",
        "-740013701,644467234"),
    ROW("guessed tokens up to the first other one, and where their end stands in the source",
        "opset 13\ninput x i64 3\nconst s i64 5 = 1,2,3,4,5\nconst c i64 1 = 9\n"
        "const b i64 1 = 3\nnode com.microsoft.BifurcationDetector s,c,b,x -> t,i\n"
        "node Concat t,i -> y axis=0",
        "4,7,5", "9,4,7,-1"),
    ROW("which stands there once",
        "opset 13\ninput x i64 4\nconst c i64 2 = 3,1\nconst b i64 1 = 0\n"
        "node com.microsoft.BifurcationDetector x,c,b -> t,y min_ngram_size=1 max_ngram_size=2",
        "1,3,1,2", "3"),
    ROW("that begin elsewhere than said",
        "opset 13\ninput x i64 3\nconst s i64 5 = 1,2,3,4,5\nconst c i64 1 = 9\n"
        "const b i64 1 = 2\nnode com.microsoft.BifurcationDetector s,c,b,x -> y,i",
        "4,7,5", "!outside its shape"),
    ROW("hashes of the last tokens, of which those before an end are ends",
        "input x i64 1,3\nconst m i64 2 = 3,5\nconst v i64 1 = 100\nconst o i64 1 = 1000\n"
        "const e i64 = 7\nnode com.microsoft.NGramHashMapping x,m,v,,o,e -> y,p max_ngram_size=2 "
        "n_head_per_ngram=1 pad_id=0 reset_on_eos=1",
        "2,7,4", "1037,1031,1047"),
    ROW("the largest window of each word, of one that is shorter than it, and of none",
        "input x i32 3,3\nconst w f32 1,1,2,1 = 1,1\nconst b f32 1 = 0\n"
        "const t f32 3,1 = 0,0.25,-0.25\nnode com.microsoft.WordConvEmbedding x,w,b,t -> y",
        "2,1,1,1,0,0,0,1,1", "0.46211715726000979,0.24491866240370913,0"),
    ROW("keys of blocks that are not listed are hidden",
        "input x f32 1,1,2\nconst k f32 1,1,2 = 0,0\nconst v f32 1,1,2 = 8,8\n"
        "const p f32 1,1,4,2 = 0,0,0,0,0,0,0,0\nconst q f32 1,1,4,2 = 1,2,3,4,5,6,0,0\n"
        "const a i32 1,3 = 0,1,2\nconst c i32 1,2 = 0,1\nconst t i32 1 = 4\nconst l i32 1 = 4\n"
        "node com.microsoft.SparseAttention x,k,v,p,q,a,c,t,l -> y,, num_heads=1 kv_num_heads=1 "
        "sparse_block_size=2",
        "1,1", "6.5,7"),
};

int main(void) {
    return HONE_RUN_ROWS("graph/onnx_microsoft", rows, value_row_check);
}
