// Arrays that Python names at a call.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace parhelion::python {

/// Compares the arrays of a call with those that an exchange was made with, and tells where their first owned cells are. A few hundred
/// nanoseconds per array: nothing is allocated where they have a buffer, as NumPy's do.
class CallArrays {
public:
    /// `entries`: for each field that was passed a list of its arrays, each with [(number of the native array, bytes from the array's
    /// start to that one's first owned cell), …]. `as_array` sees any other object as a NumPy array.
    CallArrays(const nanobind::list& entries, nanobind::object as_array);

    /// Addresses for all native arrays, good until the next call. Throws Error for arrays of another shape, strides or element type.
    const std::vector<std::byte*>& places(const nanobind::args& given);
    /// What was made to see the arrays, and those that were in lists; to be kept as long as they are used.
    const nanobind::list& made() const { return made_; }

private:
    // An array as it was when the exchange was made.
    struct Made {
        std::string format;
        std::vector<Py_ssize_t> shape, strides;
        std::vector<std::pair<std::size_t, Py_ssize_t>> places;
    };
    static Made read(nanobind::handle array);
    void take_entry(std::size_t entry, nanobind::handle given);
    void take(const std::string& name, const Made& made, nanobind::handle array);
    void take_buffer(const std::string& name, const Made& made, const Py_buffer& buffer);

    std::vector<std::vector<Made>> entries_;
    nanobind::object as_array_;
    nanobind::list made_;
    std::vector<std::byte*> places_;
};

}  // namespace parhelion::python
