// Sums of many numbers at places of an array.
//
// Numbers are added in the order in which they come. Where there are many more of them than sums, they
// are cut into the same few chunks whatever the number of threads, each with sums of its own, of which
// a few have several copies that take turns: a sum that the next number changes again would wait for
// the one before. All are added up at the end: results are the same on every machine.

namespace DOVETAIL_VARIANT {

constexpr int64_t kScatterChunks = 4;
constexpr int64_t kScatterChunked = 1 << 16;  // numbers from which they are cut into chunks
constexpr int64_t kNumbersPerSum = 32;        // and how many there must be of each sum
constexpr int64_t kScatterCopies = 4;         // of a chunk's sums,
constexpr int64_t kCopiedBytes = 8192;        // if they have at most so many: the copies fit a cache

template <class T>
struct Scatter {
  const ScatterJob& job;
  Context& context;

  // Numbers [from, to), of which those whose place does not exist are left out. Two places are read at
  // once, and a block's are compared before: the processor then stores one sum in each cycle.
  // `step` is how far the copies of the sums are from one another; number i goes to copy i mod 4.
  template <int64_t kStride>
  void add(T* __restrict sums, int64_t step, int64_t from, int64_t to) const {
    constexpr int64_t kBlockSize = 64;
    const T* x = static_cast<const T*>(job.updates) + from;
    const uint32_t* all = static_cast<const uint32_t*>(job.places) + from;
    uint32_t size = static_cast<uint32_t>(job.size), block[kBlockSize];
    for (int64_t count = to - from; count > 0; count -= kBlockSize, x += kBlockSize, all += kBlockSize) {
      const uint32_t* places = job.wraps ? block : all;
      if (job.wraps) wrapped(all, count, block);
      if (count >= kBlockSize && all_below<kBlockSize>(places, size)) {
        T* others = sums + 2 * kStride * step;
        for (int64_t j = 0; j < kBlockSize; j += 16) {
          add_two<kStride>(sums, step, places + j, x + j);
          add_two<kStride>(others, step, places + j + 2, x + j + 2);
          add_two<kStride>(sums, step, places + j + 4, x + j + 4);
          add_two<kStride>(others, step, places + j + 6, x + j + 6);
          add_two<kStride>(sums, step, places + j + 8, x + j + 8);
          add_two<kStride>(others, step, places + j + 10, x + j + 10);
          add_two<kStride>(sums, step, places + j + 12, x + j + 12);
          add_two<kStride>(others, step, places + j + 14, x + j + 14);
        }
        continue;
      }
      for (int64_t j = 0; j < kBlockSize && j < count; ++j)
        if (places[j] < size) {
          T* sum = sums + kStride * (j % kScatterCopies) * step + places[j];
          *sum = *sum + x[j];
        }
    }
  }

  template <int64_t kStride>
  static inline void add_two(T* sums, int64_t step, const uint32_t* places, const T* x) {
    uint64_t two;
    memcpy(&two, places, sizeof two);
    T* first = sums + static_cast<uint32_t>(two);
    *first = *first + x[0];
    T* second = sums + kStride * step + (two >> 32);
    *second = *second + x[1];
  }

  // Up to 64 places, of which negative ones count from the end.
  void wrapped(const uint32_t* places, int64_t count, uint32_t* out) const {
    uint32_t size = static_cast<uint32_t>(job.size);
    if (count >= 64)
      for (int64_t j = 0; j < 64; ++j) out[j] = places[j] + (static_cast<int32_t>(places[j]) < 0 ? size : 0);
    else
      for (int64_t j = 0; j < count; ++j) out[j] = places[j] + (static_cast<int32_t>(places[j]) < 0 ? size : 0);
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
      add<0>(out, 0, 0, job.count);
      return true;
    }
    int64_t width = (job.size + 15) / 16 * 16;
    int64_t copies = job.size * static_cast<int64_t>(sizeof(T)) <= kCopiedBytes ? kScatterCopies : 1;
    T* all = static_cast<T*>(context.scratch(kScatterChunks * copies * width * sizeof(T)));
    if (!all) return false;
    auto body = [&](int64_t chunk) {
      T* sums = all + chunk * copies * width;
      for (int64_t i = 0; i < copies * width; ++i) sums[i] = -T{0};  // of floats, too, nothing is changed by adding it
      int64_t from = job.count * chunk / kScatterChunks, to = job.count * (chunk + 1) / kScatterChunks;
      if (copies > 1) add<1>(sums, width, from, to);
      else add<0>(sums, 0, from, to);
    };
    for_each_part(context, kScatterChunks, body);
    for (int64_t i = 0; i < job.size; ++i) {
      T sum = all[i];
      for (int64_t part = 1; part < kScatterChunks * copies; ++part) sum = sum + all[part * width + i];
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
