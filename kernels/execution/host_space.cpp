#include "kernels/execution/host_space.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "kernels/index/checked.h"

namespace brink {

namespace {

std::string no_memory(int64_t bytes) {
  return fmt::format("no address space for {} bytes: {}", bytes, std::strerror(errno));
}

void* reserve(int64_t bytes, int protection) {
  void* base =
      mmap(nullptr, static_cast<size_t>(bytes), protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return base == MAP_FAILED ? nullptr : base;
}

int64_t page_size() { return sysconf(_SC_PAGESIZE); }

int64_t whole_pages(int64_t bytes) { return std::max<int64_t>(1, ceil_div(bytes, page_size())) * page_size(); }

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      length_(other.length_),
      offset_(other.offset_),
      physical_bytes_(other.physical_bytes_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(length_, other.length_);
  std::swap(offset_, other.offset_);
  std::swap(physical_bytes_, other.physical_bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (base_ != nullptr) munmap(base_, static_cast<size_t>(length_));
}

std::variant<Mapping, std::string> Mapping::sparse(int64_t bytes) {
  const int64_t length = whole_pages(bytes);
  void* base = reserve(length, PROT_READ | PROT_WRITE);
  if (base == nullptr) return no_memory(bytes);
  // A huge page would make one touched element cost 2 MiB.
  madvise(base, static_cast<size_t>(length), MADV_NOHUGEPAGE);
  return Mapping(base, length, 0, 0);
}

std::variant<Mapping, std::string> Mapping::guarded(int64_t bytes, int64_t before, int64_t after) {
  const int64_t head = whole_pages(before);
  const int64_t body = whole_pages(bytes);
  const int64_t length = head + body + whole_pages(after);
  void* base = reserve(length, PROT_NONE);
  if (base == nullptr) return no_memory(length);
  Mapping mapping(base, length, head, body);
  if (mprotect(mapping.data(), static_cast<size_t>(body), PROT_READ | PROT_WRITE) != 0) return no_memory(bytes);
  return mapping;
}

std::variant<Mapping, std::string> Mapping::aliased(int64_t bytes, int64_t period,
                                                    const std::vector<int64_t>& own_slots) {
  const int64_t slots = ceil_div(bytes, period);
  const auto length = checked_mul(slots, period);
  if (!length) return fmt::format("no address space for {} bytes: the size overflows", bytes);
  void* base = reserve(*length, PROT_READ | PROT_WRITE);
  if (base == nullptr) return no_memory(*length);
  Mapping mapping(base, *length, 0, (1 + static_cast<int64_t>(own_slots.size())) * period);
  const int file = memfd_create("brink-filler", MFD_CLOEXEC);
  if (file < 0) return fmt::format("no memory file: {}", std::strerror(errno));
  std::string error;
  if (ftruncate(file, period) != 0) error = no_memory(period);
  for (int64_t slot = 0; slot < slots && error.empty(); ++slot) {
    if (std::binary_search(own_slots.begin(), own_slots.end(), slot)) continue;  // private memory is there already
    void* at = static_cast<char*>(base) + slot * period;
    if (mmap(at, static_cast<size_t>(period), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
      error = fmt::format("cannot map period {} of {}: {}", slot, slots, std::strerror(errno));
    }
  }
  close(file);
  if (!error.empty()) return error;
  return mapping;
}

int64_t available_bytes() {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/meminfo", "r"), &std::fclose);
  if (file == nullptr) return 0;
  char line[256];
  long long kilobytes = 0;
  while (std::fgets(line, sizeof(line), file.get()) != nullptr) {
    if (std::sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1) return kilobytes * 1024;
  }
  return 0;
}

int64_t resident_bytes() {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/statm", "r"), &std::fclose);
  long long total = 0;
  long long resident = 0;
  if (file == nullptr || std::fscanf(file.get(), "%lld %lld", &total, &resident) != 2) return 0;
  return resident * page_size();
}

}  // namespace brink
