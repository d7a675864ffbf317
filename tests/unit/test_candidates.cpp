// Which ways are tried follows from what transports say of themselves: these have names that the library does not know.
#include <algorithm>

#include "exchange/candidates.hpp"
#include "parhelion/core/error.hpp"
#include "support/cases.hpp"

using namespace parhelion;

namespace {

TransportInfo info(const std::string& name, Scope scope, Traits traits = {}) {
    return {name, "", scope, nullptr, nullptr, std::move(traits)};
}

const std::vector<TransportInfo>& invented() {
    static const std::vector<TransportInfo> all{
        info("mirror", Scope::own_rank),
        info("parcel", Scope::anywhere, {.akin = "letter"}),
        info("letter", Scope::anywhere),
        info("pen", Scope::same_node, {.straight = true, .handicap = 1.05}),
        info("brush", Scope::same_node, {.straight = true, .handicap = 1.1}),
        info("tray", Scope::same_node),
        info("robot", Scope::same_node, {.by_name_only = true}),
        info("truck", Scope::anywhere, {.between_nodes = true}),
        info("relay", Scope::anywhere, {.between_nodes = true, .passes_on = true}),
    };
    return all;
}

Situation with(bool near, bool far, bool thin, bool wide, std::vector<std::string> refused = {}) {
    Situation situation{near, far, thin, wide, false, false, false, {}};
    for (const TransportInfo& each : invented())
        situation.refused.push_back(std::find(refused.begin(), refused.end(), each.name) != refused.end());
    return situation;
}

Situation in_stages(Situation situation, bool far) {
    situation.staged = true;
    situation.staged_far = far;
    return situation;
}

std::string names(const Situation& situation, const std::string& list = "") {
    std::string text;
    for (const Candidate& each : candidates(invented(), situation, parse_auto_list(list, invented()))) {
        text += (text.empty() ? "" : " ") + each.name;
        if (each.after >= 0) text += "<" + std::to_string(each.after);
        if (each.handicap > 1) text += "!";
    }
    return text;
}

}  // namespace

CASE("inside a node straight and packed ways are tried, those for thin pieces first where there are some") {
    EXPECT_EQ(names(with(true, false, false, true)), "pen! tray letter parcel<2");
    EXPECT_EQ(names(with(true, false, true, false)), "tray pen! letter parcel<2");
    EXPECT_EQ(names(with(true, false, true, true)), "pen|tray! tray pen! letter parcel<3");
}

CASE("of the straight ways the first that takes the arrays is tried") {
    EXPECT_EQ(names(with(true, false, false, true, {"pen"})), "brush! tray letter parcel<2");
    EXPECT_EQ(names(with(true, false, true, true, {"pen", "brush"})), "tray letter parcel<1");
}

CASE("between nodes networks are tried, behind the best way inside the node where both occur") {
    EXPECT_EQ(names(with(false, true, false, false)), "letter truck parcel<0");
    EXPECT_EQ(names(with(true, true, false, true)),
              "pen+letter! tray+letter pen+truck<0! tray+truck<1 pen+parcel<0! tray+parcel<1 letter parcel<6");
    EXPECT_EQ(names(with(false, true, false, false, {"truck", "letter"})), "parcel");
}

CASE("without neighbors nothing is set up that moves messages") { EXPECT_EQ(names(with(false, false, false, false)), "mirror"); }

CASE("users add and leave out transports") {
    EXPECT_EQ(names(with(true, false, false, true), "+robot"), "pen! tray robot letter parcel<3");
    EXPECT_EQ(names(with(true, false, false, true), "+truck,-pen"), "brush! tray letter truck parcel<2");
    EXPECT_EQ(names(with(true, false, false, true), "+parcel"), "pen! tray parcel letter");
    EXPECT_EQ(names(with(true, false, true, true), "+brush"), "pen|tray! brush|tray! tray pen! brush! letter parcel<5");
    EXPECT_EQ(names(with(true, false, false, true), "-letter,-pen,-brush,-tray"), "parcel");
}

CASE("each way is tried in stages, too, where it comes near the fastest") {
    const Situation inside = in_stages(with(true, false, false, true), false);
    EXPECT_EQ(names(inside), "pen! tray staged:pen<0! staged:tray<1 letter parcel<4 staged:letter<4 staged:parcel<5");
    EXPECT_EQ(names(inside, "-staged"), names(with(true, false, false, true)));
    const Situation across = in_stages(with(false, true, false, false), true);
    EXPECT_EQ(names(across, "-parcel"), "letter staged:letter<0 staged_far:letter<0 truck staged:truck<3 staged_far:truck<3");
    EXPECT_EQ(names(across, "-parcel,-staged_far"), "letter staged:letter<0 truck staged:truck<2");
    EXPECT_EQ(names(in_stages(with(true, true, false, true), false), "-pen,-brush,-parcel"),
              "tray+letter staged:tray+letter<0 tray+truck<0 letter staged:tray+truck<2 staged:letter<3");
}

CASE("ranks pass on what belongs to others where the program calls at once and nodes have several ranks, but not in stages") {
    Situation situation = in_stages(with(true, true, false, true), false);
    const std::string without = names(situation, "-pen,-brush,-parcel,-truck");
    EXPECT_EQ(without, "tray+letter letter staged:tray+letter<0 staged:letter<1");
    situation.at_once = true;
    EXPECT_EQ(names(situation, "-pen,-brush,-parcel,-truck"), "tray+letter staged:tray+letter<0 tray+relay<0 letter staged:letter<3");
    EXPECT_EQ(names(situation, "-pen,-brush,-parcel,-truck,-relay"), without);
    situation.near = false;
    EXPECT_EQ(names(situation, "-pen,-brush,-parcel,-truck"), "letter staged:letter<0");
}

CASE("what is wrong in a list is said") {
    const auto refuse = [](const std::string& list, const char* text) {
        CAPTURE(list);
        EXPECT_ERROR(Error, text, parse_auto_list(list, invented()));
    };
    refuse("+wheel", "no transport 'wheel': use some of mirror, parcel, letter, pen, brush, tray, robot, truck, relay, staged, staged_far");
    refuse("pen", "has no sign");
    refuse("+pen,,-tray", "has no sign");
    refuse("+pen,-pen", "both");
    EXPECT_ERROR(Error, "PARHELION_AUTO", names(with(false, true, false, false), "-letter,-parcel,-truck"));
}
