#include "fuzz/target_options.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/case_bytes.h"
#include "properties/whole_file.h"

namespace brink {

namespace {

[[noreturn]] void refuse(const std::string& message) {
  fmt::print(stderr, "{}\n", message);
  std::exit(2);
}

template <class T, class Parse>
std::vector<T> parse_list(std::string_view text, const char* option, const Parse& parse) {
  std::vector<T> result;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    const auto value = parse(name);
    if (!value) refuse(fmt::format("{}: unknown name {}", option, name));
    result.push_back(*value);
    if (comma == std::string_view::npos) return result;
    text.remove_prefix(comma + 1);
  }
}

std::string contents(const std::string& file) {
  std::string text;
  if (const std::string error = read_whole(file, text); !error.empty()) refuse(error);
  return text;
}

void print_text(const std::string& file) {
  const std::string bytes = contents(file);
  const Case c = decode({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (const std::string error = validate(c); !error.empty()) refuse(fmt::format("{}: no valid case: {}", file, error));
  fmt::print("{}", to_text(c));
}

void write_bytes(const std::string& file) {
  const auto parsed = parse_case(contents(file));
  if (const auto* error = std::get_if<std::string>(&parsed)) refuse(fmt::format("{}: {}", file, *error));
  const std::vector<uint8_t> bytes = encode(std::get<Case>(parsed));
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

}  // namespace

void read_options(int argc, char** argv, TargetOptions& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("--")) continue;
    const size_t equals = argument.find('=');
    const std::string_view option = argument.substr(0, equals);
    const std::string value(equals == std::string_view::npos ? "" : argument.substr(equals + 1));
    if (option == "--op") {
      options.limits.operations = parse_list<Operation>(value, "--op", parse_operation);
    } else if (option == "--impl") {
      options.limits.implementations = parse_list<Implementation>(value, "--impl", parse_implementation);
    } else if (argument == "--role=user") {
      options.role = Role::kUser;
    } else if (option == "--to-text" || option == "--to-bytes") {
      option == "--to-text" ? print_text(value) : write_bytes(value);
      std::exit(std::fflush(stdout) == 0 ? 0 : 2);
    } else {
      refuse(
          fmt::format("unknown option {} (there are --op=, --impl=, --role=user, --to-text=, --to-bytes=)", argument));
    }
  }
}

void abort_with(const Case& c, Device device, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) fmt::print(stderr, "finding: {}\n", line);
  fmt::print(stderr, "case: {}repeat: {}\n", to_text(c), repeat_command(c, name_of(device)));
  std::abort();
}

}  // namespace brink
