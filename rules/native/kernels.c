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
#define MAX_SPAN 512

/* How many columns of `rows` rows of doubles fit into half of a first-level cache, as a multiple of eight. */
static long span_for(long rows)
{
    long span = 4096 / (rows > 0 ? rows : 1) / 8 * 8;
    return span < 64 ? 64 : span > MAX_SPAN ? MAX_SPAN : span;
}

typedef double lanes __attribute__((vector_size(32)));

static CLONES void accumulate_gram(const double *restrict block, long n, long padded, long span, double *restrict out)
{
    for (long i = 0; i < padded; i += 4) {
        const double *a = block + i * span;
        for (long j = 0; j < i + 4; j += 2) {
            const double *b = block + j * span;
            lanes s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0}, s20 = {0}, s21 = {0}, s30 = {0}, s31 = {0};
            for (long k = 0; k < span; k += 4) {
                lanes b0 = *(const lanes *)(b + k), b1 = *(const lanes *)(b + span + k);
                lanes a0 = *(const lanes *)(a + k), a1 = *(const lanes *)(a + span + k);
                lanes a2 = *(const lanes *)(a + 2 * span + k), a3 = *(const lanes *)(a + 3 * span + k);
                s00 += a0 * b0, s01 += a0 * b1, s10 += a1 * b0, s11 += a1 * b1;
                s20 += a2 * b0, s21 += a2 * b1, s30 += a3 * b0, s31 += a3 * b1;
            }
            lanes sums[4][2] = {{s00, s01}, {s10, s11}, {s20, s21}, {s30, s31}};
            for (long p = 0; p < 4 && i + p < n; ++p)
                for (long q = 0; q < 2 && j + q <= i + p; ++q)
                    out[(i + p) * n + j + q] += sums[p][q][0] + sums[p][q][1] + sums[p][q][2] + sums[p][q][3];
        }
    }
}

static CLONES void accumulate_pairs(const double *restrict block, long span, const int *restrict pairs, long count,
                                    double *restrict out)
{
    for (long pair = 0; pair < count; ++pair) {
        const double *a = block + pairs[2 * pair] * span, *b = block + pairs[2 * pair + 1] * span;
        lanes even = {0}, odd = {0};
        for (long k = 0; k < span; k += 8) {
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

enum { MOST_BUFFERS = 3 };

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
    if ((itemsize == 4 || itemsize == 8) && n >= 1 && 0 <= begin && begin <= end && end <= d)
        return 0;
    PyErr_SetString(PyExc_ValueError, "itemsize, shape or column range out of bounds");
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
        take(&buffers, out, 1, (Py_ssize_t)sizeof(double) * n * n))
        return finish(&buffers, -1);
    Py_BEGIN_ALLOW_THREADS
    status = itemsize == 4 ? gram_single(buffers.views[0].buf, n, d, begin, end, buffers.views[1].buf)
                           : gram_double(buffers.views[0].buf, n, d, begin, end, buffers.views[1].buf);
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
    if (check_shape(itemsize, n, d, begin, end) || take(&buffers, x, 0, itemsize * n * d) ||
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
    if (check_shape(itemsize, n, d, begin, end) || take(&buffers, x, 0, itemsize * n * d) ||
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

static PyMethodDef methods[] = {
    {"gram", gram, METH_VARARGS, "Adds the lower triangle of the centred Gram matrix of some columns to out."},
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
