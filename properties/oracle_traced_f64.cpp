#include "properties/oracle_traced.h"

namespace brink {

template BlockEnd trace_typed<double>(const Launching&, TraceLog&);

}  // namespace brink
