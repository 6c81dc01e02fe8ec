# Each row into eight registers of sums.
def apply_trace(sch):
    b = sch.get_block(name="sum", func_name="main")
    i, k = sch.get_loops(block=b)
    sch.annotate(block_or_loop=k, ann_key="pragma_vector_reduce", ann_val=8)
    sch.parallel(loop=i)
