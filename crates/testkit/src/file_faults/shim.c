/* Counts the calls of a process that change files or send to a socket, and ends it at the Nth or lets that call fail.
 *
 * Preloaded into our own binary by a test (see mod.rs). Every call below counts once before it is made:
 * FILE_FAULTS_LOG=PATH notes their names, FILE_FAULTS_AT=N says which one, FILE_FAULTS_DO=kill or an errno
 * as a number what happens there. With FILE_FAULTS_WHILE=PATH every call fails as long as that file exists. Calls of SQLite count too; what is written through a mapping does not. Sockets
 * count where FILE_FAULTS_SOCKETS is set. CLOCK_AHEAD_SECONDS moves the clock, back where it is negative.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls;
static long at = -1;
static int errno_to_set; /* 0: kill */
static int log_file = -1;
static int sockets;
static long ahead;
static const char *while_exists;

__attribute__((constructor)) static void read_settings(void) {
    const char *text = getenv("FILE_FAULTS_AT");
    at = text ? atol(text) : -1;
    text = getenv("FILE_FAULTS_DO");
    errno_to_set = text && strcmp(text, "kill") != 0 ? atoi(text) : 0;
    text = getenv("CLOCK_AHEAD_SECONDS");
    ahead = text ? atol(text) : 0;
    while_exists = getenv("FILE_FAULTS_WHILE");
    sockets = getenv("FILE_FAULTS_SOCKETS") != NULL;
    text = getenv("FILE_FAULTS_LOG");
    if (text)
        log_file = (int)syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Whether the call must fail. */
static int due(const char *name, const char *path) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (log_file >= 0) {
        char line[512];
        size_t used = 0;
        const char *parts[] = {name, " ", path ? path : "", "\n"};
        for (int part = 0; part < 4; part++) {
            size_t length = strlen(parts[part]);
            if (length > sizeof line - 1 - used)
                length = sizeof line - 1 - used;
            memcpy(line + used, parts[part], length);
            used += length;
        }
        line[used - 1] = '\n';
        syscall(SYS_write, log_file, line, used);
    }
    if (while_exists && syscall(SYS_faccessat, AT_FDCWD, while_exists, F_OK) == 0) {
        errno = errno_to_set;
        return 1;
    }
    if (number != at)
        return 0;
    if (errno_to_set == 0) {
        syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGKILL);
        for (;;)
            pause();
    }
    errno = errno_to_set;
    return 1;
}

static int is_counted(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0) return 0;
    return S_ISREG(status.st_mode) || (S_ISSOCK(status.st_mode) && sockets);
}

/* The machine's clock, moved by CLOCK_AHEAD_SECONDS. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    int answer = (int)syscall(SYS_clock_gettime, clock, time);
    if (answer == 0 && clock == CLOCK_REALTIME) time->tv_sec += ahead;
    return answer;
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

#define PASS_TWO_PATHS(name, made)                                                                         \
    int name(const char *from, const char *to) {                                                           \
        if (due(#name, made)) return -1;                                                                   \
        return REAL(int, name, const char *, const char *)(from, to);                                      \
    }
PASS_TWO_PATHS(rename, to)
PASS_TWO_PATHS(link, to)

#define PASS_ONE_PATH(name)                                                                                \
    int name(const char *path) {                                                                           \
        if (due(#name, path)) return -1;                                                                   \
        return REAL(int, name, const char *)(path);                                                        \
    }
PASS_ONE_PATH(unlink)
PASS_ONE_PATH(rmdir)

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    if (due("linkat", to)) return -1;
    return REAL(int, linkat, int, const char *, int, const char *, int)(from_folder, from, to_folder, to, flags);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    if (due("renameat2", to)) return -1;
    return REAL(int, renameat2, int, const char *, int, const char *, unsigned)(from_folder, from, to_folder, to,
                                                                               flags);
}

int unlinkat(int folder, const char *path, int flags) {
    if (due("unlinkat", path)) return -1;
    return REAL(int, unlinkat, int, const char *, int)(folder, path, flags);
}

int mkdir(const char *path, mode_t mode) {
    if (due("mkdir", path)) return -1;
    return REAL(int, mkdir, const char *, mode_t)(path, mode);
}

#define PASS_FILE(name)                                                                                    \
    int name(int fd) {                                                                                     \
        if (due(#name, "")) return -1;                                                                     \
        return REAL(int, name, int)(fd);                                                                   \
    }
PASS_FILE(fsync)
PASS_FILE(fdatasync)

#define PASS_TRUNCATE(name, offset)                                                                        \
    int name(int fd, offset length) {                                                                      \
        if (due(#name, "")) return -1;                                                                     \
        return REAL(int, name, int, offset)(fd, length);                                                   \
    }
PASS_TRUNCATE(ftruncate, off_t)
PASS_TRUNCATE(ftruncate64, off64_t)

#define PASS_OPEN(name)                                                                                    \
    int name(const char *path, int flags, ...) {                                                           \
        mode_t mode = 0;                                                                                   \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                               \
            va_list rest;                                                                                  \
            va_start(rest, flags);                                                                         \
            mode = va_arg(rest, mode_t);                                                                   \
            va_end(rest);                                                                                  \
        }                                                                                                  \
        if (flags & (O_CREAT | O_TRUNC) && due(#name, path)) return -1;                                    \
        return REAL(int, name, const char *, int, mode_t)(path, flags, mode);                              \
    }
PASS_OPEN(open)
PASS_OPEN(open64)

#define PASS_OPENAT(name)                                                                                  \
    int name(int folder, const char *path, int flags, ...) {                                               \
        mode_t mode = 0;                                                                                   \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                               \
            va_list rest;                                                                                  \
            va_start(rest, flags);                                                                         \
            mode = va_arg(rest, mode_t);                                                                   \
            va_end(rest);                                                                                  \
        }                                                                                                  \
        if (flags & (O_CREAT | O_TRUNC) && due(#name, path)) return -1;                                    \
        return REAL(int, name, int, const char *, int, mode_t)(folder, path, flags, mode);                 \
    }
PASS_OPENAT(openat)
PASS_OPENAT(openat64)

ssize_t write(int fd, const void *bytes, size_t length) {
    if (is_counted(fd) && due("write", "")) return -1;
    return REAL(ssize_t, write, int, const void *, size_t)(fd, bytes, length);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    if (is_counted(fd) && due("pwrite", "")) return -1;
    return REAL(ssize_t, pwrite, int, const void *, size_t, off_t)(fd, bytes, length, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    if (is_counted(fd) && due("pwrite64", "")) return -1;
    return REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)(fd, bytes, length, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (is_counted(fd) && due("writev", "")) return -1;
    return REAL(ssize_t, writev, int, const struct iovec *, int)(fd, parts, count);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
    if (is_counted(fd) && due("send", "")) return -1;
    return REAL(ssize_t, send, int, const void *, size_t, int)(fd, bytes, length, flags);
}
