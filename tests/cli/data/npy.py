"""Writes small tensors of float32: npy.py FILE.npy SHAPE NUMBER... (SHAPE as 2x3, none
of a scalar; i4:2x3 is of int32; the last number stands for all that follow), or npy.py FILE.npz NAME=NUMBER,... for vectors
under names. tests/cases/run.py uses npy() for its tensors."""
import math
import struct
import sys
import zipfile

LETTERS = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i4": "i", "i8": "q", "u1": "B"}


def npy(shape, numbers, kind="f4"):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': %s, }" % (kind, tuple(shape))
    numbers = numbers + numbers[-1:] * (math.prod(shape) - len(numbers))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
            + struct.pack("<%d%s" % (len(numbers), LETTERS[kind]), *numbers))


def main(path, words):
    if path.endswith(".npz"):
        with zipfile.ZipFile(path, "w") as out:
            for word in words:
                name, numbers = word.rsplit("=", 1)
                values = [float(n) for n in numbers.split(",")]
                out.writestr(name + ".npy", npy([len(values)], values))
        return
    kind, _, shape = words[0].rpartition(":")
    number = int if kind.startswith(("i", "u")) else float
    with open(path, "wb") as out:
        out.write(npy([int(n) for n in shape.split("x") if n], [number(n) for n in words[1:]],
                      kind or "f4"))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
