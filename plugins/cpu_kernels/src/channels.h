// Convolutions of each channel by itself (depthwise ones), and their derivatives by the kernel.

namespace DOVETAIL_VARIANT {

// Positions of an output along an axis that meet the input through one element of the kernel: from
// `out` on in steps of `out_step`, where the input is at `in` and goes on in steps of `in_step`.
struct Meeting {
  int64_t out, in, out_step, in_step, count;
};

static inline Meeting meeting(const ChannelAxis& x, int64_t k, int64_t from, int64_t to) {
  int64_t a = x.stride, b = x.in_dilation;
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  Meeting m{from, 0, x.in_dilation / a, x.stride / a, 0};
  for (int64_t tries = 0; tries < m.out_step; ++tries, ++m.out) {
    int64_t at = m.out * x.stride + k * x.dilation - x.low;
    if (at % x.in_dilation) continue;
    m.in = at / x.in_dilation;
    if (m.in < 0) {
      int64_t skipped = (-m.in + m.in_step - 1) / m.in_step;
      m.in += skipped * m.in_step;
      m.out += skipped * m.out_step;
    }
    int64_t by_out = m.out < to ? (to - m.out + m.out_step - 1) / m.out_step : 0;
    int64_t by_in = m.in < x.in ? (x.in - m.in + m.in_step - 1) / m.in_step : 0;
    m.count = by_out < by_in ? by_out : by_in;
    return m;
  }
  return m;
}

// The input's position for one of the output and one of the kernel; -1 where there is none.
static inline int64_t met(const ChannelAxis& x, int64_t out, int64_t k) {
  int64_t at = out * x.stride + k * x.dilation - x.low;
  if (at < 0) return -1;
  if (x.in_dilation > 1) {
    if (at % x.in_dilation) return -1;
    at /= x.in_dilation;
  }
  return at < x.in ? at : -1;
}

template <class T>
struct Channels {
  static constexpr int64_t kLanes = 128 / sizeof(T);
  static constexpr int64_t kSums = 8;
  static constexpr int64_t kKnown = 16;

  const ChannelsJob& job;
  Context& context;

  const T* in() const { return static_cast<const T*>(job.in); }
  const T* kernel() const { return static_cast<const T*>(job.kernel); }
  T* out() const { return static_cast<T*>(job.out); }
  const ChannelAxis& rows() const { return job.axes[0]; }
  const ChannelAxis& columns() const { return job.axes[1]; }

  // Some neighbouring channels of one element of the output; those of one batch, or of all summed.
  template <int64_t kWidth>
  void element(const T* x, const T* w, T* y, int64_t row, const Meeting& m, int64_t batches) const {
    T sum[kWidth];
    for (int64_t l = 0; l < kWidth; ++l) sum[l] = 0;
    for (int64_t n = 0; n < batches; ++n)
      for (int64_t i = 0; i < rows().kernel; ++i) {
        int64_t at_row = met(rows(), row, i);
        if (at_row < 0) continue;
        const T* x_row = x + n * job.in_batch + at_row * rows().in_step;
        const T* w_row = w + n * job.kernel_batch + i * rows().kernel_step;
        x_row += m.in * columns().in_step;
        w_row += m.out * columns().kernel_step;
        for (int64_t j = 0; j < m.count; ++j) {
          for (int64_t l = 0; l < kWidth; ++l) sum[l] += x_row[l] * w_row[l];
          x_row += m.in_step * columns().in_step;
          w_row += m.out_step * columns().kernel_step;
        }
      }
    for (int64_t l = 0; l < kWidth; ++l) y[l] = sum[l];
  }

  // Elements of the kernel that meet the input at one position of the output.
  Meeting along_kernel(int64_t column) const {
    ChannelAxis turned = columns();
    turned.stride = columns().dilation;
    turned.dilation = columns().stride;
    return meeting(turned, column, 0, columns().kernel);
  }

  void neighbours(const T* x, const T* w, T* y, int64_t row, const Meeting& m, int64_t from, int64_t to, int64_t batches) const {
    int64_t c = from;
    for (; c + kLanes <= to; c += kLanes) element<kLanes>(x + c, w + c, y + c, row, m, batches);
    for (; c + 8 <= to; c += 8) element<8>(x + c, w + c, y + c, row, m, batches);
    for (; c < to; ++c) element<1>(x + c, w + c, y + c, row, m, batches);
  }

  // Channels are neighbours in memory: each row of the output in turn, or parts of its channels.
  void by_channel() const {
    constexpr int64_t kWide = 4 * kLanes;
    int64_t batches = job.summed ? 1 : job.batches, summed = job.summed ? job.batches : 1;
    int64_t blocks = (job.channels + kWide - 1) / kWide, lines = batches * rows().out * (job.summed ? columns().out : 1);
    auto body = [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        int64_t block = i % blocks * kWide, line = i / blocks;
        int64_t last = block + kWide < job.channels ? block + kWide : job.channels;
        int64_t first = 0, end = columns().out;
        if (job.summed) {
          first = line % columns().out;
          end = first + 1;
          line /= columns().out;
        }
        int64_t n = line / rows().out, row = line % rows().out;
        T* y = out() + n * job.out_batch + row * rows().out_step;
        for (int64_t column = first; column < end; ++column)
          neighbours(in() + n * job.in_batch, kernel(), y + column * columns().out_step, row, along_kernel(column), block, last, summed);
      }
    };
    in_parts(lines * blocks, body);
  }

  // One row of the output of one channel, whose columns are neighbours in memory; `meetings` are known
  // of the kernel's first columns.
  void row(int64_t n, int64_t c, int64_t row, int64_t from, int64_t to, const Meeting* meetings) const {
    const T* x = in() + n * job.in_batch + c * job.in_channel;
    const T* w = kernel() + c * job.kernel_channel;
    T* y = out() + n * job.out_batch + c * job.out_channel + row * rows().out_step;
    for (int64_t i = from; i < to; ++i) y[i] = 0;
    for (int64_t i = 0; i < rows().kernel; ++i) {
      int64_t at_row = met(rows(), row, i);
      if (at_row < 0) continue;
      for (int64_t j = 0; j < columns().kernel; ++j) {
        Meeting m = j < kKnown ? meetings[j] : meeting(columns(), j, from, to);
        T factor = w[i * rows().kernel_step + j * columns().kernel_step];
        const T* in_row = x + at_row * rows().in_step + m.in;
        T* out_row = y + m.out;
        if (m.in_step == 1 && m.out_step == 1)
          for (int64_t l = 0; l < m.count; ++l) out_row[l] += factor * in_row[l];
        else
          for (int64_t l = 0; l < m.count; ++l) out_row[l * m.out_step] += factor * in_row[l * m.in_step];
      }
    }
  }

  static void add_products(const T* x, const T* y, int64_t x_step, int64_t y_step, int64_t n, T* sum) {
    int64_t i = 0;
    if (x_step == 1 && y_step == 1)
      for (; i + kSums <= n; i += kSums)
        for (int64_t l = 0; l < kSums; ++l) sum[l] += x[i + l] * y[i + l];
    for (int64_t l = 0; i < n; ++i, l = (l + 1) % kSums) sum[l] += x[i * x_step] * y[i * y_step];
  }

  // One element of a derivative by the kernel: what the rows of all batches add up to.
  T summed(int64_t c, int64_t row, int64_t column) const {
    const T* x = in() + c * job.in_channel;
    const T* w = kernel() + c * job.kernel_channel;
    Meeting m = along_kernel(column);
    T sum[kSums];
    for (int64_t l = 0; l < kSums; ++l) sum[l] = 0;
    for (int64_t n = 0; n < job.batches; ++n)
      for (int64_t i = 0; i < rows().kernel; ++i) {
        int64_t at_row = met(rows(), row, i);
        if (at_row < 0) continue;
        add_products(x + n * job.in_batch + at_row * rows().in_step + m.in,
                     w + n * job.kernel_batch + i * rows().kernel_step + m.out, m.in_step, m.out_step, m.count, sum);
      }
    for (int64_t half = kSums / 2; half; half /= 2)
      for (int64_t l = 0; l < half; ++l) sum[l] += sum[l + half];
    return sum[0];
  }

  void by_column() const {
    constexpr int64_t kWide = 2048;
    if (job.summed) {
      auto body = [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) {
          int64_t column = i % columns().out, line = i / columns().out, row = line % rows().out, c = line / rows().out;
          out()[c * job.out_channel + row * rows().out_step + column * columns().out_step] = summed(c, row, column);
        }
      };
      return in_parts(job.channels * rows().out * columns().out, body);
    }
    int64_t blocks = (columns().out + kWide - 1) / kWide, lines = job.batches * job.channels * rows().out;
    auto body = [&](int64_t from, int64_t to) {
      Meeting meetings[kKnown];
      for (int64_t i = from; i < to; ++i) {
        int64_t first = i / lines * kWide, line = i % lines, end = first + kWide < columns().out ? first + kWide : columns().out;
        if (i == from || line == 0)
          for (int64_t j = 0; j < kKnown && j < columns().kernel; ++j) meetings[j] = meeting(columns(), j, first, end);
        int64_t at = line % rows().out, c = line / rows().out % job.channels, n = line / rows().out / job.channels;
        row(n, c, at, first, end, meetings);
      }
    };
    in_parts(lines * blocks, body);
  }

  template <class F>
  void in_parts(int64_t count, F& body) const {
    int64_t work = job.batches * job.channels;
    for (const ChannelAxis& x : job.axes) work *= x.out * x.kernel;
    int64_t parts = work < 65536 ? 1 : count < 4 * context.threads() ? count : 4 * context.threads();
    auto part = [&](int64_t i) { body(count * i / parts, count * (i + 1) / parts); };
    for_each_part(context, parts, part);
  }
};

template <class T>
static void channels_of(const ChannelsJob& job, Context& context) {
  Channels<T> channels{job, context};
  if (job.by_channel) channels.by_channel();
  else channels.by_column();
}

static bool channels(const ChannelsJob& job, Context& context) {
  if (job.number == Number::kFloat32) channels_of<float>(job, context);
  else channels_of<double>(job, context);
  return true;
}

}  // namespace DOVETAIL_VARIANT
