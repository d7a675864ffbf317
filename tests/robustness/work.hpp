// An exchange of one field with new values each time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "parhelion/parhelion.hpp"
#include "support/grid_field.hpp"

namespace test {

class Work {
 public:
  Work(const CartesianDomain& domain, const std::string& transport, int number,
      ExchangeOptions options = {})
      : staged_(domain.algorithm() == Algorithm::by_dimension),
        field_(std::make_unique<GridField>(domain,
            GridSpec{{Scalar::int64, 8}, 2, domain.halo(), Layout::c}, number,
            Memory::node_shared)) {
    options.transport = transport;
    exchange_ = std::make_unique<Exchange>(
        build_pattern(domain), std::vector<Field>{field_->view()}, options);
  }

  void prepare(Direction direction, int round) {
    direction_ = direction;
    field_->fill(Values::whole, round);
    if (direction == Direction::forward) return field_->expect_forward();
    field_->fill_ghosts(Reduction::sum);
    field_->expect_reverse(Reduction::sum);
  }
  void begin() {
    if (direction_ == Direction::forward) step_.emplace(exchange_->begin());
    else step_.emplace(exchange_->begin_reverse(Reduction::sum));
  }
  void end() {
    step_->end();
    step_.reset();
  }
  /// Returns "" if every value is correct.
  std::string difference() {
    if (direction_ == Direction::reverse && staged_) field_->accept_ghosts();
    return field_->difference();
  }
  std::string round_trip(Direction direction, int round) {
    prepare(direction, round);
    begin();
    end();
    return difference();
  }
  Exchange& exchange() { return *exchange_; }

 private:
  bool staged_;
  std::unique_ptr<GridField> field_;
  std::unique_ptr<Exchange> exchange_;
  std::optional<Exchange::Step> step_;
  Direction direction_ = Direction::forward;
};

}  // namespace test
