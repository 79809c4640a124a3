#include "properties/execution.h"

namespace brink {

std::optional<Dispatch> Execution::reached() const {
  const KernelStamp& stamp = raw.stamp;
  const auto kernel = kernel_of(stamp);
  if (!kernel) return launched;
  const bool last_dim = kernel->variant == Variant::kWarp || kernel->variant == Variant::kBlock;
  const int64_t shared_bytes = launched ? launched->sized.launch.shared_bytes : 0;
  return Dispatch{kernel->index_type,
                  {last_dim ? Path::kLastDim : Path::kSpatial,
                   kernel->variant,
                   {stamp.block_x, stamp.block_y, stamp.grid_x, stamp.grid_y, shared_bytes},
                   launched ? launched->sized.form : LaunchForm::kResident}};
}

void require_stamp(Execution& execution) {
  RawObservation& raw = execution.raw;
  if (raw.ending != Ending::kCompleted || kernel_of(raw.stamp)) return;
  RawObservation nothing;
  nothing.reason = "the kernel left no stamp: the implementation returned success without launching it";
  nothing.prepare_ms = raw.prepare_ms;
  nothing.physical_bytes = raw.physical_bytes;
  raw = std::move(nothing);
  execution.launched.reset();
}

}  // namespace brink
