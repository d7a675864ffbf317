#pragma once

#include <memory>

#include "contender.hpp"
#include "element.hpp"
#include "memory.hpp"
#include "parhelion/domain/indexed_domain.hpp"

namespace parhelion::bench {

/// A gather case as the job states it.
struct GatherParams {
    std::string dataset;  // folder in the published layout
    Element element;
    int components = 1;
    std::string from = {};  // tells data sets of one name apart; no path

    std::size_t cell_bytes() const {
        return static_cast<std::size_t>(element.size) * static_cast<std::size_t>(components);
    }
};

/// One array: the owned cells, then the ghosts; block 0 of its memory.
class GatherArray : public Values {
public:
    GatherArray(const GatherParams& params, std::shared_ptr<const IndexedDomain> domain,
                std::shared_ptr<const Memory> memory);

    void refresh(unsigned round) override;
    std::int64_t count_wrong(unsigned round) const override;

    std::size_t cell_bytes() const { return params_.cell_bytes(); }
    std::byte* cells() const { return memory_->block(0); }
    std::byte* ghosts() const {
        return cells() + static_cast<std::size_t>(domain_->owned()) * cell_bytes();
    }

private:
    int lanes() const { return params_.components * lanes_per_element(params_.element); }

    GatherParams params_;
    std::shared_ptr<const IndexedDomain> domain_;
    std::shared_ptr<const Memory> memory_;
};

}  // namespace parhelion::bench
