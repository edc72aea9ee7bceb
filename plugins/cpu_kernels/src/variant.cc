// All kernels for one instruction set, the one that this file is compiled for.

#include <stdint.h>
#include <string.h>

#include "kernels.h"

namespace dovetail {
#include "keys.h"
#include "items.h"
#include "sort.h"
#include "lexsort.h"
#include "topk.h"
#include "numbers.h"
#include "cumulative.h"
#include "matrices.h"
#include "channels.h"
#include "transpose.h"
#include "scatter.h"

namespace DOVETAIL_VARIANT {
extern const Kernels kernels;
const Kernels kernels = {sort, lexical, top_k, cumulative, matrices, channels, transpose, scatter};
}  // namespace DOVETAIL_VARIANT
}  // namespace dovetail
