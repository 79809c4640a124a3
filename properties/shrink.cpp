#include "properties/shrink.h"

#include <algorithm>
#include <vector>

#include "properties/finding.h"
#include "properties/smallest_case.h"

namespace brink {

namespace {

// The host runs a window's columns whole: seconds where they are longer.
constexpr int64_t kLongColumn = int64_t{1} << 17;

class Shrinking {
 public:
  Shrinking(Examiner& examiner, const Examination& failing, Role role, int max_runs)
      : examiner_(examiner), role_(role), max_runs_(max_runs), best_{failing, cause_of(failing), 0} {}

  Shrunk run() {
    if (best_.smallest.shape.numel() == 0) return std::move(best_);
    const bool as_predicted = best_.smallest.differences.empty();
    if (!as_predicted || !find_smallest()) descend_by_runs();
    return std::move(best_);
  }

 private:
  // What the rest of a case is like, the simplest first: memory of the device's own kind, coded closed form, seed 0.
  std::vector<Case> kinds() const {
    const Case& failing = best_.smallest.c;
    Case plain = failing;
    plain.family = FormFamily::kCoded;
    plain.prime = 7;
    plain.seed = 0;
    Case plainest = plain;
    plainest.memory = examiner_.device() == Device::kHost ? MemoryKind::kSparse : MemoryKind::kAliased;
    std::vector<Case> result = {plainest, plain, failing};
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  // The order of what is kept: by simplicity, but on the host cases with long columns come last.
  std::vector<Exact> order(const Case& c) const {
    const bool slow =
        examiner_.device() == Device::kHost && std::get<Decomposition>(decompose(c)).dim_size > kLongColumn;
    std::vector<Exact> result = simplicity(c);
    result.insert(result.begin(), slow ? 1 : 0);
    return result;
  }

  bool predicted_to_fail(const Case& c, Engine engine) {
    Examination e;
    e.c = c;
    e.prediction = examiner_.predict(c, engine);
    const auto& wanted = best_.smallest.prediction;
    if (e.prediction.verdict != wanted.verdict) return false;
    e.observed = e.prediction;
    return cause_of(e) == best_.cause;
  }

  // Sets the prime for which the prediction is exact; false where it is not predicted to fail in this way after all.
  bool settle(Case& c) {
    if (c.family != FormFamily::kCoded) return predicted_to_fail(c, Engine::kAuto);
    std::vector<int> primes;
    for (const int prime : {7, 5, 3}) {
      c.prime = prime;
      if (!predicted_to_fail(c, Engine::kAuto)) continue;
      if (examiner_.predict(c).exact) return true;
      primes.push_back(prime);
    }
    if (!primes.empty()) c.prime = primes.front();
    return !primes.empty();
  }

  bool fails(const Case& c) {
    if (best_.runs >= max_runs_) return false;
    ++best_.runs;
    Examination e = examiner_.examine(c);
    if (findings(e, role_).empty() || cause_of(e) != best_.cause) return false;
    if (order(c) < order(best_.smallest.c)) best_.smallest = std::move(e);
    return true;
  }

  // Whether one of the oracle's smallest cases fails when it is run.
  bool find_smallest() {
    constexpr int kMostRuns = 40;  // of one kind
    // The traced engine takes milliseconds where an index has 16 bits.
    const Engine engine =
        limits_of(best_.smallest.c.implementation.index_type).bits == 16 ? Engine::kSymbolic : Engine::kAuto;
    const Fails predicted = [&](const Case& c) { return predicted_to_fail(c, engine); };
    const Exact most = memory_of(best_.smallest.c);
    for (const Case& kind : kinds()) {
      DeviceOccupancy occupancy(examiner_.device(), kind.implementation, examiner_.worker());
      const int first_run = best_.runs;
      std::vector<Case> cases = smallest_cases(kind, occupancy, most, predicted);
      std::sort(cases.begin(), cases.end(), [&](const Case& a, const Case& b) { return order(a) < order(b); });
      for (Case& c : cases) {
        if (best_.runs - first_run >= kMostRuns) break;
        if (settle(c) && fails(c)) return true;
      }
    }
    return false;
  }

  void descend_by_runs() {
    const std::vector<Case> simpler_kinds = kinds();
    for (const Case& kind : simpler_kinds) {
      if (kind == best_.smallest.c || fails(kind)) break;
    }
    descend(best_.smallest.c, [&](const Case& c) { return fails(c); });
  }

  Examiner& examiner_;
  Role role_;
  int max_runs_;
  Shrunk best_;
};

}  // namespace

Shrunk shrink(Examiner& examiner, const Examination& failing, Role role, int max_runs) {
  return Shrinking(examiner, failing, role, max_runs).run();
}

}  // namespace brink
