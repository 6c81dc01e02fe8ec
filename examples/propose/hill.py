"""Hill climbing over tiles, as a program that `hone tune --propose 'python3 hill.py'` asks.

Of each task it keeps the fastest trace so far, whoever proposed it, and answers with neighbours of
it: a prime factor of a tile moves to another part of it (docs/tuning.md has the lines).
"""
import copy
import json
import random
import sys

best = {}  # by task: time, trace as [steps, decisions]
rng = random.Random(0)


def tiles(trace):
    """Decisions that are tiles: [index of the step, factors]."""
    return [d for d in trace[1] if trace[0][d[0]][0] == "SamplePerfectTile" and max(d[1]) > 1]


def neighbour(trace):
    found = copy.deepcopy(trace)
    if tiles(found):
        factors = rng.choice(tiles(found))[1]
        source = rng.choice([i for i, f in enumerate(factors) if f > 1])
        target = rng.choice([i for i in range(len(factors)) if i != source])
        prime = next(p for p in range(2, factors[source] + 1) if factors[source] % p == 0)
        factors[source] //= prime
        factors[target] *= prime
    return found


for line in sys.stdin:
    message = json.loads(line)
    task = message["task"]
    if message["event"] == "task":
        best[task] = (float("inf"), message["default"])
    elif message["event"] == "result" and message["outcome"] == "ok":
        best[task] = min(best[task], (message["time_ns"], message["trace"]), key=lambda b: b[0])
    elif message["event"] == "ask":
        for i in range(message["count"]):
            answer = {"task": task, "id": f"hill {i}", "trace": neighbour(best[task][1])}
            print(json.dumps(answer))
        print(json.dumps({"task": task, "pass": True}), flush=True)
