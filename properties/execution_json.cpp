#include "properties/execution_json.h"

namespace brink {

namespace {

using Json = nlohmann::json;

Json intervals_to_json(const std::vector<Interval>& intervals) {
  Json result = Json::array();
  for (const Interval& i : intervals) result.push_back({i.first, i.last});
  return result;
}

std::vector<Interval> intervals_from_json(const Json& j) {
  std::vector<Interval> result;
  for (const Json& i : j) result.push_back({i.at(0).get<int64_t>(), i.at(1).get<int64_t>()});
  return result;
}

}  // namespace

Json dispatch_to_json(const Dispatch& d) {
  const Launch& l = d.sized.launch;
  return {{"index_type", static_cast<int>(d.index_type)},
          {"path", static_cast<int>(d.sized.path)},
          {"variant", static_cast<int>(d.sized.variant)},
          {"launch", {l.block_x, l.block_y, l.grid_x, l.grid_y, l.shared_bytes}},
          {"form", static_cast<int>(d.sized.form)}};
}

Dispatch dispatch_from_json(const Json& j) {
  const Json& l = j.at("launch");
  return {static_cast<IndexType>(j.at("index_type").get<int>()),
          {static_cast<Path>(j.at("path").get<int>()),
           static_cast<Variant>(j.at("variant").get<int>()),
           {l.at(0).get<int64_t>(), l.at(1).get<int64_t>(), l.at(2).get<int64_t>(), l.at(3).get<int64_t>(),
            l.at(4).get<int64_t>()},
           static_cast<LaunchForm>(j.at("form").get<int>())}};
}

Json execution_to_json(const Execution& execution) {
  const RawObservation& raw = execution.raw;
  Json j;
  if (execution.launched) j["launched"] = dispatch_to_json(*execution.launched);
  j["ending"] = static_cast<int>(raw.ending);
  j["reason"] = raw.reason;
  j["looked_at"] = intervals_to_json(raw.looked_at);
  j["wrong"] = intervals_to_json(raw.wrong);
  j["unwritten"] = intervals_to_json(raw.unwritten);
  if (raw.written_twice) j["written_twice"] = intervals_to_json(*raw.written_twice);
  j["out_of_bounds"] = intervals_to_json(raw.out_of_bounds);
  j["wild_writes"] = raw.wild_writes;
  Json values = Json::array();
  for (const FoundValue& value : raw.values) values.push_back({value.element, value.bits});
  j["values"] = std::move(values);
  j["complete"] = raw.complete;
  j["kernel_ms"] = raw.kernel_ms;
  j["prepare_ms"] = raw.prepare_ms;
  j["compare_ms"] = raw.compare_ms;
  j["physical_bytes"] = raw.physical_bytes;
  const KernelStamp& s = raw.stamp;
  j["stamp"] = {s.word, s.grid_x, s.grid_y, s.block_x, s.block_y};
  return j;
}

Execution execution_from_json(const Json& j) {
  Execution execution;
  if (j.contains("launched")) execution.launched = dispatch_from_json(j.at("launched"));
  RawObservation& raw = execution.raw;
  raw.ending = static_cast<Ending>(j.at("ending").get<int>());
  raw.reason = j.at("reason").get<std::string>();
  raw.looked_at = intervals_from_json(j.at("looked_at"));
  raw.wrong = intervals_from_json(j.at("wrong"));
  raw.unwritten = intervals_from_json(j.at("unwritten"));
  if (j.contains("written_twice")) raw.written_twice = intervals_from_json(j.at("written_twice"));
  raw.out_of_bounds = intervals_from_json(j.at("out_of_bounds"));
  raw.wild_writes = j.at("wild_writes").get<bool>();
  for (const Json& value : j.at("values")) {
    raw.values.push_back({value.at(0).get<int64_t>(), value.at(1).get<uint64_t>()});
  }
  raw.complete = j.at("complete").get<bool>();
  raw.kernel_ms = j.at("kernel_ms").get<double>();
  raw.prepare_ms = j.at("prepare_ms").get<double>();
  raw.compare_ms = j.at("compare_ms").get<double>();
  raw.physical_bytes = j.at("physical_bytes").get<int64_t>();
  const Json& s = j.at("stamp");
  raw.stamp = {s.at(0).get<uint32_t>(), s.at(1).get<int64_t>(), s.at(2).get<int64_t>(), s.at(3).get<int64_t>(),
               s.at(4).get<int64_t>()};
  return execution;
}

}  // namespace brink
