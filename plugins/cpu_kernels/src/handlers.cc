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

ffi::Error no_memory() {
  return ffi::Error(ffi::ErrorCode::kResourceExhausted, "dovetail_cpu_kernels: no memory for a kernel's own use");
}

ffi::Error done(bool has_memory) { return has_memory ? ffi::Error::Success() : no_memory(); }

ffi::Error sort(ffi::ThreadPool pool, ffi::RemainingArgs args, ffi::RemainingRets rets, int64_t dimension) {
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

ffi::Error unfit(const char* what) { return ffi::Error(ffi::ErrorCode::kInvalidArgument, what); }

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

ffi::Error cholesky(ffi::ThreadPool pool, ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> out) {
  MatrixJob job{};
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

}  // namespace
}  // namespace dovetail

#pragma GCC visibility push(default)

extern "C" void dovetail_cpu_limit(int level) { dovetail::limit(level); }

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    dovetail_cpu_sort, dovetail::sort,
    xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().RemainingArgs().RemainingRets().Attr<int64_t>("dimension"));

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
    xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().Arg<xla::ffi::AnyBuffer>().Ret<xla::ffi::AnyBuffer>());

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
