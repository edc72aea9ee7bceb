// Sums of many numbers at places of an array.
//
// Numbers are added in the order in which they come. Where there are many more of them than sums, they
// are cut into the same few chunks whatever the number of threads, each with sums of its own, which
// are added up at the end: results are the same on every machine.

namespace DOVETAIL_VARIANT {

constexpr int64_t kScatterChunks = 4;
constexpr int64_t kScatterChunked = 1 << 16;  // numbers from which they are cut into chunks
constexpr int64_t kNumbersPerSum = 32;        // and how many there must be of each sum

template <class T>
struct Scatter {
  const ScatterJob& job;
  Context& context;

  // Numbers [from, to), of which those whose place does not exist are left out. Two places are read at
  // once, and a block's are compared before: the processor then stores one sum in each cycle.
  void add(T* __restrict sums, int64_t from, int64_t to) const {
    constexpr int64_t kBlockSize = 64;
    const T* x = static_cast<const T*>(job.updates);
    const uint32_t* places = static_cast<const uint32_t*>(job.places);
    uint32_t size = static_cast<uint32_t>(job.size);
    for (int64_t i = from; i < to; i += kBlockSize) {
      int64_t end = i + kBlockSize < to ? i + kBlockSize : to;
      if (end - i == kBlockSize && all_below<kBlockSize>(places + i, size)) {
        for (int64_t j = i; j < end; j += 8) {
          add_two(sums, places + j, x + j);
          add_two(sums, places + j + 2, x + j + 2);
          add_two(sums, places + j + 4, x + j + 4);
          add_two(sums, places + j + 6, x + j + 6);
        }
        continue;
      }
      for (int64_t j = i; j < end; ++j)
        if (places[j] < size) sums[places[j]] = sums[places[j]] + x[j];
    }
  }

  static inline void add_two(T* sums, const uint32_t* places, const T* x) {
    uint64_t two;
    memcpy(&two, places, sizeof two);
    T* first = sums + static_cast<uint32_t>(two);
    *first = *first + x[0];
    T* second = sums + (two >> 32);
    *second = *second + x[1];
  }

  template <int64_t kCount>
  static inline bool all_below(const uint32_t* places, uint32_t size) {
    uint32_t outside = 0;
    for (int64_t j = 0; j < kCount; ++j) outside |= places[j] >= size;
    return !outside;
  }

  bool run() const {
    T* out = static_cast<T*>(job.out);
    if (job.in != job.out) memcpy(out, job.in, job.size * sizeof(T));
    if (job.count < kScatterChunked || job.count < job.size * kNumbersPerSum) {
      add(out, 0, job.count);
      return true;
    }
    int64_t width = (job.size + 15) / 16 * 16;
    T* all = static_cast<T*>(context.scratch(kScatterChunks * width * sizeof(T)));
    if (!all) return false;
    auto body = [&](int64_t chunk) {
      T* sums = all + chunk * width;
      for (int64_t i = 0; i < width; ++i) sums[i] = -T{0};  // of floats, too, nothing is changed by adding it
      add(sums, job.count * chunk / kScatterChunks, job.count * (chunk + 1) / kScatterChunks);
    };
    for_each_part(context, kScatterChunks, body);
    for (int64_t i = 0; i < job.size; ++i) {
      T sum = all[i];
      for (int64_t chunk = 1; chunk < kScatterChunks; ++chunk) sum = sum + all[chunk * width + i];
      out[i] = out[i] + sum;
    }
    return true;
  }
};

static bool scatter(const ScatterJob& job, Context& context) {
  switch (job.number) {
    case Number::kFloat32: return Scatter<float>{job, context}.run();
    case Number::kFloat64: return Scatter<double>{job, context}.run();
    case Number::kInt32:
    case Number::kUint32: return Scatter<uint32_t>{job, context}.run();
    default: return Scatter<uint64_t>{job, context}.run();
  }
}

}  // namespace DOVETAIL_VARIANT
