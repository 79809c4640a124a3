#pragma once

#include <cstddef>
#include <string>

#include "fuzz/fuzz_folder.h"

namespace brink {

/// Leaves in the corpus what libFuzzer's merge keeps: a smaller set that reaches all that the whole one did. Runs no
/// case: what a case reaches is predicted. Returns what went wrong, or an empty string.
std::string minimize_corpus(const FuzzFolder& folder, Device device, size_t& before, size_t& after);

/// libFuzzer runs the second step of a merge as a program of its own: this one, under another name.
bool is_corpus_merge(const char* program);
int run_corpus_merge(int argc, char** argv);

}  // namespace brink
