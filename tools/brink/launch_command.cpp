#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "kernels/replicas/launch_helpers.h"
#include "kernels/softmax/device_model.h"
#include "properties/worker.h"
#include "tools/brink/commands.h"
#include "tools/brink/options.h"

namespace brink {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kHostModel = "host";
constexpr uint64_t kHostileSeed = 1;

struct Options {
  std::string operation = "softmax_backward";
  std::string shape;
  int64_t axis = -1;
  std::string dtype = "f16";
  std::string implementation = "dispatched";
  std::string device = "host";
  std::string device_model = std::string(kHostModel);
  int64_t registers = 0;
  bool all = false;
  bool json = false;
};

/// The device that is asked: a GPU through a worker process, or a simulated one.
class Asked {
 public:
  Asked(const Options& options, const Implementation& implementation) : worker_(parse_device(options.device)) {
    const bool simulated = options.device_model != kHostModel;
    std::optional<int64_t> registers;
    if (options.registers != 0) registers = options.registers;
    if (parse_device(options.device) == Device::kCuda) {
      if (simulated || registers) throw UsageError{"--device cuda asks the GPU: no --device-model and no --registers"};
      if (const std::string reason = worker_.unavailable(); !reason.empty()) {
        throw UsageError{"--device cuda: " + reason};
      }
      name_ = worker_.description();
      occupancy_ = std::make_unique<DeviceOccupancy>(Device::kCuda, implementation, worker_);
      return;
    }
    name_ = options.device_model;
    if (const auto spec = find_device_spec(name_)) {
      occupancy_ = std::make_unique<DeviceModel>(*spec, registers);
      return;
    }
    for (const Hostility hostility : kHostilities) {
      if (name_of(hostility) != name_) continue;
      occupancy_ =
          std::make_unique<HostileDevice>(hostility, DeviceModel(h200_model().spec(), registers), kHostileSeed);
      return;
    }
    if (simulated) {
      std::vector<std::string> names{std::string(kHostModel)};
      for (const DeviceSpec& spec : device_specs()) names.push_back(spec.name);
      for (const Hostility hostility : kHostilities) names.emplace_back(name_of(hostility));
      throw UsageError{fmt::format("unknown device model \"{}\"; expected {}", name_, fmt::join(names, ", "))};
    }
    if (registers) throw UsageError{"--registers needs a --device-model other than host"};
    occupancy_ = std::make_unique<FixedOccupancy>(host_occupancy(implementation));
  }

  OccupancyQuery& occupancy() { return *occupancy_; }
  const std::string& name() const { return name_; }

 private:
  Worker worker_;
  std::string name_;
  std::unique_ptr<OccupancyQuery> occupancy_;
};

/// A sized launch, and what the device says to it.
struct Sizing {
  Path path = Path::kLastDim;
  LaunchPlan plan;
  std::string refusal;  ///< why the launch that was sized is refused all the same

  LaunchForm form() const { return plan.launch && refusal.empty() ? plan.launch->form : LaunchForm::kRejected; }
};

Sizing size(const Implementation& implementation, const Decomposition& shape, Operation operation, DType dtype,
            OccupancyQuery& occupancy) {
  IndexType index_type = implementation.index_type;
  if (implementation.rule != WidthRule::kFixed) {
    const auto decision = dispatch(implementation, shape, operation, dtype, occupancy);
    const auto* launch = std::get_if<Dispatch>(&decision);
    index_type = launch != nullptr ? launch->index_type : IndexType::kI64;
  }
  Sizing sizing;
  sizing.path = path_of(shape);
  sizing.plan = plan_launch_with(implementation.helper,
                                 launch_request(implementation, shape, operation, dtype, index_type), occupancy);
  if (sizing.plan.launch && implementation.helper != LaunchHelper::kChecked) {
    sizing.refusal = launch_refusal(sizing.plan.kernel, sizing.plan.launch->launch, occupancy);
  }
  return sizing;
}

std::string block_text(const Launch& launch) { return fmt::format("({}, {})", launch.block_x, launch.block_y); }

std::string number_or_unknown(int64_t n, int64_t unknown) { return n == unknown ? "?" : fmt::format("{}", n); }

void print_steps(const Sizing& sizing) {
  const LaunchPlan& plan = sizing.plan;
  fmt::print("  {}/{} {}, {} registers a thread, at most {} threads a block\n", name_of(sizing.path),
             name_of(plan.kernel.variant), name_of(plan.kernel.index_type),
             number_or_unknown(plan.attributes.registers, 0),
             number_or_unknown(std::min(plan.attributes.max_threads, plan.device.threads), kDimensionMax));
  if (!plan.attempts.empty()) {
    fmt::print("  {:<12} {:>7} {:>9} {:>7} {:>9}  {}\n", "block", "threads", "registers", "shared", "resident",
               "decision");
  }
  for (const LaunchAttempt& attempt : plan.attempts) {
    const Launch& launch = attempt.launch;
    fmt::print("  {:<12} {:>7} {:>9} {:>7} {:>9}  {}{}{}\n", block_text(launch), launch.threads(),
               launch.threads() * plan.attributes.registers, launch.shared_bytes,
               attempt.answer.error.empty() ? fmt::format("{}", attempt.answer.resident_blocks) : "error",
               name_of(attempt.decision), attempt.refusal.empty() ? "" : ": ", attempt.refusal);
  }
  if (plan.launch) {
    const Launch& launch = plan.launch->launch;
    fmt::print("  launch       grid ({}, {}) block {}, {} bytes of shared memory\n", launch.grid_x, launch.grid_y,
               block_text(launch), launch.shared_bytes);
  }
  const std::string& why = plan.launch ? sizing.refusal : plan.reason;
  fmt::print("  form         {}{}{}\n", name_of(sizing.form()), why.empty() ? "" : ": ", why);
}

Json steps_json(const Sizing& sizing) {
  const LaunchPlan& plan = sizing.plan;
  Json j;
  j["path"] = name_of(sizing.path);
  j["variant"] = name_of(plan.kernel.variant);
  j["index_type"] = name_of(plan.kernel.index_type);
  j["registers"] = plan.attributes.registers;
  j["max_threads"] = plan.attributes.max_threads;
  j["static_shared_bytes"] = plan.attributes.static_shared_bytes;
  j["steps"] = Json::array();
  for (const LaunchAttempt& attempt : plan.attempts) {
    j["steps"].push_back({{"block", {attempt.launch.block_x, attempt.launch.block_y, 1}},
                          {"threads", attempt.launch.threads()},
                          {"shared_bytes", attempt.launch.shared_bytes},
                          {"error", attempt.answer.error},
                          {"resident_blocks", attempt.answer.resident_blocks},
                          {"decision", name_of(attempt.decision)},
                          {"refusal", attempt.refusal}});
  }
  j["launch"] = nullptr;
  if (plan.launch) {
    const Launch& l = plan.launch->launch;
    j["launch"] = {
        {"grid", {l.grid_x, l.grid_y, 1}}, {"block", {l.block_x, l.block_y, 1}}, {"shared_bytes", l.shared_bytes}};
  }
  j["form"] = name_of(sizing.form());
  j["reason"] = plan.launch ? sizing.refusal : plan.reason;
  return j;
}

/// One line for every kernel: its registers, and what its largest block becomes.
void print_all(const Options& options) {
  // Shapes for which each variant asks for the largest block that it ever does.
  constexpr Decomposition kShapes[] = {{65536, 1024, 1}, {65536, 65536, 1}, {1, 2, 2147483649}, {1, 1 << 20, 2}};
  Json rows = Json::array();
  if (!options.json) {
    fmt::print("{:<21} {:<17} {:<5} {:<21} {:>9} {:>11}  {:<11} {:<11} {:>8}  {}\n", "operation", "variant", "dtype",
               "implementation", "registers", "max threads", "first block", "accepted", "resident", "form");
  }
  Asked asked(options, *parse_implementation("dispatched"));
  for (const Operation operation : kOperations) {
    for (const Decomposition& shape : kShapes) {
      for (const DType dtype : kDTypes) {
        for (const Implementation& implementation : all_implementations()) {
          const bool other = implementation.scaled() || implementation.rule != WidthRule::kFixed ||
                             implementation.path != path_of(shape) || implementation.build == Build::kTornBarrier ||
                             implementation.helper != LaunchHelper::kChecked;
          if (other) continue;
          const Sizing sizing = size(implementation, shape, operation, dtype, asked.occupancy());
          const LaunchPlan& plan = sizing.plan;
          if (options.json) {
            Json row = steps_json(sizing);
            row["operation"] = name_of(operation);
            row["dtype"] = name_of(dtype);
            row["implementation"] = implementation.name();
            rows.push_back(std::move(row));
            continue;
          }
          fmt::print("{:<21} {:<17} {:<5} {:<21} {:>9} {:>11}  {:<11} {:<11} {:>8}  {}\n", name_of(operation),
                     fmt::format("{}/{}", name_of(sizing.path), name_of(plan.kernel.variant)), name_of(dtype),
                     implementation.name(), plan.attributes.registers,
                     number_or_unknown(std::min(plan.attributes.max_threads, plan.device.threads), kDimensionMax),
                     plan.attempts.empty() ? "none" : block_text(plan.attempts.front().launch),
                     plan.launch ? block_text(plan.launch->launch) : "none",
                     plan.attempts.empty() ? 0 : plan.attempts.back().answer.resident_blocks, name_of(sizing.form()));
        }
      }
    }
  }
  if (options.json) print_json(rows);
}

void run(const Options& options, int& status) {
  if (options.all) return print_all(options);
  const Operation operation = operation_option(options.operation);
  const std::vector<int64_t> sizes = parse_shape(options.shape);
  const DType dtype = dtype_option(options.dtype);
  const Implementation implementation = implementation_option(options.implementation);
  Case c;
  c.operation = operation;
  c.shape = sizes;
  c.axis = options.axis;
  c.dtype = dtype;
  c.implementation = implementation;
  if (const std::string error = validate(c); !error.empty()) throw UsageError{error};
  const auto shape = std::get<Decomposition>(decompose(c));
  Asked asked(options, implementation);
  const std::string header = fmt::format("{} [{}] axis {} {} {} on {}", name_of(operation), fmt::join(sizes, ", "),
                                         options.axis, name_of(dtype), implementation.name(), asked.name());
  std::string nothing;
  if (shape.numel() == 0) nothing = "the tensor is empty: nothing to launch";
  if (implementation.path && *implementation.path != path_of(shape)) {
    nothing = fmt::format("inner_size {} selects path {}", shape.inner_size, name_of(path_of(shape)));
  }
  if (!nothing.empty()) {
    if (options.json) {
      print_json({{"case", header}, {"form", nullptr}, {"reason", nothing}});
    } else {
      fmt::print("{}\n  not executed: {}\n", header, nothing);
    }
    status = kExitNotExecuted;
    return;
  }
  const Sizing sizing = size(implementation, shape, operation, dtype, asked.occupancy());
  if (options.json) {
    Json j = {{"case", header}};
    j.update(steps_json(sizing));
    print_json(j);
  } else {
    fmt::print("{}\n", header);
    print_steps(sizing);
  }
  status = sizing.form() == LaunchForm::kRejected ? kExitFinding : kExitOk;
}

}  // namespace

void add_launch(CLI::App& app, int& status) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("launch", "show how a launch is sized, step by step");
  command->add_option("--op", options->operation, "operation (brink list operations)");
  command->add_option("--shape", options->shape, "sizes, such as 1,2,2147483649; \"scalar\" for no dimensions");
  command->add_option("--axis", options->axis, "axis; negative ones count from the end");
  command->add_option("--dtype", options->dtype, "f16, bf16, f32 or f64");
  command->add_option("--impl", options->implementation, "implementation (brink list implementations)");
  command->add_option("--device", options->device, "host or cuda");
  command->add_option("--device-model", options->device_model,
                      "a simulated device: host, sm_75, sm_80, sm_86, sm_90, sm_100, gfx950; or a hostile one: errors, "
                      "ones, fickle, nothing");
  command
      ->add_option("--registers", options->registers,
                   "registers of a thread on a simulated device, in place of those measured on sm_90")
      ->check(CLI::Range(1, 255));
  CLI::Option* all =
      command->add_flag("--all", options->all, "one line for every kernel, with the largest block that it asks for");
  for (const char* other : {"--op", "--shape", "--axis", "--dtype", "--impl"})
    all->excludes(command->get_option(other));
  command->add_flag("--json", options->json, "JSON on standard output");
  command->footer(
      "Exit status: 0 a viable launch, 1 a rejected one, 3 nothing to launch; with --all 0 whatever the forms.");
  command->callback([options, &status] { run(*options, status); });
}

}  // namespace brink
