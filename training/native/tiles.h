/* Winograd's way to convolve: 8 x 8 inputs to 4 x 4 outputs with 64 products instead of 400.
 *
 * A tile is a polynomial product, taken at eight points in each direction, 0, 1, -1, 2, -2, 1/2, -1/2 and infinity:
 * Y = A' [(G g G') . (B' d B)] A for a tile d of the input and a kernel g (Lavin and Gray, 2016). Every product of the
 * bracket is one of 64 matrix products over channels. The transposed maps carry gradients back: with the gradient y of
 * the tile's outputs, A y A' meets the kernels' G g G' for the input's gradient and B' d B for the kernels' one.
 *
 * Rounding: the points 2 and 1/2 cost about one decimal digit of single precision.
 */
enum { TILE = 8, STEP = 4, SPOTS = TILE * TILE, ROWS = 4, TILES = 8 };

/* Whether a shape falls into tiles, and has so many channels that the way to the points and back is worth it. */
static int is_tiled(Shape shape)
{
    return shape.channels >= LANES && (shape.height - KERNEL + 1) % STEP == 0 && (shape.width - KERNEL + 1) % STEP == 0;
}

static Py_ssize_t tiles_down(Shape shape) { return (shape.height - KERNEL + 1) / STEP; }
static Py_ssize_t tiles_across(Shape shape) { return (shape.width - KERNEL + 1) / STEP; }

/* How far apart the tiles are that have `wide` numbers at each of the 64 points: a multiple of a large power of two
 * would give them all the same place in the cache. */
static Py_ssize_t apart_of(Py_ssize_t wide) { return SPOTS * wide + 2 * LANES; }

/* How many numbers the inputs of all tiles at the points are, four tiles at a time. */
static Py_ssize_t points_of(Shape shape)
{
    Py_ssize_t tiles = shape.samples * tiles_down(shape) * tiles_across(shape);
    return (tiles + ROWS - 1) / ROWS * ROWS * apart_of(padded(shape.channels));
}

/* t = B' d. */
INLINE void input_points(const lanes *d, lanes *t)
{
    lanes even = d[2] + d[6] - 4.25f * d[4], odd = d[1] + d[5] - 4.25f * d[3];
    t[0] = d[0] - d[6] + 5.25f * (d[4] - d[2]);
    t[1] = even + odd;
    t[2] = even - odd;
    even = d[6] + 0.25f * d[2] - 1.25f * d[4];
    odd = 0.5f * d[1] - 2.5f * d[3] + 2 * d[5];
    t[3] = even + odd;
    t[4] = even - odd;
    even = d[6] + 4 * d[2] - 5 * d[4];
    odd = 2 * d[1] - 2.5f * d[3] + 0.5f * d[5];
    t[5] = even + odd;
    t[6] = even - odd;
    t[7] = d[7] - d[1] + 5.25f * (d[3] - d[5]);
}

/* d = B t. */
INLINE void input_gradients(const lanes *t, lanes *d)
{
    lanes even[3], odd[3];
    for (int k = 0; k < 3; ++k) {
        even[k] = t[2 * k + 1] + t[2 * k + 2];
        odd[k] = t[2 * k + 1] - t[2 * k + 2];
    }
    d[0] = t[0];
    d[1] = odd[0] + 0.5f * odd[1] + 2 * odd[2] - t[7];
    d[2] = even[0] + 0.25f * even[1] + 4 * even[2] - 5.25f * t[0];
    d[3] = 5.25f * t[7] - 4.25f * odd[0] - 2.5f * (odd[1] + odd[2]);
    d[4] = 5.25f * t[0] - 4.25f * even[0] - 1.25f * even[1] - 5 * even[2];
    d[5] = odd[0] + 2 * odd[1] + 0.5f * odd[2] - 5.25f * t[7];
    d[6] = even[0] + even[1] + even[2] - t[0];
    d[7] = t[7];
}

/* y = A' t. */
INLINE void output_values(const lanes *t, lanes *y)
{
    lanes even[3], odd[3];
    for (int k = 0; k < 3; ++k) {
        even[k] = t[2 * k + 1] + t[2 * k + 2];
        odd[k] = t[2 * k + 1] - t[2 * k + 2];
    }
    y[0] = t[0] + even[0] + (even[1] + even[2]);
    y[1] = odd[0] + 2 * odd[1] + 0.5f * odd[2];
    y[2] = even[0] + 4 * even[1] + 0.25f * even[2];
    y[3] = odd[0] + 8 * odd[1] + 0.125f * odd[2] + t[7];
}

/* t = A y. */
INLINE void output_points(const lanes *y, lanes *t)
{
    lanes even = y[0] + y[2], odd = y[1] + y[3];
    t[0] = y[0];
    t[1] = even + odd;
    t[2] = even - odd;
    even = y[0] + 4 * y[2];
    odd = 2 * y[1] + 8 * y[3];
    t[3] = even + odd;
    t[4] = even - odd;
    even = y[0] + 0.25f * y[2];
    odd = 0.5f * y[1] + 0.125f * y[3];
    t[5] = even + odd;
    t[6] = even - odd;
    t[7] = y[3];
}

#define AT_ONE (-2.0f / 9)
#define AT_TWO (1.0f / 90)
#define AT_HALF (32.0f / 45)

/* t = G g. */
INLINE void kernel_points(const lanes *g, lanes *t)
{
    lanes even = g[0] + g[2] + g[4], odd = g[1] + g[3];
    t[0] = g[0];
    t[1] = AT_ONE * (even + odd);
    t[2] = AT_ONE * (even - odd);
    even = g[0] + 4 * g[2] + 16 * g[4];
    odd = 2 * g[1] + 8 * g[3];
    t[3] = AT_TWO * (even + odd);
    t[4] = AT_TWO * (even - odd);
    even = g[0] + 0.25f * g[2] + 0.0625f * g[4];
    odd = 0.5f * g[1] + 0.125f * g[3];
    t[5] = AT_HALF * (even + odd);
    t[6] = AT_HALF * (even - odd);
    t[7] = g[4];
}

/* g = G' t. */
INLINE void kernel_gradients(const lanes *t, lanes *g)
{
    static const float scales[] = {AT_ONE, AT_TWO, AT_HALF};
    lanes even[3], odd[3];
    for (int k = 0; k < 3; ++k) {
        even[k] = scales[k] * (t[2 * k + 1] + t[2 * k + 2]);
        odd[k] = scales[k] * (t[2 * k + 1] - t[2 * k + 2]);
    }
    g[0] = t[0] + even[0] + even[1] + even[2];
    g[1] = odd[0] + 2 * odd[1] + 0.5f * odd[2];
    g[2] = even[0] + 4 * even[1] + 0.25f * even[2];
    g[3] = odd[0] + 8 * odd[1] + 0.125f * odd[2];
    g[4] = even[0] + 16 * even[1] + 0.0625f * even[2] + t[7];
}

typedef void (*Map)(const lanes *, lanes *);

/* A map from eight to eight in both directions. */
INLINE void both_ways(Map map, const float *source, Py_ssize_t row, Py_ssize_t column,
                      float *target, Py_ssize_t target_row, Py_ssize_t target_column)
{
    lanes half[TILE][TILE], seen[TILE], found[TILE];
    for (int j = 0; j < TILE; ++j) {
        for (int i = 0; i < TILE; ++i)
            seen[i] = *(const loose *)(source + i * row + j * column);
        map(seen, found);
        for (int i = 0; i < TILE; ++i)
            half[i][j] = found[i];
    }
    for (int i = 0; i < TILE; ++i) {
        map(half[i], found);
        for (int j = 0; j < TILE; ++j)
            *(loose *)(target + i * target_row + j * target_column) = found[j];
    }
}

/* A matrix in memory: entry (i, j) is at start[i * down + j * along]. */
typedef struct {
    const float *start;
    Py_ssize_t down, along;
} Matrix;

/* Four rows of A times a matrix B of up to three vectors a row, added to C or put in its place. */
INLINE void four_rows(Matrix a, const float *restrict b, Py_ssize_t b_down, Py_ssize_t count, int group,
                      float *restrict c, Py_ssize_t c_down, int add, int hold)
{
    lanes sums[ROWS][GROUP];
    for (int i = 0; i < ROWS; ++i)
        for (int g = 0; g < group; ++g)
            sums[i][g] = add ? (lanes) * (const loose *)(c + i * c_down + LANES * g) : (lanes){0};
    for (Py_ssize_t j = 0; j < count; ++j) {
        lanes right[GROUP];
        for (int g = 0; g < group; ++g) {
            right[g] = *(const loose *)(b + j * b_down + LANES * g);
            HOLD(hold, right[g]);
        }
        for (int i = 0; i < ROWS; ++i) {
            lanes left = a.start[i * a.down + j * a.along] - (lanes){0};
            HOLD(hold, left);
            for (int g = 0; g < group; ++g)
                sums[i][g] += left * right[g];
        }
    }
    for (int i = 0; i < ROWS; ++i)
        for (int g = 0; g < group; ++g)
            *(loose *)(c + i * c_down + LANES * g) = sums[i][g];
}

/* C = A B, or C += A B if `add`, for an A of rows x count, rows rounded up to four, and a B and C of `wide` columns. */
INLINE void multiply(Matrix a, Py_ssize_t rows, Py_ssize_t count, const float *b, Py_ssize_t b_down, Py_ssize_t wide,
                     float *c, Py_ssize_t c_down, int add, int hold)
{
    Py_ssize_t left = wide / LANES;
    for (Py_ssize_t groups = (left + GROUP - 1) / GROUP; groups > 0; --groups) {
        Py_ssize_t group = (left + groups - 1) / groups;
        for (Py_ssize_t i = 0; i < rows; i += ROWS) {
            Matrix own = {a.start + i * a.down, a.down, a.along};
            if (group == 3)
                four_rows(own, b, b_down, count, 3, c + i * c_down, c_down, add, hold);
            else if (group == 2)
                four_rows(own, b, b_down, count, 2, c + i * c_down, c_down, add, hold);
            else
                four_rows(own, b, b_down, count, 1, c + i * c_down, c_down, add, hold);
        }
        b += group * LANES;
        c += group * LANES;
        left -= group;
    }
}
