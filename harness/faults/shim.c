/*
 * Makes one system call of a process fail, on files below one directory. The library is loaded with LD_PRELOAD. A
 * memory-mapped control file selects the failing call and its error, so that one process can run an operation once for
 * each call. The layout of the control file is in shim.ts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN, CREATE, READ, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR, LINK, MODE };
#define MAX_CALLS 16384
#define MAX_FDS 65536
#define SHORT_WRITE 10000

struct control {
  uint32_t armed;
  uint32_t nth; /* number of the call that fails, from 1; no call fails if 0 */
  uint32_t error; /* errno of the failed call, or SHORT_WRITE */
  uint32_t onwards; /* if not 0, every later call of a class in `classes` also fails */
  uint32_t classes;  /* bits of the classes that `onwards` applies to */
  uint32_t count; /* number of intercepted calls */
  uint32_t injected; /* number of calls that failed */
  uint32_t reserved;
  char directory[480];
  char where[512]; /* the file of the first call that failed */
  uint8_t seen[MAX_CALLS]; /* the class of each call */
};

static struct control *control;
static unsigned char below[MAX_FDS];

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("ALMANAC_FAULTS");
  if (!path) return;
  int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
  int fd = real(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) abort();
  void *mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) abort();
  close(fd);
  control = mapped;
}

static int is_below(const char *path) {
  if (!control || !control->armed || !path) return 0;
  size_t length = strlen(control->directory);
  return strncmp(path, control->directory, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* Returns 1 and sets errno if this call must fail. Returns SHORT_WRITE if a write must write only half of its bytes. */
static int fails(int class, const char *path) {
  uint32_t at = __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST);
  if (at <= MAX_CALLS) control->seen[at - 1] = (uint8_t)class;
  int now = control->nth != 0 &&
            (at == control->nth || (control->onwards && at > control->nth && (control->classes & (1u << class))));
  if (!now) return 0;
  if (__atomic_add_fetch(&control->injected, 1, __ATOMIC_SEQ_CST) == 1)
    strncpy(control->where, path, sizeof control->where - 1);
  if (control->error == SHORT_WRITE) return SHORT_WRITE;
  errno = (int)control->error;
  return 1;
}

/* Like `fails`, for a call on a file descriptor. */
static int fd_fails(int class, int fd) {
  if (!control || !control->armed || fd < 0 || fd >= MAX_FDS || !below[fd]) return 0;
  char link[64], path[512];
  char *end = stpcpy(link, "/proc/self/fd/");
  char digits[12];
  int used = 0;
  for (int rest = fd; used == 0 || rest > 0; rest /= 10) digits[used++] = (char)('0' + rest % 10);
  while (used > 0) *end++ = digits[--used];
  *end = 0;
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  return fails(class, path);
}

#define FIND(name)                                                                                                   \
  if (!real) real = dlsym(RTLD_NEXT, name)

static int opened(int fd, int tracked) {
  if (fd >= 0 && fd < MAX_FDS) below[fd] = (unsigned char)tracked;
  return fd;
}

#define OPEN_LIKE(name)                                                                                              \
  int name(const char *path, int flags, ...) {                                                                       \
    static int (*real)(const char *, int, ...);                                                                      \
    va_list rest;                                                                                                    \
    va_start(rest, flags);                                                                                           \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;                                        \
    va_end(rest);                                                                                                    \
    int tracked = is_below(path);                                                                                    \
    if (tracked) {                                                                                                   \
      struct stat found;                                                                                             \
      int creates = (flags & O_CREAT) && stat(path, &found) != 0;                                                    \
      if (fails(creates ? CREATE : OPEN, path) == 1) return -1;                                                      \
    }                                                                                                                \
    FIND(#name);                                                                                                     \
    return opened(real(path, flags, mode), tracked);                                                                 \
  }
OPEN_LIKE(open)
OPEN_LIKE(open64)

int close(int fd) {
  static int (*real)(int);
  if (fd >= 0 && fd < MAX_FDS) below[fd] = 0;
  FIND("close");
  return real(fd);
}

#define SIZED(name, class, result, arguments, names, size, cut)                                                      \
  result name arguments {                                                                                            \
    static result(*real) arguments;                                                                                  \
    int why = fd_fails(class, fd);                                                                                   \
    if (why == 1) return -1;                                                                                         \
    if (why == SHORT_WRITE && (size) > 1) cut;                                                                       \
    FIND(#name);                                                                                                     \
    return real names;                                                                                               \
  }
#define HALF length = length / 2
SIZED(read, READ, ssize_t, (int fd, void *bytes, size_t length), (fd, bytes, length), 0, (void)0)
SIZED(pread64, READ, ssize_t, (int fd, void *bytes, size_t length, off64_t at), (fd, bytes, length, at), 0, (void)0)
SIZED(write, WRITE, ssize_t, (int fd, const void *bytes, size_t length), (fd, bytes, length), length, HALF)
SIZED(pwrite64, WRITE, ssize_t, (int fd, const void *bytes, size_t length, off64_t at), (fd, bytes, length, at), length,
      HALF)
SIZED(writev, WRITE, ssize_t, (int fd, const struct iovec *parts, int count), (fd, parts, count), count, count = count / 2)
SIZED(fsync, SYNC, int, (int fd), (fd), 0, (void)0)
SIZED(fdatasync, SYNC, int, (int fd), (fd), 0, (void)0)
SIZED(ftruncate64, TRUNCATE, int, (int fd, off64_t length), (fd, length), 0, (void)0)
SIZED(fchmod, MODE, int, (int fd, mode_t mode), (fd, mode), 0, (void)0)

#define NAMED(name, class, arguments, names, path)                                                                   \
  int name arguments {                                                                                               \
    static int (*real) arguments;                                                                                    \
    if (is_below(path) && fails(class, path) == 1) return -1;                                                        \
    FIND(#name);                                                                                                     \
    return real names;                                                                                               \
  }
NAMED(rename, RENAME, (const char *from, const char *to), (from, to), to)
NAMED(link, LINK, (const char *from, const char *to), (from, to), to)
NAMED(unlink, UNLINK, (const char *path), (path), path)
NAMED(unlinkat, UNLINK, (int at, const char *path, int flags), (at, path, flags), path)
NAMED(rmdir, UNLINK, (const char *path), (path), path)
NAMED(mkdir, MKDIR, (const char *path, mode_t mode), (path, mode), path)
NAMED(chmod, MODE, (const char *path, mode_t mode), (path, mode), path)
