/* tools/report_chart.c - the drawings of a report, as SVG inside of the page. */
#include <math.h>
#include <string.h>

#include "support/arena.h"
#include "tools/cli_table.h"
#include "tools/report_impl.h"

enum { WIDTH = 720, HEIGHT = 220, LEFT = 70, RIGHT = 12, TOP = 10, BOTTOM = 28, MOST_DOTS = 4000 };

void hone_html_text(const char *text, hone_str *out) {
    for (; text && *text; text++) {
        switch (*text) {
        case '&':
            hone_str_append(out, "&amp;");
            break;
        case '<':
            hone_str_append(out, "&lt;");
            break;
        case '>':
            hone_str_append(out, "&gt;");
            break;
        case '"':
            hone_str_append(out, "&quot;");
            break;
        case '\'':
            hone_str_append(out, "&#39;");
            break;
        case '\n':
        case '\t':
            hone_str_append_char(out, *text);
            break;
        default:
            if ((unsigned char)*text < 32 || *text == 127) {
                hone_str_append(out, "&#65533;");
            } else {
                hone_str_append_char(out, *text);
            }
        }
    }
}

typedef struct scale {
    double low, high; /* logarithms of ns */
    size_t count;     /* trials */
} scale;

static double x_of(const scale *s, size_t trial) {
    double part = s->count > 1 ? (double)trial / (double)(s->count - 1) : 0.5;
    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double y_of(const scale *s, double ns) {
    double part = (log(ns) - s->low) / (s->high - s->low);
    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
}

static bool is_good(const hone_db_trial *trial) {
    return strcmp(trial->outcome, HONE_DB_OUTCOME_OK) == 0 && trial->median_ns > 0;
}

/* False when there is nothing to draw. */
static bool find_scale(const hone_db_trial *trials, size_t count, scale *out) {
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_good(&trials[i])) continue;
        low = fmin(low, trials[i].median_ns);
        high = fmax(high, trials[i].median_ns);
    }
    if (!(high > 0)) return false;
    if (high < low * 1.1) high = low * 1.1;
    *out = (scale){log(low), log(high), count};
    return true;
}

static void draw_axis(const scale *s, hone_str *out) {
    hone_str_printf(out, "<path class=axis d='M%d %dV%dH%d'/>", LEFT, TOP, HEIGHT - BOTTOM,
                    WIDTH - RIGHT);
    hone_arena *arena = hone_arena_create(1024);
    if (!arena) {
        out->failed = true;
        return;
    }
    for (int i = 0; i <= 4; i++) {
        double ns = exp(s->low + (s->high - s->low) * i / 4.0);
        hone_str_printf(
            out, "<text x=%d y='%.1f' class=tick>%s</text><path class=grid d='M%d %.1fH%d'/>",
            LEFT - 6, y_of(s, ns) + 4, hone_text_of_ns(arena, ns), LEFT, y_of(s, ns),
            WIDTH - RIGHT);
    }
    hone_arena_destroy(arena);
    hone_str_printf(out, "<text x=%d y=%d>1</text><text x=%d y=%d class=tick>%zu trials</text>",
                    LEFT, HEIGHT - 8, WIDTH - RIGHT, HEIGHT - 8, s->count);
}

void hone_report_curve(const hone_db_trial *trials, size_t count, hone_str *out) {
    scale s;
    if (!find_scale(trials, count, &s)) {
        hone_str_append(out, "<p>no trial has worked yet</p>\n");
        return;
    }
    hone_str_printf(out, "<svg viewBox='0 0 %d %d' role=img>", WIDTH, HEIGHT);
    draw_axis(&s, out);
    size_t step = count / MOST_DOTS + 1;
    for (size_t i = 0; i < count; i += step) {
        if (!is_good(&trials[i])) continue;
        hone_str_printf(out, "<circle cx='%.1f' cy='%.1f' r=2 />", x_of(&s, i),
                        y_of(&s, trials[i].median_ns));
    }
    double best = INFINITY;
    hone_str_append(out, "<path class=best d='");
    for (size_t i = 0; i < count; i++) {
        if (!is_good(&trials[i]) || trials[i].median_ns >= best) continue;
        if (isinf(best)) {
            hone_str_printf(out, "M%.1f %.1f", x_of(&s, i), y_of(&s, trials[i].median_ns));
        } else {
            hone_str_printf(out, "H%.1fV%.1f", x_of(&s, i), y_of(&s, trials[i].median_ns));
        }
        best = trials[i].median_ns;
    }
    hone_str_printf(out, "H%d'/></svg>\n", WIDTH - RIGHT);
}

void hone_report_bars(const hone_report_bar *bars, size_t count, hone_str *out) {
    enum { ROW = 22, NAME = 90, BAR = 460 };
    double whole = 0;
    for (size_t i = 0; i < count; i++)
        whole += bars[i].seconds;
    hone_str_printf(out, "<svg viewBox='0 0 %d %zu' role=img>", WIDTH, count * ROW + 4);
    for (size_t i = 0; i < count; i++) {
        double part = whole > 0 ? bars[i].seconds / whole : 0;
        hone_str_printf(out,
                        "<text x=%d y=%zu class=tick>%s</text><rect x=%d y=%zu width='%.1f' "
                        "height=%d /><text x='%.1f' y=%zu>%.1f s (%.0f%%)</text>",
                        NAME - 8, i * ROW + 16, bars[i].name, NAME, i * ROW + 3, part * BAR,
                        ROW - 6, NAME + part * BAR + 6, i * ROW + 16, bars[i].seconds, 100 * part);
    }
    hone_str_append(out, "</svg>\n");
}
