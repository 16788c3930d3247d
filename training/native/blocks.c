/* Convolution with a 5 x 5 kernel, rectifier and 2 x 2 pooling as one operation, forward and backward, in float32.
 *
 * Samples are stored row by row with their channels last. Forward, the four outputs of a pooling window stay in
 * registers, so that nothing of the size of the convolution's output is ever written. Backward, a gradient reaches one
 * place of each window at most, and no place if the window's maximum is not positive: the work is a quarter of that of
 * a dense convolution, or less.
 *
 * Every function releases the GIL. Python checks all shapes; the checks here only keep a wrong call from touching memory
 * that is not its own.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__linux__)
#define CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#define WIDE __attribute__((target("avx2,fma")))
#define HOLD(hold, vector)                  \
    do {                                    \
        if (hold)                           \
            __asm__("" : "+x"(vector));     \
    } while (0)
#else
#define CLONES
#define HOLD(hold, vector) (void)(hold)
#endif
#define INLINE static inline __attribute__((always_inline))

enum { KERNEL = 5, LANES = 8, GROUP = 3, NOBODY = 4 };

typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef int bits __attribute__((vector_size(4 * LANES)));
typedef unsigned char octet __attribute__((vector_size(LANES)));
typedef unsigned char octets __attribute__((vector_size(4 * LANES)));
typedef uint64_t pairs __attribute__((vector_size(4 * LANES)));
typedef float loose __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

typedef struct {
    Py_ssize_t samples, height, width, channels, outputs;
} Shape;

static Py_ssize_t padded(Py_ssize_t count) { return (count + LANES - 1) / LANES * LANES; }
static Py_ssize_t high_of(Shape shape) { return (shape.height - KERNEL + 1) / 2; }
static Py_ssize_t across_of(Shape shape) { return (shape.width - KERNEL + 1) / 2; }

#ifdef WIDE
static int is_wide(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLES
#endif
#endif

/* Eight bytes from whole numbers; left to itself the compiler takes them one by one. */
INLINE void narrow(const bits *whole, unsigned char *bytes)
{
#ifdef SHUFFLES
    octets all = (octets)*whole;
    octet small = __builtin_shufflevector(all, all, 0, 4, 8, 12, 16, 20, 24, 28);
    memcpy(bytes, &small, LANES);
#else
    for (int lane = 0; lane < LANES; ++lane)
        bytes[lane] = (unsigned char)(*whole)[lane];
#endif
}

/* Fewer than eight items of some bytes each: quicker than a call. */
INLINE void copy_few(const unsigned char *from, unsigned char *to, Py_ssize_t count, size_t bytes)
{
    for (int step = LANES / 2; step > 0; step /= 2)
        if (count & step) {
            memcpy(to, from, (size_t)step * bytes);
            from += (size_t)step * bytes;
            to += (size_t)step * bytes;
        }
}

/* The first `count` lanes to memory of which no more may be touched: numbers, and bytes. */
INLINE void put_lanes(const lanes *values, const bits *whole, Py_ssize_t count, float *numbers, unsigned char *bytes)
{
    if (count == LANES) {
        *(loose *)numbers = *values;
        narrow(whole, bytes);
        return;
    }
    unsigned char small[LANES];
    narrow(whole, small);
    copy_few((const unsigned char *)values, (unsigned char *)numbers, count, sizeof(float));
    copy_few(small, bytes, count, 1);
}

#include "flat.h"
#include "forward.h"
#include "backward.h"

#define MOST ((Py_ssize_t)1 << 40)
#define MOST_PER_SAMPLE ((Py_ssize_t)1 << 25)

/* `bytes` is negative for a buffer of single bytes. */
static int take(Py_buffer *view, PyObject *object, int writable, Py_ssize_t bytes)
{
    Py_ssize_t item = bytes < 0 ? 1 : 4, needed = bytes < 0 ? -bytes : bytes;
    if (PyObject_GetBuffer(object, view, writable ? PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE : PyBUF_C_CONTIGUOUS) < 0)
        return -1;
    if (view->itemsize != item || view->len != needed) {
        PyErr_Format(PyExc_ValueError, "a buffer has %zd bytes in items of %zd, where %zd in items of %zd are needed",
                     view->len, view->itemsize, needed, item);
        PyBuffer_Release(view);
        return -1;
    }
    return 0;
}

/* Takes `count` buffers; `sizes` as in `take`, the first `read_only` of them are not written to. */
static int take_all(Py_buffer *views, PyObject **objects, const Py_ssize_t *sizes, int count, int read_only)
{
    for (int place = 0; place < count; ++place)
        if (take(&views[place], objects[place], place >= read_only, sizes[place])) {
            while (place > 0)
                PyBuffer_Release(&views[--place]);
            return -1;
        }
    return 0;
}

static void finish_views(Py_buffer *views, int count)
{
    while (count > 0)
        PyBuffer_Release(&views[--count]);
}

static PyObject *finish(Py_buffer *views, int count, int status)
{
    finish_views(views, count);
    if (status < 0)
        return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* Whether all winners are 0 to 3 or NOBODY. */
static int are_places(const unsigned char *winners, Py_ssize_t count)
{
    unsigned char most = 0;
    for (Py_ssize_t place = 0; place < count; ++place)
        most = winners[place] > most ? winners[place] : most;
    return most <= NOBODY;
}

static int check_shape(Shape shape)
{
    Py_ssize_t product = 1, sizes[] = {shape.height, shape.width, shape.channels, shape.outputs};
    int wrong = shape.height < KERNEL + 1 || shape.width < KERNEL + 1 || (shape.height - KERNEL) % 2 == 0 ||
                (shape.width - KERNEL) % 2 == 0;
    for (int place = 0; place < 4 && !wrong; ++place) {
        wrong = sizes[place] < 1 || sizes[place] > MOST_PER_SAMPLE;
        product *= sizes[place];
        wrong |= product > MOST_PER_SAMPLE;
    }
    if (!wrong && (shape.samples < 1 || shape.samples > MOST / product / (KERNEL * KERNEL)))
        wrong = 1;
    if (wrong)
        PyErr_SetString(PyExc_ValueError, "a size is out of bounds");
    return wrong ? -1 : 0;
}

static PyObject *forward(PyObject *self, PyObject *args)
{
    PyObject *objects[5];
    Py_buffer views[5];
    Shape shape;
    int status = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "nnnnnOOOOO", &shape.samples, &shape.height, &shape.width, &shape.channels,
                          &shape.outputs, &objects[0], &objects[1], &objects[2], &objects[3], &objects[4]) ||
        check_shape(shape))
        return NULL;
    Py_ssize_t pooled = shape.samples * ((shape.height - 4) / 2) * ((shape.width - 4) / 2) * shape.outputs;
    Py_ssize_t sizes[] = {4 * shape.samples * shape.height * shape.width * shape.channels,
                          4 * shape.outputs * shape.channels * KERNEL * KERNEL, 4 * shape.outputs, 4 * pooled, -pooled};
    if (take_all(views, objects, sizes, 5, 3))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = run_forward(shape, views[0].buf, views[1].buf, views[2].buf, views[3].buf, views[4].buf);
    Py_END_ALLOW_THREADS
    return finish(views, 5, status);
}

static PyObject *backward(PyObject *self, PyObject *args)
{
    PyObject *objects[6];
    Py_buffer views[6];
    Shape shape;
    Py_ssize_t workers;
    int status = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "nnnnnnOOOOOO", &shape.samples, &shape.height, &shape.width, &shape.channels,
                          &shape.outputs, &workers, &objects[0], &objects[1], &objects[2], &objects[3], &objects[4],
                          &objects[5]) ||
        check_shape(shape))
        return NULL;
    Py_ssize_t pooled = shape.samples * ((shape.height - 4) / 2) * ((shape.width - 4) / 2) * shape.outputs;
    Py_ssize_t inputs = shape.samples * shape.height * shape.width * shape.channels;
    Py_ssize_t weights = shape.outputs * shape.channels * KERNEL * KERNEL;
    if (workers < 1 || shape.samples % workers) {
        PyErr_SetString(PyExc_ValueError, "the workers do not share the samples evenly");
        return NULL;
    }
    int count = objects[5] == Py_None ? 5 : 6;
    Py_ssize_t gradients = workers * (weights + shape.outputs);
    Py_ssize_t sizes[] = {4 * inputs, 4 * weights, 4 * pooled, -pooled, 4 * gradients, 4 * inputs};
    if (take_all(views, objects, sizes, count, 4))
        return NULL;
    if (!are_places(views[3].buf, pooled)) {
        PyErr_SetString(PyExc_ValueError, "a winner is not a place of its window");
        finish_views(views, count);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = run_backward(shape, workers, views[0].buf, views[1].buf, views[2].buf, views[3].buf, views[4].buf,
                          count == 6 ? views[5].buf : NULL);
    Py_END_ALLOW_THREADS
    return finish(views, count, status);
}

static PyMethodDef methods[] = {
    {"forward", forward, METH_VARARGS, "The largest positive part of every window, and which place of it won."},
    {"backward", backward, METH_VARARGS, "Every worker's gradients of kernels and biases, and those of the input."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_blocks", "Compiled layers; see training/native/__init__.py.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__blocks(void)
{
    return PyModule_Create(&module);
}
