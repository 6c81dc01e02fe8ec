metadata = tvm.ir.load_json("""{\"root\":1,\"nodes\":[{\"type_key\":\"\"},
{\"type_key\":\"Map\",\"keys\":[\"relax.expr.Constant\"],\"data\":[2]},
{\"type_key\":\"Array\",\"data\":[3]},
{\"type_key\":\"relax.expr.Constant\",\"attrs\":{\"data\":\"0\"}}],
\"b64ndarrays\":[\"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQADAAAAAAAAAAwAAAAAAAAAAAAAAAAAgD8AAABA\"]}""")
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        k = metadata["relax.expr.Constant"][0]

        @R.function
        def twice(y: R.Tensor((n, 3), "float32")):
            z = R.add(y, k)
            return R.multiply(z, x)

        if c:
            with R.dataflow():
                v = R.add(x, k)
                w = twice(v)
                R.output(w)
            y = w
        elif R.less(R.sum(x), R.const(1.0, "float32")):
            y = R.negative(x)
        else:
            y = R.broadcast_to(R.const(1.0, "float32"), R.shape([n, 3]))
        return R.reshape(y, R.shape([n * 3]))
