// Measures a case of `bench gather` with one coarray method, as phl-bench does: verifies values
// before and after, times each image, writes a case line of the record.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "values.hpp"

using namespace parhelion::bench;
using nlohmann::json;

extern "C" {  // main.f90
int phl_coarray_image(int* images);
void phl_coarray_sum(double* values, int count);
void phl_coarray_max(double* value);
double phl_coarray_make_map(int words, int owned, int ghosts, const int* ids, int kind, bool kept,
    bool images, int* cells_sent, int* messages);
double phl_coarray_gathers(
    int words, int owned, int ghosts, const std::int32_t* x, std::int32_t* values, int times);
}

namespace {

int images = 0, image = 0;  // image counts from 1

double greatest(double mine) {
  phl_coarray_max(&mine);
  return mine;
}

std::vector<double> from_all_images(double mine) {
  std::vector<double> all(static_cast<std::size_t>(images), 0);
  all[static_cast<std::size_t>(image - 1)] = mine;
  phl_coarray_sum(all.data(), images);
  return all;
}

class Gather {
 public:
  explicit Gather(const json& job) : job_(job), words_(job.at("words")) {
    read_part(job.at("dataset").get<std::string>());
    int cells_sent = 0, messages = 0;
    const double setup_s = phl_coarray_make_map(words_, owned_, static_cast<int>(ids_.size()),
        ids_.data(), job.at("kind"), job.at("kept"), job.at("images"), &cells_sent, &messages);
    line_["setup_s"] = {{"pattern", greatest(setup_s)}, {"plan", 0}};
    line_["bytes"] = static_cast<std::int64_t>(greatest(4.0 * words_ * cells_sent));
    line_["messages"] = static_cast<int>(greatest(messages));
  }

  // Verifies both halves of the double buffers twice, samples, verifies again. If one gather
  // takes more than a quarter of the budget, the verified gathers are the samples.
  json measure() {
    line_["samples"] = json::array();
    line_["samples_by_rank"] = json(static_cast<std::size_t>(images), json::array());
    line_["setup_s"]["first"] = greatest(checked_round(1));
    const double second = checked_round(1);
    const bool slow = greatest(second) > job_.at("budget_s").get<double>() / 4;
    const double third = checked_round(1);
    if (slow) {
      if (wrong_ == 0) keep({second, third});
    } else {
      checked_round(1);
      if (wrong_ == 0) take_samples();
      checked_round(iterations_);
    }
    line_["iterations"] = iterations_;
    line_["verified"] = wrong_ == 0;
    if (wrong_ > 0) line_["error"] = json(wrong_).dump() + " elements were wrong after a gather";
    return line_;
  }

 private:
  // Published layout; ids count from 1.
  void read_part(const std::string& dataset) {
    std::array<char, 20> name{};
    std::snprintf(name.data(), name.size(), "/data%03d", image);
    std::ifstream file(dataset + name.data(), std::ios::binary);
    std::int32_t ghosts = 0;
    const auto read = [&](std::int32_t* to, std::size_t count) {
      file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(4 * count));
    };
    read(&owned_, 1);
    read(&ghosts, 1);
    ids_.resize(static_cast<std::size_t>(ghosts));
    read(ids_.data(), ids_.size());
    if (!file) throw std::runtime_error("cannot read " + dataset + name.data());
    const std::vector<double> owned = from_all_images(owned_);
    for (int before = 0; before < image - 1; ++before)
      first_id_ += static_cast<std::uint64_t>(owned[static_cast<std::size_t>(before)]);
    x_.resize(static_cast<std::size_t>(words_ * owned_));
    values_.resize(static_cast<std::size_t>(words_) * (ids_.size() + 2));
  }

  // Seconds on this image.
  double gather(int times) {
    return phl_coarray_gathers(
        words_, owned_, static_cast<int>(ids_.size()), x_.data(), values_.data() + words_, times);
  }

  // New values in each round, so that stale ones count as wrong.
  double checked_round(int gathers) {
    if (wrong_ > 0) return 0;
    const auto keys = lane_keys(0, words_, ++round_);
    write_values(x_.data(), owned_, first_id_, keys);
    write_poison(values_.data(), std::ssize(values_));
    const double seconds = gather(gathers);
    const std::int32_t* ghost = values_.data();
    std::int64_t wrong =
        count_wrong_values(x_.data(), owned_, first_id_, keys) + count_not_poison(ghost, words_);
    for (const std::int32_t id : ids_)
      wrong += count_wrong_values(ghost += words_, 1, static_cast<std::uint64_t>(id - 1), keys);
    auto all = static_cast<double>(wrong + count_not_poison(ghost + words_, words_));
    phl_coarray_sum(&all, 1);
    wrong_ = static_cast<std::int64_t>(all);
    return seconds;
  }

  void take_samples() {
    double spent = choose_iterations();
    std::vector<double> mine;
    while (std::ssize(mine) < job_.at("repetitions") &&
           (mine.size() < 2 || spent < job_.at("budget_s"))) {
      const double seconds = gather(iterations_);
      mine.push_back(seconds / iterations_);
      spent += greatest(seconds);
    }
    keep(mine);
  }

  // Sets the gathers per sample, of at least `least_s`. Returns the seconds spent.
  double choose_iterations() {
    const double least_s = job_.at("least_s");
    for (double spent = 0;;) {
      const double seconds = greatest(gather(iterations_));
      spent += seconds;
      if (seconds >= least_s) return spent;
      const double wanted = 1.25 * iterations_ * least_s / std::max(seconds, 1e-7);
      iterations_ = std::max(2 * iterations_, static_cast<int>(wanted));
    }
  }

  void keep(const std::vector<double>& mine) {
    for (const double sample : mine) {
      line_["samples"].push_back(greatest(sample));
      std::size_t rank = 0;
      for (const double each : from_all_images(sample))
        line_["samples_by_rank"][rank++].push_back(each);
    }
  }

  const json& job_;
  json line_ = job_.at("line");  // fields known to the launcher
  int words_, iterations_ = 1;
  std::int32_t owned_ = 0;
  std::vector<std::int32_t> ids_, x_, values_;  // values_: ghosts between two guard cells
  std::uint64_t first_id_ = 0;
  unsigned round_ = 0;
  std::int64_t wrong_ = 0;
};

}  // namespace

extern "C" void phl_coarray_measure(const char* file) {
  image = phl_coarray_image(&images);
  try {
    std::ifstream text(file);
    const json job = json::parse(text);
    const json line = Gather(job).measure();
    if (image == 1)
      std::ofstream(job.at("record").get<std::string>(), std::ios::app) << line << std::endl;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "phl-coarray-gather: %s\n", error.what());
    std::exit(1);
  }
}
