// What an object of Python shows of its memory.
#pragma once

#include <nanobind/nanobind.h>

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

}  // namespace parhelion::python
