/* tests/graph/frontend/test_onnx_strings.c - operators of strings, and of ai.onnx.ml: words for
 * numbers, patterns, parts, trees. */
#include "tests/graph/frontend/value_rows.h"

/* One node with two leaves. */
#define TREE                                                                                       \
    "node ai.onnx.ml.TreeEnsemble x -> y n_targets=1 tree_roots=[0] nodes_featureids=[0] "         \
    "nodes_truenodeids=[0] nodes_trueleafs=[1] nodes_falsenodeids=[1] nodes_falseleafs=[1] "       \
    "leaf_targetids=[0,0] leaf_weights={f32:5,7} "
/* x <= 1: (x > 0: 1, else 2), else 10. */
#define TREES                                                                                      \
    "node ai.onnx.ml.TreeEnsembleRegressor x -> y nodes_treeids=[0,0,0,0,0] "                      \
    "nodes_nodeids=[0,1,2,3,4] nodes_featureids=[0,0,0,0,0] nodes_values=[1.0,0.0,0.0,0.0,0.0] "   \
    "nodes_modes=['BRANCH_LEQ','BRANCH_GT','LEAF','LEAF','LEAF'] nodes_truenodeids=[1,3,0,0,0] "   \
    "nodes_falsenodeids=[2,4,0,0,0] target_treeids=[0,0,0] target_nodeids=[2,3,4] "                \
    "target_ids=[0,0,0] target_weights=[10.0,1.0,2.0] "
/* Two trees, x <= 0: their nodes 1, else 2. */
#define NODES                                                                                      \
    "nodes_treeids=[0,0,0,1,1,1] nodes_nodeids=[0,1,2,0,1,2] nodes_featureids=[0,0,0,0,0,0] "      \
    "nodes_values=[0.0,0.0,0.0,0.0,0.0,0.0] nodes_modes=['BRANCH_LEQ','LEAF','LEAF','BRANCH_LEQ'," \
    "'LEAF','LEAF'] nodes_truenodeids=[1,0,0,1,0,0] nodes_falsenodeids=[2,0,0,2,0,0] "
#define STUMPS "node ai.onnx.ml.TreeEnsembleRegressor x -> y " NODES
/* s: words for numbers x. */
#define WORDS                                                                                      \
    "node ai.onnx.ml.LabelEncoder x -> s keys_int64s=[1,2] values_strings=['a','bcd'] "            \
    "default_string='?'\n"
/* s: others, given behind it, for 1, 2 and 3. */
#define KEYS                                                                                       \
    "node ai.onnx.ml.LabelEncoder x -> s keys_int64s=[1,2,3] default_string='' values_strings=["

static const value_row rows[] = {
    ROW("strings come as bytes, as many as the longest has",
        "input x i64 3\n" WORDS "node Identity s -> y", "2,1,7", "98,99,100,97,0,0,63,0,0"),
    ROW("what moves strings is any operator that moves",
        "input x i64 2\n" WORDS "const k i64 1 = 1\nnode Gather s,k -> b axis=0\n"
        "node Constant -> e value_strings=['ef','']\nnode Concat e,b,s -> y axis=0",
        "1,2", "101,102,0,0,0,0,98,99,100,97,0,0,98,99,100"),
    ROW("hashes of strings, whose bytes are no multiple of four",
        "input x i64 4\nnode ai.onnx.ml.LabelEncoder x -> s keys_int64s=[1,2,3] "
        "default_string='' values_strings=['a','abc','hello-world']\n"
        "node com.microsoft.MurmurHash3 s -> y",
        "9,1,2,3", "0,1009084850,3017643002,3142825913"),
    ROW("strings are chosen by conditions",
        "input x i64 2\n" WORDS "const k i64 = 1\nnode Equal x,k -> c\n"
        "node Constant -> e value_string='xy'\nnode Where c,e,s -> y",
        "1,2", "120,121,0,98,99,100"),
    ROW("and compared",
        "input x i64 3\n" WORDS "node Constant -> e value_string='bcd'\n"
        "node Equal s,e -> c\nnode Cast c -> y to=7",
        "1,2,9", "0,1,0"),
    ROW("a shape is that of the strings", "input x i64 3\n" WORDS "node Shape s -> y", "1,2,3",
        "3"),
    ROW("strings behind each other",
        "opset 20\ninput x i64 3\n" WORDS "node Constant -> e value_strings=['-','','xyzw']\n"
        "node StringConcat s,e -> y",
        "1,2,9", "97,45,0,0,0,98,99,100,0,0,63,120,121,122,119"),
    ROW("without stop words, in capitals",
        "input x i64 4\n" WORDS
        "node StringNormalizer s -> y stopwords=['A'] case_change_action='UPPER'",
        "1,2,1,9", "66,67,68,63,0,0"),
    ROW("a stop word of another case stays, where case counts",
        "input x i64 2\n" WORDS
        "node StringNormalizer s -> y stopwords=['A','bcd'] is_case_sensitive=1",
        "1,2", "97"),
    ROW("of nothing but stop words an empty string is left",
        "input x i64 2\n" WORDS "node StringNormalizer s -> y stopwords=['a']", "1,1", "0"),
    ROW("strings in parts",
        "input x i64 2\n" KEYS "'ab-c','d','z']\nnode StringSplit s -> y delimiter='-'", "1,2",
        "97,98,99,0,100,0,0,0"),
    ROW("how many they are",
        "input x i64 3\n" KEYS "'a--b-','','-']\nnode StringSplit s -> t,y delimiter='-'", "1,2,3",
        "4,1,2"),
    ROW("delimiters do not overlap",
        "input x i64 3\n" KEYS "'aaa','aaaa','ba']\nnode StringSplit s -> t,y delimiter='aa'",
        "1,2,3", "2,3,1"),
    ROW("a delimiter that begins again in itself",
        "input x i64 2\n" KEYS "'xababac','aabac','z']\nnode StringSplit s -> t,y delimiter='abac'",
        "1,2", "2,2"),
    ROW("what is left after the last split stays together",
        "input x i64 2\n" KEYS "'-a-b-','c','z']\nnode StringSplit s -> y delimiter='-' maxsplit=1",
        "1,2", "0,0,0,0,97,45,98,45,99,0,0,0,0,0,0,0"),
    ROW("parts between blanks",
        "input x i64 3\n" KEYS "'\ta\t\tbc\t','\t','\va\rb\fd']\nnode StringSplit s -> t,y",
        "1,2,3", "2,0,3"),
    ROW("how often words of a pool are there, and pairs of them",
        "input x i64 4\n" KEYS "'a','bc','d']\nnode TfIdfVectorizer s -> y mode='TF' "
        "min_gram_length=1 max_gram_length=2 ngram_counts=[0,2] ngram_indexes=[3,0,2] "
        "pool_strings=['bc','a','a','bc']",
        "1,2,1,2", "2,0,2,2"),
    ROW("in rows whose length comes in a run, with others between",
        "input x i64 2\n" KEYS "'a-b-a','b-x-a','']\nnode StringSplit s -> t delimiter='-'\n"
        "node TfIdfVectorizer t -> y mode='TFIDF' min_gram_length=1 max_gram_length=2 "
        "max_skip_count=1 ngram_counts=[0,2] ngram_indexes=[0,1,2,0] "
        "pool_strings=['a','b','b','a','a','a'] weights=[1.0,2.0,4.0,1.0]",
        "1,2", "3,2,4,1,2,4"),
    ROW("of which several count for one",
        "input x i64 5\nnode TfIdfVectorizer x -> y mode='TF' min_gram_length=1 "
        "max_gram_length=2 ngram_counts=[0,3] ngram_indexes=[0,0,2,1,1] "
        "pool_int64s=[3,5,7,3,5,5,3]",
        "3,5,3,7,7", "3,2,2"),
    ROW("of numbers that all are taken",
        "input x i64 n\nconst k i64 5 = 3,1,2,3,1\nnode Concat x,k -> t axis=0\n"
        "node TfIdfVectorizer t -> y mode='TF' min_gram_length=2 max_gram_length=2 "
        "ngram_counts=[0,0] ngram_indexes=[0,1] pool_int64s=[3,1,1,4503599627370496]",
        "", "2,0"),
    ROW("words that match, behind them what fills, and how many are most",
        "input x i64 2\n" KEYS "'aXbc-d','-','z']\n"
        "node com.microsoft.Tokenizer s -> y tokenexp='[a-z]+' pad_value='#' mark=0 mincharnum=1",
        "1,2", "97,0,98,99,100,0,35,0,35,0,35,0"),
    ROW("words between separators, between marks",
        "input x i64 2\n" KEYS "'-a--bc','','z']\n"
        "node com.microsoft.Tokenizer s -> y separators=['-+','x'] pad_value='#' mark=1 "
        "mincharnum=1",
        "1,2", "2,0,97,0,98,99,3,0,2,0,3,0,35,0,35,0"),
    ROW("marks of no words are none",
        "input x i64 2\n" KEYS "'-','','z']\n"
        "node com.microsoft.Tokenizer s -> t tokenexp='a' pad_value='#' mark=1 mincharnum=1\n"
        "node Shape t -> y",
        "1,2", "2,0"),
    ROW("characters of several bytes are words of one",
        "input x i64 1\n" KEYS "'a\xc3\xa9\xe2\x82\xac','','z']\n"
        "node com.microsoft.Tokenizer s -> y separators=[''] pad_value='' mark=0 mincharnum=1",
        "1", "97,0,0,195,169,0,226,130,172"),
    ROW("too short words are passed over, and begin nothing",
        "input x i64 1\n" KEYS "'a-bc-def-\xc3\xa9g','','z']\n"
        "node com.microsoft.Tokenizer s -> y tokenexp='\\w+' pad_value='' mark=0 mincharnum=2",
        "1", "98,99,0,100,101,102"),
    ROW("the longest match from the first place",
        "input x i64 1\n" KEYS "'xAbcDe-ab12c','','z']\n"
        "node com.microsoft.Tokenizer s -> y tokenexp='[A-Z][a-z]*|[a-z][0-9]*' pad_value='' "
        "mark=0 mincharnum=3",
        "1", "65,98,99,98,49,50"),
    ROW("blanks at the end belong to what is left",
        "input x i64 2\n" KEYS "'\ta\t\tb\tc\t','d\t','z']\nnode StringSplit s -> y maxsplit=1",
        "1,2", "97,0,0,0,98,9,99,9,100,0,0,0,0,0,0,0"),
    ROW("no split at all",
        "input x i64 2\n" KEYS "'a-b','','z']\nnode StringSplit s -> t,y delimiter='-' maxsplit=0",
        "1,2", "1,1"),
    ROW("strings that a pattern matches",
        "input x i64 3\n" KEYS "'www.a.com','www.a.co.uk','']\n"
        "node RegexFullMatch s -> c pattern='www\\.[\\w.-]+\\.\\bcom\\b'\nnode Cast c -> y to=7",
        "1,2,3", "1,0,0"),
    ROW("nothing matches what may be nothing",
        "input x i64 2\n" KEYS "'ab','','z']\n"
        "node RegexFullMatch s -> c pattern='(?i)[A-B]{2}|'\nnode Cast c -> y to=7",
        "1,9", "1,1"),
    ROW("sequences of strings",
        "input x i64 2\n" WORDS "node Constant -> e value_strings=['ef']\n"
        "node SequenceConstruct s,e -> q\nconst z i64 = 0\nnode SequenceInsert q,e,z -> p\n"
        "node ConcatFromSequence p -> y axis=0",
        "2,1", "101,102,0,98,99,100,97,0,0,101,102,0"),
    ROW("an item of one",
        "input x i64 2\n" WORDS "node Constant -> e value_strings=['ef']\n"
        "node SequenceConstruct e,s -> q\nconst o i64 = 1\nnode SequenceAt q,o -> y",
        "2,1", "98,99,100,97,0,0"),
    ROW("strings apart, and put together the other way",
        "opset 13\ninput x i64 2\n" WORDS "node SplitToSequence s -> q axis=0 keepdims=0\n"
        "const o i64 = 1\nconst z i64 = 0\nnode SequenceAt q,o -> b\nnode SequenceAt q,z -> a\n"
        "node SequenceConstruct b,a -> p\nnode ConcatFromSequence p -> y axis=0 new_axis=1",
        "2,1", "97,0,0,98,99,100"),
    ROW("an optional string",
        "opset 18\ninput x i64 1\n" WORDS "node Optional s -> o\nnode OptionalGetElement o -> y",
        "1", "97"),
    ROW("numbers as strings", "input x f32 2\nnode Cast x -> y to=8", "0.1,-2",
        "48,46,49,0,45,50,46,48"),
    ROW("small ones, and none", "input x f32 2\nnode Cast x -> y to=8", "0.00001,nan",
        "49,101,45,48,53,110,97,110,0,0"),
    ROW("what the digits are that give the number again",
        "input x f32 6\nnode Cast x -> s to=8\nnode Cast s -> y to=1",
        "0.6048455,-1.4e-45,3.4028235e38,9.9999999,inf,16777216",
        "0.60484552383422852,-1.4012984643248171e-45,3.4028234663852886e38,10,inf,16777216"),
    ROW("numbers of 16 bits have fewer", "input x f16 2\nnode Cast x -> y to=8", "0.1,65504",
        "48,46,49,0,0,0,0,54,53,53,48,48,46,48"),
    ROW("whole numbers as strings", "input x i64 3\nnode Cast x -> y to=8",
        "-9223372036854775808,0,10",
        "45,57,50,50,51,51,55,50,48,51,54,56,53,52,55,55,53,56,48,56,48,0,0,0,0,0,0,0,0,0,0,0,0,0,"
        "0,"
        "0,0,0,0,0,49,48,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"),
    ROW("of which the greatest one", "input x u64 1\nnode Cast x -> y to=8", "18446744073709551615",
        "49,56,52,52,54,55,52,52,48,55,51,55,48,57,53,53,49,54,49,53"),
    ROW("truths as strings", "input x i32 2\nnode Cast x -> b to=9\nnode Cast b -> y to=8", "3,0",
        "84,114,117,101,0,70,97,108,115,101"),
    ROW("numbers as the other input has them",
        "opset 15\ninput x i64 2\n" WORDS "node CastLike x,s -> y", "7,-1", "55,0,45,49"),
    ROW("strings as numbers of classes",
        "input x i64 3\n" WORDS
        "node ai.onnx.ml.LabelEncoder s -> y keys_strings=['bcd','?'] values_int64s=[5,6]",
        "1,2,9", "-1,5,6"),
    ROW("trees whose nodes ask for members of sets",
        "input x f32 5,1\n" TREE
        "nodes_modes={u8:6} nodes_splits={f32:0} membership_values={f32:1,3,nan}",
        "1,2,3,nan,-1", "5,7,5,7,7"),
    ROW("NaN where the node says so",
        "input x f32 3,1\n" TREE
        "nodes_modes={u8:6} nodes_splits={f32:0} membership_values={f32:1,3,nan} "
        "nodes_missing_value_tracks_true=[1]",
        "3,nan,2", "5,5,7"),
    ROW("a set of nothing",
        "input x f32 2,1\n" TREE
        "nodes_modes={u8:6} nodes_splits={f32:0} membership_values={f32:nan}",
        "0,nan", "7,7"),
    ROW("limits of float64 are not rounded",
        "input x f64 2,1\n" TREE "nodes_modes={u8:1} nodes_splits={f64:0.1}",
        "0.1,0.09999999999999999", "7,5"),
    ROW("trees of many levels, which rows leave at different ones",
        "input x f32 5,1\nnode ai.onnx.ml.TreeEnsemble x -> y n_targets=1 tree_roots=[0,2,0] "
        "nodes_featureids=[0,0,0,0,0,0,0,0] nodes_modes={u8:0,0,0,0,0,0,0,0} "
        "nodes_splits={f32:0,1,2,3,4,5,6,7} nodes_trueleafs=[1,1,1,1,1,1,1,1] "
        "nodes_truenodeids=[0,1,2,3,4,5,6,7] nodes_falseleafs=[0,0,0,0,0,0,0,1] "
        "nodes_falsenodeids=[1,2,3,4,5,6,7,8] leaf_targetids=[0,0,0,0,0,0,0,0,0] "
        "leaf_weights={f32:10,11,12,13,14,15,16,17,18}",
        "-1,0.5,2.5,6.5,99", "32,34,39,51,54"),
    ROW("nodes that compare in several ways", "input x f32 3,1\n" TREES "n_targets=1", "2,1,0",
        "10,1,2"),
    ROW("the least of what trees give, 0 where none gives anything",
        "input x f32 2,1\n" TREES "n_targets=2 aggregate_function='MIN'", "2,1", "10,0,1,0"),
    ROW("a target that no tree gives anything has no base, as in onnxruntime",
        "input x f32 2,1\n" STUMPS "target_treeids=[0,1,0] target_nodeids=[1,1,2] "
        "target_ids=[0,1,0] target_weights=[5.0,-3.0,-7.0] n_targets=2 base_values=[10.0,11.0]",
        "-1,1", "15,8,3,0"),
    ROW("nor has the mean, or the least",
        "input x f32 2,1\n" STUMPS "target_treeids=[0,1] target_nodeids=[1,1] target_ids=[0,1] "
        "target_weights=[5.0,-3.0] n_targets=2 base_values=[10.0,11.0] "
        "aggregate_function='AVERAGE'",
        "-1,1", "12.5,9.5,0,0"),
    ROW("one target has it always",
        "input x f32 2,1\n" STUMPS "target_treeids=[0,1] target_nodeids=[1,1] target_ids=[0,0] "
        "target_weights=[5.0,-3.0] base_values=[10.0]",
        "-1,1", "12,10"),
    ROW("of one target a leaf without a weight gives 0",
        "input x f32 2,1\n" STUMPS "target_treeids=[0,1,1] target_nodeids=[1,1,2] "
        "target_ids=[0,0,0] target_weights=[5.0,3.0,7.0] aggregate_function='MIN'",
        "-1,1", "3,0"),
    ROW("of one target the first weight of a leaf counts alone",
        "input x f32 2,1\n" STUMPS "target_treeids=[0,0,0,1,1] target_nodeids=[1,1,2,1,2] "
        "target_ids=[0,0,0,0,0] target_weights=[5.0,7.0,3.0,0.5,0.25]",
        "-1,1", "5.5,3.25"),
    ROW("of several all weights do",
        "input x f32 2,1\n" STUMPS "target_treeids=[0,0,0] target_nodeids=[1,1,2] "
        "target_ids=[0,0,1] target_weights=[5.0,7.0,3.0] n_targets=2",
        "-1,1", "12,0,0,3"),
    ROW("the label is that of a class that a tree gives something",
        "input x f32 2,1\nnode ai.onnx.ml.TreeEnsembleClassifier x -> y,z " NODES
        "class_treeids=[0,1,0] class_nodeids=[1,1,2] class_ids=[0,1,2] "
        "class_weights=[-5.0,-3.0,-4.0] classlabels_int64s=[7,8,9]",
        "-1,1", "8,9"),
    ROW("or of any, where they have a base",
        "input x f32 2,1\nnode ai.onnx.ml.TreeEnsembleClassifier x -> y,z " NODES
        "class_treeids=[0,1,0] class_nodeids=[1,1,2] class_ids=[0,1,2] "
        "base_values=[-1.0,-2.0,-3.0] "
        "class_weights=[-5.0,-3.0,-4.0] classlabels_int64s=[7,8,9]",
        "-1,1", "9,7"),
    ROW("two classes, of whose weights none is negative, through a function",
        "input x f32 2,1\nnode ai.onnx.ml.TreeEnsembleClassifier x -> z,y nodes_treeids=[0,0,0] "
        "nodes_nodeids=[0,1,2] nodes_featureids=[0,0,0] nodes_values=[0.0,0.0,0.0] "
        "nodes_modes=['BRANCH_LEQ','LEAF','LEAF'] nodes_truenodeids=[1,0,0] "
        "nodes_falsenodeids=[2,0,0] class_treeids=[0,0] class_nodeids=[1,2] class_ids=[0,0] "
        "class_weights=[0.0,1.0986123] classlabels_int64s=[7,3] post_transform='LOGISTIC'",
        "-1,1", "0.5,0.5,0.25,0.75"),
    ROW("classes that have names",
        "input x f32 2,1\nnode ai.onnx.ml.LinearClassifier x -> y,z coefficients=[1.0,-1.0] "
        "intercepts=[0.0,0.0] classlabels_strings=['up','down']",
        "3,-3", "117,112,0,0,100,111,119,110"),
    ROW("numbers that strings spell",
        "input x f64 1\nnode Constant -> s value_strings=['-12.5e3','7','.25','1e-4','-inf','NaN',"
        "'123456789.125']\nnode Cast s -> n to=11\nnode Add n,x -> y",
        "0", "-12500,7,0.25,0.0001,-inf,nan,123456789.125"),
    ROW("those that float64 has few bits for",
        "input x f64 1\nnode Constant -> s value_strings=['3e-310','2250738585072014e-323']\n"
        "node Cast s -> n to=11\nconst k f64 = 1e300\nnode Mul n,k -> m\nnode Mul m,x -> y",
        "1e10", "3,225.0738585072014"),
    ROW("whole numbers that strings spell are exact",
        "input x i64 4\nnode Constant -> s value_strings=['9007199254740993',"
        "'-9223372036854775807','2e3','-7.9']\nnode Cast s -> n to=7\nnode Sub n,x -> y",
        "9007199254740992,-9223372036854775806,0,0", "1,-1,2000,-7"),
    ROW("a number that is no key is exact, too",
        "input x i64 2\nnode ai.onnx.ml.LabelEncoder x -> n keys_int64s=[1] values_int64s=[2] "
        "default_int64=9007199254740993\nnode Constant -> k value_ints=[2,9007199254740992]\n"
        "node Sub n,k -> y",
        "1,7", "0,1"),
    ROW("support vectors",
        "input x f32 3,2\nnode ai.onnx.ml.SVMRegressor x -> y "
        "coefficients=[1.0,-2.0,0.5] rho=[0.25] n_supports=3 "
        "support_vectors=[1.0,2.0,0.0,0.0,2.0,-1.0] kernel_type='POLY' "
        "kernel_params=[0.5,1.0,2.0]",
        "1,2,0,-1,3,0", "11,-0.625,12.5"),
    ROW("support vectors around one class",
        "input x f32 3,2\nnode ai.onnx.ml.SVMRegressor x -> y "
        "coefficients=[1.0,-2.0] rho=[0.25] n_supports=2 "
        "support_vectors=[1.0,2.0,0.0,0.0] kernel_type='RBF' kernel_params=[0.5,0.0,0.0] "
        "one_class=1",
        "1,2,0,-1,3,0", "1,-1,1"),
    ROW("a machine that has no support vectors",
        "input x f32 3,2\nnode ai.onnx.ml.SVMRegressor x -> y "
        "coefficients=[1.0,-2.0] rho=[0.25] kernel_type='LINEAR'",
        "1,2,0,-1,3,0", "-2.75,2.25,3.25"),
    ROW("pairs of classes vote",
        "input x f32 3,2\nnode ai.onnx.ml.SVMClassifier x -> y,z "
        "coefficients=[1.0,-1.0,2.0,0.5,-0.5,1.0,-1.0,0.25] rho=[0.5,-1.0,0.25] "
        "vectors_per_class=[1,2,1] support_vectors=[1.0,2.0,0.0,0.0,2.0,-1.0,-1.0,1.0] "
        "kernel_type='LINEAR' classlabels_ints=[7,5,9]",
        "1,2,0,-1,3,0", "7,9,9"),
    ROW("and have a score each",
        "input x f32 3,2\nnode ai.onnx.ml.SVMClassifier x -> z,y "
        "coefficients=[1.0,-1.0,2.0,0.5,-0.5,1.0,-1.0,0.25] rho=[0.5,-1.0,0.25] "
        "vectors_per_class=[1,2,1] support_vectors=[1.0,2.0,0.0,0.0,2.0,-1.0,-1.0,1.0] "
        "kernel_type='LINEAR' classlabels_ints=[7,5,9]",
        "1,2,0,-1,3,0", "5.5,-3,0.5,0.5,-0.5,-1,15.5,-4,-6.5"),
    ROW("two classes: the first one where the score is above 0",
        "input x f32 3,2\nnode ai.onnx.ml.SVMClassifier x -> y,z "
        "coefficients=[1.0,-1.0,2.0] rho=[-1.0] vectors_per_class=[1,2] "
        "support_vectors=[1.0,2.0,0.0,0.0,2.0,-1.0] kernel_type='LINEAR' "
        "classlabels_ints=[7,5]",
        "1,2,0,-1,3,0", "7,5,7"),
    ROW("with a score for both",
        "input x f32 3,2\nnode ai.onnx.ml.SVMClassifier x -> z,y "
        "coefficients=[1.0,-1.0,2.0] rho=[-1.0] vectors_per_class=[1,2] "
        "support_vectors=[1.0,2.0,0.0,0.0,2.0,-1.0] kernel_type='LINEAR' "
        "classlabels_ints=[7,5]",
        "1,2,0,-1,3,0", "-4,4,1,-1,-14,14"),
    ROW("or how likely each of them is",
        "input x f32 3,2\nnode ai.onnx.ml.SVMClassifier x -> z,p "
        "coefficients=[1.0,-1.0,2.0] rho=[-1.0] vectors_per_class=[1,2] "
        "support_vectors=[1.0,2.0,0.0,0.0,2.0,-1.0] kernel_type='LINEAR' "
        "classlabels_ints=[7,5] prob_a=[-0.5] prob_b=[0.25]\n"
        "const k f32 = 1000\nnode Mul p,k -> t\nnode Round t -> y",
        "1,2,0,-1,3,0", "852,148,321,679,999,1"),
    ROW("which the chances of all pairs agree upon",
        "input x f32 3,2\nnode ai.onnx.ml.SVMClassifier x -> z,p "
        "coefficients=[1.0,-1.0,2.0,0.5,-0.5,1.0,-1.0,0.25] rho=[0.5,-1.0,0.25] "
        "vectors_per_class=[1,2,1] support_vectors=[1.0,2.0,0.0,0.0,2.0,-1.0,-1.0,1.0] "
        "kernel_type='LINEAR' classlabels_ints=[7,5,9] prob_a=[-1.0,-0.5,0.25] "
        "prob_b=[0.125,-0.25,0.5]\nconst k f32 = 1000\nnode Mul p,k -> t\nnode Round t -> y",
        "1,2,0,-1,3,0", "242,128,630,371,269,360,318,242,440"),
    ROW("a number for each category",
        "input x f32 3\nnode ai.onnx.ml.OneHotEncoder x -> y cats_int64s=[4,-1]", "-1,9,4.5",
        "0,1,0,0,1,0"),
    ROW("and for categories that are words",
        "input x i64 3\n" WORDS "node ai.onnx.ml.OneHotEncoder s -> y cats_strings=['?','a']",
        "1,2,9", "0,1,0,0,1,0"),
    ROW("categories as words",
        "input x i64 3\nnode ai.onnx.ml.CategoryMapper x -> y cats_int64s=[3,1] "
        "cats_strings=['ab','c'] default_string='-'",
        "1,2,3", "99,0,45,0,97,98"),
    ROW("and words as categories",
        "input x i64 3\n" WORDS "node ai.onnx.ml.CategoryMapper s -> y cats_int64s=[3,1] "
        "cats_strings=['a','bcd']",
        "1,2,9", "3,1,-1"),
    ROW("whole numbers that are filled in",
        "input x i64 2,2\nnode ai.onnx.ml.Imputer x -> y imputed_value_int64s=[7,8] "
        "replaced_value_int64=-1",
        "-1,-1,2,-1", "7,8,2,8"),
    ROW("NaN is a key",
        "input x f32 3\nnode ai.onnx.ml.LabelEncoder x -> y keys_floats=[1.0,nan] "
        "values_floats=[5.0,6.0] default_float=-1.0",
        "nan,1,2", "6,5,-1"),
    ROW("of equal keys the first counts",
        "input x i64 4\nnode ai.onnx.ml.LabelEncoder x -> y keys_int64s=[3,5,3,9,5] "
        "values_floats=[1.0,2.0,3.0,4.0,5.0] default_float=-1.0",
        "3,5,7,9", "1,2,-1,4"),
};

int main(void) {
    return HONE_RUN_ROWS("graph/onnx_strings", rows, value_row_check);
}
