#include "fuzz/fuzz_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "properties/whole_file.h"

namespace brink {

namespace fs = std::filesystem;

uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return fmt::format("{}: {}", path, error.message());
  return fs::is_directory(path) ? "" : fmt::format("{}: not a folder", path);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (!is_unfinished(name) && !name.starts_with('.')) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string corpus_name(const Case& c) { return fmt::format("{:016x}.json", hash_of(to_text(c))); }

std::string keep(const FuzzFolder& folder, const Case& c) {
  const std::string path = folder.corpus() + "/" + corpus_name(c);
  std::error_code error;
  if (fs::exists(path, error)) return "";
  return write_whole(path, to_text(c));
}

FuzzSummary summarize(const FuzzFolder& folder) {
  FuzzSummary summary;
  for (const std::string& name : names_in(folder.jobs())) {
    const std::string job = folder.job(name);
    if (!fs::is_directory(job)) continue;
    JobProgress progress;
    if (std::string error = load(job + "/progress.json", progress); !error.empty()) summary.troubles.push_back(error);
    add_to(summary.total, progress);
    summary.jobs[name] = std::move(progress);
    FindingStore store(job + "/findings.json");
    if (std::string error = store.load(); !error.empty()) summary.troubles.push_back(error);
    for (const auto& [cause, finding] : store.groups()) add_to(summary.findings, finding);
  }
  return summary;
}

std::string write_findings(const FuzzFolder& folder, const FindingGroups& groups) {
  for (const auto& [cause, finding] : groups) {
    const std::string path = fmt::format("{}/{}.json", folder.findings(), file_name_of(cause));
    std::string text;
    if (read_whole(path, text).empty() && text == to_text(finding)) continue;
    if (std::string error = write_whole(path, to_text(finding)); !error.empty()) return error;
  }
  return "";
}

}  // namespace brink
