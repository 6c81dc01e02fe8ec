from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class MlpOperators:
    @R.function
    def main(
        x: R.Tensor((1, 96), dtype="float32"),
        fc1_weight: R.Tensor((48, 96), dtype="float32"),
        fc1_bias: R.Tensor((48,), dtype="float32"),
        fc2_weight: R.Tensor((10, 48), dtype="float32"),
        fc2_bias: R.Tensor((10,), dtype="float32"),
    ) -> R.Tensor((1, 10), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            turned = R.permute_dims(fc1_weight, axes=None)
            product = R.matmul(x, turned, out_dtype="void")
            sum0 = R.add(product, fc1_bias)
            hidden = R.nn.relu(sum0)
            turned1 = R.permute_dims(fc2_weight, axes=None)
            product1 = R.matmul(hidden, turned1, out_dtype="void")
            sum1 = R.add(product1, fc2_bias)
            gv = sum1
            R.output(gv)
        return gv
