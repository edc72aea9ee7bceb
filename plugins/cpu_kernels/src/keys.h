// Keys: unsigned numbers that are ordered as the elements are which they are made of.
//
// Floats are ordered with one NaN, which comes last, and one zero. XLA computes with subnormal numbers
// as zeros, so that they are zeros here, too; but not those of float16, for which it uses float32.

namespace DOVETAIL_VARIANT {

template <class U, Order order>
struct Coding {
  static constexpr int kBits = sizeof(U) * 8;
  static constexpr U kSign = static_cast<U>(U{1} << (kBits - 1));
  static constexpr bool kIsFloat = order == Order::kFloat || order == Order::kBrainFloat;
  static constexpr U kZero = kSign;
  static constexpr U kNan = static_cast<U>(~U{0});

  static constexpr U infinity() {
    if (order == Order::kBrainFloat) return static_cast<U>(0x7F80);
    if (sizeof(U) == 8) return static_cast<U>(0x7FF0000000000000ull);
    if (sizeof(U) == 4) return static_cast<U>(0x7F800000ull);
    return static_cast<U>(0x7C00);
  }

  static constexpr U smallest() {
    if (order == Order::kBrainFloat) return static_cast<U>(0x0080);
    if (sizeof(U) == 8) return static_cast<U>(0x0010000000000000ull);
    if (sizeof(U) == 4) return static_cast<U>(0x00800000ull);
    return static_cast<U>(1);
  }

  static inline U encode(U x) {
    if (order == Order::kUnsigned) return x;
    if (order == Order::kSigned) return x ^ kSign;
    U magnitude = x & static_cast<U>(~kSign);
    U key = x & kSign ? static_cast<U>(~x) : static_cast<U>(x | kSign);
    key = magnitude < smallest() ? kZero : key;
    return magnitude > infinity() ? kNan : key;
  }

  static inline U decode(U key) {
    if (order == Order::kUnsigned) return key;
    if (order == Order::kSigned) return key ^ kSign;
    return key & kSign ? static_cast<U>(key ^ kSign) : static_cast<U>(~key);
  }

  static inline bool is_zero(U x) { return (x & static_cast<U>(~kSign)) < smallest(); }
  static inline bool is_nan(U x) { return (x & static_cast<U>(~kSign)) > infinity(); }
  // Whether decode(encode(x)) may be another element that is equal in order.
  static inline bool is_lossy(U x) { return kIsFloat && ((x != 0 && is_zero(x)) || is_nan(x)); }
};

}  // namespace DOVETAIL_VARIANT
