"""The steps of schedules as methods. Written by python/generate.py from schedule/trace/insts.def:
change that."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from ._variables import Access, Block, Buffer, Decision, Factor, Integer, Loop, Map

Argument = Tuple[Optional[str], Any]
Given = Sequence[Argument]


class Primitives:
    """What a schedule can be told."""

    def _do(self, method: str, given: Given) -> None:
        raise NotImplementedError

    def _one(self, kind: Callable[[str], Any], method: str, given: Given) -> Any:
        raise NotImplementedError

    def _many(self, kind: Callable[[str], Any], method: str, given: Given) -> List[Any]:
        raise NotImplementedError

    def use_variant(self, variant: str, version: int = 0, program: str = "",
                    error: str = "") -> None:
        given: List[Argument] = [("variant", variant), ("version", version), ("program", program),
            ("error", error)]
        self._do("use_variant", given)

    def sample_categorical(self, candidates: Sequence[int], probs: Sequence[float],
                           decision: Decision = None) -> Integer:
        given: List[Argument] = [("candidates", candidates), ("probs", probs),
            ("decision", decision)]
        given = [pair for pair in given if pair[1] is not None]
        made: Integer = self._one(Integer, "sample_categorical", given)
        return made

    def sample_perfect_tile(self, loop: Loop, n: int, max_innermost_factor: int = 16,
                            decision: Decision = None) -> List[Integer]:
        given: List[Argument] = [("loop", loop), ("n", n),
            ("max_innermost_factor", max_innermost_factor), ("decision", decision)]
        given = [pair for pair in given if pair[1] is not None]
        made: List[Integer] = self._many(Integer, "sample_perfect_tile", given)
        return made

    def sample_partitioned_tile(self, loop: Loop, n: int, partition_pos: int = 0,
                                innerpart_factor: int = 1,
                                decision: Decision = None) -> List[Integer]:
        given: List[Argument] = [("loop", loop), ("n", n), ("partition_pos", partition_pos),
            ("innerpart_factor", innerpart_factor), ("decision", decision)]
        given = [pair for pair in given if pair[1] is not None]
        made: List[Integer] = self._many(Integer, "sample_partitioned_tile", given)
        return made

    def sample_compute_location(self, block: Block, decision: Decision = None) -> Loop:
        given: List[Argument] = [("block", block), ("decision", decision)]
        given = [pair for pair in given if pair[1] is not None]
        made: Loop = self._one(Loop, "sample_compute_location", given)
        return made

    def get_sblock(self, name: str, func_name: Optional[str] = None) -> Block:
        given: List[Argument] = [("name", name), ("func_name", func_name)]
        given = [pair for pair in given if pair[1] is not None]
        made: Block = self._one(Block, "get_sblock", given)
        return made

    def get_loops(self, block: Block) -> List[Loop]:
        given: List[Argument] = [("block", block)]
        made: List[Loop] = self._many(Loop, "get_loops", given)
        return made

    def get_child_blocks(self, block_or_loop: Union[Block, Loop]) -> List[Block]:
        given: List[Argument] = [("block_or_loop", block_or_loop)]
        made: List[Block] = self._many(Block, "get_child_blocks", given)
        return made

    def get_producers(self, block: Block) -> List[Block]:
        given: List[Argument] = [("block", block)]
        made: List[Block] = self._many(Block, "get_producers", given)
        return made

    def get_consumers(self, block: Block) -> List[Block]:
        given: List[Argument] = [("block", block)]
        made: List[Block] = self._many(Block, "get_consumers", given)
        return made

    def get_output_blocks(self, scope_block: Block) -> List[Block]:
        given: List[Argument] = [("scope_block", scope_block)]
        made: List[Block] = self._many(Block, "get_output_blocks", given)
        return made

    def split(self, loop: Loop, factors: Sequence[Factor], preserve_unit_iters: bool = True,
              disable_predication: bool = False) -> List[Loop]:
        given: List[Argument] = [("loop", loop), ("factors", factors),
            ("preserve_unit_iters", preserve_unit_iters),
            ("disable_predication", disable_predication)]
        made: List[Loop] = self._many(Loop, "split", given)
        return made

    def fuse(self, *loops: Loop, preserve_unit_iters: bool = True) -> Loop:
        given: List[Argument] = [*[(None, loop) for loop in loops],
            ("preserve_unit_iters", preserve_unit_iters)]
        made: Loop = self._one(Loop, "fuse", given)
        return made

    def merge(self, *loops: Loop) -> Loop:
        given: List[Argument] = [*[(None, loop) for loop in loops]]
        made: Loop = self._one(Loop, "merge", given)
        return made

    def loop_partition(self, loop: Loop, factors: Sequence[Factor],
                       preserve_unit_iters: bool = True) -> List[Loop]:
        given: List[Argument] = [("loop", loop), ("factors", factors),
            ("preserve_unit_iters", preserve_unit_iters)]
        made: List[Loop] = self._many(Loop, "loop_partition", given)
        return made

    def reorder(self, *ordered_loops: Loop) -> None:
        given: List[Argument] = [*[(None, loop) for loop in ordered_loops]]
        self._do("reorder", given)

    def reorder_block_iter_var(self, block: Block, new_order: Sequence[int]) -> None:
        given: List[Argument] = [("block", block), ("new_order", new_order)]
        self._do("reorder_block_iter_var", given)

    def add_unit_loop(self, block_or_loop: Union[Block, Loop]) -> Loop:
        given: List[Argument] = [("block_or_loop", block_or_loop)]
        made: Loop = self._one(Loop, "add_unit_loop", given)
        return made

    def parallel(self, loop: Loop) -> None:
        given: List[Argument] = [("loop", loop)]
        self._do("parallel", given)

    def vectorize(self, loop: Loop) -> None:
        given: List[Argument] = [("loop", loop)]
        self._do("vectorize", given)

    def unroll(self, loop: Loop) -> None:
        given: List[Argument] = [("loop", loop)]
        self._do("unroll", given)

    def bind(self, loop: Loop, thread_axis: str) -> None:
        given: List[Argument] = [("loop", loop), ("thread_axis", thread_axis)]
        self._do("bind", given)

    def compute_at(self, block: Block, loop: Loop, preserve_unit_loops: bool = False,
                   index: int = -1) -> None:
        given: List[Argument] = [("block", block), ("loop", loop),
            ("preserve_unit_loops", preserve_unit_loops), ("index", index)]
        self._do("compute_at", given)

    def reverse_compute_at(self, block: Block, loop: Loop, preserve_unit_loops: bool = False,
                           index: int = -1) -> None:
        given: List[Argument] = [("block", block), ("loop", loop),
            ("preserve_unit_loops", preserve_unit_loops), ("index", index)]
        self._do("reverse_compute_at", given)

    def compute_inline(self, block: Block) -> None:
        given: List[Argument] = [("block", block)]
        self._do("compute_inline", given)

    def reverse_compute_inline(self, block: Block) -> None:
        given: List[Argument] = [("block", block)]
        self._do("reverse_compute_inline", given)

    def cache_read(self, block: Block, read_buffer_index: Buffer, storage_scope: str,
                   consumer_blocks: Optional[Sequence[Block]] = None) -> Block:
        given: List[Argument] = [("block", block), ("read_buffer_index", read_buffer_index),
            ("storage_scope", storage_scope), ("consumer_blocks", consumer_blocks)]
        given = [pair for pair in given if pair[1] is not None]
        made: Block = self._one(Block, "cache_read", given)
        return made

    def cache_write(self, block: Block, write_buffer_index: Buffer, storage_scope: str,
                    consumer_blocks: Optional[Sequence[Block]] = None) -> Block:
        given: List[Argument] = [("block", block), ("write_buffer_index", write_buffer_index),
            ("storage_scope", storage_scope), ("consumer_blocks", consumer_blocks)]
        given = [pair for pair in given if pair[1] is not None]
        made: Block = self._one(Block, "cache_write", given)
        return made

    def reindex(self, block: Block, buffer: Access) -> Block:
        given: List[Argument] = [("block", block), ("buffer", buffer)]
        made: Block = self._one(Block, "reindex", given)
        return made

    def cache_inplace(self, block: Block, read_buffer_index: Buffer,
                      storage_scope: str) -> List[Block]:
        given: List[Argument] = [("block", block), ("read_buffer_index", read_buffer_index),
            ("storage_scope", storage_scope)]
        made: List[Block] = self._many(Block, "cache_inplace", given)
        return made

    def cache_index(self, block: Block, storage_scope: str, cse_thresh: int = 0) -> List[Block]:
        given: List[Argument] = [("block", block), ("storage_scope", storage_scope),
            ("cse_thresh", cse_thresh)]
        made: List[Block] = self._many(Block, "cache_index", given)
        return made

    def read_at(self, loop: Loop, block: Block, read_buffer_index: Buffer,
                storage_scope: str) -> Block:
        given: List[Argument] = [("loop", loop), ("block", block),
            ("read_buffer_index", read_buffer_index), ("storage_scope", storage_scope)]
        made: Block = self._one(Block, "read_at", given)
        return made

    def write_at(self, loop: Loop, block: Block, write_buffer_index: Buffer,
                 storage_scope: str) -> Block:
        given: List[Argument] = [("loop", loop), ("block", block),
            ("write_buffer_index", write_buffer_index), ("storage_scope", storage_scope)]
        made: Block = self._one(Block, "write_at", given)
        return made

    def reindex_cache_read(self, block: Block, read_buffer_index: Buffer, storage_scope: str,
                           index_map: Map) -> Block:
        given: List[Argument] = [("block", block), ("read_buffer_index", read_buffer_index),
            ("storage_scope", storage_scope), ("index_map", index_map)]
        made: Block = self._one(Block, "reindex_cache_read", given)
        return made

    def reindex_cache_write(self, block: Block, write_buffer_index: Buffer, storage_scope: str,
                            index_map: Map) -> Block:
        given: List[Argument] = [("block", block), ("write_buffer_index", write_buffer_index),
            ("storage_scope", storage_scope), ("index_map", index_map)]
        made: Block = self._one(Block, "reindex_cache_write", given)
        return made

    def transform_layout(self, block: Block, buffer: Access, index_map: Map,
                         pad_value: Optional[Map] = None,
                         assume_injective_transform: bool = False) -> None:
        given: List[Argument] = [("block", block), ("buffer", buffer), ("index_map", index_map),
            ("pad_value", pad_value), ("assume_injective_transform", assume_injective_transform)]
        given = [pair for pair in given if pair[1] is not None]
        self._do("transform_layout", given)

    def set_axis_separator(self, block: Block, buffer: Access,
                           axis_separators: Sequence[int]) -> None:
        given: List[Argument] = [("block", block), ("buffer", buffer),
            ("axis_separators", axis_separators)]
        self._do("set_axis_separator", given)

    def transform_block_layout(self, block: Block, index_map: Map) -> None:
        given: List[Argument] = [("block", block), ("index_map", index_map)]
        self._do("transform_block_layout", given)

    def fuse_reduction_epilogue(self, reduction_block: Block, epilogue_block: Block) -> None:
        given: List[Argument] = [("reduction_block", reduction_block),
            ("epilogue_block", epilogue_block)]
        self._do("fuse_reduction_epilogue", given)

    def decompose_reduction(self, block: Block, loop: Loop) -> Block:
        given: List[Argument] = [("block", block), ("loop", loop)]
        made: Block = self._one(Block, "decompose_reduction", given)
        return made

    def rfactor(self, loop: Loop, factor_axis: int) -> Block:
        given: List[Argument] = [("loop", loop), ("factor_axis", factor_axis)]
        made: Block = self._one(Block, "rfactor", given)
        return made

    def storage_align(self, block: Block, buffer_index: Buffer, axis: int, factor: int,
                      offset: int) -> None:
        given: List[Argument] = [("block", block), ("buffer_index", buffer_index), ("axis", axis),
            ("factor", factor), ("offset", offset)]
        self._do("storage_align", given)

    def set_scope(self, block: Block, buffer_index: Buffer, storage_scope: str) -> None:
        given: List[Argument] = [("block", block), ("buffer_index", buffer_index),
            ("storage_scope", storage_scope)]
        self._do("set_scope", given)

    def unsafe_set_dtype(self, block: Block, buffer_index: Buffer, dtype: str) -> None:
        given: List[Argument] = [("block", block), ("buffer_index", buffer_index), ("dtype", dtype)]
        self._do("unsafe_set_dtype", given)

    def unsafe_hide_buffer_access(self, block: Block, buf_type: Any,
                                  buf_index_array: Sequence[int]) -> None:
        given: List[Argument] = [("block", block), ("buf_type", buf_type),
            ("buf_index_array", buf_index_array)]
        self._do("unsafe_hide_buffer_access", given)

    def annotate_buffer_access(self, block: Block, buffer_index: Any, buf_type: str,
                               gen_new_ranges: Map) -> None:
        given: List[Argument] = [("block", block), ("buffer_index", buffer_index),
            ("buf_type", buf_type), ("gen_new_ranges", gen_new_ranges)]
        self._do("annotate_buffer_access", given)

    def annotate(self, block_or_loop: Union[Block, Loop], ann_key: str, ann_val: Any) -> None:
        given: List[Argument] = [("block_or_loop", block_or_loop), ("ann_key", ann_key),
            ("ann_val", ann_val)]
        self._do("annotate", given)

    def unannotate(self, block_or_loop: Union[Block, Loop], ann_key: str) -> None:
        given: List[Argument] = [("block_or_loop", block_or_loop), ("ann_key", ann_key)]
        self._do("unannotate", given)

    def enter_postproc(self) -> None:
        given: List[Argument] = []
        self._do("enter_postproc", given)

    def decompose_padding(self, block: Block, loop: Loop) -> Block:
        given: List[Argument] = [("block", block), ("loop", loop)]
        made: Block = self._one(Block, "decompose_padding", given)
        return made

    def pad_einsum(self, block: Block, padding: Sequence[int]) -> None:
        given: List[Argument] = [("block", block), ("padding", padding)]
        self._do("pad_einsum", given)

    def rolling_buffer(self, block: Block, write_buffer_index: Buffer) -> None:
        given: List[Argument] = [("block", block), ("write_buffer_index", write_buffer_index)]
        self._do("rolling_buffer", given)

    def tensorize(self, block_or_loop: Union[Block, Loop], tensor_intrin: str,
                  preserve_unit_iters: bool = True) -> None:
        given: List[Argument] = [("block_or_loop", block_or_loop), ("tensor_intrin", tensor_intrin),
            ("preserve_unit_iters", preserve_unit_iters)]
        self._do("tensorize", given)

    def blockize(self, target: Union[Block, Loop, Sequence[Block]],
                 preserve_unit_iters: bool = True) -> Block:
        given: List[Argument] = [("target", target), ("preserve_unit_iters", preserve_unit_iters)]
        made: Block = self._one(Block, "blockize", given)
        return made
