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
  return kernels().sort(job, call) ? ffi::Error::Success() : no_memory();
}

}  // namespace
}  // namespace dovetail

#pragma GCC visibility push(default)

extern "C" void dovetail_cpu_limit(int level) { dovetail::limit(level); }

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    dovetail_cpu_sort, dovetail::sort,
    xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().RemainingArgs().RemainingRets().Attr<int64_t>("dimension"));
