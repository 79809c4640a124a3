#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/finding_store.h"
#include "fuzz/job_progress.h"

namespace brink {

/// Where a fuzzing run keeps everything. Any number of processes and machines may share it: each job has a folder of
/// its own, a corpus file's name is made from its content, and every file is written whole.
///
///     corpus/HASH.json            cases that reached something new, as text
///     jobs/NAME/progress.json     see job_progress.h
///     jobs/NAME/findings.json     see finding_store.h
///     jobs/NAME/log.txt           what the fuzzer said
///     jobs/NAME/scratch/          the fuzzer's own corpus, in bytes; not kept
///     findings/CAUSE.json         findings of all jobs
struct FuzzFolder {
  std::string root;

  std::string corpus() const { return root + "/corpus"; }
  std::string jobs() const { return root + "/jobs"; }
  std::string findings() const { return root + "/findings"; }
  std::string job(const std::string& name) const { return jobs() + "/" + name; }
  std::string scratch(const std::string& name) const { return job(name) + "/scratch"; }
};

/// Makes a folder and those above it; returns what went wrong, or an empty string.
std::string make_folder(const std::string& path);

/// Names in a folder that are no unfinished files, sorted; none where there is no such folder.
std::vector<std::string> names_in(const std::string& folder);

/// FNV-1a, the same on every machine; a collision costs one corpus entry, or two jobs their difference, and no finding.
uint64_t hash_of(std::string_view text);

/// The name of a case's corpus file: the same case has the same name on every machine.
std::string corpus_name(const Case& c);

/// Puts a case into the corpus unless it is there; returns what went wrong, or an empty string.
std::string keep(const FuzzFolder& folder, const Case& c);

/// What all jobs have done and found. A file that cannot be read is named in `troubles`, and the others still count.
struct FuzzSummary {
  JobProgress total;
  FindingGroups findings;
  std::map<std::string, JobProgress> jobs;
  std::vector<std::string> troubles;
};
FuzzSummary summarize(const FuzzFolder& folder);

/// Writes one file a group into findings/; returns what went wrong, or an empty string.
std::string write_findings(const FuzzFolder& folder, const FindingGroups& groups);

}  // namespace brink
