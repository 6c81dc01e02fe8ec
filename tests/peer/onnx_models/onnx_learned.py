"""Operators of ai.onnx.ml in Hone and in onnxruntime.

    python onnx_learned.py [--count N] [--ways WAYS]

What exporters of scikit-learn write: features scaled, normalised, filled in and encoded, linear
models and trees, with attributes at random. Exit code 1: one is refused or differs; it is printed.
"""
import argparse
import os
import sys

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hone_cli import FIRST_SEED, Hone  # noqa: E402


WAYS = {"interpreted": ["--interpret"], "plain": ["--no-schedule"], "default": []}
DOMAIN = "ai.onnx.ml"


MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


class Draw:
    def __init__(self, seed):
        self.rng = numpy.random.default_rng(seed)

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def one_of(self, items):
        return items[self.between(0, len(items) - 1)]

    def floats(self, *shape):
        return self.rng.standard_normal(shape).astype("float32")


def grow(draw, depth, features, nodes):
    """The place of a node, which is added with all below it."""
    at = len(nodes)
    nodes.append(None)
    if depth == 0 or (at and draw.rng.random() < 0.25):
        nodes[at] = (None, 0, 0, 0, 0)
        return at
    feature, value = draw.between(0, features - 1), float(draw.floats(1)[0])
    yes = grow(draw, depth - 1, features, nodes)
    no = grow(draw, depth - 1, features, nodes)
    nodes[at] = (feature, value, yes, no, draw.between(0, 1))
    return at


def forest(draw, features, targets, stem, one_id=None, positive=False):
    modes = draw.one_of((MODES[:1], MODES[:1], MODES[1:2], MODES[2:3], MODES[3:4], MODES))
    words = {f"nodes_{k}": [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids",
                                        "falsenodeids", "missing_value_tracks_true")}
    weights = {f"{stem}_{k}": [] for k in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(draw.between(1, 5)):
        nodes = []
        grow(draw, draw.one_of((1, 2, 3, 4, 9)), features, nodes)
        for place, (feature, value, yes, no, tracks) in enumerate(nodes):
            is_leaf = feature is None
            row = (tree, place, 0 if is_leaf else feature, float(value), "LEAF" if is_leaf else draw.one_of(modes), yes, no, tracks)
            for key, item in zip(words, row):
                words[key].append(item)
            for target in range(targets if is_leaf else 0):
                weight = float(draw.floats(1)[0])
                row = (tree, place, target if one_id is None else one_id, abs(weight) / 4 if positive else weight)
                for key, item in zip(weights, row):
                    weights[key].append(item)
    return {**words, **weights}


def tree_regressor(draw):
    features, targets = draw.between(1, 5), draw.between(1, 3)
    words = forest(draw, features, targets, "target")
    if draw.between(0, 1):
        words["base_values"] = [float(v) for v in draw.floats(targets)]
    post = draw.one_of(("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")) if targets > 1 else "NONE"
    return [draw.floats(6, features)], dict(words, n_targets=targets, post_transform=post,
                                            aggregate_function=draw.one_of(("SUM", "AVERAGE", "MIN", "MAX")))


def ensemble(draw):
    """Of opset 5: nodes and leaves apart, some nodes ask for members of sets. SOFTMAX and LOGISTIC have
    other numbers in onnxruntime than in the standard, and one target is not transformed there."""
    features, targets, kind = draw.between(1, 4), draw.between(1, 3), draw.one_of(("float32", "float64"))
    names = ("modes", "featureids", "splits", "truenodeids", "trueleafs", "falsenodeids", "falseleafs",
             "missing_value_tracks_true")
    rows, leaves, sets, roots = [], [], [], []

    def grow_node(depth):
        at = len(rows)
        mode = draw.between(0, 6)
        rows.append(None)
        if mode == 6:
            sets.extend([float(draw.between(-2, 2)) for _ in range(draw.between(1, 3))] + [float("nan")])
        sides = []
        for _ in range(2):
            if depth > 1 and draw.between(0, 2):
                sides += [grow_node(depth - 1), 0]
            else:
                leaves.append((draw.between(0, targets - 1), float(draw.floats(1)[0])))
                sides += [len(leaves) - 1, 1]
        rows[at] = (mode, draw.between(0, features - 1), float(draw.between(-2, 2)), *sides, draw.between(0, 1))
        return at

    for _ in range(draw.between(1, 4)):
        roots.append(grow_node(draw.between(1, 4)))
    words = {f"nodes_{name}": list(column) for name, column in zip(names, zip(*rows))}
    words["nodes_modes"] = numpy_helper.from_array(numpy.array(words["nodes_modes"], "uint8"))
    words["nodes_splits"] = numpy_helper.from_array(numpy.array(words["nodes_splits"], kind))
    if sets:
        words["membership_values"] = numpy_helper.from_array(numpy.array(sets, kind))
    data = draw.rng.integers(-2, 3, (7, features)).astype(kind)
    data[draw.rng.random(data.shape) < 0.1] = numpy.nan
    return [data], dict(
        words, tree_roots=roots, n_targets=targets, leaf_targetids=[t for t, _ in leaves],
        leaf_weights=numpy_helper.from_array(numpy.array([w for _, w in leaves], kind)),
        aggregate_function=draw.between(0, 3), post_transform=draw.one_of((0, 3)) if targets > 1 else 0)


def tree_classifier(draw):
    features = draw.between(1, 5)
    form = draw.one_of(("two", "two", "many"))
    classes = 2 if form == "two" else draw.between(3, 4)
    positive = draw.between(0, 1)
    words = forest(draw, features, 1 if form == "two" else classes, "class",
                   draw.between(0, 1) if form == "two" else None, positive)
    post = draw.one_of(("NONE", "LOGISTIC") if form == "two" else ("NONE", "SOFTMAX", "LOGISTIC"))
    return [draw.floats(6, features)], dict(words, classlabels_int64s=[3, 7, 1, 4][:classes],
                                            post_transform=post)


def linear(draw):
    features, targets = draw.between(1, 6), draw.between(1, 3)
    words = {"coefficients": draw.floats(targets * features).tolist(), "targets": targets}
    if draw.between(0, 1):
        words["intercepts"] = draw.floats(targets).tolist()
    return [draw.floats(4, features)], words


def linear_classifier(draw):
    features, classes = draw.between(1, 6), draw.between(2, 4)
    rows = 1 if classes == 2 and draw.between(0, 1) else classes
    post = draw.one_of(("LOGISTIC",) if rows == 1 else ("NONE", "LOGISTIC", "SOFTMAX"))
    return [draw.floats(5, features)], dict(
        coefficients=draw.floats(rows * features).tolist(), intercepts=draw.floats(rows).tolist(),
        classlabels_ints=[2, 5, 8, 9][:classes], post_transform=post, multi_class=0)


def scaler(draw):
    features = draw.between(1, 5)
    count = draw.one_of((1, features))
    return [draw.floats(3, features)], {"offset": draw.floats(count).tolist(), "scale": draw.floats(count).tolist()}


def normalizer(draw):
    data = draw.floats(4, draw.between(1, 5))
    return [abs(data)], {"norm": draw.one_of(("MAX", "L1", "L2"))}


def imputer(draw):
    data = draw.floats(4, 3)
    data[draw.rng.random((4, 3)) < 0.4] = numpy.nan
    return [data], {"imputed_value_floats": draw.floats(draw.one_of((1, 3))).tolist(),
                    "replaced_value_float": float("nan")}


def binarizer(draw):
    return [draw.floats(4, 3)], {"threshold": float(draw.floats(1)[0])}


def encoder(draw):
    keys = draw.rng.permutation(9)[:4]
    into = draw.one_of(("int64s", "floats"))
    values = draw.floats(4).tolist() if into == "floats" else [5, 6, 7, 8]
    kind = draw.one_of(("int64s", "floats"))
    other = {"default_float": -2.5} if into == "floats" else {"default_int64": -7}
    return [draw.rng.integers(0, 9, (3, 4)).astype("int64" if kind == "int64s" else "float32")], {
        f"keys_{kind}": [int(k) if kind == "int64s" else float(k) for k in keys], f"values_{into}": values, **other}


def categories(draw):
    data = draw.rng.integers(0, 6, (4, 2)[:draw.between(1, 2)])
    return [data.astype(draw.one_of(("int64", "float32")))], {
        "cats_int64s": [int(c) for c in draw.rng.permutation(6)[:draw.between(1, 6)]], "zeros": 1}


def kernel(draw):
    return {"kernel_type": draw.one_of(("LINEAR", "POLY", "RBF", "SIGMOID")),
            "kernel_params": [abs(float(draw.floats(1)[0])), float(draw.floats(1)[0]), float(draw.between(1, 4))]}


def vector_regressor(draw):
    features, vectors = draw.between(1, 6), draw.between(0, 8)
    words = {"support_vectors": draw.floats(vectors * features).tolist()} if vectors else {}
    return [draw.floats(5, features)], dict(
        words, coefficients=draw.floats(vectors or features).tolist(), rho=draw.floats(1).tolist(),
        n_supports=vectors, one_class=draw.between(0, 2) // 2, **kernel(draw))


def vector_classifier(draw):
    features, classes = draw.between(1, 5), draw.between(2, 4)
    sizes = [draw.between(1, 4) for _ in range(classes)]
    pairs = classes * (classes - 1) // 2
    posts = ("NONE", "LOGISTIC") if classes == 2 else ("NONE", "LOGISTIC", "SOFTMAX")
    chances = draw.one_of(({}, {"prob_a": draw.floats(pairs).tolist(), "prob_b": draw.floats(pairs).tolist()}))
    return [draw.floats(6, features)], dict(
        coefficients=draw.floats((classes - 1) * sum(sizes)).tolist(), vectors_per_class=sizes,
        rho=draw.floats(pairs).tolist(), classlabels_ints=[5, 2, 9, 7][:classes],
        support_vectors=draw.floats(sum(sizes) * features).tolist(), post_transform=draw.one_of(posts),
        **chances, **kernel(draw))


def extractor(draw):
    return [draw.floats(4, 5), draw.rng.integers(0, 5, 3)], {}


OPERATORS = {
    "TreeEnsemble": (ensemble, 1), "TreeEnsembleRegressor": (tree_regressor, 1), "TreeEnsembleClassifier": (tree_classifier, 2),
    "LinearRegressor": (linear, 1), "LinearClassifier": (linear_classifier, 2), "Scaler": (scaler, 1),
    "Normalizer": (normalizer, 1), "Imputer": (imputer, 1), "Binarizer": (binarizer, 1),
    "LabelEncoder": (encoder, 1), "ArrayFeatureExtractor": (extractor, 1), "OneHotEncoder": (categories, 1),
    "SVMRegressor": (vector_regressor, 1), "SVMClassifier": (vector_classifier, 2)}


def model_of(op, arrays, outputs, words):
    names = [f"x{i}" for i in range(len(arrays))]
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype),
                                           ["rows", *a.shape[1:]] if n == "x0" else a.shape)
             for n, a in zip(names, arrays)]
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], domain=DOMAIN, **words)
    made = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "learned", infos, made)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17),
                                                   helper.make_opsetid(DOMAIN, 5 if op == "TreeEnsemble" else 3)])
    model.ir_version = 8
    return model


def right(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"]).run(None, feeds)


def wrong(hone, op, seed, ways):
    """In words, or None."""
    draw = Draw(seed)
    generate, outputs = OPERATORS[op]
    arrays, words = generate(draw)
    model = model_of(op, arrays, outputs, words)
    feeds = {f"x{i}": a for i, a in enumerate(arrays)}
    wants = right(model, feeds)
    path, given = hone.path("model.onnx"), []
    onnx.save(model, path)
    for name, array in feeds.items():
        numpy.save(hone.path(name + ".npy"), array)
        given += ["--in", f"{name}={hone.path(name + '.npy')}"]
    for way in ways:
        done = hone.run("run", path, "-q", "--out-dir", hone.path(""), *given, *WAYS[way])
        if not done:
            return f"{way}: {done.message}"
        for i, want in enumerate(wants):
            got = numpy.load(hone.path(f"y{i}.npy"))
            is_right = got.dtype == want.dtype and got.shape == want.shape and numpy.allclose(
                got, want, 1e-4, 1e-5)
            if not is_right:
                return f"{way}: output {i} is {got.dtype}{got.shape} {got.ravel()[:6]}, right is " \
                       f"{want.dtype}{want.shape} {want.ravel()[:6]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--ways", default=",".join(WAYS))
    options = parser.parse_args()
    hone, failed, names = Hone(), 0, sorted(OPERATORS)
    for i in range(options.count):
        op = names[i % len(names)]
        words = wrong(hone, op, FIRST_SEED + i, options.ways.split(","))
        if words:
            failed += 1
            print(f"seed {FIRST_SEED + i} ({op}): {words}", flush=True)
    print(f"ai.onnx.ml: {options.count} cases of {len(names)} operators, {failed} wrong")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
