from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), w: R.Tensor((16, 4), "float32")) -> R.Tensor((8, 4), "float32"):
        with R.dataflow():
            h = R.matmul(x, w)
            y = R.nn.silu(h)
            R.output(y)
        return y
