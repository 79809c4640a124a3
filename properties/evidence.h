#pragma once

#include <cstdint>
#include <string>

#include "properties/examine.h"

namespace brink {

/// What all executions of one command have in common.
struct EvidenceSource {
  std::string command;  ///< such as "check"
  std::string version;  ///< of brink
  Device device = Device::kHost;
  Role role = Role::kUser;
  uint64_t seed = 0;
  /// Each case was asked for by itself, so that one that is not executed is a hole. Otherwise the cells are what counts
  /// that the cases were to reach together.
  bool every_case_required = false;
};

/// The evidence of one examination: one line of JSON, version 1, with a newline at its end; see evidence.cpp. What can
/// differ from run to run of one seed is in its last field, "time", alone.
std::string evidence_line(const EvidenceSource& source, const Examination& examination);

/// A file that evidence is appended to, one line an execution. Each line is a single write at the file's end, so
/// several processes may append to one file, and one that is killed leaves whole lines. A line that a full disk or a
/// killed process cut off is marked by whoever appends next: it then ends in kTornMark.
class Ledger {
 public:
  /// Opens the file, or creates it; error() says where that fails.
  Ledger(std::string path, EvidenceSource source);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// Appends one line. After an error nothing more is written.
  void append(const Examination& examination);
  /// What went wrong first, with the file's name, or an empty string.
  const std::string& error() const { return error_; }

 private:
  void append_text(std::string text);

  std::string path_;
  EvidenceSource source_;
  std::string error_;
  int file_ = -1;
};

/// Ends a line that was cut off.
inline constexpr std::string_view kTornMark = "#torn";

}  // namespace brink
