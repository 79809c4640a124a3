#include "tools/brink/options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "properties/best_prime.h"
#include "properties/memory_needed.h"
#include "properties/number_text.h"
#include "properties/whole_file.h"

namespace brink {

namespace {

template <class Parse>
auto named(const Parse& parse, const std::string& text, std::string_view what, std::string_view hint) {
  const auto value = parse(text);
  if (!value) throw UsageError{fmt::format("unknown {} \"{}\"; {}", what, text, hint)};
  return *value;
}

}  // namespace

void CaseOptions::add_to(CLI::App& command) {
  command.add_option("case", file, "a case file (JSON); or describe the case with the options below");
  command.add_option("--op", operation, "operation (brink list operations)");
  command.add_option("--shape", shape, "sizes, such as 1,2,2147483649; \"scalar\" for no dimensions");
  command.add_option("--axis", axis, "axis; negative ones count from the end");
  command.add_option("--dtype", dtype, "f16, bf16, f32 or f64");
  command.add_option("--impl", implementation, "implementation (brink list implementations)");
  command.add_option("--form", form, "closed form: coded, seed or coded_output");
  command.add_option("--prime", prime,
                     "prime of the position codes: 3, 5 or 7 (default: the first that suits the case)");
  command.add_option("--memory", memory,
                     "sparse (host), aliased or dense; default: sparse on the host, aliased on a GPU");
  command.add_option("--seed", seed, "chooses the extra places that a large run looks at")->check(check_not_negative);
}

std::string check_positive(const std::string& text) {
  const auto value = parse_number(text);
  return value && *value > 0 ? "" : fmt::format("\"{}\" is not a positive number", text);
}

std::string check_not_negative(const std::string& text) {
  // CLI11 would read -1 as the largest unsigned number.
  return text.starts_with('-') ? fmt::format("\"{}\" is negative", text) : "";
}

void EvidenceOption::add_to(CLI::App& command) {
  command.add_option("--evidence", file, "append one line of JSON for each execution to this file (see brink report)");
}

std::unique_ptr<Ledger> EvidenceOption::open(EvidenceSource source) const {
  if (file.empty()) return nullptr;
  source.version = BRINK_VERSION;
  auto ledger = std::make_unique<Ledger>(file, std::move(source));
  require_written(ledger.get());
  return ledger;
}

void LimitOptions::add_to(CLI::App& command) {
  command.add_option("--limit", seconds, "seconds until a run in a worker process is a hang (default: 60)")
      ->check(check_positive);
  command.add_option(
      "--memory-limit", memory,
      "host memory, such as 4GiB, above which a run in a worker process is out of memory (default: 8GiB)");
}

RunLimits LimitOptions::over(RunLimits usual) const {
  if (seconds > 0) usual.seconds = seconds;
  if (!memory.empty()) usual.memory = bytes_option("--memory-limit", memory);
  return usual;
}

void print_json(const nlohmann::ordered_json& j) {
  fmt::print("{}\n", j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void require_written(const Ledger* ledger) {
  if (ledger != nullptr && !ledger->error().empty()) throw UsageError{"--evidence " + ledger->error()};
}

int64_t bytes_option(const std::string& option, const std::string& text) {
  const auto bytes = parse_bytes(text);
  if (!bytes || *bytes == 0) {
    throw UsageError{fmt::format("{} {}: expected an amount of memory such as 200MiB or 30GiB", option, text)};
  }
  return *bytes;
}

std::string read_input(const std::string& path, size_t max_bytes) {
  std::string text;
  if (const std::string error = read_whole(path, text, max_bytes); !error.empty()) throw UsageError{error};
  return text;
}

std::vector<int64_t> parse_shape(const std::string& text) {
  std::vector<int64_t> shape;
  if (text == "scalar") return shape;
  if (text.empty()) throw UsageError{"--shape is missing: give sizes such as 1,2,2147483649"};
  size_t begin = 0;
  while (true) {
    const size_t end = std::min(text.find(',', begin), text.size());
    int64_t size = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, size);
    if (error == std::errc::result_out_of_range) {
      throw UsageError{fmt::format("--shape {}: \"{}\" does not fit in int64", text, text.substr(begin, end - begin))};
    }
    if (error != std::errc() || stop != text.data() + end) {
      throw UsageError{fmt::format("--shape {}: \"{}\" is not a size", text, text.substr(begin, end - begin))};
    }
    shape.push_back(size);
    if (end == text.size()) return shape;
    begin = end + 1;
  }
}

Device parse_device(const std::string& name) {
  if (name == "host") return Device::kHost;
  if (name == "cuda") return Device::kCuda;
  throw UsageError{fmt::format("unknown device \"{}\"; expected host or cuda", name)};
}

Operation operation_option(const std::string& name) {
  return named(parse_operation, name, "operation", "see brink list operations");
}

DType dtype_option(const std::string& name) {
  return named(parse_dtype, name, "dtype", "expected f16, bf16, f32 or f64");
}

Implementation implementation_option(const std::string& name) {
  return named(parse_implementation, name, "implementation", "see brink list implementations");
}

MemoryKind memory_option(const std::string& name) {
  return named(parse_memory_kind, name, "memory", "expected sparse, aliased or dense");
}

double parse_duration(const std::string& text, bool zero_allowed) {
  size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  const std::string unit = text.substr(used);
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (used == 0 || factor == 0 || !std::isfinite(value) || value < 0 || (value == 0 && !zero_allowed)) {
    throw UsageError{fmt::format("--time {}: expected a duration such as 90s, 10m or 8h", text)};
  }
  return value * factor;
}

Case CaseOptions::to_case(Device device) const {
  Case c;
  if (!file.empty()) {
    auto parsed = parse_case(read_input(file));
    if (const auto* error = std::get_if<std::string>(&parsed)) throw UsageError{fmt::format("{}: {}", file, *error)};
    c = std::get<Case>(parsed);
    if (!memory.empty()) c.memory = memory_option(memory);
    return c;
  }
  c.operation = operation_option(operation);
  c.shape = parse_shape(shape);
  c.axis = axis;
  c.dtype = dtype_option(dtype);
  c.implementation = implementation_option(implementation);
  c.family = named(parse_form_family, form, "closed form", "expected coded, seed or coded_output");
  c.seed = seed;
  c.memory = device == Device::kHost ? MemoryKind::kSparse : MemoryKind::kAliased;
  if (!memory.empty()) c.memory = memory_option(memory);
  if (prime != 0) c.prime = prime;
  if (const std::string error = validate(c); !error.empty()) throw UsageError{error};
  if (prime == 0) choose_prime(c);
  return c;
}

}  // namespace brink
