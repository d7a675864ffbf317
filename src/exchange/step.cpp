#include "parhelion/exchange/step.hpp"

#include "core/concat.hpp"

namespace parhelion {

Step::~Step() {
  if (has_ended()) return;
  try {
    operation_->end();
  } catch (...) {  // a destructor cannot report; call end to get the error
  }
}

void Step::end() {
  if (operation_ == nullptr) refuse("this step has ended or was moved from: end a step once");
  if (operation_->number() != number_)
    refuse("this step has ended, and its exchange has begun again: end a step once");
  operation_->end();
  operation_.reset();
}

}  // namespace parhelion
