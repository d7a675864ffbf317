/* Writes a file of index maps (docs/index-map-format.md), for the tests in C and Fortran: each of `ranks` ranks owns two ids and reads the
 * next rank's first one; the keys of an id are 10 · id, and 10 · id + 1 or, for id 0, −1. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { header_bytes = 64, entry_bytes = 56, words = 7 };

static uint32_t crc_of(const void* bytes, size_t count) {
    uint32_t crc = 0xffffffffU;
    for (const unsigned char* byte = bytes; count-- > 0; ++byte) {
        crc ^= *byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320U & (0U - (crc & 1U)));
    }
    return ~crc;
}

static void put(unsigned char* at, uint64_t value, int size) {
    for (int i = 0; i < size; ++i) at[i] = (unsigned char)(value >> 8 * i);
}

void write_phlmap(const char* path, int ranks) {
    FILE* file = fopen(path, "wb");
    const uint64_t all = (uint64_t)ranks, sections = header_bytes + entry_bytes * all;
    unsigned char header[header_bytes] = "\x89PHL\r\n\x1a\n", entry[entry_bytes], section[8 * words];
    put(header + 8, 1, 4), put(header + 12, 1, 4), put(header + 16, all, 8), put(header + 24, 2 * all, 8), put(header + 32, 2, 4);
    put(header + 40, sections + all * sizeof section, 8), put(header + 60, crc_of(header, 60), 4);
    fwrite(header, 1, sizeof header, file);
    for (int pass = 0; pass < 2; ++pass)
        for (uint64_t r = 0; r < all; ++r) {
            const uint64_t next = (r + 1) % all, ghosts = ranks > 1;
            memset(entry, 0, sizeof entry), memset(section, 0, sizeof section);
            if (ghosts) put(section, 2 * next, 8), put(section + 8, next, 8), put(section + 16, 1, 8);
            unsigned char* keys = section + 24 * ghosts;
            for (uint64_t k = 0; k < 2; ++k)
                put(keys + 16 * k, 10 * (2 * r + k), 8), put(keys + 16 * k + 8, r + k == 0 ? (uint64_t)-1 : 10 * (2 * r + k) + 1, 8);
            put(entry, 2 * r, 8), put(entry + 8, 2, 8), put(entry + 16, ghosts, 8), put(entry + 24, ghosts, 8);
            put(entry + 32, sections + r * sizeof section, 8), put(entry + 40, crc_of(section, 24 * ghosts), 4);
            put(entry + 44, crc_of(keys, 32), 4), put(entry + 52, crc_of(entry, 52), 4);
            if (pass == 0) fwrite(entry, 1, sizeof entry, file);
            else fwrite(section, 1, sizeof section, file);
        }
    fclose(file);
}
