# Square tiles of one register's width, turned around in registers, 4 x 8 of them in a buffer in
# L1: rows of Y lie 4 KiB apart, where lines throw each other out of the cache before they are whole.
def apply_trace(sch):
    b = sch.get_block(name="transpose", func_name="main")
    i, j = sch.get_loops(block=b)
    i0, i1, i2 = sch.split(loop=i, factors=[None, 4, 16])
    j0, j1, j2 = sch.split(loop=j, factors=[None, 8, 16])
    sch.reorder(i0, j0, j1, i1, i2, j2)
    c = sch.cache_write(block=b, write_buffer_index=0, storage_scope="global")
    sch.reverse_compute_at(block=c, loop=j0, preserve_unit_loops=True)
    row = sch.get_loops(block=c)[-1]
    sch.vectorize(loop=row)
    sch.unroll(loop=i2)
    sch.vectorize(loop=j2)
    sch.parallel(loop=i0)
