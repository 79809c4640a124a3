#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace brink {

/// Cells of one launch as evidence holds them: of a path, variant, direction and index type, in a launch form, and per
/// expression, boundary and side the locations, such as "element_offset 2^32-1 above start,boundary,end". `places` are
/// those of the matrix, such as "start,2^31-1,end"; empty for scale models.
struct CellList {
  std::string of;
  std::string form;
  std::vector<std::string> at;
  std::string places;
};

/// What a report counts of one line of evidence; names are those of the line. See evidence.cpp for all of it.
struct EvidenceRecord {
  int64_t version = 0;  ///< of the format
  std::string command;
  std::string brink_version;
  std::string device;
  std::string device_name;
  std::string role;
  uint64_t seed = 0;
  bool required = false;

  std::string operation;
  std::string dtype;
  std::string implementation;
  std::string memory;
  std::vector<int64_t> shape;
  int64_t axis = 0;
  uint64_t case_seed = 0;
  int64_t dense_bytes = 0;

  std::string predicted_verdict;
  std::string verdict;
  std::string reason;
  std::string path;
  std::string variant;
  std::string index_type;
  std::string said_by;  ///< "kernel", "launcher", or empty where nothing was launched
  std::vector<int64_t> grid;
  std::vector<int64_t> block;
  CellList reached;
  CellList planned;
  int64_t held_bytes = 0;
  std::string cause;  ///< empty: no finding

  enum Time { kPredict, kPrepare, kKernel, kCompare, kAll, kTimes };
  std::array<int64_t, kTimes> microseconds{};

  /// As new, but keeps its memory for the next line.
  void clear();
  bool executed() const { return verdict != "not_executed"; }
  /// A case of an empty tensor is executed without a launch.
  bool launched() const { return executed() && (!said_by.empty() || verdict == "launch_rejected"); }
  bool is_finding() const { return !cause.empty(); }
};

/// Reads lines of evidence, a million in seconds: it looks at no more of a line than a record has.
class EvidenceParser {
 public:
  EvidenceParser();
  ~EvidenceParser();
  EvidenceParser(const EvidenceParser&) = delete;
  EvidenceParser& operator=(const EvidenceParser&) = delete;

  /// Reads one line, without its newline, into `record`. The error is one line.
  std::string parse(std::string_view line, EvidenceRecord& record);

 private:
  struct Handler;
  std::unique_ptr<Handler> handler_;
};

}  // namespace brink
