#include "properties/launch_check.h"

#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "kernels/replicas/launch_helpers.h"

namespace brink {
namespace {

constexpr uint64_t kSeed = 11;
constexpr int kTrials = 100000;

TEST(LaunchCheckExhaustive, OneHundredThousandPairsOfShapeAndDeviceHoldEveryProperty) {
  Draws draws(kSeed);
  std::map<LaunchForm, int> forms;
  std::map<std::string, int> devices;
  for (int i = 0; i < kTrials; ++i) {
    const LaunchTrial trial = draw_launch_trial(draws);
    ASSERT_EQ(launch_problem(trial, LaunchHelper::kChecked), "") << "trial " << i << ": " << to_text(trial);
    ++devices[trial.hostility ? std::string(name_of(*trial.hostility)) : trial.device.name];
    DeviceModel model(trial.device, trial.registers);
    const LaunchPlan plan = plan_launch(trial.request, model);
    ++forms[plan.launch ? plan.launch->form : LaunchForm::kRejected];
  }
  // Every device and, on the honest ones, every launch form has its share.
  for (const DeviceSpec& spec : device_specs()) EXPECT_GT(devices[spec.name], kTrials / 100) << spec.name;
  for (const Hostility hostility : kHostilities) EXPECT_GT(devices[std::string(name_of(hostility))], kTrials / 100);
  for (const LaunchForm form :
       {LaunchForm::kResident, LaunchForm::kReducedY, LaunchForm::kReducedX, LaunchForm::kRejected}) {
    EXPECT_GT(forms[form], kTrials / 100) << name_of(form);
    std::cout << forms[form] << " " << name_of(form) << ", ";
  }
  std::cout << kTrials << " pairs, seed " << kSeed << "\n";
}

// The number of trials until `problem` is found; 0 where it is not.
template <class Problem>
int trials_until(const Problem& problem, const char* name) {
  Draws draws(kSeed);
  for (int i = 1; i <= kTrials; ++i) {
    const LaunchTrial trial = draw_launch_trial(draws);
    const std::string found = problem(trial);
    if (found.empty()) continue;
    std::cout << name << " is caught by pair " << i << ": " << found << "\n  " << to_text(trial) << "\n";
    return i;
  }
  return 0;
}

TEST(LaunchCheck, EachReplicaOfALaunchHelperIsCaught) {
  for (const LaunchHelper helper : {LaunchHelper::kAskOnce, LaunchHelper::kShrinkYOnly, LaunchHelper::kStaleShared}) {
    const int trials = trials_until([&](const LaunchTrial& trial) { return launch_problem(trial, helper); },
                                    std::string(name_of(helper)).c_str());
    EXPECT_GT(trials, 0) << name_of(helper);
    EXPECT_LT(trials, 1000) << name_of(helper);
  }
}

TEST(LaunchCheck, TheReplicaWithATornBarrierIsCaughtByTheBarriersName) {
  const int trials = trials_until(
      [](LaunchTrial trial) {
        trial.request.build = Build::kTornBarrier;
        trial.request.index_type = IndexType::kI64;
        const std::string problem = launch_problem(trial, LaunchHelper::kChecked);
        if (!problem.empty()) {
          EXPECT_EQ(problem.find("barrier values_stored is reached by"), 0u) << problem;
        }
        return problem;
      },
      "torn_barrier");
  EXPECT_GT(trials, 0);
  EXPECT_LT(trials, 5000);
}

TEST(LaunchCheck, ReplicasAreRightWhereTheFirstBlockFits) {
  Draws draws(kSeed);
  int resident = 0;
  for (int i = 0; i < 3000; ++i) {
    const LaunchTrial trial = draw_launch_trial(draws);
    DeviceModel model(trial.device, trial.registers);
    const LaunchPlan plan = plan_launch(trial.request, model);
    if (trial.hostility || !plan.launch || plan.launch->form != LaunchForm::kResident) continue;
    ++resident;
    for (const LaunchHelper helper : kLaunchHelpers) {
      DeviceModel again(trial.device, trial.registers);
      ASSERT_EQ(plan_launch_with(helper, trial.request, again).launch->launch, plan.launch->launch);
      ASSERT_EQ(launch_problem(trial, helper), "") << name_of(helper) << ": " << to_text(trial);
    }
  }
  EXPECT_GT(resident, 300);
}

TEST(LaunchCheck, DrawsAreTheSameForTheSameSeed) {
  Draws one(3);
  Draws other(3);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(to_text(draw_launch_trial(one)), to_text(draw_launch_trial(other)));
}

}  // namespace
}  // namespace brink
