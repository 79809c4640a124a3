#pragma once

#include <string>
#include <string_view>

namespace brink {

/// Writes `text` to `path` so that a reader, or a process that is killed at any moment, meets the old file or the new
/// one and never a part: a temporary file in the same folder, then rename. `durable` also waits for the disk, so that a
/// power failure is survived too. Returns what went wrong with which file, or an empty string.
std::string write_whole(const std::string& path, std::string_view text, bool durable = false);

/// Reads a file of at most `max_bytes` into `text`; returns what went wrong with which file, or an empty string.
std::string read_whole(const std::string& path, std::string& text, size_t max_bytes = size_t{1} << 20);

/// Whether a file name is one of write_whole()'s temporary files, left behind by a process that was killed.
bool is_unfinished(std::string_view file_name);

}  // namespace brink
