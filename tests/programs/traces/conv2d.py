# Tiles of the output in parallel, the reduction inside them, the row of a tile vectorized.
def apply_trace(sch):
    b0 = sch.get_block(name="O", func_name="conv")
    n, c, y, x, q, dy, dx = sch.get_loops(block=b0)
    x0, x1 = sch.split(loop=x, factors=[None, 4])
    sch.reorder(n, c, y, x0, q, dy, dx, x1)
    p = sch.fuse(n, c, y)
    sch.parallel(loop=p)
    b1 = sch.decompose_reduction(block=b0, loop=q)
    sch.vectorize(loop=x1)
