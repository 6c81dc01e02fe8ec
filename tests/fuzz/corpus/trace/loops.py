b = sch.get_block("C")
for x in sch.get_loops(b)[:1]:
    sch.unroll(x)
for i, f in [(0, 4), (1, 2)]:
    l = sch.get_loops(b)
    # the last ones
    sch.split(l[len(l) - 1 - i], factors=[None, f])
for i in reversed(range(0, 3, 2)): sch.annotate(b, "k", i)
