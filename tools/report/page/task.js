/* task.js - one task: how it got faster, how good the cost model was, which decisions mattered, how
 * near it is to what the machine can do, its best records. */
"use strict";

const WINDOWS = 12, LEAST_IN_WINDOW = 8;
const LOOKS = ["s0", "s1", "s2", "s3"];

/* Rows of the data by name. */
const dotOf = ([number, seconds, ns, record, session, predicted, sketch, outcome]) =>
    ({ number, seconds, ns, record, session, predicted, sketch, outcome });
const stepOf = ([number, seconds, ns, record, session]) => ({ number, seconds, ns, record, session });

const openRecord = (record) => () => {
    state.set({ record }, true);
    byId("record-heading").focus();
};

/* ---- best so far ---- */

function xAxis(task) {
    const isTime = state.get("x") === "time", isLog = state.get("xscale") === "log";
    return {
        isLog, low: isLog ? undefined : 0,
        label: isTime ? "seconds since the session began" : "trial of its session",
        format: (x) => (isTime ? durationText(x) : countText(x)),
        of: (p) => (isTime ? p.seconds : p.number),
    };
}

function curveChart(db, task) {
    const x = xAxis(task), shown = (p) => isNumber(x.of(p)) && (!x.isLog || x.of(p) > 0);
    const at = (p, y, text) => ({ x: x.of(p), y, text, open: openRecord(p.record) });
    const dots = task.dots.map(dotOf).filter(shown), isLog = state.get("yscale", "log") === "log";
    const worst = Math.max(...dots.map((d) => d.ns || 0), ...task.runs.flatMap((r) => r.steps.map((s) => s[2])));
    const steps = task.runs.map((run, i) => {
        const points = run.steps.map(stepOf).filter(shown), last = points[points.length - 1];
        const rows = points.map((p) => at(p, p.ns, `record ${p.record}, trial ${p.number}: ${timeText(p.ns)}`));
        const ends = dots.filter((d) => d.session === run.session).map(x.of);
        if (last) rows.push({ x: Math.max(x.of(last), ...ends), y: last.ns });
        return { name: `best of session ${sessionName(db, run.session)}`, kind: "steps", look: LOOKS[i % LOOKS.length], points: rows };
    });
    const word = (d) => `record ${d.record}, trial ${d.number}`;
    return {
        title: "Best so far",
        summary: `${wholeText(task.trials)} trials, ${wholeText(task.failed)} failed; best ${timeText(task.best_ns)}, ` +
            `default ${timeText(task.default_ns)}. ${dots.length} trials are drawn.`,
        x, y: { label: "time of one run", format: timeText, isLog, low: isLog ? undefined : 0 },
        series: [
            { name: "a trial", kind: "dots", look: "dots", points: dots.filter((d) => d.ns).map((d) => at(d, d.ns, `${word(d)}: ${timeText(d.ns)}`)) },
            { name: "failed", kind: "crosses", look: "failed", points: dots.filter((d) => !d.ns && worst > 0).map((d) => at(d, worst, `${word(d)}: ${d.outcome}`)) },
            ...steps,
            { name: "confirmed", kind: "diamonds", look: "confirmed", points: task.confirmed_records.map(stepOf).filter(shown)
                .map((p) => at(p, p.ns, `record ${p.record}: confirmed at ${timeText(p.ns)}`)) },
        ],
    };
}

/* ---- the cost model ---- */

const judged = (task) => task.dots.map(dotOf).filter((d) => d.ns > 0 && isNumber(d.predicted));

/* In each window of trials: does a higher score go with a shorter time? */
function qualityChart(db, task) {
    const series = task.runs.map((run, i) => {
        const dots = judged(task).filter((d) => d.session === run.session);
        const size = Math.max(LEAST_IN_WINDOW, Math.ceil(dots.length / WINDOWS)), points = [];
        for (let from = 0; from + LEAST_IN_WINDOW <= dots.length; from += size) {
            const part = dots.slice(from, from + size), y = rankCorrelation(part.map((d) => d.predicted), part.map((d) => -d.ns));
            const [first, last] = [part[0].number, part[part.length - 1].number];
            if (isNumber(y)) points.push({ x: (first + last) / 2, y, text: `trials ${first} to ${last}: ${y.toFixed(2)} over ${part.length}` });
        }
        return { name: `session ${sessionName(db, run.session)}`, kind: "line", look: LOOKS[i % LOOKS.length], points };
    });
    const all = judged(task), whole = rankCorrelation(all.map((d) => d.predicted), all.map((d) => -d.ns));
    return {
        title: "Cost model over time",
        summary: `Rank correlation of scores and speed, 1 = the same order; ${isNumber(whole) ? whole.toFixed(2) : "unknown"} over ${all.length} trials.`,
        x: { label: "trial of its session", format: countText, low: 0 },
        y: { label: "rank correlation", format: (y) => digits(y), low: -1, high: 1 },
        series,
    };
}

function predictedChart(task) {
    const dots = judged(task);
    return {
        title: "Predicted against measured",
        summary: `Score before the trial (1 = as good as the best known) and the best time divided by the measured one, ${dots.length} trials.`,
        x: { label: "predicted score", format: digits },
        y: { label: "best / measured", format: digits, low: 0 },
        series: [{ name: "a trial", kind: "dots", look: "dots", points: dots.map((d) => ({
            x: d.predicted, y: Math.min(1.05, task.best_ns / d.ns), open: openRecord(d.record),
            text: `record ${d.record}: predicted ${digits(d.predicted)}, measured ${timeText(d.ns)}` })) }],
    };
}

/* ---- the roofline ---- */

/* Tasks of the same target, by operations for each byte that must move, with what they reach. */
const roofRows = (db, task) => db.tasks
    .filter((t) => t.target === task.target && t.flops > 0 && t.best_ns > 0 && bytesOfShapes(t.shapes))
    .map((t) => ({ task: t, gflops: gflopsOf(t.flops, t.best_ns), bytes: bytesOfShapes(t.shapes) }));

/* What the machine can do: as the latest session for the target measured it; null: none did. */
function machineOf(db, task) {
    const sessions = db.tasks.filter((t) => t.target === task.target).flatMap((t) => t.runs.map((run) => db.sessions[run.session]));
    return sessions.filter((s) => s?.peak_gflops > 0 && s.bandwidth_gbs > 0)
        .reduce((latest, s) => (latest && latest.started_ns >= s.started_ns ? latest : s), null);
}

/* The roofs are the machine's, or, where nobody measured these, the highest that any of the tasks reached; who looks may
 * give others. */
function roofsOf(db, task, rows) {
    const machine = machineOf(db, task), [peak, bandwidth] = [state.getNumber("peak"), state.getNumber("bandwidth")];
    return {
        name: peak || bandwidth ? "roof" : machine ? "roof: measured on the machine" : "roof: the highest reached here",
        peak: peak ?? machine?.peak_gflops ?? Math.max(...rows.map((r) => r.gflops)),
        bandwidth: bandwidth ?? machine?.bandwidth_gbs ?? Math.max(...rows.map((r) => r.bytes / r.task.best_ns)),
    };
}

/* What a task can reach, in GFLOPS; null: not known. */
function roofOf(db, task) {
    const bytes = bytesOfShapes(task.shapes), { peak, bandwidth } = roofsOf(db, task, roofRows(db, task));
    return bytes ? Math.min(peak, (bandwidth * task.flops) / bytes) : null;
}

function rooflineChart(db, task) {
    const rows = roofRows(db, task), { name, peak, bandwidth } = roofsOf(db, task, rows);
    const point = (r) => ({ x: r.task.flops / r.bytes, y: r.gflops, open: () => openTask(r.task),
        text: `${r.task.name}: ${digits(r.gflops)} GFLOPS at ${digits(r.task.flops / r.bytes)} operations a byte, ` +
            `${shareText(r.gflops / Math.min(peak, bandwidth * r.task.flops / r.bytes))} of the roof` });
    const xs = rows.map((r) => r.task.flops / r.bytes), knee = peak / bandwidth;
    const low = Math.min(knee, ...xs) / 1.5, high = Math.max(knee, ...xs) * 1.5;
    const roof = rows.length ? [low, knee, high].map((x) => ({ x, y: Math.min(peak, x * bandwidth) })) : [];
    const mine = rows.find((r) => r.task === task);
    return {
        title: "Roofline", peak, bandwidth,
        summary: mine ? `${point(mine).text}. Bytes are those of the tensors, each once; the roof is that of memory, caches are faster.` : "Operations or sizes of this task are not known.",
        x: { label: "operations a byte", format: digits, isLog: true },
        y: { label: "GFLOPS", format: digits, isLog: true },
        series: [
            { name, kind: "line", look: "roof", points: roof },
            { name: "other tasks", kind: "dots", look: "dots", points: rows.filter((r) => r !== mine).map(point) },
            { name: "this task", kind: "diamonds", look: "confirmed", points: mine ? [point(mine)] : [] },
        ],
    };
}

/* ---- the section ---- */

const taskView = {
    make() {
        const figure = (name) => (this[name] = make("figure", name === "curve" ? { class: "wide" } : {}));
        this.facts = make("div");
        this.controls = make("div", { class: "controls" });
        this.roofs = make("div", { class: "controls" });
        this.choices = make("div");
        this.top = make("div");
        byId("task").append(this.facts, this.controls,
            make("div", { class: "charts" }, figure("curve"), figure("quality"), figure("predicted"), figure("roofline")),
            this.roofs, make("h3", {}, "Which decisions mattered"), this.choices, make("h3", {}, "Best records"), this.top);
        this.showChoices = makeTable(this.choices, [
            { key: "name", name: "Decision", text: (c) => c.name, isLong: true, isHeader: true },
            { key: "sketch", name: "Sketch", text: (c) => String(c.sketch), value: (c) => c.sketch, isNumber: true },
            { key: "values", name: "Values", text: (c) => wholeText(c.values), value: (c) => c.values, isNumber: true },
            { key: "trials", name: "Trials", text: (c) => wholeText(c.trials), value: (c) => c.trials, isNumber: true },
            { key: "best", name: "Best value", text: (c) => wholeText(c.best_value), value: (c) => c.best_value, isNumber: true },
            { key: "share", name: "Spread explained", text: (c) => shareText(c.share), value: (c) => c.share, isNumber: true },
        ], { id: "choices", caption: "Share of the spread of time that each decision explains", sort: "share.down" });
        this.showTop = makeTable(this.top, [
            { key: "rank", name: "Rank", text: (r) => String(r.rank), value: (r) => r.rank, isNumber: true },
            { key: "record", name: "Record", text: (r) => String(r.record), value: (r) => r.record, isHeader: true, isNumber: true,
                cell: (r) => make("button", { type: "button", class: "link", id: `record-${r.record}`, click: openRecord(r.record) }, String(r.record)) },
            { key: "median", name: "Time", text: (r) => timeText(r.median_ns), value: (r) => r.median_ns, isNumber: true },
            { key: "confirmed", name: "Confirmed", text: (r) => timeText(r.confirmed_ns), value: (r) => r.confirmed_ns, isNumber: true },
            { key: "spread", name: "Spread", text: (r) => shareText(r.spread_fraction), value: (r) => r.spread_fraction, isNumber: true },
            { key: "predicted", name: "Predicted", text: (r) => (isNumber(r.predicted_score) ? digits(r.predicted_score) : "-"),
                value: (r) => r.predicted_score, isNumber: true },
            { key: "sketch", name: "Sketch", text: (r) => String(r.sketch), value: (r) => r.sketch, isNumber: true },
            { key: "variant", name: "Variant", text: (r) => r.variant || "-" },
            { key: "session", name: "Session", text: (r) => r.session.slice(0, 8) },
            { key: "device", name: "Device", text: (r) => r.device || "-" },
        ], { id: "top", caption: "Best records, as hone compile takes them", sort: "rank.up", current: (r) => String(r.record) === state.get("record") });
    },
    showControls() {
        this.controls.replaceChildren(
            stateSelect("Across", "x", [["trials", "trials"], ["time", "time"]], "trials"),
            stateSelect("scale", "xscale", [["linear", "linear"], ["log", "logarithmic"]], "linear"),
            stateSelect("Times", "yscale", [["log", "logarithmic"], ["linear", "linear"]], "log"));
    },
    show(db, task) {
        byId("task-heading").textContent = task ? `Task ${task.name}` : "Task";
        if (!task) return;
        this.facts.replaceChildren(facts([
            ["best", timeText(task.best_ns)], ["default", timeText(task.default_ns)], ["gain", ratioText(gainOf(task))],
            ["tensors", task.shapes], ["target", db.targets[task.target]?.name || "-"], ["workload", make("code", {}, task.workload_hash)]]));
        this.showControls();
        showChart(this.curve, curveChart(db, task));
        showChart(this.quality, qualityChart(db, task));
        showChart(this.predicted, predictedChart(task));
        const roofline = rooflineChart(db, task);
        showChart(this.roofline, roofline);
        this.roofs.replaceChildren(stateNumber("Peak of the machine, GFLOPS", "peak", roofline.peak),
            stateNumber("Bandwidth of its memory, GB/s", "bandwidth", roofline.bandwidth));
        this.showChoices(task.choices);
        this.showTop(task.top.map((record, i) => ({ ...record, rank: i + 1 })));
    },
};
