/* From the gradients of the pooled outputs to every worker's gradients of kernels and biases, and the input's.
 *
 * A place of a sample has `deep` numbers: its channels, filled up to whole vectors unless there are very few, so that
 * every load is aligned. A kernel has five lines of 5 x deep numbers each, filled up to whole vectors. Sums over
 * places, and over outputs, stay in registers, fifteen vectors at the most.
 */
enum { MOST_VECTORS = 15, PATCH = KERNEL + 1, FEW_CHANNELS = LANES / 2 };

static Py_ssize_t deep_of(Shape shape)
{
    return shape.channels <= FEW_CHANNELS ? shape.channels : padded(shape.channels);
}

static Py_ssize_t span_of(Shape shape) { return padded(KERNEL * deep_of(shape)); }

/* Entries first .. last - 1 of a list: which vectors count, as an offset, and how much. */
typedef struct {
    Py_ssize_t first, last;
    const int *where;
    const float *values;
} List;

/* Kernels of (outputs, channels, 5, 5) as (5, outputs, span). */
static void pack_by_line(Shape shape, const float *kernels, float *packed)
{
    Py_ssize_t deep = deep_of(shape), span = span_of(shape), taps = KERNEL * KERNEL;
    for (Py_ssize_t output = 0; output < shape.outputs; ++output)
        for (Py_ssize_t channel = 0; channel < shape.channels; ++channel)
            for (Py_ssize_t tap = 0; tap < taps; ++tap)
                packed[(tap / KERNEL * shape.outputs + output) * span + tap % KERNEL * deep + channel] =
                    kernels[(output * shape.channels + channel) * taps + tap];
}

/* Sums of (outputs, 5, span) as kernels. */
static void unpack(Shape shape, const float *sums, float *kernels)
{
    Py_ssize_t deep = deep_of(shape), span = span_of(shape), taps = KERNEL * KERNEL;
    for (Py_ssize_t output = 0; output < shape.outputs; ++output)
        for (Py_ssize_t channel = 0; channel < shape.channels; ++channel)
            for (Py_ssize_t tap = 0; tap < taps; ++tap)
                kernels[(output * shape.channels + channel) * taps + tap] =
                    sums[(output * KERNEL + tap / KERNEL) * span + tap % KERNEL * deep + channel];
}

/* Places `from` numbers apart to places `to` numbers apart, the wider of the two in whole vectors: what is written
 * beyond a place's channels is overwritten, or never looked at. */
INLINE void copy_places(const float *source, Py_ssize_t from, float *target, Py_ssize_t to, Py_ssize_t places,
                        Py_ssize_t channels)
{
    if (from == to) {
        memcpy(target, source, sizeof(float) * (size_t)(places * channels));
        return;
    }
    for (Py_ssize_t place = 0; place + 1 < places; ++place)
        for (Py_ssize_t k = 0; k < channels; k += LANES)
            *(loose *)(target + place * to + k) = *(const loose *)(source + place * from + k);
    memcpy(target + (places - 1) * to, source + (places - 1) * from, sizeof(float) * (size_t)channels);
}

/* to += the sum over the list of value times what is at `where`. */
INLINE void add_vectors(List list, const float *restrict from, float *restrict to, int vectors)
{
    lanes sums[MOST_VECTORS];
    for (int k = 0; k < vectors; ++k)
        sums[k] = *(const loose *)(to + LANES * k);
    for (Py_ssize_t entry = list.first; entry < list.last; ++entry) {
        const float *restrict seen = from + list.where[entry];
        float value = list.values[entry];
        for (int k = 0; k < vectors; ++k)
            sums[k] += value * *(const loose *)(seen + LANES * k);
    }
    for (int k = 0; k < vectors; ++k)
        *(loose *)(to + LANES * k) = sums[k];
}

INLINE void add_line(List list, const float *from, float *to, Py_ssize_t span)
{
    Py_ssize_t left = span / LANES;
    for (; left >= 15; left -= 15, from += 15 * LANES, to += 15 * LANES)
        add_vectors(list, from, to, 15);
    for (; left >= 5; left -= 5, from += 5 * LANES, to += 5 * LANES)
        add_vectors(list, from, to, 5);
    for (; left >= 1; left -= 1, from += LANES, to += LANES)
        add_vectors(list, from, to, 1);
}

typedef struct {
    float *packed, *sums, *sample, *back, *values;
    int *where;
    Py_ssize_t *counts;
} Room;

/* The kernels' and biases' gradients of one sample, for every output the sum over the places that won: by lists. */
INLINE void add_kernels(Shape shape, const float *gradient, const unsigned char *winners, Room room, float *biases)
{
    Py_ssize_t deep = deep_of(shape), row = shape.width * deep, span = span_of(shape);
    Py_ssize_t high = high_of(shape), across = across_of(shape), windows = high * across;
    memset(room.counts, 0, sizeof(Py_ssize_t) * (size_t)shape.outputs);
    for (Py_ssize_t i = 0; i < high; ++i)
        for (Py_ssize_t j = 0; j < across; ++j) {
            Py_ssize_t place = (i * across + j) * shape.outputs, corner = (2 * i * shape.width + 2 * j) * deep;
            for (Py_ssize_t output = 0; output < shape.outputs; ++output) {
                Py_ssize_t who = winners[place + output], next = output * (windows + 1) + room.counts[output];
                room.where[next] = (int)(corner + (who >> 1) * row + (who & 1) * deep);
                room.values[next] = gradient[place + output];
                room.counts[output] += who < NOBODY;
            }
        }
    for (Py_ssize_t output = 0; output < shape.outputs; ++output) {
        Py_ssize_t first = output * (windows + 1);
        List list = {first, first + room.counts[output], room.where, room.values};
        for (Py_ssize_t entry = list.first; entry < list.last; ++entry)
            biases[output] += room.values[entry];
        for (Py_ssize_t line = 0; line < KERNEL; ++line)
            add_line(list, room.sample + line * row, room.sums + (output * KERNEL + line) * span, span);
    }
}

/* The value, or nothing if nobody won: without a branch, which no processor could foresee. */
INLINE float if_won(float value, unsigned char who)
{
    union {
        float number;
        uint32_t pattern;
    } taken = {value};
    taken.pattern &= -(uint32_t)(who < NOBODY);
    return taken.number;
}

/* The same where a kernel's line is one vector: so little work per place that a list would cost more. Two outputs at a
 * time, for one sum would wait for itself. */
INLINE void add_small_kernels(Shape shape, const float *gradient, const unsigned char *winners, Room room,
                              float *biases)
{
    Py_ssize_t deep = deep_of(shape), row = shape.width * deep, high = high_of(shape), across = across_of(shape);
    const Py_ssize_t offsets[] = {0, deep, row, row + deep, 0};
    for (Py_ssize_t output = 0; output < shape.outputs; output += 2) {
        Py_ssize_t next = output + 1 < shape.outputs;
        const unsigned char *won = winners + output;
        const float *given = gradient + output;
        lanes one[KERNEL], two[KERNEL];
        float totals[2] = {0, 0};
        for (int line = 0; line < KERNEL; ++line)
            one[line] = two[line] = (lanes){0};
        for (Py_ssize_t i = 0; i < high; ++i)
            for (Py_ssize_t j = 0; j < across; ++j, won += shape.outputs, given += shape.outputs) {
                const float *corner = room.sample + (2 * i * shape.width + 2 * j) * deep;
                const float *first = corner + offsets[won[0]], *second = corner + offsets[won[next]];
                float value = if_won(given[0], won[0]), other = if_won(given[next], won[next]);
                totals[0] += value;
                totals[1] += other;
                for (int line = 0; line < KERNEL; ++line) {
                    one[line] += value * *(const loose *)(first + line * row);
                    two[line] += other * *(const loose *)(second + line * row);
                }
            }
        for (int line = 0; line < KERNEL; ++line) {
            *(loose *)(room.sums + (output * KERNEL + line) * LANES) += one[line];
            if (next)
                *(loose *)(room.sums + ((output + 1) * KERNEL + line) * LANES) += two[line];
        }
        biases[output] += totals[0];
        if (next)
            biases[output + 1] += totals[1];
    }
}

/* The input's gradient of one sample. The winners of a window reach a patch of 6 x 6 places; those in its left column
 * and those in its right one are two lists, each with the winners of the upper row first, growing from its middle to
 * both sides. Line k of the patch is line k of the kernels for the upper winners and line k - 1 for the lower ones. */
INLINE void add_inputs(Shape shape, const float *gradient, const unsigned char *winners, Room room)
{
    Py_ssize_t deep = deep_of(shape), span = span_of(shape), step = shape.outputs * span;
    Py_ssize_t high = high_of(shape), across = across_of(shape), windows = high * across, size = 2 * shape.outputs;
    static const Py_ssize_t growth[] = {-1, -1, 1, 1, 0};
    for (Py_ssize_t window = 0; window < windows; ++window) {
        Py_ssize_t left = 2 * window * size + shape.outputs, right = left + size;
        Py_ssize_t ends[] = {left - 1, right - 1, left, right, 2 * windows * size};
        for (Py_ssize_t output = 0; output < shape.outputs; ++output) {
            Py_ssize_t who = winners[window * shape.outputs + output];
            room.where[ends[who]] = (int)(output * span - (who >> 1) * step);
            room.values[ends[who]] = gradient[window * shape.outputs + output];
            ends[who] += growth[who];
        }
        for (int column = 0; column < 2; ++column) {
            room.counts[4 * window + 2 * column] = ends[column] + 1;
            room.counts[4 * window + 2 * column + 1] = ends[column + 2];
        }
    }
    for (Py_ssize_t line = 0; line < PATCH; ++line)
        for (Py_ssize_t window = 0; window < windows; ++window)
            for (Py_ssize_t column = 0; column < 2; ++column) {
                const Py_ssize_t *bounds = room.counts + 4 * window + 2 * column;
                Py_ssize_t middle = (2 * window + column) * size + shape.outputs;
                List list = {line == PATCH - 1 ? middle : bounds[0], line == 0 ? middle : bounds[1], room.where,
                             room.values};
                Py_ssize_t place = (2 * (window / across) + line) * shape.width + 2 * (window % across) + column;
                if (list.first < list.last)
                    add_line(list, room.packed + line * step, room.back + place * deep, span);
            }
}

/* A worker's kernels and biases stand in one row of `out`. */
static CLONES void all_samples(Shape shape, Py_ssize_t workers, const float *x, const float *gradient,
                               const unsigned char *winners, Room room, float *out, float *back)
{
    Py_ssize_t places = shape.height * shape.width, each = places * shape.channels, own = shape.samples / workers;
    Py_ssize_t pooled = high_of(shape) * across_of(shape) * shape.outputs, deep = deep_of(shape), span = span_of(shape);
    for (Py_ssize_t worker = 0; worker < workers; ++worker) {
        float *start = out + worker * shape.outputs * (KERNEL * KERNEL * shape.channels + 1);
        float *biases = start + shape.outputs * KERNEL * KERNEL * shape.channels;
        memset(room.sums, 0, sizeof(float) * (size_t)(shape.outputs * KERNEL * span));
        memset(biases, 0, sizeof(float) * (size_t)shape.outputs);
        for (Py_ssize_t sample = worker * own; sample < (worker + 1) * own; ++sample) {
            const float *given = gradient + sample * pooled;
            const unsigned char *won = winners + sample * pooled;
            copy_places(x + sample * each, shape.channels, room.sample, deep, places, shape.channels);
            if (span == LANES)
                add_small_kernels(shape, given, won, room, biases);
            else
                add_kernels(shape, given, won, room, biases);
            if (back) {
                memset(room.back, 0, sizeof(float) * (size_t)(places * deep));
                add_inputs(shape, given, won, room);
                copy_places(room.back, deep, back + sample * each, shape.channels, places, shape.channels);
            }
        }
        unpack(shape, room.sums, start);
    }
}

static int run_backward(Shape shape, Py_ssize_t workers, const float *x, const float *kernels, const float *gradient,
                        const unsigned char *winners, float *out, float *back)
{
    Py_ssize_t weights = padded(shape.outputs * KERNEL * span_of(shape));
    /* lines are read, and zeros added, up to the end of their last vector */
    Py_ssize_t each = padded(shape.height * shape.width * deep_of(shape) + LANES);
    Py_ssize_t windows = high_of(shape) * across_of(shape), entries = 4 * windows * shape.outputs + shape.outputs + 1;
    float *numbers = calloc((size_t)(2 * weights + 2 * each + entries + LANES), sizeof(float));
    int *where = malloc(sizeof(int) * (size_t)entries);
    Py_ssize_t *counts = malloc(sizeof(Py_ssize_t) * (size_t)(4 * windows + shape.outputs));
    if (numbers && where && counts) {
        float *aligned = numbers + (-(uintptr_t)numbers / sizeof(float)) % LANES;
        Room room = {.packed = aligned, .sums = aligned + weights, .sample = aligned + 2 * weights,
                     .back = aligned + 2 * weights + each, .values = aligned + 2 * weights + 2 * each,
                     .where = where, .counts = counts};
        pack_by_line(shape, kernels, room.packed);
        all_samples(shape, workers, x, gradient, winners, room, out, back);
    }
    int status = numbers && where && counts ? 0 : -1;
    free(numbers);
    free(where);
    free(counts);
    return status;
}
