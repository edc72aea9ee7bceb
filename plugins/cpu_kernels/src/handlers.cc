// The functions that XLA calls: operands and results taken apart, and passed to kernels.

#include <vector>

#include "runtime.h"
#include "xla/ffi/api/ffi.h"

namespace dovetail {
namespace {

namespace ffi = xla::ffi;

bool order_of(ffi::DataType type, Order* order) {
  switch (type) {
    case ffi::PRED:
    case ffi::U8:
    case ffi::U16:
    case ffi::U32:
    case ffi::U64: *order = Order::kUnsigned; return true;
    case ffi::S8:
    case ffi::S16:
    case ffi::S32:
    case ffi::S64: *order = Order::kSigned; return true;
    case ffi::F16:
    case ffi::F32:
    case ffi::F64: *order = Order::kFloat; return true;
    case ffi::BF16: *order = Order::kBrainFloat; return true;
    default: return false;
  }
}

ffi::Error unfit(const char* what) { return ffi::Error(ffi::ErrorCode::kInvalidArgument, what); }

ffi::Error no_memory() {
  return ffi::Error(ffi::ErrorCode::kResourceExhausted, "dovetail_cpu_kernels: no memory for a kernel's own use");
}

ffi::Error done(bool has_memory) { return has_memory ? ffi::Error::Success() : no_memory(); }

ffi::Error sort(ffi::ThreadPool pool, ffi::RemainingArgs args, ffi::RemainingRets rets, int64_t dimension,
                int64_t num_keys) {
  std::vector<const void*> ins;
  std::vector<void*> outs;
  std::vector<int> widths;
  for (size_t i = 0; i < args.size(); ++i) {
    auto in = args.get<ffi::AnyBuffer>(i);
    auto out = rets.get<ffi::AnyBuffer>(i);
    if (!in.has_value() || !out.has_value()) return ffi::Error::InvalidArgument("dovetail_sort: an array is missing");
    ins.push_back(in->untyped_data());
    outs.push_back((*out)->untyped_data());
    widths.push_back(static_cast<int>(ffi::ByteWidth(in->element_type())));
  }
  auto keys = *args.get<ffi::AnyBuffer>(0);
  SortJob job{};
  if (!order_of(keys.element_type(), &job.order)) return ffi::Error::InvalidArgument("dovetail_sort: keys of this type have no order here");
  auto shape = keys.dimensions();
  job.outer = job.inner = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    if (i == dimension) job.n = shape[i];
    else (i < dimension ? job.outer : job.inner) *= shape[i];
  }
  if (keys.element_count() == 0) return ffi::Error::Success();
  if (num_keys > 1) {
    std::vector<Order> orders(num_keys);
    for (int64_t k = 0; k < num_keys; ++k)
      if (!order_of(args.get<ffi::AnyBuffer>(k)->element_type(), &orders[k])) return unfit("dovetail_sort: keys of this type have no order here");
    LexicalJob by_keys{job.outer, job.n, job.inner, static_cast<int>(num_keys), static_cast<int>(ins.size()),
                       orders.data(), widths.data(), ins.data(), outs.data()};
    Call call(pool);
    return done(kernels().lexical(by_keys, call));
  }
  job.width = widths[0];
  job.keys = ins[0];
  job.sorted_keys = outs[0];
  job.operands = static_cast<int>(ins.size()) - 1;
  job.ins = ins.data() + 1;
  job.outs = outs.data() + 1;
  job.widths = widths.data() + 1;
  Call call(pool);
  return done(kernels().sort(job, call));
}

bool number_of(ffi::DataType type, Number* number) {
  switch (type) {
    case ffi::F32: *number = Number::kFloat32; return true;
    case ffi::F64: *number = Number::kFloat64; return true;
    case ffi::S32: *number = Number::kInt32; return true;
    case ffi::S64: *number = Number::kInt64; return true;
    case ffi::U32: *number = Number::kUint32; return true;
    case ffi::U64: *number = Number::kUint64; return true;
    default: return false;
  }
}

ffi::Error top_k(ffi::ThreadPool pool, ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> values,
                 ffi::Result<ffi::Buffer<ffi::S32>> places) {
  TopKJob job{};
  if (!order_of(x.element_type(), &job.order)) return unfit("dovetail_cpu_top_k: elements of this type have no order here");
  job.n = x.dimensions().back();
  job.k = values->dimensions().back();
  if (values->element_count() == 0) return ffi::Error::Success();
  job.rows = static_cast<int64_t>(x.element_count()) / job.n;
  job.width = static_cast<int>(ffi::ByteWidth(x.element_type()));
  job.in = x.untyped_data();
  job.values = values->untyped_data();
  job.places = places->typed_data();
  Call call(pool);
  return done(kernels().top_k(job, call));
}

ffi::Error cumulative(ffi::ThreadPool pool, ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> out, int64_t axis,
                      bool reverse, int64_t operation) {
  CumulativeJob job{};
  if (!number_of(x.element_type(), &job.number)) return unfit("dovetail_cpu_cumulative: no kernel for this type");
  auto shape = x.dimensions();
  job.outer = job.inner = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    if (i == axis) job.n = shape[i];
    else (i < axis ? job.outer : job.inner) *= shape[i];
  }
  if (x.element_count() == 0) return ffi::Error::Success();
  job.operation = static_cast<Operation>(operation);
  job.reverse = reverse;
  job.in = x.untyped_data();
  job.out = out->untyped_data();
  Call call(pool);
  return done(kernels().cumulative(job, call));
}

bool matrices_of(ffi::AnyBuffer x, MatrixJob* job) {
  if (x.element_type() == ffi::F32) job->number = Number::kFloat32;
  else if (x.element_type() == ffi::F64) job->number = Number::kFloat64;
  else return false;
  job->n = x.dimensions().back();
  job->count = static_cast<int64_t>(x.element_count()) / (job->n * job->n);
  job->in = x.untyped_data();
  return true;
}

ffi::Error cholesky(ffi::ThreadPool pool, ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> out, bool symmetrized) {
  MatrixJob job{};
  job.symmetrized = symmetrized;
  if (!matrices_of(x, &job)) return unfit("dovetail_cpu_cholesky: no kernel for this type");
  job.task = Task::kCholesky;
  job.out = out->untyped_data();
  Call call(pool);
  return done(kernels().matrices(job, call));
}

ffi::Error lu(ffi::ThreadPool pool, ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> out,
              ffi::Result<ffi::Buffer<ffi::S32>> pivots, ffi::Result<ffi::Buffer<ffi::S32>> order) {
  MatrixJob job{};
  if (!matrices_of(x, &job)) return unfit("dovetail_cpu_lu: no kernel for this type");
  job.task = Task::kLu;
  job.out = out->untyped_data();
  job.pivots = pivots->typed_data();
  job.order = order->typed_data();
  Call call(pool);
  return done(kernels().matrices(job, call));
}

ffi::Error triangular_solve(ffi::ThreadPool pool, ffi::AnyBuffer x, ffi::AnyBuffer right,
                            ffi::Result<ffi::AnyBuffer> out, bool lower, bool transpose, bool unit) {
  MatrixJob job{};
  if (!matrices_of(x, &job)) return unfit("dovetail_cpu_triangular_solve: no kernel for this type");
  job.task = Task::kSolve;
  job.columns = right.dimensions().back();
  job.right = right.untyped_data();
  job.out = out->untyped_data();
  job.lower = lower;
  job.transpose = transpose;
  job.unit = unit;
  Call call(pool);
  return done(kernels().matrices(job, call));
}

// Strides of an array by the positions of its axes in a list: `places` holds, for the batch, the channel
// and each of the two spatial axes, the axis of the array, or -1 where it has none.
void steps_of(ffi::AnyBuffer::Dimensions shape, const int64_t* places, int64_t* steps) {
  for (int i = 0; i < 4; ++i) {
    steps[i] = places[i] < 0 ? 0 : 1;
    for (int64_t axis = places[i] + 1; places[i] >= 0 && axis < static_cast<int64_t>(shape.size()); ++axis) steps[i] *= shape[axis];
  }
}

ffi::Error channels(ffi::ThreadPool pool, ffi::AnyBuffer in, ffi::AnyBuffer kernel, ffi::Result<ffi::AnyBuffer> out,
                    ffi::Span<const int64_t> places, ffi::Span<const int64_t> window, bool summed, bool by_channel) {
  ChannelsJob job{};
  if (!number_of(in.element_type(), &job.number) || places.size() != 12 || window.size() != 8)
    return unfit("dovetail_cpu_channels: no kernel for this convolution");
  int64_t in_steps[4], kernel_steps[4], out_steps[4];
  steps_of(in.dimensions(), places.begin(), in_steps);
  steps_of(kernel.dimensions(), places.begin() + 4, kernel_steps);
  steps_of(out->dimensions(), places.begin() + 8, out_steps);
  auto size = [](ffi::AnyBuffer::Dimensions shape, int64_t place) { return place < 0 ? 1 : shape[place]; };
  job.batches = size(in.dimensions(), places[0]);
  job.channels = size(in.dimensions(), places[1]);
  for (int i = 0; i < 2; ++i) {
    const int64_t* w = window.begin() + 4 * i;
    job.axes[i] = {size(in.dimensions(), places[2 + i]), size(kernel.dimensions(), places[6 + i]),
                   size(out->dimensions(), places[10 + i]), w[0], w[1], w[2], w[3],
                   in_steps[2 + i], kernel_steps[2 + i], out_steps[2 + i]};
  }
  job.in_batch = in_steps[0], job.kernel_batch = kernel_steps[0], job.out_batch = out_steps[0];
  job.in_channel = in_steps[1], job.kernel_channel = kernel_steps[1], job.out_channel = out_steps[1];
  job.summed = summed;
  job.by_channel = by_channel;
  job.in = in.untyped_data();
  job.kernel = kernel.untyped_data();
  job.out = out->untyped_data();
  Call call(pool);
  return done(kernels().channels(job, call));
}

ffi::Error transpose(ffi::ThreadPool pool, ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> out) {
  TransposeJob job{};
  auto shape = x.dimensions();
  job.width = static_cast<int>(ffi::ByteWidth(x.element_type()));
  if (shape.size() != 3 || job.width > 2) return unfit("dovetail_cpu_transpose: no kernel for this array");
  job.count = shape[0];
  job.rows = shape[1];
  job.columns = shape[2];
  job.in = x.untyped_data();
  job.out = out->untyped_data();
  Call call(pool);
  return done(kernels().transpose(job, call));
}

ffi::Error scatter(ffi::ThreadPool pool, ffi::AnyBuffer x, ffi::AnyBuffer places, ffi::AnyBuffer updates,
                   ffi::Result<ffi::AnyBuffer> out, bool wraps) {
  ScatterJob job{};
  job.wraps = wraps;
  if (!number_of(x.element_type(), &job.number) || ffi::ByteWidth(places.element_type()) != 4)
    return unfit("dovetail_cpu_scatter_add: no kernel for these types");
  job.size = static_cast<int64_t>(x.element_count());
  job.count = static_cast<int64_t>(updates.element_count());
  job.in = x.untyped_data();
  job.places = places.untyped_data();
  job.updates = updates.untyped_data();
  job.out = out->untyped_data();
  Call call(pool);
  return done(kernels().scatter(job, call));
}

}  // namespace
}  // namespace dovetail

#pragma GCC visibility push(default)

extern "C" void dovetail_cpu_limit(int level) { dovetail::limit(level); }

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    dovetail_cpu_sort, dovetail::sort,
    xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().RemainingArgs().RemainingRets().Attr<int64_t>("dimension").Attr<int64_t>(
        "num_keys"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(dovetail_cpu_top_k, dovetail::top_k,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::Buffer<xla::ffi::S32>>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(dovetail_cpu_cumulative, dovetail::cumulative,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<int64_t>("axis")
                                  .Attr<bool>("reverse")
                                  .Attr<int64_t>("operation"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    dovetail_cpu_cholesky, dovetail::cholesky,
    xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().Arg<xla::ffi::AnyBuffer>().Ret<xla::ffi::AnyBuffer>().Attr<bool>(
        "symmetrized"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(dovetail_cpu_lu, dovetail::lu,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::Buffer<xla::ffi::S32>>()
                                  .Ret<xla::ffi::Buffer<xla::ffi::S32>>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(dovetail_cpu_triangular_solve, dovetail::triangular_solve,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<bool>("lower")
                                  .Attr<bool>("transpose")
                                  .Attr<bool>("unit"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(dovetail_cpu_channels, dovetail::channels,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<xla::ffi::Span<const int64_t>>("places")
                                  .Attr<xla::ffi::Span<const int64_t>>("window")
                                  .Attr<bool>("summed")
                                  .Attr<bool>("by_channel"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    dovetail_cpu_transpose, dovetail::transpose,
    xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().Arg<xla::ffi::AnyBuffer>().Ret<xla::ffi::AnyBuffer>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(dovetail_cpu_scatter_add, dovetail::scatter,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<bool>("wraps"));
