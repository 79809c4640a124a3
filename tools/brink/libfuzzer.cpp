#include "tools/brink/libfuzzer.h"

#include <fcntl.h>
#include <unistd.h>

extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv, int (*callback)(const uint8_t* data, size_t size));

namespace brink {

int run_libfuzzer(std::vector<std::string> arguments, FuzzCallback callback) {
  std::vector<char*> pointers = argv_of(arguments);
  int argc = static_cast<int>(arguments.size());
  char** argv = pointers.data();
  return LLVMFuzzerRunDriver(&argc, &argv, callback);
}

std::vector<char*> argv_of(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

void send_output_to(const std::string& path) {
  const int log = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log < 0) return;
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  close(log);
}

}  // namespace brink
