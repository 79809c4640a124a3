#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "properties/case.h"
#include "properties/execution.h"
#include "properties/run_limits.h"

// Fields of the JSON texts that hold a case with something around it (finding.h, regression.h). What is wrong is thrown
// as a one-line std::string that names the field.

namespace brink {

const nlohmann::ordered_json& json_field(const nlohmann::ordered_json& j, const char* name);
std::string text_field(const nlohmann::ordered_json& j, const char* name);
/// An integer of at least `least`.
int64_t count_field(const nlohmann::ordered_json& j, const char* name, int64_t least);
bool bool_field(const nlohmann::ordered_json& j, const char* name);
Case case_field(const nlohmann::ordered_json& j, const char* name);
Device device_field(const nlohmann::ordered_json& j, const char* name);
/// An outcome in its JSON form, kept as it is: an object with a verdict.
const nlohmann::ordered_json& outcome_field(const nlohmann::ordered_json& j, const char* name);
/// The field "limits", which only limits that are not the usual ones have.
RunLimits limits_field(const nlohmann::ordered_json& j);
void put_limits(nlohmann::ordered_json& j, const RunLimits& limits);
/// Throws where `version_name` is not 1.
void require_version_1(const nlohmann::ordered_json& j, const char* version_name, const char* what);

}  // namespace brink
