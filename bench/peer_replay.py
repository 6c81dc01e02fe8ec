"""The other side of bench_replay: TVM's MetaSchedule replays its own sketches.

Reads lines from standard input, answers each with one line:
    load FILE CORES     the program's text; answers "ok SKETCHES", or "error …"
    run KIND COUNT      KIND replay | postproc | features; answers the seconds that COUNT replays took
"""
import sys
import time

import tvm
from tvm.s_tir import meta_schedule as ms
from tvm.s_tir.schedule import Schedule, Trace
from tvm.script import from_source


class Task:
    def __init__(self, path, cores):
        with open(path, encoding="utf-8") as file:
            func = from_source(file.read())
        self.mod = func if isinstance(func, tvm.IRModule) else tvm.IRModule({"main": func})
        target = tvm.target.Target({"kind": "llvm", "mcpu": "x86-64-v3", "num-cores": cores})
        self.context = ms.TuneContext(
            mod=self.mod,
            target=target,
            space_generator="post-order-apply",
            search_strategy="evolutionary",
            task_name="replay",
            rand_state=1,
            num_threads=1,
        )
        self.sketches = [s.trace.insts for s in self.context.generate_design_space()]
        self.extractor = ms.feature_extractor.PerStoreFeature()
        self.seed = 0

    def run(self, kind, count):
        postprocs = self.context.space_generator.postprocs
        start = time.perf_counter()
        for i in range(count):
            self.seed += 1
            schedule = Schedule(self.mod, seed=self.seed, error_render_level="none")
            sketch = self.sketches[i % len(self.sketches)]
            Trace(sketch, {}).apply_to_schedule(schedule, remove_postproc=True)
            if kind == "replay":
                continue
            schedule.enter_postproc()
            all(postproc.apply(schedule) for postproc in postprocs)
            if kind == "features":
                self.extractor.extract_from(self.context, [ms.MeasureCandidate(schedule, [])])
        return time.perf_counter() - start


def answer(task, words):
    if words[0] == "load":
        task = Task(words[1], int(words[2]))
        return task, f"ok {len(task.sketches)}"
    return task, f"{task.run(words[1], int(words[2])):.9f}"


def main():
    task = None
    for line in sys.stdin:
        try:
            task, text = answer(task, line.split())
        except Exception as error:  # the bench goes on without this row
            text = "error " + str(error).replace("\n", " ")[:200]
        print(text, flush=True)


main()
