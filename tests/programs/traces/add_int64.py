# Rows in parallel, two of each share unrolled, columns vectorized.
def apply_trace(sch):
    b0 = sch.get_block(name="S", func_name="add")
    i, j = sch.get_loops(block=b0)
    i0, i1 = sch.split(loop=i, factors=[3, 2])
    sch.parallel(loop=i0)
    sch.unroll(loop=i1)
    sch.vectorize(loop=j)
