#pragma once
/// Tensors in case files: numbers, bits or a recipe in; a comparison with what was expected out.

#include <poot/ir/tensor.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace poot::tool {

/// The tensor that `spec` describes; `name` stands in errors. Throws `error` where the description is not one.
ir::tensor read_tensor(const nlohmann::json& spec, const std::string& name);

/// The same of an expectation, whose tolerance must be one that its type takes.
ir::tensor read_expected(const nlohmann::json& spec, const std::string& name);

/// What keeps `got` from meeting the expectation `spec`, in one sentence; empty where it meets it.
std::string compare(const nlohmann::json& spec, const ir::tensor& got, const std::string& name);

/// What differs between the bits of two tensors, any NaN being like any other; empty where nothing does.
std::string compare_bits(const ir::tensor& want, const ir::tensor& got, const std::string& name);

/// `f32[2,3]`
std::string type_name(const tensor_type& t);

}  // namespace poot::tool
