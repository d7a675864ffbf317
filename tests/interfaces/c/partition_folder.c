/* A data set with keys: rank r owns ids 2r and 2r + 1 and reads 2r + 2. In the mesh file id i is
 * 10 i and 10 i + 1, but id 0 is 0 and -1. */
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_file(
    const char* folder, const char* kind, int rank, const void* content, size_t bytes) {
  char name[200];
  snprintf(name, sizeof name, "%s/%s%03d", folder, kind, rank + 1);
  FILE* file = fopen(name, "wb");
  if (file == NULL) return;
  fwrite(content, 1, bytes, file);
  fclose(file);
}

void write_partition(const char* folder, int ranks) {
  mkdir(folder, 0777);
  for (int r = 0; r < ranks; ++r) {
    const int32_t part[3] = {2, ranks > 1, (2 * r + 2) % (2 * ranks) + 1};
    const int64_t first = 20 * r, second = first + 10;
    const int64_t keys[6] = {1, 2, first, r == 0 ? -1 : first + 1, second, second + 1};
    write_file(folder, "data", r, part, ranks > 1 ? 12 : 8);
    write_file(folder, "keys", r, keys, sizeof keys);
  }
}

void remove_partition(const char* folder, int ranks) {
  for (int r = 0; r < ranks; ++r)
    for (int kind = 0; kind < 2; ++kind) {
      char name[200];
      snprintf(name, sizeof name, "%s/%s%03d", folder, kind ? "keys" : "data", r + 1);
      remove(name);
    }
  rmdir(folder);
}
