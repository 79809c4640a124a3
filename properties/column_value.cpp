#include "properties/column_value.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/execution/host_run.h"
#include "kernels/softmax/operations.h"

namespace brink {

namespace {

template <class T>
uint64_t bits_of(T value) {
  typename ElementTraits<T>::Bits bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

template <class T>
T value_of(uint64_t bits) {
  const auto narrow = static_cast<typename ElementTraits<T>::Bits>(bits);
  T value;
  std::memcpy(&value, &narrow, sizeof(value));
  return value;
}

// One column's elements by their place in it: loaded once, stored as bits.
template <class T>
class ColumnMemory {
 public:
  using Traits = ElementTraits<T>;
  using Acc = typename Traits::Acc;

  ColumnMemory(const ClosedForm& form, int64_t length, const std::function<int64_t(int64_t)>& address_of,
               const InputValue& input, std::vector<uint64_t>& bits)
      : bits_(&bits) {
    for (int tensor = 0; tensor < input_count(form.operation); ++tensor) {
      loaded_[tensor].resize(static_cast<size_t>(length));
      for (int64_t d = 0; d < length; ++d) {
        const int64_t n = address_of(d);
        Acc& value = loaded_[tensor][static_cast<size_t>(d)];
        value = std::numeric_limits<Acc>::quiet_NaN();
        if (n >= 0 && n < form.shape.numel()) {
          value = Traits::load(Traits::store(static_cast<Acc>(input ? input(tensor, n) : form.input(tensor, n))));
        }
      }
    }
  }

  template <int K>
  Pack<Acc, K> load(int tensor, int64_t d) const {
    static_assert(K == 1);
    return {{loaded_[tensor][static_cast<size_t>(d)]}};
  }
  void store(int64_t d, const Pack<Acc, 1>& value) const {
    (*bits_)[static_cast<size_t>(d)] = bits_of(Traits::store(value.v[0]));
  }
  Acc round(Acc value) const { return Traits::load(Traits::store(value)); }

 private:
  std::vector<Acc> loaded_[2];
  std::vector<uint64_t>* bits_;
};

}  // namespace

std::vector<uint64_t> column_values(const ClosedForm& form, int64_t length,
                                    const std::function<int64_t(int64_t d)>& address_of, const InputValue& input) {
  std::vector<uint64_t> bits(static_cast<size_t>(length));
  with_dtype(form.dtype, [&](auto element) {
    const ColumnMemory<decltype(element)> memory(form, length, address_of, input, bits);
    with_operation(form.operation, [&](auto operation) {
      const auto visit = [&](auto f) {
        for (int64_t d = 0; d < length; ++d) f(Count<1>(), d);
      };
      run_column<decltype(operation)::value>(memory, visit, [](auto value, auto) { return value; });
    });
  });
  return bits;
}

uint64_t column_value(const ClosedForm& form, int64_t length, int64_t own,
                      const std::function<int64_t(int64_t d)>& address_of) {
  return column_values(form, length, address_of)[static_cast<size_t>(own)];
}

uint64_t expected_bits(const ClosedForm& form, int64_t n) {
  return with_dtype(form.dtype, [&](auto element) -> uint64_t {
    using Traits = ElementTraits<decltype(element)>;
    return bits_of(Traits::store(static_cast<typename Traits::Acc>(form.expected(n))));
  });
}

double value_of_bits(DType dtype, uint64_t bits) {
  return with_dtype(dtype, [&](auto element) {
    return static_cast<double>(ElementTraits<decltype(element)>::load(value_of<decltype(element)>(bits)));
  });
}

bool same_value(DType dtype, uint64_t a, uint64_t b) { return value_of_bits(dtype, a) == value_of_bits(dtype, b); }

}  // namespace brink
