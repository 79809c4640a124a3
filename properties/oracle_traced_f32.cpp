#include "properties/oracle_traced.h"

namespace brink {

template BlockEnd trace_typed<float>(const Launching&, TraceLog&);

}  // namespace brink
