import tvm
from tvm import relax
from tvm.script import relax as R

@tvm.script.ir_module
class MulAdd:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, 7), "float32")):
        with R.dataflow():
            lv0 = relax.op.multiply(x, y)
            gv0 = relax.op.add(lv0, y)
            relax.output(gv0)
        return gv0
