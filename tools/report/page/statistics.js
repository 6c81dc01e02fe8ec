/* statistics.js - ranks and how well two orders agree. */
"use strict";

/* The place of each value; equal ones share the mean of theirs. */
function ranksOf(values) {
    const order = values.map((value, at) => [value, at]).sort((a, b) => a[0] - b[0]);
    const ranks = new Array(values.length);
    for (let from = 0; from < order.length; ) {
        let to = from;
        while (to < order.length && order[to][0] === order[from][0]) to++;
        for (let k = from; k < to; k++) ranks[order[k][1]] = (from + to - 1) / 2;
        from = to;
    }
    return ranks;
}

/* Spearman's: 1 = the same order, -1 = the reverse; null: too few, or all the same. */
function rankCorrelation(xs, ys) {
    if (xs.length < 4) return null;
    const a = ranksOf(xs), b = ranksOf(ys), mean = (xs.length - 1) / 2;
    let ab = 0, aa = 0, bb = 0;
    for (let i = 0; i < a.length; i++) {
        ab += (a[i] - mean) * (b[i] - mean);
        aa += (a[i] - mean) ** 2;
        bb += (b[i] - mean) ** 2;
    }
    return aa > 0 && bb > 0 ? ab / Math.sqrt(aa * bb) : null;
}

function geometricMean(values) {
    if (!values.length) return null;
    return Math.exp(values.reduce((sum, x) => sum + Math.log(x), 0) / values.length);
}
