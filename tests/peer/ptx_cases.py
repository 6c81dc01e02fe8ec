#!/usr/bin/env python3
"""Runs on a machine with an NVIDIA card what `HONE_PTX_DIR=DIR test_ptx` left in DIR, through the
driver alone, and compares with what the interpreter made of it.

ptx_cases.py DIR [NAME...]     one line per case; exit 1 where one differs, 77 without a card
"""
import ctypes
import glob
import math
import os
import struct
import sys

SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "uint8": 1,
         "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8, "bool": 1}
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


class Driver:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device = ctypes.c_int()
        self.context = ctypes.c_void_p()
        self.ok("cuInit", 0)
        self.ok("cuDeviceGet", ctypes.byref(device), 0)
        self.ok("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.ok("cuCtxSetCurrent", self.context)

    def ok(self, name, *args):
        code = getattr(self.cuda, name)(*args)
        if code:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {code} {(text.value or b'?').decode()}")

    def function(self, ptx, shared):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # error log, its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), 8192)
        try:
            self.ok("cuModuleLoadDataEx", ctypes.byref(module), ptx + b"\0", 2, options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {log.value.decode()}") from None
        self.ok("cuModuleGetFunction", ctypes.byref(function), module, b"kernel")
        if shared > 48 << 10:
            self.ok("cuFuncSetAttribute", function, 8, shared)
        return module, function


def numbers(dtype, data):
    code = {"float16": "e", "float32": "f", "float64": "d", "int8": "b", "uint8": "B", "bool": "B",
            "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
            "uint64": "Q"}.get(dtype)
    if dtype == "bfloat16":
        halves = struct.unpack(f"<{len(data) // 2}H", data)
        return struct.unpack(f"<{len(halves)}f", struct.pack(f"<{len(halves)}I",
                                                             *(h << 16 for h in halves)))
    if not code:
        return list(data)
    return struct.unpack(f"<{len(data) // SIZES[dtype]}{code}", data)


DIGITS = {"float16": (11, -24), "bfloat16": (8, -133), "float32": (24, -149),
          "float64": (53, -1074)}


def units(dtype, got, want):
    """The largest difference in units of the last place, of numbers that are not near 0."""
    most = 0.0
    digits, least = DIGITS.get(dtype, (0, 0))
    for g, w in zip(numbers(dtype, got), numbers(dtype, want)) if digits else []:
        if w == w and g == g and abs(w) != float("inf") and w != g:
            most = max(most, abs(g - w) / 2.0 ** max(math.frexp(w)[1] - digits, least))
    return most


def worst(dtype, got, want):
    """The largest difference, as a part of what is allowed."""
    got, want = numbers(dtype, got), numbers(dtype, want)
    finite = [abs(w) for w in want if w == w and abs(w) != float("inf")]
    bound = (1e-5 + 4 * EPSILON[dtype]) * max(finite + [1e-30]) if dtype in EPSILON else 0.5
    most = 0.0
    for g, w in zip(got, want):
        if g == w or (g != g and w != w):
            continue
        difference = abs(g - w) / bound
        most = max(most, difference if difference == difference else float("inf"))
    return most


def run(driver, path):
    base = path[:-len(".case")]
    grid = block = [1, 1, 1]
    shared, args = 0, []
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if words[0] == "grid":
            grid = [int(w) for w in words[1:]]
        elif words[0] == "block":
            block = [int(w) for w in words[1:]]
        elif words[0] == "shared":
            shared = int(words[1])
        else:
            args.append(words)
    module, function = driver.function(open(base + ".ptx", "rb").read(), shared)
    cells, memory = [], {}
    for i, words in enumerate(args):
        if words[0] == "value":
            cells.append(ctypes.c_int64(int(words[1])))
            continue
        data = open(f"{base}.{i}.in", "rb").read()
        memory[i] = ctypes.c_uint64()
        driver.ok("cuMemAlloc_v2", ctypes.byref(memory[i]), ctypes.c_size_t(len(data)))
        driver.ok("cuMemcpyHtoD_v2", memory[i], data, ctypes.c_size_t(len(data)))
        cells.append(memory[i])
    pointers = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(c) for c in cells))
    driver.ok("cuLaunchKernel", function, *grid, *block, shared, None, pointers, None)
    driver.ok("cuCtxSynchronize")
    most = last = 0.0
    for i, address in memory.items():
        want = open(f"{base}.{i}.want", "rb").read()
        got = ctypes.create_string_buffer(len(want))
        driver.ok("cuMemcpyDtoH_v2", got, address, ctypes.c_size_t(len(want)))
        driver.ok("cuMemFree_v2", address)
        most = max(most, worst(args[i][1], got.raw, want))
        last = max(last, units(args[i][1], got.raw, want))
    driver.ok("cuModuleUnload", module)
    return most, last


def main():
    try:
        driver = Driver()
    except (OSError, RuntimeError) as error:
        print(f"skipped: {error}")
        return 77
    bad = 0
    names = sys.argv[2:]
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.case"))):
        name = os.path.basename(path)[:-len(".case")]
        if names and name not in names:
            continue
        if not glob.glob(path[:-len("case")] + "*.want"):
            print(f"{name:40} skipped: the interpreter has no values for it")
            continue
        try:
            most, last = run(driver, path)
            verdict = "ok" if most <= 1 else "DIFFERS"
        except RuntimeError as error:
            most, last, verdict = float("nan"), float("nan"), f"FAILED {error}"
        bad += verdict != "ok"
        print(f"{name:40} {most:10.4g} {last:10.4g} ulp  {verdict}", flush=True)
    print(f"{bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
