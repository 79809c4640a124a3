#include <fmt/format.h>
#include <rapidcheck.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/case_mutation.h"
#include "properties/examine.h"

// How long RapidCheck takes to find the wrap of spatial/u32 backward where a case's sizes come from its own inRange:
// the baseline of tools/bench/find_wrap. What the run is asked for is what the fuzz targets are asked for there.
//
// usage: find_wrap_in_range SEED LARGEST_SIZE MOST_CASES
// Prints how many cases it ran. Exit status: 0 none of them wrapped, 77 the last one did, as libFuzzer's.

namespace {

using brink::Case;

rc::Gen<Case> cases_of(const brink::MutationLimits& limits, int64_t largest_size) {
  return rc::gen::mapcat(rc::gen::inRange<int64_t>(2, 5), [=](int64_t rank) {
    return rc::gen::map(rc::gen::tuple(rc::gen::container<std::vector<int64_t>>(
                                           static_cast<size_t>(rank), rc::gen::inRange<int64_t>(1, largest_size + 1)),
                                       rc::gen::noShrink(rc::gen::resize(100, rc::gen::inRange<int64_t>(0, rank))),
                                       rc::gen::elementOf(limits.dtypes), rc::gen::elementOf(std::vector<int>{3, 5, 7}),
                                       rc::gen::arbitrary<uint64_t>()),
                        [=](const std::tuple<std::vector<int64_t>, int64_t, brink::DType, int, uint64_t>& drawn) {
                          Case c;
                          std::tie(c.shape, c.axis, c.dtype, c.prime, c.seed) = drawn;
                          c.operation = limits.operations.front();
                          c.implementation = limits.implementations.front();
                          return c;
                        });
  });
}

int run(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: find_wrap_in_range SEED LARGEST_SIZE MOST_CASES\n");
    return 2;
  }
  const int64_t largest_size = std::atoll(argv[2]);
  const int64_t most_cases = std::atoll(argv[3]);
  brink::MutationLimits limits;
  limits.operations = {brink::Operation::kSoftmaxBackward};
  limits.implementations = {*brink::parse_implementation("spatial/u32")};
  const auto generator = cases_of(limits, largest_size);
  brink::Examiner examiner(brink::Device::kHost);
  rc::Random random(static_cast<uint64_t>(std::atoll(argv[1])));
  int64_t cases = 0;
  bool found = false;
  while (!found && cases < most_cases) {
    // As in rc::check, the size grows from case to case, up to 100.
    const int size = static_cast<int>(cases % (rc::kNominalSize + 1));
    const Case c = generator(random.split(), size).value();
    ++cases;
    if (!brink::refusal_of(c, limits).empty()) continue;
    const brink::Examination e = examiner.examine(c);
    found = !brink::findings(e, brink::Role::kUser).empty();
    if (found) fmt::print("{} is {}\n", brink::to_text(c), brink::name_of(e.observed.verdict));
  }
  fmt::print("stat::number_of_executed_units: {}\n", cases);
  return found ? 77 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (...) {
    std::fputs("find_wrap_in_range: an error\n", stderr);
    return 2;
  }
}
