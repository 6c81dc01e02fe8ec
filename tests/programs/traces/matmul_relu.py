# Four columns at a time: split, reorder, bring the relu to the tile, part the init from the update.
def apply_trace(sch):
    b0 = sch.get_block(name="M", func_name="matmul_relu")
    b1 = sch.get_block(name="R0", func_name="matmul_relu")
    i, j, k = sch.get_loops(block=b0)
    j0, j1 = sch.split(loop=j, factors=[None, 4])
    sch.reorder(j0, k, j1)
    sch.reverse_compute_at(block=b1, loop=j0)
    b2 = sch.decompose_reduction(block=b0, loop=k)
