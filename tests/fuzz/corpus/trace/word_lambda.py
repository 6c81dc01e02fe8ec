# Makes batch_matmul_relu_target.py of batch_matmul_relvu.py.
def apply_trace(sch):
    b0 = sch.get_block(name="M", func_name="bmm_relu")
    b1 = sch.get_block(name="R0", func_name="bmm_relu")
    n, i, j, k = sch.get_loops(block=b0)
    j0, j1 = sch.split(loop=j, factors=[8, 8])
    k0, k1 = sch.split(loop=k, factors=[16, 4])
    sch.reorder(n, i, lambda, k1, j1lit(loop=j, factors=[8, 8])
    k0, k1 = sch.split(loop=k, factors=[16, 4])
    sch.reorder(n, i, lambda, k1, j1)
    sch.reverse_compute_at(block=b1,
    sch.vectorizeloops(block=b1)
    sch.vectorize(loop=y3)
