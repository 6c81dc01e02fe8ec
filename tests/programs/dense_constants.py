# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), dtype="float32")) -> R.Tensor((1, 2), dtype="float32"):
        with R.dataflow():
            lv = R.permute_dims(R.const([[0.5, -1.0, 2.0], [0.25, 0.0, -0.75]], "float32"), axes=None)
            lv1 = R.matmul(x, lv, out_dtype="void")
            gv = R.add(lv1, R.const([0.125, -0.5], "float32"))
            R.output(gv)
        return gv
