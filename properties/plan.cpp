#include "properties/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <queue>
#include <set>
#include <unordered_map>

#include "properties/best_prime.h"
#include "properties/generator.h"
#include "properties/input_windows.h"
#include "properties/json_text.h"
#include "properties/memory_needed.h"

namespace brink {

namespace {

constexpr int kDrawsPerTarget = 3;

struct Candidate {
  Case c;
  double seconds = 0;
  std::vector<int> cells;  // numbers, sorted
};

// The matrix asks for each cell in whichever memory a case gets.
std::string without_memory(const MatrixCell& cell) {
  const std::string text = to_text(cell);
  return text.substr(0, text.rfind(' '));
}

// What a thread takes for one element, with all passes over it; medians over a plan on an H200.
double thread_seconds(Variant variant) {
  switch (variant) {
    case Variant::kWarp:
    case Variant::kBlock:
      return 0.25e-6;
    case Variant::kColumns:
      return 0.95e-6;
    case Variant::kReduce:
      return 0.65e-6;
  }
  std::abort();
}

// Seconds that one case takes. Host: measured over a plan on one core, 5 ms a case and 0.3 s where a loop never ends.
// GPU: its threads' work, which takes long where a launch has few of them; a hang takes the time that a predicted one
// is given and a new CUDA context, a fault the context; dense memory takes what filling and comparing it takes.
double cost_of(const Case& c, const Decomposition& shape, const Prediction& prediction, Device device) {
  if (device == Device::kHost) return prediction.verdict == Verdict::kHang ? 0.3 : 0.005;
  if (prediction.verdict == Verdict::kHang) return 6;
  if (prediction.verdict == Verdict::kFault) return 1.5;
  constexpr double kResidentThreads = 132 * 2048;
  double seconds = 0.05;
  if (prediction.launch && prediction.verdict != Verdict::kLaunchRejected) {
    double threads = 1;
    for (const int64_t size : {prediction.launch->grid_x, prediction.launch->grid_y, prediction.launch->block_x,
                               prediction.launch->block_y}) {
      threads *= static_cast<double>(size);
    }
    seconds +=
        thread_seconds(*prediction.variant) * static_cast<double>(shape.numel()) / std::min(threads, kResidentThreads);
  }
  constexpr double kDenseBytesPerSecond = 1e11;
  if (c.memory == MemoryKind::kDense) {
    seconds += static_cast<double>(memory_needed(c, shape, {}, device)) / kDenseBytesPerSecond;
  }
  return seconds;
}

// From the memory that shows most to the one that needs least.
std::vector<MemoryKind> kinds_by_weight(Device device) {
  return {MemoryKind::kDense, device == Device::kCuda ? MemoryKind::kAliased : MemoryKind::kSparse};
}

// Whether the host takes on every thread of the case, as it has to in dense memory.
bool runs_whole(const Decomposition& shape, Device device) {
  constexpr int64_t kHostWholeMax = int64_t{1} << 20;
  return device == Device::kCuda || shape.numel() <= kHostWholeMax;
}

class Planner {
 public:
  Planner(const PlanLimits& limits, const Predictor& predict) : limits_(limits), predict_(predict) {}

  Plan plan() {
    add_simplest();
    add_targets();
    choose();
    drop_superfluous();
    Plan plan;
    plan.limits = limits_;
    plan.candidates = static_cast<int64_t>(candidates_.size());
    std::set<int> reached;
    for (const size_t index : chosen_) {
      Candidate& candidate = candidates_[index];
      PlannedCase planned{std::move(candidate.c), candidate.seconds, {}};
      for (const int cell : candidate.cells) {
        if (reached.insert(cell).second) planned.cells.push_back(names_[static_cast<size_t>(cell)]);
      }
      plan.seconds += planned.seconds;
      plan.cases.push_back(std::move(planned));
    }
    plan.cells = static_cast<int64_t>(reached.size());
    set_lower_bound(reached, plan);
    left_out(reached, plan);
    return plan;
  }

 private:
  // The simplest shapes of every variant and range, for each implementation, direction and dtype.
  void add_simplest() {
    for (const Implementation& implementation : matrix_implementations()) {
      for (const Variant variant : {Variant::kWarp, Variant::kBlock, Variant::kColumns, Variant::kReduce}) {
        for (const Case& simplest : simplest_shapes(variant)) {
          const auto shape = std::get<Decomposition>(decompose(simplest));
          if (implementation.path && *implementation.path != path_of(shape)) continue;
          for (const bool trailing_one : {false, true}) {
            if (trailing_one && shape.inner_size != 1) continue;
            for (const bool backward : {false, true}) {
              for (const DType dtype : kDTypes) {
                Case c = simplest;
                if (trailing_one) c.shape.push_back(1);
                c.implementation = implementation;
                c.dtype = dtype;
                const bool log = dtype == DType::kBF16 || dtype == DType::kF64;  // both functions get their share
                c.operation = backward ? (log ? Operation::kLogSoftmaxBackward : Operation::kSoftmaxBackward)
                                       : (log ? Operation::kLogSoftmaxForward : Operation::kSoftmaxForward);
                add(c, true);
              }
            }
          }
        }
      }
    }
  }

  void add_targets() {
    GeneratorOptions options;
    options.device = limits_.device;
    options.implementations = matrix_implementations();
    const CaseGenerator generator(options);
    Draws draws(0);
    for (const Target& target : generator.targets()) {
      for (int i = 0; i < kDrawsPerTarget; ++i) add(generator.at(target, draws), false);
    }
  }

  // Adds a case in the first kind of memory that it fits in.
  void add(Case c, bool choose_form) {
    const auto shape = std::get<Decomposition>(decompose(c));
    if (choose_form) {
      c.memory = kinds_by_weight(limits_.device).back();
      if (c.memory == MemoryKind::kAliased && !aliased_refusal(closed_form_of(c, shape)).empty()) {
        c.family = FormFamily::kSeed;
      }
      choose_prime(c);
    }
    int64_t least = 0;
    for (const MemoryKind kind : kinds_by_weight(limits_.device)) {
      c.memory = kind;
      if (kind == MemoryKind::kDense && !runs_whole(shape, limits_.device)) continue;
      if (kind == MemoryKind::kDense && memory_needed(c, shape, {}, limits_.device) > limits_.memory) continue;
      const Prediction prediction = predict_(c);
      const Execution execution = as_predicted(c, shape, prediction);
      const std::vector<std::string> cells = plan_cells(c, shape, execution);
      least = memory_needed(c, shape, execution.raw.looked_at, limits_.device);
      if (least > limits_.memory) {
        for (const std::string& cell : cells) {
          const auto [found, is_new] = too_large_.try_emplace(cell, least);
          if (!is_new) found->second = std::min(found->second, least);
        }
        continue;
      }
      Candidate candidate{c, cost_of(c, shape, prediction, limits_.device), {}};
      for (const std::string& cell : cells) candidate.cells.push_back(number_of(cell));
      std::sort(candidate.cells.begin(), candidate.cells.end());
      if (!candidate.cells.empty()) candidates_.push_back(std::move(candidate));
      return;
    }
  }

  int number_of(const std::string& cell) {
    const auto [found, is_new] = numbers_.try_emplace(cell, static_cast<int>(names_.size()));
    if (is_new) names_.push_back(cell);
    return found->second;
  }

  // Greedy: whichever case reaches most of what is left in a second; of equals, the first.
  void choose() {
    std::vector<bool> covered(names_.size(), false);
    const auto worth_of = [&](const Candidate& candidate) {
      const auto gain = std::count_if(candidate.cells.begin(), candidate.cells.end(),
                                      [&](int cell) { return !covered[static_cast<size_t>(cell)]; });
      return static_cast<double>(gain) / candidate.seconds;
    };
    double left = limits_.seconds.value_or(std::numeric_limits<double>::infinity());
    // What a case is worth only shrinks, so the head of the queue is right once it is up to date.
    using Entry = std::pair<double, int64_t>;  // worth, minus index
    std::priority_queue<Entry> queue;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      queue.emplace(worth_of(candidates_[i]), -static_cast<int64_t>(i));
    }
    while (!queue.empty()) {
      const auto [worth, minus_index] = queue.top();
      queue.pop();
      const Candidate& candidate = candidates_[static_cast<size_t>(-minus_index)];
      const double now = worth_of(candidate);
      if (now == 0) continue;
      if (now < worth) {
        queue.emplace(now, minus_index);
        continue;
      }
      if (candidate.seconds > left) continue;
      left -= candidate.seconds;
      for (const int cell : candidate.cells) covered[static_cast<size_t>(cell)] = true;
      chosen_.push_back(static_cast<size_t>(-minus_index));
    }
  }

  // Cases of which every cell is reached by another one as well.
  void drop_superfluous() {
    std::vector<int> count(names_.size(), 0);
    for (const size_t index : chosen_) {
      for (const int cell : candidates_[index].cells) ++count[static_cast<size_t>(cell)];
    }
    std::vector<size_t> kept;
    for (const size_t index : chosen_) {
      const auto& cells = candidates_[index].cells;
      const bool superfluous =
          std::all_of(cells.begin(), cells.end(), [&](int cell) { return count[static_cast<size_t>(cell)] > 1; });
      if (!superfluous) {
        kept.push_back(index);
        continue;
      }
      for (const int cell : cells) --count[static_cast<size_t>(cell)];
    }
    chosen_ = std::move(kept);
  }

  // Picks cells of which no candidate reaches two: each needs a case of its own, and at least its cheapest one's time.
  void set_lower_bound(const std::set<int>& reached, Plan& plan) const {
    std::vector<std::vector<size_t>> reached_by(names_.size());
    for (size_t i = 0; i < candidates_.size(); ++i) {
      for (const int cell : candidates_[i].cells) reached_by[static_cast<size_t>(cell)].push_back(i);
    }
    std::vector<int> order(reached.begin(), reached.end());
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return reached_by[static_cast<size_t>(a)].size() < reached_by[static_cast<size_t>(b)].size();
    });
    std::vector<bool> used(candidates_.size(), false);
    for (const int cell : order) {
      const auto& by = reached_by[static_cast<size_t>(cell)];
      if (std::any_of(by.begin(), by.end(), [&](size_t i) { return used[i]; })) continue;
      double least = std::numeric_limits<double>::infinity();
      for (const size_t i : by) {
        used[i] = true;
        least = std::min(least, candidates_[i].seconds);
      }
      ++plan.lower_bound;
      plan.lower_bound_seconds += least;
    }
  }

  void left_out(const std::set<int>& reached, Plan& plan) const {
    std::set<std::string> reachable;
    for (const CellStatus& status : all_cells(limits_.device)) {
      if (status.reachable()) reachable.insert(to_text(status.cell));
    }
    const Matrix matrix(limits_.device);
    for (const auto& [cell, entry] : matrix.cells()) {
      if (entry.state != CellState::kUnreachable) reachable.insert(without_memory(cell));
    }
    for (const std::string& name : names_) reachable.insert(name);
    for (const auto& [cell, bytes] : too_large_) reachable.insert(cell);
    for (const std::string& cell : reachable) {
      const auto number = numbers_.find(cell);
      if (number != numbers_.end() && reached.contains(number->second)) continue;
      const auto bytes = too_large_.find(cell);
      plan.left_out[cell] = number != numbers_.end() ? "time"
                            : bytes != too_large_.end()
                                ? fmt::format("memory: the smallest case tried needs {} bytes", bytes->second)
                                : "no candidate case reaches it";
    }
  }

  PlanLimits limits_;
  const Predictor& predict_;
  std::vector<Candidate> candidates_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> numbers_;
  std::map<std::string, int64_t> too_large_;  // cell -> bytes of the smallest case that did not fit
  std::vector<size_t> chosen_;
};

}  // namespace

Plan make_plan(const PlanLimits& limits, const Predictor& predict) { return Planner(limits, predict).plan(); }

std::vector<std::string> plan_cells(const Case& c, const Decomposition& shape, const Execution& execution) {
  std::vector<std::string> result;
  for (const Cell& cell : cells_reached(c, shape, execution)) result.push_back(to_text(cell));
  for (const MatrixCell& cell : matrix_cells_reached(c, shape, execution)) {
    result.push_back(without_memory(cell));
  }
  return result;
}

std::string to_text(const Plan& plan) {
  nlohmann::ordered_json j;
  j["brink_plan"] = 1;
  j["device"] = name_of(plan.limits.device);
  j["memory"] = plan.limits.memory;
  if (plan.limits.seconds) j["seconds_limit"] = *plan.limits.seconds;
  j["cases"] = plan.cases.size();
  j["cells"] = plan.cells;
  j["candidates"] = plan.candidates;
  j["lower_bound"] = plan.lower_bound;
  j["seconds"] = plan.seconds;
  j["lower_bound_seconds"] = plan.lower_bound_seconds;
  j["left_out"] = plan.left_out;
  std::string text = j.dump() + "\n";
  for (const PlannedCase& planned : plan.cases) {
    nlohmann::ordered_json line;
    line["case"] = nlohmann::ordered_json::parse(to_text(planned.c));
    line["seconds"] = planned.seconds;
    line["cells"] = planned.cells;
    text += line.dump() + "\n";
  }
  return text;
}

namespace {

using Json = nlohmann::ordered_json;

const Json& field(const Json& json, const char* name, bool good(const Json&)) {
  const auto found = json.find(name);
  if (found == json.end()) throw std::string(fmt::format("field \"{}\" is missing", name));
  if (!good(*found)) throw std::string(fmt::format("field \"{}\": {} is not what it holds", name, shown(*found)));
  return *found;
}

bool is_count(const Json& value) { return value.is_number_unsigned() && value.get<uint64_t>() <= INT64_MAX; }
bool is_number(const Json& value) { return value.is_number(); }
bool is_object(const Json& value) { return value.is_object(); }
bool is_device(const Json& value) { return value == "host" || value == "cuda"; }
bool is_texts(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& v) { return v.is_string(); });
}

void read_header(const Json& json, Plan& plan) {
  if (field(json, "brink_plan", is_number) != 1) throw std::string("this brink reads plans of version 1");
  plan.limits.device = field(json, "device", is_device) == "cuda" ? Device::kCuda : Device::kHost;
  plan.limits.memory = field(json, "memory", is_count).get<int64_t>();
  if (json.contains("seconds_limit")) plan.limits.seconds = field(json, "seconds_limit", is_number).get<double>();
  plan.cells = field(json, "cells", is_count).get<int64_t>();
  plan.candidates = field(json, "candidates", is_count).get<int64_t>();
  plan.lower_bound = field(json, "lower_bound", is_count).get<int64_t>();
  plan.seconds = field(json, "seconds", is_number).get<double>();
  plan.lower_bound_seconds = field(json, "lower_bound_seconds", is_number).get<double>();
  for (const auto& item : field(json, "left_out", is_object).items()) {
    if (!item.value().is_string()) throw std::string("field \"left_out\": a reason is not text");
    plan.left_out[item.key()] = item.value().get<std::string>();
  }
}

PlannedCase read_planned(const Json& json) {
  const auto parsed = parse_case(field(json, "case", is_object).dump());
  if (const auto* error = std::get_if<std::string>(&parsed)) throw std::string(*error);
  return {std::get<Case>(parsed), field(json, "seconds", is_number).get<double>(),
          field(json, "cells", is_texts).get<std::vector<std::string>>()};
}

}  // namespace

std::variant<Plan, std::string> parse_plan(std::string_view text) {
  Plan plan;
  int64_t cases = 0;
  int64_t cells = 0;
  int number = 0;
  try {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++number;
      const auto parsed = parse_json(line);
      if (const auto* error = std::get_if<std::string>(&parsed)) throw std::string(*error);
      const Json& json = std::get<Json>(parsed);
      if (!json.is_object()) throw std::string("not an object");
      if (number == 1) {
        read_header(json, plan);
        cases = field(json, "cases", is_count).get<int64_t>();
        continue;
      }
      plan.cases.push_back(read_planned(json));
      cells += static_cast<int64_t>(plan.cases.back().cells.size());
    }
    if (number == 0) throw std::string("not a plan: the file is empty");
    // A plan that was cut off would require less than it did.
    if (static_cast<int64_t>(plan.cases.size()) != cases || cells != plan.cells) {
      throw std::string(fmt::format("{} cases for {} cells where the first line says {} for {}: the plan was cut off",
                                    plan.cases.size(), cells, cases, plan.cells));
    }
  } catch (const std::string& message) {
    return fmt::format("line {}: {}", number, message);
  }
  return plan;
}

}  // namespace brink
