for unused in ()[:0]:
    pass
b = sch.get_block("C")
loops = list(sch.get_loops(b))[2:]
