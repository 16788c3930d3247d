/* The backward pass by tiles: gradients of the outputs to the points, where they meet the inputs and the kernels. */

typedef struct {
    float *packed, *kernels, *sums, *given, *found, *last;
} TiledBackRoom;

/* The gradients of `count` tiles at the points, (count, 64, wide, and some room behind): each at the place that won its
 * window. Adds the biases' gradients. */
INLINE void gradients_to_points(Shape shape, const float *gradient, const unsigned char *winners, Py_ssize_t first,
                                Py_ssize_t count, float *given, float *biases)
{
    Py_ssize_t wide = padded(shape.outputs), across = tiles_across(shape);
    Py_ssize_t band = 2 * across * shape.outputs;
    for (Py_ssize_t t = 0; t < count; ++t) {
        Py_ssize_t tile = first + t, place = 2 * (tile / across * band + tile % across * shape.outputs);
        for (Py_ssize_t k = 0; k < wide; k += LANES) {
            Py_ssize_t left = shape.outputs - k < LANES ? shape.outputs - k : LANES;
            lanes y[STEP][STEP], total = {0};
            for (int window = 0; window < 4; ++window) {
                Py_ssize_t from = place + window / 2 * band + window % 2 * shape.outputs + k;
                lanes values;
                bits who;
                get_lanes(gradient + from, winners + from, left, &values, &who);
                for (int side = 0; side < 4; ++side) {
                    lanes own = (lanes)((bits)values & (who == side));
                    y[window / 2 * 2 + side / 2][window % 2 * 2 + side % 2] = own;
                    total += own;
                }
            }
            *(loose *)(biases + k) += total;
            lanes half[TILE][STEP], seen[STEP], found[TILE];
            for (int j = 0; j < STEP; ++j) {
                for (int i = 0; i < STEP; ++i)
                    seen[i] = y[i][j];
                output_points(seen, found);
                for (int i = 0; i < TILE; ++i)
                    half[i][j] = found[i];
            }
            for (int i = 0; i < TILE; ++i) {
                output_points(half[i], found);
                for (int j = 0; j < TILE; ++j)
                    *(loose *)(given + t * apart_of(wide) + (i * TILE + j) * wide + k) = found[j];
            }
        }
    }
}

/* The kernels' gradients from their sums at the points, (64, deep, wide), to (outputs, channels, 5, 5). */
INLINE void kernels_from_points(Shape shape, const float *sums, float *kernels)
{
    Py_ssize_t wide = padded(shape.outputs), plane = padded(shape.channels) * wide;
    for (Py_ssize_t channel = 0; channel < shape.channels; ++channel)
        for (Py_ssize_t k = 0; k < wide; k += LANES) {
            lanes half[KERNEL][TILE], seen[TILE], found[KERNEL][KERNEL], some[KERNEL];
            for (int j = 0; j < TILE; ++j) {
                for (int i = 0; i < TILE; ++i)
                    seen[i] = *(const loose *)(sums + (i * TILE + j) * plane + channel * wide + k);
                kernel_gradients(seen, some);
                for (int i = 0; i < KERNEL; ++i)
                    half[i][j] = some[i];
            }
            for (int i = 0; i < KERNEL; ++i)
                kernel_gradients(half[i], found[i]);
            for (Py_ssize_t output = k; output < shape.outputs && output < k + LANES; ++output)
                for (int tap = 0; tap < KERNEL * KERNEL; ++tap)
                    kernels[(output * shape.channels + channel) * KERNEL * KERNEL + tap] =
                        found[tap / KERNEL][tap % KERNEL][output - k];
        }
}

/* Adds the input's gradients of `count` tiles to those of their samples. What a vector has beyond a place's channels is
 * zero; the last sample's go to `last`, which has room behind it. */
INLINE void inputs_from_points(Shape shape, const float *found, Py_ssize_t first, Py_ssize_t count, float *back,
                               float *last)
{
    Py_ssize_t deep = padded(shape.channels), across = tiles_across(shape), each = tiles_down(shape) * across;
    Py_ssize_t row = shape.width * shape.channels;
    for (Py_ssize_t t = 0; t < count; ++t) {
        Py_ssize_t sample = (first + t) / each, own = (first + t) % each;
        float *start = sample + 1 < shape.samples ? back + sample * shape.height * row : last;
        float *corner = start + STEP * (own / across * row + own % across * shape.channels);
        if (own == 0)
            memset(start, 0, sizeof(float) * (size_t)(shape.height * row));
        for (Py_ssize_t k = 0; k < deep; k += LANES) {
            lanes half[TILE][TILE], seen[TILE], some[TILE];
            for (int j = 0; j < TILE; ++j) {
                for (int i = 0; i < TILE; ++i)
                    seen[i] = *(const loose *)(found + t * apart_of(deep) + (i * TILE + j) * deep + k);
                input_gradients(seen, some);
                for (int i = 0; i < TILE; ++i)
                    half[i][j] = some[i];
            }
            for (int i = 0; i < TILE; ++i) {
                input_gradients(half[i], some);
                for (int j = 0; j < TILE; ++j)
                    *(loose *)(corner + i * row + j * shape.channels + k) += some[j];
            }
        }
    }
}

/* `points` are the inputs of all tiles at the points, as the forward pass leaves them. */
INLINE void all_tiles_back(Shape shape, Py_ssize_t workers, const float *points, const float *gradient,
                           const unsigned char *winners, TiledBackRoom room, float *out, float *back, int hold)
{
    Py_ssize_t wide = padded(shape.outputs), deep = padded(shape.channels), weights = KERNEL * KERNEL * shape.channels;
    Py_ssize_t total = shape.samples / workers * tiles_down(shape) * tiles_across(shape);
    float *biases = room.sums + SPOTS * deep * wide;
    for (Py_ssize_t output = 0; back && output < shape.outputs; ++output)
        for (Py_ssize_t k = 0; k < deep; k += LANES)
            kernel_to_points(room.packed + output * KERNEL * deep + k, shape.outputs * KERNEL * deep, deep,
                             room.kernels + output * deep + k, shape.outputs * deep);
    for (Py_ssize_t worker = 0; worker < workers; ++worker) {
        float *start = out + worker * shape.outputs * (weights + 1);
        memset(room.sums, 0, sizeof(float) * (size_t)((SPOTS * deep + 1) * wide));
        for (Py_ssize_t first = worker * total; first < (worker + 1) * total; first += TILES) {
            Py_ssize_t left = (worker + 1) * total - first, count = left < TILES ? left : TILES;
            const float *seen = points + first * apart_of(deep);
            gradients_to_points(shape, gradient, winners, first, count, room.given, biases);
            for (Py_ssize_t spot = 0; spot < SPOTS; ++spot) {
                const float *given = room.given + spot * wide;
                multiply((Matrix){seen + spot * deep, 1, apart_of(deep)}, shape.channels, count, given, apart_of(wide),
                         wide, room.sums + spot * deep * wide, wide, 1, hold);
                if (back)
                    multiply((Matrix){given, apart_of(wide), 1}, count, shape.outputs,
                             room.kernels + spot * shape.outputs * deep, deep, deep, room.found + spot * deep,
                             apart_of(deep), 0, hold);
            }
            if (back)
                inputs_from_points(shape, room.found, first, count, back, room.last);
        }
        kernels_from_points(shape, room.sums, start);
        memcpy(start + shape.outputs * weights, biases, sizeof(float) * (size_t)shape.outputs);
    }
    Py_ssize_t own = shape.height * shape.width * shape.channels;
    if (back)
        memcpy(back + (shape.samples - 1) * own, room.last, sizeof(float) * (size_t)own);
}

#ifdef WIDE
static WIDE void all_tiles_back_wide(Shape shape, Py_ssize_t workers, const float *points, const float *gradient,
                                     const unsigned char *winners, TiledBackRoom room, float *out, float *back)
{
    all_tiles_back(shape, workers, points, gradient, winners, room, out, back, 1);
}
#endif

static void all_tiles_back_plain(Shape shape, Py_ssize_t workers, const float *points, const float *gradient,
                                 const unsigned char *winners, TiledBackRoom room, float *out, float *back)
{
    all_tiles_back(shape, workers, points, gradient, winners, room, out, back, 0);
}

static int run_tiled_backward(Shape shape, Py_ssize_t workers, const float *points, const float *kernels,
                              const float *gradient, const unsigned char *winners, float *out, float *back)
{
    Py_ssize_t wide = padded(shape.outputs), deep = padded(shape.channels);
    Py_ssize_t sizes[] = {shape.outputs * KERNEL * KERNEL * deep, SPOTS * shape.outputs * deep,
                          (SPOTS * deep + 1) * wide, TILES * apart_of(wide), TILES * apart_of(deep),
                          shape.height * shape.width * shape.channels};
    float *parts[6], *numbers = reserve(sizes, 6, parts);
    if (!numbers)
        return -1;
    TiledBackRoom room = {parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]};
    pack_by_line(shape, kernels, room.packed);
#ifdef WIDE
    if (is_wide())
        all_tiles_back_wide(shape, workers, points, gradient, winners, room, out, back);
    else
#endif
        all_tiles_back_plain(shape, workers, points, gradient, winners, room, out, back);
    free(numbers);
    return 0;
}
