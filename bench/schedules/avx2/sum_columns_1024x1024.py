# Eight rows at a time are added to 64 sums in registers; the sums of a half of the columns stay in
# the first cache.
def apply_trace(sch):
    b = sch.get_block(name="sum", func_name="main")
    i, k = sch.get_loops(block=b)
    i0, i1, i2 = sch.split(loop=i, factors=[2, None, 64])
    k0, k1 = sch.split(loop=k, factors=[None, 8])
    sch.reorder(i0, k0, i1, k1, i2)
    sch.vectorize(loop=i2)
    sch.unroll(loop=k1)
    sch.parallel(loop=i0)
    sch.decompose_reduction(block=b, loop=k0)
