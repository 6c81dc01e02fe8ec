"""Tensors to and from the library without copies, and their ends."""
import ctypes
import gc
import sys
import unittest

import numpy as np

import hone
from hone import _tensor
from hone._library import DLDataType

from programs import Case, numbers


class Foreign:
    """A tensor of somebody who knows DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **words):
        return self.array.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def _floats(seen):
    count = int(np.prod([seen.tensor.shape[d] for d in range(seen.tensor.ndim)]))
    return (ctypes.c_float * count).from_address(seen.tensor.data)


class Tensors(Case):
    def test_no_copies_in(self):
        for array in (numbers(3, 4), np.arange(5), np.array(7.5), np.zeros((0, 2), "int8"),
                      np.array([True, False])):
            seen = _tensor.view(array)
            self.assertEqual(seen.tensor.data or 0,
                             array.__array_interface__["data"][0] if array.size else
                             seen.tensor.data or 0)
            self.assertEqual([seen.tensor.shape[d] for d in range(seen.tensor.ndim)],
                             list(array.shape))
            self.assertEqual(_tensor.dtype_name(seen.tensor.dtype), str(array.dtype))
        array = numbers(3, 4)
        seen = _tensor.view(Foreign(array))
        self.assertEqual(seen.tensor.data, array.ctypes.data)

    def test_no_copies_out(self):
        made = hone.Tensor(DLDataType(2, 32, 1), [2, 3])
        array = _tensor.like_inputs(made, [])
        array[:] = 4
        self.assertEqual(made.tolist(), [4.0] * 6)
        self.assertEqual(made.tensor.data % 64, 0)
        np.from_dlpack(made)
        self.assertEqual(array.ctypes.data, made.tensor.data)

    def test_lives_as_long_as_it_is_held(self):
        made = hone.Tensor(DLDataType(0, 64, 1), [4])
        (ctypes.c_int64 * 4).from_address(made.tensor.data)[:] = [1, 2, 3, 4]
        array = np.from_dlpack(made)
        del made
        gc.collect()
        self.assertEqual(array.tolist(), [1, 2, 3, 4])
        count = len(_tensor._lent)
        del array
        gc.collect()
        self.assertEqual(len(_tensor._lent), count - 1)
        capsule = hone.Tensor(DLDataType(0, 64, 1), [4]).__dlpack__()
        self.assertEqual(len(_tensor._lent), count)
        del capsule
        self.assertEqual(len(_tensor._lent), count - 1)

    def test_lists_and_numbers(self):
        made = hone.Tensor.of([[1, 2, 3], [4, 5, 6]])
        self.assertEqual((made.shape, made.tolist()), ((2, 3), [1, 2, 3, 4, 5, 6]))
        self.assertEqual(hone.Tensor.of([True, False], "bool").tolist(), [True, False])
        with self.assertRaisesRegex(hone.InvalidError, "different lengths"):
            hone.Tensor.of([[1], [2, 3]])
        with self.assertRaises(hone.TypeMismatchError):
            hone.Tensor.of([1], "bfloat16")
        self.assertEqual(_tensor.view([[1.0, 2.0]]).tensor.ndim, 2)
        self.assertEqual(_tensor.view(3).tensor.ndim, 0)

    def test_fields_of_records(self):
        records = np.zeros(4, dtype=[("tag", "i1"), ("value", "f4")])
        records["value"] = [1, 2, 3, 4]  # five bytes apart: no stride of whole elements
        self.assertEqual(list(_floats(_tensor.dense(records["value"]))), [1, 2, 3, 4])

    def test_foreign_strides(self):
        seen = _tensor.dense(Foreign(np.arange(6, dtype="float32").reshape(2, 3).T))
        self.assertEqual(list(_floats(seen)), [0, 3, 1, 4, 2, 5])

    def test_what_is_written_comes_back(self):
        base = np.zeros((2, 3), "float32")
        seen = _tensor.writable(base.T)
        _floats(seen)[:] = [1, 2, 3, 4, 5, 6]
        seen.give_back()
        self.assertEqual(base.tolist(), [[1, 3, 5], [2, 4, 6]])
        self.assertEqual(_tensor.writable(base).tensor.data, base.ctypes.data)

    def test_read_only_stays(self):
        array = np.ones(3, "float32")
        array.flags.writeable = False
        seen = _tensor.writable(array)
        seen.give_back()  # nothing was written
        _floats(seen)[0] = 2
        with self.assertRaisesRegex(hone.InvalidError, "read-only"):
            seen.give_back()
        self.assertEqual(array.tolist(), [1, 1, 1])

    def test_lists_take_the_type_that_is_wanted(self):
        self.assertEqual(list(_floats(_tensor.dense([[1, 2.5]], "float32"))), [1, 2.5])
        for wrong in ([1.5], [[1], [2, 3]], [1j]):
            with self.assertRaises(hone.InvalidError):
                _tensor.dense(wrong, "int32")
        for value, dtype in (([0, 255], "uint8"), ([-128, 127], "int8"), ([2**64 - 1], "uint64"),
                             ([], "int64"), ([1, 0], "bool"), ([True], "int8")):
            self.assertEqual(_tensor.dtype_name(_tensor.dense(value, dtype).tensor.dtype), dtype)
        for value, dtype in (([300], "int8"), ([-1], "uint8"), ([2**63], "int64"),
                             ([2**70], "int64"), (256, "uint8"), ([2], "bool")):
            with self.assertRaises(hone.InvalidError):
                _tensor.dense(value, dtype)

    def test_what_is_no_tensor(self):
        for wrong in ("text", None, object(), np.array(["a"]), np.array([1j]),
                      np.array([1.0], ">f4"), np.array([object()]),
                      np.ma.masked_array([1.0], [True])):
            with self.assertRaises(hone.HoneError):
                _tensor.view(wrong)
        with self.assertRaises(hone.TypeMismatchError):
            _tensor.parse_dtype("complex64")

    def test_names_of_types(self):
        for name in ("float32", "int8", "uint64", "bool", "bfloat16", "float8_e4m3fn", "float16",
                     "float8_e5m2fnuz", "float8_e4m3", "float4_e2m1fn"):
            self.assertEqual(_tensor.dtype_name(_tensor.parse_dtype(name)), name)

    @unittest.skipUnless(__import__("importlib.util").util.find_spec("ml_dtypes"),
                         "there is no ml_dtypes")
    def test_types_of_ml_dtypes(self):
        import ml_dtypes

        for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"):
            array = np.array([[1, 2, 0.5], [4, 8, 16]], getattr(ml_dtypes, name))
            for given in (array, np.asfortranarray(array)):
                seen = _tensor.dense(given)
                self.assertEqual(_tensor.dtype_name(seen.tensor.dtype), name)
                made = hone.Tensor(seen.tensor.dtype, [2, 3])
                ctypes.memmove(made.tensor.data, seen.tensor.data, array.nbytes)
                for back in (made.numpy(), _tensor.like_inputs(made, [given])):
                    self.assertEqual((back.dtype, back.tolist()), (array.dtype, array.tolist()))
                self.assertIs(_tensor.like_inputs(made, [np.ones(1)]), made)
            listed = _tensor.dense([[1, 2, 0.5], [4, 8, 16]], name)
            self.assertEqual(ctypes.string_at(listed.tensor.data, array.nbytes), array.tobytes())
            empty = hone.Tensor(_tensor.parse_dtype(name), [0, 3]).numpy()
            self.assertEqual((empty.dtype, empty.shape), (array.dtype, (0, 3)))
        for name in ("int4", "float4_e2m1fn"):  # a byte an element there, half a byte here
            with self.assertRaises(hone.TypeMismatchError):
                _tensor.view(np.zeros(2, getattr(ml_dtypes, name)))
        with self.assertRaises(hone.TypeMismatchError):
            hone.Tensor(_tensor.parse_dtype("float4_e2m1fn"), [2]).numpy()

    @unittest.skipUnless("torch" in sys.modules or __import__("importlib.util").util.find_spec(
        "torch"), "there is no torch")
    def test_torch(self):
        import torch

        x = torch.ones(3, 4, requires_grad=True)
        seen = _tensor.view(x)
        self.assertEqual(seen.tensor.data, x.data_ptr())
        made = _tensor.like_inputs(hone.Tensor(DLDataType(2, 32, 1), [2]), [x])
        self.assertIsInstance(made, torch.Tensor)
        for lent in (x.t(), torch.ones(1, 4).expand(3, 4), torch.tensor(float("nan")).expand(2)):
            version = lent._version
            _tensor.writable(lent).give_back()  # nothing was written: it stays untouched
            self.assertEqual(lent._version, version)
        base = torch.zeros(3, 2)
        seen = _tensor.writable(base.t())
        _floats(seen)[:] = [1, 2, 3, 4, 5, 6]
        seen.give_back()
        self.assertEqual(base.tolist(), [[1, 4], [2, 5], [3, 6]])

    @unittest.skipUnless("torch" in sys.modules or __import__("importlib.util").util.find_spec(
        "torch"), "there is no torch")
    def test_torch_keeps_signs_apart(self):
        import torch

        base = torch.zeros(3)
        lent = torch._neg_view(base)  # as the imaginary part of a conjugate is
        seen = _tensor.writable(lent)
        _floats(seen)[:] = [1, 2, 3]
        seen.give_back()
        self.assertEqual(base.tolist(), [-1, -2, -3])
        seen = _tensor.dense(lent)
        self.assertEqual(list(_floats(seen)), [1, 2, 3])

    @unittest.skipUnless("torch" in sys.modules or __import__("importlib.util").util.find_spec(
        "torch"), "there is no torch")
    def test_ends_while_an_exception_is_raised(self):
        import torch

        def fails(dtype):
            made = _tensor.like_inputs(hone.Tensor(dtype, [2, 3]), [torch.ones(1)])
            self.assertEqual(made.shape, (2, 3))
            raise KeyError("mine")

        for name in ("float32", "bfloat16", "bool", "int8", "float64"):
            with self.assertRaisesRegex(KeyError, "mine"):
                fails(_tensor.parse_dtype(name))


if __name__ == "__main__":
    unittest.main()
