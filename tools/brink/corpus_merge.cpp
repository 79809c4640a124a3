#include "tools/brink/corpus_merge.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "fuzz/boundary_counters.h"
#include "fuzz/case_bytes.h"
#include "kernels/softmax/device_model.h"
#include "properties/whole_file.h"
#include "tools/brink/libfuzzer.h"

namespace brink {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMergeProgram = "brink-corpus-merge";
constexpr const char* kMergeDevice = "BRINK_MERGE_DEVICE";

}  // namespace

bool is_corpus_merge(const char* program) { return fs::path(program).filename() == kMergeProgram; }

int run_corpus_merge(int argc, char** argv) {
  return run_libfuzzer({argv, argv + argc}, [](const uint8_t* data, size_t size) {
    static const char* const device = std::getenv(kMergeDevice);
    const Case c = decode({data, size});
    if (!validate(c).empty()) return 0;
    if (device != nullptr && device == name_of(Device::kCuda)) {
      DeviceModel occupancy = h200_model();
      set_counters(planned_counters(c, predict(c, occupancy)));
    } else {
      FixedOccupancy occupancy = host_occupancy(c.implementation);
      set_counters(planned_counters(c, predict(c, occupancy)));
    }
    return 0;
  });
}

std::string minimize_corpus(const FuzzFolder& folder, Device device, MergedCorpus& corpus) {
  // libFuzzer starts its second step through a shell and quotes nothing, so the user's folder is not named to it.
  std::string work = (fs::temp_directory_path() / "brink-merge-XXXXXX").string();
  if (mkdtemp(work.data()) == nullptr) return fmt::format("{}: {}", work, std::strerror(errno));
  const std::string all = work + "/all";
  const std::string kept = work + "/kept";
  struct Cleanup {
    std::string path;
    ~Cleanup() {
      std::error_code error;
      fs::remove_all(path, error);
    }
  } const cleanup{work};
  for (const std::string& path : {all, kept}) {
    if (std::string error = make_folder(path); !error.empty()) return error;
  }
  std::map<std::vector<uint8_t>, std::string> names;
  for (const std::string& name : names_in(folder.corpus())) {
    std::string text;
    const std::string path = folder.corpus() + "/" + name;
    std::string trouble = read_whole(path, text);
    const auto parsed = parse_case(text);
    const Case* c = std::get_if<Case>(&parsed);
    if (trouble.empty() && c == nullptr) trouble = fmt::format("{}: {}", path, std::get<std::string>(parsed));
    if (!trouble.empty()) {
      // Another machine may have taken it away meanwhile; what is not a case is not for this merge to judge.
      std::error_code gone;
      if (fs::exists(path, gone)) corpus.skipped.push_back(trouble);
      continue;
    }
    const std::vector<uint8_t> bytes = encode(*c);
    names[bytes] = name;
    if (std::string error =
            write_whole(fmt::format("{}/{}", all, name), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        !error.empty()) {
      return error;
    }
  }
  corpus.before = corpus.after = names.size();
  if (names.empty()) return "";

  const std::string program = fmt::format("{}/{}", work, kMergeProgram);
  std::error_code error;
  fs::create_symlink(fs::read_symlink("/proc/self/exe"), program, error);
  if (error) return fmt::format("{}: {}", program, error.message());
  const pid_t child = fork();
  if (child < 0) return fmt::format("no process for the merge: {}", std::strerror(errno));
  if (child == 0) {
    send_output_to(folder.root + "/merge.log");
    setenv(kMergeDevice, std::string(name_of(device)).c_str(), 1);
    std::vector<std::string> arguments = {program, "-merge=1", kept, all, "-rss_limit_mb=0", "-timeout=0"};
    execv(program.c_str(), argv_of(arguments).data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fmt::format("the corpus was not minimized; see {}/merge.log", folder.root);
  }
  for (const std::string& name : names_in(kept)) {
    std::string bytes;
    if (std::string trouble = read_whole(fmt::format("{}/{}", kept, name), bytes); !trouble.empty()) return trouble;
    names.erase({bytes.begin(), bytes.end()});
  }
  // What is left adds nothing to the others. What came into the corpus meanwhile was not looked at and stays.
  corpus.after = corpus.before - names.size();
  for (const auto& [bytes, name] : names) fs::remove(folder.corpus() + "/" + name, error);
  return "";
}

}  // namespace brink
