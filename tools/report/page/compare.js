/* compare.js - two databases, or two sessions, task by task. */
"use strict";

/* What can be compared: [value, name, Map of task key to {name, ns, record}]. */
function sidesOf(databases) {
    return databases.flatMap((db) => [
        { value: `${db.at}`, name: `${db.title}, all`, db, best: (t) => ({ ns: t.best_ns, record: t.top[0]?.record }) },
        ...db.sessions.map((s, i) => ({
            value: `${db.at}.${s.id.slice(0, 8)}`, name: `${db.title}, session ${s.id.slice(0, 8)} of ${dateText(s.started_ns)}`, db,
            best: (t) => { const run = t.runs.find((r) => r.session === i); return { ns: run?.best_ns, record: run?.best_record }; },
        }))]);
}

function rowsOf(a, b) {
    const rows = new Map(), keyOf = (db, t) => `${t.workload_hash} ${db.targets[t.target]?.hash}`;
    const add = (side, name) => side.db.tasks.forEach((t) => {
        const best = side.best(t), key = keyOf(side.db, t);
        if (!isNumber(best.ns)) return;
        if (!rows.has(key)) rows.set(key, { name: t.name, shapes: t.shapes, target: side.db.targets[t.target]?.name || "-" });
        rows.get(key)[name] = best;
    });
    add(a, "a");
    add(b, "b");
    return [...rows.values()].map((r) => ({ ...r, ratio: r.a && r.b ? r.a.ns / r.b.ns : null }));
}

const compareView = {
    make() {
        this.controls = make("div", { class: "controls" });
        this.summary = make("p", { role: "status" });
        this.table = make("div");
        byId("compare").append(this.controls, this.summary, this.table);
        const side = (key, name) => ({ key, name, text: (r) => timeText(r[key]?.ns), value: (r) => r[key]?.ns ?? null, isNumber: true });
        this.showRows = makeTable(this.table, [
            { key: "name", name: "Task", text: (r) => r.name, isHeader: true },
            { key: "shapes", name: "Tensors", text: (r) => r.shapes, isLong: true },
            { key: "target", name: "Target", text: (r) => r.target },
            side("a", "A"), side("b", "B"),
            { key: "ratio", name: "A / B", text: (r) => ratioText(r.ratio), value: (r) => r.ratio, isNumber: true },
        ], { id: "compare", caption: "Best times of A and B", sort: "ratio.down", filter: "Filter compared tasks" });
    },
    show(databases) {
        const sides = sidesOf(databases), options = sides.map((s) => [s.value, s.name]);
        const usualB = databases.length > 1 ? "1" : options[options.length - 1][0];
        const find = (name, usual) => sides.find((s) => s.value === state.get(name, usual)) || sides.find((s) => s.value === usual);
        this.controls.replaceChildren(stateSelect("A", "a", options, "0"), stateSelect("B", "b", options, usualB));
        const rows = rowsOf(find("a", "0"), find("b", usualB)), ratios = rows.map((r) => r.ratio).filter(isNumber);
        const faster = ratios.filter((r) => r > 1.02).length, slower = ratios.filter((r) => r < 0.98).length;
        this.summary.textContent = ratios.length
            ? `${ratios.length} tasks in both: B is faster in ${faster}, slower in ${slower}, within 2 % in ${ratios.length - faster - slower}; ` +
              `geometric mean of A / B ${ratioText(geometricMean(ratios))}.`
            : "No task is in both.";
        this.showRows(rows);
    },
};
