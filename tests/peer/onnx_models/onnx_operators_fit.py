"""How pools of norms, images of other sizes and caches are drawn: a part of the TABLE in
onnx_operators.py."""
import numpy

from onnx_draw import NONE
from onnx_neural import finite
from onnx_operators import since, spatial_data, window


def lp_pool(case):
    """Powers of infinities are open; onnxruntime pads dilated windows as if they were not."""
    data = finite(case, spatial_data(case, case.draw.between(1, 3), case.dtype()))
    while True:
        kernel = [case.draw.between(1, 4) for _ in data.shape[2:]]
        words = window(case, data.shape[2:], kernel, 2 if since(case, 18) else 1)
        is_same = str((words or {}).get("auto_pad")).startswith("SAME")
        if words is not None and not (is_same and words.get("dilations")):
            break
    if since(case, 18):
        words["ceil_mode"] = case.maybe(case.draw.between(0, 1), 0.5)
    return case.node([data], kernel_shape=kernel, p=case.maybe(case.draw.between(1, 4)), **words)


def global_lp_pool(case):
    data = finite(case, spatial_data(case, case.draw.between(1, 4), case.dtype()))
    return case.node([data], p=case.maybe(case.draw.between(1, 4)))


def center_crop_pad(case):
    data = case.data(1, 4, case.dtype())
    axes = None
    if case.draw.chance(0.6):
        axes = [a for a in range(data.rank) if case.draw.chance(0.6)] or [0]
        case.draw.rng.shuffle(axes)
    count = data.rank if axes is None else len(axes)
    sizes = case.parameter([case.draw.between(1, 9) for _ in range(count)])
    if axes is not None:
        axes = [int(a) - data.rank if case.draw.chance(0.3) else int(a) for a in axes]
    return case.node([data, sizes], axes=axes)


def col2im(case):
    """onnxruntime takes dilations for two dimensions only."""
    spatial = case.draw.one_of((1, 2, 2, 2, 3))
    block = [case.draw.between(1, 3) for _ in range(spatial)]
    strides = [case.draw.between(1, 3) for _ in range(spatial)]
    dilations = [case.draw.between(1, 2) for _ in range(spatial)]
    pads = [case.draw.between(0, 1) for _ in range(2 * spatial)]
    forms = [case.draw.chance(0.6), case.draw.chance(0.6) and spatial == 2, case.draw.chance(0.6)]
    strides, dilations, pads = (v if is_said else None for v, is_said in
                                zip((strides, dilations, pads), forms))
    reach = [(k - 1) * d + 1 for k, d in zip(block, dilations or [1] * spatial)]
    image = [r + case.draw.between(0, 5) for r in reach]
    around = pads or [0] * (2 * spatial)
    rows = numpy.prod([(e + around[i] + around[i + spatial] - r) // s + 1 for i, (e, r, s) in
                       enumerate(zip(image, reach, strides or [1] * spatial))])
    columns = case.draw.between(1, 3) * int(numpy.prod(block))
    data = case.tensor([case.draw.between(1, 2), columns, int(rows)], case.dtype(), 0.1)
    return case.node([finite(case, data), case.constant(numpy.array(image, "int64")),
                      case.constant(numpy.array(block, "int64"))],
                     strides=strides, dilations=dilations, pads=pads)


def affine_grid(case):
    """An extent of 1 with aligned corners has no place that all agree on."""
    case.flavour = "plain" if case.flavour == "edges" else case.flavour
    spatial, batch = case.draw.one_of((2, 2, 3)), case.draw.between(1, 3)
    theta = case.tensor([batch, spatial, spatial + 1], case.dtype(), 0.1)
    size = [batch, case.draw.between(1, 3), *(case.draw.between(2, 6) for _ in range(spatial))]
    return case.node([theta, case.parameter(size)], align_corners=case.maybe(case.draw.between(0, 1)))


def tensor_scatter(case):
    rank = case.draw.between(3, 4)
    shape = [case.draw.between(1, 4) for _ in range(rank)]
    axis = case.draw.between(1, rank - 1)
    shape[axis] = case.draw.between(2, 8)
    update = list(shape)
    update[axis] = case.draw.between(1, shape[axis])
    dtype = case.dtype()
    mode = case.draw.one_of((None, "linear", "circular"))
    most = shape[axis] - (0 if mode == "circular" else update[axis])
    first = NONE
    if case.draw.chance(0.7):
        first = case.holding(case.draw.rng.integers(0, most + 1, [shape[0]]).astype("int64"))
    said = axis if case.draw.chance(0.5) else axis - rank
    return case.node([case.tensor(shape, dtype), case.tensor(update, dtype), first], mode=mode,
                     axis=said if said != -2 else case.maybe(said))


TABLE = {
    "LpPool": lp_pool, "GlobalLpPool": global_lp_pool, "CenterCropPad": center_crop_pad,
    "Col2Im": col2im, "AffineGrid": affine_grid, "TensorScatter": tensor_scatter,
}
