/* tests/tools/page_probe.js - put behind the page's own script and probe_looks.js by page_browser.py:
 * tries the page as people use it and leaves what it found as JSON in the element "probe". */
"use strict";

(() => {
    const { findings, find, isShown, nameOf, checkContrast, checkPairs } = looks;

    /* ---- nothing overlaps, nothing runs out of the page ---- */

    function checkPlaces() {
        looks.checkWidth();
        document.querySelectorAll("td:not(.long)").forEach((e) => { if (e.offsetWidth > innerWidth) find(`${nameOf(e)} is wider than the page`); });
        document.querySelectorAll("figure svg[role=img]").forEach((svg) => checkPairs([...svg.querySelectorAll("text")], svg.getAttribute("aria-label").slice(0, 30)));
        checkPairs([...document.querySelectorAll("main > section, header, nav, footer")], "the page");
        document.querySelectorAll(".controls, .charts, header, dl.facts, main > section").forEach((box) => checkPairs([...box.children], nameOf(box)));
    }

    /* ---- what screen readers and keyboards need ---- */

    function checkStructure() {
        looks.checkNames();
        document.querySelectorAll("figure").forEach((e) => { if (e.firstChild && !e.getAttribute("aria-label")) find(`${nameOf(e)} has no name`); });
        document.querySelectorAll("table").forEach((e) => {
            if (isShown(e) && !e.caption?.textContent.trim()) find("a table has no caption");
            e.querySelectorAll("th").forEach((th) => { if (!th.scope) find(`${nameOf(th)} has no scope`); });
        });
        document.querySelectorAll("figure svg[role=img]").forEach((e) => { if (!e.getAttribute("aria-label")) find("a chart has no text"); });
        const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter(isShown).map((e) => Number(e.tagName[1]));
        levels.forEach((level, i) => { if (i && level > levels[i - 1] + 1) find(`a heading of level ${level} follows one of ${levels[i - 1]}`); });
        for (const landmark of ["header", "nav", "main", "footer"]) if (document.querySelectorAll(landmark).length !== 1) find(`there is not one ${landmark}`);
        document.querySelectorAll("[tabindex]").forEach((e) => { if (e.tabIndex > 0) find(`${nameOf(e)} changes the order of focus`); });
        document.querySelectorAll(".scroll, pre").forEach((e) => { if (e.tabIndex !== 0) find(`${nameOf(e)} cannot be scrolled by keys`); });
    }

    /* ---- doing things ---- */

    const cells = (id) => [...document.querySelectorAll(`#${id}-table tbody tr`)].map((row) => [...row.children].map((c) => c.textContent));
    const press = (element, key) => element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const expect = (condition, what) => { if (!condition) find(what); };

    function trySorting() {
        const head = () => document.getElementById("tasks-sort-best").closest("th"), column = [...head().parentElement.children].indexOf(head());
        document.getElementById("tasks-sort-best").click();
        expect(head().getAttribute("aria-sort") === "descending", "the first click sorts numbers downwards");
        const down = cells("tasks").map((row) => row[column]);
        document.getElementById("tasks-sort-best").click();
        expect(head().getAttribute("aria-sort") === "ascending", "the second click turns it round");
        expect(down.length > 1 && JSON.stringify([...down].reverse()) === JSON.stringify(cells("tasks").map((row) => row[column])), "sorted rows are reversed");
        expect(location.hash.includes("tasks.sort=best.up"), "sorting stands in the address");
        document.getElementById("tasks-sort-name").click();
    }
    function tryFilter() {
        const filter = document.getElementById("tasks-filter"), all = cells("tasks").length;
        filter.value = "conv2d";
        filter.dispatchEvent(new Event("input"));
        const kept = cells("tasks");
        expect(kept.length > 0 && kept.length < all && kept.every((row) => row.join(" ").includes("conv2d")), "the filter keeps what fits");
        expect(document.querySelector("#tasks-table caption").textContent.includes(" of "), "the caption says how many");
        filter.value = "";
        filter.dispatchEvent(new Event("input"));
        expect(cells("tasks").length === all, "all rows are there again");
    }
    function tryChart() {
        const figure = document.querySelector("#task figure"), svg = figure.querySelector("svg[role=img]");
        press(svg, "Home");
        const first = figure.querySelector(".reading").textContent;
        press(svg, "ArrowRight");
        const second = figure.querySelector(".reading").textContent;
        expect(/record \d+/.test(first) && first !== second, `keys read points: '${first}', '${second}'`);
        press(svg, "Enter");
        const number = /record (\d+)/.exec(second)[1];
        expect(document.getElementById("record-heading").textContent === `Record ${number}`, "Enter opens the record");
        expect(document.activeElement.id === "record-heading", "the focus goes to the record");
        expect(new URLSearchParams(location.hash.slice(1)).get("record") === number, "the record stands in the address");
    }
    function tryScales() {
        for (const [name, value] of [["x", "time"], ["xscale", "log"], ["yscale", "linear"]]) {
            const select = document.getElementById(`choose-${name}`);
            select.value = value;
            select.dispatchEvent(new Event("change"));
            expect(document.querySelector("#task figure svg[role=img]"), `the curve by ${name}=${value}`);
            expect(document.getElementById(`choose-${name}`).value === value, `${name} stays ${value}`);
        }
        state.set({ x: "", xscale: "", yscale: "" });
    }
    function tryStatistics() {
        expect(rankCorrelation([1, 2, 3, 4], [10, 20, 30, 90]) === 1 && rankCorrelation([1, 2, 3, 4], [4, 3, 2, 1]) === -1, "orders that agree and that do not");
        expect(Math.abs(rankCorrelation([1, 2, 2, 3], [1, 2, 3, 4]) - 0.9486833) < 1e-6, "equal ones share a rank"); /* scipy.stats.spearmanr */
        expect(rankCorrelation([1, 1, 1, 1], [1, 2, 3, 4]) === null && rankCorrelation([1], [2]) === null, "too little to say");
        expect(Math.abs(geometricMean([1, 4]) - 2) < 1e-12 && bytesOfShapes("4x6 6x8:float16") === 192 && bytesOfShapes("?x8") === null, "means and bytes");
        const rows = diffLines("a\nb\nc", "a\nx\nc\nd").map(([mark, line]) => mark + line);
        expect(rows.join() === " a,-b,+x, c,+d", `a diff: ${rows}`);
    }
    function tryTasks() {
        const shown = current.db.tasks.map((task) => {
            state.set({ task: taskKey(task), record: "" });
            checkPlaces();
            return [document.getElementById("task-heading").textContent, cells("top").length, document.querySelectorAll("#task figure svg[role=img]").length];
        });
        state.set({ task: "" });
        return shown;
    }

    window.addEventListener("error", (event) => find(`an error: ${event.message}`));
    window.addEventListener("load", () => {
        let contrast = {}, opened = [];
        const figures = { tasks: cells("tasks"), failures: cells("failures"), sessions: cells("sessions"), top: cells("top"),
            facts: [...document.querySelectorAll("#overview dd")].map((e) => e.textContent) };
        try {
            checkStructure();
            checkPlaces();
            contrast = checkContrast();
            document.querySelectorAll("details").forEach((e) => { e.open = true; });
            checkPlaces();
            document.querySelectorAll("details").forEach((e) => { e.open = false; });
            tryStatistics();
            trySorting();
            tryFilter();
            tryScales();
            tryChart();
            opened = tryTasks();
        } catch (error) {
            find(`an error: ${error.stack}`);
        }
        document.body.append(make("pre", { id: "probe" }, JSON.stringify({ findings, figures, contrast, opened, width: innerWidth })));
    });
})();
