"""What onnxruntime says of a case (onnx_draw.py), without its optimisations."""
import numpy
import onnxruntime

from onnx_draw import model_of
from onnx_short import nodes_of


def session_of(case, overridable=False):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    model = model_of([case], overridable, lambda c: nodes_of(c, is_peer=True))
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def expected(case):
    """Its outputs, or why it refused."""
    try:
        return [numpy.asarray(x) for x in session_of(case).run(case.outputs, case.feeds())]
    except Exception as error:  # pylint: disable=broad-except
        return str(error).strip().replace("\n", " ")
