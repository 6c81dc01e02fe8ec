/* compare_logits.c - do several runs of one model give the same answers?
 *
 *   compare_logits REFERENCE.npy PLAIN.npy OTHER.npy…
 *
 * Rows are images, columns the logits of the classes, float32. PLAIN is the model compiled without
 * any schedule: how far it is from the reference says what rounding does to this model. A logit may
 * be as far from the reference as
 *
 *     16 × (largest difference of PLAIN) + 8 × eps(float32) × (largest |reference|)
 *
 * the bound that Hone uses everywhere. The predicted class must be the same for every image whose
 * two best logits differ by more than that. Exit 0: all is right; 1: something is not; 2: usage.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct logits {
    const char *path;
    long rows, columns;
    float *values;
} logits;

static void fail(const char *path, const char *why) {
    fprintf(stderr, "compare_logits: %s: %s\n", path, why);
    exit(2);
}

/* NumPy's format: magic, version, length of the header, a Python dictionary, the data. */
static logits read_npy(const char *path) {
    unsigned char head[10];
    char text[512] = "";
    logits l = {.path = path};
    FILE *file = fopen(path, "rb");
    if (!file) fail(path, "cannot be opened");
    if (fread(head, 1, 10, file) != 10 || memcmp(head, "\x93NUMPY\x01", 7) != 0)
        fail(path, "is no .npy file of version 1");
    size_t length = head[8] | (size_t)head[9] << 8;
    if (length >= sizeof text || fread(text, 1, length, file) != length)
        fail(path, "has a damaged header");
    const char *shape = strstr(text, "'shape': (");
    if (!strstr(text, "'<f4'") || strstr(text, "'fortran_order': True") || !shape ||
        sscanf(shape, "'shape': (%ld, %ld)", &l.rows, &l.columns) != 2)
        fail(path, "is no matrix of float32");
    if (l.rows < 1 || l.columns < 2 || l.rows > 10000000 || l.columns > 1000)
        fail(path, "has a strange shape");
    size_t count = (size_t)l.rows * (size_t)l.columns;
    l.values = malloc(count * sizeof *l.values);
    if (!l.values) fail(path, "needs more memory than there is");
    if (fread(l.values, sizeof *l.values, count, file) != count) fail(path, "is too short");
    fclose(file);
    return l;
}

/* Infinite when one of them is not finite. */
static double largest_difference(const logits *a, const logits *b) {
    double largest = 0;
    for (long i = 0; i < a->rows * a->columns; i++) {
        double difference = fabs((double)a->values[i] - (double)b->values[i]);
        if (!isfinite(difference)) return HUGE_VAL;
        if (difference > largest) largest = difference;
    }
    return largest;
}

static double largest_value(const logits *a) {
    double largest = 0;
    for (long i = 0; i < a->rows * a->columns; i++)
        largest = fmax(largest, fabs((double)a->values[i]));
    return largest;
}

static long best_class(const float *row, long columns, double *out_margin) {
    long best = row[1] > row[0], second = 1 - best;
    for (long k = 2; k < columns; k++) {
        if (row[k] > row[best]) {
            second = best;
            best = k;
        } else if (row[k] > row[second]) {
            second = k;
        }
    }
    if (out_margin) *out_margin = (double)row[best] - (double)row[second];
    return best;
}

/* Prints a line; 1 when something is wrong. */
static int compare(const logits *reference, const logits *other, double bound) {
    long differ = 0, wrong = 0;
    double error = largest_difference(other, reference);
    for (long i = 0; i < reference->rows; i++) {
        double margin;
        const float *want = reference->values + i * reference->columns;
        long class = best_class(want, reference->columns, &margin);
        if (best_class(other->values + i * other->columns, other->columns, NULL) == class) continue;
        differ++;
        if (margin > bound) wrong++;
    }
    int is_wrong = !(error <= bound) || wrong > 0;
    printf("%-34s max |difference| %.2e %s %.2e, %ld of %ld predictions differ%s: %s\n",
           other->path, error, error <= bound ? "<=" : "> ", bound, differ, reference->rows,
           differ && !wrong ? " (all too close to call)" : "", is_wrong ? "WRONG" : "ok");
    return is_wrong;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: compare_logits REFERENCE.npy PLAIN.npy OTHER.npy...\n");
        return 2;
    }
    logits reference = read_npy(argv[1]), plain = {0};
    double bound = 0;
    int is_wrong = 0;
    for (int i = 2; i < argc; i++) {
        logits other = read_npy(argv[i]);
        if (other.rows != reference.rows || other.columns != reference.columns)
            fail(other.path, "has another shape than the reference");
        if (i == 2) {
            bound = 16 * largest_difference(&other, &reference) +
                    8 * (double)FLT_EPSILON * largest_value(&reference);
            if (!isfinite(bound)) fail(other.path, "has values that are not finite");
            plain = other;
        }
        is_wrong |= compare(&reference, &other, bound);
        if (i != 2) free(other.values);
    }
    free(plain.values);
    free(reference.values);
    return is_wrong;
}
