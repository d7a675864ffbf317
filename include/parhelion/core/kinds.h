/* Element types and reductions of all languages. A new one needs a line here, and its loops in
 * src/plan/combine.inl and device/item.hpp. */
#ifndef PARHELION_KINDS_H
#define PARHELION_KINDS_H

/* X(Scalar::name, PHL_NAME, bytes, format character of Python's buffer protocol). */
#define PHL_SCALARS(X) \
  X(int8, INT8, 1, "b") \
  X(int16, INT16, 2, "h") \
  X(int32, INT32, 4, "i") \
  X(int64, INT64, 8, "l") \
  X(uint8, UINT8, 1, "B") \
  X(uint16, UINT16, 2, "H") \
  X(uint32, UINT32, 4, "I") \
  X(uint64, UINT64, 8, "L") \
  X(float32, FLOAT32, 4, "f") \
  X(float64, FLOAT64, 8, "d") \
  X(complex64, COMPLEX64, 8, "Zf") \
  X(complex128, COMPLEX128, 16, "Zd")

/* X(Reduction::name and name in Python, PHL_NAME). */
#define PHL_REDUCTIONS(X) \
  X(replace, REPLACE) \
  X(sum, SUM) \
  X(min, MIN) \
  X(max, MAX) \
  X(bit_and, AND) \
  X(bit_or, OR) \
  X(prod, PROD)

#define PHL_NAME(name, NAME, ...) PHL_##NAME,
#define PHL_CPP_NAME(name, ...) name,

#endif
