/* The time of day of a process, wrong by as many seconds as the file BELATED_WRONG_CLOCK says: eight
   bytes, a double, which may change at any moment. The monotonic clock stays right. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile double *wrong_by = NULL;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("BELATED_WRONG_CLOCK");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *found = mmap(NULL, sizeof(double), PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) wrong_by = found;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (!failed && wrong_by != NULL && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += (time_t)*wrong_by;
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec found;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *where) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (where != NULL) *where = found.tv_sec;
    return found.tv_sec;
}
