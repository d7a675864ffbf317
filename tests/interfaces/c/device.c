/* Device arrays and a stream, by the driver that PARHELION_CUDA names; for C and Fortran. */
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void* library;

/* The driver's function, called as `kind`. */
#define CALL(kind, name) ((kind)find(#name))

static void* find(const char* name) {
  void* function = dlsym(library, name);
  if (function != NULL) return function;
  fprintf(stderr, "the driver has no %s\n", name);
  exit(1);
}

static void require(int status, const char* what) {
  if (status == 0) return;
  fprintf(stderr, "%s: error %d of the driver\n", what, status);
  exit(1);
}

int device_begin(void) {
  const char* file = getenv("PARHELION_TEST_DRIVER");
  if (file == NULL) file = getenv("PARHELION_CUDA");
  if (file == NULL) return 0;
  library = dlopen(file, RTLD_NOW);
  if (library == NULL) require(1, dlerror());
  require(CALL(int (*)(void), against_us_make_current)(), "make_current");
  return 1;
}
double* device_array(int values) {
  unsigned long long address = 0;
  const size_t bytes = (size_t)values * sizeof(double);
  require(CALL(int (*)(unsigned long long*, size_t), cuMemAlloc_v2)(&address, bytes), "allocate");
  return (double*)(uintptr_t)address;
}
double* device_seen(double* array) { return CALL(void* (*)(void*), against_us_seen)(array); }
void* device_stream(void) {
  void* stream = NULL;
  require(CALL(int (*)(void**, unsigned), cuStreamCreate)(&stream, 1), "stream");
  return stream;
}
void device_copy(double* from, double* to, int values, void* stream) {
  require(
      CALL(int (*)(unsigned long long, unsigned long long, size_t, void*), cuMemcpyDtoDAsync_v2)(
          (uintptr_t)to, (uintptr_t)from, (size_t)values * sizeof(double), stream),
      "copy");
}
void device_wait(void* stream) {
  require(CALL(int (*)(void*), cuStreamSynchronize)(stream), "wait");
}
void device_capture(void* stream, int on) {
  CALL(void (*)(void*, int), against_us_capture)(stream, on);
}
