// Sorting of arrays by one key, with what moves with it.

namespace DOVETAIL_VARIANT {

struct Wide {
  uint64_t low, high;
};

constexpr int64_t kLane = 16;  // neighbouring lines that are read and written together

template <class U, Order order, class P>
struct Sorter {
  using It = Item<U, P>;
  using Code = Coding<U, order>;

  const SortJob& job;
  Context& context;

  static constexpr bool kAlone = sizeof(It) == sizeof(U);

  const U* keys() const { return static_cast<const U*>(job.keys); }
  U* sorted_keys() const { return static_cast<U*>(job.sorted_keys); }
  bool by_places() const { return job.operands > 1 || job.widths[0] == 16; }

  // Elements [from, to) of some neighbouring lines, as items one line after the other; `lossy` says of
  // which lines a key does not say which element it was. What moves is null where places do.
  template <class T>
  void load_with(const T* moving, int64_t start, int64_t from, int64_t to, int64_t lines, It* items, bool* lossy) const {
    if (lines == 1 && job.inner == 1) return load_line(moving, start, from, to, items, lossy);
    for (int64_t i = from; i < to; ++i) {
      for (int64_t l = 0; l < lines; ++l) {
        int64_t at = start + i * job.inner + l;
        lossy[l] |= Code::is_lossy(keys()[at]);
        It& item = items[l * job.n + i];
        item.key = Code::encode(keys()[at]);
        if constexpr (!kAlone) item.payload = moving ? static_cast<P>(moving[at]) : static_cast<P>(i);
      }
    }
  }

  template <class T>
  void load_line(const T* moving, int64_t start, int64_t from, int64_t to, It* items, bool* lossy) const {
    bool found = false;
    const U* x = keys() + start;
    for (int64_t i = from; i < to; ++i) {
      found |= Code::is_lossy(x[i]);
      items[i].key = Code::encode(x[i]);
      if constexpr (!kAlone) items[i].payload = moving ? static_cast<P>(moving[start + i]) : static_cast<P>(i);
    }
    lossy[0] |= found;
  }

  void load(int64_t start, int64_t from, int64_t to, int64_t lines, It* items, bool* lossy) const {
    const void* moving = kAlone || by_places() ? nullptr : job.ins[0];
    switch (moving ? job.widths[0] : 1) {
      case 1: return load_with(static_cast<const uint8_t*>(moving), start, from, to, lines, items, lossy);
      case 2: return load_with(static_cast<const uint16_t*>(moving), start, from, to, lines, items, lossy);
      case 4: return load_with(static_cast<const uint32_t*>(moving), start, from, to, lines, items, lossy);
      default: return load_with(static_cast<const uint64_t*>(moving), start, from, to, lines, items, lossy);
    }
  }

  // Writes value(item, its line's start) of elements [from, to) of neighbouring lines.
  template <class T, class F>
  void write(void* to_array, It* const* sorted, int64_t start, int64_t from, int64_t to, int64_t lines, F value) const {
    T* out = static_cast<T*>(to_array) + start;
    if (lines == 1) {
      const It* items = sorted[0];
      if (job.inner == 1)
        for (int64_t i = from; i < to; ++i) out[i] = value(items[i], start);
      else
        for (int64_t i = from; i < to; ++i) out[i * job.inner] = value(items[i], start);
      return;
    }
    for (int64_t i = from; i < to; ++i)
      for (int64_t l = 0; l < lines; ++l) out[i * job.inner + l] = value(sorted[l][i], start + l);
  }

  template <class T>
  void store_moved(It* const* sorted, int64_t start, int64_t from, int64_t to, int64_t lines) const {
    if constexpr (!kAlone)
      write<T>(job.outs[0], sorted, start, from, to, lines, [](const It& x, int64_t) { return static_cast<T>(x.payload); });
  }

  template <class T>
  void store_gathered(int k, It* const* sorted, int64_t start, int64_t from, int64_t to, int64_t lines) const {
    if constexpr (!kAlone) {
      const T* in = static_cast<const T*>(job.ins[k]);
      int64_t inner = job.inner;
      write<T>(job.outs[k], sorted, start, from, to, lines,
               [=](const It& x, int64_t line) { return in[line + static_cast<int64_t>(x.payload) * inner]; });
    }
  }

  void store(It* const* sorted, int64_t start, int64_t from, int64_t to, int64_t lines) const {
    write<U>(job.sorted_keys, sorted, start, from, to, lines, [](const It& x, int64_t) { return Code::decode(x.key); });
    if (kAlone) return;
    if (!by_places()) {
      switch (job.widths[0]) {
        case 1: return store_moved<uint8_t>(sorted, start, from, to, lines);
        case 2: return store_moved<uint16_t>(sorted, start, from, to, lines);
        case 4: return store_moved<uint32_t>(sorted, start, from, to, lines);
        default: return store_moved<uint64_t>(sorted, start, from, to, lines);
      }
    }
    for (int k = 0; k < job.operands; ++k) {
      switch (job.widths[k]) {
        case 1: store_gathered<uint8_t>(k, sorted, start, from, to, lines); break;
        case 2: store_gathered<uint16_t>(k, sorted, start, from, to, lines); break;
        case 4: store_gathered<uint32_t>(k, sorted, start, from, to, lines); break;
        case 8: store_gathered<uint64_t>(k, sorted, start, from, to, lines); break;
        default: store_gathered<Wide>(k, sorted, start, from, to, lines);
      }
    }
  }

  // Zeros and NaNs are the same keys each. They are in the order in which they came.
  void restore(const It* items, int64_t start) const {
    int64_t zero = first_from(items, Code::kZero), nan = first_from(items, Code::kNan);
    for (int64_t i = 0; i < job.n; ++i) {
      U x = keys()[start + i * job.inner];
      if (Code::is_zero(x)) sorted_keys()[start + zero++ * job.inner] = x;
      if (Code::is_nan(x)) sorted_keys()[start + nan++ * job.inner] = x;
    }
  }

  int64_t first_from(const It* items, U key) const {
    int64_t low = 0, high = job.n;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (items[middle].key < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  int64_t start_of(int64_t line) const {
    return line / job.inner * job.n * job.inner + line % job.inner;
  }

  // Lines [from, to), of one block of neighbours where they are apart.
  void sort_lines(int64_t from, int64_t to, It* room) const {
    int64_t count = to - from;
    bool lossy[kLane] = {};
    load(start_of(from), 0, job.n, count, room, lossy);
    It* spare = room + count * job.n;
    It* sorted[kLane];
    for (int64_t l = 0; l < count; ++l) {
      It* items = room + l * job.n;
      sorted[l] = sort_items(items, spare, job.n);
      if (sorted[l] == spare) spare = items;
    }
    store(sorted, start_of(from), 0, job.n, count);
    for (int64_t l = 0; l < count; ++l)
      if (lossy[l]) restore(sorted[l], start_of(from + l));
  }

  void sort_long_line(int64_t start, int parts, It* room, uint32_t* counts) const {
    It *a = room, *b = room + job.n;
    bool lossy[256] = {};
    auto fill = [&, a](int64_t part) {
      load(start, job.n * part / parts, job.n * (part + 1) / parts, 1, a, lossy + part);
    };
    for_each_part(context, parts, fill);
    It* sorted = sizeof(U) <= 2 ? parallel_radix_sort<It, 8>(a, b, job.n, counts, parts, context)
                                : parallel_radix_sort<It, 11>(a, b, job.n, counts, parts, context);
    auto drain = [&](int64_t part) {
      store(&sorted, start, job.n * part / parts, job.n * (part + 1) / parts, 1);
    };
    for_each_part(context, parts, drain);
    for (int part = 0; part < parts; ++part)
      if (lossy[part]) {
        restore(sorted, start);
        break;
      }
  }

  bool long_lines(int64_t lines, int parts) const {
    size_t items = 2 * job.n * sizeof(It);
    char* room = static_cast<char*>(context.scratch(items + parts * 2048 * sizeof(uint32_t)));
    if (!room) return false;
    for (int64_t line = 0; line < lines; ++line)
      sort_long_line(start_of(line), parts, reinterpret_cast<It*>(room), reinterpret_cast<uint32_t*>(room + items));
    return true;
  }

  bool run() const {
    int64_t lines = job.outer * job.inner, threads = context.threads();
    if (threads > 256) threads = 256;
    if (threads > 1 && job.n >= kParallelFrom && lines < 2 * threads) return long_lines(lines, threads);
    int64_t lane = job.inner == 1 ? 1 : kLane;
    // Blocks are neighbours within one of the outer arrays.
    int64_t per_outer = (job.inner + lane - 1) / lane, blocks = job.outer * per_outer;
    int64_t parts = lines * job.n < 16384 ? 1 : blocks < 4 * threads ? blocks : 4 * threads;
    int64_t width = job.inner < lane ? job.inner : lane;
    size_t bytes = ((width + 1) * job.n * sizeof(It) + 63) / 64 * 64;
    char* room = static_cast<char*>(context.scratch(bytes * parts));
    if (!room) return false;
    auto body = [&](int64_t part) {
      It* mine = reinterpret_cast<It*>(room + bytes * part);
      for (int64_t block = blocks * part / parts; block < blocks * (part + 1) / parts; ++block) {
        int64_t first = block % per_outer * lane, last = first + lane < job.inner ? first + lane : job.inner;
        int64_t base = block / per_outer * job.inner;
        sort_lines(base + first, base + last, mine);
      }
    };
    for_each_part(context, parts, body);
    return true;
  }
};

template <class U, Order order>
static bool sort_carrying(const SortJob& job, Context& context) {
  if (job.operands == 0) return Sorter<U, order, Nothing>{job, context}.run();
  if (job.operands == 1 && job.widths[0] == 8) return Sorter<U, order, uint64_t>{job, context}.run();
  return Sorter<U, order, uint32_t>{job, context}.run();
}

template <class U>
static bool sort_ordered(const SortJob& job, Context& context) {
  switch (job.order) {
    case Order::kUnsigned: return sort_carrying<U, Order::kUnsigned>(job, context);
    case Order::kSigned: return sort_carrying<U, Order::kSigned>(job, context);
    case Order::kBrainFloat: return sort_carrying<uint16_t, Order::kBrainFloat>(job, context);
    default:
      if constexpr (sizeof(U) == 1) return false;
      else return sort_carrying<U, Order::kFloat>(job, context);
  }
}

static bool sort(const SortJob& job, Context& context) {
  switch (job.width) {
    case 1: return sort_ordered<uint8_t>(job, context);
    case 2: return sort_ordered<uint16_t>(job, context);
    case 4: return sort_ordered<uint32_t>(job, context);
    default: return sort_ordered<uint64_t>(job, context);
  }
}

}  // namespace DOVETAIL_VARIANT
