/* state.js - what is chosen on the page, which is what stands behind # in its address: so every view
 * is a link. */
"use strict";

const state = {
    values: new URLSearchParams(location.hash.slice(1)),
    render: () => {},

    get(name, usual = "") {
        return this.values.get(name) ?? usual;
    },
    getNumber(name) {
        const value = Number(this.values.get(name));
        return value > 0 ? value : null;
    },
    /* Changes values ("" or null: takes one out); steps that one wants to come back to are entries
     * of the history. */
    set(changes, isStep = false) {
        for (const [name, value] of Object.entries(changes)) {
            if (value === "" || value === null) this.values.delete(name);
            else this.values.set(name, value);
        }
        const address = `#${this.values}`;
        if (isStep) history.pushState(null, "", address);
        else history.replaceState(null, "", address);
        this.render();
    },
};

window.addEventListener("popstate", () => {
    state.values = new URLSearchParams(location.hash.slice(1));
    state.render();
});

/* A labelled <select> that is a value of the state. options: pairs of a value and its text. */
function stateSelect(label, name, options, usual) {
    const select = make("select", {
        id: `choose-${name}`,
        change: () => state.set({ [name]: select.value === usual ? "" : select.value }),
    }, options.map(([value, text]) => make("option", { value }, text)));
    select.value = state.get(name, usual);
    return make("label", {}, label, select);
}

/* A labelled number that is a value of the state. */
function stateNumber(label, name, usual) {
    const input = make("input", {
        id: `choose-${name}`, type: "number", min: "0", step: "any",
        placeholder: isNumber(usual) ? digits(usual) : "",
        change: () => state.set({ [name]: input.value }),
    });
    input.value = state.get(name);
    return make("label", {}, label, input);
}
