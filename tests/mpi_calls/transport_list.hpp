// Transports to test, listed without querying the number of ranks.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "parhelion/transport/transport.hpp"

namespace test {

/// Every usable transport, the combinations shared|NEAR and NEAR+FAR, and auto.
inline std::vector<std::string> every_way() {
  std::vector<std::string> near, far, all;
  for (const parhelion::TransportInfo& info : parhelion::transports()) {
    if (!info.unavailable().empty() || info.scope == parhelion::Scope::own_rank ||
        info.name == "xpmem")
      continue;
    (info.scope == parhelion::Scope::same_node ? near : far).push_back(info.name);
  }
  all.insert(all.end(), near.begin(), near.end());
  all.insert(all.end(), far.begin(), far.end());
  for (const std::string& way : near) {
    all.push_back("shared|" + way);
    for (const std::string& network : far) all.push_back(way + "+" + network);
  }
  all.push_back("auto");
  return all;
}

}  // namespace test
