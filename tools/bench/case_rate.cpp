#include <benchmark/benchmark.h>

#include <map>

#include "properties/examine.h"
#include "properties/generator.h"

// Cases per second on one core, whole and by stage: how fast a case is generated, predicted, and predicted, run and
// compared. Cases are those that `brink check` draws with seed 7; what only says that nothing was executed is left out.

namespace brink {
namespace {

constexpr int kCases = 4000;

enum class Scale { kNarrow, kTrueWidth };

GeneratorOptions options_of(Scale scale) {
  GeneratorOptions options;
  std::erase_if(options.implementations,
                [&](const Implementation& i) { return i.scaled() != (scale == Scale::kNarrow); });
  return options;
}

const CaseGenerator& generator_of(Scale scale) {
  static std::map<Scale, std::unique_ptr<CaseGenerator>> generators;
  auto& generator = generators[scale];
  if (generator == nullptr) generator = std::make_unique<CaseGenerator>(options_of(scale));
  return *generator;
}

// 8-bit kernels on shapes of up to 1,024 elements, as in the exhaustive test.
std::vector<Case> narrow_cases() {
  Draws draws(7);
  std::vector<Case> cases;
  while (cases.size() < kCases) {
    const int64_t outer = draws.between(1, 1024);
    const int64_t dim = draws.between(1, 1024);
    const int64_t inner = draws.between(1, 1024);
    if (outer * dim * inner > 1024) continue;
    Case c;
    c.operation = kOperations[draws.below(4)];
    c.shape = {outer, dim, inner};
    c.axis = 1;
    c.implementation = {WidthRule::kFixed, draws.chance(50) ? IndexType::kU8 : IndexType::kI8,
                        inner == 1 ? Path::kLastDim : Path::kSpatial};
    cases.push_back(c);
  }
  return cases;
}

const std::vector<Case>& cases_of(Scale scale) {
  static std::map<Scale, std::vector<Case>> all;
  auto& cases = all[scale];
  if (cases.empty() && scale == Scale::kNarrow) cases = narrow_cases();
  if (cases.empty()) {
    cases = generator_of(scale).generate(7, kCases);
    std::erase_if(cases, [](const Case& c) { return std::get<Decomposition>(decompose(c)).numel() == 0; });
  }
  return cases;
}

template <class Step>
void run_over_cases(benchmark::State& state, Scale scale, const Step& step) {
  const std::vector<Case>& cases = cases_of(scale);
  size_t next = 0;
  for (auto _ : state) {
    step(cases[next]);
    next = (next + 1) % cases.size();
  }
  state.SetItemsProcessed(state.iterations());
}

void generate(benchmark::State& state, Scale scale) {
  Draws draws(7);
  for (auto _ : state) benchmark::DoNotOptimize(generator_of(scale).draw(draws));
  state.SetItemsProcessed(state.iterations());
}

void predict_case(benchmark::State& state, Scale scale) {
  run_over_cases(state, scale, [](const Case& c) {
    FixedOccupancy occupancy = host_occupancy(c.implementation);
    benchmark::DoNotOptimize(predict(c, occupancy));
  });
}

void examine_case(benchmark::State& state, Scale scale) {
  Examiner examiner(Device::kHost);
  run_over_cases(state, scale, [&](const Case& c) { benchmark::DoNotOptimize(examiner.examine(c)); });
}

BENCHMARK_CAPTURE(generate, narrow, Scale::kNarrow);
BENCHMARK_CAPTURE(predict_case, narrow, Scale::kNarrow);
BENCHMARK_CAPTURE(examine_case, narrow, Scale::kNarrow)->MinTime(4);
BENCHMARK_CAPTURE(generate, true_width, Scale::kTrueWidth);
BENCHMARK_CAPTURE(predict_case, true_width, Scale::kTrueWidth);
BENCHMARK_CAPTURE(examine_case, true_width, Scale::kTrueWidth)->MinTime(8);

}  // namespace
}  // namespace brink

BENCHMARK_MAIN();
