# Two halves of the rows, one for each thread, each into eight registers of sums.
def apply_trace(sch):
    b = sch.get_block(name="sum", func_name="main")
    i, k = sch.get_loops(block=b)
    i0, i1 = sch.split(loop=i, factors=[2, 512])
    f = sch.rfactor(loop=i0, factor_axis=0)
    g, h, m = sch.get_loops(block=f)
    sch.annotate(block_or_loop=h, ann_key="pragma_vector_reduce", ann_val=8)
    sch.parallel(loop=g)
