#include <algorithm>
#include <map>

#include "kernels/execution/host_run.h"
#include "kernels/index/traced.h"
#include "kernels/softmax/last_dim_address.h"
#include "kernels/softmax/pack.h"
#include "kernels/softmax/spatial_address.h"
#include "properties/column_value.h"
#include "properties/oracle.h"

// The symbolic engine. The kernels compute every address in one index type, and narrowing, sums and products commute
// with reduction modulo 2^bits. So as long as no loop counter wraps, iteration number l of the narrowed shape touches
// address wrap(l), and every set is a handful of intervals:
//
//   writers of address a            l = a, a + modulus, a + 2 modulus, ... < narrowed numel
//   never written                   [min(limit, narrowed numel), numel)
//   contended                       [0, min(limit, narrowed numel - modulus))
//   out of bounds (signed)          [-limit, min(-1, narrowed numel - 1 - modulus)] once narrowed numel > limit
//   wrong                           what is written once, in a column whose last element lies at or past the limit
//
// Which expression is behind it is not a matter of formulas: the address templates are evaluated with tracing integers
// at the first element that is missed.

namespace brink {

namespace {

// A loop over a counter: `count` threads (or blocks) start at first, first + spacing, ...; all step by `step`.
struct LoopCheck {
  Expression expression = Expression::kNone;
  Exact bound = 0;  ///< what the counter is compared with, as the kernel sees it
  Exact step = 0;
  Exact first = 0;
  Exact count = 1;
  Exact spacing = 1;
  int axis = 0;  ///< 0: outer, 1: dim, 2: inner

  Exact last_start() const { return first + spacing * (count - 1); }
  /// Largest counter value for which the body runs.
  Exact last() const { return first + (bound - 1 - first) / spacing * spacing; }
};

// A counter value that only a wrapped counter takes; axis 0 is outer, 1 dim, 2 inner.
struct Rogue {
  int axis = 0;
  Exact value = 0;
};

// Smallest k >= 0 with first <= k * step mod modulus <= last, or -1; 0 <= first <= last < modulus, 0 <= step < modulus.
// Euclid's algorithm: where no multiple below the modulus hits, ask how often to go around; a step of more than half
// the modulus is taken backwards, so that each level halves the modulus.
Exact first_multiple_in(Exact step, Exact modulus, Exact first, Exact last) {
  if (first == 0) return 0;
  if (step == 0) return -1;
  if (2 * step > modulus) return first_multiple_in(modulus - step, modulus, modulus - last, modulus - first);
  const Exact k = (first + step - 1) / step;
  if (k * step <= last) return k;
  const Exact rounds = first_multiple_in(step - 1 - (modulus - 1) % step, step, first % step, last % step);
  return rounds < 0 ? -1 : (first + modulus * rounds + step - 1) / step;
}

class Symbolic {
 public:
  Symbolic(const Launching& launching, Prediction& prediction)
      : launching_(launching),
        shape_(launching.shape),
        launch_(launching.dispatch.sized.launch),
        limits_(limits_of(launching.dispatch.index_type)),
        space_(iteration_space(launching)),
        prediction_(prediction) {}

  void run() {
    find_narrowed_size();
    const bool regular = check_loops();
    if (prediction_.verdict == Verdict::kHang) {
      // In dense memory, a counter that wraps below zero may leave the tensor on its way round.
      const bool may_fault = launching_.memory == MemoryKind::kDense && limits_.is_signed;
      if (may_fault && any_leaves_tensor()) set_out_of_bounds(-1);
      prediction_.exact = !may_fault;
      return;
    }
    if (narrowed_dim_ <= 0 || (!limits_.is_signed && narrowed_inner_ <= 0)) {
      // No element is ever loaded or stored, whatever the other counters do.
      prediction_.never_written = boxes(0, numel() - 1);
      return;
    }
    if (!regular) {
      give_superset();
      return;
    }
    find_sets();
  }

 private:
  static constexpr int kMostStarts = 1 << 20;
  static constexpr int kMostSteps = 64;
  static constexpr int kSampled = 16;

  Exact numel() const { return shape_.numel(); }
  Exact executed() const { return space_.narrowed.numel(); }
  int vector() const { return vector_size(launching_.dtype); }
  bool row_path() const { return launching_.dispatch.sized.path == Path::kLastDim; }

  void set_overflow(const Overflow& overflow, std::optional<Position> where) {
    if (prediction_.first_overflow) return;
    prediction_.first_overflow = FirstOverflow{overflow, where};
  }

  void find_narrowed_size() {
    with_index_type(launching_.dispatch.index_type, [&](auto index) {
      const SpatialAddress<Traced<decltype(index)>> sizes(shape_);
      narrowed_outer_ = brink::address(sizes.outer_size);
      narrowed_dim_ = brink::address(sizes.dim_size);
      narrowed_inner_ = brink::address(sizes.inner_size);
      for (const auto& size : {sizes.outer_size, sizes.inner_size, sizes.dim_size}) {
        if (size.differs()) set_overflow(size.origin, std::nullopt);
      }
    });
  }

  // Adds `step` to a loop counter, as the kernel would.
  Overflow step_overflow(Expression expression, Exact counter, Exact step_size) const {
    return with_index_type(launching_.dispatch.index_type, [&](auto index) {
      using X = Traced<decltype(index)>;
      const X last(static_cast<decltype(index)>(counter), counter, {});
      const X step(static_cast<decltype(index)>(step_size), step_size, {});
      return named<X>(expression, add(last, step)).origin;
    });
  }

  Exact wrap(Exact value) const {
    value = (value % space_.modulus + space_.modulus) % space_.modulus;
    return value >= space_.limit ? value - space_.modulus : value;
  }

  // Whether some thread's counter comes back to a value it had before it meets a value that ends the loop.
  bool never_ends(const LoopCheck& loop) const {
    const Exact step = loop.step % space_.modulus;
    // Every value that is congruent to the start modulo the largest power of two in the step is visited.
    const Exact stride = step == 0 ? space_.modulus : step & -step;
    // Values bound .. limit - 1 end the loop; starts repeat modulo the stride.
    if (space_.limit - loop.bound >= stride) return false;
    const Exact starts = std::min(loop.count, std::max<Exact>(2 * stride, space_.limit - loop.first + stride));
    for (Exact i = 0, tried = 0; i < starts && tried <= kMostStarts; ++i, ++tried) {
      const Exact start = wrap(loop.first + i * loop.spacing);
      if (start >= loop.bound) continue;
      const Exact distance = ((start - loop.bound) % stride + stride) % stride;
      if (loop.bound + distance >= space_.limit) return true;
    }
    return false;
  }

  // Iterations until a counter at `value` meets one of the values bound .. limit - 1 that end its loop.
  Exact iterations_left(Exact value, const LoopCheck& loop) const {
    const Exact distance = ((loop.bound - value) % space_.modulus + space_.modulus) % space_.modulus;
    const Exact first = first_multiple_in(loop.step % space_.modulus, space_.modulus, distance,
                                          distance + space_.limit - loop.bound - 1);
    return first < 0 ? space_.modulus : first;
  }

  // False where a loop counter, a round-up or a shifted size leaves the index type.
  bool check_loops() {
    if (row_path()) {
      const Exact rows = static_cast<Exact>(launch_.grid_x) * launch_.block_y;
      check_loop({Expression::kRowNext, narrowed_outer_, rows, 0, rows, 1});
      // Rows that only a wrapped counter takes run their loops too.
      if (narrowed_outer_ <= 0 && rogues_.empty()) return regular_;
      if (narrowed_dim_ > 0 && launching_.dispatch.sized.variant == Variant::kWarp) {
        check_loop({Expression::kLaneNext, narrowed_dim_, launch_.block_x, 0, launch_.block_x, 1, 1});
      } else if (narrowed_dim_ > 0) {
        check_row_loops();
      }
      return regular_;
    }
    check_loop({Expression::kOuterNext, narrowed_outer_, launch_.grid_x, 0, launch_.grid_x, 1});
    if (narrowed_outer_ <= 0) return regular_;
    const Exact step = static_cast<Exact>(launch_.grid_y) * launch_.block_y;
    const LoopCheck inner{Expression::kInnerNext, narrowed_inner_, step, 0, launch_.grid_y, launch_.block_y, 2};
    check_loop(inner);
    if (narrowed_inner_ <= 0) return regular_;
    if (inner.last() + launch_.block_y > space_.limit) {
      regular_ = false;
      const Exact column = wrap(inner.last() + launch_.block_y - 1);
      if (column < inner.bound) rogues_.push_back({2, column});
      set_overflow(step_overflow(Expression::kInnerRoundUp, inner.last(), launch_.block_y - 1), std::nullopt);
    }
    if (narrowed_dim_ > 0) {
      check_loop({Expression::kDimNext, narrowed_dim_, launch_.block_x, 0, launch_.block_x, 1, 1});
    }
    return regular_;
  }

  void check_loop(const LoopCheck& loop) {
    const bool enters = loop.first < loop.bound;
    const bool start_wraps = loop.last_start() >= space_.limit;
    const bool step_wraps = enters && loop.last() + loop.step >= space_.limit;
    if (!start_wraps && !step_wraps) return;
    regular_ = false;
    set_overflow(step_wraps ? step_overflow(loop.expression, loop.last(), loop.step)
                            : step_overflow(loop.expression, loop.first, loop.last_start() - loop.first),
                 std::nullopt);
    if (never_ends(loop)) prediction_.verdict = Verdict::kHang;
    // Follow a sample of the threads whose counters wrap, for a while.
    const Exact patience = loop_limit(shape_, launch_, launching_.dispatch.index_type);
    const auto follow = [&](Exact value) {
      value = wrap(value);
      if (value < loop.bound && iterations_left(value, loop) > patience) prediction_.verdict = Verdict::kHang;
      for (int steps = 0; steps < kMostSteps && value < loop.bound; ++steps, value = wrap(value + loop.step)) {
        rogues_.push_back({loop.axis, value});
      }
    };
    const auto sample = [&](Exact first, Exact last) {
      first = loop.first + ceil_div_exact(first - loop.first, loop.spacing) * loop.spacing;
      const Exact values = (last - first) / loop.spacing;
      for (int i = 0; i <= kSampled && first <= last; ++i) {
        const Exact value = first + values * i / kSampled * loop.spacing;
        if (i % (kSampled / 2) == 0) {
          hint({loop.axis, value});
          hint({loop.axis, value < space_.limit ? value + loop.step : value});
        }
        follow(value < space_.limit ? value + loop.step : value);
      }
    };
    if (loop.last_start() >= space_.limit + space_.modulus && wrap(space_.limit) < loop.bound) starts_repeat_ = true;
    if (start_wraps) sample(space_.limit, std::min(loop.last_start(), space_.modulus + loop.bound - 1));
    if (step_wraps) sample(std::max(loop.first, space_.limit - loop.step), loop.last());
  }

  static Exact ceil_div_exact(Exact a, Exact b) { return (a + b - 1) / b; }

  // Elements between the last vector boundary and where a row starts. Wrapping keeps it: a vector divides the modulus.
  int shift_of_row(Exact row) const {
    const Exact size = vector();
    return static_cast<int>((row * narrowed_dim_ % size + size) % size);
  }

  // The loops inside a row, for each alignment shift that a row has.
  void check_row_loops() {
    const int size = vector();
    std::map<int, bool> shifts;  // shift -> whether a row after the first has it
    for (int64_t row = 0; row < std::min<int64_t>(narrowed_outer_, size); ++row) {
      shifts[shift_of_row(row)] |= row > 0;
    }
    for (const Rogue& rogue : rogues_) shifts[shift_of_row(rogue.value)] = true;
    for (const auto& [shift, is_other_row] : shifts) {
      const Exact shifted = static_cast<Exact>(narrowed_dim_) + shift;
      if (shifted >= space_.limit) {
        // The wrapped size is smaller than a vector, so the whole row is skipped.
        regular_ = false;
        skips_row_ = true;
        note_shifted_size(shift);
        continue;
      }
      if (is_other_row) other_row_runs_ = true;
      const Exact vectors = shifted / size;
      const Exact first_vector = shift > 0 ? 1 : 0;
      const Exact block = launch_.block_x;
      check_loop({Expression::kVectorNext, vectors, block, first_vector, block, 1, 1});
      const Exact whole = shift > 0 && vectors == 0 ? size : vectors * size;
      check_loop({Expression::kTailNext, shifted, block, whole, block, 1, 1});
    }
  }

  void note_shifted_size(int shift) {
    with_index_type(launching_.dispatch.index_type, [&](auto index) {
      using X = Traced<decltype(index)>;
      with_vector([&](auto count) {
        const LastDimAddress<X, decltype(count)::value> address(shape_);
        const X shifted = address.shifted_size(shift);
        if (shifted.differs()) set_overflow(shifted.origin, std::nullopt);
      });
    });
  }

  template <class F>
  void with_vector(const F& f) const {
    switch (vector()) {
      case 8:
        return f(Count<8>());
      case 4:
        return f(Count<4>());
      default:
        return f(Count<2>());
    }
  }

  std::vector<Box> boxes(Exact first, Exact last) const {
    first = std::max<Exact>(first, 0);
    last = std::min<Exact>(last, numel() - 1);
    if (first > last) return {};
    return boxes_of(shape_, {{static_cast<int64_t>(first), static_cast<int64_t>(last)}});
  }

  void set_out_of_bounds(Exact last) {
    if (limits_.is_signed && last >= -space_.limit) {
      prediction_.out_of_bounds = {
          {static_cast<int64_t>(-space_.limit), static_cast<int64_t>(std::min<Exact>(last, -1))}};
    }
  }

  // A wrapped counter takes threads anywhere that the index type reaches. The verdict comes from where the first and
  // the last of them go.
  void give_superset() {
    prediction_.exact = false;
    const bool only_skips_rows = narrowed_outer_ > 1 && skips_row_ && !other_row_runs_ && rogues_.empty();
    const bool nothing_regular = narrowed_outer_ <= 0 || narrowed_inner_ <= 0 || narrowed_dim_ <= 0;
    const bool regular_part_leaves = limits_.is_signed && executed() > space_.limit && !only_skips_rows;
    if (regular_part_leaves || any_leaves_tensor()) {
      set_out_of_bounds(-1);
      prediction_.wrong = boxes(0, numel() - 1);
    } else if (only_skips_rows || (nothing_regular && !starts_repeat_)) {
      prediction_.never_written = boxes(0, numel() - 1);
    } else {
      prediction_.wrong = boxes(0, numel() - 1);
    }
  }

  // The element that the iteration with this counter value touches first.
  void hint(const Rogue& at) {
    const Exact stride = at.axis == 0   ? static_cast<Exact>(shape_.dim_size) * shape_.inner_size
                         : at.axis == 1 ? shape_.inner_size
                                        : 1;
    // Where it was meant to go, which is what its block is for, and where it goes.
    for (const Exact element : {at.value * stride, wrap(wrap(at.value) * wrap(stride))}) {
      if (element >= 0 && element < numel()) prediction_.hints.push_back(static_cast<int64_t>(element));
    }
  }

  bool any_leaves_tensor() const {
    return std::any_of(rogues_.begin(), rogues_.end(), [&](const Rogue& rogue) { return leaves_tensor(rogue); });
  }

  // Whether iterations with this counter value, at the corners of the other two loops, miss the tensor.
  bool leaves_tensor(const Rogue& rogue) const {
    if (rogue.axis == 0 && launching_.dispatch.sized.variant == Variant::kBlock) {
      // A row whose shifted size wraps is skipped.
      if (narrowed_dim_ + shift_of_row(rogue.value) >= space_.limit) return false;
    }
    for (int corner = 0; corner < 8; ++corner) {
      Exact at[3];
      const Exact sizes[3] = {narrowed_outer_, narrowed_dim_, narrowed_inner_};
      for (int axis = 0; axis < 3; ++axis) {
        at[axis] = axis == rogue.axis ? rogue.value : (corner >> axis & 1) != 0 ? sizes[axis] - 1 : 0;
        if (axis != rogue.axis && sizes[axis] <= 0) return false;
      }
      const Exact address =
          wrap(wrap(wrap(at[0] * narrowed_dim_) * narrowed_inner_) + wrap(wrap(at[1] * narrowed_inner_) + at[2]));
      if (address < 0 || address >= numel()) return true;
    }
    return false;
  }

  void find_sets() {
    const Exact executed_numel = executed();
    prediction_.never_written = boxes(std::min(space_.limit, executed_numel), numel() - 1);
    prediction_.contended = boxes(0, std::min(space_.limit, executed_numel - space_.modulus) - 1);
    if (executed_numel > space_.limit) {
      set_out_of_bounds(executed_numel - 1 - space_.modulus);
      find_first_bad_address();
    }
    const Exact once_first = std::max<Exact>(0, executed_numel - space_.modulus);
    const Exact once_last = std::min(space_.limit, executed_numel) - 1;
    if (once_first > once_last) return;
    const bool other_columns =
        narrowed_dim_ != shape_.dim_size || (narrowed_inner_ != shape_.inner_size && shape_.dim_size > 1);
    if (other_columns) {
      prediction_.wrong = boxes(once_first, once_last);
      // No column of the narrowed shape reaches a hot element: every sum and maximum misses it.
      const Exact first_hot = launching_.form.hot_dim() * static_cast<Exact>(shape_.inner_size);
      prediction_.exact = hot_family() && executed_numel <= first_hot && executed_numel <= space_.limit;
      if (!prediction_.exact && prediction_.contended.empty()) doubt_wrong(once_first, once_last);
      return;
    }
    prediction_.wrong = wrong_columns(once_first, once_last);
    prediction_.exact = prediction_.wrong.empty() || wrong_reads_show();
  }

  // Samples the elements that are wrong by their reads; where none shows it in its value, they are a superset only.
  void doubt_wrong(Exact first, Exact last) {
    constexpr int kSamples = 64;
    WriterValues writers(launching_, 1, 1 << 20);
    for (int i = 0; i <= kSamples; ++i) {
      const auto n = static_cast<int64_t>(first + (last - first) * i / kSamples);
      const auto values = writers.of(n);
      if (values.empty() || !same_value(launching_.dtype, values[0], expected_bits(launching_.form, n))) return;
    }
    prediction_.never_written.insert(prediction_.never_written.end(), prediction_.wrong.begin(),
                                     prediction_.wrong.end());
    prediction_.never_written = joined(std::move(prediction_.never_written));
    prediction_.wrong.clear();
  }

  void find_first_bad_address() {
    const Exact element = space_.limit;
    if (element >= numel()) return;
    const Position at = position_of(shape_, static_cast<int64_t>(element));
    with_index_type(launching_.dispatch.index_type, [&](auto index) {
      using I = decltype(index);
      using X = Traced<I>;
      const auto value = [](int64_t v) { return X(static_cast<I>(v), v, {}); };
      if (row_path()) {
        with_vector([&](auto count) {
          const LastDimAddress<X, decltype(count)::value> address(shape_);
          const X base = address.row_base(value(at.outer));
          const int shift = static_cast<int>(brink::address(base) & (decltype(count)::value - 1));
          const bool block = launching_.dispatch.sized.variant == Variant::kBlock;
          const int used = block ? shift : 0;
          set_overflow(address.element_offset(base, value(at.dim + used), used).origin, at);
        });
      } else {
        const SpatialAddress<X> address(shape_);
        const X column = address.column_offset(address.outer_base(value(at.outer)), value(at.inner));
        set_overflow(address.element_offset(column, value(at.dim)).origin, at);
      }
    });
  }

  // Elements first .. last of columns whose last element lies at or past the limit.
  std::vector<Box> wrong_columns(Exact first, Exact last) const {
    const Exact inner = shape_.inner_size;
    const Exact slice = inner * shape_.dim_size;
    const Exact outer = space_.limit / slice;  // earlier slices end before the limit
    std::vector<Box> result = boxes(std::max(first, (outer + 1) * slice), last);
    const Exact local_first = std::max<Exact>(first - outer * slice, 0);
    const Exact local_last = std::min<Exact>(last - outer * slice, slice - 1);
    const Exact column = std::max<Exact>(0, space_.limit - outer * slice - (shape_.dim_size - 1) * inner);
    if (outer >= shape_.outer_size || local_first > local_last) return result;
    const auto push = [&](Exact dim_first, Exact dim_last, Exact inner_first, Exact inner_last) {
      inner_first = std::max(inner_first, column);
      if (dim_first > dim_last || inner_first > inner_last) return;
      const auto o = static_cast<int64_t>(outer);
      result.push_back({{o, o},
                        {static_cast<int64_t>(dim_first), static_cast<int64_t>(dim_last)},
                        {static_cast<int64_t>(inner_first), static_cast<int64_t>(inner_last)}});
    };
    const Exact first_row = local_first / inner;
    const Exact last_row = local_last / inner;
    if (first_row == last_row) {
      push(first_row, last_row, local_first % inner, local_last % inner);
    } else {
      push(first_row, first_row, local_first % inner, inner - 1);
      push(first_row + 1, last_row - 1, 0, inner - 1);
      push(last_row, last_row, 0, local_last % inner);
    }
    return joined(std::move(result));
  }

  bool hot_family() const {
    return launching_.form.family == FormFamily::kCoded && launching_.operation != Operation::kSoftmaxForward;
  }

  // Whether each column in `wrong` has a wrong answer for certain. Signed addresses wrap to before the tensor, where
  // they read NaN. Unsigned ones meet other columns' elements, one modulus earlier: the answer is wrong unless a hot
  // element met there (levels: any element) carries the same code.
  bool wrong_reads_show() const {
    if (limits_.is_signed) return true;
    const Exact inner = shape_.inner_size;
    const Exact slice = inner * shape_.dim_size;
    const Exact outers = space_.modulus / slice;
    const Exact rows = space_.modulus % slice / inner;
    const Exact columns = space_.modulus % inner;
    Exact inner_min = inner;
    Exact inner_max = 0;
    for (const Box& box : prediction_.wrong) {
      inner_min = std::min<Exact>(inner_min, box.inner.first);
      inner_max = std::max<Exact>(inner_max, box.inner.last);
    }
    const bool levels = launching_.form.uses_levels();
    const bool seed = launching_.form.family == FormFamily::kSeed;
    if (seed && (shape_.dim_size != 2 || launching_.operation != Operation::kSoftmaxBackward)) return false;
    if (!seed && !levels && !hot_family()) return false;
    for (int borrow = 0; borrow < 2; ++borrow) {
      if (borrow == 1 ? inner_min >= columns : inner_max < columns) continue;
      const Exact down = rows + borrow;
      if (seed) {
        // The second element of the column must land on a first one.
        if (down % 2 == 0) return false;
        continue;
      }
      for (int carry = 0; carry < 2; ++carry) {
        if (!levels && (carry != (down > 0 ? 1 : 0) || (carry == 1 && !reads_wrong(down - 1)))) continue;
        const Exact between = (outers + carry) * (levels ? inner : slice) + columns - borrow * inner;
        if (between % launching_.form.prime == 0) return false;
      }
    }
    return true;
  }

  // Whether some column in `wrong` reads its element `dim` from a wrapped address.
  bool reads_wrong(Exact dim) const {
    return std::any_of(prediction_.wrong.begin(), prediction_.wrong.end(), [&](const Box& box) {
      const Exact outer = box.outer.last;
      return (outer * shape_.dim_size + dim) * shape_.inner_size + box.inner.last >= space_.limit;
    });
  }

  const Launching& launching_;
  const Decomposition& shape_;
  const Launch& launch_;
  IndexLimits limits_;
  IterationSpace space_;
  Prediction& prediction_;
  int64_t narrowed_outer_ = 0;
  int64_t narrowed_dim_ = 0;
  int64_t narrowed_inner_ = 0;
  bool regular_ = true;
  std::vector<Rogue> rogues_;
  bool skips_row_ = false;
  bool starts_repeat_ = false;   ///< two blocks start at one wrapped value
  bool other_row_runs_ = false;  ///< a row after the first is not skipped
};

}  // namespace

void predict_symbolic(const Launching& launching, Prediction& prediction) {
  prediction.verdict = Verdict::kOk;
  Symbolic(launching, prediction).run();
}

}  // namespace brink
