/* From the samples to the pooled outputs, and the number (0 to 3, row by row) of the place that won each window. */

/* Kernels of (outputs, channels, 5, 5) as (5, 5, channels, outputs), the outputs filled up with zeros. */
static void pack_by_tap(Shape shape, const float *kernels, float *packed)
{
    Py_ssize_t wide = padded(shape.outputs), taps = KERNEL * KERNEL;
    memset(packed, 0, sizeof(float) * (size_t)(taps * shape.channels * wide));
    for (Py_ssize_t output = 0; output < shape.outputs; ++output)
        for (Py_ssize_t channel = 0; channel < shape.channels; ++channel)
            for (Py_ssize_t tap = 0; tap < taps; ++tap)
                packed[(tap * shape.channels + channel) * wide + output] =
                    kernels[(output * shape.channels + channel) * taps + tap];
}

/* One window for `group` times eight outputs: twelve accumulators at the most, so that they stay in registers. Left
 * alone, the compiler loads a kernel's vector anew for each of its four uses, and loads are what there is least of:
 * with `hold`, for which a vector must be one register, it does not. */
INLINE void window(const float *restrict x, Py_ssize_t row, Py_ssize_t channels, const float *restrict packed,
                   Py_ssize_t wide, int group, const float *restrict biases, float *restrict best,
                   float *restrict who, int hold)
{
    lanes sums[4][GROUP];
    for (int place = 0; place < 4; ++place)
        for (int g = 0; g < group; ++g)
            sums[place][g] = *(const loose *)(biases + LANES * g);
    for (Py_ssize_t line = 0; line < KERNEL; ++line) {
        const float *restrict upper = x + line * row, *restrict lower = upper + row;
        for (Py_ssize_t tap = 0; tap < KERNEL * channels; ++tap, packed += wide) {
            lanes kernels[GROUP];
            for (int g = 0; g < group; ++g) {
                kernels[g] = *(const loose *)(packed + LANES * g);
                HOLD(hold, kernels[g]);
            }
            for (int g = 0; g < group; ++g)
                sums[0][g] += upper[tap] * kernels[g];
            for (int g = 0; g < group; ++g)
                sums[1][g] += upper[tap + channels] * kernels[g];
            for (int g = 0; g < group; ++g)
                sums[2][g] += lower[tap] * kernels[g];
            for (int g = 0; g < group; ++g)
                sums[3][g] += lower[tap + channels] * kernels[g];
        }
    }
    for (int g = 0; g < group; ++g) {
        lanes most = {0}, won = most + (float)NOBODY;
        for (int place = 0; place < 4; ++place) {
            lanes number = (lanes){0} + (float)place;
            /* a NaN wins and stays, so that a run that has diverged is seen to have */
            bits stays = (sums[place][g] <= most) | (most != most);
            won = (lanes)((stays & (bits)won) | (~stays & (bits)number));
            most = (lanes)((stays & (bits)most) | (~stays & (bits)sums[place][g]));
        }
        *(loose *)(best + LANES * g) = most;
        *(loose *)(who + LANES * g) = won;
    }
}

INLINE void all_windows(Shape shape, const float *restrict x, const float *restrict packed,
                        const float *restrict biases, Py_ssize_t first, int group, float *restrict pooled,
                        unsigned char *restrict winners, int hold)
{
    Py_ssize_t row = shape.width * shape.channels, high = (shape.height - 4) / 2, across = (shape.width - 4) / 2;
    Py_ssize_t wide = padded(shape.outputs), left = shape.outputs - first;
    Py_ssize_t count = left < group * LANES ? left : group * LANES;
    float best[GROUP * LANES], who[GROUP * LANES];
    for (Py_ssize_t sample = 0; sample < shape.samples; ++sample)
        for (Py_ssize_t i = 0; i < high; ++i)
            for (Py_ssize_t j = 0; j < across; ++j) {
                const float *corner = x + (sample * shape.height + 2 * i) * row + 2 * j * shape.channels;
                Py_ssize_t place = ((sample * high + i) * across + j) * shape.outputs + first;
                window(corner, row, shape.channels, packed + first, wide, group, biases + first, best, who, hold);
                memcpy(pooled + place, best, sizeof(float) * (size_t)count);
                for (Py_ssize_t k = 0; k < count; ++k)
                    winners[place + k] = (unsigned char)who[k];
            }
}

INLINE void spread_over_groups(Shape shape, const float *x, const float *packed, const float *biases, float *pooled,
                               unsigned char *winners, int hold)
{
    Py_ssize_t left = padded(shape.outputs) / LANES, first = 0;
    for (Py_ssize_t groups = (left + GROUP - 1) / GROUP; groups > 0; --groups) {
        Py_ssize_t group = (left + groups - 1) / groups;
        if (group == 3)
            all_windows(shape, x, packed, biases, first, 3, pooled, winners, hold);
        else if (group == 2)
            all_windows(shape, x, packed, biases, first, 2, pooled, winners, hold);
        else
            all_windows(shape, x, packed, biases, first, 1, pooled, winners, hold);
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
    Py_ssize_t wide = padded(shape.outputs);
    float *packed = malloc(sizeof(float) * (size_t)((KERNEL * KERNEL * shape.channels + 1) * wide));
    if (!packed)
        return -1;
    float *filled = packed + KERNEL * KERNEL * shape.channels * wide;
    pack_by_tap(shape, kernels, packed);
    memset(filled, 0, sizeof(float) * (size_t)wide);
    memcpy(filled, biases, sizeof(float) * (size_t)shape.outputs);
#ifdef WIDE
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        spread_wide(shape, x, packed, filled, pooled, winners);
    else
#endif
        spread_plain(shape, x, packed, filled, pooled, winners);
    free(packed);
    return 0;
}
