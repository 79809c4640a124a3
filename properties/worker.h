#pragma once

#include <sys/types.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "properties/execution.h"
#include "properties/run_limits.h"

namespace brink {

/// A process that runs cases, so that one that faults or hangs ends it and not the caller. Started when first needed
/// and again after it died. The GPU is only ever touched in a worker: the calling process stays free to fork.
class Worker {
 public:
  explicit Worker(Device device) : device_(device) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Runs a valid, non-empty case. A worker that ends by a signal gives Ending::kFault, one that exceeds its
  /// time is killed and gives Ending::kHang, one that exceeds its memory (resident) Ending::kOutOfMemory. A case is run
  /// once more where its worker's end may not be its own: where somebody else killed it, and where it had run others
  /// before, of whose memory something may be left.
  Execution execute(const Case& c, const std::vector<Interval>& windows, const RunLimits& limits);

  /// Why the device cannot run anything, or an empty string.
  std::string unavailable();
  /// One line about the device.
  std::string description();
  /// What of it stays the same from run to run: a GPU's name, capability and memory. Empty for the host.
  std::string device_name();
  /// GPUs that the worker can see; 0 on the host.
  int device_count();
  /// The worker's device as launch sizing sees it. Each question is asked once; an error may pass, and is not kept.
  DeviceLimits limits();
  KernelAttributes attributes(const KernelId& kernel);
  Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes);

 private:
  struct Reply {
    std::optional<nlohmann::json> value;
    std::optional<Dispatch> launched;  ///< said before the value, or before the end
    bool timed_out = false;
    bool out_of_memory = false;
    bool killed_by_others = false;
    std::string reason;
  };
  Execution execute_once(const Case& c, const std::vector<Interval>& windows, const RunLimits& limits, bool& killed);
  Reply ask(const nlohmann::json& request, const RunLimits& limits);
  /// A question about the device; the reply's reason is why there is no answer.
  Reply ask_device(const nlohmann::json& request);
  std::string start();
  void stop() noexcept;
  int reap() noexcept;
  std::string how_it_ended(int status);
  const nlohmann::json& info();

  Device device_;
  pid_t process_ = -1;
  int64_t served_ = 0;  ///< cases that the process was given
  int socket_ = -1;
  std::string received_;
  std::optional<nlohmann::json> info_;
  std::optional<DeviceLimits> limits_;
  std::map<KernelId, KernelAttributes> attributes_;
  std::map<std::tuple<KernelId, int64_t, int64_t>, Occupancy> occupancy_;
};

/// Launch sizing's view of a device: the host's own, or a GPU's through its worker.
class DeviceOccupancy : public OccupancyQuery {
 public:
  /// `worker` is used for Device::kCuda only and must outlive this object.
  DeviceOccupancy(Device device, const Implementation& implementation, Worker& worker)
      : device_(device), host_(host_occupancy(implementation)), worker_(worker) {}
  DeviceLimits limits() override;
  KernelAttributes attributes(const KernelId& kernel) override;
  Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) override;

 private:
  Device device_;
  FixedOccupancy host_;
  Worker& worker_;
};

}  // namespace brink
