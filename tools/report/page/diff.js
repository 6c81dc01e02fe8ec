/* diff.js - two texts, line by line. */
"use strict";

const MOST_PAIRS = 9e6; /* of lines: more would take seconds */

/* Rows of [mark, line]: " " in both, "-" in the first, "+" in the second only; null: too long. */
function diffLines(before, after) {
    const a = before.split("\n"), b = after.split("\n");
    if (a.length * b.length > MOST_PAIRS) return null;
    const width = b.length + 1;
    const common = new Uint32Array((a.length + 1) * width); /* the longest common part from here on */
    for (let i = a.length - 1; i >= 0; i--) {
        for (let k = b.length - 1; k >= 0; k--) {
            common[i * width + k] = a[i] === b[k] ? common[(i + 1) * width + k + 1] + 1
                : Math.max(common[(i + 1) * width + k], common[i * width + k + 1]);
        }
    }
    const rows = [];
    let i = 0, k = 0;
    while (i < a.length || k < b.length) {
        if (i < a.length && k < b.length && a[i] === b[k]) rows.push([" ", a[i++]]), k++;
        else if (i < a.length && (k === b.length || common[(i + 1) * width + k] >= common[i * width + k + 1])) rows.push(["-", a[i++]]);
        else rows.push(["+", b[k++]]);
    }
    return rows;
}

const DIFF_ELEMENTS = { " ": "span", "-": "del", "+": "ins" };

function diffElement(before, after, label) {
    const rows = diffLines(before, after);
    if (!rows) return make("p", {}, "These programs are too long to be compared here.");
    return make("pre", { class: "diff", tabindex: "0", "aria-label": label },
        rows.map(([mark, line]) => make(DIFF_ELEMENTS[mark], {}, `${mark} ${line}`)));
}
