#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "properties/evidence_record.h"

// What the evidence of any number of executions comes to. Sums, largest and smallest values alone, so that the order of
// the lines does not matter.

namespace brink {

/// One line that stands for many: of the smallest tensor, and the first in the alphabet among equals.
class Example {
 public:
  void consider(int64_t dense_bytes, std::string_view line);
  void merge(const Example& other) { consider(other.dense_bytes_, other.line_); }
  const std::string& line() const { return line_; }

 private:
  int64_t dense_bytes_ = 0;
  std::string line_;
};

struct FindingSummary {
  int64_t count = 0;
  Example example;
};

struct NotExecutedSummary {
  int64_t count = 0;
  int64_t required = 0;  ///< of these, cases that had to run and never did
  Example example;
};

/// How the executions ended that reached a cell.
struct CellCounts {
  int64_t right = 0;
  int64_t defects = 0;   ///< known defects that failed exactly as predicted
  int64_t findings = 0;  ///< failed

  void add(const CellCounts& other) {
    right += other.right;
    defects += other.defects;
    findings += other.findings;
  }
};

struct LaunchSummary {
  int64_t count = 0;
  std::array<int64_t, 2> largest_grid{};
  std::set<std::array<int64_t, 2>> blocks;
};

struct MemorySummary {
  int64_t count = 0;
  int64_t largest_dense = 0;  ///< bytes that the tensors of the largest case would take
  int64_t largest_held = 0;   ///< largest amount that any case held
};

struct SpeedSummary {
  int64_t count = 0;
  std::array<int64_t, EvidenceRecord::kTimes> microseconds{};
};

struct RunSummary {
  int64_t count = 0;
  std::set<uint64_t> seeds;  ///< the smallest ones
};

/// A map by several words. Looked up without making strings, as every line does it several times.
template <size_t N, class Value>
class ByWords {
 public:
  using Key = std::array<std::string, N>;

  Value& of(const std::array<std::string_view, N>& words) {
    auto found = entries_.find(words);
    if (found == entries_.end()) {
      Key key;
      for (size_t i = 0; i < N; ++i) key[i] = words[i];
      found = entries_.emplace(std::move(key), Value()).first;
    }
    return found->second;
  }
  Value& operator[](const Key& key) { return entries_[key]; }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  struct Less {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };
  std::map<Key, Value, Less> entries_;
};

class Summary {
 public:
  /// Counts one execution; `line` is its evidence.
  void add(const EvidenceRecord& record, std::string_view line);
  void add_broken(const std::string& message);
  void add_torn() { ++torn; }
  /// Counts what `other` has counted.
  void merge(const Summary& other);
  /// Once everything is counted: which required cases never ran.
  void finish();

  /// Cells that cases were to reach and that no execution reached, with why (the smallest reason; empty where it was
  /// executed and missed).
  std::map<std::string, std::string> missing_cells() const;
  /// Matrix cells that cases were to reach, with why a case was not executed (the smallest reason, or none).
  std::map<std::string, std::string> planned_matrix() const;
  /// Cases that had to run and never did.
  int64_t required_not_executed() const;
  /// 2 a line that cannot be read, 1 a finding, 3 something required was not executed, 0 otherwise.
  int exit_status() const;

  int64_t examined = 0;
  int64_t executed = 0;
  int64_t launched = 0;  ///< executed with a launch: an empty tensor needs none
  int64_t findings_count = 0;
  int64_t defects = 0;  ///< known defects that failed exactly as predicted
  int64_t torn = 0;     ///< lines cut off by a crash or a full disk
  int64_t broken = 0;
  std::vector<std::string> broken_lines;  ///< the first ones
  std::map<std::string, int64_t> verdicts;
  std::map<std::string, FindingSummary> findings;          ///< by cause
  std::map<std::string, NotExecutedSummary> not_executed;  ///< by reason, numbers left out
  ByWords<2, int64_t> predicted_observed;                  ///< by verdicts
  ByWords<3, std::map<std::string, int64_t>> verdicts_of;  ///< device, implementation, operation
  ByWords<6, LaunchSummary> launches;  ///< device, path, variant, index type, launch form, who said so
  ByWords<2, MemorySummary> memory;    ///< device, memory
  ByWords<2, SpeedSummary> speed;      ///< device, memory
  ByWords<5, RunSummary> runs;         ///< command, device, its name, version, role
  std::unordered_map<std::string, CellCounts> matrix_reached;  ///< by packed matrix cell; see unpacked_matrix()
  std::unordered_map<std::string, std::string> matrix_planned;
  std::unordered_map<std::string, CellCounts> reached;   ///< by packed cell; see unpacked()
  std::unordered_map<std::string, std::string> planned;  ///< by packed cell; why it was not executed, if it was not

 private:
  struct Hole {
    std::string reason;
    int64_t count = 0;
  };
  std::unordered_set<uint64_t> executed_cases_;  // of those that are required
  std::unordered_map<uint64_t, Hole> holes_;     // required, not executed
};

/// The cells of a packed key, as to_text(Cell) has them.
std::vector<std::string> unpacked(const std::string& packed);

/// The cells of a packed key, as to_text(MatrixCell) has them.
std::vector<std::string> unpacked_matrix(const std::string& packed);

/// A reason without its numbers, so that reasons that differ in sizes alone count as one.
std::string without_numbers(std::string_view reason);

}  // namespace brink
