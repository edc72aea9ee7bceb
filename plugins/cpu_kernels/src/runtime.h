// What calls of kernels share: the machine's instruction set, threads, memory.
#pragma once

#include "kernels.h"
#include "xla/ffi/api/ffi.h"

namespace dovetail {

// The kernels for the instructions that this machine has.
const Kernels& kernels();

// Allows instruction sets up to a number of these: baseline, AVX2, AVX-512; before the first call.
void limit(int level);

// A call from XLA: its threads are XLA's own, its memory is kept for the next call.
class Call final : public Context {
 public:
  explicit Call(xla::ffi::ThreadPool pool);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  int threads() const override { return threads_; }
  void run(int64_t count, void (*part)(void*, int64_t), void* data) override;
  void* scratch(size_t bytes) override;

 private:
  xla::ffi::ThreadPool pool_;
  int threads_;
  void* block_ = nullptr;
  size_t size_ = 0;
};

}  // namespace dovetail
