// Stable sorting of arrays by several keys: by the last of them first.

namespace DOVETAIL_VARIANT {

struct KeySorter {
  const LexicalJob& job;
  Context& context;
  int64_t start;  // of the line
  int parts;
  uint32_t* counts;

  // `places` in the order of one key, stably; `room` is for two items per element.
  template <class U, Order order>
  void sort_by(const U* keys, uint32_t* places, void* room, bool is_first) const {
    using It = Item<U, uint32_t>;
    It *a = static_cast<It*>(room), *b = a + job.n;
    auto fill = [&](int64_t part) {
      for (int64_t i = job.n * part / parts; i < job.n * (part + 1) / parts; ++i) {
        uint32_t place = is_first ? static_cast<uint32_t>(i) : places[i];
        a[i] = {Coding<U, order>::encode(keys[start + static_cast<int64_t>(place) * job.inner]), place};
      }
    };
    for_each_part(context, parts, fill);
    constexpr int kBits = sizeof(U) <= 2 ? 8 : 11;
    const It* sorted = parts == 1 ? sort_items(a, b, job.n) : parallel_radix_sort<It, kBits>(a, b, job.n, counts, parts, context);
    auto drain = [&](int64_t part) {
      for (int64_t i = job.n * part / parts; i < job.n * (part + 1) / parts; ++i) places[i] = sorted[i].payload;
    };
    for_each_part(context, parts, drain);
  }

  template <class U>
  void sort_ordered(Order order, const void* keys, uint32_t* places, void* room, bool is_first) const {
    const U* x = static_cast<const U*>(keys);
    switch (order) {
      case Order::kUnsigned: return sort_by<U, Order::kUnsigned>(x, places, room, is_first);
      case Order::kSigned: return sort_by<U, Order::kSigned>(x, places, room, is_first);
      case Order::kBrainFloat: return sort_by<uint16_t, Order::kBrainFloat>(static_cast<const uint16_t*>(keys), places, room, is_first);
      default:
        if constexpr (sizeof(U) > 1) sort_by<U, Order::kFloat>(x, places, room, is_first);
    }
  }

  template <class T>
  void gather(const void* from, void* to, const uint32_t* places, int64_t first, int64_t last) const {
    const T* in = static_cast<const T*>(from) + start;
    T* out = static_cast<T*>(to) + start;
    for (int64_t i = first; i < last; ++i) out[i * job.inner] = in[static_cast<int64_t>(places[i]) * job.inner];
  }

  void sort_line(uint32_t* places, void* room) const {
    for (int k = job.num_keys - 1; k >= 0; --k) {
      bool is_first = k == job.num_keys - 1;
      switch (job.widths[k]) {
        case 1: sort_ordered<uint8_t>(job.orders[k], job.ins[k], places, room, is_first); break;
        case 2: sort_ordered<uint16_t>(job.orders[k], job.ins[k], places, room, is_first); break;
        case 4: sort_ordered<uint32_t>(job.orders[k], job.ins[k], places, room, is_first); break;
        default: sort_ordered<uint64_t>(job.orders[k], job.ins[k], places, room, is_first);
      }
    }
    auto move = [&](int64_t part) {
      int64_t first = job.n * part / parts, last = job.n * (part + 1) / parts;
      for (int k = 0; k < job.operands; ++k) {
        switch (job.widths[k]) {
          case 1: gather<uint8_t>(job.ins[k], job.outs[k], places, first, last); break;
          case 2: gather<uint16_t>(job.ins[k], job.outs[k], places, first, last); break;
          case 4: gather<uint32_t>(job.ins[k], job.outs[k], places, first, last); break;
          case 8: gather<uint64_t>(job.ins[k], job.outs[k], places, first, last); break;
          default: gather<Wide>(job.ins[k], job.outs[k], places, first, last);
        }
      }
    };
    for_each_part(context, parts, move);
  }
};

static bool lexical(const LexicalJob& job, Context& context) {
  int64_t lines = job.outer * job.inner, threads = context.threads() < 256 ? context.threads() : 256;
  size_t items = 2 * job.n * sizeof(Item<uint64_t, uint32_t>), bytes = (items + job.n * sizeof(uint32_t) + 63) / 64 * 64;
  bool is_long = threads > 1 && job.n >= kParallelFrom && lines < 2 * threads;
  int64_t parts = is_long || lines * job.n < 8192 ? 1 : lines < 4 * threads ? lines : 4 * threads;
  char* all = static_cast<char*>(context.scratch(bytes * parts + (is_long ? threads * 2048 * sizeof(uint32_t) : 0)));
  if (!all) return false;
  int within = is_long ? static_cast<int>(threads) : 1;
  uint32_t* counts = reinterpret_cast<uint32_t*>(all + bytes * parts);
  auto body = [&](int64_t part) {
    char* room = all + bytes * part;
    uint32_t* places = reinterpret_cast<uint32_t*>(room + items);
    for (int64_t line = lines * part / parts; line < lines * (part + 1) / parts; ++line) {
      int64_t start = line / job.inner * job.n * job.inner + line % job.inner;
      KeySorter{job, context, start, within, counts}.sort_line(places, room);
    }
  };
  for_each_part(context, parts, body);
  return true;
}

}  // namespace DOVETAIL_VARIANT
