"""TVM MetaSchedule's own design spaces, replayed by Hone: sketches with decisions, before and after
the postprocessors.

    python sketches.py [--workloads GMM,C2D] [--targets llvm,cuda] [--samples N] [--out DIR]

Each sketch's trace goes to `hone schedule` verbatim. What comes out must parse in TVM and compute
the same (workloads are small), and is compared with what TVM made. Exit code 1 as in schedules.py.
"""
import argparse
import random
import sys

import quick_tvm  # pylint: disable=unused-import  # before the next
import tvm
import tvm.s_tir.tensor_intrin.cuda  # pylint: disable=unused-import  # registers them
from tvm import s_tir, te, tirx, topi
from tvm.s_tir import meta_schedule as ms
from tvm.s_tir.meta_schedule.testing import te_workload

from hone_cli import Hone
from schedules import Case, Tally


def relu(x):
    return te.compute(x.shape, lambda *i: te.max(x(*i), tirx.const(0.0, x.dtype)), name="relu")


def func(tensors):
    return tvm.IRModule({"main": te.create_prim_func(list(tensors))})


def matmul_relu():
    a, b, c = te_workload.matmul(32, 32, 32)
    return func([a, b, relu(c)])


def dense_bias_relu():
    x, w = te.placeholder((8, 24), name="X"), te.placeholder((16, 24), name="W")
    bias = te.placeholder((16,), name="bias")
    y = topi.nn.dense(x, w, bias)
    return func([x, w, bias, topi.nn.relu(y)])


def conv2d_bias_relu():
    x, w = te.placeholder((1, 4, 8, 8), name="X"), te.placeholder((8, 4, 3, 3), name="W")
    bias = te.placeholder((8, 1, 1), name="bias")
    y = topi.nn.conv2d_nchw(x, w, 1, 1, 1)
    return func([x, w, bias, topi.nn.relu(topi.add(y, bias))])


def layer_norm():
    x = te.placeholder((4, 32), name="X")
    gamma, beta = te.placeholder((32,), name="gamma"), te.placeholder((32,), name="beta")
    return func([x, gamma, beta, topi.nn.layer_norm(x, gamma, beta, [1])])


def reduce_sum():
    x = te.placeholder((4, 256), name="X")
    return func([x, topi.sum(x, axis=1)])


def reduce_all():
    x = te.placeholder((64, 64), name="X")
    return func([x, topi.max(x)])


def elementwise():
    x, y = te.placeholder((16, 24), name="X"), te.placeholder((16, 24), name="Y")
    return func([x, y, topi.tanh(topi.add(topi.multiply(x, y), x))])


def pooling():
    x = te.placeholder((1, 4, 9, 9), name="X")
    return func([x, topi.nn.pool2d(x, [3, 3], [2, 2], [1, 1], [1, 1, 1, 1], "max")])


def te_of(make, *sizes):
    return lambda: func(make(*sizes))


WORKLOADS = {
    "GMM": te_of(te_workload.batch_matmul_nkkm, 2, 16, 16, 16),
    "GMM_odd": te_of(te_workload.batch_matmul_nkkm, 1, 15, 7, 13),
    "matmul": te_of(te_workload.matmul, 32, 32, 32),
    "matmul_half": te_of(te_workload.matmul, 40, 33, 48, "float16", "float16"),
    "matmul_relu": matmul_relu,
    "dense": dense_bias_relu,
    "C1D": te_of(te_workload.conv1d_nlc, 1, 16, 4, 8, 3, 2, 1),
    "C2D": te_of(te_workload.conv2d_nhwc, 1, 8, 8, 4, 8, 3, 2, 1),
    "C2D_half": te_of(te_workload.conv2d_nhwc, 1, 9, 9, 5, 7, 3, 1, 1, 1, 1, "float16", "float16"),
    "C2D_nchw": conv2d_bias_relu,
    "C3D": te_of(te_workload.conv3d_ndhwc, 1, 4, 6, 6, 2, 4, 3, 2, 1),
    "DEP": te_of(te_workload.depthwise_conv2d_nhwc, 1, 8, 8, 4, 3, 1, 1),
    "DIL": te_of(te_workload.conv2d_nhwc, 1, 10, 10, 4, 8, 3, 1, 1, 2),
    "GRP": te_of(te_workload.conv2d_nhwc, 1, 8, 8, 4, 8, 3, 2, 1, 1, 2),
    "T2D": te_of(te_workload.conv2d_transpose_nhwc, 1, 4, 4, 4, 4, 4, 2, 1),
    "CAP": te_of(te_workload.conv2d_capsule_nhwijc, 1, 6, 6, 4, 4, 3, 2, 1),
    "NRM": te_of(te_workload.norm_bmn, 1, 32, 32),
    "SFM": te_of(te_workload.softmax_mn, 8, 32),
    "CBR": te_of(te_workload.conv2d_nhwc_bn_relu, 1, 8, 8, 3, 8, 3, 2, 1),
    "TBG": te_of(te_workload.transpose_batch_matmul, 1, 8, 2, 16),
    "layer_norm": layer_norm,
    "reduce_sum": reduce_sum,
    "reduce_all": reduce_all,
    "elementwise": elementwise,
    "pooling": pooling,
}
TARGETS = {
    "llvm": {"kind": "llvm", "mcpu": "x86-64-v3", "num-cores": 4},
    "cuda": {"kind": "cuda", "arch": "sm_70", "max_threads_per_block": 1024,
             "max_shared_memory_per_block": 49152, "thread_warp_size": 32},
    "vnni": {"kind": "llvm", "mcpu": "cascadelake", "num-cores": 4},
    "arm": {"kind": "llvm", "mtriple": "aarch64-linux-gnu", "mcpu": "cortex-a76", "num-cores": 4,
            "mattr": ["+v8.2a", "+dotprod"]},
    "tensorcore": {"kind": "cuda", "arch": "sm_80", "max_threads_per_block": 1024,
                   "max_shared_memory_per_block": 49152, "thread_warp_size": 32},
}


class Replayed:
    """What Case wants of a player: the schedule, and the program after each instruction."""

    def __init__(self, mod, trace, seed):
        self.mod = mod
        self.sch = s_tir.Schedule(mod, seed=seed, error_render_level="fast")
        trace.apply_to_schedule(self.sch, remove_postproc=False)

    @property
    def after(self):
        return Prefixes(self.mod, self.sch.trace)


class Prefixes:
    """The programs after the first instructions of a trace, made when asked for."""

    def __init__(self, mod, trace):
        self.mod, self.trace = mod, trace

    def __contains__(self, count):
        return 0 < count <= len(self.trace.insts)

    def __getitem__(self, count):
        insts = self.trace.insts[:count]
        known = {i: self.trace.decisions[i] for i in insts if i in self.trace.decisions}
        sch = s_tir.Schedule(self.mod, seed=1, error_render_level="fast")
        s_tir.schedule.Trace(insts, known).apply_to_schedule(sch, remove_postproc=False)
        return sch.mod


def space(mod, target):
    context = ms.TuneContext(mod=mod, target=tvm.target.Target(target), task_name="peer",
                             space_generator="post-order-apply", rand_state=1, num_threads=1)
    return context, context.generate_design_space()


def after_postprocs(context, sch):
    """A candidate as MetaSchedule builds it, or None where a postprocessor says no."""
    done = sch.copy()
    done.enter_postproc()
    for postproc in context.space_generator.postprocs:
        if not postproc.apply(done):
            return None
    return done


def play(hone, tally, name, mod, target, options):
    context, sketches = space(mod, TARGETS[target])
    count = 0
    for number, sketch in enumerate(sketches):
        for sample in range(options.samples):
            fresh = s_tir.schedule.Trace(sketch.trace.insts, {})
            try:
                replayed = Replayed(mod, fresh, 1 + sample)
            except Exception:  # pylint: disable=broad-except
                continue  # an unlucky draw, which TVM refuses too
            done = after_postprocs(context, replayed.sch)
            if done is not None:
                replayed.sch = done
            case = Case(hone, tally, f"{name}/{target}/{number}", mod, replayed)
            case.accepted(["json", "python"][sample % 2], False)
            count += 1
    print(f"{name:12} {target:5} {len(sketches)} sketches, {count} traces", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--out", default="build/check_peer/sketches")
    options = parser.parse_args()
    random.seed(1)
    hone, tally = Hone(), Tally(options.out)
    for name in options.workloads.split(","):
        for target in options.targets.split(","):
            play(hone, tally, name, WORKLOADS[name](), target, options)
    tally.report()
    sys.exit(1 if tally.bad else 0)


if __name__ == "__main__":
    main()
