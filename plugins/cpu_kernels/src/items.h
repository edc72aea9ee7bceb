// Stable sorting of one array of items, each a key and perhaps what moves with it.

namespace DOVETAIL_VARIANT {

struct Nothing {};

template <class K, class P>
struct Item {
  using Key = K;
  K key;
  P payload;
};

template <class K>
struct Item<K, Nothing> {
  using Key = K;
  K key;
};

constexpr int64_t kBlock = 16;         // what is sorted by ranks
constexpr int64_t kRadixFrom = 192;    // items from which counting digits pays
constexpr int64_t kWideFrom = 6000;    // and from which digits of 11 bits do
constexpr int64_t kParallelFrom = 1 << 16;

// Up to 16 items to where they belong: each to the number of those that come before it.
template <class It>
static inline void sort_by_rank(const It* __restrict from, It* __restrict to, int64_t n) {
  using K = typename It::Key;
  K keys[kBlock];
  int32_t ranks[kBlock];
  for (int64_t i = 0; i < n; ++i) keys[i] = from[i].key;
  for (int64_t i = n; i < kBlock; ++i) keys[i] = static_cast<K>(~K{0});
  for (int64_t i = 0; i < kBlock; ++i) ranks[i] = 0;
  for (int64_t j = 0; j < n; ++j) {
    K key = keys[j];
    for (int64_t i = 0; i < kBlock; ++i) ranks[i] += (key < keys[i]) | ((key == keys[i]) & (j < i));
  }
  for (int64_t i = 0; i < n; ++i) to[ranks[i]] = from[i];
}

// Two runs that follow each other, [0, m) and [m, n), into one.
template <class It>
static inline void merge(const It* __restrict from, It* __restrict to, int64_t m, int64_t n) {
  int64_t i = 0, j = m, o = 0;
  while (i < m && j < n) {
    bool second = from[j].key < from[i].key;
    to[o++] = from[second ? j : i];
    j += second;
    i += !second;
  }
  if (i < m) memcpy(to + o, from + i, (m - i) * sizeof(It));
  if (j < n) memcpy(to + o, from + j, (n - j) * sizeof(It));
}

// Sorts few items; returns where they are, a or b.
template <class It>
static It* merge_sort(It* a, It* b, int64_t n) {
  for (int64_t i = 0; i < n; i += kBlock) sort_by_rank(a + i, b + i, n - i < kBlock ? n - i : kBlock);
  It *from = b, *to = a;
  for (int64_t run = kBlock; run < n; run *= 2) {
    for (int64_t i = 0; i < n; i += 2 * run) {
      int64_t m = n - i < run ? n - i : run, end = n - i < 2 * run ? n - i : 2 * run;
      merge(from + i, to + i, m, end);
    }
    It* done = to;
    to = from;
    from = done;
  }
  return from;
}

template <class K, int bits>
static inline uint32_t digit(K key, int pass) {
  return static_cast<uint32_t>(key >> (pass * bits)) & ((1u << bits) - 1);
}

// Digit by digit, from the lowest; returns where the items are, a or b.
template <class It, int bits>
static It* radix_sort(It* a, It* b, int64_t n) {
  using K = typename It::Key;
  constexpr int kPasses = (sizeof(K) * 8 + bits - 1) / bits;
  uint32_t counts[kPasses][1 << bits];
  memset(counts, 0, sizeof counts);
  for (int64_t i = 0; i < n; ++i) {
    K key = a[i].key;
    for (int pass = 0; pass < kPasses; ++pass) ++counts[pass][digit<K, bits>(key, pass)];
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    uint32_t* places = counts[pass];
    if (places[digit<K, bits>(a[0].key, pass)] == n) continue;  // all are alike
    uint32_t sum = 0;
    for (int d = 0; d < 1 << bits; ++d) {
      uint32_t count = places[d];
      places[d] = sum;
      sum += count;
    }
    for (int64_t i = 0; i < n; ++i) b[places[digit<K, bits>(a[i].key, pass)]++] = a[i];
    It* sorted = b;
    b = a;
    a = sorted;
  }
  return a;
}

template <class It>
static It* sort_items(It* a, It* b, int64_t n) {
  if (n < kRadixFrom) return merge_sort(a, b, n);
  if (sizeof(typename It::Key) <= 2 || n < kWideFrom) return radix_sort<It, 8>(a, b, n);
  return radix_sort<It, 11>(a, b, n);
}

// The same with one part of the items per thread; counts has room for parts * 2^bits numbers.
template <class It, int bits>
static It* parallel_radix_sort(It* a, It* b, int64_t n, uint32_t* counts, int parts, Context& context) {
  using K = typename It::Key;
  constexpr int kPasses = (sizeof(K) * 8 + bits - 1) / bits;
  constexpr int kDigits = 1 << bits;
  for (int pass = 0; pass < kPasses; ++pass) {
    auto count = [=](int64_t part) {
      uint32_t mine[kDigits];
      memset(mine, 0, sizeof mine);
      for (int64_t i = n * part / parts; i < n * (part + 1) / parts; ++i) ++mine[digit<K, bits>(a[i].key, pass)];
      memcpy(counts + part * kDigits, mine, sizeof mine);
    };
    for_each_part(context, parts, count);
    uint32_t sum = 0, most = 0;
    for (int d = 0; d < kDigits; ++d) {
      uint32_t before = sum;
      for (int part = 0; part < parts; ++part) {
        uint32_t found = counts[part * kDigits + d];
        counts[part * kDigits + d] = sum;
        sum += found;
      }
      most = sum - before > most ? sum - before : most;
    }
    if (most == n) continue;
    auto move = [=](int64_t part) {
      uint32_t places[kDigits];
      memcpy(places, counts + part * kDigits, sizeof places);
      for (int64_t i = n * part / parts; i < n * (part + 1) / parts; ++i) b[places[digit<K, bits>(a[i].key, pass)]++] = a[i];
    };
    for_each_part(context, parts, move);
    It* sorted = b;
    b = a;
    a = sorted;
  }
  return a;
}

}  // namespace DOVETAIL_VARIANT
