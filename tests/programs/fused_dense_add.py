# Operators grouped into functions of their own, which main calls.
from tvm.script import relax as R

@tvm.script.ir_module
class Module:
    @R.function
    def fused_dense_add0(x: Tensor((1, 96), "float32"), w: Tensor((48, 96), "float32"), b: Tensor((48,), "float32")) -> Tensor(None, "float32", ndim = 2):
        # block 0
        with R.dataflow():
            lv = R.permute_dims(w)
            lv1 = R.matmul(x, lv)
            gv = R.add(lv1, b)
            R.output(gv)
        return gv

    @R.function
    def fused_dense_add1(x1: Tensor((1, 48), "float32"), w1: Tensor((10, 48), "float32"), b1: Tensor((10,), "float32")) -> Tensor(None, "float32", ndim = 2):
        # block 0
        with R.dataflow():
            lv2 = R.permute_dims(w1)
            lv3 = R.matmul(x1, lv2)
            gv1 = R.add(lv3, b1)
            R.output(gv1)
        return gv1

    @R.function
    def main(x2: Tensor((1, 96), "float32"), w2: Tensor((48, 96), "float32"), b2: Tensor((48,), "float32"), w3: Tensor((10, 48), "float32"), b3: Tensor((10,), "float32")) -> Tensor(None, "float32", ndim = 2):
        # block 0
        with R.dataflow():
            lv4 = fused_dense_add0(x2, w2, b2)
            lv5 = R.nn.relu(lv4)
            gv2 = fused_dense_add1(lv5, w3, b3)
            R.output(gv2)
        return gv2
