#pragma once

#include <memory>

#include "contender.hpp"
#include "halo/geometry.hpp"
#include "memory.hpp"
#include "strided_copy.hpp"

namespace parhelion::bench {

/// The field arrays of one rank: one block of memory per field.
class HaloArrays : public Values {
public:
    HaloArrays(const HaloGeometry& geometry, const HaloParams& params,
               std::shared_ptr<const Memory> memory);

    void refresh(unsigned round) override;
    std::int64_t count_wrong(unsigned round) const override;

    const HaloGeometry& geometry() const { return geometry_; }
    int fields() const { return fields_; }
    std::byte* field(int index) const { return memory_->block(index); }

private:
    HaloGeometry geometry_;
    Element element_;
    int lanes_;  // scalars per cell
    int fields_;
    std::shared_ptr<const Memory> memory_;
};

/// A box of an array that starts at `field`, its contiguous dimensions joined into longer runs.
Region region_of(const HaloGeometry& geometry, const Box& box, std::byte* field);

}  // namespace parhelion::bench
