/* What numba's code expects to find in its process: memory for arrays, and a little arithmetic.

   The few kernels that allocate arrays count the references to them in a header, whose layout is
   numba's; they call functions only to allocate and to free. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef struct {
    size_t references;
    void (*destructor)(void *, size_t, void *);
    void *destructor_info;
    void *data;
    size_t size;
    void *allocator;
} MemInfo;

HIDDEN void *NRT_MemInfo_alloc_aligned(size_t size, uint32_t align)
{
    size_t room = sizeof(MemInfo) + align;
    MemInfo *info = size > SIZE_MAX - room ? NULL : malloc(room + size);
    if (info == NULL)
        return NULL;
    uintptr_t first = (uintptr_t)(info + 1), over = align == 0 ? 0 : first % align;
    *info = (MemInfo){1, NULL, NULL, (void *)(over == 0 ? first : first + align - over), size, NULL};
    return info;
}

HIDDEN void NRT_MemInfo_call_dtor(MemInfo *info)
{
    if (info->destructor != NULL)
        info->destructor(info->data, info->size, info->destructor_info);
    free(info);
}

/* Whether an array in one piece, in C order, can have another shape; fills in the new strides. */
HIDDEN int numba_attempt_nocopy_reshape(
    intptr_t dimensions, const intptr_t *shape, const intptr_t *strides, intptr_t new_dimensions,
    const intptr_t *new_shape, intptr_t *new_strides, intptr_t item, int fortran)
{
    intptr_t stride = item;
    for (intptr_t k = dimensions - 1; k >= 0; stride *= shape[k--])
        if (shape[k] != 1 && strides[k] != stride)
            return 0;
    if (fortran)
        return 0;
    stride = item;
    for (intptr_t k = new_dimensions - 1; k >= 0; stride *= new_shape[k--])
        new_strides[k] = stride;
    return 1;
}

/* frexp, with an exponent of zero where C leaves it open. */
HIDDEN double numba_frexp(double value, int *exponent)
{
    *exponent = 0;
    return isfinite(value) && value != 0.0 ? frexp(value, exponent) : value;
}

HIDDEN double numba_ldexp(double value, int exponent)
{
    return ldexp(value, exponent);
}
