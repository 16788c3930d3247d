/* Clipping and momentum: m <- keep m + share (clip / max(clip, ||g||)) g with g = gradient + decay theta, row by row,
 * while a row is in the cache. */

enum { STRIP = 4 * LANES, STRIPS_PER_BLOCK = 32 };

typedef struct {
    double keep, share, clip, decay;
} Sending;

/* Sums of a block's squares are in single precision, over blocks of a thousand numbers only. */
INLINE double total_of(const lanes *sums)
{
    lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double total = 0;
    for (int k = 0; k < LANES; ++k)
        total += all[k];
    return total;
}

INLINE double square_of(const float *restrict row, const float *restrict theta, float decay, Py_ssize_t count)
{
    double total = 0;
    Py_ssize_t at = 0;
    while (at + STRIP <= count) {
        lanes sums[4] = {{0}, {0}, {0}, {0}};
        for (int strip = 0; strip < STRIPS_PER_BLOCK && at + STRIP <= count; ++strip, at += STRIP)
            for (int k = 0; k < 4; ++k) {
                lanes seen = *(const loose *)(row + at + LANES * k);
                if (decay != 0)
                    seen += decay * *(const loose *)(theta + at + LANES * k);
                sums[k] += seen * seen;
            }
        total += total_of(sums);
    }
    for (; at < count; ++at) {
        double seen = decay != 0 ? row[at] + decay * theta[at] : row[at];
        total += seen * seen;
    }
    return total;
}

/* One row; the sum of the squares of what is sent. */
INLINE double send_row(float *restrict message, const float *restrict row, const float *restrict theta, float keep,
                       float share, float decay, Py_ssize_t count)
{
    double total = 0;
    Py_ssize_t at = 0;
    while (at + STRIP <= count) {
        lanes sums[4] = {{0}, {0}, {0}, {0}};
        for (int strip = 0; strip < STRIPS_PER_BLOCK && at + STRIP <= count; ++strip, at += STRIP)
            for (int k = 0; k < 4; ++k) {
                lanes seen = *(const loose *)(row + at + LANES * k), sent = *(const loose *)(message + at + LANES * k);
                if (decay != 0)
                    seen += decay * *(const loose *)(theta + at + LANES * k);
                sent = keep * sent + share * seen;
                *(loose *)(message + at + LANES * k) = sent;
                sums[k] += sent * sent;
            }
        total += total_of(sums);
    }
    for (; at < count; ++at) {
        float seen = decay != 0 ? row[at] + decay * theta[at] : row[at];
        message[at] = keep * message[at] + share * seen;
        total += (double)message[at] * message[at];
    }
    return total;
}

/* How many rows were done: up to one that may have to be clipped and whose squares are too large, or too small, for
 * single precision. Without `clip` > 0 nothing is clipped, without `decay` theta is not looked at. `square` becomes the
 * sum of the squares of what is sent. */
static CLONES Py_ssize_t send_rows(float *messages, const float *gradients, const float *theta, Py_ssize_t rows,
                                   Py_ssize_t count, Sending how, double *square)
{
    float decay = (float)how.decay;
    *square = 0;
    for (Py_ssize_t row = 0; row < rows; ++row, messages += count, gradients += count) {
        double shrunk = 1;
        if (how.clip > 0) {
            double own = square_of(gradients, theta, decay, count), length = sqrt(own);
            if (!isfinite(own) || (own < 1e-30 && how.clip < 1e-14))
                return row;
            shrunk = length > how.clip ? how.clip / length : 1;
        }
        *square += send_row(messages, gradients, theta, (float)how.keep, (float)(how.share * shrunk), decay, count);
    }
    return rows;
}
