# The same with the tile sampled: without a decision this is a search space.
def apply_trace(sch):
    b0 = sch.get_block(name="M", func_name="main")
    l1, l2, l3 = sch.get_loops(block=b0)
    v4, v5 = sch.sample_perfect_tile(loop=l2, n=2, max_innermost_factor=16)
    l6, l7 = sch.split(loop=l2, factors=[v4, v5], preserve_unit_iters=True, disable_predication=False)
    sch.reorder(l1, l6, l3, l7)
    b8 = sch.decompose_reduction(block=b0, loop=l3)
