#include "properties/launch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "kernels/execution/host_run.h"
#include "kernels/replicas/launch_helpers.h"
#include "properties/observe.h"

namespace brink {

namespace {

constexpr size_t kMostSteps = 64;       // halving 32-bit sizes to 1, both of them
constexpr int64_t kMostElements = 400;  // of a tensor that is run

struct NeverEnds {};

// Passes questions on, and keeps what was asked and answered.
class Witness : public OccupancyQuery {
 public:
  explicit Witness(OccupancyQuery& device) : device_(device) {}
  DeviceLimits limits() override { return last_limits = device_.limits(); }
  KernelAttributes attributes(const KernelId& kernel) override { return last_attributes = device_.attributes(kernel); }
  Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) override {
    if (++asked > 4 * kMostSteps) throw NeverEnds();
    last_threads = threads;
    last_shared_bytes = shared_bytes;
    return last_answer = device_.resident_blocks(kernel, threads, shared_bytes);
  }

  DeviceLimits last_limits;
  KernelAttributes last_attributes;
  Occupancy last_answer;
  int64_t last_threads = 0;
  int64_t last_shared_bytes = 0;
  size_t asked = 0;

 private:
  OccupancyQuery& device_;
};

int64_t needed_shared_bytes(const Launch& launch, Variant variant, DType dtype) {
  if (variant == Variant::kWarp || variant == Variant::kColumns) return 0;
  return launch.block_x * launch.block_y * (dtype == DType::kF64 ? 8 : 4);
}

std::string block_text(const Launch& launch) { return fmt::format("block ({}, {})", launch.block_x, launch.block_y); }

std::string chain_problem(const LaunchTrial& trial, const LaunchPlan& plan) {
  if (plan.attempts.size() > kMostSteps) return fmt::format("{} steps", plan.attempts.size());
  for (size_t i = 0; i < plan.attempts.size(); ++i) {
    const Launch& now = plan.attempts[i].launch;
    if (now.shared_bytes != needed_shared_bytes(now, plan.kernel.variant, trial.request.dtype)) {
      return fmt::format("{} asks for {} bytes of shared memory and needs {}", block_text(now), now.shared_bytes,
                         needed_shared_bytes(now, plan.kernel.variant, trial.request.dtype));
    }
    if (i == 0) continue;
    const Launch& before = plan.attempts[i - 1].launch;
    const bool y_halved = before.block_y > 1 && now.block_y == before.block_y / 2 && now.block_x == before.block_x;
    const bool x_halved = before.block_y == 1 && now.block_y == 1 && now.block_x == before.block_x / 2;
    if (!y_halved && !x_halved) return fmt::format("{} follows {}", block_text(now), block_text(before));
  }
  return "";
}

std::string accepted_problem(const LaunchTrial& trial, const LaunchPlan& plan, const Witness& device) {
  const SizedLaunch& sized = *plan.launch;
  const Launch& launch = sized.launch;
  const DeviceLimits& limits = device.last_limits;
  if (!limits.error.empty() || !device.last_attributes.error.empty()) return "accepted although a query failed";
  if (!device.last_answer.error.empty()) return "accepted although the query failed: " + device.last_answer.error;
  if (device.last_answer.resident_blocks < 1) {
    return fmt::format("accepted {} with {} resident blocks", block_text(launch), device.last_answer.resident_blocks);
  }
  if (device.last_threads != launch.threads() || device.last_shared_bytes != launch.shared_bytes) {
    return fmt::format("accepted {}, which was not what was asked about last", block_text(launch));
  }
  if (launch.shared_bytes != needed_shared_bytes(launch, sized.variant, trial.request.dtype)) {
    return fmt::format("accepted {} bytes of shared memory for {}", launch.shared_bytes, block_text(launch));
  }
  if (launch.block_x < 1 || launch.block_y < 1 || launch.threads() > limits.threads ||
      launch.threads() > device.last_attributes.max_threads) {
    return fmt::format("accepted {} beyond the limit of threads", block_text(launch));
  }
  if (launch.shared_bytes > limits.shared_bytes ||
      device.last_attributes.static_shared_bytes > limits.shared_bytes - launch.shared_bytes) {
    return fmt::format("accepted {} bytes of shared memory beyond the limit", launch.shared_bytes);
  }
  if (launch.grid_x < 1 || launch.grid_y < 1 || launch.grid_x > limits.grid_x || launch.grid_y > limits.grid_y ||
      limits.grid_z < 1) {
    return fmt::format("accepted a grid of {} x {} blocks", launch.grid_x, launch.grid_y);
  }
  for (const int64_t dimension : {launch.block_x, launch.block_y, launch.grid_x, launch.grid_y}) {
    if (dimension != static_cast<int64_t>(static_cast<uint32_t>(dimension))) return "a dimension beyond 32 bits";
  }
  const bool moved_x = plan.attempts.front().launch.block_x != launch.block_x;
  const bool moved_y = plan.attempts.front().launch.block_y != launch.block_y;
  const LaunchForm form = moved_x ? LaunchForm::kReducedX : moved_y ? LaunchForm::kReducedY : LaunchForm::kResident;
  return sized.form == form ? "" : fmt::format("{} is called {}", block_text(launch), name_of(sized.form));
}

std::string rejected_problem(const LaunchPlan& plan, const Witness& device) {
  if (plan.reason.empty() || plan.reason.find('\n') != std::string::npos) return "rejected without a reason";
  if (!device.last_limits.error.empty() || !device.last_attributes.error.empty()) return "";
  if (plan.attempts.empty()) return "rejected without an attempt";
  const Launch& last = plan.attempts.back().launch;
  const bool may_shrink = last.block_y > 1 || (last.block_x > 1 && plan.kernel.variant != Variant::kWarp);
  return may_shrink ? fmt::format("rejected although {} can shrink", block_text(last)) : "";
}

template <class T>
std::string run_problem(const LaunchTrial& trial, const SizedLaunch& sized) {
  using Traits = ElementTraits<T>;
  const LaunchRequest& request = trial.request;
  const Decomposition& shape = request.shape;
  const int64_t numel = shape.numel();
  const ClosedForm form{request.operation, Traits::kDType, FormFamily::kCoded, 7, shape};
  struct alignas(64) Block {
    std::array<std::byte, 64> bytes;
  };
  std::array<std::vector<Block>, 3> memory;
  HostTensors tensors;
  for (size_t i = 0; i < memory.size(); ++i) {
    memory[i].resize(static_cast<size_t>(numel) * sizeof(T) / sizeof(Block) + 1);
    (i < 2 ? tensors.inputs[i] : tensors.output) = memory[i].data();
  }
  for (int tensor = 0; tensor < input_count(request.operation); ++tensor) {
    for (int64_t n = 0; n < numel; ++n) {
      static_cast<T*>(tensors.inputs[tensor])[n] =
          Traits::store(static_cast<typename Traits::Acc>(form.input(tensor, n)));
    }
  }
  using Bits = typename Traits::Bits;
  std::fill_n(static_cast<Bits*>(tensors.output), numel, static_cast<Bits>(poison_bits(sizeof(T))));
  tensors.numel = numel;
  tensors.windows = {{0, numel - 1, std::vector<uint8_t>(static_cast<size_t>(numel))}};
  // A narrow index is another story where it wraps.
  const bool fits = largest_index_value(shape, sized, Traits::kDType) <= limits_of(request.index_type).max;
  const KernelId kernel{request.operation, sized.variant, Traits::kDType, fits ? request.index_type : IndexType::kI64,
                        request.build};
  BarrierDivergence divergence;
  const BlockEnd end = run_on_host(kernel, shape, sized.launch, nullptr, 1 << 20, tensors, &divergence);
  if (end == BlockEnd::kBarrierDivergence) {
    return fmt::format("barrier {} is reached by {} of the {} threads of block ({}, {})", name_of(divergence.barrier),
                       divergence.waiting, divergence.threads, divergence.index_x, divergence.index_y);
  }
  if (end != BlockEnd::kCompleted) return "the kernel hangs";
  RawObservation raw;
  observe_windows<T>(form, tensors, raw);
  if (!raw.unwritten.empty()) return fmt::format("element {} is never written", raw.unwritten[0].first);
  if (!raw.written_twice->empty()) return fmt::format("element {} is written twice", (*raw.written_twice)[0].first);
  if (!raw.wrong.empty()) return fmt::format("element {} is wrong", raw.wrong[0].first);
  return raw.out_of_bounds.empty() ? "" : "an address outside the tensor";
}

}  // namespace

LaunchTrial draw_launch_trial(Draws& draws) {
  static constexpr std::array<int64_t, 12> kRegisters = {1, 16, 32, 40, 64, 65, 96, 128, 129, 168, 255, 512};
  LaunchTrial trial;
  LaunchRequest& request = trial.request;
  const bool model = draws.chance(50);
  const auto size = [&](int64_t bits) {
    return int64_t{1} + static_cast<int64_t>(draws.next() >> 1) % (int64_t{1} << draws.between(0, bits));
  };
  if (model) {
    do {
      request.shape = {size(4), size(6), draws.chance(30) ? 1 : size(6)};
    } while (request.shape.numel() > kMostElements);
  } else {
    request.shape = {size(20), size(20), draws.chance(30) ? 1 : size(20)};
    int64_t& longest = draws.chance(50) ? request.shape.dim_size : request.shape.inner_size;
    if (longest > 1) longest *= draws.between(1, 1 << 12);
  }
  request.operation = kOperations[draws.below(std::size(kOperations))];
  request.dtype = kDTypes[draws.below(std::size(kDTypes))];
  request.index_type = kIndexTypes[draws.below(std::size(kIndexTypes))];
  request.limits = model ? KernelLimits::scaled() : KernelLimits::real();
  // Up to 8 columns to a shared block: 5 on blocks of 2 are one that barriers could be torn in; 4 and fewer are not.
  if (model && draws.chance(50)) request.limits.reduce_inner_max = 8;
  request.build = Build::kPressure;
  trial.device = draws.pick(device_specs());
  if (model) trial.device = scaled(trial.device);
  if (draws.chance(50)) trial.registers = kRegisters[static_cast<size_t>(draws.below(kRegisters.size()))];
  // A multiprocessor with little shared memory: blocks may have to shrink for it alone.
  if (draws.chance(20)) trial.device.limits.shared_bytes /= int64_t{1} << draws.between(1, 10);
  if (draws.chance(33)) trial.hostility = kHostilities[draws.below(std::size(kHostilities))];
  trial.seed = draws.next();
  return trial;
}

std::string to_text(const LaunchTrial& trial) {
  const LaunchRequest& r = trial.request;
  return fmt::format("{} [{}, {}, {}] {} {} on {}, {} registers, {} bytes of shared memory, {} {}",
                     name_of(r.operation), r.shape.outer_size, r.shape.dim_size, r.shape.inner_size, name_of(r.dtype),
                     name_of(r.index_type), trial.device.name,
                     trial.registers ? std::to_string(*trial.registers) : "its own", trial.device.limits.shared_bytes,
                     trial.hostility ? name_of(*trial.hostility) : "honest", trial.seed);
}

std::string launch_problem(const LaunchTrial& trial, LaunchHelper helper) {
  DeviceModel model(trial.device, trial.registers);
  std::unique_ptr<HostileDevice> hostile;
  if (trial.hostility) hostile = std::make_unique<HostileDevice>(*trial.hostility, model, trial.seed);
  Witness device(hostile ? static_cast<OccupancyQuery&>(*hostile) : model);
  LaunchPlan plan;
  try {
    plan = plan_launch_with(helper, trial.request, device);
  } catch (const NeverEnds&) {
    return "it never ends";
  }
  std::string problem;
  if (device.asked > plan.attempts.size()) problem = "it asks more than once about a block";
  if (problem.empty() && plan.launch) problem = accepted_problem(trial, plan, device);
  if (problem.empty() && !plan.launch) problem = rejected_problem(plan, device);
  if (problem.empty()) problem = chain_problem(trial, plan);
  const bool runs = problem.empty() && plan.launch && trial.request.limits.warp_size != KernelLimits::real().warp_size;
  if (!runs) return problem;
  return with_dtype(trial.request.dtype,
                    [&](auto element) { return run_problem<decltype(element)>(trial, *plan.launch); });
}

}  // namespace brink
