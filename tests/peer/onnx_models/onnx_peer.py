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


def results(case, session, feeds):
    """What it gives, also where some outputs lie in inputs."""
    if not case.shared:
        return session.run(case.outputs, feeds)
    binding = session.io_binding()
    values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(numpy.ascontiguousarray(feeds[name])) for name in feeds}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for name in case.outputs:
        if name in case.shared:
            binding.bind_ortvalue_output(name, values[case.shared[name]])
        else:
            binding.bind_output(name)
    session.run_with_iobinding(binding)
    return [numpy.array(x) for x in binding.copy_outputs_to_cpu()]


def expected(case):
    """Its outputs, or why it refused."""
    try:
        return [numpy.asarray(x) for x in results(case, session_of(case), case.feeds())]
    except Exception as error:  # pylint: disable=broad-except
        return str(error).strip().replace("\n", " ")
