/* Clipping and momentum: m <- keep m + share (clip / max(clip, ||g||)) g, row by row, while a row is in the cache. */

enum { STRIP = 4 * LANES, STRIPS_PER_BLOCK = 32 };

/* Squares are added up in single precision over blocks of a thousand numbers only. */
INLINE double square_of(const float *restrict row, Py_ssize_t count)
{
    double total = 0;
    Py_ssize_t at = 0;
    while (at + STRIP <= count) {
        lanes sums[4] = {{0}, {0}, {0}, {0}};
        for (int strip = 0; strip < STRIPS_PER_BLOCK && at + STRIP <= count; ++strip, at += STRIP)
            for (int k = 0; k < 4; ++k) {
                lanes seen = *(const loose *)(row + at + LANES * k);
                sums[k] += seen * seen;
            }
        lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        for (int k = 0; k < LANES; ++k)
            total += all[k];
    }
    for (; at < count; ++at)
        total += (double)row[at] * row[at];
    return total;
}

/* How many rows were done: up to one that may have to be clipped and whose squares are too large, or too small, for
 * single precision. Without `clip` > 0 nothing is clipped. */
static CLONES Py_ssize_t send_rows(float *messages, const float *gradients, Py_ssize_t rows, Py_ssize_t count,
                                   double keep, double share, double clip)
{
    for (Py_ssize_t row = 0; row < rows; ++row, messages += count, gradients += count) {
        double shrunk = 1;
        if (clip > 0) {
            double square = square_of(gradients, count), length = sqrt(square);
            if (!isfinite(square) || (square < 1e-30 && clip < 1e-14))
                return row;
            shrunk = length > clip ? clip / length : 1;
        }
        float own = (float)keep, new = (float)(share * shrunk);
        for (Py_ssize_t at = 0; at < count; ++at)
            messages[at] = own * messages[at] + new * gradients[at];
    }
    return rows;
}
