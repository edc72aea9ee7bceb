#include "runtime.h"

#include <stdlib.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace dovetail {

namespace baseline {
extern const Kernels kernels;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Kernels kernels;
}
namespace avx512 {
extern const Kernels kernels;
}

namespace {

bool has(uint32_t bits, uint32_t wanted) { return (bits & wanted) == wanted; }

// The registers that the operating system saves.
uint64_t saved_state() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

int most = 2;  // the instruction set that may be used: 0 the baseline, 1 AVX2, 2 AVX-512

const Kernels& choose() {
  uint32_t a, b, c, d, b7, c7, d7;
  if (most == 0 || !__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d7)) return baseline::kernels;
  bool vectors = has(c, bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C | bit_MOVBE) && (saved_state() & 0x6) == 0x6;
  if (!vectors || !has(b7, bit_AVX2 | bit_BMI | bit_BMI2)) return baseline::kernels;
  bool wide = has(b7, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL | bit_AVX512CD) && (saved_state() & 0xE6) == 0xE6;
  return wide && most == 2 ? avx512::kernels : avx2::kernels;
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}
#else
const Kernels& kernels() { return baseline::kernels; }

namespace {
int most = 0;
}
#endif

void limit(int level) { most = level; }

namespace {

constexpr size_t kPage = size_t{2} << 20;       // what the system may map at once
constexpr size_t kKept = size_t{64} << 20;      // the largest block that is kept between calls

// One block of memory, kept between calls: mapping pages anew would take as long as a sort.
std::mutex kept_mutex;
void* kept = nullptr;
size_t kept_size = 0;

void* take(size_t bytes, size_t* size) {
  {
    std::lock_guard<std::mutex> lock(kept_mutex);
    if (kept && kept_size >= bytes) {
      void* found = kept;
      *size = kept_size;
      kept = nullptr;
      return found;
    }
  }
  bool large = bytes >= kPage;
  *size = large ? (bytes + kPage - 1) / kPage * kPage : (bytes + 4095) / 4096 * 4096;
  void* made = aligned_alloc(large ? kPage : 64, *size);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (made && large) madvise(made, *size, MADV_HUGEPAGE);
#endif
  return made;
}

void give_back(void* block, size_t size) {
  {
    std::lock_guard<std::mutex> lock(kept_mutex);
    if (size <= kKept && (!kept || kept_size < size)) {
      std::swap(kept, block);
      std::swap(kept_size, size);
    }
  }
  free(block);
}

struct Parts {
  std::atomic<int64_t> next{0}, done{0};
  int64_t count;
  void (*part)(void*, int64_t);
  void* data;

  void work() {
    int64_t mine = 0;
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count; ++mine) part(data, i);
    if (mine) done.fetch_add(mine, std::memory_order_acq_rel);
  }
};

}  // namespace

Call::Call(xla::ffi::ThreadPool pool) : pool_(pool), threads_(static_cast<int>(pool.num_threads())) {
  if (threads_ < 1) threads_ = 1;
}

Call::~Call() {
  if (block_) give_back(block_, size_);
}

// The caller works, too, and waits only for parts that another thread has begun: a pool whose threads
// are all busy, perhaps with callers such as this one, delays nobody.
void Call::run(int64_t count, void (*part)(void*, int64_t), void* data) {
  if (count == 1 || threads_ == 1) {
    for (int64_t i = 0; i < count; ++i) part(data, i);
    return;
  }
  auto parts = std::make_shared<Parts>();
  parts->count = count;
  parts->part = part;
  parts->data = data;
  int64_t helpers = (count < threads_ ? count : threads_) - 1;
  for (int64_t i = 0; i < helpers; ++i) pool_.Schedule([parts] { parts->work(); });
  parts->work();
  while (parts->done.load(std::memory_order_acquire) < count) std::this_thread::yield();
}

void* Call::scratch(size_t bytes) {
  if (block_) give_back(block_, size_);
  block_ = take(bytes, &size_);
  return block_;
}

}  // namespace dovetail
