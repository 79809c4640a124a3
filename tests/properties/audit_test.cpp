#include "properties/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "properties/examine.h"
#include "properties/memory_needed.h"
#include "properties/whole_file.h"

namespace brink {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

const AuditOptions kDispatched{*parse_implementation("dispatched"), std::nullopt};

AuditFile shipped(const std::string& name) {
  std::string text;
  EXPECT_EQ(read_whole(std::string(BRINK_SOURCE_DIR) + "/corpus/audits/" + name, text), "");
  auto parsed = parse_audit(text);
  EXPECT_TRUE(std::holds_alternative<AuditFile>(parsed)) << std::get<std::string>(parsed);
  return std::get<AuditFile>(std::move(parsed));
}

// Rows of the test with this name.
std::vector<const AuditedRow*> rows_of(const Audit& audit, const std::string& name) {
  std::vector<const AuditedRow*> rows;
  for (const AuditedRow& row : audit.rows) {
    if (row.test.name == name) rows.push_back(&row);
  }
  return rows;
}

std::vector<Place> places_of(const AuditedRow& row) {
  std::vector<Place> places;
  for (const MatrixCell& cell : row.matrix) places.push_back(cell.place);
  return places;
}

AuditedRow row_of(const std::string& fields, const AuditOptions& options = kDispatched) {
  const auto parsed = parse_audit(R"({"brink_audit":1,"tests":[{"name":"t",)" + fields + "}]}");
  EXPECT_TRUE(std::holds_alternative<AuditFile>(parsed)) << std::get<std::string>(parsed);
  return audit(std::get<AuditFile>(parsed), options).rows.at(0);
}

std::string error_of(const std::string& text) {
  const auto parsed = parse_audit(text);
  const auto* error = std::get_if<std::string>(&parsed);
  return error == nullptr ? "" : *error;
}

TEST(Audit, OldBackwardTestIsAsTheReportSaysOfIt) {
  const Audit result = audit(shipped("pytorch_softmax.json"), kDispatched);
  const auto rows = rows_of(result, "test_softmax_backward_64bit_indexing");
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(summary_of(rows),
            "last_dim only, inner_size 1, above INT_MAX, never above UINT32_MAX, spatial never reached");
  for (const AuditedRow* row : rows) {
    EXPECT_EQ(row->launched->sized.variant, Variant::kBlock);
    EXPECT_EQ(row->narrowest, IndexType::kU32);
    EXPECT_THAT(places_of(*row), ElementsAre(Place::kStart));
    EXPECT_EQ(row->test.without, WithoutMemory::kSkips);
    EXPECT_EQ(row->needs_bytes, int64_t{20} << 30);
    EXPECT_THAT(row->weaknesses,
                ElementsAre(StartsWith("cannot fail on value: 4.66e-10 is 0 in f16"),
                            StartsWith("looks at no element beyond 2^31-1: the last that it compares is 0 of 21474836"),
                            StartsWith("all inputs are equal")));
  }
}

TEST(Audit, PytorchFileHasTheRightAnswerForEveryTest) {
  const Audit result = audit(shipped("pytorch_softmax.json"), kDispatched);
  const std::map<std::string, std::string> expected = {
      {"test_softmax_backward_64bit_indexing",
       "last_dim only, inner_size 1, above INT_MAX, never above UINT32_MAX, spatial never reached"},
      {"test_softmax_forward_64bit_indexing",
       "spatial only, inner_size above 1, above UINT32_MAX, last_dim never reached"},
      {"test_softmax_64bit_indexing",
       "last_dim only, inner_size 1, above INT_MAX, never above UINT32_MAX, spatial never reached"},
      {"test_warp_softmax_64bit_indexing",
       "last_dim only, inner_size 1, above INT_MAX, never above UINT32_MAX, spatial never reached"},
      {"test_cross_entropy_64bit",
       "spatial only, inner_size above 1, above INT_MAX, never above UINT32_MAX, last_dim never reached"},
      {"test_cross_entropy_large_tensor", "last_dim only, inner_size 1, above UINT32_MAX, spatial never reached"},
      {"test_softmax_results", "last_dim and spatial, inner_size 1 and above, never above INT_MAX"},
      {"test_softmax_double", "last_dim only, inner_size 1, never above INT_MAX, spatial never reached"},
      {"test_log_softmax_big", "last_dim only, inner_size 1, never above INT_MAX, spatial never reached"},
  };
  std::map<std::string, std::string> found;
  for (const AuditedRow& row : result.rows) found[row.test.name] = summary_of(rows_of(result, row.test.name));
  EXPECT_EQ(found, expected);
}

TEST(Audit, PytorchRowsTakeTheVariantAndIndexTypeOfTheirShape) {
  const Audit result = audit(shipped("pytorch_softmax.json"), kDispatched);
  using Taken = std::tuple<std::vector<int64_t>, int64_t, Variant, IndexType>;
  std::set<Taken> taken;
  for (const AuditedRow& row : result.rows) {
    ASSERT_TRUE(row.launched);
    taken.insert({row.test.shape, row.test.axis, row.launched->sized.variant, row.launched->index_type});
  }
  EXPECT_EQ(taken, (std::set<Taken>{{{1, 1, 2147483650}, 2, Variant::kBlock, IndexType::kI64},
                                    {{1, 1, 2147483651}, 2, Variant::kBlock, IndexType::kI64},
                                    {{70, 50000, 2047}, 1, Variant::kColumns, IndexType::kI64},
                                    {{262145, 8192}, 1, Variant::kBlock, IndexType::kI64},
                                    {{1100000000, 2}, 1, Variant::kWarp, IndexType::kI64},
                                    {{2200000000, 1}, 1, Variant::kWarp, IndexType::kI64},
                                    {{190, 229000, 50}, 1, Variant::kReduce, IndexType::kI64},
                                    {{65536, 65537}, 1, Variant::kBlock, IndexType::kI64},
                                    {{32, 20}, 1, Variant::kWarp, IndexType::kI32},
                                    {{33, 2049}, 1, Variant::kBlock, IndexType::kI32},
                                    {{33, 2049}, 0, Variant::kColumns, IndexType::kI32},
                                    {{5, 513}, 1, Variant::kWarp, IndexType::kI32},
                                    {{16, 4}, 1, Variant::kWarp, IndexType::kI32},
                                    {{4, 1536}, 1, Variant::kBlock, IndexType::kI32}}));
}

TEST(Audit, WholeSuiteNeverReachesSpatialBackwardAboveIntMax) {
  const Audit result = audit(shipped("pytorch_softmax.json"), kDispatched);
  std::map<std::tuple<Variant, bool, OffsetRange>, const AuditHole*> holes;
  for (const AuditHole& hole : result.holes) holes[{hole.variant, hole.backward, hole.range}] = &hole;
  for (const Variant variant : {Variant::kColumns, Variant::kReduce}) {
    for (const OffsetRange range : {OffsetRange::kUnsigned, OffsetRange::kAbove}) {
      const auto found = holes.find({variant, true, range});
      ASSERT_NE(found, holes.end());
      EXPECT_FALSE(found->second->reached);
    }
  }
  // Reached, but only class 0 of each column is looked at.
  const auto forward = holes.find({Variant::kColumns, false, OffsetRange::kAbove});
  ASSERT_NE(forward, holes.end());
  EXPECT_TRUE(forward->second->reached);
  EXPECT_THAT(forward->second->places, ElementsAre(Place::k31Bit, Place::k32Bit, Place::kEnd));
  // What the small tests do is no hole.
  EXPECT_FALSE(holes.contains({Variant::kBlock, true, OffsetRange::kSigned}));
}

TEST(Audit, CasesThatCloseHolesReachThemInLittleMemory) {
  const Audit result = audit(shipped("pytorch_softmax.json"), kDispatched);
  ASSERT_THAT(result.holes, Not(IsEmpty()));
  Examiner examiner(Device::kHost);
  for (const AuditHole& hole : result.holes) {
    const Examination e = examiner.examine(hole.closes);
    EXPECT_EQ(e.observed.verdict, Verdict::kOk);
    EXPECT_LE(e.execution.raw.physical_bytes, int64_t{8} << 20);
    const auto cells = matrix_cells_reached(e.c, e.shape, e.execution);
    for (const Place place : hole.places) {
      EXPECT_TRUE(std::any_of(cells.begin(), cells.end(), [&](const MatrixCell& cell) {
        return cell.variant == hole.variant && cell.backward == hole.backward && cell.place == place &&
               range_of_offset(e.shape.numel() - 1) == hole.range;
      })) << name_of(place);
    }
  }
}

TEST(Audit, CubFileHasTheRightRangesForEveryRow) {
  const Audit result = audit(shipped("cub_large_offsets.json"), kDispatched);
  constexpr auto kBelow = OffsetRange::kSigned;
  constexpr auto kBetween = OffsetRange::kUnsigned;
  constexpr auto kAbove = OffsetRange::kAbove;
  using Row = std::tuple<std::string, int64_t, std::string, OffsetRange, std::optional<OffsetRange>>;
  const std::string scan = "cub::DeviceScan::";
  const std::string sort = "cub::DeviceRadixSort::SortKeys";
  const std::string select = "cub::DeviceSelect::If";
  const std::vector<Row> expected = {
      {scan + "ExclusiveScan", 4294967295, "u32", kBetween, kAbove},
      {scan + "ExclusiveScan", 4296967295, "u32", kAbove, kAbove},
      {scan + "InclusiveScan", 4294967295, "i32", kBetween, kAbove},
      {scan + "InclusiveScan", 4296967295, "i32", kAbove, kAbove},
      {"cub::DeviceReduce::Sum", 2147483647, "u64", kBelow, std::nullopt},
      {"cub::DeviceReduce::Sum", 4294967295, "u64", kBetween, std::nullopt},
      {"cub::DeviceReduce::Sum", 4296967295, "u64", kAbove, std::nullopt},
      {sort, 4294967290, "u8", kBetween, kBetween},
      {sort, 4294967295, "u8", kBetween, kBetween},
      {sort, 4294967296, "u8", kBetween, kBetween},  // the last offset is 2^32 - 1
      {sort, 8589934592, "u8", kAbove, kAbove},
      {sort, 4294967290, "u64", kBetween, kAbove},
      {sort, 4294967295, "u64", kBetween, kAbove},
      {sort, 4294967296, "u64", kBetween, kAbove},
      {sort, 8589934592, "u64", kAbove, kAbove},
      {select, 4314967294, "i64", kAbove, std::nullopt},
      {select, 4294967294, "i64", kBetween, std::nullopt},
      {select, 2147483648, "i64", kBelow, std::nullopt},
      {select, 2147483647, "i64", kBelow, std::nullopt},
      {select, 2147483646, "i64", kBelow, std::nullopt},
      {select, 4314967294, "u8", kAbove, kAbove},
      {select, 4294967294, "u8", kBetween, kBetween},
      {select, 2147483648, "u8", kBelow, kBelow},
      {select, 2147483647, "u8", kBelow, kBelow},
      {select, 2147482902, "u8", kBelow, kBelow},
      {select, 2147472902, "u8", kBelow, kBelow},
      {"cub::DevicePartition::If", 4294967295, "i64", kBetween, std::nullopt},
      {"cub::DevicePartition::If", 4296967295, "i64", kAbove, std::nullopt},
      {"cub::DeviceTransform::Transform", 2147360192, "u16", kBelow, kBetween},
      {"cub::DeviceTransform::Transform", 2147607104, "u16", kBetween, kAbove},
  };
  std::vector<Row> found;
  for (const AuditedRow& row : result.rows) {
    found.push_back({row.test.operation, row.numel, row.test.dtype, row.elements, row.bytes});
    EXPECT_FALSE(row.launched) << "a path of brink's was claimed for " << row.test.operation;
    EXPECT_THAT(row.cells, IsEmpty());
    EXPECT_THAT(row.matrix, IsEmpty());
  }
  EXPECT_EQ(found, expected);
  EXPECT_THAT(result.holes, IsEmpty());
}

TEST(Audit, CubTestsCountALackOfMemoryAsSuccess) {
  const AuditOptions small{kDispatched.implementation, int64_t{12} << 30};
  const Audit result = audit(shipped("cub_large_offsets.json"), small);
  for (const AuditedRow& row : result.rows) {
    const bool reduces = row.test.operation == "cub::DeviceReduce::Sum";
    EXPECT_EQ(row.test.without, reduces ? WithoutMemory::kFails : WithoutMemory::kPasses);
    const int64_t needs = row.test.arrays * row.numel * row.test.item_bytes;
    EXPECT_EQ(row.needs_bytes, needs);
    EXPECT_EQ(row.runs, needs <= int64_t{12} << 30) << row.test.where;
  }
  EXPECT_FALSE(result.rows.at(0).runs);  // 16 GiB
  EXPECT_TRUE(result.rows.at(7).runs);   // 8 GiB
}

TEST(Audit, WhatDoesNotRunOnADeviceReachesNothingThere) {
  const std::string fields =
      R"("operation":"softmax_backward","shape":[1,2,2147483649],"axis":1,"dtype":"f16","memory_guard":"30GiB skip")";
  const AuditedRow fits = row_of(fields, {kDispatched.implementation, int64_t{30} << 30});
  EXPECT_TRUE(fits.runs);
  EXPECT_THAT(fits.matrix, SizeIs(4));
  EXPECT_THAT(fits.cells, Not(IsEmpty()));
  const AuditedRow skipped = row_of(fields, {kDispatched.implementation, (int64_t{30} << 30) - 1});
  EXPECT_FALSE(skipped.runs);
  EXPECT_THAT(skipped.matrix, IsEmpty());
  EXPECT_THAT(skipped.cells, IsEmpty());
  EXPECT_TRUE(skipped.launched) << "where it would go is known all the same";
}

TEST(Audit, CellsAreThoseOfTheImplementation) {
  const std::string fields = R"("operation":"softmax_backward","shape":[1,2,2147483649],"axis":1,"dtype":"f16")";
  const auto holds = [&](const char* implementation, const char* cell) {
    const AuditedRow row = row_of(fields, {*parse_implementation(implementation), std::nullopt});
    return std::any_of(row.cells.begin(), row.cells.end(), [&](const Cell& c) { return to_text(c) == cell; });
  };
  EXPECT_TRUE(holds("spatial/u32", "spatial/columns backward u32 element_offset 2^32-1 above end resident"));
  EXPECT_TRUE(holds("dispatched", "spatial/columns backward i64 element_offset 2^32-1 above end resident"));
  EXPECT_FALSE(holds("dispatched", "spatial/columns backward u32 element_offset 2^32-1 above end resident"));
  EXPECT_FALSE(row_of(fields, {*parse_implementation("last_dim/u32"), std::nullopt}).launched);
}

std::vector<std::string> weaknesses(const std::string& dtype, const std::string& fields,
                                    const char* shape = "[65536,65537]") {
  return row_of(R"("operation":"softmax_forward","axis":-1,"dtype":")" + dtype + R"(","shape":)" + shape + "," + fields)
      .weaknesses;
}

TEST(Audit, AStrongCheckHasNoWeakness) {
  EXPECT_THAT(weaknesses("f32", R"("inputs":"coded","compared":"all","expected":"reference")"), IsEmpty());
  EXPECT_THAT(weaknesses("f64", R"("inputs":"random","compared":["first","last"],"expected":"reference")"), IsEmpty());
}

TEST(Audit, ValuesThatRoundToZeroCannotFail) {
  const std::string all = R"("inputs":"coded","compared":"all","expected":"reference")";
  // Softmax over 2^32 elements: 2.3e-10 each; the smallest f16 is 6e-8, of which half rounds to 0.
  EXPECT_THAT(weaknesses("f16", all, "[4294967296]"),
              ElementsAre(StartsWith("cannot fail on value: 2.33e-10 is 0 in f16")));
  EXPECT_THAT(weaknesses("bf16", all, "[4294967296]"), IsEmpty());
  EXPECT_THAT(weaknesses("f16", all, "[33554432]"), ElementsAre(StartsWith("cannot fail on value")));
  // The kernels divide in float, in which 1 / (2^25 - 1) is 2^-25 still.
  EXPECT_THAT(weaknesses("f16", all, "[33554428]"), IsEmpty());
  EXPECT_THAT(weaknesses("f32", R"("compared":"all","expected":0)"),
              ElementsAre(StartsWith("cannot fail on value: 0 is 0")));
}

TEST(Audit, AToleranceThatIncludesZeroCannotFail) {
  EXPECT_THAT(weaknesses("f32", R"("compared":"all","expected":1e-5,"tolerance":1e-5)"),
              ElementsAre(StartsWith("cannot fail on value: 0 is within 1e-05")));
  EXPECT_THAT(weaknesses("f32", R"("compared":"all","expected":1.1e-5,"tolerance":1e-5)"), IsEmpty());
  EXPECT_THAT(weaknesses("f32", R"("compared":"all","expected":"reference","tolerance":1e-4)"),
              ElementsAre(AllOf(StartsWith("cannot fail on value"), HasSubstr("of 1.53e-05"))));
}

TEST(Audit, ChecksThatEndBeforeABoundaryAreWeak) {
  const auto lines = [](const char* compared) {
    return weaknesses("f64", std::string(R"("expected":"reference","compared":)") + compared);
  };
  EXPECT_THAT(lines(R"("element:2147483647")"), ElementsAre(StartsWith("looks at no element beyond 2^31-1")));
  EXPECT_THAT(lines(R"("element:2147483648")"), ElementsAre(StartsWith("looks at no element beyond 2^32-1")));
  EXPECT_THAT(lines(R"("element:4294967295")"), ElementsAre(StartsWith("looks at no element beyond 2^32-1")));
  EXPECT_THAT(lines(R"("element:4294967296")"), IsEmpty());
}

TEST(Audit, SumsAndSelfComparisonsAndEqualInputsAreWeak) {
  EXPECT_THAT(weaknesses("f64", R"("compared":"sum","expected":65536)"),
              ElementsAre(StartsWith("compares one sum: elements that")));
  EXPECT_THAT(weaknesses("f64", R"("compared":"sum","expected":65536,"tolerance":0.65536)"),
              ElementsAre(StartsWith("compares one sum: up to 4.3e+04 of 4295032832 elements")));
  EXPECT_THAT(weaknesses("f64", R"("compared":"all","expected":"each_other")"),
              ElementsAre(StartsWith("compares the result with itself")));
  EXPECT_THAT(weaknesses("f64", R"("compared":"all","inputs":"constant")"),
              ElementsAre(StartsWith("all inputs are equal")));
}

TEST(Audit, CsvAndJsonSayTheSame) {
  const auto csv = parse_audit(
      "# a comment\n"
      "name,operation,shape,axis,dtype,memory_guard,compared,expected,tolerance,inputs\r\n"
      "\"a, b\",softmax_backward,1x2x2147483649,1,f16,30GiB skip,first;last,0.1875,,constant\n\n"
      "c,scan,\"5,7\",,u32,,,,,\n");
  ASSERT_TRUE(std::holds_alternative<AuditFile>(csv)) << std::get<std::string>(csv);
  const auto& tests = std::get<AuditFile>(csv).tests;
  ASSERT_THAT(tests, SizeIs(2));
  EXPECT_EQ(tests[0].name, "a, b");
  EXPECT_EQ(tests[0].shape, (std::vector<int64_t>{1, 2, 2147483649}));
  EXPECT_EQ(tests[0].guard, int64_t{30} << 30);
  EXPECT_EQ(tests[0].compared, (std::vector<Interval>{{0, 0}, {4294967297, 4294967297}}));
  EXPECT_EQ(tests[0].expected, 0.1875);
  EXPECT_TRUE(tests[0].constant_inputs);
  EXPECT_EQ(tests[1].shape, (std::vector<int64_t>{5, 7}));
  EXPECT_FALSE(tests[1].says_compared);
  EXPECT_FALSE(tests[1].known);
}

TEST(Audit, BadInputIsOneLineThatNamesRowAndField) {
  const auto json = [](const std::string& test) { return error_of(R"({"brink_audit":1,"tests":[)" + test + "]}"); };
  const std::string good = R"("name":"n","operation":"softmax_forward","shape":[4],"axis":0,"dtype":"f16")";
  EXPECT_EQ(json("{" + good + "}"), "");
  EXPECT_EQ(json(R"({"name":"n"})"), "test 1 (n): field \"operation\": is missing");
  EXPECT_EQ(json("{" + good + R"(},{"name":"m","operation":"x","shape":[4,-1],"dtype":"f16"})"),
            "test 2 (m): field \"axis\": shape [4,-1] has a negative size -1 at axis 1");
  EXPECT_THAT(json("{" + good + R"(,"shape":[5]})"), HasSubstr("\"shape\" appears twice"));
  EXPECT_EQ(
      json("{" + good + R"(,"memory_guard":"20 apples"})"),
      "test 1 (n): field \"memory_guard\": \"20 apples\": expected bytes such as 20GiB, then skip or pass for what "
      "happens without them");
  EXPECT_EQ(json("{" + good + R"(,"compared":"element:4"})"),
            "test 1 (n): field \"compared\": 4..4 is not within the 4 elements");
  EXPECT_THAT(json("{" + good + R"(,"compared":"some"})"), HasSubstr("\"some\" is not one of all"));
  EXPECT_THAT(json("{" + good + R"(,"expected":"nan"})"), HasSubstr("\"nan\" is not a number"));
  EXPECT_THAT(json("{" + good + R"(,"tolerance":-1})"), HasSubstr("-1 is negative"));
  EXPECT_THAT(json("{" + good + R"(,"inputs":true})"), HasSubstr("field \"inputs\""));
  EXPECT_THAT(json("{" + good + R"(,"arrays":9223372036854775807})"), HasSubstr("overflow int64"));
  EXPECT_THAT(json("{" + good + R"(,"colour":"red"})"), HasSubstr("field \"colour\" is not known"));
  EXPECT_THAT(json(R"({"name":"n","operation":"softmax_forward","shape":[4],"dtype":"u8"})"),
              HasSubstr("u8 is not a type of softmax_forward"));
  EXPECT_THAT(json(R"({"name":"n","operation":"x","shape":[4],"dtype":"f8"})"), HasSubstr("unknown value \"f8\""));
  EXPECT_EQ(json("7"), "test 1 is not an object");
  EXPECT_EQ(error_of("{}"), "field \"brink_audit\" is missing");
  EXPECT_EQ(error_of(R"({"brink_audit":2,"tests":[]})"), "audit version 2 is not known; this brink reads version 1");
  EXPECT_EQ(error_of(""), "no tests in it");
  EXPECT_THAT(error_of("{"), StartsWith("not JSON"));
  EXPECT_THAT(error_of("name,opration\n"), StartsWith("line 1: column \"opration\" is not known"));
  EXPECT_EQ(error_of("name,name\n"), "line 1: column \"name\" appears twice");
  EXPECT_EQ(error_of("name,operation,shape,dtype\na,b,4\n"), "line 2: 3 cells where the first line names 4 columns");
  EXPECT_EQ(error_of("name,operation,shape,dtype\na,b,4,\"f16\n"), "line 2: a quote is not closed");
  EXPECT_EQ(error_of("name,operation,shape,dtype\na,b,four,f16\n"),
            "line 2 (a): field \"shape\": \"four\" is not a 64-bit integer");
}

TEST(ParseBytes, KnowsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("200MiB"), 209715200);
  EXPECT_EQ(parse_bytes("1.5GiB"), 1610612736);
  EXPECT_EQ(parse_bytes("2GB"), 2000000000);
  for (const char* bad : {"", "GiB", "-1GiB", "1 GiB", "1gib", "1e30GiB", "inf", "nan", "30G"}) {
    EXPECT_EQ(parse_bytes(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace brink
