#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/boundary_counters.h"
#include "fuzz/parser_check.h"

// Every parser that reads a file: cases (a corpus is a folder of them), findings, and what a fuzzing job keeps.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  brink::count_input();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string line = brink::parser_problem(text);
  if (line.empty()) return 0;
  fmt::print(stderr, "finding: {}\ntext: {}\nrepeat: parsers_fuzz with this input, or brink run FILE\n", line, text);
  std::abort();
}
