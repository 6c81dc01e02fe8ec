/* tests/graph/frontend/test_onnx_errors.c - models that do not fit together, or need what is not
 * implemented: each with its message. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/passes/prepare.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/graph/onnx_text.h"
#include "tests/support/hone_test.h"

#define CONV "input x f32 1,3,8,8\nconst w f32 4,3,3,3 = random\n"
#define VEC "input x f32 4\n"
#define MAT "input x f32 2,3\n"

/* clang-format off */
static const struct row {
    const char *name, *model, *want;
    hone_code code;
} rows[] = {
    {"unknown auto_pad", CONV "node Conv x,w -> y auto_pad='FOO'\noutput y",
     "test.onnx: node 'y' (Conv): attribute 'auto_pad' has value 'FOO'; expected one of NOTSET, "
     "SAME_UPPER, SAME_LOWER, VALID",
     HONE_CODE_INVALID},
    {"unknown mode of Pad", MAT "node Pad x,x -> y mode='FOO'\noutput y",
     "attribute 'mode' has value 'FOO'; expected one of constant, edge, reflect, wrap",
     HONE_CODE_INVALID},
    {"padding that takes away more than there can be",
     "opset 13\ninput x f32 2\nconst p i64 2 = -9223372036854775808,0\nnode Pad x,p -> y\noutput y",
     "padding that leaves nothing of dimension 0", HONE_CODE_UNSUPPORTED},
    {"unknown mode of Resize",
     "input x f32 1,1,4,4\nconst s f32 4 = 1,1,2,2\nnode Resize x,,s -> y mode='FOO'\noutput y",
     "attribute 'mode' has value 'FOO'; expected one of nearest, linear, bilinear, cubic",
     HONE_CODE_INVALID},
    {"what is left out is not known", "opset 13\ninput x f32 2,N,1\nnode Squeeze x -> y\noutput y",
     "without axes the size of dimension 1 must be known", HONE_CODE_UNSUPPORTED},
    {"blocks of a size that is not known",
     "opset 21\ninput x f32 N,2\nconst s f32 2,2 = 1,1,1,1\n"
     "node QuantizeLinear x,s -> y axis=0 block_size=2\noutput y",
     "blocks of a dimension whose size is not known", HONE_CODE_UNSUPPORTED},
    {"a state of unknown size",
     "opset 14\ninput x f32 2,1,1\ninput r f32 1,N,N\nconst w f32 1,1,1 = 1\nnode RNN x,w,r -> "
     "y\noutput y",
     "a state of unknown size is not implemented", HONE_CODE_UNSUPPORTED},
    {"an unknown number of values",
     "opset 11\ninput x i64 2\ninput v f32 N\nconst d i64 = 3\nnode OneHot x,d,v -> y\noutput y",
     "the values (input 2) of unknown number must be two", HONE_CODE_UNSUPPORTED},
    {"a norm of no power",
     "opset 18\ninput x f32 1,1,4\nnode LpPool x -> y kernel_shape=[2] p=0\noutput y",
     "attribute 'p' is 0, must be at least 1", HONE_CODE_INVALID},
    {"rows for no blocks",
     "opset 18\ninput x f32 1,3,3\nconst i i64 1 = 4\nconst b i64 1 = 2\nnode Col2Im x,i,b -> "
     "y\noutput y",
     "3 rows for blocks of 2 elements", HONE_CODE_INVALID},
    {"a matrix of another space",
     "opset 20\ninput x f32 1,2,3\nconst s i64 5 = 1,1,2,2,2\nnode AffineGrid x,s -> y\noutput y",
     "theta does not fit a size of 5 dimensions", HONE_CODE_INVALID},
    {"pads beside auto_pad", CONV "node Conv x,w -> y auto_pad='VALID' pads=[1,1,1,1]\noutput y",
     "'pads' and 'auto_pad' exclude each other", HONE_CODE_INVALID},
    {"unknown attribute", CONV "node Conv x,w -> y colour=3\noutput y",
     "attribute 'colour' is not implemented; known ones are: auto_pad dilations group",
     HONE_CODE_UNSUPPORTED},
    {"attribute given twice", CONV "node Conv x,w -> y group=1 group=1\noutput y",
     "attribute 'group' is given twice", HONE_CODE_INVALID},
    {"attribute of another type", CONV "node Conv x,w -> y pads=1\noutput y",
     "attribute 'pads' must be a list of integers", HONE_CODE_INVALID},
    {"too few pads", CONV "node Conv x,w -> y pads=[1,1]\noutput y",
     "attribute 'pads' has 2 integers, must have 4", HONE_CODE_INVALID},
    {"negative pads", CONV "node Conv x,w -> y pads=[-1,0,0,0]\noutput y",
     "attribute 'pads' holds -1, must be from 0", HONE_CODE_INVALID},
    {"stride of zero", CONV "node Conv x,w -> y strides=[0,1]\noutput y",
     "attribute 'strides' holds 0, must be from 1", HONE_CODE_INVALID},
    {"kernel_shape differs", CONV "node Conv x,w -> y kernel_shape=[5,5]\noutput y",
     "attribute 'kernel_shape' says 5, the weight has 3", HONE_CODE_INVALID},
    {"groups do not divide", CONV "node Conv x,w -> y group=2\noutput y",
     "the data has 3 channels, the weight takes 3 (groups = 2)", HONE_CODE_TYPE},
    {"window larger than the data",
     "input x f32 1,1,2,2\nnode MaxPool x -> y kernel_shape=[3,3]\noutput y",
     "a window of 3 does not fit", HONE_CODE_TYPE},
    {"pool without kernel", CONV "node MaxPool x -> y\noutput y",
     "attribute 'kernel_shape' is missing", HONE_CODE_INVALID},
    {"unknown operators",
     VEC "function my.F x -> y opset=11\nnode Inside x -> y\nend\nnode Foo x -> a\nnode my.F a -> "
         "b\nnode my.Far b -> c\nnode Foo c -> y\noutput y",
     "test.onnx: node 'a' (Foo): the operator is not implemented, docs/operators.md lists what is; "
     "missing for this model: Foo (node 'a', opset 13), Inside (node 'y', opset 11), my.Far (node "
     "'c', opset 1)",
     HONE_CODE_UNSUPPORTED},
    {"operators in the layout of one processor",
     VEC "node com.microsoft.nchwc.ReorderOutput x -> y channels=3\noutput y",
     "write it with ORT_ENABLE_EXTENDED", HONE_CODE_UNSUPPORTED},
    {"an inverse of what is no square",
     "input x f32 2,3\nnode com.microsoft.Inverse x -> y\noutput y", 
     "node 'y' (Inverse): dimension 0 is 2, must be 3", HONE_CODE_INVALID},
    {"a mask of another space",
     "input x f32 1,1,3\nconst m i32 1,1,2 = 1,1\n"
     "node com.microsoft.MaxpoolWithMask x,m -> y kernel_shape=[2]\noutput y",
     "node 'y' (MaxpoolWithMask): a mask of 2 along dimension 2 of 3", HONE_CODE_INVALID},
    {"pads of too few axes",
     "input x f32 1,1,2\nconst w f32 1,1,3 = 1,1,1\nconst p i64 1 = 1\n"
     "node com.microsoft.ConvTransposeWithDynamicPads x,w,p -> y\noutput y",
     "attribute 'pads'", HONE_CODE_INVALID},
    {"costs of a cube", "input x f32 2,2,2\nnode com.microsoft.DynamicTimeWarping x -> y\noutput y",
     "node 'y' (DynamicTimeWarping): dimension 0 is 2, must be 1", HONE_CODE_INVALID},
    {"hashes of shorter numbers", "input x u8 2\nnode com.microsoft.MurmurHash3 x -> y\noutput y",
     "node 'y' (MurmurHash3): hashes of uint8", HONE_CODE_UNSUPPORTED},
    {"a seed of more bits",
     "input x i32 2\nnode com.microsoft.MurmurHash3 x -> y seed=4294967296\noutput y",
     "attribute 'seed' is 4294967296", HONE_CODE_INVALID},
    {"hashes into a table of nothing",
     "input x i64 1,3\nconst m i64 2 = 3,5\nconst v i64 1 = 0\n"
     "node com.microsoft.NGramHashMapping x,m,v -> y max_ngram_size=2 n_head_per_ngram=1\noutput y",
     "size 0 of a table (input 2) is 0", HONE_CODE_INVALID},
    {"hashes into too few tables",
     "input x i64 1,3\nconst m i64 2 = 3,5\nconst v i64 1 = 9\n"
     "node com.microsoft.NGramHashMapping x,m,v -> y max_ngram_size=2 n_head_per_ngram=2\noutput y",
     "input 2: dimension 0 is 1, must be 2", HONE_CODE_INVALID},
    {"hashes of very many tokens",
     "input x i64 1,3\ninput m i64 A\ninput v i64 B\n"
     "node com.microsoft.NGramHashMapping x,m,v -> y max_ngram_size=65 n_head_per_ngram=1\noutput y",
     "attribute 'max_ngram_size' is 65, at most 64", HONE_CODE_UNSUPPORTED},
    {"guesses for more than the source",
     "input x i64 4\nconst s i64 2 = 1,2\nconst b i64 1 = 0\n"
     "node com.microsoft.BifurcationDetector s,s,b,x -> y,i\noutput y",
     "4 guessed tokens beside a source of 2", HONE_CODE_INVALID},
    {"words shorter than a window",
     "input x i32 2,1\nconst w f32 1,1,2,1 = 1,1\nconst b f32 1 = 0\nconst t f32 2,1 = 0,1\n"
     "node com.microsoft.WordConvEmbedding x,w,b,t -> y\noutput y",
     "a window of 2 over words of 1 letters", HONE_CODE_INVALID},
    {"a sparse matrix that is an input",
     "input x f32 2,2\nnode com.microsoft.SparseToDenseMatMul x,x -> y\noutput y",
     "a sparse matrix (input 0) that is not constant", HONE_CODE_UNSUPPORTED},
    {"a sparse matrix of other rows",
     "input x f32 2,1\nsparse a f32 2,3 = 1 = 2\n"
     "node com.microsoft.SparseToDenseMatMul a,x -> y\noutput y",
     "node 'y' (SparseToDenseMatMul): dimension 0 is 2, must be 3", HONE_CODE_INVALID},
    {"a sparse tensor that does not ascend",
     "input x f32 4\nsparse a f32 4 = 2,1 = 5,6\nnode Add x,a -> y\noutput y",
     "sparse initializer 'a': indices of a sparse tensor do not ascend", HONE_CODE_INVALID},
    {"a sparse tensor that reaches further",
     "input x f32 4\nsparse a f32 4 = 4 = 5\nnode Add x,a -> y\noutput y",
     "index 4 of a sparse tensor of 4 elements", HONE_CODE_INVALID},
    {"a sparse tensor of few elements and many zeros",
     "input x f32 4\nsparse a f32 1000000,1000000 = 4 = 5\nnode Add x,a -> y\noutput y",
     "takes more than 2 GiB with its zeros", HONE_CODE_UNSUPPORTED},
    {"a sparse tensor with an index too many",
     "input x f32 4\nsparse a f32 4 = 1,2 = 5\nnode Add x,a -> y\noutput y",
     "wants a vector of values and an int64 index for each", HONE_CODE_INVALID},
    {"a blob of other bytes",
     "input x f32 1,2\nconst b u8 2 = 0,0\nconst s i64 2 = 2,1\n"
     "node com.microsoft.MatMulFpQ4 x,b,s -> y\noutput y",
     "the blob (input 1) must be 21 bytes", HONE_CODE_INVALID},
    {"an attended cell without a memory",
     "input x f32 2,1,1\nconst w f32 1,4,2 = random\nconst r f32 1,4,1 = random\n"
     "node com.microsoft.AttnLSTM x,w,r -> y\noutput y",
     "node 'y' (AttnLSTM): input 8 is missing", HONE_CODE_INVALID},
    {"an attended cell whose weight has no columns for it",
     "input x f32 2,1,1\nconst w f32 1,4,1 = random\nconst r f32 1,4,1 = random\n"
     "const q f32 1,1,1 = 1\nconst v f32 1,1 = 1\ninput m f32 1,3,1\n"
     "node com.microsoft.AttnLSTM x,w,r,,,,,,q,q,v,m -> y\noutput y",
     "a weight of 1 columns for data of 1 and attention of 1", HONE_CODE_INVALID},
    {"sparse attention of layouts that heads do not share",
     "input x f32 1,1,2\nconst p f32 1,1,4,2 = 0,0,0,0,0,0,0,0\nconst a i32 2,3 = 0,1,2,0,1,2\n"
     "const c i32 2,2 = 0,1,0,1\nconst t i32 1 = 4\n"
     "node com.microsoft.SparseAttention x,x,x,p,p,a,c,t,t -> y,, num_heads=1 kv_num_heads=1 "
     "sparse_block_size=2\noutput y",
     "2 layouts for 1 heads", HONE_CODE_INVALID},
    {"a function in itself",
     VEC "function my.F x -> y opset=11\nnode my.F x -> y\nend\nnode my.F x -> y\noutput y",
     "node 'y' (F): node 'y' (F): the function calls itself", HONE_CODE_INVALID},
    {"an attribute that a function has not",
     VEC "function my.F x -> y opset=11\nnode Relu x -> y\nend\nnode my.F x -> y s=1\noutput y",
     "the function has no attribute 's'", HONE_CODE_INVALID},
    {"more than a function takes",
     VEC "function my.F x -> y opset=11\nnode Relu x -> y\nend\nnode my.F x,x -> y\noutput y",
     "2 inputs and 1 outputs, the function has 1 and 1", HONE_CODE_INVALID},
    {"a result that a function does not make",
     VEC "function my.F x -> z opset=11\nnode Relu x -> y\nend\nnode my.F x -> y\noutput y",
     "the function does not define its output 'z'", HONE_CODE_INVALID},
    {"a value that is not the function's",
     "input k f32 3\n" VEC
     "function my.F x -> y opset=11\nnode Add x,k -> y\nend\nnode my.F x -> y\noutput y",
     "input 'k' is not defined before it is used", HONE_CODE_INVALID},
    {"a function of a newer operator set",
     VEC "function my.F x -> y opset=99\nnode Relu x -> y\nend\nnode my.F x -> y\noutput y",
     "node 'y' (F): operator set 99 is newer than", HONE_CODE_UNSUPPORTED},
    {"two operator sets of one domain", "also 14\n" VEC "node Relu x -> y\noutput y",
     "operator sets 13 and 14 of one domain", HONE_CODE_INVALID},
    {"a newer format", "ir 99\n" VEC "node Relu x -> y\noutput y",
     "IR version 99 is newer than", HONE_CODE_UNSUPPORTED},
    {"missing value", VEC "node Add x,z -> y\noutput y",
     "input 'z' is not defined before it is used (a missing value, or a cycle)", HONE_CODE_INVALID},
    {"cycle", VEC "node Add x,b -> a\nnode Relu a -> b\noutput b", "or a cycle", HONE_CODE_INVALID},
    {"defined twice", VEC "node Relu x -> y\nnode Relu x -> y\noutput y",
     "value 'y' is defined twice", HONE_CODE_INVALID},
    {"output without node", VEC "node Relu x -> y\noutput z",
     "output 'z' is not defined by any node", HONE_CODE_INVALID},
    {"no outputs", VEC "node Relu x -> y", "the model has no outputs", HONE_CODE_INVALID},
    {"an output of another type", VEC "node Relu x -> y\noutput y f64 4",
     "test.onnx: output 'y': declared as float64, but it is float32", HONE_CODE_TYPE},
    {"too few inputs", VEC "node Add x -> y\noutput y", "1 inputs, expected 2 to 2",
     HONE_CODE_INVALID},
    {"input left out", VEC "node Add ,x -> y\noutput y", "input 0 is missing", HONE_CODE_INVALID},
    {"shapes do not broadcast", "input a f32 2,3\ninput b f32 4\nnode Add a,b -> y\noutput y",
     "'add' of float32[2, 3] and float32[4]: extents 3 and 4 cannot be broadcast", HONE_CODE_TYPE},
    {"element types differ", "input a f32 3\ninput b i32 3\nnode Add a,b -> y\noutput y",
     "element types differ", HONE_CODE_TYPE},
    {"nothing to reduce", VEC "const k i64 0 =\nnode ReduceMean k -> y\noutput y",
     "dimension 0 is 0: there is no mean of whole numbers of nothing", HONE_CODE_TYPE},
    {"strings", "input a str 3\nnode Exp a -> y\noutput y", "not implemented for strings",
     HONE_CODE_UNSUPPORTED},
    {"sets of trees without an end",
     "input x f32 1,1\nnode ai.onnx.ml.TreeEnsemble x -> y n_targets=1 tree_roots=[0] "
     "nodes_featureids=[0] nodes_truenodeids=[0] nodes_trueleafs=[1] nodes_falsenodeids=[1] "
     "nodes_falseleafs=[1] leaf_targetids=[0,0] leaf_weights={f32:5,7} nodes_splits={f32:0} "
     "nodes_modes={u8:6} membership_values={f32:1}\noutput y",
     "has 0 sets that end with NaN, 1 nodes ask for one", HONE_CODE_INVALID},
    {"trees in a circle",
     "input x f32 1,1\nnode ai.onnx.ml.TreeEnsemble x -> y n_targets=1 tree_roots=[0] "
     "nodes_featureids=[0] nodes_truenodeids=[0] nodes_trueleafs=[0] nodes_falsenodeids=[1] "
     "nodes_falseleafs=[1] leaf_targetids=[0,0] leaf_weights={f32:5,7} nodes_splits={f32:0} "
     "nodes_modes={u8:0}\noutput y",
     "trees of more than 128 levels", HONE_CODE_UNSUPPORTED},
    {"a feature whose number has no room for a bit",
     "input x f32 1,2147483647\nnode ai.onnx.ml.TreeEnsemble x -> y n_targets=1 tree_roots=[0] "
     "nodes_featureids=[1073741824] nodes_truenodeids=[0] nodes_trueleafs=[1] "
     "nodes_falsenodeids=[1] nodes_falseleafs=[1] leaf_targetids=[0,0] leaf_weights={f32:5,7} "
     "nodes_splits={f32:0} nodes_modes={u8:0} nodes_missing_value_tracks_true=[1]\noutput y",
     "compares feature 1073741824 of 2147483647", HONE_CODE_INVALID},
    {"a pattern that is none",
     "input a str 3\nnode RegexFullMatch a -> y pattern='a**'\noutput y",
     "a repetition of a repetition at byte 2", HONE_CODE_INVALID},
    {"a pattern of Unicode's classes",
     "input a str 3\nnode RegexFullMatch a -> y pattern='\\pL'\noutput y", "classes of Unicode",
     HONE_CODE_UNSUPPORTED},
    {"numbers in parts", VEC "node StringSplit x -> y\noutput y",
     "input 0 is no tensor of strings", HONE_CODE_TYPE},
    {"a pool of words for numbers",
     "input x i64 2\nnode TfIdfVectorizer x -> y mode='TF' min_gram_length=1 max_gram_length=1 "
     "ngram_counts=[0] ngram_indexes=[0] pool_strings=['a']\noutput y",
     "the pool is of another type than the input", HONE_CODE_TYPE},
    {"SequenceMap of sequences of open and of known length",
     "opset 17\ninput x f32 n,2\ninput z f32 2,2\nnode SplitToSequence x -> s\n"
     "node SplitToSequence z -> p\nbody\ninput q f32 1,2\n"
     "input v f32 1,2\nnode Add q,v -> r\noutput r f32 1,2\nend\nnode SequenceMap s,p -> t\n"
     "node ConcatFromSequence t -> y axis=0\noutput y",
     "a sequence of known length, beside one of open length", HONE_CODE_UNSUPPORTED},
    {"words that have to look ahead",
     "input a str 2\nnode com.microsoft.Tokenizer a -> y tokenexp='a+(-a+)*' pad_value='' mark=0 "
     "mincharnum=1\noutput y",
     "whose matches have to look ahead", HONE_CODE_UNSUPPORTED},
    {"words that begin in what fails",
     "input a str 2\nnode com.microsoft.Tokenizer a -> y tokenexp='[ab]c+' pad_value='' mark=0 "
     "mincharnum=1\noutput y",
     "can begin inside of what is none", HONE_CODE_UNSUPPORTED},
    {"separators that may be nothing",
     "input a str 2\nnode com.microsoft.Tokenizer a -> y separators=['x','y*'] pad_value='' mark=0 "
     "mincharnum=1\noutput y",
     "separators that may be nothing", HONE_CODE_UNSUPPORTED},
    {"words that look around",
     "input a str 2\nnode com.microsoft.Tokenizer a -> y tokenexp='\\ba' pad_value='' mark=0 "
     "mincharnum=1\noutput y",
     "what stands around a match", HONE_CODE_UNSUPPORTED},
    {"words that begin far back",
     "input a str 2\nnode com.microsoft.Tokenizer a -> y tokenexp='[a-z]+[0-9]' pad_value='' mark=0 "
     "mincharnum=1\noutput y",
     "begin too far back", HONE_CODE_UNSUPPORTED},
    {"words of nothing",
     "input a str 2\nnode com.microsoft.Tokenizer a -> y pad_value='' mark=0 mincharnum=1\n"
     "output y",
     "'separators' or 'tokenexp' is missing", HONE_CODE_INVALID},
    {"words of no characters",
     "input a str 2\nnode com.microsoft.Tokenizer a -> y tokenexp='a' pad_value='' mark=0 "
     "mincharnum=0\noutput y",
     "must be 1 to 63", HONE_CODE_UNSUPPORTED},
    {"strings of float64", "input x f64 2\nnode Cast x -> y to=8\noutput y", "strings of float64",
     HONE_CODE_UNSUPPORTED},
    {"strings that leave a loop",
     "input a str 3\nconst n i64 = 3\nbody\ninput i i64\ninput c bool\nnode Identity c -> d\n"
     "node Gather a,i -> e\noutput d\noutput e\nend\nnode Loop n, -> y\noutput y",
     "output 'e' of its graph is of strings", HONE_CODE_UNSUPPORTED},
    {"a state that grows and says itself how far",
     "input x f32 1\nconst two f32 = 2\nbody\ninput i i64\ninput c bool\ninput s f32 K\n"
     "node Add s,two -> w\nnode Concat s,w -> t axis=0\nnode ReduceMax t -> h keepdims=0\n"
     "node Less two,h -> g\noutput g\noutput t\nend\nnode Loop ,,x -> y\noutput y",
     "whether turn 0 is the last one depends on data", HONE_CODE_UNSUPPORTED},
    {"index of nothing", "input a f32 0,3\nnode ArgMax a -> y\noutput y",
     "there is no index of nothing", HONE_CODE_TYPE},
    {"zero beside what is to follow",
     "input a f32 0,3\nconst k i64 2 = 0,-1\nnode Reshape a,k -> y allowzero=1\noutput y",
     "beside one that is to follow", HONE_CODE_INVALID},
    {"huge dimension", "input a f32 99999999999\nnode Relu a -> y\noutput y",
     "dimension 0 is 99999999999", HONE_CODE_INVALID},
    {"huge result",
     "input a f32 2000000000,1\ninput b f32 1,2000000000\nnode Add a,b -> y\noutput y",
     "more than 2^40 elements", HONE_CODE_INVALID},
    {"matmul that does not fit", "input a f32 2,3\ninput b f32 4,5\nnode MatMul a,b -> y\noutput y",
     "the summed extents are 3 and 4", HONE_CODE_TYPE},
    {"gemm of vectors", VEC "node Gemm x,x -> y\noutput y", "A and B must have 2 dimensions",
     HONE_CODE_INVALID},
    {"gemm bias too large",
     "input a f32 1,3\nconst b f32 3,2 = random\nconst c f32 5,2 = random\nnode Gemm a,b,c -> "
     "y\noutput y",
     "C cannot be broadcast", HONE_CODE_INVALID},
    {"reshape to another size", MAT "const s i64 2 = 4,2\nnode Reshape x,s -> y\noutput y",
     "6 elements cannot become 8", HONE_CODE_TYPE},
    {"reshape with two holes", MAT "const s i64 2 = -1,-1\nnode Reshape x,s -> y\noutput y",
     "more than one -1", HONE_CODE_TYPE},
    {"reshape by data", MAT "input s i64 1,2\nnode Reshape x,s -> y\noutput y",
     "the shape (input 1) must be constant", HONE_CODE_UNSUPPORTED},
    {"permutation too short", MAT "node Transpose x -> y perm=[0]\noutput y",
     "attribute 'perm' has 1 integers, the data 2 dimensions", HONE_CODE_INVALID},
    {"permutation with doubles", MAT "node Transpose x -> y perm=[0,0]\noutput y",
     "axis 0 is given twice", HONE_CODE_TYPE},
    {"concat axis", MAT "node Concat x,x -> y axis=5\noutput y", "axis 5 is not in [-2, 2)",
     HONE_CODE_TYPE},
    {"concat without axis", MAT "node Concat x,x -> y\noutput y", "attribute 'axis' is missing",
     HONE_CODE_INVALID},
    {"softmax axis", MAT "node Softmax x -> y axis=2\noutput y", "axis is 2, must be from -2 to 1",
     HONE_CODE_INVALID},
    {"gather out of range", MAT "const i i64 1 = 7\nnode Gather x,i -> y axis=1\noutput y",
     "index 7 is not from -3 to 2", HONE_CODE_INVALID},
    {"split sizes", MAT "const s i64 2 = 1,1\nnode Split x,s -> a,b axis=1\noutput a",
     "the parts have 2 elements, the axis has 3", HONE_CODE_INVALID},
    {"second output in use",
     CONV
     "const s f32 3 = random\nnode BatchNormalization x,s,s,s,s -> a,b\nnode Neg b -> y\noutput y",
     "'b', a further output of 'BatchNormalization', is not implemented", HONE_CODE_UNSUPPORTED},
    {"batch norm statistics",
     CONV "const s f32 4 = random\nnode BatchNormalization x,s,s,s,s -> y\noutput y",
     "argument 2 must have a number for each channel", HONE_CODE_TYPE},
    {"batch norm, other channels",
     "input x f32 1,3,4,4\nconst s f32 4 = random\nnode BatchNormalization x,s,s,s,s -> y\noutput "
     "y",
     "argument 2 must have a number for each channel", HONE_CODE_TYPE},
    {"bias of another length", CONV "const b f32 1 = 2\nnode Conv x,w,b -> y\noutput y",
     "the bias has 1 elements for 4 channels", HONE_CODE_INVALID},
    {"bias beyond the channels",
     "input x f32 1,1,4,4\nconst s f32 5 = random\nnode InstanceNormalization x,s,s -> y\noutput y",
     "the bias has 5 elements for 1 channels", HONE_CODE_INVALID},
    {"slope beyond the data", "input x f32 3\ninput s f32 2,3\nnode PRelu x,s -> y\noutput y",
     "the slope cannot be broadcast", HONE_CODE_INVALID},
    {"limits beyond the data", "input x f32 3\ninput s f32 2,1\nnode Clip x,s -> y\noutput y",
     "the limits cannot be broadcast", HONE_CODE_INVALID},
    {"scale beyond the data", MAT "input s f32 4,2,3\nnode LayerNormalization x,s -> y\noutput y",
     "scale or bias cannot be broadcast", HONE_CODE_INVALID},
    {"scale that fits nowhere", MAT "input s f32 2\nnode LayerNormalization x,s -> y\noutput y",
     "does not fit", HONE_CODE_TYPE},
};
/* clang-format on */

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module;
    hone_status st = onnx_text_load(row->model, &module);
    assert_null(module);
    HONE_ASSERT_ERROR(st, row->code, row->want);
}

/* ---- bytes ---- */

static void refuse(const char *bytes, size_t size, const char *want) {
    hone_module *module;
    hone_status st = hone_onnx_parse(bytes, size, "bad.onnx", NULL, NULL, &module);
    assert_null(module);
    HONE_ASSERT_ERROR(st, HONE_CODE_INVALID, want);
}

static void refuses_bytes(void **state) {
    (void)state;
    refuse("", 0, "bad.onnx: the file is empty");
    refuse("hello world, this is text", 25, "bad.onnx: ");
    refuse("\x08\x08", 2, "bad.onnx: the file holds no graph");
    /* a graph in an attribute in a node in a graph in ...: field 7, then 1, 5, 6 over and over */
    hone_str deep = {0}, next = {0};
    for (int i = 0; i < 300; i++) {
        static const char fields[] = {0x2a, 0x0a, 0x32};
        hone_str_clear(&next);
        hone_str_append_char(&next, i == 299 ? 0x3a : fields[i % 3]);
        size_t left = deep.length;
        for (; left > 0x7f; left >>= 7)
            hone_str_append_char(&next, (char)(left | 0x80));
        hone_str_append_char(&next, (char)left);
        hone_str_append_n(&next, hone_str_text(&deep), deep.length);
        hone_str swap = deep;
        deep = next;
        next = swap;
    }
    refuse(hone_str_text(&deep), deep.length, "nested deeper than 32 levels");
    hone_str_deinit(&deep);
    hone_str_deinit(&next);
}

static void refuses_unknown_file(void **state) {
    (void)state;
    hone_module *module;
    HONE_ASSERT_CODE(hone_onnx_load("/nonexistent/model.onnx", NULL, &module), HONE_CODE_NOT_FOUND);
}

/* ---- what is odd, but taken ---- */

static void notes_other_shapes(void **state) {
    (void)state;
    static const struct {
        const char *output, *note;
    } cases[] = {
        {"output y f32 2,3",                   NULL                                                     },
        {"output y",                           NULL                                                     },
        {"output y f32 2,4",                   "dimension 1 of output 'y' is declared as 4, but it is 3"},
        {"output y f32 2,3,1",                 "output 'y' is declared with 3 dimensions, but it has 2" },
        {"output x f32 2,3\noutput y f32 2,5",
         "dimension 1 of output 'y' is declared as 5, but it is 3"                                      },
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        char text[256];
        hone_module *module;
        snprintf(text, sizeof text, MAT "node Relu x -> y\n%s", cases[i].output);
        HONE_ASSERT_OK(onnx_text_load(text, &module));
        bool is_noted = module->note != NULL;
        bool is_right = is_noted && cases[i].note && strcmp(module->note, cases[i].note) == 0;
        hone_module_release(module);
        assert_true(cases[i].note ? is_right : !is_noted);
    }
}

/* ---- sizes and weights given by users ---- */

static void checks_given_names(void **state) {
    (void)state;
    hone_module *module, *out;
    hone_graph_dim dim = {"M", 3};
    hone_graph_options options = {.dims = &dim, .dim_count = 1};
    HONE_ASSERT_OK(onnx_text_load("input x f32 N,4\nnode Relu x -> y\noutput y", &module));
    hone_status st = hone_graph_prepare(module, &options, &out);
    dim.name = "N";
    hone_status ok = hone_graph_prepare(module, &options, &out);
    bool has_result = out != NULL;
    hone_module_release(out);
    hone_module_release(module);
    assert_true(has_result);
    HONE_ASSERT_OK(ok);
    HONE_ASSERT_ERROR(st, HONE_CODE_INVALID, "there is no size 'M', there are 'N'");
}

static const struct spec_row {
    const char *name, *specs[3], *want; /* want: part of the message, or the sizes */
} specs[] = {
    {"none",             {NULL},              "()"                                    },
    {"one",              {"N=1"},             "(N=1)"                                 },
    {"several",          {"N=1,64"},          "(N=1)(N=64)"                           },
    {"product",          {"N=1,64", "M=8,9"}, "(N=1 M=8)(N=1 M=9)(N=64 M=8)(N=64 M=9)"},
    {"no equals",        {"N"},               "must be NAME=SIZE"                     },
    {"no name",          {"=3"},              "must be NAME=SIZE"                     },
    {"no size",          {"N="},              "is no size from 0 to 2147483647"       },
    {"zero",             {"N=0"},             "(N=0)"                                 },
    {"negative",         {"N=-1"},            "is no size"                            },
    {"too large",        {"N=2147483648"},    "is no size"                            },
    {"letters",          {"N=1x"},            "is no size"                            },
    {"comma at the end", {"N=1,"},            "ends with a comma"                     },
    {"size twice",       {"N=1,1"},           "has 1 twice"                           },
    {"name twice",       {"N=1", "N=2"},      "'N' is given twice"                    },
};

static void check_spec(void **state) {
    const struct spec_row *row = *state;
    size_t count = 0;
    while (count < 3 && row->specs[count])
        count++;
    hone_dim_variants variants;
    hone_status st = hone_dim_variants_parse(row->specs, count, &variants);
    hone_str text = {0};
    hone_str_append(&text, hone_status_message(st));
    for (size_t v = 0; !st && v < variants.count; v++) {
        hone_str_append(&text, "(");
        for (size_t d = 0; d < variants.items[v].dim_count; d++) {
            const hone_graph_dim *dim = &variants.items[v].dims[d];
            hone_str_printf(&text, "%s%s=%lld", d ? " " : "", dim->name, (long long)dim->size);
        }
        hone_str_append(&text, ")");
    }
    bool ok = strstr(hone_str_text(&text), row->want) != NULL;
    if (!ok) print_error("got %s\n", hone_str_text(&text));
    hone_str_deinit(&text);
    hone_status_free(st);
    hone_dim_variants_deinit(&variants);
    assert_true(ok);
}

/* ---- data in other files ---- */

static const struct external_row {
    const char *name, *statement, *want; /* want NULL: it is read */
} externals[] = {
    {"whole file",     "external w f32 2,2 w.bin 0 16",         NULL                                       },
    {"part of it",     "external w f32 2 w.bin 8 8",            NULL                                       },
    {"beyond the end", "external w f32 2,2 w.bin 8 16",         "has 16 bytes, 16 from 8 are wanted"       },
    {"other length",   "external w f32 2,2 w.bin 0 12",         "the data has 12 bytes, the shape wants 16"},
    {"no number",      "external w f32 2,2 w.bin x 16",         "offset is 'x', no number"                 },
    {"parent folder",  "external w f32 2,2 ../w.bin 0 16",      "outside of the model's folder"            },
    {"parent within",  "external w f32 2,2 a/../../w.bin 0 16", "outside of the model's folder"            },
    {"absolute path",  "external w f32 2,2 /etc/passwd 0 16",   "outside of the model's folder"            },
    {"a pipe",         "external w f32 2,2 pipe 0 16",          "pipe: is no regular file"                 },
    {"a folder",       "external w f32 2,2 . 0 16",             "is no regular file"                       },
    {"no such file",   "external w f32 2,2 v.bin 0 16",         "initializer 'w': "                        },
};

static void check_external(void **state) {
    const struct external_row *row = *state;
    char *folder, text[256], path[512];
    hone_str bytes = {0};
    hone_module *module;
    static const float numbers[] = {1, 2, 3, 4};
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-onnx", &folder));
    snprintf(path, sizeof path, "%s/w.bin", folder);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, numbers, sizeof numbers));
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(text, sizeof text, "input x f32 2\n%s\nnode Add x,w -> y\noutput y", row->statement);
    onnx_text_encode(text, &bytes);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, hone_str_text(&bytes), bytes.length));
    hone_status st = hone_onnx_load(path, NULL, &module);
    double last = st ? 0 : ((const float *)module->constants[0]->data)[1];
    hone_module_release(module);
    hone_str_deinit(&bytes);
    hone_status removed = hone_fs_remove_tree(folder);
    hone_free(folder);
    HONE_ASSERT_OK(removed);
    if (row->want) {
        assert_non_null(strstr(hone_status_message(st), row->want));
        hone_status_free(st);
    } else {
        HONE_ASSERT_OK(st);
        assert_true(last == 2 || last == 4);
    }
}

/* ---- memory that runs out ---- */

static hone_status load_and_prepare(void *context) {
    hone_module *module, *prepared = NULL;
    const hone_str *bytes = context;
    HONE_TRY(hone_onnx_parse(bytes->data, bytes->length, "test.onnx", NULL, NULL, &module));
    hone_status st = hone_graph_prepare(module, NULL, &prepared);
    hone_module_release(prepared);
    hone_module_release(module);
    return st;
}

static void survives_short_memory(void **state) {
    (void)state;
    static const char model[] = "input x f32 N,3\nconst w f32 4,3 = 1,2,3,4,5,6,7,8,9,10,11,12\n"
                                "node Gemm x,w -> a transB=1\nnode Relu a -> b\nnode Flatten b -> "
                                "y\noutput y\noutput a";
    hone_str bytes = {0};
    onnx_text_encode(model, &bytes);
    hone_test_sweep_allocs(load_and_prepare, &bytes);
    hone_str_deinit(&bytes);
}

/* ---- a model of which the text is too long for a line, by fields of protobuf ---- */

static void put_number(hone_str *out, uint64_t number) {
    for (; number > 127; number >>= 7)
        hone_str_append_char(out, (char)(number | 128));
    hone_str_append_char(out, (char)number);
}

static void put_field(hone_str *out, uint64_t field, const char *bytes, size_t length) {
    put_number(out, field << 3 | 2);
    put_number(out, length);
    hone_str_append_n(out, bytes, length);
}

/* One long string among many empty ones: each would have 70,000 bytes. */
static void bounds_strings(void **state) {
    (void)state;
    enum { COUNT = 70000 };
    static char text[COUNT];
    hone_str attribute = {0}, node = {0}, graph = {0}, model = {0};
    hone_module *module = NULL;
    memset(text, 'x', COUNT);
    put_field(&attribute, 1, "value_strings", 13);
    for (size_t i = 0; i < COUNT; i++)
        put_field(&attribute, 9, text, i == 7 ? COUNT : 0);
    put_number(&attribute, 20 << 3);
    put_number(&attribute, 8); /* STRINGS */
    put_field(&node, 2, "s", 1);
    put_field(&node, 4, "Constant", 8);
    put_field(&node, 5, attribute.data, attribute.length);
    put_field(&graph, 1, node.data, node.length);
    put_number(&model, 1 << 3);
    put_number(&model, 8); /* of the format */
    put_field(&model, 7, graph.data, graph.length);
    put_field(&model, 8, "\x10\x11", 2); /* opset 17 */
    hone_status st = hone_onnx_parse(model.data, model.length, "test.onnx", NULL, NULL, &module);
    hone_module_release(module);
    hone_str_deinit(&attribute);
    hone_str_deinit(&node);
    hone_str_deinit(&graph);
    hone_str_deinit(&model);
    HONE_ASSERT_ERROR(st, HONE_CODE_UNSUPPORTED, "take more than 4 GiB");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_strings),       cmocka_unit_test(refuses_bytes),
        cmocka_unit_test(refuses_unknown_file), cmocka_unit_test(notes_other_shapes),
        cmocka_unit_test(checks_given_names),   cmocka_unit_test(survives_short_memory)};
    int failed = HONE_RUN_ROWS("graph/onnx_errors", rows, check_row);
    failed += HONE_RUN_ROWS("graph/dims", specs, check_spec);
    failed += HONE_RUN_ROWS("graph/onnx_external", externals, check_external);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
