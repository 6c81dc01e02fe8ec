/* tests/tools/probe_looks.js - put behind a page by tests, before their own probe: what holds for any
 * page. Contrast of texts, things that overlap, names for screen readers; findings are collected. */
"use strict";

const looks = (() => {
    const findings = [];
    const find = (what) => findings.push(what);
    const isShown = (element) => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility !== "hidden";
    };
    const nameOf = (element) => `${element.tagName.toLowerCase()}${element.id ? "#" + element.id : ""} '${element.textContent.trim().slice(0, 30)}'`;

    /* ---- contrast, of each text with what is behind it (WCAG 2) ---- */

    const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
    function luminance([r, g, b]) {
        const part = (c) => ((c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    }
    function groundOf(element) {
        for (let at = element; at; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    }
    function contrastOf(element) {
        const style = getComputedStyle(element), isSvg = element instanceof SVGElement;
        const a = luminance(parse(isSvg ? style.fill : style.color)), b = luminance(groundOf(element));
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    }
    function checkContrast() {
        let least = Infinity, texts = 0;
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const element = walker.currentNode.parentElement;
            if (!walker.currentNode.data.trim() || element.closest("script, style, noscript, title, option") || !isShown(element)) continue;
            const contrast = contrastOf(element);
            texts++;
            least = Math.min(least, contrast);
            if (contrast < 4.5) find(`contrast ${contrast.toFixed(2)} of ${nameOf(element)}`);
        }
        return { least, texts };
    }

    /* ---- nothing overlaps, nothing runs out of the page ---- */

    function overlap(a, b) {
        const x = Math.min(a.right, b.right) - Math.max(a.left, b.left), y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        return x > 1 && y > 1;
    }
    function checkPairs(elements, where) {
        const boxes = elements.filter(isShown).map((element) => [element, element.getBoundingClientRect()]);
        boxes.forEach(([a, boxA], i) => boxes.slice(i + 1).forEach(([b, boxB]) => {
            if (!a.contains(b) && !b.contains(a) && overlap(boxA, boxB)) find(`${nameOf(a)} overlaps ${nameOf(b)} in ${where}`);
        }));
    }
    function checkWidth() {
        if (document.documentElement.scrollWidth > innerWidth) find(`the page is ${document.documentElement.scrollWidth} wide, the window ${innerWidth}`);
    }

    /* ---- what screen readers and keyboards need ---- */

    function checkNames() {
        const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
        ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => find(`the id ${id} is there twice`));
        document.querySelectorAll("input, select").forEach((e) => { if (!e.labels.length) find(`${nameOf(e)} has no label`); });
        document.querySelectorAll("button, a").forEach((e) => { if (!e.textContent.trim()) find(`${nameOf(e)} has no name`); });
    }
    return { findings, find, isShown, nameOf, checkContrast, checkPairs, checkWidth, checkNames };
})();
