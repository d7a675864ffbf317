// An exchange as Python holds it: with the arrays that it uses, and safe to drop at any time.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parhelion/exchange/exchange.hpp"

namespace parhelion::python {

/// Called with the interpreter's lock, which it gives away while it packs and waits. Only one thread may be inside: the
/// lock makes `busy_` safe, which turns a second one away.
class PythonExchange {
public:
    PythonExchange(const Pattern& pattern, std::vector<Field> fields, const std::string& transport, double timeout_s,
                   nanobind::object arrays);
    PythonExchange(const PythonExchange&) = delete;
    PythonExchange& operator=(const PythonExchange&) = delete;

    /// Messages under way still read and write the arrays: then exchange and arrays stay until the process ends.
    ~PythonExchange();

    void run();
    void reverse(const std::string& reduction);
    void begin();
    void begin_reverse(const std::string& reduction);
    void end();

    bool under_way() const { return exchange_->under_way(); }
    /// Tells the exchanges of one object apart: how many have begun.
    long begun() const { return begun_; }
    const Exchange& exchange() const { return *exchange_; }
    const nanobind::object& arrays() const { return arrays_; }

private:
    class Inside;
    nanobind::object arrays_;
    std::unique_ptr<Exchange> exchange_;
    std::optional<Exchange::Step> step_;
    long begun_ = 0;
    bool busy_ = false;
    bool failed_ = false;
};

/// The name of a reduction as Python spells it. Throws Error naming the choices.
Reduction parse_reduction(const std::string& name);

}  // namespace parhelion::python
