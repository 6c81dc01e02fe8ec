"""Writes small tensors of float32: npy.py FILE.npy SHAPE NUMBER... (SHAPE as 2x3; i4:2x3 is of
int32; the last number stands for all that follow), or npy.py FILE.npz NAME=NUMBER,... for vectors
under names."""
import math
import struct
import sys
import zipfile


def npy(shape, numbers, kind="f4"):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': %s, }" % (kind, tuple(shape))
    numbers = numbers + numbers[-1:] * (math.prod(shape) - len(numbers))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
            + struct.pack("<%d%s" % (len(numbers), {"f4": "f", "i4": "i"}[kind]), *numbers))


path, *words = sys.argv[1:]
if path.endswith(".npz"):
    with zipfile.ZipFile(path, "w") as out:
        for word in words:
            name, numbers = word.rsplit("=", 1)
            values = [float(n) for n in numbers.split(",")]
            out.writestr(name + ".npy", npy([len(values)], values))
else:
    kind, _, shape = words[0].rpartition(":")
    with open(path, "wb") as out:
        out.write(npy([int(n) for n in shape.split("x")],
                      [int(n) if kind == "i4" else float(n) for n in words[1:]], kind or "f4"))
