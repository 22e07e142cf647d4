/* Records what a process does to the files of one folder, so that a power failure can be played
   through afterwards: every write, truncation, removal and flush, in their order.

   BELATED_FOLDER: the files that count.  BELATED_LOG: where the record goes.
   BELATED_FAIL_SYNC: while this file exists, flushes fail with an input/output error.
   BELATED_FAIL_WRITE: while this file exists, writes fail because the disk is full.

   A record is: kind (1 byte), length of the path (4), offset (8), length of the data (8), the path,
   the data. It is written with the system call itself, so that it does not record itself. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int record_file = -1;

static void put(const void *data, size_t length) {
    while (length > 0) {
        long done = syscall(SYS_write, record_file, data, length);
        if (done < 0) _exit(99);
        data = (const char *)data + done;
        length -= (size_t)done;
    }
}

/* The path of an open file if it counts, else 0. */
static int counts(int file, char path[PATH_MAX]) {
    const char *folder = getenv("BELATED_FOLDER");
    if (folder == NULL) return 0;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

static void keep(char kind, const char *path, uint64_t offset, const void *data, uint64_t length) {
    uint32_t name = (uint32_t)strlen(path);
    if (record_file < 0)
        record_file = (int)syscall(SYS_openat, AT_FDCWD, getenv("BELATED_LOG"),
                                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    put(&kind, 1);
    put(&name, 4);
    put(&offset, 8);
    put(&length, 8);
    put(path, name);
    if (data != NULL) put(data, length);
}

#define RECORDED(file, act, kind, offset, data, length) \
    char path[PATH_MAX];                                \
    if (!counts(file, path)) return act;                \
    pthread_mutex_lock(&turn);                          \
    uint64_t at = (uint64_t)(offset);                   \
    long done = act;                                    \
    if (done >= 0) keep(kind, path, at, data, length);  \
    pthread_mutex_unlock(&turn);                        \
    return done;

/* Whether a call on a file is to fail now, and how; `name` is the variable that says so. */
static int fails(int file, const char *name, int error) {
    const char *while_there = getenv(name);
    char path[PATH_MAX];
    if (while_there == NULL || access(while_there, F_OK) != 0 || !counts(file, path)) return 0;
    errno = error;
    return 1;
}

ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
    if (fails(file, "BELATED_FAIL_WRITE", ENOSPC)) return -1;
    RECORDED(file, syscall(SYS_pwrite64, file, data, length, offset), 'w', offset, data,
             (uint64_t)done)
}

ssize_t pwrite(int file, const void *data, size_t length, off_t offset) {
    return pwrite64(file, data, length, offset);
}

ssize_t write(int file, const void *data, size_t length) {
    if (fails(file, "BELATED_FAIL_WRITE", ENOSPC)) return -1;
    RECORDED(file, syscall(SYS_write, file, data, length), 'w', lseek(file, 0, SEEK_CUR), data,
             (uint64_t)done)
}

int ftruncate64(int file, off64_t length) {
    RECORDED(file, syscall(SYS_ftruncate, file, length), 't', length, NULL, 0)
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

static int flushed(int file, long number) {
    if (fails(file, "BELATED_FAIL_SYNC", EIO)) return -1;
    RECORDED(file, syscall(number, file), 's', 0, NULL, 0)
}

int fsync(int file) { return flushed(file, SYS_fsync); }

int fdatasync(int file) { return flushed(file, SYS_fdatasync); }

int unlink(const char *name) {
    const char *folder = getenv("BELATED_FOLDER");
    long done = syscall(SYS_unlinkat, AT_FDCWD, name, 0);
    if (done == 0 && folder != NULL && strncmp(name, folder, strlen(folder)) == 0) {
        pthread_mutex_lock(&turn);
        keep('u', name, 0, NULL, 0);
        pthread_mutex_unlock(&turn);
    }
    return (int)done;
}
