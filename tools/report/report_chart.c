/* tools/report/report_chart.c - the drawings of a report, as SVG inside of the page. */
#include <math.h>

#include "support/core/arena.h"
#include "tools/cli/cli_table.h"
#include "tools/report/report_impl.h"

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

static bool is_good(double median_ns) {
    return median_ns > 0;
}

void hone_report_add(hone_report_points *points, double median_ns) {
    size_t at = points->count++;
    if (is_good(median_ns)) {
        points->low = points->low > 0 ? fmin(points->low, median_ns) : median_ns;
        points->high = fmax(points->high, median_ns);
    }
    bool is_better = is_good(median_ns) && !(points->best <= median_ns);
    if (is_better) {
        points->best = median_ns;
        points->failed |= !hone_vec_push(&points->steps, ((hone_report_point){at, median_ns}));
    }
    if (at % points->stride != 0) return;
    if (points->dots.count == MOST_DOTS) { /* every other one is enough from here on */
        for (size_t i = 0; 2 * i < points->dots.count; i++)
            points->dots.data[i] = points->dots.data[2 * i];
        points->dots.count = (points->dots.count + 1) / 2;
        points->stride *= 2;
        if (at % points->stride != 0) return;
    }
    points->failed |= !hone_vec_push(&points->dots, ((hone_report_point){at, median_ns}));
}

void hone_report_points_init(hone_report_points *points) {
    *points = (hone_report_points){.stride = 1, .best = NAN};
}

void hone_report_points_deinit(hone_report_points *points) {
    hone_vec_deinit(&points->dots);
    hone_vec_deinit(&points->steps);
}

/* False when there is nothing to draw. */
static bool find_scale(const hone_report_points *points, scale *out) {
    double low = points->low, high = points->high;
    if (!(high > 0)) return false;
    if (high < low * 1.1) high = low * 1.1;
    *out = (scale){log(low), log(high), points->count};
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

static void draw_best(const hone_report_points *points, const scale *s, hone_str *out) {
    hone_str_append(out, "<path class=best d='");
    for (size_t i = 0; i < points->steps.count; i++) {
        const hone_report_point *step = &points->steps.data[i];
        hone_str_printf(out, i ? "H%.1fV%.1f" : "M%.1f %.1f", x_of(s, step->trial),
                        y_of(s, step->median_ns));
    }
    hone_str_printf(out, "H%d'/></svg>\n", WIDTH - RIGHT);
}

void hone_report_curve(const hone_report_points *points, hone_str *out) {
    scale s;
    if (!find_scale(points, &s)) {
        hone_str_append(out, "<p>no trial has worked yet</p>\n");
        return;
    }
    hone_str_printf(out, "<svg viewBox='0 0 %d %d' role=img>", WIDTH, HEIGHT);
    draw_axis(&s, out);
    for (size_t i = 0; i < points->dots.count; i++) {
        const hone_report_point *dot = &points->dots.data[i];
        if (!is_good(dot->median_ns)) continue;
        hone_str_printf(out, "<circle cx='%.1f' cy='%.1f' r=2 />", x_of(&s, dot->trial),
                        y_of(&s, dot->median_ns));
    }
    draw_best(points, &s, out);
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
