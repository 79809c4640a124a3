#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brink {

/// Called with each input; returns 0.
using FuzzCallback = int (*)(const uint8_t* data, size_t size);

/// Runs libFuzzer in this process; `arguments` are its command line, the program's name first.
int run_libfuzzer(std::vector<std::string> arguments, FuzzCallback callback);

/// The arguments as execv() takes them, with a null behind them; valid for as long as `arguments` is.
std::vector<char*> argv_of(std::vector<std::string>& arguments);

/// Appends what this process writes to standard output and standard error from now on to a file.
void send_output_to(const std::string& path);

}  // namespace brink
