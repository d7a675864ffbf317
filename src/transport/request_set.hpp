#pragma once

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/lost_rank.hpp"
#include "parhelion/core/mpi_lifetime.hpp"

namespace parhelion {

/// One request per rank added. The destructor waits up to 1 s for those of a failed exchange: MPI
/// may still access their memory.
class RequestSet {
 public:
  enum class Kind { sends, receives };
  explicit RequestSet(Kind kind) : kind_(kind) {}
  RequestSet(const RequestSet&) = delete;
  RequestSet& operator=(const RequestSet&) = delete;
  ~RequestSet() {
    if (mpi_has_ended()) return;
    settle();
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

  void add(int rank) {
    ranks_.push_back(rank);
    statuses_.emplace_back();
    requests_.push_back(MPI_REQUEST_NULL);
  }
  MPI_Request& operator[](int i) { return requests_[i]; }
  int size() const { return requests_.size(); }
  int rank(int i) const { return ranks_[i]; }

  /// A newly completed request, or −1.
  int test_any() {
    int index = MPI_UNDEFINED, flag = 0;
    if (const int code = MPI_Testany(size(), requests_.data(), &index, &flag, MPI_STATUS_IGNORE);
        code != MPI_SUCCESS)
      failed(code, index, "MPI_Testany");
    return flag && index != MPI_UNDEFINED ? index : -1;
  }
  bool test_all() {
    if (size() == 0) return true;
    int flag = 0;
    if (int code = MPI_Testall(size(), requests_.data(), &flag, statuses_.data());
        code != MPI_SUCCESS) {
      const int index = failed_of_all(code);
      failed(code, index, "MPI_Testall");
    }
    return flag != 0;
  }

  /// Whether MPI has released all memory; false after MPI_Finalize. Cancels pending receives; sends
  /// cannot be.
  bool settle() {
    constexpr double patience_s = 1;
    if (requests_.empty()) return true;
    if (mpi_has_ended()) return false;
    if (all_over()) return true;
    if (given_up_) return false;  // wait only once
    if (kind_ == Kind::receives)
      for (MPI_Request& request : requests_)
        if (request != MPI_REQUEST_NULL && !is_over(request)) {
          MPI_Cancel(&request);
          cancelled_ = true;
        }
    for (const double start = MPI_Wtime(); !all_over();)
      if (MPI_Wtime() - start > patience_s) {
        given_up_ = true;
        return false;
      }
    return true;
  }
  /// Whether a receive was cancelled: its message may stay unreceived.
  bool cancelled() const { return cancelled_; }

 private:
  // Throws for the failed request; tests each if MPI does not name it.
  void failed(int code, int index, const char* call) {
    for (int i = 0; (index < 0 || index >= size()) && i < size(); ++i) {
      int flag = 0;
      const int one = MPI_Test(&requests_[i], &flag, MPI_STATUS_IGNORE);
      if (one != MPI_SUCCESS) code = one, index = i;
    }
    if (index < 0 || index >= size()) check_mpi(code, call);
    check_reached(code, ranks_[index], call);
  }
  // MPI_Testall has completed failed requests: further tests do not find them.
  int failed_of_all(int& code) const {
    int kind = MPI_SUCCESS;
    MPI_Error_class(code, &kind);
    for (int i = 0; kind == MPI_ERR_IN_STATUS && i < size(); ++i)
      if (const int one = statuses_[i].MPI_ERROR; one != MPI_SUCCESS && one != MPI_ERR_PENDING)
        return code = one, i;
    return MPI_UNDEFINED;
  }
  // Errors count as completion: the neighbor is gone.
  static bool is_over(MPI_Request& request) {
    int over = 1;
    return request == MPI_REQUEST_NULL ||
           MPI_Test(&request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS || over != 0;
  }
  bool all_over() {
    return std::ranges::count_if(requests_, is_over) ==
           static_cast<std::ptrdiff_t>(requests_.size());
  }

  Kind kind_;
  bool given_up_ = false, cancelled_ = false;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> ranks_;
};

}  // namespace parhelion
