#pragma once

#include <nlohmann/json.hpp>

#include "properties/execution.h"

namespace brink {

/// An execution as JSON and back: how a worker process reports to its supervisor.
nlohmann::json execution_to_json(const Execution& execution);
Execution execution_from_json(const nlohmann::json& j);

nlohmann::json dispatch_to_json(const Dispatch& dispatch);
Dispatch dispatch_from_json(const nlohmann::json& j);

}  // namespace brink
