/* text.js - elements, and numbers as people read them. */
"use strict";

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (typeof value === "function") element.addEventListener(name, value);
        else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
}

/* An element with attributes (functions are listeners) and children; text stays text. */
function make(name, attributes, ...children) {
    return fill(document.createElement(name), attributes, children);
}
function draw(name, attributes, ...children) {
    return fill(document.createElementNS(SVG, name), attributes, children);
}
const byId = (id) => document.getElementById(id);

const isNumber = (x) => typeof x === "number" && isFinite(x);

function withUnit(value, units) {
    for (const [size, unit] of units) {
        if (Math.abs(value) >= size) return `${digits(value / size)} ${unit}`;
    }
    const [size, unit] = units[units.length - 1];
    return `${digits(value / size)} ${unit}`;
}
const digits = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e6 ? x.toExponential(2) : Number(x.toPrecision(4)).toString());

const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const COUNTS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

const timeText = (ns) => (isNumber(ns) ? withUnit(ns, TIMES) : "-");
const countText = (n) => (isNumber(n) ? withUnit(n, COUNTS).trim() : "-");
const shareText = (x) => (isNumber(x) ? `${(100 * x).toFixed(1)} %` : "-");
const ratioText = (x) => (isNumber(x) ? `${digits(x)}×` : "-");
const wholeText = (n) => (isNumber(n) ? n.toLocaleString("en") : "-");
const dateText = (ns) => (ns ? new Date(ns / 1e6).toISOString().replace("T", " ").slice(0, 19) : "-");

function durationText(seconds) {
    if (!isNumber(seconds)) return "-";
    if (seconds < 60) return `${digits(seconds)} s`;
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/* Operations by time, in 10^9 a second. */
const gflopsOf = (flops, ns) => (flops > 0 && ns > 0 ? flops / ns : null);

/* "4x6 6x8:float16": the bytes of all tensors; null where a size is open. */
function bytesOfShapes(shapes) {
    let sum = 0;
    for (const tensor of (shapes || "").split(" ")) {
        const [shape, type] = tensor.split(":");
        const bits = Number((/(\d+)/.exec(type || "32") || [0, 8])[1]);
        const count = shape.split("x").reduce((product, size) => product * Number(size), 1);
        sum += (count * bits) / 8;
    }
    return sum > 0 ? sum : null;
}

/* A list of facts: pairs of a name and what it is. */
function facts(pairs) {
    return make("dl", { class: "facts" }, pairs.map(([name, value]) =>
        make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}
