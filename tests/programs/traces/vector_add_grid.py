# GPU: blocks of 256 threads.
def apply_trace(sch):
    b0 = sch.get_block(name="S", func_name="main")
    i, = sch.get_loops(block=b0)
    i0, i1 = sch.split(loop=i, factors=[None, 256])
    sch.bind(loop=i0, thread_axis="blockIdx.x")
    sch.bind(loop=i1, thread_axis="threadIdx.x")
