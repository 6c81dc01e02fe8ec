/* table.js - tables that are sorted and filtered; both stand in the address. */
"use strict";

/* Makes a table in a container, once; show(rows) fills it.
 *   columns: [{key, name, text(row), cell(row), value(row), isNumber, isLong, isHeader}]
 * value is what is sorted by (text when there is none); cell gives nodes instead of text.
 *   options: {id, caption, sort: "key.down", filter: label, current(row)} */
function makeTable(container, columns, options) {
    const body = make("tbody"), heads = new Map(), caption = make("caption");
    for (const c of columns) {
        const button = make("button", { type: "button", id: `${options.id}-sort-${c.key}`, click: () => sortBy(c) }, c.name);
        heads.set(c.key, make("th", { scope: "col", class: c.isNumber ? "number" : null }, button));
    }
    const filter = make("input", {
        type: "search", id: `${options.id}-filter`,
        input: () => state.set({ [`${options.id}.filter`]: filter.value }),
    });
    const table = make("table", { id: `${options.id}-table` }, caption, make("thead", {}, make("tr", {}, [...heads.values()])), body);
    container.append(
        ...(options.filter ? [make("div", { class: "controls" }, make("label", {}, options.filter, filter))] : []),
        make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": options.caption }, table));

    const sorting = () => state.get(`${options.id}.sort`, options.sort).split(".");
    function sortBy(column) {
        const [key, way] = sorting();
        const isDown = key === column.key ? way !== "down" : Boolean(column.isNumber);
        state.set({ [`${options.id}.sort`]: `${column.key}.${isDown ? "down" : "up"}` });
    }
    const valueOf = (c, row) => (c.value ? c.value(row) : c.text(row));
    const order = (x, y) => (typeof x === "string" ? x.localeCompare(y) : x - y);
    /* What is not known is last, in either order. */
    function sorted(rows) {
        const [key, way] = sorting(), column = columns.find((c) => c.key === key) || columns[0];
        const isKnown = (row) => (valueOf(column, row) ?? null) !== null, sign = way === "down" ? -1 : 1;
        const known = rows.filter(isKnown).sort((a, b) => sign * order(valueOf(column, a), valueOf(column, b)));
        return known.concat(rows.filter((row) => !isKnown(row)));
    }
    function rowElement(row) {
        return make("tr", { "aria-current": options.current?.(row) ? "true" : null }, columns.map((c) => {
            const kind = c.isNumber ? "number" : c.isLong ? "long" : null;
            const attributes = c.isHeader ? { scope: "row", class: kind } : { class: kind };
            return make(c.isHeader ? "th" : "td", attributes, c.cell ? c.cell(row) : c.text(row));
        }));
    }
    return function show(rows) {
        const words = state.get(`${options.id}.filter`).toLowerCase().split(/\s+/).filter(Boolean);
        const kept = rows.filter((row) => {
            const text = columns.map((c) => String(c.text(row))).join(" ").toLowerCase();
            return words.every((word) => text.includes(word));
        });
        if (document.activeElement !== filter) filter.value = state.get(`${options.id}.filter`);
        const [key, way] = sorting();
        heads.forEach((head, name) => {
            if (name === key) head.setAttribute("aria-sort", way === "down" ? "descending" : "ascending");
            else head.removeAttribute("aria-sort");
        });
        caption.textContent = kept.length === rows.length ? `${options.caption}: ${rows.length}` : `${options.caption}: ${kept.length} of ${rows.length}`;
        body.replaceChildren(...sorted(kept).map(rowElement));
    };
}
