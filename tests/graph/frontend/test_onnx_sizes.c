/* tests/graph/frontend/test_onnx_sizes.c - operators of ONNX over sizes that are known in a run
 * only: those of an input, and those that data give. */
#include "tests/graph/frontend/value_rows.h"

/* The sizes of x as s, those of its last two axes as h and w, h + w as e; hs and es in vectors. */
#define SIZES                                                                                      \
    "opset 13\ninput x f32 1,1,H,W\nnode Shape x -> s\nconst two i64 = 2\nconst three i64 = 3\n"   \
    "const zero i64 = 0\nconst one i64 = 1\nconst first i64 1 = 0\nnode Gather s,two -> h\n"       \
    "node Gather s,three -> w\nnode Add h,w -> e\nnode Unsqueeze h,first -> hs\n"                  \
    "node Unsqueeze e,first -> es\n"

/* x as t, whose channels are C, and as many ones in b. */
#define CHANNELS(shape, perm)                                                                      \
    "opset 21\ninput x f32 " shape "\nnode Transpose x -> t perm=" perm "\nnode Shape t -> s\n"    \
    "const i i64 1 = 1\nnode Gather s,i -> n\nconst o f32 1 = 1\nnode Expand o,n -> b\n"

/* x, whose size is open, beside a size that its first element says. */
#define EXPANDED(shape)                                                                            \
    "opset 13\ninput x f32 " shape "\nnode Cast x -> i to=7\n"                                     \
    "const f i64 1 = -1\nconst o i64 1 = 0\nnode Reshape i,f -> r\nnode Gather r,o -> n\n"         \
    "node Expand x,n -> y"

/* x without its axis, where that is 1, as t: what exporters write for a squeeze. */
#define SQUEEZED(shape, axis, t)                                                                   \
    "opset 13\ninput x f32 " shape "\nconst a i64 1 = " axis "\nconst one i64 1 = 1\n"             \
    "node Shape x -> s\nnode Gather s,a -> n\nnode Equal n,one -> e\nconst o i64 1 = 0\n"          \
    "node Squeeze e,o -> c\nbody then_branch\nnode Squeeze x,a -> p\noutput p\nend\n"              \
    "body else_branch\nnode Identity x -> q\noutput q\nend\nnode If c -> " t "\n"

/* x with three columns, where the condition c is so, of the sum s of x and h. */
#define BRANCHES(condition)                                                                        \
    "opset 13\ninput x f32 2,1,N\nconst w f32 2,1,3 = random\nconst h f32 = 100\n"                 \
    "node ReduceSum x -> s keepdims=0\n" condition "\nbody then_branch\nnode Add x,w -> v\n"       \
    "node ReduceSum v -> t keepdims=0\noutput t\nend\nbody else_branch\n"                          \
    "node ReduceMax x -> e keepdims=0\noutput e\nend\nnode If c -> y"

static const value_row rows[] = {
    ROW("pads that follow from an open size, more of them behind",
        "input x f32 1,1,H,W\nconst w f32 1,1,2,2 = 1,1,1,1\n"
        "node Conv x,w -> y auto_pad='SAME_UPPER' strides=[2,2]",
        "1,2,3,4,5,6", "12,9"),
    ROW("or in front",
        "input x f32 1,1,H,W\nconst w f32 1,1,2,2 = 1,1,1,1\n"
        "node Conv x,w -> y auto_pad='SAME_LOWER' strides=[2,2]",
        "1,2,3,4,5,6", "5,16"),
    ROW("of a dilated kernel, along one of two axes",
        "input x f32 1,1,2,W\nconst w f32 1,1,1,2 = 1,10\n"
        "node Conv x,w -> y auto_pad='SAME_UPPER' strides=[1,2] dilations=[1,2]",
        "1,2,3,4,5,6", "20,2,50,5"),
    ROW("of a window that is narrower than its steps",
        "input x f32 1,1,H,W\nconst w f32 1,1,1,1 = 10\n"
        "node Conv x,w -> y auto_pad='SAME_UPPER' strides=[2,2]",
        "1,2,3,4,5,6", "10,30"),
    ROW("of whole numbers about their zero point",
        "opset 13\ninput x u8 1,1,W\nconst w u8 1,1,2 = 1,1\nconst z u8 = 1\n"
        "node ConvInteger x,w,z -> y auto_pad='SAME_LOWER' strides=[2]",
        "1,2", "1"),
    ROW("of maxima, which are not of the pads",
        "input x f32 1,1,H,W\nnode MaxPool x -> y auto_pad='SAME_LOWER' strides=[2,2] "
        "kernel_shape=[2,2]",
        "-1,-2,-3,-4,-5,-6", "-1,-2"),
    ROW("of means of what there is",
        "opset 19\ninput x f32 1,1,H,W\nnode AveragePool x -> y auto_pad='SAME_UPPER' "
        "strides=[2,2] "
        "kernel_shape=[2,2]",
        "1,2,3,4,5,6", "3,4.5"),
    ROW("and of means of the pads, too",
        "opset 19\ninput x f32 1,1,H,W\nnode AveragePool x -> y auto_pad='SAME_UPPER' "
        "strides=[2,2] "
        "kernel_shape=[2,2] count_include_pad=1",
        "1,2,3,4,5,6", "3,2.25"),
    ROW("an open kernel that is larger than the data, which the node's result is named for",
        "input x f32 1,1,1,K\nconst d f32 1,1,1,1 = 5\nnode Conv d,x -> y", "1,2,3", "!'y': "),
    ROW("the first none of an open axis",
        "opset 13\ninput x f32 2,M\nconst k i64 1 = 0\nnode TopK x,k -> t,i axis=-1\n"
        "node ReduceSum t,o -> s keepdims=0\nnode Shape i -> h\nnode Cast h -> c to=1\n"
        "node Add s,c -> y\nconst o i64 1 = 1",
        "3,4", "2,0"),
    ROW("of what a transposed convolution makes",
        "input x f32 1,1,L\nconst w f32 1,1,3 = 1,10,100\n"
        "node ConvTranspose x,w -> y auto_pad='SAME_UPPER' strides=[2]",
        "1,2", "1,10,102,20"),
    ROW("a size of 1 goes where there is one, and what comes behind takes either",
        SQUEEZED("2,N,2", "1", "t") "const f i64 1 = -1\nnode Neg t -> u\nnode Reshape u,f -> y",
        "1,2,5,4", "-1,-2,-5,-4"),
    ROW("two of them, one behind the other",
        SQUEEZED("1,N,2", "1",
                 "t") "body then_branch\nnode Neg t -> l\noutput l\nend\n"
                      "body else_branch\nnode Unsqueeze t,o -> m\noutput m\nend\nnode If c -> u\n"
                      "node ReduceSum u -> v keepdims=0\nnode Add v,v -> y",
        "1,2", "-6"),
    ROW("what comes behind takes no more dimensions",
        SQUEEZED("2,N,2", "1", "t") "node Transpose t -> y perm=[1,0]", "1,2,5,4", "1,5,2,4"),
    ROW("where there are more is no answer",
        SQUEEZED("2,1,N", "2", "t") "node Transpose t -> y perm=[1,0]", "1,2,5,4", "!1"),
    ROW("the output says which it is", SQUEEZED("2,N,2", "1", "y") "output y f32 2,2", "1,2,5,4",
        "1,2,5,4"),

    ROW("what is left of the elements beside a size that they do not divide by",
        "opset 13\ninput x f32 3,1,N\nnode Shape x -> s\nconst k i64 1 = 2\n"
        "const r i64 1 = -1\nnode Gather s,k -> n\nnode Div n,k -> h\n"
        "node Concat h,r -> t axis=0\nnode Reshape x,t -> q\nnode Shape q -> y",
        "1,2,3,4,5,6", "1,6"),
    ROW("parts of a shape stay known",
        "opset 13\ninput x f32 2,3,N\nnode Shape x -> s\nnode Split s -> a,b,c axis=0\n"
        "node Concat b,a,c -> t axis=0\nnode Reshape x,t -> d\n"
        "node Shape d -> y",
        "1,2,3,4,5,6,7,8,9,10,11,12", "3,2,2"),
    ROW("an empty part of it, too",
        "opset 13\ninput x f32 2,3,N\nnode Shape x -> s\nconst k i64 3 = 0,1,2\n"
        "node Split s,k -> a,b,c axis=0\nnode Size a -> n\nnode Add n,c -> y",
        "1,2,3,4,5,6,7,8,9,10,11,12", "3,2"),
    ROW("nothing chosen, made as large as a size that is 1",
        "opset 15\ninput x f32 2,n\nconst s i64 1 = -1\nconst o f32 = 0\nconst k f32 1 = 7\n"
        "node Reshape x,s -> f\nnode Greater f,o -> g\nnode NonZero g -> p\n"
        "node Reshape p,s -> i\nnode Gather f,i -> d\nnode Shape x -> t start=1\n"
        "node Expand d,t -> e\nnode Concat e,k -> y axis=0",
        "-1,-2", "7"),
    ROW("and something chosen",
        "opset 15\ninput x f32 2,n\nconst s i64 1 = -1\nconst o f32 = 0\nconst k f32 1 = 7\n"
        "node Reshape x,s -> f\nnode Greater f,o -> g\nnode NonZero g -> p\n"
        "node Reshape p,s -> i\nnode Gather f,i -> d\nnode Shape x -> t start=1\n"
        "node Expand d,t -> e\nnode Concat e,k -> y axis=0",
        "1,2", "1,2,7"),
    ROW("nothing is chosen of nothing",
        "opset 18\ninput x f32 3\nnode NonZero x -> p\nnode Cast p -> f to=1\n"
        "node NonZero f -> q\nnode Size q -> y",
        "0,0,0", "0"),
    ROW("MultiHeadAttention with a bias of a length that comes later",
        "opset 13\ninput x f32 1,1,1,N\nconst f i64 1 = -1\nnode Reshape x,f -> b\n"
        "const q f32 1,1,1 = 1\nnode com.microsoft.MultiHeadAttention q,q,q,b -> y num_heads=1",
        "5,6,7", "8"),
    ROW("the bias of which must be that of all three",
        "opset 13\ninput x f32 1,1,1,1,N\nconst f i64 1 = -1\nnode Reshape x,f -> b\n"
        "const q f32 1,1,1 = 1\nnode com.microsoft.MultiHeadAttention q,q,q,b -> y num_heads=1",
        "5,6,7,8", "!3"),
    ROW("CumSum along an axis that comes later",
        "opset 14\ninput x f32 2,2\nconst f i64 1 = -1\nnode Reshape x,f -> v\n"
        "node ArgMax v -> a axis=0 keepdims=0\nnode CumSum x,a -> y exclusive=1 reverse=1",
        "1,9,3,4", "9,0,4,0"),
    ROW("counted from the end",
        "opset 14\ninput x f32 2,2\nconst f i64 1 = -1\nnode Reshape x,f -> v\n"
        "node ArgMax v -> b axis=0 keepdims=0\nnode Neg b -> a\nnode CumSum x,a -> y",
        "1,2,9,4", "1,2,10,6"),
    ROW("and one that is not there",
        "opset 14\ninput x f32 2,2\nconst f i64 1 = -1\nnode Reshape x,f -> v\n"
        "node ArgMax v -> a axis=0 keepdims=0\nnode CumSum x,a -> y",
        "1,2,9,4", "!is outside"),
    ROW("GroupNormalization of a number of channels that comes later",
        CHANNELS("1,1,C", "[0,2,1]") "node GroupNormalization t,b,b -> y num_groups=1 epsilon=0.0",
        "3,5", "0,2"),
    ROW("which the groups must divide",
        CHANNELS("1,1,1,C", "[0,3,1,2]") "node GroupNormalization t,b,b -> y num_groups=2", "3,5,6",
        "!number of"),
    ROW("GlobalAveragePool of sizes that come later",
        "input x f32 1,1,H,W\nnode GlobalAveragePool x -> y", "1,2,3,4,5,9", "4"),
    ROW("Conv of taps far from each other over sizes that come later",
        "opset 11\ninput x f32 1,1,H,W\nconst w f32 1,1,2,2 = 1,2,3,4\n"
        "node Conv x,w -> y dilations=[16,17] pads=[16,17,2,1]",
        "1,2,3,4,5,6", "4,8,12,0,16,20,24,0,0,0,0,0,0,0,0,0"),
    ROW("ConvTranspose by phases of sizes that come later",
        "opset 11\ninput x f32 1,1,H,W\nconst w f32 1,1,2,2 = 1,2,3,4\n"
        "node ConvTranspose x,w -> y strides=[2,2]",
        "1,2,3,4,5,6", "1,2,2,4,3,6,3,4,6,8,9,12,4,8,5,10,6,12,12,16,15,20,18,24"),
    ROW("and of taps that some phases lack, with padding",
        "opset 11\ninput x f32 1,1,H,W\nconst w f32 1,1,3,2 = 1,2,3,4,5,6\n"
        "node ConvTranspose x,w -> y strides=[2,3] pads=[1,0,1,1] output_padding=[1,2]",
        "1,2,3,4,5,6",
        "3,4,0,6,8,0,9,12,0,9,14,0,15,22,0,21,30,0,12,16,0,15,20,0,18,24,0,20,24,0,25,30,0,30,36,"
        "0"),
    ROW("Resize by a whole scale of sizes that come later",
        "opset 13\ninput x f32 1,1,H,W\nconst s f32 4 = 1,1,2,3\nnode Resize x,,s -> y "
        "mode='nearest'",
        "1,2,3,4,5,6", "1,1,1,2,2,2,3,3,3,1,1,1,2,2,2,3,3,3,4,4,4,5,5,5,6,6,6,4,4,4,5,5,5,6,6,6"),
    ROW("Einsum of a diagonal of sizes that are named apart",
        "input x f32 2,2,N\nnode Einsum x -> y equation='abb->a'", "1,2,3,4,5,6,7,8", "5,13"),
    ROW("Squeeze of a size that comes later, and is 1",
        "opset 13\ninput x f32 2,N\nconst a i64 1 = -1\nnode Squeeze x,a -> y", "3,4", "3,4"),
    ROW("Squeeze of a size that comes later, and is 2",
        "opset 13\ninput x f32 1,1,N\nconst a i64 1 = 2\nnode Squeeze x,a -> y", "3,4",
        "!dimension 2"),
    ROW("a recurrent cell over a length that comes later",
        "opset 14\ninput x f32 1,1,N\nconst w f32 1,1,1 = 1\nconst r f32 1,1,1 = 0.5\n"
        "node Transpose x -> t perm=[2,0,1]\nnode RNN t,w,r -> y activations=['Relu']",
        "1,2", "1,2.5"),
    ROW("the state of a recurrent cell, of a size that comes later",
        "opset 12\ninput x f32 1,N,1,1\nconst t f32 1,1,1 = 3\nconst w f32 1,1,1 = 1\nconst r f32 "
        "1,1,1 = 0.5\n"
        "node Squeeze x -> h axes=[0]\nnode RNN t,w,r,,,h -> y activations=['Relu']",
        "2", "4"),
    ROW("which must be one state for each sequence",
        "opset 12\ninput x f32 1,1,N,1\nconst t f32 1,1,1 = 3\nconst w f32 1,1,1 = 1\nconst r f32 "
        "1,1,1 = 0.5\n"
        "node Squeeze x -> h axes=[0]\nnode RNN t,w,r,,,h -> y activations=['Relu']",
        "2,2", "!1"),
    ROW("the weight of a recurrent cell, of sizes that come later",
        "opset 12\ninput x f32 1,N,1,1\nconst t f32 1,1,1 = 3\nconst r f32 1,1,1 = 0.5\n"
        "node Squeeze x -> w axes=[0]\nnode RNN t,w,r -> y activations=['Relu']",
        "2", "6"),
    ROW("which must be that of the state",
        "opset 12\ninput x f32 1,1,N,1\nconst t f32 1,1,1 = 3\nconst r f32 1,1,1 = 0.5\n"
        "node Squeeze x -> w axes=[0]\nnode RNN t,w,r -> y activations=['Relu']",
        "2,2", "!1"),
    ROW("one part of a size that comes later",
        "opset 12\ninput x f32 1,1,N\nnode Split x -> y axis=2", "1,2", "1,2"),
    ROW("the last one of several parts of a size that comes later",
        "opset 18\ninput x f32 1,1,1,1,1,N\nnode Split x -> a,b,y axis=5 num_outputs=3",
        "1,2,3,4,5", "5"),
    ROW("a kernel that reads what has fewer places than sizes",
        "input x f32 1,1,1,W\nconst k f32 1,1,1,2 = 1,1\nnode Conv x,k -> c\nnode Relu c -> d\n"
        "node Conv d,k -> e\nnode Relu e -> y",
        "1,2,3", "8"),
    ROW("Gather at places that are computed, also from the end",
        "input x i64 3\nconst d f32 4 = 1,2,3,4\nnode Gather d,x -> y", "0,-1,2", "1,4,3"),
    ROW("Gather along an axis of any size",
        "input x f32 2,N\nnode ArgMax x -> i axis=0 keepdims=0\n"
        "node Gather x,i -> y",
        "1,2", "2"),
    ROW("ScatterElements of as many updates as there are indices, whose number comes later",
        "opset 18\ninput x f32 2,N\nconst d f32 1,3 = 1,2,3\nconst i i64 2,1 = 0,0\n"
        "node ScatterElements d,i,x -> y reduction='add' axis=0",
        "10,20", "31,2,3"),
    ROW("TopK of a size that comes later",
        "opset 11\ninput x f32 1,1,N\nconst k i64 1 = 2\nnode TopK x,k -> v,y", "1,3", "1,0"),
    ROW("TopK of more than there are",
        "opset 11\ninput x f32 1,1,N\nconst k i64 1 = 3\nnode TopK x,k -> v,y", "1,3", "!index"),
    ROW("CumSum of a size that comes later",
        "opset 14\ninput x f32 1,1,N\nconst a i64 = -1\nnode CumSum x,a -> y", "1,2", "1,3"),
    ROW("Range up to a size that comes later",
        "opset 11\ninput x f32 1,1,N\nnode Shape x -> s\nconst two i64 = 2\n"
        "node Gather s,two -> n\nconst zero i64 = 0\nconst one i64 = 1\n"
        "node Range zero,n,one -> r\nnode Cast r -> f to=1\nnode Add x,f -> y",
        "5,5", "5,6"),
    ROW("ConstantOfShape of a size that comes later",
        "input x f32 1,1,N\nnode Shape x -> s\nnode ConstantOfShape s -> z\n"
        "node Add x,z -> y",
        "3,4", "3,4"),
    ROW("Tile by a size that comes later",
        "input x f32 1,2,N\nnode Shape x -> s\nnode Tile x,s -> t\n"
        "node ReduceSum t -> y keepdims=0",
        "1,2,3,4", "40"),
    ROW("EyeLike of a size that comes later",
        "input x f32 2,N\nnode EyeLike x -> e k=-1\nnode Add x,e -> y", "3,4", "3,5"),
    ROW("Pad with a number that is computed",
        "opset 11\ninput x f32 2\nconst p i64 2 = 1,1\nnode ReduceMax x -> m keepdims=0\n"
        "node Pad x,p,m -> y",
        "3,nan", "nan,3,nan,nan"),
    ROW("Slice of a size that comes later: the last",
        "opset 13\ninput x f32 1,1,N\nconst s i64 1 = -1\nconst e i64 1 = 9223372036854775807\n"
        "const a i64 1 = 2\nnode Slice x,s,e,a -> y",
        "3,4", "4"),
    ROW("Slice of a size that comes later: all but the first",
        "opset 13\ninput x f32 1,1,N\nconst s i64 1 = 1\nconst e i64 1 = 9223372036854775807\n"
        "const a i64 1 = 2\nnode Slice x,s,e,a -> y",
        "3,4", "4"),
    ROW("Slice of a size that comes later: all but the last",
        "opset 13\ninput x f32 1,1,N\nconst s i64 1 = 0\nconst e i64 1 = -1\n"
        "const a i64 1 = -1\nnode Slice x,s,e,a -> y",
        "3,4", "3"),
    ROW("Slice of a size that comes later: from before the first",
        "input x f32 1,1,N\nconst s i64 1 = -5\nconst e i64 1 = 1000\nconst a i64 1 = 2\n"
        "node Slice x,s,e,a -> y",
        "1,2", "1,2"),
    ROW("Slice of a size that comes later: from before the first to one from behind",
        "input x f32 1,1,N\nconst s i64 1 = -1000\nconst e i64 1 = -1\nconst a i64 1 = 2\n"
        "node Slice x,s,e,a -> y",
        "1,2", "1"),
    ROW("a number of boxes in a vector whose length comes later",
        "opset 11\ninput x i64 1,N\nconst f i64 1 = 0\nnode Squeeze x -> m axes=[0]\n"
        "const b f32 1,2,4 = 0,0,1,1,0,0,1,2\nconst s f32 1,1,2 = 1,2\n"
        "node NonMaxSuppression b,s,m -> y",
        "1", "0,0,1"),
    ROW("windows of a size that comes later, rounded up, where the last begins behind the data",
        "opset 13\ninput x f32 1,1,N\n"
        "node MaxPool x -> y kernel_shape=[1] strides=[2] ceil_mode=1",
        "3,4", "3"),
    ROW("windows of a size that comes later, rounded up, where the last is a part",
        "opset 13\ninput x f32 1,1,N\n"
        "node MaxPool x -> y kernel_shape=[3] strides=[2] ceil_mode=1 pads=[1,1]",
        "3,4", "4,4"),
    ROW("a convolution whose weight comes later, and whose kernel the node says",
        "opset 13\ninput x f32 1,1,N\nconst d f32 1,1,4 = 1,2,4,8\n"
        "node Conv d,x -> y kernel_shape=[2] pads=[1,0]",
        "1,-1", "-1,-1,-2,-4"),
    ROW("a weight that is not as the node says",
        "opset 13\ninput x f32 1,1,N\nconst d f32 1,1,4 = 1,2,4,8\n"
        "node Conv d,x -> y kernel_shape=[3]",
        "1,-1", "!2"),
    ROW("a transposed convolution whose kernel the node says",
        "opset 13\ninput x f32 1,1,N\nconst d f32 1,1,2 = 1,2\n"
        "node ConvTranspose d,x -> y kernel_shape=[2]",
        "1,-1", "1,1,-2"),
    ROW("Slice as long as another tensor",
        "opset 13\ninput x f32 1,1,N\nnode Shape x -> n start=2\nconst s i64 1 = 0\n"
        "const a i64 1 = 0\nconst d f32 4 = 5,6,7,8\nnode Slice d,s,n,a -> p\n"
        "node Add x,p -> y",
        "3,4", "8,10"),
    ROW("Expand as exporters write it: -1 leaves an extent",
        "opset 13\ninput x f32 1,1,N\nnode Shape x -> s\nconst n i64 3 = -1,-1,-1\n"
        "const o i64 3 = 1,2,1\nnode Equal s,n -> e\nnode Where e,o,s -> w\n"
        "const t i64 3 = 1,1,1\nnode Equal w,n -> f\nnode Where f,t,w -> v\n"
        "node Expand x,v -> y",
        "3,4", "3,4"),
    ROW("a shape of products and differences of sizes",
        "opset 13\ninput x f32 1,2,N\nnode Shape x -> s\nnode ReduceProd s -> p\n"
        "node Sub s,s -> z\nnode ReduceSum z -> q\nnode Neg q -> m\nnode Add p,m -> n\n"
        "node Reshape x,n -> y",
        "3,4,5,6", "3,4,5,6"),
    ROW("Compress by data, shorter than the axis",
        "opset 13\ninput x i64 4\nconst b i64 2 = 0,2\nconst e i64 1 = 3\n"
        "const o i64 1 = 0\nnode Slice x,o,e -> s\nnode Cast s -> c to=9\n"
        "node Compress x,c -> y axis=0",
        "0,5,8,7", "5,8"),
    ROW("what is chosen goes on",
        "opset 13\ninput x f32 5\nconst z f32 = 0\nnode Greater x,z -> c\n"
        "node Compress x,c -> p\nnode Neg p -> q\nnode Neg q -> l\n"
        "node Concat l,p,x -> y axis=0",
        "1,-1,2,-2,-3", "1,2,1,2,1,-1,2,-2,-3"),
    ROW("nothing that is chosen goes on",
        "opset 13\ninput x f32 2\nconst z f32 = 9\nnode Greater x,z -> c\n"
        "node Compress x,c -> p\nnode Exp p -> q\nnode Concat q,x -> y axis=0",
        "1,2", "1,2"),
    ROW("the sum of nothing that is chosen",
        "opset 13\ninput x f32 2\nconst z f32 = 9\nnode Greater x,z -> c\n"
        "node Compress x,c -> p\nnode ReduceSum p -> y",
        "1,2", "0"),
    ROW("the size of what is chosen is data",
        "opset 13\ninput x f32 5\nconst z f32 = 0\nnode Greater x,z -> c\n"
        "node Compress x,c -> p\nnode Shape p -> y",
        "1,-1,2,-2,-3", "2"),
    ROW("Range of computed numbers, backwards",
        "opset 13\ninput x i64\nconst a i64 = 3\nconst d i64 = -2\nnode Range a,x,d -> y", "-2",
        "3,1,-1"),
    ROW("Range of computed numbers over nothing",
        "opset 13\ninput x i64\nconst a i64 = 3\nconst d i64 = -2\nnode Range a,x,d -> y", "3", ""),
    ROW("Range of computed floats",
        "opset 13\ninput x f32\nconst a f32 = 1\nconst d f32 = 0.5\nnode Range a,x,d -> y", "2.25",
        "1,1.5,2"),
    ROW("Reshape by data: a size that stays, and one that is left",
        "opset 13\ninput x i64 3\nconst d i64 2,6 = 1,2,3,4,5,6,7,8,9,10,11,12\n"
        "node Reshape d,x -> r\nnode Shape r -> y",
        "0,3,-1", "2,3,2"),
    ROW("Reshape by data of what was made before",
        "opset 13\ninput x i64 2\nnode Add x,x -> a\nnode Reshape a,x -> y", "1,2", "2,4"),
    ROW("Reshape by data that does not fit",
        "opset 13\ninput x i64 2\nconst d i64 2,2 = 1,2,3,4\nnode Reshape d,x -> y", "3,2", "!"),
    ROW("Reshape by data of which a part is known",
        "opset 13\ninput x i64 1\nconst t i64 1 = 3\nnode Concat x,t -> s axis=0\n"
        "const d f32 2,6 = 1,2,3,4,5,6,7,8,9,10,11,12\nconst w f32 3,1 = 1,0,0\n"
        "node Reshape d,s -> r\nnode MatMul r,w -> y",
        "4", "1,4,7,10"),
    ROW("Resize to sizes that are computed",
        "opset 13\ninput x i64 1\nconst t i64 1 = 1\nnode Concat t,x -> s axis=0\n"
        "const d f32 1,3 = 1,2,4\nnode Resize d,,,s -> y mode='linear'",
        "6", "1,1.25,1.75,2.5,3.5,4"),
    ROW("Resize by scales that are computed",
        "opset 13\ninput x f32 1\nconst d f32 4 = 1,2,4,8\nnode Resize d,,x -> y", "0.5", "1,4"),
    ROW("Expand by data", "opset 13\ninput x i64 2\nconst d i64 2,1 = 1,2\nnode Expand d,x -> y",
        "1,3", "1,1,1,2,2,2"),
    ROW("Expand to a size of data that fits", EXPANDED("1,1,N"), "2,5", "2,5"),
    ROW("Expand to a size of data that is 1", EXPANDED("1,1,N"), "1,5", "1,5"),
    ROW("Expand to a size of data beside another", EXPANDED("1,1,N"), "3,5", "!3"),
    ROW("Expand to a size of data beside one that is 1", EXPANDED("1,N"), "7", "!7"),
    ROW("SequenceMap of a length that comes later, and a tensor for all items",
        "opset 17\ninput x f32 1,1,n\nconst w f32 1,1 = 10\n"
        "node SplitToSequence x -> s axis=2 keepdims=0\nbody\n"
        "input q f32 1,1\ninput v f32 1,1\nnode Mul q,v -> r\noutput r f32 1,1\nend\n"
        "node SequenceMap s,w -> t\nnode ConcatFromSequence t -> y axis=0",
        "3,4", "30,40"),
    ROW("and of two sequences",
        "opset 17\ninput x f32 1,1,n\nnode SplitToSequence x -> s axis=2 keepdims=0\n"
        "node Neg x -> z\nnode SplitToSequence z -> p axis=2 keepdims=0\n"
        "body\ninput q f32 1,1\ninput v f32 1,1\n"
        "node Mul q,v -> a\nnode Sub q,v -> b\noutput a f32 1,1\noutput b f32 1,1\nend\n"
        "node SequenceMap s,p -> t,u\nnode ConcatFromSequence u -> y axis=0",
        "3,4", "6,8"),
    ROW("Tile by data", "opset 13\ninput x i64 2\nconst d i64 1,2 = 1,2\nnode Tile d,x -> y", "2,1",
        "1,2,1,2"),
    ROW("ConstantOfShape by data", "opset 13\ninput x i64 2\nnode ConstantOfShape x -> y", "1,3",
        "0,0,0"),
    ROW("ConstantOfShape of a negative size",
        "opset 13\ninput x i64 2\nnode ConstantOfShape x -> y", "1,-3", "!is -"),
    ROW("Slice by data, from behind",
        "opset 13\ninput x i64 1\nconst d i64 5 = 1,2,3,4,5\nconst e i64 1 = -9\n"
        "const a i64 1 = 0\nconst s i64 1 = -2\nnode Slice d,x,e,a,s -> y",
        "-1", "5,3,1"),
    ROW("Slice by data, one by one from behind",
        "opset 13\ninput x i64 1\nconst d i64 5 = 1,2,3,4,5\nconst e i64 1 = 1\n"
        "const s i64 1 = -1\nnode Slice d,x,e,,s -> y",
        "9", "5,4,3"),
    ROW("Slice of a size that comes later: to far in front of it",
        "opset 13\ninput x f32 1,1,N\nconst b i64 1 = 1\nconst e i64 1 = -9223372036854775807\n"
        "const a i64 1 = 2\nnode Slice x,b,e,a -> y",
        "3,4", ""),
    ROW("Slice by data beyond the end",
        "opset 13\ninput x i64 1\nconst d i64 5 = 1,2,3,4,5\n"
        "const e i64 1 = 9223372036854775807\nnode Slice d,x,e -> y",
        "3", "4,5"),
    ROW("Slice by lists of any length, fewer than dimensions",
        "opset 13\ninput x i64 3\nconst z i64 = 0\nnode Greater x,z -> b\nnode Compress x,b -> s\n"
        "const l i64 3 = 2,2,2\nnode Compress l,b -> e\nconst d f32 2,3 = 0,1,2,3,4,5\n"
        "node Slice d,s,e -> y",
        "0,1,0", "3,4,5"),
    ROW("Slice by lists of any length, of each dimension",
        "opset 13\ninput x i64 3\nconst z i64 = 0\nnode Greater x,z -> b\nnode Compress x,b -> s\n"
        "const l i64 3 = 2,2,2\nnode Compress l,b -> e\nconst d f32 2,3 = 0,1,2,3,4,5\n"
        "node Slice d,s,e -> y",
        "1,0,1", "4"),
    ROW("places of numbers that are known",
        "opset 13\ninput x f32 3\nconst k f32 4 = 0,0.5,nan,0\nnode NonZero k -> p\n"
        "const s i64 1 = -1\nnode Reshape p,s -> i\nnode Gather x,i -> y",
        "4,5,6", "5,6"),
    ROW("places of a number in a size that comes later",
        "opset 13\ninput x f32 1,1,N\nnode Shape x -> h\nconst two i64 1 = 2\nnode Gather h,two -> "
        "n\n"
        "const k i64 1 = 7\nnode Expand k,n -> o\nnode NonZero o -> p\nnode Cast p -> f to=1\n"
        "node Add x,f -> y",
        "3,4", "3,5"),
    ROW("padded to a size that is given again",
        "opset 13\ninput x f32 1,1,N\nconst a i64 1 = 2\nconst one i64 1 = 1\nconst e i64 1 = 99\n"
        "node Slice x,one,e,a -> c\nconst p i64 6 = 0,0,0,0,0,1\nnode Pad c,p -> y",
        "3,4", "4,0"),
    ROW("Slice by data of nothing",
        "opset 13\ninput x i64 1\nconst d i64 3 = 1,2,3\nconst e i64 1 = 1\n"
        "node Slice d,x,e -> y",
        "2", ""),
    ROW("TopK of a computed number",
        "opset 13\ninput x i64 1\nconst d f32 4 = 1,nan,2,2\nnode TopK d,x -> v,y", "3", "1,2,3"),
    ROW("OneHot of a computed depth",
        "opset 13\ninput x i64\nconst i i64 2 = 1,-1\nconst v i64 2 = 0,7\n"
        "node OneHot i,x,v -> y",
        "3", "0,7,0,0,0,7"),
    ROW("Pad by data, below 0 too",
        "opset 13\ninput x i64 2\nconst d i64 3 = 1,2,3\nconst v i64 = 9\n"
        "node Pad d,x,v -> y",
        "2,-1", "9,9,1,2"),
    ROW("Pad by data that is mirrored",
        "opset 13\ninput x i64 2\nconst d i64 3 = 1,2,3\nnode Pad d,x -> y mode='reflect'", "2,1",
        "3,2,1,2,3,2"),
    ROW("sizes that come later, as numbers", SIZES "node Mul s,e -> m\nnode Cast m -> y to=1",
        "1,2,3,4,5,6", "5,5,10,15"),
    ROW("a range from a size on", SIZES "node Range h,e,one -> y", "1,2,3,4,5,6", "2,3,4"),
    ROW("a slice from one size to another",
        SIZES "const t f32 8 = 0,1,2,3,4,5,6,7\nnode Slice t,hs,es,first -> y", "1,2,3,4,5,6",
        "2,3,4"),
    ROW("a size less a size that is in it",
        SIZES "node Sub e,h -> d\nnode Sub d,w -> z\nnode Range zero,d,one -> r\n"
              "node Add r,z -> y",
        "1,2,3,4,5,6", "0,1,2"),
    ROW("a size that is made a vector by Reshape",
        SIZES "const flat i64 1 = -1\nnode Mul h,w -> m\nnode Reshape m,flat -> t\n"
              "node Reshape x,t -> y",
        "1,2,3,4,5,6", "1,2,3,4,5,6"),
    ROW("Resize to twice sizes that come later",
        "opset 13\ninput x f32 1,1,H,W\nconst s f32 4 = 1,1,1,2\nnode Resize x,,s -> y "
        "mode='linear'",
        "0,4,8,0,8,0", "0,1,3,5,7,8,0,2,6,6,2,0"),
    ROW("Resize of sizes that come later to those of another tensor, corners on corners",
        SIZES "const front i64 2 = 1,1\nconst t i64 1 = 3\nnode Concat front,t,es -> z axis=0\n"
              "node Resize x,,,z -> y mode='linear' "
              "coordinate_transformation_mode='align_corners'",
        "0,2,4,4,6,8", "0,1,2,3,4,2,3,4,5,6,4,5,6,7,8"),
    ROW("a dimension that comes later, turned round",
        "opset 13\ninput x f32 1,1,H,W\nconst b i64 1 = -1\nconst e i64 1 = -9223372036854775807\n"
        "const a i64 1 = 3\nconst t i64 1 = -1\nnode Slice x,b,e,a,t -> y",
        "1,2,3,4,5,6", "3,2,1,6,5,4"),
    ROW("a cell of a known batch that begins with constants, over any length",
        "opset 14\ninput x f32 1,N,1\nnode Transpose x -> s perm=[1,0,2]\n"
        "const w f32 1,1,1 = 1\nconst u f32 1,1,1 = 0.5\nconst h f32 1,1,1 = 4\n"
        "const v f32 3,1,1 = 1,2,3\nnode Concat v,s -> d axis=0\n"
        "node RNN d,w,u,,,h -> a,e hidden_size=1 activations=['Affine'] activation_alpha=[1.0] "
        "activation_beta=[0.0]\nconst flat i64 1 = -1\nnode Reshape e,flat -> y",
        "7", "9.375"),
    ROW("ScatterND: as many updates as a size, at places of which the number is computed",
        SIZES "const three1 i64 1 = 3\nconst flat i64 1 = -1\nnode Reshape x,flat -> v\n"
              "node Sub e,two -> c\nnode Range zero,c,one -> r\nconst column i64 2 = -1,1\n"
              "node Reshape r,column -> i\nnode Slice v,first,three1 -> u\n"
              "node Neg u -> n\nnode ScatterND v,i,n -> y",
        "1,2,3,4,5,6", "-1,-2,-3,4,5,6"),
    ROW("a triangle that begins at a size", SIZES "node Sub w,h -> k\nnode Trilu x,k -> y upper=0",
        "1,2,3,4,5,6", "1,2,0,4,5,6"),
    ROW("a triangle that begins at a number that is data",
        "opset 17\ninput x i64 1\nconst d f32 2,3 = 1,2,3,4,5,6\nnode Trilu d,x -> y", "-1",
        "1,2,3,4,5,6"),
    ROW("one part of any size", "opset 7\ninput x f32 1,1,N\nnode Split x -> y axis=2", "1,2",
        "1,2"),
    ROW("a size less another one",
        SIZES "const flat i64 1 = -1\nnode Reshape x,flat -> v\nnode Mul hs,hs -> q\n"
              "node Slice v,q,es -> t\nnode Sub es,q -> r\nnode Tile t,r -> y",
        "1,2,3,4,5,6", "5"),
    ROW("what is left of a product of sizes, of which one is among the new ones",
        SIZES "const k i64 1 = 3\nnode Mul hs,k -> t\nconst n f32 1 = 7\nnode Expand n,t -> v\n"
              "const rest i64 1 = -1\nnode Concat hs,rest -> z axis=0\nnode Reshape v,z -> u\n"
              "node Shape u -> y",
        "1,2,3,4,5,6", "2,3"),
    ROW("a sum of sizes is not -1",
        SIZES "const minus i64 = -1\nnode Equal es,minus -> q\nconst ones i64 1 = 1\n"
              "node Where q,ones,es -> t\nconst n f32 1 = 7\nnode Expand n,t -> y",
        "1,2,3,4,5,6", "7,7,7,7,7"),
    ROW("sizes that are equal only when they are known",
        SIZES "const flat i64 1 = -1\nnode Reshape x,flat -> v\nnode Mul w,two -> d\n"
              "node Range zero,d,one -> r\nnode Cast r -> f to=1\nnode Add v,f -> y",
        "1,2,3,4,5,6", "1,3,5,7,9,11"),
    ROW("a branch takes what is made of two parts that data choose",
        "opset 13\ninput x f32 5\nconst z i64 1 = 0\nconst none i64 0 =\n"
        "node NonZero x -> p\nnode Squeeze p,z -> q\nnode Gather x,q -> a\n"
        "node IsNaN x -> m\nnode NonZero m -> r\nnode Squeeze r,z -> s\nnode Gather x,s -> b\n"
        "node Concat a,b -> c axis=0\nnode ReduceSum a -> t keepdims=0\nnode Greater t,h -> k\n"
        "const h f32 = 0\n"
        "body then_branch\nnode Relu c -> d\nnode NonZero d -> e\noutput e i64 ?,?\nend\n"
        "body else_branch\nnode Relu c -> f\nnode Unsqueeze none,z -> g\noutput g i64 ?,?\nend\n"
        "node If k -> y",
        "5,0,-3,0,1", "0,2"),
    ROW("what data leave nothing of, padded by computed widths",
        "opset 18\ninput x i64 4\nconst f f32 3 = 0,0,0\nconst v i64 = 7\n"
        "node NonZero f -> d\nnode Pad d,x,v -> y",
        "1,1,0,1", "7,7,7,7"),
    ROW("what data leave, padded to a length",
        "opset 18\ninput x f32 4\nconst l i64 1 = 6\nconst a i64 1 = 1\nconst z i64 3 = 0,0,0\n"
        "const v i64 = 7\nnode NonZero x -> d\nnode Shape d -> s\nnode Gather s,a -> n\n"
        "node Sub l,n -> left\nnode Concat z,left -> p axis=0\nnode Pad d,p,v -> y",
        "0,3,4,0", "1,2,7,7,7,7"),
    ROW("nothing, padded by computed widths",
        "opset 13\ninput x i64 4\nconst e f32 2,1 = 0,0\nconst b i64 1 = 0\nconst a i64 1 = 1\n"
        "node Slice e,b,b,a -> d\nconst v f32 = 7\nnode Pad d,x,v -> y",
        "1,2,0,1", "7,7,7,7,7,7,7,7,7"),
    ROW("a quotient is of the scale's type",
        "opset 24\ninput x f32 2\nconst s f32 = 0.2698\nconst w i32 = 17\nnode Cast w -> z "
        "to=4\nnode Cast s -> t to=10\n"
        "node QuantizeLinear x,t,z -> q\nnode Cast q -> y to=6",
        "1770,2190", "6577,8133"),
    ROW("but where another is named, or before that was said",
        "opset 24\ninput x f32 2\nconst s f32 = 0.2698\nconst w i32 = 17\nnode Cast w -> z "
        "to=4\nnode Cast s -> t to=10\n"
        "node QuantizeLinear x,t,z -> q precision=1\nnode Cast q -> y to=6",
        "1770,2190", "6578,8135"),
    ROW("a state that grows until the data say so",
        "opset 13\ninput x f32 1\nconst two f32 = 2\nconst most f32 = 40\n"
        "body\ninput i i64\ninput c bool\ninput s f32 K\ninput v f32 1\nnode Mul v,two -> w\n"
        "node Concat s,w -> t axis=0\nnode Shape s -> n\nnode Cast n -> m to=1\n"
        "node Add w,m -> u\nnode ReduceMax u -> h keepdims=0\nnode Less h,most -> g\n"
        "output g bool\noutput t f32 L\noutput u f32 1\nend\nnode Loop ,,x,x -> y,z",
        "3", "3,6,14,32,70"),
    ROW("starts of a length that ends tell",
        "opset 13\ninput x i64 1,1,N\nconst m i64 1 = -1\nnode Reshape x,m -> s\nconst d f32 3,4 = "
        "0,1,2,3,4,5,6,7,8,9,10,11\n"
        "const e i64 2 = 3,4\nnode Slice d,s,e -> y",
        "1,2", "6,7,10,11"),
    ROW("a grid for each of the images, whose number comes later",
        "opset 16\ninput x f32 1,1,N,1\nnode Transpose x -> t perm=[2,0,1,3]\n"
        "const g f32 2,1,1,2 = 0,0,0,0\nnode GridSample t,g -> y",
        "3,4", "3,4"),
    ROW("GatherND of batches whose number comes later",
        "opset 12\ninput x f32 2,1,N,1\nnode Transpose x -> t perm=[2,0,1,3]\n"
        "const i i64 2,1 = 1,0\nnode GatherND t,i -> y batch_dims=1",
        "1,2,3,4", "3,2"),
    ROW("BatchNormalization of channels whose number comes later",
        "opset 15\ninput x f32 1,1,N\nnode Transpose x -> t perm=[0,2,1]\n"
        "const g f32 2 = 2,3\nconst b f32 2 = 0,1\nconst v f32 2 = 1,1\n"
        "node BatchNormalization t,g,b,b,v -> y epsilon=0.0",
        "3,4", "6,10"),
    ROW("channels that the weight of a Conv tells",
        "opset 11\ninput x f32 1,1,N\nnode Transpose x -> t perm=[0,2,1]\n"
        "const w f32 1,2,1 = 1,10\nnode Conv t,w -> y",
        "3,4", "43"),
    ROW("and that of a ConvTranspose",
        "opset 11\ninput x f32 1,1,N\nnode Transpose x -> t perm=[0,2,1]\n"
        "const w f32 2,1,1 = 1,10\nnode ConvTranspose t,w -> y",
        "3,4", "43"),
    ROW("which must be as many",
        "opset 11\ninput x f32 1,1,N\nnode Transpose x -> t perm=[0,2,1]\n"
        "const w f32 1,3,1 = 1,10,100\nnode Conv t,w -> y",
        "3,4", "!3"),
    ROW("ReverseSequence of a batch of a size that comes later",
        "opset 10\ninput x f32 2,1,N\nnode Transpose x -> t perm=[0,2,1]\n"
        "const l i64 2 = 2,1\nnode ReverseSequence t,l -> y",
        "1,2,3,4", "3,2,1,4"),
    ROW("NegativeLogLikelihoodLoss of a batch of a size that comes later",
        "opset 13\ninput x f32 2,1,N\nnode Transpose x -> t perm=[2,0,1]\n"
        "const l i64 2,1 = 1,0\nnode NegativeLogLikelihoodLoss t,l -> y reduction='none'",
        "1,2,3,4", "-3,-2"),
    ROW("NonMaxSuppression of boxes whose number comes later",
        "opset 11\ninput x f32 1,4,N\nnode Transpose x -> b perm=[0,2,1]\n"
        "const s f32 1,1,2 = 0.9,0.8\nconst m i64 1 = 2\nnode NonMaxSuppression b,s,m -> y",
        "0,5,0,5,1,6,1,6", "0,0,0,0,0,1"),
    ROW("CausalConvWithState of a batch of a size that comes later",
        "opset 27\ninput x f32 1,1,N\nnode Transpose x -> t perm=[2,1,0]\n"
        "const w f32 1,1,2 = 10,1\nconst p f32 2,1,1 = 5,6\n"
        "node CausalConvWithState t,w,,p -> y",
        "3,4", "53,64"),
    ROW("Resize that smooths sizes that come later, by scales",
        "opset 18\ninput x f32 1,1,H,W\nconst s f32 4 = 1,1,0.5,0.33333334\n"
        "node Resize x,,s -> y mode='linear' antialias=1 exclude_outside=1",
        "0,7,0,0,7,0", "3"),
    ROW("and to sizes",
        "opset 18\ninput x f32 1,1,H,W\nnode Shape x -> s\nconst k i64 4 = 1,1,2,3\n"
        "node Div s,k -> z\nnode Resize x,,,z -> y mode='linear' antialias=1",
        "1,2,9,3,4,11", "5"),
    ROW("a kernel as large as a weight that comes later",
        "opset 11\ninput x f32 2,1,N\nnode Conv x,x -> y", "1,2,5,4", "5,13,13,41"),
    ROW("with padding around it", "opset 11\ninput x f32 1,1,N\nnode Conv x,x -> y pads=[1,1]",
        "1,2", "2,5,2"),
    ROW("in steps, with holes, in groups, and a bias",
        "opset 11\ninput x f32 2,1,N\nnode Concat x,x,x -> d axis=2\n"
        "node Transpose d -> t perm=[1,0,2]\nconst b f32 2 = 100,200\n"
        "node Conv t,x,b -> y group=2 strides=[2] dilations=[2]",
        "1,2,5,4", "103,103,245,245"),
    ROW("of two dimensions of short floats",
        "opset 11\ninput x f16 1,1,H,W\nnode Conv x,x -> y pads=[0,1,0,0]", "1,2,3,4,5,6", "58,91"),
    ROW("of whole numbers",
        "opset 10\ninput x u8 1,1,N\nconst z u8 = 1\nnode ConvInteger x,x,z,z -> y pads=[0,1]",
        "255,3", "64520,508"),

    ROW("a branch that is not taken demands nothing of sizes", BRANCHES("node Greater s,h -> c"),
        "1,2,5,4", "5"),
    ROW("one that is taken does", BRANCHES("node Less s,h -> c"), "1,2,5,4", "!2"),
    ROW("nor is there room for what it would make",
        "opset 13\ninput x f32 2,1,N\nnode ReduceSum x -> s keepdims=0\nconst h f32 = 100\n"
        "node Greater s,h -> c\nconst from i64 1 = 9\nconst to i64 1 = 2\n"
        "node Shape x -> d\nnode Gather d,to -> n\nnode Sub n,from -> m\n"
        "const one f32 = 1\n"
        "body then_branch\nnode Expand one,m -> o\nnode Sigmoid o -> p\n"
        "node ReduceSum p -> q keepdims=0\nnode MatMul x,x -> r\n"
        "node ReduceSum r -> u keepdims=0\nnode Add q,u -> t\noutput t\nend\n"
        "body else_branch\nnode ReduceMax x -> e keepdims=0\noutput e\nend\nnode If c -> y",
        "1,2,5,4", "5"),
    ROW("a turn that is not taken, neither",
        "opset 13\ninput x f32 2,1,N\nconst none i64 = 0\nconst w f32 2,1,3 = random\n"
        "node ReduceMin x -> s keepdims=0\nnode Cast s -> k to=7\nconst b f32 = 7\n"
        "body\ninput i i64\ninput c bool\ninput a f32\nnode Identity c -> d\n"
        "node Add x,w -> v\nnode ReduceSum v -> u keepdims=0\nnode Add a,u -> t\n"
        "output d\noutput t\nend\nnode Loop k,,b -> y",
        "0,2,5,4", "7"),
    ROW("what is made in sizes that are found is summed up",
        "opset 13\ninput x f32 2\nnode Cast x -> k to=7\nconst one f32 = 1\n"
        "node Expand one,k -> e\nnode ReduceSum e -> y keepdims=0",
        "3,2", "6"),
    ROW("also where there are none",
        "opset 13\ninput x f32 2\nnode Cast x -> k to=7\nconst one f32 = 1\n"
        "node Expand one,k -> e\nnode ReduceSum e -> y keepdims=0",
        "0,2", "0"),
};

int main(void) {
    return HONE_RUN_ROWS("graph/onnx_sizes", rows, value_row_check);
}
