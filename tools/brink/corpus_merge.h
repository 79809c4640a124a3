#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fuzz/fuzz_folder.h"

namespace brink {

/// What a merge came to.
struct MergedCorpus {
  bool merged = false;
  size_t before = 0;
  size_t after = 0;
  std::vector<std::string> skipped;  ///< files in the corpus that are no cases, and why
};

/// Leaves in the corpus what libFuzzer's merge keeps: a smaller set that reaches all that the whole one did. Runs no
/// case: what a case reaches is predicted. Returns what went wrong, or an empty string.
std::string minimize_corpus(const FuzzFolder& folder, Device device, MergedCorpus& corpus);

/// libFuzzer runs the second step of a merge as a program of its own: this one, under another name.
bool is_corpus_merge(const char* program);
int run_corpus_merge(int argc, char** argv);

}  // namespace brink
