// phl-bench's command line: lists make cases, sections extend common options, errors name a remedy.
#include <sstream>

#include "support/cases.hpp"

#include "options.hpp"

using namespace parhelion;
using namespace parhelion::bench;

namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::vector<nlohmann::json> cases_of(const std::string& line) {
  const Request asked = read_words(words_of(line));
  EXPECT_EQ(asked.complaint, "");
  return asked.job.cases;
}

}  // namespace

CASE("lists make a case of each combination, and the last option varies first") {
  const auto cases =
      cases_of("halo --grid 2x1x1 --extent=16x8x8 --halo 1,2 --fields 1,4 --periodic yes,no,yes");
  ASSERT_EQ(cases.size(), 4);
  EXPECT_EQ(cases[1]["fields"], 4);
  EXPECT_EQ(cases[1]["halo"], 1);
  EXPECT_EQ(cases[2]["extent"], (std::vector<int>{16, 8, 8}));
  EXPECT_EQ(cases[3]["periodic"], (std::vector<bool>{true, false, true}));
  EXPECT_EQ(cases_of("halo").size(), 16);
  EXPECT_EQ(cases_of("halo --halo 1 --fields 1 --seam none,fold")[1]["seam"], "fold");
  EXPECT_EQ(cases_of("halo")[0]["element"], "float32");
}

CASE("every --case begins one with the options before the first") {
  const auto cases = cases_of("halo --halo 3 --fields 1 --case --extent 8 --case --halo 1,2");
  ASSERT_EQ(cases.size(), 3);
  EXPECT_EQ(cases[0]["extent"], std::vector<int>{8});
  EXPECT_EQ(cases[0]["halo"], 3);
  EXPECT_EQ(cases[2]["extent"], std::vector<int>{64});
  EXPECT_EQ(cases[2]["halo"], 2);
}

CASE("sizes have units and ranges, and data sets need no option's name") {
  nlohmann::json sizes;
  for (const auto& each : cases_of("alltoall --size 3,1-4,2K")) sizes.push_back(each["size"]);
  EXPECT_EQ(sizes, (std::vector<int>{3, 1, 2, 4, 2048}));
  EXPECT_EQ(cases_of("gather a b --components 1,8").size(), 4);
  EXPECT_EQ(cases_of("gather a,b")[0]["dataset"], "a,b");
}

CASE(
    "options of all benchmarks, and the file of the record, which alone may differ between ranks") {
  const Request asked = read_words(words_of(
      "halo --json here --repetitions 3 --no-bind --param mpi=x=y --variants plan --seed 7"));
  EXPECT_EQ(asked.record, "here");
  EXPECT_EQ(asked.job.arguments,
      words_of("halo --repetitions 3 --no-bind --param mpi=x=y --variants plan --seed 7"));
  const Job& job = asked.job;
  EXPECT_EQ(job.repetitions, 3);
  EXPECT_FALSE(job.bind);
  EXPECT_EQ(job.params["mpi"], "x=y");
  EXPECT_EQ(job.variants, std::vector<std::string>{"plan"});
  EXPECT_EQ(read_words(words_of("halo --ranks 3")).job.ranks, 3);
  EXPECT_EQ(read_words(words_of("alltoall --first-size 8K")).cold_bytes, 8192);
}

CASE("the order of cases is drawn from seed and launch") {
  EXPECT_EQ(cases_of("halo --launch 1"), cases_of("halo --launch 1"));
  EXPECT_NE(cases_of("halo --launch 1"), cases_of("halo --launch 2"));
  EXPECT_NE(cases_of("halo --launch 1"), cases_of("halo --launch 1 --seed 2"));
}

CASE("what cannot be read is named") {
  for (const auto& [line, part] :
      {std::pair{"", "not a benchmark"}, {"pigeon", "'pigeon' is not a benchmark"},
          {"halo --feet 2", "--feet: unknown option"}, {"halo --size 2", "--size"},
          {"halo --halo", "--halo: give a value"}, {"halo --halo 1.5", "--halo: '1.5'"},
          {"halo --halo 1x2", "'1x2'"}, {"halo --periodic maybe", "write yes or no"},
          {"halo 3", "'3' is not an option"}, {"alltoall --size 0", "'0' is not a number of bytes"},
          {"alltoall --size 9999G", "not a number of bytes"},
          {"halo --halo 99999999999999999999", "not a number in range"},
          {"halo --overlap -1", "--overlap: '-1': give a number from 0 to 1000000"},
          {"halo --overlap 1e9", "--overlap: '1e9'"},
          {"halo --uneven 1", "give a number from 0 to 0.95"},
          {"halo --precision 1", "--precision"}, {"halo --neighbors some", "write full or faces"},
          {"halo --seam cube", "write none, fold or fold-center"},
          {"halo --fields 0", "give a number from 1 to 4096"}, {"halo --grid 0x1", "--grid"},
          {"halo --halo=", "give a value"}}) {
    CAPTURE(line);
    const std::string complaint = read_words(words_of(line)).complaint;
    EXPECT_NE(complaint.find(part), std::string::npos) << complaint;
  }
}

CASE("the help tells the options of one benchmark, or all") {
  EXPECT_EQ(help_text("halo").find("--size"), std::string::npos);
  EXPECT_NE(help_text().find("--size"), std::string::npos);
}
