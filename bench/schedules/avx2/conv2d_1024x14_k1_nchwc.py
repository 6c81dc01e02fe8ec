# Filters in 2 parts, for as many cores. The weights of 16 blocks of channels stay in
# L1 while all pixels pass by; 2 rows of 2 columns by 16 filters are in registers.
conv = sch.get_block(name="conv", func_name="main")
f, y, x, c, dy, dx, ci, fi = sch.get_loops(block=conv)
p, f0 = sch.split(loop=f, factors=[2, None])
c0, c1 = sch.split(loop=c, factors=[None, 16])
y1, y2 = sch.split(loop=y, factors=[None, 2])
x0, x1 = sch.split(loop=x, factors=[None, 2])
sch.reorder(p, c0, f0, y1, x0, c1, dy, dx, ci, y2, x1, fi)
sch.parallel(loop=p)
sch.vectorize(loop=fi)
sch.unroll(loop=y2)
sch.unroll(loop=x1)
init = sch.decompose_reduction(block=conv, loop=c0)
