/* ir/ops/layout.c - see layout.h. */
#include "ir/ops/layout.h"

#include <string.h>

bool hone_layout_axes(const char *layout, const char *plain, int64_t *out) {
    size_t count = strlen(plain);
    if (strlen(layout) != count) return false;
    for (size_t i = 0; i < count; i++) {
        const char *place = strchr(layout, plain[i]);
        if (!place) return false;
        out[i] = place - layout;
    }
    return true;
}

static const char *const data_layouts[] = {"NCW", "NCHW", "NCDHW"};
static const char *const turned_layouts[] = {"IOW", "IOHW", "IODHW"};
static const char *const kernel_layouts[] = {"OIW", "OIHW", "OIDHW"};

static bool begins_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* Nothing, None and "" stand for the fallback. */
static const char *said(const hone_gbind *bind, const char *key, const char *fallback) {
    const char *text = hone_attrs_string(&bind->attrs, key, fallback);
    return *text ? text : fallback;
}

bool hone_layouts_of_window(const hone_gbind *bind, hone_window_layouts *out) {
    static const char *const pools[] = {"nn.max_pool", "nn.avg_pool", "nn.adaptive_avg_pool"};
    const char *name = bind->callee, *digit = strpbrk(name, "123");
    bool is_conv = begins_with(name, "nn.conv"), is_pool = false;
    for (size_t i = 0; i < HONE_COUNT(pools); i++)
        is_pool |= begins_with(name, pools[i]);
    if (!digit || !(is_conv || is_pool)) return false;
    int32_t at = *digit - '1';
    bool is_turned = strstr(name, "_transpose") != NULL;
    *out =
        (hone_window_layouts){.plain = data_layouts[at],
                              .plain_kernel = is_turned ? turned_layouts[at] : kernel_layouts[at],
                              .data_key = is_conv ? "data_layout" : "layout",
                              .kernel_key = is_conv ? "kernel_layout" : NULL};
    out->data = said(bind, out->data_key, out->plain);
    out->kernel = is_conv ? said(bind, out->kernel_key, out->plain_kernel) : out->plain_kernel;
    out->out = said(bind, "out_layout", out->data);
    return true;
}

bool hone_layouts_are_plain(const hone_window_layouts *l) {
    return strcmp(l->data, l->plain) == 0 && strcmp(l->kernel, l->plain_kernel) == 0 &&
           strcmp(l->out, l->plain) == 0;
}
