#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "properties/finding.h"

namespace brink {

/// Findings grouped by cause, each with its smallest case and a count.
using FindingGroups = std::map<std::string, Finding>;

/// Adds a finding to its group: the counts add up, the smaller case stays.
void add_to(FindingGroups& groups, const Finding& finding);

/// JSON text of the groups, and back; the error is one line.
std::string to_text(const FindingGroups& groups);
std::variant<FindingGroups, std::string> parse_finding_groups(std::string_view text);

/// The findings of one job in one file, which holds all of them at every moment.
class FindingStore {
 public:
  explicit FindingStore(std::string path) : path_(std::move(path)) {}

  /// Reads what an earlier process left, if there is a file; returns what is wrong with it, or an empty string.
  std::string load();
  /// Adds a finding and writes the file; a new cause waits for the disk. Returns what went wrong, or an empty string.
  std::string add(const Finding& finding);
  const FindingGroups& groups() const { return groups_; }

 private:
  std::string path_;
  FindingGroups groups_;
};

}  // namespace brink
