/* farm.js - the devices of a farm and what waits for them, as the tracker tells it. */
"use strict";

const stateOf = (slot) => (slot.connected ? slot.state : "away");
const seconds = (ns) => durationText(ns / 1e9);

const farmView = {
    make() {
        this.facts = make("div", { role: "status" });
        const body = make("div");
        byId("farm").append(this.facts, body);
        const number = (key, name) => ({ key, name, text: (r) => wholeText(r[key]), value: (r) => r[key], isNumber: true });
        this.showSlots = makeTable(body, [
            { key: "device", name: "Device", text: (s) => `${s.runner}/${s.slot}`, isHeader: true },
            { key: "key", name: "Key", text: (s) => s.device_key },
            { key: "state", name: "State", text: stateOf, cell: (s) => make("span", { class: s.trouble ? "bad" : null }, stateOf(s)) },
            { key: "tuner", name: "Tuner", text: (s) => s.tuner || "-" },
            number("trials", "Trials now"), number("done", "Done"), number("failed", "Failed"), number("lost", "Lost"),
            { key: "busy", name: "Busy", text: (s) => shareText(s.connected_ns ? Math.min(1, s.busy_ns / s.connected_ns) : null),
                value: (s) => (s.connected_ns ? s.busy_ns / s.connected_ns : null), isNumber: true },
            { key: "trouble", name: "Trouble", text: (s) => s.trouble || "-", isLong: true },
            { key: "target", name: "Target", text: (s) => s.target, isLong: true },
        ], { id: "devices", caption: "Devices", sort: "device.up", filter: "Filter devices" });
        this.showTuners = makeTable(body, [
            { key: "name", name: "Tuner", text: (t) => t.name + (t.connected ? "" : " (away)"), isHeader: true },
            number("waiting", "Waiting"), number("running", "Running"), number("done", "Done"),
            { key: "time", name: "Device time", text: (t) => seconds(t.device_ns), value: (t) => t.device_ns, isNumber: true },
        ], { id: "tuners", caption: "Tuners", sort: "name.up" });
    },
    show(farm) {
        byId("farm").hidden = !farm;
        if (!farm) return;
        const table = farm.status || { slots: [], tuners: [] };
        this.facts.replaceChildren(farm.trouble ? make("p", { class: "bad" }, `The tracker does not answer: ${farm.trouble}`) : facts([
            ["waiting", wholeText(table.waiting)], ["running", wholeText(table.running)], ["done", wholeText(table.done)],
            ["handed out again", wholeText(table.requeued)], ["lost", wholeText(table.lost)], ["up", seconds(table.uptime_ns)]]));
        this.showSlots(table.slots);
        this.showTuners(table.tuners);
    },
};
