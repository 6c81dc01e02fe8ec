/* chart.js - charts as SVG, made for the width that there is.
 *
 * A chart is one stop of the keyboard: arrow keys go from point to point, which is read out below
 * it, Enter opens the record. Every chart is also a table, folded away under it.
 */
"use strict";

const CHART = { height: 260, left: 66, right: 14, top: 10, bottom: 40, mostRows: 200 };

/* ---- scales ---- */

function linearTicks(low, high) {
    const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
    const ticks = [];
    for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) ticks.push(at);
    return ticks;
}

function logTicks(low, high) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
        for (const m of [1, 2, 5]) ticks.push(m * 10 ** power);
    }
    const seen = ticks.filter((at) => at >= low * 0.999 && at <= high * 1.001);
    if (seen.length < 2) return linearTicks(low, high);
    return seen.length > 9 ? seen.filter((at) => Math.abs(Math.log10(at) % 1) < 1e-9) : seen;
}

/* From values to places between from and to. axis: {isLog, low, high}, of which the last two may be
 * left out. */
function makeScale(values, axis, from, to) {
    const known = values.filter((v) => isNumber(v) && (!axis.isLog || v > 0));
    let low = axis.low ?? Math.min(...known), high = axis.high ?? Math.max(...known);
    if (!known.length && axis.low === undefined) [low, high] = [1, 2];
    if (high <= low) [low, high] = axis.isLog ? [low / 1.2, low * 1.2] : [low - 0.5, low + 0.5];
    const part = axis.isLog ? (v) => Math.log(v / low) / Math.log(high / low) : (v) => (v - low) / (high - low);
    return {
        ticks: axis.isLog ? logTicks(low, high) : linearTicks(low, high),
        low, high,
        place: (v) => from + part(v) * (to - from),
    };
}

/* ---- marks ---- */

const MARKS = {
    dots: (x, y, name) => draw("circle", { class: name, cx: x, cy: y, r: 3 }),
    diamonds: (x, y, name) => draw("path", { class: name, d: `M${x - 5} ${y}l5 -5 5 5 -5 5z` }),
    crosses: (x, y, name) => draw("path", { class: name, d: `M${x - 3} ${y - 3}l6 6m0 -6l-6 6` }),
};

function linePath(points, isStep) {
    return points.map(([x, y], i) => (i === 0 ? `M${x} ${y}` : isStep ? `H${x}V${y}` : `L${x} ${y}`)).join("");
}

const round = (x) => Math.round(x * 10) / 10;

function drawSeries(svg, series, sx, sy) {
    const places = series.points.map((p) => [round(sx.place(p.x)), round(sy.place(p.y))]);
    if (series.kind === "line" || series.kind === "steps") {
        svg.append(draw("path", { class: `line ${series.look}`, d: linePath(places, series.kind === "steps") }));
        if (places.length === 1) svg.append(draw("circle", { class: `line ${series.look}`, cx: places[0][0], cy: places[0][1], r: 3 }));
        return;
    }
    places.forEach(([x, y], i) => {
        const mark = MARKS[series.kind](x, y, series.look);
        mark.append(draw("title", {}, series.points[i].text));
        if (series.points[i].open) mark.setAttribute("data-at", ""), mark.addEventListener("click", series.points[i].open);
        svg.append(mark);
    });
}

function drawAxes(svg, chart, sx, sy, width) {
    const { height, left, right, top, bottom } = CHART, floor = height - bottom;
    const most = Math.max(2, Math.floor((width - left - right) / 70));
    const every = Math.ceil(sx.ticks.length / most);
    sx.ticks.filter((_, i) => i % every === 0).forEach((at) => {
        const x = round(sx.place(at));
        svg.append(draw("path", { class: "grid", d: `M${x} ${top}V${floor}` }),
            draw("text", { x, y: floor + 16, "text-anchor": "middle" }, chart.x.format(at)));
    });
    sy.ticks.forEach((at) => {
        const y = round(sy.place(at));
        svg.append(draw("path", { class: "grid", d: `M${left} ${y}H${width - right}` }),
            draw("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, chart.y.format(at)));
    });
    svg.append(draw("path", { class: "axis", d: `M${left} ${top}V${floor}H${width - right}` }),
        draw("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, chart.x.label));
}

/* ---- what stands around it ---- */

function keyOf(chart) {
    const named = chart.series.filter((s) => s.points.length);
    return make("ul", { class: "key" }, named.map((s) => {
        const isLine = s.kind === "line" || s.kind === "steps";
        const mark = isLine ? draw("path", { class: `line ${s.look}`, d: "M0 6H22" }) : MARKS[s.kind](11, 6, s.look);
        return make("li", {}, draw("svg", { viewBox: "0 0 22 12", "aria-hidden": "true" }, mark), ` ${s.name}`);
    }));
}

function pointsOf(chart) {
    return chart.series.flatMap((s) => s.points.filter((p) => p.text).map((p) => ({ ...p, series: s.name })))
        .sort((a, b) => a.x - b.x);
}

function tableOf(chart, points) {
    const rows = points.slice(0, CHART.mostRows).map((p) => make("tr", {},
        make("td", {}, p.series), make("td", { class: "number" }, chart.x.format(p.x)),
        make("td", { class: "number" }, chart.y.format(p.y)), make("td", {}, p.text)));
    const rest = points.length - rows.length;
    return make("details", {}, make("summary", {}, "The numbers of this chart"),
        make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Numbers: ${chart.title}` },
            make("table", {},
                make("caption", {}, rest > 0 ? `The first ${rows.length} of ${points.length} points` : chart.title),
                make("thead", {}, make("tr", {}, ["what", chart.x.label, chart.y.label, "point"].map((name, i) =>
                    make("th", { scope: "col", class: i === 1 || i === 2 ? "number" : null }, name)))),
                make("tbody", {}, rows))));
}

/* Arrow keys go through the points, Enter opens one. */
function addKeys(svg, points, mark, reading) {
    let at = -1;
    const show = (to) => {
        at = Math.max(0, Math.min(points.length - 1, to));
        mark(points[at]);
        reading.textContent = `${points[at].series}: ${points[at].text}`;
    };
    svg.addEventListener("keydown", (event) => {
        const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: points.length - 1 };
        if (event.key in moves && points.length) show(moves[event.key]);
        else if (event.key === "Enter" && points[at]?.open) points[at].open();
        else return;
        event.preventDefault();
    });
}

/* Draws a chart into a figure, in place of the one that was there.
 *   chart: {title, summary, x, y: {label, format, isLog, low, high}, series: [{name, kind, look,
 *           points: [{x, y, text, open}]}], className}
 * kind: line, steps, dots, diamonds, crosses. text: what is read of a point; open: what a click does. */
function showChart(figure, chart) {
    const wasOpen = figure.querySelector("details")?.open;
    const points = pointsOf(chart), all = chart.series.flatMap((s) => s.points);
    const caption = make("figcaption", {}, make("strong", {}, chart.title), ` ${chart.summary}`);
    figure.setAttribute("aria-label", chart.title);
    if (!all.length) {
        figure.replaceChildren(caption);
        return;
    }
    const width = Math.max(280, Math.floor(figure.clientWidth || 640));
    const { height, left, right, top, bottom } = CHART;
    const sx = makeScale(all.map((p) => p.x), chart.x, left, width - right);
    const sy = makeScale(all.map((p) => p.y), chart.y, height - bottom, top);
    const svg = draw("svg", {
        viewBox: `0 0 ${width} ${height}`, tabindex: "0", role: "img",
        "aria-label": `${chart.title}. ${chart.summary} Arrow keys read the points.`,
    });
    drawAxes(svg, chart, sx, sy, width);
    chart.series.forEach((s) => drawSeries(svg, s, sx, sy));
    const ring = draw("circle", { class: "chosen", r: 7, cx: -20, cy: -20 });
    svg.append(ring);
    const reading = make("p", { class: "reading", "aria-live": "polite" }, chart.y.label);
    addKeys(svg, points, (p) => fill(ring, { cx: sx.place(p.x), cy: sy.place(p.y) }, []), reading);
    const table = tableOf(chart, points);
    table.open = wasOpen;
    figure.replaceChildren(caption, reading, svg, keyOf(chart), table);
}

/* A row of a table with a bar in it: the share of a whole. */
const barCell = (share) => make("td", { class: "bar" },
    make("span", { style: `width:${Math.max(0, Math.min(1, share || 0)) * 100}%` }));
