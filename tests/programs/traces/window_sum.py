# GPU: the segment that a block of threads reads goes to shared memory first, fetched by all of them.
def apply_trace(sch):
    b0 = sch.get_block(name="S", func_name="main")
    i, = sch.get_loops(block=b0)
    i0, i1 = sch.split(loop=i, factors=[None, 128])
    sch.bind(loop=i0, thread_axis="blockIdx.x")
    sch.bind(loop=i1, thread_axis="threadIdx.x")
    b1 = sch.cache_read(block=b0, read_buffer_index=0, storage_scope="shared")
    sch.compute_at(block=b1, loop=i0)
    x0, x1 = sch.get_loops(block=b1)
    x2, x3 = sch.split(loop=x1, factors=[None, 128])
    sch.bind(loop=x3, thread_axis="threadIdx.x")
