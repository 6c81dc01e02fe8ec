/* overview.js - what is in a database: counts, where the time went, sessions, failures, tasks. */
"use strict";

const PHASES = {
    search: "searching and replaying", build: "building", transfer: "sending to devices", load: "loading",
    check: "checking results", measure: "measuring", other: "none of these: training, confirming, waiting",
};

function taskKey(task) {
    return `${task.workload_hash.slice(0, 8)}.${task.target_hash.slice(0, 4)}`;
}

const sessionName = (db, at) => (db.sessions[at] ? db.sessions[at].id.slice(0, 8) : "-");

/* ---- where the time went ---- */

function timeTable(db, entry) {
    const s = db.sessions[entry.session], end = s.ended_ns || db.last_wall_ns;
    const rows = Object.entries(entry.shares).sort((a, b) => b[1] - a[1]);
    const whole = durationText((end - s.started_ns) / 1e9);
    return make("table", {},
        make("caption", {}, `Session ${sessionName(db, entry.session)}, ${whole}: shares of wall-clock time` +
            (entry.is_whole ? "" : `, from ${wholeText(entry.trials)} trials in evenly spaced stretches`)),
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "What was going on"),
            make("th", { scope: "col", class: "number" }, "Share"), make("th", { scope: "col" }, "Bar"))),
        make("tbody", {}, rows.map(([name, share]) => make("tr", {},
            make("th", { scope: "row" }, PHASES[name] || name), make("td", { class: "number" }, shareText(share)), barCell(share)))));
}

/* ---- the section ---- */

const overview = {
    make() {
        this.facts = make("div");
        this.time = make("div", { class: "charts" });
        this.sessions = make("div");
        this.failures = make("div");
        byId("overview").append(this.facts,
            make("h3", {}, "Where the time went"),
            make("p", { class: "quiet" }, "By the trials that the database has. They overlap, so each moment is divided evenly among what was going on in it."),
            this.time, make("h3", {}, "Sessions"), this.sessions, make("h3", {}, "Failures"), this.failures);
        this.showSessions = makeTable(this.sessions, [
            { key: "id", name: "Session", text: (s) => s.id.slice(0, 8), isHeader: true },
            { key: "state", name: "State", text: (s) => s.state },
            { key: "model", name: "Model", text: (s) => s.model || "-" },
            { key: "started", name: "Started (UTC)", text: (s) => dateText(s.started_ns), value: (s) => s.started_ns, isNumber: true },
            { key: "took", name: "Took", text: (s) => (s.ended_ns ? durationText((s.ended_ns - s.started_ns) / 1e9) : "-"),
                value: (s) => (s.ended_ns ? s.ended_ns - s.started_ns : null), isNumber: true },
            { key: "command", name: "Command", text: (s) => s.command_line || "-", isLong: true,
                cell: (s) => make("code", {}, s.command_line || "-") },
        ], { id: "sessions", caption: "Sessions", sort: "started.down" });
        this.showFailures = makeTable(this.failures, [
            { key: "outcome", name: "Class", text: (f) => f.outcome, isHeader: true },
            { key: "task", name: "Task", text: (f) => f.task },
            { key: "count", name: "Times", text: (f) => wholeText(f.count), value: (f) => f.count, isNumber: true },
            { key: "meaning", name: "Meaning", text: (f) => f.meaning || "-", isLong: true },
            { key: "message", name: "Latest message", text: (f) => f.last_message || "-", isLong: true },
        ], { id: "failures", caption: "Failures by class and task", sort: "count.down", filter: "Filter failures" });
    },
    show(db) {
        this.facts.replaceChildren(facts([
            ["trials", wholeText(db.trials)], ["worked", wholeText(db.ok)], ["failed", wholeText(db.failed)],
            ["confirmed", wholeText(db.confirmed)], ["tasks", wholeText(db.tasks.length)],
            ["targets", wholeText(db.targets.length)], ["sessions", wholeText(db.sessions.length)],
            ["last trial (UTC)", dateText(db.last_wall_ns)]]));
        this.time.replaceChildren(...(db.time.length ? db.time.slice(-4).reverse().map((t) => timeTable(db, t))
            : [make("p", {}, "No session has trials yet.")]));
        this.showSessions(db.sessions);
        this.showFailures(db.failures);
    },
};

/* ---- tasks ---- */

const gainOf = (task) => (task.default_ns && task.best_ns ? task.default_ns / task.best_ns : null);

const tasks = {
    make() {
        this.show = makeTable(byId("tasks"), [
            { key: "name", name: "Task", text: (t) => t.name, isHeader: true,
                cell: (t) => make("button", { type: "button", class: "link", id: `open-${taskKey(t)}`,
                    click: () => openTask(t) }, t.name) },
            { key: "shapes", name: "Tensors", text: (t) => t.shapes, isLong: true },
            { key: "target", name: "Target", text: (t) => current.db.targets[t.target]?.name || "-", isLong: true },
            { key: "flops", name: "Operations", text: (t) => countText(t.flops), value: (t) => t.flops || null, isNumber: true },
            { key: "default", name: "Default", text: (t) => timeText(t.default_ns), value: (t) => t.default_ns, isNumber: true },
            { key: "best", name: "Best", text: (t) => timeText(t.best_ns), value: (t) => t.best_ns, isNumber: true },
            { key: "gain", name: "Gain", text: (t) => ratioText(gainOf(t)), value: gainOf, isNumber: true },
            { key: "gflops", name: "GFLOPS", text: (t) => { const g = gflopsOf(t.flops, t.best_ns); return g ? digits(g) : "-"; },
                value: (t) => gflopsOf(t.flops, t.best_ns), isNumber: true },
            { key: "trials", name: "Trials", text: (t) => wholeText(t.trials), value: (t) => t.trials, isNumber: true },
            { key: "failed", name: "Failed", text: (t) => wholeText(t.failed), value: (t) => t.failed, isNumber: true },
            { key: "confirmed", name: "Confirmed", text: (t) => wholeText(t.confirmed), value: (t) => t.confirmed, isNumber: true },
        ], { id: "tasks", caption: "Tasks", sort: "name.up", filter: "Filter tasks", current: (t) => t === current.task });
    },
};

function openTask(task) {
    state.set({ task: taskKey(task), record: "" }, true);
    byId("task-heading").focus();
}
