# The recap of one primitive function: a fixed tile of four columns.
def apply_trace(sch):
    b0 = sch.get_block(name="M", func_name="main")
    l1, l2, l3 = sch.get_loops(block=b0)
    l4, l5 = sch.split(loop=l2, factors=[None, 4], preserve_unit_iters=True, disable_predication=False)
    sch.reorder(l1, l4, l3, l5)
    b6 = sch.decompose_reduction(block=b0, loop=l3)
