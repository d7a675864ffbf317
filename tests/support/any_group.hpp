// Groups of an exchange: domains of either kind with self-checking fields.
#pragma once

#include <memory>
#include <vector>

#include "support/exchanging.hpp"
#include "support/random_domains.hpp"
#include "support/transports.hpp"

namespace test {

class AnyGroup {
 public:
  virtual ~AnyGroup() = default;
  virtual Group group() const = 0;
  virtual void prepare_forward(int round) = 0;
  virtual void prepare_reverse(Values values, Reduction reduction, int round) = 0;
  virtual void check() = 0;
  virtual std::vector<std::byte> copy() const = 0;
};
using AnyGroups = std::vector<std::unique_ptr<AnyGroup>>;

template <class FieldKind>
class GroupOf : public AnyGroup {
 public:
  void prepare_forward(int round) override {
    reverse_ = false;
    for (auto& field : fields_) field.fill(Values::bits, round), field.expect_forward();
  }
  void prepare_reverse(Values values, Reduction reduction, int round) override {
    reverse_ = true;
    for (auto& field : fields_) field.fill(values, round), field.fill_ghosts(reduction);
    for (auto& field : fields_)
      if (values == Values::whole) field.expect_reverse(reduction);
  }
  void check() override {
    for (auto& field : fields_) {
      if constexpr (requires { field.accept_ghosts(); })
        if (reverse_ && staged()) field.accept_ghosts();
      EXPECT_EQ(field.difference(), "");
    }
  }
  std::vector<std::byte> copy() const override {
    std::vector<std::byte> all;
    for (const auto& field : fields_) {
      const auto bytes = field.copy();
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }

 protected:
  virtual bool staged() const { return false; }
  std::vector<FieldKind> fields_;

 private:
  bool reverse_ = false;
};

/// `make(domain)` returns the fields.
class GridGroup final : public GroupOf<GridField> {
 public:
  template <class Make>
  GridGroup(CartesianDomain domain, Make&& make) : domain_(std::move(domain)) {
    fields_ = make(domain_);
  }

 private:
  Group group() const override { return {domain_, views(fields_)}; }
  bool staged() const override { return domain_.algorithm() == Algorithm::by_dimension; }
  CartesianDomain domain_;
};

/// `make(domain, mesh)` returns the fields.
class MeshGroup final : public GroupOf<CellField> {
 public:
  template <class Make>
  MeshGroup(RandomMesh made, Make&& make) : made_(std::move(made)), domain_(made_.domain()) {
    fields_ = make(domain_, made_.mesh);
  }

 private:
  Group group() const override { return {build_pattern(domain_), views(fields_)}; }
  RandomMesh made_;
  IndexedDomain domain_;
};

std::vector<Group> groups_of(const AnyGroups& all);

/// Messages of an exchange of all groups: one per neighbor and stage of any group.
int messages_of_all(const AnyGroups& all);

/// Checks a joint exchange over a transport: ghosts and owners are correct, sums have the same bits
/// as group by group, each neighbor gets one message.
void check_together(AnyGroups& groups, const Route& route);

}  // namespace test
