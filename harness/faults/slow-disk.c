/*
 * Delays every sync of a file, as a slow disk does. The library is loaded with LD_PRELOAD. SLOW_DISK_SYNC_MS is the delay
 * in milliseconds.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void delay(void) {
  const char *text = getenv("SLOW_DISK_SYNC_MS");
  if (!text) return;
  long milliseconds = atol(text);
  struct timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1000000};
  nanosleep(&time, NULL);
}

#define DELAYED(name)                                                                                                \
  int name(int fd) {                                                                                                 \
    int (*real)(int) = dlsym(RTLD_NEXT, #name);                                                                      \
    delay();                                                                                                         \
    return real(fd);                                                                                                 \
  }
DELAYED(fsync)
DELAYED(fdatasync)
