#include "properties/cuda_run.h"

namespace brink {

RawObservation run_on_cuda(const CudaRequest& /*request*/, CudaTimings* timings) {
  if (timings != nullptr) *timings = {};
  RawObservation observation;
  observation.reason = "built without CUDA";
  return observation;
}

}  // namespace brink
