#include <map>
#include <system_error>

#include "core/concat.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "plan/copy_team.hpp"

namespace parhelion {
namespace {

constexpr int most_members = 1024;

std::shared_ptr<CopyTeam> start_team(int size) {
  try {
    return {new CopyTeam(size), [](CopyTeam* team) {
              if (!is_forked_child()) delete team;  // its threads are the parent's
            }};
  } catch (const std::system_error& refusal) {
    throw Error(concat("cannot start ", size, " threads for copying (", refusal.what(),
                    "): ask for fewer (PARHELION_THREADS), or raise the limit of processes "
                    "(ulimit -u)"),
        ErrorKind::system);
  }
}

}  // namespace

std::shared_ptr<CopyTeam> copy_team(int size) {
  static std::mutex mutex;
  static auto& teams = *new std::map<int, std::weak_ptr<CopyTeam>>;  // used during exit
  if (size < 1 || size > most_members)
    refuse("cannot copy by ", size, " threads: use 1 to ", most_members);
  if (size == 1) return nullptr;
  const std::lock_guard lock(mutex);
  std::shared_ptr<CopyTeam> team = teams[size].lock();
  if (!team) teams[size] = team = start_team(size);
  return team;
}

}  // namespace parhelion
