// Matrices transposed, in tiles that fit into the first cache.

namespace DOVETAIL_VARIANT {

template <class T>
static void transpose_of(const TransposeJob& job, Context& context) {
  constexpr int64_t kTile = 64 / sizeof(T);  // one cache line
  int64_t across = (job.columns + kTile - 1) / kTile, tiles = job.count * across;
  int64_t parts = job.count * job.rows * job.columns < 65536 ? 1 : tiles < 4 * context.threads() ? tiles : 4 * context.threads();
  auto body = [&](int64_t part) {
    for (int64_t tile = tiles * part / parts; tile < tiles * (part + 1) / parts; ++tile) {
      const T* in = static_cast<const T*>(job.in) + tile / across * job.rows * job.columns;
      T* out = static_cast<T*>(job.out) + tile / across * job.rows * job.columns;
      int64_t from = tile % across * kTile, to = from + kTile < job.columns ? from + kTile : job.columns;
      for (int64_t row = 0; row < job.rows; row += kTile) {
        int64_t last = row + kTile < job.rows ? row + kTile : job.rows;
        for (int64_t j = from; j < to; ++j)
          for (int64_t i = row; i < last; ++i) out[j * job.rows + i] = in[i * job.columns + j];
      }
    }
  };
  for_each_part(context, parts, body);
}

static bool transpose(const TransposeJob& job, Context& context) {
  if (job.width == 1) transpose_of<uint8_t>(job, context);
  else transpose_of<uint16_t>(job, context);
  return true;
}

}  // namespace DOVETAIL_VARIANT
