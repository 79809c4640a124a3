# The list of mutants. To add one:
#
#   mutant(NameThatSaysWhatIsWrong path/of/the/file
#     [[ code around it @{the original}@ more code ]]
#     [[ what stands there instead ]])
#
# - The name is one word. `brink_mutant_tests --gtest_filter='*NameThatSaysWhatIsWrong'` runs it and says which check caught it.
# - The snippet must occur exactly once in the file; what is around the marks @{ }@ is there to make it so. Without marks all of it is the
#   original. Line breaks and spaces count. [=[ ]=] holds text that itself contains ]].
# - An original that ends with ; or } is a statement (no declaration: it becomes a block). Otherwise it is an expression, and what
#   stands there instead must have the same type. Where neither will do, add VERBATIM: then the last text simply replaces the original,
#   and chooses by MUTANT_IS_ACTIVE itself.
# - Snippets of two mutants may not overlap. A function that runs in constant expressions is not mutated there.
# - A mutant must be wrong: it must not crash the test (no addresses outside of memory), and there must be an input for which brink
#   would say something false. If no check notices it, write the check that does (checks.h), for what brink promises and not for the
#   mutant. If none can, it is equivalent: leave it out and say why at the end of this file.

# ---- Kernels: addresses ----------------------------------------------------------------------------------------------------------

mutant(TheOuterStrideIsNotTheDimsProduct kernels/softmax/spatial_address.h
  [[named<I>(Expression::kOuterStride, @{mul(dim_size, inner_size)}@)]]
  [[mul(inner_size, inner_size)]])
mutant(TheDimOffsetIsAnIntProduct kernels/softmax/spatial_address.h
  [[named<I>(Expression::kDimOffset, @{mul(d, inner_size)}@)]]
  [[through_int32(mul(d, inner_size))]])
mutant(TheOuterBaseIsAnIntProduct kernels/softmax/spatial_address.h
  [[named<I>(Expression::kOuterBase, @{mul(outer, outer_stride)}@)]]
  [[through_int32(mul(outer, outer_stride))]])
mutant(TheColumnOffsetForgetsTheSlice kernels/softmax/spatial_address.h
  [[named<I>(Expression::kColumnOffset, @{add(base, inner)}@)]]
  [[add(inner, 0)]])
mutant(BlocksStartOneColumnLate kernels/softmax/spatial_address.h
  [[named<I>(Expression::kInnerStart, @{block_index * block_size}@)]]
  [[block_index * block_size + 1]])
mutant(TheColumnStepIsOneShort kernels/softmax/spatial_address.h
  [[named<I>(Expression::kInnerNext, @{add(inner, step)}@)]]
  [[add(inner, add(step, -1))]])
mutant(TheRowBaseIsAnIntProduct kernels/softmax/last_dim_address.h
  [[named<I>(Expression::kRowBase, @{mul(row, dim_size)}@)]]
  [[through_int32(mul(row, dim_size))]])
mutant(TheShiftIsTakenOffTwice kernels/softmax/last_dim_address.h
  [[add(base, add(position, @{-shift}@))]]
  [[-2 * shift]])
mutant(LoopsRunOnePastTheirEnd kernels/index/arithmetic.h
  [[static_cast<C>(a) < static_cast<C>(b)]]
  [[static_cast<C>(a) <= static_cast<C>(b)]])

# ---- Kernels: walking and reducing -----------------------------------------------------------------------------------------------

mutant(TheTailIsDropped kernels/softmax/kernels.h
  [[add(whole, thread.thread_x())); @{less(position, shifted)}@;]]
  [[less(position, whole)]])
mutant(TheHeadEndsOneElementEarly kernels/softmax/kernels.h
  [[for (int p = shift + thread.thread_x(); @{p < kVector}@; p += thread.block_x())]]
  [[p < kVector - 1]])
mutant(TheHeadsVectorIsVisitedAgain kernels/softmax/kernels.h
  [[named<I>(Expression::kVectorNext, thread.thread_x() + @{(shift > 0 ? 1 : 0)}@)]]
  [[0]])
mutant(TheRoundUpsThreadsAreActive kernels/softmax/kernels.h
  [[const bool active = @{less(inner, address.inner_size)}@;]]
  [[less(first, address.inner_size)]])
mutant(TheLastHalvingIsLeftOut kernels/softmax/kernels.h
  [[for (int half = thread.block_x() / 2; @{half > 0}@; half /= 2)]]
  [[half > 1]])
mutant(BlockRowsShareOneRowOfSharedMemory kernels/softmax/kernels.h
  [[thread.template shared<Acc>() + @{static_cast<int64_t>(thread.thread_y()) * thread.block_x()}@;]]
  [[static_cast<int64_t>(0)]])
mutant(LanesExchangeWithTheNextRow kernels/execution/host_block.h
  [[static_cast<size_t>(@{linear() ^ mask}@)]]
  [[linear() ^ mask ^ (launch_->block_y > 1 ? block_x() : 0)]])
mutant(TheMaximumBeginsAtZero kernels/softmax/operations.h
  [[Acc max = @{std::numeric_limits<Acc>::lowest()}@;]]
  [[Acc(0)]])
mutant(TheFirstProductIsNotRounded kernels/softmax/operations.h
  [[sum += @{memory.round(grad.v[k] * output.v[k])}@;]]
  [=[grad.v[k] * output.v[k]]=])
mutant(TheLastProductIsNotRounded kernels/softmax/operations.h
  [[@{memory.round(grad.v[k] * o)}@ - o * sum]]
  [[grad.v[k] * o]])
mutant(GradStandsInForOutput kernels/softmax/operations.h
  [[const auto output = memory.template load<kCount>(@{1}@, at);
      for (int k = 0; k < kCount; ++k) sum]]
  [[0]])
mutant(StoresRoundDown kernels/execution/host_memory.h
  [[tensors_->source == nullptr) data[n] = Traits::store(@{value}@);]]
  [[value - std::abs(value) * Acc(0x1p-12)]])

# ---- Launches and the choice of the index type -----------------------------------------------------------------------------------

mutant(RowsAreSteppedByBlocksAlone kernels/softmax/kernels.h
  [[named<I>(Expression::kGridX, @{thread.grid_x() * thread.block_y()}@)]]
  [[thread.grid_x()]])
mutant(AWarpsLanesAreNoPowerOfTwo kernels/softmax/launch.cpp
  [[launch.block_x = std::min(@{next_power_of_two(shape.dim_size)}@, limits.warp_size);]]
  [[shape.dim_size]])
mutant(SharingBlocksAreNoPowerOfTwo kernels/softmax/launch.cpp
  [[launch.block_x * 2 <= shape.dim_size) {
    @{launch.block_x *= 2;}@]]
  [[launch.block_x += 1;]])
mutant(BlocksShrinkByOneThread kernels/softmax/launch.cpp
  [[sized.form = LaunchForm::kReducedX;
      @{launch.block_x /= 2;}@]]
  [[launch.block_x -= 1;]])
mutant(SharedMemoryIsForHalfTheThreads kernels/softmax/launch.cpp
  [[return shares ? @{launch.threads() * accumulator_bytes(dtype)}@ : 0;]]
  [[launch.threads() / 2 * accumulator_bytes(dtype)]])
mutant(NoResidentBlockIsEnough kernels/softmax/launch.cpp
  [[return @{answer.resident_blocks >= 1}@
             ? ""]]
  [[true]])
mutant(AFailedQueryIsTrusted kernels/softmax/launch.cpp
  [[if (@{!answer.error.empty()}@) return answer.error;]]
  [[false]])
mutant(BlocksShrinkInXFirst kernels/softmax/launch.cpp
  [[if (@{launch.block_y > 1}@) {
      attempt.decision]]
  [[launch.block_y > 1 && (launch.block_x == 1 || sized.variant == Variant::kWarp)]])
mutant(SharedMemoryIsNotWorkedOutAnew kernels/softmax/launch.cpp
  [[while (true) {
    @{launch.shared_bytes = shared_bytes_of(launch, sized.variant, request.dtype);}@]]
  [[]])
mutant(TheLimitOfThreadsIsTheDevicesAlone kernels/softmax/launch.cpp
  [[std::min({device.threads, @{attributes.max_threads}@, kQueryThreadsMax});]]
  [[kQueryThreadsMax]])
mutant(TheKernelsOwnSharedMemoryIsFree kernels/softmax/launch.cpp
  [[std::max<int64_t>(@{attributes.static_shared_bytes}@, 0));]]
  [[int64_t{0}]])
mutant(TheGridForgetsTheDevicesLimit kernels/softmax/launch.cpp
  [[const bool fits = @{launch.grid_x >= 1 && launch.grid_x <= std::min(device.grid_x, kDimensionMax)}@ &&]]
  [[true]])
mutant(AReducedLaunchIsCalledResident kernels/softmax/launch.cpp
  [[@{sized.form = LaunchForm::kReducedY;}@]]
  [[]])
mutant(ATornBarrierIsNotNoticed kernels/execution/host_block.cpp
  [[return @{divergence_.waiting != divergence_.threads}@;]]
  [[false]])
mutant(TheWidthForgetsTheColumnStep kernels/softmax/implementation.cpp
  [[consider(past(shape.inner_size, launch.grid_y * launch.block_y));]]
  [[]])
mutant(TheWidthForgetsTheTailStep kernels/softmax/implementation.cpp
  [[consider(past(shifted, launch.block_x));]]
  [[]])
mutant(TheWidthForgetsTheRowStepOfWarps kernels/softmax/implementation.cpp
  [[consider(past(shape.outer_size, launch.grid_x * launch.block_y));]]
  [[]])
mutant(TheWidthForgetsTheLaneStep kernels/softmax/implementation.cpp
  [[launch.block_y));
      @{consider(past(shape.dim_size, launch.block_x));}@
      break;
  }
  return result;]]
  [[]])
mutant(AStepPastTheEndIsCountedOneShort kernels/softmax/implementation.cpp
  [[return saturating_add(@{size - 1}@, step); };]]
  [[size - 2]])
mutant(OneMoreThanTheMaximumFits kernels/softmax/implementation.cpp
  [[if (@{largest_index_value(shape, launch, dtype) > max}@) return false;]]
  [[largest_index_value(shape, launch, dtype) > max + 1]])
mutant(TheMaximumItselfDoesNotFit kernels/softmax/implementation.cpp
  [[@{largest_index_value(shape, *counterpart_launch, dtype) <= max}@;]]
  [[largest_index_value(shape, *counterpart_launch, dtype) < max]])
mutant(EachDirectionDecidesForItself kernels/softmax/implementation.cpp
  [[size_launch(shape, @{counterpart(operation)}@, dtype]]
  [[operation]])
mutant(TheAxisIsCountedWithTheSlices kernels/softmax/decomposition.cpp
  [[int64_t& part = @{i < axis}@ ?]]
  [[i <= axis]])
mutant(NegativeAxesAreOneOff kernels/softmax/decomposition.cpp
  [[if (axis < 0) @{axis += axes;}@]]
  [[axis += axes - 1;
  if (axis < 0) axis = 0;]])

# ---- Tracing integers ------------------------------------------------------------------------------------------------------------

mutant(ASumKeepsItsLeftOperandsType kernels/index/traced.h
  [[const auto value = @{add(x.value, y.value)}@;]]
  [[static_cast<decltype(add(x.value, y.value))>(static_cast<decltype(x.value)>(add(x.value, y.value)))]])
mutant(TracedComparisonsSeeWhatWasMeant kernels/index/traced.h
  [[less(detail::lift(a).value, detail::lift(b).value)]]
  [[detail::lift(a).exact < detail::lift(b).exact]])
mutant(TracedAddressesAreWhatWasMeant kernels/index/traced.h
  [[return @{address(a.value)}@;]]
  [[static_cast<long long>(a.exact)]])
mutant(TheLastNameTakesTheBlame kernels/index/traced.h
  [[} else if (@{result.origin.expression == Expression::kNone}@) {
    result.origin = {name]]
  [[true]])
mutant(TheExactQuotientIsNotDivided kernels/index/traced.h
  [[return detail::combine(value, @{a.exact / N}@, a, Traced<int>(N));]]
  [[a.exact]])

# ---- The oracle ------------------------------------------------------------------------------------------------------------------

mutant(TheLimitIsTheLargestValue properties/oracle.cpp
  [[space.limit = @{static_cast<Exact>(limits.max) + 1}@;]]
  [[static_cast<Exact>(limits.max)]])
mutant(SignedTypesWrapByTheirLimit properties/oracle.cpp
  [[space.modulus = @{static_cast<Exact>(1) << limits.bits}@;]]
  [[static_cast<Exact>(limits.max) + 1]])
mutant(AddressesDoNotWrapToBeforeTheTensor properties/oracle.cpp
  [[return @{value >= limit}@ ? value - static_cast<int64_t>(modulus) : value;]]
  [[false]])
mutant(WritersAreAWrapApartTooFew properties/oracle.cpp
  [[l < narrowed.numel(); @{l += space_.modulus}@) {]]
  [[l += 2 * space_.modulus]])
mutant(SparseMemoryIsPredictedToFault properties/oracle.cpp
  [[prediction.verdict = @{dense}@ ?]]
  [[true]])
mutant(ContendedElementsEndOneLate properties/oracle_symbolic.cpp
  [[prediction_.contended = boxes(0, @{std::min(space_.limit, executed_numel - space_.modulus)}@ - 1);]]
  [[std::min(space_.limit, executed_numel - space_.modulus) + 1]])
mutant(UnwrittenElementsBeginAtTheModulus properties/oracle_symbolic.cpp
  [[prediction_.never_written = boxes(std::min(@{space_.limit}@, executed_numel), numel() - 1);]]
  [[space_.modulus]])
mutant(OutOfBoundsEndsOneLate properties/oracle_symbolic.cpp
  [[set_out_of_bounds(@{executed_numel - 1 - space_.modulus}@);]]
  [[executed_numel - space_.modulus]])
mutant(WrittenOnceBeginsOneLate properties/oracle_symbolic.cpp
  [[const Exact once_first = std::max<Exact>(0, @{executed_numel - space_.modulus}@);]]
  [[executed_numel - space_.modulus + 1]])
mutant(WrongColumnsBeginOneRowEarly properties/oracle_symbolic.cpp
  [[space_.limit - outer * slice - @{(shape_.dim_size - 1) * inner}@);]]
  [[(shape_.dim_size - 1) * inner + 1]])
mutant(WhatIsReadAlwaysShows properties/oracle_symbolic.cpp
  [[if (@{between % launching_.form.prime == 0}@) return false;]]
  [[false]])
mutant(TheFirstBadElementIsTheOneAfter properties/oracle_symbolic.cpp
  [[const Exact element = @{space_.limit}@;
    if]]
  [[space_.limit + 1]])
mutant(AStepOntoTheLimitDoesNotWrap properties/oracle_symbolic.cpp
  [[const bool step_wraps = enters && @{loop.last() + loop.step >= space_.limit}@;]]
  [[loop.last() + loop.step > space_.limit]])
mutant(HangsAreOnlySeenInSamples properties/oracle_symbolic.cpp
  [[if (@{never_ends(loop)}@) prediction_.verdict = Verdict::kHang;]]
  [[false]])
mutant(LongLoopsAreNoHangs properties/oracle_symbolic.cpp
  [[if (value < loop.bound && @{iterations_left(value, loop) > patience}@) prediction_.verdict]]
  [[false]])
mutant(WrongReadsAreNeverDoubted properties/oracle_symbolic.cpp
  [[@{if (!prediction_.exact && prediction_.contended.empty()) doubt_wrong(once_first, once_last);}@]]
  [[]])
mutant(TwoWritersAreOne properties/oracle_traced.cpp
  [[} else if (@{writes.size() > 1}@) {]]
  [[writes.size() > 2]])
mutant(TheLastBadElementIsTheFirst properties/oracle_traced.h
  [[if (first_bad && @{*first_bad <= meant}@) return;]]
  [[*first_bad >= meant]])
mutant(TracedRowsAreAligned properties/oracle_traced.h
  [[return static_cast<int>(@{address(base) & (kVector - 1)}@);]]
  [[address(base) & 0]])

# ---- Closed forms ----------------------------------------------------------------------------------------------------------------

mutant(CodesDoNotCarryThePosition properties/closed_form.h
  [[double code(int64_t n) const { return @{static_cast<double>(n % prime)}@; }]]
  [[0.0 * static_cast<double>(n)]])
mutant(LevelsAreTheSameInEachColumn properties/closed_form.h
  [[if (uses_levels()) return low * static_cast<double>(1 + @{column(n) % prime}@);]]
  [[column(n) * 0]])
mutant(TheHotElementIsOneRowOff properties/closed_form.h
  [[return row % shape.dim_size == @{hot_dim()}@;]]
  [[(hot_dim() + 1) % shape.dim_size]])
mutant(TheSumIsAddedInBackward properties/closed_form.h
  [[return input(0, n) * input(1, n) - input(1, n) * @{sum}@;]]
  [[-sum]])

# ---- Observing -------------------------------------------------------------------------------------------------------------------

mutant(PoisonIsAWrongValue properties/observe.h
  [[const bool poisoned = @{bits == static_cast<Bits>(poison_bits(sizeof(T)))}@;]]
  [[false]])
mutant(NaNIsRight properties/observe.h
  [[!poisoned && @{Traits::load(output[n]) == expected}@;]]
  [[!(Traits::load(output[n]) < expected) && !(Traits::load(output[n]) > expected)]])
mutant(TwoWritesAreOne properties/observe.h
  [[@{if (writes > 1) twice.insert(n);}@]]
  [[if (writes > 2) twice.insert(n);]])
mutant(TheLastElementOfAWindowIsNotLookedAt properties/observe.h
  [[@{n <= window.last}@; ++n]]
  [[n < window.last]])
mutant(WritesToAWindowsLastElementAreNotCounted kernels/execution/host_memory.h
  [[looked_at = after != windows.begin() && @{n <= std::prev(after)->last}@;]]
  [[n < std::prev(after)->last]])
mutant(ReadsOutOfBoundsAreNotNoted kernels/execution/host_memory.h
  [[Acc load_one(int tensor, int64_t n) const {
    T* data = static_cast<T*>(tensors_->inputs[tensor]);
    if (!in_bounds(n)) {
      @{tensors_->out_of_bounds.insert(n);}@]]
  [[]])
mutant(BlocksThatWrapToAWindowDoNotRun properties/execute_host.cpp
  [[for (int wrap = 0; @{wrap < kWraps}@; ++wrap)]]
  [[wrap < 1]])
mutant(BlocksOfAWindowsEndDoNotRun properties/execute_host.cpp
  [[for (int64_t n = window.first; @{n <= window.last}@; ++n) touch(shape, n);]]
  [[n <= window.last - 24]])
mutant(WindowsLeaveOutTheirMiddle properties/windows.cpp
  [[windows.push_back({std::max<int64_t>(0, @{n - kWindowRadius}@),]]
  [[n + 1]])
mutant(WindowsEndAtTheBoundary properties/windows.cpp
  [[std::min(numel, @{n + kWindowRadius}@) - 1});]]
  [[n + 1]])
mutant(NoWindowWhereTheEndWraps properties/windows.cpp
  [[@{look_at((numel - 1) % (int64_t{1} << bits));}@]]
  [[]])
mutant(AliasedInputsLackTheHotRows properties/input_windows.cpp
  [[const int64_t last = form.uses_levels() ? shape.dim_size - 1 : @{form.hot_dim()}@;]]
  [[form.hot_dim() - 1]])

# ---- Comparing and judging -------------------------------------------------------------------------------------------------------

mutant(VerdictsAreNotCompared properties/comparison.cpp
  [[@{differ("verdict", name_of(prediction.verdict), name_of(observed.verdict));}@]]
  [[]])
mutant(IndexTypesAreNotCompared properties/comparison.cpp
  [[@{differ("index type", name_of(*prediction.index_type), name_of(*observed.index_type));}@]]
  [[]])
mutant(WrongElementsAreNotCompared properties/comparison.cpp
  [[@{compare("wrong elements", predicted_wrong, observed.wrong);}@]]
  [[]])
mutant(UnwrittenElementsAreNotCompared properties/comparison.cpp
  [[@{compare("elements never written", predicted_never, observed.never_written);}@]]
  [[]])
mutant(ContendedElementsAreNotCompared properties/comparison.cpp
  [[@{compare("contended elements", predicted_contended, observed.contended);}@]]
  [[]])
mutant(OutOfBoundsIsNotCompared properties/comparison.cpp
  [[numel_is_whole(raw, shape) && @{prediction.out_of_bounds != raw.out_of_bounds}@) {]]
  [[false]])
mutant(AnInexactPredictionMatchesEverything properties/comparison.cpp
  [[if (@{covers(superset, n)}@) continue;]]
  [[true]])
mutant(AnyValueIsAWriters properties/comparison.cpp
  [[if (@{value == bits || same_value(form.dtype, value, bits)}@) return true;]]
  [[true]])
mutant(WildWritesAreForgiven properties/comparison.cpp
  [[if (!raw.out_of_bounds.empty() || @{raw.wild_writes}@) outcome.verdict]]
  [[false]])
mutant(AHangCountsAsNotExecuted properties/comparison.cpp
  [[case Ending::kHang:
      @{return Verdict::kHang;}@]]
  [[return Verdict::kNotExecuted;]])
mutant(ContendedElementsAreNoMismatch properties/outcome.cpp
  [[if (!outcome.wrong.empty() || @{!outcome.contended.empty()}@) return Verdict::kMismatch;]]
  [[false]])
mutant(DispatchedKernelsMayFailAsPredicted properties/examine.cpp
  [[role == Role::kUser || @{e.c.implementation.chooses_safely()}@;]]
  [[false]])
mutant(AUsersKernelMayFailAsPredicted properties/examine.cpp
  [[const bool must_be_right = @{role == Role::kUser}@ ||]]
  [[false]])
mutant(APredictionThatDidNotComeTrueIsFine properties/examine.cpp
  [[} else if (@{e.prediction.verdict != Verdict::kOk && e.differences.empty()}@) {]]
  [[false]])
mutant(ASkipIsReportedAsOk properties/check.cpp
  [[const bool executed = @{e.observed.verdict != Verdict::kNotExecuted}@;]]
  [[true]])
mutant(NothingExecutedIsOk properties/check.cpp
  [[return missing.empty() && @{launched > 0}@ ? 0 : 3;]]
  [[true]])
mutant(MissingCellsAreFine properties/check.cpp
  [[return @{missing.empty()}@ &&]]
  [[true]])

# ---- Evidence and reports --------------------------------------------------------------------------------------------------------

mutant(AReportOfNothingIsOk properties/summary.cpp
  [[return @{launched > 0}@ && required_not_executed() == 0]]
  [[true]])
mutant(AReportForgivesWhatHadToRun properties/summary.cpp
  [[&& @{required_not_executed() == 0}@ &&]]
  [[true]])
mutant(AReportForgivesMissingCells properties/summary.cpp
  [[&& @{missing_cells().empty()}@ ?]]
  [[true]])
mutant(ASkipCountsAsExecutedInAReport properties/summary.cpp
  [[@{if (r.required) executed_cases_.insert(case_hash(r));}@]]
  [[executed_cases_.insert(case_hash(r)); for (const auto& [hash, hole] : holes_) executed_cases_.insert(hash);]])
mutant(AKnownDefectCountsAsRight properties/summary.cpp
  [[counts.findings : @{r.verdict == "ok"}@ ?]]
  [[true]])
mutant(BrokenEvidenceIsFine properties/summary.cpp
  [[if (@{broken > 0}@) return 2;]]
  [[false]])
mutant(AMissingStampIsForgiven properties/execution.cpp
  [[if (@{raw.ending != Ending::kCompleted || kernel_of(raw.stamp)}@) return;]]
  [[true]])
mutant(AnotherKernelsStampIsForgiven properties/comparison.cpp
  [[if (@{kernel->operation != c.operation || kernel->dtype != c.dtype}@) {]]
  [[false]])
mutant(TheLaunchingSideIsBelieved properties/execution.cpp
  [[if (@{!kernel}@) return launched;]]
  [[true]])

# ---- Boxes, cells, aliased memory ------------------------------------------------------------------------------------------------

mutant(TheRestOfAFirstRowIsLost properties/box.cpp
  [[const bool head = @{interval.first % size != 0}@;]]
  [[false]])
mutant(IntervalsThatTouchStayApart kernels/execution/interval.cpp
  [[i.first <= @{result.back().last + 1}@);]]
  [[result.back().last]])
mutant(APlannedCellThatIsMissingIsForgotten properties/check.cpp
  [[if (@{!plan_missing.empty()}@) return 3;]]
  [[false]])
mutant(TheBoundarysOwnOffsetIsAboveIt properties/matrix.cpp
  [[cell.above_unsigned = @{numel - 1 > kMax32}@;]]
  [[numel > kMax32]])
mutant(AnInnerSizeOf1MeansTheLastAxis properties/matrix.cpp
  [[cell.axis_is_last = @{axis_is_last(c)}@;]]
  [[shape.inner_size == 1]])
mutant(PlacesCountUnseen properties/matrix.cpp
  [[has_place(cell) && @{looked_at_any(looked_at, elements.first, elements.last)}@]]
  [[!looked_at.empty()]])
mutant(OnlyTheBoundarysOwnElementIsItsPlace properties/matrix.cpp
  [[return {kMax32, @{kMax32 + 1}@};]]
  [[kMax32 + 0]])
mutant(ASkippedTestReachesItsCells properties/audit.cpp
  [[if (@{!row.runs}@) return row;]]
  [[false]])
mutant(ARoundedZeroCountsAsAValue properties/audit.cpp
  [[@{rounded(*dtype, *value)}@ == 0]]
  [[*value]])
mutant(TheLastElementBeforeABoundaryIsBeyondIt properties/audit.cpp
  [[shape.numel() - 1 > boundary && @{last <= boundary}@]]
  [[last < boundary]])
mutant(OneArrayIsAllThatATestNeeds properties/audit.cpp
  [[test.guard.value_or(@{test.arrays * row.numel * test.item_bytes}@)]]
  [[row.numel * test.item_bytes]])
mutant(OnTheBoundaryIsAboveIt properties/cell.cpp
  [[distance < 0 ? Side::kBelow : @{distance == 0}@ ?]]
  [[false]])
mutant(TheBoundaryCountsAsLookedAtFromAfar properties/cell.cpp
  [[if (!looked_at_any(looked_at, @{first}@, last)) return;]]
  [[first - (int64_t{1} << 40)]])
mutant(WhatWasNotExecutedReachesItsCells properties/cell.cpp
  [[if (@{ending == Ending::kNotExecuted || shape.numel() == 0}@) return {};]]
  [[shape.numel() == 0]])
mutant(TheAliasPeriodIsAPowerOfTwo kernels/execution/alias_period.h
  [[@{inline constexpr int64_t kPeriodPages = 7;
inline constexpr int64_t kPeriodBytes = kPeriodPages * kPageBytes;}@]]
  [[struct PeriodPages {
  constexpr operator int64_t() const { return MUTANT_IS_ACTIVE ? 8 : 7; }
};
inline constexpr PeriodPages kPeriodPages{};
struct PeriodBytes {
  constexpr operator int64_t() const { return kPeriodPages * kPageBytes; }
};
inline constexpr PeriodBytes kPeriodBytes{};]] VERBATIM)
mutant(AWindowsLastPageIsAliased kernels/execution/alias_period.h
  [[for (; @{page <= last / elements}@; ++page)]]
  [[page < last / elements]])
mutant(TheLastPageIsAliased kernels/execution/alias_period.h
  [[@{if (pages.empty() || pages.back() != end) pages.push_back(end);}@]]
  [[]])

# ---- Fuzzing ---------------------------------------------------------------------------------------------------------------------

mutant(SeedsLoseTheirHighBytes fuzz/case_bytes.cpp
  [[c.seed = @{take(bytes, kWordBytes)}@;]]
  [[static_cast<uint32_t>(take(bytes, kWordBytes))]])
mutant(NegativeAxesAreNotDecoded fuzz/case_bytes.cpp
  [[c.axis = @{axis % (2 * axes_of(c)) - axes_of(c)}@;]]
  [[axis % axes_of(c)]])
mutant(MutationsForgetTheDevice fuzz/case_mutation.cpp
  [[return @{device_refusal(limits.device, shape, launch.sized, c.dtype, launch.index_type)}@;]]
  [[std::string()]])
mutant(MutationsKeepWhatWasNotAskedFor fuzz/case_mutation.cpp
  [[if (@{!contains(allowed, value)}@) value =]]
  [[false]])
mutant(MutationsStopAtTheBoundary fuzz/case_mutation.cpp
  [[std::max<int64_t>(1, @{side == 0 ? *size - 1 - further : *size + (side == 2 ? further : 0)}@);]]
  [[*size / 3]])
mutant(OneAboveCountsAsAtTheBoundary fuzz/boundary_counters.cpp
  [[if (@{value == at}@) return]]
  [[value == at || value == at + 1]])
mutant(DirectionsShareTheirCounters fuzz/boundary_counters.cpp
  [[const Slot slot{variant, @{!is_forward(c.operation)}@, launched.index_type, expression, boundary};]]
  [[false]])
# ---- Shrinking and replays -------------------------------------------------------------------------------------------------------

mutant(ShrinkingForgetsTheExpression properties/shrink.cpp
  [[@{cause_of(e) == best_.cause}@]]
  [[true]])
mutant(PagesCountForNothing properties/simplicity.cpp
  [[return @{bytes <= kPageBytes}@ ?]]
  [[true]])
mutant(NoSizeIsOdd properties/simplicity.cpp
  [[return @{std::min({above, below, kOddest})}@;]]
  [[kOddest - kOddest]])
mutant(ReplayIgnoresTheVerdict properties/replay.cpp
  [[if (@{e->observed.verdict != expected}@)]]
  [[false]])
mutant(ReplayIgnoresTheElements properties/replay.cpp
  [[if (@{recorded != now}@)]]
  [[false]])
mutant(WhatDidNotRunIsNotSaid properties/replay.cpp
  [[@{result_.not_executed.push_back(fmt::format("{}: {}", c.implementation.name(), e.observed.reason));}@]]
  [[]])

# ---- Equivalent: left out --------------------------------------------------------------------------------------------------------
#
# - reduce_over_x with the block's rows in another order in shared memory: each row is its own all the same.
# - grid_x or grid_y a little too small, or too large: the kernels' loops take more steps, or a block has nothing to do. (A grid of 0
#   blocks ends the test with a division by zero.)
# - A warp that shrinks like other blocks: its lanes step over their row, so any power of two will do.
# - The row that ends inside its first vector, in row_block_kernel: rows that short go to the warp kernel.
# - In largest_index_value, the steps over slices and over the reduced dimension (kColumns, kReduce), and over the rows of kBlock: a
#   step is at most the size that it steps over, and numel is at least twice that size. The alignment shift: only rows after the first
#   have one, and then numel is larger. `saturating_add(outer_size, block_y)`: at most 1 more than the row step before it.
# - wrong_columns' boxes of later slices: what is written once ends before the limit, and those slices begin behind it.
# - never_ends without its first return, which only saves time; or with its last condition always true: the first thread of each loop
#   starts at 0, or threads start at each place, so one of them misses what ends the loop.
# - A shifted size of just the limit that counts as fitting: the first row's tail, which has no shift, hangs by then.
# - The round-up of a row's last block: block.y is a power of two, which divides the limit, or the row is a single block.
