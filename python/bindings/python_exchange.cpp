#include "python_exchange.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "parhelion/core/error.hpp"

namespace nb = nanobind;

namespace parhelion::python {
namespace {

constexpr std::array<std::pair<std::string_view, Reduction>, 6> reductions{{
    {"sum", Reduction::sum}, {"min", Reduction::min}, {"max", Reduction::max}, {"replace", Reduction::replace},
    {"bit_and", Reduction::bit_and}, {"bit_or", Reduction::bit_or},
}};

}  // namespace

Reduction parse_reduction(const std::string& name) {
    for (const auto& [known, reduction] : reductions)
        if (known == name) return reduction;
    throw Error("unknown reduction '" + name + "': use sum, min, max, replace, bit_and or bit_or");
}

// Marks the exchange as used by this thread and lets other Python threads run meanwhile.
class PythonExchange::Inside {
public:
    explicit Inside(PythonExchange& exchange) : exchange_(exchange) {
        if (exchange.busy_) throw Error("another thread is using this exchange: give each thread an Exchange of its own");
        if (exchange.failed_) throw Error("this exchange has failed before: make a new one", ErrorKind::communication);
        exchange.busy_ = true;
        state_ = PyEval_SaveThread();
    }
    ~Inside() {
        PyEval_RestoreThread(state_);
        exchange_.busy_ = false;
    }
    // A mistake of the caller changes nothing; after any other error, messages may still arrive.
    template <class Function>
    void guard(Function&& function) {
        try {
            function();
        } catch (const Error& error) {
            exchange_.failed_ = error.kind() != ErrorKind::value && error.kind() != ErrorKind::type;
            throw;
        }
    }

private:
    PythonExchange& exchange_;
    PyThreadState* state_;
};

PythonExchange::PythonExchange(const Pattern& pattern, std::vector<Field> fields, const std::string& transport,
                               double timeout_s, nb::object arrays)
    : arrays_(std::move(arrays)) {
    nb::gil_scoped_release unlocked;
    exchange_ = std::make_unique<Exchange>(pattern, std::move(fields), ExchangeOptions{transport, timeout_s});
}

PythonExchange::~PythonExchange() {
    if (!failed_ && (!exchange_ || !exchange_->under_way())) return;
    new std::optional<Exchange::Step>(std::move(step_));
    static_cast<void>(exchange_.release());
    static_cast<void>(arrays_.release());
}

void PythonExchange::run() {
    Inside inside(*this);
    inside.guard([&] { (*exchange_)(); });
}

void PythonExchange::reverse(const std::string& reduction) {
    const Reduction how = parse_reduction(reduction);
    Inside inside(*this);
    inside.guard([&] { exchange_->reverse(how); });
}

void PythonExchange::begin() {
    Inside inside(*this);
    inside.guard([&] { step_.emplace(exchange_->begin()); });
    ++begun_;
}

void PythonExchange::begin_reverse(const std::string& reduction) {
    const Reduction how = parse_reduction(reduction);
    Inside inside(*this);
    inside.guard([&] { step_.emplace(exchange_->begin_reverse(how)); });
    ++begun_;
}

void PythonExchange::end() {
    Inside inside(*this);
    inside.guard([&] { exchange_->end(); });
    step_.reset();
}

}  // namespace parhelion::python
