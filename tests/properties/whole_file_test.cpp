#include "properties/whole_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

namespace brink {
namespace {

namespace fs = std::filesystem;

class WholeFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "brink_whole_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(WholeFile, WritesReadsAndReplacesWithoutLeftovers) {
  std::string text;
  ASSERT_EQ(write_whole(path("a"), "one"), "");
  ASSERT_EQ(write_whole(path("a"), std::string(1 << 18, 'x'), true), "");
  ASSERT_EQ(read_whole(path("a"), text), "");
  EXPECT_EQ(text, std::string(1 << 18, 'x'));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(WholeFile, ErrorsNameTheFile) {
  std::string text;
  EXPECT_NE(write_whole(path("no/such/folder"), "x").find("no/such/folder"), std::string::npos);
  EXPECT_NE(read_whole(path("absent"), text).find("absent: No such file"), std::string::npos);
  EXPECT_NE(read_whole(folder_.string(), text).find("Is a directory"), std::string::npos);
  ASSERT_EQ(write_whole(path("big"), std::string(100, 'x')), "");
  EXPECT_NE(read_whole(path("big"), text, 99).find("larger than 99 bytes"), std::string::npos);
}

TEST_F(WholeFile, AFailureKeepsTheOldFileAndLeavesNoOther) {
  ASSERT_EQ(write_whole(path("a"), "old"), "");
  fs::create_directory(path("a.d"));
  EXPECT_NE(write_whole(path("a.d"), "new"), "");  // rename onto a folder fails
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2) << "a temporary file is left";
  std::string text;
  ASSERT_EQ(read_whole(path("a"), text), "");
  EXPECT_EQ(text, "old");
}

}  // namespace
}  // namespace brink
