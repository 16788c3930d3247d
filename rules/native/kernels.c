/* The compiled kernels of kappaguard.rules: what NumPy has no single call for.
 *
 * Every function works on a C-contiguous matrix of n rows and d columns, on the columns begin .. end - 1, and
 * releases the GIL, so that the caller spreads column ranges over threads. Python checks all shapes; the checks
 * here only keep a wrong call from touching memory that is not its own.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__linux__)
#define CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

#define WIDTH 256
#define MAX_SPAN 192
#define COMBINED_BYTES 16384
#define STRIP_VECTORS 8
#define FEW_ROWS 32

/* How many columns of `rows` rows of doubles fit into half of a second-level cache, as a multiple of eight. */
static long span_for(long rows)
{
    long span = 32768 / (rows > 0 ? rows : 1) / 8 * 8;
    return span < 64 ? 64 : span > MAX_SPAN ? MAX_SPAN : span;
}

typedef double lanes __attribute__((vector_size(32)));
typedef double unaligned_lanes __attribute__((vector_size(32), aligned(8), may_alias));

#ifdef __clang__
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef long long picks __attribute__((vector_size(32)));
#define PICK(a, b, ...) __builtin_shuffle(a, b, (picks){__VA_ARGS__})
#endif

enum { SIDE = 4, ACCUMULATORS = 12 };

/* Adds the four sums over the lanes of four accumulators to four neighbours in `out`. */
static inline __attribute__((always_inline)) void add_totals(const lanes *restrict sums, double *restrict out)
{
    lanes low = PICK(sums[0], sums[1], 0, 4, 2, 6) + PICK(sums[0], sums[1], 1, 5, 3, 7);
    lanes high = PICK(sums[2], sums[3], 0, 4, 2, 6) + PICK(sums[2], sums[3], 1, 5, 3, 7);
    *(unaligned_lanes *)out += PICK(low, high, 0, 1, 4, 5) + PICK(low, high, 2, 3, 6, 7);
}

/* Adds the products of `height` rows from i on with `across` rows from j on; on the diagonal (i = j, height = across)
 * only the lower triangle. Twelve accumulators at the most, so that everything stays in registers; and where there are
 * six or fewer, a second set takes every other vector, for the multipliers to have enough to do while they wait. */
static inline __attribute__((always_inline)) void accumulate_tile(const double *restrict block, long n, long span,
                                                                  long width, long i, long j, int height, int across,
                                                                  int diagonal, double *restrict out)
{
    const double *a = block + i * span, *b = block + j * span;
    const int products = diagonal ? height * (height + 1) / 2 : height * across;
    const int sets = 2 * products <= ACCUMULATORS ? 2 : 1;
    lanes sums[2][SIDE][SIDE];
    for (int set = 0; set < sets; ++set)
        for (int p = 0; p < height; ++p)
            for (int q = 0; q < across; ++q)
                sums[set][p][q] = (lanes){0};
    for (long k = 0; k < width; k += 4 * sets)
        for (int set = 0; set < sets; ++set) {
            lanes right[SIDE];
            for (int q = 0; q < across; ++q)
                right[q] = *(const lanes *)(b + q * span + k + 4 * set);
            for (int p = 0; p < height; ++p) {
                lanes left = diagonal ? right[p] : *(const lanes *)(a + p * span + k + 4 * set);
                for (int q = 0; q < (diagonal ? p + 1 : across); ++q)
                    sums[set][p][q] += left * right[q];
            }
        }
    for (int p = 0; p < height; ++p) {
        double *row = out + (i + p) * n + j;
        lanes *total = sums[0][p];
        for (int q = 0; q < across && sets == 2; ++q)
            total[q] += sums[1][p][q];
        if (!diagonal)
            add_totals(total, row);
        for (int q = 0; q <= p && diagonal; ++q)
            row[q] += (total[q][0] + total[q][1]) + (total[q][2] + total[q][3]);
    }
}

/* Adds the lower triangle of the inner products of the n rows of a block, over `width` columns, a multiple of eight.
 * Four rows j .. j + 3 at a time are multiplied with each other, ten products, and with all rows below, three at a
 * time (3 x 4 products) until four, two or one are left (2 x 4 twice or once, 1 x 4): no product is formed in vain. */
static CLONES void accumulate_gram(const double *restrict block, long n, long span, long width, double *restrict out)
{
    long j = 0;
    for (; j + SIDE <= n; j += SIDE) {
        long i = j + SIDE;
        accumulate_tile(block, n, span, width, j, j, 4, 4, 1, out);
        for (; n - i == 3 || n - i > 4; i += 3)
            accumulate_tile(block, n, span, width, i, j, 3, SIDE, 0, out);
        for (; n - i >= 2; i += 2)
            accumulate_tile(block, n, span, width, i, j, 2, SIDE, 0, out);
        if (i < n)
            accumulate_tile(block, n, span, width, i, j, 1, SIDE, 0, out);
    }
    if (n - j == 3)
        accumulate_tile(block, n, span, width, j, j, 3, 3, 1, out);
    else if (n - j == 2)
        accumulate_tile(block, n, span, width, j, j, 2, 2, 1, out);
    else if (n - j == 1)
        accumulate_tile(block, n, span, width, j, j, 1, 1, 1, out);
}

static CLONES void accumulate_pairs(const double *restrict block, long span, long width, const int *restrict pairs,
                                    long count, double *restrict out)
{
    for (long pair = 0; pair < count; ++pair) {
        const double *a = block + pairs[2 * pair] * span, *b = block + pairs[2 * pair + 1] * span;
        lanes even = {0}, odd = {0};
        for (long k = 0; k < width; k += 8) {
            lanes first = *(const lanes *)(a + k) - *(const lanes *)(b + k);
            lanes second = *(const lanes *)(a + k + 4) - *(const lanes *)(b + k + 4);
            even += first * first, odd += second * second;
        }
        even += odd;
        out[pair] += even[0] + even[1] + even[2] + even[3];
    }
}

#define REAL float
#define FABS fabsf
#define NAME(function) function##_single
#include "coordinates.h"
#include "distances.h"
#undef REAL
#undef FABS
#undef NAME
#define REAL double
#define FABS fabs
#define NAME(function) function##_double
#include "coordinates.h"
#include "distances.h"

#include "median.h"

enum { MOST_BUFFERS = 5 };

#define MOST_ROWS ((Py_ssize_t)1 << 20)
#define MOST_COLUMNS ((Py_ssize_t)1 << 38)

typedef struct {
    Py_buffer views[MOST_BUFFERS];
    int count;
} Buffers;

static int take(Buffers *buffers, PyObject *object, int writable, Py_ssize_t least)
{
    Py_buffer *view = &buffers->views[buffers->count];
    if (PyObject_GetBuffer(object, view, writable ? PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE : PyBUF_C_CONTIGUOUS) < 0)
        return -1;
    buffers->count++;
    if (view->len < least) {
        PyErr_Format(PyExc_ValueError, "a buffer of %zd bytes is too short, %zd are needed", view->len, least);
        return -1;
    }
    return 0;
}

static PyObject *finish(Buffers *buffers, int status)
{
    while (buffers->count > 0)
        PyBuffer_Release(&buffers->views[--buffers->count]);
    if (PyErr_Occurred())
        return NULL;
    return status < 0 ? PyErr_NoMemory() : PyBool_FromLong(status);
}

static int check_shape(Py_ssize_t itemsize, Py_ssize_t n, Py_ssize_t d, Py_ssize_t begin, Py_ssize_t end)
{
    /* the limits keep every product of sizes within a Py_ssize_t */
    if ((itemsize == 4 || itemsize == 8) && 1 <= n && n <= MOST_ROWS && d <= MOST_COLUMNS && 0 <= begin &&
        begin <= end && end <= d)
        return 0;
    PyErr_SetString(PyExc_ValueError, "itemsize, shape or column range out of bounds");
    return -1;
}

static int check_extra(Py_ssize_t count)
{
    if (0 <= count && count <= MOST_ROWS)
        return 0;
    PyErr_SetString(PyExc_ValueError, "the number of further rows is out of bounds");
    return -1;
}

/* Batches of n x n numbers, which must be counted within a Py_ssize_t too. */
static int check_batch(Py_ssize_t count, Py_ssize_t n)
{
    if (0 <= count && count <= MOST_COLUMNS / n)
        return 0;
    PyErr_SetString(PyExc_ValueError, "the size of a batch is out of bounds");
    return -1;
}

static int check_count(Py_ssize_t count)
{
    if (0 <= count && count <= MOST_ROWS * MOST_ROWS)
        return 0;
    PyErr_SetString(PyExc_ValueError, "the length of a list is out of bounds");
    return -1;
}

static PyObject *gram(PyObject *self, PyObject *args)
{
    PyObject *x, *out;
    Py_ssize_t itemsize, n, d, begin, end;
    Buffers buffers = {.count = 0};
    int status = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OnnnnnO", &x, &itemsize, &n, &d, &begin, &end, &out))
        return NULL;
    if (check_shape(itemsize, n, d, begin, end) || take(&buffers, x, 0, itemsize * n * d) ||
        take(&buffers, out, 1, (Py_ssize_t)sizeof(double) * (n - 1) * (n - 1)))
        return finish(&buffers, -1);
    const char *first = buffers.views[0].buf, *others = first + itemsize * d;
    Py_BEGIN_ALLOW_THREADS
    status = itemsize == 4
                 ? gram_single((const float *)others, n - 1, d, begin, end, (const float *)first, NULL, 0,
                               buffers.views[1].buf)
                 : gram_double((const double *)others, n - 1, d, begin, end, (const double *)first, NULL, 0,
                               buffers.views[1].buf);
    Py_END_ALLOW_THREADS
    return finish(&buffers, status);
}

static PyObject *gram_about(PyObject *self, PyObject *args)
{
    PyObject *x, *centre, *extra, *out;
    Py_ssize_t itemsize, n, d, begin, end, count;
    Buffers buffers = {.count = 0};
    int status = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OnnnnnOOnO", &x, &itemsize, &n, &d, &begin, &end, &centre, &extra, &count, &out))
        return NULL;
    if (check_shape(itemsize, n, d, begin, end) || check_extra(count) || take(&buffers, x, 0, itemsize * n * d) ||
        take(&buffers, centre, 0, itemsize * d) || take(&buffers, extra, 0, itemsize * count * d) ||
        take(&buffers, out, 1, (Py_ssize_t)sizeof(double) * (n + count) * (n + count)))
        return finish(&buffers, -1);
    Py_BEGIN_ALLOW_THREADS
    status = itemsize == 4 ? gram_single(buffers.views[0].buf, n, d, begin, end, buffers.views[1].buf,
                                         buffers.views[2].buf, count, buffers.views[3].buf)
                           : gram_double(buffers.views[0].buf, n, d, begin, end, buffers.views[1].buf,
                                         buffers.views[2].buf, count, buffers.views[3].buf);
    Py_END_ALLOW_THREADS
    return finish(&buffers, status);
}

static PyObject *pairs(PyObject *self, PyObject *args)
{
    PyObject *x, *list, *out;
    Py_ssize_t itemsize, n, d, begin, end, count;
    Buffers buffers = {.count = 0};
    int status = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OnnnnnOnO", &x, &itemsize, &n, &d, &begin, &end, &list, &count, &out))
        return NULL;
    if (check_shape(itemsize, n, d, begin, end) || check_count(count) || take(&buffers, x, 0, itemsize * n * d) ||
        take(&buffers, list, 0, (Py_ssize_t)sizeof(int) * 2 * count) ||
        take(&buffers, out, 1, (Py_ssize_t)sizeof(double) * count))
        return finish(&buffers, -1);
    const int *rows = buffers.views[1].buf;
    for (Py_ssize_t k = 0; k < 2 * count; ++k)
        if (rows[k] < 0 || rows[k] >= n) {
            PyErr_SetString(PyExc_ValueError, "a pair names a row that does not exist");
            return finish(&buffers, -1);
        }
    Py_BEGIN_ALLOW_THREADS
    status = itemsize == 4 ? pairs_single(buffers.views[0].buf, n, d, begin, end, rows, count, buffers.views[2].buf)
                           : pairs_double(buffers.views[0].buf, n, d, begin, end, rows, count, buffers.views[2].buf);
    Py_END_ALLOW_THREADS
    return finish(&buffers, status);
}

static PyObject *reduce(PyObject *self, PyObject *args)
{
    PyObject *x, *list, *out;
    Py_ssize_t itemsize, n, d, begin, end, steps, low, high, kept;
    double margin;
    Buffers buffers = {.count = 0};
    int status = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OnnnnnOnnnndO", &x, &itemsize, &n, &d, &begin, &end, &list, &steps, &low, &high, &kept,
                          &margin, &out))
        return NULL;
    if (check_shape(itemsize, n, d, begin, end) || check_count(steps) || take(&buffers, x, 0, itemsize * n * d) ||
        take(&buffers, list, 0, (Py_ssize_t)sizeof(int) * 3 * steps) || take(&buffers, out, 1, itemsize * d))
        return finish(&buffers, -1);
    const int *network = buffers.views[1].buf;
    int wrong = kept < 0 || kept > n || (kept == 0 && (low < 0 || low >= high || high > n));
    for (Py_ssize_t k = 0; k < steps; ++k)
        wrong |= network[3 * k] < 0 || network[3 * k + 1] <= network[3 * k] || network[3 * k + 1] >= n;
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, "the network or the window names a row that does not exist");
        return finish(&buffers, -1);
    }
    Py_BEGIN_ALLOW_THREADS
    status = itemsize == 4 ? reduce_single(buffers.views[0].buf, n, d, begin, end, network, steps, low, high, kept,
                                           margin, buffers.views[2].buf)
                           : reduce_double(buffers.views[0].buf, n, d, begin, end, network, steps, low, high, kept,
                                           margin, buffers.views[2].buf);
    Py_END_ALLOW_THREADS
    return finish(&buffers, status);
}

static PyObject *squares(PyObject *self, PyObject *args)
{
    PyObject *x, *out;
    Py_ssize_t itemsize, n, d, begin, end;
    Buffers buffers = {.count = 0};
    (void)self;
    if (!PyArg_ParseTuple(args, "OnnnnnO", &x, &itemsize, &n, &d, &begin, &end, &out))
        return NULL;
    if (check_shape(itemsize, n, d, begin, end) || take(&buffers, x, 0, itemsize * n * d) ||
        take(&buffers, out, 1, (Py_ssize_t)sizeof(double) * n))
        return finish(&buffers, -1);
    Py_BEGIN_ALLOW_THREADS
    if (itemsize == 4)
        squares_single(buffers.views[0].buf, n, d, begin, end, buffers.views[1].buf);
    else
        squares_double(buffers.views[0].buf, n, d, begin, end, buffers.views[1].buf);
    Py_END_ALLOW_THREADS
    return finish(&buffers, 0);
}

static PyObject *combine(PyObject *self, PyObject *args)
{
    PyObject *x, *given, *out;
    Py_ssize_t itemsize, n, d, begin, end;
    Buffers buffers = {.count = 0};
    (void)self;
    if (!PyArg_ParseTuple(args, "OnnnnnOO", &x, &itemsize, &n, &d, &begin, &end, &given, &out))
        return NULL;
    if (check_shape(itemsize, n, d, begin, end) || take(&buffers, x, 0, itemsize * n * d) ||
        take(&buffers, given, 0, (Py_ssize_t)sizeof(double) * n) || take(&buffers, out, 1, itemsize * d))
        return finish(&buffers, -1);
    const double *all = buffers.views[1].buf;
    long *rows = malloc(sizeof(long) * (size_t)n), count = 0;
    double *weights = malloc(sizeof(double) * (size_t)n);
    int status = rows && weights ? 0 : -1;
    if (status == 0) {
        for (long row = 0; row < n; ++row)
            if (all[row] != 0) {
                rows[count] = row;
                weights[count++] = all[row];
            }
        Py_BEGIN_ALLOW_THREADS
        status = itemsize == 4
                     ? combine_single(buffers.views[0].buf, d, begin, end, rows, weights, count, buffers.views[2].buf)
                     : combine_double(buffers.views[0].buf, d, begin, end, rows, weights, count, buffers.views[2].buf);
        Py_END_ALLOW_THREADS
    }
    free(rows);
    free(weights);
    return finish(&buffers, status);
}

/* `gram` may be None. */
static PyObject *median(PyObject *self, PyObject *args)
{
    PyObject *distances, *gram, *weights, *left;
    Py_ssize_t count, n, most_steps, halvings;
    Limits limits;
    Buffers buffers = {.count = 0};
    int status = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOnndddddnnOO", &distances, &gram, &count, &n, &limits.widest, &limits.same,
                          &limits.farther, &limits.collinear, &limits.tolerance, &most_steps, &halvings, &weights,
                          &left))
        return NULL;
    limits.most_steps = most_steps, limits.halvings = halvings;
    if (check_shape(8, n, 0, 0, 0) || check_batch(count, n) ||
        take(&buffers, distances, 0, (Py_ssize_t)sizeof(double) * count * n * n) ||
        take(&buffers, weights, 1, (Py_ssize_t)sizeof(double) * count * n) || take(&buffers, left, 1, count) ||
        (gram != Py_None && take(&buffers, gram, 0, (Py_ssize_t)sizeof(double) * count * n * n)))
        return finish(&buffers, -1);
    const double *squares = buffers.views[0].buf, *products = gram == Py_None ? NULL : buffers.views[3].buf;
    double *found = buffers.views[1].buf;
    char *flags = buffers.views[2].buf;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t k = 0; k < count && status >= 0; ++k) {
        status = general_median(squares + k * n * n, products ? products + k * n * n : NULL, n, &limits, found + k * n);
        flags[k] = status == LEFT;
    }
    Py_END_ALLOW_THREADS
    return finish(&buffers, status < 0 ? status : 0);
}

static PyMethodDef methods[] = {
    {"combine", combine, METH_VARARGS, "Weights times rows, over some columns; returns whether any sum is not finite."},
    {"squares", squares, METH_VARARGS, "Adds the sums of squares of the rows over some columns to out."},
    {"median", median, METH_VARARGS, "Weights of the geometric medians of a batch; which of them are left to Python."},
    {"gram", gram, METH_VARARGS, "Adds the lower Gram matrix of the rows less the first, over some columns, to out."},
    {"gram_about", gram_about, METH_VARARGS, "The same of all rows less a centre, and of further rows as they are."},
    {"pairs", pairs, METH_VARARGS, "Adds the squared distances of listed pairs of rows over some columns to out."},
    {"reduce", reduce, METH_VARARGS, "Means over sorted columns; returns whether a NaN was seen."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_kernels", "Compiled kernels; see rules/native/__init__.py.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernels(void)
{
    return PyModule_Create(&module);
}
