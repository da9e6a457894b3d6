/* Records what a process does to files, in order, so that a power cut at any moment can be replayed (see mod.rs).
 *
 * Each call is made and recorded under one lock, after it succeeded. A record is a line of words separated by tabs and, for
 * a write, that many bytes behind it. Paths are absolute. RECORD_CALLS=PATH names the file. What is written through a
 * mapping is not recorded; of ours only SQLite's index of its log is, which is made anew at every start.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int record_file = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void read_settings(void) {
    const char *path = getenv("RECORD_CALLS");
    if (path) record_file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* The path of an open file or folder. */
static void path_of(int fd, char *to, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, to, size - 1);
    to[length > 0 ? length : 0] = 0;
}

static void absolute(int folder, const char *path, char *to, size_t size) {
    if (path[0] == '/') {
        snprintf(to, size, "%s", path);
        return;
    }
    char base[4096];
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) base[0] = 0;
    } else {
        path_of(folder, base, sizeof base);
    }
    snprintf(to, size, "%s/%s", base, path);
}

static void record(const char *line, const void *bytes, size_t length) {
    struct iovec parts[] = {{(void *)line, strlen(line)}, {(void *)bytes, length}};
    if (record_file >= 0) syscall(SYS_writev, record_file, parts, bytes ? 2 : 1);
}

static void record_paths(const char *name, const char *one, const char *other) {
    char line[8300];
    snprintf(line, sizeof line, "%s\t%s\t%s\n", name, one, other);
    record(line, NULL, 0);
}

static int is_file(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static void record_write(int fd, const void *bytes, ssize_t length, off64_t offset) {
    char path[4096], line[4200];
    path_of(fd, path, sizeof path);
    snprintf(line, sizeof line, "write\t%s\t%lld\t%zd\n", path, (long long)offset, length);
    record(line, bytes, (size_t)length);
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))
#define LOCKED(type, call, then)                                                                           \
    pthread_mutex_lock(&lock);                                                                             \
    type answer = call;                                                                                    \
    if (answer >= 0) { then; }                                                                             \
    pthread_mutex_unlock(&lock);                                                                           \
    return answer;

static int renamed(int from_folder, const char *from, int to_folder, const char *to, const char *name) {
    char one[4096], other[4096];
    absolute(from_folder, from, one, sizeof one);
    absolute(to_folder, to, other, sizeof other);
    record_paths(name, one, other);
    return 0;
}

static void named(const char *name, int folder, const char *path) {
    char one[4096];
    absolute(folder, path, one, sizeof one);
    record_paths(name, one, "");
}

int rename(const char *from, const char *to) {
    LOCKED(int, REAL(int, rename, const char *, const char *)(from, to), renamed(AT_FDCWD, from, AT_FDCWD, to, "rename"))
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    LOCKED(int, REAL(int, linkat, int, const char *, int, const char *, int)(from_folder, from, to_folder, to, flags),
           renamed(from_folder, from, to_folder, to, "link"))
}

int link(const char *from, const char *to) {
    LOCKED(int, REAL(int, link, const char *, const char *)(from, to), renamed(AT_FDCWD, from, AT_FDCWD, to, "link"))
}

int unlink(const char *path) {
    LOCKED(int, REAL(int, unlink, const char *)(path), named("unlink", AT_FDCWD, path))
}

int unlinkat(int folder, const char *path, int flags) {
    LOCKED(int, REAL(int, unlinkat, int, const char *, int)(folder, path, flags), named("unlink", folder, path))
}

int rmdir(const char *path) {
    LOCKED(int, REAL(int, rmdir, const char *)(path), named("unlink", AT_FDCWD, path))
}

int mkdir(const char *path, mode_t mode) {
    LOCKED(int, REAL(int, mkdir, const char *, mode_t)(path, mode), named("mkdir", AT_FDCWD, path))
}

static void record_file_call(const char *name, int fd, long long length) {
    char path[4096], number[32];
    path_of(fd, path, sizeof path);
    snprintf(number, sizeof number, "%lld", length);
    record_paths(name, path, number);
}

int fsync(int fd) {
    LOCKED(int, REAL(int, fsync, int)(fd), record_file_call("sync", fd, 0))
}

int fdatasync(int fd) {
    LOCKED(int, REAL(int, fdatasync, int)(fd), record_file_call("sync", fd, 0))
}

int ftruncate(int fd, off_t length) {
    LOCKED(int, REAL(int, ftruncate, int, off_t)(fd, length), record_file_call("truncate", fd, length))
}

int ftruncate64(int fd, off64_t length) {
    LOCKED(int, REAL(int, ftruncate64, int, off64_t)(fd, length), record_file_call("truncate", fd, length))
}

#define MODE(flags)                                                                                        \
    mode_t mode = 0;                                                                                       \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                                   \
        va_list rest;                                                                                      \
        va_start(rest, flags);                                                                             \
        mode = va_arg(rest, mode_t);                                                                       \
        va_end(rest);                                                                                      \
    }
/* A file that is made, or emptied. */
static void opened(int fd, int flags, int was_there) {
    if (!is_file(fd)) return;
    if (!was_there) record_file_call("create", fd, 0);
    else if (flags & O_TRUNC) record_file_call("truncate", fd, 0);
}

#define PASS_OPEN(name)                                                                                    \
    int name(const char *path, int flags, ...) {                                                           \
        MODE(flags)                                                                                        \
        if (!(flags & (O_CREAT | O_TRUNC))) return REAL(int, name, const char *, int, mode_t)(path, flags, mode); \
        int was_there = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;                                 \
        LOCKED(int, REAL(int, name, const char *, int, mode_t)(path, flags, mode), opened(answer, flags, was_there)) \
    }
PASS_OPEN(open)
PASS_OPEN(open64)

#define PASS_OPENAT(name)                                                                                  \
    int name(int folder, const char *path, int flags, ...) {                                               \
        MODE(flags)                                                                                        \
        if (!(flags & (O_CREAT | O_TRUNC)))                                                                \
            return REAL(int, name, int, const char *, int, mode_t)(folder, path, flags, mode);             \
        int was_there = syscall(SYS_faccessat, folder, path, F_OK) == 0;                                   \
        LOCKED(int, REAL(int, name, int, const char *, int, mode_t)(folder, path, flags, mode),            \
               opened(answer, flags, was_there))                                                           \
    }
PASS_OPENAT(openat)
PASS_OPENAT(openat64)

ssize_t write(int fd, const void *bytes, size_t length) {
    if (!is_file(fd)) return REAL(ssize_t, write, int, const void *, size_t)(fd, bytes, length);
    LOCKED(ssize_t, REAL(ssize_t, write, int, const void *, size_t)(fd, bytes, length),
           record_write(fd, bytes, answer, lseek64(fd, 0, SEEK_CUR) - answer))
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    if (!is_file(fd)) return REAL(ssize_t, pwrite, int, const void *, size_t, off_t)(fd, bytes, length, offset);
    LOCKED(ssize_t, REAL(ssize_t, pwrite, int, const void *, size_t, off_t)(fd, bytes, length, offset),
           record_write(fd, bytes, answer, offset))
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    if (!is_file(fd)) return REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)(fd, bytes, length, offset);
    LOCKED(ssize_t, REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)(fd, bytes, length, offset),
           record_write(fd, bytes, answer, offset))
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!is_file(fd)) return REAL(ssize_t, writev, int, const struct iovec *, int)(fd, parts, count);
    ssize_t all = 0;
    for (int part = 0; part < count; part++) {
        ssize_t wrote = write(fd, parts[part].iov_base, parts[part].iov_len);
        if (wrote < 0) return all ? all : wrote;
        all += wrote;
        if ((size_t)wrote < parts[part].iov_len) break;
    }
    return all;
}
