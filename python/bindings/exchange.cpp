#include "python_exchange.hpp"

namespace parhelion::python {
namespace {

// Per block, the first owned cell, the strides, and that of components.
using Blocks = std::vector<std::tuple<std::uintptr_t, decltype(BlockView::strides), byte_count>>;
// Depth, halo of the array, stagger, whether ends are owned, sign, vector, along.
using Layers =
    std::tuple<HaloWidth, HaloWidth, Stagger, bool, std::int8_t, std::int16_t, std::int8_t>;

// Keeps nothing alive. Without layers, the field is of an index map.
Field make_field(const std::string& element, int components, bool on_device, const Blocks& blocks,
    const std::optional<Layers>& layers) {
  Field field;
  field.element = parse_element(element);
  field.components = components;
  field.component_stride = field.element.size;
  field.indexed = !layers;
  field.space = on_device ? MemorySpace::device : MemorySpace::host;
  for (const auto& [first, strides, apart] : blocks)
    field.blocks.push_back({reinterpret_cast<std::byte*>(first), strides, apart});
  if (layers) {
    bool owned = false;
    std::tie(field.halo, field.array_halo, field.stagger, owned, field.sign, field.vector,
        field.along) = *layers;
    field.boundary = owned ? Boundary::owned : Boundary::open;
  }
  return field;
}

// Shape, strides, type and address for NumPy's array interface of a DLPack tensor.
auto device_array(const nb::ndarray<>& tensor) {
  const auto bytes = static_cast<std::int64_t>(tensor.itemsize());
  std::vector<std::int64_t> shape, strides;
  for (std::size_t d = 0; d < tensor.ndim(); ++d) {
    shape.push_back(tensor.shape_ptr()[d]);
    strides.push_back(tensor.stride(d) * bytes);
  }
  constexpr std::string_view kinds = "iufVVcb";  // by DLDataTypeCode
  const auto code = static_cast<std::size_t>(tensor.dtype().code);
  return std::tuple(shape, strides,
      std::string("<") + (code < kinds.size() ? kinds[code] : 'V') + std::to_string(bytes),
      reinterpret_cast<std::uintptr_t>(tensor.data()));
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
  return nb::repr(nb::tuple(nb::cast(std::vector(values, values + count)))).c_str();
}

[[noreturn]] void refuse(
    const std::string& array, const std::string& has, const std::string& made_for) {
  throw Error(
      array + " has " + has + ", but the exchange needs " + made_for +
      ": pass arrays of the constructor's layouts, or construct another exchange, on every rank");
}

// Compares a call's arrays with the constructor's: a few hundred nanoseconds each, without
// allocation for arrays with a buffer, such as NumPy's.
class CallArrays {
 public:
  // Per field, its arrays, each with its native arrays: numbers, byte offsets to the first owned
  // cell.
  using Places = std::vector<std::pair<std::size_t, Py_ssize_t>>;
  using Entries = std::vector<std::vector<std::pair<nb::object, Places>>>;
  CallArrays(const Entries& entries, bool on_device) : on_device_(on_device) {
    for (const auto& entry : entries) {
      auto& arrays = entries_.emplace_back();
      for (const auto& [array, places] : entry) {
        const Buffer buffer(array);
        if (!buffer) throw Error("an array of the exchange exposes no memory", ErrorKind::type);
        const int n = buffer->ndim;
        arrays.push_back({buffer.format(), {buffer->shape, buffer->shape + n},
            {buffer->strides, buffer->strides + n}, places});
        places_.resize(places_.size() + places.size());
      }
    }
  }

  // Addresses of all native arrays, valid until the next call.
  const std::vector<std::byte*>& places(const nb::args& given) {
    if (given.size() != entries_.size())
      throw Error(std::to_string(given.size()) + " arrays were passed, but the exchange needs " +
                  std::to_string(entries_.size()) + ": pass one for each, in order, or none");
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
    Places places;
  };

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
    const Buffer buffer(array, name, made_, on_device_);
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
  bool on_device_;
  nb::list made_;
  std::vector<std::byte*> places_;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> streams_;  // and their arrays
};

class PythonExchange final : public ExchangeOf<Exchange> {
 public:
  using Groups = std::vector<std::pair<std::variant<Pattern, CartesianDomain>, std::vector<Field>>>;

  PythonExchange(Groups given, const ExchangeOptions& options, nb::object arrays,
      const CallArrays::Entries& call_arrays, bool on_device)
      : ExchangeOf(std::move(arrays), unlocked([&] {
          std::vector<Group> groups;
          for (auto& [source, fields] : given)
            groups.push_back(std::visit(
                [&](auto& each) { return Group(std::move(each), std::move(fields)); }, source));
          return Exchange(std::move(groups), options);
        })),
        call_arrays_(call_arrays, on_device) {}
  // A subset.
  PythonExchange(const PythonExchange& whole, const std::vector<int>& fields,
      const HaloWidth& depth, int neighbors, nb::object arrays,
      const CallArrays::Entries& call_arrays, bool on_device)
      : ExchangeOf(std::move(arrays),
            whole.native().only({fields, depth, static_cast<Neighbors>(neighbors)}), whole.guard_),
        call_arrays_(call_arrays, on_device) {}

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
  void run(
      Direction direction, const PassedReduction& how, const nb::args& arrays, nb::handle stream) {
    const Call call = enter(arrays, stream);
    released([&] { native().run_with(direction, how.reduction(), call.arrays, call.queue.get()); });
    how.rethrow();
  }
  void begin(Direction direction, PassedReduction how, const nb::args& arrays, nb::handle stream) {
    Call call = enter(arrays, stream);
    // Keeps the arrays alive until the next begin names others.
    nb::object used;
    if (arrays.size() > 0) used = nb::make_tuple(arrays, call_arrays_.made());
    start(std::move(how), std::move(used), [&](Reduction reduction) {
      return native().begin_with(direction, reduction, call.arrays, call.queue.get());
    });
    queue_ = std::move(call.queue);
  }

 private:
  void finish() override { queue_ ? native().end(*queue_) : AnyExchange::finish(); }
  std::shared_ptr<Queue> queue_of(nb::handle stream, const nb::args& arrays) const {
    const std::uintptr_t address = address_of(stream);
    auto queue = queue_of_stream(reinterpret_cast<void*>(address));
    if (arrays.size() > 0) call_arrays_.order(*queue, address);
    return queue;
  }
  CallArrays call_arrays_;
  std::shared_ptr<Queue> queue_;  // of the last begin
};

using Python = PythonExchange;

// A call of the native object with arrays.
auto with_arrays(auto call) {
  return [call](Python& self, const nb::args& arrays) {
    const auto entered = self.enter(arrays);
    return self.released([&] { return call(self.native(), entered.arrays); });
  };
}

auto sent_by(auto (Plan::*of)(Direction) const) {
  return [of](const Python& self, const std::string& direction) {
    const bool forward = direction == "forward";
    if (!forward && direction != "reverse")
      throw Error("unknown direction '" + direction + "': use forward or reverse");
    return (self.native().plan().*of)(forward ? Direction::forward : Direction::reverse);
  };
}

void bind_step(nb::module_& module) {
  traversed<PythonStep>(module, "Step", "An exchange under way, from `begin` to `end`.")
      .def("end", &PythonStep::end,
          "Waits for the neighbors; afterwards the ghosts are filled. Once per step.")
      .def("test", &PythonStep::test,
          R"(Progresses the exchange without waiting. Whether `end`, which is still required, will
return or raise at once; true for a step that has ended.)")
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

// The library's reductions.
std::string names(const char* before_last = ", ") {
#define PARHELION_NAME(name, ...) ", " #name
  const std::string all = std::string(PHL_REDUCTIONS(PARHELION_NAME)).substr(2);
#undef PARHELION_NAME
  return std::string(all).replace(all.rfind(", "), 2, before_last);
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
  if (nb::isinstance<PythonReduction>(given)) {
    own_ = std::make_unique<Own>(*nb::inst_ptr<PythonReduction>(given));
    return;
  }
  if (!nb::isinstance<nb::str>(given))
    throw Error(
        "a reduction is a name (" + names() + ") or a function of two arrays", ErrorKind::type);
  const auto name = nb::cast<std::string>(given);
  int kind = 0;
  while (to_string(named_ = static_cast<Reduction::Kind>(kind)) != name)
    if (++kind == Reduction::user)
      throw Error("unknown reduction '" + name + "': use " + names(" or "));
}

void bind_exchange(nb::module_& module) {
#define PARHELION_TEXT(name, ...) #name,
  module.attr("elements") =
      nb::tuple(nb::cast(std::vector<std::string>{PHL_SCALARS(PARHELION_TEXT)}));
#undef PARHELION_TEXT
  nb::class_<Field>(module, "Field").def(nb::new_(&make_field));
#define PARHELION_OPTION(kind, name) .def_rw(#name, &ExchangeOptions::name)
  nb::class_<ExchangeOptions>(module, "ExchangeOptions")
      .def(nb::init<>()) PHL_EXCHANGE_OPTIONS(PARHELION_OPTION);
#undef PARHELION_OPTION
  module.def("setup_limit", &setup_limit);
  nb::class_<PythonReduction>(module, "Reduction").def(nb::init<const std::string&, nb::object>());
  bind_step(module);
  module.def("device_array", &device_array);
  module.def("await_stream", &await_stream);
  bind_begun<Python>(module, "Exchange")
      .def(nb::init<Python::Groups, const ExchangeOptions&, nb::object, const CallArrays::Entries&,
          bool>())
      .def(nb::init<const Python&, const std::vector<int>&, const HaloWidth&, int, nb::object,
          const CallArrays::Entries&, bool>())
      .def(
          "prepare", [](Python& self) { self.guarded([&] { self.native().prepare(); }); },
          "Collective: sets up a subset as its first use does. Does nothing if that is done.")
      .def(
          "__call__",
          [](Python& self, const nb::args& arrays, nb::handle stream) {
            self.run(Direction::forward, {}, arrays, stream);
          },
          "arrays"_a, "stream"_a.none() = nb::none(),
          nb::sig("def __call__(self, *arrays: object, stream: object = None) -> None"),
          R"(Fills every ghost with its owner's value: begin and end.

`arrays`: others of the same shapes, strides and dtypes as the constructor's, all in order, group
after group; by default the constructor's. Each rank chooses its own, without messages. Another
layout is a ValueError or TypeError on this rank; then nothing has begun.

`stream`: a CUDA stream, an object with `__cuda_stream__` or an address: the exchange follows the
work on it, and later work sees the ghosts. None: synchronizes the device before and after.)")
      .def(
          "run_many",
          [](Python& self, long times) {
            self.guarded([&] {
              for (long i = 0; i < times; ++i) self.native()();
            });
          },
          "times"_a, "Exchanges without Python in between, to measure Python's overhead.")
      .def("begin", giving_step(+[](Python& self, const nb::args& arrays, nb::handle stream) {
        self.begin(Direction::forward, {}, arrays, stream);
      }),
          "arrays"_a, "stream"_a.none() = nb::none(),
          nb::sig("def begin(self, *arrays: object, stream: object = None) -> Step"),
          R"(Starts a call, and returns while messages travel. It ends on the `stream` on which it
began.

Until the step ends, owned cells must not be written and ghosts not accessed.

    with exchange.begin():
        update_interior(u))")
      .def("retune",
          with_arrays([](Exchange& self, const ArrayList& arrays) { self.retune(arrays); }),
          "arrays"_a, nb::sig("def retune(self, *arrays: object) -> None"),
          R"(Collective: `auto` benchmarks and chooses the transport again; a transport chosen by
name stays.

`arrays` as in a call; their ghosts keep their values. The next use of each subset is collective.
ValueError while the exchange or a subset is under way, and for a subset.)")
      .def("_stale",
          with_arrays([](Exchange& self, const ArrayList& arrays) { return self.stale(arrays); }))
      .def("check",
          with_arrays([](Exchange& self, const ArrayList& arrays) { self.check(arrays); }),
          "arrays"_a, nb::sig("def check(self, *arrays: object) -> None"),
          R"(Collective. ValueError on every rank if any rank has stale ghosts, with the first one
(see `stale`). `arrays` as in a call.)")
      .def(
          "reverse",
          [](Python& self, AnyReduction reduction, const nb::args& arrays, nb::handle stream) {
            self.run(Direction::reverse, PassedReduction(reduction), arrays, stream);
          },
          "reduction"_a = "sum", "arrays"_a, "stream"_a.none() = nb::none(),
          nb::sig("def reverse(self, reduction: str | Reduction = 'sum', *arrays: object, "
                  "stream: object = None) -> None"),
          R"(Combines every ghost's value into its owner's: sum (the adjoint of the exchange), prod,
min, max, replace, bit_and, bit_or, or a Reduction.

The order is fixed, so that floating-point sums repeat bit for bit. Ghosts keep their values, except
with the algorithm by_dimension. TypeError for elements that cannot be combined so.

    exchange.reverse("sum", force)        # arrays as in a call)")
      .def("begin_reverse",
          giving_step(
              +[](Python& self, AnyReduction reduction, const nb::args& arrays, nb::handle stream) {
                self.begin(Direction::reverse, PassedReduction(reduction), arrays, stream);
              }),
          "reduction"_a = "sum", "arrays"_a, "stream"_a.none() = nb::none(),
          nb::sig("def begin_reverse(self, reduction: str | Reduction = 'sum', *arrays: object, "
                  "stream: object = None) -> Step"),
          R"(Starts `reverse`. Until the step ends, owned cells that others hold as ghosts must not
be accessed and ghosts not written.)")
      .def_prop_ro("kept_alive", &Python::arrays, nb::sig("def kept_alive(self, /) -> typing.Any"),
          "Objects kept alive: the arrays as passed, and NumPy's views of them.")
      .def_prop_ro("transport", telling<Python>(&Exchange::transport),
          "Name of the transport, such as 'mpi' or 'shared+mpi'.")
      .def("explain", telling<Python>(&Exchange::explain),
          "The chosen transport of each neighbor, and why.")
      .def("bytes_sent", sent_by(&Plan::bytes_sent), "direction"_a = "forward",
          "Bytes that this rank sends to other ranks in one exchange. Local.")
      .def("messages_sent", sent_by(&Plan::messages_sent), "direction"_a = "forward",
          "Messages that this rank sends to other ranks in one exchange. Local.");
}

}  // namespace parhelion::python
