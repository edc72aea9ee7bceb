// The largest elements of rows, in the order of their bits: of equal ones the first comes first.

namespace DOVETAIL_VARIANT {

template <class U>
struct Real {
  using Type = double;
};

template <>
struct Real<uint32_t> {
  using Type = float;
};

template <class U, bool is_float, bool is_signed>
struct Largest {
  using It = Item<U, uint32_t>;
  static constexpr U kSign = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));

  const TopKJob& job;
  Context& context;

  // The largest element has the smallest key.
  static inline U encode(U x) {
    if (is_float) return x & kSign ? x : static_cast<U>(~(x | kSign));
    return static_cast<U>(~(is_signed ? x ^ kSign : x));
  }

  static inline U decode(U key) {
    if (is_float) return key & kSign ? key : static_cast<U>(~(key | kSign));
    U x = static_cast<U>(~key);
    return is_signed ? x ^ kSign : x;
  }

  // How many items are collected before they are sorted and all but k forgotten.
  int64_t capacity(int64_t n) const {
    int64_t wanted = 2 * job.k + 32;
    return job.k > n / 8 || wanted > n ? n : wanted;
  }

  // The first k of elements [from, to) of a row, sorted: in a or b, each of room for `capacity`.
  It* select(const U* row, int64_t from, int64_t to, int64_t room, It* a, It* b) const {
    int64_t k = job.k < to - from ? job.k : to - from, held = 0, i = from;
    It* items = a;
    for (; i < to && held < room; ++i) items[held++] = {encode(row[i]), static_cast<uint32_t>(i)};
    while (i < to) {
      items = sort_items(items, items == a ? b : a, held);
      held = k;
      i = collect(row, i, to, room, items, &held);
    }
    return sort_items(items, items == a ? b : a, held);
  }

  // Whether some of kCount elements come before a key.
  template <int64_t kCount>
  static inline bool any_before(const U* x, U last) {
    U before = 0;
    for (int64_t j = 0; j < kCount; ++j) before |= encode(x[j]) < last;
    return before;
  }

  // The same quickly: true, too, where some are equal or NaN.
  template <int64_t kCount>
  static inline bool any_may_come_before(const U* x, U last) {
    if constexpr (is_float && sizeof(U) >= 4) {
      using F = typename Real<U>::Type;
      U bits = decode(last);
      F bound;
      memcpy(&bound, &bits, sizeof bound);
      U may = 0;
      for (int64_t j = 0; j < kCount; ++j) {
        F value;
        memcpy(&value, x + j, sizeof value);
        may |= !(value < bound);
      }
      return may;
    }
    return any_before<kCount>(x, last);
  }

  // Adds the elements from i on that come before the last of the items, until there is no room.
  int64_t collect(const U* row, int64_t i, int64_t to, int64_t room, It* items, int64_t* held) const {
    constexpr int64_t kStep = 64, kSmall = 8;
    const U last = items[*held - 1].key;
    int64_t count = *held;
    while (i < to && count < room) {
      if (i + kStep <= to && !any_may_come_before<kStep>(row + i, last)) {
        i += kStep;
        continue;
      }
      int64_t end = i + kStep < to ? i + kStep : to;
      while (i < end && count < room) {
        if (i + kSmall <= end && !any_may_come_before<kSmall>(row + i, last)) {
          i += kSmall;
          continue;
        }
        int64_t stop = i + kSmall < end ? i + kSmall : end;
        for (; i < stop && count < room; ++i) {
          U key = encode(row[i]);
          items[count] = {key, static_cast<uint32_t>(i)};
          count += key < last;
        }
      }
    }
    *held = count;
    return i;
  }

  void store(int64_t r, const It* items) const {
    U* values = static_cast<U*>(job.values) + r * job.k;
    int32_t* places = job.places + r * job.k;
    for (int64_t i = 0; i < job.k; ++i) {
      values[i] = decode(items[i].key);
      places[i] = static_cast<int32_t>(items[i].payload);
    }
  }

  const U* row(int64_t r) const { return static_cast<const U*>(job.in) + r * job.n; }

  bool rows(int64_t parts) const {
    int64_t room = capacity(job.n);
    It* all = static_cast<It*>(context.scratch(parts * 2 * room * sizeof(It)));
    if (!all) return false;
    auto body = [&](int64_t part) {
      It *a = all + part * 2 * room, *b = a + room;
      for (int64_t r = job.rows * part / parts; r < job.rows * (part + 1) / parts; ++r)
        store(r, select(row(r), 0, job.n, room, a, b));
    };
    for_each_part(context, parts, body);
    return true;
  }

  // Each part has its own largest, which are then sorted together.
  bool long_rows(int64_t parts) const {
    int64_t room = capacity(job.n / parts + 1);
    It* all = static_cast<It*>(context.scratch((parts * 2 * room + 2 * parts * job.k) * sizeof(It)));
    if (!all) return false;
    It *found = all + parts * 2 * room, *spare = found + parts * job.k;
    for (int64_t r = 0; r < job.rows; ++r) {
      auto body = [&](int64_t part) {
        It *a = all + part * 2 * room, *b = a + room;
        It* mine = select(row(r), job.n * part / parts, job.n * (part + 1) / parts, room, a, b);
        memcpy(found + part * job.k, mine, job.k * sizeof(It));
      };
      for_each_part(context, parts, body);
      store(r, sort_items(found, spare, parts * job.k));
    }
    return true;
  }

  bool run() const {
    int64_t threads = context.threads();
    if (threads > 1 && job.rows < threads && job.n >= (1 << 17) && job.k * threads <= job.n / 16) return long_rows(threads);
    int64_t parts = job.rows * job.n < 32768 ? 1 : job.rows < 4 * threads ? job.rows : 4 * threads;
    return rows(parts);
  }
};

template <class U>
static bool top_k_of(const TopKJob& job, Context& context) {
  switch (job.order) {
    case Order::kUnsigned: return Largest<U, false, false>{job, context}.run();
    case Order::kSigned: return Largest<U, false, true>{job, context}.run();
    default: return Largest<U, true, true>{job, context}.run();
  }
}

static bool top_k(const TopKJob& job, Context& context) {
  switch (job.width) {
    case 1: return top_k_of<uint8_t>(job, context);
    case 2: return top_k_of<uint16_t>(job, context);
    case 4: return top_k_of<uint32_t>(job, context);
    default: return top_k_of<uint64_t>(job, context);
  }
}

}  // namespace DOVETAIL_VARIANT
