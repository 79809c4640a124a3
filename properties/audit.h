#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "properties/matrix.h"

// What the shapes of somebody's existing tests reach, from what a file says of them; nothing is run.

namespace brink {

/// What a test does where the device has not the memory that it needs.
enum class WithoutMemory {
  kFails,   ///< nothing is said: it needs the memory
  kSkips,   ///< it is skipped, which is no pass
  kPasses,  ///< it returns as if it had passed
};

/// One row of an audit file.
struct AuditedTest {
  std::string where;  ///< the row, for messages: "test 3" or "line 4"
  std::string name;
  std::string operation;           ///< one of brink's, or any other name
  std::optional<Operation> known;  ///< one of brink's
  std::vector<int64_t> shape;
  int64_t axis = -1;
  std::string dtype;
  int64_t item_bytes = 0;
  int64_t arrays = 0;            ///< of that many items in memory
  std::optional<int64_t> guard;  ///< bytes that it asks for before it runs
  WithoutMemory without = WithoutMemory::kFails;
  bool constant_inputs = false;  ///< the same value in every element
  bool says_compared = false;
  std::vector<Interval> compared;  ///< output elements, sorted, disjoint
  bool compares_sum = false;       ///< of all elements, as one number
  std::optional<double> expected;
  bool compares_with_itself = false;
  double tolerance = 0;  ///< absolute
};

struct AuditFile {
  std::string suite;
  std::vector<AuditedTest> tests;
};

/// Reads JSON (an object with "brink_audit": 1 and "tests") or CSV (a first line of column names; lines that begin with
/// # are comments). The error is one line that names the row and the field.
std::variant<AuditFile, std::string> parse_audit(std::string_view text);

/// How far offsets go: up to 2^31 - 1, up to 2^32 - 1, or further.
enum class OffsetRange { kSigned, kUnsigned, kAbove };

inline constexpr OffsetRange kOffsetRanges[] = {OffsetRange::kSigned, OffsetRange::kUnsigned, OffsetRange::kAbove};

OffsetRange range_of_offset(int64_t last);
/// "at or below INT_MAX" and so on.
std::string_view name_of(OffsetRange range);

/// What one test reaches.
struct AuditedRow {
  AuditedTest test;
  int64_t numel = 0;
  OffsetRange elements = OffsetRange::kSigned;
  std::optional<OffsetRange> bytes;       ///< nothing where no array lies in memory
  IndexType narrowest = IndexType::kI32;  ///< the narrowest index type that holds every element offset
  std::optional<Decomposition> shape;     ///< here and below: brink's operations on tensors that are not empty
  std::optional<Dispatch> launched;       ///< by the implementation that the audit is for
  std::vector<Cell> cells;
  std::vector<MatrixCell> matrix;
  int64_t needs_bytes = 0;              ///< the guard's or, without one, of the arrays
  bool runs = true;                     ///< on the audited device: it has that memory
  std::vector<std::string> weaknesses;  ///< why a wrong result could pass: one line each
};

/// A combination that no test of the suite reaches.
struct AuditHole {
  Variant variant = Variant::kWarp;
  bool backward = false;
  OffsetRange range = OffsetRange::kSigned;
  std::vector<Place> places;  ///< never looked at; all that the range has where it is never reached
  bool reached = false;       ///< reached, but not looked at in those places
  Case closes;                ///< the simplest case that does
};

struct Audit {
  std::string suite;
  std::vector<AuditedRow> rows;
  std::vector<AuditHole> holes;  ///< of brink's operations, where the suite has any
};

struct AuditOptions {
  Implementation implementation;         ///< whose cells count
  std::optional<int64_t> device_memory;  ///< bytes; nothing: enough for every test
};

Audit audit(const AuditFile& file, const AuditOptions& options);

/// What all rows of one test reach together, in the words of the report that started it: "last_dim only, inner_size 1,
/// above INT_MAX, never above UINT32_MAX, spatial never reached".
std::string summary_of(const std::vector<const AuditedRow*>& rows);

}  // namespace brink
