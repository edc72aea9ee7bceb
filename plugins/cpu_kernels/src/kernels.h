// What the kernels are told, and the table of them that each instruction set has.
//
// Kernels are compiled once per instruction set (variant.cc), from code that uses nothing of the
// standard library but memcpy: an inline function shared with the rest of the library could be
// linked in a form that the machine cannot run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dovetail {

// Who runs a kernel's parts, and lends it memory until the call returns.
struct Context {
  virtual int threads() const = 0;
  // Calls part(data, i) for each i below count, several at once; returns when all have returned.
  virtual void run(int64_t count, void (*part)(void* data, int64_t i), void* data) = 0;
  // Uninitialised memory, aligned to cache lines; null where there is none.
  virtual void* scratch(size_t bytes) = 0;

 protected:
  ~Context() = default;
};

template <class F>
void for_each_part(Context& context, int64_t count, F& body) {
  if (count == 1) {
    body(0);
    return;
  }
  context.run(count, [](void* data, int64_t i) { (*static_cast<F*>(data))(i); }, &body);
}

// How the bits of an element are ordered.
enum class Order { kUnsigned, kSigned, kFloat, kBrainFloat };

// Arrays [outer, n, inner]: lines along the middle axis are sorted.
struct SortJob {
  int64_t outer, n, inner;
  Order order;
  int width;             // bytes of a key
  const void* keys;
  void* sorted_keys;
  int operands;          // those that move with the keys
  const void* const* ins;
  void* const* outs;
  const int* widths;     // bytes of an element of each
};

// The same by several keys, the first of the operands; all operands move.
struct LexicalJob {
  int64_t outer, n, inner;
  int num_keys, operands;
  const Order* orders;   // of the keys
  const int* widths;     // bytes of an element of each operand
  const void* const* ins;
  void* const* outs;
};

// The first k of each row in descending order; places are within rows.
struct TopKJob {
  int64_t rows, n, k;
  Order order;
  int width;
  const void* in;
  void* values;
  int32_t* places;
};

enum class Number { kFloat32, kFloat64, kInt32, kInt64, kUint32, kUint64 };
enum class Operation { kAdd, kMultiply, kLarger, kSmaller };

// Arrays [outer, n, inner], accumulated along the middle axis.
struct CumulativeJob {
  int64_t outer, n, inner;
  Number number;
  Operation operation;
  bool reverse;
  const void* in;
  void* out;
};

enum class Task { kCholesky, kLu, kSolve };

// Matrices [count, n, n]; for systems right sides [count, n, columns].
struct MatrixJob {
  int64_t count, n, columns;
  Number number;
  Task task;
  bool lower, transpose, unit;
  bool symmetrized;  // of Cholesky: the mean of a matrix and its transpose is meant
  const void* in;
  const void* right;
  void* out;
  int32_t* pivots;
  int32_t* order;
};

// An axis of a convolution: sizes, and elements of memory from one position to the next.
struct ChannelAxis {
  int64_t in, kernel, out;
  int64_t stride, low, in_dilation, dilation;
  int64_t in_step, kernel_step, out_step;
};

// Convolutions of each channel by itself, along two axes. The kernel is every batch's, or, where they
// are summed, each batch has its own. Neighbours in memory are channels, or else columns.
struct ChannelsJob {
  int64_t batches, channels;
  ChannelAxis axes[2];
  int64_t in_batch, kernel_batch, out_batch;
  int64_t in_channel, kernel_channel, out_channel;
  bool summed, by_channel;
  Number number;
  const void* in;
  const void* kernel;
  void* out;
};

// Matrices [count, rows, columns] to [count, columns, rows], of elements of one or two bytes.
struct TransposeJob {
  int64_t count, rows, columns;
  int width;
  const void* in;
  void* out;
};

// Numbers that are added to an array of `size` elements, at places of 32 bits; those beyond are left out.
// Where places wrap, they are signed, and negative ones count from the end.
struct ScatterJob {
  int64_t size, count;
  Number number;
  bool wraps;
  const void* in;
  const void* places;
  const void* updates;
  void* out;
};

struct Kernels {
  bool (*sort)(const SortJob&, Context&);  // false: there is no memory
  bool (*lexical)(const LexicalJob&, Context&);
  bool (*top_k)(const TopKJob&, Context&);
  bool (*cumulative)(const CumulativeJob&, Context&);
  bool (*matrices)(const MatrixJob&, Context&);
  bool (*channels)(const ChannelsJob&, Context&);
  bool (*transpose)(const TransposeJob&, Context&);
  bool (*scatter)(const ScatterJob&, Context&);
};

}  // namespace dovetail
