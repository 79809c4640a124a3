#include "properties/oracle_traced.h"

#include <algorithm>
#include <stdexcept>

namespace brink {

bool can_trace(const Launching& launching) {
  return limits_of(launching.dispatch.index_type).bits < 32 && launching.shape.numel() <= (1 << 17);
}

namespace {
bool is_size(Expression e) {
  return e == Expression::kOuterSize || e == Expression::kDimSize || e == Expression::kInnerSize;
}
}  // namespace

void predict_traced(const Launching& launching, Prediction& prediction) {
  if (!can_trace(launching)) throw std::logic_error("the traced engine is for narrow index types and small tensors");
  const Decomposition& shape = launching.shape;
  TraceLog log;
  log.writes.resize(static_cast<size_t>(shape.numel()));
  const BlockEnd end =
      with_dtype(launching.dtype, [&](auto element) { return trace_typed<decltype(element)>(launching, log); });
  prediction.exact = true;
  prediction.verdict = end == BlockEnd::kHang ? Verdict::kHang : Verdict::kOk;
  prediction.out_of_bounds = log.out_of_bounds.intervals();
  // A narrowed size comes before every address, and shows in none: the symbolic engine has found it.
  if (log.first_bad && !(prediction.first_overflow && is_size(prediction.first_overflow->overflow.expression))) {
    prediction.first_overflow = FirstOverflow{log.first_overflow, std::nullopt};
    if (*log.first_bad < shape.numel()) {
      prediction.first_overflow->where = position_of(shape, static_cast<int64_t>(*log.first_bad));
    }
  }
  std::vector<Interval> wrong;
  std::vector<Interval> never_written;
  std::vector<Interval> contended;
  prediction.contended_values.clear();
  for (int64_t n = 0; n < shape.numel(); ++n) {
    const auto& writes = log.writes[static_cast<size_t>(n)];
    if (writes.empty()) {
      never_written.push_back({n, n});
    } else if (writes.size() > 1) {
      contended.push_back({n, n});
      for (const auto& write : writes) prediction.contended_values[n].push_back(write.bits);
    } else if (!same_value(launching.dtype, writes[0].bits, expected_bits(launching.form, n))) {
      wrong.push_back({n, n});
    }
  }
  prediction.wrong = boxes_of(shape, normalized(std::move(wrong)));
  prediction.never_written = boxes_of(shape, normalized(std::move(never_written)));
  prediction.contended = boxes_of(shape, normalized(std::move(contended)));
}

}  // namespace brink
