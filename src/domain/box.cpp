#include "parhelion/domain/box.hpp"

#include "core/concat.hpp"

namespace parhelion {

void require_dimensions(int listed, int dimensions, std::string_view what) {
  if (listed != 0 && listed != dimensions)
    refuse(what, " is given for ", listed, " dimensions of ", dimensions,
        ": give one value for all of them, or one for each");
}

void require_stagger(const Stagger& stagger, int dimensions) {
  require_dimensions(stagger.listed, dimensions, "stagger");
  for (int d = 0; d < dimensions; ++d)
    if (stagger.along[d] < -1 || stagger.along[d] > 1)
      refuse("a stagger of ", stagger.along[d], " in dimension ", d,
          ": use 1 where the field has one more point than cells, 0 where "
          "it lives on cells, -1 where it has a point at the upper face of each");
}

Box intersect(const Box& a, const Box& b) {
  Box both;
  for (int d = 0; d < max_dimensions; ++d) {
    both.lo[d] = std::max(a.lo[d], b.lo[d]);
    both.hi[d] = std::max(both.lo[d], std::min(a.hi[d], b.hi[d]));
  }
  return both;
}

Box grow(const Box& box, const HaloWidth& width, int dimensions) {
  Box grown = box;
  for (int d = 0; d < dimensions; ++d) {
    grown.lo[d] -= width.lower[d];
    grown.hi[d] += width.upper[d];
  }
  return grown;
}

Box translate(Box box, const Coordinates& shift) {
  for (int d = 0; d < max_dimensions; ++d) {
    box.lo[d] += shift[d];
    box.hi[d] += shift[d];
  }
  return box;
}

std::string to_string(const Box& box, int dimensions) {
  std::string text;
  for (int d = 0; d < dimensions; ++d)
    text += concat((d ? " × [" : "["), box.lo[d], ", ", box.hi[d], ")");
  return text;
}

}  // namespace parhelion
