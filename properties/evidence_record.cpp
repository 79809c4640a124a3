#include "properties/evidence_record.h"

#include <fmt/format.h>
#if defined(__SSE2__)
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace brink {

namespace {

// Where in a line an object stands.
enum class Scope { kLine, kCase, kPredicted, kObserved, kReached, kPlanned, kTime, kOther };

Scope scope_of(std::string_view key) {
  static constexpr std::pair<std::string_view, Scope> kScopes[] = {
      {"case", Scope::kCase},       {"predicted", Scope::kPredicted}, {"observed", Scope::kObserved},
      {"reached", Scope::kReached}, {"planned", Scope::kPlanned},     {"time", Scope::kTime}};
  for (const auto& [name, scope] : kScopes) {
    if (name == key) return scope;
  }
  return Scope::kOther;
}

// A place for the value of a key, by the type that it must have; all null for a key that no record has.
struct Place {
  std::string* text = nullptr;
  int64_t* number = nullptr;
  uint64_t* natural = nullptr;
  bool* flag = nullptr;
  std::vector<int64_t>* numbers = nullptr;
  std::vector<std::string>* texts = nullptr;

  bool wanted() const {
    return text != nullptr || number != nullptr || natural != nullptr || flag != nullptr || numbers != nullptr ||
           texts != nullptr;
  }
};

Place in_text(std::string& text) {
  Place place;
  place.text = &text;
  return place;
}
Place in_number(int64_t& number) {
  Place place;
  place.number = &number;
  return place;
}
Place in_natural(uint64_t& natural) {
  Place place;
  place.natural = &natural;
  return place;
}
Place in_numbers(std::vector<int64_t>& numbers) {
  Place place;
  place.numbers = &numbers;
  return place;
}

Place place_in_line(EvidenceRecord& r, std::string_view key) {
  if (key == "brink_evidence") return in_number(r.version);
  if (key == "command") return in_text(r.command);
  if (key == "version") return in_text(r.brink_version);
  if (key == "device") return in_text(r.device);
  if (key == "device_name") return in_text(r.device_name);
  if (key == "role") return in_text(r.role);
  if (key == "seed") return in_natural(r.seed);
  if (key == "dense_bytes") return in_number(r.dense_bytes);
  if (key == "held_bytes") return in_number(r.held_bytes);
  if (key == "cause") return in_text(r.cause);
  Place place;
  if (key == "required") place.flag = &r.required;
  return place;
}

Place place_in_case(EvidenceRecord& r, std::string_view key) {
  if (key == "operation") return in_text(r.operation);
  if (key == "shape") return in_numbers(r.shape);
  if (key == "axis") return in_number(r.axis);
  if (key == "dtype") return in_text(r.dtype);
  if (key == "implementation") return in_text(r.implementation);
  if (key == "memory") return in_text(r.memory);
  if (key == "seed") return in_natural(r.case_seed);
  return {};
}

Place place_in_observed(EvidenceRecord& r, std::string_view key) {
  if (key == "verdict") return in_text(r.verdict);
  if (key == "reason") return in_text(r.reason);
  if (key == "path") return in_text(r.path);
  if (key == "variant") return in_text(r.variant);
  if (key == "index_type") return in_text(r.index_type);
  if (key == "said_by") return in_text(r.said_by);
  if (key == "grid") return in_numbers(r.grid);
  if (key == "block") return in_numbers(r.block);
  return {};
}

Place place_in_cells(CellList& cells, std::string_view key) {
  if (key == "of") return in_text(cells.of);
  if (key == "form") return in_text(cells.form);
  if (key == "places") return in_text(cells.places);
  Place place;
  if (key == "at") place.texts = &cells.at;
  return place;
}

Place place_in_time(EvidenceRecord& r, std::string_view key) {
  static constexpr std::string_view kNames[EvidenceRecord::kTimes] = {"predict_us", "prepare_us", "kernel_us",
                                                                      "compare_us", "all_us"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (key == kNames[i]) return in_number(r.microseconds[i]);
  }
  return {};
}

constexpr std::string_view kVerdicts[] = {"ok",   "mismatch",        "unwritten",     "out_of_bounds", "fault",
                                          "hang", "launch_rejected", "out_of_memory", "not_executed"};

std::string what_is_missing(const EvidenceRecord& r) {
  if (r.version == 0) return "field \"brink_evidence\" is missing";
  if (r.version != 1) {
    return fmt::format("evidence version {} is not known; this brink reads version 1", r.version);
  }
  const std::pair<const char*, const std::string*> needed[] = {
      {"command", &r.command},     {"device", &r.device},   {"role", &r.role},
      {"operation", &r.operation}, {"dtype", &r.dtype},     {"implementation", &r.implementation},
      {"memory", &r.memory},       {"verdict", &r.verdict}, {"predicted verdict", &r.predicted_verdict}};
  for (const auto& [name, value] : needed) {
    if (value->empty()) return fmt::format("field \"{}\" is missing", name);
  }
  for (const std::string* verdict : {&r.verdict, &r.predicted_verdict}) {
    if (std::find(std::begin(kVerdicts), std::end(kVerdicts), *verdict) == std::end(kVerdicts)) {
      return "field \"verdict\": unknown value";
    }
  }
  return "";
}

}  // namespace

// The reader's events. Each returns false to stop with `error`.
struct EvidenceParser::Handler {
  EvidenceRecord* record = nullptr;
  Scope scope = Scope::kLine;
  int objects = 0;  // open ones
  int arrays = 0;   // open ones, in the innermost object that counts
  Place place;
  std::string key;  // the last one of the line itself, for messages and scopes
  std::string error;
  std::string copy;
  rapidjson::Reader reader;

  void start(EvidenceRecord& to) {
    record = &to;
    scope = Scope::kLine;
    objects = 0;
    arrays = 0;
    place = {};
    key.clear();
    error.clear();
  }

  // Only objects of the line itself are looked into, and nothing that lies in them.
  bool looks() const { return objects == 1 || (objects == 2 && scope != Scope::kOther); }

  bool wrong_type() {
    error = fmt::format("a value in field \"{}\" has the wrong type", key);
    return false;
  }

  bool Null() { return !(looks() && place.wanted()) || wrong_type(); }
  bool Bool(bool value) {
    if (!looks() || !place.wanted()) return true;
    if (place.flag == nullptr || arrays != 0) return wrong_type();
    *place.flag = value;
    return true;
  }
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return Int64(value); }
  bool Int64(int64_t value) {
    if (!looks() || !place.wanted()) return true;
    if (place.numbers != nullptr && arrays == 1) {
      place.numbers->push_back(value);
    } else if (place.number != nullptr && arrays == 0) {
      *place.number = value;
    } else if (place.natural != nullptr && arrays == 0 && value >= 0) {
      *place.natural = static_cast<uint64_t>(value);
    } else {
      return wrong_type();
    }
    return true;
  }
  bool Uint64(uint64_t value) {
    if (!looks() || !place.wanted()) return true;
    if (place.natural == nullptr || arrays != 0) {
      return value <= static_cast<uint64_t>(INT64_MAX) ? Int64(static_cast<int64_t>(value)) : wrong_type();
    }
    *place.natural = value;
    return true;
  }
  bool Double(double) { return !(looks() && place.wanted()) || wrong_type(); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return true; }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    if (!looks() || !place.wanted()) return true;
    if (place.texts != nullptr && arrays == 1) {
      place.texts->emplace_back(text, size);
    } else if (place.text != nullptr && arrays == 0) {
      place.text->assign(text, size);
    } else {
      return wrong_type();
    }
    return true;
  }
  bool StartObject() {
    if (looks() && place.wanted()) return wrong_type();
    ++objects;
    if (objects == 2) scope = arrays == 0 ? scope_of(key) : Scope::kOther;
    place = {};
    return true;
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (!looks()) return true;
    const std::string_view name(text, size);
    EvidenceRecord& r = *record;
    if (objects == 1) {
      key.assign(name);
      place = place_in_line(r, name);
      return true;
    }
    place = scope == Scope::kCase       ? place_in_case(r, name)
            : scope == Scope::kObserved ? place_in_observed(r, name)
            : scope == Scope::kReached  ? place_in_cells(r.reached, name)
            : scope == Scope::kPlanned  ? place_in_cells(r.planned, name)
            : scope == Scope::kTime     ? place_in_time(r, name)
            : name == "verdict"         ? in_text(r.predicted_verdict)
                                        : Place();
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    --objects;
    place = {};
    return true;
  }
  bool StartArray() {
    if (objects == 0) {
      error = "a line of evidence is a JSON object";
      return false;
    }
    if (looks()) ++arrays;
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    if (looks()) --arrays;
    return true;
  }
};

void EvidenceRecord::clear() {
  for (std::string* text :
       {&command,    &brink_version,  &device,         &device_name,       &role,       &operation,
        &dtype,      &implementation, &memory,         &predicted_verdict, &verdict,    &reason,
        &path,       &variant,        &index_type,     &said_by,           &reached.of, &reached.form,
        &planned.of, &planned.form,   &reached.places, &planned.places,    &cause}) {
    text->clear();
  }
  for (std::vector<int64_t>* numbers : {&shape, &grid, &block}) numbers->clear();
  reached.at.clear();
  planned.at.clear();
  version = axis = dense_bytes = held_bytes = 0;
  seed = case_seed = 0;
  required = false;
  microseconds = {};
}

EvidenceParser::EvidenceParser() : handler_(std::make_unique<Handler>()) {}
EvidenceParser::~EvidenceParser() = default;

namespace {

// Eight bytes at a time: a ledger has a gigabyte of them.
bool is_ascii(std::string_view text) {
  uint64_t bits = 0;
  uint64_t word = 0;
  for (; text.size() >= sizeof(word); text.remove_prefix(sizeof(word))) {
    std::memcpy(&word, text.data(), sizeof(word));
    bits |= word;
  }
  for (const char c : text) bits |= static_cast<unsigned char>(c);
  return (bits & 0x8080808080808080u) == 0;
}

}  // namespace

std::string EvidenceParser::parse(std::string_view line, EvidenceRecord& record) {
  record.clear();
  // The JSON reader takes it for the end of the text.
  if (line.find('\0') != std::string_view::npos) return "not JSON: it contains a zero byte";
  Handler& handler = *handler_;
  handler.start(record);
  // Plain ASCII, as nearly every line is, needs no look at its encoding and is read in place, many bytes at a time.
  const bool plain = is_ascii(line);
  rapidjson::ParseResult result;
  if (plain) {
    std::string& copy = handler.copy;
    copy.assign(line);
    copy.append(16, '\0');
    rapidjson::InsituStringStream stream(copy.data());
    result = handler.reader.Parse<rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag>(stream, handler);
  } else {
    rapidjson::MemoryStream stream(line.data(), line.size());
    result =
        handler.reader.Parse<rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag>(stream, handler);
  }
  if (!handler.error.empty()) return handler.error;
  if (result.IsError()) {
    return fmt::format("not JSON: {} (column {})", rapidjson::GetParseError_En(result.Code()), result.Offset() + 1);
  }
  return what_is_missing(record);
}

}  // namespace brink
