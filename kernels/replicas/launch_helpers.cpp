#include "kernels/replicas/launch_helpers.h"

namespace brink {

LaunchPlan ask_once(const LaunchRequest& request, OccupancyQuery& occupancy) {
  SizedLaunch sized = first_choice(request);
  LaunchPlan plan = begin_plan(request, sized, occupancy);
  if (!plan.reason.empty()) return plan;
  LaunchAttempt& attempt = plan.attempts.emplace_back();
  attempt.launch = sized.launch;
  attempt.answer = occupancy.resident_blocks(plan.kernel, sized.launch.threads(), sized.launch.shared_bytes);
  if (!attempt.answer.error.empty()) {
    attempt.refusal = attempt.answer.error;
    reject(sized, plan);
    return plan;
  }
  size_grid(request, plan.device, attempt.answer.resident_blocks, sized);
  attempt.launch = sized.launch;
  attempt.decision = Decision::kAccept;
  plan.launch = sized;
  return plan;
}

LaunchPlan shrink_y_only(const LaunchRequest& request, OccupancyQuery& occupancy) {
  SizedLaunch sized = first_choice(request);
  LaunchPlan plan = begin_plan(request, sized, occupancy);
  if (!plan.reason.empty()) return plan;
  while (true) {
    sized.launch.shared_bytes = shared_bytes_of(sized.launch, sized.variant, request.dtype);
    LaunchAttempt& attempt = plan.attempts.emplace_back(try_block(request, plan, sized, occupancy));
    if (attempt.refusal.empty()) {
      attempt.decision = Decision::kAccept;
      plan.launch = sized;
      return plan;
    }
    if (sized.launch.block_y == 1) {
      reject(sized, plan);
      return plan;
    }
    attempt.decision = Decision::kShrinkY;
    sized.form = LaunchForm::kReducedY;
    sized.launch.block_y /= 2;
  }
}

LaunchPlan stale_shared(const LaunchRequest& request, OccupancyQuery& occupancy) {
  SizedLaunch sized = first_choice(request);
  LaunchPlan plan = begin_plan(request, sized, occupancy);
  if (!plan.reason.empty()) return plan;
  while (true) {
    LaunchAttempt& attempt = plan.attempts.emplace_back(try_block(request, plan, sized, occupancy));
    if (attempt.refusal.empty()) {
      attempt.decision = Decision::kAccept;
      plan.launch = sized;
      return plan;
    }
    if (sized.launch.block_y > 1) {
      attempt.decision = Decision::kShrinkY;
      sized.form = LaunchForm::kReducedY;
      sized.launch.block_y /= 2;
    } else if (sized.launch.block_x > 1 && sized.variant != Variant::kWarp) {
      attempt.decision = Decision::kShrinkX;
      sized.form = LaunchForm::kReducedX;
      sized.launch.block_x /= 2;
    } else {
      reject(sized, plan);
      return plan;
    }
  }
}

LaunchPlan plan_launch_with(LaunchHelper helper, const LaunchRequest& request, OccupancyQuery& occupancy) {
  switch (helper) {
    case LaunchHelper::kChecked:
      break;
    case LaunchHelper::kAskOnce:
      return ask_once(request, occupancy);
    case LaunchHelper::kShrinkYOnly:
      return shrink_y_only(request, occupancy);
    case LaunchHelper::kStaleShared:
      return stale_shared(request, occupancy);
  }
  return plan_launch(request, occupancy);
}

}  // namespace brink
