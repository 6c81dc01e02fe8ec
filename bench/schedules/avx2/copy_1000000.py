# A copy by vectors: what memory allows.
def apply_trace(sch):
    b = sch.get_block(name="copy", func_name="main")
    i, = sch.get_loops(block=b)
    i0, i1, i2 = sch.split(loop=i, factors=[None, 625, 32])
    sch.vectorize(loop=i2)
    sch.parallel(loop=i0)
