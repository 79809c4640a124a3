#include "fuzz/job_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "properties/json_text.h"
#include "properties/whole_file.h"

namespace brink {

using Json = nlohmann::ordered_json;

void add_to(JobProgress& total, const JobProgress& part) {
  if (total.device.empty()) total.device = part.device;
  total.cases += part.cases;
  total.executed += part.executed;
  total.seconds += part.seconds;
  total.sessions += part.sessions;
  total.worker_ends += part.worker_ends;
  for (const auto& [verdict, count] : part.verdicts) total.verdicts[verdict] += count;
  for (const auto& [reason, count] : part.not_executed) total.not_executed[reason] += count;
  total.cells.insert(part.cells.begin(), part.cells.end());
  if (!part.trouble.empty()) total.trouble += (total.trouble.empty() ? "" : "; ") + part.trouble;
}

std::string to_text(const JobProgress& progress) {
  Json j;
  j["brink_job"] = 1;
  j["device"] = progress.device;
  j["cases"] = progress.cases;
  j["executed"] = progress.executed;
  j["seconds"] = progress.seconds;
  j["sessions"] = progress.sessions;
  j["worker_ends"] = progress.worker_ends;
  j["verdicts"] = progress.verdicts;
  j["not_executed"] = progress.not_executed;
  j["trouble"] = progress.trouble;
  j["cells"] = progress.cells;
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::variant<JobProgress, std::string> parse_job_progress(std::string_view text) {
  const auto json = parse_json(text);
  if (const auto* error = std::get_if<std::string>(&json)) return *error;
  try {
    const Json& j = std::get<Json>(json);
    if (!j.is_object() || j.at("brink_job") != 1) return "not the progress of a job (\"brink_job\": 1)";
    JobProgress progress;
    j.at("device").get_to(progress.device);
    j.at("cases").get_to(progress.cases);
    j.at("executed").get_to(progress.executed);
    j.at("seconds").get_to(progress.seconds);
    j.at("sessions").get_to(progress.sessions);
    j.at("worker_ends").get_to(progress.worker_ends);
    j.at("verdicts").get_to(progress.verdicts);
    j.at("not_executed").get_to(progress.not_executed);
    j.at("trouble").get_to(progress.trouble);
    j.at("cells").get_to(progress.cells);
    return progress;
  } catch (const nlohmann::json::exception& e) {
    return fmt::format("not the progress of a job: {}", e.what());
  }
}

std::string load(const std::string& path, JobProgress& progress) {
  constexpr size_t kFileMax = size_t{64} << 20;
  if (access(path.c_str(), F_OK) != 0) return "";
  std::string text;
  if (std::string error = read_whole(path, text, kFileMax); !error.empty()) return error;
  auto parsed = parse_job_progress(text);
  if (const auto* error = std::get_if<std::string>(&parsed)) return fmt::format("{}: {}", path, *error);
  progress = std::get<JobProgress>(std::move(parsed));
  return "";
}

}  // namespace brink
