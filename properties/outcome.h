#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/index/traced.h"
#include "kernels/softmax/launch.h"
#include "properties/box.h"

namespace brink {

enum class Verdict {
  kOk,
  kMismatch,        ///< wrong or contended elements
  kUnwritten,       ///< every element that was written is right
  kOutOfBounds,     ///< touched addresses outside a tensor, and survived
  kFault,           ///< touched addresses outside every mapping
  kHang,            ///< a loop never ends
  kLaunchRejected,  ///< the device refuses the launch
  kOutOfMemory,     ///< the implementation takes more memory than there is, or than it may
  kNotExecuted,
};

std::string_view name_of(Verdict verdict);

/// The overflow behind the first wrong address, in the order of the elements that were meant.
struct FirstOverflow {
  Overflow overflow;
  std::optional<Position> where;  ///< nothing for a size or a loop counter
};

/// One form for what was predicted and what was observed. A fault, a hang and a rejected launch leave no result, so
/// their element sets are empty.
struct Outcome {
  Verdict verdict = Verdict::kNotExecuted;
  std::string reason;  ///< for kNotExecuted, kLaunchRejected, kOutOfMemory and kFault
  Path path = Path::kLastDim;
  std::optional<Variant> variant;
  std::optional<IndexType> index_type;
  std::optional<Launch> launch;
  LaunchForm launch_form = LaunchForm::kResident;  ///< counts where there is a launch
  std::optional<FirstOverflow> first_overflow;     ///< predictions only: memory does not show it
  std::vector<Box> wrong;
  std::vector<Box> never_written;
  std::vector<Box> contended;
  std::vector<Interval> out_of_bounds;
  bool exact = true;  ///< false: the sets are supersets (prediction) or were cut off (observation)
};

/// mismatch, unwritten or ok, from the sets alone.
Verdict verdict_of_sets(const Outcome& outcome);

nlohmann::ordered_json to_json(const Outcome& outcome);

/// Decimal text of a 128-bit integer.
std::string to_string(Exact value);

}  // namespace brink
