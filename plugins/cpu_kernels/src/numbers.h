// Numbers that kernels calculate with.

namespace DOVETAIL_VARIANT {

// Signed integers whose sums and products wrap around.
template <class S, class U>
struct Wrapping {
  S value;
  Wrapping() = default;
  constexpr Wrapping(int x) : value(x) {}
  static inline Wrapping make(S x) {
    Wrapping w;
    w.value = x;
    return w;
  }
  inline Wrapping operator+(Wrapping y) const { return make(static_cast<S>(static_cast<U>(value) + static_cast<U>(y.value))); }
  inline Wrapping operator*(Wrapping y) const { return make(static_cast<S>(static_cast<U>(value) * static_cast<U>(y.value))); }
  inline bool operator>(Wrapping y) const { return value > y.value; }
  inline bool operator<(Wrapping y) const { return value < y.value; }
  inline bool operator==(Wrapping y) const { return value == y.value; }
  inline bool operator!=(Wrapping y) const { return value != y.value; }
};

template <class T> inline T lowest();
template <class T> inline T highest();
template <> inline float lowest<float>() { return -__builtin_inff(); }
template <> inline float highest<float>() { return __builtin_inff(); }
template <> inline double lowest<double>() { return -__builtin_inf(); }
template <> inline double highest<double>() { return __builtin_inf(); }
template <> inline uint32_t lowest<uint32_t>() { return 0; }
template <> inline uint32_t highest<uint32_t>() { return UINT32_MAX; }
template <> inline uint64_t lowest<uint64_t>() { return 0; }
template <> inline uint64_t highest<uint64_t>() { return UINT64_MAX; }
using Int32 = Wrapping<int32_t, uint32_t>;
using Int64 = Wrapping<int64_t, uint64_t>;
template <> inline Int32 lowest<Int32>() { return Int32::make(INT32_MIN); }
template <> inline Int32 highest<Int32>() { return Int32::make(INT32_MAX); }
template <> inline Int64 lowest<Int64>() { return Int64::make(INT64_MIN); }
template <> inline Int64 highest<Int64>() { return Int64::make(INT64_MAX); }

static inline bool is_negative(float x) { return __builtin_signbit(x); }
static inline bool is_negative(double x) { return __builtin_signbit(x); }
template <class T>
static inline bool is_negative(T) { return false; }

}  // namespace DOVETAIL_VARIANT
