#include "properties/outcome.h"

#include <algorithm>

namespace brink {

namespace {

using Json = nlohmann::ordered_json;

Json pair_of(const Interval& i) { return Json::array({i.first, i.last}); }

Json boxes_json(const std::vector<Box>& boxes) {
  Json result = Json::array();
  for (const Box& box : boxes) {
    result.push_back({{"outer", pair_of(box.outer)}, {"dim", pair_of(box.dim)}, {"inner", pair_of(box.inner)}});
  }
  return result;
}

// JSON numbers end at 64 bits; what is larger is text.
Json exact_json(Exact value) {
  if (value == static_cast<Exact>(static_cast<int64_t>(value))) return static_cast<int64_t>(value);
  return to_string(value);
}

}  // namespace

std::string to_string(Exact value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string digits;
  while (value != 0) {
    const int digit = static_cast<int>(value % 10);
    digits.push_back(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    value /= 10;
  }
  if (negative) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kMismatch:
      return "mismatch";
    case Verdict::kUnwritten:
      return "unwritten";
    case Verdict::kOutOfBounds:
      return "out_of_bounds";
    case Verdict::kFault:
      return "fault";
    case Verdict::kHang:
      return "hang";
    case Verdict::kLaunchRejected:
      return "launch_rejected";
    case Verdict::kOutOfMemory:
      return "out_of_memory";
    case Verdict::kNotExecuted:
      break;
  }
  return "not_executed";
}

Verdict verdict_of_sets(const Outcome& outcome) {
  if (!outcome.wrong.empty() || !outcome.contended.empty()) return Verdict::kMismatch;
  return outcome.never_written.empty() ? Verdict::kOk : Verdict::kUnwritten;
}

nlohmann::ordered_json to_json(const Outcome& outcome) {
  Json j;
  j["verdict"] = name_of(outcome.verdict);
  if (!outcome.reason.empty()) j["reason"] = outcome.reason;
  j["path"] = name_of(outcome.path);
  j["variant"] = outcome.variant ? Json(name_of(*outcome.variant)) : Json();
  j["index_type"] = outcome.index_type ? Json(name_of(*outcome.index_type)) : Json();
  j["launch"] = nullptr;
  if (outcome.launch) {
    const Launch& l = *outcome.launch;
    j["launch"] = {{"grid", {l.grid_x, l.grid_y, 1}},
                   {"block", {l.block_x, l.block_y, 1}},
                   {"shared_bytes", l.shared_bytes},
                   {"form", name_of(outcome.launch_form)}};
  }
  j["first_overflow"] = nullptr;
  if (outcome.first_overflow) {
    const FirstOverflow& first = *outcome.first_overflow;
    Json where;
    if (first.where) where = {{"outer", first.where->outer}, {"dim", first.where->dim}, {"inner", first.where->inner}};
    j["first_overflow"] = {{"expression", name_of(first.overflow.expression)},
                           {"exact", exact_json(first.overflow.exact)},
                           {"wrapped", first.overflow.wrapped},
                           {"where", where}};
  }
  j["wrong"] = boxes_json(outcome.wrong);
  j["never_written"] = boxes_json(outcome.never_written);
  j["contended"] = boxes_json(outcome.contended);
  j["out_of_bounds"] = Json::array();
  for (const Interval& i : outcome.out_of_bounds) j["out_of_bounds"].push_back(pair_of(i));
  j["exact"] = outcome.exact;
  return j;
}

}  // namespace brink
