#pragma once

#include "fuzz/case_mutation.h"
#include "properties/examine.h"

namespace brink {

/// What a fuzz target that examines cases is told on its command line, beside libFuzzer's own options.
struct TargetOptions {
  MutationLimits limits;
  Role role = Role::kSelfCheck;
};

/// Reads the arguments that begin with "--" (libFuzzer leaves them alone, and hands them on to its child processes):
///
///   --op=NAME[,NAME...]    operations; the default is all that `options` has
///   --impl=NAME[,NAME...]  implementations
///   --role=user            any wrong result is a finding; the default is brink's self-check
///   --to-text=FILE         prints the case that the bytes of FILE stand for, and ends the process
///   --to-bytes=FILE        writes the bytes of the case in the text file FILE to standard output, and ends the process
///
/// On a bad argument prints one line and ends the process with status 2.
void read_options(int argc, char** argv, TargetOptions& options);

/// Prints what is wrong with a case, the case as text, and the command that repeats it; then aborts, so that libFuzzer
/// keeps the input.
[[noreturn]] void abort_with(const Case& c, Device device, const std::vector<std::string>& lines);

}  // namespace brink
