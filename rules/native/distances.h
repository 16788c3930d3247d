/* Inner products and distances of the rows, accumulated in double, once for each REAL (float, double). */

static CLONES void NAME(widen)(const REAL *restrict x, long n, long padded, long d, long start, long width, long span,
                               int centre, double *restrict block)
{
    for (long row = 0; row < n; ++row) {
        const REAL *restrict source = x + row * d + start;
        double *restrict target = block + row * span;
        for (long k = 0; k < width; ++k)
            target[k] = (double)source[k];
        for (long k = width; k < span; ++k)
            target[k] = 0;
    }
    memset(block + n * span, 0, sizeof(double) * (size_t)((padded - n) * span));
    if (!centre)
        return;
    double mean[MAX_SPAN];
    memset(mean, 0, sizeof mean);
    for (long row = 0; row < n; ++row)
        for (long k = 0; k < span; ++k)
            mean[k] += block[row * span + k];
    for (long k = 0; k < span; ++k)
        mean[k] /= (double)n;
    for (long row = 0; row < n; ++row)
        for (long k = 0; k < span; ++k)
            block[row * span + k] -= mean[k];
}

/* The lower triangle of the Gram matrix of the rows, each coordinate centred at its mean over the rows. */
static int NAME(gram)(const REAL *x, long n, long d, long begin, long end, double *out)
{
    long padded = (n + 3) / 4 * 4, span = span_for(padded);
    double *block = aligned_alloc(64, sizeof(double) * (size_t)(padded * span));
    if (!block)
        return -1;
    for (long start = begin; start < end; start += span) {
        NAME(widen)(x, n, padded, d, start, end - start < span ? end - start : span, span, 1, block);
        accumulate_gram(block, n, padded, span, out);
    }
    free(block);
    return 0;
}

/* Squared distances of the listed pairs of rows, from differences: no cancellation. */
static int NAME(pairs)(const REAL *x, long n, long d, long begin, long end, const int *pairs, long count, double *out)
{
    long span = span_for(n);
    double *block = aligned_alloc(64, sizeof(double) * (size_t)(n * span));
    if (!block)
        return -1;
    for (long start = begin; start < end; start += span) {
        NAME(widen)(x, n, n, d, start, end - start < span ? end - start : span, span, 0, block);
        accumulate_pairs(block, span, pairs, count, out);
    }
    free(block);
    return 0;
}
