/* From the gradients of the pooled outputs to every worker's gradients of kernels and biases, and the input's.
 *
 * A kernel has five lines of 5 x channels numbers each, filled up to whole vectors. Sums over places, and over outputs,
 * stay in registers: `lines` times `vectors` of them, thirteen at the most.
 */
enum { MOST_VECTORS = 13 };

/* The places of a sample that won for one output, or the outputs for which one place won: where, and the gradient. */
typedef struct {
    int count, *where;
    float *values;
} List;

/* Kernels of (outputs, channels, 5, 5) as (outputs, 5, span), span being 5 x channels filled up. */
static void pack_by_output(Shape shape, const float *kernels, float *packed)
{
    Py_ssize_t span = padded(KERNEL * shape.channels), taps = KERNEL * KERNEL;
    for (Py_ssize_t output = 0; output < shape.outputs; ++output)
        for (Py_ssize_t channel = 0; channel < shape.channels; ++channel)
            for (Py_ssize_t tap = 0; tap < taps; ++tap)
                packed[(output * KERNEL + tap / KERNEL) * span + tap % KERNEL * shape.channels + channel] =
                    kernels[(output * shape.channels + channel) * taps + tap];
}

static void unpack(Shape shape, const float *packed, float *kernels)
{
    Py_ssize_t span = padded(KERNEL * shape.channels), taps = KERNEL * KERNEL;
    for (Py_ssize_t output = 0; output < shape.outputs; ++output)
        for (Py_ssize_t channel = 0; channel < shape.channels; ++channel)
            for (Py_ssize_t tap = 0; tap < taps; ++tap)
                kernels[(output * shape.channels + channel) * taps + tap] =
                    packed[(output * KERNEL + tap / KERNEL) * span + tap % KERNEL * shape.channels + channel];
}

/* to += the sum over the list of value times what is at `where`; lines are `step` apart there and `stride` in to. */
INLINE void add_up(List list, const float *restrict from, Py_ssize_t step, float *restrict to, Py_ssize_t stride,
                   int lines, int vectors)
{
    lanes sums[MOST_VECTORS];
    for (int k = 0; k < lines * vectors; ++k)
        sums[k] = (lanes){0};
    for (int entry = 0; entry < list.count; ++entry) {
        const float *restrict seen = from + list.where[entry];
        float value = list.values[entry];
        for (int line = 0; line < lines; ++line)
            for (int k = 0; k < vectors; ++k)
                sums[line * vectors + k] += value * *(const loose *)(seen + line * step + LANES * k);
    }
    for (int line = 0; line < lines; ++line)
        for (int k = 0; k < vectors; ++k)
            *(loose *)(to + line * stride + LANES * k) += sums[line * vectors + k];
}

/* All five lines of `span` numbers. */
INLINE void add_lines(List list, const float *from, Py_ssize_t step, float *to, Py_ssize_t stride, Py_ssize_t span)
{
    if (span == LANES) {
        add_up(list, from, step, to, stride, KERNEL, 1);
        return;
    }
    for (Py_ssize_t line = 0; line < KERNEL; ++line) {
        const float *source = from + line * step;
        float *target = to + line * stride;
        Py_ssize_t left = span / LANES;
        for (; left >= 13; left -= 13, source += 13 * LANES, target += 13 * LANES)
            add_up(list, source, step, target, stride, 1, 13);
        for (; left >= 4; left -= 4, source += 4 * LANES, target += 4 * LANES)
            add_up(list, source, step, target, stride, 1, 4);
        for (; left >= 1; left -= 1, source += LANES, target += LANES)
            add_up(list, source, step, target, stride, 1, 1);
    }
}

/* The kernels' and biases' gradients of one sample: for every output, the sum over the places that won. */
INLINE void add_kernels(Shape shape, const float *x, const float *gradient, const unsigned char *winners, List list,
                        float *sums, float *biases)
{
    Py_ssize_t row = shape.width * shape.channels, span = padded(KERNEL * shape.channels);
    Py_ssize_t high = (shape.height - 4) / 2, across = (shape.width - 4) / 2;
    for (Py_ssize_t output = 0; output < shape.outputs; ++output) {
        float total = 0;
        list.count = 0;
        for (Py_ssize_t i = 0; i < high; ++i)
            for (Py_ssize_t j = 0; j < across; ++j) {
                Py_ssize_t place = (i * across + j) * shape.outputs + output, who = winners[place];
                list.where[list.count] = (int)((2 * i + (who >> 1)) * row + (2 * j + (who & 1)) * shape.channels);
                list.values[list.count] = gradient[place];
                total += who < NOBODY ? gradient[place] : 0;
                list.count += who < NOBODY;
            }
        biases[output] += total;
        add_lines(list, x, row, sums + output * KERNEL * span, span, span);
    }
}

/* The input's gradient of one sample: for every place, the sum over the outputs for which it won. */
INLINE void add_inputs(Shape shape, const float *packed, const float *gradient, const unsigned char *winners, List list,
                       float *back)
{
    Py_ssize_t row = shape.width * shape.channels, span = padded(KERNEL * shape.channels);
    Py_ssize_t high = (shape.height - 4) / 2, across = (shape.width - 4) / 2;
    for (Py_ssize_t i = 0; i < high; ++i)
        for (Py_ssize_t j = 0; j < across; ++j)
            for (int who = 0; who < NOBODY; ++who) {
                Py_ssize_t place = (i * across + j) * shape.outputs;
                list.count = 0;
                for (Py_ssize_t output = 0; output < shape.outputs; ++output) {
                    list.where[list.count] = (int)(output * KERNEL * span);
                    list.values[list.count] = gradient[place + output];
                    list.count += winners[place + output] == who;
                }
                add_lines(list, packed, span, back + (2 * i + (who >> 1)) * row + (2 * j + (who & 1)) * shape.channels,
                          row, span);
            }
}

typedef struct {
    float *packed, *sums, *sample, *back;
    List list;
} Room;

/* A worker's kernels and biases stand in one row of `out`. */
static CLONES void all_samples(Shape shape, Py_ssize_t workers, const float *x, const float *gradient,
                               const unsigned char *winners, Room room, float *out, float *back)
{
    Py_ssize_t each = shape.height * shape.width * shape.channels, own = shape.samples / workers;
    Py_ssize_t pooled = (shape.height - 4) / 2 * ((shape.width - 4) / 2) * shape.outputs;
    Py_ssize_t weights = shape.outputs * KERNEL * padded(KERNEL * shape.channels);
    for (Py_ssize_t worker = 0; worker < workers; ++worker) {
        float *start = out + worker * shape.outputs * (KERNEL * KERNEL * shape.channels + 1);
        float *biases = start + shape.outputs * KERNEL * KERNEL * shape.channels;
        memset(room.sums, 0, sizeof(float) * (size_t)weights);
        memset(biases, 0, sizeof(float) * (size_t)shape.outputs);
        for (Py_ssize_t sample = worker * own; sample < (worker + 1) * own; ++sample) {
            const float *given = gradient + sample * pooled;
            const unsigned char *won = winners + sample * pooled;
            memcpy(room.sample, x + sample * each, sizeof(float) * (size_t)each);
            add_kernels(shape, room.sample, given, won, room.list, room.sums, biases);
            if (back) {
                memset(room.back, 0, sizeof(float) * (size_t)each);
                add_inputs(shape, room.packed, given, won, room.list, room.back);
                memcpy(back + sample * each, room.back, sizeof(float) * (size_t)each);
            }
        }
        unpack(shape, room.sums, start);
    }
}

static int run_backward(Shape shape, Py_ssize_t workers, const float *x, const float *kernels, const float *gradient,
                        const unsigned char *winners, float *out, float *back)
{
    Py_ssize_t weights = shape.outputs * KERNEL * padded(KERNEL * shape.channels);
    /* lines are read, and zeros added, up to the end of their last vector */
    Py_ssize_t each = shape.height * shape.width * shape.channels + LANES;
    Py_ssize_t windows = (shape.height - 4) / 2 * ((shape.width - 4) / 2);
    Py_ssize_t most = (windows > shape.outputs ? windows : shape.outputs) + 1;
    float *numbers = calloc((size_t)(2 * weights + 2 * each + most), sizeof(float));
    int *where = malloc(sizeof(int) * (size_t)most);
    if (numbers && where) {
        List list = {0, where, numbers + 2 * weights + 2 * each};
        Room room = {numbers, numbers + weights, numbers + 2 * weights, numbers + 2 * weights + each, list};
        pack_by_output(shape, kernels, room.packed);
        all_samples(shape, workers, x, gradient, winners, room, out, back);
    }
    int status = numbers && where ? 0 : -1;
    free(numbers);
    free(where);
    return status;
}
