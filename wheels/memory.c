/* The memory manager that numba's code expects, for the few kernels that allocate arrays.

   numba counts references in a header in front of each array's memory. Its code counts by itself
   (NRT_incref, NRT_decref) and calls these functions only to allocate and to free. The layout of
   the header is numba's. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    size_t references;
    void (*destructor)(void *, size_t, void *);
    void *destructor_info;
    void *data;
    size_t size;
    void *allocator;
} MemInfo;

__attribute__((visibility("hidden"))) void *NRT_MemInfo_alloc_aligned(size_t size, uint32_t align)
{
    size_t room = sizeof(MemInfo) + align;
    MemInfo *info = size > SIZE_MAX - room ? NULL : malloc(room + size);
    if (info == NULL)
        return NULL;
    uintptr_t first = (uintptr_t)(info + 1), over = align == 0 ? 0 : first % align;
    *info = (MemInfo){1, NULL, NULL, (void *)(over == 0 ? first : first + align - over), size, NULL};
    return info;
}

__attribute__((visibility("hidden"))) void NRT_MemInfo_call_dtor(MemInfo *info)
{
    if (info->destructor != NULL)
        info->destructor(info->data, info->size, info->destructor_info);
    free(info);
}

/* Whether an array in one piece, in C order, can have another shape; fills in the new strides. */
__attribute__((visibility("hidden"))) int numba_attempt_nocopy_reshape(
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
