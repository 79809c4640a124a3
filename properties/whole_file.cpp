#include "properties/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace brink {

namespace {

constexpr std::string_view kSuffix = ".unfinished";

std::string trouble(const std::string& path) { return fmt::format("{}: {}", path, std::strerror(errno)); }

// Closes the descriptor at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

std::string write_all(int fd, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return trouble(path);
    text.remove_prefix(static_cast<size_t>(n));
  }
  return "";
}

std::string write_new(const std::string& path, std::string_view text, bool durable) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return trouble(path);
  if (std::string error = write_all(file.get(), path, text); !error.empty()) return error;
  if (durable && fsync(file.get()) != 0) return trouble(path);
  // Some file systems say only here that the disk is full.
  return close(file.release()) == 0 ? "" : trouble(path);
}

}  // namespace

std::string write_whole(const std::string& path, std::string_view text, bool durable) {
  // Writers of one file on several machines must not share the temporary one either.
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  const std::string unfinished = fmt::format("{}.{}.{}{}", path, host, getpid(), kSuffix);
  std::string error = write_new(unfinished, text, durable);
  if (error.empty() && std::rename(unfinished.c_str(), path.c_str()) != 0) error = trouble(path);
  if (!error.empty()) unlink(unfinished.c_str());
  return error;
}

std::string read_whole(const std::string& path, std::string& text, size_t max_bytes) {
  text.clear();
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return trouble(path);
  char chunk[1 << 16];
  while (true) {
    const ssize_t n = read(file.get(), chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return trouble(path);
    if (n == 0) return "";
    text.append(chunk, static_cast<size_t>(n));
    if (text.size() > max_bytes) return fmt::format("{}: larger than {} bytes", path, max_bytes);
  }
}

bool is_unfinished(std::string_view file_name) { return file_name.ends_with(kSuffix); }

}  // namespace brink
