# 2 rows of 3 columns by 16 filters: 12 registers of sums over 32 channels, so that what is read of those
# stays in L1.
# What lies outside of the image is left out: no padded copy, edges have bodies of their own.
conv = sch.get_block(name="conv", func_name="main")
out = sch.get_block(name="out", func_name="main")
f, y, x, c, dy, dx, fi = sch.get_loops(block=conv)
f0, f1 = sch.split(loop=f, factors=[None, 1])
y0, y1 = sch.split(loop=y, factors=[None, 2])
x0, x1 = sch.split(loop=x, factors=[None, 3])
c0, c1 = sch.split(loop=c, factors=[None, 32])
sch.reorder(f0, y0, c0, x0, dy, dx, c1, y1, x1, f1, fi)
sch.parallel(loop=f0)
sch.unroll(loop=y1)
sch.unroll(loop=x1)
sch.unroll(loop=f1)
sch.vectorize(loop=fi)
# The tile is turned on its way out.
sch.reverse_compute_at(block=out, loop=y0, preserve_unit_loops=True)
_, _, t0, t1, t2, t3 = sch.get_loops(block=out)
t4, t5 = sch.split(loop=t1, factors=[None, 8])
t6, t7 = sch.split(loop=t3, factors=[None, 8])
sch.reorder(t0, t2, t4, t6, t5, t7)
sch.vectorize(loop=t7)
init = sch.decompose_reduction(block=conv, loop=c0)
