#pragma once
/// Everything up to the plan of a model, in the order of the walk. Devices are apart: <poot/run/…>; so are Hana structs,
/// <poot/dsl/structure.hpp>, and files, <poot/io/…>.

#include <poot/version.hpp>

// expression
#include <poot/dsl/bind.hpp>
#include <poot/dsl/block.hpp>
#include <poot/dsl/collective.hpp>
#include <poot/dsl/contraction.hpp>
#include <poot/dsl/custom.hpp>
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/literal.hpp>
#include <poot/dsl/movement.hpp>
#include <poot/dsl/output.hpp>
#include <poot/dsl/pointwise.hpp>
#include <poot/dsl/reduction.hpp>
#include <poot/nn/activation.hpp>
#include <poot/nn/attention.hpp>
#include <poot/nn/convolution.hpp>
#include <poot/nn/decoder.hpp>
#include <poot/nn/mlp.hpp>
#include <poot/nn/norm.hpp>
#include <poot/nn/rope.hpp>
#include <poot/nn/sampling.hpp>
#include <poot/nn/softmax.hpp>

// graph
#include <poot/dsl/trace.hpp>
#include <poot/ir/freeze.hpp>
#include <poot/ir/graph.hpp>

// passes, regions, program
#include <poot/plan/planned.hpp>
