def last(s, block, n=-1):
    return s.get_loops(block)[n]
def tile(sch, a, b=2):
    loops = sch.get_loops("C")
    i, k = loops[0], loops[-1]
    i0, i1 = sch.split(i, factors=[None, a * b // 2])
    sch.reorder(i0, *loops[1:], i1)
    sch.unroll(last(sch, "D"))
    return i0
sch = tvm.tir.Schedule(M)
x = tile(sch, a=4)
sch.annotate(x, "k", """text
of lines""")
print(sch.trace)
