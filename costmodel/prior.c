/* costmodel/prior.c - see prior.h. */
#include "costmodel/prior.h"

#include <stdio.h>
#include <string.h>

#include "costmodel/feature.h"

#define HEAD "hone cost model 1, features %d, columns %u\n"
enum { HEAD_BYTES = 80 };

/* costmodel/shipped.model, made by the build. */
extern const unsigned char hone_shipped_model[];
extern const size_t hone_shipped_model_bytes;

void hone_prior_print(const tree_forest *forest, hone_str *out) {
    hone_str_printf(out, HEAD, HONE_FEATURE_VERSION, (unsigned)hone_feature_count());
    tree_forest_print(forest, out);
}

hone_status hone_prior_read(const char *text, size_t length, tree_forest **out_forest) {
    char head[HEAD_BYTES];
    int count =
        snprintf(head, sizeof head, HEAD, HONE_FEATURE_VERSION, (unsigned)hone_feature_count());
    size_t kind = strcspn(head, ","), line = (size_t)count;
    *out_forest = NULL;
    if (length < kind || strncmp(text, head, kind) != 0)
        return HONE_ERROR(HONE_CODE_INVALID, "this is no cost model");
    if (length < line || strncmp(text, head, line) != 0) {
        return HONE_ERROR(
            HONE_CODE_VERSION,
            "the cost model is for other features (\"%.*s\"), make it anew: make model",
            (int)strcspn(text, "\n"), text);
    }
    return tree_forest_read(text + line, length - line, hone_feature_count(), out_forest);
}

hone_status hone_prior_shipped(tree_forest **out_forest) {
    *out_forest = NULL;
    if (hone_shipped_model_bytes == 0) return HONE_OK;
    return hone_prior_read((const char *)hone_shipped_model, hone_shipped_model_bytes, out_forest);
}
