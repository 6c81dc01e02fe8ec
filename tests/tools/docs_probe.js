/* tests/tools/docs_probe.js - put behind a page of the documentation and probe_looks.js by
 * docs_browser.py: looks at the page, searches, and leaves what it found in the element "probe". */
"use strict";

window.addEventListener("load", async () => {
    const box = document.getElementById("search-words"), status = document.getElementById("search-status");
    const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
    async function ask(words) {
        box.value = words;
        box.dispatchEvent(new Event("input"));
        for (let i = 0; i < 40 && !status.textContent; i++) await pause(50);
        return [...document.querySelectorAll("#search-results a")].map((link) => link.getAttribute("href"));
    }
    const look = () => {
        looks.checkWidth();
        looks.checkNames();
        looks.checkPairs([...document.querySelectorAll("header > *, #search > *, nav, main")], "the page");
        return looks.checkContrast();
    };
    const answers = {};
    let contrast = look();
    for (const words of WANTED) answers[words] = await ask(words);
    contrast = { texts: contrast.texts, least: Math.min(contrast.least, look().least) };
    const none = (await ask("no_such_word_anywhere"), status.textContent);
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "/" }));
    if (document.activeElement !== box) looks.find("the key / does not lead to the search");
    box.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    if (box.value || !document.getElementById("search-results").hidden) looks.find("Escape does not end the search");
    const probe = document.createElement("pre");
    probe.id = "probe";
    probe.textContent = JSON.stringify({ findings: looks.findings, contrast, answers, none });
    document.body.append(probe);
});
