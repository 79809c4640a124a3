#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "properties/evidence.h"

namespace brink {

/// A user's mistake: one line for standard error, exit status 2.
struct UsageError {
  std::string message;
};

/// What was asked for needs something that is not here, such as a GPU: one line, exit status 3.
struct NotExecuted {
  std::string message;
};

inline constexpr int kExitOk = 0;
inline constexpr int kExitFinding = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotExecuted = 3;

/// The options that describe a case, as text.
struct CaseOptions {
  std::string file;
  std::string operation = "softmax_backward";
  std::string shape;
  int64_t axis = -1;
  std::string dtype = "f16";
  std::string implementation = "dispatched";
  std::string form = "coded";
  int prime = 0;  ///< 0: chosen so that the prediction is exact
  std::string memory;
  uint64_t seed = 0;

  void add_to(CLI::App& command);
  /// Reads the file, or puts the case together; throws UsageError.
  Case to_case(Device device) const;
};

/// The option --evidence.
struct EvidenceOption {
  std::string file;

  void add_to(CLI::App& command);
  /// Opens the file; null where the option was not given. Throws UsageError.
  std::unique_ptr<Ledger> open(EvidenceSource source) const;
};

/// The options --limit and --memory-limit of what one run may take.
struct LimitOptions {
  double seconds = 0;
  std::string memory;

  void add_to(CLI::App& command);
  /// `usual`, but for what the options say. Throws UsageError.
  RunLimits over(RunLimits usual) const;
};

/// Prints JSON with a newline at its end; bytes that are no UTF-8, as in a file's name, are replaced.
void print_json(const nlohmann::ordered_json& j);

/// Throws UsageError where evidence is missing from the ledger, which may be null.
void require_written(const Ledger* ledger);

/// Checks for CLI::Option::check: an error in one line, or an empty string.
std::string check_positive(const std::string& text);
std::string check_not_negative(const std::string& text);

/// Reads an amount of memory such as 200MiB or 30GiB as bytes. Throws UsageError that names the option.
int64_t bytes_option(const std::string& option, const std::string& text);

/// Reads a file of at most `max_bytes`. Throws UsageError.
std::string read_input(const std::string& path, size_t max_bytes = size_t{1} << 20);

/// Reads a shape such as 1,2,2147483649; "scalar" has no dimensions. Throws UsageError.
std::vector<int64_t> parse_shape(const std::string& text);

Device parse_device(const std::string& name);
Operation operation_option(const std::string& name);
DType dtype_option(const std::string& name);
Implementation implementation_option(const std::string& name);
MemoryKind memory_option(const std::string& name);
/// Reads 90, 90s, 10m or 8h, the value of --time, as seconds; throws UsageError.
double parse_duration(const std::string& text, bool zero_allowed);

}  // namespace brink
