#include "fuzz/counted_operations.h"

#include <optional>

#include "fuzz/boundary_counters.h"
#include "fuzz/custom_mutator.h"
#include "fuzz/operations_target.h"

namespace brink {

namespace {
OperationsTarget* target = nullptr;
}

int start_operations(Device device, int argc, char** argv) {
  static OperationsTarget made(device, argc, argv);
  target = &made;
  mutate_as_cases(made.limits());
  return 0;
}

int run_operations(const uint8_t* data, size_t size) {
  count_input();
  const auto examination = target->run({data, size});
  if (!examination) return -1;
  set_counters(counters_of(*examination));
  return 0;
}

}  // namespace brink
