def pack(i, j):
    return i // 4, j // 4, i % 4, j % 4

class Rule:
    def apply(self, sch):
        pass

def main(mod):
    from tvm import s_tir
    sch = s_tir.Schedule(mod)
    sch.work_on("main")
    blocks = {name: sch.get_sblock(name) for name in ("C", "D")}
    for name, b in blocks.items():
        if name.startswith("D"):
            sch.transform_layout(blocks["C"], ("write", 0), pack, pad_value=None)
    l = sch.get_loops(blocks["D"])
    x, y = l[:2]
    fused = sch.fuse(x, y)
    total = sch.get(fused).extent.value
    bx, tx = sch.split(fused, factors=[total // 256, 256]) if total > 256 else (fused, None)
    if tx is not None:
        sch.bind(bx, "blockIdx.x")
        sch.bind(tx, "threadIdx.x")
    sizes = sorted({3, 1, 2}, reverse=True)
    assert sizes == [3, 2, 1] and max(sizes) == 3 and sum(sizes) == 6 and min(4, 5) == 4
    assert "%s_%d" % ("a", 3) == "a_3" and "{}-{:03d}".format("x", 7) == "x-007"
    assert [v for v in range(10) if v % 2 if v > 4] == [5, 7, 9]
    assert 2 ** 10 == 1024 and 7 / 2 == 3.5 and -7 // 2 == -4 and not None
    assert {k: v * 2 for k, v in {"a": 1}.items()} == {"a": 2}
    assert list(range(5))[::-1] == [4, 3, 2, 1, 0] and (1, 2) + (3,) == (1, 2, 3)
    assert any(v == 2 for v in sizes) and all([True, 1])
    assert 1 < 2 <= 2 and (3 if sizes else 4) == 3
    return sch
