#include "callback.hpp"

#include "program.hpp"
#include "variant.hpp"

namespace parhelion::bench {

namespace {

using nlohmann::json;

json ask(const phl_measured& measured, const json& question) {
  const json answer = json::parse(measured.answer(question.dump().c_str()));
  if (answer.contains("skipped")) throw CannotRun(answer["skipped"].get<std::string>());
  if (answer.contains("error")) throw Error(answer["error"].get<std::string>());
  return answer.at("told");
}

class Called : public Variant, Values {
 public:
  Called(const phl_measured& measured, const std::string& name, SetupTimes& times)
      : measured_(measured) {
    const json told =
        timed(times.plan, [&] { return ask(measured, {{"what", "make"}, {"name", name}}); });
    variant_ = told.at("variant");
    if (told.contains("setup_s")) times.plan = told.at("setup_s");
  }
  ~Called() override {
    try {
      about("free");
    } catch (const std::exception&) {  // after its samples: nothing to lose
    }
  }
  void exchange() override { exchange_many(1); }
  void exchange_many(std::int64_t times) override {
    if (measured_.exchange(variant_, times) != 0) about("failure");
  }
  Values& values() override { return *this; }
  Traffic traffic() const override {
    const json told = about("traffic");
    if (told.is_null()) return {.known = false};
    Traffic traffic{told.at("bytes"), told.at("messages")};
    for (const json& sent : told.at("sent")) traffic.sent.push_back({sent[0], sent[1]});
    return traffic;
  }
  json explain() const override { return about("explain"); }
  std::optional<double> step_held(const std::function<void()>&) override {
    const json seconds = about("step_held");
    return seconds.is_null() ? std::nullopt : std::optional(seconds.get<double>());
  }
  int exchange_lines() const override { return about("exchange_lines"); }
  void refresh(unsigned round) override { about("refresh", round); }
  std::int64_t count_wrong(unsigned round) const override { return about("count_wrong", round); }

 private:
  json about(const char* what, unsigned round = 0) const {
    return ask(measured_, {{"what", what}, {"variant", variant_}, {"round", round}});
  }

  const phl_measured& measured_;
  int variant_ = 0;
};

std::vector<Entry> entries_of(const phl_measured& measured) {
  std::vector<Entry> entries;
  for (const json& each : ask(measured, {{"what", "variants"}})) {
    const std::string name = each.at("name");
    entries.push_back({name, each.at("role"),
        [&measured, name](
            SetupTimes& times) { return std::make_unique<Called>(measured, name, times); },
        each.at("only_by_name")});
  }
  return entries;
}

std::vector<PlannedCase> plan(const Job& job, const phl_measured& measured) {
  const std::vector<Entry> entries = entries_of(measured);
  std::vector<PlannedCase> cases;
  for (const json& one : job.cases) {
    ask(measured, {{"what", "check"}, {"case", one}});
    cases.push_back(
        {[=, &measured] {
           json told = ask(measured, {{"what", "case"}, {"case", one}});
           return Case{job.benchmark == "apps" ? "veros" : job.benchmark, std::move(told), entries};
         },
            entries});
  }
  return cases;
}

}  // namespace

}  // namespace parhelion::bench

int phl_measure(int count, const char* const* options, const phl_measured* measured) {
  using namespace parhelion::bench;
  Beginning beginning;
  beginning.imports = ask(*measured, {{"what", "imports"}});
  return measure(read_words({options, options + count}), beginning,
      [&](const Job& job, const parhelion::Communicator&) { return plan(job, *measured); });
}
