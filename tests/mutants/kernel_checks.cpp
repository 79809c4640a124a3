#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>

#include "kernels/execution/host_run.h"
#include "properties/column_value.h"
#include "properties/execution.h"
#include "properties/expression_values.h"
#include "properties/launch_check.h"
#include "properties/observe.h"
#include "tests/mutants/checks.h"

namespace brink {

namespace {

/// Holds at most `threads` threads per block and `blocks` blocks, fewer of them backward.
class SmallDevice : public OccupancyQuery {
 public:
  SmallDevice(int64_t threads, int64_t blocks, int64_t blocks_backward)
      : threads_(threads), blocks_(blocks), blocks_backward_(blocks_backward) {}
  Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) override {
    asked_threads = threads;
    asked_shared_bytes = shared_bytes;
    if (threads > threads_) return {"", 0};
    return {"", is_forward(kernel.operation) ? blocks_ : blocks_backward_};
  }
  int64_t asked_threads = 0;
  int64_t asked_shared_bytes = 0;

 private:
  int64_t threads_;
  int64_t blocks_;
  int64_t blocks_backward_;
};

std::string text_of(const Decomposition& shape) {
  return fmt::format("[{}, {}, {}]", shape.outer_size, shape.dim_size, shape.inner_size);
}

template <class T>
struct Arrays {
  explicit Arrays(int64_t numel) : numel_elements(numel) {
    const auto words = static_cast<size_t>(numel * static_cast<int64_t>(sizeof(T)) / 16 + 2);
    for (auto& memory : words_) memory.resize(words);
    tensors.inputs[0] = words_[0].data();
    tensors.inputs[1] = words_[1].data();
    tensors.output = words_[2].data();
    tensors.numel = numel;
    tensors.windows = {{0, numel - 1, std::vector<uint8_t>(static_cast<size_t>(numel))}};
    using Bits = typename ElementTraits<T>::Bits;
    std::fill_n(static_cast<Bits*>(tensors.output), numel, static_cast<Bits>(poison_bits(sizeof(T))));
  }
  T* input(int tensor) { return static_cast<T*>(tensors.inputs[tensor]); }
  double output(int64_t n) const { return ElementTraits<T>::load(static_cast<const T*>(tensors.output)[n]); }

  int64_t numel_elements;
  HostTensors tensors;

 private:
  struct alignas(16) Words {
    double v[2];
  };
  std::vector<Words> words_[3];
};

// A launch of each variant, on narrow proportions.
const Decomposition kShapes[] = {{5, 7, 1}, {3, 45, 1}, {2, 9, 3}, {4, 3, 21}, {1, 1, 1}, {2, 100, 2}};

template <class T>
std::string agree_with_plain_loops(Operation operation, const Decomposition& shape, std::mt19937_64& random) {
  using Traits = ElementTraits<T>;
  using Acc = typename Traits::Acc;
  FixedOccupancy occupancy(3);
  const auto sized = std::get<SizedLaunch>(
      size_launch(shape, operation, Traits::kDType, IndexType::kI64, KernelLimits::scaled(), occupancy));
  Arrays<T> arrays(shape.numel());
  for (int64_t n = 0; n < shape.numel(); ++n) {
    // Forward: all of a column far below 0, above it, or mixed. Backward: products of 8 and 8 significant bits.
    const int64_t column = n / (shape.dim_size * shape.inner_size) + n % shape.inner_size;
    const auto spread = static_cast<Acc>(random() % 64) / 8;
    const Acc x = column % 3 == 0 ? -300 - spread : column % 3 == 1 ? 200 + spread : spread - 4;
    const auto grad = static_cast<Acc>(static_cast<int>(random() % 511) - 255) / 256;
    arrays.input(0)[n] = Traits::store(is_forward(operation) ? x : grad);
    const auto output = static_cast<Acc>(random() % 255 + 1) / 256;
    arrays.input(1)[n] = Traits::store(is_log(operation) ? -output : output);
  }
  const KernelId kernel{operation, sized.variant, Traits::kDType, IndexType::kI64};
  if (run_on_host(kernel, shape, sized.launch, nullptr, 1 << 20, arrays.tensors) != BlockEnd::kCompleted)
    return "ends early";
  const auto round = [](Acc v) { return Traits::load(Traits::store(v)); };
  for (int64_t outer = 0; outer < shape.outer_size; ++outer) {
    for (int64_t inner = 0; inner < shape.inner_size; ++inner) {
      const auto at = [&](int64_t d) { return linear_index(shape, {outer, d, inner}); };
      const auto in = [&](int tensor, int64_t d) { return Traits::load(arrays.input(tensor)[at(d)]); };
      double largest = in(0, 0);
      for (int64_t d = 0; d < shape.dim_size; ++d) largest = std::max<double>(largest, in(0, d));
      double sum = 0;
      for (int64_t d = 0; d < shape.dim_size; ++d) {
        if (is_forward(operation)) {
          sum += std::exp(in(0, d) - largest);
        } else {
          sum += is_log(operation) ? in(0, d) : round(in(0, d) * in(1, d));
        }
      }
      for (int64_t d = 0; d < shape.dim_size; ++d) {
        double expected = 0;
        if (operation == Operation::kSoftmaxForward) expected = std::exp(in(0, d) - largest) / sum;
        if (operation == Operation::kLogSoftmaxForward) expected = in(0, d) - largest - std::log(sum);
        if (operation == Operation::kLogSoftmaxBackward) expected = in(0, d) - std::exp(double{in(1, d)}) * sum;
        if (operation == Operation::kSoftmaxBackward) {
          expected = round(in(0, d) * in(1, d)) - in(1, d) * static_cast<Acc>(sum);
        }
        const double found = arrays.output(at(d));
        // The sums of softmax backward's rounded products are exact in float; what follows rounds once.
        const double epsilon = sizeof(T) == 2 ? 0x1p-10 : sizeof(T) == 4 ? 0x1p-20 : 0x1p-46;
        const bool exact = operation == Operation::kSoftmaxBackward;
        const bool right = exact ? found == round(static_cast<Acc>(expected))
                                 : std::abs(found - expected) <= epsilon * std::max(1.0, std::abs(expected));
        if (!right) {
          return fmt::format("{} {} of {}: element {} is {}, not {}", name_of(operation), name_of(Traits::kDType),
                             text_of(shape), at(d), found, expected);
        }
      }
    }
  }
  return "";
}

}  // namespace

std::string operations_agree_with_plain_loops() {
  std::mt19937_64 random(1);
  for (const Operation operation : kOperations) {
    for (const Decomposition& shape : kShapes) {
      std::string problem = agree_with_plain_loops<F16>(operation, shape, random);
      if (problem.empty()) problem = agree_with_plain_loops<float>(operation, shape, random);
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

std::string memory_notes_what_lies_outside() {
  Arrays<F16> arrays(40);
  const HostMemory<F16> memory(arrays.tensors);
  // Two reads and two writes, each partly outside.
  memory.load<8>(0, int64_t{-3});
  memory.load<1>(1, int64_t{50});
  memory.store(int64_t{36}, Pack<float, 8>{});
  memory.store(int64_t{-7}, Pack<float, 1>{});
  if (arrays.tensors.out_of_bounds.intervals() != std::vector<Interval>{{-7, -7}, {-3, -1}, {40, 43}, {50, 50}}) {
    return "addresses outside";
  }
  for (int64_t n = 0; n < 40; ++n) {
    if (arrays.tensors.windows[0].writes[static_cast<size_t>(n)] != (n >= 36 ? 1 : 0))
      return fmt::format("writes of {}", n);
  }
  return "";
}

std::string closed_forms_tell_wrapped_addresses_apart() {
  for (const Operation operation : kOperations) {
    for (const int prime : {3, 5, 7}) {
      // Each second element is hot, and so is the one a power of two further on.
      const ClosedForm form{operation, DType::kF16, FormFamily::kCoded, prime, {int64_t{1} << 50, 2, 1}};
      for (int k = 1; k < 45; ++k) {
        for (int64_t n = 1; n < 60; n += 2) {
          const int64_t other = n + (int64_t{1} << k);
          bool differ = false;
          for (int tensor = 0; tensor < input_count(operation); ++tensor) {
            differ = differ || form.input(tensor, n) != form.input(tensor, other);
          }
          if (!differ) return fmt::format("{} prime {}: {} and {}", name_of(operation), prime, n, other);
        }
      }
    }
  }
  return "";
}

std::string closed_forms_are_the_operations_answers() {
  for (const Operation operation : kOperations) {
    for (const DType dtype : kDTypes) {
      for (const FormFamily family : {FormFamily::kSeed, FormFamily::kCoded, FormFamily::kCodedOutput}) {
        if (family == FormFamily::kCodedOutput && operation != Operation::kLogSoftmaxBackward) continue;
        for (const int prime : {3, 5, 7}) {
          for (const Decomposition& shape :
               {Decomposition{3, 2, 5}, Decomposition{2, 9, 1}, Decomposition{1, 1, 8}, Decomposition{1, 200, 2}}) {
            const ClosedForm form{operation, dtype, family, prime, shape};
            for (int64_t n = 0; n < shape.numel(); ++n) {
              const Position at = position_of(shape, n);
              const uint64_t bits = column_value(form, shape.dim_size, at.dim, [&](int64_t d) {
                return linear_index(shape, {at.outer, d, at.inner});
              });
              if (!same_value(dtype, bits, expected_bits(form, n))) {
                return fmt::format("{} {} {} prime {} of {}: element {}", name_of(operation), name_of(dtype),
                                   name_of(family), prime, text_of(shape), n);
              }
            }
          }
        }
      }
    }
  }
  return "";
}

namespace {

// The largest value under any name. Byte offsets are 64-bit pointer arithmetic in every kernel, and column offsets are
// computed by the threads past a row's end too, which use them for nothing.
Exact largest_expression(const Decomposition& shape, const SizedLaunch& sized, DType dtype) {
  const ExpressionValues values = largest_values(shape, sized, dtype);
  Exact largest = 0;
  for (int i = 0; i < kExpressionCount; ++i) {
    const auto expression = static_cast<Expression>(i);
    if (expression == Expression::kByteOffset || expression == Expression::kColumnOffset) continue;
    if (values[expression]) largest = std::max(largest, *values[expression]);
  }
  return largest;
}

template <class F>
std::string for_launches(const F& f) {
  for (const KernelLimits& limits : {KernelLimits::scaled(), KernelLimits::real()}) {
    for (const int64_t blocks : {1, 4, 1000}) {
      for (const DType dtype : {DType::kF16, DType::kF64}) {
        FixedOccupancy occupancy(blocks);
        for (const int64_t outer : {1, 2, 3, 7, 16, 17, 40, 255}) {
          for (const int64_t dim : {1, 2, 3, 5, 12, 13, 16, 17, 60, 127, 200, 1500}) {
            for (const int64_t inner : {1, 2, 3, 4, 5, 16, 17, 50, 100, 255, 1025}) {
              const Decomposition shape{outer, dim, inner};
              const auto made =
                  size_launch(shape, Operation::kSoftmaxForward, dtype, IndexType::kI64, limits, occupancy);
              std::string problem = f(shape, std::get<SizedLaunch>(made), dtype);
              if (!problem.empty()) return problem;
            }
          }
        }
      }
    }
  }
  return "";
}

}  // namespace

std::string largest_index_values_are_those_of_the_expressions() {
  return for_launches([](const Decomposition& shape, const SizedLaunch& sized, DType dtype) -> std::string {
    const Exact expressions = largest_expression(shape, sized, dtype);
    const int64_t largest = largest_index_value(shape, sized, dtype);
    if (largest < expressions) {
      return fmt::format("{} {}: some expression reaches {}, beyond {}", text_of(shape), name_of(sized.variant),
                         static_cast<int64_t>(expressions), largest);
    }
    // Little margin: a row that begins at an odd place, whole blocks past the end.
    const int64_t margin = sized.variant == Variant::kBlock  ? vector_size(dtype) - 1
                           : sized.variant == Variant::kWarp ? 1
                                                             : sized.launch.block_y - 1;
    if (largest > std::max<Exact>(expressions, shape.numel()) + margin) {
      return fmt::format("{} {}: {}, but no expression exceeds {}", text_of(shape), name_of(sized.variant), largest,
                         static_cast<int64_t>(expressions));
    }
    return "";
  });
}

std::string narrow_indices_are_chosen_where_they_fit_both_directions() {
  // Devices that hold as many blocks of either direction, fewer of one, or fewer of the other.
  for (int64_t pair = 0; pair < 48; ++pair) {
    SmallDevice device(16, 1 + pair % 16, 1 + pair / 16 * 8);
    for (const char* name : {"dispatched/u8", "dispatched/i8"}) {
      const Implementation implementation = *parse_implementation(name);
      const int64_t max = limits_of(implementation.index_type).max;
      const DType dtype = DType::kF16;
      for (int64_t outer = 1; outer <= 270; outer += outer < 20 ? 1 : 7) {
        for (int64_t dim = 1; outer * dim <= 270; dim += dim < 20 ? 1 : 7) {
          for (int64_t inner = 1; outer * dim * inner <= 270; ++inner) {
            const Decomposition shape{outer, dim, inner};
            Exact largest = shape.numel();
            int64_t reached = 0;
            for (const Operation operation : {Operation::kSoftmaxForward, Operation::kSoftmaxBackward}) {
              const auto sized = std::get<SizedLaunch>(size_launch(shape, operation, dtype, implementation.index_type,
                                                                   implementation.kernel_limits(), device));
              largest = std::max(largest, largest_expression(shape, sized, dtype));
              reached = std::max(reached, largest_index_value(shape, sized, dtype));
            }
            for (const Operation operation : {Operation::kSoftmaxForward, Operation::kSoftmaxBackward}) {
              const auto decided = std::get<Dispatch>(dispatch(implementation, shape, operation, dtype, device));
              const bool narrow = decided.index_type == implementation.index_type;
              if (narrow ? largest > max : reached <= max) {
                return fmt::format("{} {} of {} takes {}, where {} is reached", name, name_of(operation),
                                   text_of(shape), name_of(decided.index_type), static_cast<int64_t>(largest));
              }
            }
          }
        }
      }
    }
  }
  return "";
}

std::string launches_for_small_devices_are_right() {
  for (const int64_t threads : {1, 2, 5, 8, 16}) {
    for (const int64_t blocks : {1, 3}) {
      for (const Operation operation : kOperations) {
        for (const Decomposition& shape : kShapes) {
          SmallDevice device(threads, blocks, blocks);
          const auto made = size_launch(shape, operation, DType::kF16, IndexType::kI64, KernelLimits::scaled(), device);
          const auto* sized = std::get_if<SizedLaunch>(&made);
          const std::string what = fmt::format("{} of {} on {} threads", name_of(operation), text_of(shape), threads);
          if (sized == nullptr) {
            // A row's lanes in one warp do not shrink.
            if (path_of(shape) == Path::kLastDim && shape.dim_size > threads && shape.dim_size <= 12) continue;
            return what + ": rejected";
          }
          const Launch& launch = sized->launch;
          // Blocks that join their threads' values need a place for each, also where one thread is left.
          const bool shares = sized->variant == Variant::kBlock || sized->variant == Variant::kReduce;
          const int64_t shared = shares ? launch.threads() * 4 : 0;
          if (launch.threads() > threads || device.asked_threads != launch.threads())
            return what + ": too many threads";
          if (launch.shared_bytes != shared || device.asked_shared_bytes != shared) return what + ": shared memory";
          if (launch.grid_x < 1 || launch.grid_y < 1) return what + ": an empty grid";
          if ((launch.block_x & (launch.block_x - 1)) != 0) return what + ": block.x is no power of two";
          Arrays<F16> arrays(shape.numel());
          const ClosedForm form{operation, DType::kF16, FormFamily::kCoded, 7, shape};
          for (int tensor = 0; tensor < 2; ++tensor) {
            for (int64_t n = 0; n < shape.numel(); ++n) {
              arrays.input(tensor)[n] = ElementTraits<F16>::store(static_cast<float>(form.input(tensor, n)));
            }
          }
          const KernelId kernel{operation, sized->variant, DType::kF16, IndexType::kI64};
          if (run_on_host(kernel, shape, launch, nullptr, 1 << 20, arrays.tensors) != BlockEnd::kCompleted)
            return what + ": hang";
          RawObservation raw;
          observe_windows<F16>(form, arrays.tensors, raw);
          if (!raw.wrong.empty() || !raw.unwritten.empty() || !raw.written_twice->empty() ||
              !raw.out_of_bounds.empty()) {
            return what + ": a wrong answer";
          }
        }
      }
    }
  }
  return "";
}

std::string launches_hold_every_property_on_simulated_devices() {
  Draws draws(5);
  int torn = 0;
  for (int i = 0; i < 4000; ++i) {
    LaunchTrial trial = draw_launch_trial(draws);
    if (std::string problem = launch_problem(trial, LaunchHelper::kChecked); !problem.empty()) {
      return fmt::format("{}: {}", to_text(trial), problem);
    }
    trial.request.build = Build::kTornBarrier;
    trial.request.index_type = IndexType::kI64;
    torn += launch_problem(trial, LaunchHelper::kChecked).starts_with("barrier ") ? 1 : 0;
  }
  return torn > 0 ? "" : "no torn barrier is noticed";
}

}  // namespace brink
