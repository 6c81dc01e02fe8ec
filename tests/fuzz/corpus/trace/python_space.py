def space(sch):
    c = sch.get_block("C")
    d = sch.get_block("D")
    tile = 16
    i, j, k = sch.get_loops(c)
    tiles = [sch.sample_perfect_tile(l, n=3 if idx < 2 else 2, max_innermost_factor=64) for idx, l in enumerate([i, j, k])]
    (i0, i1, i2), (j0, j1, j2), (k0, k1) = [sch.split(l, factors=f) for l, f in zip([i, j, k], tiles)]
    sch.reorder(i0, j0, i1, j1, k0, k1, i2, j2)
    def finish(s, block, unroll=[0, 16, 64]):
        s.annotate(block, "pragma_auto_unroll_max_step", s.sample_categorical(unroll, [1 / len(unroll)] * len(unroll)))
        return block
    finish(sch, c)
    for producer in sch.get_producers(d):
        assert sch.get(producer).name_hint == "C"
    sch.reverse_compute_at(d, j0)
    layout = lambda i, j: (i // tile, j // tile, i % tile, j % tile)
    sch.transform_layout(c, buffer=("write", 0), index_map=layout)
    for blk in sch.get_child_blocks(sch.get_block("root")):
        loops = sch.get_loops(blk)
        outer = loops[0]
        if "parallel" not in sch.get(outer).annotations and outer == loops[0]:
            pass
    sch.parallel(sch.get_loops(c)[0])
