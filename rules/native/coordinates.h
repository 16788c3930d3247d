/* Coordinate-wise reductions over sorted columns, once for each REAL (float, double).
 *
 * A block of WIDTH coordinates of all n rows is copied into a buffer that stays in cache; a compare-exchange
 * network then sorts every column of the block at once, one vector instruction for eight (or four) columns.
 * A network is a list of triples (upper, lower, mode): mode 0 keeps both results, 1 only the minimum (in upper),
 * 2 only the maximum (in lower).
 */

static CLONES int NAME(load)(const REAL *restrict x, long n, long d, long start, long width, REAL *restrict block)
{
    int unordered = 0;
    for (long row = 0; row < n; ++row) {
        const REAL *restrict source = x + row * d + start;
        REAL *restrict target = block + row * WIDTH;
        for (long k = 0; k < width; ++k) {
            REAL value = source[k];
            target[k] = value;
            unordered |= (value != value);
        }
        for (long k = width; k < WIDTH; ++k)
            target[k] = 0;
    }
    return unordered;
}

static CLONES void NAME(sort)(REAL *restrict block, const int *restrict network, long steps)
{
    for (long step = 0; step < steps; ++step) {
        REAL *upper = block + network[3 * step] * (long)WIDTH;
        REAL *lower = block + network[3 * step + 1] * (long)WIDTH;
        int mode = network[3 * step + 2];
        if (mode == 0) {
            for (long k = 0; k < WIDTH; ++k) {
                REAL a = upper[k], b = lower[k];
                upper[k] = a < b ? a : b;
                lower[k] = a > b ? a : b;
            }
        } else if (mode == 1) {
            for (long k = 0; k < WIDTH; ++k)
                upper[k] = upper[k] < lower[k] ? upper[k] : lower[k];
        } else {
            for (long k = 0; k < WIDTH; ++k)
                lower[k] = upper[k] > lower[k] ? upper[k] : lower[k];
        }
    }
}

/* The mean of the sorted rows low .. high - 1. */
static CLONES void NAME(window)(const REAL *restrict block, long low, long high, REAL *restrict mean)
{
    for (long k = 0; k < WIDTH; ++k)
        mean[k] = block[low * WIDTH + k];
    for (long row = low + 1; row < high; ++row)
        for (long k = 0; k < WIDTH; ++k)
            mean[k] += block[row * WIDTH + k];
    const REAL count = (REAL)(high - low);
    for (long k = 0; k < WIDTH; ++k)
        mean[k] /= count;
}

/* The mean of the `kept` values nearest to the median; the window starts at the number of indices i with
 * median - v[i] > v[i + kept] - median, up to the rounding of the median. */
static CLONES void NAME(around)(const REAL *restrict block, long n, long kept, REAL margin, REAL *restrict mean)
{
    REAL median[WIDTH], first[WIDTH];
    const REAL *below = block + ((n - 1) / 2) * WIDTH, *above = block + (n / 2) * WIDTH;
    for (long k = 0; k < WIDTH; ++k) {
        median[k] = below[k] == above[k] ? below[k] : (below[k] + above[k]) / 2;
        first[k] = 0;
        mean[k] = 0;
    }
    for (long i = 0; i + kept < n; ++i) {
        const REAL *left = block + i * WIDTH, *right = block + (i + kept) * WIDTH;
        for (long k = 0; k < WIDTH; ++k) {
            REAL slack = margin * (FABS(right[k]) + FABS(median[k]));
            first[k] += (median[k] - left[k] > (right[k] - median[k]) + slack) ? (REAL)1 : (REAL)0;
        }
    }
    for (long row = 0; row < n; ++row) {
        const REAL *value = block + row * WIDTH;
        const REAL position = (REAL)row;
        for (long k = 0; k < WIDTH; ++k) {
            int inside = (position >= first[k]) & (position < first[k] + (REAL)kept);
            mean[k] += inside ? value[k] : (REAL)0;
        }
    }
    for (long k = 0; k < WIDTH; ++k)
        mean[k] /= (REAL)kept;
}

static int NAME(reduce)(const REAL *x, long n, long d, long begin, long end, const int *network, long steps,
                        long low, long high, long kept, double margin, REAL *out)
{
    REAL *block = aligned_alloc(64, sizeof(REAL) * WIDTH * (size_t)n);
    REAL mean[WIDTH];
    if (!block)
        return -1;
    int unordered = 0;
    for (long start = begin; start < end; start += WIDTH) {
        long width = end - start < WIDTH ? end - start : WIDTH;
        unordered |= NAME(load)(x, n, d, start, width, block);
        NAME(sort)(block, network, steps);
        if (kept > 0)
            NAME(around)(block, n, kept, (REAL)margin, mean);
        else
            NAME(window)(block, low, high, mean);
        memcpy(out + start, mean, sizeof(REAL) * (size_t)width);
    }
    free(block);
    return unordered;
}
