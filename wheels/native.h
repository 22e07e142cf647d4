/* The list of compiled steps, which native.c serves and which the build generates. */

#include <stdint.h>

#define FAILED INT64_MIN /* returned by a step that raised an exception */

typedef struct {
    const char *name;    /* module and function */
    const char *layouts; /* the kinds of its records */
    const char *shape;   /* which arguments it takes: see SHAPES in native.c */
    const char *sources; /* hash of the sources that it was compiled from */
    int width;           /* how many numbers a row of plays has */
    void (*function)(void);
} Step;

extern const Step STEPS[]; /* the last one has no name */
