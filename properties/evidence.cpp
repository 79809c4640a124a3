#include "properties/evidence.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kernels/index/checked.h"
#include "properties/finding.h"
#include "properties/matrix.h"

namespace brink {

namespace {

using Json = nlohmann::ordered_json;

// Sets of millions of pieces are for the run itself; evidence keeps how many elements they have and the first boxes.
constexpr size_t kBoxesKept = 8;
constexpr size_t kIntervalsKept = 64;
constexpr size_t kLinesKept = 16;

void add_boxes(Json& j, const char* name, const std::vector<Box>& boxes) {
  if (boxes.empty()) return;
  Json kept = Json::array();
  for (size_t i = 0; i < std::min(kBoxesKept, boxes.size()); ++i) {
    const Box& b = boxes[i];
    kept.push_back({b.outer.first, b.outer.last, b.dim.first, b.dim.last, b.inner.first, b.inner.last});
  }
  j[name] = {{"elements", count_elements(boxes)}, {"boxes", std::move(kept)}};
}

Json intervals_json(const std::vector<Interval>& intervals) {
  Json kept = Json::array();
  for (size_t i = 0; i < std::min(kIntervalsKept, intervals.size()); ++i) {
    kept.push_back({intervals[i].first, intervals[i].last});
  }
  return kept;
}

Json outcome_json(const Outcome& o) {
  Json j;
  j["verdict"] = name_of(o.verdict);
  if (!o.reason.empty()) j["reason"] = o.reason;
  j["path"] = name_of(o.path);
  if (o.variant) j["variant"] = name_of(*o.variant);
  if (o.index_type) j["index_type"] = name_of(*o.index_type);
  if (o.launch) {
    j["grid"] = {o.launch->grid_x, o.launch->grid_y};
    j["block"] = {o.launch->block_x, o.launch->block_y};
    if (o.launch->shared_bytes != 0) j["shared_bytes"] = o.launch->shared_bytes;
  }
  if (o.first_overflow) {
    const FirstOverflow& first = *o.first_overflow;
    Json& f = j["first_overflow"];
    f["expression"] = name_of(first.overflow.expression);
    f["exact"] = to_string(first.overflow.exact);
    f["wrapped"] = first.overflow.wrapped;
    if (first.where) f["at"] = {first.where->outer, first.where->dim, first.where->inner};
  }
  add_boxes(j, "wrong", o.wrong);
  add_boxes(j, "never_written", o.never_written);
  add_boxes(j, "contended", o.contended);
  if (!o.out_of_bounds.empty()) j["out_of_bounds"] = intervals_json(o.out_of_bounds);
  if (!o.exact) j["exact"] = false;
  return j;
}

// What a launch reaches: the cells of its expressions, for each expression, boundary and side with the locations, and
// the places of its matrix cells, which the case and the launch make the rest of.
Json reached_json(const Examination& e, const ReachedLaunch& l) {
  Json j;
  const SizedLaunch& sized = l.launched.sized;
  j["of"] = fmt::format("{}/{} {} {}", name_of(sized.path), name_of(sized.variant),
                        is_forward(e.c.operation) ? "forward" : "backward", name_of(l.launched.index_type));
  j["form"] = name_of(sized.form);
  Json at = Json::array();
  std::string open;
  std::string locations;
  const auto close = [&] {
    if (!open.empty()) at.push_back(open + locations);
  };
  for (const Cell& cell : cells_of(e.c, e.shape, l.launched, l.looked_at, sized.form)) {
    const std::string name =
        fmt::format("{} {} {} ", name_of(cell.expression), name_of(cell.boundary), name_of(cell.side));
    if (name != open) {
      close();
      open = name;
      locations.clear();
    }
    if (!locations.empty()) locations += ',';
    locations += name_of(cell.location);
  }
  close();
  if (!at.empty()) j["at"] = std::move(at);
  std::string places;
  for (const MatrixCell& cell : matrix_cells_of(e.c, e.shape, l.launched, l.looked_at, sized.form)) {
    places += fmt::format("{}{}", places.empty() ? "" : ",", name_of(cell.place));
  }
  if (!places.empty()) j["places"] = places;
  return j;
}

// What the case is to reach, going by its prediction.
std::optional<ReachedLaunch> planned_launch(const Examination& e) {
  return reached_launch(e.c, e.shape, as_predicted(e.c, e.shape, e.prediction));
}

int64_t dense_bytes(const Examination& e) {
  const auto tensor = checked_mul(e.shape.numel(), size_of(e.c.dtype));
  const auto all = tensor ? checked_mul(*tensor, int64_t{1} + input_count(e.c.operation)) : std::nullopt;
  return all.value_or(INT64_MAX);
}

// Whole microseconds: enough, and short.
int64_t microseconds(double ms) { return static_cast<int64_t>(ms * 1000); }

}  // namespace

std::string evidence_line(const EvidenceSource& source, const Examination& e) {
  Json j;
  j["brink_evidence"] = 1;
  j["command"] = source.command;
  j["version"] = source.version;
  j["device"] = name_of(source.device);
  if (!e.device_name.empty()) j["device_name"] = e.device_name;
  j["role"] = name_of(source.role);
  j["seed"] = source.seed;
  if (source.every_case_required) j["required"] = true;
  j["case"] = Json::parse(to_text(e.c));
  j["dense_bytes"] = dense_bytes(e);
  j["predicted"] = outcome_json(e.prediction);
  j["observed"] = outcome_json(e.observed);
  const RawObservation& raw = e.execution.raw;
  if (kernel_of(raw.stamp)) {
    j["observed"]["said_by"] = "kernel";
  } else if (e.execution.launched) {
    j["observed"]["said_by"] = "launcher";
  }
  const auto reached = reached_launch(e.c, e.shape, e.execution);
  if (reached) j["reached"] = reached_json(e, *reached);
  if (const auto planned = planned_launch(e)) {
    Json plan = reached_json(e, *planned);
    if (!reached || j["reached"] != plan) j["planned"] = std::move(plan);
  }
  if (!raw.looked_at.empty()) j["looked_at"] = intervals_json(raw.looked_at);
  if (raw.physical_bytes != 0) j["held_bytes"] = raw.physical_bytes;
  std::vector<std::string> lines = findings(e, source.role);
  if (!lines.empty()) {
    if (lines.size() > kLinesKept) lines.resize(kLinesKept);
    j["cause"] = cause_of(e);
    j["findings"] = lines;
    j["repeat"] = repeat_command(e, source.device);
  }
  j["time"] = {{"predict_us", microseconds(e.predict_seconds * 1000)},
               {"prepare_us", microseconds(raw.prepare_ms)},
               {"kernel_us", microseconds(raw.kernel_ms)},
               {"compare_us", microseconds(raw.compare_ms)},
               {"all_us", microseconds(e.seconds * 1000)}};
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Ledger::Ledger(std::string path, EvidenceSource source)
    : path_(std::move(path)),
      source_(std::move(source)),
      file_(open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (file_ < 0) error_ = fmt::format("{}: {}", path_, std::strerror(errno));
}

Ledger::~Ledger() {
  if (file_ >= 0) close(file_);
}

void Ledger::append(const Examination& examination) {
  if (!error_.empty()) return;
  std::string text = evidence_line(source_, examination);
  // Another process's write may be seen half done, as if it had been cut off. A pipe has no locks, and no need of them.
  flock(file_, LOCK_EX);
  append_text(std::move(text));
  flock(file_, LOCK_UN);
}

void Ledger::append_text(std::string text) {
  // Somebody's last line may have been cut off. A file that cannot be read back, such as a pipe, has no such line.
  struct stat status {};
  char last = '\n';
  if (fstat(file_, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
      pread(file_, &last, 1, status.st_size - 1) == 1 && last != '\n') {
    text = fmt::format("{}\n{}", kTornMark, text);
  }
  ssize_t written = -1;
  do {
    written = write(file_, text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(text.size())) return;
  error_ = fmt::format("{}: {}", path_, written < 0 ? std::strerror(errno) : "only a part of a line could be written");
}

}  // namespace brink
