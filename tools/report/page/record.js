/* record.js - a record: what was measured, its trace, its program beside another. */
"use strict";

/* Records by "database:number"; those that the page does not hold are asked for. */
const records = {
    known: new Map(),
    find(db, number) {
        return db.records[number] || this.known.get(`${db.at}:${number}`);
    },
    async ask(db, number) {
        const key = `${db.at}:${number}`;
        if (this.known.has(key)) return;
        this.known.set(key, { trouble: "is being asked for" });
        try {
            const answer = await fetch(`record.json?db=${db.at}&record=${encodeURIComponent(number)}`);
            this.known.set(key, answer.ok ? await answer.json() : { trouble: await answer.text() });
        } catch (error) {
            this.known.delete(key);
            live.fail(error);
        }
        state.render();
    },
    /* The record, or an object with `trouble`. */
    get(db, number) {
        const found = this.find(db, number);
        if (found) return found;
        if (!live.isLive) return { trouble: "is not in this page; hone serve shows every record" };
        this.ask(db, number);
        return { trouble: "is being asked for" };
    },
};

function copyButton(label, text) {
    const button = make("button", { type: "button", click: async () => {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
    } }, label);
    return button;
}

function recordFacts(db, record) {
    const task = db.tasks.find((t) => t.workload_hash === record.workload_hash), ns = record.confirmed_ns || record.median_ns;
    const gflops = task ? gflopsOf(task.flops, ns) : null;
    return facts([
        ["outcome", record.message ? `${record.outcome}: ${record.message}` : record.outcome], ["time", timeText(record.median_ns)],
        ["confirmed", timeText(record.confirmed_ns)], ["GFLOPS", gflops ? digits(gflops) : "-"],
        ["of the roof", task && gflops ? shareText(gflops / roofOf(db, task)) : "-"],
        ["against the default", task?.default_ns && ns ? ratioText(task.default_ns / ns) : "-"],
        ["spread", shareText(record.spread_fraction)], ["samples", wholeText(record.samples_ns.length)],
        ["largest error", isNumber(record.max_error) ? digits(record.max_error) : "-"],
        ["predicted", isNumber(record.predicted_score) ? digits(record.predicted_score) : "-"],
        ["session", `${record.session.slice(0, 8)}, proposal ${record.proposal}, sketch ${record.sketch}`],
        ["variant", record.variant || "none: the program as it is"],
        ["measured (UTC)", dateText(record.wall_ns)], ["uid", make("code", {}, record.uid)]]);
}

/* What the program is shown beside: the default's, the workload's, or another record's of the top. */
function besideOptions(task) {
    const others = (task?.top || []).map((r) => [String(r.record), `record ${r.record}`]);
    return [...(task?.default_record ? [["default", "the default"]] : []), ...others];
}

function besideProgram(db, task, beside) {
    const number = beside === "default" ? task.default_record : Number(beside);
    const record = records.get(db, number);
    return record.trouble ? record : { name: beside === "default" ? "the default" : `record ${number}`, program: record.scheduled };
}

const recordView = {
    make() {
        this.body = make("div");
        this.shown = "";
        byId("record").append(this.body);
    },
    programs(db, task, record) {
        const options = besideOptions(task);
        if (!record.scheduled) return [make("p", { class: "bad" }, `Its trace does not replay: ${record.does_not_replay || "unknown reason"}`)];
        if (!options.length) return [make("pre", { tabindex: "0", "aria-label": "Program" }, record.scheduled)];
        const beside = options.some(([v]) => v === state.get("beside")) ? state.get("beside") : options[0][0];
        const other = besideProgram(db, task, beside);
        return [make("div", { class: "controls" }, stateSelect("Beside", "beside", options, options[0][0])),
            other.trouble ? make("p", {}, `The other record ${other.trouble}.`)
                : make("div", {}, make("p", { class: "quiet" }, `- only in ${other.name}, + only in record ${record.record}`),
                    diffElement(other.program || "", record.scheduled, "Program beside another, line by line"))];
    },
    trace(record) {
        const text = record.python || record.trace;
        return [make("div", { class: "controls" }, copyButton("Copy the trace", text)),
            make("pre", { tabindex: "0", "aria-label": "Trace" }, text)];
    },
    show(db, task) {
        const number = Number(state.get("record")) || task?.top[0]?.record || task?.default_record;
        byId("record-heading").textContent = number ? `Record ${number}` : "Record";
        const record = number ? records.get(db, number) : { trouble: "is not there: no trial has worked yet" };
        const made = JSON.stringify([db.at, number, record.trouble, record.confirmed_ns, state.get("beside"), records.known.size]);
        if (made === this.shown) return; /* as it is: whoever reads in it is left in peace */
        this.shown = made;
        this.body.replaceChildren(...(record.trouble ? [make("p", {}, `This record ${record.trouble}.`)] : [
            recordFacts(db, record),
            make("div", { class: "pair" },
                make("div", {}, make("h3", {}, "Program"), ...this.programs(db, task, record)),
                make("div", {}, make("h3", {}, "Trace"), ...this.trace(record)))]));
    },
};
