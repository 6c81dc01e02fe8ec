/* search.js - finds sections of the documentation by words. The index (search_index.js: rows of page, anchor, title,
 * text) is fetched when somebody asks for the first time; it is a script, so that pages opened as files can read it. */
"use strict";

const MOST_RESULTS = 30, EXCERPT = 160;
const form = document.getElementById("search"), box = document.getElementById("search-words");
const found = document.getElementById("search-results"), status = document.getElementById("search-status");
let index = null;

const wordsOf = (text) => text.toLowerCase().split(/[^\p{L}\p{N}_.+-]+/u).filter((word) => word);

function loadIndex(then) {
    if (index) return then();
    const script = document.createElement("script");
    script.src = "search_index.js";
    script.onload = () => {
        index = window.honeIndex.map(([page, anchor, pageTitle, title, text]) =>
            ({ page, anchor, pageTitle, title, text, low: text.toLowerCase(), names: new Set(wordsOf(title)), lowTitle: `${title} ${pageTitle}`.toLowerCase() }));
        then();
    };
    script.onerror = () => { status.textContent = "The index of the search cannot be read."; };
    document.head.append(script);
}

/* How well a section answers; 0: a word is missing. A word as the title counts most, then one in it, then how often it
 * stands in the text. */
function scoreOf(section, words) {
    let score = 0;
    for (const word of words) {
        const count = section.low.split(word).length - 1, isTitle = section.lowTitle.includes(word);
        if (!count && !isTitle) return 0;
        score += (section.names.has(word) ? 40 : isTitle ? 15 : 0) + Math.min(count, 8) + (section.names.size === 1 && section.names.has(word) ? 40 : 0);
    }
    return score;
}

function search(words) {
    return index.map((section) => ({ section, score: scoreOf(section, words) })).filter((hit) => hit.score > 0)
        .sort((a, b) => b.score - a.score);
}

/* The text around the first word, the words marked. */
function excerptOf(section, words) {
    const at = Math.max(0, Math.min(...words.map((word) => section.low.indexOf(word)).filter((i) => i >= 0), section.text.length) - 50);
    const from = at ? section.text.indexOf(" ", at) + 1 : 0, text = section.text.slice(from, from + EXCERPT), low = text.toLowerCase();
    const parts = [];
    for (let i = 0; i < text.length;) {
        const next = words.map((word) => [low.indexOf(word, i), word.length]).filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0])[0];
        const [place, length] = next || [text.length, 0];
        parts.push(text.slice(i, place));
        if (length) {
            const mark = document.createElement("mark");
            mark.textContent = text.slice(place, place + length);
            parts.push(mark);
        }
        i = place + length;
    }
    return [from ? "… " : "", ...parts, from + EXCERPT < section.text.length ? " …" : ""];
}

function showHit({ section }, words) {
    const item = document.createElement("li"), link = document.createElement("a"), excerpt = document.createElement("p");
    link.href = `${section.page}.html${section.anchor ? `#${section.anchor}` : ""}`;
    link.textContent = section.title === section.pageTitle ? section.title : `${section.pageTitle}: ${section.title}`;
    link.addEventListener("click", () => { show(""); });
    excerpt.append(...excerptOf(section, words));
    item.append(link, excerpt);
    return item;
}

function show(text) {
    const words = [...new Set(wordsOf(text))];
    if (!words.length) {
        found.replaceChildren();
        found.hidden = true;
        status.textContent = "";
        return;
    }
    loadIndex(() => {
        if (box.value !== text) return; /* more was typed meanwhile */
        const hits = search(words);
        found.replaceChildren(...hits.slice(0, MOST_RESULTS).map((hit) => showHit(hit, words)));
        found.hidden = !hits.length;
        status.textContent = hits.length > MOST_RESULTS ? `${hits.length} sections, the best ${MOST_RESULTS}` : hits.length === 1 ? "1 section" : `${hits.length || "no"} sections`;
    });
}

form.hidden = false;
form.addEventListener("submit", (event) => {
    event.preventDefault();
    found.querySelector("a")?.focus();
});
box.addEventListener("input", () => show(box.value));
document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && document.activeElement !== box) {
        event.preventDefault();
        box.focus();
    }
    if (event.key === "Escape" && form.contains(document.activeElement)) {
        box.value = "";
        show("");
        box.focus();
    }
});
box.value = new URLSearchParams(location.search).get("q") || "";
show(box.value);
