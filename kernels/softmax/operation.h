#pragma once

#include <optional>
#include <string_view>

namespace brink {

enum class Operation { kSoftmaxForward, kSoftmaxBackward, kLogSoftmaxForward, kLogSoftmaxBackward };

inline constexpr Operation kOperations[] = {Operation::kSoftmaxForward, Operation::kSoftmaxBackward,
                                            Operation::kLogSoftmaxForward, Operation::kLogSoftmaxBackward};

constexpr std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::kSoftmaxForward:
      return "softmax_forward";
    case Operation::kSoftmaxBackward:
      return "softmax_backward";
    case Operation::kLogSoftmaxForward:
      return "log_softmax_forward";
    case Operation::kLogSoftmaxBackward:
      break;
  }
  return "log_softmax_backward";
}

constexpr bool is_forward(Operation operation) {
  return operation == Operation::kSoftmaxForward || operation == Operation::kLogSoftmaxForward;
}

constexpr bool is_log(Operation operation) {
  return operation == Operation::kLogSoftmaxForward || operation == Operation::kLogSoftmaxBackward;
}

/// The same function in the other direction.
constexpr Operation counterpart(Operation operation) {
  switch (operation) {
    case Operation::kSoftmaxForward:
      return Operation::kSoftmaxBackward;
    case Operation::kSoftmaxBackward:
      return Operation::kSoftmaxForward;
    case Operation::kLogSoftmaxForward:
      return Operation::kLogSoftmaxBackward;
    case Operation::kLogSoftmaxBackward:
      break;
  }
  return Operation::kLogSoftmaxForward;
}

/// Tensors that the operation reads: x forward; grad and output backward.
constexpr int input_count(Operation operation) { return is_forward(operation) ? 1 : 2; }

constexpr std::optional<Operation> parse_operation(std::string_view name) {
  for (const Operation operation : kOperations) {
    if (name_of(operation) == name) return operation;
  }
  return std::nullopt;
}

}  // namespace brink
