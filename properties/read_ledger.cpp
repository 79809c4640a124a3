#include "properties/read_ledger.h"

#include <fmt/format.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "properties/evidence.h"

namespace brink {

namespace {

constexpr size_t kPiece = size_t{4} << 20;
constexpr size_t kLongestLine = size_t{16} << 20;
constexpr size_t kThreads = 2;
constexpr size_t kWaiting = 4;

// Whole lines, and the number of the first.
struct Piece {
  std::string text;
  int64_t first_line = 1;
};

// Pieces on their way from the reader to those who count.
class Queue {
 public:
  void push(Piece piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return pieces_.size() < kWaiting; });
    pieces_.push_back(std::move(piece));
    changed_.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  bool pop(Piece& piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !pieces_.empty(); });
    if (pieces_.empty()) return false;
    piece = std::move(pieces_.front());
    pieces_.pop_front();
    changed_.notify_all();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> pieces_;
  bool closed_ = false;
};

void count_lines(const std::string& path, const Piece& piece, EvidenceParser& parser, Summary& summary) {
  EvidenceRecord record;
  std::string_view rest = piece.text;
  for (int64_t number = piece.first_line; !rest.empty(); ++number) {
    const size_t end = rest.find('\n');
    const bool whole = end != std::string_view::npos;
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(whole ? end + 1 : rest.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    const bool marked = line.ends_with(kTornMark);
    const std::string error = marked ? "" : parser.parse(line, record);
    if (marked || (!whole && !error.empty())) {
      summary.add_torn();
    } else if (error.empty()) {
      summary.add(record, line);
    } else {
      summary.add_broken(fmt::format("{}:{}: {}", path, number, error));
    }
  }
}

int64_t count_newlines(std::string_view text) {
  int64_t count = 0;
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) ++count;
  return count;
}

std::string send_pieces(const std::string& path, std::FILE* file, Queue& queue) {
  std::string kept;
  int64_t line = 1;
  while (true) {
    std::string text;
    text.swap(kept);
    const size_t before = text.size();
    text.resize(before + kPiece);
    const size_t got = std::fread(text.data() + before, 1, kPiece, file);
    text.resize(before + got);
    if (got < kPiece && std::ferror(file) != 0) return fmt::format("{}: {}", path, std::strerror(errno));
    const bool at_end = got < kPiece;
    const size_t last = text.rfind('\n');
    if (!at_end && last == std::string::npos) {
      if (text.size() > kLongestLine)
        return fmt::format("{}:{}: a line of more than 16 MiB is no evidence", path, line);
      kept.swap(text);
      continue;
    }
    if (!at_end) {
      kept.assign(text, last + 1);
      text.resize(last + 1);
    }
    const int64_t lines = count_newlines(text);
    if (!text.empty()) queue.push({std::move(text), line});
    line += lines;
    if (at_end) return "";
  }
}

}  // namespace

std::string read_ledger(const std::string& path, Summary& summary) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) return fmt::format("{}: {}", path, std::strerror(errno));
  std::setvbuf(file.get(), nullptr, _IONBF, 0);
  Queue queue;
  std::vector<Summary> parts(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (Summary& part : parts) {
    threads.emplace_back([&] {
      EvidenceParser parser;
      Piece piece;
      while (queue.pop(piece)) count_lines(path, piece, parser, part);
    });
  }
  std::string error = send_pieces(path, file.get(), queue);
  queue.close();
  for (std::thread& thread : threads) thread.join();
  for (const Summary& part : parts) summary.merge(part);
  return error;
}

}  // namespace brink
