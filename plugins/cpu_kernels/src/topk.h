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

  static constexpr int64_t kSpan = 128;  // elements of which the largest is found first

  // Whether there are many more spans than wanted elements, most of which have none of these.
  bool by_spans(int64_t n) const { return n >= 4 * kSpan * job.k && n >= 4096; }

  static int64_t spans(int64_t n) { return (n + kSpan - 1) / kSpan; }

  // How many items are collected before they are sorted and all but k forgotten.
  int64_t capacity(int64_t n) const {
    int64_t wanted = 2 * job.k + (by_spans(n) ? 2 * kSpan : 32);
    return job.k > n / 8 || wanted > n ? n : wanted;
  }

  // Items of memory that finding the first of n elements takes.
  int64_t room_for(int64_t n) const {
    return 2 * capacity(n) + (by_spans(n) ? (spans(n) * sizeof(U) + sizeof(It) - 1) / sizeof(It) : 0);
  }

  // The first k of elements [from, to), sorted, in memory of `room_for` items.
  It* first(const U* row, int64_t from, int64_t to, It* memory) const {
    int64_t room = capacity(to - from);
    It *a = memory, *b = memory + room;
    if (!by_spans(to - from)) return select<false>(row, from, to, room, a, b);
    return select_in_spans(row, from, to, room, a, b, reinterpret_cast<U*>(memory + 2 * room));
  }

  static inline U smallest_key(const U* x, int64_t n) {
    U least = static_cast<U>(~U{0});
    for (int64_t j = 0; j < n; ++j) {
      U key = encode(x[j]);
      least = key < least ? key : least;
    }
    return least;
  }

  // Only spans are looked into whose first key is among the k first of all spans' first keys: of these
  // there are k elements, so that no others are wanted.
  It* select_in_spans(const U* row, int64_t from, int64_t to, int64_t room, It* a, It* b, U* firsts) const {
    int64_t n = to - from, count = spans(n);
    for (int64_t s = 0; s < n / kSpan; ++s) firsts[s] = smallest_key(row + from + s * kSpan, kSpan);
    if (n % kSpan) firsts[count - 1] = smallest_key(row + from + n / kSpan * kSpan, n % kSpan);
    U limit = select<true>(firsts, 0, count, room, a, b)[job.k - 1].key;
    It* items = a;
    int64_t held = 0;
    for (int64_t s = 0; s < count; ++s) {
      if (firsts[s] > limit) continue;
      int64_t i = from + s * kSpan, end = i + kSpan < to ? i + kSpan : to;
      held = take(row, i, end, limit, items, held);
      if (held + kSpan <= room) continue;
      items = sort_items(items, items == a ? b : a, held);
      held = held < job.k ? held : job.k;
      if (held < job.k) continue;
      if (items[held - 1].key == 0) break;
      limit = static_cast<U>(items[held - 1].key - 1);  // of equal ones the first are here
    }
    return sort_items(items, items == a ? b : a, held);
  }

  // Adds the elements [i, end) up to a limit to the items.
  static int64_t take(const U* row, int64_t i, int64_t end, U limit, It* items, int64_t count) {
    constexpr int64_t kSmall = 16;
    while (i < end) {
      int64_t stop = i + kSmall < end ? i + kSmall : end;
      if (stop - i == kSmall) {
        U any = 0;
        for (int64_t j = 0; j < kSmall; ++j) any |= encode(row[i + j]) <= limit;
        if (!any) {
          i = stop;
          continue;
        }
      }
      for (; i < stop; ++i) {
        U key = encode(row[i]);
        if (key <= limit) items[count++] = {key, static_cast<uint32_t>(i)};
      }
    }
    return count;
  }

  // The first k of elements [from, to) of a row, or of keys, sorted: in a or b, each of some room.
  template <bool are_keys>
  It* select(const U* row, int64_t from, int64_t to, int64_t room, It* a, It* b) const {
    int64_t k = job.k < to - from ? job.k : to - from, held = 0, i = from;
    It* items = a;
    for (; i < to && held < room; ++i) items[held++] = {key_of<are_keys>(row[i]), static_cast<uint32_t>(i)};
    while (i < to) {
      items = sort_items(items, items == a ? b : a, held);
      held = k;
      i = collect<are_keys>(row, i, to, room, items, &held);
    }
    return sort_items(items, items == a ? b : a, held);
  }

  template <bool are_keys>
  static inline U key_of(U x) {
    return are_keys ? x : encode(x);
  }

  // Whether some of kCount elements come before a key.
  template <bool are_keys, int64_t kCount>
  static inline bool any_before(const U* x, U last) {
    U before = 0;
    for (int64_t j = 0; j < kCount; ++j) before |= key_of<are_keys>(x[j]) < last;
    return before;
  }

  // The same quickly: true, too, where some are equal or NaN.
  template <bool are_keys, int64_t kCount>
  static inline bool any_may_come_before(const U* x, U last) {
    if constexpr (!are_keys && is_float && sizeof(U) >= 4) {
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
    return any_before<are_keys, kCount>(x, last);
  }

  // Adds the elements from i on that come before the last of the items, until there is no room.
  template <bool are_keys>
  int64_t collect(const U* row, int64_t i, int64_t to, int64_t room, It* items, int64_t* held) const {
    constexpr int64_t kStep = 64, kSmall = 8;
    const U last = items[*held - 1].key;
    int64_t count = *held;
    while (i < to && count < room) {
      if (i + kStep <= to && !any_may_come_before<are_keys, kStep>(row + i, last)) {
        i += kStep;
        continue;
      }
      int64_t end = i + kStep < to ? i + kStep : to;
      while (i < end && count < room) {
        if (i + kSmall <= end && !any_may_come_before<are_keys, kSmall>(row + i, last)) {
          i += kSmall;
          continue;
        }
        int64_t stop = i + kSmall < end ? i + kSmall : end;
        for (; i < stop && count < room; ++i) {
          U key = key_of<are_keys>(row[i]);
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
    int64_t room = room_for(job.n);
    It* all = static_cast<It*>(context.scratch(parts * room * sizeof(It)));
    if (!all) return false;
    auto body = [&](int64_t part) {
      for (int64_t r = job.rows * part / parts; r < job.rows * (part + 1) / parts; ++r)
        store(r, first(row(r), 0, job.n, all + part * room));
    };
    for_each_part(context, parts, body);
    return true;
  }

  // Each part has its own largest, which are then sorted together.
  bool long_rows(int64_t parts) const {
    int64_t room = room_for(job.n / parts + 1);
    It* all = static_cast<It*>(context.scratch((parts * room + 2 * parts * job.k) * sizeof(It)));
    if (!all) return false;
    It *found = all + parts * room, *spare = found + parts * job.k;
    for (int64_t r = 0; r < job.rows; ++r) {
      auto body = [&](int64_t part) {
        It* mine = first(row(r), job.n * part / parts, job.n * (part + 1) / parts, all + part * room);
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
