#include "parhelion/placement/stencil.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "parhelion/core/checked.hpp"
#include "parhelion/placement/limits.hpp"

namespace parhelion::placement {
namespace {

int parse_step(const std::string& text, const std::string& all) {
    const auto first = text.find_first_not_of(" +");
    const auto last = text.find_last_not_of(' ');
    int step = 0;
    if (first != std::string::npos) {
        const char* end = text.data() + last + 1;
        const auto [stop, problem] = std::from_chars(text.data() + first, end, step);
        if (problem == std::errc{} && stop == end) return step;
    }
    throw Error("stencil offsets '" + all + "': '" + text +
                "' is not a whole number; write steps with commas and " +
                "offsets with semicolons, such as '0,1;0,-1'");
}

Offset parse_offset(const std::string& text, int dimensions, const std::string& all) {
    Offset offset;
    int d = 0;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');) {
        if (d < max_dimensions) offset.step[d] = parse_step(item, all);
        ++d;
    }
    if (d != dimensions)
        throw Error("stencil offset '" + text + "' has " + std::to_string(d) +
                    " steps, but the process grid has " + std::to_string(dimensions) +
                    " dimensions");
    if (offset.step == Coords{})
        throw Error("stencil offset '" + text + "' leads to the point itself: leave it out");
    return offset;
}

int dimensions_moved(const Coords& step) {
    return static_cast<int>(std::ranges::count_if(step, [](int s) { return s != 0; }));
}

}  // namespace

int Stencil::reach(int dimension) const {
    int reach = 0;
    for (const auto& offset : offsets) reach = std::max(reach, std::abs(offset.step[dimension]));
    return reach;
}

void check_bytes(const ProcessGrid& grid, const Stencil& stencil) {
    if (stencil.offsets.size() > most_offsets)
        throw Error("the stencil has " + std::to_string(stencil.offsets.size()) +
                    " offsets: placement takes at most " + std::to_string(most_offsets));
    std::int64_t bytes = 0;
    for (const auto& offset : stencil.offsets) {
        for (const int step : offset.step)
            if (step < -most_step || step > most_step)
                throw Error("a stencil offset has a step of " + std::to_string(step) +
                            ": steps are from -" + std::to_string(most_step) + " to " +
                            std::to_string(most_step));
        if (offset.bytes < 0)
            throw Error("a stencil offset carries " + std::to_string(offset.bytes) +
                        " bytes: give 0 or more");
        bytes = checked_sum(bytes, offset.bytes, "the number of bytes that a grid point sends");
    }
    // Twice: where a box spans a periodic dimension, a cut counts the edges over both of its sides.
    checked_product({bytes, grid.size(), 2}, "the number of bytes that all grid points send");
}

Stencil full(int dimensions) {
    Stencil stencil;
    int points = 1;
    for (int d = 0; d < dimensions; ++d) points *= 3;
    for (int code = 0; code < points; ++code) {
        Offset offset;
        for (int d = dimensions - 1, rest = code; d >= 0; --d, rest /= 3)
            offset.step[d] = rest % 3 - 1;
        if (offset.step != Coords{}) stencil.offsets.push_back(offset);
    }
    return stencil;
}

Stencil faces(int dimensions) {
    Stencil stencil = full(dimensions);
    std::erase_if(stencil.offsets,
                  [](const Offset& offset) { return dimensions_moved(offset.step) > 1; });
    return stencil;
}

Stencil parse_offsets(const std::string& text, int dimensions) {
    Stencil stencil;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ';');)
        if (item.find_first_not_of(' ') != std::string::npos)
            stencil.offsets.push_back(parse_offset(item, dimensions, text));
    if (stencil.offsets.empty())
        throw Error("stencil has no offset: give at least one, such as '1,0;-1,0'");
    return stencil;
}

Stencil with_halo_bytes(Stencil stencil, const std::vector<std::int64_t>& local_extent, int halo,
                        int bytes_per_cell) {
    if (halo < 1 || bytes_per_cell < 1)
        throw Error("halo width " + std::to_string(halo) + " with " +
                    std::to_string(bytes_per_cell) +
                    " bytes per cell moves nothing: both must be at least 1");
    if (local_extent.empty() || local_extent.size() > max_dimensions ||
        std::ranges::min(local_extent) < 1)
        throw Error(
            "the cells of one rank need an extent of at least 1 in each of 1 to 4 dimensions");
    for (auto& offset : stencil.offsets) {
        offset.bytes = bytes_per_cell;
        for (std::size_t d = 0; d < local_extent.size(); ++d)
            offset.bytes = checked_product(
                {offset.bytes, offset.step[d] == 0 ? local_extent[d]
                                                   : std::min<std::int64_t>(halo, local_extent[d])},
                "the number of halo bytes of a rank");
    }
    stencil.extent = local_extent, stencil.halo = halo, stencil.bytes_per_cell = bytes_per_cell;
    return stencil;
}

}  // namespace parhelion::placement
