/* From the samples to the pooled outputs, and the number (0 to 3, row by row) of the place that won each window. */

#ifdef SHUFFLES
#define ALTERNATE(left, right) __builtin_shufflevector(left, right, 0, 9, 2, 11, 4, 13, 6, 15)
#define EVEN(vector) __builtin_shufflevector(vector, vector, 0, 2, 4, 6, 0, 2, 4, 6)
#define ODD(vector) __builtin_shufflevector(vector, vector, 1, 3, 5, 7, 1, 3, 5, 7)
#else
#define ALTERNATE(left, right) (left)
#define EVEN(vector) (vector)
#define ODD(vector) (vector)
#endif

/* Whether the last vector of outputs is half empty: then it serves a left and a right place at a time. */
static int half_empty(Py_ssize_t outputs)
{
#ifdef SHUFFLES
    return outputs % LANES > 0 && outputs % LANES <= LANES / 2;
#else
    return (void)outputs, 0;
#endif
}

/* One row of numbers, one per output, filled up with zeros; with `twice`, every number of the last vector stands
 * twice. */
static void fill(Py_ssize_t outputs, const float *from, Py_ssize_t step, int twice, float *row)
{
    Py_ssize_t wide = padded(outputs), last = wide - LANES;
    memset(row, 0, sizeof(float) * (size_t)wide);
    for (Py_ssize_t output = 0; output < outputs; ++output)
        row[output] = from[output * step];
    if (twice)
        for (int place = LANES - 1; place > 0; --place)
            row[last + place] = row[last + place / 2];
}

/* Kernels of (outputs, channels, 5, 5) as (5, 5, channels, outputs). */
static void pack_by_tap(Shape shape, const float *kernels, int twice, float *packed)
{
    Py_ssize_t wide = padded(shape.outputs), taps = KERNEL * KERNEL;
    for (Py_ssize_t channel = 0; channel < shape.channels; ++channel)
        for (Py_ssize_t tap = 0; tap < taps; ++tap)
            fill(shape.outputs, kernels + channel * taps + tap, shape.channels * taps,
                 twice, packed + (tap * shape.channels + channel) * wide);
}

/* The largest of a window's four places if it is positive, and its number. */
INLINE void choose(const lanes *places, lanes *best, bits *who)
{
    lanes most = {0};
    bits won = (bits){0} + NOBODY;
    for (int place = 0; place < 4; ++place) {
        /* a NaN wins and stays, so that a run that has diverged is seen to have */
        bits stays = (places[place] <= most) | (most != most);
        won = (stays & won) | (~stays & place);
        most = (lanes)((stays & (bits)most) | (~stays & (bits)places[place]));
    }
    *best = most;
    *who = won;
}

/* One window for `group` times eight outputs: twelve accumulators at the most, so that they stay in registers. Of a
 * half empty vector (the last one, if `half`) one accumulator holds the left place and the right one. Left alone, the
 * compiler loads a kernel's vector anew for each of its four uses, and loads are what there is least of: with `hold`,
 * for which a vector must be one register, it does not. */
INLINE void window(const float *restrict x, Py_ssize_t row, Py_ssize_t channels, const float *restrict packed,
                   Py_ssize_t wide, int group, int half, const float *restrict biases, lanes *restrict best,
                   bits *restrict who, int hold)
{
    int full = group - half;
    lanes sums[4][GROUP], pairs[2];
    for (int place = 0; place < 4; ++place)
        for (int g = 0; g < full; ++g)
            sums[place][g] = *(const loose *)(biases + LANES * g);
    if (half)
        pairs[0] = pairs[1] = *(const loose *)(biases + LANES * full);
    for (Py_ssize_t line = 0; line < KERNEL; ++line) {
        const float *restrict upper = x + line * row, *restrict lower = upper + row;
        for (Py_ssize_t tap = 0; tap < KERNEL * channels; ++tap, packed += wide) {
            lanes kernels[GROUP];
            for (int g = 0; g < group; ++g) {
                kernels[g] = *(const loose *)(packed + LANES * g);
                HOLD(hold, kernels[g]);
            }
            for (int side = 0; side < 2; ++side) {
                const float *restrict seen = side ? lower : upper;
                lanes left = seen[tap] - (lanes){0}, right = seen[tap + channels] - (lanes){0};
                HOLD(hold, left);
                HOLD(hold, right);
                for (int g = 0; g < full; ++g)
                    sums[2 * side][g] += left * kernels[g];
                for (int g = 0; g < full; ++g)
                    sums[2 * side + 1][g] += right * kernels[g];
                if (half)
                    pairs[side] += ALTERNATE(left, right) * kernels[full];
            }
        }
    }
    if (half)
        for (int side = 0; side < 2; ++side) {
            sums[2 * side][full] = EVEN(pairs[side]);
            sums[2 * side + 1][full] = ODD(pairs[side]);
        }
    for (int g = 0; g < group; ++g) {
        lanes places[] = {sums[0][g], sums[1][g], sums[2][g], sums[3][g]};
        choose(places, &best[g], &who[g]);
    }
}

/* Two windows are remembered: the last one, and the last flat one with its colour. */
INLINE void all_windows(Shape shape, const float *restrict x, const float *restrict packed,
                        const float *restrict biases, Py_ssize_t first, int group, int half, float *restrict pooled,
                        unsigned char *restrict winners, int hold)
{
    Py_ssize_t row = shape.width * shape.channels, high = high_of(shape), across = across_of(shape);
    Py_ssize_t wide = padded(shape.outputs), left = shape.outputs - first;
    Py_ssize_t count = left < group * LANES ? left : group * LANES;
    int looked_at = may_be_flat(shape);
    lanes best[2][GROUP];
    bits who[2][GROUP];
    float colour = NAN;
    for (Py_ssize_t sample = 0; sample < shape.samples; ++sample)
        for (Py_ssize_t i = 0; i < high; ++i)
            for (Py_ssize_t j = 0; j < across; ++j) {
                const float *corner = x + (sample * shape.height + 2 * i) * row + 2 * j * shape.channels;
                Py_ssize_t place = ((sample * high + i) * across + j) * shape.outputs + first;
                int flat = looked_at && is_flat(corner, row, j == across - 1);
                if (!flat || corner[0] != colour)
                    window(corner, row, shape.channels, packed + first, wide, group, half, biases + first, best[flat],
                           who[flat], hold);
                if (flat)
                    colour = corner[0];
                for (int g = 0; g < group; ++g)
                    put_lanes(&best[flat][g], &who[flat][g], count - LANES * g < LANES ? count - LANES * g : LANES,
                              pooled + place + LANES * g, winners + place + LANES * g);
            }
}

INLINE void spread_over_groups(Shape shape, const float *x, const float *packed, const float *biases, float *pooled,
                               unsigned char *winners, int hold)
{
    Py_ssize_t left = padded(shape.outputs) / LANES, first = 0;
    for (Py_ssize_t groups = (left + GROUP - 1) / GROUP; groups > 0; --groups) {
        Py_ssize_t group = (left + groups - 1) / groups;
        int kind = 2 * (int)group + (groups == 1 && half_empty(shape.outputs));
        if (kind == 7)
            all_windows(shape, x, packed, biases, first, 3, 1, pooled, winners, hold);
        else if (kind == 6)
            all_windows(shape, x, packed, biases, first, 3, 0, pooled, winners, hold);
        else if (kind == 5)
            all_windows(shape, x, packed, biases, first, 2, 1, pooled, winners, hold);
        else if (kind == 4)
            all_windows(shape, x, packed, biases, first, 2, 0, pooled, winners, hold);
        else if (kind == 3)
            all_windows(shape, x, packed, biases, first, 1, 1, pooled, winners, hold);
        else
            all_windows(shape, x, packed, biases, first, 1, 0, pooled, winners, hold);
        first += group * LANES;
        left -= group;
    }
}

#ifdef WIDE
static WIDE void spread_wide(Shape shape, const float *x, const float *packed, const float *biases, float *pooled,
                             unsigned char *winners)
{
    spread_over_groups(shape, x, packed, biases, pooled, winners, 1);
}
#endif

static void spread_plain(Shape shape, const float *x, const float *packed, const float *biases, float *pooled,
                         unsigned char *winners)
{
    spread_over_groups(shape, x, packed, biases, pooled, winners, 0);
}

static int run_forward(Shape shape, const float *x, const float *kernels, const float *biases, float *pooled,
                       unsigned char *winners)
{
    Py_ssize_t taps = KERNEL * KERNEL * shape.channels, wide = padded(shape.outputs);
    int twice = half_empty(shape.outputs);
    float *packed = malloc(sizeof(float) * (size_t)((taps + 1) * wide));
    if (!packed)
        return -1;
    float *filled = packed + taps * wide;
    pack_by_tap(shape, kernels, twice, packed);
    fill(shape.outputs, biases, 1, twice, filled);
#ifdef WIDE
    if (is_wide())
        spread_wide(shape, x, packed, filled, pooled, winners);
    else
#endif
        spread_plain(shape, x, packed, filled, pooled, winners);
    free(packed);
    return 0;
}
