/* Inner products and distances of the rows, accumulated in double, once for each REAL (float, double). */

/* Copies the first `span` of the columns start .. end - 1, or as many as there are, less `origin` if there is one, into
 * a block of doubles, with zeros up to a multiple of eight; returns this multiple. Meanwhile the columns of the next
 * block are asked for: they come from far away, in pieces too short for the processor to foresee. */
static CLONES long NAME(widen)(const REAL *restrict x, long rows, long d, long start, long end, long span,
                               const double *restrict origin, double *restrict block)
{
    enum { LINE = 64 / sizeof(REAL) };
    const long left = end - start, width = left < span ? left : span, padded = (width + 7) / 8 * 8;
    for (long row = 0; row < rows; ++row) {
        const REAL *restrict source = x + row * d + start;
        double *restrict target = block + row * span;
        for (long k = span; k < (left < 2 * span ? left : 2 * span); k += LINE)
            __builtin_prefetch(source + k, 0, 2);
        if (origin)
            for (long k = 0; k < width; ++k)
                target[k] = (double)source[k] - origin[k];
        else
            for (long k = 0; k < width; ++k)
                target[k] = (double)source[k];
        for (long k = width; k < padded; ++k)
            target[k] = 0;
    }
    return padded;
}

/* The lower triangle of the Gram matrix of n rows, each less the centre, and of further rows as they are. */
static int NAME(gram)(const REAL *x, long n, long d, long begin, long end, const REAL *centre, const REAL *extra,
                      long count, double *out)
{
    long rows = n + count, span = span_for(rows + 1);
    double *block = aligned_alloc(64, sizeof(double) * (size_t)((rows + 1) * span));
    if (!block)
        return -1;
    double *further = block + n * span, *origin = block + rows * span;
    for (long start = begin; start < end; start += span) {
        long width = NAME(widen)(centre, 1, d, start, end, span, NULL, origin);
        NAME(widen)(x, n, d, start, end, span, origin, block);
        if (count > 0)
            NAME(widen)(extra, count, d, start, end, span, NULL, further);
        accumulate_gram(block, rows, span, width, out);
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
        long width = NAME(widen)(x, n, d, start, end, span, NULL, block);
        accumulate_pairs(block, span, width, pairs, count, out);
    }
    free(block);
    return 0;
}

/* The sums of squares of the rows. */
static CLONES void NAME(squares)(const REAL *restrict x, long n, long d, long begin, long end, double *restrict out)
{
    for (long row = 0; row < n; ++row) {
        const REAL *restrict source = x + row * d;
        lanes even = {0}, odd = {0};
        long k = begin;
        for (; k + 8 <= end; k += 8) {
            lanes first = {source[k], source[k + 1], source[k + 2], source[k + 3]};
            lanes second = {source[k + 4], source[k + 5], source[k + 6], source[k + 7]};
            even += first * first, odd += second * second;
        }
        even += odd;
        double rest = even[0] + even[1] + even[2] + even[3];
        for (; k < end; ++k)
            rest += (double)source[k] * (double)source[k];
        out[row] += rest;
    }
}

typedef REAL NAME(vector) __attribute__((vector_size(32), aligned(sizeof(REAL)), may_alias));

/* out = sum over the listed rows of weight * row; other rows are not touched. Returns whether a sum is not finite.
 * The sums of a strip of columns stay in registers while the rows go by: the way for few rows. */
static CLONES int NAME(combine_few)(const REAL *restrict x, long d, long begin, long end, const long *restrict rows,
                                    const double *restrict weights, long count, REAL *restrict out)
{
    enum { LANES = 32 / sizeof(REAL), STRIP = STRIP_VECTORS * LANES };
    NAME(vector) infinite = {0};
    REAL rest = 0;
    long k = begin;
    for (; k + STRIP <= end; k += STRIP) {
        NAME(vector) sums[STRIP_VECTORS];
        for (int i = 0; i < STRIP_VECTORS; ++i)
            sums[i] = (NAME(vector)){0};
        for (long r = 0; r < count; ++r) {
            const REAL *source = x + rows[r] * d + k;
            const REAL weight = (REAL)weights[r];
            for (int i = 0; i < STRIP_VECTORS; ++i)
                sums[i] += weight * *(const NAME(vector) *)(source + i * LANES);
        }
        for (int i = 0; i < STRIP_VECTORS; ++i) {
            *(NAME(vector) *)(out + k + i * LANES) = sums[i];
            infinite += sums[i] - sums[i];
        }
    }
    for (; k < end; ++k) {
        REAL sum = 0;
        for (long r = 0; r < count; ++r)
            sum += (REAL)weights[r] * x[rows[r] * d + k];
        out[k] = sum;
        rest += sum - sum;
    }
    for (int lane = 0; lane < LANES; ++lane)
        rest += infinite[lane];
    return !(rest == 0);
}

/* The same, four rows at a time over a block of columns whose sums stay in cache: the way for many rows. */
static CLONES int NAME(combine_many)(const REAL *restrict x, long d, long begin, long end, const long *restrict rows,
                                     const double *restrict weights, long count, REAL *restrict out)
{
    const long most = COMBINED_BYTES / (long)sizeof(REAL);
    int infinite = 0;
    for (long start = begin; start < end; start += most) {
        long width = end - start < most ? end - start : most;
        REAL *restrict sums = out + start;
        memset(sums, 0, sizeof(REAL) * (size_t)width);
        long r = 0;
        for (; r + 4 <= count; r += 4) {
            const REAL *restrict a = x + rows[r] * d + start, *restrict b = x + rows[r + 1] * d + start;
            const REAL *restrict c = x + rows[r + 2] * d + start, *restrict e = x + rows[r + 3] * d + start;
            const REAL u = (REAL)weights[r], v = (REAL)weights[r + 1];
            const REAL w = (REAL)weights[r + 2], z = (REAL)weights[r + 3];
            for (long k = 0; k < width; ++k)
                sums[k] += (u * a[k] + v * b[k]) + (w * c[k] + z * e[k]);
        }
        for (; r < count; ++r) {
            const REAL *restrict a = x + rows[r] * d + start;
            const REAL u = (REAL)weights[r];
            for (long k = 0; k < width; ++k)
                sums[k] += u * a[k];
        }
        for (long k = 0; k < width; ++k)
            infinite |= !(sums[k] - sums[k] == 0);
    }
    return infinite;
}

static int NAME(combine)(const REAL *x, long d, long begin, long end, const long *rows, const double *weights,
                         long count, REAL *out)
{
    return count <= FEW_ROWS ? NAME(combine_few)(x, d, begin, end, rows, weights, count, out)
                             : NAME(combine_many)(x, d, begin, end, rows, weights, count, out);
}
