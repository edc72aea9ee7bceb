// Factorizations and triangular systems of many small matrices: one matrix per lane of vectors.

namespace DOVETAIL_VARIANT {

template <class T>
static inline T root(T x);
template <>
inline float root<float>(float x) { return __builtin_sqrtf(x); }
template <>
inline double root<double>(double x) { return __builtin_sqrt(x); }

template <class T>
struct Matrices {
  static constexpr int kLanes = 64 / sizeof(T);  // a cache line of the same element of matrices
  struct alignas(64) Lane {
    T at[kLanes];
  };

  const MatrixJob& job;
  Context& context;

  // Elements of matrices [from, from + count), of `size` elements each, into lanes; those that are not
  // there are copies of the first.
  static void load(const T* in, int64_t from, int64_t count, int64_t size, Lane* out) {
    const T* start = in + from * size;
    for (int l = 0; l < kLanes; ++l) {
      const T* x = start + (l < count ? l : 0) * size;
      for (int64_t e = 0; e < size; ++e) out[e].at[l] = x[e];
    }
  }

  static void store(const Lane* in, int64_t from, int64_t count, int64_t size, T* out) {
    for (int l = 0; l < count; ++l) {
      T* y = out + (from + l) * size;
      for (int64_t e = 0; e < size; ++e) y[e] = in[e].at[l];
    }
  }

  // The same of the lower triangles alone; above them results have zeros.
  void load_lower(const T* in, int64_t from, int64_t count, int64_t n, Lane* out) const {
    const T* start = in + from * n * n;
    for (int l = 0; l < kLanes; ++l) {
      const T* x = start + (l < count ? l : 0) * n * n;
      for (int64_t i = 0; i < n; ++i)
        if (job.symmetrized)
          for (int64_t j = 0; j <= i; ++j) out[i * n + j].at[l] = (x[i * n + j] + x[j * n + i]) * T(0.5);
        else
          for (int64_t j = 0; j <= i; ++j) out[i * n + j].at[l] = x[i * n + j];
    }
  }

  static void store_lower(const Lane* in, int64_t from, int64_t count, int64_t n, T* out) {
    for (int l = 0; l < count; ++l) {
      T* y = out + (from + l) * n * n;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) y[i * n + j] = in[i * n + j].at[l];
        for (int64_t j = i + 1; j < n; ++j) y[i * n + j] = T{0};
      }
    }
  }

  // x -= y * z
  static inline void subtract(Lane& x, const Lane& y, const Lane& z) {
    for (int l = 0; l < kLanes; ++l) x.at[l] -= y.at[l] * z.at[l];
  }

  void cholesky(int64_t from, int64_t count, Lane* a) const {
    int64_t n = job.n;
    load_lower(static_cast<const T*>(job.in), from, count, n, a);
    bool failed[kLanes] = {};
    for (int64_t j = 0; j < n; ++j) {
      Lane pivot = a[j * n + j];
      for (int64_t k = 0; k < j; ++k) subtract(pivot, a[j * n + k], a[j * n + k]);
      for (int l = 0; l < kLanes; ++l) {
        failed[l] |= !(pivot.at[l] > 0);
        pivot.at[l] = root<T>(pivot.at[l]);
      }
      a[j * n + j] = pivot;
      for (int64_t i = j + 1; i < n; ++i) {
        Lane x = a[i * n + j];
        for (int64_t k = 0; k < j; ++k) subtract(x, a[i * n + k], a[j * n + k]);
        for (int l = 0; l < kLanes; ++l) x.at[l] /= pivot.at[l];
        a[i * n + j] = x;
      }
    }
    T* out = static_cast<T*>(job.out);
    store_lower(a, from, count, n, out);
    for (int l = 0; l < count; ++l)
      if (failed[l])
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j <= i; ++j) out[((from + l) * n + i) * n + j] = static_cast<T>(__builtin_nan(""));
  }

  // Rows are exchanged so that pivots are the largest of their columns, the first of equal ones.
  void lu(int64_t from, int64_t count, Lane* a) const {
    int64_t n = job.n;
    load(static_cast<const T*>(job.in), from, count, n * n, a);
    for (int64_t k = 0; k < n; ++k) {
      int32_t pivots[kLanes];
      T largest[kLanes];
      for (int l = 0; l < kLanes; ++l) {
        pivots[l] = static_cast<int32_t>(k);
        T x = a[k * n + k].at[l];
        largest[l] = x < 0 ? -x : x;
      }
      for (int64_t i = k + 1; i < n; ++i)
        for (int l = 0; l < kLanes; ++l) {
          T x = a[i * n + k].at[l];
          x = x < 0 ? -x : x;
          bool larger = x > largest[l];
          largest[l] = larger ? x : largest[l];
          pivots[l] = larger ? static_cast<int32_t>(i) : pivots[l];
        }
      for (int l = 0; l < kLanes; ++l) {
        int64_t p = pivots[l];
        if (l < count) job.pivots[(from + l) * n + k] = pivots[l];
        if (p == k) continue;
        for (int64_t j = 0; j < n; ++j) {
          T x = a[k * n + j].at[l];
          a[k * n + j].at[l] = a[p * n + j].at[l];
          a[p * n + j].at[l] = x;
        }
      }
      Lane pivot = a[k * n + k];
      for (int l = 0; l < kLanes; ++l) pivot.at[l] = pivot.at[l] == 0 ? T{1} : pivot.at[l];
      for (int64_t i = k + 1; i < n; ++i) {
        Lane factor = a[i * n + k];
        for (int l = 0; l < kLanes; ++l) factor.at[l] /= pivot.at[l];
        a[i * n + k] = factor;
        for (int64_t j = k + 1; j < n; ++j) subtract(a[i * n + j], factor, a[k * n + j]);
      }
    }
    store(a, from, count, n * n, static_cast<T*>(job.out));
    if (job.order) order(from, count);
  }

  // The permutation that exchanging rows makes.
  void order(int64_t from, int64_t count) const {
    for (int64_t m = from; m < from + count; ++m) {
      int32_t* order = job.order + m * job.n;
      for (int64_t i = 0; i < job.n; ++i) order[i] = static_cast<int32_t>(i);
      for (int64_t i = 0; i < job.n; ++i) {
        int32_t p = job.pivots[m * job.n + i], x = order[i];
        order[i] = order[p];
        order[p] = x;
      }
    }
  }

  // The element of the triangle in row i and column j, of the matrix or its transpose.
  const Lane& element(const Lane* a, int64_t i, int64_t j) const {
    return job.transpose ? a[j * job.n + i] : a[i * job.n + j];
  }

  void solve(int64_t from, int64_t count, Lane* a) const {
    int64_t n = job.n, m = job.columns;
    Lane* x = a + n * n;
    load(static_cast<const T*>(job.in), from, count, n * n, a);
    load(static_cast<const T*>(job.right), from, count, n * m, x);
    bool downwards = job.lower != job.transpose;
    for (int64_t step = 0; step < n; ++step) {
      int64_t i = downwards ? step : n - 1 - step;
      for (int64_t c = 0; c < m; ++c) {
        Lane found = x[i * m + c];
        for (int64_t k = 0; k < step; ++k) {
          int64_t j = downwards ? k : n - 1 - k;
          subtract(found, element(a, i, j), x[j * m + c]);
        }
        if (!job.unit)
          for (int l = 0; l < kLanes; ++l) found.at[l] /= element(a, i, i).at[l];
        x[i * m + c] = found;
      }
    }
    store(x, from, count, n * m, static_cast<T*>(job.out));
  }

  bool run() const {
    int64_t size = job.n * job.n + job.n * job.columns, blocks = (job.count + kLanes - 1) / kLanes;
    int64_t parts = job.count * size * job.n < 32768 ? 1 : 4 * context.threads();
    if (parts > blocks) parts = blocks;
    Lane* room = static_cast<Lane*>(context.scratch(parts * size * sizeof(Lane)));
    if (!room) return false;
    auto body = [&](int64_t part) {
      Lane* a = room + part * size;
      for (int64_t block = blocks * part / parts; block < blocks * (part + 1) / parts; ++block) {
        int64_t from = block * kLanes, count = from + kLanes < job.count ? kLanes : job.count - from;
        switch (job.task) {
          case Task::kCholesky: cholesky(from, count, a); break;
          case Task::kLu: lu(from, count, a); break;
          default: solve(from, count, a);
        }
      }
    };
    for_each_part(context, parts, body);
    return true;
  }
};

static bool matrices(const MatrixJob& job, Context& context) {
  if (job.number == Number::kFloat32) return Matrices<float>{job, context}.run();
  return Matrices<double>{job, context}.run();
}

}  // namespace DOVETAIL_VARIANT
