#include "variant.hpp"

#include <algorithm>

namespace parhelion::bench {

namespace {

std::string listed(const std::vector<Entry>& entries) {
  std::string names;
  for (const Entry& entry : entries) names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

class PlantedFault : public Variant {
 public:
  PlantedFault(VariantPointer correct, std::byte* victim)
      : correct_(std::move(correct)), victim_(victim) {}

  void exchange() override {
    correct_->exchange();
    if (victim_) *victim_ ^= std::byte{1};
  }
  Values& values() override { return correct_->values(); }
  Traffic traffic() const override { return correct_->traffic(); }

 private:
  VariantPointer correct_;
  std::byte* victim_;  // null except on the last rank
};

bool is_last_rank(MPI_Comm comm) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  return rank + 1 == size;
}

}  // namespace

Entry planted_fault(MPI_Comm comm, std::function<VariantPointer(SetupTimes&)> correct,
    std::function<std::byte*(Variant&)> victim) {
  return {"planted_fault", "baseline",
      [=](SetupTimes& times) {
        VariantPointer made = correct(times);
        std::byte* byte = is_last_rank(comm) ? victim(*made) : nullptr;
        return std::make_unique<PlantedFault>(std::move(made), byte);
      },
      true};
}

std::vector<Entry> chosen(const std::vector<Entry>& all, const std::vector<std::string>& names) {
  std::vector<Entry> entries;
  if (names.empty()) return chosen(all, {"all"});
  for (const std::string& name : names) {
    if (name == "all") {
      std::copy_if(all.begin(), all.end(), std::back_inserter(entries),
          [](const Entry& e) { return !e.only_by_name; });
      continue;
    }
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Entry& e) { return e.name == name; });
    if (found == all.end())
      throw Error("unknown variant '" + name + "': this build has " + listed(all));
    entries.push_back(*found);
  }
  return entries;
}

}  // namespace parhelion::bench
