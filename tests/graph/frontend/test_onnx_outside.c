/* tests/graph/frontend/test_onnx_outside.c - places and lengths out of data: what lies outside of
 * what it speaks of is an error of the run, and what lies just inside counts. Values are those of
 * onnxruntime. */
#include "tests/graph/frontend/value_rows.h"

#define TWO32 "4294967296"

#define REVERSE                                                                                    \
    "opset 10\ninput x i64 2\nconst d f32 3,2 = 1,2,3,4,5,6\nnode ReverseSequence d,x -> y"
#define UNPOOL                                                                                     \
    "opset 11\ninput x i64 1,1,1,2\nconst d f32 1,1,1,2 = 5,6\n"                                   \
    "node MaxUnpool d,x -> y kernel_shape=[1,2] strides=[1,2]"
#define ALIGN(ratio)                                                                               \
    "opset 16\ninput x i64 1\nconst d f32 2,1,1,1 = 3,4\nconst r f32 1,4 = 0,0,1,1\n"              \
    "node RoiAlign d,r,x -> y sampling_ratio=" ratio
#define POOL                                                                                       \
    "input x f32 1,5\nconst d f32 2,1,1,1 = 3,4\nnode MaxRoiPool d,x -> y pooled_shape=[1,1]"
#define LOSS(attrs)                                                                                \
    "opset 13\ninput x i64 2\nconst d f32 2,3 = 1,2,3,4,5,6\n"                                     \
    "node NegativeLogLikelihoodLoss d,x -> y reduction='none' " attrs
#define RNN                                                                                        \
    "opset 14\ninput x i32 1\nconst d f32 2,1,1 = 0,0\nconst w f32 1,1,1 = 0\nconst r f32 "        \
    "1,1,1 = 1\nconst i f32 1,1,1 = 2\nnode RNN d,w,r,,x,i -> z,y hidden_size=1 "                  \
    "activations=['Relu']"
#define LSTM                                                                                       \
    "opset 14\ninput x i32 1\nconst d f32 2,1,1 = 0,0\nconst w f32 1,4,1 = 0,0,0,0\n"              \
    "const r f32 1,4,1 = 0,0,0,0\nnode LSTM d,w,r,,x -> z,y hidden_size=1"
#define GRU                                                                                        \
    "opset 14\ninput x i32 1\nconst d f32 2,1,1 = 0,0\nconst w f32 1,3,1 = 0,0,0\n"                \
    "const r f32 1,3,1 = 0,0,0\nconst i f32 1,1,1 = 4\nnode GRU d,w,r,,x,i -> z,y hidden_size=1"
#define SCATTER(mode)                                                                              \
    "opset 24\ninput x i64 1\nconst d f32 1,3,1 = 1,2,3\nconst u f32 1,2,1 = 8,9\n"                \
    "node TensorScatter d,u,x -> y mode='" mode "'"
#define ATTEND                                                                                     \
    "opset 24\ninput x i64 1\nconst q f32 1,1,1,1 = 0\nconst k f32 1,1,2,1 = 0,0\n"                \
    "const v f32 1,1,2,1 = 2,4\nnode Attention q,k,v,,,,x -> y"
#define ENDS                                                                                       \
    "input x i32 1\nconst d f32 1,2,1 = 2,4\nconst w f32 1,3 = 0,0,1\nconst b f32 3 = 0,0,0\n"     \
    "node com.microsoft.Attention d,w,b,x -> y num_heads=1"
#define GROUPED                                                                                    \
    "const t i32 = 2\nconst q f32 1,1,8 = 0,0,0,0,0,0,0,0\nconst v f32 1,1,8 = 4,4,4,4,4,4,4,4\n"  \
    "const p f32 1,1,2,8 = 2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2\n"                                      \
    "input x i32 1\nnode com.microsoft.GroupQueryAttention q,q,v,p,p,x,t -> y,k,z num_heads=1 "    \
    "kv_num_heads=1"
#define TOTAL                                                                                      \
    "const e i32 1 = 0\nconst q f32 1,1,8 = 0,0,0,0,0,0,0,0\nconst v f32 1,1,8 = "                 \
    "4,4,4,4,4,4,4,4\nconst p f32 1,1,2,8 = 2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2\ninput x i32 1\n"      \
    "node com.microsoft.GroupQueryAttention q,q,v,p,p,e,x -> y,k,z num_heads=1 kv_num_heads=1"
#define REPEATS                                                                                    \
    "input x i64 1,3\nconst s f32 1,4 = 1,2,3,4\n"                                                 \
    "node com.microsoft.NGramRepeatBlock x,s -> y ngram_size=1"
#define TURNED                                                                                     \
    "input x i64 1,1\nconst d f32 1,1,1,2 = 1,2\nconst c f32 2,1 = 1,0\nconst s f32 2,1 = 0,1\n"   \
    "opset 23\nnode RotaryEmbedding d,c,s,x -> y"
#define BOTH8(a) a "," a "," a "," a "," a "," a "," a "," a

static const value_row rows[] = {
    ROW("a length of nothing", REVERSE, "0,1", "1,2,3,4,5,6"),
    ROW("the longest length", REVERSE, "3,2", "5,4,3,2,1,6"),
    ROW("a length below 0", REVERSE, "-1,2", "!outside"),
    ROW("a length beyond the axis", REVERSE, "2,4", "!outside"),
    ROW("a length of more than 32 bits", REVERSE, "2," TWO32, "!outside"),
    ROW("the last place of what was pooled", UNPOOL, "0,3", "5,0,0,6"),
    ROW("a place in front of what was pooled", UNPOOL, "0,-1", "!outside"),
    ROW("a place behind what was pooled", UNPOOL, "0,4", "!outside"),
    ROW("the last image of a region", ALIGN("1"), "1", "4"),
    ROW("no image of a region", ALIGN("1"), "-1", "!outside"),
    ROW("an image beyond the last of a region", ALIGN("1"), "2", "!outside"),
    ROW("an image of more than 32 bits", ALIGN("1"), TWO32, "!outside"),
    ROW("an image beyond the last, of as many points as there are", ALIGN("0"), "2", "!outside"),
    ROW("the last image to pool", POOL, "1,0,0,0,0", "4"),
    ROW("no image to pool", POOL, "-1,0,0,0,0", "!outside"),
    ROW("an image to pool beyond the last", POOL, "2,0,0,0,0", "!outside"),
    ROW("a class that is ignored, whatever it is", LOSS("ignore_index=-7"), "-7,2", "0,-6"),
    ROW("a class that counts from the end", LOSS(""), "0,-3", "-1,-4"),
    ROW("a class beyond the last", LOSS(""), "3,0", "!outside"),
    ROW("a class of more than 32 bits", LOSS(""), TWO32 ",0", "!outside"),
    ROW("a class in front of the first", LOSS("ignore_index=-7"), "-4,0", "!outside"),
    ROW("what is ignored elsewhere", LOSS(""), "-100,0", "!outside"),
    ROW("a sequence without a step", RNN, "0", "2"),
    ROW("a sequence of all steps", RNN, "2", "2"),
    ROW("a sequence of less than none", RNN, "-1", "!outside"),
    ROW("a sequence that is longer than the data", RNN, "3", "!outside"),
    ROW("one of another cell", LSTM, "3", "!outside"),
    ROW("one below 0 of another cell", LSTM, "-1", "!outside"),
    ROW("one of a third cell", GRU, "3", "!outside"),
    ROW("all of a third cell", GRU, "2", "1"),
    ROW("the last place of a cache", SCATTER("linear"), "1", "1,8,9"),
    ROW("a place in front of a cache", SCATTER("linear"), "-1", "!outside"),
    ROW("a place too far in a cache", SCATTER("linear"), "2", "!outside"),
    ROW("a place that goes round", SCATTER("circular"), "5", "9,2,8"),
    ROW("a place in front of a round cache", SCATTER("circular"), "-1", "!outside"),
    ROW("all keys", ATTEND, "2", "3"),
    ROW("one key", ATTEND, "1", "2"),
    ROW("more keys than there are", ATTEND, "3", "!outside"),
    ROW("fewer keys than none", ATTEND, "-1", "!outside"),
    ROW("an end of keys", ENDS, "1", "2,2"),
    ROW("an end behind all keys", ENDS, "5", "3,3"),
    ROW("an end in front of the keys", ENDS, "-1", "!outside"),
    ROW("a cache of one", GROUPED, "0", BOTH8("4")),
    ROW("a full cache", GROUPED, "1", BOTH8("3")),
    ROW("a length that the cache has not", GROUPED, "2", "!outside"),
    ROW("a cache of less than nothing", GROUPED, "-1", "!outside"),
    ROW("a total of one", TOTAL, "1", BOTH8("4")),
    ROW("a total of nothing", TOTAL, "0", "!outside"),
    ROW("tokens that were said", REPEATS, "0,3,0", "-inf,2,3,-inf"),
    ROW("a token that is none", REPEATS, "0,-1,1", "!outside"),
    ROW("a token beyond the last", REPEATS, "0,4,1", "!outside"),
    ROW("a position", TURNED, "1", "-2,1"),
    ROW("a position in front of the table", TURNED, "-1", "!outside"),
    ROW("a position of more than 32 bits", TURNED, TWO32, "!outside"),
    ROW("an element of more than 32 bits",
        "input x i64 1\nconst d f32 3 = 1,2,3\nnode Gather d,x -> y", TWO32, "!outside"),
    ROW("an element below 0, of more than 32 bits",
        "input x i64 1\nconst d f32 3 = 1,2,3\nnode Gather d,x -> y", "-" TWO32, "!outside"),
};

int main(void) {
    return HONE_RUN_ROWS("graph/frontend/onnx_outside", rows, value_row_check);
}
