# Square tiles of one register's width, turned around in registers.
def apply_trace(sch):
    b = sch.get_block(name="transpose", func_name="main")
    i, j = sch.get_loops(block=b)
    i0, i1 = sch.split(loop=i, factors=[None, 16])
    j0, j1 = sch.split(loop=j, factors=[None, 16])
    sch.reorder(i0, j0, i1, j1)
    sch.unroll(loop=i1)
    sch.vectorize(loop=j1)
    sch.parallel(loop=i0)
