// What an object of Python shows of its memory.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace parhelion::python {

/// False where it shows none that can be written.
class Buffer {
public:
    explicit Buffer(nanobind::handle object)
        : there_(PyObject_GetBuffer(object.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE) == 0) {
        if (!there_) PyErr_Clear();
    }
    ~Buffer() {
        if (there_) PyBuffer_Release(&view_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    explicit operator bool() const { return there_; }
    const Py_buffer* operator->() const { return &view_; }
    const Py_buffer& operator*() const { return view_; }

private:
    Py_buffer view_{};
    bool there_;
};

inline const char* format_of(const Py_buffer& buffer) { return buffer.format != nullptr ? buffer.format : "B"; }

/// The 64-bit integers of C have two names.
inline bool equal_format(std::string_view a, std::string_view b) {
    const auto plain = [](char c) { return c == 'q' ? 'l' : c == 'Q' ? 'L' : c; };
    return a == b || (a.size() == 1 && b.size() == 1 && plain(a[0]) == plain(b[0]));
}

}  // namespace parhelion::python
