/* Exchanges of device arrays on streams. */
#include "device.h"
#include "support.h"

enum { values = 6 * 8 }; /* of 4 × 6 cells with their halo */

static double value(int i, int j, int time) {
  return 10.0 * ((rank * 4 + i + 4 * ranks) % (4 * ranks)) + (j + 6) % 6 + 1 + time;
}

int test_device(void) {
  if (!device_begin()) return 0;
  double *made = device_array(values), *u = device_array(values), *seen = device_array(values);
  double* shown = device_seen(seen);
  void *stream = device_stream(), *other = device_stream();
  const int64_t extents[2] = {4 * ranks, 6};
  const phl_cartesian_options options = {
      .halo_lower = {1, 1}, .halo_upper = {1, 1}, .periodic = {1, 1}, .process_grid = {ranks, 1}};
  const phl_field field = {.element = {.scalar = PHL_FLOAT64}, .cells = u, .space = PHL_DEVICE};
  phl_cartesian domain = NULL;
  phl_exchange exchange = NULL;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain));
  GOOD(phl_exchange_create_cartesian(domain, 1, &field, NULL, &exchange));
  for (int time = 0; time < 12; ++time) {
    const int way = time % 4;
    for (int k = 0; k < values; ++k) {
      const int i = k / 8 - 1, j = k % 8 - 1;
      const int inside = i >= 0 && i < 4 && j >= 0 && j < 6;
      device_seen(made)[k] = way == 3 ? 1 : inside ? value(i, j, time) : -1;
    }
    GOOD(phl_exchange_set_stream(exchange, stream));
    device_copy(made, u, values, stream);
    if (way == 0) GOOD(phl_exchange_forward(exchange, NULL, 0));
    if (way == 1) {
      GOOD(phl_exchange_begin(exchange, &field, 1));
      GOOD(phl_exchange_set_stream(exchange, other)); /* of the next one */
      GOOD(phl_exchange_end(exchange));
    }
    if (way == 2) { /* after the device, and before what is put there next */
      GOOD(phl_exchange_set_stream(exchange, NULL));
      GOOD(phl_exchange_forward(exchange, NULL, 0));
    }
    if (way == 3 && time < 4) GOOD(phl_exchange_reverse(exchange, PHL_SUM, NULL, 0));
    if (way == 3 && time > 4) {
      GOOD(phl_exchange_begin_reverse(exchange, PHL_SUM, NULL, 0));
      GOOD(phl_exchange_end(exchange));
    }
    device_copy(u, seen, values, stream);
    device_wait(stream);
    double sum = 0;
    for (int i = -1; i < 5; ++i)
      for (int j = -1; j < 7; ++j) {
        const double got = shown[(i + 1) * 8 + j + 1];
        if (way != 3) CHECK(got == value(i, j, time));
        else if (i >= 0 && i < 4 && j >= 0 && j < 6) sum += got;
      }
    if (way == 3) CHECK(sum == values);
  }
  const char* words = "is captured into a graph"; /* none of them leaves the stream out */
  GOOD(phl_exchange_set_stream(exchange, stream));
  device_capture(stream, 1);
  FAILS(phl_exchange_forward(exchange, NULL, 0), PHL_ERROR_VALUE, words);
  FAILS(phl_exchange_begin(exchange, NULL, 0), PHL_ERROR_VALUE, words);
  FAILS(phl_exchange_reverse(exchange, PHL_SUM, NULL, 0), PHL_ERROR_VALUE, words);
  FAILS(phl_exchange_begin_reverse(exchange, PHL_SUM, NULL, 0), PHL_ERROR_VALUE, words);
  GOOD(phl_exchange_set_stream(exchange, NULL));
  FAILS(phl_exchange_forward(exchange, NULL, 0), PHL_ERROR_VALUE, words);
  device_capture(stream, 0);
  for (int on_stream = 0; on_stream < 2; ++on_stream) {
    GOOD(phl_exchange_set_stream(exchange, on_stream ? stream : NULL));
    GOOD(phl_exchange_begin(exchange, NULL, 0));
    device_capture(stream, 1);
    FAILS(phl_exchange_end(exchange), PHL_ERROR_VALUE, words);
    device_capture(stream, 0);
    GOOD(phl_exchange_end(exchange));
  }
  double on_host[values] = {0};
  phl_field host = {.element = {.scalar = PHL_FLOAT64}, .cells = on_host};
  phl_exchange of_host = NULL;
  GOOD(phl_exchange_create_cartesian(domain, 1, &host, NULL, &of_host));
  host.cells = u;
  FAILS(phl_exchange_forward(of_host, &host, 1), PHL_ERROR_VALUE, "values in device memory");
  GOOD(phl_exchange_forward(of_host, NULL, 0));
  GOOD(phl_exchange_free(&of_host));
  GOOD(phl_exchange_free(&exchange));
  GOOD(phl_cartesian_free(&domain));
  return 1;
}
