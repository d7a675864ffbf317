// The traits of transports determine the candidates: these have names unknown to the library.
#include <algorithm>

#include "exchange/selection.hpp"
#include "parhelion/core/error.hpp"
#include "support/cases.hpp"

using namespace parhelion;

namespace {

TransportInfo info(const std::string& name, Scope scope, Traits traits = {}) {
  return {name, "", scope, nullptr, nullptr, std::move(traits)};
}

const std::vector<TransportInfo>& transports_invented() {
  static const std::vector<TransportInfo> all{
      info("mirror", Scope::own_rank),
      info("letter", Scope::anywhere),
      info("choir", Scope::anywhere, {.makes_communicator = true}),
      info("pen", Scope::same_node, {.direct = true, .handicap = 1.05}),
      info("brush", Scope::same_node, {.direct = true, .handicap = 1.1}),
      info("tray", Scope::same_node),
      info("truck", Scope::anywhere, {.between_nodes = true}),
      info("relay", Scope::anywhere, {.between_nodes = true, .passes_on = true}),
  };
  return all;
}

const std::vector<const TransportInfo*>& invented() {
  static const std::vector<const TransportInfo*> all = [] {
    std::vector<const TransportInfo*> places;
    for (const TransportInfo& each : transports_invented()) places.push_back(&each);
    return places;
  }();
  return all;
}

// threads = true: excludes transports that create communicators.
Situation with(bool near, bool far, bool small, bool large, std::vector<std::string> refused = {}) {
  Situation situation{.near = near, .far = far, .small = small, .large = large, .threads = true};
  for (const TransportInfo* each : invented())
    situation.refused.push_back(
        std::find(refused.begin(), refused.end(), each->name) != refused.end());
  return situation;
}

Situation with_one_thread(Situation situation) {
  situation.threads = false;
  return situation;
}

Situation in_stages(Situation situation, bool far) {
  situation.at_once = situation.by_dimension = true;
  situation.far_by_dimension = far;
  return situation;
}

// "NAME<N": only if candidate N is near the fastest; "!": handicap; "*": only for long exchanges.
std::string names(const Situation& situation, const std::string& list = "") {
  std::string text;
  for (const Candidate& each :
      candidates(invented(), situation, parse_auto_list(list, invented()))) {
    text += (text.empty() ? "" : " ") + each.choice.name();
    if (each.after >= 0) text += "<" + std::to_string(each.after);
    if (each.choice.handicap() > 1) text += "!";
    if (each.least_s > 0) text += "*";
  }
  return text;
}

}  // namespace

CASE(
    "inside a node direct and packed transports are tried, those for small pieces first where "
    "there are some") {
  EXPECT_EQ(names(with(true, false, false, true)), "pen! tray letter");
  EXPECT_EQ(names(with(true, false, true, false)), "tray pen! letter");
  EXPECT_EQ(names(with(true, false, true, true)), "pen|tray! tray pen! letter");
}

CASE("of the direct ones the first that takes the arrays is tried") {
  EXPECT_EQ(names(with(true, false, false, true, {"pen"})), "brush! tray letter");
  EXPECT_EQ(names(with(true, false, true, true, {"pen", "brush"})), "tray letter");
}

CASE(
    "between nodes networks are tried, behind the best transport inside the node where both "
    "occur") {
  EXPECT_EQ(names(with(false, true, false, false)), "letter truck");
  EXPECT_EQ(names(with(true, true, false, true)),
      "pen+letter! tray+letter pen+truck<0! tray+truck<1 letter");
  EXPECT_EQ(names(with(false, true, false, false, {"truck"})), "letter");
}

CASE("without neighbors nothing is set up that moves messages") {
  EXPECT_EQ(names(with(false, false, false, false)), "mirror");
}

CASE(
    "what makes a communicator is tried where exchanges take long, the first network comes near "
    "the fastest, and MPI serves one thread") {
  EXPECT_EQ(names(with_one_thread(with(true, false, false, true))), "pen! tray letter choir<2*");
  EXPECT_EQ(names(with_one_thread(with(false, true, false, false))), "letter choir<0* truck");
  EXPECT_EQ(names(with_one_thread(with(true, true, false, true)), "-pen,-brush,-truck"),
      "tray+letter tray+choir<0* letter choir<2*");
  EXPECT_EQ(names(with_one_thread(with(true, false, false, true)), "-letter"), "pen! tray choir*");
  EXPECT_EQ(names(with(true, false, false, true), "+choir"), "pen! tray letter choir");
}

CASE("users add and leave out transports") {
  EXPECT_EQ(names(with(true, false, false, true), "+truck,-pen"), "brush! tray letter truck");
  EXPECT_EQ(names(with(true, false, true, true), "+brush"),
      "pen|tray! brush|tray! tray pen! brush! letter");
  EXPECT_EQ(names(with(true, false, false, true), "-letter,-pen,-brush,-tray"), "");
}

CASE(
    "each is tried dimension by dimension, too, where it comes near the fastest and the program "
    "promises to call at once") {
  const Situation inside = in_stages(with(true, false, false, true), false);
  EXPECT_EQ(names(inside),
      "pen! tray by_dimension:pen<0! by_dimension:tray<1 letter by_dimension:letter<4");
  EXPECT_EQ(names(inside, "-by_dimension"), names(with(true, false, false, true)));
  Situation no_promise = inside;
  no_promise.at_once = false;
  EXPECT_EQ(names(no_promise), names(with(true, false, false, true)));
  const Situation across = in_stages(with(false, true, false, false), true);
  EXPECT_EQ(names(across),
      "letter by_dimension:letter<0 far_by_dimension:letter<0 truck by_dimension:truck<3 "
      "far_by_dimension:truck<3");
  EXPECT_EQ(names(across, "-far_by_dimension"),
      "letter by_dimension:letter<0 truck by_dimension:truck<2");
  EXPECT_EQ(names(in_stages(with(true, true, false, true), false), "-pen,-brush,-relay"),
      "tray+letter by_dimension:tray+letter<0 tray+truck<0 by_dimension:tray+truck<2 "
      "letter by_dimension:letter<4");
}

CASE(
    "ranks pass on what belongs to others where the program calls at once and nodes have several "
    "ranks, but not by dimension") {
  Situation situation = in_stages(with(true, true, false, true), false);
  EXPECT_EQ(names(situation, "-pen,-brush,-truck"),
      "tray+letter by_dimension:tray+letter<0 tray+relay<0 letter by_dimension:letter<3");
  const std::string without = names(situation, "-pen,-brush,-truck,-relay");
  EXPECT_EQ(without, "tray+letter by_dimension:tray+letter<0 letter by_dimension:letter<2");
  situation.at_once = false;
  EXPECT_EQ(names(situation, "-pen,-brush,-truck"), "tray+letter letter");
  situation.at_once = true, situation.near = false;
  EXPECT_EQ(names(situation, "-pen,-brush,-truck"), "letter by_dimension:letter<0");
}

CASE("what is wrong in a list is said") {
  const auto refuse = [](const std::string& list, const char* text) {
    CAPTURE(list);
    EXPECT_ERROR(Error, text, parse_auto_list(list, invented()));
  };
  refuse("+wheel",
      "no transport 'wheel': use some of mirror, letter, choir, pen, brush, tray, truck, "
      "relay, by_dimension, far_by_dimension");
  refuse("pen", "has no sign");
  refuse("+pen,,-tray", "has no sign");
  refuse("+pen,-pen", "both");
  refuse("+by_dimension", "option at_once");
}

CASE("a choice is what its name says, and the other way round") {
  for (const char* name : {"mpi", "shared", "shared+mpi", "shared|staged_shared+mpi",
           "by_dimension:mpi", "far_by_dimension:shared+mpi"})
    EXPECT_EQ(parse_choice(name).name(), name);
  EXPECT_EQ(parse_choice("mpi+mpi").name(), "mpi");
  EXPECT_TRUE(parse_choice("shared|staged_shared+mpi") == parse_choice("shared|staged_shared+mpi"));
  EXPECT_FALSE(parse_choice("by_dimension:mpi") == parse_choice("mpi"));
  EXPECT_ERROR(Error, "by_dimension:, far_by_dimension:", parse_choice("staged:mpi"));
  EXPECT_ERROR(Error, "as in mpi+mpi", parse_choice("mpi+shared"));
}
