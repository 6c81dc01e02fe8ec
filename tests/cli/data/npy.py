"""Writes small tensors of float32: npy.py FILE.npy SHAPE NUMBER... (SHAPE as 2x3), or
npy.py FILE.npz NAME=NUMBER,... for vectors under names."""
import struct
import sys
import zipfile


def npy(shape, numbers):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (tuple(shape),)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
            + struct.pack("<%df" % len(numbers), *numbers))


path, *words = sys.argv[1:]
if path.endswith(".npz"):
    with zipfile.ZipFile(path, "w") as out:
        for word in words:
            name, numbers = word.rsplit("=", 1)
            values = [float(n) for n in numbers.split(",")]
            out.writestr(name + ".npy", npy([len(values)], values))
else:
    with open(path, "wb") as out:
        out.write(npy([int(n) for n in words[0].split("x")], [float(n) for n in words[1:]]))
