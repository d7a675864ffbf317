#include "call_arrays.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "buffer.hpp"
#include "parhelion/core/error.hpp"

namespace nb = nanobind;

namespace parhelion::python {
namespace {

std::string text(const Py_ssize_t* values, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += (i == 0 ? "" : ", ") + std::to_string(values[i]);
    return "(" + all + (count == 1 ? ",)" : ")");
}

[[noreturn]] void refuse(const std::string& array, const std::string& has, const std::string& made_for) {
    throw Error(array + " has " + has + " and the exchange was made for " + made_for +
                ": pass arrays like those that it was made with, or make another one, on every rank");
}

}  // namespace

CallArrays::Made CallArrays::read(nb::handle array) {
    const Buffer buffer(array);
    if (!buffer) throw Error("an array of the exchange shows no memory", ErrorKind::type);
    const auto n = static_cast<std::size_t>(buffer->ndim);
    return {format_of(*buffer), {buffer->shape, buffer->shape + n}, {buffer->strides, buffer->strides + n}, {}};
}

CallArrays::CallArrays(const nb::list& entries, nb::object as_array) : as_array_(std::move(as_array)) {
    for (nb::handle entry : entries) {
        auto& arrays = entries_.emplace_back();
        for (nb::handle each : nb::cast<nb::list>(entry)) {
            const auto pair = nb::cast<nb::tuple>(each);
            arrays.push_back(read(pair[0]));
            arrays.back().places = nb::cast<std::vector<std::pair<std::size_t, Py_ssize_t>>>(pair[1]);
            for (const auto& [number, offset] : arrays.back().places) places_.resize(std::max(places_.size(), number + 1));
        }
    }
}

const std::vector<std::byte*>& CallArrays::places(const nb::args& given) {
    if (given.size() != entries_.size())
        throw Error(std::to_string(given.size()) + " arrays were passed and the exchange was made for " + std::to_string(entries_.size()) +
                    ": pass one for each, in that order, or none for those that it was made with");
    if (made_.size() > 0) made_ = nb::list();  // that of the call before may be under way
    for (std::size_t i = 0; i < entries_.size(); ++i) take_entry(i, given[i]);
    return places_;
}

// A field may be one array, several in a list or tuple, or either told with a halo.
void CallArrays::take_entry(std::size_t i, nb::handle given) {
    const auto& entry = entries_[i];
    const std::string name = "array " + std::to_string(i);
    const bool several = PyTuple_Check(given.ptr()) || PyList_Check(given.ptr());
    if (!several && nb::hasattr(given, "arrays") && nb::hasattr(given, "halo")) return take_entry(i, nb::object(given.attr("arrays")));
    if (!several && entry.size() != 1) refuse(name, "one part", std::to_string(entry.size()));
    if (!several) return take(name, entry.front(), given);
    if (nb::len(given) != entry.size()) refuse(name, std::to_string(nb::len(given)) + " parts", std::to_string(entry.size()));
    for (std::size_t part = 0; part < entry.size(); ++part) {
        const nb::object array = given[part];
        made_.append(array);  // the list may lose it
        take(name + (entry.size() > 1 ? ", part " + std::to_string(part) : ""), entry[part], array);
    }
}

void CallArrays::take(const std::string& name, const Made& made, nb::handle array) {
    if (const Buffer buffer(array); buffer) return take_buffer(name, made, *buffer);
    made_.append(as_array_(array, name));
    const Buffer buffer(made_[made_.size() - 1]);
    if (!buffer) throw Error(name + " shows no memory: pass a NumPy array", ErrorKind::type);
    take_buffer(name, made, *buffer);
}

void CallArrays::take_buffer(const std::string& name, const Made& made, const Py_buffer& buffer) {
    const auto n = static_cast<std::size_t>(buffer.ndim);
    const char* const format = format_of(buffer);
    if (!equal_format(format, made.format)) refuse(name, std::string("elements of type '") + format + "'", "'" + made.format + "'");
    if (n != made.shape.size() || !std::equal(made.shape.begin(), made.shape.end(), buffer.shape))
        refuse(name, "shape " + text(buffer.shape, n), text(made.shape.data(), made.shape.size()));
    bool empty = false, equal = true;
    for (std::size_t d = 0; d < n; ++d) {
        empty = empty || buffer.shape[d] == 0;
        equal = equal && (buffer.shape[d] <= 1 || buffer.strides[d] == made.strides[d]);
    }
    if (!empty && !equal) refuse(name, "strides " + text(buffer.strides, n), text(made.strides.data(), made.strides.size()));
    for (const auto& [number, offset] : made.places) places_[number] = static_cast<std::byte*>(buffer.buf) + offset;
}

}  // namespace parhelion::python
