/* main.js - takes the data, shows them, and asks again while there is a server. */
"use strict";

const POLL_MS = 2000;
const SECTIONS = [["overview", "Overview"], ["tasks", "Tasks"], ["task", "Task"], ["record", "Record"], ["compare", "Compare"], ["farm", "Farm"]];

const current = { data: null, db: null, task: null };

/* ---- showing ---- */

function showTheme() {
    const theme = state.get("theme");
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    byId("theme").value = theme;
}

function showDatabases(databases) {
    const select = byId("database");
    select.replaceChildren(...databases.map((db) => make("option", { value: String(db.at) }, db.title)));
    select.value = String(current.db.at);
    select.parentElement.hidden = databases.length < 2;
}

function showLeftOut(db) {
    const drawn = db.tasks.reduce((count, task) => count + task.dots.length, 0);
    const texts = [`${wholeText(drawn)} of ${wholeText(db.trials)} trials are drawn, evenly spaced, and every step of the best so far that fits`];
    if (!live.isLive && db.records_left_out) texts.push(`${wholeText(db.records_left_out)} of the best records are left out for their size`);
    texts.push(live.isLive ? "every record is asked for when it is opened" : "other records: hone serve, or hone db show");
    byId("left-out").textContent = `${texts.join("; ")}.`;
}

/* What had the keyboard has it again: parts of the page are made anew. */
function keepFocus(change) {
    const id = document.activeElement?.id;
    change();
    if (id && document.activeElement?.id !== id) byId(id)?.focus({ preventScroll: true });
}

function render() {
    showTheme();
    if (!current.data) return;
    const databases = current.data.databases;
    databases.forEach((db, at) => { db.at = at; });
    current.db = databases[Number(state.get("db", "0"))] || databases[0];
    current.task = current.db.tasks.find((t) => taskKey(t) === state.get("task")) || current.db.tasks[0] || null;
    byId("title").textContent = current.db.title;
    keepFocus(() => {
        showDatabases(databases);
        overview.show(current.db);
        tasks.show(current.db.tasks);
        taskView.show(current.db, current.task);
        recordView.show(current.db, current.task);
        compareView.show(databases);
        farmView.show(current.data.farm);
        byId("section-farm").hidden = !current.data.farm;
        showLeftOut(current.db);
    });
}

/* ---- a server, if there is one ---- */

const live = {
    isLive: false,
    tag: "",
    fail(error) {
        byId("live").className = "trouble";
        byId("live").textContent = `The server does not answer (${error.message}); what is shown may be old.`;
    },
    async ask() {
        try {
            const answer = await fetch(`data.json?tag=${encodeURIComponent(this.tag)}`);
            if (!answer.ok) throw new Error((await answer.text()).trim());
            const news = await answer.json();
            this.take(news);
        } catch (error) {
            this.fail(error);
        }
        setTimeout(() => this.ask(), POLL_MS);
    },
    /* databases are there only when something has changed. */
    take(news) {
        byId("live").className = "";
        byId("live").textContent = `live, as of ${new Date().toLocaleTimeString()}`;
        this.tag = news.tag;
        if (news.databases) current.data = news;
        else if (JSON.stringify(news.farm) !== JSON.stringify(current.data?.farm)) current.data.farm = news.farm;
        else return;
        render();
    },
};

/* ---- beginning ---- */

function goTo(id) {
    const heading = byId(`${id}-heading`);
    heading.scrollIntoView();
    heading.focus({ preventScroll: true });
}

function begin() {
    byId("sections").append(...SECTIONS.map(([id, name]) => make("li", { id: `section-${id}` },
        make("a", { href: `#${id}-heading`, click: (event) => { event.preventDefault(); goTo(id); } }, name))));
    byId("skip").addEventListener("click", (event) => { event.preventDefault(); goTo("tasks"); });
    byId("theme").addEventListener("change", () => state.set({ theme: byId("theme").value }));
    byId("database").addEventListener("change", () =>
        state.set({ db: byId("database").value, task: "", record: "" }, true));
    [overview, tasks, taskView, recordView, compareView, farmView].forEach((part) => part.make());
    state.render = render;
    window.addEventListener("resize", render);
    current.data = JSON.parse(byId("data").textContent);
    live.isLive = !current.data;
    render();
    if (live.isLive) live.ask();
}

begin();
