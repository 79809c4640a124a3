#include "properties/oracle_traced.h"

namespace brink {

template BlockEnd trace_typed<BF16>(const Launching&, TraceLog&);

}  // namespace brink
