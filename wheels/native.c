/* belated._native: compiled learners, found by step and kind of record, without numba.

   A step takes the address of a list of words that says where the arrays of a record lie (see
   belated/compiled/records.py). Here are one C prototype and one Python function for each shape of
   steps; the Python functions take what numba's own would take. The list of all steps, STEPS, is
   generated at build time. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "native.h"

#define WIDEST 64 /* numbers in a row of plays; a step with wider rows is not found */

typedef int64_t Ask(int64_t *, int64_t, double *);
typedef int64_t Tell(int64_t *, int64_t, const double *, double, int64_t, int64_t);
typedef int64_t AskExperts(int64_t *, int64_t);
typedef int64_t TellExperts(int64_t *, void *, void *, void *, int64_t, int64_t, int64_t);
typedef int64_t Play(int64_t *, void *, void *, void *, void *, int64_t, int64_t, int64_t, int64_t,
                     int64_t, int64_t, int64_t);
typedef int64_t Count(int64_t *, void *, void *, int64_t, int64_t, int64_t, int64_t);

/* -- arguments and results */

static int counted(const char *name, Py_ssize_t given, Py_ssize_t wanted)
{
    if (given == wanted)
        return 1;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, wanted, given);
    return 0;
}

static PyObject *failed(void)
{
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "a native step of belated failed");
    return NULL;
}

static const Step *step_of(PyObject *self)
{
    return PyCapsule_GetPointer(self, NULL);
}

static int64_t *words_of(PyObject *address)
{
    return (int64_t *)(intptr_t)PyLong_AsSsize_t(address);
}

/* The tuple of an arm, the probability of its draw, and a row of the play. */
static PyObject *drawn_of(int64_t arm, const double *numbers, Py_ssize_t count)
{
    PyObject *drawn = PyTuple_New(1 + count), *part = PyLong_FromLongLong(arm);
    for (Py_ssize_t k = 0; drawn != NULL && part != NULL; k++) {
        PyTuple_SetItem(drawn, k, part);
        if (k == count)
            return drawn;
        part = PyFloat_FromDouble(numbers[k]);
    }
    Py_XDECREF(drawn);
    Py_XDECREF(part);
    return NULL;
}

/* -- one function for each shape of steps */

static PyObject *ask(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const Step *step = step_of(self);
    double out[1 + WIDEST];
    if (!counted(step->name, count, 2))
        return NULL;
    int64_t *words = words_of(given[0]), mode = PyLong_AsLongLong(given[1]);
    if ((words == (int64_t *)-1 || mode == -1) && PyErr_Occurred())
        return NULL;
    int64_t arm = ((Ask *)step->function)(words, mode, out);
    return arm == FAILED ? failed() : drawn_of(arm, out, 1 + step->width);
}

static PyObject *tell(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const Step *step = step_of(self);
    double numbers[1 + WIDEST];
    if (!counted(step->name, count, 5))
        return NULL;
    int64_t *words = words_of(given[0]);
    PyObject *drawn = given[1];
    if (PyTuple_Size(drawn) != 2 + step->width) {
        PyErr_Format(PyExc_ValueError, "%s takes rows of %d numbers", step->name, step->width);
        return NULL;
    }
    int64_t arm = PyLong_AsLongLong(PyTuple_GetItem(drawn, 0));
    for (Py_ssize_t k = 0; k <= step->width; k++)
        numbers[k] = PyFloat_AsDouble(PyTuple_GetItem(drawn, 1 + k));
    double loss = PyFloat_AsDouble(given[2]);
    int64_t missing = PyLong_AsLongLong(given[3]), mode = PyLong_AsLongLong(given[4]);
    if (PyErr_Occurred())
        return NULL;
    int64_t done = ((Tell *)step->function)(words, arm, numbers, loss, missing, mode);
    return done == FAILED ? failed() : PyBool_FromLong(done != 0);
}

static PyObject *ask_experts(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const Step *step = step_of(self);
    if (!counted(step->name, count, 2))
        return NULL;
    int64_t *words = words_of(given[0]), mode = PyLong_AsLongLong(given[1]);
    if (PyErr_Occurred())
        return NULL;
    if (((AskExperts *)step->function)(words, mode) == FAILED)
        return failed();
    Py_RETURN_NONE;
}

/* -- steps that take arrays, of 8-byte items and in one piece */

#define MOST_ARRAYS 4

static void release(Py_buffer *views, int count)
{
    while (count > 0)
        PyBuffer_Release(&views[--count]);
}

/* Views of arrays with so many dimensions; 0 and an error if an array is another. */
static int viewed(PyObject *const *arrays, Py_buffer *views, const char *dimensions)
{
    for (int k = 0; dimensions[k] != 0; k++) {
        if (PyObject_GetBuffer(arrays[k], &views[k], PyBUF_ND) < 0) {
            release(views, k);
            return 0;
        }
        if (views[k].ndim != dimensions[k] - '0' || views[k].itemsize != 8) {
            release(views, k + 1);
            PyErr_SetString(PyExc_ValueError, "an array has a wrong type or number of dimensions");
            return 0;
        }
    }
    return 1;
}

static int alike(const Py_buffer *one, const Py_buffer *other)
{
    int same = 1;
    for (int k = 0; k < one->ndim; k++)
        same = same && one->shape[k] == other->shape[k];
    if (!same)
        PyErr_SetString(PyExc_ValueError, "arrays that belong together have different shapes");
    return same;
}

/* The numbers after the first arguments; 0 and an error if one is not a number. */
static int numbered(PyObject *const *given, int64_t *numbers, int count)
{
    for (int k = 0; k < count; k++)
        numbers[k] = PyLong_AsLongLong(given[k]);
    return PyErr_Occurred() == NULL;
}

static PyObject *tell_experts(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const Step *step = step_of(self);
    Py_buffer views[MOST_ARRAYS], *arms = &views[0], *plays = &views[1], *losses = &views[2];
    if (!counted(step->name, count, 4))
        return NULL;
    int64_t *words = words_of(given[0]), done = FAILED;
    if (PyErr_Occurred() || !viewed(given + 1, views, "121"))
        return NULL;
    if (alike(arms, losses))
        done = ((TellExperts *)step->function)(words, arms->buf, plays->buf, losses->buf,
                                               arms->shape[0], plays->shape[0], plays->shape[1]);
    release(views, 3);
    if (done == FAILED)
        return failed();
    Py_RETURN_NONE;
}

static PyObject *play(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const Step *step = step_of(self);
    Py_buffer views[MOST_ARRAYS];
    int64_t n[5], done = FAILED;
    if (!counted(step->name, count, 10))
        return NULL;
    int64_t *words = words_of(given[0]);
    if (!numbered(given + 5, n, 5) || !viewed(given + 1, views, "2222"))
        return NULL;
    if (alike(&views[0], &views[1]) && alike(&views[0], &views[2]) && alike(&views[0], &views[3])) {
        int64_t rows = views[0].shape[0], arms = views[0].shape[1];
        Py_BEGIN_ALLOW_THREADS
        done = ((Play *)step->function)(words, views[0].buf, views[1].buf, views[2].buf,
                                        views[3].buf, rows, arms, n[0], n[1], n[2], n[3], n[4]);
        Py_END_ALLOW_THREADS
    }
    release(views, 4);
    if (done == FAILED)
        return failed();
    Py_RETURN_NONE;
}

static PyObject *count_missing(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const Step *step = step_of(self);
    Py_buffer views[MOST_ARRAYS];
    int64_t n[2], done = FAILED;
    if (!counted(step->name, count, 5))
        return NULL;
    int64_t *words = words_of(given[0]);
    if (!numbered(given + 3, n, 2) || !viewed(given + 1, views, "22"))
        return NULL;
    if (alike(&views[0], &views[1])) {
        int64_t rows = views[0].shape[0], arms = views[0].shape[1];
        Py_BEGIN_ALLOW_THREADS
        done = ((Count *)step->function)(words, views[0].buf, views[1].buf, rows, arms, n[0], n[1]);
        Py_END_ALLOW_THREADS
    }
    release(views, 2);
    if (done == FAILED)
        return failed();
    Py_RETURN_NONE;
}

#define FAST(function) (PyCFunction)(void (*)(void))function, METH_FASTCALL, NULL

static PyMethodDef SHAPES[] = {
    {"ask", FAST(ask)},
    {"tell", FAST(tell)},
    {"ask experts", FAST(ask_experts)},
    {"tell experts", FAST(tell_experts)},
    {"play", FAST(play)},
    {"count", FAST(count_missing)},
    {NULL, NULL, 0, NULL},
};

/* -- the functions of the module */

static const Step *stored(PyObject *arguments)
{
    const char *name, *layouts;
    int width;
    if (!PyArg_ParseTuple(arguments, "ssi", &name, &layouts, &width))
        return NULL;
    for (const Step *step = STEPS; width <= WIDEST && step->name != NULL; step++)
        if (step->width == width && !strcmp(step->name, name) && !strcmp(step->layouts, layouts))
            return step;
    return NULL;
}

static PyObject *find(PyObject *module, PyObject *arguments)
{
    const Step *step = stored(arguments);
    if (step == NULL) {
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE;
    }
    PyMethodDef *shape = SHAPES;
    while (strcmp(shape->ml_name, step->shape))
        shape++;
    PyObject *capsule = PyCapsule_New((void *)step, NULL, NULL);
    if (capsule == NULL)
        return NULL;
    PyObject *function = PyCFunction_NewEx(shape, capsule, NULL);
    Py_DECREF(capsule);
    return function;
}

static PyObject *source_hash(PyObject *module, PyObject *arguments)
{
    const Step *step = stored(arguments);
    if (step != NULL)
        return PyUnicode_FromString(step->sources);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *steps(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    for (const Step *step = STEPS; list != NULL && step->name != NULL; step++) {
        PyObject *each = Py_BuildValue("(ssis)", step->name, step->layouts, step->width,
                                       step->sources);
        if (each == NULL || PyList_Append(list, each) < 0)
            Py_CLEAR(list);
        Py_XDECREF(each);
    }
    return list;
}

static PyObject *baseline_ok(PyObject *module, PyObject *unused)
{
    __builtin_cpu_init();
    return PyBool_FromLong(__builtin_cpu_supports("x86-64-v3"));
}

static PyMethodDef FUNCTIONS[] = {
    {"find", find, METH_VARARGS,
     "find(step, layouts, width)\n--\n\nThe native step for a kind of record, or None."},
    {"source_hash", source_hash, METH_VARARGS,
     "source_hash(step, layouts, width)\n--\n\nThe hash of the sources of a step, or None."},
    {"steps", steps, METH_NOARGS,
     "steps()\n--\n\nAll native steps: their names, layouts, widths and hashes of sources."},
    {"baseline_ok", baseline_ok, METH_NOARGS,
     "baseline_ok()\n--\n\nWhether this machine has the instructions that the steps use."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, .m_name = "belated._native",
    .m_doc = "Steps of learners that were compiled when the wheel was built.",
    .m_size = 0, .m_methods = FUNCTIONS,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&MODULE);
}
