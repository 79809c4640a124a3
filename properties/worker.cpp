#include "properties/worker.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "kernels/execution/cuda/cuda_device.h"
#include "properties/execute_cuda.h"
#include "properties/execution_json.h"
#include "properties/whole_file.h"

namespace brink {

namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr double kMemoryPollMs = 20;
constexpr RunLimits kStartLimits{.seconds = 120};  // a first CUDA context can take a while

// Sends `text` whole; false where the other side is gone.
bool send_line(int socket, const std::string& text) {
  const std::string line = text + "\n";
  size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = send(socket, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

enum class Receive { kLine, kTimeout, kClosed, kTooMuchMemory };

// Resident memory of a process in bytes; 0 where it cannot be told.
int64_t resident_bytes(pid_t process) {
  std::string text;
  if (!read_whole(fmt::format("/proc/{}/statm", process), text).empty()) return 0;
  long long total = 0;
  long long resident = 0;
  if (std::sscanf(text.c_str(), "%lld %lld", &total, &resident) != 2) return 0;
  return static_cast<int64_t>(resident) * sysconf(_SC_PAGESIZE);
}

// `too_much` is asked every 20 ms while nothing comes.
template <class TooMuch>
Receive receive_line(int socket, std::string& buffer, std::string& line, double limit_seconds,
                     const TooMuch& too_much) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(limit_seconds);
  while (true) {
    if (const size_t end = buffer.find('\n'); end != std::string::npos) {
      line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return Receive::kLine;
    }
    const double left = std::chrono::duration<double, std::milli>(deadline - Clock::now()).count();
    if (left <= 0) return Receive::kTimeout;
    pollfd waiting{socket, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min(left + 1, kMemoryPollMs)));
    if (ready < 0 && errno != EINTR) return Receive::kClosed;
    if (ready == 0 && too_much()) return Receive::kTooMuchMemory;
    if (ready <= 0) continue;
    char chunk[65536];
    const ssize_t n = recv(socket, chunk, sizeof(chunk), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Receive::kClosed;
    buffer.append(chunk, static_cast<size_t>(n));
  }
}

Json kernel_to_json(const KernelId& k) {
  return {static_cast<int>(k.operation), static_cast<int>(k.variant), static_cast<int>(k.dtype),
          static_cast<int>(k.index_type), static_cast<int>(k.build)};
}

KernelId kernel_from_json(const Json& j) {
  return {static_cast<Operation>(j.at(0).get<int>()), static_cast<Variant>(j.at(1).get<int>()),
          static_cast<DType>(j.at(2).get<int>()), static_cast<IndexType>(j.at(3).get<int>()),
          static_cast<Build>(j.at(4).get<int>())};
}

Json answer(Device device, const Json& request, int socket) {
  if (request.contains("case")) {
    const auto c = parse_case(request.at("case").get<std::string>());
    std::vector<Interval> windows;
    for (const Json& i : request.at("windows")) windows.push_back({i.at(0).get<int64_t>(), i.at(1).get<int64_t>()});
    const Case& valid = std::get<Case>(c);
    const OnLaunch on_launch = [&](const Dispatch& d) {
      send_line(socket, Json{{"launching", dispatch_to_json(d)}}.dump());
    };
    return execution_to_json(device == Device::kHost ? execute_on_host(valid, windows, on_launch)
                                                     : execute_on_cuda(valid, windows, on_launch));
  }
  if (request.contains("occupancy")) {
    const Json& o = request.at("occupancy");
    CudaOccupancy occupancy;
    const Occupancy found =
        occupancy.resident_blocks(kernel_from_json(o.at(0)), o.at(1).get<int64_t>(), o.at(2).get<int64_t>());
    return {{"error", found.error}, {"blocks", found.resident_blocks}};
  }
  if (request.contains("attributes")) {
    const KernelAttributes a = CudaOccupancy().attributes(kernel_from_json(request.at("attributes")));
    return {{"error", a.error}, {"values", {a.registers, a.max_threads, a.static_shared_bytes}}};
  }
  if (request.contains("limits")) {
    const DeviceLimits l = CudaOccupancy().limits();
    return {{"error", l.error}, {"values", {l.threads, l.grid_x, l.grid_y, l.grid_z, l.shared_bytes}}};
  }
  if (device == Device::kHost) return {{"unavailable", ""}, {"description", "host"}};
  const auto reason = cuda_unavailable();
  if (reason) return {{"unavailable", *reason}, {"description", ""}};
  const CudaDevice d = cuda_device();
  return {{"unavailable", ""},
          {"devices", d.count},
          {"device_name", fmt::format("{}, compute capability {}.{}, {:.0f} GiB", d.name, d.compute_major,
                                      d.compute_minor, static_cast<double>(d.total_bytes) / (1 << 30))},
          {"description",
           fmt::format("{}, compute capability {}.{}, {} multiprocessors, {:.1f} of {:.1f} GiB free", d.name,
                       d.compute_major, d.compute_minor, d.sm_count, static_cast<double>(d.free_bytes) / (1 << 30),
                       static_cast<double>(d.total_bytes) / (1 << 30))}};
}

[[noreturn]] void serve(Device device, int socket) {
  std::string buffer;
  std::string line;
  while (receive_line(socket, buffer, line, 1e9, [] { return false; }) == Receive::kLine) {
    Json reply;
    try {
      reply = answer(device, Json::parse(line), socket);
    } catch (const std::exception& e) {
      reply = {{"failed", e.what()}};
    }
    if (!send_line(socket, reply.dump())) break;
  }
  // No destructors: the memory and the context go with the process.
  _exit(0);
}

}  // namespace

std::string Worker::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fmt::format("no socket for a worker process: {}", std::strerror(errno));
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return fmt::format("no worker process: {}", std::strerror(errno));
  }
  if (child == 0) {
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) signal(s, SIG_DFL);
    signal(SIGINT, SIG_IGN);  // the supervisor decides
    serve(device_, ends[1]);
  }
  close(ends[1]);
  process_ = child;
  socket_ = ends[0];
  received_.clear();
  return "";
}

// Waits for the process to end; gives its wait status.
int Worker::reap() noexcept {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  close(socket_);
  socket_ = -1;
  served_ = 0;
  return status;
}

std::string Worker::how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return fmt::format("the worker process ended by signal {} ({})", number, strsignal(number));
  }
  return fmt::format("the worker process ended with status {}", WEXITSTATUS(status));
}

void Worker::stop() noexcept {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  reap();
}

Worker::Reply Worker::ask(const Json& request, const RunLimits& limits) {
  Reply reply;
  if (process_ < 0) {
    if (reply.reason = start(); !reply.reason.empty()) return reply;
  }
  std::string line;
  Receive received = send_line(socket_, request.dump()) ? Receive::kLine : Receive::kClosed;
  const auto deadline = Clock::now() + std::chrono::duration<double>(limits.seconds);
  while (received == Receive::kLine) {
    received = receive_line(socket_, received_, line, std::chrono::duration<double>(deadline - Clock::now()).count(),
                            [&] { return resident_bytes(process_) > limits.memory; });
    if (received != Receive::kLine) break;
    Json value = Json::parse(line);
    if (!value.contains("launching")) {
      reply.value = std::move(value);
      return reply;
    }
    reply.launched = dispatch_from_json(value.at("launching"));
  }
  reply.timed_out = received == Receive::kTimeout;
  reply.out_of_memory = received == Receive::kTooMuchMemory;
  if (reply.timed_out || reply.out_of_memory) kill(process_, SIGKILL);
  const int status = reap();
  reply.reason = how_it_ended(status);
  reply.killed_by_others = received == Receive::kClosed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (reply.out_of_memory) {
    reply.reason =
        fmt::format("the worker process held more than {} MiB of memory and was killed", limits.memory >> 20);
  }
  if (reply.timed_out) reply.reason = fmt::format("no end after {:g} s; the worker process was killed", limits.seconds);
  return reply;
}

Execution Worker::execute(const Case& c, const std::vector<Interval>& windows, const RunLimits& limits) {
  bool killed = false;
  const bool fresh = served_ == 0;
  Execution execution = execute_once(c, windows, limits, killed);
  // What earlier cases left in the process is not this one's memory.
  if (execution.raw.ending == Ending::kOutOfMemory && process_ < 0 && !fresh) {
    execution = execute_once(c, windows, limits, killed);
  }
  if (!killed) return execution;
  execution = execute_once(c, windows, limits, killed);
  if (killed) {
    // Twice is no accident: this is how Linux ends what takes the machine's last memory.
    execution.raw.ending = Ending::kOutOfMemory;
    execution.raw.reason = "the worker process was killed twice (SIGKILL), as the system does where memory runs out";
  }
  return execution;
}

Execution Worker::execute_once(const Case& c, const std::vector<Interval>& windows, const RunLimits& limits,
                               bool& killed) {
  Execution execution;
  killed = false;
  if (process_ < 0 && device_ == Device::kCuda) {
    // The context is made outside the case's limit.
    info_.reset();
    if (const std::string reason = unavailable(); !reason.empty()) {
      execution.raw.reason = reason;
      return execution;
    }
  }
  Json request = {{"case", to_text(c)}, {"windows", Json::array()}};
  for (const Interval& i : windows) request["windows"].push_back({i.first, i.last});
  ++served_;
  const Reply reply = ask(request, limits);
  if (reply.value && !reply.value->contains("failed")) {
    execution = execution_from_json(*reply.value);
    // A fault destroys the GPU's context: the next case gets a new process.
    if (device_ == Device::kCuda && execution.raw.ending == Ending::kFault) stop();
    return execution;
  }
  execution.raw.reason = reply.value ? reply.value->at("failed").get<std::string>() : reply.reason;
  if (!reply.value) {
    execution.raw.ending = reply.timed_out       ? Ending::kHang
                           : reply.out_of_memory ? Ending::kOutOfMemory
                                                 : Ending::kFault;
    killed = reply.killed_by_others;
    execution.launched = reply.launched;
  }
  return execution;
}

const Json& Worker::info() {
  if (!info_) {
    const Reply reply = ask({{"info", true}}, kStartLimits);
    info_ = reply.value.value_or(Json{{"unavailable", reply.reason}, {"description", ""}});
  }
  return *info_;
}

std::string Worker::unavailable() { return info().value("unavailable", "the worker process failed"); }

std::string Worker::description() { return info().value("description", ""); }

int Worker::device_count() { return info().value("devices", 0); }

Worker::Reply Worker::ask_device(const Json& request) {
  Reply reply = ask(request, kStartLimits);
  if (reply.value) reply.reason = reply.value->value(reply.value->contains("failed") ? "failed" : "error", "");
  return reply;
}

DeviceLimits Worker::limits() {
  if (limits_) return *limits_;
  DeviceLimits limits;
  const Reply reply = ask_device({{"limits", true}});
  if (limits.error = reply.reason; !limits.error.empty()) return limits;
  const auto values = reply.value->at("values").get<std::array<int64_t, 5>>();
  limits_ = {"", values[0], values[1], values[2], values[3], values[4]};
  return *limits_;
}

KernelAttributes Worker::attributes(const KernelId& kernel) {
  if (const auto known = attributes_.find(kernel); known != attributes_.end()) return known->second;
  KernelAttributes attributes;
  const Reply reply = ask_device({{"attributes", kernel_to_json(kernel)}});
  if (attributes.error = reply.reason; !attributes.error.empty()) return attributes;
  const auto values = reply.value->at("values").get<std::array<int64_t, 3>>();
  attributes = {"", values[0], values[1], values[2]};
  attributes_[kernel] = attributes;
  return attributes;
}
std::string Worker::device_name() { return info().value("device_name", ""); }

Occupancy Worker::resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) {
  const std::tuple question(kernel, threads, shared_bytes);
  if (const auto known = occupancy_.find(question); known != occupancy_.end()) return known->second;
  const Reply reply = ask_device({{"occupancy", {kernel_to_json(kernel), threads, shared_bytes}}});
  if (!reply.reason.empty()) return {reply.reason, 0};
  Occupancy answer{"", reply.value->at("blocks").get<int64_t>()};
  occupancy_.emplace(question, answer);
  return answer;
}

DeviceLimits DeviceOccupancy::limits() { return device_ == Device::kHost ? host_.limits() : worker_.limits(); }

KernelAttributes DeviceOccupancy::attributes(const KernelId& kernel) {
  return device_ == Device::kHost ? host_.attributes(kernel) : worker_.attributes(kernel);
}

Occupancy DeviceOccupancy::resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) {
  if (device_ == Device::kHost) return host_.resident_blocks(kernel, threads, shared_bytes);
  return worker_.resident_blocks(kernel, threads, shared_bytes);
}

}  // namespace brink
