#include "properties/expression_values.h"

#include <gtest/gtest.h>

#include <map>

#include "kernels/execution/host_run.h"
#include "properties/execution.h"
#include "properties/outcome.h"

// The values are checked against the kernels themselves, run with an index type that never wraps and that writes down
// the largest value under each name.

namespace brink {

ExpressionValues recorded;  // what the run in progress has named so far

/// An index type for this test alone.
struct Recorder {
  int64_t value = 0;
  constexpr Recorder() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): constants mix with it as they do with plain integers
  constexpr Recorder(int64_t v) : value(v) {}
};

inline Recorder mul(const Recorder& a, const Recorder& b) { return a.value * b.value; }
inline Recorder add(const Recorder& a, const Recorder& b) { return a.value + b.value; }
inline bool less(const Recorder& a, const Recorder& b) { return a.value < b.value; }
template <int N>
Recorder divide_by(const Recorder& a) {
  return a.value / N;
}
inline long long address(const Recorder& a) { return a.value; }
template <class I, class V, std::enable_if_t<std::is_same_v<I, Recorder>, int> = 0>
Recorder named(Expression name, const V& v) {
  const Recorder result = v;
  recorded.consider(name, result.value);
  return result;
}

namespace {

/// Holds nothing; writes down the last byte address that a kernel touches.
template <class T>
struct RecordingMemory {
  using Acc = typename ElementTraits<T>::Acc;
  static constexpr int kVector = ElementTraits<T>::kVector;

  template <int K>
  Pack<Acc, K> load(int /*tensor*/, const Recorder& at) const {
    touch(at.value + K - 1);
    return {};
  }
  template <int K>
  void store(const Recorder& at, const Pack<Acc, K>& /*values*/) const {
    touch(at.value + K - 1);
  }
  Acc round(Acc value) const { return value; }
  int misalignment(const Recorder& base) const { return static_cast<int>(base.value & (kVector - 1)); }

 private:
  void touch(int64_t n) const { recorded.consider(Expression::kByteOffset, n * static_cast<int64_t>(sizeof(T))); }
};

template <class T>
void run_recording(const Decomposition& shape, const SizedLaunch& sized) {
  recorded = ExpressionValues();
  const RecordingMemory<T> memory;
  static HostBlock block;
  with_variant(sized.variant, [&](auto variant) {
    const auto body = [&](HostThread& thread) {
      run_kernel<Operation::kLogSoftmaxBackward, decltype(variant)::value, Recorder>(thread, memory, shape);
    };
    const BlockEnd end = for_each_block(sized.launch, nullptr, [&](const BlockPart& part) {
      return run_part(block, sized.launch, sized.variant, 1 << 20, part, body);
    });
    ASSERT_EQ(end, BlockEnd::kCompleted);
  });
}

template <class T>
void compare(const Decomposition& shape, const SizedLaunch& sized, DType dtype) {
  run_recording<T>(shape, sized);
  const ExpressionValues values = largest_values(shape, sized, dtype);
  for (int i = 0; i < kExpressionCount; ++i) {
    const auto expression = static_cast<Expression>(i);
    const auto text = [&](const std::optional<Exact>& v) { return v ? to_string(*v) : "not computed"; };
    ASSERT_EQ(text(values[expression]), text(recorded[expression]))
        << name_of(expression) << " of [" << shape.outer_size << ", " << shape.dim_size << ", " << shape.inner_size
        << "] " << name_of(dtype) << " " << name_of(sized.variant) << " block " << sized.launch.block_x << " x "
        << sized.launch.block_y << " grid " << sized.launch.grid_x << " x " << sized.launch.grid_y;
  }
}

// Every shape of up to `numel_max` elements, sized for a device that holds `resident` blocks.
template <class T>
void compare_all(DType dtype, int64_t numel_max, OccupancyQuery& occupancy) {
  const Implementation scaled = *parse_implementation("dispatched/i16");
  std::map<Variant, int> seen;
  for (int64_t outer = 1; outer <= numel_max; ++outer) {
    for (int64_t dim = 1; outer * dim <= numel_max; ++dim) {
      for (int64_t inner = 1; outer * dim * inner <= numel_max; ++inner) {
        const Decomposition shape{outer, dim, inner};
        const auto made = dispatch(scaled, shape, Operation::kLogSoftmaxBackward, dtype, occupancy);
        const SizedLaunch& sized = std::get<Dispatch>(made).sized;
        compare<T>(shape, sized, dtype);
        if (testing::Test::HasFatalFailure()) return;
        ++seen[sized.variant];
      }
    }
  }
  EXPECT_EQ(seen.size(), 4u);
}

TEST(ExpressionValues, AreWhatTheKernelsComputeInF16) {
  FixedOccupancy occupancy = host_occupancy(*parse_implementation("dispatched/i16"));
  compare_all<F16>(DType::kF16, 200, occupancy);
}

TEST(ExpressionValues, AreWhatTheKernelsComputeInF64) {
  FixedOccupancy occupancy = host_occupancy(*parse_implementation("dispatched/i16"));
  compare_all<double>(DType::kF64, 200, occupancy);
}

/// Refuses blocks of more than 8 threads, so that launch sizing halves them.
class SmallBlocks : public OccupancyQuery {
 public:
  Occupancy resident_blocks(const KernelId&, int64_t threads, int64_t) override { return {"", threads > 8 ? 0 : 3}; }
};

TEST(ExpressionValues, AreWhatTheKernelsComputeWithHalvedBlocks) {
  SmallBlocks occupancy;
  compare_all<float>(DType::kF32, 120, occupancy);
}

TEST(ExpressionValues, AreWhatTheKernelsComputeInATrueWidthLaunch) {
  FixedOccupancy occupancy(2);
  for (const Decomposition& shape : {Decomposition{3, 1030, 1}, {3, 2049, 1}, {2, 70, 3}, {2, 2, 2050}, {300, 5, 1}}) {
    const auto sized = size_launch(shape, Operation::kLogSoftmaxBackward, DType::kF16, IndexType::kI64,
                                   KernelLimits::real(), occupancy);
    compare<F16>(shape, std::get<SizedLaunch>(sized), DType::kF16);
  }
}

TEST(ExpressionValues, SeedCaseCrossesInItsElementOffset) {
  // pytorch#188031: softmax backward over axis 1 of [1, 2, 2147483649].
  FixedOccupancy occupancy(270336 / 1024);
  const Decomposition shape{1, 2, 2147483649};
  const auto sized = std::get<SizedLaunch>(
      size_launch(shape, Operation::kSoftmaxBackward, DType::kF16, IndexType::kU32, KernelLimits::real(), occupancy));
  const ExpressionValues values = largest_values(shape, sized, DType::kF16);
  constexpr Exact kMax = 0xffffffff;
  EXPECT_TRUE(*values[Expression::kElementOffset] == kMax + 2);
  EXPECT_TRUE(*values[Expression::kOuterStride] == kMax + 3);
  EXPECT_TRUE(*values[Expression::kDimOffset] < kMax);
  EXPECT_TRUE(*values[Expression::kInnerNext] < kMax);
  EXPECT_TRUE(*values[Expression::kByteOffset] == 2 * (kMax + 2));
  EXPECT_FALSE(values[Expression::kRowBase].has_value());
}

}  // namespace
}  // namespace brink
