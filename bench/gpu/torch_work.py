#!/usr/bin/env python3
"""Nanoseconds of one work of works.txt by torch: torch_work.py INPUTS EXPRESSION.

Events around runs that take half a second in all, after a warm-up; the median of five. cuBLAS, cuDNN
and flash attention are what torch takes.
"""
import statistics
import sys

import torch


def conv(x, w, padding):
    """NHWC and OHWI, as Hone's: torch's channels_last is a view of the same memory."""
    return torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), padding=padding)


def sdpa(q, k, v, is_causal=False):
    heads = [t.transpose(1, 2) for t in (q, k, v)]
    return torch.nn.functional.scaled_dot_product_attention(
        *heads, is_causal=is_causal
    ).transpose(1, 2)


def tf32(a, b):
    torch.backends.cuda.matmul.allow_tf32 = True
    return a @ b


def make(sizes, dtype):
    shape = [int(n) for n in sizes.split(",")]
    kind = getattr(torch, dtype)
    if dtype == "int64":
        return torch.randint(0, 32000, shape, device="cuda")
    if dtype == "int8":
        return torch.randint(-8, 8, shape, device="cuda", dtype=kind)
    return torch.randn(shape, device="cuda").to(kind)


def time_runs(run, count):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(count):
        run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e6 / count


def main():
    names = {"torch": torch, "conv": conv, "sdpa": sdpa, "tf32": tf32}
    for item in sys.argv[1].split():
        name, sizes, dtype = item.split(":")
        names[name] = make(sizes, dtype)
    code = compile(sys.argv[2].strip(), "works.txt", "eval")

    def run():
        return eval(code, names)  # pylint: disable=eval-used

    time_runs(run, 3)
    count = max(1, int(1e8 / time_runs(run, 3)))
    print(statistics.median(time_runs(run, count) for _ in range(5)))


main()
