"""What the rows of bench/search come to (the fields of a row: search.py's measure)."""
import csv
import itertools
import math
import statistics

NEAR = 0.95  # of the final best
BATCH = 8    # proposals whose predicted scores can be compared
APART = 1.05  # times of a pair that the cost model should rank
QUIET = 0.02  # a timing that other work of the run did not disturb
SAME = 1.01   # two runs find the same where their best times differ by less


def pair_accuracy(trials):
    """The share of pairs of one batch that the cost model ranked rightly before they were measured."""
    right = pairs = 0
    known = [t for t in trials if t["predicted_score"] is not None and t["median_ns"]]
    for _, batch in itertools.groupby(sorted(known, key=lambda t: t["proposal"]), lambda t: t["proposal"] // BATCH):
        for a, b in itertools.combinations(batch, 2):
            slow, fast = sorted((a, b), key=lambda t: -t["median_ns"])
            if slow["median_ns"] >= APART * fast["median_ns"]:
                pairs += 1
                right += fast["predicted_score"] > slow["predicted_score"]
    return round(right / pairs, 3) if pairs else None


def beside_quiet(trials):
    """Of each record that was confirmed: its time as a trial, between builds and searching, over that of the
    confirmation, when nothing else of the run was left."""
    return [round(t["median_ns"] / t["confirmed_ns"], 4) for t in trials if t["median_ns"] and t["confirmed_ns"]]


def facts_of(summary, trials):
    """Of `hone tune --json` and the rows of v_trials. Shares are of the wall time; builds add up over builders."""
    elapsed = summary["elapsed_seconds"]
    return {"trials": len(trials), "elapsed_s": elapsed,
            "per_second": len(trials) / elapsed,
            "shares": {name: round(summary["seconds"][name] / elapsed, 3)
                       for name in ("search", "build", "measure", "train", "confirm")},
            "sketches": len({t["sketch"] for t in trials}),
            "duplicates": len(trials) - len({t["program_hash"] for t in trials}),
            "failed": sum(t["outcome"] != "ok" for t in trials),
            "best_sketch": min((t for t in trials if t["median_ns"]), key=lambda t: t["median_ns"],
                               default={"sketch": None})["sketch"],
            "converged": summary["converged"], "used_up": summary["used_up"],
            "beside_quiet": beside_quiet(trials),
            "ranked_before": pair_accuracy(trials)}


def steps_of(curve):
    """The trials at which something became better."""
    steps = []
    for point in curve:
        if point["ns"] and (not steps or point["ns"] < steps[-1][1]):
            steps.append([point["trial"], point["ns"], round(point["s"], 3)])
    return steps


def first_at(row, ns):
    """Trial and seconds of the first that took no more than so long; None when there is none."""
    return next(((trial, seconds) for trial, best, seconds in row["tune"]["curve"] if best <= ns), None)


def to_near(row):
    curve = row["tune"]["curve"]
    return first_at(row, curve[-1][1] / NEAR)[0] if curve else None


def best_other(row):
    """The hand-written schedule or the fastest library, and its time over ours."""
    others = [(r["ratio"], name) for name, r in row["beside"].items() if name not in ("default", "TVM")]
    return min(others, default=None)


def of_default(row):
    return row["beside"]["default"]["ratio"]


def of_tvm(row):
    return row["beside"]["TVM"]["ratio"] if "TVM" in row["beside"] else None


def time_to_tvm(row):
    """Our seconds until we had what TVM found, over TVM's; None without TVM, or where the first trial was there."""
    if "tvm" not in row or of_tvm(row) is None or not row["tune"]["curve"]:
        return None
    there = first_at(row, row["tune"]["curve"][-1][1] * of_tvm(row))
    if there is None:
        return math.inf
    return there[1] / row["tvm"]["seconds"] if there[0] > 1 else None


def to_random(row):
    """The trial that was as fast as all that random search found; None where it was not asked, inf: none was."""
    if not row.get("random") or not row["random"]["ns"] or not row["tune"]["curve"]:
        return None
    there = first_at(row, row["random"]["ns"] * SAME)
    return there[0] if there else math.inf


def ranked(kind, key):
    """What rank_trials says of a row: "drawn" or "found" candidates."""
    return lambda row: row.get("ranking", {}).get(kind, {}).get(key)


def line(row):
    other, tune = best_other(row), row["tune"]
    parts = [f"{row['work']}, {row['threads']}t, seed {row['seed']}: {row['us']:.1f} us",
             f"{of_default(row):.2f} x the default"]
    if other:
        parts.append(f"{other[0]:.2f} x {other[1]}")
    if of_tvm(row):
        parts.append(f"{of_tvm(row):.2f} x TVM")
    parts.append(f"{tune['trials']} trials, {tune['per_second']:.1f}/s, near at {to_near(row)}")
    return ", ".join(parts) + f"  (load {row['load'][0]:.0f} to {row['load'][1]:.0f})"


def mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def of_works(rows, measure):
    """The median over its seeds of each (work, threads) where the measure is known."""
    found = {}
    for row in rows:
        value = measure(row)
        if value is not None:
            found.setdefault((row["work"], row["threads"]), []).append(value)
    return {key: statistics.median(values) for key, values in found.items()}


def spreads(rows):
    """Largest over smallest best of the seeds, relative to the default schedule, where there are several."""
    found = {}
    for row in rows:
        found.setdefault((row["work"], row["threads"]), []).append(of_default(row))
    return [max(values) / min(values) for values in found.values() if len(values) > 1]


def ratios(label, values):
    if not values:
        return [f"{label}: not measured"]
    worst = min(values, key=values.get)
    return [f"{label}: {mean(values.values()):.3f}; worst {values[worst]:.3f} ({worst[0]}, {worst[1]}t); "
            f"{len(values)} works"]


def of_random(rows):
    found = of_works(rows, to_random)
    if not found:
        return []
    trials = {row["random"]["trials"] for row in rows if row.get("random")}
    never = sum(map(math.isinf, found.values()))
    return [f"trials to what random search found in {max(trials)}, median: {statistics.median(found.values()):.0f}; "
            f"{never} of {len(found)} never got there"]


def of_ranking(rows):
    """The same pairs and the same best ones before any trial and after some."""
    text = []
    for kind, where in (("drawn", "at random from the space"), ("found", "by the search behind them")):
        parts = []
        for name, label in (("", "pairs"), ("best_", "best 10 in the predicted 32")):
            values = [of_works(rows, ranked(kind, name + when)) for when in ("before", "after")]
            if all(values):
                again = of_works(rows, ranked(kind, name + "again"))
                parts.append(f"{label} " + " -> ".join(f"{statistics.fmean(v.values()):.2f}" for v in values)
                             + (f" (measured again {statistics.fmean(again.values()):.2f})" if again else ""))
        taught = max((row["ranking"]["taught"] for row in rows if row.get("ranking")), default=0)
        if parts:
            text.append(f"ranked before any trial -> after {taught}, candidates that were found {where}, mean: "
                        + "; ".join(parts))
    return text


def of_replay(rows, cpu, commit):
    return ["candidates made, postprocessed and described a second, one thread: "
            + ", ".join(f"{work} {count}" for work, count in row["per_second"].items())
            for row in rows if (row["cpu"], row["commit"]) == (cpu, commit)]


def of_quiet(rows):
    """How far other work of the run is from its timings."""
    ratios_of = [ratio for row in rows for ratio in row["tune"].get("beside_quiet", [])]
    if not ratios_of:
        return []
    near = sum(abs(ratio - 1) <= QUIET for ratio in ratios_of)
    return [f"timings within a run over those of the quiet confirmation, median: {statistics.median(ratios_of):.3f}; "
            f"{near} of {len(ratios_of)} within {100 * QUIET:.0f} %"]


def of_group(rows):
    others = of_works(rows, lambda row: best_other(row)[0] if best_other(row) else None)
    tvm_time = of_works(rows, time_to_tvm)
    near = of_works(rows, to_near)
    in_batches = of_works(rows, lambda row: row["tune"]["ranked_before"])
    shares = {name: statistics.median(row["tune"]["shares"][name] for row in rows)
              for name in rows[0]["tune"]["shares"]}
    text = ratios("time of the hand-written schedule or best library over ours, geometric mean", others)
    text += ratios("time of the default schedule over ours", of_works(rows, of_default))
    text += ratios("time of TVM's best over ours", of_works(rows, of_tvm))
    text.append(f"trials to {NEAR} of the final best, median: {statistics.median(near.values()):.0f}")
    if tvm_time:
        never = sum(map(math.isinf, tvm_time.values()))
        text.append(f"our time to TVM's result over TVM's, median: {statistics.median(tvm_time.values()):.3f}; "
                    f"{never} of {len(tvm_time)} never got there")
    text.append(f"trials per second, median: {statistics.median(row['tune']['per_second'] for row in rows):.1f}")
    text.append("shares of the wall time, median: "
                + ", ".join(f"{name} {share:.2f}" for name, share in shares.items()))
    text += of_quiet(rows) + of_random(rows) + of_ranking(rows)
    if in_batches:
        text.append("pairs of a batch ranked rightly beforehand, by what was known then, mean: "
                    f"{statistics.fmean(in_batches.values()):.2f}")
    trials, failed, copies = (sum(row["tune"][name] for row in rows) for name in ("trials", "failed", "duplicates"))
    text.append(f"trials: {trials}, failed {failed}, copies {copies}; sketches of a work, median: "
                f"{statistics.median(row['tune']['sketches'] for row in rows):.0f}")
    if spreads(rows):
        text.append(f"best over worst seed: median {statistics.median(spreads(rows)):.3f}, "
                    f"largest {max(spreads(rows)):.3f}")
    return text


def summary(rows, replays=()):
    """Rows of unlike CPUs, commits, trials or variants are not mixed."""
    def group(row):
        return row["cpu"], row["commit"], row["trials"], row["variants"]
    text = ""
    for (cpu, commit, trials, variants), found in itertools.groupby(sorted(rows, key=group), group):
        found = list(found)
        loads = [load for row in found for load in row["load"]]
        text += (f"{cpu}, commit {commit}, {trials} trials, variants {variants}: {len(found)} rows, "
                 f"load {min(loads):.0f} to {max(loads):.0f}\n")
        text += "".join(f"  {item}\n" for item in [*map(line, found), *of_group(found),
                                                 *of_replay(replays, cpu, commit)])
    return text or "no rows\n"


def write_curves(rows, path):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        keys = ["cpu", "commit", "trials", "variants", "work", "threads", "seed"]
        out.writerow([*keys, "trial", "best_ns", "elapsed_s"])
        for row in rows:
            out.writerows([row[key] for key in keys] + step for step in row["tune"]["curve"])
