#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define BRINK_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BRINK_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(BRINK_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif

namespace brink {

/// The memory of one stack: `size` bytes from `bottom`, its lowest address.
struct StackBounds {
  const void* bottom = nullptr;
  size_t size = 0;
};

/// Tells AddressSanitizer that execution changes to another stack; without it, an exception thrown on a fiber is
/// reported as a stack-buffer-overflow. Debian's Boost.Context is built without BOOST_USE_ASAN, so it does not say this
/// itself. Nothing without AddressSanitizer. See compiler-rt, sanitizer/common_interface_defs.h.
///
/// Lives around one `resume()`: constructed on the stack that is left, destroyed when execution has come back to it,
/// also by Boost.Context's forced unwinding.
class FiberSwitch {
 public:
  /// `to` is the stack that execution goes to; `came_from`, where given, receives the one that it came back from.
  explicit FiberSwitch(const StackBounds& to, StackBounds* came_from = nullptr) : came_from_(came_from) {
#if defined(BRINK_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(&fake_stack_, to.bottom, to.size);
#else
    (void)to;
#endif
  }
  ~FiberSwitch() { arrived(fake_stack_, came_from_); }
  FiberSwitch(const FiberSwitch&) = delete;
  FiberSwitch& operator=(const FiberSwitch&) = delete;

  /// The first thing that a new fiber does: `came_from` receives the stack of whoever started it.
  static void entered(StackBounds* came_from) { arrived(nullptr, came_from); }

  /// The last thing that a fiber does before it ends and execution goes to `to`.
  static void leaving_for_good(const StackBounds& to) {
#if defined(BRINK_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(nullptr, to.bottom, to.size);
#else
    (void)to;
#endif
  }

 private:
  static void arrived(void* fake_stack, StackBounds* came_from) {
#if defined(BRINK_ADDRESS_SANITIZER)
    StackBounds bounds;
    __sanitizer_finish_switch_fiber(fake_stack, &bounds.bottom, &bounds.size);
    if (came_from != nullptr) *came_from = bounds;
#else
    (void)fake_stack;
    (void)came_from;
#endif
  }

  void* fake_stack_ = nullptr;
  StackBounds* came_from_;
};

}  // namespace brink
