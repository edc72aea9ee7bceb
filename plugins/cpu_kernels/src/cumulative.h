// Sums, products, maxima and minima of all elements up to each, along an axis.
//
// Long lines are cut into chunks of one length whatever the number of threads, so that sums are rounded
// alike everywhere: the sum of each chunk, then of the chunks before, then within.

namespace DOVETAIL_VARIANT {

constexpr int64_t kChunk = 4096;

template <class T>
struct Add {
  static inline T start() { return T{0}; }
  static inline T of(T x, T y) { return x + y; }
};

template <class T>
struct Multiply {
  static inline T start() { return T{1}; }
  static inline T of(T x, T y) { return x * y; }
};

// NaN once met stays, and of zeros the positive one is larger, as XLA has it.
template <class T>
struct Larger {
  static inline T start() { return lowest<T>(); }
  static inline T of(T x, T y) { return x != x ? x : y != y ? y : y > x || (y == x && !is_negative(y)) ? y : x; }
};

template <class T>
struct Smaller {
  static inline T start() { return highest<T>(); }
  static inline T of(T x, T y) { return x != x ? x : y != y ? y : y < x || (y == x && is_negative(y)) ? y : x; }
};

template <class T, class Op>
struct Cumulative {
  const CumulativeJob& job;
  Context& context;

  const T* in() const { return static_cast<const T*>(job.in); }
  T* out() const { return static_cast<T*>(job.out); }

  // Element i of a line in the order of accumulation.
  int64_t at(int64_t i) const { return job.reverse ? job.n - 1 - i : i; }

  static T scan(const T* x, T* y, int64_t n, int64_t step, T total) {
    for (int64_t i = 0; i < n; ++i) y[i * step] = total = Op::of(total, x[i * step]);
    return total;
  }

  static T reduce(const T* x, int64_t n) {
    constexpr int64_t kLanes = 16;
    T lanes[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] = Op::start();
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) lanes[l] = Op::of(lanes[l], x[i + l]);
    for (int64_t l = 0; i < n; ++i, ++l) lanes[l] = Op::of(lanes[l], x[i]);
    for (int64_t half = kLanes / 2; half; half /= 2)
      for (int64_t l = 0; l < half; ++l) lanes[l] = Op::of(lanes[l], lanes[l + half]);
    return lanes[0];
  }

  bool long_lines() const {
    int64_t chunks = (job.n + kChunk - 1) / kChunk;
    T* totals = static_cast<T*>(context.scratch(chunks * sizeof(T)));
    if (!totals) return false;
    int64_t parts = chunks < 4 * context.threads() ? chunks : 4 * context.threads();
    for (int64_t line = 0; line < job.outer; ++line) {
      const T* x = in() + line * job.n;
      T* y = out() + line * job.n;
      auto range = [&](int64_t chunk, int64_t* low, int64_t* count) {
        int64_t first = chunk * kChunk;
        *count = first + kChunk < job.n ? kChunk : job.n - first;
        *low = job.reverse ? job.n - first - *count : first;
      };
      auto sum = [&](int64_t part) {
        for (int64_t c = chunks * part / parts; c < chunks * (part + 1) / parts; ++c) {
          int64_t low, count;
          range(c, &low, &count);
          totals[c] = reduce(x + low, count);
        }
      };
      for_each_part(context, parts, sum);
      T total = Op::start();
      for (int64_t c = 0; c < chunks; ++c) {
        T next = Op::of(total, totals[c]);
        totals[c] = total;
        total = next;
      }
      auto within = [&](int64_t part) {
        for (int64_t c = chunks * part / parts; c < chunks * (part + 1) / parts; ++c) {
          int64_t low, count;
          range(c, &low, &count);
          int64_t first = job.reverse ? low + count - 1 : low;
          scan(x + first, y + first, count, job.reverse ? -1 : 1, totals[c]);
        }
      };
      for_each_part(context, parts, within);
    }
    return true;
  }

  // Some short lines at a time, whose additions do not wait for each other.
  template <int kLines>
  void lines(int64_t line) const {
    const T* x = in() + line * job.n;
    T* y = out() + line * job.n;
    T totals[kLines];
    for (int l = 0; l < kLines; ++l) totals[l] = Op::start();
    for (int64_t i = 0; i < job.n; ++i)
      for (int l = 0; l < kLines; ++l) y[l * job.n + at(i)] = totals[l] = Op::of(totals[l], x[l * job.n + at(i)]);
  }

  void short_lines(int64_t from, int64_t to) const {
    for (; from + 8 <= to; from += 8) lines<8>(from);
    for (; from < to; ++from) lines<1>(from);
  }

  // Neighbouring lines [from, to) of one of the outer arrays, row by row.
  void columns(int64_t outer, int64_t from, int64_t to) const {
    const T* x = in() + outer * job.n * job.inner;
    T* y = out() + outer * job.n * job.inner;
    for (int64_t j = from; j < to; ++j) y[at(0) * job.inner + j] = Op::of(Op::start(), x[at(0) * job.inner + j]);
    for (int64_t i = 1; i < job.n; ++i) {
      const T *before = y + at(i - 1) * job.inner, *row = x + at(i) * job.inner;
      T* here = y + at(i) * job.inner;
      for (int64_t j = from; j < to; ++j) here[j] = Op::of(before[j], row[j]);
    }
  }

  bool run() const {
    int64_t threads = context.threads(), size = job.outer * job.n * job.inner;
    if (job.inner == 1 && job.n > kChunk) return long_lines();
    constexpr int64_t kWidth = 512;
    int64_t per_outer = job.inner == 1 ? 1 : (job.inner + kWidth - 1) / kWidth;
    int64_t blocks = job.outer * per_outer;
    int64_t parts = size < 65536 ? 1 : blocks < 4 * threads ? blocks : 4 * threads;
    auto body = [&](int64_t part) {
      int64_t from = blocks * part / parts, to = blocks * (part + 1) / parts;
      if (job.inner == 1) return short_lines(from, to);
      for (int64_t block = from; block < to; ++block) {
        int64_t first = block % per_outer * kWidth;
        columns(block / per_outer, first, first + kWidth < job.inner ? first + kWidth : job.inner);
      }
    };
    for_each_part(context, parts, body);
    return true;
  }
};

template <class T>
static bool cumulative_of(const CumulativeJob& job, Context& context) {
  switch (job.operation) {
    case Operation::kAdd: return Cumulative<T, Add<T>>{job, context}.run();
    case Operation::kMultiply: return Cumulative<T, Multiply<T>>{job, context}.run();
    case Operation::kLarger: return Cumulative<T, Larger<T>>{job, context}.run();
    default: return Cumulative<T, Smaller<T>>{job, context}.run();
  }
}

static bool cumulative(const CumulativeJob& job, Context& context) {
  switch (job.number) {
    case Number::kFloat32: return cumulative_of<float>(job, context);
    case Number::kFloat64: return cumulative_of<double>(job, context);
    case Number::kInt32: return cumulative_of<Wrapping<int32_t, uint32_t>>(job, context);
    case Number::kInt64: return cumulative_of<Wrapping<int64_t, uint64_t>>(job, context);
    case Number::kUint32: return cumulative_of<uint32_t>(job, context);
    default: return cumulative_of<uint64_t>(job, context);
  }
}

}  // namespace DOVETAIL_VARIANT
