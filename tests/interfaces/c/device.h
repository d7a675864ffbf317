/* Device arrays and a stream, by the driver that PARHELION_CUDA names. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stddef.h>
#include <stdint.h>

int device_begin(void); /* 0: no driver is named */
double* device_array(int values);
double* device_seen(double* array); /* where the host may touch it */
void* device_stream(void);
void device_copy(double* from, double* to, int values, void* stream);
void device_wait(void* stream);
void device_capture(void* stream, int on);

#endif
