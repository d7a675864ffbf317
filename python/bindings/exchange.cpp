#include "parhelion/exchange/exchange.hpp"

#include "python_exchange.hpp"

namespace parhelion::python {
namespace {

void set_layers(Field& field, GivenSides halo, GivenSides array_halo, IntList stagger,
    bool owns_ends, int sign, int vector, int along) {
  field.halo = halo_from(halo);
  field.array_halo = halo_from(array_halo);
  field.stagger = stagger_from(stagger);
  field.boundary = owns_ends ? Boundary::owned : Boundary::open;
  field.sign = static_cast<std::int8_t>(sign);
  field.vector = static_cast<std::int16_t>(vector);
  field.along = static_cast<std::int8_t>(along);
}

void add_block(Field& field, std::uintptr_t first, const std::vector<byte_count>& strides,
    byte_count component_stride) {
  BlockView block;
  block.first = reinterpret_cast<std::byte*>(first);
  block.component_stride = component_stride;
  std::copy_n(strides.begin(), std::min<std::size_t>(strides.size(), max_dimensions),
      block.strides.begin());
  field.blocks.push_back(block);
}

void bind_field(nb::module_& module) {
#define PARHELION_TEXT(name, ...) #name,
  module.attr("elements") =
      nb::tuple(nb::cast(std::vector<std::string>{PHL_SCALARS(PARHELION_TEXT)}));
#undef PARHELION_TEXT
  nb::class_<Field>(module, "Field", "Where the values of one field lie. Keeps nothing alive.")
      .def(
          "__init__",
          [](Field* self, const std::string& element, int components, bool indexed,
              bool on_device) {
            const Element kind = parse_element(element);
            new (self) Field{kind, components, kind.size, HaloWidth(0), indexed, {},
                on_device ? MemorySpace::device : MemorySpace::host};
          },
          "element"_a, "components"_a, "indexed"_a, "on_device"_a)
      .def("set_layers", &set_layers, "halo"_a, "array_halo"_a, "stagger"_a, "owns_ends"_a,
          "sign"_a, "vector"_a, "along"_a)
      .def("add_block", &add_block, "first"_a, "strides"_a, "component_stride"_a)
      .def("__str__", [](const Field& field) { return to_string(field); });
}

// NumPy's array interface of a DLPack tensor, whose values are not accessed.
nb::dict device_array(const nb::ndarray<>& tensor) {
  nb::list shape, strides;
  const auto bytes = static_cast<std::int64_t>(tensor.itemsize());
  for (std::size_t d = 0; d < tensor.ndim(); ++d) {
    shape.append(tensor.shape(d));
    strides.append(tensor.stride(d) * bytes);
  }
  constexpr std::string_view kinds = "iufVVcb";  // by DLDataTypeCode
  const auto code = static_cast<std::size_t>(tensor.dtype().code);
  nb::dict told;
  told["shape"] = nb::tuple(shape);
  told["strides"] = nb::tuple(strides);
  told["typestr"] =
      std::string("<") + (code < kinds.size() ? kinds[code] : 'V') + std::to_string(bytes);
  told["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(tensor.data()), false);
  return told;
}

std::uintptr_t address_of(nb::handle stream) {
  const nb::object told = nb::hasattr(stream, "__cuda_stream__")
                              ? nb::object(stream.attr("__cuda_stream__")()[1])
                              : nb::borrow(stream);
  std::uintptr_t address = 0;
  if (!nb::try_cast(told, address))
    throw Error(
        "a stream is its address, or an object with __cuda_stream__: pass stream.ptr (CuPy), "
        "stream.cuda_stream (PyTorch), or None",
        ErrorKind::type);
  return address;
}

// The stream of an array's pending work.
std::shared_ptr<Queue> queue_of_array(std::uintptr_t stream, std::uintptr_t array) {
  auto queue = queue_of_stream(reinterpret_cast<void*>(stream), reinterpret_cast<void*>(array));
  if (const std::string why = queue->refusal(); !why.empty()) throw Error(why);
  return queue;
}

void await_stream(std::uintptr_t stream, std::uintptr_t array) {
  const nb::gil_scoped_release released;
  queue_of_array(stream, array)->wait();
}

std::string text(const Py_ssize_t* values, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return "(" + all + (count == 1 ? ",)" : ")");
}

[[noreturn]] void refuse(
    const std::string& array, const std::string& has, const std::string& made_for) {
  throw Error(array + " has " + has + " and the exchange was made for " + made_for +
              ": pass arrays like those that it was made with, or make another one, on every rank");
}

// Compares a call's arrays with the constructor's: a few hundred nanoseconds each, without
// allocation for arrays with a buffer, such as NumPy's.
class CallArrays {
 public:
  // `entries`: per field, its arrays, each with [(native array number, byte offset to its first
  // owned cell), …]. `as_array` converts other objects to NumPy arrays.
  CallArrays(const nb::list& entries, nb::object as_array) : as_array_(std::move(as_array)) {
    for (nb::handle entry : entries) {
      auto& arrays = entries_.emplace_back();
      for (nb::handle each : nb::cast<nb::list>(entry)) {
        arrays.push_back(read(each[0]));
        arrays.back().places = nb::cast<std::vector<std::pair<std::size_t, Py_ssize_t>>>(each[1]);
        for (const auto& [number, offset] : arrays.back().places)
          places_.resize(std::max(places_.size(), number + 1));
      }
    }
  }

  // Addresses of all native arrays, valid until the next call.
  const std::vector<std::byte*>& places(const nb::args& given) {
    if (given.size() != entries_.size())
      throw Error(std::to_string(given.size()) +
                  " arrays were passed and the exchange was made for " +
                  std::to_string(entries_.size()) +
                  ": pass one for each, in that order, or none for those that it was made with");
    if (made_.size() > 0) made_ = nb::list();  // the previous call's may be under way
    streams_.clear();
    for (std::size_t i = 0; i < entries_.size(); ++i) take_entry(i, given[i]);
    return places_;
  }
  // Orders the queue of stream `own` after the arrays' streams.
  void order(Queue& queue, std::uintptr_t own) const {
    if (!queue.refusal().empty()) return;  // the call throws
    for (const auto& [stream, array] : streams_)
      if (stream != own) queue.follow(*queue_of_array(stream, array));
  }
  // Converted arrays and list items; the caller must keep them while in use.
  const nb::list& made() const { return made_; }

 private:
  // At construction.
  struct Made {
    std::string format;
    std::vector<Py_ssize_t> shape, strides;
    std::vector<std::pair<std::size_t, Py_ssize_t>> places;
  };
  static Made read(nb::handle array) {
    const Buffer buffer(array);
    if (!buffer) throw Error("an array of the exchange shows no memory", ErrorKind::type);
    const int n = buffer->ndim;
    return {buffer.format(), {buffer->shape, buffer->shape + n},
        {buffer->strides, buffer->strides + n}, {}};
  }

  // One array, a list or tuple of them, or an object with `arrays` and `halo`.
  void take_entry(std::size_t i, nb::handle given) {
    const auto& entry = entries_[i];
    const std::string name = "array " + std::to_string(i);
    const bool several = PyTuple_Check(given.ptr()) || PyList_Check(given.ptr());
    if (!several && nb::hasattr(given, "arrays") && nb::hasattr(given, "halo"))
      return take_entry(i, nb::object(given.attr("arrays")));
    if (!several && entry.size() != 1) refuse(name, "one part", std::to_string(entry.size()));
    if (!several) return take(name, entry.front(), given);
    if (nb::len(given) != entry.size())
      refuse(name, std::to_string(nb::len(given)) + " parts", std::to_string(entry.size()));
    for (std::size_t part = 0; part < entry.size(); ++part) {
      const nb::object array = given[part];
      made_.append(array);  // the list may drop it
      take(name + (entry.size() > 1 ? ", part " + std::to_string(part) : ""), entry[part], array);
    }
  }

  void take(const std::string& name, const Made& made, nb::handle array) {
    const std::size_t before = made_.size();
    const Buffer buffer(array, name, as_array_, made_);
    if (made_.size() > before && buffer->len > 0)
      if (const nb::object told = nb::getattr(made_[before], "stream", nb::none()); !told.is_none())
        streams_.emplace_back(
            nb::cast<std::uintptr_t>(told), reinterpret_cast<std::uintptr_t>(buffer.start()));
    const auto n = static_cast<std::size_t>(buffer->ndim);
    if (!equal_format(buffer.format(), made.format))
      refuse(
          name, std::string("elements of type '") + buffer.format() + "'", "'" + made.format + "'");
    if (n != made.shape.size() || !std::equal(made.shape.begin(), made.shape.end(), buffer->shape))
      refuse(name, "shape " + text(buffer->shape, n), text(made.shape.data(), made.shape.size()));
    bool empty = false, equal = true;
    for (std::size_t d = 0; d < n; ++d) {
      empty = empty || buffer->shape[d] == 0;
      equal = equal && (buffer->shape[d] <= 1 || buffer->strides[d] == made.strides[d]);
    }
    if (!empty && !equal)
      refuse(name, "strides " + text(buffer->strides, n),
          text(made.strides.data(), made.strides.size()));
    for (const auto& [number, offset] : made.places) places_[number] = buffer.start() + offset;
  }

  std::vector<std::vector<Made>> entries_;
  nb::object as_array_;
  nb::list made_;
  std::vector<std::byte*> places_;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> streams_;  // and their arrays
};

class PythonExchange final : public PythonExchangeOf<Exchange> {
 public:
  using PythonGroup = std::pair<std::variant<Pattern, CartesianDomain>, std::vector<Field>>;

  PythonExchange(std::vector<PythonGroup> given, const ExchangeOptions& options, nb::object arrays,
      const nb::list& call_arrays, nb::object as_array)
      : PythonExchangeOf(std::move(arrays)), call_arrays_(call_arrays, std::move(as_array)) {
    const nb::gil_scoped_release released;
    std::vector<Group> groups;
    for (auto& [source, fields] : given)
      groups.push_back(std::visit(
          [&](auto& each) { return Group(std::move(each), std::move(fields)); }, source));
    make(std::move(groups), options);
  }
  // A subset.
  PythonExchange(const PythonExchange& whole, IntList fields, GivenSides depth, Neighbors neighbors,
      nb::object arrays, const nb::list& call_arrays, nb::object as_array)
      : PythonExchangeOf(std::move(arrays), whole.guard_),
        call_arrays_(call_arrays, std::move(as_array)) {
    Only only{.fields = fields, .neighbors = neighbors};
    if (!depth.empty()) {
      only.depth = halo_from(depth);
      only.depth.listed = static_cast<int>(depth.size());
    }
    make(whole.exchange_->only(only));
  }
  void prepare() {
    guarded([&] { exchange_->prepare(); });
  }
  void retune(const nb::args& arrays) {
    with(arrays, [&](const ArrayList& list) { exchange_->retune(list); });
  }
  void check(const nb::args& arrays) {
    with(arrays, [&](const ArrayList& list) { exchange_->check(list); });
  }
  void run(const nb::args& arrays, nb::handle stream) {
    const Call call = enter(arrays, stream);
    released([&] {
      exchange_->run_with(Direction::forward, Reduction::replace, call.arrays, call.queue.get());
    });
  }
  void run_many(long times) {
    guarded([&] {
      for (long i = 0; i < times; ++i) (*exchange_)();
    });
  }
  void reverse(AnyReduction reduction, const nb::args& arrays, nb::handle stream) {
    const Call call = enter(arrays, stream);
    combine(reduction, [&](Reduction how) {
      exchange_->run_with(Direction::reverse, how, call.arrays, call.queue.get());
    });
  }
  void begin(const nb::args& arrays, nb::handle stream) {
    begin_with(Direction::forward, {}, arrays, stream);
  }
  void begin_reverse(AnyReduction reduction, const nb::args& arrays, nb::handle stream) {
    begin_with(Direction::reverse, reduction, arrays, stream);
  }
  using Stale =
      std::tuple<int, int, std::vector<global_index>, int, std::string, std::string, std::string>;
  std::pair<std::vector<global_index>, std::vector<Stale>> stale(const nb::args& arrays) {
    StaleGhosts found;
    with(arrays, [&](const ArrayList& list) { found = exchange_->stale(list); });
    std::vector<Stale> first;
    for (const StaleGhost& each : found.first)
      first.emplace_back(
          each.field, each.owner, each.cell, each.component, each.here, each.there, each.text);
    return {std::move(found.count), std::move(first)};
  }

 private:
  void finish() override { queue_ ? exchange_->end(*queue_) : PythonExchangeOf::finish(); }
  // Arrays are valid until the next call; no queue if the stream is None.
  struct Call {
    Guard::Inside inside;
    ArrayList arrays;
    std::shared_ptr<Queue> queue;
  };
  Call enter(const nb::args& arrays, nb::handle stream = nb::none()) {
    return {AnyExchange::enter(),
        arrays.size() == 0 ? ArrayList() : ArrayList(call_arrays_.places(arrays)),
        stream.is_none() ? nullptr : queue_of(stream, arrays)};
  }
  template <class Work>
  void with(const nb::args& arrays, Work&& work) {
    const Call call = enter(arrays);
    released([&] { work(call.arrays); });
  }
  void begin_with(
      Direction direction, nb::handle reduction, const nb::args& arrays, nb::handle stream) {
    Call call = enter(arrays, stream);
    // Keeps the arrays alive until the next begin names others.
    nb::object used;
    if (arrays.size() > 0) used = nb::make_tuple(arrays, call_arrays_.made());
    start(reduction ? PassedReduction(reduction) : PassedReduction(), std::move(used),
        [&](Reduction how) {
          return exchange_->begin_with(direction, how, call.arrays, call.queue.get());
        });
    queue_ = std::move(call.queue);
  }
  std::shared_ptr<Queue> queue_of(nb::handle stream, const nb::args& arrays) const {
    const std::uintptr_t address = address_of(stream);
    auto queue = queue_of_stream(reinterpret_cast<void*>(address));
    if (arrays.size() > 0) call_arrays_.order(*queue, address);
    return queue;
  }
  CallArrays call_arrays_;
  std::shared_ptr<Queue> queue_;  // of the last begin
};

auto sent_by(auto (Plan::*of)(Direction) const) {
  return [of](const PythonExchange& self, const std::string& direction) {
    if (direction != "forward" && direction != "reverse")
      throw Error("unknown direction '" + direction + "': use forward or reverse");
    return (self.exchange().plan().*of)(
        direction == "forward" ? Direction::forward : Direction::reverse);
  };
}

void bind_transport(nb::class_<PythonExchange>& of) {
  of.def_prop_ro("kept_alive", &PythonExchange::arrays,
        nb::sig("def kept_alive(self, /) -> typing.Any"),
        "What it keeps alive: the arrays as passed, and NumPy's views of them.")
      .def_prop_ro(
          "transport", [](const PythonExchange& self) { return self.exchange().transport(); },
          "Name of what moves the data, such as 'mpi' or 'shared+mpi'.")
      .def(
          "explain", [](const PythonExchange& self) { return self.exchange().explain(); },
          "What was chosen for which neighbor and why, in a few lines.")
      .def("bytes_sent", sent_by(&Plan::bytes_sent), "direction"_a = "forward",
          "Bytes that this rank sends to other ranks in one exchange. Local.")
      .def("messages_sent", sent_by(&Plan::messages_sent), "direction"_a = "forward",
          "Messages that this rank sends to other ranks in one exchange. Local.");
}

void bind_options(nb::module_& module) {
#define PARHELION_OPTION(kind, name) .def_rw(#name, &ExchangeOptions::name)
  nb::class_<ExchangeOptions>(module, "ExchangeOptions")
      .def(nb::init<>()) PHL_EXCHANGE_OPTIONS(PARHELION_OPTION);
#undef PARHELION_OPTION
  module.def(
      "setup_limit",
      [](double timeout_s, bool check) {
        ExchangeOptions options;
        options.timeout_s = timeout_s, options.check = check;
        return setup_limit(options);
      },
      "timeout_s"_a, "check"_a);
}

void bind_step(nb::module_& module) {
  traversed<PythonStep>(module, "Step", "An exchange under way, from `begin` to `end`.")
      .def("end", &PythonStep::end,
          "Waits for the neighbors; afterwards the ghosts are filled. Once per step.")
      .def("test", &PythonStep::test,
          "Progresses the exchange without waiting. Whether `end`, which is still required, "
          "will return or raise at once; true for a\n"
          "step that has ended.")
      .def_prop_ro(
          "ended", &PythonStep::ended, "Whether the exchange has ended, here or by `Exchange.end`.")
      .def("__enter__", [](nb::typed<nb::object, PythonStep> self) { return self; })
      .def(
          "__exit__",
          [](const PythonStep& step, nb::args) {
            if (!step.ended()) step.end();
          },
          nb::sig("def __exit__(self, *exception: object) -> None"));
}

std::string names(const std::string& before_last) {
  std::string all;
  for (int kind = 0; kind < Reduction::user; ++kind)
    all += (kind == 0                        ? ""
               : kind + 1 == Reduction::user ? before_last
                                             : ", ") +
           to_string(static_cast<Reduction::Kind>(kind));
  return all;
}

Reduction parse(const std::string& name) {
  for (int kind = 0; kind < Reduction::user; ++kind)
    if (const Reduction one = static_cast<Reduction::Kind>(kind); to_string(one) == name)
      return one;
  throw Error("unknown reduction '" + name + "': use " + names(" or "));
}

void bind_reduction(nb::module_& module) {
  nb::class_<PythonReduction>(module, "Reduction")
      .def(
          "__init__",
          [](PythonReduction* self, const std::string& element, nb::object combine) {
            new (self) PythonReduction{parse_element(element), std::move(combine)};
          },
          "element"_a, "combine"_a);
}

}  // namespace

void PassedReduction::Own::combine(std::byte* into, const std::byte* from, byte_count bytes) const {
  const nb::gil_scoped_acquire locked;
  if (raised_) return;
  try {
    const auto memory = [&](const std::byte* at, int flags) {
      return nb::steal(PyMemoryView_FromMemory(
          reinterpret_cast<char*>(const_cast<std::byte*>(at)), bytes, flags));
    };
    combine_(memory(into, PyBUF_WRITE), memory(from, PyBUF_READ));
  } catch (...) {
    raised_ = std::current_exception();
  }
}

PassedReduction::PassedReduction(nb::handle given) {
  if (nb::isinstance<nb::str>(given)) named_ = parse(nb::cast<std::string>(given));
  else if (nb::isinstance<PythonReduction>(given))
    own_ = std::make_unique<Own>(*nb::inst_ptr<PythonReduction>(given));
  else
    throw Error(
        "a reduction is a name (" + names(", ") + ") or a function of two arrays", ErrorKind::type);
}

void bind_exchange(nb::module_& module) {
  bind_field(module);
  bind_options(module);
  bind_reduction(module);
  bind_step(module);
  module.def("device_array", &device_array, "tensor"_a);
  module.def("await_stream", &await_stream, "stream"_a, "array"_a);
  using Python = PythonExchange;
  auto made = bind_begun<Python>(module, "Exchange");
  made.def(nb::init<std::vector<Python::PythonGroup>, const ExchangeOptions&, nb::object,
               const nb::list&, nb::object>(),
          "groups"_a, "options"_a, "arrays"_a, "call_arrays"_a, "as_array"_a)
      .def(nb::init<const Python&, IntList, GivenSides, Neighbors, nb::object, const nb::list&,
               nb::object>(),
          "whole"_a, "fields"_a, "depth"_a, "neighbors"_a, "arrays"_a, "call_arrays"_a,
          "as_array"_a)
      .def("prepare", &Python::prepare,
          "Collective: sets up a subset as its first use does. Does nothing if that is done.")
      .def("__call__", &Python::run, "arrays"_a, "stream"_a.none() = nb::none(),
          nb::sig("def __call__(self, *arrays: object, stream: object = None) -> None"),
          "Fills every ghost with its owner's value: begin and end.\n\n"
          "`arrays`: others of the same shapes, strides and dtypes as the constructor's, all in "
          "order, group after group; by default\n"
          "the constructor's. Each rank chooses its own, without messages. Another layout is a "
          "ValueError or TypeError on this rank;\n"
          "then nothing has begun.\n\n"
          "`stream`: a CUDA stream, an object with `__cuda_stream__` or an address: the exchange "
          "follows the work on it, and later work\n"
          "sees the ghosts. None: synchronizes the device before and after.")
      .def("run_many", &Python::run_many, "times"_a,
          "Exchanges without Python in between, to measure what Python costs.")
      .def("begin", giving_step(&Python::begin), "arrays"_a, "stream"_a.none() = nb::none(),
          nb::sig("def begin(self, *arrays: object, stream: object = None) -> Step"),
          "Starts a call, and returns while messages travel. It ends on the `stream` on which "
          "it began.\n\n"
          "Until the step ends, owned cells must not be written and ghosts not accessed.\n\n"
          "    with exchange.begin():\n"
          "        update_interior(u)")
      .def("retune", &Python::retune, "arrays"_a,
          nb::sig("def retune(self, *arrays: object) -> None"),
          "Collective: `auto` benchmarks and chooses the transport again; a transport chosen by "
          "name stays.\n\n"
          "`arrays` as in a call; their ghosts keep their values. The next use of each subset is "
          "collective. ValueError while the exchange\n"
          "or a subset is under way, and for a subset.")
      .def("_stale", &Python::stale, "arrays"_a,
          nb::sig("def _stale(self, *arrays: object) -> tuple[list[int], list[tuple[int, int, "
                  "list[int], int, str, str, str]]]"))
      .def("check", &Python::check, "arrays"_a, nb::sig("def check(self, *arrays: object) -> None"),
          "Collective. ValueError on every rank if any rank has stale ghosts, with the first one "
          "(see `stale`). `arrays` as in a call.")
      .def("reverse", &Python::reverse, "reduction"_a = "sum", "arrays"_a,
          "stream"_a.none() = nb::none(),
          nb::sig("def reverse(self, reduction: str | Reduction = 'sum', *arrays: object, "
                  "stream: object = None) -> None"),
          "Combines every ghost's value into its owner's: sum (the adjoint of the exchange), "
          "prod, min, max, replace, bit_and, bit_or,\n"
          "or a Reduction.\n\n"
          "The order is fixed, so that floating-point sums repeat bit for bit. Ghosts keep "
          "their values, except with the\n"
          "staged algorithm. TypeError for elements that cannot be combined so.\n\n"
          "    exchange.reverse(\"sum\", force)        # arrays as in a call")
      .def("begin_reverse", giving_step(&Python::begin_reverse), "reduction"_a = "sum", "arrays"_a,
          "stream"_a.none() = nb::none(),
          nb::sig("def begin_reverse(self, reduction: str | Reduction = 'sum', *arrays: object, "
                  "stream: object = None) -> Step"),
          "Starts `reverse`. Until the step ends, owned cells that others hold as ghosts must "
          "not be accessed and ghosts not written.");
  bind_transport(made);
}

}  // namespace parhelion::python
