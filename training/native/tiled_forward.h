/* The forward pass by tiles: inputs to the points, 64 products, back to 4 x 4 outputs, and their four windows. */

typedef struct {
    float *packed, *biases, *kernels, *last, *seen, *found;
} TiledRoom;

/* One vector of kernels, 5 x 5 with rows and columns so far apart, to the points, which are `plane` apart. */
INLINE void kernel_to_points(const float *kernel, Py_ssize_t row, Py_ssize_t column, float *points, Py_ssize_t plane)
{
    lanes half[TILE][KERNEL], seen[KERNEL], found[TILE];
    for (int j = 0; j < KERNEL; ++j) {
        for (int i = 0; i < KERNEL; ++i)
            seen[i] = *(const loose *)(kernel + i * row + j * column);
        kernel_points(seen, found);
        for (int i = 0; i < TILE; ++i)
            half[i][j] = found[i];
    }
    for (int i = 0; i < TILE; ++i) {
        kernel_points(half[i], found);
        for (int j = 0; j < TILE; ++j)
            *(loose *)(points + (i * TILE + j) * plane) = found[j];
    }
}

/* The inputs of `count` tiles at the points, (count, 64, deep, and some room behind). Vectors of channels reach into the
 * next place, whose numbers are never looked at; `last` is a copy of the last sample with room behind it. */
INLINE void inputs_to_points(Shape shape, const float *x, const float *last, Py_ssize_t first, Py_ssize_t count,
                             float *points)
{
    Py_ssize_t deep = padded(shape.channels), across = tiles_across(shape), each = tiles_down(shape) * across;
    Py_ssize_t row = shape.width * shape.channels;
    for (Py_ssize_t tile = first; tile < first + count; ++tile, points += apart_of(deep)) {
        Py_ssize_t sample = tile / each, own = tile % each;
        const float *start = sample + 1 < shape.samples ? x + sample * shape.height * row : last;
        const float *corner = start + STEP * (own / across * row + own % across * shape.channels);
        for (Py_ssize_t k = 0; k < deep; k += LANES)
            both_ways(input_points, corner + k, row, shape.channels, points + k, TILE * deep, deep);
    }
}

/* The windows of one tile from its values at the points. */
INLINE void pool_tile(Shape shape, const float *found, const float *biases, Py_ssize_t tile, float *pooled,
                      unsigned char *winners)
{
    Py_ssize_t wide = padded(shape.outputs), across = tiles_across(shape);
    Py_ssize_t band = 2 * across * shape.outputs;
    Py_ssize_t place = 2 * (tile / across * band + tile % across * shape.outputs);
    for (Py_ssize_t k = 0; k < wide; k += LANES) {
        Py_ssize_t count = shape.outputs - k < LANES ? shape.outputs - k : LANES;
        lanes half[STEP][TILE], seen[TILE], values[STEP][STEP];
        for (int j = 0; j < TILE; ++j) {
            for (int i = 0; i < TILE; ++i)
                seen[i] = *(const loose *)(found + (i * TILE + j) * wide + k);
            lanes some[STEP];
            output_values(seen, some);
            for (int i = 0; i < STEP; ++i)
                half[i][j] = some[i];
        }
        for (int i = 0; i < STEP; ++i)
            output_values(half[i], values[i]);
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) {
                lanes sums[4], best, bias = *(const loose *)(biases + k);
                bits who;
                for (int side = 0; side < 4; ++side)
                    sums[side] = values[2 * i + side / 2][2 * j + side % 2] + bias;
                choose(sums, &best, &who);
                Py_ssize_t to = place + i * band + j * shape.outputs + k;
                put_lanes(&best, &who, count, pooled + to, winners + to);
            }
    }
}

/* The inputs at the points are left in `points`, if they are wanted there. */
INLINE void all_tiles(Shape shape, const float *x, float *pooled, unsigned char *winners, float *points,
                      TiledRoom room, int hold)
{
    Py_ssize_t wide = padded(shape.outputs), deep = padded(shape.channels), own = shape.height * shape.width;
    Py_ssize_t total = shape.samples * tiles_down(shape) * tiles_across(shape), plane = shape.channels * wide;
    memcpy(room.last, x + (shape.samples - 1) * own * shape.channels, sizeof(float) * (size_t)(own * shape.channels));
    for (Py_ssize_t k = 0; k < plane; k += LANES)
        kernel_to_points(room.packed + k, KERNEL * plane, plane, room.kernels + k, plane);
    for (Py_ssize_t first = 0; first < total; first += TILES) {
        Py_ssize_t count = total - first < TILES ? total - first : TILES;
        float *seen = points ? points + first * apart_of(deep) : room.seen;
        inputs_to_points(shape, x, room.last, first, count, seen);
        for (Py_ssize_t spot = 0; spot < SPOTS; ++spot)
            multiply((Matrix){seen + spot * deep, apart_of(deep), 1}, count, shape.channels,
                     room.kernels + spot * plane, wide, wide, room.found + spot * wide, apart_of(wide), 0, hold);
        for (Py_ssize_t t = 0; t < count; ++t)
            pool_tile(shape, room.found + t * apart_of(wide), room.biases, first + t, pooled, winners);
    }
}

#ifdef WIDE
static WIDE void all_tiles_wide(Shape shape, const float *x, float *pooled, unsigned char *winners, float *points,
                                TiledRoom room)
{
    all_tiles(shape, x, pooled, winners, points, room, 1);
}
#endif

static void all_tiles_plain(Shape shape, const float *x, float *pooled, unsigned char *winners, float *points,
                            TiledRoom room)
{
    all_tiles(shape, x, pooled, winners, points, room, 0);
}

static int run_tiled_forward(Shape shape, const float *x, const float *kernels, const float *biases, float *pooled,
                             unsigned char *winners, float *points)
{
    Py_ssize_t wide = padded(shape.outputs), plane = shape.channels * wide;
    Py_ssize_t sizes[] = {KERNEL * KERNEL * plane, wide, SPOTS * plane, shape.height * shape.width * shape.channels,
                          points ? 0 : TILES * apart_of(padded(shape.channels)), TILES * apart_of(wide)};
    float *parts[6], *numbers = reserve(sizes, 6, parts);
    if (!numbers)
        return -1;
    TiledRoom room = {parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]};
    pack_by_tap(shape, kernels, 0, room.packed);
    fill(shape.outputs, biases, 1, 0, room.biases);
#ifdef WIDE
    if (is_wide())
        all_tiles_wide(shape, x, pooled, winners, points, room);
    else
#endif
        all_tiles_plain(shape, x, pooled, winners, points, room);
    free(numbers);
    return 0;
}
